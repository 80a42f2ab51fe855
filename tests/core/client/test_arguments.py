"""Wrong arguments are answered in our words, with what is known."""

from __future__ import annotations
import asyncio
import copy
import inspect
import pickle

import httpx
import pytest

from websearch_core import Http, WebSearch
from websearch_core.client import WebSearchOptions
from websearch_core.client._arguments import METHODS
from websearch_core.errors import (
    ConfigurationError,
    InvalidOption,
    UnknownProvider,
    WebSearchError,
)
from websearch_core.flow import Flow
from websearch_core.models import Page, SearchQuery
from websearch_core.settings import Settings
from websearch_core.testing import FakeWeb


@pytest.fixture
def web():
    return WebSearch("duckduckgo", reader="direct")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda web: web.search("x", max_result=3),
            "max_result: not an option; did you mean limit?",
        ),
        (
            lambda web: web.search("x", include_domains=["a.example"]),
            "include_domains: write allowed_domains=...",
        ),
        (
            lambda web: web.search("x", exclude_domains=["a.example"]),
            "exclude_domains: write blocked_domains=...",
        ),
        (lambda web: web.search("x", k=3), "k: write limit=..."),
        (lambda web: web.search("x", max_results=3), "max_results: write limit=..."),
        (
            lambda web: SearchQuery.of("x", max_results=3),
            "max_results: not an option; did you mean limit?",
        ),
        (
            lambda web: web.search("x", xyzzy=3),
            "xyzzy: not an option; known are limit, allowed_domains, ",
        ),
        (
            lambda web: web.search("x", read_top="3"),
            "read_top: must be a whole number of at least 0",
        ),
        (
            lambda web: web.search("x", read_top=1, passage_length="9"),
            "max_length: must be a whole number, not str",
        ),
        (lambda web: web.search(None), "query: must be text, not NoneType"),
        (
            lambda web: web.search(" "),
            "query: it is empty; give the words to search for",
        ),
        (lambda web: web.search("x", limit="many"), "limit: must be a whole number"),
        (
            lambda web: web.search("x", after="yesterday"),
            "after: must be a date such as 2026-05-04",
        ),
        (
            lambda web: web.search("x", comments="keep"),
            "comments: not an option of this call; give it to WebSearch(read",
        ),
        (
            lambda web: web.search("x", timeout=3),
            "timeout: not an option of this call; give it to WebSearch(timeout=...)",
        ),
        (
            lambda web: web.search("x", colums=3),
            "colums: not an option; known are limit, ",
        ),
        (
            lambda web: web.read("https://a.example", timeout=3),
            "timeout: not an option of this call; give it to WebSearch",
        ),
        (
            lambda web: web.read("https://a.example", lenght=3),
            "unknown argument: lenght; did you mean max_length?",
        ),
        (
            lambda web: web.read("https://a.example", colour=3),
            "unknown argument: colour; known are max_length, ",
        ),
        (
            lambda web: web.read("https://a.example", offset="3"),
            "offset: must be a whole number, not str",
        ),
        (
            lambda web: web.read("https://a.example", max_length=True),
            "max_length: must be a whole number, not bool",
        ),
        (
            lambda web: web.read("https://a.example", find=3),
            "find: must be text, not int",
        ),
        (lambda web: web.read(None), "url: must be text, not NoneType"),
        (lambda web: web.read(b"https://a.example"), "url: must be text, not bytes"),
        (
            lambda web: web.read_many("https://a.example"),
            "urls: must be a list of URLs; to read one page, use read",
        ),
        (lambda web: web.read_many(None), "urls: must be a list of URLs, not NoneType"),
        (
            lambda web: web.read_many([], lenght=3),
            "unknown argument: lenght; did you mean max_length?",
        ),
        (lambda web: web.search("x", num=3), "num: write limit=..."),
        (lambda web: web.search("x", days=3), "days: write time_range=..."),
        (
            lambda web: web.search("x", start_published_date="2026-01-01"),
            "start_published_date: write after=...",
        ),
        (lambda web: web.search("x", contents=True), "contents: write read_top=..."),
        (
            lambda web: web.search("x", text=True),
            "text: not an option of this call; give it to WebSearch(provider=Exa(",
        ),
        (
            lambda web: web.search("x", find="kelp"),
            "find: not an option of this call; write read(url, find=...)",
        ),
        (
            lambda web: web.search("x", include_generated_answer=True),
            "include_generated_answer: not an option of this call; write WebSearch(Tavily(",
        ),
        (
            lambda web: web.run("x"),
            "flow: must be a generator, not text; to search, write web.search(query)",
        ),
        (
            lambda web: asyncio.run(web.arun("x")),
            "flow: must be a generator, not text; to search, write web.search",
        ),
        (
            lambda web: web.crawl("https://a.example", max_depth=2),
            "max_depth; did you mean depth?",
        ),
        (
            lambda web: web.map("https://a.example", max_pages=2),
            "max_pages; did you mean limit?",
        ),
        (
            lambda web: web.crawl("https://a.example", max_results=3),
            "max_results: write limit=...",
        ),
        (
            lambda web: web.crawl("https://a.example", timeout=3),
            "give it to WebSearch(timeout=...)",
        ),
    ],
)
def test_a_wrong_argument_of_a_call_is_an_invalid_option(web, call, says):
    with pytest.raises(InvalidOption) as caught:
        call(web)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_another_client_is_answered_with_the_line_to_write(name):
    url = "https://a.example/1"
    fake = FakeWeb(
        [{"title": "Kelp", "url": url, "snippet": "Brown."}],
        pages={url: "Kelp is brown."},
    )
    web = WebSearch(fake, reader=fake, search_options={"unsupported": "note"})
    with pytest.raises(
        AttributeError, match=f"^'WebSearch' has no attribute '{name}': write web"
    ) as caught:
        getattr(web, name)

    line = str(caught.value).partition(": write ")[2]
    if name != "map_url":  # which would look for sitemaps
        assert (
            eval(line, {"web": web, "query": "kelp", "url": url, "urls": [url]})
            is not None
        )


