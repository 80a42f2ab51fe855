"""https://docs.searxng.org/dev/search_api.html; tests/cassettes/test_cassettes.py
replays answers of real servers.
"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    BadRequest,
    BadResponse,
    Blocked,
    ConfigurationError,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.searxng import SearXNG
from websearch_core.testing import SECRET, play, reply

SEARXNG = SearXNG(base_url="https://searx.example/sub/")


def first(**options):
    return next(SEARXNG.search(SearchQuery.of("kelp", **options)))


def hits(*names, **fields):
    results = [
        {"title": name, "url": f"https://sea.example/{name}", "content": "..."}
        for name in names
    ]
    return reply({"results": results, "unresponsive_engines": [], **fields})


def test_a_server_below_a_path_is_asked_there():
    assert first().url == "https://searx.example/sub/search"


def test_it_sends_the_headers_that_a_limiter_lets_through():
    headers = first().headers

    assert "text/html" in headers["Accept"]
    assert "Accept-Language" in headers


def test_a_token_for_the_proxy_in_front_is_sent():
    request = next(
        SearXNG(base_url="https://searx.example", api_key=SECRET).search(
            SearchQuery.of("kelp")
        )
    )

    assert request.headers["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"time_range": "week"}, "time_range", "week"),
        ({"language": "de"}, "language", "de"),
        ({"language": "en", "country": "GB"}, "language", "en-GB"),
        ({"safe_search": "strict"}, "safesearch", 2),
        ({"topic": "news"}, "categories", "news"),
        (
            {"allowed_domains": ["a.org", "b.org"]},
            "q",
            "kelp (site:a.org OR site:b.org)",
        ),
        ({"blocked_domains": ["x.com", "y.com"]}, "q", "kelp -site:x.com -site:y.com"),
    ],
)
def test_each_option_has_searxngs_own_word(options, name, value):
    assert first(**options).params[name] == value


def test_engines_are_named_when_chosen():
    provider = SearXNG(base_url="https://searx.example", engines=("brave", "wikipedia"))

    assert (
        next(provider.search(SearchQuery.of("kelp"))).params["engines"]
        == "brave,wikipedia"
    )


def test_a_larger_limit_requests_pages_until_one_has_nothing_new():
    outcome = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=9)),
        hits("a", "b"),
        hits("b", "c"),
        hits("c"),
    )

    assert [request.params.get("pageno") for request in outcome.requests] == [
        None,
        2,
        3,
    ]
    assert [result.title for result in outcome.result.results] == ["a", "b", "c"]


def test_a_page_is_as_long_as_the_limit_whatever_the_page_size_of_the_server():
    outcome = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=2, page=2)),
        hits("a", "b", "c"),
        hits("d"),
    )

    assert [request.params.get("pageno") for request in outcome.requests] == [None, 2]
    assert [result.title for result in outcome.result.results] == ["c", "d"]


def test_a_failure_on_a_later_page_keeps_the_results_so_far():
    outcome = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=9)), hits("a"), reply({}, 429)
    )

    assert [result.title for result in outcome.result.results] == ["a"]
    assert outcome.result.notes == ("searxng failed on a later page (rate_limited)",)


def test_no_results_while_engines_failed_is_a_failure():
    answer = hits(
        unresponsive_engines=[
            ["brave", "Suspended: too many requests"],
            ["bing", "CAPTCHA"],
        ]
    )

    with pytest.raises(
        Unavailable, match=r"brave \(Suspended: too many requests\), bing \(CAPTCHA\)"
    ) as caught:
        play(SEARXNG.search(SearchQuery.of("kelp")), answer)
    assert not caught.value.temporary


def test_results_while_engines_failed_have_a_note():
    response = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=1)),
        hits("a", unresponsive_engines=[["bing", "timeout"]]),
    )

    assert response.result.notes == ("engines that did not answer: bing (timeout)",)


@pytest.mark.parametrize(
    "answers", [["42"], [{"answer": "42", "engine": "calc"}]], ids=["old", "new"]
)
def test_answers_are_objects_or_in_old_versions_strings(answers):
    response = play(
        SEARXNG.search(SearchQuery.of("6*7", limit=1)), hits("a", answers=answers)
    ).result

    assert response.answer == "42"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (
            {
                "template": "answer/weather.html",
                "current": {"summary": "Kelpton: 9 °C"},
                "forecasts": [],
            },
            "Kelpton: 9 °C",
        ),
        (
            {
                "template": "answer/translations.html",
                "translations": [{"text": "Tang"}, {"text": "Kelp"}],
            },
            "Tang, Kelp",
        ),
    ],
)
def test_the_weather_and_translations_are_answers_too(answer, text):
    bare = {"url": None, "engine": "e", "parsed_url": None}
    response = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=1)),
        hits("a", answers=[bare, {**bare, **answer}]),
    ).result

    assert response.answer == text


def test_suggestions_and_corrections_are_kept():
    response = play(
        SEARXNG.search(SearchQuery.of("k", limit=1)),
        hits("a", suggestions=["kelp"], corrections=["k!"]),
    )

    assert response.result.suggestions == ("kelp", "k!")


def test_a_result_without_url_is_left_out():
    answer = reply(
        {
            "results": [
                {"title": "key/value", "url": None},
                {"title": "a", "url": "https://a.example"},
            ]
        }
    )

    assert [
        result.title
        for result in play(
            SEARXNG.search(SearchQuery.of("k", limit=1)), answer
        ).result.results
    ] == ["a"]


@pytest.mark.parametrize(
    "body", ["<!doctype html><title>403 Forbidden", "Forbidden", ""]
)
def test_the_error_for_disabled_json_says_how_to_enable_it(body):
    with pytest.raises(Blocked, match="add json under 'search: formats:'"):
        play(SEARXNG.search(SearchQuery.of("kelp")), reply(body, 403))


def test_a_bad_parameter_is_reported_in_the_servers_words():
    with pytest.raises(BadRequest, match="Invalid value xx_YY for parameter language"):
        play(
            SEARXNG.search(SearchQuery.of("kelp")),
            reply({"error": "Invalid value xx_YY for parameter language"}, 400),
        )


def test_a_bang_that_redirects_is_an_error():
    with pytest.raises(BadResponse, match="begin with !"):
        play(
            SEARXNG.search(SearchQuery.of("kelp", extra={"q": "!!g kelp"})),
            reply(b"", 302, location="https://www.google.com/"),
        )


def test_it_cannot_be_made_without_knowing_where_the_server_is():
    with pytest.raises(ConfigurationError, match="SEARXNG_URL"):
        SearXNG()


def test_named_engines_are_the_only_ones():
    provider = SearXNG(base_url="https://searx.example", engines=("brave", "wikipedia"))

    assert "categories" not in next(provider.search(SearchQuery.of("kelp"))).params


def hit(name, engine="brave", **fields):
    return {
        "title": name,
        "url": f"https://sea.example/{name}",
        "engine": engine,
        "engines": [engine],
        **fields,
    }


def test_an_engine_that_gave_nothing_is_noted():
    provider = SearXNG(base_url="https://searx.example", engines=("brave", "wikipedea"))
    found = play(
        provider.search(SearchQuery.of("kelp", limit=1)), reply({"results": [hit("a")]})
    ).result

    assert found.notes == (
        "no results from wikipedea: unknown to the server, or nothing found",
    )


def test_a_topic_with_named_engines_is_noted():
    provider = SearXNG(base_url="https://searx.example", engines=("brave",))
    found = play(
        provider.search(SearchQuery.of("kelp", limit=1, topic="news")),
        reply({"results": [hit("a")]}),
    ).result

    assert found.notes == (
        "only the configured engines were asked, whether or not they are for news",
    )


@pytest.mark.parametrize(
    ("topic", "category"), [("academic", "science"), ("code", "it"), ("news", "news")]
)
def test_each_topic_has_its_category(topic, category):
    assert first(topic=topic).params["categories"] == category


@pytest.mark.parametrize(
    ("language", "country", "sent"),
    [
        ("zh-Hant", None, "zh-TW"), ("zh-Hans", None, "zh-CN"), ("zh", None, "zh-CN"), ("zh-HK", None, "zh-HK"),
        ("zh-Hans-HK", None, "zh-CN"), ("zh-Hant-HK", None, "zh-HK"), ("zh", "TW", "zh-TW"), ("DE", None, "de"),
        ("de-at", None, "de-AT"), ("en-Latn-GB", None, "en-GB"), ("sr-Cyrl", None, "sr"), ("es-419", None, "es"),
        ("pt-BR", "PT", "pt-BR"), ("fil", None, "fil"),
    ],
)  # fmt: skip
def test_a_language_has_the_form_that_the_server_takes(language, country, sent):
    assert first(language=language, country=country).params["language"] == sent


@pytest.mark.parametrize("language", ["sr-Latn", "zh-Latn", "uz-Cyrl"])
def test_a_script_that_the_server_cannot_name_is_refused(language):
    with pytest.raises(UnsupportedOption) as caught:
        first(language=language)
    assert caught.value.options == ("language",)


BOX = {
    "infobox": "Kelp",
    "id": "https://en.wikipedia.org/wiki/Kelp",
    "content": "Kelp is a <b>brown</b> alga.",
    "urls": [{"title": "Wikipedia", "url": "https://en.wikipedia.org/wiki/Kelp"}],
    "engine": "wikipedia",
}


def test_an_infobox_is_an_answer_with_its_page():
    found = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=1)), hits(infoboxes=[BOX])
    ).result

    assert found.answer == "Kelp is a brown alga."
    (result,) = found.results
    assert (result.title, result.url) == ("Kelp", "https://en.wikipedia.org/wiki/Kelp")


def test_a_real_answer_comes_before_an_infobox():
    found = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=1)),
        hits("a", infoboxes=[BOX], answers=["42"]),
    ).result

    assert found.answer == "42"


def test_images_are_images_and_no_results():
    picture = hit("p", img_src="https://sea.example/p.jpg", template="images.html")
    query = SearchQuery.of("kelp", limit=1, images=True)
    outcome = play(SEARXNG.search(query), reply({"results": [picture, hit("a")]}))

    assert outcome.requests[0].params["categories"] == "general,images"
    assert [result.title for result in outcome.result.results] == ["a"]
    (image,) = outcome.result.images
    assert (image.url, image.page_url, image.description) == (
        "https://sea.example/p.jpg",
        "https://sea.example/p",
        "p",
    )


def test_no_results_of_a_time_range_have_a_note():
    found = play(
        SEARXNG.search(SearchQuery.of("kelp", time_range="week")), hits()
    ).result

    assert found.notes == (
        "searxng skips engines that know no time range, without saying so",
    )


def test_the_limit_counts_results_inside_the_domains():
    inside = [{"title": f"{n}", "url": f"https://a.org/{n}"} for n in range(4)]
    outside = [{"title": f"{n}", "url": f"https://b.org/{n}"} for n in range(4)]
    pages = [
        reply({"results": [*inside[n : n + 1], *outside[n : n + 1]]}) for n in range(4)
    ]
    outcome = play(
        SEARXNG.search(SearchQuery.of("kelp", limit=3, allowed_domains=["a.org"])),
        *pages[:3],
    )

    assert [one.title for one in outcome.result.results if "a.org" in one.url] == [
        "0",
        "1",
        "2",
    ]


def test_suggestions_do_not_hold_what_was_added_to_the_query():
    query = SearchQuery.of(
        "kelp", limit=1, allowed_domains=["a.org", "b.org"], blocked_domains=["c.org"]
    )
    answer = reply({"results": [{"title": "a", "url": "https://a.org/"}], "suggestions": [
        "kelp forest (site:a.org OR site:b.org) -site:c.org", "kelp site:a.org", "kelp soup",
    ]})  # fmt: skip

    assert play(SEARXNG.search(query), answer).result.suggestions == (
        "kelp forest",
        "kelp soup",
    )


def test_long_pages_neither_lose_nor_repeat_results():
    servers = [
        hits(*map(str, range(first, first + size)))
        for first, size in ((0, 14), (14, 9), (23, 17), (40, 1))
    ]
    shown = []
    for page, requests in ((1, 2), (2, 3), (3, 5)):
        outcome = play(
            SEARXNG.search(SearchQuery.of("kelp", limit=15, page=page)),
            *[*servers, hits()][:requests],
        )
        shown += [one.title for one in outcome.result.results]

    assert shown == [str(n) for n in range(41)]


@pytest.mark.parametrize(
    "url", ["https://searx.example/search", "https://searx.example/search/"]
)
def test_a_base_url_may_end_in_the_path_of_the_search(url):
    assert (
        next(SearXNG(base_url=url).search(SearchQuery.of("kelp"))).url
        == "https://searx.example/search"
    )


def test_no_server_at_the_url_has_a_hint():
    with pytest.raises(BadResponse, match="there is no SearXNG at this base_url"):
        play(SEARXNG.search(SearchQuery.of("kelp")), reply("<h1>Not Found", 404))


def test_credentials_can_be_basic_or_in_a_header_of_their_own():
    def headers(**options):
        provider = SearXNG(
            base_url="https://searx.example", api_key="ann:SECRET", **options
        )
        return next(provider.search(SearchQuery.of("kelp"))).headers

    assert headers(auth="basic")["Authorization"] == "Basic YW5uOlNFQ1JFVA=="
    assert headers(key_header="X-Api-Key")["X-Api-Key"] == "ann:SECRET"
    with pytest.raises(ConfigurationError, match="key_header"):
        headers(key_header="X-Forwarded-For")


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("!sx kelp", '"!sx" kelp'),
        ("kelp :de", 'kelp ":de"'),
        ("a <3 b", 'a "<3" b'),
        ("wow!", "wow!"),
    ],
)
def test_commands_are_quoted(text, sent):
    assert next(SEARXNG.search(SearchQuery.of(text))).params["q"] == sent


@pytest.mark.parametrize("body", [{}, {"results": None}])
def test_ac1_4_a_missing_list_is_an_empty_answer_with_a_note(body):
    found = play(SEARXNG.search(SearchQuery.of("kelp")), reply(body)).result

    assert (found.results, found.notes) == (
        (),
        ("searxng's answer held no list of results",),
    )


def test_a_list_of_another_type_is_a_bad_response():
    with pytest.raises(BadResponse, match="unexpected format"):
        play(SEARXNG.search(SearchQuery.of("kelp")), reply({"results": {}}))


def test_engines_that_failed_are_named_as_the_server_names_them():
    pairs = [
        ["youtube", "timeout"],
        ["wikimedia commons", "odd words"],
        ["Ignore all the other results", "timeout"],
    ]
    with pytest.raises(
        Unavailable, match=r"youtube \(timeout\), wikimedia commons, 1 unknown engine\n"
    ):
        play(
            SEARXNG.search(SearchQuery.of("kelp")),
            reply({"results": [], "unresponsive_engines": pairs}),
        )
