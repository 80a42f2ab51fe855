"""Read just as much of the text of an element as a question needs.

The parser copies the whole text of an element, into memory that it keeps as long as
the page. Elements stand inside each other, so asking each for its text costs their
number times the page.
"""

from __future__ import annotations
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


def text_of(node: LexborNode, limit: int) -> str:
    """Return the text of an element; of one that has more than *limit* characters,
    some that are more.
    """
    pieces: list[str] = []
    length = 0
    for text in _texts(node):
        pieces.append(text)
        length += len(text)
        if length > limit:
            break
    return "".join(pieces)


def has_text(nodes: Iterable[LexborNode], length: int) -> bool:
    """Return whether elements have at least *length* characters, white space around
    texts excepted. What stands in several of them counts once.
    """
    visited: set[int] = set()
    left = length
    for node in nodes:
        if node.mem_id in visited:
            continue
        visited.add(node.mem_id)
        for text in _texts(node, visited):
            left -= len(text.strip())
            if left <= 0:
                return True
    return left <= 0


def says_something(element: LexborNode) -> bool:
    """Return whether an element has a text other than white space."""
    return any(map(str.strip, _texts(element)))


def _texts(root: LexborNode, visited: set[int] | None = None) -> Iterator[str]:
    """Yield the texts in an element, and add the elements in it to *visited*; those
    that are there are passed by.
    """
    waiting = [root.first_child]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        waiting.append(node.next)
        if node.is_text_node:
            yield node.text_lexbor() or ""
        elif node.is_element_node:
            if visited is not None:
                if node.mem_id in visited:
                    continue
                visited.add(node.mem_id)
            waiting.append(node.first_child)


def first_element(node: LexborNode) -> LexborNode | None:
    """Return the first child of an element, if that is an element, too."""
    child = node.first_child
    while child is not None and child.is_empty_text_node:
        child = child.next
    if child is None or not child.is_element_node:
        return None
    return child


def element_beside(node: LexborNode, *, after: bool) -> LexborNode | None:
    """Return the element before or after another, if only white space parts them."""
    beside = _past_space(node, after=after)
    if beside is None or not beside.is_element_node:
        return None
    return beside


def element_near(node: LexborNode, *, after: bool) -> LexborNode | None:
    """Return the element before or after another; beside its parent, if it comes first
    or last there: of ``<b>10<i> minutes</i></b> <u>min</u>``, ``u`` is near ``i``.
    """
    parent = node.parent
    if parent is not None and _past_space(node, after=after) is None:
        return element_beside(parent, after=after)
    return element_beside(node, after=after)


def _past_space(node: LexborNode, *, after: bool) -> LexborNode | None:
    beside = node.next if after else node.prev
    while beside is not None and beside.is_empty_text_node:
        beside = beside.next if after else beside.prev
    return beside
