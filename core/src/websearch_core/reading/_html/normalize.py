"""Rewrite markup so that every parser finds the same tags in it.

Counting tags without building a tree can be deceived: ``</b>`` closes nothing in a
comment, an attribute value or a script, and an element that hides tags in HTML does not
hide them in SVG or MathML. So all of this is removed. Content that is never displayed
(comments, scripts, style sheets) is left out; a ``<`` in text, in a title or in a value
becomes ``&lt;``; an unusual tag is rewritten. Then, whatever a parser makes of the
elements:

- each ``<`` begins a tag, which is ``</name>`` or ``<name one two="2" three='3'
  four=4>``, or a ``<!doctype>``;
- at most one of its attributes has no value, so it has at most one attribute more than
  it has ``=``;
- everything else is text, in every state that a parser can be in.
"""

from __future__ import annotations
import re
from html import unescape
from typing import NamedTuple

from .._charset import trim_partial

_MAX_ATTRIBUTES = 128  # of one element
_MAX_ATTRIBUTE_LENGTH = 20_000  # bytes: anything longer is data
_MAX_SIZE = 4_000_000  # bytes of rewritten source
_MAX_EFFORT = 1_000_000  # corrections, which take about a microsecond each
_REWRITE_EFFORT = 5  # corrections that a rewritten tag counts as
_MAX_TAGS_IN_DATA = 2_000  # "<" in one piece of JSON-LD


def all_but(marks: bytes) -> bytes:
    """Return a character class of all bytes except *marks*, not negated, since ``re``
    matches negated ones slowly.
    """
    runs = re.findall(b"[^" + re.escape(marks) + b"]+", bytes(range(256)))
    return (
        b"["
        + b"".join(re.escape(run[:1]) + b"-" + re.escape(run[-1:]) for run in runs)
        + b"]"
    )


_SPACE = rb"[ \t\n\f\r]"
_ENDS = rb"(?=[ \t\n\f\r/>])"  # the end of a name
_PLAIN = all_but(b" \t\n\f\r/>\"'<=")
_TAG_NAME = rb"[a-zA-Z]" + _PLAIN + rb"{0,200}+"

# The usual form of a tag, for the fast path. Any other tag is handled on its own.
_NAME = _PLAIN + rb"{1,500}+"
_VALUE = rb"""(?:"%s{0,19000}+"|'%s{0,19000}+'|%s{1,19000}+)""" % (
    all_but(b'"<'),
    all_but(b"'<"),
    all_but(b" \t\n\f\r>\"'<="),
)
_VALUED = (
    rb"(?:[ \t\n\f\r/]++"
    + _NAME
    + _SPACE
    + rb"*+="
    + _SPACE
    + rb"*+"
    + _VALUE
    + rb"){0,63}+"
)
_BEGIN = (
    _VALUED + rb"(?:>|(?:[ \t\n\f\r/]++" + _NAME + _VALUED + rb")?+[ \t\n\f\r/]*+>)"
)
_END = rb"/" + _TAG_NAME + _SPACE + rb"*+>"

# Elements whose content is text, not markup, except in a drawing. Readers see the
# content of the second list.
_UNSEEN = b"script style textarea iframe noembed noframes".split()
_SEEN = b"title xmp".split()
_RAW = {
    name: re.compile(rb"</" + name + _ENDS, re.IGNORECASE)
    for name in (*_UNSEEN, *_SEEN)
}
_RAW_NAME = rb"(?i:" + b"|".join(_RAW) + rb")" + _ENDS
_RAW_TAG = re.compile(rb"<(?P<name>" + _RAW_NAME + rb")" + _BEGIN)
_MAY_BE_RAW = rb"(?=[iInNsStTxX][cCeEfFiImMoOtT])"  # a quick check
_START = rb"(?!" + _MAY_BE_RAW + _RAW_NAME + rb")" + _TAG_NAME + _BEGIN
_USUAL = re.compile(rb"[^<]*+(?:<(?:" + _END + rb"|" + _START + rb")[^<]*+)*+")

# Any tag, as in the HTML standard.
_ANY_NAME = rb"[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
_ANY_VALUE = rb"""(?:"[^"]*+"?+|'[^']*+'?+|[^ \t\n\f\r>"'][^ \t\n\f\r>]*+)"""
_ANY_ATTRIBUTE = rb"[ \t\n\f\r/]*+%s(?:" + _SPACE + rb"*+=" + _SPACE + rb"*+%s?+)?+"
_ATTRIBUTE = re.compile(
    _ANY_ATTRIBUTE % (b"(" + _ANY_NAME + b")", b"(" + _ANY_VALUE + b")")
    + rb"|[ \t\n\f\r/]++"
)
_ODD = re.compile(
    rb"(?P<comment><!--(?:-?>)?+)"
    rb"|(?P<doctype><!doctype" + _ENDS + rb"[^<>]{0,500}+>)"
    rb"|<[!?][^>]*+>?+"
    rb"|</(?![a-z])[^>]*+>?+"
    rb"|(?P<text>(?:<(?![a-z/!?]))++)"
    rb"|<(?P<close>/?+)(?P<name>[a-z][^ \t\n\f\r/>]*+)"
    rb"(?P<attributes>(?:"
    + _ANY_ATTRIBUTE % (_ANY_NAME, _ANY_VALUE)
    + rb")*+)[ \t\n\f\r/]*+(?P<end>>?+)",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    rb"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)"
    + _ENDS
    + rb")(?P<name>[a-zA-Z][\w:.-]{0,200}+)"
    rb"(?P<attributes>(?:[ \t\n\f\r]++[\w:.-]{1,500}+"
    rb"(?:\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))?+){0,128}+)[ \t\n\f\r]*+/>"
)
_END_OF_COMMENT = re.compile(rb"--!?>")
_USUAL_TAG_NAME = re.compile(_TAG_NAME)
_USUAL_NAME = re.compile(_NAME)
# around a script, for old browsers
_WRAPPING = re.compile(rb"\A\s*+<!(?:--|\[CDATA\[)|(?:-->|\]\]>)\s*+\Z")


