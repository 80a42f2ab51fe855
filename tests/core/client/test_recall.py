"""A page is fetched once in a conversation, and a repeated search says so."""

from __future__ import annotations
import asyncio

import pytest

from websearch_core import Http, WebSearch
from websearch_core.errors import BudgetExceeded
from websearch_core.events import CacheHit
from websearch_core.layers import max_age
from websearch_core.models import SearchResponse
from websearch_core.provenance._memory import Memory
from websearch_core.testing import FakeWeb
from websearch_core.tools import Run, WebTools

KELP = "https://sea.example/kelp"
DULSE = "https://sea.example/dulse"
TEXT = "\n\n".join(
    f"Paragraph {n} about giant kelp and its holdfast." for n in range(200)
)
ONE, TWO = Run(conversation="1"), Run(conversation="2")
BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])


@pytest.fixture
def fake():
    results = [
        {"title": name, "url": f"https://sea.example/{name}"}
        for name in ("kelp", "dulse")
    ]
    return FakeWeb(results, pages={KELP: TEXT, DULSE: "Dulse is red."})


@pytest.fixture
def tools(fake):
    return WebTools(provider=fake, reader=fake)


async def search(tools, is_async, query, run=ONE, **more):
    arguments = {"query": query, **more}
    return (
        await tools.asearch(arguments, run)
        if is_async
        else tools.search(arguments, run)
    )


async def open_page(tools, is_async, url=KELP, run=ONE, **more):
    arguments = {"url": url, **more}
    return (
        await tools.aopen_page(arguments, run)
        if is_async
        else tools.open_page(arguments, run)
    )


@BOTH
async def test_three_parts_a_phrase_and_a_query_of_one_page_are_one_request(
    fake, tools, is_async
):
    first = await open_page(tools, is_async, max_length=500)
    second = await open_page(
        tools, is_async, max_length=500, offset=first.artifact["next_offset"]
    )
    await open_page(
        tools, is_async, max_length=500, offset=second.artifact["next_offset"]
    )
    found = await open_page(tools, is_async, find="Paragraph 150")
    answered = await open_page(
        tools, is_async, query="which paragraph 199 is about the holdfast?"
    )

    assert fake.urls == [KELP]
    assert second.documents[0].text != first.documents[0].text
    assert "Paragraph 150" in found.content
    assert "Paragraph 199" in answered.content


@BOTH
async def test_each_spelling_is_one_page_and_another_choice_of_its_parts_is_another(
    fake, is_async
):
    tools = WebTools(provider=fake, reader=fake, configurable=["read_options"])
    await open_page(tools, is_async)
    await open_page(tools, is_async, "https://SEA.example/x/../kelp#top")
    await open_page(tools, is_async, "[1]")
    assert len(fake.urls) == 1
    links = Run(conversation="1", options={"read_options": {"links": "drop"}})
    await open_page(tools, is_async, run=links)

    assert len(fake.urls) == 2


@BOTH
async def test_another_conversation_and_another_web_search_share_nothing(
    fake, is_async
):
    tools = WebTools(provider=fake, reader=fake, configurable=["timeout"])
    await open_page(tools, is_async)
    await open_page(tools, is_async, run=TWO)
    await open_page(tools, is_async, run=Run(conversation="1", options={"timeout": 9}))

    assert fake.urls == [KELP] * 3


@BOTH
async def test_outside_of_any_conversation_only_parts_belong_together(
    fake, tools, is_async
):
    for part in ({}, {"offset": 100}, {"find": "Paragraph 9"}, {}):
        await open_page(tools, is_async, run=Run(), **part)
    for _ in range(2):
        found = await search(tools, is_async, "kelp", Run())

    assert fake.urls == [KELP] * 2
    assert fake.queries == ["kelp"] * 2
    assert not found.artifact["notes"]


@BOTH
async def test_a_repeated_search_says_so_with_what_was_found(fake, tools, is_async):
    first = await search(tools, is_async, "giant  kelp")
    again = await search(tools, is_async, "giant kelp ")
    other = await search(tools, is_async, "giant kelp", limit=1)

    assert fake.queries == ["giant  kelp", "giant kelp"]
    assert [one["url"] for one in again.artifact["sources"]] == [
        one["url"] for one in first.artifact["sources"]
    ]
    assert "this conversation has searched for this before" in again.content
    assert not first.artifact["notes"]
    assert not other.artifact["notes"]


