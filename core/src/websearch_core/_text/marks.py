"""Find citations in the answer of a model: ``[1]``, ``[1, 2]``, ``[1-3]``, ``【1】``;
never in code.
"""

from __future__ import annotations
import re
from collections.abc import Container, Iterator, Sequence
from typing import Literal, NamedTuple

_CODE = (
    r"^[ >]{0,12}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n|\Z)(?s:.*?)(?:^[ "
    r">]{0,12}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`{1,9})(?!`)(?:(?!\n[ \t]{0,99}\n)(?s:.))+?(?<!`)(?P=ticks)(?!`)"
    r"|<(?:code|kbd|samp)\b[^<>]{0,500}>(?:(?!\n[ "
    r"\t]{0,99}\n)(?s:.))*?(?:</(?:code|kbd|samp)>|\n[ \t]{0,99}\n|\Z)"
    r"|<(?:pre|script|style)\b[^<>]{0,500}>(?s:.*?)(?:</(?:pre|script|style)>|\Z)"
)
# What follows the colon in the definition of a link, and not in a sentence that begins
# with its source.
_TARGET = r"(?=[ \t]*+(?:<|https?:|[/#.]|\S++[ \t]*+$))"
_OTHER = (
    r"<[A-Za-z/!][^<>\n]{0,2000}>"  # tags and autolinks
    r"|https?://[^\s<>]+"
    rf"|^[ >]{{0,12}}\[[^\[\]\n]{{1,200}}\]:{_TARGET}[^\n]*"  # the definition of a link
    # Formulas; what begins with a digit is a price.
    r"|(?<![\\$\w])\$(?![\s\d$])[^$\n]{0,300}(?<!\s)\$(?![$\w])|\$\$[^$]{1,2000}\$\$"
    r"|\\\((?:[^\\]|\\[^()]){1,500}+\\\)|\\\[(?:[^\\]|\\[^\[\]]){1,2000}+\\\]"
    # Subscripts in code without marks, such as a[1] = 2, a[1](2) and a[1].b
    r"|(?<=[A-Za-z0-9_])(?:\[[ ]?\d{1,6}[ ]?\]){1,9}(?:(?=[ ]?(?:[-+*/%&|^]?=|[<>]=?[ "
    r"]?\w|\+\+|--)|\(|\.[a-z_]))"
)
_NUMBERS = r"\s{0,9}\d{1,6}(?:\s{0,9}[,;、，\-–]\s{0,9}\d{1,6})*+\s{0,9}"  # noqa: RUF001 - a fullwidth comma and an en dash
_MARK = re.compile(
    rf"(?P<image>!?)\[(?P<square>{_NUMBERS})\](?!\()|【(?P<lens>{_NUMBERS})(?:†[^】\n]{{0,80}})?】"
)
_LINK = (
    r"!?\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\])*+)\](?:\([^()\n]*+(?:\([^()\n]{0,500}\)[^()\n]{0,500}){0,3}\)"
    r"|\[(?P<reference>[^\[\]\n]{1,200})\])"
)
_CODE_ONLY = re.compile(_CODE, re.MULTILINE | re.IGNORECASE)
_TOKEN = re.compile(
    rf"(?P<skipped>{_CODE}|{_OTHER})|(?P<link>{_LINK})|(?P<mark>{_MARK.pattern})",
    re.MULTILINE | re.IGNORECASE,
)
_DEFINITION = re.compile(
    rf"^[ >]{{0,12}}\[([^\[\]\n]{{1,200}})\]:{_TARGET}", re.MULTILINE
)
_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_ITEM = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")  # noqa: RUF001
_MAX_RANGE = 20  # sources: anything longer is years or pages, not citations

Kind = Literal["plain", "linked", "stray"]


class Mark(NamedTuple):
    """A citation in a text."""

    start: int  # where it begins
    end: int  # where it ends
    numbers: tuple[int, ...]  # the numbers cited, in order
    # true if an exclamation mark before it would make a link to it an image
    image: bool = False
    # ``linked`` if it is a link already, or in one; ``stray`` if no sources are
    # numbered so
    kind: Kind = "plain"


def find_marks(text: str) -> Iterator[Mark]:
    """Yield the citations in *text*, in order."""
    labels: set[str] = set()
    for label in _DEFINITION.findall(text):
        labels.add(label.strip().lower())
    # where the next block of indented code begins and ends
    after = len(text) + 1
    blocks = iter([*_indented_code(text), (after, after)])
    block = next(blocks)
    position = 0
    token = _TOKEN.search(text, position)
    while token is not None:
        position = token.end()
        while block[1] <= token.start():
            block = next(blocks)
        if block[0] <= token.start() and not token["skipped"]:
            position = block[1]
        elif token["mark"]:
            yield _read_defined(token, labels)
        elif token["link"] and _is_link(token, labels):
            for mark in _MARK.finditer(text, *token.span("label")):
                yield _read(mark, "linked")
        elif token["link"]:  # just brackets: look inside
            position = token.start() + 1
            first = _MARK.match(text, token.start())
            if first is not None:
                position = first.end()
                yield _read_defined(first, labels)
        token = _TOKEN.search(text, position)


def _is_link(token: re.Match[str], labels: Container[str]) -> bool:
    """Return whether brackets are a link: with a target, or with one of the *labels* of
    definitions.
    """
    reference = token["reference"]
    if reference is None:
        return True
    label = reference.strip().lower()
    return label in labels


def _read_defined(mark: re.Match[str], labels: Container[str]) -> Mark:
    """Read a citation, which is a link if one of the *labels* of definitions is its
    own.
    """
    square = mark["square"]
    kind: Kind = "plain"
    if square and square.strip() in labels:
        kind = "linked"
    return _read(mark, kind)


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return where the code in *text* begins and ends."""
    spans = _indented_code(text)
    for code in _CODE_ONLY.finditer(text):
        spans.append(code.span())
    return sorted(spans)


def _indented_code(text: str) -> list[tuple[int, int]]:
    """Return where blocks of indented code begin and end: lines after an empty one,
    deeper than a list needs.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    is_blank = True
    depth = 4  # from which on a line is code
    for line in text.splitlines(keepends=True):
        spaced = line.expandtabs(4).lstrip("\n")
        content = spaced.lstrip(" ")
        indent = len(spaced) - len(content)
        end = start + len(line)
        may_be_code = is_blank or _ends_at(spans, start)
        if not line.strip():
            is_blank = True
        elif indent >= depth and may_be_code:
            spans.append((start, end))
        else:
            if _LIST_ITEM.match(line):
                depth = indent + 8
            elif indent == 0:
                depth = 4
            is_blank = False
        start = end
    return spans


def _ends_at(spans: Sequence[tuple[int, int]], place: int) -> bool:
    if not spans:
        return False
    return spans[-1][1] == place


def _read(mark: re.Match[str], kind: Kind) -> Mark:
    numbers: dict[int, None] = {}
    for item in _ITEM.finditer(mark["square"] or mark["lens"]):
        first = int(item[1])
        last = int(item[2] or item[1])
        if 0 < first <= last < first + _MAX_RANGE:
            numbers |= dict.fromkeys(range(first, last + 1))
        else:
            kind = "stray"
            numbers |= {first: None, last: None}
    is_image = bool(mark["image"])
    return Mark(mark.start(), mark.end(), tuple(numbers), is_image, kind)
