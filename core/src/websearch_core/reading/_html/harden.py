"""Bound what parsing a page can cost.

Parsers need quadratic time for deeply nested elements, hundreds of bytes for an
attribute of two bytes, and a copy of every open ``<b>`` for each paragraph after it: a
page of 34 kB can take 350 MiB. So the source is first rewritten so that its tags can be
counted (`normalize`). Quick counts, which take a millisecond, show that nearly every
page is harmless. In any other page each tag is checked: elements that are nested too
deeply lose their tags, and the source ends where the parsed page would need too much
memory.

The counts hold for any input, since they follow from how the HTML standard builds a
tree, not from what pages do:

- A tag makes at most one element, and at most one new copy of each style (``<b>``,
  ``<a>``) that is open.
- ``</b>`` closes the last open ``<b>``, so that it is not copied again, except if a
  wall (an element that the end tag cannot close across) or eight blocks began after it:
  then parsers give up. Whatever else was nested, misnested or ignored in between makes
  no difference.
- At most one ``<a>`` is copied, the last one. The next ``<a>`` closes it, unless a wall
  or an SVG or MathML element is in between.

Where end tags are missing, the depth of nesting is a guess. The bound on memory limits
what a wrong guess costs.
"""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from .normalize import Normalized, all_but, normalize

_HARMLESS_TAGS = 10_000  # with fewer tags quadratic time does not matter
_MAX_DEPTH = 512  # nested elements; browsers have the same limit
_MAX_STYLES = 6  # <b>, <font> and the like, open at the same time
_MAX_BLOCKS = 8  # in a style; with more, its end tag does not close it
# bytes that the elements may take in the parser, or this many for each byte of a longer
# page,
_ROOM = 11 * 2**20
_ROOM_PER_BYTE = 48
_MOST_ROOM = 66 * 2**20  # and never more; it needs for each:
_ELEMENT = 192
_TEXT = 136
_ATTRIBUTE = 240
_SCARCE = _ROOM // 3  # with less than that left, an exact count is worth its time
_TAG = 16  # bytes counted for a tag that makes no element, since it costs a little time
_FAR = 32  # elements to search for the one that an end tag closes

# Void elements, and those that the next of their kind closes: they do not nest. The
# latter do nest in SVG and MathML, where the names of HTML mean nothing, except those
# that end the drawing.
_FLAT_EVEN_IN_DRAWINGS = frozenset(b"br embed hr img meta p".split())
_FLAT = _FLAT_EVEN_IN_DRAWINGS | frozenset(
    b"area base col input link param source track wbr tr td th thead tbody tfoot "
    b"colgroup option".split()
)
# The next of these closes them too, but only if no special element is in between:
# <li><dd><li><dd> nests ever deeper.
_ITEMS = {
    b"li": frozenset({b"li"}),
    b"dd": frozenset({b"dd", b"dt"}),
    b"dt": frozenset({b"dd", b"dt"}),
}
_SINGLE = _FLAT | _ITEMS.keys()  # text may follow their start or their end, not both
_VOID = frozenset(
    b"area base br col embed hr img input link meta param source track wbr".split()
)
# Styles: the parser reopens them in every block until they are closed, with all of
# their attributes.
_STYLES = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
# Walls: an end tag inside one closes nothing that began before it. Titles are walls
# too, but contain only text.
_WALLS = frozenset(
    b"applet caption table td th marquee object template foreignobject desc mi mo mn "
    b"ms mtext annotation-xml "
    b"select frameset".split()
)
_DRAWINGS = frozenset({b"svg", b"math"})
_BARRIERS = _WALLS | _DRAWINGS
# With one of these inside, a simple count cannot show whether an end tag closes a
# style.
_UNSURE = _STYLES | _WALLS | {b"a"}
# Whether an end tag closes one of these depends on its content.
_IN_DRAWINGS = frozenset(b"foreignobject desc mi mo mn ms mtext annotation-xml".split())
# Their end tags close everything open in them, up to a wall.
_BLOCKS = frozenset(
    b"address article aside blockquote button center details dialog dir div dl "
    b"fieldset figcaption figure footer h1 h2 "
    b"h3 h4 h5 h6 header hgroup listing main menu nav ol pre search section summary ul "
    b"applet caption marquee object "
    b"select table template".split()
)
# The end tag of an ordinary element closes nothing outside of these.
_SPECIAL = (
    _WALLS
    | _DRAWINGS
    | _BLOCKS
    | frozenset(
        b"body col colgroup dd dt form frameset head hr html input keygen li noscript "
        b"option optgroup p plaintext "
        b"tbody textarea tfoot thead title tr xmp".split()
    )
)
_RUBY = frozenset({b"rb", b"rp", b"rt", b"rtc"})  # these close one another
_SPECIAL_BUT_DIV = _SPECIAL - {b"address", b"div"}


