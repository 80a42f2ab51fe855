"""A piece of HTML from inside something else, such as an entry of a feed -> Markdown, all of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .._links import resolved
from .._markdown.fences import outside_fences
from .blocks import TextBlocks, find_blocks
from .harden import harden
from .parse import parse
from .tree import build_tree

if TYPE_CHECKING:
    from .._links import Links

_MAX_SIZE = 200_000  # characters of source
_HEADING = re.compile(r"^(#{1,6})(?= )", re.MULTILINE)


def read_fragment(source: str, base: str, *, links: Links = "keep", below: int = 0) -> tuple[str, list[str]]:
    """
    Turn a piece of HTML into Markdown. What is hidden is left out; nothing else is.

    Args:
        source: The piece.
        base: What its links are relative to.
        links: What becomes of its links, as `read_html` has it.
        below: The level of the heading that it stands under: its own begin one deeper.

    Returns:
        The text, and where its links lead.

    """
    from .._markdown.writer import to_markdown

    seen = _outline(source)
    body = build_tree(seen, linked=links != "drop").body
    targets = resolved(seen.links(), base) if links == "keep" else {}
    text = to_markdown(body, targets)
    if below:
        text = outside_fences(text, lambda part: _HEADING.sub(lambda mark: "#" * min(6, len(mark[1]) + below), part))
    return text, list(dict.fromkeys(targets.values()))


def bare(source: str) -> str:
    """Return the text of what may be a piece of HTML, or plain text, such as the title of an entry."""
    return " ".join(_outline(source).block_texts) if "<" in source or "&" in source else source


def _outline(source: str) -> TextBlocks:
    tamed = harden(source[:_MAX_SIZE].replace("\x00", "").encode("utf-8", "replace"))
    return find_blocks(parse(tamed.source).body, opens=False)
