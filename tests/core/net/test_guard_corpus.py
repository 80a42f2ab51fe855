"""The corpus of hostile URLs, end to end: the reader and sender, with a resolver and
connections made by the test.
"""

from __future__ import annotations
import asyncio
import importlib
import json
import re
from collections import Counter

import pytest

from tests.corpora import CORPORA, needs
from tests.whole import WHOLE
from websearch_core._net.credentials import OriginCredentials
from websearch_core._net.guard import Guard, verdict
from websearch_core._net.proxy import Proxies
from websearch_core._net.sender import Sender
from websearch_core._text.urls import parse_address
from websearch_core.errors import UnsafeURL
from websearch_core.flow import Request, arun, run
from websearch_core.keys import Credentials
from websearch_core.models import Page
from websearch_core.providers.direct import Direct

CORPUS = CORPORA / "hostile"
pytestmark = needs(CORPUS)

# a public page, at an address of no row
START, START_AT = "start.example.org", "151.101.0.81"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"


def redirect(location):
    return (
        b"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: "
        + location.encode()
        + b"\r\n\r\n"
    )


def rows(*labels):
    if not CORPUS.is_dir():
        return []
    lines = (CORPUS / "urls.tsv").read_text("utf-8").split("\n")
    split = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [json.loads(f'"{url}"') for url, label, _ in split if label in labels]


def part(urls, library, colour):
    """Return half of *urls*: each is read with both libraries, and both blocking and
    async; one of the two, with a proxy.

    `make test-whole` reads all of them in all ways.
    """
    return (
        urls if WHOLE else urls[((library == "httpx2") + (colour == "async")) % 2 :: 2]
    )


def test_every_url_is_read_with_both_libraries_and_both_blocking_and_async():
    urls = list(range(5))
    for library in ("httpx", "httpx2"):
        assert {*part(urls, library, "blocking"), *part(urls, library, "async")} == {
            *urls
        }
    for colour in ("blocking", "async"):
        assert {*part(urls, "httpx", colour), *part(urls, "httpx2", colour)} == {*urls}


def fits_a_header(url):
    """A redirect can name it: a header ends at a line break, and loses the blanks
    around it.
    """
    return url == url.strip() and not set(url) & {"\r", "\n"}


class Names:
    """The resolver: the names of the corpus, some of which answer differently each time
    they are asked.
    """

    def __init__(self):
        self.table = json.loads((CORPUS / "dns.json").read_text("utf-8")) | {
            START: [START_AT]
        }
        self.forget()

    def forget(self):
        self.asked, self.answered, self._times = [], [], Counter()

    def __call__(self, host, port):
        self.asked.append(host)
        answer = self.table.get(host, self.table["_default"])
        if isinstance(answer, dict):
            turn = min(self._times[host], len(answer["sequence"]) - 1)
            self._times[host] += 1
            answer = answer["sequence"][turn]
        self.answered += answer
        return answer

    def mixed(self):
        """The names with both a public and a non-public address."""
        listed = {
            name: answer
            for name, answer in self.table.items()
            if isinstance(answer, list)
        }
        return [
            name
            for name, answer in listed.items()
            if len({verdict(each) is None for each in answer}) == 2
        ]

    def changing(self):
        return [name for name, answer in self.table.items() if isinstance(answer, dict)]


class Wire:
    """The far end of connections: records each address dialled, and answers with a page
    or what the test sets.
    """

    def __init__(self, stream):
        self._stream = stream
        self.dialled, self.answers = [], []

    def connect(self, host):
        self.dialled.append(host)
        return self._stream([self.answers.pop(0) if self.answers else PAGE])


class BlockingWire(Wire):
    def connect_tcp(self, host, port, timeout=None, **options):
        return self.connect(host)


class AsyncWire(Wire):
    async def connect_tcp(self, host, port, timeout=None, **options):
        return self.connect(host)


