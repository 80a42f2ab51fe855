"""Who wrote a page and when, as readers are told it: in microdata, or in the few lines around the headline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ..._text.dates import find_date, parse_date

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NEAR = 80  # nodes after the headline
_BEFORE = 60  # nodes that may stand before it, within
_ABOVE = 3  # levels above it
_MAX_PROPERTIES = 200
_MAX_LENGTH = 100  # characters of a line that names its author
_MAX_LEVELS = 20
_MAX_WITHIN = 100  # nodes in an element that has a line of text
_MAX_TEXT_LENGTH = 6_000  # characters
_MAX_WORDS = 12  # of a name, or of several

_UNSEEN = frozenset("script style nav svg button select form template iframe picture img".split())
_APART = frozenset({"br", "div", "li", "p"})
_HEADINGS = frozenset({"h2", "h3", "h4"})
# Inside these, what is told is told of something else than the page.
_OTHERS = re.compile(r"comment|review|answer|hasPart|itemListElement|related", re.IGNORECASE)
# Names of classes, as people make them up: byline, post-author, authorName, c-author__name, username.
_BY_CLASS = re.compile(
    r"(?:^|[\s_-])(?:post|entry|article|page|blog|story|meta|c|m)?[_-]*(?:authors?|by-?line|writers?|user-?name|posted-?by)"
    r"(?:[_-]*(?:names?|links?|text|titles?|info|url|label|value))?(?:__?\w{5,6})?(?=\s|$)"
    r"|[aA]uthor_?Name|PostUser-name",
    re.ASCII,
)
_VERB = r"(?:written|posted|published|reported|created|authored|submitted|asked|started|words|story|article)"
_BY = re.compile(rf"^(?:{_VERB}\s+)?by\b[\s:]*|^(?:author|authors|writer|par|von|por)\b\s*:?\s*", re.IGNORECASE)
_LABEL = re.compile(rf"(?:{_VERB}\s+)?by\s*:?|authors?\s*:?|thread starter|topic author|topic starter", re.IGNORECASE)
_BY_NAME = re.compile(rf"(?:(?i:{_VERB})\s+)?(?:by|By|BY)\b[\s:]+(?=[^\W\d_])(?![a-z])")
_END = re.compile(
    r"\s*[|·•»«]\s*|\s+[-–—/]\s+"  # noqa: RUF001 - as pages have them
    r"|,?\s*\b(?:published|last updated|updated on|updated|posted|on)\b[\s:]*(?=\w*\W*\d|$)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"[12]\d{3}")
_CHANGED = re.compile(r"updat|modif|revis|edited|changed", re.IGNORECASE)
_NO_NAME = re.compile(
    r"https?:|www\.|@\S+\.\w|[{}<>\[\]]|[.!?]\s+\w+\s+\w+\s+\w+|^\W*$|^\d+\b"
    r"|^(?:the )?(?:authors?|by|admin|administrator|unknown|anonymous|guest|editor|user-?name|name)$"
    r"|^(?:share|follow|more|reviews?|home|category)$",
    re.IGNORECASE,
)


@dataclass
class Byline:
    """What was found; each may be missing."""

    author: str | None = None
    published: datetime | None = None
    modified: datetime | None = None

    @property
    def complete(self) -> bool:
        """Whether there is nothing more to look for; few pages that tell two of three tell the third."""
        return bool(self.author and self.published)

    def date(self, date: datetime | None, words: str) -> None:
        """Take a date for what the *words* around it say."""
        if date is None:
            return
        if _CHANGED.search(words):
            self.modified = self.modified or date
        else:
            self.published = self.published or date


def read_byline(document: LexborHTMLParser, headline: LexborNode | None) -> Byline:
    """
    Look for who wrote a page and when.

    Args:
        document: The page.
        headline: Where its title is shown.

    """
    found = Byline()
    _read_microdata(document, found)
    if headline is not None and not found.complete:
        _read_lines(headline, found)
    return found


def person(text: str) -> str | None:
    """Return the name in a line such as ``By Ada Lovelace | May 4``; None if there is none."""
    line = _BY.sub("", " ".join(text[: 2 * _MAX_LENGTH].split()))
    line = _END.split(line, maxsplit=1)[0].strip(" ,;:-–—")  # noqa: RUF001 - as pages have them
    if not 2 <= len(line) <= _MAX_LENGTH or _NO_NAME.search(line) or find_date(line):
        return None
    return line if len(line.split()) <= _MAX_WORDS else None


def _read_microdata(document: LexborHTMLParser, found: Byline) -> None:
    for node in document.css("[itemprop]")[:_MAX_PROPERTIES]:
        kind = node.attributes.get("itemprop")
        if kind not in {"author", "creator", "datePublished", "dateCreated", "dateModified"} or _is_of_others(node):
            continue
        if kind.startswith("date"):
            value = _value(node)
            found.date(parse_date(value) or find_date(value), kind)
        elif not found.author:
            found.author = person(_value(node.css_first('[itemprop="name"]') or node))


def _value(node: LexborNode) -> str:
    attributes = node.attributes
    return attributes.get("content") or attributes.get("datetime") or line_of(node)


def _is_of_others(node: LexborNode) -> bool:
    above = node.parent
    for _ in range(_MAX_LEVELS):
        if above is None or above.tag == "body":
            break
        attributes = above.attributes
        if _OTHERS.search(f"{attributes.get('itemprop')} {attributes.get('itemtype')}"):
            return True
        above = above.parent
    return False


def _read_lines(headline: LexborNode, found: Byline) -> None:
    title = line_of(headline)
    before, labelled = "", False
    for node, tag, below in _around(headline):
        if not tag:
            line = (node.text_content or "")[: 2 * _MAX_LENGTH].strip()
            if not line:
                continue
            if len(line) <= _MAX_LENGTH:
                if not found.author and (labelled or _BY_NAME.match(line)):
                    found.author = person(line)
                if _YEAR.search(line):
                    found.date(find_date(line), f"{before} {line}")
            labelled = bool(_LABEL.fullmatch(line))
            before = line[-40:]
        elif tag == "time":
            attributes = node.attributes
            found.date(parse_date((attributes.get("datetime") or "").strip()), f"{before} {attributes.get('class')}")
        elif below and tag in _HEADINGS and _leads_on(node, title):
            return
        elif (
            not found.author
            and (attributes := node.attributes)
            and ("author" in (attributes.get("rel") or "") or _BY_CLASS.search(attributes.get("class") or ""))
        ):
            found.author = person(line_of(node))
        if found.complete:
            return


def _leads_on(heading: LexborNode, title: str) -> bool:
    """Whether a heading is a link to another page: from there on, others are told of."""
    text = line_of(heading)
    return heading.css_first("a") is not None and text not in title and title not in text


def _around(headline: LexborNode) -> Iterator[tuple[LexborNode, str, bool]]:
    """
    Walk over the elements and texts shortly before the headline, in it, and after it, in the order of the page.

    With each comes the name of the element, none for a text, and whether the headline has begun.
    """
    start = headline
    for _ in range(_ABOVE):
        above = start.parent
        if above is None or above.tag in {"body", "html", "main", None}:
            break
        start = above
    goal = headline.mem_id
    node: LexborNode | None = start
    left, passed = _BEFORE, False
    while node is not None and left:
        if not passed and node.mem_id == goal:
            left, passed = _NEAR, True
        left -= 1
        if not left and not passed:  # too much stands before the headline
            node, left, passed = headline, _NEAR, True
        following = None
        if node.is_text_node:
            if not node.is_empty_text_node:
                yield node, "", passed
        elif node.is_element_node and (tag := node.tag or "") not in _UNSEEN:
            yield node, tag, passed
            following = node.first_child
        while following is None and node is not None:
            following = node.next
            if following is None:
                node = node.parent
        node = following


def line_of(node: LexborNode) -> str:
    """Return the text of an element on one line: the beginning of it, if there are many elements in it."""
    return " ".join("".join(_pieces(node)).split())


def begins(node: LexborNode, line: str) -> bool:
    """Return whether the text of an element begins with *line*, of which its first piece tells enough in most cases."""
    first = " ".join(next((piece for piece in _pieces(node) if not piece.isspace()), "").split())
    return (line.startswith(first) or first.startswith(line)) and line_of(node).startswith(line)


def _pieces(node: LexborNode) -> Iterator[str]:
    """The texts in an element, and a blank where a block begins."""
    waiting, left = [node.first_child], _MAX_WITHIN
    while waiting and left:
        child = waiting.pop()
        if child is None:
            continue
        left -= 1
        waiting.append(child.next)
        if child.is_text_node:
            yield (child.text_content or "")[:_MAX_TEXT_LENGTH]
        elif child.is_element_node and (tag := child.tag) not in _UNSEEN:
            if tag in _APART:
                yield " "
            waiting.append(child.first_child)
