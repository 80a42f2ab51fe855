"""Leave out what templates have left in a page: places that scripts would fill, shortcodes that nothing replaced."""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import Protocol

_PLACE = re.compile(r"\{\{[^{}]{0,200}\}\}")  # as in Vue, Angular and Handlebars
# Attributes by which templates say what scripts are to do: ``v-for``, ``ng-repeat``, ``x-text``, ``:key``, ``*ngif``.
_DIRECTIVE = re.compile(r"(?:v|ng|data-ng|x|wire)-[a-z]|data-bind$|[:@*#\[(][a-z]")
_CODE = frozenset({"pre", "code", "kbd", "samp", "tt", "var"})
_CELLS = frozenset({"td", "th", "dt", "dd", "li"})  # where a manual lists what may be written in a template
_WORD = re.compile(r"\w")
_CLOSING = re.compile(r"\[/([a-z]{2,20})_[a-z0-9_]{1,60}\]")
_SHORTCODE = re.compile(r"\[/?([a-z]{2,20})_[a-z0-9_]{1,60}(?:\s[^\[\]]*+)?\]")
_MIN_SHORTCODES = 4  # of a page: fewer may be mentioned in its text


class Texts(Protocol):
    """What is needed of `blocks.TextBlocks`."""

    names: list[str]
    parents: list[int]
    attributes: list[Mapping[str, str | None]]
    run_texts: list[str]
    run_elements: list[int]
    run_blocks: list[int]
    block_elements: list[int]


def remove_templates(outline: Texts) -> int:
    """Remove both from the texts of *outline*, outside of code, and return how many places scripts would fill.

    A place counts where its block says nothing else, or where an element around it has a directive, as in
    ``<li v-for="item in items">``. Shortcodes count where the page closes some of their family: ``[/vc_row]``.
    """
    texts, elements = outline.run_texts, outline.run_elements
    in_code = _inherit(outline, [name in _CODE for name in outline.names])
    runs = [n for n, text in enumerate(texts) if ("{{" in text or "[" in text) and not in_code[elements[n]]]
    said = _says_more(outline)
    directed = _inherit(outline, [any(map(_DIRECTIVE.match, names)) for names in outline.attributes])
    unfilled = 0
    for run in runs:
        bare, count = _PLACE.subn("", texts[run])
        if count and (outline.run_blocks[run] not in said or directed[elements[run]]):
            texts[run] = bare
            unfilled += count
    written = "\n".join(texts[run] for run in runs)
    families = set(_CLOSING.findall(written))
    if families and sum(found[1] in families for found in _SHORTCODE.finditer(written)) >= _MIN_SHORTCODES:
        for run in runs:
            texts[run] = _SHORTCODE.sub(lambda found: " " if found[1] in families else found[0], texts[run])
    return unfilled


def _inherit(outline: Texts, stated: list[bool]) -> list[bool]:
    """Pass on to the elements inside what is *stated* of each element."""
    for element, parent in enumerate(outline.parents[1:], start=1):
        stated[element] = stated[element] or stated[parent]
    return stated


def _says_more(outline: Texts) -> set[int]:
    """Return the blocks that say something besides places to fill, or stand where a manual lists them."""
    listed = {n for n, element in enumerate(outline.block_elements) if outline.names[element] in _CELLS}
    runs = zip(outline.run_blocks, outline.run_texts, strict=True)
    return listed | {block for block, text in runs if _WORD.search(_PLACE.sub("", text) if "{{" in text else text)}