class Normalized(NamedTuple):
    """The source, whether tags or attributes were left out, and whether it ends
    early.
    """

    source: bytes
    simpler: bool = False
    cut: bool = False


def close_empty(xhtml: bytes) -> bytes:
    """Close the elements of XHTML that are written as empty ones, such as
    ``<script src=x />``: HTML takes them for open.
    """
    return _EMPTY.sub(rb"<\g<name>\g<attributes>></\g<name>>", xhtml)


def normalize(html: bytes) -> Normalized:
    """Rewrite UTF-8 markup so that its tags can be counted without parsing it. Takes
    linear time.
    """
    return _Writer(html).write()


class _Writer:
    def __init__(self, html: bytes) -> None:
        self.html = html
        self.source = bytearray()
        self.simpler = False
        self.effort = 0

    def write(self) -> Normalized:
        html = self.html
        source = self.source
        position = 0
        while len(source) <= _MAX_SIZE and self.effort <= _MAX_EFFORT:
            begin, position = _USUAL.match(html, position).span()  # type: ignore[union-attr]  # it also matches empty text
            source += html[begin : min(position, begin + _MAX_SIZE + 1)]
            if position == len(html):
                break
            position = self._correct(position)
        if position == len(html) and len(source) <= _MAX_SIZE:
            return Normalized(bytes(source), self.simpler)
        del source[_MAX_SIZE:]
        return Normalized(trim_partial(bytes(source)), self.simpler, cut=True)

    def _correct(self, begin: int) -> int:
        """Write the markup that begins at *begin*, and return where it ends."""
        self.effort += 1
        raw = _RAW_TAG.match(self.html, begin)
        if raw:
            return self._element(raw["name"].lower(), raw[0], raw[0], raw.end())
        odd = _ODD.match(self.html, begin)
        assert odd, "each < begins something"
        if odd["comment"]:
            return self._find_end_of_comment(odd)
        if odd["doctype"]:
            self.source += odd[0]
        elif odd["text"]:
            self.source += b"&lt;" * min(odd.end() - begin, _MAX_SIZE)
        elif odd["end"] and _USUAL_TAG_NAME.fullmatch(odd["name"]):
            self.effort += _REWRITE_EFFORT
            if not odd["close"]:
                tag = self._rewrite_tag(odd["name"], odd["attributes"])
                return self._element(odd["name"].lower(), odd[0], tag, odd.end())
            self.source += b"</" + odd["name"] + b">"
        return odd.end()

    def _find_end_of_comment(self, opened: re.Match[bytes]) -> int:
        if opened[0].endswith(b">"):
            return opened.end()
        closed = _END_OF_COMMENT.search(self.html, opened.end())
        if closed:
            return closed.end()
        return len(self.html)

    def _element(self, name: bytes, written: bytes, tag: bytes, begin: int) -> int:
        """Write a tag, and the content of its element unless that is markup; return
        where it ends.
        """
        # in a drawing this is an empty element
        if name == b"title" and written.endswith(b"/>"):
            self.source += b"<title></title>"
            return begin
        self.source += tag
        if name not in _RAW:
            return begin
        closed = _RAW[name].search(self.html, begin)
        end = closed.start() if closed else len(self.html)
        if name in _SEEN:
            text = self.html[begin : min(end, begin + _MAX_SIZE)]
            self.source += text.replace(b"<", b"&lt;")
        elif name == b"script" and "ld+json" in unescape(written.decode("latin-1")):
            self.source += self._data(begin, end)
        return end

    def _rewrite_tag(self, tag_name: bytes, attributes: bytes) -> bytes:
        pieces = [b"<", tag_name]
        for count, attribute in enumerate(_ATTRIBUTE.finditer(attributes)):
            if count == _MAX_ATTRIBUTES:
                self.simpler = True
                break
            name, value = attribute.groups()
            if not name or len(attribute[0]) > _MAX_ATTRIBUTE_LENGTH:
                continue
            if _USUAL_NAME.fullmatch(name):
                pieces.append(b" " + name + b"=" + _quote(value or b""))
        return b"".join((*pieces, b">"))

    def _data(self, begin: int, end: int) -> bytes:
        """Return JSON-LD with each "<" written as an escape."""
        if end - begin > _MAX_SIZE:
            return b""
        if self.html.count(b"<", begin, end) > _MAX_TAGS_IN_DATA:
            return b""
        data = self.html[begin:end]
        if b"<" not in data:
            return data
        return _WRAPPING.sub(b"", data).replace(b"<", rb"\u003c")


def _quote(value: bytes) -> bytes:
    value = value[1:-1] if value[:1] in (b'"', b"'") else value
    return b'"' + value.replace(b'"', b"&quot;").replace(b"<", b"&lt;") + b'"'
