"""The provider ``local``: every option, and that it is a provider like the others."""

from __future__ import annotations
import copy
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, PageNotFound, UnsupportedOption
from websearch_core.flow import Call
from websearch_core.layers import leaves
from websearch_core.models import Page, SearchQuery
from websearch_core.providers.local import Local
from websearch_core.testing import play

NOW = datetime.now(UTC)


@pytest.fixture
def local(tmp_path):
    return Local(path=tmp_path / "index.db")


def add(local, url, content="kelp", **facts):
    local.index.add(
        Page(url=url, final_url=url, content=content, **{"title": url, **facts})
    )


def search(local, text, **options):
    return play(local.search(SearchQuery(text=text, **options))).result


def urls(local, text, **options):
    return [result.url for result in search(local, text, **options).results]


def test_a_result_has_the_metadata_of_the_page(local):
    published = datetime(2026, 5, 4, tzinfo=UTC)
    add(
        local,
        "https://sea.example/kelp",
        "**Kelp** is a brown alga.",
        title="Kelp",
        published=published,
    )

    (result,) = search(local, "brown").results

    assert (result.title, result.url, result.snippet) == (
        "Kelp",
        "https://sea.example/kelp",
        "Kelp is a brown alga.",
    )
    assert (result.published, result.provider) == (published, "local")
    assert result.score > 0


def test_better_matches_have_higher_scores_and_the_title_weighs_more(local):
    add(local, "https://sea.example/1", "of kelp and much more " * 3, title="Seaweed")
    add(local, "https://sea.example/2", "of seaweed and much more " * 3, title="Kelp")
    add(local, "https://sea.example/3", "of nothing", title="Nothing")

    first, second = search(local, "kelp").results

    assert (first.url, second.url) == ("https://sea.example/2", "https://sea.example/1")
    assert first.score > second.score


def test_pages_with_all_the_words_come_before_those_with_some(local):
    add(local, "https://sea.example/some", "kelp " * 20, title="kelp kelp")
    add(
        local,
        "https://sea.example/all",
        "kelp and, far from it, after " + "many other words " * 50 + "dulse",
    )

    assert urls(local, "kelp dulse") == [
        "https://sea.example/all",
        "https://sea.example/some",
    ]
    assert urls(local, "kelp dulse", limit=1) == ["https://sea.example/all"]


def test_pages_of_results_have_no_gap_or_repetition(local):
    for n in range(7):
        add(local, f"https://sea.example/{n}", "kelp dulse" if n < 4 else "kelp")
    together = urls(local, "kelp dulse", limit=7)

    pages = [urls(local, "kelp dulse", limit=3, page=number) for number in (1, 2, 3, 4)]

    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert [url for page in pages for url in page] == together


def test_finding_nothing_is_an_empty_response(local):
    add(local, "https://sea.example/1")

    assert search(local, "zeppelin").results == ()
    assert search(local, "?!").notes == ("the query has no words to search for",)


def test_domains_are_allowed_and_blocked_with_their_subdomains(local):
    for url in (
        "https://sea.example/",
        "https://www.sea.example/",
        "https://a.sea.example/",
        "https://overseas.example/",
    ):
        add(local, url)
    add(local, "file:///home/kelp.md")

    assert set(urls(local, "kelp", allowed_domains=["sea.example"])) == {
        "https://sea.example/",
        "https://www.sea.example/",
        "https://a.sea.example/",
    }
    assert set(urls(local, "kelp", blocked_domains=["sea.example"])) == {
        "https://overseas.example/",
        "file:///home/kelp.md",
    }
    assert urls(
        local,
        "kelp",
        allowed_domains=["sea.example"],
        blocked_domains=["a.sea.example"],
        limit=1,
    )


def test_the_filter_is_applied_before_the_limit(local):
    for n in range(20):
        add(local, f"https://other.example/{n}", "kelp kelp kelp")
    add(local, "https://sea.example/", "one kelp among " + "others " * 50)

    assert urls(local, "kelp", allowed_domains=["sea.example"], limit=1) == [
        "https://sea.example/"
    ]


