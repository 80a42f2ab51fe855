"""The facts of the benchmark, and how it judges."""

from __future__ import annotations

import pytest

from benchmarks.facts.__main__ import (
    Fact,
    describe,
    interval,
    is_alive,
    load_facts,
    measure,
)
from benchmarks.reading.candidates import OURS
from websearch_core.models import Page


def test_there_are_enough_facts_and_a_third_of_them_are_prices():
    facts = load_facts()

    assert len(facts) >= 150
    assert len(facts) == len(set(facts))
    assert sum(fact.kind == "price" for fact in facts) >= len(facts) // 3
    assert 0.4 < sum(fact.is_aside for fact in facts) / len(facts) < 0.6
    assert [
        fact for fact in facts if not (fact.page and fact.question and fact.answer)
    ] == []


@pytest.mark.parametrize(
    ("answer", "text", "alive"),
    [
        ("$29", "From **$29** only", True),
        ("$29", "From $29.99", False),
        ("9", "It is 19", False),
        ("List<int>", "`List&lt;int>`", True),
        ("a b", "[a](https://x.example/) b", False),
        ("Ada Holm", "by [Ada\nHolm](https://x.example/)", True),
    ],
)
def test_a_fact_is_alive_if_the_answer_is_there_as_it_is(answer, text, alive):
    assert is_alive(answer, text) is alive


def test_the_section_counts_by_half_and_by_kind():
    facts = [
        Fact(
            f"wcxb/{n}",
            "price" if n % 3 else "table",
            "How much is the lamp?",
            f"${n}.50",
        )
        for n in range(1, 21)
    ]
    alive = {
        OURS.name: measure(
            facts, lambda name: Page(url="", content=f"A lamp is ${name[5:]}.50")
        )
    }
    section = str(describe(facts, alive))

    assert "**met**" in section
    assert "| price | 14 of 14 |" in section


def test_the_interval_is_wilsons():
    low, high = interval(17, 20)

    assert (round(low, 3), round(high, 3)) == (0.64, 0.948)
