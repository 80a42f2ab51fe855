"""Convert a piece of HTML, such as an entry of a feed, to Markdown: all of it, not just
a main part.
"""

from __future__ import annotations
import re
from typing import TYPE_CHECKING

from .._links import resolved
from .._markdown.fences import outside_fences
from .blocks import find_blocks
from .harden import harden
from .parse import parse
from .text_blocks import TextBlocks
from .tree import build_tree

if TYPE_CHECKING:
    from .._links import Links

_MAX_LENGTH = 200_000  # characters of source
_HEADING = re.compile(r"^(#{1,6})(?= )", re.MULTILINE)


def read_fragment(
    source: str,
    base: str,
    *,
    links: Links = "keep",
    below: int = 0,
    limit: int = _MAX_LENGTH,
) -> tuple[str, list[str]]:
    """Convert a piece of HTML to Markdown, and leave out only what is hidden.

    Returns it with the URLs of its links, which are resolved against *base*. The
    headings begin one level *below* that of the heading above them. Not more than
    *limit* characters of the source are read.
    """
    from .._markdown.writer import to_markdown

    blocks = _read_blocks(source, limit)
    body = build_tree(blocks, linked=links != "drop").body
    targets = {}
    if links == "keep":
        targets = resolved(blocks.links(), base)
    text = to_markdown(body, targets)
    if below:
        text = outside_fences(
            text,
            lambda part: _HEADING.sub(
                lambda mark: "#" * min(6, len(mark[1]) + below), part
            ),
        )
    return text, list(dict.fromkeys(targets.values()))


def bare(source: str) -> str:
    """Return the text of a piece of HTML or of plain text, such as the title of an
    entry.
    """
    if "<" not in source and "&" not in source:
        return source
    return " ".join(_read_blocks(source, _MAX_LENGTH).block_texts)


def _read_blocks(source: str, limit: int) -> TextBlocks:
    hardened = harden(source[:limit].replace("\x00", "").encode("utf-8", "replace"))
    return find_blocks(parse(hardened.source).body, opens=False)
