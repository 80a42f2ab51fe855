"""Credentials go to the origin that they are for, and nowhere else."""

from __future__ import annotations
import asyncio
import base64
import logging
import pickle
import re
import ssl
import traceback

import pytest
import trustme
from pydantic import SecretStr

from tests import server as faulty
from tests.faults.proxy import Proxy as LocalProxy
from websearch_core._net.credentials import Credentials, OriginCredentials
from websearch_core._net.guard import Guard
from websearch_core._net.proxy import Proxies
from websearch_core._net.sender import Sender
from websearch_core.errors import (
    ConfigurationError,
    MissingKey,
    ServiceError,
    WebSearchError,
)
from websearch_core.flow import Request, arun, run
from websearch_core.keys import pickle_keys
from websearch_core.layers import Robots
from websearch_core.providers.direct import Direct

TOKEN, PASSWORD, HEADER, COOKIE = (
    "tok-en-0123456789",
    "pässword 0123: é",
    "Scheme header-0123456789",
    "cook-ie=0123456789==",
)
PAGE = (
    "<html><body><h1>Tides</h1><p>" + "High water at noon. " * 30 + "</p></body></html>"
)
OPEN = Guard.allowing(["127.0.0.0/8"], resolve=lambda host, port: ["127.0.0.1"])


def make(origin, guard=OPEN, **credentials):
    return OriginCredentials({origin: Credentials(**credentials)}, guard)


@pytest.fixture
def site(http):
    running = faulty.Server([http(PAGE, "200 OK", "Content-Type: text/html")])
    yield running
    running.close()


@pytest.fixture
def other(http):
    running = faulty.Server([http(PAGE, "200 OK", "Content-Type: text/html")])
    yield running
    running.close()


@pytest.fixture
def perform(library, colour):
    """``perform(flow, credentials)`` runs a flow, or sends a request, in each
    colour.
    """
    made = []

    def perform(flow, credentials, guard=OPEN, **options):
        made.append(
            sender := Sender(guard, library=library, credentials=credentials, **options)
        )
        if isinstance(flow, Request):
            return (
                sender.send(flow)
                if colour == "blocking"
                else asyncio.run(sender.asend(flow))
            )
        return (
            run(flow, sender.send)
            if colour == "blocking"
            else asyncio.run(arun(flow, sender.asend))
        )

    yield perform
    for one in made:
        one.close()


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"bearer": TOKEN}, {"authorization": f"Bearer {TOKEN}"}),
        ({"bearer": SecretStr(TOKEN)}, {"authorization": f"Bearer {TOKEN}"}),
        ({"bearer": lambda: TOKEN}, {"authorization": f"Bearer {TOKEN}"}),
        ({"bearer": "env:WIKI_TOKEN"}, {"authorization": f"Bearer {TOKEN}"}),
        (
            {"basic": ("ann", PASSWORD)},
            {
                "authorization": "Basic "
                + base64.b64encode(f"ann:{PASSWORD}".encode()).decode()
            },
        ),
        (
            {"headers": {"X-Wiki": HEADER, "X-Team": "a"}},
            {"x-wiki": HEADER, "x-team": "a"},
        ),
        ({"cookies": {"sid": COOKIE, "b": "2"}}, {"cookie": f"sid={COOKIE}; b=2"}),
    ],
)
def test_they_are_sent_to_their_origin(perform, site, monkeypatch, given, sent):
    monkeypatch.setenv("WIKI_TOKEN", TOKEN)
    page = perform(Direct().read(f"{site.url}/a"), make(site.url, **given))

    assert "High water" in page.content
    for _, headers, _ in site.requests:
        assert {name: headers.get(name) for name in sent} == sent


@pytest.mark.enable_socket
def test_a_header_that_is_given_replaces_the_usual_one_whatever_its_case(perform, site):
    perform(
        Direct().read(site.url), make(site.url, headers={"ACCEPT": "text/x-wiki-0123"})
    )

    assert site.requests[0][1]["accept"] == "text/x-wiki-0123"