def test_after_and_before_are_inclusive_days_in_utc(local):
    for name, moment in {
        "before": datetime(2026, 5, 3, 23, 59, 59, tzinfo=UTC),
        "first": datetime(2026, 5, 4, tzinfo=UTC),
        "last": datetime(2026, 5, 5, 23, 59, 59, tzinfo=UTC),
        "after": datetime(2026, 5, 5, 23, 59, 59, tzinfo=timezone(timedelta(hours=-1))),
    }.items():
        add(local, f"https://sea.example/{name}", published=moment)

    found = urls(local, "kelp", after=date(2026, 5, 4), before=date(2026, 5, 5))

    assert found == ["https://sea.example/first", "https://sea.example/last"]
    assert len(urls(local, "kelp", after=date(2026, 5, 4))) == 3
    assert len(urls(local, "kelp", before=date(2026, 5, 4))) == 2


@pytest.mark.parametrize(
    ("time_range", "count"), [("day", 1), ("week", 2), ("month", 3), ("year", 4)]
)
def test_a_time_range_reaches_back_from_now(local, time_range, count):
    for days in (0.5, 6, 29, 364, 366):
        add(local, f"https://sea.example/{days}", published=NOW - timedelta(days=days))

    assert len(urls(local, "kelp", time_range=time_range)) == count


def test_pages_without_a_date_are_left_out_of_a_time_range_and_counted(local):
    add(local, "https://sea.example/dated", published=NOW)
    for n in range(2):
        add(local, f"https://sea.example/{n}")
    add(local, "https://sea.example/unrelated", "dulse")
    add(local, "https://other.example/")

    response = search(local, "kelp", time_range="week", allowed_domains=["sea.example"])

    assert [result.url for result in response.results] == ["https://sea.example/dated"]
    assert response.notes == ("left out 2 matching pages without a date",)
    assert search(local, "kelp").notes == ()


def test_a_language_includes_its_regions_and_not_the_other_way_round(local):
    for language in ("pt", "pt-BR", "PT-pt", "en", None):
        add(local, f"https://sea.example/{language}", language=language)

    assert len(urls(local, "kelp", language="pt")) == 3
    assert urls(local, "kelp", language="pt-br") == ["https://sea.example/pt-BR"]
    assert search(local, "kelp", language="pt").notes == (
        "left out 1 matching page without a language",
    )


@pytest.mark.parametrize(
    "options",
    [
        {"country": "US"},
        {"safe_search": "strict"},
        {"topic": "news"},
        {"extra": {"fuzzy": True}},
    ],
)
def test_options_that_an_index_cannot_support_are_refused(local, options):
    add(local, "https://sea.example/")

    with pytest.raises(UnsupportedOption) as caught:
        search(local, "kelp", **options)
    assert caught.value.options == tuple(options)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们在北京大学学习汉语。", "北京大学"),
        ("東京タワーは港区にあります。", "タワー"),
        ("吾輩は猫である。", "猫"),
        ("วันนี้อากาศดีมาก", "อากาศ"),
        ("서울은 대한민국의 수도이다.", "대한민국"),
        ("Die Überfahrt kostet nichts.", "ueberfahrt kosten überfahrt"),
    ],
)
def test_words_are_found_in_any_script(local, text, query):
    add(local, "https://sea.example/1", text)
    add(local, "https://sea.example/2", "The sea is wide.")

    assert urls(local, query) == ["https://sea.example/1"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    local = Local(path=tmp_path_factory.mktemp("index") / "index.db")
    add(local, "https://sea.example/kelp", "kelp title content AND OR NOT NEAR 東京")
    return local


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    st.text(min_size=1).filter(str.strip)
    | st.text(alphabet="\"'*^():{}+-. ANDORTNEkelp\x00東", min_size=1).filter(str.strip)
)
@example('"')
@example('kelp" OR "')
@example("NEAR(kelp, 5)")
@example("title:kelp")
@example("{title content} : kelp")
@example("^kelp")
@example("kelp*")
@example("kelp AND")
@example("-kelp")
@example("'; DROP TABLE pages; --")
@example("\x00")
@example("ﷺ")
@example("½ ﬁ ㌔")
def test_no_query_can_break_the_syntax_of_the_index(filled, text):
    response = search(filled, text)

    assert {result.url for result in response.results} <= {"https://sea.example/kelp"}
    assert filled.index.page("https://sea.example/kelp").content