class ProxyWire:
    """The same for a wire that leads to a proxy: notes what it is asked for, and what
    each request holds.
    """

    def __init__(self, core, is_async):
        self.dialled, self.asked, self.sent, self.answers = [], [], [], []
        wire = self

        def answer(stream, data):
            head, stream.unread = stream.unread, b""
            if head.startswith(b"CONNECT "):
                wire.asked.append(head.split()[1].decode())
                stream.place = wire.asked[-1]
                return b"HTTP/1.1 200 OK\r\n\r\n"
            if not head:
                return b""
            if not stream.place:
                wire.asked.append(
                    head.split()[1].decode().partition("://")[2].partition("/")[0]
                )
            wire.sent.append(head)
            return wire.answers.pop(0) if wire.answers else PAGE

        class Stream(core.MockStream):
            unread, place = b"", ""

            def write(self, data, timeout=None):
                self.unread += data

            def read(self, size, timeout=None):
                return answer(self, size)

        class AsyncStream(core.AsyncMockStream):
            unread, place = b"", ""

            async def write(self, data, timeout=None):
                self.unread += data

            async def read(self, size, timeout=None):
                return answer(self, size)

        self._stream = AsyncStream if is_async else Stream
        self.connect_tcp = self._aconnect if is_async else self._connect

    def _connect(self, host, port, timeout=None, **options):
        self.dialled.append(host)
        return self._stream([])

    async def _aconnect(self, host, port, timeout=None, **options):
        return self._connect(host, port)


class Reader:
    """The reader ``direct`` with a real `Sender` and the default guard; only the wire
    is fake.
    """

    def __init__(
        self, library, colour, allow=(), own=None, resolve=None, credentials=None
    ):
        core = importlib.import_module(
            {"httpx": "httpcore", "httpx2": "httpcore2"}[library]
        )
        self.names = Names()
        kind = "async_client" if colour == "async" else "client"
        guard = Guard.allowing(allow, resolve=self.names)
        proxies = Proxies.of("http://192.0.2.1:3128", resolve) if resolve else None
        logins = OriginCredentials(credentials or {}, guard)
        self._sender = Sender(
            guard,
            library=library,
            proxies=proxies,
            credentials=logins,
            **{kind: own} if own else {},
        )
        self._runner = asyncio.Runner() if colour == "async" else None
        self.wire = (
            AsyncWire(core.AsyncMockStream)
            if self._runner
            else BlockingWire(core.MockStream)
        )
        client = (
            self._runner.run(self._async_client())
            if self._runner
            else self._sender._client(guarded=True)
        )
        if resolve or credentials:
            self.wire = ProxyWire(core, is_async=bool(self._runner))
        for pool in client.pools:
            pool.inner._network_backend._inner = self.wire

    async def _async_client(self):
        return await self._sender._get_loop_clients().client(guarded=True)

    def handed_over(self, url):
        """Return whether a reading service inside this network would be asked to open
        *url*.
        """
        self.forget()
        request = Request(
            url=f"http://{START_AT}/", guarded=True, target=url, judge_target=True
        )
        try:
            if self._runner:
                self._runner.run(self._sender.asend(request))
            else:
                self._sender.send(request)
        except Exception:  # whatever it is, what was dialled counts
            return bool(self.wire.dialled)
        return True

    def serves(self, url):
        """Return whether a service of the caller's is asked for *url*."""
        self.forget()
        request = Request(
            url="https://service.example/read", target=url, judge_target=True
        )
        try:
            self._runner.run(
                self._sender.asend(request)
            ) if self._runner else self._sender.send(request)
        except UnsafeURL:
            return False
        return True

    def forget(self):
        self.names.forget()
        for noted in ("dialled", "answers", "asked", "sent"):
            getattr(self.wire, noted, []).clear()

    def read(self, url):
        direct = Direct(allow_downgrade=True)
        if self._runner:
            return self._runner.run(arun(direct.read(url), self._sender.asend))
        return run(direct.read(url), self._sender.send)

    def outcome(self, url):
        """Read *url* with a fresh resolver, and return the page or any exception."""
        try:
            return self.read(url)
        except Exception as error:  # the tests look at it
            return error

    def redirected(self, url, scheme="http"):
        """Read a public page that redirects to *url*; a second request for it gets a
        page.
        """
        self.forget()
        self.wire.answers.append(redirect(url))
        return self.outcome(f"{scheme}://{START}/")

    def close(self):
        self._sender.close()
        if self._runner:
            self._runner.close()