def everything():
    return {
        "basic": ("ann", PASSWORD),
        "headers": {"X-Wiki": HEADER},
        "cookies": {"sid": COOKIE},
    }


def leaks(*what):
    """Return the secrets in what was sent or shown."""
    text = repr(what)
    encoded = base64.b64encode(f"ann:{PASSWORD}".encode()).decode()
    return [
        one
        for one in (TOKEN, PASSWORD, HEADER.split()[1], COOKIE, encoded, "0123456789")
        if one in text
    ]


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "status",
    ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent", "refresh"],
)
def test_a_redirect_takes_them_to_no_other_origin(perform, site, other, http, status):
    there = f"{other.url}/landing"
    answer = (
        http(
            f'<meta http-equiv="refresh" content="0;url={there}">',
            "200 OK",
            "Content-Type: text/html",
        )
        if status == "refresh"
        else http(b"", status, f"Location: {there}")
    )
    site.answers["/go"] = answer
    # the same port under another name is another origin, too
    for host in ("127.0.0.1", "wiki.example"):
        site.answers["/host"] = http(
            b"", "302 Found", f"Location: http://{host}:{other.port}/landing"
        )
        for path in ("/go", "/host"):
            perform(Direct().read(site.url + path), make(site.url, **everything()))

    assert all("x-wiki" in headers for _, headers, _ in site.requests)
    assert len(other.requests) >= 4
    assert leaks(other.requests) == []
    assert not any(
        {"authorization", "cookie", "x-wiki"} & set(headers)
        for _, headers, _ in other.requests
    )


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:{port}/",
        "http://127.0.0.2:{port}/",
        "http://wiki.example:{port}/",
        "http://127.0.0.1.wiki.example:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://127.0.0.1:{other}/",
    ],
)
def test_another_spelling_is_another_origin(perform, site, other, url):
    asked = url.format(port=site.port, other=other.port)
    try:
        perform(Request(url=asked, guarded=True), make(site.url, **everything()))
    except WebSearchError:
        assert "::ffff" in asked or "127.0.0.2" in asked
    for _, headers, _ in site.requests + other.requests:
        assert not {"authorization", "cookie", "x-wiki"} & set(headers)


@pytest.mark.enable_socket
def test_the_scheme_counts(perform, http):
    authority = trustme.CA()
    theirs, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("wiki.example").configure_cert(theirs)
    authority.configure_trust(ours)
    site = faulty.Server([http(b"page")], tls=theirs)
    origin = f"https://WIKI.example:{site.port}/"

    perform(
        Request(url=f"https://wiki.example.:{site.port}/", guarded=True),
        make(origin, bearer=TOKEN),
        verify=ours,
    )
    with pytest.raises(ServiceError):
        perform(
            Request(url=f"http://wiki.example:{site.port}/", guarded=True),
            make(origin, bearer=TOKEN),
            verify=ours,
        )
    assert [headers["authorization"] for _, headers, _ in site.requests] == [
        f"Bearer {TOKEN}"
    ]
    site.close()


@pytest.mark.enable_socket
def test_a_service_gets_none_even_at_the_same_origin_or_for_a_page_of_it(perform, site):
    perform(
        Request(url=site.url, target=f"{site.url}/page", judge_target=True),
        make(site.url, **everything()),
    )

    assert leaks(site.requests) == []


@pytest.mark.enable_socket
def test_the_robots_txt_of_the_origin_gets_them_and_that_of_another_host_does_not(
    perform, site, other, http
):
    site.answers["/robots.txt"] = http(
        b"", "302 Found", f"Location: {other.url}/robots.txt"
    )
    other.answers["/robots.txt"] = http(
        b"User-agent: *\nAllow: /", "200 OK", "Content-Type: text/plain"
    )
    perform(Robots()(Direct()).read(f"{site.url}/a"), make(site.url, **everything()))

    assert [path for path, headers, _ in site.requests if "x-wiki" in headers][:2] == [
        "/robots.txt",
        "/a",
    ]
    assert [path for path, _, _ in other.requests] == ["/robots.txt"]
    assert leaks(other.requests) == []


