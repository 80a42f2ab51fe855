"""
Take the teeth out of markup before a parser bites on it.

Parsers need time in the square of how deep elements are nested and of how many attributes one has: half a megabyte of
``<div>`` keeps them busy for minutes. Browsers stop at 512 levels; so do we, here, where it costs next to nothing.
"""

from __future__ import annotations

import re
from collections import Counter

_DEEPEST = 512  # elements inside one another
_HARMLESS_TAGS = 10_000  # below that many the square does not hurt
_HARMLESS_LENGTH = 50_000  # characters, likewise

_ATTRIBUTE = r"""(?>[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+))?)"""
_CROWDED = re.compile(rf"(<[a-zA-Z][^\s/>]*+{_ATTRIBUTE}{{128}}){_ATTRIBUTE}*+")
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<raw>script|style|textarea)\b.*?(?:</(?P=raw)|\Z)|<(?P<close>/?)(?P<name>[a-z][^\s/>]*+)[^>]*+>?",
    re.DOTALL | re.IGNORECASE,
)
# Void elements, and those that the next of their kind closes: they do not nest.
_FLAT = frozenset(
    "area base br col embed hr img input link meta param source track wbr "
    "p li dt dd tr td th thead tbody tfoot colgroup option".split()
)


def tame(html: str) -> tuple[str, bool]:
    """
    Leave out start tags that are nested deeper, and attributes that are more, than any honest page has.

    Args:
        html: The source of a page.

    Returns:
        The source to parse, and whether anything was left out. Text is never left out.

    """
    if len(html) < _HARMLESS_LENGTH:
        return html, False
    tamed = _CROWDED.sub(r"\1", html)
    if tamed.count("<") > _HARMLESS_TAGS:
        tamed = _flattened(tamed)
    return tamed, len(tamed) != len(html)


def _flattened(html: str) -> str:
    open_elements: Counter[str] = Counter()
    depth = 0
    kept: list[str] = []
    position = 0
    for tag in _TAG.finditer(html):
        name = (tag["name"] or "").lower()
        if not name or name in _FLAT:
            continue
        if tag["close"]:
            if open_elements[name]:
                open_elements[name] -= 1
                depth -= 1
        elif depth >= _DEEPEST:
            kept.append(html[position : tag.start()])
            position = tag.end()
        elif not tag[0].endswith("/>"):
            open_elements[name] += 1
            depth += 1
    kept.append(html[position:])
    return "".join(kept)
