"""Several providers at once, merged by reciprocal rank fusion."""

from __future__ import annotations
import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event

import pytest

from websearch_core import Timeout, WebSearch
from websearch_core.errors import (
    AllProvidersFailed,
    BudgetExceeded,
    ConfigurationError,
    InvalidOption,
    TimedOut,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.flow import Call
from websearch_core.layers import Fallback, Fuse, Relax, Retry
from websearch_core.models import Image, Page, SearchResponse, SearchResult
from websearch_core.providers.searxng import SearXNG
from websearch_core.providers.serpapi import SerpApi
from websearch_core.providers.serper import Serper
from websearch_core.settings import Settings

URL = "https://{}.example/"


@dataclass
class Finder:
    """A provider that finds the same pages each time, or fails; it remembers what it
    was asked.
    """

    name: str
    pages: tuple = ()
    fails: Exception | None = None
    released: Event | None = None  # it answers only then
    options: frozenset = frozenset()
    limits: dict = field(default_factory=dict)
    more: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def search(self, query):
        self.asked.append(query)
        if unknown := sorted(query.requested() - self.options):
            raise UnsupportedOption(
                f"{self.name} cannot", options=unknown, provider=self.name
            )
        if self.fails:
            raise self.fails
        if self.released:
            yield Call(self.released.wait, 5)
        results = [
            page if isinstance(page, SearchResult) else result(page)
            for page in self.pages
        ]
        named = tuple(one.model_copy(update={"provider": self.name}) for one in results)
        return SearchResponse(
            query=query.text, provider=self.name, results=named, **self.more
        )
        yield

    def read(self, url):
        return Page(url=url, final_url=url, content=f"read by {self.name}")
        yield


def result(page, **fields):
    return SearchResult(**{"title": page, "url": URL.format(page), **fields})


def urls(response):
    return [
        one.url.removeprefix("https://").removesuffix(".example/")
        for one in response.results
    ]


def fused(*finders, **arguments):
    return WebSearch(list(finders), combine="fuse", **arguments)


def test_a_page_that_several_providers_find_comes_first():
    response = fused(
        Finder("a", ("kelp", "dulse")), Finder("b", ("laver", "dulse"))
    ).search("algae")

    assert urls(response) == ["dulse", "kelp", "laver"]
    assert response.results[0].found_by == (("a", 2), ("b", 2))
    assert response.results[0].score == pytest.approx(2 / 12)
    assert (
        [one.rank for one in response.results]
        == [one.citation_id for one in response.results]
        == [1, 2, 3]
    )
    assert response.provider == "a+b"


async def test_async_calls_are_merged_too():
    response = await fused(
        Finder("a", ("kelp", "dulse")), Finder("b", ("laver", "dulse"))
    ).asearch("algae")
    assert urls(response) == ["dulse", "kelp", "laver"]


def test_equal_scores_are_in_the_order_in_which_the_providers_are_named():
    first, second = Finder("a", ("kelp", "dulse")), Finder("b", ("laver", "nori"))

    assert urls(fused(first, second).search("algae")) == [
        "kelp",
        "laver",
        "dulse",
        "nori",
    ]
    assert urls(fused(second, first).search("algae")) == [
        "laver",
        "kelp",
        "nori",
        "dulse",
    ]


def test_spellings_of_one_address_are_one_result_under_the_plainest_of_them():
    pages = (
        "http://www.sea.example/kelp/?utm_source=mail&depth=3", "https://sea.example/kelp?depth=3#holdfast",
        "https://sea.example/kelp?depth=3",
    )  # fmt: skip
    finders = [
        Finder(name, (SearchResult(title="Kelp", url=url),))
        for name, url in zip("abc", pages, strict=True)
    ]
    response = fused(*finders).search("kelp")

    assert [(one.url, one.found_by) for one in response.results] == [
        (pages[2], (("a", 1), ("b", 1), ("c", 1)))
    ]


def test_a_provider_that_lists_a_page_twice_votes_once():
    twice = (
        SearchResult(title="Kelp", url="https://sea.example/kelp"),
        result("dulse"),
    )
    again = SearchResult(title="Kelp", url="http://www.sea.example/kelp/")
    response = fused(Finder("a", (*twice, again)), Finder("b", ("laver",))).search(
        "kelp"
    )

    assert response.results[0].score == pytest.approx(1 / 11)
    assert response.results[0].found_by == (("a", 1),)


def test_each_field_is_the_best_that_any_provider_knows():
    dated = result(
        "kelp",
        published=datetime(2026, 5, 4, tzinfo=UTC),
        snippet="Brown",
        raw={"of": "a"},
    )
    timed = result(
        "kelp", title="Kelp forests", published=datetime(2026, 5, 4, 9, 30, tzinfo=UTC), snippet="Brown algae",
        author="A. Diver", content="# Kelp", score=0.7,
    )  # fmt: skip
    (merged,) = fused(
        Finder("a", (dated.model_copy(update={"title": dated.url}),)), Finder("b", (timed,))
    ).search("kelp").results  # fmt: skip

    assert (merged.title, merged.snippet, merged.author) == (
        "Kelp forests",
        "Brown algae",
        "A. Diver",
    )
    assert merged.published == timed.published
    assert merged.content == "# Kelp"
    assert (merged.provider, merged.raw) == ("a", {"of": "a"})


def test_the_rest_of_the_responses_is_merged():
    image = Image(url="https://sea.example/kelp.png")
    first = {"answer": "Yes", "suggestions": ("Dulse",), "usage": {"credits": 2}, "cost": 0.5, "raw": 1,
             "images": (image,), "notes": ("slow today",), "request_id": "x1"}  # fmt: skip
    second = {"answer": "No", "suggestions": ("dulse", "nori"), "usage": {"credits": 1}, "cost": 0.25, "raw": 2,
              "images": (image.model_copy(update={"description": "Kelp"}),), "notes": ("b is slow",),
              "request_id": "y2"}  # fmt: skip
    response = fused(
        Finder("a", ("kelp",), more=first), Finder("b", ("nori",), more=second)
    ).search("algae")

    assert response.answer == "Yes (a)\n\nNo (b)"
    assert response.suggestions == ("Dulse", "nori")
    assert response.usage == {"a.credits": 2, "b.credits": 1}
    assert response.cost == 0.75
    assert response.images == (Image(url=image.url, description="Kelp"),)
    assert response.notes == ("a: slow today", "b is slow")
    assert response.request_id == "a=x1, b=y2"
    assert response.raw == {"a": 1, "b": 2}


def test_a_failed_provider_is_left_out_with_a_note():
    response = fused(
        Finder("a", fails=Unavailable("down")), Finder("b", ("kelp",)), retry=1
    ).search("kelp")

    assert urls(response) == ["kelp"]
    assert response.notes == ("a failed (unavailable): left out",)
    assert response.provider == "b"


def test_a_bug_in_a_provider_leaves_out_that_provider(caplog):
    response = fused(
        Finder("a", fails=KeyError("results")), Finder("b", ("kelp",))
    ).search("kelp")

    assert response.notes == ("a failed (bad_response): left out",)
    assert "a search failed: unexpected KeyError" in caplog.text


@pytest.mark.parametrize("blocking", [True, False])
def test_a_slow_provider_is_not_waited_for_until_the_whole_time_is_over(blocking):
    released = Event()
    web = WebSearch([Finder("a", ("kelp",)), Finder("b", ("nori",), released=released)], combine=Fuse(wait_for_others=0.1), retry=Retry(attempts=1), timeout=Timeout(search=2))  # fmt: skip
    response = web.search("kelp") if blocking else asyncio.run(web.asearch("kelp"))
    released.set()

    assert urls(response) == ["kelp"]
    assert response.notes == ("b failed (timed_out): left out",)


def test_when_all_fail_every_cause_is_kept():
    with pytest.raises(AllProvidersFailed, match="a: down; b: late") as caught:
        fused(
            Finder("a", fails=Unavailable("down")),
            Finder("b", fails=TimedOut("late")),
            retry=1,
        ).search("kelp")
    assert [type(one) for one in caught.value.exceptions] == [Unavailable, TimedOut]


def test_a_provider_that_does_not_support_an_option_is_left_out_with_a_note():
    able = Finder("b", ("kelp",), options=frozenset({"time_range"}))
    response = fused(Finder("a", ("nori",)), able).search("kelp", time_range="week")

    assert urls(response) == ["kelp"]
    assert response.notes == ("a does not support time_range: left out",)


def test_an_option_that_no_provider_supports_is_an_error_or_ignored_by_all():
    finders = Finder("a", ("kelp",)), Finder("b", ("nori",))
    with pytest.raises(AllProvidersFailed):
        fused(*finders).search("algae", time_range="week")
    response = fused(*finders, layers=[Relax()]).search("algae", time_range="week")

    assert urls(response) == ["kelp", "nori"]
    assert response.notes == ("a does not support time_range: ignored",)


@pytest.mark.parametrize(
    "error", [ConfigurationError("no library"), InvalidOption("nonsense")]
)
def test_an_error_of_the_caller_is_raised(error):
    with pytest.raises(type(error), match=str(error)):
        fused(Finder("a", fails=error), Finder("b", ("kelp",))).search("kelp")


def test_a_used_up_budget_leaves_out_its_provider_and_ends_the_search_if_there_is_no_other():
    spent = Finder("a", fails=BudgetExceeded("spent"))

    assert fused(spent, Finder("b", ("kelp",))).search("kelp").notes == (
        "a failed (budget_exceeded): left out",
    )
    with pytest.raises(BudgetExceeded):
        fused(spent, Finder("b", fails=BudgetExceeded("spent"))).search("kelp")


def test_more_results_are_asked_for_than_wanted_but_no_more_than_one_request_returns():
    plain, small = Finder("a"), Finder("b", limits={"results_per_request": 10})
    fused(plain, small).search("kelp", limit=3)
    fused(plain, small).search("kelp", limit=15)
    fused(plain, small).search("kelp", limit=50)

    assert [query.limit for query in plain.asked] == [20, 20, 60]
    assert [query.limit for query in small.asked] == [10, 20, 50]


def test_the_domain_filter_and_the_limit_hold_after_the_merge():
    finders = [
        Finder(name, pages, options=frozenset({"blocked_domains"}))
        for name, pages in {
            "a": ("kelp", "spam", "dulse"),
            "b": ("spam", "nori", "laver"),
        }.items()
    ]
    response = fused(*finders).search(
        "algae", limit=3, blocked_domains=["spam.example"]
    )

    assert urls(response) == ["kelp", "nori", "dulse"]
    assert response.notes == ("1 result outside the domain filter left out",)


def test_pages_of_results_are_parts_of_the_merged_ranking_as_far_as_that_goes():
    first, second = (
        Finder("a", ("kelp", "dulse", "nori")),
        Finder("b", ("dulse", "laver")),
    )
    pages = [
        urls(fused(first, second).search("algae", limit=2, page=number))
        for number in (1, 2)
    ]

    assert pages == [["dulse", "kelp"], ["laver", "nori"]]
    assert {(query.page, query.limit) for query in first.asked} == {(1, 20)}


def test_beyond_the_merged_ranking_more_is_asked_for_and_merged_after_it():
    first, second = (
        Finder(name, tuple(f"{name}{n}" for n in range(30))) for name in "ab"
    )

    assert urls(fused(first, second).search("algae", limit=10, page=4)) == [
        f"{name}{n}" for n in range(15, 20) for name in "ab"
    ]
    assert urls(fused(first, second).search("algae", limit=10, page=6)) == [
        f"{name}{n}" for n in range(25, 30) for name in "ab"
    ]
    assert [(query.page, query.limit) for query in first.asked] == [(1, 40), (1, 60)]


def test_what_a_provider_finds_deeper_does_not_change_the_pages_before():
    first, second = (
        Finder("a", tuple(f"a{n}" for n in range(30))),
        Finder("b", (*(f"b{n}" for n in range(22)), "a29")),
    )
    pages = [
        urls(fused(first, second).search("algae", limit=10, page=number))
        for number in (1, 2, 3, 4, 5, 6)
    ]

    assert sorted(url for page in pages for url in page) == sorted(
        {*first.pages, *second.pages}
    )
    assert pages[4][0] == "a29"  # found by both, among the next twenty of each


def test_reading_falls_back():
    class Broken(Finder):
        def read(self, url):
            raise Unavailable("down")
            yield

    page = fused(Broken("a"), Finder("b"), retry=1).read("https://93.184.215.14/")

    assert page.content == "read by b"
    assert page.notes == ("a failed (unavailable); answered by b",)


def engines(*found):
    """Return what SearXNG finds: pages, each with the engines that found it."""
    results = tuple(
        result(page, provider="searxng", raw={"engines": list(names)})
        for page, names in found
    )

    class Server(SearXNG):
        def search(self, query, /):
            return SearchResponse(query=query.text, results=results, provider="searxng")
            yield

    return Server(base_url="https://searx.example")


def test_an_engine_that_is_asked_directly_and_by_a_metasearch_votes_once():
    searx = engines(("kelp", ["brave"]), ("nori", ["mojeek", "Google News"]))
    response = fused(Finder("brave", ("kelp", "nori")), searx).search("algae")
    scores = dict(
        zip(urls(response), [one.score for one in response.results], strict=True)
    )

    assert scores["kelp"] == pytest.approx(1 / 11)
    # Brave, Mojeek and Google
    assert scores["nori"] == pytest.approx(1 / 12 + 1 / 12 + 1 / 12)
    found_by = {one.url: one.found_by for one in response.results}
    assert found_by[URL.format("kelp")] == (("brave", 1), ("searxng", 1))


def test_services_that_sell_the_results_of_one_engine_have_one_vote():
    serper, serpapi = Serper(api_key="SECRET"), SerpApi(api_key="SECRET")
    kelp = result("kelp")
    assert serper.find_engines(kelp) == serpapi.find_engines(kelp) == ("google",)
    # from a cache, say: then SearXNG itself votes
    assert engines().find_engines(result("kelp", raw=None)) == ()


def test_settings_switch_fusion_on_and_an_argument_off_again():
    finders = [Finder("a", ("kelp",)), Finder("b", ("nori",))]
    on = Settings.from_mapping({"combine": "fuse"})

    assert WebSearch(finders, settings=on, layers=()).provider.inner.layer == Fuse()
    assert urls(WebSearch(finders, settings=on).search("algae")) == ["kelp", "nori"]
    assert urls(WebSearch(finders, settings=on, combine="first").search("algae")) == [
        "kelp"
    ]
    table = Settings.from_mapping({"combine": {"fuse": {"k": 60}}})
    assert WebSearch(finders, settings=table).search("algae").results[
        0
    ].score == pytest.approx(1 / 61)
    assert urls(
        WebSearch(finders, settings=table, combine="first").search("algae")
    ) == ["kelp"]


def test_one_provider_is_asked_as_usual():
    finder = Finder("a", ("kelp",))
    assert fused(finder).search("kelp").results[0].found_by == ()
    assert finder.asked[0].limit == 5


@pytest.mark.parametrize("layers", [None, [Fallback()], [Fuse(k=60)]])
def test_fuse_with_layers_that_leave_it_without_effect_is_refused(layers):
    with pytest.raises(
        ConfigurationError,
        match="combine: not with layers=None|layers: F.* does not belong here",
    ):
        WebSearch([Finder("a"), Finder("b")], combine="fuse", layers=layers)


def test_two_layers_of_the_settings_that_combine_are_refused():
    with pytest.raises(
        ConfigurationError, match=r"combine: must be one table, \[combine.fuse\] or"
    ):
        Settings.from_mapping({"combine": {"fuse": {}, "fallback": {}}})


def test_a_project_file_does_not_multiply_the_cost(tmp_path, monkeypatch):
    (tmp_path / "websearch.toml").write_text('combine = "fuse"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="combine: may not be set here"):
        WebSearch([Finder("a"), Finder("b")])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("k", -1),
        ("k", float("inf")),
        ("results_per_provider", 0),
        ("wait_for_others", 0),
        ("wait_for_others", 1.1),
    ],
)
def test_values_that_make_no_sense_are_refused(field, value):
    with pytest.raises(ConfigurationError, match=f"Fuse: {field}"):
        Fuse(**{field: value})


def test_an_empty_fuse_says_what_is_missing():
    with pytest.raises(ConfigurationError, match="Fuse has no provider inside"):
        Fuse()()
