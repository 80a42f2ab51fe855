"""
Take the teeth out of markup before a parser bites on it.

Parsers need time in the square of how deep elements are nested, hundreds of bytes for two bytes of an attribute, and
a copy of every ``<b>`` that is still open for each paragraph after it: a page of 34 kB takes 350 MiB. So the source is
walked over once, without building anything. What no reader sees (comments, scripts, style sheets) is left out, since a
parser could take it for markup after all; what is nested too deeply loses its tags; and where the parsed page would
outgrow its room, the source ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HARMLESS_LENGTH = 4_000  # bytes: less can do no harm
_HARMLESS_TAGS = 10_000  # below that many the square does not hurt
_DEEPEST = 512  # elements inside one another; browsers stop there too
_MOST_STYLES = 16  # <b>, <font> and the like, open at once
_MOST_ATTRIBUTES = 128  # of one element
_LONGEST_ATTRIBUTE = 20_000  # bytes: what is longer is data
_LARGEST = 6_000_000  # bytes of source that are handed on
_ROOM = 16 * 2**20  # bytes that the elements may take in the parser, which needs so many for each:
_ELEMENT, _TEXT, _ATTRIBUTE = 192, 136, 240
_MOST_TAGS_IN_DATA = 2_000  # "<" in all the JSON-LD together, which a parser could take for tags

_ONE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+))?"""
_ATTRIBUTES = re.compile(_ONE)
_MARKUP = re.compile(
    rb"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|<(?!!doctype\b)[!?][^>]*+>?"
    rb"|</(?![a-z])[^>]*+>?"
    rb"|<(?P<close>/?)(?P<name>[a-z][^\s/>]*+)(?P<attributes>(?:" + _ONE + rb")*+)[\s/]*+(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_UNSEEN = {name: re.compile(rb"</" + name, re.IGNORECASE) for name in (b"script", b"style", b"textarea")}

# Void elements, and those that the next of their kind closes: they do not nest.
_FLAT = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"p li dt dd tr td th thead tbody tfoot colgroup option".split()
)
# What the parser opens again in every block until it is closed, with all of its attributes.
_STYLES = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
_ONE_AT_A_TIME = frozenset({b"a", b"nobr"})
# Past these an end tag closes nothing, whatever its name.
_WALLS = frozenset(
    b"applet caption html table td th marquee object template foreignobject desc title mi mo mn ms mtext "
    b"annotation-xml".split()
)
# Past these the end tag of an ordinary element closes nothing.
_SPECIAL = _WALLS | frozenset(
    b"address article aside blockquote body button center details dir div dl fieldset figcaption figure footer form "
    b"frameset h1 h2 h3 h4 h5 h6 head header hgroup iframe listing main menu nav noembed noframes noscript ol "
    b"plaintext pre script search section select style summary svg math textarea ul xmp".split()
)


class Tamed(NamedTuple):
    """The source to parse; whether tags or attributes were left out of it, and whether it ends before the page."""

    source: bytes
    simpler: bool = False
    cut: bool = False


def tame(html: bytes) -> Tamed:
    """
    Leave out what no honest page has: thousands of elements inside one another, hundreds of attributes.

    Args:
        html: The source of a page, in UTF-8.

    Returns:
        What may be parsed. Text is never left out of it, but where it ends.

    """
    return Tamed(html) if len(html) < _HARMLESS_LENGTH else _Tamer(html).tame()


class _Tamer:
    def __init__(self, html: bytes) -> None:
        self.html = html
        self.deepest = _DEEPEST if html.count(b"<") > _HARMLESS_TAGS else _HARMLESS_TAGS
        self.open: list[bytes] = []  # elements, but for those that are flat
        self.styles: list[tuple[bytes, int]] = []  # open ones, and how much each takes
        self.leaves = 0
        self.tags_in_data = 0
        self.room = _ROOM
        self.simpler = False

    def tame(self) -> Tamed:
        kept: list[bytes] = []
        length = position = 0
        for begin, end, instead in self._corrections():
            kept += (self.html[position:begin], instead)
            length += begin - position + len(instead)
            position = end
            if length > _LARGEST:
                break
        rest = self.html[position:] if self.room > 0 else b""
        source = b"".join([*kept, rest])
        cut = self.room <= 0 or len(source) > _LARGEST
        return Tamed(source[:_LARGEST], self.simpler, cut)

    def _corrections(self) -> Iterator[tuple[int, int, bytes]]:
        """Say which parts of the source, from begin to end, are to be replaced by what."""
        position = 0
        while markup := _MARKUP.search(self.html, position):
            begin, position = markup.span()
            if not markup["name"]:
                yield begin, position, b""
                continue
            name = markup["name"].lower()
            if markup["close"]:
                self.room -= _TEXT + sum(size for _, size in self.styles)
                self._closed(name)
            else:
                instead = self._opened(name, markup)
                if self.room <= 0:
                    yield begin, len(self.html), b""
                    return
                if instead is not None:
                    yield begin, position, instead
                if name in _UNSEEN:
                    ended = _UNSEEN[name].search(self.html, position)
                    content = position, ended.start() if ended else len(self.html)
                    if name != b"script" or not self._is_data(markup[0], *content):
                        yield *content, b""
                    position = content[1]

    def _opened(self, name: bytes, tag: re.Match[bytes]) -> bytes | None:
        """Count a start tag; return what to write instead of it, or None to leave it as it is."""
        if name in _ONE_AT_A_TIME:
            self._closed(name)
        if name not in _FLAT and not self._may_nest(name, tag[0]):
            return b""
        source = tag["attributes"]
        attributes = _ATTRIBUTES.findall(source) if source else []
        some = [one for one in attributes if len(one) <= _LONGEST_ATTRIBUTE][:_MOST_ATTRIBUTES]
        size = _ELEMENT + _ATTRIBUTE * len(some)
        self.room -= size + _TEXT + sum(carried for _, carried in self.styles)
        if name in _STYLES:
            self.styles.append((name, size))
        if len(some) == len(attributes):
            return None
        self.simpler = True
        return b"<" + name + b"".join(some) + b">"

    def _may_nest(self, name: bytes, tag: bytes) -> bool:
        """Count an element that others can be in, unless there are too many around it."""
        if tag.endswith(b"/>") and name not in _SPECIAL and self._is_drawing():
            self.leaves += 1  # not inside one another; should a parser see that differently, their number is bounded
            return self.leaves < _HARMLESS_TAGS // 2
        if len(self.open) >= self.deepest or (name in _STYLES and len(self.styles) >= _MOST_STYLES):
            self.simpler = True
            return False
        self.open.append(name)
        return True

    def _is_drawing(self) -> bool:
        return any(name in {b"svg", b"math"} for name in self.open)

    def _closed(self, name: bytes) -> None:
        """Take from the open elements what an end tag closes for certain; the rest counts on."""
        walls = _WALLS if name in _SPECIAL or name in _STYLES else _SPECIAL
        for place in range(len(self.open) - 1, -1, -1):
            if self.open[place] == name:
                break
            if self.open[place] in walls:
                return
        else:
            return
        if name in _STYLES:
            del self.open[place]
            last = max(n for n, (style, _) in enumerate(self.styles) if style == name)
            del self.styles[last]
        else:
            self.open[place:] = [inner for inner in self.open[place + 1 :] if inner in _STYLES]

    def _is_data(self, tag: bytes, begin: int, end: int) -> bool:
        if b"ld+json" not in tag:
            return False
        self.tags_in_data += self.html.count(b"<", begin, end)
        return self.tags_in_data <= _MOST_TAGS_IN_DATA