def test_any_other_name_is_missing_as_usual():
    web = WebSearch("duckduckgo")
    with pytest.raises(
        AttributeError, match="^'WebSearch' object has no attribute 'serch'$"
    ):
        _ = web.serch
    assert not hasattr(web, "scrape")
    assert repr(copy.copy(web)) == repr(pickle.loads(pickle.dumps(web))) == repr(web)


def test_an_attribute_error_of_a_property_is_not_hidden(monkeypatch):
    def fail(*_, **__):
        raise AttributeError("from within")

    monkeypatch.setattr("websearch_core._net.sender.Sender.__init__", fail)
    with pytest.raises(AttributeError, match="^from within$"):
        _ = WebSearch("duckduckgo")._sender


def test_what_to_search_for_and_to_read_may_be_named():
    url = "https://a.example/1"
    fake = FakeWeb(
        [{"title": "Kelp", "url": url, "snippet": "Brown."}],
        pages={url: "Kelp is brown."},
    )
    web = WebSearch(fake, reader=fake)

    assert web.search(query="kelp").results == web.search("kelp").results
    assert web.search_many(queries=["kelp"])[0].results == web.search("kelp").results
    assert (
        web.read(url=url).content
        == web.read_many(urls=[url])[0].content
        == "Kelp is brown."
    )


@pytest.mark.parametrize("wrong", [5, ["tavily"], {"tavily": 5}], ids=str)
def test_options_of_providers_of_a_wrong_type_are_refused(wrong):
    with pytest.raises(
        ConfigurationError, match="providers: not a table for each provider"
    ):
        WebSearch("duckduckgo", settings=Settings.load(providers=wrong))


class Reads:
    name = "reads"

    def read(self, url, /) -> Flow:
        yield from ()
        return Page(url=url, content="text")


class Opens(Reads):
    opens_pages = True


@pytest.mark.parametrize(
    "reader", [Reads(), Opens()], ids=["a service", "opens pages itself"]
)
def test_one_url_that_is_no_text_does_not_fail_the_others(reader):
    first, second, third = WebSearch("ddg", reader=reader).read_many(
        [None, "https://a.example", ["https://a.example"]]
    )
    assert str(first) == "url: must be text, not NoneType"
    assert second.content == "text"
    assert str(third) == "url: must be text, not list"


def test_names_of_domains_may_be_one_text(web):
    assert SearchQuery.of(
        "x", allowed_domains="python.org, djangoproject.com"
    ).allowed_domains == ("python.org", "djangoproject.com")


@pytest.mark.parametrize(("given", "code"), [("UK", "GB"), ("uk", "GB"), ("GB", "GB")])
def test_the_united_kingdom_has_two_spellings(given, code):
    assert SearchQuery.of("x", country=given).country == code


def test_a_language_may_be_spelled_as_in_a_locale():
    assert SearchQuery.of("x", language="pt_BR").language == "pt-BR"