def test_a_very_long_query_is_cut_with_a_note(local):
    add(local, "https://sea.example/1", "word63x")
    add(local, "https://sea.example/2", "word64x")

    response = search(local, " ".join(f"word{n}x" for n in range(5_000)))

    assert [result.url for result in response.results] == ["https://sea.example/1"]
    assert response.notes == ("only the first 64 words were looked for",)


def test_a_huge_limit_returns_everything(local):
    add(local, "https://sea.example/1")

    assert len(urls(local, "kelp", limit=10**30)) == 1
    assert urls(local, "kelp", page=10**30) == []


def test_an_indexed_page_is_read_from_the_index(local):
    add(local, "https://sea.example/kelp", "# Kelp", language="en")

    page = play(local.read("https://sea.example/kelp#top")).result

    assert (page.url, page.final_url) == (
        "https://sea.example/kelp#top",
        "https://sea.example/kelp",
    )
    assert (page.content, page.language, page.provider) == ("# Kelp", "en", "local")


def test_another_page_is_not_found(local):
    add(local, "https://sea.example/kelp")

    with pytest.raises(PageNotFound):
        play(local.read("https://sea.example/dulse"))


def test_the_file_is_only_touched_off_the_event_loop(local):
    add(local, "https://sea.example/kelp")

    for flow in (
        local.search(SearchQuery(text="kelp")),
        local.read("https://sea.example/kelp"),
    ):
        assert {Call} == {type(effect) for effect in play(flow).effects}


def test_a_missing_index_says_how_to_make_one(local):
    for flow in (
        local.search(SearchQuery(text="kelp")),
        local.read("https://sea.example/"),
    ):
        with pytest.raises(ConfigurationError, match="websearch index PATH_OR_URL"):
            play(flow)


def test_the_index_is_where_the_environment_says_or_in_the_data_folder_of_the_user(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Local().path == tmp_path / "websearch" / "index.db"

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("WEBSEARCH_INDEX", "~/mine.db")
    assert leaves(WebSearch("local").provider)[0].path == tmp_path / "mine.db"


def test_a_relative_path_does_not_change_with_the_working_directory(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    assert Local(path=Path("index.db")).path == tmp_path / "index.db"


def test_it_can_be_copied_and_pickled(local):
    add(local, "https://sea.example/kelp")

    for twin in (copy.deepcopy(local), pickle.loads(pickle.dumps(local))):
        assert urls(twin, "kelp") == ["https://sea.example/kelp"]


async def test_a_web_search_with_it_finds_and_reads_blocking_and_async(local):
    add(local, "file:///notes/kelp.md", "# Kelp\n\n" + "Brown algae. " * 50)
    web = WebSearch(local)

    blocking, waiting = web.search("algae"), await web.asearch("algae")

    assert blocking.results == waiting.results
    assert [(r.rank, r.citation_id, r.url) for r in blocking.results] == [
        (1, 1, "file:///notes/kelp.md")
    ]
    pages = (
        web.read("file:///notes/kelp.md", max_length=100),
        await web.aread("file:///notes/kelp.md", max_length=100),
    )
    # they differ in time
    one, other = (
        page.model_copy(update={"outcomes": (), "fetched_at": None}) for page in pages
    )
    assert one == other
    assert one.truncated