def _one_of(names: frozenset[bytes]) -> bytes:
    return rb"(?:" + b"|".join(sorted(names)) + rb")(?=[ \t\n\f\r/>])"


# These match tags in normalized markup, where each quote begins or ends a value. All
# except `_ANY` need lower case.
_UNQUOTED = all_but(b">\"'") + rb"*+"
_ATTRIBUTES = rb"""(%s(?:"[^"]*+"%s|'[^']*+'%s)*+)""" % (
    _UNQUOTED,
    _UNQUOTED,
    _UNQUOTED,
)
_ANY = re.compile(rb"<(/?+)([a-zA-Z][^ \t\n\f\r/>]*+)" + _ATTRIBUTES)
_ONE_ATTRIBUTE = re.compile(
    rb"""[^ \t\n\f\r/>"'<=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^ \t\n\f\r>]++))?+"""
)
_TAG_END = rb"[ \t\n\f\r]*+>"
_STYLE = re.compile(
    rb"<(/?+)(%s)%s(>[^<]*+</\2%s)?+"
    % (_one_of(_STYLES | {b"a"}), _ATTRIBUTES, _TAG_END)
)
_NAME = re.compile(rb"<(/?[a-z][^ \t\n\f\r/>]*+)")
# with its ">" if it follows at once
_NAME_OR_BARE = re.compile(rb"<(/?[a-z][^ \t\n\f\r/>]*+>?+)")

# The start of a style, and everything up to its end if no end tag in it can close
# anything outside: then nothing is copied. It may contain text, void elements, and
# simple elements that are not special and do not begin the style again. (Their names
# are captured after a lookahead, because `re` fails on a group that begins, but does
# not end, in a possessive part.)
_SIMPLE = _STYLES | frozenset(
    b"a abbr cite del ins kbd label mark picture q span sub sup time".split()
)
_VOIDS = rb"<" + _one_of(frozenset(b"br img source wbr".split())) + rb"[^<]*+"
_DRAWING = rb"<svg(?=[ \t\n\f\r/>])[^<]*+</svg" + _TAG_END + rb"[^<]*+"
_INNER = rb"<(?!\1[ \t\n\f\r/>])(?=%s)([a-z]++)[^<]*+(?:%s)*+</\2%s[^<]*+" % (
    _one_of(_SIMPLE),
    _VOIDS,
    _TAG_END,
)
_PHRASE = re.compile(
    rb"<(%s)[^<]*+(?:(?:%s|%s|%s)*+</\1%s())?+"
    % (_one_of(_STYLES | {b"a"}), _VOIDS, _DRAWING, _INNER, _TAG_END)
)
_IS_WHOLE = 3  # the last group of the pattern above
_SOON = 5_000  # bytes within which a simple link ends


def harden(html: bytes) -> Normalized:
    """Remove what makes parsing UTF-8 expensive: thousands of nested elements, hundreds
    of attributes.

    The result is safe to parse. It may end early, but no text is left out before its
    end.
    """
    plain = normalize(html)
    room = min(max(_ROOM, _ROOM_PER_BYTE * len(plain.source)), _MOST_ROOM)
    if _is_harmless(plain.source, room):
        return plain
    return _Walk(plain, room).harden()


