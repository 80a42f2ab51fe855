"""Turning the data of services into results and plain text."""

from __future__ import annotations
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core.client._enforce import enforce_page, enforce_query
from websearch_core.errors import BadResponse
from websearch_core.models import Image, Page, SearchQuery, SearchResponse, SearchResult
from websearch_core.provider._results import (
    in_domains,
    parse_images,
    parse_results,
    parse_search,
    plain_text,
    take_results,
)
from websearch_core.testing import stop_clock


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            "<div>: The Content Division element - MDN",
            "<div>: The Content Division element - MDN",
        ),
        ("When to use <b> vs <strong>", "When to use <b> vs <strong>"),
        ("What is &nbsp; in HTML?", "What is &nbsp; in HTML?"),
        ("What does <b></b> do, and </b>?", "What does <b></b> do, and </b>?"),
        (
            'The <b>blue</b> <span class="hit">whale</span> and <EM>the <mark>krill</mark></EM>',
            "The blue whale and the krill",
        ),
        ("Family 👩🏽\u200d🚀 and 🏳️\u200d🌈", "Family 👩🏽\u200d🚀 and 🏳️\u200d🌈"),
    ],
)
def test_in_plain_text_only_the_marks_around_words_go(text, plain):
    assert plain_text(text) == plain


def test_a_service_may_send_entities_or_html():
    written = "<div> &amp; <b>kelp</b> &lt;p&gt;"

    assert plain_text(written, "entities") == "<div> & kelp <p>"
    assert plain_text(written, "html") == "& kelp <p>"


@pytest.mark.parametrize("answer", [{}, {"took": 3}])
def test_an_answer_without_a_list_is_empty(answer):
    assert take_results(answer, "stub") == (
        [],
        ("stub's answer held no list of results",),
    )
    assert take_results({"web": {"results": []}}, "stub", "web.results") == ([], ())


@pytest.mark.parametrize(
    "words", ["2026", "2026-03", "2026/3", "May 2026", "mars 2026"]
)
def test_a_date_without_a_day_is_not_the_first_day(words):
    (result,) = parse_results(
        [{"url": "https://a.example/", "published": words}], "stub"
    )

    assert (result.published, result.published_text) == (None, words)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "The <strong>blue whale</strong> doesn&#x27;t sing",
            "The blue whale doesn't sing",
        ),
        ("a &lt;b&gt; c", "a <b> c"),
        ("&amp;lt;", "&lt;"),
        ('<span class="searchmatch">Kelp</span> forest', "Kelp forest"),
        ("std::vector<int> v", "std::vector<int> v"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("zero\u200bwidth\u202e and \U000e0041tags", "zerowidth and tags"),
        ("non\xa0breaking", "non breaking"),
        (None, ""),
        (42, ""),
    ],
)
def test_markup_is_stripped_then_entities_are_unescaped_once(markup, text):
    assert plain_text(markup, "html") == text


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "data:text/html,hi", "/relative", "ftp://a.example/", "", "http://",
        "https://user:password@a.example/", "https://a.example/\n", "https://a.example\\@b.example/", None, 42,
    ],
)  # fmt: skip
def test_a_result_without_a_usable_url_is_left_out(url):
    items = [
        {"title": "bad", "url": url},
        {"title": "good", "url": "https://a.example/"},
    ]

    # blanks around a URL are harmless
    expected = ["good"] if url != "https://a.example/\n" else ["bad", "good"]
    assert expected == [result.title for result in parse_results(items, "stub")]


def test_missing_values_and_wrong_types_are_tolerated():
    items = [
        {
            "url": "https://a.example/",
            "title": None,
            "snippet": {"x": 1},
            "score": "high",
            "published": {},
        },
        "not an object",
        None,
    ]
    (result,) = parse_results(items, "stub")

    assert (result.title, result.snippet, result.score, result.published) == (
        "https://a.example/",
        "",
        None,
        None,
    )
    assert result.raw == items[0]