@pytest.mark.enable_socket
@pytest.mark.parametrize("resolve", ["here", "proxy"])
def test_a_proxy_sees_none_of_those_for_https(perform, http, resolve):
    authority = trustme.CA()
    theirs, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("wiki.example").configure_cert(theirs)
    authority.configure_trust(ours)
    site = faulty.Server([http(b"page")], tls=theirs)
    proxy = LocalProxy({"wiki.example": "127.0.0.1"})
    url = f"https://wiki.example:{site.port}/"
    page = Request(url=url, guarded=True)
    perform(
        page,
        make(url, **everything()),
        verify=ours,
        proxies=Proxies.of(proxy.url, resolve),
    )

    assert "x-wiki" in site.requests[0][1]
    assert (
        leaks(proxy.asked, proxy.logins, b"".join(proxy.passed).decode("latin-1")) == []
    )
    proxy.close()
    site.close()


@pytest.mark.enable_socket
@pytest.mark.parametrize("given", [everything(), {"bearer": TOKEN}])
def test_no_page_error_log_repr_or_pickle_holds_them(
    perform, site, http, caplog, given
):
    """The site says everything that it was sent: in the text, in headers, in errors."""
    caplog.set_level(logging.DEBUG)

    def echo(request):
        said = "; ".join(request[1].values())
        status = "403 Forbidden" if request[0] == "/refused" else "200 OK"
        return http(
            f"<html><body><p>{said}</p>{PAGE}", status, "Content-Type: text/html", f"X-Echo: {said!a}",
            "Set-Cookie: session=fresh-session-0123456789",
        )  # fmt: skip

    site._reply = echo
    credentials = make(site.url, **given)
    page = perform(Direct().read(f"{site.url}/a"), credentials)
    with pytest.raises(ServiceError) as caught:
        perform(Direct().read(f"{site.url}/refused"), credentials)

    assert "High water" in page.content
    shown = "".join(traceback.format_exception(caught.value))
    assert leaks(page.model_dump_json(), repr(page), shown, vars(caught.value)) == []
    assert leaks(caplog.text) == []
    kept = Credentials(**given)
    assert leaks(repr(kept), str(kept), repr(vars(kept)), repr(vars(credentials))) == []
    assert leaks(pickle.dumps(credentials).decode("latin-1")) == []
    assert PASSWORD.encode() not in pickle.dumps(credentials)
    with pytest.raises(MissingKey, match="a pickle does not hold keys"):
        pickle.loads(pickle.dumps(credentials)).find(site.url).make_headers()
    with pickle_keys():
        copied = pickle.loads(pickle.dumps(credentials))
    assert (
        copied.find(site.url).make_headers()
        == credentials.find(site.url).make_headers()
    )


@pytest.mark.enable_socket
def test_a_connection_that_was_logged_in_serves_nobody_else(library, site):
    """The same server, with and without credentials: a connection is kept for its
    owner.
    """
    sender = Sender(OPEN, library=library, credentials=make(site.url, bearer=TOKEN))
    bare = Sender(OPEN, library=library)
    for one in (sender, bare, sender, bare):
        one.send(Request(url=site.url, guarded=True))

    assert site.connections == 2
    key = next(iter(sender._client(True).pools[0]._idle.values()))[0]
    assert key[3]
    sender.close()
    bare.close()


