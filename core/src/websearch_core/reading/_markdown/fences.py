"""Code blocks: the text of one in a page, without line numbers and buttons, and fences
in Markdown.
"""

from __future__ import annotations
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from io import StringIO
from itertools import islice

from .._element import BLOCKS, Element

_BACKTICKS = re.compile("`+")
_FENCE = re.compile(r"^[ >]{0,60}(?:[-*] |\d{1,9}\. )?(`{3,}|~{3,})(.*)$", re.MULTILINE)
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight)-|brush(?::[-\s]?|[-\s]))"
    r"([A-Za-z][\w+#.-]{0,19})(?=[\s;]|$)"
)
_BRUSH = re.compile(r"brush: ?([\w+#.-]{1,20})")
_NAME = re.compile(r"[A-Za-z][\w+#.-]{0,19}")
_NO_LANGUAGE = frozenset(
    "none text txt default plain plaintext nohighlight notranslate source code".split()
)
# Names that some highlighters use as a class without a prefix such as "language-".
LANGUAGES = frozenset(
    "bash c clojure cpp csharp css dart diff elixir erlang fsharp go graphql groovy "
    "haskell html ini java javascript "
    "js json jsx julia kotlin latex less lisp lua makefile matlab nginx objectivec "
    "ocaml perl php powershell python r "
    "rb ruby rust scala scss sh shell sql swift toml ts tsx typescript vim xml yaml "
    "yml zig".split()
)
_GUTTER = frozenset(
    "lineno linenos linenodiv linenumber linenumbers line-number line-nos gutter "
    "rouge-gutter hljs-ln-numbers "
    "hljs-ln-n blob-num lines-num line-numbers-rows copy copybtn copy-button copy-btn "
    "clipboard-copy".split()
)
# in a table of code lines: number and text are on one line
_CELLS = frozenset({"td", "th"})
_LINES = BLOCKS - _CELLS
_CODE_LINES = frozenset({"line", "code-line", "token-line"})
_MIN_CELLS = 2
_MAX_CLASS_LENGTH = 500  # characters to examine


def fence_code(code: str, language: str) -> str:
    """Return *code* as a fenced code block that its text cannot close; empty if *code*
    is empty.
    """
    if not code:
        return ""
    ticks = code_fence(code)
    return f"{ticks}{language}\n{code}\n{ticks}"


def code_fence(code: str, minimum: int = 3) -> str:
    """Return a fence for *code*: more backticks than it has in a row.

    It has at least *minimum*.
    """
    runs = map(len, _BACKTICKS.findall(code))
    longest = max(runs, default=0)
    return "`" * max(minimum, longest + 1)


def find_fences(text: str, end: int | None = None) -> list[tuple[int, int]]:
    """Return where each code block before *end* begins and ends: its opening line, and
    the end of its closing line.
    """
    # fast path: matching every line takes time, and holds the GIL
    if "```" not in text and "~~~" not in text:
        return []
    spans: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            if end is not None and line.start() >= end:
                return spans
            if "`" not in line[2]:  # else it is inline code
                opening = line
        elif line[1].startswith(opening[1]) and not line[2].strip():
            closed = min(line.end() + 1, len(text))
            spans.append((opening.start(), closed))
            opening = None
    if opening is not None:
        spans.append((opening.start(), len(text)))
    return spans


