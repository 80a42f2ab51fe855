"""https://github.com/deedy5/ddgs

The library has an HTTP client of its own, which no cassette can replay. So it talks to
a double of the engines on this machine: a proxy that answers for all hosts, with
certificates of an authority that only these tests trust.
"""

from __future__ import annotations
import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from urllib.parse import parse_qs

import pytest
import trustme

from websearch_core import WebSearch
from websearch_core.errors import (
    ConfigurationError,
    TimedOut,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.flow import Call
from websearch_core.models import SearchQuery
from websearch_core.providers.ddgs import Ddgs
from websearch_core.settings import Settings
from websearch_core.testing import SECRET

installed = pytest.mark.skipif(
    find_spec("ddgs") is None, reason="ddgs is not installed: make test-ddgs"
)

HIT = '<div class="links_main result__body"><h2>{title}</h2><a href="{url}">High &amp; low <b>water</b></a></div>'
NEWS = b"""{"results": [{"date": 1772600767, "title": "Tide turns", "excerpt": "It did.", "source": "The Pier",
                         "url": "https://press.example/1"}]}"""
IMAGES = b"""{"results": [{"title": "A tide gauge", "image": "https://harbour.example/gauge.jpg", "width": 800,
                           "url": "https://harbour.example/gauge"}]}"""


class Engines:
    """A proxy that answers for every host, and remembers what it was asked."""

    def __init__(self, authority: trustme.CA) -> None:
        self.authority = authority
        self.asked: list[tuple[str, str, str, str]] = []  # host, method, target, body
        # the status and body of each host, or of each host and path
        self.pages: dict[str, tuple[str, bytes]] = {}
        self.greetings: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(
                    target=self._serve, args=(self._listening.accept()[0],), daemon=True
                ).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            head = _read(connection)
            self.greetings.append(head)
            host = head.split()[1].partition(":")[0]
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.set_alpn_protocols(["http/1.1"])
            self.authority.issue_cert(host).configure_cert(context)
            with context.wrap_socket(connection, server_side=True) as secure:
                while request := _read(secure):
                    line, _, rest = request.partition("\r\n")
                    method, target, _ = line.split(" ", 2)
                    self.asked.append(
                        (host, method, target, rest.partition("\r\n\r\n")[2])
                    )
                    place = host + target.partition("?")[0]
                    status, body = (
                        self.pages.get(place)
                        or self.pages.get(host)
                        or ("404 Not Found", b"")
                    )
                    secure.sendall(
                        f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                        + body
                    )


def _read(connection: socket.socket) -> str:
    data = b""
    while b"\r\n\r\n" not in data:
        arrived = connection.recv(65536)
        if not arrived:
            return ""
        data += arrived
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1]
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    while lengths and len(body) < int(lengths[0]):
        body += connection.recv(65536)
    return (head + b"\r\n\r\n" + body).decode()


def page(*numbers: int) -> tuple[str, bytes]:
    hits = "".join(
        HIT.format(title=f"Tide tables {n}", url=f"https://harbour.example/{n}")
        for n in numbers
    )
    return "200 OK", f"<html><body>{hits}</body></html>".encode()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def engines(authority: trustme.CA) -> Iterator[Engines]:
    running = Engines(authority)
    yield running
    running.close()


@pytest.fixture
def options(engines: Engines, authority: trustme.CA, tmp_path) -> dict[str, object]:
    """Options that lead the library to the double, and make it trust that."""
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    return {
        "proxy": engines.proxy,
        "ca_file": tmp_path / "authority.pem",
        "backend": "duckduckgo",
        "timeout": 5,
    }


def search(options, text="tides", **more):
    with WebSearch(
        provider="ddgs", settings=Settings.load(providers={"ddgs": options}), retry=1
    ) as web:
        return web.search(text, **more)


def form(asked):
    return {name: values[0] for name, values in parse_qs(asked[3]).items()}