@pytest.fixture
def reader(library, colour, monkeypatch):
    """A `Reader` on a machine without addresses: finding its own ones would need a
    socket.
    """
    monkeypatch.setattr("websearch_core._net.system.source_address", lambda ip: None)
    reader = Reader(library, colour)
    yield reader
    reader.close()


@pytest.fixture
def holed(library, colour, monkeypatch):
    """Make such a reader with holes in its guard."""
    monkeypatch.setattr("websearch_core._net.system.source_address", lambda ip: None)
    made = []

    def make(*allow, **names):
        made.append(Reader(library, colour, allow))
        made[-1].names.table |= names
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_nothing_forbidden_or_ambiguous_is_connected_to_and_nothing_ambiguous_is_looked_up(
    reader, library, colour
):
    connected, looked_up, otherwise = [], [], []
    for label in ("block", "invalid"):
        for url in part(rows(label), library, colour):
            reader.forget()
            outcome = reader.outcome(url)
            connected += [url] if reader.wire.dialled else []
            looked_up += [url] if reader.names.asked and label == "invalid" else []
            otherwise += [] if isinstance(outcome, UnsafeURL) else [(url, outcome)]

    assert connected == []
    assert looked_up == []
    assert otherwise == []


def test_everything_honest_is_read_from_one_public_address_that_was_judged(
    reader, library, colour, monkeypatch
):
    judged = []
    judge = Guard.judge

    def judging(self, host, port, addresses):
        judged.append(judge(self, host, port, addresses))
        return judged[-1]

    monkeypatch.setattr(Guard, "judge", judging)
    for url in part(rows("allow"), library, colour):
        reader.forget()
        judged.clear()
        outcome = reader.outcome(url)

        assert isinstance(outcome, Page), (url, outcome)
        assert outcome.content == "hello", url
        (addresses,) = judged
        (dialled,) = reader.wire.dialled
        assert dialled in addresses, url
        assert verdict(dialled) is None, url
        assert not reader.names.asked or (
            len(reader.names.asked) == 1 and dialled in reader.names.answered
        ), url


def test_a_name_that_changes_its_mind_is_judged_again_for_every_connection(reader):
    assert len(reader.names.changing()) == 3
    for name in reader.names.changing():
        reader.forget()
        (first,) = reader.names.table[name]["sequence"][0]

        assert reader.read(f"http://{name}/").content == "hello"
        assert reader.names.asked == [name]
        with pytest.raises(UnsafeURL):
            reader.read(f"http://{name}/")
        assert reader.names.asked == [name, name]
        assert reader.wire.dialled == [first]


def test_a_name_that_changes_its_mind_between_two_hops_is_judged_at_both(reader):
    for name in reader.names.changing():
        reader.forget()
        (first,) = reader.names.table[name]["sequence"][0]
        reader.wire.answers.append(redirect("/again"))

        with pytest.raises(UnsafeURL):
            reader.read(f"http://{name}/")
        assert reader.wire.dialled == [first]


def test_one_bad_address_among_good_ones_rules_out_all_of_them(reader):
    assert len(reader.names.mixed()) == 3
    for name in reader.names.mixed():
        with pytest.raises(UnsafeURL):
            reader.read(f"http://{name}/")
    assert reader.wire.dialled == []


@pytest.mark.no_cover
def test_a_redirect_that_leads_astray_is_refused_as_unsafe(reader, library, colour):
    absolute = re.compile("https?:", re.IGNORECASE)
    led, otherwise = [], []
    for label in ("block", "invalid"):
        for url in filter(fits_a_header, part(rows(label), library, colour)):
            outcome = reader.redirected(url)
            looked_up = (
                set(reader.names.asked) - {START} if label == "invalid" else set()
            )
            if set(reader.wire.dialled) != {START_AT} or looked_up:
                led.append((url, reader.wire.dialled, reader.names.asked))
            if (
                absolute.match(url)
                and url.isprintable()
                and not isinstance(outcome, UnsafeURL)
            ):
                otherwise.append((url, outcome))

    assert led == []
    assert otherwise == []


def test_a_redirect_to_an_honest_page_is_followed(reader, library, colour):
    for url in part(rows("allow"), library, colour):
        outcome = reader.redirected(url)

        assert isinstance(outcome, Page), (url, outcome)
        assert len(reader.wire.dialled) == 2, url
        assert [
            address for address in reader.wire.dialled if verdict(address) is not None
        ] == [], url


