"""Every failure says who failed, how and where: in its text, in its attributes, and in
the log of an operator.
"""

from __future__ import annotations
import asyncio
import copy
import logging
import pickle
from contextlib import closing, suppress

import httpx
import pytest

from tests.server import Server, http
from websearch_core import Http, WebSearch
from websearch_core._text.urls import describe_url
from websearch_core.errors import (
    AllProvidersFailed,
    AuthenticationError,
    MissingKey,
    PageNotFound,
    Unavailable,
    WebSearchError,
)
from websearch_core.events import _log
from websearch_core.providers import Brave, Tavily
from websearch_core.render import error_as_json, render_error
from websearch_core.settings import Settings

KEY = "k3y-of-the-operator-0123456789"
WRONG_KEY = http(
    b'{"detail": {"error": "Unauthorized"}}',
    "401 Unauthorized",
    "Content-Type: application/json",
)
FOUND = http({"results": []})
GONE = http(b"gone", "404 Not Found", "Content-Type: text/html")


@pytest.fixture(autouse=True)
def no_earlier_warnings(monkeypatch):
    monkeypatch.setattr(_log, "_warned", {})


@pytest.fixture
def nobody_listens():
    with closing(Server()) as server:
        return server.url


def fail(call):
    with pytest.raises(WebSearchError) as caught:
        call()
    return caught.value


def fail_async(web, method, *arguments):
    async def call():
        async with web:
            return await getattr(web, method)(*arguments)

    return fail(lambda: asyncio.run(call()))


@pytest.mark.enable_socket
@pytest.mark.parametrize("way", ["blocking", "async"])
def test_a_service_that_cannot_be_reached_is_named_with_its_url(way, nobody_listens):
    web = WebSearch("tavily", api_key=KEY, base_url=nobody_listens, retry=1)
    error = (
        fail(lambda: web.search("kelp"))
        if way == "blocking"
        else fail_async(web, "asearch", "kelp")
    )

    assert (error.provider, error.url) == ("tavily", f"{nobody_listens}/search")
    assert str(error).startswith("tavily: cannot connect to the service")
    assert str(error).endswith(f"({nobody_listens}/search)")


