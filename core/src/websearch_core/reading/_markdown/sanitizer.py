"""Make untrusted Markdown safe to render: it fetches nothing and runs nothing.

HTML pages go through our own writer, which is safe already. Other Markdown can contain
images, raw HTML and links to anywhere: Markdown that a site serves, the text of a PDF,
the answer of a reading service. Only text that is certainly code stays as it is. All
other text loses its tags, images, link definitions and links, except links that this
module wrote itself. Where a parser could see less code than we do, the text is changed
until both see the same.

The rules are those of CommonMark 0.31 (https://spec.commonmark.org/0.31.2/) and of
GitHub's tables (https://github.github.com/gfm/). Takes linear time.
"""

from __future__ import annotations
import html
import re
from collections import deque
from collections.abc import Iterator
from io import StringIO
from typing import NamedTuple

from ..._text.escaping import TAG
from .._links import Links, absolute
from .fences import find_fences, span_at

# of a line in lists and block quotes
_PREFIX = r"(?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))"
_OPENING = re.compile(rf"({_PREFIX}{{0,60}}+)(`{{3,}}(?=[^`]*$)|~{{3,}})")
# a fence behind these can interrupt a paragraph
_SAME_LEVEL = re.compile(r" {0,3}|(?: {0,3}> ?)+ {0,3}")
_MARKER = re.compile(r"[-*+.)0-9]")

_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_TICKS = re.compile(rf"{_ESCAPE}|`+")
# GitHub links a bare URL up to a blank or "<", even across a backtick (GFM, 6.9; its
# blanks are ASCII). `_defuse` takes the "<" away, so it ends nothing here.
_IN_BARE_URL = re.compile(r"(?:www\.|://)[^ \t\v\f]*\Z", re.IGNORECASE)
_TOKEN = re.compile(rf"{_ESCAPE}|`+|!?\[|\]|<https?://[^\s<>`]*+>", re.IGNORECASE)
# may be the delimiter row of a table
_TABLE = re.compile(r"^(?=[^\n]*-)[ \t>*+0-9.)|:-]++$", re.MULTILINE)
_TARGET = re.compile(
    r"\(\s*+(<[^<>\n`]*+>|data:[^()`]*+|[^\s()<>`]*+(?:\([^\s()`]*+\)[^\s()`]*+)*+)"
    r"(?:\s++(?:\"[^\"`]*+\"|'[^'`]*+'|\([^()`]*+\)))?+\s*+\)"
)
_REFERENCE = re.compile(r"\[([^\[\]`]{0,200})\]")
_DEFINITION = re.compile(
    r" {0,3}\[(?!\^)([^\[\]]{1,200})\]:[ \t]*+(<[^<>]*+>|\S++)[ "
    r"\t]*+(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\))?+[ \t]*+"
)
# Of what may define a link. A footnote is none if its text cannot be a target and a
# title.
_LABEL = re.compile(
    rf"^({_PREFIX}*+)\[(?!\^[^\[\]\s\\]{{1,50}}\]: [^\s<\\]\S* [^\s\"'(])", re.MULTILINE
)
_FENCE = re.compile(rf"^({_PREFIX}*+)(?=```|~~~)", re.MULTILINE)
_ENTITY = re.compile(r"&(?=#?\w+;)")
_SUSPECT = re.compile(
    rf"{TAG.pattern}|!\[|\]\((?!https?://[^\s()<>\"'\\^`{{|}}\[\]]*+\))"
)
_MAX_DEPTH = 64  # nested brackets

# Marks that stand for our own syntax while a text is rewritten. `strip_invisible`
# removes these characters from pages; `sanitize` removes them again, to be sure.
_LINK = "\x01"
_TO = "\x02"
_END = "\x03"
_LEFT = "\x04"
_RIGHT = "\x05"
_CODE = "\x06"
_NOTE = "\x0e"
_MARKS = re.compile("[\x01-\x06\x0e]")
_SIGNS = {_LINK: "[", _TO: "](", _END: ")", _LEFT: "<", _RIGHT: ">"}
_KEPT = re.compile(f"([{_CODE}{_NOTE}])([0-9]+)[{_CODE}{_NOTE}]")


class Sanitized(NamedTuple):
    """The text, and the absolute URLs of its links, in order."""

    text: str
    targets: list[str]


