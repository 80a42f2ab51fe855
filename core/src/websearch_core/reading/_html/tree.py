"""
What is kept of the page, as a light tree for the Markdown step.

Its depth is bounded: each level costs that step a copy of all the text in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from ..._text.invisible import sub_in_chunks
from .._element import _BLANKS, _INDENTS, Element

if TYPE_CHECKING:
    from .blocks import TextBlocks

DEEP = 80  # levels, from which on elements that mean nothing to Markdown dissolve into their parents
MAX_DEPTH = 100  # levels, from which on all do
_MAX_INDENTS = 12  # lists and quotations inside one another: each line is indented by each

_WRAPPERS = frozenset("div span section article main font center b i u em strong small form fieldset figure".split())


class BuiltTree(NamedTuple):
    """The tree, and whether elements were nested too deeply to keep all of them."""

    body: Element
    flattened: bool


def build_tree(outline: TextBlocks, kept: Sequence[bool] | None = None, *, linked: bool = True) -> BuiltTree:
    """
    Make the tree of what is kept.

    An element without text (a picture, a line, an empty cell) goes with the text that it shares the smallest part of
    the page with, and stays if that is kept; with the texts before and after it, if both are as near.

    Args:
        outline: The page.
        kept: For each block, whether to keep it; all of them by default.
        linked: False to leave out the text of links.

    """
    names, parents = outline.names, outline.parents
    run_elements = [*outline.run_elements, 0]  # the ends of the page are in the body alone
    stays = [kept is None or kept[block] for block in outline.run_blocks]
    if not linked:
        stays = [stay and not outline.is_linked(element) for stay, element in zip(stays, run_elements, strict=False)]
    alive = bytearray(len(names))  # 1 for elements that have kept text in them
    alive[0] = 1
    for element in compress(run_elements, stays):
        alive[element] = 1
    for element in range(len(names) - 1, 0, -1):
        if alive[element]:
            alive[parents[element]] = 1
    stays.append(kept is None or all(kept))  # what is beyond the end, and, as the one at -1, before the beginning

    body = Element("body", {}, None)
    grown: dict[int, Element] = {0: body}  # by number; a dissolved element is the one around it
    flattened = False
    run = -1  # the last one
    for number in outline.stream:
        if number < 0:
            run = ~number
            if stays[run]:
                parent, text = grown[run_elements[run]], outline.run_texts[run]
                if not parent.verbatim and ("  " in text or not text.isprintable()):  # else there is no other blank
                    text = sub_in_chunks(_BLANKS, " ", text)
                parent.children.append(text)
            continue
        name = names[number]
        if not alive[number]:
            stay, other = stays[run], stays[run + 1]
            if stay is not other:
                before = _shared(number, run_elements[run], parents)
                after = _shared(number, run_elements[run + 1], parents)
                stay = before > after if stay else after > before
            if not stay or (name == "input" and not _is_task(outline.attributes[number])):
                continue
            if parents[number] not in grown:  # in an input, which only in a formula can have anything in it
                continue
            if not linked and outline.is_linked(number):
                continue
        parent = grown[parents[number]]
        if (parent.depth >= DEEP or parent.indents >= _MAX_INDENTS) and _dissolves(name, parent):
            flattened = True
            parent.children.append(" ")
            grown[number] = parent
        else:
            child = grown[number] = Element(name, outline.attributes[number], parent)
            parent.children.append(child)
    return BuiltTree(body, flattened)


def _shared(one: int, other: int, parents: Sequence[int]) -> int:
    """The smallest element that both are in: of two around the same element, the one inside has the higher number."""
    while one != other:
        if one > other:
            one = parents[one]
        else:
            other = parents[other]
    return one


def _is_task(attributes: Mapping[str, str | None]) -> bool:
    """Tell the box of a task from that of a form, which has a name to be sent with."""
    return (attributes.get("type") or "").lower() == "checkbox" and not attributes.get("name")


def _dissolves(name: str, parent: Element) -> bool:
    if parent.depth >= DEEP and (parent.depth >= MAX_DEPTH or name in _WRAPPERS):
        return True
    return parent.indents >= _MAX_INDENTS and name in _INDENTS
