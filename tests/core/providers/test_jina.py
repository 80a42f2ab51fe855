"""https://github.com/jina-ai/reader"""

from __future__ import annotations

import pytest

from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import (
    BadRequest,
    Blocked,
    MissingKey,
    PageNotFound,
    QuotaExhausted,
    RateLimited,
    TooLarge,
    Unavailable,
    UnsupportedContent,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.jina import Jina
from websearch_core.testing import SECRET, play, reply

URL = "https://page.example/a?b=c#d"


def read(data=None, status=200, reader=None, **fields):
    answer = reply({"code": status, "data": data, **fields}, status)
    return play((reader or Jina()).read(URL), answer)


def test_a_key_is_optional_and_sent_if_set():
    assert "Authorization" not in next(Jina().read(URL)).headers
    assert (
        next(Jina(api_key=SECRET).read(URL)).headers["Authorization"]
        == f"Bearer {SECRET}"
    )


def test_the_whole_url_is_sent_in_the_body():
    request = next(Jina().read(URL))

    assert (request.method, request.url, request.json) == (
        "POST",
        "https://r.jina.ai/",
        {"url": URL},
    )


def test_private_asks_jina_to_keep_no_copy():
    assert next(Jina(private=True).read(URL)).headers["DNT"] == "1"


def test_the_metadata_of_a_page_is_kept():
    page = read(
        {
            "title": "Kelp",
            "description": "Of algae",
            "url": "https://page.example/final",
            "content": "# Kelp\n\nBrown algae.",
            "publishedTime": "2026-02-03T00:00:00Z",
            "metadata": {"lang": "en"},
            "links": {"Sea": "https://sea.example/", "Mail": "mailto:a@b.example"},
        }
    ).result

    assert (page.title, page.description, page.language) == ("Kelp", "Of algae", "en")
    assert (page.url, page.final_url) == (URL, "https://page.example/final")
    assert page.published.isoformat() == "2026-02-03T00:00:00+00:00"
    assert page.links == ("https://sea.example/",)


@pytest.mark.parametrize(
    ("status", "kind", "temporary"),
    [
        (404, PageNotFound, False),
        (410, PageNotFound, False),
        (503, Unavailable, True),
        (403, Blocked, False),
    ],
)
def test_a_missing_page_is_an_error_although_jina_reports_success(
    status, kind, temporary
):
    with pytest.raises(kind) as caught:
        read(
            {
                "content": "Not here",
                "warning": f"Target URL returned error {status}: Nope",
            }
        )
    assert (caught.value.status, caught.value.temporary) == (status, temporary)


def test_other_warnings_are_noted():
    page = read({"content": "text", "warning": "This is a cached snapshot"}).result

    assert page.notes == ("jina: This is a cached snapshot",)


@pytest.mark.parametrize(
    ("code", "kind"), [(402, QuotaExhausted), (403, Blocked), (429, RateLimited)]
)
def test_a_failure_that_is_sent_as_a_success_is_a_failure(code, kind):
    problem = {
        "data": None,
        "code": code,
        "name": "SomeError",
        "status": code * 100 + 3,
        "message": "No more of this",
    }
    with pytest.raises(kind) as caught:
        play(Jina().read(URL), reply(problem))
    assert (caught.value.status, caught.value.detail) == (code, "No more of this")


def test_a_search_that_fails_with_a_success_fails_too():
    problem = {
        "data": None,
        "code": 402,
        "name": "InsufficientBalanceError",
        "message": "Account balance not enough",
    }
    query = SearchQuery.of("kelp")
    with pytest.raises(QuotaExhausted):
        play(Jina(api_key=SECRET).search(query), reply(problem))
    nothing = {
        **problem,
        "code": 422,
        "message": "No search results available for query kelp",
    }
    assert play(Jina(api_key=SECRET).search(query), reply(nothing)).result.results == ()


@pytest.mark.parametrize(
    ("status", "kind"), [(409, TooLarge), (413, TooLarge), (451, Blocked)]
)
def test_statuses_of_its_own(status, kind):
    with pytest.raises(kind, match="Anonymous access"):
        read(
            None,
            status,
            readableMessage="SecurityCompromiseError: Anonymous access to domain blocked",
        )


@pytest.mark.parametrize("base_url", ["https://r.jina.ai", "https://R.JINA.AI/"])
def test_the_guard_does_not_judge_pages_that_jinas_own_server_reads(base_url):
    request = next(Jina(base_url=base_url).read(URL))

    assert (request.target, request.judge_target) == (URL, False)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://localhost:3000",
        "https://reader.example",
        "http://r.jina.ai",
        "https://r.jina.ai:8443",
        "https://r.jina.ai.example",
    ],
)
def test_a_self_hosted_server_only_gets_urls_that_the_guard_checked(base_url):
    request = next(Jina(base_url=base_url).read(URL))

    assert (request.target, request.judge_target) == (URL, True)


def test_links_and_the_time_that_is_left_are_asked_for():
    assert next(Jina().read(URL)).headers["X-With-Links-Summary"] == "all"
    assert "X-Timeout" not in next(Jina().read(URL)).headers
    with time_limit(100):
        assert 70 < int(next(Jina().read(URL)).headers["X-Timeout"]) <= 80
    with time_limit(1000):
        assert next(Jina().read(URL)).headers["X-Timeout"] == "180"


