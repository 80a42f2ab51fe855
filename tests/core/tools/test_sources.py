"""What a model was shown of each source, after others have changed its messages."""

from __future__ import annotations
import json
import threading
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core import Page, SearchResponse, SearchResult
from websearch_core.citations import check_citations, merge_sources
from websearch_core.render import find_error_code
from websearch_core.testing import FakeWeb
from websearch_core.tools import (
    Run,
    WebTools,
    _sources,
    add_sources,
    collect_texts,
    current_record,
    find_numbers,
    list_sources,
    record_sources,
)
from websearch_core.tools._outputs import Output, page_output, search_output

FORMS = ["text", "markdown", "json", "search_result"]
NOTICE = "Note: a reviewer replaced the call, [1, 2] {\n{}\n"


def results(count, snippet=""):
    made = tuple(
        SearchResult(
            title=f"T{number}",
            url=f"https://a.example/{number}",
            snippet=snippet or f"Snippet {number} of x{number}@harbour.example.",
            citation_id=number,
        )
        for number in range(1, count + 1)
    )
    return SearchResponse(query="kelp", results=made, provider="brave")


def texts(content, artifact):
    return {one["id"]: one.get("text", "") for one in collect_texts(content, artifact)}


def prepend(content, words):
    """Put *words* before a content, as LangChain does for an edit of a reviewer."""
    if isinstance(content, str):
        return f"{words}\n\n{content}"
    return [{"type": "text", "text": words}, *content]


def replace(content, old, new):
    return json.loads(json.dumps(content).replace(old, new))


@pytest.mark.parametrize("form", FORMS)
def test_words_before_our_text_move_nothing(form):
    search = search_output(results(3), form)
    page = page_output(
        Page(url="https://a.example/", content="Ebb.", citation_id=4), form
    )

    for output in (search, page):
        before = texts(output.content, output.artifact)
        changed = prepend(output.content, NOTICE)
        assert all(before.values())
        assert texts(changed, output.artifact) == before


@pytest.mark.parametrize("form", FORMS)
def test_what_others_changed_is_nobodys_text(form):
    output = search_output(results(3), form)
    whole = texts(output.content, output.artifact)
    changed = texts(
        replace(output.content, "x2@harbour.example", "[REDACTED]"), output.artifact
    )

    assert changed[1] == whole[1]
    assert changed[2] == ""
    assert changed[3] in ("", whole[3])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("content", ["Result moved to /files/1.", "", None, [], [3]])
def test_a_result_that_was_moved_away_leaves_its_facts(form, content):
    output = search_output(results(2), form)
    sources = merge_sources(collect_texts(content, output.artifact))

    assert [source["url"] for source in sources] == [
        "https://a.example/1",
        "https://a.example/2",
    ]
    (check,) = check_citations("Snippet 1 of harbour [1].", sources)
    assert check.verdict == "unchecked"


@given(st.data(), st.sampled_from(FORMS))
def test_no_piece_of_another_source_ever_comes_out(data, form):
    output = search_output(results(4), form)
    whole = texts(output.content, output.artifact)
    dumped = json.dumps(output.content, ensure_ascii=False)
    start = data.draw(st.integers(0, len(dumped)))
    end = data.draw(st.integers(start, min(len(dumped), start + 60)))
    words = data.draw(st.sampled_from(["", "x", "1. T1 — ", "[REDACTED]", "\\n"]))
    try:
        content = json.loads(dumped[:start] + words + dumped[end:])
    except ValueError:
        return

    for number, text in texts(content, output.artifact).items():
        assert text in ("", whole[number])


@pytest.mark.parametrize("form", FORMS)
def test_what_an_mcp_client_of_langchain_keeps_is_read(form):
    output = search_output(results(2), form)
    content = output.content
    if isinstance(content, str):
        content = [
            {"type": "text", "text": content},
            {"type": "text", "text": "This is conversation 1."},
        ]
    artifact = {"structured_content": output.artifact}

    assert list_sources(artifact) == output.artifact["sources"]
    assert texts(content, artifact) == texts(output.content, output.artifact)


def test_the_code_of_an_error_is_read_from_its_message():
    from websearch_core.errors import RateLimited

    output = Output.of_error(RateLimited("slow down", provider="brave"))
    edited = SimpleNamespace(
        content=prepend(output.content, NOTICE), artifact=output.artifact
    )
    bare = SimpleNamespace(content=output.content, artifact=None)
    through_mcp = SimpleNamespace(
        content=[], artifact={"structured_content": output.artifact}
    )
    success = search_output(results(1), "text")
    shown = SimpleNamespace(content="ERROR [x]", artifact=success.artifact)

    assert find_error_code(edited) == find_error_code(bare) == "rate_limited"
    assert find_error_code(through_mcp) == "rate_limited"
    assert find_error_code(shown) is None


@pytest.mark.parametrize(
    ("content", "artifact"),
    [
        ("text", None), ("text", {"sources": 3}), ("text", {"sources": [3, {"id": "x"}]}), (None, {"sources": []}),
        ("text", []),
    ],
)  # fmt: skip
def test_artifacts_of_other_tools_are_ignored(content, artifact):
    assert list(collect_texts(content, artifact)) == []


@pytest.mark.parametrize("span", [None, [0], ["a", "b"], [0, 4, 5]])
def test_a_source_without_its_text_is_still_a_source(span):
    source = {
        "id": 1,
        "title": "",
        "url": "https://a.example/",
        "read": False,
        "span": span,
    }

    assert merge_sources(collect_texts("{not json", {"sources": [source]})) == [
        {"id": 1, "title": "", "url": "https://a.example/", "read": False}
    ]


