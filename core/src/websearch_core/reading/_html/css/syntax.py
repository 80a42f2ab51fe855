"""Split CSS into tokens and declarations, so that spelling makes no difference.

Follows CSS Syntax Level 3 (https://www.w3.org/TR/css-syntax-3/) for escapes, comments,
strings, numbers, functions and ``!important``. Never raises, and reads every character
once.
"""

from __future__ import annotations
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}+(?:\r\n|[ \t\r\n\f])?+|[^\n\r\f0-9a-fA-F])"
# Letters, digits, "_", "-", and all signs from "\u00b7" on: the class of all others is
# short, and compiled in a tenth of the time.
_NAME = rf"(?:[^\x00-,./:-@\[-^`{{-\xa9\xab-\xb1\xb4\xb6]|{_ESCAPE})"
_FIRST = rf"(?:[^\x00-@\[-^`{{-\xb6]|{_ESCAPE})"
_IDENT = rf"(?:--{_NAME}*+|-?+{_FIRST}{_NAME}*+)"
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
_TOKEN = re.compile(
    rf"(?P<space>(?:[ \t\r\n\f]++|{_COMMENT})++)"
    rf"|(?P<number>[+-]?+(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+)(?P<unit>%|{_IDENT})?+"
    rf"|(?P<ident>{_IDENT})(?P<function>\()?+"
    rf"|\#(?P<hash>{_NAME}++)"
    r"""|"(?:[^"\\\n\r\f]++|\\(?:\r\n|[\s\S]|\Z))*+"?+|'(?:[^'\\\n\r\f]++|\\(?:\r\n|[\s\S]|\Z))*+'?+"""
    r"|(?P<mark>[\s\S])"
)
_ESCAPED = re.compile(r"\\(?:([0-9a-fA-F]{1,6}+)(?:\r\n|[ \t\r\n\f])?+|([^\n\r\f]))")
_QUOTED = re.compile(r"[ \t\r\n\f]*+[\"']")
_REST_OF_URL = re.compile(r"(?:[^)\\]++|\\[\s\S]?+)*+\)?+")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_MAX_DEPTH = 20  # levels of math functions, or of variables
_MAX_TOKENS = 1_000  # that the variables of a style stand for, all together
_FONT = 16.0  # pixels: the default font size
_PIXELS = {
    "px": 1.0, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "em": _FONT,
    "rem": _FONT, "ex": 8, "rex": 8, "ch": 8, "rch": 8, "cap": 11, "ic": _FONT,
    "lh": 20, "rlh": 20,
    "vw": 12.8, "vh": 8, "vi": 12.8, "vb": 8, "vmin": 8, "vmax": 12.8, "cqw": 12.8,
    "cqh": 8, "cqi": 12.8, "cqb": 8,
    "cqmin": 8, "cqmax": 12.8,
}  # fmt: skip
_DEGREES = {"deg": 1.0, "grad": 0.9, "rad": 57.29578, "turn": 360.0}


class Token(NamedTuple):
    """A token other than white space and comments."""

    kind: str  # ``ident``, ``function``, ``number``, ``hash``, ``string`` or ``mark``
    # a name in lower case, the unit of a number, or the mark; the names of variables
    # keep their case
    text: str
    number: float = 0.0


class Declaration(NamedTuple):
    """A property, its value, and whether it is marked as important."""

    name: str
    value: tuple[Token, ...]
    important: bool


_VARIABLE = Token("function", "var")


def _tokenize(text: str) -> Iterator[Token]:
    begin = 0
    while begin < len(text):
        match = _TOKEN.match(text, begin)
        assert match, "any character is a token"
        end = match.end()
        kind = match.lastgroup or "string"
        if kind in {"number", "unit"}:
            # a large one is infinite
            number = max(-1e9, min(1e9, float(match["number"])))
            yield Token("number", _unescape(match["unit"] or "").lower(), number)
        elif kind in {"ident", "function"}:
            name = _unescape(match["ident"])
            name = name if name.startswith("--") else name.lower()
            if kind == "function" and name == "url" and not _QUOTED.match(text, end):
                end = _REST_OF_URL.match(text, end).end()  # type: ignore[union-attr]  # it also matches empty text
                yield Token("string", "url")
            else:
                yield Token(kind, name)
        elif kind == "hash":
            yield Token("hash", _unescape(match["hash"]))
        elif kind != "space":
            yield Token(kind, match[0] if kind == "mark" else "")
        begin = end


