"""What is written is what a renderer shows: HTML made at random, written as Markdown
and rendered, is the same again.
"""

from __future__ import annotations
import random
import re
from collections.abc import Callable
from html import escape
from typing import Any

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.core.reading.markdown.test_writer import URL, markdown
from websearch_core.reading._links import absolute

RENDERER = MarkdownIt("gfm-like", {"html": True, "linkify": False})
# Not in them, since they are not escaped for models' sake: pairs of "*", "~" or "`",
# and "\\" or "&" before some signs.
WORDS = (
    "kelp", "Sea", "8", "a-b", "x_y", "50%", "é", "海", "C:\\dir", "f(x)", "[1]", "(b)", "a<b", "#5", "5.", "so,", "end.",
    "Note:", "a & b", "[a](b)", "List<int>", "! ", "> x", "1. y", "===", "“q”", "# x",
)  # fmt: skip
CODES = (
    "x",
    "a[0](b)",
    "`",
    "``",
    "```js",
    "<b>",
    "*",
    "a|b",
    "&amp;",
    "C:\\\\",
    "# x",
)
NAMES = {"b": "strong", "i": "em", "del": "s"}
# the names around it, its text, the marks of each character that is not white
Block = tuple[tuple[str, ...], str, Any]
BLOCKS = frozenset("p h2 h3 ul ol li blockquote pre table tr td th".split())
SHOWN = BLOCKS | {"strong", "em", "s", "a", "code"}


