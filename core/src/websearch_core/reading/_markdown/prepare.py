"""Change the tree of a page before it is written, where it is not what people read.

Tools behind headings are no text; notes that stand in a sentence, to be shown beside
it, become paragraphs after it.
"""

from __future__ import annotations
import re
from collections.abc import Sequence

from .._element import BLOCKS, HEADINGS, Element

_MAX_TOOLS_LENGTH = 60  # characters: "[edit | edit source]"
_NO_TOOLS = frozenset({"p", "sup", "table", "ul"})
_BRACKETS = re.compile(r"[\[\]|\s]+")
_MARK = re.compile(r"[0-9]{1,3}|[a-z]|[*†‡§]{1,3}")
_INLINE = frozenset({"span", "small", "sup"})
_MIN_NOTE = 2  # words
_MIN_WORDS = 3  # of a sentence beside the text
_ENDS = (".", "!", "?", "。")


def prepare(root: Element) -> None:
    """Change a tree in place."""
    for element in root.elements():  # what is removed from an element is not visited
        notes = _prepare_children(element)
        if notes:
            _put_behind(element, notes)


def _prepare_children(element: Element) -> list[Element]:
    """Change the children of an element, and return the notes taken from them."""
    notes: list[Element] = []
    heading: Element | None = None  # right before the child
    before = ""  # the text right before it
    for child in element.children:
        if isinstance(child, str):
            before = child
            if not child.isspace():
                heading = None
            continue
        if heading is not None and _are_tools(child):
            child.children.clear()
        heading = None
        if child.name in HEADINGS:
            heading = child
            _drop_tools(child)
        elif child.name in _INLINE:
            _part_sentence(child, before)
            notes += _take_note(child)
        if child.children:
            before = ""
    return notes


def _drop_tools(heading: Element) -> None:
    """Remove the end of a heading if it is only to edit it."""
    if len(heading.children) > 1 and _are_tools(heading.children[-1]):
        heading.children.pop()


def _are_tools(node: Element | str) -> bool:
    """Return whether a node is only links that do something with the heading.

    They stand in brackets and lead to another page, or lead nowhere.
    """
    if isinstance(node, str) or node.name in _NO_TOOLS:
        return False
    text = node.text()
    if not 0 < len(text) <= _MAX_TOOLS_LENGTH:
        return False
    links = [element for element in node.elements() if element.name == "a"]
    labels = "".join(link.text() for link in links)
    if _BRACKETS.sub("", text) != _BRACKETS.sub("", labels):
        return False
    if not any(map(str.isalpha, labels)):
        return False
    hrefs = [link.get("href") for link in links]
    if all(href == "#" for href in hrefs):
        return True
    return text.startswith("[") and not any(href.startswith("#") for href in hrefs)


def _take_note(element: Element) -> list[Element]:
    """Return a note that stands in a sentence, and leave its mark there.

    It repeats its mark: ``small.<span><sup>1</sup><span>1 Measured.</span></span>``.
    """
    first = element.children[0] if element.children else ""
    if isinstance(first, str) or first.name != "sup":
        return []
    mark = first.text()
    text = " ".join(element.text().split()).removeprefix(mark).lstrip()
    if not _MARK.fullmatch(mark) or not text.startswith(mark):
        return []
    while text.startswith(mark):
        text = text.removeprefix(mark).lstrip()
    if len(text.split()) < _MIN_NOTE:
        return []
    element.children[:] = [f" [{mark}]"]
    note = Element("p", {}, None)
    note.children.append(f"[{mark}] {text}")
    return [note]


def _put_behind(element: Element, notes: Sequence[Element]) -> None:
    """Put notes behind the block that an element is, or is in."""
    block = element
    while block.name not in BLOCKS and block.parent is not None:
        block = block.parent
    holder = block.parent
    if holder is None:
        holder = block
        holder.children += notes
    else:
        place = holder.children.index(block) + 1
        holder.children[place:place] = notes
    for note in notes:
        note.parent = holder


def _part_sentence(element: Element, before: str) -> None:
    """Part a sentence that is shown beside the text from the word before it."""
    if not before[-1:].islower() or not element.children:
        return
    first = element.children[0]
    if not isinstance(first, str) or not first[:1].isupper():
        return
    text = element.text()
    if text.endswith(_ENDS) and len(text.split()) >= _MIN_WORDS:
        element.children.insert(0, " ")