def sanitize(
    text: str, base: str = "", links: Links = "keep", *, close: bool = True
) -> Sanitized:
    """Make Markdown safe to render.

    Images become their alternative text. Links become absolute http(s) links, resolved
    against *base*, or what *links* says: only their ``text``, or nothing (``drop``);
    other links, such as ``javascript:``, become their text. Raw HTML becomes text that
    shows it. Code blocks and code spans are kept; *close* closes one that the text
    leaves open.
    """
    text = _MARKS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    rewriter = _Rewriter(base, links)
    for line in _lines(text):
        rewriter.define(line)
    # a list of many small pieces would take many times the memory of the text
    out = StringIO()
    for piece in _split(text, close=close):
        out.write("\n")
        if piece.is_code:
            out.write(piece.text)
        else:
            out.write(rewriter.rewrite(piece.text))
    return Sanitized(rewriter.finish(out.getvalue()[1:]), rewriter.targets)


def is_safe(text: str) -> bool:
    """Return True only if `sanitize` would not change the text, except to resolve
    links; a hundred times faster.
    """
    if _has_no_suspect(text):
        return True
    if "```" not in text and "~~~" not in text:
        return False
    pieces = [*_split(text, close=True)]
    is_closed = "\n".join(piece.text for piece in pieces) == text
    return is_closed and all(
        piece.is_code or _has_no_suspect(piece.text) for piece in pieces
    )


def _has_no_suspect(text: str) -> bool:
    if _SUSPECT.search(text):
        return False
    return "]:" not in text or not _LABEL.search(text)


def opening_of(text: str, position: int) -> str | None:
    """Return the opening line of the code block around offset *position*.

    None outside of code blocks.
    """
    fence = span_at(find_fences(text, position), position, within=True)
    if fence is None:
        return None
    begin = text[fence[0] : position]
    if "\n" not in begin:
        return None
    return begin.partition("\n")[0]


class _Piece(NamedTuple):
    text: str
    is_code: bool


class _Bracket(NamedTuple):
    """An open bracket.

    That is its place in the output, the offset of its label in the text, and the number
    of links so far.
    """

    place: int
    label: int
    links: int


