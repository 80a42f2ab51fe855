"""Split CSS into tokens and declarations, so that spelling makes no difference.

Follows CSS Syntax Level 3 (https://www.w3.org/TR/css-syntax-3/) for escapes, comments,
strings, numbers, functions and ``!important``. Never raises, and reads every character
once.
"""

from __future__ import annotations
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
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
_MAX_DEPTH = 20  # levels of math functions, or of variables
_MAX_TOKENS = 1_000  # that the variables of a style stand for, all together
_FONT = 16.0  # pixels: the default font size
_PIXELS = {
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16,
    "in": 96,
    "cm": 37.8,
    "mm": 3.78,
    "q": 0.945,
    "em": _FONT,
    "rem": _FONT,
    "ex": 8,
    "rex": 8,
    "ch": 8,
    "rch": 8,
    "cap": 11,
    "ic": _FONT,
    "lh": 20,
    "rlh": 20,
    "vw": 12.8,
    "vh": 8,
    "vi": 12.8,
    "vb": 8,
    "vmin": 8,
    "vmax": 12.8,
    "cqw": 12.8,
    "cqh": 8,
    "cqi": 12.8,
    "cqb": 8,
    "cqmin": 8,
    "cqmax": 12.8,
}
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
_CLOSERS = {
    "(": Token("mark", ")"),
    "[": Token("mark", "]"),
    "{": Token("mark", "}"),
}
_COLON = Token("mark", ":")
_SEMICOLON = Token("mark", ";")


def _tokenize(text: str) -> Iterator[Token]:
    begin = 0
    while begin < len(text):
        match = _TOKEN.match(text, begin)
        assert match, "any character is a token"
        begin = match.end()
        kind = match.lastgroup or "string"
        if kind in {"number", "unit"}:
            # a large one is infinite
            number = max(-1e9, min(1e9, float(match["number"])))
            yield Token("number", _unescape(match["unit"] or "").lower(), number)
        elif kind in {"ident", "function"}:
            name = _read_name(match["ident"])
            is_url = kind == "function" and name == "url"
            if is_url and not _QUOTED.match(text, begin):
                begin = _REST_OF_URL.match(text, begin).end()  # type: ignore[union-attr]  # it also matches empty text
                yield Token("string", "url")
            else:
                yield Token(kind, name)
        elif kind == "hash":
            yield Token("hash", _unescape(match["hash"]))
        elif kind == "mark":
            yield Token("mark", match[0])
        elif kind == "string":
            yield Token("string", "")


def _read_name(written: str) -> str:
    name = _unescape(written)
    if name.startswith("--"):
        return name
    return name.lower()


# Two ask for the same style, one right after the other.
@lru_cache(maxsize=1)
def parse_declarations(text: str) -> tuple[Declaration, ...]:
    """Return the declarations in *text*, a ``style`` attribute or the inside of a
    block; ignore everything else.
    """
    declarations: list[Declaration] = []
    parts: list[Token] = []
    brackets: list[Token] = []  # those that close the open ones
    for token in _tokenize(text):
        closer = _find_closer(token)
        if closer:
            brackets.append(closer)
        elif brackets and token == brackets[-1]:
            del brackets[-1]
            is_whole = not brackets and token.text == "}"
            if is_whole and not parts[0].text.startswith("--"):
                parts = []  # that was a rule
                continue
        elif not brackets and token == _SEMICOLON:
            declarations += _make_declaration(parts)
            parts = []
            continue
        parts.append(token)
    declarations += _make_declaration(parts)
    return tuple(declarations)


def _find_closer(token: Token) -> Token | None:
    """Return the mark that closes a bracket; None if the token opens none."""
    if token.kind == "function":
        return _CLOSERS["("]
    if token.kind == "mark":
        return _CLOSERS.get(token.text)
    return None


def _make_declaration(parts: list[Token]) -> Iterator[Declaration]:
    """Yield the declaration that a list of tokens is, if it is one."""
    if len(parts) < 3 or parts[0].kind != "ident":
        return
    if parts[1] != _COLON:
        return
    is_important = len(parts) > 4 and tuple(parts[-2:]) == _IMPORTANT
    value = parts[2:-2] if is_important else parts[2:]
    yield Declaration(parts[0].text, tuple(value), is_important)