def parse_declarations(text: str) -> Iterator[Declaration]:
    """Yield the declarations in *text*, a ``style`` attribute or the inside of a block;
    ignore everything else.
    """
    parts: list[Token] = []
    open_: list[str] = []  # the marks that close the open brackets
    for token in _tokenize(text):
        closer = (
            ")"
            if token.kind == "function"
            else _CLOSERS.get(token.text)
            if token.kind == "mark"
            else None
        )
        if closer:
            open_.append(closer)
        elif open_ and token == Token("mark", open_[-1]):
            del open_[-1]
            if not open_ and token.text == "}" and not parts[0].text.startswith("--"):
                parts = []  # that was a rule
                continue
        elif not open_ and token == Token("mark", ";"):
            if declared := _make_declaration(parts):
                yield declared
            parts = []
            continue
        parts.append(token)
    if declared := _make_declaration(parts):
        yield declared


def _make_declaration(parts: list[Token]) -> Declaration | None:
    if len(parts) < 3 or parts[0].kind != "ident" or parts[1] != Token("mark", ":"):
        return None
    important = (
        len(parts) > 4
        and parts[-1] == Token("ident", "important")
        and parts[-2] == Token("mark", "!")
    )
    return Declaration(
        parts[0].text, tuple(parts[2:-2] if important else parts[2:]), important
    )


class Variables:
    """The variables of a style.

    Each is computed once, as browsers do: one that stands in itself has no value.
    """

    def __init__(self, declared: Mapping[str, tuple[Token, ...]]) -> None:
        self._declared = declared
        self._values: dict[str, tuple[Token, ...] | None] = {}
        self._depth = 0
        self._room = _MAX_TOKENS  # tokens, and variables, that may still be put in

    def substitute(self, value: Sequence[Token]) -> tuple[Token, ...] | None:
        """Return *value* with what its variables stand for; None if one of them has no
        value, or all together are too long.
        """
        if _VARIABLE not in value:
            return tuple(value)
        tokens: list[Token] = []
        place = 0
        while place < len(value):
            token = value[place]
            if token != _VARIABLE:
                tokens.append(token)
                place += 1
                continue
            end = find_closing(value, place)
            inside = value[place + 1 : end]
            written = self._value_of(inside)
            if written is None:
                return None
            self._room -= 1 + len(written)
            if self._room < 0:
                return None
            tokens += written
            place = end + 1
        return tuple(tokens)

    def _value_of(self, inside: Sequence[Token]) -> tuple[Token, ...] | None:
        """Return what stands for ``var(inside)``: a variable, or else the fallback."""
        if not inside or self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        value = self._compute(inside[0].text)
        if value is None and Token("mark", ",") in inside[1:2]:
            value = self.substitute(inside[2:])
        self._depth -= 1
        return value

    def _compute(self, name: str) -> tuple[Token, ...] | None:
        if name in self._values:
            return self._values[name]
        if name not in self._declared:
            return None
        self._values[name] = None  # as long as it is computed
        value = self.substitute(self._declared[name])
        self._values[name] = value
        return value


def find_closing(value: Sequence[Token], place: int) -> int:
    """Return the index where the function or bracket at *place* ends, or the length of
    *value*.
    """
    depth = 0
    for here in range(place, len(value)):
        token = value[here]
        if token.kind == "function" or (token.kind == "mark" and token.text == "("):
            depth += 1
        elif token.kind == "mark" and token.text == ")":
            depth -= 1
            if depth == 0:
                return here
    return len(value)


