"""Budgets in tokens: the estimate, and parts of pages that respect a budget with any
counter.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from websearch_core.errors import InvalidOption
from websearch_core.models import Page
from websearch_core.reading import Excerpt
from websearch_core.tokens import estimate_tokens

TEXT = "\n\n".join(
    f"## Part {n}\n\nThe grace period of part {n} is {n} days. {'Filler words. ' * 40}"
    for n in range(60)
)


def whole(text: str) -> Page:
    return Page(
        url="https://example.org/",
        content=text,
        content_length=len(text),
        original_length=len(text),
    )


COUNTERS = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "bytes": lambda text: len(text.encode()),
    "a third": lambda text: -(-len(text) // 3),
    "lines": lambda text: text.count("\n") + 1,
    "the estimate": estimate_tokens,
    "uneven": lambda text: sum(5 if character in "aeiou" else 1 for character in text),
}
WAYS = [{}, {"query": "grace period"}, {"find": "grace period"}]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["Kelp. ", "grace period. ", "\n\n", "# A\n\n", "字", "```\nx\n```\n\n"]
        ),
        max_size=80,
    ).map("".join),
    st.integers(10, 400),
    st.sampled_from(list(COUNTERS.values())),
    st.sampled_from(WAYS),
)
def test_a_budget_of_tokens_holds_with_any_counter(text, max_tokens, count, way):
    part = Excerpt(max_tokens=max_tokens, count=count, **way).of(whole(text))

    assert count(part.content) <= max_tokens
    assert part.content_length == len(part.content)


@pytest.mark.parametrize("count", COUNTERS.values(), ids=COUNTERS)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_budget_is_used_up_with_few_calls_of_the_counter(count, way):
    calls = []

    def counter(text):
        calls.append(len(text))
        return count(text)

    budget = count(TEXT) // 4
    part = Excerpt(max_tokens=budget, count=counter, **way).of(whole(TEXT))

    assert budget * 0.6 <= count(part.content) <= budget or part.next_offset is None
    assert len(calls) <= 10


@settings(max_examples=50, deadline=None)
@given(
    st.text(max_size=300),
    st.integers(1, 40),
    st.sampled_from(["characters", "words", "a third"]),
)
def test_windows_of_tokens_join_to_the_text(text, max_tokens, counter):
    page, joined, offset = whole(text), "", 0
    while True:
        part = Excerpt(
            max_tokens=max_tokens, offset=offset, count=COUNTERS[counter]
        ).of(page)
        joined += part.content
        if part.next_offset is None:
            break
        assert part.next_offset > offset
        offset = part.next_offset
    assert text == joined


def test_both_budgets_hold_together():
    page = whole(TEXT)

    assert (
        len(Excerpt(max_tokens=10_000, max_length=500, count=len).of(page).content)
        <= 500
    )
    assert (
        len(Excerpt(max_tokens=500, max_length=10_000, count=len).of(page).content)
        <= 500
    )


def test_a_budget_without_room_for_a_character_is_refused():
    with pytest.raises(InvalidOption, match="is too small"):
        Excerpt(max_tokens=2, count=lambda text: 3 * len(text)).of(whole("字"))


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 0},
        {"max_length": 0},
        {"offset": -1},
        {"query": "kelp", "find": "kelp"},
    ],
    ids=str,
)
def test_invalid_options_are_refused_at_once(options):
    with pytest.raises(InvalidOption):
        Excerpt(**options)


@pytest.mark.parametrize(
    "options", [{}, {"query": ""}, {"find": " "}, {"query": " ", "find": ""}], ids=str
)
def test_an_empty_query_or_phrase_counts_as_none(options):
    part = Excerpt(max_length=100, **options)

    assert part.is_cheap(whole(TEXT))
    assert part.of(whole(TEXT)) == Excerpt(max_length=100).of(whole(TEXT))


# Counted with tiktoken's cl100k_base and o200k_base, the tokenizers of OpenAI.
@pytest.mark.parametrize(
    ("text", "cl100k", "o200k"),
    [
        (
            "The quick brown fox jumps over the lazy dog, and nobody knows why it does so.",
            18,
            18,
        ),
        (
            "Die Geschwindigkeitsbegrenzung auf Autobahnen ist seit Jahrzehnten umstritten.",
            24,
            19,
        ),
        ("快速的棕色狐狸跳过了懒狗，没有人知道它为什么这样做。", 39, 20),
        ("Быстрая коричневая лиса прыгает через ленивую собаку.", 28, 20),
        ("الثعلب البني السريع يقفز فوق الكلب الكسول.", 30, 16),
        ("def estimated(text: str) -> int:\n    return len(text) // 4\n", 18, 18),
        ("| name | 2026-11-21 | [link](https://example.org/a/b?c=d) |", 25, 25),
    ],
)
def test_the_estimate_is_near_and_rarely_too_low(text, cl100k, o200k):
    assert (
        0.85 * max(cl100k, o200k) <= estimate_tokens(text) <= 2.2 * max(cl100k, o200k)
    )


def test_empty_text_has_no_tokens():
    assert estimate_tokens("") == 0