def span_at(
    spans: Sequence[tuple[int, int]], place: int, *, within: bool = False
) -> tuple[int, int] | None:
    """Return the one of some *spans*, in order, that has the character at *place*; not
    as its first, if *within*.
    """
    n = bisect_left(spans, (place + (not within), 0)) - 1
    if n < 0 or place >= spans[n][1]:
        return None
    return spans[n]


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Apply *change* to the text between code blocks."""
    changed = StringIO()
    position = 0
    for begin, end in find_fences(text):
        changed.write(change(text[position:begin]))
        changed.write(text[begin:end])
        position = end
    changed.write(change(text[position:]))
    return changed.getvalue()


def code_text(pre: Element) -> str:
    """Return the text of a code block, where each block element and each ``<br>`` ends
    a line.
    """
    code = StringIO()
    waiting: list[Element | str | int] = [*reversed(pre.children)]
    last = ""  # the piece before
    ended = False  # True after a block: a newline right after it adds no line
    while waiting:
        node = waiting.pop()
        if isinstance(node, Element) and node.name != "br":
            if _is_no_code(node):
                continue
            if _ends_line(node) and not _is_broken_off(node, waiting):
                if last and not last.endswith("\n"):
                    last = "\n"
                    code.write(last)
                waiting.append(code.tell())
            waiting += reversed(node.children)
            continue
        piece = "\n"  # of a break
        if isinstance(node, int):
            # the end of a block; the length at its start
            if code.tell() != node and last.endswith("\n"):
                piece = ""
        elif isinstance(node, str):
            piece = node
            if ended:
                piece = node.removeprefix("\n")
        ended = isinstance(node, int)
        code.write(piece)
        last = piece or last
    # as browsers copy it: other spaces are an error in most languages
    return code.getvalue().replace("\xa0", " ")


def _ends_line(element: Element) -> bool:
    """Return whether an element is a line of code, as a block or by its class."""
    if element.name in _LINES:
        return True
    marks = element.get("class")[:_MAX_CLASS_LENGTH]
    return element.name == "span" and not _CODE_LINES.isdisjoint(marks.split())


def _is_broken_off(line: Element, waiting: Sequence[Element | str | int]) -> bool:
    """Return whether a break after a ``<span>`` with a line ends that."""
    after = waiting[-1] if waiting else ""
    is_break = isinstance(after, Element) and after.name == "br"
    return is_break and line.name == "span"


def _is_no_code(element: Element) -> bool:
    """Return whether an element is a button, or has the numbers of lines."""
    if element.name == "td":
        return _numbers_line(element) or is_gutter(element)
    return element.name == "button" or is_gutter(element)


def _numbers_line(cell: Element) -> bool:
    """Return whether a cell of a table of lines has the number of its line."""
    row = cell.parent
    if row is None or len(row.children) < _MIN_CELLS:
        return False
    is_first = next(row.elements("td"), None) is cell
    return is_first and (cell.text().isdecimal() or not cell.text())


def is_gutter(element: Element) -> bool:
    """Return whether its class marks it as line numbers or a copy button."""
    marks = element.get("class")
    return bool(marks) and names_gutter(marks[:_MAX_CLASS_LENGTH])


@lru_cache(maxsize=256)  # highlighters use few classes, one for each word of code
def names_gutter(marks: str) -> bool:
    """Return whether a class is one of line numbers or of a copy button."""
    return not _GUTTER.isdisjoint(marks.lower().split())


def language(pre: Element) -> str:
    """Return the language that a block of code states, or what is in or around it.

    Empty if none is.
    """
    elements = [*islice(pre.elements("code"), 1)]
    around: Element | None = pre
    for _ in range(3):
        if around is not None:
            elements.append(around)
            around = around.parent
    for element in elements:
        for name in _list_names(element):
            if _NAME.fullmatch(name) and name.lower() not in _NO_LANGUAGE:
                return name.lower()
    return ""


def _list_names(element: Element) -> list[str]:
    """Return the words that may name the language of the code in an element."""
    names = [element.get("data-language") or element.get("data-lang")]
    names += _BRUSH.findall(element.get("data-syntaxhighlighter-params"))
    marks = element.get("class")[:_MAX_CLASS_LENGTH]
    if not marks:
        return names
    names += _LANGUAGE.findall(marks)
    if element.name in {"pre", "code"} or "highlight" in marks:
        names += [mark for mark in marks.lower().split() if mark in LANGUAGES]
    return names
