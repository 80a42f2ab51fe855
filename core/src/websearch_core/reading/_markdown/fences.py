"""Code blocks: the text of one in a page, without line numbers and buttons, and fences
in Markdown.
"""

from __future__ import annotations
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from io import StringIO

from .._element import BLOCKS, Element

_BACKTICKS = re.compile("`+")
_FENCE = re.compile(r"^[ >]{0,60}(?:[-*] |\d{1,9}\. )?(`{3,}|~{3,})(.*)$", re.MULTILINE)
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight)-|brush(?::[-\s]?|[-\s]))"
    r"([A-Za-z][\w+#.-]{0,19})(?=[\s;]|$)"
)
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
    "hljs-ln-n blob-num line-numbers-rows copy copybtn copy-button copy-btn "
    "clipboard-copy".split()
)
# in a table of code lines: number and text are on one line
_CELLS = frozenset({"td", "th"})
_LINES = BLOCKS - _CELLS
_MAX_CLASS_LENGTH = 500  # characters to examine


def fence_code(code: str, language: str) -> str:
    """Return *code* as a fenced code block that its text cannot close; empty if *code*
    is empty.
    """
    ticks = code_fence(code)
    return f"{ticks}{language}\n{code}\n{ticks}" if code else ""


def code_fence(code: str, least: int = 3) -> str:
    """Return a fence for *code*: more backticks than it has in a row, and at least
    *least*.
    """
    return "`" * max(least, 1 + max(map(len, _BACKTICKS.findall(code)), default=0))


def find_fences(text: str, end: int | None = None) -> list[tuple[int, int]]:
    """Return where each code block before *end* begins and ends: its opening line, and
    the end of its closing line.
    """
    # fast path: matching every line takes time, and holds the GIL
    if "```" not in text and "~~~" not in text:
        return []
    found: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for line in _FENCE.finditer(text):
        mark, rest = line[1], line[2]
        if opened is None:
            if end is not None and line.start() >= end:
                return found
            if "`" not in rest:  # else it is inline code
                opened = line.start(), mark
        elif mark.startswith(opened[1]) and not rest.strip():
            found.append((opened[0], min(line.end() + 1, len(text))))
            opened = None
    if opened is not None:
        found.append((opened[0], len(text)))
    return found


def span_at(
    spans: Sequence[tuple[int, int]], place: int, *, within: bool = False
) -> tuple[int, int] | None:
    """Return the one of some *spans*, in order, that has the character at *place*; not
    as its first, if *within*.
    """
    n = bisect_left(spans, (place + (not within), 0)) - 1
    return spans[n] if n >= 0 and place < spans[n][1] else None


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
    pieces: list[str] = []
    waiting: list[Element | str | int] = list(reversed(pre.children))
    ended = False  # True after a block: a newline right after it adds no line
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            text = node.removeprefix("\n") if ended else node
            if text:
                pieces.append(text)
            ended = False
        elif isinstance(node, int):
            # the end of a block; the number of pieces at its start
            if len(pieces) == node or not pieces[-1].endswith("\n"):
                pieces.append("\n")
            ended = True
        elif node.name == "br":
            pieces.append("\n")
            ended = False
        elif node.name != "button" and not is_gutter(node):
            if node.name in _LINES:
                if pieces and not pieces[-1].endswith("\n"):
                    pieces.append("\n")
                waiting.append(len(pieces))
            waiting += reversed(node.children)
    return "".join(pieces)


def is_gutter(element: Element) -> bool:
    """Return whether its class marks it as line numbers or a copy button."""
    marks = element.get("class")
    return bool(marks) and _names_gutter(marks[:_MAX_CLASS_LENGTH])


@lru_cache(maxsize=256)  # highlighters use few classes, one for each word of code
def _names_gutter(marks: str) -> bool:
    return not _GUTTER.isdisjoint(marks.lower().split())


def language(pre: Element) -> str:
    """Return the language stated by the code in the block, the block, or its
    surroundings, or an empty string.
    """
    inner = next(
        (element for element in pre.elements() if element.name == "code"), None
    )
    around = (pre.parent, pre.parent.parent if pre.parent else None)
    for element in (inner, pre, *around):
        if element is None:
            continue
        stated = element.get("data-language") or element.get("data-lang")
        marks = element.get("class")[:_MAX_CLASS_LENGTH]
        if not (stated or marks):
            continue
        is_code = element.name in {"pre", "code"} or "highlight" in marks
        bare = (
            [mark for mark in marks.lower().split() if mark in LANGUAGES]
            if is_code
            else []
        )
        for found in (stated, *_LANGUAGE.findall(marks), *bare):
            if _NAME.fullmatch(found) and found.lower() not in _NO_LANGUAGE:
                return str(found.lower())
    return ""