@pytest.mark.enable_socket
def test_a_refused_key_is_named_with_where_it_came_from(monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    with closing(Server([WRONG_KEY])) as server:
        error = fail(lambda: WebSearch("tavily", base_url=server.url).search("kelp"))
        given = fail(
            lambda: WebSearch(
                "tavily", api_key=lambda: KEY, base_url=server.url
            ).search("kelp")
        )

    assert isinstance(error, AuthenticationError)
    assert (error.provider, error.url, error.key_source) == (
        "tavily",
        f"{server.url}/search",
        "TAVILY_API_KEY",
    )
    assert given.key_source == "a function given as api_key"
    assert KEY not in f"{error!r}{error}{given!r}{given}{vars(error)}"


@pytest.mark.enable_socket
@pytest.mark.parametrize("fuse", [False, True])
def test_a_chain_says_who_failed_and_how(fuse, nobody_listens):
    with closing(Server([WRONG_KEY])) as server:
        providers = [
            Tavily(api_key=KEY, base_url=nobody_listens),
            Brave(api_key=KEY, base_url=server.url),
        ]
        error = fail(
            lambda: WebSearch(
                providers, combine="fuse" if fuse else "first", retry=1
            ).search("kelp")
        )

    assert isinstance(error, AllProvidersFailed)
    assert "tavily: cannot connect to the service" in str(error)
    assert "brave search failed: 401" in str(error)
    assert [(cause.provider, cause.url) for cause in error.exceptions] == [
        ("tavily", f"{nobody_listens}/search"),
        ("brave", f"{server.url}/web/search"),
    ]


@pytest.mark.enable_socket
@pytest.mark.parametrize("way", ["blocking", "async", "many"])
def test_a_page_that_is_missing_says_which(way):
    with closing(Server([GONE])) as site:
        web = WebSearch(
            "tavily", api_key=KEY, reader="direct", internal=["127.0.0.0/8"]
        )
        url = f"{site.url}/a?page=2&token=s3cret#part"
        match way:
            case "blocking":
                error = fail(lambda: web.read(url))
            case "async":
                error = fail_async(web, "aread", url)
            case _:
                (error,) = web.read_many([url])

    assert isinstance(error, PageNotFound)
    assert (error.provider, error.url) == ("direct", f"{site.url}/a?page=2&token=...")
    assert str(error) == f"direct read failed: 404 Not Found ({error.url})"


def test_a_name_that_does_not_resolve_is_named_where_it_is_one_of_a_page(monkeypatch):
    def fail_to_resolve(*_, **__):
        raise OSError(-2, "unknown")

    monkeypatch.setattr(
        "websearch_core._net.system.socket.getaddrinfo", fail_to_resolve
    )
    page = fail(
        lambda: WebSearch("tavily", api_key=KEY, reader="direct").read(
            "https://kelp.example.org/a"
        )
    )
    service = fail(
        lambda: WebSearch(
            "tavily", api_key=KEY, base_url="https://inside.corp.example"
        ).search("kelp")
    )

    assert "the host name kelp.example.org does not resolve" in page.summary
    assert "inside" not in service.summary  # what a model reads
    assert "https://inside.corp.example/search" in str(service)


def test_a_model_does_not_read_where_a_service_is(monkeypatch):
    def refuse(request):
        raise httpx.ConnectError("refused")

    place = "http://10.1.2.3:8080"
    client = httpx.Client(transport=httpx.MockTransport(refuse))
    web = WebSearch(
        "tavily",
        api_key=KEY,
        base_url=place,
        internal=[place],
        retry=1,
        http=Http(client=client),
    )
    error = fail(lambda: web.search("kelp"))

    assert error.url == "http://10.1.2.3:8080/search"
    assert (
        render_error(error)
        == "ERROR [unavailable] tavily: cannot connect to the service."
    )
    assert "10.1.2.3" not in render_error(error, "json")
    assert error_as_json(error)["error"]["url"] == error.url


def test_an_error_keeps_where_it_happened_in_copies_and_pickles():
    error = AllProvidersFailed(
        "every provider failed: no", [Unavailable("no", provider="brave")]
    )
    error.locate("brave|tavily", "https://a.example/")

    for one in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (one.provider, one.url, one.temporary) == (
            "brave|tavily",
            "https://a.example/",
            True,
        )
        assert one.exceptions[0].provider == "brave"


def test_what_is_missing_is_named_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    error = fail(lambda: WebSearch("brave"))

    assert isinstance(error, MissingKey)
    assert error.provider == "brave"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/b?page=2", "https://a.example/b?page=2"),
        ("https://user:pass@a.example/b#c", "https://a.example/b"),
        (
            "https://a.example/?api_key=x&q=kelp+beds",
            "https://a.example/?api_key=...&q=kelp%20beds",
        ),
        (
            "https://a.example/?X-Amz-Signature=ab&x=1",
            "https://a.example/?X-Amz-Signature=...&x=1",
        ),
        (
            "https://a.example/?x=9f8e7d6c5b4a39281706f5e4d3c2b1a0",
            "https://a.example/?x=...",
        ),
        ("https://a.example/\x1b[31m é", "https://a.example/?[31m??"),
        ("https://[x", "an invalid URL"),
        ("a.example/b", "a.example/b"),
        ("//user:pass@a.example/b", "//a.example/b"),
        ("user:pass@a.example", "user://a.example"),
        ("https:user:pass@a.example/b", "https://a.example/b"),
        ("https:/user:pass@a.example/b", "https://a.example/b"),
        ("https://user:pa/ss@a.example/b", "an invalid URL"),
        ("https://user:p?ss@a.example/b", "an invalid URL"),
        ("https://user:p#ss@a.example/b", "an invalid URL"),
        ("https://a.example/b;jsessionid=AB12/c", "https://a.example/b;.../c"),
        ("https://a.example/?sk-9f8e7d6c5b4a39281706", "https://a.example/?...="),
        ("https://a.example/?page=1;token=xyz", "https://a.example/?page=..."),
        (
            "https://a.example/?next=https://b.example/?token=ab",
            "https://a.example/?next=...",
        ),
        ("https://a.example/?next=b%253Ftoken%253Dab", "https://a.example/?next=..."),
        ('https://a.example/?q={"key":"ab"}', "https://a.example/?q=..."),
        ("https://a.example/?db=ann:hunter2@db", "https://a.example/?db=..."),
        (
            "https://a.example/?x=Bearer%209f8e7d6c5b4a39281706",
            "https://a.example/?x=...",
        ),
        (
            "https://a.example/?pwd=x&passphrase=y",
            "https://a.example/?pwd=...&passphrase=...",
        ),
        (
            "https://a.example/?q=the+token+of+a+tree",
            "https://a.example/?q=the%20token%20of%20a%20tree",
        ),
        (f"https://a.example/{'x' * 500}", f"https://a.example/{'x' * 182}..."),
    ],
)
def test_a_url_is_shown_without_its_secrets(url, shown):
    assert describe_url(url) == shown