def _is_harmless(source: bytes, size: int) -> bool:
    """Return whether the parser takes at most *size* bytes, by counts that are never
    too small.
    """
    source = source.lower()
    tags = source.count(b"<")
    values = source.count(b"=")
    room = size - tags * (_ELEMENT + 2 * _TEXT + _ATTRIBUTE) - values * _ATTRIBUTE
    if room < _SCARCE or tags > _HARMLESS_TAGS:  # a large page
        # that make no element, or fewer
        ends = source.count(b"</") - source.count(b"</p") - source.count(b"</br")
        if tags - ends > size // (_ELEMENT + _TEXT):
            return False
        names = _NAME_OR_BARE.findall(source)
        counts = Counter(names)
        if tags > _HARMLESS_TAGS:
            bare = {name: name.rstrip(b">") for name in counts}
            if not _is_shallow(names, bare):
                return False
        room = size - _count_elements(counts) - values * _ATTRIBUTE
    return _has_room(source, room)


def _has_room(source: bytes, room: int) -> bool:
    """Return whether the copies of all styles take at most *room* bytes."""
    styles = _Styles()
    position = 0
    while room >= 0:
        style = _find_style(source, position)
        if style is None:
            return True
        cost, position = _estimate(source, style.start(), style[1])
        if room - cost < _SCARCE:
            cost, position = _count(styles, source, style.start(), room)
        room -= cost
    return False


def _find_style(source: bytes, position: int) -> re.Match[bytes] | None:
    """Return the next style that may be copied."""
    for phrase in _PHRASE.finditer(source, position):
        if phrase.lastindex != _IS_WHOLE:
            return phrase
    return None


def _count_elements(counts: Mapping[bytes, int]) -> int:
    """Return the bytes that elements may take, counting one attribute for each element
    that has any.
    """
    size = 0
    for written, count in counts.items():
        name = written.rstrip(b">")
        if name in {b"/p", b"/br"}:
            size += count * (_ELEMENT + _TEXT)
        if name[:1] == b"/":
            continue
        texts = 1 if name in _SINGLE else 2
        attributes = 1 if name == written else 0
        size += count * (_ELEMENT + _TEXT * texts + _ATTRIBUTE * attributes)
    return size


def _estimate(source: bytes, begin: int, name: bytes) -> tuple[int, int]:
    """Estimate the cost of a style that ends soon, a copy for each tag and block in it,
    and return where it ends.
    """
    end = source.find(b"</" + name + b">", begin, begin + _SOON)
    tags = _NAME.findall(source, begin + 1, end)
    blocks = sum(map(_SPECIAL.__contains__, tags))
    is_simple = end >= 0 and blocks < _MAX_BLOCKS
    if not is_simple or not _UNSURE.isdisjoint(tags):
        return _MOST_ROOM, begin  # unknown: count exactly
    written = source[begin : source.find(b"<", begin + 1)]
    size = _ELEMENT + _ATTRIBUTE * (1 + written.count(b"=")) + len(written)
    return size * (len(tags) + blocks), end


# Measured: once for each style of a large page.
def _count(styles: _Styles, source: bytes, begin: int, room: int) -> tuple[int, int]:
    """Count the cost of all styles from *begin* until none is open, and return where
    that is.
    """
    cost = 0
    position = begin
    for style in _STYLE.finditer(source, begin):
        begin, end = style.span()
        if source.find(b"<", position, begin) >= 0:
            cost += styles.pass_tags(_NAME.findall(source, position, begin))
        close, name, written, leaf = style.groups()
        if close:
            cost += styles.end_style(name)
        else:
            cost += styles.begin_style(name, written.count(b"=") + 1, len(written))
            if leaf:
                cost += styles.end_style(name)
        if cost > room or len(styles.open) > _MAX_STYLES:
            return _MOST_ROOM, end
        if not styles.size:
            return cost, end
        position = end
    return cost + source.count(b"<", position) * styles.size, len(source)