def split_parts(value: Sequence[Token], mark: str = "") -> list[tuple[Token, ...]]:
    """Split *value* at *mark*, or into single tokens, but never inside a function."""
    parts: list[tuple[Token, ...]] = []
    part: list[Token] = []
    place = 0
    while place < len(value):
        token = value[place]
        if mark and token == Token("mark", mark):
            parts.append(tuple(part))
            part = []
            place += 1
            continue
        end = (
            find_closing(value, place)
            if token.kind == "function" or token == Token("mark", "(")
            else place
        )
        if mark:
            part += value[place : end + 1]
        else:
            parts.append(tuple(value[place : end + 1]))
        place = end + 1
    return [*parts, tuple(part)] if mark else parts


class Size(NamedTuple):
    """A number; *kind* says whether it is in pixels, in degrees, a fraction (from a
    percentage) or a plain number.
    """

    number: float
    kind: str  # "length", "angle", "%" or ""


def parse_size(value: Sequence[Token], depth: int = 0) -> Size | None:
    """Return the number that *value* means, also from math functions, or None."""
    if len(value) == 1:
        return _read_number(value[0])
    if (
        not value
        or depth > _MAX_DEPTH
        or find_closing(value, 0) != len(value) - 1
        or value[0].kind == "number"
    ):
        return None
    name = value[0].text if value[0].kind == "function" else "calc"
    inside = value[1:-1]
    if name in {"calc", "-webkit-calc", "-moz-calc"}:
        return _sum(inside, depth + 1)
    found = [_sum(part, depth + 1) for part in split_parts(inside, ",")]
    numbers = [one for one in found if one is not None]
    if (
        not numbers
        or len(numbers) < len(found)
        or len({one.kind for one in numbers if one.number}) > 1
    ):
        return None
    kind = next((one.kind for one in numbers if one.number), numbers[0].kind)
    values = [one.number for one in numbers]
    if name == "min":
        return Size(min(values), kind)
    if name == "max":
        return Size(max(values), kind)
    if name == "clamp" and len(values) == 3:
        return Size(max(values[0], min(values[1], values[2])), kind)
    return None


def _read_number(token: Token) -> Size | None:
    if token.kind != "number":
        return None
    unit = token.text
    if unit == "%":
        return Size(token.number / 100, "%")
    if not unit:
        return Size(token.number, "")
    if unit in _DEGREES:
        return Size(token.number * _DEGREES[unit], "angle")
    pixels = _PIXELS.get(unit) or (
        _PIXELS.get(unit[1:]) if unit[0] in "sld" and unit[1:2] == "v" else None
    )
    return Size(token.number * pixels, "length") if pixels else None


def _sum(value: Sequence[Token], depth: int) -> Size | None:
    """Evaluate the sum inside a math function."""
    total: Size | None = None
    product: Size | None = None
    sign, times = 1.0, None
    expects = True  # a number, not a sign
    for part in split_parts(value):
        if expects:
            number = parse_size(part, depth)
            if number is None:
                return None
            product = (
                number
                if times is None or product is None
                else _scale(product, number, times)
            )
            if product is None:
                return None
            expects = False
            continue
        mark = part[0].text if part[0].kind == "mark" else ""
        if mark in {"*", "/"}:
            times = mark
        elif mark in {"+", "-"}:
            total = _add(total, product, sign)
            if total is None:
                return None
            sign, times = 1.0 if mark == "+" else -1.0, None
        else:
            return None
        expects = True
    return None if expects else _add(total, product, sign)


def _scale(one: Size, other: Size, mark: str) -> Size | None:
    if mark == "/":
        return (
            Size(one.number / other.number, one.kind)
            if other.number and not other.kind
            else None
        )
    return Size(one.number * other.number, one.kind or other.kind)


def _add(total: Size | None, product: Size | None, sign: float) -> Size | None:
    if product is None:
        return None
    signed = Size(sign * product.number, product.kind)
    if total is None:
        return signed
    if total.kind != signed.kind and total.number and signed.number:
        return None
    return Size(
        total.number + signed.number, signed.kind if signed.number else total.kind
    )


def _unescape(name: str) -> str:
    return _ESCAPED.sub(_decode_escape, name) if "\\" in name else name


def _decode_escape(escape: re.Match[str]) -> str:
    if escape[2]:
        return escape[2]
    number = int(escape[1], 16)
    return (
        chr(number)
        if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000
        else "\ufffd"
    )
