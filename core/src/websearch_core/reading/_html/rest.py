"""Write what a reader can see beside the main content: prices, cards, captions, the end
of the page; no menus.

What stands together stays together: a passage has all the text of the largest element
that is short enough.
"""

from __future__ import annotations
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING

from .blocks import TELLING_TAGS

if TYPE_CHECKING:
    from .blocks import TextBlocks

# characters of a passage, a long block counted as `_MAX_CONTEXT`; or it is a single
# block
_MAX_LENGTH = 300
# characters of a block that is content, and names what stands beside it
_MAX_CONTEXT = 100
_MAX_MENU_LENGTH = 60  # characters of an entry of a menu
_MENU = 3  # entries, all of them links
_LEVELS = {f"h{level}": "#" * level for level in range(1, 7)}
# Classes, ids and roles of what belongs to no page: how to move between pages, to share
# them, to agree to cookies.
_FOREIGN = re.compile(
    r"(?<![a-z])(?:navigation|nav|menubar|breadcrumbs?|pagination|cookies?|consent|gdpr|onetrust|shar(?:e|ing)"
    r"|social|skip(?![-_]item))(?![a-z])"
)
_HINTS = (
    "nav menubar breadcrumb pagination cookie consent gdpr onetrust shar social skip"
).split()
# What classes name too: values of styles, as in "h-[calc(100vh-var(--nav-height))]",
# and what an article is about.
_SUBJECT = re.compile(r"\[[^\]\s]*+\]?|(?<!\S)(?:category|tag|topic)[-_]\S+")
_DIGIT = re.compile(r"\d")


def write_rest(
    outline: TextBlocks,
    kept: Sequence[bool],
    shown: Sequence[bool],
    *,
    linked: bool = True,
) -> str:
    """Return as plain Markdown the blocks that are *shown*, but not *kept* as content,
    with the names around them.

    Nothing of it is a link; unless *linked*, nothing was one. No passage occurs twice.
    """
    if all(kept):
        return ""
    if not linked:
        shown = [
            show and not length
            for show, length in zip(shown, outline.block_linked, strict=True)
        ]
    blocks = _find_beside(outline, kept, shown)
    if not any(blocks):
        return ""  # the names around a text are not worth showing without it
    passages: dict[str, None] = {}
    groups = _group(outline)
    # A footer does not belong to the section before it: its top headings become
    # second-level, whatever the page says.
    headings = (
        e
        for e in outline.block_elements
        if outline.names[e] in _LEVELS and _is_in_footer(outline, e)
    )
    raised = max(
        0, min((int(outline.names[element][1]) for element in headings), default=0) - 2
    )
    for _, members in groupby(range(len(groups)), groups.__getitem__):
        passage = list(members)
        if any(map(blocks.__getitem__, passage)):
            names = [
                n
                for n in passage
                if blocks[n]
                or (kept[n] and len(outline.block_texts[n]) <= _MAX_CONTEXT)
            ]
            passages["\n".join(_lines(outline, names, raised))] = None
        elif (
            len(passage) == 1
            and kept[passage[0]]
            and outline.names[outline.block_elements[passage[0]]] in _LEVELS
        ):
            passages["\n".join(_lines(outline, passage, raised))] = None
    return "\n\n".join(_without_empty_sections(list(passages)))


def _without_empty_sections(passages: list[str]) -> list[str]:
    """Leave out the headings that nothing follows before the next one of their
    level.
    """
    found: list[str] = []
    level = 7  # of the heading after it
    for passage in reversed(passages):
        depth = len(passage) - len(passage.lstrip("#")) if "\n" not in passage else 0
        if not depth:
            found.append(passage)
            level = 7
        elif found and (level == 7 or depth < level):
            found.append(passage)
            level = depth
    return found[::-1]


def _find_beside(
    outline: TextBlocks, kept: Sequence[bool], shown: Sequence[bool]
) -> list[bool]:
    """Return which blocks are neither content nor part of a menu, a button, or what
    belongs to no page.
    """
    in_menu, around = TELLING_TAGS["nav"], outline.around
    marks = {
        mark
        for mark in outline.find_marks(_FOREIGN, _HINTS)
        if _FOREIGN.search(_SUBJECT.sub("", mark.lower()))
    }
    foreign = outline.holders(
        n for n, mark in enumerate(outline.marks if marks else ()) if mark in marks
    )
    beside = [
        show
        and not keep
        and not foreign[element]
        and not around[element] & in_menu
        and not (outline.names[element] == "button" and not _DIGIT.search(text))
        for keep, show, element, text in zip(
            kept, shown, outline.block_elements, outline.block_texts, strict=True
        )
    ]
    entries = [
        linked >= len(text) > 0
        and len(text) <= _MAX_MENU_LENGTH
        and not _DIGIT.search(text)
        for linked, text in zip(outline.block_linked, outline.block_texts, strict=True)
    ]
    for is_entry, members in groupby(range(len(entries)), entries.__getitem__):
        if is_entry and len(menu := list(members)) >= _MENU:
            beside[menu[0] : menu[-1] + 1] = [False] * len(menu)
    return beside


def _group(outline: TextBlocks) -> list[int]:
    """Return for each block the largest element around it that has little text."""
    sizes, parents = [0] * len(outline.names), outline.parents
    for element, text in zip(outline.block_elements, outline.block_texts, strict=True):
        sizes[element] += min(len(text), _MAX_CONTEXT) + 1
    for element in range(len(sizes) - 1, 0, -1):
        sizes[parents[element]] += sizes[element]
    tops = [0]
    for element, parent in enumerate(islice(parents, 1, None), start=1):
        tops.append(tops[parent] if sizes[parent] <= _MAX_LENGTH else element)
    return [tops[element] for element in outline.block_elements]


def _lines(outline: TextBlocks, blocks: Sequence[int], raised: int) -> Iterator[str]:
    """Yield the lines of a passage: one for each block, but one for all cells of a
    row.
    """
    element = outline.block_elements[blocks[0]]
    if len(blocks) == 1 and (level := _LEVELS.get(outline.names[element])):
        yield (
            f"{level[raised * _is_in_footer(outline, element) :]} "
            f"{outline.block_texts[blocks[0]]}"
        )
        return
    for row, members in groupby(blocks, lambda n: _row(outline, n)):
        texts = [outline.block_texts[n] for n in members]
        yield from [" | ".join(texts)] if row else texts


def _is_in_footer(outline: TextBlocks, element: int) -> bool:
    return outline.around[element] & TELLING_TAGS["footer"] > 0


def _row(outline: TextBlocks, block: int) -> int:
    """Return the row of a table that a block is in, or 0."""
    element = outline.block_elements[block]
    while element > 0 and outline.names[element] != "tr":
        element = outline.parents[element]
    return max(element, 0)