@pytest.mark.parametrize(
    "items", [None, 3, {}, "x", [{}], [{"link": "https://a.example"}], [1, 2]]
)
def test_anything_unlike_a_list_of_results_is_a_bad_response(items):
    with pytest.raises(BadResponse):
        parse_results(items, "stub")


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["title", "url", "snippet", "score", "published"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(json)
def test_any_json_gives_results_or_a_bad_response(items):
    try:
        results = parse_results(items, "stub")
    except BadResponse:
        return
    assert [result for result in results if not (result.title and result.url)] == []


def response(*urls):
    return SearchResponse(
        query="kelp", results=tuple(SearchResult(title="t", url=url) for url in urls)
    )


def enforce(*urls, **options):
    return enforce_query(response(*urls), SearchQuery.of("kelp", **options))


def test_results_are_numbered_from_one_without_duplicates_up_to_the_limit():
    results = enforce(
        "https://a.example/",
        "https://b.example/",
        "https://a.example/",
        "https://c.example/",
        limit=2,
    ).results

    assert [(result.rank, result.citation_id, result.url) for result in results] == [
        (1, 1, "https://a.example/"),
        (2, 2, "https://b.example/"),
    ]


def test_a_page_is_one_result_however_its_url_is_spelled():
    spellings = [
        "Kelp_(alga)",
        "Kelp_%28alga%29",
        "%4Belp_(alga)",
        "Kelp_(alga)/",
        "x/../Kelp_(alga)",
        "Kelp_(alga)#a",
    ]

    enforced = enforce(
        *(f"https://sea.example/{one}" for one in spellings),
        "https://sea.example/kelp",
        limit=3,
    )

    assert [result.url for result in enforced.results] == [
        "https://sea.example/Kelp_(alga)", "https://sea.example/kelp"
    ]  # fmt: skip


def test_results_outside_the_domain_filter_are_left_out_with_a_note():
    kept = enforce(
        "https://docs.python.org/3/",
        "https://python.org.evil.example/",
        "https://evil.example/python.org",
        allowed_domains=["python.org"],
    )

    assert [result.url for result in kept.results] == ["https://docs.python.org/3/"]
    assert kept.notes == ("2 results outside the domain filter left out",)


@pytest.mark.parametrize(
    ("url", "options", "inside"),
    [
        ("https://python.org/", {"allowed_domains": ["python.org"]}, True),
        ("https://www.python.org/", {"allowed_domains": ["www.python.org"]}, True),
        ("https://DOCS.Python.org/", {"allowed_domains": ["python.org"]}, True),
        ("https://notpython.org/", {"allowed_domains": ["python.org"]}, False),
        ("https://nasa.gov/", {"allowed_domains": ["gov"]}, True),
        ("https://a.example/", {"blocked_domains": ["b.example"]}, True),
        ("https://x.b.example/", {"blocked_domains": ["b.example"]}, False),
        (
            "https://x.a.example/",
            {"allowed_domains": ["a.example"], "blocked_domains": ["x.a.example"]},
            False,
        ),
        (
            "https://b\xfccher.example/",
            {"allowed_domains": ["b\xfccher.example"]},
            True,
        ),
        (
            "https://xn--bcher-kva.example/",
            {"allowed_domains": ["b\xfccher.example"]},
            True,
        ),
    ],
)
def test_a_domain_includes_its_subdomains(url, options, inside):
    assert in_domains(url, SearchQuery.of("kelp", **options)) is inside


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 10**400, True, "high"])
def test_a_score_that_json_cannot_hold_is_none(score):
    (result,) = parse_results(
        [{"title": "t", "url": "https://a.example/", "score": score}], "stub"
    )

    assert result.score is None


def test_a_score_may_be_written_as_text():
    (result,) = parse_results(
        [{"title": "t", "url": "https://a.example/", "score": "0.9"}], "stub"
    )

    assert result.score == 0.9


def test_titles_and_names_are_one_line():
    item = {
        "title": "Tide\n   tables ",
        "url": "https://a.example/",
        "author": ["Ada  Ellersund", "Bo\nHolm"],
    }
    (result,) = parse_results([item], "stub", author="author")

    assert (result.title, result.author) == ("Tide tables", "Ada Ellersund, Bo Holm")


def test_lone_surrogates_are_removed():
    (result,) = parse_results(
        [{"title": "ke\ud800lp", "url": "https://a.example/", "snippet": "\udfff"}],
        "stub",
    )

    assert (result.title, result.snippet) == ("kelp", "")


def test_invisible_characters_are_removed_from_the_page_of_any_reader():
    page = enforce_page(
        Page(
            url="https://a.example/",
            title="Ke\u200blp",
            content="Brown\U000e0041\u202e algae",
        )
    )

    assert (page.title, page.content) == ("Kelp", "Brown algae")
    assert page.notes == ("2 invisible characters removed",)


def test_authors_are_one_name_or_several():
    def author(value):
        return parse_results([{"url": "https://a.example/", "author": value}], "stub")[
            0
        ].author

    assert author("A. Reed") == "A. Reed"
    assert (
        author(["A. Reed", {"name": "B. <b>Sole</b>"}, {"id": 3}, None])
        == "A. Reed, B. Sole"
    )
    assert [author(value) for value in ("", None, 7, {}, [])] == [None] * 5


def test_text_of_the_page_is_taken_only_where_the_provider_says():
    item = {"url": "https://a.example/", "content": "a snippet", "text": "# Kelp"}

    assert parse_results([item], "stub")[0].content is None
    assert parse_results([item], "stub", content="text")[0].content == "# Kelp"


