"""https://you.com/docs/api-reference/search/v1-search"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    MissingKey,
    QuotaExhausted,
    RateLimited,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.you import You
from websearch_core.testing import SECRET, play, reply

YOU = You(api_key=SECRET)
KEYLESS = You(keyless=True)
URL = "https://page.example/a"


def request_of(provider=YOU, **options):
    return next(provider.search(SearchQuery.of("kelp", **options)))


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "count", 7),
        ({"limit": 300}, "count", 100),
        ({"limit": 10, "page": 3}, "offset", 2),
        ({"time_range": "m"}, "freshness", "month"),
        (
            {"after": "2026-01-02", "before": "2026-03-04"},
            "freshness",
            "2026-01-02to2026-03-04",
        ),
        ({"before": "2026-03-04"}, "freshness", "1970-01-01to2026-03-04"),
        (
            {"allowed_domains": ["a.org", "b.org"]},
            "include_domains",
            ["a.org", "b.org"],
        ),
        ({"blocked_domains": ["b.org"]}, "exclude_domains", ["b.org"]),
        ({"country": "UK"}, "country", "GB"),
        ({"language": "pt-BR"}, "language", "PT-BR"),
        ({"language": "ja"}, "language", "JA"),
        ({"language": "zh-TW"}, "language", "ZH-HANT"),
        ({"language": "no"}, "language", "NB"),
        ({"safe_search": "off"}, "safesearch", "off"),
        ({"extra": {"boost_domains": ["c.org"]}}, "boost_domains", ["c.org"]),
    ],
)
def test_each_option_has_its_own_word(options, name, value):
    assert request_of(**options).json[name] == value


def test_allowed_and_blocked_domains_are_not_sent_together():
    assert (
        "exclude_domains"
        not in request_of(allowed_domains=["a.org"], blocked_domains=["b.a.org"]).json
    )


@pytest.mark.parametrize(
    "options",
    [{"country": "IE"}, {"language": "ga"}, {"topic": "news"}, {"images": True}],
)
def test_what_it_does_not_know_is_refused_before_it_is_sent(options):
    with pytest.raises(UnsupportedOption):
        request_of(**options)


def test_a_page_beyond_the_last_is_refused():
    with pytest.raises(UnsupportedOption, match="at most 1000 results"):
        request_of(limit=100, page=11)


def test_the_keyless_search_is_elsewhere_and_sends_no_key():
    request = request_of(
        You(keyless=True, api_key=SECRET), allowed_domains=["a.org", "b.org"]
    )

    assert (request.method, request.url) == (
        "GET",
        "https://api.you.com/v1/agents/search",
    )
    assert request.params == {
        "query": "kelp",
        "count": 5,
        "include_domains": "a.org,b.org",
    }
    assert request.headers == {}


def test_it_needs_a_key_unless_keyless_and_always_to_read():
    with pytest.raises(MissingKey, match="YDC_API_KEY"):
        You()
    with pytest.raises(MissingKey, match="YDC_API_KEY"):
        next(KEYLESS.read(URL))


def test_too_many_requests_without_a_key_are_those_of_a_day():
    with pytest.raises(QuotaExhausted):
        play(
            KEYLESS.search(SearchQuery.of("kelp")),
            reply({"message": "Too many requests"}, 429),
        )
    with pytest.raises(RateLimited):
        play(
            YOU.search(SearchQuery.of("kelp")),
            reply({"message": "Too many requests"}, 429),
        )


def test_a_page_is_read_as_markdown():
    you = You(api_key=SECRET, max_age=0)

    assert next(you.read(URL)).json == {
        "urls": [URL],
        "formats": ["markdown", "metadata"],
        "max_age": 0,
    }
    assert (
        play(you.read(URL), reply({"results": [{"markdown": "# Kelp"}]})).result.content
        == "# Kelp"
    )


@pytest.mark.parametrize(
    ("mode", "contents", "snippet", "content"),
    [
        ("highlights", {"highlights": ["It grows", "fast"]}, "It grows … fast", None),
        ("full_page", {"markdown": "# Kelp"}, "Brown.", "# Kelp"),
    ],
)
def test_more_than_snippets_is_asked_for_and_shown(mode, contents, snippet, content):
    you = You(api_key=SECRET, extraction=mode)
    result = {"url": URL, "title": "Kelp", "description": "Brown."}
    answer = reply({"results": {"web": [{**result, "contents": contents}]}})

    assert request_of(you).json["extraction"] == {"extraction_mode": mode}
    (found,) = play(you.search(SearchQuery.of("kelp")), answer).result.results
    assert (found.snippet, found.content) == (snippet, content)


def test_several_pages_are_read_in_one_request():
    answer = [
        {"url": URL, "markdown": "Kelp grows."},
        {"url": "https://b.example/", "markdown": None},
    ]
    failed, page = play(
        YOU.read_many(["https://b.example/", URL]), reply(answer)
    ).result

    assert isinstance(failed, Unavailable)
    assert (page.url, page.content) == (URL, "Kelp grows.")


def test_domains_are_boosted_unless_there_is_a_filter():
    mine = You(api_key=SECRET, boost_domains=("kelp.example",))

    assert request_of(mine).json["boost_domains"] == ["kelp.example"]
    assert "boost_domains" not in request_of(mine, allowed_domains=["a.org"]).json
    keyless = You(keyless=True, boost_domains=("a.org", "b.org"))
    assert request_of(keyless).params["boost_domains"] == "a.org,b.org"
