"""https://docs.firecrawl.dev/api-reference/endpoint/search"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    Blocked,
    MissingKey,
    PageNotFound,
    QuotaExhausted,
    RateLimited,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.provider import Site
from websearch_core.providers.firecrawl import Firecrawl
from websearch_core.testing import SECRET, play, reply

FIRECRAWL = Firecrawl(api_key=SECRET)
URL = "https://page.example/a"


def request_of(provider=FIRECRAWL, **options):
    return next(provider.search(SearchQuery.of("kelp", **options)))


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "limit", 7),
        ({"limit": 300}, "limit", 100),
        ({"time_range": "d"}, "tbs", "qdr:d"),
        ({"before": "2026-01-02"}, "tbs", "cdr:1,cd_max:01/02/2026"),
        ({"allowed_domains": ["a.org"]}, "includeDomains", ["a.org"]),
        ({"blocked_domains": ["b.org"]}, "excludeDomains", ["b.org"]),
        ({"country": "GB"}, "country", "GB"),
        ({"safe_search": "strict"}, "safe", True),
        ({"topic": "news"}, "sources", ["news"]),
        ({"topic": "academic"}, "categories", ["research"]),
        ({"topic": "code"}, "categories", ["developer"]),
        ({"images": True}, "sources", ["web", "images"]),
        ({"extra": {"location": "Bergen"}}, "location", "Bergen"),
    ],
)
def test_each_option_has_firecrawls_own_word(options, name, value):
    assert request_of(**options).json[name] == value


def test_allowed_and_blocked_domains_are_not_sent_together():
    assert (
        "excludeDomains"
        not in request_of(allowed_domains=["a.org"], blocked_domains=["b.a.org"]).json
    )


def test_what_it_does_not_know_is_refused():
    with pytest.raises(UnsupportedOption):
        request_of(language="en")
    with pytest.raises(UnsupportedOption):
        request_of(topic="finance")


def test_it_needs_a_key_unless_keyless_or_on_a_server_of_your_own():
    with pytest.raises(MissingKey, match="FIRECRAWL_API_KEY"):
        Firecrawl()
    assert request_of(Firecrawl(keyless=True)).headers == {}
    assert request_of(Firecrawl(keyless=True, api_key=SECRET)).headers == {}
    assert (
        request_of(Firecrawl(base_url="http://localhost:3002")).url
        == "http://localhost:3002/v2/search"
    )
    assert (
        request_of(Firecrawl(base_url="http://localhost:3002/v2")).url
        == "http://localhost:3002/v2/search"
    )


def test_its_own_options_are_sent():
    mine = Firecrawl(api_key=SECRET, scrape=True, only_main_content=False, max_age=0)

    assert request_of(mine).json["scrapeOptions"] == {"formats": ["markdown"]}
    assert next(mine.read(URL)).json == {
        "url": URL, "formats": ["markdown", "links"], "maxAge": 0, "onlyMainContent": False,
    }  # fmt: skip


def test_the_cap_of_the_keyless_tier_is_a_quota_and_a_rate_limit_is_not():
    cap = {
        "success": False,
        "error": "You've hit Firecrawl's keyless free tier rate limit.",
    }
    with pytest.raises(QuotaExhausted):
        play(Firecrawl(keyless=True).search(SearchQuery.of("kelp")), reply(cap, 429))
    with pytest.raises(RateLimited):
        play(
            FIRECRAWL.search(SearchQuery.of("kelp")),
            reply({"success": False, "error": "Rate limit exceeded"}, 429),
        )


@pytest.mark.parametrize(
    ("status", "kind"), [("404", PageNotFound), (403, Blocked), (503, Unavailable)]
)
def test_the_status_of_the_page_decides_although_the_answer_is_a_success(status, kind):
    with pytest.raises(kind) as caught:
        play(
            FIRECRAWL.read(URL),
            reply(
                {
                    "success": True,
                    "data": {"markdown": "x", "metadata": {"statusCode": status}},
                }
            ),
        )
    assert caught.value.temporary is (kind is Unavailable)


def test_a_failure_of_the_page_is_not_retried_as_one_of_the_service():
    problem = {
        "success": False,
        "code": "SCRAPE_SSL_ERROR",
        "error": "The certificate is invalid.",
    }
    with pytest.raises(Unavailable) as caught:
        play(FIRECRAWL.read(URL), reply(problem, 500))
    assert not caught.value.temporary
    with pytest.raises(Unavailable) as caught:
        play(
            FIRECRAWL.read(URL),
            reply({"success": False, "code": "UNKNOWN_ERROR", "error": "x"}, 500),
        )
    assert caught.value.temporary


def test_a_site_that_it_does_not_read_is_blocked():
    problem = {
        "success": False,
        "error": "We apologize for the inconvenience but we do not support this site.",
    }
    with pytest.raises(Blocked):
        play(FIRECRAWL.read(URL), reply(problem, 403))


def test_the_wait_may_be_in_the_words():
    body = {
        "success": False,
        "error": "Rate limit exceeded. Consumed (req/min): 11, please retry after 27s, resets soon",
    }
    with pytest.raises(RateLimited) as caught:
        play(FIRECRAWL.search(SearchQuery.of("kelp")), reply(body, 429))

    assert caught.value.retry_after == 27


def test_pages_and_places_can_be_chosen():
    mine = Firecrawl(
        api_key=SECRET,
        category="pdf",
        location="Ellersund",
        headers={"X-Tide": "low"},
        wait_for=500,
    )

    assert request_of(mine).json["categories"] == ["pdf"]
    assert request_of(mine, topic="academic").json["categories"] == ["research"]
    assert request_of(mine).json["location"] == "Ellersund"
    page = next(mine.read(URL)).json
    assert (page["headers"], page["waitFor"]) == ({"X-Tide": "low"}, 500)
    assert "low" not in repr(mine)


def test_a_site_is_mapped():
    # written from firecrawl-py 4.55.0 and
    # https://docs.firecrawl.dev/api-reference/endpoint/map; values invented
    body = {
        "success": True,
        "links": [{"url": "https://sea.example/a", "title": "A"}, {"url": "x"}, 7],
        "creditsUsed": 1,
    }
    flow = FIRECRAWL.map(Site("https://sea.example/", 9, 10, "domain", sitemaps=False))

    request = next(flow)
    with pytest.raises(StopIteration) as done:
        flow.send(reply(body))

    assert request.url == "https://api.firecrawl.dev/v2/map"
    assert request.target == "https://sea.example/"
    assert request.json == {
        "url": "https://sea.example/",
        "limit": 9,
        "includeSubdomains": True,
        "sitemap": "skip",
    }
    assert (done.value.value.links, done.value.value.usage) == (
        ("https://sea.example/a",),
        {"credits": 1},
    )
