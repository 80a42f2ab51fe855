from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from websearch_core.errors import InvalidOption
from websearch_core.models import Page
from websearch_core.reading._excerpt.window import cut_window
from websearch_core.reading._markdown.fences import find_fences

CODE = "```python\n" + "x = 1\n\n" * 20 + "```\n"
PARAGRAPH = "Words and more words. " * 10


def whole(text: str) -> Page:
    return Page(
        url="https://example.org/",
        content=text,
        content_length=len(text),
        original_length=len(text),
    )


def leaves(page: Page, max_length: int) -> list[Page]:
    """Read a page by following ``next_offset``, as an agent does."""
    found = [cut_window(page, max_length)]
    while (offset := found[-1].next_offset) is not None:
        found.append(cut_window(page, max_length, offset))
    return found


PIECES = st.sampled_from(
    [
        "word ",
        "a\n\n",
        "\n",
        "# Title\n\n",
        "| a | b |\n",
        "[text](https://example.org/x) ",
        "```\n",
        "```",
        "~~~~\n",
        "- item\n",
        "é",
        "x" * 40,
    ]
)


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=60).map("".join), st.integers(1, 120))
def test_the_windows_of_a_page_are_exactly_its_text(text: str, max_length: int) -> None:
    page = whole(text)
    read = leaves(page, max_length)
    assert text == "".join(leaf.content for leaf in read)
    for leaf in read:
        assert leaf.content_length == len(leaf.content) <= max_length
        assert text[leaf.offset :].startswith(leaf.content)
        assert len(text) == leaf.original_length
        assert (
            leaf.truncated
            == (leaf.next_offset is not None)
            == (leaf.offset + leaf.content_length < len(text))
        )


@given(st.text(max_size=50), st.integers(1, 60), st.integers(0, 60))
def test_any_offset_is_allowed(text: str, max_length: int, offset: int) -> None:
    assert text[offset:].startswith(cut_window(whole(text), max_length, offset).content)


def test_a_page_that_fits_is_whole() -> None:
    leaf = cut_window(whole("short"), 5)
    assert (leaf.content, leaf.truncated, leaf.next_offset, leaf.notes) == (
        "short",
        False,
        None,
        (),
    )


def test_a_window_ends_between_blocks() -> None:
    text = f"{PARAGRAPH}\n\n{PARAGRAPH}\n\n{PARAGRAPH}"
    assert f"{PARAGRAPH}\n\n{PARAGRAPH}\n\n" == cut_window(whole(text), 500).content


def test_a_block_boundary_far_from_the_end_is_not_worth_the_loss() -> None:
    leaf = cut_window(whole(f"Title\n\n{PARAGRAPH}{PARAGRAPH}"), 300)
    assert leaf.content_length > 200
    assert leaf.content.endswith(" ")


def test_a_block_of_code_is_left_for_the_next_window() -> None:
    read = leaves(whole(f"{PARAGRAPH}\n\n{CODE}\n{PARAGRAPH}"), 250)
    assert f"{PARAGRAPH}\n\n" == read[0].content
    assert read[1].content.startswith(CODE)


def test_blank_lines_in_code_are_no_boundaries() -> None:
    leaf = cut_window(whole(f"{CODE}{'y' * 100}"), len(CODE) + 50)
    assert leaf.content.startswith(CODE)


def test_code_longer_than_the_window_is_cut_between_lines() -> None:
    read = leaves(whole(CODE), 50)
    assert len(read) > 2
    assert [leaf for leaf in read if not leaf.content.endswith("\n")] == []


def test_a_row_is_not_cut() -> None:
    text = (
        "| a | b |\n| --- | --- |\n" + "| some words here | and more of them |\n" * 20
    )
    assert [
        leaf for leaf in leaves(whole(text), 100) if not leaf.content.endswith("|\n")
    ] == []
    long_row = f"intro\n| {'cell words ' * 8}|\n"
    assert cut_window(whole(long_row), 60).content == "intro\n"


@pytest.mark.parametrize(
    "label", ["a link of several words", "[1] and more words", "x"]
)
def test_a_link_is_not_cut(label: str) -> None:
    link = f"[{label}](https://example.org/{'p' * 30})"
    text = f"{'w ' * 20}{link} {'w ' * 40}"
    begin, end = text.index(link), text.index(link) + len(link)
    for max_length in range(begin + 1, end):
        assert begin >= cut_window(whole(text), max_length).content_length > 0


def test_a_link_longer_than_the_window_is_cut_after_all() -> None:
    text = f"[x](https://example.org/{'p' * 300})"
    assert cut_window(whole(text), 50).content_length == 50


def test_beyond_the_end_is_an_empty_window_and_a_note() -> None:
    leaf = cut_window(whole("text"), 10, 99)
    assert (leaf.content, leaf.truncated, leaf.next_offset, leaf.offset) == (
        "",
        False,
        None,
        99,
    )
    assert leaf.notes == ("offset 99 is beyond the end: the text has 4 characters",)


def test_a_page_that_was_cut_before_stays_truncated() -> None:
    page = whole("text").model_copy(update={"truncated": True})
    assert cut_window(page, 10).truncated
    assert cut_window(page, 10).next_offset is None


@pytest.mark.parametrize(("max_length", "offset"), [(0, 0), (-1, 0), (1, -1)])
def test_senseless_windows_are_refused(max_length: int, offset: int) -> None:
    with pytest.raises(InvalidOption):
        cut_window(whole("text"), max_length, offset)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n```\nb\n```\nc", ["```\nb\n```\n"]),
        ("````\n```\n````\n", ["````\n```\n````\n"]),
        ("~~~\n```\n~~~", ["~~~\n```\n~~~"]),
        ("> ```\n> a\n> ```\n", ["> ```\n> a\n> ```\n"]),
        ("- ```\n  a\n  ```\n", ["- ```\n  a\n  ```\n"]),
        ("```open\nto the end", ["```open\nto the end"]),
        ("``` not ``` a fence", []),
        ("none", []),
    ],
)
def test_fences_are_found(text: str, found: list[str]) -> None:
    assert found == [text[begin:end] for begin, end in find_fences(text)]