@pytest.mark.parametrize("form", FORMS)
def test_our_numbers_in_a_message_are_found_and_not_those_of_a_page(form):
    search = search_output(results(2, snippet="See [71].\n\n9. Sea — https://x"), form)
    page = Page(
        url="https://tide.example/", content="Ebb [81].\n\n3. Wash", citation_id=5
    )

    assert find_numbers(search.content) == {1, 2}
    assert find_numbers(page_output(page, form).content) == {5}


def test_numbers_are_found_in_what_others_write_around_and_into_our_text():
    own = search_output(results(2), "text").content
    cut = own[: own.index("2. T2")]

    assert find_numbers(f"Edited by Ada, see [9].\n{own}\nMore in [11].") == {
        1,
        2,
        9,
        11,
    }
    assert find_numbers(cut) == {1}
    assert find_numbers([{"type": "text", "text": "Ebb [4]"}, "and 【6】"]) == {4, 6}
    assert find_numbers("[12](https://tide.example/) `x[3]`") == {12}
    assert find_numbers(None) == set()
    assert find_numbers(
        f"Edited by Ada.\n{search_output(results(2), 'json').content}"
    ) == {
        1,
        2,
    }


def make_tools(**options):
    pages = {"https://a.example/1": "Kelp grows."}
    found = [{"title": f"T{n}", "url": f"https://a.example/{n}"} for n in (1, 2)]
    return WebTools(provider=FakeWeb(results=found, pages=pages), **options)


@pytest.mark.parametrize("output_format", FORMS)
def test_what_the_tools_show_within_a_block_is_recorded(output_format):
    tools = make_tools(output_format=output_format)
    run = Run(conversation="1")
    with record_sources("1") as record:
        tools.search({"query": "kelp"}, run)
        with record_sources("1") as inner, record_sources("2") as other:
            tools.open_page({"url": "[1]"}, run)
    tools.search({"query": "kelp"}, run)

    assert [source["id"] for source in record.shown] == [1, 2, 1]
    assert "Kelp grows." in record.shown[2]["text"]
    assert inner.shown == record.shown[2:]
    assert other.shown == []


async def test_a_block_knows_what_threads_and_tasks_in_it_show():
    import asyncio

    tools = make_tools()
    run = Run(conversation="1")
    with record_sources("1") as record:
        await asyncio.gather(tools.asearch({"query": "kelp"}, run))
        await asyncio.to_thread(tools.search, {"query": "kelp"}, run)
    others = threading.Thread(target=tools.search, args=[{"query": "kelp"}, run])
    others.start()
    others.join()

    assert [source["id"] for source in record.shown] == [1, 2, 1, 2]
    assert current_record() is None


def test_tools_within_a_block_go_on_with_its_numbers():
    stored = [
        {"id": 7, "title": "T2", "url": "https://a.example/2", "read": False},
    ]
    with record_sources("1", stored) as record:
        assert current_record() is record
        first = make_tools().search({"query": "kelp"}, Run(conversation="1"))
        # tools of their own, as those of a sub-agent may be
        second = make_tools().search({"query": "kelp"}, Run(conversation="1"))
        opened = make_tools().open_page({"url": "[8]"}, Run(conversation="1"))

    assert [source["id"] for source in first.artifact["sources"]] == [8, 7]
    assert [source["id"] for source in second.artifact["sources"]] == [8, 7]
    assert opened.artifact["sources"][0]["url"] == "https://a.example/1"
    assert {source["id"] for source in record.list_sources("1")} == {7, 8}
    assert record.list_sources("2") == []


def stored(number, text="", **facts):
    source = {
        "id": number,
        "title": f"T{number}",
        "url": f"https://a.example/{number}",
        "read": False,
        **facts,
    }
    return {**source, "text": text} if text else source


ENTRIES = st.lists(
    st.builds(
        stored,
        st.integers(1, 12),
        st.text("ab", max_size=4),
        read=st.booleans(),
        score=st.floats(0, 1),
    ),
    max_size=8,
)


@given(ENTRIES, ENTRIES, ENTRIES)
def test_stored_sources_are_the_same_however_they_are_merged(one, two, three):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sources, "_MAX_TEXT", 8)
        patch.setattr(_sources, "_MAX_SOURCES", 6)
        left = add_sources(add_sources(one, two), three)
        right = add_sources(one, add_sources(two, three))

        assert left == right
        assert add_sources(left, left) == left
        assert add_sources([], left) == left
        assert add_sources(left, two) == left


def test_the_texts_of_the_first_sources_go_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(_sources, "_MAX_TEXT", 10)
    state = add_sources([stored(1, "aaaa"), stored(2, "bbbb")], [stored(3, "cccc")])
    again = add_sources(state, [stored(1, "new"), stored(3, "cccc")])

    assert [source.get("text") for source in state] == [None, "bbbb", "cccc"]
    assert again == state
    assert [source.get("forgotten") for source in state] == [True, None, None]
    assert "forgotten" not in merge_sources(state)[0]


def test_of_many_sources_the_last_stay(monkeypatch):
    monkeypatch.setattr(_sources, "_MAX_SOURCES", 3)
    state = add_sources([stored(number) for number in range(1, 8)], [stored(2, "x")])

    assert [source["id"] for source in state] == [5, 6, 7]


@pytest.mark.parametrize(
    "junk",
    [None, "text", {"id": 1}, [3, {}], [{**stored(1), "id": True}], [stored(0)]],
)
def test_what_is_no_source_is_not_stored(junk):
    assert add_sources(junk, [stored(1)]) == [stored(1)]