def test_images_are_urls_or_objects():
    items = [
        "https://a.example/1.png",
        {"url": "https://a.example/2.png", "description": "a <b>pier</b>", "page_url": "https://a.example/"},
        {"url": "data:image/png;base64,AAAA"}, {"url": None}, 3, "https://a.example/1.png",
        {"url": "https://a.example/3.png", "page_url": "javascript:alert(1)"},
    ]  # fmt: skip

    assert parse_images(items) == (
        Image(url="https://a.example/1.png"),
        Image(
            url="https://a.example/2.png",
            description="a pier",
            page_url="https://a.example/",
        ),
        Image(url="https://a.example/3.png"),
    )
    assert parse_images(None) == ()
    assert parse_images([{"src": "https://a.example/4.png"}], url="src") == (
        Image(url="https://a.example/4.png"),
    )


@pytest.mark.parametrize(
    "body",
    [{"error": "The index is away"}, {"message": "Forbidden", "request": {"id": "1"}}],
)
def test_an_error_in_place_of_the_results_is_no_empty_answer(body):
    with pytest.raises(BadResponse):
        take_results(body, "stub")
    with pytest.raises(BadResponse):
        parse_search(Stub(), SearchQuery.of("kelp"), body, body.get("hits"))


def test_a_url_that_a_service_has_written_for_html_or_for_people_is_one_that_can_be_opened():
    (result,) = parse_results(
        [{"url": "https://a.example/tide tables?a=1&amp;b=2&copy=3"}], "stub"
    )

    assert result.url == "https://a.example/tide%20tables?a=1&b=2&copy=3"


def test_urls_without_a_scheme_are_https():
    (result,) = parse_results([{"title": "t", "url": " //a.example/b "}], "stub")
    (image,) = parse_images(["//a.example/c.png"])

    assert (result.url, image.url) == ("https://a.example/b", "https://a.example/c.png")


def test_a_value_is_found_by_a_path_or_the_first_of_several():
    items = [
        {"page": {"url": "https://a.example/", "name": "Kelp"}, "points": 0},
        {
            "link": ["https://b.example/", "https://c.example/"],
            "heading": ["", "Wrack"],
            "page": "x",
        },
    ]
    kelp, wrack = parse_results(
        items,
        "sea",
        title=("heading", "page.name"),
        url=("link", "page.url"),
        score="points",
        author="page.name",
    )

    assert (kelp.title, kelp.url, kelp.score, kelp.author) == (
        "Kelp",
        "https://a.example/",
        0,
        "Kelp",
    )
    assert (wrack.title, wrack.url, wrack.author) == (
        "https://b.example/",
        "https://b.example/",
        None,
    )


def test_the_words_of_a_service_for_a_date_are_kept_with_the_day_that_they_mean():
    items = [
        {"title": "Kelp", "url": "https://sea.example/", "date": date}
        for date in ("3 days ago", "vor 3 Tagen", 0)
    ]
    with stop_clock(datetime(2026, 5, 4, 9, tzinfo=UTC)):
        one, other, none = parse_results(items, "sea", published="date")

    assert (one.published_text, one.published) == (
        "3 days ago",
        datetime(2026, 5, 1, tzinfo=UTC),
    )
    assert (other.published_text, other.published) == ("vor 3 Tagen", None)
    assert (none.published_text, none.published) == ("", None)


class Stub:
    name = "stub"


def test_a_response_is_made_of_an_answer():
    body = {
        "web": {
            "hits": [
                {"title": "Kelp", "url": "https://sea.example/kelp", "text": "An alga."}
            ]
        }
    }

    found = parse_search(
        Stub(),
        SearchQuery.of("kelp"),
        body,
        path="web.hits",
        snippet="text",
        answer="An alga",
    )

    assert (found.query, found.provider, found.raw, found.answer, found.notes) == (
        "kelp",
        "stub",
        body,
        "An alga",
        (),
    )
    assert [(one.title, one.snippet) for one in found.results] == [("Kelp", "An alga.")]


def test_an_answer_without_a_list_is_empty_and_has_a_note_before_those_of_the_provider():
    found = parse_search(Stub(), SearchQuery.of("kelp"), {}, notes=("stub is slow",))

    assert (found.results, found.notes) == (
        (),
        ("stub's answer held no list of results", "stub is slow"),
    )
    assert (
        parse_search(Stub(), SearchQuery.of("kelp"), {}, None).notes == found.notes[:1]
    )


@pytest.mark.parametrize("items", ["results", {}, 3])
def test_what_is_given_as_the_list_has_to_be_one(items):
    with pytest.raises(BadResponse, match="unexpected format"):
        parse_search(Stub(), SearchQuery.of("kelp"), {"results": []}, items)