_IMPORTANT = (Token("mark", "!"), Token("ident", "important"))


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
        is_opening = token.kind == "mark" and token.text == "("
        if is_opening or token.kind == "function":
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
        end = place
        if token.kind == "function" or token == Token("mark", "("):
            end = find_closing(value, place)
        if mark:
            part += value[place : end + 1]
        else:
            parts.append(tuple(value[place : end + 1]))
        place = end + 1
    if mark:
        return [*parts, tuple(part)]
    return parts


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
    if not value or depth > _MAX_DEPTH:
        return None
    if find_closing(value, 0) != len(value) - 1 or value[0].kind == "number":
        return None
    name = value[0].text if value[0].kind == "function" else "calc"
    inside = value[1:-1]
    if name in {"calc", "-webkit-calc", "-moz-calc"}:
        return _sum(inside, depth + 1)
    sizes: list[Size] = []
    for part in split_parts(inside, ","):
        size = _sum(part, depth + 1)
        if size is None:
            return None
        sizes.append(size)
    return _compare(name, sizes)


def _compare(name: str, sizes: Sequence[Size]) -> Size | None:
    """Return what ``min``, ``max`` or ``clamp`` makes of sizes of one kind."""
    if not sizes:
        return None
    kinds = {size.kind for size in sizes if size.number}
    if len(kinds) > 1:
        return None
    kind = kinds.pop() if kinds else sizes[0].kind
    numbers = [size.number for size in sizes]
    if name == "min":
        return Size(min(numbers), kind)
    if name == "max":
        return Size(max(numbers), kind)
    if name == "clamp" and len(numbers) == 3:
        low, middle = numbers[:2]
        return Size(max(low, min(middle, numbers[2])), kind)
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
    # of a small, large or changing window: ``svh``, ``lvh``, ``dvh``
    is_window = unit[0] in "sld" and unit[1:2] == "v"
    pixels = _PIXELS.get(unit)
    if is_window and pixels is None:
        pixels = _PIXELS.get(unit[1:])
    if pixels is None:
        return None
    return Size(token.number * pixels, "length")


class _Sum:
    """A sum of products, as far as it was read."""

    def __init__(self) -> None:
        self._total: Size | None = None  # of the products before the last one
        self._product: Size | None = None
        self._sign = 1.0  # of the last product
        self._times = ""  # between it and the next number: "*", "/", or a new product

    def take(self, number: Size) -> bool:
        """Multiply or begin a product; return whether that is possible."""
        if not self._times or self._product is None:
            self._product = number
        else:
            self._product = _scale(self._product, number, self._times)
        return self._product is not None

    def go_on(self, mark: str) -> bool:
        """Note a sign between two numbers; return whether it may stand there."""
        if mark in {"*", "/"}:
            self._times = mark
            return True
        if mark not in {"+", "-"}:
            return False
        self._total = self.end()
        self._sign = 1.0 if mark == "+" else -1.0
        self._times = ""
        return self._total is not None

    def end(self) -> Size | None:
        """Return the sum with the last product."""
        return _add(self._total, self._product, self._sign)


def _sum(value: Sequence[Token], depth: int) -> Size | None:
    """Evaluate the sum inside a math function."""
    total = _Sum()
    expects_number = True  # and not a sign
    for part in split_parts(value):
        if expects_number:
            number = parse_size(part, depth)
            if number is None or not total.take(number):
                return None
        else:
            mark = part[0].text if part[0].kind == "mark" else ""
            if not total.go_on(mark):
                return None
        expects_number = not expects_number
    if expects_number:
        return None
    return total.end()


def _scale(size: Size, other: Size, mark: str) -> Size | None:
    if mark == "*":
        return Size(size.number * other.number, size.kind or other.kind)
    if not other.number or other.kind:
        return None
    return Size(size.number / other.number, size.kind)


def _add(total: Size | None, product: Size | None, sign: float) -> Size | None:
    if product is None:
        return None
    signed = Size(sign * product.number, product.kind)
    if total is None:
        return signed
    is_mixed = total.kind != signed.kind and signed.number
    if is_mixed and total.number:
        return None
    kind = signed.kind if signed.number else total.kind
    return Size(total.number + signed.number, kind)


def _unescape(name: str) -> str:
    if "\\" in name:
        return _ESCAPED.sub(_decode_escape, name)
    return name


def _decode_escape(escape: re.Match[str]) -> str:
    if escape[2]:
        return escape[2]
    number = int(escape[1], 16)
    if not 0 < number < 0x110000 or 0xD800 <= number < 0xE000:
        return "\ufffd"
    return chr(number)
