"""Results in a better order than that of the provider."""

from __future__ import annotations
import asyncio
import copy
import pickle
import threading
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from tests.waiting import longer_until
from websearch_core import Timeout, WebSearch
from websearch_core.errors import ConfigurationError, RateLimited, TimedOut
from websearch_core.layers import Fuse, Rerank
from websearch_core.models import Page, SearchResponse, SearchResult
from websearch_core.settings import Settings


@dataclass
class Finder:
    """A provider that finds the same texts each time, and remembers what it was
    asked.
    """

    texts: tuple
    name: str = "finder"
    options: frozenset = frozenset({"page", "blocked_domains"})
    asked: list = field(default_factory=list)

    def search(self, query):
        self.asked.append(query)
        results = tuple(
            SearchResult(
                title=text, url=f"https://{self.name}-{n}.example/", provider=self.name
            )
            for n, text in enumerate(self.texts)
        )
        return SearchResponse(
            query=query.text, provider=self.name, results=results[: query.limit]
        )
        yield

    def read(self, url):
        return Page(url=url, final_url=url, content="as it is")
        yield


def by_length(query, texts):
    return [len(text) for text in texts]


async def by_length_later(query, texts):
    await asyncio.sleep(0)
    return by_length(query, texts)


class Model:
    """An object that scores when it is called, as those of libraries do."""

    async def __call__(self, query, texts):
        return by_length(query, texts)


def titles(response):
    return [result.title for result in response.results]


def reranked(texts, score, **options):
    return WebSearch(Finder(tuple(texts)), layers=[Rerank(score, **options)])


@pytest.mark.parametrize("score", [by_length, by_length_later, Model()])
def test_a_function_of_yours_decides_the_order(score):
    web = reranked(["a", "bbb", "cc"], score=score)
    response = web.search("kelp")

    assert (
        titles(response)
        == titles(asyncio.run(web.asearch("kelp")))
        == ["bbb", "cc", "a"]
    )
    assert (
        [one.rank for one in response.results]
        == [one.citation_id for one in response.results]
        == [1, 2, 3]
    )
    # of title, line break and snippet
    assert [one.score for one in response.results] == [4, 3, 2]


def test_a_function_gets_the_query_and_a_text_for_each_result():
    seen = []

    def score(query, texts):
        seen.append((query, texts))
        return [0, 0]

    reranked(["Kelp", "Dulse"], score=score).search("algae")
    assert seen == [("algae", ["Kelp\n", "Dulse\n"])]


def test_more_is_asked_for_than_wanted_and_the_best_are_returned():
    finder = Finder(tuple("x" * n for n in range(1, 31)))
    web = WebSearch(finder, layers=[Rerank(score=by_length)])

    assert [len(title) for title in titles(web.search("kelp", limit=3))] == [20, 19, 18]
    assert [len(title) for title in titles(web.search("kelp", limit=3, page=2))] == [
        17,
        16,
        15,
    ]
    assert {(query.limit, query.page) for query in finder.asked} == {(20, 1)}


def test_pages_beyond_the_depth_are_ordered_by_themselves():
    finder = Finder(tuple("x" * n for n in range(1, 31)))
    web = WebSearch(finder, layers=[Rerank(score=by_length)])

    assert [
        len(title) for title in titles(web.search("kelp", limit=10, page=3))
    ] == list(range(30, 20, -1))
    assert [(query.limit, query.page) for query in finder.asked] == [(40, 1)]


@pytest.mark.parametrize(
    ("weight", "order"),
    [
        (0, ["a", "bb", "ccc", "dddd"]),
        (0.5, ["a", "dddd", "bb", "ccc"]),
        (1, ["dddd", "ccc", "bb", "a"]),
    ],
)
def test_the_weight_says_how_much_the_new_order_counts(weight, order):
    texts = ["a", "bb", "ccc", "dddd"]
    assert titles(reranked(texts, by_length, weight=weight).search("kelp")) == order


