"""Tell which styles may leave nothing to see, although only a browser knows.

What is doubtful is read, and said to be: it may be a fading edge or a heading in the
colours of a picture.
"""

from __future__ import annotations
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..._element import Attributes
from .colours import Colour, parse_colour
from .syntax import Token, parse_declarations, parse_size, split_parts

Value = tuple[Token, ...]
_MASKS = frozenset({"mask", "mask-image", "-webkit-mask", "-webkit-mask-image"})
_SHAPES = frozenset({"path", "shape", "url"})
_SIZES = frozenset({"height", "width", "max-height", "max-width"})
_KEYWORDS = frozenset({"fit-content", "anchor-size"})
_BLURRED = 8.0  # pixels
_FAINT = 0.05
_MIN_FONT = 1 / 16  # of the usual font: one pixel
_MAX_VARIABLES = 100  # that are inherited
_MAX_LENGTH = 1_000  # characters of a style that is read once for all elements with it
# A quick check: all that is read of a style has one of these in its name, which an
# escape may spell.
_TELLING = re.compile(
    r"color|background(?!-(?:image|size|pos|rep))|font-size|(?<![\w-])--|\\",
    re.IGNORECASE,
)


def is_doubtful(values: Mapping[str, Value]) -> bool:
    """Return whether the *values* of the properties of an element may hide its text."""
    return any(
        check(values)
        for check in (_draws_away, _has_unknown_value, _has_unknown_shape, _is_on_like)
    )


def _draws_away(values: Mapping[str, Value]) -> bool:
    for name in _MASKS:
        if _functions(values.get(name, ())) and not _is_drawn(values[name]):
            return True
    for part in split_parts(values.get("filter", ())):
        size = parse_size(part[1:-1])
        if size is None:
            continue
        if part[0].text == "blur" and size.number >= _BLURRED:
            return True
        if part[0].text in {"brightness", "contrast"} and size.number < _FAINT:
            return True
    return False


def _has_unknown_value(values: Mapping[str, Value]) -> bool:
    opacity = values.get("opacity", ())
    if _functions(opacity) and parse_size(opacity) is None:
        return True
    for name in ("color", "-webkit-text-fill-color"):
        value = values.get(name, ())
        colour = parse_colour(value) if _functions(value) else None
        if colour is not None and colour.channels is None:
            return True
    if not any(
        values.get(name, ())[:1] == (Token("ident", "hidden"),)
        for name in ("overflow", "overflow-x", "overflow-y")
    ):
        return False
    return any(
        _functions(values.get(name, ()))
        and parse_size(values[name]) is None
        and values[name][0].text not in _KEYWORDS
        for name in _SIZES
    )


def _has_unknown_shape(values: Mapping[str, Value]) -> bool:
    if len(values.get("rotate", ())) > 1 or _functions(values.get("offset-path", ())):
        return True
    if "perspective" in _functions(values.get("transform", ())):
        return True
    shape = values.get("clip-path", ())
    if not shape:
        return False
    numbers = [token.number for token in shape if token.kind == "number"]
    is_outside = bool(numbers) and max(numbers) <= 0
    return shape[0].text in _SHAPES or (shape[0].text == "polygon" and is_outside)


def _is_on_like(values: Mapping[str, Value]) -> bool:
    """Return whether text has the colour of a gradient, or only that of a background
    which is cut to the text.
    """
    ground = (
        *values.get("background", ()),
        *values.get("background-image", ()),
        *values.get("background-color", ()),
    )
    text = parse_colour(values.get("color", ()))
    if text is None or not ground:
        return False
    clips = (Token("ident", "text"),)
    is_cut = clips in (
        values.get("background-clip"),
        values.get("-webkit-background-clip"),
    )
    functions = _functions(ground)
    if is_cut and not functions:
        return text.is_clear()
    has_gradient = any(name.endswith("gradient") for name in functions)
    colours = list(_colours(ground))
    return has_gradient and bool(colours) and all(map(text.is_like, colours))


