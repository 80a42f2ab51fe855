"""Leave out what a page shows beside itself: a second article after the first, and banners for other countries."""

from __future__ import annotations
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .titles import agree, ends_with

if TYPE_CHECKING:
    from .blocks import TextBlocks

_MIN_LENGTH = 600  # characters of an article
_ADDRESSES = frozenset({"data-url", "data-article-url", "data-permalink", "data-post-url", "data-href"})
_HEADLINES = frozenset({"h1", "h2"})
_COUNTRIES = re.compile(r"data-(?:show-)?(?:country|countries|country-codes?|geo|geo-?ip|market)\Z")
_COUNTRY = re.compile(r"(?<![\w-])(?:geo|geoip|geot|country)[-_][a-z]{2}(?![\w-])", re.IGNORECASE)
_MAX_TITLE = 100  # characters, in a note


def drop_strays(outline: TextBlocks, kept: list[bool], title: str, *, is_article: bool) -> tuple[list[bool], list[str]]:
    """Return which of the *kept* blocks stay, and notes on what was left out."""
    first = next((n for n, keep in enumerate(kept) if keep and outline.names[outline.block_elements[n]] == "h1"), 0)
    variants = _find_variants(outline) if first else {}
    kept = [
        keep and not (n < first and element in variants)
        for n, (keep, element) in enumerate(zip(kept, outline.block_elements, strict=True))
    ]
    begins, headline = _find_second(outline, kept, title) if is_article else (0, "")
    if not begins:
        return kept, []
    kept = [keep and element < begins for keep, element in zip(kept, outline.block_elements, strict=True)]
    return kept, [f"another article below this one was left out: {headline[:_MAX_TITLE]}"]


def _find_second(outline: TextBlocks, kept: list[bool], title: str) -> tuple[int, str]:
    """Return the element in which a second article begins, which readers get by scrolling on, and its headline.

    It is beside the one with the title of the page, as long as an article, and of the same class; 0 if there is none.
    """
    holders = _inherit(outline, {n: n for n in range(1, len(outline.names)) if _is_article(outline, n)})
    headlines: dict[int, tuple[str, str]] = {}
    lengths: defaultdict[int, int] = defaultdict(int)
    for text, element, keep in zip(outline.block_texts, outline.block_elements, kept, strict=True):
        if keep and (holder := holders.get(element)):
            lengths[holder] += len(text)
            if (name := outline.names[element]) in _HEADLINES:
                headlines.setdefault(holder, (name, text))
    long = [(holder, *headline) for holder, headline in headlines.items() if lengths[holder] >= _MIN_LENGTH]
    if len(long) < 2 or not ends_with(long[0][2], title):
        return 0, ""
    (first, level, _), *others = long
    for other, name, text in others:
        if (
            name == level
            and outline.marks[other].split()[:1] == outline.marks[first].split()[:1]
            and not agree(text, [title])
        ):
            return other, text
    return 0, ""


def _is_article(outline: TextBlocks, element: int) -> bool:
    attributes = outline.attributes[element]
    if outline.names[element] == "article" or not _ADDRESSES.isdisjoint(attributes):
        return True
    return (attributes.get("itemtype") or "").endswith("Article")


def _find_variants(outline: TextBlocks) -> dict[int, int]:
    """Return what is in elements of which others beside them are for other countries: a script shows one of them."""
    groups: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    names = {name for name in set[str]().union(*outline.attributes) if _COUNTRIES.match(name)}
    marks = {mark for mark in {*outline.marks} if _COUNTRY.search(mark)}
    for element, (attributes, mark) in enumerate(zip(outline.attributes, outline.marks, strict=True)):
        if (stated := next(filter(names.__contains__, attributes), "") if names else "") or mark in marks:
            groups[outline.parents[element], stated].append(element)
    return _inherit(outline, {one: one for group in groups.values() if len(group) > 1 for one in group})


def _inherit(outline: TextBlocks, stated: Mapping[int, int]) -> dict[int, int]:
    """Return for each element in one of those *stated* the innermost of these."""
    inside: dict[int, int] = {}
    for element, parent in enumerate(outline.parents if stated else ()):
        if holder := stated.get(element) or inside.get(parent):
            inside[element] = holder
    return inside
