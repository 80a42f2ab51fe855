"""Where pages may be read from: the policy, without any network."""

from __future__ import annotations
import ipaddress
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpora import CORPORA, needs
from websearch_core._net.guard import Guard, verdict
from websearch_core._net.system import is_own_address
from websearch_core._text.urls import is_web_url
from websearch_core.errors import ConfigurationError, UnsafeURL

CORPUS = CORPORA / "hostile"
needs_corpus = needs(CORPUS)

PRIVATE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "255.255.255.255", "192.0.0.192", "192.88.99.1", "198.18.0.1", "203.0.113.9", "240.0.0.1",
    "::1", "::", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "fe80::1", "fe80::1%eth0", "fec0::1",
    "fc00::1", "ff0e::1", "2001:db8::1", "2001::1", "2002:7f00:1::", "3fff::1", "5f00::1", "4000::1", "100::1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2001:470:1:2:0:5efe:a9fe:a9fe",
    "169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254",
]  # fmt: skip
PUBLIC = [
    "93.184.215.14",
    "1.1.1.1",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700:4700::1111",
    "64:ff9b::5db8:d70e",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_of_the_public_internet_is_refused(address):
    assert verdict(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_public_passes(address):
    assert verdict(address) is None


@given(st.ip_addresses(v=4))
def test_no_ipv6_notation_makes_a_refused_ipv4_address_acceptable(ip):
    if verdict(str(ip)) is None:
        return
    high, low = f"{int(ip) >> 16:x}", f"{int(ip) & 0xFFFF:x}"
    for clothed in (
        f"::ffff:{ip}",
        f"::{ip}",
        f"64:ff9b::{ip}",
        f"2002:{high}:{low}::1",
        f"64:ff9b:1::{high}:{low}",
        f"::ffff:0:{ip}",
        f"2001:470:1:2:0:5efe:{high}:{low}",
        f"2001:0:1:2:3:4:{high}:{low}",
    ):
        assert verdict(str(ipaddress.IPv6Address(clothed))), clothed


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://Example.COM", "https://example.com/"),
        ("HTTP://example.com:80/a", "http://example.com/a"),
        ("https://example.com:8443/a?b#c", "https://example.com:8443/a?b#c"),
        ("https://example.com?b=c", "https://example.com/?b=c"),
        ("https://example.com./a", "https://example.com/a"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/é", "https://example.com/%C3%A9"),
        ("https://example.com/%7Efoo", "https://example.com/%7Efoo"),
        ("https://bücher.example.com/", "https://xn--bcher-kva.example.com/"),
        ("http://1.1.1.1/", "http://1.1.1.1/"),
        ("http://[2606:4700:4700:0::1111]/", "http://[2606:4700:4700::1111]/"),
    ],
)
def test_an_honest_url_has_one_canonical_form(url, canonical):
    assert Guard().check(url) == canonical
    assert Guard().check(canonical) == canonical


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("ftp://example.com/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("example.com/page", "not an absolute"),
        ("//example.com/page", "not an absolute"),
        ("http:example.com", "not an absolute"),
        ("https://user:password@example.com/", "credentials"),
        ("https://example.com@127.0.0.1/", "credentials"),
        ("http://127.0.0.1\\@1.1.1.1/", "credentials"),
        ("http://example.com\\.evil.example/", "host is ambiguous"),
        ("http://exa mple.com/", "spaces"),
        ("http://example.com\t/", "control"),
        (" http://example.com/", "surrounding"),
        ("http://2130706433/", "four decimal"),
        ("http://0x7f.1/", "four decimal"),
        ("http://127.1/", "four decimal"),
        ("http://0177.0.0.1/", "four decimal"),
        ("http://127。0。0。1/", "looks like a dot"),
        ("http://[fe80::1%25eth0]/", "host is ambiguous"),
        ("http://example.com:+80/", "host is ambiguous"),
        ("http://example.com:99999/", "out of range"),
        ("http://example.com:22/", "another kind of service"),
        ("http://localhost/", "internal"),
        ("http://printer/", "internal"),
        ("http://wiki.corp/", "internal"),
        ("http://127.0.0.1/", "not a public"),
        ("http://[::1]/", "not a public"),
        ("http://169.254.169.254/latest/meta-data/", "not a public"),
        ("http://xn--\xfc.example/", "international"),
        ("https://" + "a" * 9000, "longer than"),
        ("", "not an absolute"),
    ],
)
def test_what_is_ambiguous_or_not_for_pages_is_refused(url, complaint):
    with pytest.raises(UnsafeURL, match=complaint):
        Guard().check(url)