@pytest.mark.parametrize(
    ("make", "kind", "says"),
    [
        (
            lambda: WebSearch(providr="brave"),
            ConfigurationError,
            "unknown argument: providr; did you mean provider?",
        ),
        (
            lambda: WebSearch(colour=1, shape=2),
            ConfigurationError,
            "unknown arguments: colour, shape; known are provider, ",
        ),
        (
            lambda: WebSearch("brvae"),
            UnknownProvider,
            "unknown provider 'brvae'; did you mean brave? Those that can search: ",
        ),
        (
            lambda: WebSearch(max_results=3),
            ConfigurationError,
            'max_results: write search_options={"limit": ...}',
        ),
        (
            lambda: WebSearch("ddg", search_options={"max_results": 3}),
            ConfigurationError,
            'search_options.max_results: write search_options={"limit": ...}',
        ),
        (
            lambda: WebSearch("ddg", inclde_domains=["a.example"]),
            ConfigurationError,
            "did you mean allowed_domains?",
        ),
        (
            lambda: WebSearch(client=1),
            ConfigurationError,
            "client: write http=Http(client=client)",
        ),
        (
            lambda: WebSearch(async_client=1),
            ConfigurationError,
            "async_client: write http=Http(async_client=client)",
        ),
        (lambda: WebSearch("ddgo"), UnknownProvider, "did you mean duckduckgo?"),
        (
            lambda: WebSearch("tvly-" + 30 * "x"),
            UnknownProvider,
            "of 35 characters; if it is a key, give it as api_key; those that",
        ),
        (
            lambda: WebSearch("ddg", reader="brave"),
            ConfigurationError,
            "'brave' cannot read; those that can: browser",
        ),
        (
            lambda: WebSearch("brave", api_key="'BSA0123456789'"),
            ConfigurationError,
            "brave: api_key: the key is in quotation marks; leave them out",
        ),
        (
            lambda: WebSearch("ddg", http=Http(verify=False)),
            ConfigurationError,
            "verify: must be an ssl.SSLContext; ",
        ),
        (
            lambda: WebSearch("ddg", http=Http(verify="ca.pem")),
            ConfigurationError,
            "verify: must be an ssl.SSLContext; ",
        ),
        (
            lambda: WebSearch("ddg", http=Http(client=httpx.AsyncClient())),
            ConfigurationError,
            "Http: client: must be an httpx.Client, not AsyncClient",
        ),
        (
            lambda: WebSearch("ddg", http=Http(async_client=httpx.Client())),
            ConfigurationError,
            "Http: async_client: must be an httpx.AsyncClient, not Client",
        ),
        (
            lambda: WebSearch("ddg", http=Http(client="x")),
            ConfigurationError,
            "Http: client: must be an httpx.Client, not str",
        ),
        (
            lambda: WebSearch("ddg", reader="jna"),
            UnknownProvider,
            "did you mean jina? Those that can read: browser, crawl4ai, direct, ",
        ),
        (
            lambda: WebSearch("ddg", reader="xyzzy"),
            UnknownProvider,
            "unknown provider 'xyzzy'; those that can read: browser, crawl4ai, direct, ",
        ),
        (
            lambda: WebSearch("ddg", settings=Settings.load(providers={"brav": {}})),
            UnknownProvider,
            "did you mean brave? Known are ",
        ),
        (
            lambda: WebSearch(
                "ddg", settings=Settings.load(providers={"ddg": {"paus": 1}})
            ),
            ConfigurationError,
            "paus: not an option; did you mean pause?",
        ),
    ],
)
def test_a_wrong_argument_of_the_constructor_is_answered_with_what_is_known(
    make, kind, says
):
    with pytest.raises(kind) as caught:
        make()
    assert says in str(caught.value)
    assert isinstance(caught.value, WebSearchError)


def test_invalid_provider_lists_those_of_the_role_with_aliases():
    with pytest.raises(UnknownProvider) as caught:
        WebSearch("xyzzy")
    said = str(caught.value)
    for name in ("brave", "duckduckgo (ddg)", "searxng (searx)", "tavily"):
        assert name in said
    for reader in ("direct",):
        assert reader not in said


def test_type_checkers_and_help_see_the_arguments():
    parameters = inspect.signature(WebSearch).parameters
    spelled_out = [name for name in parameters if not name.startswith("_")]

    assert set(spelled_out) == {"provider", *WebSearchOptions.__annotations__}