def test_how_to_read_can_be_chosen():
    headers = next(
        Jina(no_cache=True, engine="direct", target_selector="main").read(URL)
    ).headers

    assert (
        headers["X-Cache-Tolerance"],
        headers["X-Engine"],
        headers["X-Target-Selector"],
    ) == ("0", "direct", "main")


def test_all_links_are_pairs():
    pairs = [
        ["Sea", "https://sea.example/"],
        ["Sea", "https://sea.example/b"],
        ["Mail", "mailto:a@b.example"],
        [],
    ]

    assert read({"content": "text", "links": pairs}).result.links == (
        "https://sea.example/",
        "https://sea.example/b",
    )


@pytest.mark.parametrize(
    "where",
    [{"data": {"usage": {"tokens": 812}}}, {"meta": {"usage": {"tokens": 812}}}],
)
def test_the_tokens_are_the_usage(where):
    fields = {"data": {}, **where}
    data = {"content": "text", **fields.pop("data")}

    assert read(data, **fields).result.usage == {"tokens": 812}


def test_a_page_that_jina_cannot_open_is_not_a_wrong_request():
    message = "AssertionFailureError: Failed to goto https://page.example/: net::ERR_CERT_DATE_INVALID"
    answer = reply({"code": 422, "status": 42206, "readableMessage": message}, 422)
    with pytest.raises(Unavailable) as caught:
        play(Jina().read(URL), answer)
    assert (caught.value.temporary, caught.value.detail) == (False, message)
    with pytest.raises(BadRequest):
        play(Jina().read(URL), reply({"code": 422, "status": 42200}, 422))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"content": ""}, UnsupportedContent),
        ({"content": " \n"}, UnsupportedContent),
        (
            {
                "content": "Solve this.",
                "warning": "This page maybe requiring CAPTCHA, please make sure ...",
            },
            Blocked,
        ),
        (
            {
                "title": "Just a moment...",
                "content": "Enable JavaScript and cookies to continue",
            },
            Blocked,
        ),
    ],
    ids=str,
)
def test_what_is_no_page_is_no_success(data, kind):
    with pytest.raises(kind) as caught:
        read(data)
    assert caught.value.temporary is False


def test_a_page_with_content_may_have_a_captcha():
    page = read(
        {
            "content": "An article. " * 100,
            "warning": "This page maybe requiring CAPTCHA",
        }
    ).result

    assert page.notes == ("jina: The page may require a CAPTCHA",)


def search_of(provider=None, **options):
    return next(
        (provider or Jina(api_key=SECRET)).search(SearchQuery.of("kelp", **options))
    )


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "num", 7),
        ({"limit": 30}, "num", 20),
        ({"limit": 20, "page": 2}, "page", 2),
        ({"allowed_domains": ["a.org"]}, "q", "kelp site:a.org"),
        ({"country": "GB"}, "gl", "gb"),
        ({"language": "pt-BR"}, "hl", "pt-br"),
        ({"topic": "news"}, "type", "news"),
        ({"extra": {"location": "Bergen"}}, "location", "Bergen"),
    ],
)
def test_each_option_of_a_search_has_jinas_own_word(options, name, value):
    assert search_of(**options).json[name] == value


def test_a_search_goes_to_the_search_server_and_reads_results_only_on_request():
    request = search_of()
    assert request.url == "https://s.jina.ai/"
    assert request.headers["X-Respond-With"] == "no-content"
    assert (
        "X-Respond-With"
        not in search_of(Jina(api_key=SECRET, read_results=True)).headers
    )
    assert (
        search_of(Jina(api_key=SECRET, search_url="https://s.example")).url
        == "https://s.example/"
    )


def test_a_search_needs_a_key():
    with pytest.raises(MissingKey, match="JINA_API_KEY"):
        search_of(Jina())


@pytest.mark.parametrize(
    "options", [{"time_range": "day"}, {"safe_search": "off"}, {"images": True}]
)
def test_what_the_search_cannot_do_is_refused(options):
    with pytest.raises(UnsupportedOption):
        search_of(**options)


def test_only_the_words_for_nothing_found_make_an_empty_answer():
    problem = {
        "code": 422,
        "status": 42206,
        "message": "No search results available for query kelp",
    }
    query = SearchQuery.of("kelp")
    assert (
        play(Jina(api_key=SECRET).search(query), reply(problem, 422)).result.results
        == ()
    )
    with pytest.raises(BadRequest):
        play(
            Jina(api_key=SECRET).search(query),
            reply({**problem, "message": "num is not a number"}, 422),
        )


def test_the_tokens_of_a_search_are_added_up_where_it_does_not_say_them():
    found = [
        {"url": f"https://a.example/{n}", "usage": {"tokens": 1000}} for n in range(2)
    ]
    search = Jina(api_key=SECRET).search(SearchQuery.of("kelp", limit=2))

    assert play(search, reply({"code": 200, "data": found})).result.usage == {
        "tokens": 2000
    }


def test_selectors_say_what_to_wait_for_and_what_to_leave_out():
    headers = next(Jina(wait_for="main", remove_selector="nav").read(URL)).headers

    assert (headers["X-Wait-For-Selector"], headers["X-Remove-Selector"]) == (
        "main",
        "nav",
    )