def test_the_ports_that_are_refused_are_the_bad_ports_of_the_fetch_standard():
    bad = (
        "0 1 7 9 11 13 15 17 19-23 25 37 42 43 53 69 77 79 87 95 101-104 109-111 113 115 117 119 123 135 137 139 143 161 "
        "179 389 427 465 512-515 526 530-532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 "
        "4045 4190 5060 5061 6000 6566 6665-6669 6679 6697 10080"
    )
    guard = Guard()

    def is_refused(port):
        try:
            guard.check(f"http://shop.example:{port}/")
        except UnsafeURL:
            return True
        return False

    ends = [[int(end) for end in one.split("-")] for one in bad.split()]
    ports = {port for one in ends for port in range(one[0], one[-1] + 1)}
    assert {port for port in range(11_000) if is_refused(port)} == ports


def test_a_network_is_a_hole_for_addresses():
    guard = Guard.allowing(["10.1.0.0/16", "fd12::/32"])

    assert guard.check("http://10.1.2.3:8000/") == "http://10.1.2.3:8000/"
    assert guard.judge("wiki.corp", 80, ["10.1.2.3"]) == ["10.1.2.3"]
    assert guard.judge("wiki.corp", 80, ["fd12::1"]) == ["fd12::1"]
    for refused in ("http://10.2.0.1/", "http://127.0.0.1/"):
        with pytest.raises(UnsafeURL):
            guard.check(refused)


def test_an_origin_is_a_hole_for_its_scheme_name_and_port_alone():
    guard = Guard.allowing(["https://wiki.corp:8443", "http://127.0.0.1:8000"])

    assert guard.check("https://wiki.corp:8443/page") == "https://wiki.corp:8443/page"
    assert guard.judge("wiki.corp", 8443, ["10.1.2.3"]) == ["10.1.2.3"]
    assert guard.check("http://127.0.0.1:8000/") == "http://127.0.0.1:8000/"
    for refused in (
        "http://wiki.corp:8443/",
        "https://wiki.corp/",
        "https://other.corp:8443/",
        "http://127.0.0.1:8001/",
    ):
        with pytest.raises(UnsafeURL):
            guard.check(refused)
    with pytest.raises(UnsafeURL):
        guard.judge("wiki.corp", 443, ["10.1.2.3"])


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [
        ("https://wiki.example.com:8443", "http://wiki.example.com:8443/"),
        ("http://wiki.example.com:8080", "https://wiki.example.com:8080/"),
        ("https://wiki.example.com", "http://wiki.example.com:443/"),
        ("http://wiki.example.com", "https://wiki.example.com:80/"),
        ("https://wiki.corp:8443", "http://WIKI.corp.:8443/"),
        ("https://b\u00fccher.example:8443", "http://xn--bcher-kva.example:8443/"),
        ("https://10.1.2.3:8443", "http://10.1.2.3:8443/"),
        ("https://[fd12::1]:8443", "http://[fd12:0::1]:8443/"),
    ],
)
def test_an_origin_allowed_over_one_scheme_is_closed_over_the_other(allowed, refused):
    guard = Guard.allowing([allowed])

    assert guard.check(f"{allowed}/")
    with pytest.raises(UnsafeURL, match="another scheme"):
        guard.check(refused)


def test_an_origin_can_be_allowed_over_both_schemes():
    guard = Guard.allowing(["http://wiki.corp:8443", "https://wiki.corp:8443"])

    assert guard.check("http://wiki.corp:8443/") == "http://wiki.corp:8443/"
    assert guard.check("https://wiki.corp:8443/") == "https://wiki.corp:8443/"


