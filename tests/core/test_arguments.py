"""Wrong arguments are answered in our words, with what is known."""

from __future__ import annotations

import pytest

from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, InvalidOption, UnknownProvider, WebSearchError
from websearch_core.flow import Flow
from websearch_core.models import Page


@pytest.fixture
def web():
    return WebSearch("duckduckgo", reader="direct")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda web: web.search("x", max_result=3), "max_result: not an option; did you mean limit?"),
        (lambda web: web.search("x", include_domains=["a.example"]), "not an option; did you mean allowed_domains?"),
        (lambda web: web.search("x", exclude_domains=["a.example"]), "not an option; did you mean blocked_domains?"),
        (lambda web: web.search("x", k=3), "k: not an option; did you mean limit?"),
        (lambda web: web.search("x", xyzzy=3), "xyzzy: not an option; known are limit, allowed_domains, "),
        (lambda web: web.search("x", read_top="3"), "read_top: must be a whole number of at least 0, not '3'"),
        (lambda web: web.search("x", read_top=1, passage_length="9"), "max_length: must be a whole number, not str"),
        (lambda web: web.search(None), "text: "),
        (lambda web: web.read("https://a.example", lenght=3), "unknown argument: lenght; did you mean max_length?"),
        (lambda web: web.read("https://a.example", colour=3), "unknown argument: colour; known are max_length, "),
        (lambda web: web.read("https://a.example", offset="3"), "offset: must be a whole number, not str"),
        (lambda web: web.read("https://a.example", find=3), "find: must be text, not int"),
        (lambda web: web.read(None), "url: must be text, not NoneType"),
        (lambda web: web.read(b"https://a.example"), "url: must be text, not bytes"),
        (lambda web: web.read_many("https://a.example"), "urls: must be a list of URLs; to read one page, use read"),
        (lambda web: web.read_many(None), "urls: must be a list of URLs, not NoneType"),
        (lambda web: web.read_many([], lenght=3), "unknown argument: lenght; did you mean max_length?"),
    ],
)
def test_a_wrong_argument_of_a_call_is_an_invalid_option(web, call, says):
    with pytest.raises(InvalidOption) as caught:
        call(web)
    assert says in str(caught.value)


@pytest.mark.parametrize("wrong", [5, ["tavily"], {"tavily": 5}], ids=str)
def test_provider_options_of_a_wrong_type_are_refused(wrong):
    with pytest.raises(ConfigurationError, match="provider_options: must map names of providers"):
        WebSearch("duckduckgo", provider_options=wrong)


def test_max_results_is_understood_as_limit():
    class Counts:
        name = "counts"
        options = frozenset()

        def search(self, query, /) -> Flow:
            assert query.limit == 3
            from websearch_core import SearchResponse

            yield from ()
            return SearchResponse(query=query.text)

    assert WebSearch(Counts()).search("x", max_results=3).results == ()


def test_one_url_that_is_no_text_does_not_fail_the_others(web):
    class Reads:
        name = "reads"

        def read(self, url, /) -> Flow:
            yield from ()
            return Page(url=url, content="text")

    first, second = WebSearch("ddg", reader=Reads()).read_many([None, "https://a.example"])
    assert str(first) == "url: must be text, not NoneType"
    assert second.content == "text"


@pytest.mark.parametrize(
    ("make", "kind", "says"),
    [
        (lambda: WebSearch(providr="brave"), ConfigurationError, "unknown argument: providr; did you mean provider?"),
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
        (lambda: WebSearch("ddgo"), UnknownProvider, "did you mean duckduckgo?"),
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
        (lambda: WebSearch("ddg", provider_options={"brav": {}}), UnknownProvider, "did you mean brave? Known are "),
        (
            lambda: WebSearch("ddg", provider_options={"ddg": {"paus": 1}}),
            ConfigurationError,
            "paus: not an option; did you mean pause?",
        ),
    ],
)
def test_a_wrong_argument_of_the_constructor_is_answered_with_what_is_known(make, kind, says):
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


def test_type_checkers_and_help_still_see_the_arguments():
    import inspect

    assert "provider" in inspect.signature(WebSearch).parameters
    assert "settings" in inspect.signature(WebSearch.__init__).parameters
