"""The light tree that the Markdown writer walks."""

from __future__ import annotations
import re
from collections.abc import Container, Iterator, Mapping

Attributes = Mapping[str, str | None]
LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
HEADINGS = frozenset(LEVELS)
BLOCKS = HEADINGS | frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl "
    "dt fieldset figcaption "
    "figure footer form header hgroup hr legend li main menu nav ol p pre search "
    "section summary table tbody td "
    "tfoot th thead tr ul".split()
)
_LINES = BLOCKS | {"br"}  # each is a line of its own
BLANKS = re.compile("[ \t\n\r\f\xa0]{2,}|[\t\n\r\f\xa0]")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")


class Element:
    """An element of the kept content."""

    __slots__ = ("attributes", "children", "name", "parent")

    def __init__(
        self, name: str, attributes: Attributes, parent: Element | None
    ) -> None:
        self.name = name
        self.attributes = attributes
        self.parent = parent
        self.children: list[Element | str] = []

    def get(self, attribute: str) -> str:
        """Return the value of *attribute*, or an empty string."""
        return self.attributes.get(attribute) or ""

    def elements(self, name: str = "") -> Iterator[Element]:
        """Yield this element and all inside it, in the order of the page.

        Or only those of that *name*.
        """
        waiting: list[Element | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                continue
            if name in {"", node.name}:
                yield node
            waiting += reversed(node.children)

    def inner(self, names: Container[str]) -> Iterator[Element]:
        """Yield the children that have one of some *names*."""
        for child in self.children:
            if isinstance(child, Element) and child.name in names:
                yield child

    def text(self) -> str:
        """Return the plain text, with each block on its own line."""
        pieces: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                pieces.append(node)
            elif node.name in _LINES:
                pieces.append("\n")
                waiting.append("\n")
                waiting += reversed(node.children)
            else:
                waiting += reversed(node.children)
        return _LINE_ENDS.sub("\n", "".join(pieces)).strip()