CREDENTIALS = [
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23", "169.254.42.42", "169.254.169.252",
    "169.254.129.3", "100.100.100.200", "100.96.0.96", "100.80.80.80", "192.0.0.192", "168.63.129.16", "fe80::a9fe:a9fe",
    "fe80::1", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42", "fd00:c1::a9fe:a9fe",
    "fd00:a9fe:a9fe::1", "fd00:100::100:200",
]  # fmt: skip


def clothed(address):
    """Return the IPv6 addresses that embed an IPv4 address."""
    ip = ipaddress.ip_address(address)
    if ip.version == 6:
        return [address]
    high, low = f"{int(ip) >> 16:x}", f"{int(ip) & 0xFFFF:x}"
    a, b, c, d = ip.packed
    return [
        address, f"::ffff:{ip}", f"::{ip}", f"::ffff:0:{ip}", f"64:ff9b::{ip}", f"2002:{high}:{low}::1",
        f"2001:470:1:2:0:5efe:{high}:{low}",
        # RFC 6052: after a prefix of 96 bits, and of 48, 56 and 64
        f"64:ff9b:1::{high}:{low}",
        f"64:ff9b:1:{high}:{c:x}:{d << 8:x}::",
        f"64:ff9b:1:{a:x}:{b:x}:{low}::",
        f"64:ff9b:1:0:{a:x}:{b << 8 | c:x}:{d << 8:x}:0",
    ]  # fmt: skip


@pytest.mark.parametrize("address", CREDENTIALS)
def test_no_hole_reaches_where_clouds_hand_out_credentials(address):
    for spelling in clothed(address):
        host = str(ipaddress.ip_address(spelling))
        literal = f"http://[{host}]" if ":" in host else f"http://{host}"
        for holes in (
            ["0.0.0.0/0", "::/0"],
            [f"{host}/{128 if ':' in host else 32}"],
            [literal],
            ["http://wiki.corp"],
        ):
            guard = Guard.allowing(holes)
            with pytest.raises(UnsafeURL):
                guard.check(literal)
            for name in (host, "wiki.corp"):
                with pytest.raises(UnsafeURL):
                    guard.judge(name, 80, [host])
    assert verdict(address)


@pytest.mark.parametrize("zone", ["1", "eth0"])
def test_a_zone_does_not_hide_them(zone):
    with pytest.raises(UnsafeURL):
        Guard.allowing(["::/0"]).judge("wiki.corp", 80, [f"fe80::a9fe:a9fe%{zone}"])
    with pytest.raises(UnsafeURL):
        Guard.allowing(["::/0"]).judge("wiki.corp", 80, [f"fd00:ec2::254%{zone}"])


def test_their_neighbours_are_reached_through_a_hole():
    guard = Guard.allowing(["100.64.0.0/10", "fd00::/8", "64:ff9b:1::/48"])

    for address in (
        "100.100.100.201",
        "100.96.0.95",
        "fd00:42::43",
        "64:ff9b:1::a01:203",
    ):
        assert guard.judge("wiki.corp", 80, [address]) == [address]


def test_no_hole_is_ever_made_for_the_services_that_hand_out_credentials():
    guard = Guard.allowing(["169.254.0.0/16", "http://metadata.corp"])

    with pytest.raises(UnsafeURL):
        guard.judge("metadata.corp", 80, ["169.254.169.254"])
    with pytest.raises(UnsafeURL):
        guard.judge("any.example", 80, ["169.254.169.254"])


def test_no_hole_lets_those_services_in_by_an_address_around_theirs():
    guard = Guard.allowing(["2001::/32"])

    # Teredo (RFC 4380) around 10.0.0.1
    assert guard.judge("any.example", 80, ["2001:0:1:2:3:4:f5ff:fffe"])
    with pytest.raises(UnsafeURL):
        # around 169.254.169.254
        guard.judge("any.example", 80, ["2001:0:1:2:3:4:5601:5601"])


@pytest.mark.parametrize(
    "entry",
    [
        "10.0.0.1/8",
        "wiki",
        "https://wiki.corp/path",
        "https://user@wiki.corp",
        "ftp://a.b",
        "",
    ],
)
def test_an_invalid_hole_is_reported(entry):
    with pytest.raises(ConfigurationError, match="internal"):
        Guard.allowing([entry])