class _Fence:
    """An open code block: the prefix of its lines, and the fence that closes it."""

    def __init__(self, prefix: str, ticks: str) -> None:
        self.prefix = _MARKER.sub(" ", prefix)
        self.ticks = ticks
        self._columns: int | None = None  # of a prefix that is but blanks
        if not self.prefix.strip(" \t"):
            self._columns = len(_indent_of(self.prefix))

    @property
    def closing(self) -> str:
        """The line that closes it in every parser."""
        return self.prefix + self.ticks

    def closes(self, line: str) -> bool:
        """Return whether *line* is meant to close the block.

        In its list or block quote, or just after it.
        """
        if not self.prefix:
            return len(_indent_of(line)) <= 3 and self._is_mark(line)
        if self._is_mark(line.removeprefix(self.prefix)):
            return True
        return self._is_mark(line.lstrip(" \t>"))

    def holds(self, line: str) -> bool:
        """Return whether *line* is in the list or block quote of the code block."""
        if not self.prefix:
            return True
        if self._columns is not None:
            return not line.strip(" \t") or len(_indent_of(line)) >= self._columns
        if line.startswith(self.prefix):
            return True
        return line.rstrip(" \t") == self.prefix.rstrip(" \t")

    def _is_mark(self, line: str) -> bool:
        mark = line.strip(" \t")
        if len(mark) < len(self.ticks):
            return False
        return not mark.strip(self.ticks[0])


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of *text* one at a time, as ``split`` would return them."""
    begin = 0
    end = text.find("\n")
    while end >= 0:
        yield text[begin:end]
        begin = end + 1
        end = text.find("\n", begin)
    yield text[begin:]


# Measured: each line passes once. The state is the lines that wait to be yielded, and
# the fence if they are code:
#
#     text       waiting ["text"], no fence
#     ```py      yields the text; waiting ["```py"], fence "```"
#     code       waiting ["```py", "code"]
#     ```        yields the code; nothing waits
def _split(  # noqa: C901 - see above
    text: str, *, close: bool
) -> Iterator[_Piece]:
    """Yield the code blocks and the text between them.

    Code blocks are rewritten so that every parser agrees on where they end.
    """
    waiting: list[str] = []
    fence: _Fence | None = None
    for line in _lines(text):
        if fence is not None:
            if fence.prefix:
                line = _indent_of(line) + line.lstrip(" \t")  # noqa: PLW2901 (the width of a tab depends on the text before it)
            closes = fence.closes(line)
            if not closes and fence.holds(line):
                waiting.append(line)
                continue
            waiting.append(fence.closing)
            yield _Piece("\n".join(waiting), is_code=True)
            waiting = []
            fence = None
            if closes:
                continue
        opening = _OPENING.match(line)
        if opening is None:
            waiting.append(line)
            continue
        # Without a blank line it could continue the paragraph before, in which "~~~" is
        # text.
        may_continue = waiting and waiting[-1].strip(" \t")
        if may_continue and not _SAME_LEVEL.fullmatch(opening[1]):
            waiting.append("")
        if waiting:
            yield _Piece("\n".join(waiting), is_code=False)
        prefix = opening[1].expandtabs(4)
        # some parsers look for a table first
        ticks = line[opening.end(1) :]
        waiting = [prefix + ticks.replace("|", " ")]
        fence = _Fence(prefix, opening[2])
    if fence is not None and close:
        waiting.append(fence.closing)
    if waiting:
        yield _Piece("\n".join(waiting), is_code=fence is not None)


class _Rewriter:
    """Rewrite the text outside of code blocks.

    Marks stand for the parts to keep until `finish` replaces them.
    """

    def __init__(self, base: str, links: Links) -> None:
        self.targets: list[str] = []
        self._base = base
        self._links = links
        self._addresses: dict[str, str] = {}  # of link reference definitions
        self._used: set[str] = set()
        self._originals: list[str] = []

    def define(self, line: str) -> None:
        """Remember the target of a link reference definition."""
        definition = _read_definition(line)
        if definition:
            label = _normalize_label(definition[1])
            self._addresses.setdefault(label, definition[2])

    def rewrite(self, text: str) -> str:
        """Return *text*, from between code blocks, with marks in it."""
        blocks: list[str] = []
        block: list[str] = []
        for line in text.split("\n"):
            is_blank = not line.strip(" \t")
            if is_blank and block:
                blocks.append(self._rewrite_block("\n".join(block)))
                block = []
            if is_blank:
                blocks.append(line)
            elif not block and _read_definition(line):
                blocks.append(self._keep(_NOTE, line))
            else:
                block.append(line)
        if block:
            blocks.append(self._rewrite_block("\n".join(block)))
        return "\n".join(blocks)

    def finish(self, text: str) -> str:
        """Replace the marks in the whole text."""
        for mark, sign in _SIGNS.items():
            text = text.replace(mark, sign)
        if self._originals:
            text = _KEPT.sub(self._restore, text)
        return text

    def _restore(self, mark: re.Match[str]) -> str:
        original = self._originals[int(mark[2])]
        if mark[1] == _CODE:
            return original
        definition = _DEFINITION.fullmatch(original)
        if self._links != "keep":
            return ""
        if definition and _normalize_label(definition[1]) in self._used:
            return ""
        return _defuse(original)

    def _keep(self, mark: str, text: str) -> str:
        self._originals.append(text)
        return f"{mark}{len(self._originals) - 1}{mark}"

    def _rewrite_block(self, text: str) -> str:
        if _TOKEN.search(text):
            text = self._rewrite_spans(text)
        return _defuse(text)

    # Measured: each link, image and code span of a block passes once, as in CommonMark
    # 0.31 (6.1, 6.3, 6.4). The state is the output, and the brackets that are open:
    #
    #     see [the ![plan](a.png) of it](b.html)
    #         ^ open: index 1 of the output, its label, the number of links so far
    def _rewrite_spans(self, text: str) -> str:
        """Rewrite the links, images and code spans of a block."""
        spans = _code_spans(text)
        out: list[str] = []
        open_brackets: deque[_Bracket] = deque(maxlen=_MAX_DEPTH)
        position = 0
        token = _TOKEN.search(text)
        while token:
            begin = token.start()
            out.append(text[position:begin])
            position = token.end()
            sign = token[0]
            if begin in spans:
                position = spans[begin]
                out.append(self._keep(_CODE, text[begin:position]))
            elif sign in {"[", "!["}:
                open_brackets.append(_Bracket(len(out), position, len(self.targets)))
                out.append(sign)
            elif sign == "]" and open_brackets:
                position = self._close(text, begin, out, open_brackets.pop())
            elif sign[0] == "<":
                out.append(self._autolink(sign))
            elif sign == "\\<":
                out.append("&lt;")
            else:
                out.append(sign)
            token = _TOKEN.search(text, position)
        out.append(text[position:])
        return "".join(out)

    def _close(self, text: str, bracket: int, out: list[str], start: _Bracket) -> int:
        """Rewrite the ``[label]`` that ends at *bracket*, and its target.

        Return the offset after them.
        """
        end = bracket + 1
        target = _TARGET.match(text, end)
        if target:
            end = target.end()
            address = target[1]
        else:
            reference = _REFERENCE.match(text, end)
            label = (reference and reference[1]) or text[start.label : bracket]
            name = ""
            if self._addresses:
                name = _normalize_label(label)
            if name not in self._addresses:
                out.append("]")
                return end
            self._used.add(name)
            address = self._addresses[name]
            if reference:
                end = reference.end()
        is_image = out[start.place] == "!["
        out[start.place] = ""
        if is_image:
            return end
        if self._links == "drop":
            del out[start.place :]
        elif self._links == "keep" and len(self.targets) == start.links:
            url = self._url(address)
            if url:
                out[start.place] = _LINK
                out.append(f"{_TO}{url}{_END}")
        return end

    def _autolink(self, sign: str) -> str:
        address = sign[1:-1]
        if self._links == "drop":
            return ""
        if self._links == "text":
            return address
        url = self._url(address)
        if url is None:
            return sign
        return f"{_LEFT}{url}{_RIGHT}"

    def _url(self, address: str) -> str | None:
        address = address.removeprefix("<").removesuffix(">")
        address = html.unescape(_ESCAPED.sub(r"\1", address))
        url = absolute(address, self._base)
        if url is None:
            return None
        self.targets.append(url)
        url = _ENTITY.sub("&amp;", url)
        url = url.replace("[", "%5B")
        return url.replace("]", "%5D")


def _read_definition(line: str) -> re.Match[str] | None:
    """Return the label and the target of a link reference definition."""
    if "]:" not in line:
        return None
    definition = _DEFINITION.fullmatch(line)
    if definition and _is_address(definition[2]):
        return definition
    return None


def _defuse(text: str) -> str:
    """Break up whatever Markdown would use to fetch, run or link.

    Our own marks stay.
    """
    if "<" in text:
        text = TAG.sub("&lt;", text)
    if "[" in text or _LINK in text:
        text = text.replace("![", "! [").replace("](", "] (")
        text = text.replace(f"!{_LINK}", f"! {_LINK}")
        if "]:" in text:
            text = _LABEL.sub(r"\1\\[", text)
    if f"{_CODE}{_CODE}" in text:  # two adjacent spans would become one
        text = text.replace(f"{_CODE}{_CODE}", f"{_CODE} {_CODE}")
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(r"\1\\", text)
    return text


def _code_spans(text: str) -> dict[int, int]:
    """Map the start of each code span of a block to its end.

    Empty unless each run of backticks is closed on its own line. Otherwise a parser
    could pair them differently, depending on where it sees the end of a paragraph; a
    table also divides a span at every ``|``. A backtick may also belong to a bare URL
    before it, and some parsers pair an escaped one.
    """
    if "`" not in text:
        return {}
    in_table = _TABLE.search(text) is not None
    spans: dict[int, int] = {}
    begin = 0
    for line in text.split("\n"):
        if "`" in line:
            spans_of_line = _spans_of_line(line, in_table=in_table)
            if spans_of_line is None:
                return {}
            for start, end in spans_of_line.items():
                spans[begin + start] = begin + end
        begin += len(line) + 1
    return spans


def _spans_of_line(line: str, *, in_table: bool) -> dict[int, int] | None:
    """Map the start of each code span to its end, or return None if it is uncertain."""
    spans: dict[int, int] = {}
    begin_of_text = 0
    ticks = _TICKS.search(line)
    while ticks:
        position = ticks.end()
        if ticks[0] == "\\`":
            return None
        if ticks[0][0] == "`":
            closing = re.compile(rf"(?<!`)`{{{len(ticks[0])}}}(?!`)").search(
                line, position
            )
            if closing is None:
                return None
            if in_table and "|" in line[position : closing.start()]:
                return None
            if _IN_BARE_URL.search(line, begin_of_text, ticks.start()):
                return None
            position = closing.end()
            begin_of_text = position
            spans[ticks.start()] = position
        ticks = _TICKS.search(line, position)
    return spans


def _indent_of(line: str) -> str:
    """Return the indentation of a line in spaces.

    A tab goes to the next multiple of four.
    """
    blank = line.removesuffix(line.lstrip(" \t"))
    return blank.expandtabs(4)


def _is_address(target: str) -> bool:
    """Return whether *target* is meant as an address.

    ``[12:30]: hello`` is a line of a chat.
    """
    return target.startswith("#") or "/" in target or ":" in target


def _normalize_label(label: str) -> str:
    return " ".join(label.casefold().split())