def _functions(value: Sequence[Token]) -> list[str]:
    return [token.text for token in value if token.kind == "function"]


def _colours(value: Sequence[Token]) -> Iterator[Colour]:
    """Yield the colours in a value that have a name or digits."""
    for token in value:
        colour = parse_colour([token])
        if colour is not None and colour.channels is not None:
            yield colour


def _is_drawn(value: Sequence[Token]) -> bool:
    return any(not colour.is_clear() for colour in _colours(value))


class Around(NamedTuple):
    """What the elements around a text say in their styles and attributes."""

    variables: Mapping[str, Value]
    font: float = 1.0  # its size, as a share of one that is stated or usual
    ground: Colour | None = None  # the colour of the nearest background


class _Own(NamedTuple):
    variables: Mapping[str, Value]
    font: float | None  # a share of that around, or none
    is_sized: bool  # has a font size of its own
    ground: Colour | None
    text: Colour | None


OUTERMOST = Around({})
_SILENT = _Own({}, None, is_sized=False, ground=None, text=None)


def read_around(around: Around, attributes: Attributes) -> Around:
    """Return what holds inside of an element, from what holds *around* it."""
    own = _read(attributes)
    if own is _SILENT:
        return around
    variables = around.variables
    if own.variables and len(variables) < _MAX_VARIABLES:
        variables = {**variables, **own.variables}
    font = around.font
    if own.is_sized:
        font = 1.0 if own.font is None else around.font * own.font
    return Around(variables, font, own.ground or around.ground)


def is_lost(around: Around, attributes: Attributes) -> bool:
    """Return whether the text of an element may be lost in what is *around* it: too
    small, or in the colour of a background.
    """
    own = _read(attributes)
    if own is _SILENT:
        return False
    if own.font is not None and around.font * own.font < _MIN_FONT:
        return True
    if own.text is None or own.ground is not None:
        return False
    return around.ground is not None and own.text.is_like(around.ground)


def _read(attributes: Attributes) -> _Own:
    style = attributes.get("style") or ""
    own = _SILENT
    if style:
        own = _read_cached(style) if len(style) <= _MAX_LENGTH else _read_style(style)
    ground = attributes.get("bgcolor")
    if own.ground is None and ground:
        own = own._replace(ground=_read_colour(ground[:_MAX_LENGTH]))
    text = attributes.get("color")
    if own.text is None and text:
        own = own._replace(text=_read_colour(text[:_MAX_LENGTH]))
    return own


@lru_cache(maxsize=1_024)
def _read_colour(written: str) -> Colour | None:
    """Return the colour that an attribute states."""
    for declared in parse_declarations(f"color:{written}"):
        return parse_colour(declared.value)
    return None


def _read_style(style: str) -> _Own:
    if not _TELLING.search(style):
        return _SILENT
    values = {
        declaration.name: declaration.value for declaration in parse_declarations(style)
    }
    variables = {name: value for name, value in values.items() if name.startswith("--")}
    return _Own(
        variables,
        _find_share(values.get("font-size", ())),
        "font-size" in values,
        _find_ground(values),
        parse_colour(values.get("color", ())),
    )


def _find_share(font_size: Value) -> float | None:
    """Return the size of a font as a share of that around it, if it is one."""
    size = parse_size(font_size)
    if size is None:
        return None
    if size.kind == "%":
        return size.number
    is_relative = any(token.text == "em" for token in font_size)
    if not is_relative:
        return None
    return size.number / 16


def _find_ground(values: Mapping[str, Value]) -> Colour | None:
    """Return the colour of a background, if it has no picture."""
    if "background-image" in values:
        return None
    grounds = values.get("background-color") or values.get("background") or ()
    if any(token.kind in {"function", "string"} for token in grounds):
        return None
    return next(_colours(grounds), None)


_read_cached = lru_cache(maxsize=1_024)(_read_style)
