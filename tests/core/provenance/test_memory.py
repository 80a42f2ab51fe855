"""What a conversation was given is kept for a while, and for nobody else."""

from __future__ import annotations
import pickle

import pytest

from websearch_core.models import Page, SearchResponse, SearchResult
from websearch_core.provenance import _memory
from websearch_core.provenance._memory import Memory, Recall


def page(length=10, name="kelp"):
    return Page(url=f"https://sea.example/{name}", content="x" * length)


@pytest.fixture
def clock(monkeypatch):
    """A clock that only a test moves."""
    now = [1_000.0]
    monkeypatch.setattr(_memory.time, "monotonic", lambda: now[0])
    return now


def test_what_was_kept_is_found_in_its_conversation_alone():
    memory = Memory()
    Recall(memory, "1").keep("kelp", page())

    assert Recall(memory, "1").find("kelp").answer == page()
    assert Recall(memory, "2").find("kelp") is None
    assert Recall(memory, "1").find("dulse") is None
    assert Recall(memory, "1", gives=False).find("kelp") is None


def test_it_is_kept_for_fifteen_minutes_and_then_takes_no_memory(clock):
    memory = Memory()
    Recall(memory, "1").keep("kelp", page())
    clock[0] += 899
    assert Recall(memory, "1").find("kelp").age == 899
    clock[0] += 1
    assert Recall(memory, "1").find("kelp") is None
    Recall(memory, "2").keep("dulse", page(length=1))

    assert [list(one) for one in memory._entries] == [[], ["dulse"]]
    assert memory._size < 2_000


def test_a_conversation_keeps_twenty_pages_and_as_many_searches():
    memory = Memory()
    for n in range(25):
        Recall(memory, "1").keep(("page", n), page())
        Recall(memory, "1").keep(
            ("search", n),
            SearchResponse(
                query=f"kelp {n}", results=(SearchResult(url="u", title=""),)
            ),
        )

    kept = [
        (kind, n)
        for kind in ("page", "search")
        for n in range(25)
        if Recall(memory, "1").find((kind, n))
    ]
    assert kept == [(kind, n) for kind in ("page", "search") for n in range(5, 25)]


def test_a_conversation_keeps_four_mebibytes_and_no_page_that_is_larger():
    memory = Memory()
    Recall(memory, "1").keep("too large", page(length=4 * 2**20))
    for n in range(5):
        Recall(memory, "1").keep(n, page(length=2**20))

    assert [n for n in ("too large", *range(5)) if Recall(memory, "1").find(n)] == [
        2,
        3,
        4,
    ]


def test_all_conversations_together_take_sixty_four_mebibytes_and_a_tenant_costs_another_none():
    memory = Memory()
    Recall(memory, ("ann", "1")).keep("kelp", page())
    for n in range(40):
        Recall(memory, ("eve", str(n))).keep("kelp", page(length=3 * 2**20))

    assert memory._size <= 64 * 2**20
    assert memory._size == sum(
        one.size for own in memory._entries for one in own.values()
    )
    assert Recall(memory, ("ann", "1")).find("kelp")
    assert [
        n for n in range(40) if Recall(memory, ("eve", str(n))).find("kelp")
    ] == list(range(19, 40))


def test_more_conversations_than_are_kept_leave_the_count_right():
    memory = Memory()
    for n in range(1_005):
        Recall(memory, str(n)).keep("kelp", page())

    assert memory._size == sum(
        one.size for own in memory._entries for one in own.values()
    )
    assert sum(1 for _ in memory._entries) == 1_000


def test_a_copy_starts_empty():
    memory = Memory()
    Recall(memory, "1").keep("kelp", page())

    assert Recall(pickle.loads(pickle.dumps(memory)), "1").find("kelp") is None
