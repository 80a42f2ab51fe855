"""Formulas: TeX, as the page itself states it for readers without MathML, or from the MathML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..._text.invisible import one_line, strip_invisible

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

FORMULAS = frozenset({"math", "mjx-container", "span"})

_WRITTEN_TWICE = re.compile(r"(?:^|\s)(?:katex|katex-display|mwe-math-element|MathJax(?:_Display)?)(?:\s|$)")
_DISPLAYED = re.compile(r"katex-display|mwe-math-element-block|MathJax_Display")
_STYLE = re.compile(r"\{\\(?:display|text)style\s*(.*)\}", re.DOTALL)
_MAX_LENGTH = 2000  # characters
_MAX_DEPTH = 20  # levels of MathML; what is below is its bare text
_FUNCTIONS = frozenset(
    "arccos arcsin arctan cos cosh cot det dim exp gcd inf ker lim ln log max min sin sinh sup tan tanh".split()
)
_ACCENTS = {"¯": "bar", "‾": "bar", "^": "hat", "~": "tilde", "→": "vec", "˙": "dot", "¨": "ddot"}


class Formula(NamedTuple):
    """A formula in TeX, whether it stands on a line of its own, and how many invisible characters it lost."""

    source: str
    display: bool
    invisible: int = 0


def read_formula(node: LexborNode, name: str, attributes: Mapping[str, str | None]) -> Formula | None:
    """
    Return the formula that an element is; None if it is none.

    Args:
        node: A ``math`` element, or what KaTeX, MathJax and Wikipedia put around one, with the same again as boxes.
        name: Its name.
        attributes: Its attributes.

    """
    marks = attributes.get("class") or ""
    math: LexborNode | None = node
    if name != "math":
        if name == "span" and ("at" not in marks or not _WRITTEN_TWICE.search(marks)):
            return None
        math = node.css_first("math")
    if math is None:
        return None
    stated = math.attributes
    written = (_stated(math) or _tex(math, 0))[: 20 * _MAX_LENGTH]
    tex = one_line(written, _MAX_LENGTH)
    display = stated.get("display") == "block" or attributes.get("display") == "true" or bool(_DISPLAYED.search(marks))
    if inner := _STYLE.fullmatch(tex):
        tex = inner[1].strip()
    return Formula(tex, display, strip_invisible(written)[1]) if tex else None


def _stated(math: LexborNode) -> str:
    for annotation in math.css("annotation"):
        if "tex" in (annotation.attributes.get("encoding") or "").lower():
            return annotation.text() or ""
    return math.attributes.get("alttext") or ""


def _tex(node: LexborNode, depth: int) -> str:
    """Write what MathML shows; a sign that TeX has a name for stays the sign."""
    name = node.tag or ""
    if depth > _MAX_DEPTH or name in {"mi", "mn", "mo", "mtext", "ms"}:
        text = (node.text() or "").strip()
        if name == "mi" and text in _FUNCTIONS:
            return f"\\{text} "
        return f"\\text{{{text}}}" if name == "mtext" and text else text
    if name.startswith("annotation"):
        return ""
    parts: list[str] = []
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            parts.append(_tex(child, depth + 1))
        child = child.next
    write = _WRITE.get(name)
    if write is None or len(parts) < write[0]:
        return "".join(parts)
    return write[1](parts)


def _over(parts: list[str]) -> str:
    accent = _ACCENTS.get(parts[1])
    return f"\\{accent}{{{parts[0]}}}" if accent else f"{parts[0]}^{{{parts[1]}}}"


# How many parts each needs, and what is made of them.
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
