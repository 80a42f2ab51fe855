"""The facts of the benchmark, and how it judges."""

from __future__ import annotations
import hashlib

import pytest

from benchmarks.facts.__main__ import (
    FACTS,
    Fact,
    describe,
    interval,
    is_alive,
    load_facts,
    measure,
)
from benchmarks.reading.candidates import OURS
from websearch_core.models import Page, PageData
from websearch_core.reading import Excerpt

FROZEN = "55ff55ef403893006299376806df1252cd6fb24a0429c58460ecc00a71e8a869"


def test_the_questions_are_those_that_were_frozen_before_a_reader_ran():
    assert hashlib.sha256(FACTS.read_bytes()).hexdigest() == FROZEN


def test_there_are_enough_facts_of_many_kinds_and_a_fifth_of_them_are_prices():
    facts = load_facts()

    assert len(facts) >= 200
    assert len(facts) == len(set(facts))
    assert len({fact.kind for fact in facts}) >= 15
    assert sum(fact.kind == "price" for fact in facts) >= len(facts) // 5
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
        ("a b", "[a](https://x.example/) b", True),
        ("a b", "[a](https://x.example/) c", False),
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


def test_without_a_query_the_beginning_of_the_page_counts():
    fact = Fact("wcxb/1", "price", "How much is the lamp?", "$5")
    content = f"{'kelp ' * 100}\n\nA lamp is $5"

    def read(_: str) -> Page:
        return Page(url="", content=content)

    assert measure([fact], read, Excerpt(max_length=900)) == [True]
    assert measure([fact], read, Excerpt(max_length=400)) == [False]


def test_the_interval_is_wilsons():
    low, high = interval(17, 20)

    assert (round(low, 3), round(high, 3)) == (0.64, 0.948)


@pytest.mark.parametrize(
    ("kind", "answer", "alive"),
    [
        ("price", "$48.99", True),
        ("price", "48,99 $", True),
        ("price", "48,99 €", False),
        ("price", "$48.00", False),
        ("spec", "48.99", True),
        ("spec", "$48.99", False),
        ("phone", "555-010-9999", True),
    ],
)
def test_what_the_tool_shows_beside_the_content_counts(kind, answer, alive):
    fact = Fact("wcxb/1", kind, "What is it?", answer)
    data = PageData(
        kind="product",
        name="Ember",
        price="48.99",
        currency="USD",
    )
    rest = "Call 555-010-9999"
    page = Page(url="", content="A lamp.", rest=rest, data=data)

    assert measure([fact], lambda _: page, Excerpt(max_length=15_000)) == [alive]