def test_nothing_forbidden_is_handed_to_a_service_that_may_stand_inside_and_everything_honest_is(
    reader, library, colour
):
    forbidden = part(rows("block"), library, colour) + part(
        rows("invalid"), library, colour
    )
    handed = [url for url in forbidden if reader.handed_over(url)]
    withheld = [
        url
        for url in part(rows("allow"), library, colour)
        if not reader.handed_over(url)
    ]

    assert handed == []
    assert withheld == []


@pytest.mark.no_cover
def test_with_a_client_of_the_callers_own_pages_never_go_through_it_and_targets_pass_the_guard_first(
    library, colour, monkeypatch
):
    monkeypatch.setattr("websearch_core._net.system.source_address", lambda ip: None)
    http, seen = importlib.import_module(library), []
    transport = http.MockTransport(
        lambda request: seen.append(request.url) or http.Response(200, text="ok")
    )
    own = (
        http.AsyncClient(transport=transport)
        if colour == "async"
        else http.Client(transport=transport)
    )
    reader = Reader(library, colour, own=own)
    wrong = {}
    for label in ("allow", "block", "invalid"):
        for url in part(rows(label), library, colour):
            reader.forget()
            outcome = reader.outcome(url)
            reached = bool(reader.wire.dialled)
            if (
                reached != isinstance(outcome, Page)
                or reached != (label == "allow")
                or seen
            ):
                wrong[url] = outcome, reader.wire.dialled
            if reader.serves(url) != (label == "allow") or bool(seen) != (
                label == "allow"
            ):
                wrong[url] = seen
            seen.clear()
    reader.close()

    assert wrong == {}


CREDENTIALS = {
    "aws": "169.254.169.254", "ecs": "169.254.170.2", "eks": "169.254.170.23", "azure": "168.63.129.16",
    "app service": "169.254.129.3", "tencent": "169.254.0.23", "scaleway": "169.254.42.42", "gke": "169.254.169.252",
    "alibaba": "100.100.100.200", "volcano": "100.96.0.96", "ucloud": "100.80.80.80", "oracle": "192.0.0.192",
    "openstack": "fe80::a9fe:a9fe", "aws 6": "fd00:ec2::254", "eks 6": "fd00:ec2::23", "google 6": "fd20:ce::254",
    "scaleway 6": "fd00:42::42", "oracle 6": "fd00:c1::a9fe:a9fe", "akamai 6": "fd00:a9fe:a9fe::1",
    "alibaba 6": "fd00:100::100:200", "mapped": "::ffff:169.254.0.23", "translated": "64:ff9b::a9fe:17",
    "translated here": "64:ff9b:1::a9fe:17", "6to4": "2002:a9fe:17::1",
}  # fmt: skip


@pytest.mark.parametrize("address", CREDENTIALS.values(), ids=list(CREDENTIALS))
def test_no_hole_leads_to_where_clouds_hand_out_credentials(holed, address):
    literal = f"http://[{address}]" if ":" in address else f"http://{address}"
    reader = holed(
        "0.0.0.0/0",
        "::/0",
        literal,
        "http://meta.corp",
        "https://meta.corp",
        **{"meta.corp": [address]},
    )
    for url in (
        literal,
        "http://meta.corp",
        "https://meta.corp",
        "http://meta.corp:8080",
    ):
        assert isinstance(reader.outcome(f"{url}/latest/meta-data/"), UnsafeURL), url
        assert reader.wire.dialled == []
        assert isinstance(reader.redirected(f"{url}/latest/meta-data/"), UnsafeURL), url
        assert reader.wire.dialled == [START_AT]
        assert not reader.handed_over(url), url


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [
        ("http://wiki.example.com:8443", "https://wiki.example.com:8443/"),
        ("https://wiki.example.com:8443", "http://wiki.example.com:8443/"),
        ("https://wiki.example.com", "http://wiki.example.com:443/"),
        ("http://wiki.example.com", "https://wiki.example.com:80/"),
        ("https://10.1.2.3:8443", "http://10.1.2.3:8443/"),
        ("https://[fd12::1]", "http://[fd12::1]:443/"),
    ],
)
def test_an_origin_allowed_over_one_scheme_is_not_reached_over_the_other(
    holed, allowed, refused
):
    reader = holed(allowed, **{"wiki.example.com": ["10.1.2.3"]})

    assert isinstance(reader.outcome(refused), UnsafeURL)
    assert reader.wire.dialled == []
    assert isinstance(reader.redirected(refused), UnsafeURL)
    assert reader.wire.dialled == [START_AT]
    assert not reader.handed_over(refused)
    if allowed.startswith("http:"):  # there is no TLS on this wire
        assert reader.outcome(f"{allowed}/").content == "hello"


