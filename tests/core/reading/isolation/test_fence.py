"""What is done with the text of a page in another process is what would be done here."""

from __future__ import annotations
import json
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from tests.waiting import wait_until
from websearch_core import Page
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.scope import Parsing, scope
from websearch_core.errors import BadResponse, InvalidOption, TimedOut
from websearch_core.models import PageData
from websearch_core.reading import (
    Excerpt,
    choose,
    choose_part,
    find_frames,
    find_markdown_alternate,
    find_refresh,
    find_transcripts,
    read_bytes,
    read_page,
)
from websearch_core.reading._isolation import child, messages, pool, tasks

URL = "https://tide.example/tables/"
TEXT = (
    "# Tides\n\n"
    + "High water at the pier is at six. " * 200
    + "\n\n## Prices\n\nA table costs 3 crowns, see [the shop](https://tide.example/shop).\n\n"
    + "## Spring tides\n\nThe moon is full. " * 50
)
PAGE = Page(
    url=URL,
    final_url=URL,
    title="Tides",
    content=TEXT,
    rest="Opening hours: nine to five.",
    content_length=len(TEXT),
    original_length=len(TEXT),
    media_type="text/html",
    links=("https://tide.example/shop",),
    data=PageData(kind="list", next_url="https://tide.example/2"),
    notes=("a note",),
)
HERE = Parsing(isolate=False)
THERE = Parsing(isolate="require")


def choose_in(parsing: Parsing, page: Page, part: Excerpt, links: Any = None) -> Page:
    with scope(parsing=parsing):
        return choose_part(page, part, links)


def workers() -> set[int]:
    return {worker.process.pid for worker in pool._pool._workers}


PARTS = {
    "a window": Excerpt(max_length=300, offset=40),
    "tokens": Excerpt(max_tokens=60),
    "passages": Excerpt(query="what does a table cost", max_length=600),
    "a phrase": Excerpt(find="full", max_length=400),
    "beside": Excerpt(find="opening hours"),
    "an outline": Excerpt(outline=True),
    "everything": Excerpt(),
    "beyond": Excerpt(offset=10**6, max_length=10),
}


@pytest.mark.parametrize("links", [None, "text", "drop"])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_part_is_the_same_from_another_process(part: Excerpt, links: Any) -> None:
    here = choose_in(HERE, PAGE, part, links)
    there = choose_in(THERE, PAGE, part, links)

    assert there == here
    assert workers()


def test_text_that_would_run_something_is_made_safe_there() -> None:
    page = PAGE.model_copy(
        update={"content": "![x](javascript:a)\u200b <script>steal()</script>"}
    )

    there = choose_in(THERE, page, Excerpt())

    assert there.content == choose(page, Excerpt(), None).content
    assert "<script" not in there.content
    assert "1 invisible character removed" in there.notes


def test_a_function_of_the_caller_counts_the_tokens_here() -> None:
    counted = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text.split())

    part = Excerpt(max_tokens=40, count=count)

    there = choose_in(THERE, PAGE, part)

    assert there == choose_in(HERE, PAGE, part)
    assert 30 < len(there.content.split()) <= 40
    assert counted


def test_a_function_of_the_caller_scores_the_passages_here() -> None:
    asked: list[tuple[str, int]] = []

    def prefer_the_last(query: str, passages: Sequence[str]) -> list[float]:
        asked.append((query, len(passages)))
        return [float(n == len(passages) - 1) for n in range(len(passages))]

    part = Excerpt(max_length=400, query="kelp", passages_by=prefer_the_last)

    there = choose_in(THERE, PAGE, part)

    assert there == choose_in(HERE, PAGE, part).model_copy(update={"rest": ""})
    assert there.content.rstrip().endswith(PAGE.rest.rstrip()[-20:])
    assert len(there.passages) == 1
    assert len(asked) == 2
    assert asked[0] == asked[1]


def test_what_such_a_function_raises_is_raised_and_the_next_page_is_read() -> None:
    def count(text: str) -> int:
        raise ValueError("no tokenizer")

    with pytest.raises(ValueError, match="no tokenizer"):
        choose_in(THERE, PAGE, Excerpt(max_tokens=40, count=count))

    assert choose_in(THERE, PAGE, Excerpt(max_length=20)).content


def test_an_option_that_fits_no_text_is_the_error_that_it_is_here() -> None:
    with pytest.raises(InvalidOption, match="max_tokens=1 is too small"):
        choose_in(THERE, PAGE, Excerpt(max_tokens=1, count=lambda text: 2))


