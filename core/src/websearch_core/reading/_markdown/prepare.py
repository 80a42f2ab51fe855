"""Change the tree of a page before it is written, where it is not what people read.

Buttons behind a heading are not part of the text, and a note that a page shows beside
the text does not run into its words.
"""

from __future__ import annotations
import re
from itertools import chain
from operator import attrgetter

from .._element import HEADINGS, Element

_CHILDREN = attrgetter("children")
_MAX_TOOLS_LENGTH = 60  # characters: "[edit | edit source]"
_NO_TOOLS = frozenset({"p", "sup", "table", "ul"})
_BRACKETS = re.compile(r"[\[\]|\s]+")
_MAX_SIBLINGS = 2_000  # of an element: more are not looked through
_MIN_WORDS = 3  # of a sentence beside the text
_ENDS = (".", "!", "?", "。")


# Measured: level by level, as few elements are of these kinds. `level` has the elements
# that are equally deep: the blocks of the page, then what they contain ...
def prepare(root: Element) -> None:
    """Change a tree in place."""
    level = [root]
    while level:
        level = [
            node
            for node in chain.from_iterable(map(_CHILDREN, level))
            if node.__class__ is Element
        ]
        for element in level:
            name = element.name
            if name == "span":
                _part_sentence(element)
            elif name in HEADINGS:
                _drop_tools(element)


def _beside(element: Element, step: int) -> Element | str:
    """Return what stands beside an element that has text; empty if nothing does."""
    if element.parent is None:
        return ""
    siblings = element.parent.children
    if len(siblings) > _MAX_SIBLINGS:
        return ""
    place = siblings.index(element) + step
    while 0 <= place < len(siblings):
        sibling = siblings[place]
        if isinstance(sibling, Element):
            is_blank = not sibling.children
        else:
            is_blank = step > 0 and sibling.isspace()
        if not is_blank:
            return sibling
        place += step
    return ""


def _drop_tools(heading: Element) -> None:
    """Empty what stands behind a heading, or at its end, if it is only to edit it."""
    if len(heading.children) > 1 and _are_tools(heading.children[-1]):
        heading.children.pop()
    behind = _beside(heading, 1)
    if isinstance(behind, Element) and _are_tools(behind):
        behind.children.clear()


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


def _part_sentence(element: Element) -> None:
    """Part a sentence that is shown beside the text from the word before it."""
    if not element.children:
        return
    first = element.children[0]
    if not isinstance(first, str) or not first[:1].isupper():
        return
    before = _beside(element, -1)
    if not isinstance(before, str) or not before[-1:].islower():
        return
    text = element.text()
    if text.endswith(_ENDS) and len(text.split()) >= _MIN_WORDS:
        element.children.insert(0, " ")