@pytest.mark.parametrize("weight", [0, 0.25, 1])
def test_equal_scores_leave_the_order_as_it_is(weight):
    texts = ["Sea urchins", "Tides", "Ships"]
    web = reranked(texts, lambda _, texts: [0] * len(texts), weight=weight)
    assert titles(web.search("kelp")) == texts


def broken(query, texts):
    raise KeyError("score of " + query)


@pytest.mark.parametrize(
    "score",
    [
        broken, lambda query, texts: [1], lambda query, texts: None, lambda query, texts: [float("nan")] * len(texts),
        lambda query, texts: ["high", "low"],
    ],
)  # fmt: skip
def test_a_function_that_fails_leaves_the_order_as_it_is_and_says_so(score):
    response = reranked(["Kelp", "Dulse"], score=score).search("kelp")

    assert titles(response) == ["Kelp", "Dulse"]
    assert response.notes == (
        "reranking failed (bad_response): the results are in their original order",
    )


def test_a_service_that_fails_keeps_its_error_in_the_note():
    def score(query, texts):
        raise RateLimited("slow down")

    assert reranked(["Kelp"], score=score).search("kelp").notes == (
        "reranking failed (rate_limited): the results are in their original order",
    )


@pytest.mark.parametrize("blocking", [True, False])
def test_a_function_that_takes_too_long_leaves_the_order_as_it_is(blocking):
    scoring, late = threading.Event(), threading.Event()

    def score(query, texts):
        scoring.set()
        late.wait(60)

    for seconds in longer_until(scoring.is_set, 0.25):
        web = WebSearch(
            Finder(("a", "bb")),
            layers=[Rerank(score=score)],
            timeout=Timeout(search=seconds),
        )
        with suppress(TimedOut):  # before anything was found
            response = (
                web.search("kelp") if blocking else asyncio.run(web.asearch("kelp"))
            )
    late.set()

    assert titles(response) == ["a", "bb"]
    assert response.notes == (
        "reranking failed (timed_out): the results are in their original order",
    )


def test_nothing_is_scored_if_nothing_was_found():
    assert reranked([], score=broken).search("kelp").notes == ()


def test_the_domain_filter_holds_and_counts():
    response = reranked(["a", "bb", "ccc"], score=by_length).search(
        "kelp", blocked_domains=["finder-2.example"], limit=1
    )

    assert titles(response) == ["bb"]
    assert response.notes == ("1 result outside the domain filter left out",)


def test_it_orders_what_was_fused_from_several_providers():
    finders = [Finder(("a", "bbbb"), name="one"), Finder(("ccc", "dd"), name="two")]
    response = WebSearch(
        finders, combine=Fuse(), layers=[Rerank(score=by_length)]
    ).search("kelp")

    assert titles(response) == ["bbbb", "ccc", "dd", "a"]
    assert response.results[0].found_by == (("one", 2),)


def test_reading_is_not_affected():
    assert (
        reranked(["a"], score=broken).read("https://93.184.215.14/").content
        == "as it is"
    )


def test_a_settings_file_cannot_have_the_function():
    settings = Settings.from_mapping({"layers": {"rerank": {"weight": 1}}})
    with pytest.raises(ConfigurationError, match="unknown layer 'rerank'"):
        WebSearch(Finder(("Ships",)), settings=settings)


def test_copies_share_a_model_and_a_function_can_be_pickled():
    model = Model()
    assert copy.deepcopy(Rerank(model)).score is model
    assert pickle.loads(pickle.dumps(Rerank(by_length))) == Rerank(by_length)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("score", "bm25"),
        ("score", None),
        ("weight", -0.1),
        ("weight", 1.5),
        ("weight", "1"),
        ("depth", 0),
    ],
)
def test_values_that_make_no_sense_are_refused(field, value):
    with pytest.raises(ConfigurationError, match=f"Rerank: {field}"):
        Rerank(**{"score": by_length} | {field: value})
