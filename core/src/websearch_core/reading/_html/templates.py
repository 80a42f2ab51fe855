"""Remove what a template left in the text of a page, since its scripts did not run.

That is places such as ``{{title}}``, shortcodes such as ``[vc_row]``, and data of
calendars.
"""

from __future__ import annotations
import re
from collections.abc import Iterable
from itertools import pairwise

from .text_blocks import TextBlocks

PLACE = re.compile(r"\{\{[^{}]{0,200}\}\}")  # as in Vue, Angular and Handlebars
# Attributes by which templates say what scripts are to do: ``v-for``, ``ng-repeat``,
# ``x-text``, ``:key``, ``*ngif``.
_DIRECTIVE = re.compile(r"(?:v|ng|data-ng|x|wire)-[a-z]|data-bind$|[:@*#\[(][a-z]")
_CODES = frozenset({"pre", "code", "kbd", "samp", "tt", "var"})
# where a manual lists what may be written in a template
_LISTING = frozenset({"td", "th", "dt", "dd", "li"})
_WORD = re.compile(r"\w")
_LONG_WORD = re.compile(r"\w{3}")
_CALENDAR = "BEGIN:VCALENDAR"
# in the text of each page with something to remove
SIGNS = ("{{", "[/", _CALENDAR)
_CLOSING = re.compile(r"\[/([a-z]{2,20})_[a-z0-9_]{1,60}\]")
_SHORTCODE = re.compile(r"\[/?([a-z]{2,20})_[a-z0-9_]{1,60}(?:\s[^\[\]]*+)?\]")
_MIN_SHORTCODES = 4  # of a page: fewer may be mentioned in its text


def remove_templates(outline: TextBlocks) -> int:
    """Remove places that scripts would fill, shortcodes and data of calendars from
    texts outside of code.

    A place counts where its block says nothing else, as in ``By {{author}} on
    {{date}}``, or where an element around it has a directive, as in ``<li v-for="item
    in items">``. Shortcodes count where the page closes some of their family:
    ``[/vc_row]``. Return how many places there were.
    """
    texts = outline.run_texts
    in_code = outline.inside(*_CODES)
    runs = [
        run for run, element in enumerate(outline.run_elements) if not in_code[element]
    ]
    empty = _find_empty(outline, runs)
    directed = outline.holders(
        element
        for element, attributes in enumerate(outline.attributes)
        if any(map(_DIRECTIVE.match, attributes))
    )
    unfilled = 0
    for run in runs:
        is_empty = outline.run_blocks[run] in empty
        if is_empty or directed[outline.run_elements[run]]:
            bare, count = PLACE.subn("", texts[run])
            texts[run] = "" if is_empty else bare
            unfilled += count
    _remove_shortcodes(texts, runs)
    return unfilled


def _find_empty(outline: TextBlocks, runs: Iterable[int]) -> set[int]:
    """Return the blocks that say nothing but places, and those that are a calendar."""
    texts = outline.run_texts
    places: list[int] = []  # the block of each place
    calendars: set[int] = set()
    for run in runs:
        block = outline.run_blocks[run]
        if "{{" in texts[run]:
            places += [block] * len(PLACE.findall(texts[run]))
        if texts[run].lstrip().startswith(_CALENDAR):
            calendars.add(block)
    mixed = {block for block, other in pairwise(places) if block == other}
    telling = {
        block
        for block, element in enumerate(outline.block_elements)
        if outline.names[element] in _LISTING
    }
    for block, text in zip(outline.run_blocks, texts, strict=True):
        word = _WORD
        if block in mixed:
            word = _LONG_WORD
        if word.search(PLACE.sub("", text)):
            telling.add(block)
    return set(places) - telling | calendars


def _remove_shortcodes(texts: list[str], runs: Iterable[int]) -> None:
    bracketed = [run for run in runs if "[" in texts[run]]
    together = "\n".join(texts[run] for run in bracketed)
    families = set(_CLOSING.findall(together))
    if not families:
        return
    shortcodes = [code[1] in families for code in _SHORTCODE.finditer(together)]
    if sum(shortcodes) < _MIN_SHORTCODES:
        return

    def blank(code: re.Match[str]) -> str:
        if code[1] in families:
            return " "
        return code[0]

    for run in bracketed:
        texts[run] = _SHORTCODE.sub(blank, texts[run])