# Measured: once for each tag of a large page.
def _is_shallow(names: list[bytes], bare: Mapping[bytes, bytes]) -> bool:
    """Return whether nothing is nested too deeply, even if only directly matching end
    tags close elements.
    """
    closed = {name: own[1:] for name, own in bare.items() if own[:1] == b"/"}
    depth: list[bytes] = []
    for name in names:
        if name in closed:
            if depth and depth[-1] == closed[name]:
                depth.pop()
        elif (own := bare[name]) not in _VOID:
            depth.append(own)
            if len(depth) > _MAX_DEPTH:
                return False
    return True


@dataclass(slots=True, eq=False)
class _Style:
    """An element that the parser may copy, the bytes of a copy, and the length of
    `_Styles.inside` when it began.
    """

    name: bytes
    size: int
    place: int


class _Styles:
    """The styles that may be open. Its methods return how many bytes the parser may
    take for copies of them.

    The elements inside them are an upper bound: an end tag counts only if everything
    else in its element has ended. Then, whatever the parser did before, that element is
    no longer open. If everything in it was ordinary too, the end tag closes nothing
    that began before the styles, and they are not copied.
    """

    def __init__(self) -> None:
        self.open: list[_Style] = []
        self.link: _Style | None = None  # the last <a>
        self.lost = 0  # the size of the largest <a> before it that may be open, or not
        self.size = 0  # of one copy of each
        # ordinary elements that are certainly open: only ordinary ones ended in them
        self.nested: list[bytes] = []
        # blocks, walls and drawings that may be open in the styles
        self.inside: list[bytes] = []

    # Measured: once for each tag between styles.
    def pass_tags(self, tags: Iterable[bytes]) -> int:
        """Note *tags* that are not styles, such as ``div`` and ``/div``; count the
        copies that may follow each.
        """
        inside = self.inside
        nested = self.nested
        # in a drawing some start tags close open elements
        drawn = not _DRAWINGS.isdisjoint(inside)
        copies = 0
        for tag in tags:
            if tag[:1] == b"/":
                name = tag[1:]
                if nested and nested[-1] == name:
                    del nested[-1]
                    continue
                if inside and inside[-1] == name and name not in _IN_DRAWINGS:
                    del inside[-1]
                    drawn = drawn and not _DRAWINGS.isdisjoint(inside)
            elif tag in _SPECIAL:
                if tag not in _VOID:
                    inside.append(tag)
                    drawn = drawn or tag in _DRAWINGS
            elif drawn or tag in _RUBY:
                nested.clear()
                continue
            else:
                if tag not in _VOID:
                    nested.append(tag)
                continue
            copies += 1
            nested.clear()
        for style in (*self.open, self.link) if self.link else self.open:
            style.place = min(style.place, len(inside))
        return self.size * copies

    def begin_style(self, name: bytes, attributes: int, length: int) -> int:
        """Note the start tag of a style, with the number of its attributes and their
        total length.
        """
        self.nested.clear()
        if not self.size:
            self.inside.clear()
        size = _ELEMENT + _ATTRIBUTE * attributes + length
        style = _Style(name, size, len(self.inside))
        cost = 0
        if name == b"a":
            if self.link:
                cost = self._count_copies(self.link)
                if not _BARRIERS.isdisjoint(self.inside[self.link.place :]):
                    self.lost = max(self.lost, self.link.size)
            self.link = style
        else:
            if name == b"nobr":
                cost = (1 + _MAX_BLOCKS) * self.size
            self.open.append(style)
        self._measure()
        return cost

    def end_style(self, name: bytes) -> int:
        """Note the end tag of a style."""
        self.nested.clear()
        style = self._find_open(name)
        if style is None:
            return self.size
        cost = self._count_copies(style)
        inner = self.inside[style.place :]
        if len(inner) < _MAX_BLOCKS and _WALLS.isdisjoint(inner):
            if style is self.link:
                self.link = None
            else:
                self.open.remove(style)
            self._measure()
        return cost

    def _find_open(self, name: bytes) -> _Style | None:
        """Return the last style of this name that may be open."""
        if name == b"a":
            return self.link
        for style in reversed(self.open):
            if style.name == name:
                return style
        return None

    def _count_copies(self, style: _Style) -> int:
        """Count what the end of *style* may copy: all styles for each block in it, and
        then all other styles.
        """
        return (
            self.size * (1 + min(len(self.inside) - style.place, _MAX_BLOCKS))
            - style.size
        )

    def _measure(self) -> None:
        self.size = self.lost
        if self.link:
            self.size = max(self.lost, self.link.size)
        for style in self.open:
            self.size += style.size


