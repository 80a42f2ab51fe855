"""Find citations in the answer of a model: ``[1]``, ``[1, 2]``, ``[1-3]``, ``【1】``;
never in code.
"""

from __future__ import annotations
import re
from collections.abc import Iterator
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
    defined = {label.strip().lower() for label in _DEFINITION.findall(text)}
    code = _indented_code(text)
    position, n = 0, 0
    while found := _TOKEN.search(text, position):
        position = found.end()
        while n < len(code) and code[n][1] <= found.start():
            n += 1
        if n < len(code) and code[n][0] <= found.start() and not found["skipped"]:
            position = code[n][1]
        elif found["mark"]:
            yield _read(
                found,
                "linked"
                if found["square"] and found["square"].strip() in defined
                else "plain",
            )
        elif found["link"] and (
            found["reference"] is None or found["reference"].strip().lower() in defined
        ):
            for inside in _MARK.finditer(text, *found.span("label")):
                yield _read(inside, "linked")
        elif found["link"]:  # just brackets: look inside
            position = found.start() + 1
            if mark := _MARK.match(text, found.start()):
                position = mark.end()
                yield _read(
                    mark, "linked" if mark["square"].strip() in defined else "plain"
                )


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return where the code in *text* begins and ends."""
    return sorted(
        [*(found.span() for found in _CODE_ONLY.finditer(text)), *_indented_code(text)]
    )


def _indented_code(text: str) -> list[tuple[int, int]]:
    """Return where blocks of indented code begin and end: lines after an empty one,
    deeper than a list needs.
    """
    spans: list[tuple[int, int]] = []
    start, is_blank, depth = 0, True, 4
    for line in text.splitlines(keepends=True):
        shown = line.expandtabs(4).lstrip("\n")
        indent = len(shown) - len(shown.lstrip(" "))
        end = start + len(line)
        if not line.strip():
            is_blank = True
        elif indent >= depth and (is_blank or (spans and spans[-1][1] == start)):
            spans.append((start, end))
        else:
            if _LIST_ITEM.match(line):
                depth = indent + 8
            elif indent == 0:
                depth = 4
            is_blank = False
        start = end
    return spans


def _read(found: re.Match[str], kind: Kind) -> Mark:
    numbers: dict[int, None] = {}
    for item in _ITEM.finditer(found["square"] or found["lens"]):
        first, last = int(item[1]), int(item[2] or item[1])
        if 0 < first <= last < first + _MAX_RANGE:
            numbers |= dict.fromkeys(range(first, last + 1))
        else:
            kind = "stray"
            numbers |= {first: None, last: None}
    return Mark(found.start(), found.end(), tuple(numbers), bool(found["image"]), kind)
