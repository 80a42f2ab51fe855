"""Footnotes: their marks in the text, the notes themselves, and the ways back from these to those."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..html.tree import Element

_NOTE = re.compile(r"note|fn|ftn|edn|cite|ref|bib|foot|^cr\d|^b\d", re.IGNORECASE)  # in the name of its place
_BACK = re.compile(r"cite_?ref|fn-?ref|_?(?:ftn|edn)ref|(?:foot)?note-?ref|back", re.IGNORECASE)
_LABEL = re.compile(r"\[\s*([^\[\]]{1,12}?)\s*\]|\(?([0-9]{1,3}|[a-z]|[*†‡§]{1,3})\)?")
_LONGEST_BACK = 12  # characters: an arrow, a letter, "jump up"
_OWN_MARK = re.compile(r"(?:[\^↑]\s*)?(?:\[[^\[\]\s]{1,6}\]|\(?[0-9]{1,3}[.):]?(?=\s)|[*†‡§]{1,3})?\s*")


def mark(link: Element, label: str) -> str:
    """Return how the text refers to a footnote, if the link does: ``[1]``; else an empty string."""
    found = _LABEL.fullmatch(label)
    return f"[{found[1] or found[2]}]" if found and _NOTE.search(place(link)) else ""


def leads_back(link: Element, label: str) -> bool:
    """Return whether a link leads from a footnote back to its mark."""
    return len(label) <= _LONGEST_BACK and _BACK.search(place(link)) is not None


def place(link: Element) -> str:
    """Return the ``id`` of the element of the page that the link leads to."""
    return link.get("href").partition("#")[2]


def footnotes(root: Element, hrefs: Iterable[str]) -> dict[str, str]:
    """
    Find the footnotes of a text.

    Args:
        root: The text.
        hrefs: What its links say, each once: whether there may be any is seen in these.

    Returns:
        The mark of each by the ``id`` of the element that holds the note.

    """
    if not any("#" in href and _NOTE.search(href.partition("#")[2]) for href in hrefs):
        return {}
    marks: dict[str, str] = {}
    places: set[str] = set()
    for element in root.elements():
        if element.children and (own := element.get("id")):
            places.add(own)
        if element.name == "a" and "#" in element.get("href"):
            label = element.text()
            if not leads_back(element, label) and (found := mark(element, label)):
                marks.setdefault(place(element), found)
    return {name: found for name, found in marks.items() if name in places}


def without_mark(note: str) -> str:
    """Take the mark away that the text of a note begins with, whichever way the page writes it."""
    return note[_OWN_MARK.match(note).end() :]  # type: ignore[union-attr]  # it can match nothing