class _Walk:
    """Check every tag. An element that the parser might still have open counts as open,
    to be safe.
    """

    def __init__(self, plain: Normalized, room: int) -> None:
        self.plain = plain
        self.deepest = (
            _MAX_DEPTH if plain.source.count(b"<") > _HARMLESS_TAGS else _HARMLESS_TAGS
        )
        self.styles = _Styles()
        self.open: list[bytes] = []
        self.names: Counter[bytes] = Counter()  # of those that are open
        self.leaves = 0  # in drawings
        self.room = room
        self.simpler = plain.simpler

    def harden(self) -> Normalized:
        source = self.plain.source
        pieces = bytearray()
        position = 0
        for tag in _ANY.finditer(source):
            if self.room <= 0:
                pieces += source[position : tag.start()]
                return Normalized(bytes(pieces), self.simpler, cut=True)
            name = tag[2].lower()
            self.room -= _TAG
            if tag[1]:
                self._end(name)
            elif not self._begin(name, tag[3]):
                self.simpler = True
                pieces += source[position : tag.start()]
                position = tag.end() + 1  # with its ">"
        if position:
            source = bytes(pieces + source[position:])
        return Normalized(source, self.simpler, self.plain.cut)

    def _begin(self, name: bytes, written: bytes) -> bool:
        """Count an element; return whether its tag may stay."""
        is_style = name in _STYLES
        if is_style and len(self.styles.open) >= _MAX_STYLES:
            return False
        if name in _ITEMS:
            self._close(_ITEMS[name], _SPECIAL_BUT_DIV)
        if not self._nest(name, written):
            return False
        attributes = len(_ONE_ATTRIBUTE.findall(written)) if written else 0
        texts = 1 if name in _SINGLE else 2
        self.room -= _ELEMENT + _ATTRIBUTE * attributes + _TEXT * texts
        styles = self.styles
        if is_style or name == b"a":
            self.room -= styles.begin_style(name, attributes, len(written))
        elif styles.size:
            self.room -= styles.pass_tags([name])
        return True

    def _nest(self, name: bytes, written: bytes) -> bool:
        """Note an element that others may be nested in; return whether it may be."""
        is_drawing = bool(self.names[b"svg"] or self.names[b"math"])
        flat = _FLAT_EVEN_IN_DRAWINGS if is_drawing else _FLAT
        if name in flat:
            return True
        is_copied = name in _STYLES or name == b"a"
        if is_copied and not is_drawing:
            return True
        is_closed = written.endswith(b"/") and name not in _SPECIAL
        if is_drawing and is_closed:
            # few enough even if the parser does not take them for empty elements
            self.leaves += 1
            return self.leaves <= _HARMLESS_TAGS // 2
        if len(self.open) >= self.deepest:
            return False
        self.open.append(name)
        self.names[name] += 1
        return True

    def _end(self, name: bytes) -> None:
        if name in _STYLES or name == b"a":
            self.room -= self.styles.end_style(name)
        else:
            if self.styles.size:
                self.room -= self.styles.pass_tags([b"/" + name])
            if name in {b"p", b"br"}:
                self.room -= _ELEMENT + _TEXT
        walls = _WALLS if name in _BLOCKS else _SPECIAL
        self._close({name}, walls)

    def _close(self, names: AbstractSet[bytes], walls: frozenset[bytes]) -> None:
        """Close the last open element with one of *names*, and the elements in it."""
        if not any(self.names[name] for name in names):
            return
        for place in range(len(self.open) - 1, max(len(self.open) - _FAR, 0) - 1, -1):
            if self.open[place] in names:
                self.names.subtract(self.open[place:])
                del self.open[place:]
                return
            if self.open[place] in walls:
                return