class Author:
    """Writes HTML at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def any_of(self, *makers: Callable[[int], str], depth: int) -> str:
        return self.random.choice(makers)(depth)

    def page(self) -> str:
        return "".join(self.block(3) for _ in range(self.random.randint(1, 4)))

    def block(self, depth: int) -> str:
        few = (self.paragraph, self.heading, self.code_block)
        return self.any_of(
            *few,
            *((self.list, self.quotation, self.table) if depth else ()),
            depth=depth,
        )

    def paragraph(self, depth: int) -> str:
        return f"<p>{self.line(2)}</p>"

    def heading(self, depth: int) -> str:
        return f"<h{2 + depth % 2}>{self.line(0)}</h{2 + depth % 2}>"

    def code_block(self, depth: int) -> str:
        lines = (self.random.choice((*CODES, "", "  indented")) for _ in range(3))
        return f"<pre><code class=language-js>x {escape(chr(10).join(lines))} y</code></pre>"

    def list(self, depth: int) -> str:
        start = (
            f" start={self.random.choice((2, 9, 1999, 123456789))}"
            if self.random.random() < 0.5
            else ""
        )
        begin, end = (
            ("<ul>", "</ul>")
            if self.random.random() < 0.5
            else (f"<ol{start}>", "</ol>")
        )
        items = []
        for _ in range(self.random.randint(1, 3)):
            below = self.block(depth - 1) if self.random.random() < 0.4 else ""
            items.append(
                f"<li>{self.random.choice(('{}', '<p>{}</p>')).format(self.line(1))}{below}</li>"
            )
        # a list right after it would be part of it
        return f"{begin}{''.join(items)}{end}<p>{self.line(0)}</p>"

    def quotation(self, depth: int) -> str:
        return f"<blockquote>{self.block(depth - 1)}{self.paragraph(0)}</blockquote>"

    def table(self, depth: int) -> str:
        rows = "".join(
            f"<tr><td>k{self.line(1)}</td><td>{self.line(1)}</td></tr>"
            for _ in range(2)
        )
        return f"<table><tr><th>A</th><th>B</th></tr>{rows}</table>"

    def line(self, depth: int) -> str:
        return f"word{''.join(self.piece(depth) for _ in range(self.random.randint(0, 6)))}"

    def piece(self, depth: int) -> str:
        if not depth or self.random.random() < 0.5:
            return self.random.choice((" ", " ", "")) + escape(
                self.random.choice(WORDS)
            )
        name = self.random.choice(("b", "strong", "i", "em", "del", "a", "code"))
        if name == "code":
            return f" <code>{escape(self.random.choice(CODES))}</code>"
        inner = self.random.choice(("", "", " ")) + self.line(depth - 1)
        if name == "a":
            return f" <a href='/x?{self.random.randint(0, 9)}'>{re.sub('</?a[^>]*>', '', inner)}</a>"
        return f"{self.random.choice(('', ' ', ' '))}<{name}>{inner}</{name}>"


def outline(html: str) -> list[Block]:
    """Return the blocks of a page, each with the names around it, and its text with the
    emphasis and links in it.
    """
    body = LexborHTMLParser(f"<body>{html}").body
    found: list[Block] = []
    run: list[tuple[str, tuple[str, ...]]] = []

    def flush(path: tuple[str, ...]) -> None:
        text = "".join(piece for piece, _ in run)
        marks = [mark for piece, mark in run for _ in piece]
        if text.strip():
            shown = [
                (character, mark)
                for character, mark in zip(text, marks, strict=True)
                if not character.isspace()
            ]
            found.append(
                (path, re.sub(r"\s+", " ", text).strip(), [mark for _, mark in shown])
            )
        run.clear()

    def visit(node: LexborNode, path: tuple[str, ...], marks: frozenset[str]) -> None:
        child = node.first_child
        while child is not None:
            tag = NAMES.get(child.tag or "", child.tag or "")
            if child.is_text_node:
                run.append((child.text_content or "", tuple(sorted(marks))))
            elif tag == "pre":
                flush(path)
                found.append(
                    (
                        (*path, "pre"),
                        child.text().strip("\n"),
                        child.css_first("code").attributes["class"],
                    )
                )
            elif tag in BLOCKS:
                flush(path)
                inner = (
                    path
                    if tag == "p"
                    else (
                        *path,
                        f"ol {child.attributes.get('start') or 1}"
                        if tag == "ol"
                        else tag,
                    )
                )
                visit(child, inner, marks)
                flush(inner)
            else:
                link = tag == "a" and absolute(child.attributes.get("href") or "", URL)
                plain = tag not in SHOWN or "h2" in path or "h3" in path
                visit(
                    child,
                    path,
                    marks
                    | (
                        {f"a {link}"}
                        if link
                        else frozenset()
                        if plain and tag != "code"
                        else {tag}
                    ),
                )
            child = child.next

    assert body is not None
    visit(body, (), frozenset())
    flush(())
    return found


def without(kinds: frozenset[str], blocks: list[Block]) -> list[Block]:
    """Leave the marks of *kinds* out of an outline."""
    return [
        (
            *block[:2],
            [tuple(mark for mark in marks if mark not in kinds) for marks in block[2]],
        )
        if isinstance(block[2], list)
        else block
        for block in blocks
    ]


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_what_is_written_is_shown(first: int) -> None:
    emphasis = frozenset({"strong", "em", "s"})
    marked = kept = 0
    for seed in range(first, first + 100):
        html = Author(seed).page()
        expected, shown = outline(html), outline(RENDERER.render(markdown(html)))
        assert without(emphasis, shown) == without(emphasis, expected), f"seed {seed}"
        for before, after in zip(expected, shown, strict=True):
            if before[2] == after[2] or isinstance(before[2], str):
                continue
            letters = before[1].replace(" ", "")
            for letter, wanted, found in zip(letters, before[2], after[2], strict=True):
                assert not letter.isalnum() or set(found) <= set(wanted), f"seed {seed}"
                marked, kept = marked + len(wanted), kept + len(found)
    # in the blocks where some emphasis touches other emphasis
    assert kept > 0.6 * marked


def test_the_comparison_sees_what_differs() -> None:
    base = outline("<p>a <b>b</b> <a href=/x>c</a></p>")
    for other in (
        "<p>a b <a href=/x>c</a></p>",
        "<p>a <b>b</b> <a href=/y>c</a></p>",
        "<ul><li>a <b>b</b> c</ul>",
        "<p>a",
    ):
        assert outline(other) != base