@pytest.mark.enable_socket
def test_a_missing_variable_is_named_when_it_is_needed_and_not_before(
    perform, site, other, monkeypatch
):
    monkeypatch.delenv("WIKI_TOKEN", raising=False)
    credentials = make(site.url, cookies={"sid": "env:WIKI_TOKEN"})

    assert perform(Request(url=other.url, guarded=True), credentials).status == 200
    with pytest.raises(
        MissingKey, match="credentials.*127.0.0.1.*WIKI_TOKEN"
    ) as caught:
        perform(Request(url=site.url, guarded=True), credentials)
    assert caught.value.variables == ("WIKI_TOKEN",)
    assert site.requests == []


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("a\r\nX-Evil: 1", "printable ASCII"), ("", "empty"), (None, "text"), ("tökén", "ASCII"),
        ("a\x00b", "ASCII"), ("a b", "ASCII"),
    ],
)  # fmt: skip
def test_what_a_function_returns_is_checked_as_well(returned, words):
    credentials = make("https://wiki.example", bearer=lambda: returned)

    with pytest.raises(ConfigurationError, match=words) as caught:
        credentials.find("https://wiki.example/a").make_headers()
    assert "Evil" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give bearer, basic, headers or cookies"),
        ({"bearer": ""}, "bearer: the key is empty"),
        ({"bearer": "hunter2 hunter2"}, "bearer: .*without spaces"),
        ({"bearer": "hunter2\r\nX-Evil: 1"}, "bearer: .*printable"),
        ({"bearer": "'hunter2'"}, "quotation marks"),
        ({"bearer": 5}, "bearer: a key is text"),
        ({"bearer": "env:"}, "env:NAME"),
        ({"bearer": "env:hunter2 hunter2"}, "env:NAME"),
        ({"bearer": "keyring:hunter2"}, "keyring:service/name"),
        ({"basic": "ann:hunter2"}, "basic=\\(user, password\\)"),
        ({"basic": ("ann:b", "hunter2")}, "without a colon"),
        ({"basic": ("ann\r\nX: 1", "hunter2")}, "control characters"),
        ({"basic": ("", "hunter2")}, "the user is text"),
        ({"basic": ("ann", "")}, "password is empty"),
        ({"basic": ("ann", "hunter2\r\nX-Evil: 1")}, "control characters"),
        ({"headers": "X-Wiki: hunter2"}, "a mapping of names to values"),
        ({"headers": {"X-Wiki\r\nX-Evil": "hunter2"}}, "a name has letters"),
        ({"headers": {"X Wiki": "hunter2"}}, "a name has letters"),
        ({"headers": {"": "hunter2"}}, "a name has letters"),
        ({"headers": {"X-W\u0131ki": "hunter2"}}, "a name has letters"),
        (
            {"headers": {"X-Wiki": "hunter2\r\nX-Evil: 1"}},
            "printable ASCII, in one line",
        ),
        ({"headers": {"X-Wiki": "hunter2\x85X"}}, "printable ASCII"),
        (
            {"headers": {"Host": "hunter2.example"}},
            "host is not a header to log in with",
        ),
        ({"headers": {"transfer-Encoding": "hunter2"}}, "transfer-encoding is not"),
        ({"headers": {"Content-Length": "5"}}, "content-length is not"),
        ({"headers": {"Proxy-Authorization": "hunter2"}}, "proxy-authorization is not"),
        ({"headers": {"Cookie": "sid=hunter2"}}, "give cookies by name"),
        ({"headers": {"X-A": "hunter2", "x-a": "hunter2"}}, "given twice"),
        ({"headers": {"Authorization": "hunter2"}, "bearer": "hunter2"}, "not several"),
        ({"basic": ("ann", "hunter2"), "bearer": "hunter2"}, "not several"),
        ({"cookies": {"a;b": "hunter2"}}, "a name has letters"),
        ({"cookies": {"a=b": "hunter2"}}, "a name has letters"),
        ({"cookies": {"sid": "hunter2; admin=1"}}, "no semicolon"),
        ({"cookies": {"sid": "hunter2\r\nX-Evil: 1"}}, "printable ASCII"),
        ({"cookies": ["sid"]}, "a mapping of names to values"),
    ],
)
def test_what_cannot_be_sent_is_an_error_without_the_secret(given, words):
    with pytest.raises(ConfigurationError, match=words) as caught:
        Credentials(**given)
    error: BaseException | None = caught.value
    while error is not None:
        assert "hunter2" not in f"{error!r} {error}"
        error = error.__cause__


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ("http://wiki.example", "unencrypted; use https"),
        ("http://localhost.example", "unencrypted"),
        ("http://127.0.0.1.example", "unencrypted"),
        ("https://ann:hunter2@wiki.example", "contains credentials"),
        (
            "https://wiki.example/hunter2?key=hunter2hunter2hunter2hunter2#x",
            "has a path|key=...",
        ),
        ("wiki.example", "not an origin"),
        ("*.wiki.example", "not an origin"),
        ("https://*.wiki.example", "not an origin"),
        ("ftp://wiki.example", "not an origin"),
        ("https://wiki.example:99999", "not an origin|invalid"),
        ("https://wiki.example\r\nX-Evil: 1", "not an origin"),
        ("https://wiki\u3002example", "not an origin"),
        ("https://\u2160.example", "not an origin"),
        ("https://127.1", "not an origin"),
        ("https://wiki.corp", 'add internal=\\["?.https://wiki.corp'),
        ("https://10.0.0.1:8443", "add internal="),
        ("https://wiki.example:25", "add internal="),
        ("https://169.254.169.254", "not opened"),
        (5, "an origin is text"),
    ],
)
def test_an_origin_that_may_not_have_any_is_an_error(origin, words):
    with pytest.raises(ConfigurationError, match=words) as caught:
        OriginCredentials({origin: Credentials(bearer=TOKEN)}, Guard())
    assert "hunter2@" not in str(caught.value)
    assert ":hunter2" not in str(caught.value)
    assert leaks(str(caught.value)) == []


