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
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from .charset import whole

_HARMLESS_LENGTH = 4_000  # bytes: less can do no harm
_HARMLESS_TAGS = 10_000  # below that many the square does not hurt
_DEEPEST = 512  # elements inside one another; browsers stop there too
_MOST_STYLES = 6  # <b>, <font> and the like, open at once
_MOST_ATTRIBUTES = 128  # of one element
_LONGEST_ATTRIBUTE = 20_000  # bytes: what is longer is data
_LARGEST = 4_000_000  # bytes of source that are handed on
_ROOM = 12 * 2**20  # bytes that the elements may take in the parser, which needs so many for each:
_ELEMENT, _TEXT, _ATTRIBUTE = 192, 136, 240
_LEFT_OUT = 16  # what a tag counts that is left out, or a "<" that begins none, which both cost a little time
_FAR = 32  # elements, beyond which nobody looks for the start of what an end tag closes
_MOST_TAGS_IN_DATA = 2_000  # "<" in all the JSON-LD together, which a parser could take for tags

_ONE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+))?"""
_ATTRIBUTES = re.compile(_ONE)
_MARKUP = re.compile(
    rb"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|<(?!!doctype\b)[!?][^>]*+>?"
    rb"|</(?![a-z])[^>]*+>?"
    rb"|<(?![a-z/!?])"
    rb"|<(?P<close>/?)(?P<name>[a-z][^\s/>]*+)(?P<attributes>(?:" + _ONE + rb")*+)[\s/]*+(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_UNSEEN = {name: re.compile(rb"</" + name, re.IGNORECASE) for name in (b"script", b"style", b"textarea")}

# Void elements, and those that the next of their kind closes: they do not nest. The latter do in a drawing, where the
# names of HTML mean nothing, but for those that end it.
_FLAT_EVEN_IN_DRAWINGS = frozenset(b"br dd dt embed hr img li meta p".split())
_FLAT = _FLAT_EVEN_IN_DRAWINGS | frozenset(
    b"area base col input link param source track wbr tr td th thead tbody tfoot colgroup option".split()
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


class _Open(NamedTuple):
    """An element that is not closed yet, and how much of the room one more of it would take."""

    name: bytes
    size: int


class _Tamer:
    """One walk over a source. What a parser might still have open counts as open: rather too much than too little."""

    def __init__(self, html: bytes) -> None:
        self.html = html
        self.deepest = _DEEPEST if html.count(b"<") > _HARMLESS_TAGS else _HARMLESS_TAGS
        self.open: list[_Open] = []
        self.names: Counter[bytes] = Counter()  # of those that are open
        self.styles = 0  # open, and not one at a time
        self.drawn = 0
        self.tags_in_data = 0
        self.room = _ROOM
        self.simpler = False

    def tame(self) -> Tamed:
        source = bytearray()
        position = 0
        for begin, end, instead in self._corrections():
            source += self.html[position:begin]
            source += instead
            position = end
            if len(source) > _LARGEST:
                break
        source += self.html[position : position + _LARGEST + 1]
        cut = self.room <= 0 or len(source) > _LARGEST
        del source[_LARGEST:]
        return Tamed(whole(bytes(source)), self.simpler, cut)

    def _corrections(self) -> Iterator[tuple[int, int, bytes]]:
        """Say which parts of the source, from begin to end, are to be replaced by what."""
        position = 0
        while markup := _MARKUP.search(self.html, position):
            begin, position = markup.span()
            if self.room <= 0:
                yield begin, len(self.html), b""
                return
            name = (markup["name"] or b"").lower()
            if markup[0] == b"<":
                self.room -= _LEFT_OUT
            elif not name:
                yield begin, position, b""
            elif markup["close"]:
                self._close(name)
                self.room -= self._lost(name) + (_ELEMENT + _TEXT if name in _FLAT else _LEFT_OUT)
            else:
                if (instead := self._start(name, markup)) is not None:
                    yield begin, position, instead
                if name in _UNSEEN:
                    ended = _UNSEEN[name].search(self.html, position)
                    content = position, ended.start() if ended else len(self.html)
                    if name != b"script" or not self._is_data(markup[0], *content):
                        yield *content, b""
                    position = content[1]

    def _start(self, name: bytes, tag: re.Match[bytes]) -> bytes | None:
        """Count an element; return what to write instead of its tag, or None to leave that as it is."""
        self.room -= _LEFT_OUT
        attributes = [one[0] for one in islice(_ATTRIBUTES.finditer(tag["attributes"]), _MOST_ATTRIBUTES + 1)]
        some = [one for one in attributes[:_MOST_ATTRIBUTES] if len(one) <= _LONGEST_ATTRIBUTE]
        size = _ELEMENT + _ATTRIBUTE * len(some)
        is_drawing = bool(self.names[b"svg"] or self.names[b"math"])
        if name in _ONE_AT_A_TIME and not is_drawing:
            self._close(name)
        if name not in (_FLAT_EVEN_IN_DRAWINGS if is_drawing else _FLAT) and not self._is_opened(
            _Open(name, size), is_leaf=is_drawing and tag[0].endswith(b"/>")
        ):
            return b""
        self.room -= size + self._lost(name) + (_TEXT if name in _FLAT else 2 * _TEXT)
        if len(some) == len(attributes):
            return None
        self.simpler |= len(attributes) > _MOST_ATTRIBUTES
        return b"<" + name + b"".join(some) + b">"

    def _is_opened(self, element: _Open, *, is_leaf: bool) -> bool:
        name = element.name
        if is_leaf and name not in _SPECIAL:
            self.drawn += 1  # a leaf; should the parser think otherwise, these are not too many either
            return self.drawn <= _HARMLESS_TAGS // 2
        is_style = name in _STYLES and name not in _ONE_AT_A_TIME
        if len(self.open) >= self.deepest or (is_style and self.styles >= _MOST_STYLES):
            self.simpler = True
            return False
        self.open.append(element)
        self.names[name] += 1
        self.styles += is_style
        return True

    def _close(self, name: bytes) -> None:
        """Take from the open elements what an end tag closes for certain. Styles that it closes will open again."""
        if not self.names[name]:
            return
        walls = _WALLS if name in _SPECIAL or name in _STYLES else _SPECIAL
        for place in range(len(self.open) - 1, max(len(self.open) - _FAR, 0) - 1, -1):
            here = self.open[place].name
            if here == name:
                break
            if here in walls:
                return
        else:
            return
        self.names[name] -= 1
        if name in _STYLES:
            del self.open[place]
            self.styles -= name not in _ONE_AT_A_TIME
            return
        inside = self.open[place + 1 :]
        self.open[place:] = [one for one in inside if one.name in _STYLES]
        for one in inside:
            self.names[one.name] -= one.name not in _STYLES

    def _lost(self, name: bytes) -> int:
        """Return the size of the styles that a tag of a block may close, which open again after it."""
        if name not in _SPECIAL and name not in _FLAT:
            return 0
        size = 0
        for element in self.open[: -_FAR - 1 : -1]:
            if element.name in _SPECIAL:
                break
            if element.name in _STYLES:
                size += element.size
        return size

    def _is_data(self, tag: bytes, begin: int, end: int) -> bool:
        if b"ld+json" not in tag:
            return False
        self.tags_in_data += self.html.count(b"<", begin, end)
        return self.tags_in_data <= _MOST_TAGS_IN_DATA
