"""Footnotes: their marks in the text, the notes themselves, and the links back to the marks."""

from __future__ import annotations
import re
from collections.abc import Iterable

from .._element import Element

_NOTE = re.compile(r"note|fn|ftn|edn|cite|ref|bib|foot|^cr\d|^b\d", re.IGNORECASE)  # in the id of a note
_BACK = re.compile(r"cite_?ref|fn-?ref|_?(?:ftn|edn)ref|(?:foot)?note-?ref|back", re.IGNORECASE)
_LABEL = re.compile(r"\[\s*([^\[\]]{1,12}?)\s*\]|\(?([0-9]{1,3}|[a-z]|[*†‡§]{1,3})\)?")
_MAX_BACK_LENGTH = 12  # characters: an arrow, a letter, or "jump up"
_OWN_MARK = re.compile(r"(?:[\^↑]\s*)?(?:\[[^\[\]\s]{1,6}\]|\(?[0-9]{1,3}[.):]?(?=\s)|[*†‡§]{1,3})?\s*")


def mark(link: Element, label: str) -> str:
    """Return the mark of the footnote that a link refers to, such as ``[1]``, or an empty string."""
    found = _LABEL.fullmatch(label)
    return f"[{found[1] or found[2]}]" if found and _NOTE.search(place(link)) else ""


def leads_back(link: Element, label: str) -> bool:
    """Return whether a link leads from a footnote back to its mark."""
    return len(label) <= _MAX_BACK_LENGTH and _BACK.search(place(link)) is not None


def place(link: Element) -> str:
    """Return the ``id`` of the element that the link points to, on the same page."""
    return link.get("href").partition("#")[2]


def find_footnotes(root: Element, hrefs: Iterable[str]) -> dict[str, str]:
    """Find the footnotes of a text: the mark of each by the ``id`` of its element.

    The distinct targets of its links, *hrefs*, tell quickly whether there can be any.
    """
    if not any(_NOTE.search(href.partition("#")[2]) for href in hrefs if "#" in href):
        return {}
    places: set[str] = set()
    links: list[Element] = []
    for element in root.elements():
        attributes = element.attributes
        if attributes and element.children and (own := attributes.get("id")):
            places.add(own)
        if element.name == "a" and "#" in element.get("href"):
            links.append(element)
    marks: dict[str, str] = {}
    for link in links:
        if (name := place(link)) in places and name not in marks:
            label = link.text()
            if not leads_back(link, label) and (found := mark(link, label)):
                marks[name] = found
    return marks


def strip_mark(note: str) -> str:
    """Remove the mark that the text of a note begins with, however the page writes it."""
    return note[_OWN_MARK.match(note).end() :]  # type: ignore[union-attr]  # always matches, maybe nothing