@pytest.mark.enable_socket
def test_an_operator_is_warned_once_an_hour_of_what_only_people_can_mend(
    monkeypatch, caplog
):
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    caplog.set_level(logging.WARNING)
    now = 1000.0
    monkeypatch.setattr(_log.time, "monotonic", lambda: now)
    with closing(Server([WRONG_KEY])) as server, closing(Server([FOUND])) as other:
        options = {
            "tavily": {"base_url": server.url},
            "exa": {"base_url": other.url, "api_key": KEY},
        }
        both = {
            "provider": ["tavily", "exa"],
            "settings": Settings.load(providers=options),
        }
        alone = {"provider": "tavily", "base_url": server.url}
        for web in (
            WebSearch(**alone),
            WebSearch(**alone),
            WebSearch(**both),
            WebSearch(**both, combine="fuse"),
        ):
            for _ in range(2):
                with suppress(AuthenticationError):
                    web.search("kelp")
        first = [record.getMessage() for record in caplog.records]
        now += 3601
        fail(lambda: WebSearch("tavily", base_url=server.url).search("kelp"))

    assert (
        first.count("tavily search failed: 401 Unauthorized (key from TAVILY_API_KEY)")
        == 1
    )
    assert len(caplog.records) == len(first) + 1
    assert KEY not in caplog.text


@pytest.mark.enable_socket
def test_a_page_that_blocks_us_is_no_business_of_an_operators_but_a_search_engine_is(
    caplog,
):
    caplog.set_level(logging.WARNING)
    blocked = http(
        b"Attention Required! Please complete the CAPTCHA",
        "403 Forbidden",
        "Content-Type: text/html",
        "cf-mitigated: challenge",
    )
    with closing(Server([blocked])) as site:
        fail(
            lambda: WebSearch(reader="direct", internal=["127.0.0.0/8"]).read(
                f"{site.url}/a"
            )
        )
        assert caplog.messages == []
        fail(lambda: WebSearch("duckduckgo", base_url=site.url).search("kelp"))

    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("duckduckgo")


@pytest.mark.enable_socket
def test_the_line_of_a_search_says_whether_there_was_an_answer(caplog):
    caplog.set_level(logging.INFO, "websearch_core")
    with closing(
        Server([http({"results": [], "answer": "Algae."}), http({"results": []})])
    ) as server:
        web = WebSearch("tavily", api_key=KEY, base_url=server.url)
        web.search("kelp")
        web.search("weed")

    ends = [line for line in caplog.messages if "search (" in line]
    assert ["0 results and an answer in" in line for line in ends] == [True, False]