SECRET = "sesame-0123456789"
LOGIN = {
    f"https://{START}": Credentials(
        bearer=SECRET, headers={"X-Wiki": SECRET}, cookies={"sid": SECRET}
    )
}


@pytest.fixture
def behind(colour, monkeypatch):
    """Make a `Reader` behind a proxy, with credentials for the public page."""
    monkeypatch.setattr("websearch_core._net.system.source_address", lambda ip: None)
    made = []

    def make(resolve):
        made.append(Reader("httpx", colour, resolve=resolve, credentials=LOGIN))
        return made[-1]

    yield make
    for one in made:
        one.close()


def hosts_of(asked):
    return [
        place.rpartition(":")[0].strip("[]") if ":" in place else place
        for place in asked
    ]


def is_address(host):
    return parse_address(host) is not None


def test_a_proxy_is_asked_for_nothing_forbidden_if_names_are_resolved_here(
    behind, colour
):
    reader = behind("here")
    asked = {}
    for label in ("block", "invalid"):
        for url in part(rows(label), "httpx", colour):
            reader.forget()
            outcome = reader.outcome(url)
            if (
                reader.wire.dialled
                or not isinstance(outcome, UnsafeURL)
                or (label == "invalid" and reader.names.asked)
            ):
                asked[url] = reader.wire.asked, outcome

    assert asked == {}
    for url in part(rows("allow"), "httpx", colour):
        reader.forget()
        assert isinstance(reader.outcome(url), Page), url
        (host,) = hosts_of(reader.wire.asked)
        assert verdict(host) is None, url
        assert reader.wire.dialled == ["192.0.2.1"]


def test_a_proxy_that_resolves_is_asked_for_names_only_that_nothing_here_forbids(
    behind, colour
):
    """What its owner has to refuse: names that only their addresses give away."""
    reader = behind("proxy")
    left = []
    for label in ("block", "invalid"):
        for url in part(rows(label), "httpx", colour):
            reader.forget()
            outcome = reader.outcome(url)
            assert reader.names.asked == [], url
            if not isinstance(outcome, UnsafeURL):
                (host,) = hosts_of(reader.wire.asked)
                left.append((label, host))
    for url in part(rows("allow"), "httpx", colour):
        reader.forget()
        assert isinstance(reader.outcome(url), Page), url
        assert len(reader.wire.asked) == 1

    assert [host for _, host in left if is_address(host)] == []
    assert {label for label, _ in left} == {"block"}
    addresses = {
        host: reader.names.table.get(host, reader.names.table["_default"])
        for _, host in left
    }
    assert [
        host
        for host, found in addresses.items()
        if isinstance(found, list) and all(map(is_public, found))
    ] == []


def is_public(address):
    return verdict(address) is None


@pytest.mark.parametrize("colour", ["blocking"])
@pytest.mark.parametrize("resolve", [None, "here", "proxy"])
@pytest.mark.no_cover
def test_no_redirect_takes_credentials_along_or_leads_where_the_url_would_not(
    behind, resolve
):
    reader, led, followed = behind(resolve), [], 0
    for label in ("block", "allow"):
        for url in filter(fits_a_header, rows(label)):
            reader.redirected(url, "https")
            first, *others = reader.wire.sent
            followed += bool(others)
            assert first.count(SECRET.encode()) == 3
            if any(SECRET.encode() in one for one in others) or (
                label == "block" and others and resolve != "proxy"
            ):
                led.append((url, others))

    assert led == []
    assert followed >= len(list(filter(fits_a_header, rows("allow"))))
