"""Read formulas as TeX: from the TeX that a page includes, or from its MathML."""

from __future__ import annotations
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..._text.invisible import one_line, strip_invisible
from .._element import Attributes
from .css.look import judge_inline_style

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

FORMULAS = frozenset({"math", "mjx-container", "span"})

_WRITTEN_TWICE = re.compile(
    r"(?:^|\s)(?:katex|katex-display|mwe-math-element|MathJax(?:_Display)?)(?:\s|$)"
)
_DISPLAYED = re.compile(r"katex-display|mwe-math-element-block|MathJax_Display")
_STYLE = re.compile(r"\{\\(?:display|text)style\s*+(.*)\}", re.DOTALL)
_COMMAND = re.compile(r"\\(?:begin|end)\{[^{}]{0,40}\}|\\[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_UNSEEN = frozenset({"annotation", "annotation-xml", "mphantom"})
_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms"})
_MAX_LENGTH = 2000  # characters
_MAX_FAILURES = 100  # elements that are marked as around a formula, without one
_SPECIAL = re.compile(r"[{}%#&_$]")  # of TeX, where it stands for itself
_MAX_DEPTH = 20  # levels of MathML; deeper levels are read as plain text
_FUNCTIONS = frozenset(
    "arccos arcsin arctan cos cosh cot det dim exp gcd inf ker lim ln log max min sin "
    "sinh sup tan tanh".split()
)
_ACCENTS = {
    "¯": "bar",
    "‾": "bar",
    "^": "hat",
    "~": "tilde",
    "→": "vec",
    "˙": "dot",
    "¨": "ddot",
}


class Formula(NamedTuple):
    """A formula in TeX, whether it has its own line, and how many invisible characters
    were removed.
    """

    source: str
    display: bool
    invisible: int = 0


class Formulas:
    """Reads the formulas of a page, each once, however many elements are around it."""

    def __init__(self) -> None:
        self._empty: set[int] = set()  # those that say nothing
        self._failures = 0

    def read(
        self, node: LexborNode, name: str, attributes: Attributes
    ) -> Formula | None:
        """Return the formula in an element, or None.

        It is a ``math`` element, or what KaTeX, MathJax and Wikipedia put around it and
        a second rendering as boxes.
        """
        marks = attributes.get("class") or ""
        math = node if name == "math" else self._find_math(node, name, marks)
        if math is None:
            return None
        if math.mem_id in self._empty:
            self._failures += 1
            return None
        formula = _read_math(math, marks, attributes)
        if formula is None:
            self._empty.add(math.mem_id)
        return formula

    def _find_math(self, node: LexborNode, name: str, marks: str) -> LexborNode | None:
        """Return the ``math`` element in what programs put around it, or None."""
        if name == "span" and not _WRITTEN_TWICE.search(marks):
            return None
        if self._failures >= _MAX_FAILURES:
            return None
        math = node.css_first("math")
        if math is None:
            self._failures += 1
        return math


def _read_math(math: LexborNode, marks: str, attributes: Attributes) -> Formula | None:
    source = _read_annotation(math)[: 20 * _MAX_LENGTH]
    if not source or not _is_shown(source, math):
        source = _to_tex(math, 0)[: 20 * _MAX_LENGTH]
    tex = one_line(source, _MAX_LENGTH)
    styled = _STYLE.fullmatch(tex)
    if styled:
        tex = styled[1].strip()
    if not tex:
        return None
    is_displayed = (
        math.attributes.get("display") == "block"
        or attributes.get("display") == "true"
        or _DISPLAYED.search(marks) is not None
    )
    return Formula(tex, is_displayed, strip_invisible(source)[1])


def _read_annotation(math: LexborNode) -> str:
    for annotation in math.css("annotation"):
        if "tex" in (annotation.attributes.get("encoding") or "").lower():
            return annotation.text() or ""
    return math.attributes.get("alttext") or ""


def _is_shown(tex: str, math: LexborNode) -> bool:
    """Return whether the words in the TeX of a formula are in its MathML too: only
    machines read the TeX.
    """
    words = set(_WORD.findall(_COMMAND.sub(" ", tex)))
    if not words:
        return True
    text = "".join(_COMMAND.sub(" ", _to_tex(math, 0)).split())
    return all(word in text for word in words)


def _to_tex(node: LexborNode, depth: int) -> str:
    """Convert MathML to TeX. Symbols are kept as characters, even where TeX has a name
    for them.
    """
    name = node.tag or ""
    if name in _UNSEEN:
        return ""
    if depth and _is_hidden(node.attributes):
        return ""
    if depth > _MAX_DEPTH or name in _TOKENS:
        return _write_token(name, (node.text() or "").strip())
    parts = [
        _to_tex(child, depth + 1) for child in node.iter() if child.is_element_node
    ]
    write = _WRITE.get(name)
    if write is None or len(parts) < write[0]:
        return "".join(parts)
    return write[1](parts)


def _write_token(name: str, text: str) -> str:
    if name == "mi" and text in _FUNCTIONS:
        return f"\\{text} "
    text = _SPECIAL.sub(r"\\\g<0>", text)
    if name == "mtext" and text:
        return f"\\text{{{text}}}"
    return text


def _is_hidden(attributes: Attributes) -> bool:
    look = judge_inline_style(attributes.get("style") or "")
    return "hidden" in attributes or look.closes or look.disguises or look.mutes > 0


def _over(parts: list[str]) -> str:
    accent = _ACCENTS.get(parts[1])
    if accent:
        return f"\\{accent}{{{parts[0]}}}"
    return f"{parts[0]}^{{{parts[1]}}}"


# For each element, the number of parts it needs, and a function that joins them.
_WRITE: dict[str, tuple[int, Callable[[list[str]], str]]] = {
    "mfrac": (2, lambda p: f"\\frac{{{p[0]}}}{{{p[1]}}}"),
    "msup": (2, lambda p: f"{p[0]}^{{{p[1]}}}"),
    "msub": (2, lambda p: f"{p[0]}_{{{p[1]}}}"),
    "msubsup": (3, lambda p: f"{p[0]}_{{{p[1]}}}^{{{p[2]}}}"),
    "munder": (2, lambda p: f"{p[0]}_{{{p[1]}}}"),
    "mover": (2, _over),
    "munderover": (3, lambda p: f"{p[0]}_{{{p[1]}}}^{{{p[2]}}}"),
    "msqrt": (1, lambda p: f"\\sqrt{{{''.join(p)}}}"),
    "mroot": (2, lambda p: f"\\sqrt[{p[1]}]{{{p[0]}}}"),
    "mfenced": (1, lambda p: f"({','.join(p)})"),
    "mtable": (1, lambda p: "\\begin{matrix}" + r" \\ ".join(p) + "\\end{matrix}"),
    "mtr": (1, " & ".join),
}
