"""What a block of code says, line by line, without what pages put around it; and in which language."""

from __future__ import annotations

import re
from functools import lru_cache

from .._element import BLOCKS, Element

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)[-\s]?([A-Za-z][\w+#.-]{0,19})(?=[\s;]|$)"
)
_NAME = re.compile(r"[A-Za-z][\w+#.-]{0,19}")
_NO_LANGUAGE = frozenset("none text txt default plain plaintext nohighlight notranslate source code".split())
# Names that some highlighters write as a class of their own, without saying that it is a language.
_LANGUAGES = frozenset(
    "bash c clojure cpp csharp css dart diff elixir erlang fsharp go graphql groovy haskell html ini java javascript "
    "js json jsx julia kotlin latex less lisp lua makefile matlab nginx objectivec ocaml perl php powershell python r "
    "rb ruby rust scala scss sh shell sql swift toml ts tsx typescript vim xml yaml yml zig".split()
)
_GUTTER = frozenset(
    "lineno linenos linenodiv linenumber linenumbers line-number line-nos gutter rouge-gutter hljs-ln-numbers "
    "hljs-ln-n blob-num line-numbers-rows copy copybtn copy-button copy-btn clipboard-copy".split()
)
_CELLS = frozenset({"td", "th"})  # of a table of lines: number and line are one line
_LINES = BLOCKS - _CELLS
_MAX_CLASS_LENGTH = 500  # characters that are looked at


def code_text(pre: Element) -> str:
    """Return the text of a code block, where each block element and each ``<br>`` ends a line."""
    pieces: list[str] = []
    waiting: list[Element | str | int] = list(reversed(pre.children))
    ended = False  # by a block: a line end of the source right after it is the same one
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            text = node.removeprefix("\n") if ended else node
            if text:
                pieces.append(text)
            ended = False
        elif isinstance(node, int):  # the end of a block, and how many pieces there were at its begin
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
    """Return whether it holds line numbers or a button to copy, as far as its class tells."""
    marks = element.get("class")
    return bool(marks) and _names_gutter(marks[:_MAX_CLASS_LENGTH])


@lru_cache(maxsize=256)  # highlighters put each word of a code into one of a few classes
def _names_gutter(marks: str) -> bool:
    return not _GUTTER.isdisjoint(marks.lower().split())


def language(pre: Element) -> str:
    """Return what the code in the block, the block, or what is around it says; an empty string if none does."""
    inner = next((element for element in pre.elements() if element.name == "code"), None)
    around = (pre.parent, pre.parent.parent if pre.parent else None)
    for element in (inner, pre, *around):
        if element is None:
            continue
        stated = element.get("data-language") or element.get("data-lang")
        marks = element.get("class")[:_MAX_CLASS_LENGTH]
        if not (stated or marks):
            continue
        bare = [mark for mark in marks.lower().split() if mark in _LANGUAGES] if _is_code(element) else []
        for found in (stated, *_LANGUAGE.findall(marks), *bare):
            if _NAME.fullmatch(found) and found.lower() not in _NO_LANGUAGE:
                return str(found.lower())
    return ""


def _is_code(element: Element) -> bool:
    return element.name in {"pre", "code"} or "highlight" in element.get("class")[:_MAX_CLASS_LENGTH]
