"""What holds for every merge, whatever the providers found."""

from __future__ import annotations
import random

from hypothesis import given
from hypothesis import strategies as st

from websearch_core._text.urls import find_page
from websearch_core.layers._merge import Answer, merge_answers, merge_results
from websearch_core.models import SearchResponse, SearchResult

WORDS = ("kelp", "dulse", "nori", "laver", "sea lettuce")
URLS = [
    f"{scheme}://{www}sea.example/{word.replace(' ', '-')}{ending}"
    for word in WORDS
    for scheme in ("http", "https")
    for www in ("", "www.")
    for ending in ("", "/", "?utm_source=mail", "#leaf", "?n=1&gclid=x")
]
ENGINES = ("brave", "google", "mojeek")


@st.composite
def an_answer(draw):
    name = draw(st.sampled_from(["a", "b", "c", "d"]))
    results = tuple(
        SearchResult(
            title=draw(st.sampled_from(WORDS)),
            url=url,
            snippet=draw(st.sampled_from(WORDS)),
            provider=name,
        )
        for url in draw(st.lists(st.sampled_from(URLS), max_size=8, unique=True))
    )
    engines = [
        draw(st.lists(st.sampled_from(ENGINES), min_size=1, max_size=3))
        for _ in results
    ]
    return Answer(
        name, SearchResponse(query="algae", results=results, provider=name), engines
    )


answers = st.lists(an_answer(), min_size=1, max_size=5)
k = st.sampled_from([0, 1, 10, 60])


@given(answers, k, st.integers())
def test_every_merge(given_answers, k, seed):
    merged = merge_results(given_answers, k)
    shuffled = merge_results(
        random.Random(seed).sample(given_answers, len(given_answers)), k
    )

    the_order_of_the_providers_changes_no_score(merged, shuffled)
    no_page_occurs_twice_and_none_is_lost(merged, given_answers)
    every_result_comes_from_a_provider_at_the_rank_that_it_states(merged, given_answers)
    scores_decide_and_equal_ones_always_end_in_the_same_order(
        merged, merge_results(given_answers, k)
    )


def the_order_of_the_providers_changes_no_score(before, after):
    assert {find_page(one.url): one.score for one in before} == {
        find_page(one.url): one.score for one in after
    }
    assert [one.score for one in before] == [one.score for one in after]


def no_page_occurs_twice_and_none_is_lost(results, given_answers):
    pages = [find_page(one.url) for one in results]
    found = {
        find_page(one.url)
        for answer in given_answers
        for one in answer.response.results
    }

    assert len(pages) == len(set(pages))
    assert set(pages) == found


def every_result_comes_from_a_provider_at_the_rank_that_it_states(
    results, given_answers
):
    for merged in results:
        assert merged.found_by
        for name, rank in merged.found_by:
            assert any(
                answer.name == name
                and find_page(answer.response.results[rank - 1].url)
                == find_page(merged.url)
                for answer in given_answers
                if rank <= len(answer.response.results)
            )
        finds = [
            one for answer in given_answers for one in answer.response.results
            if find_page(one.url) == find_page(merged.url)
        ]  # fmt: skip
        assert merged.url in {one.url for one in finds}
        assert merged.snippet in {one.snippet for one in finds}
        assert len(merged.snippet) == max(len(one.snippet) for one in finds)


def scores_decide_and_equal_ones_always_end_in_the_same_order(results, again):
    best_ranks = [
        (-one.score, min(rank for _, rank in one.found_by)) for one in results
    ]

    assert best_ranks == sorted(best_ranks)
    assert results == again
    assert [one.rank for one in results] == list(range(1, len(results) + 1))


@given(an_answer())
def test_the_answer_of_one_provider_keeps_its_order(answer):
    every = [find_page(one.url) for one in answer.response.results]
    distinct = Answer(answer.name, answer.response, [["one engine"]] * len(every))

    merged = merge_answers([distinct], 10)
    assert [find_page(one.url) for one in merged.results] == list(dict.fromkeys(every))
    assert merged.provider == answer.name