@installed
@pytest.mark.enable_socket
def test_it_searches_through_its_own_proxy_and_trusts_its_own_certificates(
    engines, options
):
    engines.pages["html.duckduckgo.com"] = page(1, 2)
    found = search(options, limit=2)

    assert [(one.title, one.url, one.snippet) for one in found.results] == [
        ("Tide tables 1", "https://harbour.example/1", "High & low water"),
        ("Tide tables 2", "https://harbour.example/2", "High & low water"),
    ]
    assert found.results[0].raw["href"] == "https://harbour.example/1"
    assert engines.asked[0][:2] == ("html.duckduckgo.com", "POST")
    assert found.notes == ()


@installed
@pytest.mark.enable_socket
def test_it_does_the_same_in_async_code(engines, options):
    engines.pages["html.duckduckgo.com"] = page(1)

    async def run():
        async with WebSearch(
            provider="ddgs", settings=Settings.load(providers={"ddgs": options})
        ) as web:
            return await web.asearch("tides", limit=1)

    assert [one.url for one in asyncio.run(run()).results] == [
        "https://harbour.example/1"
    ]


@installed
@pytest.mark.enable_socket
def test_a_certificate_that_is_not_trusted_is_an_error(engines, options):
    engines.pages["html.duckduckgo.com"] = page(1)

    with pytest.raises(Unavailable):
        search({**options, "ca_file": None})
    assert engines.asked == []


@installed
@pytest.mark.enable_socket
def test_options_are_sent_in_the_librarys_words(engines, options):
    engines.pages["html.duckduckgo.com"] = page(1)
    search(
        options,
        limit=1,
        time_range="week",
        country="GB",
        language="en",
        blocked_domains=["pier.example"],
    )
    asked = form(engines.asked[0])

    assert asked == {"q": "tides -site:pier.example", "l": "uk-en", "df": "w"}


@installed
@pytest.mark.enable_socket
def test_a_larger_limit_asks_for_more_pages(engines, options):
    engines.pages["html.duckduckgo.com"] = page(*range(10))
    found = search(options, limit=15)

    assert len(engines.asked) == 2  # the second page has nothing new here
    assert form(engines.asked[1])["s"] == "10"
    assert len(found.results) == 10


@installed
@pytest.mark.enable_socket
def test_news_come_from_the_engines_for_news(engines, options):
    engines.pages["duckduckgo.com/"] = ("200 OK", b"vqd='4-123'")
    engines.pages["duckduckgo.com/news.js"] = ("200 OK", NEWS)
    (found,) = search(options, limit=1, topic="news", safe_search="strict").results

    assert (found.title, found.url, found.snippet) == (
        "Tide turns",
        "https://press.example/1",
        "It did.",
    )
    assert (found.author, str(found.published)) == (
        "The Pier",
        "2026-03-04 05:06:07+00:00",
    )
    assert "p=1" in engines.asked[-1][2]


@installed
@pytest.mark.enable_socket
def test_images_are_a_search_of_their_own(engines, options):
    engines.pages["html.duckduckgo.com"] = page(1)
    engines.pages["duckduckgo.com/"] = ("200 OK", b"vqd='4-123'")
    engines.pages["duckduckgo.com/i.js"] = ("200 OK", IMAGES)
    found = search(options, limit=1, images=True, time_range="week")

    assert [
        (image.url, image.description, image.page_url) for image in found.images
    ] == [
        (
            "https://harbour.example/gauge.jpg",
            "A tide gauge",
            "https://harbour.example/gauge",
        )
    ]
    assert [one.url for one in found.results] == ["https://harbour.example/1"]
    # it does not know the time range
    assert "www.bing.com" not in [asked[0] for asked in engines.asked]


@installed
def test_an_engine_of_another_kind_is_an_error():
    with pytest.raises(
        ConfigurationError,
        match="ddgs has no engine startpage for this; it has .*duckduckgo",
    ):
        search({"backend": "startpage"}, topic="news")


@installed
@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "answer", [page(), ("202 Accepted", b"Select all squares containing a duck")]
)
def test_nothing_found_has_a_note_since_it_may_be_a_refusal(engines, options, answer):
    engines.pages["html.duckduckgo.com"] = answer
    found = search(options)

    assert found.results == ()
    assert found.notes == (
        "ddgs cannot tell nothing found from engines that refuse to answer",
    )