@pytest.fixture
def elsewhere(monkeypatch):
    """No address is this machine's own: finding out would take a socket."""
    monkeypatch.setattr("websearch_core._net.system.source_address", lambda ip: None)


@pytest.mark.usefixtures("elsewhere")
def test_one_bad_address_refuses_the_whole_name():
    with pytest.raises(UnsafeURL, match="not a public one"):
        Guard().judge("a.example", 80, ["93.184.215.14", "10.0.0.1"])


@pytest.mark.usefixtures("elsewhere")
def test_addresses_are_tried_alternating_between_the_families():
    addresses = ["93.184.215.14", "93.184.215.15", "2606:4700::1", "2606:4700::2"]

    assert Guard().judge("a.example", 80, addresses) == [
        "2606:4700::1", "93.184.215.14", "2606:4700::2", "93.184.215.15",
    ]  # fmt: skip


@pytest.mark.usefixtures("elsewhere")
def test_a_refusal_does_not_say_what_is_there():
    with pytest.raises(UnsafeURL) as caught:
        Guard().judge("secret.example", 80, ["10.11.12.13"])
    assert "10.11" not in str(caught.value)


@pytest.mark.enable_socket
def test_this_machines_own_addresses_are_known():
    assert is_own_address(ipaddress.ip_address("127.0.0.1"))


def corpus():
    if not CORPUS.is_dir():
        return []
    lines = (CORPUS / "urls.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [
        (json.loads(f'"{url}"') if not url.startswith('"') else json.loads(url), label)
        for url, label, _ in rows
    ]


@needs_corpus
def test_every_ambiguous_url_of_the_corpus_is_refused_before_any_look_up():
    passed = [
        url for url, label in corpus() if label == "invalid" and _passes(Guard(), url)
    ]

    assert passed == []


@needs_corpus
def test_every_honest_url_of_the_corpus_passes():
    refused = [
        url for url, label in corpus() if label == "allow" and not _passes(Guard(), url)
    ]

    assert refused == []
    assert [
        (url, label)
        for url, label in corpus()
        if label == "allow" and not is_web_url(url)
    ] == []


def _passes(guard, url):
    try:
        guard.check(url)
    except UnsafeURL:
        return False
    return True


@given(
    st.text(alphabet="htps:/.@[]\\%0x17a -?#é。ⓛ:e", max_size=40).map(
        lambda rest: f"http://{rest}"
    )
    | st.text()
)
def test_reading_a_url_never_fails_in_another_way_and_is_stable(url):
    try:
        canonical = Guard().check(url)
    except UnsafeURL:
        return
    assert Guard().check(canonical) == canonical


@given(
    st.text(alphabet="htps:/.@[]\\%0x17a-?#ec", max_size=40).map(
        lambda rest: f"http://{rest}"
    )
)
def test_what_is_accepted_httpx_and_the_standard_library_read_alike(url):
    import urllib.parse

    import httpx

    try:
        canonical = Guard().check(url)
    except UnsafeURL:
        return
    ours, theirs = urllib.parse.urlsplit(canonical), httpx.URL(canonical)
    assert ours.hostname == theirs.host
    assert (ours.port or 80) == (theirs.port or 80)


@pytest.mark.parametrize(
    "address",
    [
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "::169.254.169.254",
        "2002:a9fe:a9fe::",
        "::ffff:0:169.254.169.254",
    ],
)
def test_no_hole_is_made_for_them_in_other_notations_either(address):
    for guard in (Guard.allowing(["http://wiki.corp:80"]), Guard.allowing(["::/0"])):
        with pytest.raises(UnsafeURL):
            guard.judge("wiki.corp", 80, [address])
        with pytest.raises(UnsafeURL):
            guard.check(f"http://[{address}]/")


def test_an_address_that_the_kernel_cannot_reach_is_not_taken_for_this_machine(
    monkeypatch,
):
    def unreachable(*_: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("socket.socket", unreachable)

    assert not is_own_address(ipaddress.ip_address("203.0.113.9"))