def test_a_hole_opens_an_origin_and_two_spellings_of_one_are_an_error():
    guard = Guard.allowing(["https://wiki.corp"])

    assert make("https://WIKI.corp:443/", guard, bearer=TOKEN).find(
        "https://wiki.corp/a?b"
    )
    assert not make("https://wiki.corp", guard, bearer=TOKEN).find("http://wiki.corp/")
    both = {
        "https://wiki.corp": Credentials(bearer=TOKEN),
        "https://wiki.corp:443": Credentials(bearer=TOKEN),
    }
    with pytest.raises(ConfigurationError, match="given twice"):
        OriginCredentials(both, guard)
    with pytest.raises(ConfigurationError, match="give Credentials"):
        OriginCredentials({"https://wiki.corp": {"bearer": TOKEN}}, guard)
    with pytest.raises(ConfigurationError, match="must be"):
        OriginCredentials([("https://wiki.corp", Credentials(bearer=TOKEN))], guard)
    assert make("https://bücher.example", bearer=TOKEN).find(
        "https://xn--bcher-kva.example/"
    )


def test_only_those_with_the_same_look_the_same(monkeypatch):
    origin = "https://wiki.example"

    def identify(**given):
        return make(origin, **given).identify()

    assert OriginCredentials({}, OPEN).identify() == ""
    assert identify(bearer=TOKEN) == identify(bearer=lambda: TOKEN)
    apart = [
        identify(bearer=TOKEN), identify(bearer=f"{TOKEN}2"), identify(headers={"X": TOKEN}), identify(cookies={"X": TOKEN}),
        make("https://wiki.example:8443", bearer=TOKEN).identify(),
    ]  # fmt: skip
    assert len(set(apart)) == len(apart)
    assert leaks(apart) == []
    tokens = iter(["one-token", "two-token"])
    changing = make(origin, bearer=lambda: next(tokens))
    assert changing.identify() != changing.identify()
    monkeypatch.delenv("WIKI_TOKEN", raising=False)
    missing = make(origin, bearer="env:WIKI_TOKEN")
    assert missing.identify() != missing.identify()


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "contact", ["", "https://bot.example/about", "mailto:bot@bot.example"]
)
def test_the_contact_is_in_the_user_agent_of_pages_and_services(perform, site, contact):
    for request in (Request(url=site.url, guarded=True), Request(url=site.url)):
        perform(request, None, contact=contact)

    page, service = (headers["user-agent"] for _, headers, _ in site.requests)
    assert (
        page == f"Mozilla/5.0 (compatible; websearch-core{contact and f'; +{contact}'})"
    )
    assert re.fullmatch(
        r"websearch-core/\d+\.\d+\.\d+(?:rc\d+)?"
        + re.escape(contact and f" (+{contact})"),
        service,
    )
