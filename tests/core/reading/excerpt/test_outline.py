"""The outline of a page: its headings, with sizes and offsets."""

from __future__ import annotations
import json

import pytest

from websearch_core import Page, WebSearch
from websearch_core.errors import InvalidOption
from websearch_core.reading import Excerpt
from websearch_core.reading._excerpt.outline import find_parts, find_sections
from websearch_core.render import page_for_model, render_page
from websearch_core.testing import FakeWeb
from websearch_core.tools import PageArguments, WebTools

URL = "https://docs.example/pump"
TEXT = (
    "# The pump\n\nIt pumps.\n\n## Installing\n\nPut it up.\n\n### Linux\n\nRun it.\n\n```sh\n# no heading\n```\n\n"
    "### macOS\n\nRun it too.\n\n## *Using* [it](https://a.example/)\n\nPump.\n"
)


def page(text=TEXT):
    return Page(
        url=URL,
        final_url=URL,
        title="The pump",
        content=text,
        content_length=len(text),
        original_length=len(text),
    )


def test_each_section_ends_where_the_next_of_its_level_begins():
    sections = {
        one.titles[-1]: TEXT[one.start : one.end] for one in find_sections(TEXT)
    }

    assert list(sections) == ["The pump", "Installing", "Linux", "macOS", "Using it"]
    assert sections["The pump"] == TEXT
    assert sections["Installing"].startswith("## Installing")
    assert sections["Installing"].endswith("Run it too.\n\n")
    assert sections["Linux"].endswith("# no heading\n```\n\n")
    assert find_sections(TEXT)[2].titles == ("Installing", "Linux")


def test_the_main_parts_are_of_the_highest_level_that_has_several():
    assert [part.headings[-1] for part in find_parts(TEXT)] == [
        "Installing",
        "Using it",
    ]
    assert [part.headings[-1] for part in find_parts("# A\n\nx\n\n# B\n\ny\n")] == [
        "A",
        "B",
    ]
    assert find_parts("# A\n\nx\n") == find_parts("no heading") == ()


def test_an_outline_is_the_content_and_its_offsets_can_be_read_from():
    outlined = Excerpt(outline=True).of(page())

    assert outlined.content.splitlines()[:3] == [
        f"- The pump ({len(TEXT):,} characters; offset 0)",
        f"  - Installing ({outlined.outline[1].length:,} characters; offset {outlined.outline[1].offset})",
        f"    - Linux ({outlined.outline[2].length:,} characters; offset {outlined.outline[2].offset})",
    ]
    assert (outlined.original_length, outlined.truncated, outlined.next_offset) == (
        len(TEXT),
        True,
        None,
    )
    assert (
        Excerpt(offset=outlined.outline[2].offset)
        .of(page())
        .content.startswith("### Linux")
    )


@pytest.mark.parametrize("limit", [{"max_length": 130}, {"max_tokens": 50}])
def test_a_small_outline_has_the_upper_levels(limit):
    outlined = Excerpt(outline=True, **limit).of(page())

    assert "Installing" in outlined.content
    assert "Linux" not in outlined.content
    assert len(outlined.content) <= 130
    assert "left out of the outline" in outlined.notes[-1]


def test_an_outline_of_thousands_of_headings_is_bounded():
    text = "".join(f"# Part {n}\n\nx\n\n## Detail\n\ny\n\n" for n in range(2_000))

    assert len(find_sections(text)) == 300
    assert len(find_parts(text)) == 30
    short = Excerpt(outline=True, max_length=500).of(page(text))
    assert 400 < len(short.content) <= 500
    assert short.content.startswith("- Part 0 ")
    assert (
        len(find_sections("# A\n\n" + "## B\n\nx\n\n" * 200 + "### C\n\nx\n\n" * 200))
        == 201
    )


@pytest.mark.parametrize("count", [299, 300, 2_000])
@pytest.mark.parametrize("title", ["# Glossary\n\n", ""], ids=["titled", "untitled"])
def test_many_sections_below_a_title_are_shown_from_the_first(title, count):
    text = title + "".join(f"## Term {n}\n\nx\n\n" for n in range(count))
    outlined = Excerpt(outline=True, max_length=9_000).of(page(text))
    lines = outlined.content.splitlines()
    left = count + bool(title) - len(lines)

    assert len(lines) > 150
    assert len(outlined.content) <= 9_000
    assert "- Term 0 (" in lines[bool(title)]
    assert outlined.notes == (f"{left:,} headings left out of the outline",)
    assert len(find_parts(text)) == 30


def test_a_page_without_headings_says_so():
    outlined = Excerpt(outline=True).of(page("Just text."))

    assert outlined.content == ""
    assert outlined.notes == ("the text has no headings, and 10 characters",)


@pytest.mark.parametrize("other", [{"query": "x"}, {"find": "x"}])
def test_an_outline_stands_alone(other):
    with pytest.raises(InvalidOption, match="give one of query, find and outline"):
        Excerpt(outline=True, **other)
    with pytest.raises(InvalidOption, match="outline: must be true or false"):
        Excerpt(outline="yes")


def test_the_header_says_in_one_line_how_long_the_page_is_and_where_its_parts_begin():
    whole = Excerpt().of(page())
    line = f"Length: {len(TEXT)} characters; parts, with their offsets: Installing (23), Using it ({whole.outline[1].offset})"

    assert line in render_page(whole).splitlines()
    assert (
        line.replace("Length:", "**Length:**")
        in render_page(whole, "markdown").splitlines()
    )
    assert f"Length: {len(TEXT)} characters" in render_page(
        Excerpt(max_length=20).of(page())
    )
    assert "Length" not in render_page(Excerpt().of(page("Short.")))
    many = Excerpt().of(
        page(
            "".join(f"## A rather long heading number {n}\n\nx\n\n" for n in range(40))
        )
    )
    (line,) = (
        line for line in render_page(many).splitlines() if line.startswith("Length")
    )
    assert len(line) < 700
    assert " and " in line
    shown = json.loads(page_for_model(whole, "json"))
    assert "outline" not in shown
    assert "Installing (23)" in shown["parts"]


def test_a_model_can_ask_for_the_outline():
    web = WebSearch(FakeWeb(pages={URL: page()}))
    tools = WebTools(web)

    assert "- Installing (" in tools.open_page({"url": URL, "outline": True}).content
    assert "Put it up" not in tools.open_page({"url": URL, "outline": "true"}).content
    assert web.read(URL, outline=True).outline[1].headings == ("Installing",)
    assert PageArguments.model_json_schema()["properties"]["outline"] == {
        "description": "Headings and offsets.",
        "type": "boolean",
    }
    with pytest.raises(
        InvalidOption, match="read_options: outline: each call chooses it"
    ):
        WebTools(web, read_options={"outline": True})