@installed
def test_an_unknown_engine_is_an_error_where_the_library_would_use_all():
    with pytest.raises(
        ConfigurationError, match="ddgs has no engine gogle for this; it has .*brave"
    ):
        search({"backend": "gogle"})


@installed
@pytest.mark.enable_socket
def test_an_engine_that_hangs_is_late(options):
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises((TimedOut, Unavailable)),
    ):
        search(
            {
                **options,
                "proxy": f"http://127.0.0.1:{silent.getsockname()[1]}",
                "timeout": 1,
            }
        )


@installed
@pytest.mark.enable_socket
def test_no_error_shows_the_password_of_the_proxy(options):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    provider = {**options, "proxy": f"http://ada:{SECRET}@127.0.0.1:{port}"}

    with pytest.raises(Unavailable) as caught:
        search(provider)
    assert (
        SECRET
        not in f"{caught.value}{caught.value!r}{caught.value.detail}{Ddgs(**provider)!r}"
    )


@installed
@pytest.mark.parametrize(
    "wrong",
    [{"proxy": f"nonsense://ada:{SECRET}@a.example"}, {"ca_file": "/nowhere.pem"}],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_an_error_of_the_setup(wrong):
    with pytest.raises(
        ConfigurationError, match="proxy or ca_file cannot be used"
    ) as caught:
        search({"backend": "duckduckgo", **wrong})
    assert SECRET not in f"{caught.value!r}{caught.value.__cause__}"


@installed
def test_a_bug_of_the_library_is_an_error_of_the_service(monkeypatch):
    def fail(*_, **__):
        raise KeyError("week")

    monkeypatch.setattr("ddgs.DDGS.text", fail)
    with pytest.raises(Unavailable) as caught:
        search({"backend": "duckduckgo"})
    assert caught.value.detail == "KeyError"


def engines_of(backend="auto", **query):
    effect = next(Ddgs(backend=backend).search(SearchQuery.of("tides", **query)))
    assert isinstance(effect, Call)
    return effect.args[2]["backend"]


@pytest.mark.parametrize(
    ("query", "engines"),
    [
        ({}, "auto"),
        ({"time_range": "week"}, "brave,duckduckgo,startpage,yahoo"),
        ({"safe_search": "strict"}, "brave,startpage"),
        ({"time_range": "week", "safe_search": "off"}, "brave,startpage"),
        ({"allowed_domains": ["a.example"]}, "brave,duckduckgo,mojeek,startpage,yahoo"),
        ({"topic": "news", "time_range": "day"}, "duckduckgo,yahoo"),
    ],
)
def test_only_engines_that_know_all_options_are_used(query, engines):
    assert engines_of(**query) == engines


def test_engines_that_were_named_are_not_replaced():
    assert engines_of("mojeek,brave", time_range="week") == "brave"
    with pytest.raises(UnsupportedOption) as caught:
        engines_of("mojeek", time_range="week")
    assert caught.value.options == ("time_range",)


@pytest.mark.parametrize("query", [{"country": "GB"}, {"language": "en"}])
def test_a_region_needs_country_and_language(query):
    with pytest.raises(UnsupportedOption) as caught:
        engines_of(**query)
    assert caught.value.options == (next(iter(query)),)


@pytest.mark.parametrize(
    "query", [{"after": "2026-01-01"}, {"before": "2026-01-01"}, {"topic": "code"}]
)
def test_what_the_library_has_no_word_for_is_refused(query):
    with pytest.raises(UnsupportedOption):
        engines_of(**query)


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ddgs", None)
    monkeypatch.setattr("websearch_core.providers.ddgs.find_spec", lambda _: None)

    assert "pip install 'websearch-core[ddgs]'" in (Ddgs().problem() or "")
    with pytest.raises(
        ConfigurationError, match=r"pip install 'websearch-core\[ddgs\]'"
    ):
        search({})
