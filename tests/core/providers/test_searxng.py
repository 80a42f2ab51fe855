"""https://docs.searxng.org/dev/search_api.html; tests/cassettes/test_cassettes.py replays answers of real servers."""

from __future__ import annotations

import pytest

from websearch_core.errors import AuthenticationError, BadRequest, BadResponse, ConfigurationError, Unavailable
from websearch_core.models import SearchQuery
from websearch_core.providers.searxng import SearXNG
from websearch_core.testing import SECRET, play, reply

SEARXNG = SearXNG(base_url="https://searx.example/sub/")


def first(**options):
    return next(SEARXNG.search(SearchQuery.of("kelp", **options)))


def hits(*names, **fields):
    results = [{"title": name, "url": f"https://sea.example/{name}", "content": "..."} for name in names]
    return reply({"results": results, "unresponsive_engines": [], **fields})


def test_a_server_below_a_path_is_asked_there():
    assert first().url == "https://searx.example/sub/search"


def test_it_sends_the_headers_that_a_limiter_lets_through():
    headers = first().headers

    assert "text/html" in headers["Accept"]
    assert "Accept-Language" in headers


def test_a_token_for_the_proxy_in_front_is_sent():
    request = next(SearXNG(base_url="https://searx.example", api_key=SECRET).search(SearchQuery.of("kelp")))

    assert request.headers["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"time_range": "week"}, "time_range", "week"),
        ({"language": "de"}, "language", "de"),
        ({"language": "en", "country": "GB"}, "language", "en-GB"),
        ({"safe_search": "strict"}, "safesearch", 2),
        ({"topic": "news"}, "categories", "news"),
        ({"allowed_domains": ["a.org", "b.org"]}, "q", "kelp (site:a.org OR site:b.org)"),
        ({"blocked_domains": ["x.com", "y.com"]}, "q", "kelp -site:x.com -site:y.com"),
    ],
)
def test_each_option_has_searxngs_own_word(options, name, value):
    assert first(**options).params[name] == value


def test_engines_are_named_when_chosen():
    provider = SearXNG(base_url="https://searx.example", engines=("brave", "wikipedia"))

    assert next(provider.search(SearchQuery.of("kelp"))).params["engines"] == "brave,wikipedia"


def test_a_larger_limit_requests_pages_until_one_has_nothing_new():
    outcome = play(SEARXNG.search(SearchQuery.of("kelp", limit=9)), hits("a", "b"), hits("b", "c"), hits("c"))

    assert [request.params.get("pageno") for request in outcome.requests] == [None, 2, 3]
    assert [result.title for result in outcome.result.results] == ["a", "b", "c"]


def test_a_page_is_as_long_as_the_limit_whatever_the_page_size_of_the_server():
    outcome = play(SEARXNG.search(SearchQuery.of("kelp", limit=2, page=2)), hits("a", "b", "c"), hits("d"))

    assert [request.params.get("pageno") for request in outcome.requests] == [None, 2]
    assert [result.title for result in outcome.result.results] == ["c", "d"]


def test_a_failure_on_a_later_page_keeps_the_results_so_far():
    outcome = play(SEARXNG.search(SearchQuery.of("kelp", limit=9)), hits("a"), reply({}, 429))

    assert [result.title for result in outcome.result.results] == ["a"]
    assert outcome.result.notes == ("searxng failed on a later page (rate_limited)",)


def test_no_results_while_engines_failed_is_a_failure():
    answer = hits(unresponsive_engines=[["brave", "Suspended: too many requests"], ["bing", "CAPTCHA"]])

    with pytest.raises(Unavailable, match=r"brave \(Suspended: too many requests\), bing \(CAPTCHA\)") as caught:
        play(SEARXNG.search(SearchQuery.of("kelp")), answer)
    assert not caught.value.temporary


def test_results_while_engines_failed_have_a_note():
    response = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=1)), hits("a", unresponsive_engines=[["bing", "timeout"]])
    )

    assert response.result.notes == ("engines that did not answer: bing (timeout)",)


@pytest.mark.parametrize("answers", [["42"], [{"answer": "42", "engine": "calc"}]], ids=["old", "new"])
def test_answers_are_objects_or_in_old_versions_strings(answers):
    response = play(SEARXNG.search(SearchQuery.of("6*7", limit=1)), hits("a", answers=answers)).result

    assert response.answer == "42"


def test_suggestions_and_corrections_are_kept():
    response = play(SEARXNG.search(SearchQuery.of("k", limit=1)), hits("a", suggestions=["kelp"], corrections=["k!"]))

    assert response.result.suggestions == ("kelp", "k!")


def test_a_result_without_url_is_left_out():
    answer = reply({"results": [{"title": "key/value", "url": None}, {"title": "a", "url": "https://a.example"}]})

    assert [result.title for result in play(SEARXNG.search(SearchQuery.of("k", limit=1)), answer).result.results] == [
        "a"
    ]


def test_the_error_for_disabled_json_says_how_to_enable_it():
    with pytest.raises(AuthenticationError, match="add json under 'search: formats:'"):
        play(SEARXNG.search(SearchQuery.of("kelp")), reply("<!doctype html><title>403 Forbidden", 403))


def test_a_bad_parameter_is_reported_in_the_servers_words():
    with pytest.raises(BadRequest, match="Invalid value xx_YY for parameter language"):
        play(
            SEARXNG.search(SearchQuery.of("kelp")), reply({"error": "Invalid value xx_YY for parameter language"}, 400)
        )


def test_a_bang_that_redirects_is_an_error():
    with pytest.raises(BadResponse, match="begin with !"):
        play(SEARXNG.search(SearchQuery.of("!!g kelp")), reply(b"", 302, location="https://www.google.com/"))


def test_it_cannot_be_made_without_knowing_where_the_server_is():
    with pytest.raises(ConfigurationError, match="SEARXNG_URL"):
        SearXNG()