@BOTH
async def test_a_service_whose_terms_forbid_keeping_is_asked_again_and_the_note_says_that_too(
    fake, is_async
):
    fake.terms_forbid_recording = "its terms do not allow it"
    tools = WebTools(provider=fake, reader=fake)
    for _ in range(2):
        found = await search(tools, is_async, "kelp")
        await open_page(tools, is_async)

    assert fake.queries == ["kelp"] * 2
    assert fake.urls == [KELP] * 2
    assert any(
        "this conversation has searched for this before" in note
        for note in found.artifact["notes"]
    )


@BOTH
async def test_pages_that_a_search_reads_are_kept_and_used_too(fake, is_async):
    tools = WebTools(provider=fake, reader=fake, search_options={"read_top": 2})
    await open_page(tools, is_async)
    await search(tools, is_async, "kelp")
    await open_page(tools, is_async, DULSE)

    assert sorted(fake.urls) == [DULSE, KELP]


@BOTH
async def test_no_cache_asks_again_and_what_it_gets_is_kept(fake, tools, is_async):
    await open_page(tools, is_async)
    fake.pages[KELP] = "New text."
    with max_age(0):
        assert "New text." in (await open_page(tools, is_async)).content
    assert "New text." in (await open_page(tools, is_async)).content
    assert len(fake.urls) == 2


@BOTH
async def test_uses_count_calls_and_a_budget_what_was_sent(fake, is_async):
    tools = WebTools(provider=fake, reader=fake, max_uses=4, budget="1 call")
    run = Run(name="run", conversation="1")
    for _ in range(4):
        await search(tools, is_async, "kelp", run)

    assert fake.queries == ["kelp"]
    with pytest.raises(BudgetExceeded, match="all 4 calls"):
        await search(tools, is_async, "kelp", run)


async def test_hooks_hear_what_was_given_again(fake):
    heard = []
    tools = WebTools(provider=fake, reader=fake, on_event=heard.append)
    for _ in range(2):
        tools.open_page({"url": KELP}, ONE)

    assert [event.provider for event in heard if isinstance(event, CacheHit)] == [
        "fake"
    ]


async def test_ten_calls_for_parts_of_one_page_at_the_same_time_read_it_once(
    fake, tools
):
    await asyncio.gather(
        *(
            tools.aopen_page({"url": KELP, "find": f"Paragraph {n}"}, ONE)
            for n in range(10)
        )
    )

    assert fake.urls == [KELP]


def test_a_web_search_of_its_own_keeps_nothing(fake):
    web = WebSearch(fake, reader=fake, http=Http())
    for _ in range(2):
        web.read(KELP, offset=10)

    assert fake.urls == [KELP] * 2


def after_first_look(monkeypatch, meanwhile):
    """Call *meanwhile* once, after the memory was looked at for the first time."""
    find = Memory.find
    calls = [meanwhile]

    def look(memory, conversation, key):
        entry = find(memory, conversation, key)
        if calls:
            calls.pop()(memory, conversation, key)
        return entry

    monkeypatch.setattr(Memory, "find", look)


@BOTH
@pytest.mark.parametrize("part", [{}, {"offset": 100}], ids=["whole", "part"])
async def test_a_page_that_was_read_since_the_memory_was_looked_at_is_not_read_again(
    fake, tools, is_async, part, monkeypatch
):
    after_first_look(
        monkeypatch, lambda *_: tools.open_page({"url": KELP, **part}, ONE)
    )
    await open_page(tools, is_async, **part)

    assert fake.urls == [KELP]


async def test_an_answer_that_one_conversation_finds_late_is_given_to_no_other(
    fake, tools, monkeypatch
):
    """Both ask at the same time; the first finds an answer that only it was given."""
    own = SearchResponse(query="kelp", provider="fake", answer="Only for the first.")
    after_first_look(
        monkeypatch, lambda memory, first, key: memory.keep(first, key, own)
    )
    first, second = await asyncio.gather(
        tools.asearch({"query": "kelp"}, ONE), tools.asearch({"query": "kelp"}, TWO)
    )

    assert "Only for the first." in first.content
    assert "Only for the first." not in second.content
    assert fake.queries == ["kelp"]


@BOTH
async def test_a_repeated_search_has_the_words_that_it_was_asked_with(tools, is_async):
    await search(tools, is_async, "giant  kelp")
    again = await search(tools, is_async, "giant kelp")

    assert again.artifact["query"] == "giant kelp"


@BOTH
async def test_a_web_search_without_layers_keeps_its_answers_too(fake, is_async):
    tools = WebTools(provider=fake, reader=fake, layers=None)
    for _ in range(2):
        await open_page(tools, is_async)

    assert fake.urls == [KELP]