def test_what_a_source_says_is_looked_up_there() -> None:
    source = (
        b"<meta http-equiv=refresh content='0; url=/new'>"
        b"<link rel=alternate type=text/markdown href=/page.md>"
        b"<video><track kind=captions srclang=en label=English src=/a.vtt></video>"
    )
    frames = b"<head></head><frameset><frame src=/a><frame src=/b>"
    found = []
    for parsing in (HERE, THERE):
        with scope(parsing=parsing):
            found.append(
                (
                    find_refresh(source, URL, "text/html"),
                    find_markdown_alternate(source, URL, "text/html", ""),
                    find_transcripts(source, URL, "text/html", is_feed=False),
                    find_frames(frames, URL, "text/html"),
                )
            )

    assert found[0] == found[1]
    assert found[1][0] == "https://tide.example/new"
    assert found[1][1] == "https://tide.example/page.md"
    assert [one.url for one in found[1][2]] == ["https://tide.example/a.vtt"]
    assert found[1][3] == ["https://tide.example/a", "https://tide.example/b"]


def test_links_that_are_not_to_be_followed_are_left_out_there() -> None:
    source = b"<p>Tides <a href=/a>of May</a> <a rel=nofollow href=/b>of June</a>"
    pages = [
        read_page(source, URL, "text/html", parsing=parsing, followed=True)
        for parsing in (HERE, THERE)
    ]
    assert pages[0] == pages[1]
    assert pages[1].links == ("https://tide.example/a",)


def test_what_is_chosen_of_a_page_ends_with_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looping = (
        "import re; from websearch_core.reading import _choice; "
        "_choice.choose = lambda *_: re.match('(a|a)*b', 'a' * 60); serve()"
    )
    program = pool.Worker.__init__.__globals__["_PROGRAM"]
    with monkeypatch.context() as patched:
        patched.setitem(
            pool.Worker.__init__.__globals__,
            "_PROGRAM",
            program.replace("serve()", looping),
        )
        wait_until(lambda: pool.find_problem() == "")
        with time_limit(1), pytest.raises(TimedOut):
            choose_in(THERE, PAGE, Excerpt(find="moon"))
        wait_until(lambda: not workers())


@pytest.mark.apart
def test_a_text_that_would_fill_the_memory_of_this_process_is_cut_there() -> None:
    base = f"{URL}{'a' * 1500}/"
    data = b"<p>" + b"<a href=b>x</a> " * 20_000

    page = read_page(data, base, "text/html", parsing=THERE)

    whole = read_bytes(data, base, "text/html")
    assert sys.getsizeof(page.content) <= tasks._MAX_TEXT < len(whole.content)
    assert page.truncated
    assert page.original_length == page.content_length == len(page.content)
    assert page.content == whole.content[: len(page.content)]
    assert page.notes == (
        f"only the first {len(page.content):,} characters of the text were read",
    )


def test_a_page_that_states_far_too_much_loses_that_and_not_its_text() -> None:
    links = [f"{URL}{n}/{'a' * 1500}" for n in range(6_000)]
    head = {"page": {"title": "Tides", "links": links, "data": {}, "notes": ["cut"]}}

    packed = json.loads(child._pack(head))

    assert packed == {
        "page": {
            "title": "Tides",
            "notes": [
                "cut",
                "its links and its data are left out: there are far too many",
            ],
        }
    }


def test_a_process_that_was_taken_over_can_say_no_more_than_a_part_of_a_page_is() -> (
    None
):
    from websearch_core.reading._isolation.fence import _decode_part

    head = {"page": {"title": "Forged", "provider": "forged", "offset": 3}}
    part = _decode_part(PAGE, json.loads(json.dumps(head)), bytearray(b"text"))

    assert (part.title, part.provider, part.offset) == ("Tides", "", 3)
    assert part.content == "text"


@pytest.mark.parametrize(
    ("of_head", "of_body"), [(messages.MAX_HEAD + 1, 0), (2, messages.MAX_BODY + 1)]
)
def test_an_answer_that_is_too_large_costs_the_page(
    monkeypatch: pytest.MonkeyPatch, of_head: int, of_body: int
) -> None:
    program = f"""
import struct, sys
out = sys.stdout.buffer
out.write(struct.pack(">II", 2, 0) + b"{{}}")
out.flush()
sys.stdin.buffer.read(8)
out.write(struct.pack(">II", {of_head}, {of_body}))
out.flush()
sys.stdin.read()
"""
    monkeypatch.setitem(
        pool.Worker.__init__.__globals__,
        "_PROGRAM",
        program.replace("{", "{{").replace("}", "}}"),
    )
    with pytest.raises(BadResponse, match="crashed"):
        read_bytes(b"<p>Tides", URL, isolate=True)
    assert not workers()
