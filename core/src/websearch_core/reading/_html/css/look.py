"""Decide from the CSS properties of an element whether people can see it and its text.

Properties have their CSS meaning, including shorthands, invalid values and the order of
declarations.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from .colours import Colour, parse_colour
from .doubt import is_doubtful
from .syntax import (
    Declaration,
    Size,
    Token,
    Variables,
    parse_declarations,
    parse_size,
    split_parts,
)

# Ways to hide text that elements inside inherit, but can undo: visibility, a tiny font,
# transparency. A bit for each.
UNSEEN = 1
TINY = 2
CLEAR = 4
_FAINT = 0.05  # an opacity at which text cannot be read
_POINT = 1.0  # pixels: a box this small shows nothing
_OFF_PAGE = 100  # pixels beyond the left or upper edge, where a box is out of sight
_FAR = 2_000  # pixels in other directions, and for margins: layouts use smaller values
_SQUEEZED = -16  # pixels between letters, which put them on top of each other
# units of the font around an element
_RELATIVE = frozenset({"em", "ex", "ch", "cap", "ic", "lh"})
_MAX_CACHED_LENGTH = 1_000  # characters of a style

_T = TypeVar("_T")
# Fast path: common styles that hide nothing and undo nothing.
_HARMLESS = re.compile(
    r"(?:\s*+(?:"
    r"(?:padding|border|box-s|flex|grid|--|object|list-style|align|justify|text-align|text-decoration|vertical|"
    r"background-(?:color|size|pos|rep)|font-(?:weight|family|style)|aspect-ratio|gap|float|clear|cursor|order|pointer|z-index)[\w-]*+\s*+:[^;\\\"'/{}()\[\]]*+"
    r"|(?:max-|min-)?(?:width|height)\s*+:\s*+(?:[2-9]|\d\d)[\d.]*+(?:px|%|r?em|v[wh])\s*+"
    r"|margin[\w-]*+\s*+:[^;\\\"'/{}()\[\]-]*+"
    r"|background-image\s*+:\s*+url\([^;\\\"'/{}()\[\]]*+(?:/(?!\*)[^;\\\"'/{}()\[\]]*+)*+\)\s*+"
    r"|background-image\s*+:\s*+url\((?:\"[^\"\\\n\r\f]*+\"|'[^'\\\n\r\f]*+')\)\s*+"
    r")(?:;|\Z))*+\s*+",
    re.IGNORECASE,
)

Value = tuple[Token, ...]
Style = dict[str, Value]
_NOTHING: Mapping[str, Value] = {}
# what it sets, and the names of that
_Shorthand = tuple[Callable[[Value], Style], tuple[str, ...]]


class Look(NamedTuple):
    """How a style affects whether an element is visible."""

    # it hides the element as pages do with content that they may show later
    closes: bool = False
    # it hides the element in a way that only serves to show text to machines, not to
    # people
    disguises: bool = False
    # The ways (bits `UNSEEN`, `TINY`, `CLEAR`) in which it hides text that elements
    # inside can show again.
    mutes: int = 0
    resets: int = 0  # the bits that it undoes
    # it sets ``display``, which shows an element that is hidden only by an attribute
    displays: bool = False
    inlines: bool = False  # it makes the element a part of a line
    # it may hide the text in a way that only a browser can compute
    doubtful: bool = False


PLAIN = Look()


def judge_inline_style(text: str, inherited: Mapping[str, Value] = _NOTHING) -> Look:
    """Judge a ``style`` attribute, with the variables that it has *inherited*."""
    if not text:
        return PLAIN
    if inherited and _may_have_variables(text):
        return _judge(text, inherited)
    if len(text) <= _MAX_CACHED_LENGTH:
        return _judge_cached(text)
    return _judge(text)


def _may_have_variables(style: str) -> bool:
    """Return whether a style may have ``var()``, which an escape may spell."""
    return "(" in style and ("var" in style.lower() or "\\" in style)


def _judge(text: str, inherited: Mapping[str, Value] = _NOTHING) -> Look:
    if _HARMLESS.fullmatch(text):
        return PLAIN
    declarations = list(parse_declarations(text))
    # later ones win
    declarations.sort(key=lambda declaration: declaration.important)
    names = dict(inherited)
    for declaration in declarations:
        if declaration.name.startswith("--"):
            names[declaration.name] = declaration.value
    variables = Variables(names)
    style = _compute_style(declarations, variables)
    mutes, resets = _read_inherited(style)
    display = _keyword(style, "display")
    displays = display not in {"", "none"}
    # a value from style sheets alone raises no doubt: it is common
    values = {
        declaration.name: variables.substitute(declaration.value) or ()
        for declaration in declarations
    }
    doubtful = is_doubtful(values)
    return Look(
        closes=_closes(style),
        disguises=_disguises(style),
        mutes=mutes,
        resets=resets,
        displays=displays,
        inlines=display == "inline",
        doubtful=doubtful,
    )


_judge_cached = lru_cache(maxsize=1_024)(_judge)


def _compute_style(declarations: Sequence[Declaration], variables: Variables) -> Style:
    """Compute the value of each property that matters; it is empty if it is valid but
    cannot be known.
    """
    style: Style = {}
    for declaration in declarations:
        if declaration.name == "all" and _is_global(declaration.value):
            style.clear()
            continue
        name = _ALIASES.get(declaration.name, declaration.name)
        if name not in _VALID and name not in _SHORTHANDS:
            continue
        value = variables.substitute(declaration.value)
        if value is None or _is_global(value):
            names = _SHORTHANDS[name][1] if name in _SHORTHANDS else (name,)
            style.update(dict.fromkeys(names, ()))
        elif name in _SHORTHANDS:
            style.update(_SHORTHANDS[name][0](value))
        elif _VALID[name](value):
            style[name] = value
    return style


def _is_global(value: Value) -> bool:
    """Return whether a value is that of another element or of no style at all."""
    return len(value) == 1 and value[0].kind == "ident" and value[0].text in _GLOBAL


# Valid values. A declaration with an invalid value is ignored, so that an earlier one
# counts.

_GLOBAL = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
_DISPLAYS = frozenset(
    "none block inline inline-block flex inline-flex grid inline-grid grid-lanes "
    "inline-grid-lanes table inline-table "
    "table-row table-cell table-row-group table-header-group table-footer-group "
    "table-column table-column-group "
    "table-caption list-item contents flow flow-root run-in ruby ruby-base ruby-text "
    "ruby-base-container "
    "ruby-text-container math -webkit-box -webkit-inline-box -webkit-flex "
    "-webkit-inline-flex".split()
)
_FONT_SIZES = frozenset(
    "xx-small x-small small medium large x-large xx-large xxx-large smaller larger "
    "math".split()
)
_SIZES = frozenset(
    "auto none min-content max-content fit-content stretch -webkit-fill-available "
    "-moz-available".split()
)
_UNCHECKED = (
    "white-space contain clip-path filter background-image background-clip text-shadow "
    "-webkit-text-stroke"
).split()
_OVERFLOWS = frozenset(
    "visible hidden clip auto scroll overlay -moz-hidden-unscrollable".split()
)
_TRANSFORMS = frozenset(
    "matrix matrix3d translate translatex translatey translatez translate3d scale "
    "scalex scaley scalez scale3d rotate "
    "rotatex rotatey rotatez rotate3d skew skewx skewy perspective".split()
)


def _one_of(words: str) -> Callable[[Value], bool]:
    names = frozenset(words.split())
    return lambda value: (
        len(value) == 1 and value[0].kind == "ident" and value[0].text in names
    )


def _is_display(value: Value) -> bool:
    names = [token.text for token in value if token.kind == "ident"]
    return (
        len(names) == len(value)
        and _DISPLAYS.issuperset(names)
        and (len(names) == 1 or "none" not in names)
    )


def _is_number(value: Value) -> bool:
    size = parse_size(value)
    return size is not None and size.kind in {"", "%"}


def _is_length(value: Value) -> bool:
    size = parse_size(value)
    if size is None:
        return False
    if not size.kind:
        return not size.number
    return size.kind in {"length", "%"}


def _is_size(value: Value) -> bool:
    size = parse_size(value)
    if size is None:
        return value[0].text in _SIZES or value[0] == Token("function", "fit-content")
    return _is_length(value) and size.number >= 0


def _is_font_size(value: Value) -> bool:
    return (len(value) == 1 and value[0].text in _FONT_SIZES) or (
        parse_size(value) is not None and _is_size(value)
    )


def _is_offset(value: Value) -> bool:
    return _is_length(value) or value[0].text in {"auto", "anchor", "anchor-size"}


def _is_transform(value: Value) -> bool:
    parts = split_parts(value)
    return value == _NONE or all(
        part[0].kind == "function" and part[0].text in _TRANSFORMS for part in parts
    )


def _is_colour(value: Value) -> bool:
    return parse_colour(value) is not None


_NONE = (Token("ident", "none"),)
_SIDES = ("top", "right", "bottom", "left")
_INLINE = ("left", "right")
_BLOCK = ("top", "bottom")
_VALID: dict[str, Callable[[Value], bool]] = {
    "display": _is_display,
    "visibility": _one_of("visible hidden collapse"),
    "content-visibility": _one_of("visible auto hidden"),
    "opacity": _is_number,
    "font-size": _is_font_size,
    "line-height": lambda value: (
        value[0].text == "normal" or _is_number(value) or _is_length(value)
    ),
    "letter-spacing": lambda value: value[0].text == "normal" or _is_length(value),
    "zoom": lambda value: value[0].text == "normal" or _is_number(value),
    "position": _one_of("static relative absolute fixed sticky -webkit-sticky"),
    "text-indent": lambda value: any(map(_is_length, split_parts(value))),
    "clip": lambda value: value[0].text in {"auto", "rect"},
    "transform": _is_transform,
    "scale": lambda value: value == _NONE or all(map(_is_number, split_parts(value))),
    "translate": lambda value: (
        value == _NONE or all(map(_is_length, split_parts(value)))
    ),
    **dict.fromkeys(_UNCHECKED, bool),
    **dict.fromkeys(
        ("color", "-webkit-text-fill-color", "background-color"), _is_colour
    ),
    **dict.fromkeys(
        ("overflow-x", "overflow-y"),
        lambda value: len(value) == 1 and value[0].text in _OVERFLOWS,
    ),
    **dict.fromkeys(
        ("width", "height", "max-width", "max-height", "min-width", "min-height"),
        _is_size,
    ),
    **dict.fromkeys((*_SIDES, *(f"margin-{side}" for side in _SIDES)), _is_offset),
    **dict.fromkeys((f"padding-{side}" for side in _SIDES), _is_length),
}
_FLOWS = {
    "inline-start": "left",
    "inline-end": "right",
    "block-start": "top",
    "block-end": "bottom",
}
_ALIASES = {
    **{
        f"-webkit-{name}": name
        for name in ("transform", "filter", "clip-path", "background-clip", "opacity")
    },
    "overflow-inline": "overflow-x",
    "overflow-block": "overflow-y",
    "inline-size": "width",
    "block-size": "height",
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "min-inline-size": "min-width",
    "min-block-size": "min-height",
    **{f"inset-{flow}": side for flow, side in _FLOWS.items()},
    **{f"margin-{flow}": f"margin-{side}" for flow, side in _FLOWS.items()},
    **{f"padding-{flow}": f"padding-{side}" for flow, side in _FLOWS.items()},
}


# Shorthands set several properties, including those for which they give no value.


def _sides(prefix: str, valid: Callable[[Value], bool], *sides: str) -> _Shorthand:
    names = tuple(prefix + side for side in sides or _SIDES)

    def expand(value: Value) -> Style:
        parts = split_parts(value)
        if not 1 <= len(parts) <= len(names) or not all(map(valid, parts)):
            return {}
        return dict(zip(names, _four(parts), strict=False))

    return expand, names


def _four(values: Sequence[_T]) -> tuple[_T, _T, _T, _T]:
    """Return the values of the four sides; a missing one is that of the opposite
    side.
    """
    top = values[0]
    right = top
    if len(values) > 1:
        right = values[1]
    bottom = top
    if len(values) > 2:
        bottom = values[2]
    left = right
    if len(values) > 3:
        left = values[3]
    return top, right, bottom, left


def _overflow(value: Value) -> Style:
    if not 1 <= len(value) <= 2 or any(token.text not in _OVERFLOWS for token in value):
        return {}
    return {"overflow-x": value[:1], "overflow-y": value[-1:]}


def _font(value: Value) -> Style:
    """Find the size: the last length before the slash or the family. Numbers without a
    unit before it are weights.
    """
    sizes = []
    for part in split_parts(value):
        if part[0] == Token("mark", "/"):
            break
        if _is_font_size(part):
            sizes.append(part)
    if not sizes:
        return {}
    return {"font-size": sizes[-1]}


def _background(value: Value) -> Style:
    parts: list[Value] = []
    for layer in split_parts(value, ","):
        parts += split_parts(layer)
    ground: Value = ()
    image: Value = _NONE
    clip: Value = ()
    for part in reversed(parts):
        if not ground and _is_colour(part):
            ground = part
        if part[0] == Token("ident", "text"):
            clip = part
    for part in reversed(parts):
        is_function = part[0].kind == "function" and part != ground
        if is_function or part[0].kind == "string":
            image = part
    return {
        "background-color": ground,
        "background-image": image,
        "background-clip": clip,
    }


_SHORTHANDS: dict[str, _Shorthand] = {
    "overflow": (_overflow, ("overflow-x", "overflow-y")),
    "font": (_font, ("font-size",)),
    "background": (
        _background,
        ("background-color", "background-image", "background-clip"),
    ),
    "inset": _sides("", _is_offset),
    "margin": _sides("margin-", _is_offset),
    "padding": _sides("padding-", _is_length),
    "inset-inline": _sides("", _is_offset, *_INLINE),
    "inset-block": _sides("", _is_offset, *_BLOCK),
    "margin-inline": _sides("margin-", _is_offset, *_INLINE),
    "margin-block": _sides("margin-", _is_offset, *_BLOCK),
    "padding-inline": _sides("padding-", _is_offset, *_INLINE),
    "padding-block": _sides("padding-", _is_offset, *_BLOCK),
}


# Ways to hide an element.

_MOVABLE = frozenset({"absolute", "fixed", "relative", "sticky", "-webkit-sticky"})
_CUTTING = frozenset({"paint", "strict", "content"})  # values of ``contain``


def _keyword(style: Style, name: str) -> str:
    value = style.get(name)
    if not value or value[0].kind != "ident":
        return ""
    return value[0].text


def _number(style: Style, name: str) -> float | None:
    """Return a length in pixels, or a number; None if it depends on something else,
    such as a percentage.
    """
    size = parse_size(style.get(name, ()))
    if size is None:
        return None
    if size.kind == "%" and size.number:
        return None
    return size.number


def _closes(style: Style) -> bool:
    """Return whether the style hides the element as pages do with content that they may
    show later.
    """
    return (
        _keyword(style, "display") == "none"
        or _keyword(style, "content-visibility") == "hidden"
        or _is_faint(style)
        or _collapses(style)
        or _is_cut_away(style)
    )


def _is_faint(style: Style) -> bool:
    opacities = [style.get("opacity", ())]
    for part in split_parts(style.get("filter", ())):
        if part[0] == Token("function", "opacity"):
            opacities.append(part[1:-1])
    amounts = [parse_size(value) for value in opacities]
    return any(amount is not None and amount.number < _FAINT for amount in amounts)


def _is_cut_away(style: Style) -> bool:
    """Return whether the box has no room, and overflowing content is cut off."""
    overflows = {_keyword(style, axis) for axis in ("overflow-x", "overflow-y")}
    contained = {token.text for token in style.get("contain", ())}
    if overflows <= {"", "visible"} and contained.isdisjoint(_CUTTING):
        return False
    return (
        _is_narrow(style, "height", ("padding-top", "padding-bottom"))
        or _is_narrow(style, "width", ("padding-left", "padding-right"))
        or (_number(style, "line-height") == 0 and not style.get("min-height"))
    )


def _is_narrow(style: Style, axis: str, padding: Sequence[str]) -> bool:
    sizes = [_number(style, name) for name in (axis, f"max-{axis}")]
    if not any(size is not None and size <= _POINT for size in sizes):
        return False
    lowest = f"min-{axis}"
    if lowest in style and not style[lowest]:
        return False
    if _widens(parse_size(style.get(lowest, ())), _POINT):
        return False
    sides = [parse_size(style.get(side, ())) for side in padding]
    return not any(_widens(side, 2 * _POINT) for side in sides)


def _widens(size: Size | None, limit: float) -> bool:
    """Return whether a size makes room for more than *limit* pixels."""
    if size is None or size.number <= 0:
        return False
    return size.kind == "%" or size.number > limit


def _collapses(style: Style) -> bool:
    """Return whether a transform leaves the element without area: no width, no height,
    or seen edge-on.
    """
    scales = [parse_size(part) for part in split_parts(style.get("scale", ()))]
    if any(scale is not None and abs(scale.number) < _FAINT for scale in scales[:2]):
        return True
    for part in split_parts(style.get("transform", ())):
        arguments = [parse_size(value) for value in split_parts(part[1:-1], ",")]
        numbers = [size.number for size in arguments if size is not None]
        if not numbers or len(numbers) < len(arguments):
            continue
        if _flattens(part[0].text, numbers):
            return True
    return False


def _flattens(name: str, numbers: Sequence[float]) -> bool:
    """Return whether a function of ``transform`` leaves no area."""
    if name.startswith("scale") and name != "scalez":
        return any(abs(number) < _FAINT for number in numbers[:2])
    if name == "matrix" and len(numbers) == 6:
        area = numbers[0] * numbers[3] - numbers[1] * numbers[2]
        return abs(area) < _FAINT * _FAINT
    if name == "matrix3d" and len(numbers) == 16:
        area = numbers[0] * numbers[5] - numbers[1] * numbers[4]
        return abs(area) < _FAINT * _FAINT
    if name in {"rotatex", "rotatey"}:
        return abs(abs(numbers[0]) % 180 - 90) < 1
    return False


def _disguises(style: Style) -> bool:
    """Return whether the style only serves to show text to machines, not to people."""
    zoom = parse_size(style.get("zoom", ()))
    if zoom is not None and 0 < zoom.number < _FAINT:
        return True
    spacing = _number(style, "letter-spacing")
    if spacing is not None and spacing <= _SQUEEZED:
        return True
    return (
        _is_away(style)
        or _is_shifted(style)
        or _is_indented(style)
        or _is_clipped(style)
    )


def _is_away(style: Style) -> bool:
    """Return whether the position or a margin moves the box far off the page."""
    position = _keyword(style, "position")
    if position in {"absolute", "fixed"}:
        near = _OFF_PAGE
    else:
        near = _FAR
    if position in _MOVABLE:
        for side in _SIDES:
            offset = parse_size(style.get(side, ()))
            if offset is None:
                continue
            far = offset.number * 100 if offset.kind == "%" else offset.number
            limit = _FAR
            if side in {"left", "top"}:
                limit = near
            if far <= -limit or far >= 2 * _FAR:
                return True
    margins = [_number(style, f"margin-{side}") for side in ("left", "top", "right")]
    return any(margin is not None and margin <= -_FAR for margin in margins)


def _is_shifted(style: Style) -> bool:
    """Return whether a translation moves the element far away, by more than its width
    (as a carousel does).
    """
    moves = split_parts(style.get("translate", ()))[:2]
    for part in split_parts(style.get("transform", ())):
        arguments = split_parts(part[1:-1], ",")
        if part[0].text in {"translate", "translatex", "translatey", "translate3d"}:
            moves += arguments[:2]
        elif part[0].text == "matrix":
            moves += arguments[4:6]
    width = _number(style, "width") or 0
    for move in moves:
        distance = parse_size(move)
        if distance is None:
            continue
        pixels = abs(distance.number)
        if distance.kind == "%":
            pixels *= _FAR / 10
        if pixels >= _FAR and pixels > width:
            return True
    return False


def _is_indented(style: Style) -> bool:
    clips = _keyword(style, "overflow-x") in {"hidden", "clip"}
    is_one_line = clips and _keyword(style, "white-space") == "nowrap"
    for part in split_parts(style.get("text-indent", ())):
        indent = parse_size(part)
        if indent is None:
            continue
        is_share = indent.kind == "%"
        limit = _OFF_PAGE
        if is_share:
            limit = 1
        if indent.number <= -limit or indent.number >= _FAR:
            return True
        is_off_line = is_share and indent.number >= 1
        if is_off_line and is_one_line:
            return True
    return False


def _is_clipped(style: Style) -> bool:
    """Return whether ``clip`` or ``clip-path`` leaves nothing of the element."""
    if _is_empty_clip(style.get("clip", ())):
        return True
    for part in split_parts(style.get("clip-path", ())):
        if part[0].kind == "function" and _is_empty_shape(part[0].text, part[1:-1]):
            return True
    return False


def _is_empty_clip(clip: Value) -> bool:
    if not clip or clip[0] != Token("function", "rect"):
        return False
    edges = [token for token in clip[1:-1] if token != Token("mark", ",")]
    sizes = [parse_size([edge]) for edge in edges]
    numbers = [size.number for size in sizes if size is not None]
    if len(sizes) != 4 or len(numbers) != 4:
        return False
    height = numbers[2] - numbers[0]
    width = numbers[1] - numbers[3]
    return width <= _POINT or height <= _POINT


def _is_empty_shape(name: str, inside: Value) -> bool:
    if name == "polygon":
        return _is_empty_polygon(inside)
    sizes = _read_sizes(inside)
    if not sizes:
        return False
    if name in {"circle", "ellipse"}:
        return any(map(_is_tiny_radius, sizes[:2]))
    if name == "inset" and len(sizes) <= 4:
        sides = _four(sizes)  # top, right, bottom, left
        return _leave_nothing(sides[0], sides[2]) or _leave_nothing(sides[1], sides[3])
    if len(sizes) != 4:
        return False
    numbers = [size.number for size in sizes]
    if name == "xywh":
        return min(numbers[2:]) <= 0
    if name == "rect":
        return numbers[1] <= numbers[3] or numbers[2] <= numbers[0]
    return False


def _read_sizes(inside: Value) -> list[Size]:
    """Return the sizes of a shape; none if one of its parts is something else."""
    sizes: list[Size] = []
    for part in split_parts(inside):
        if part[0].kind == "ident" and part[0].text in {"at", "round"}:
            break
        size = parse_size(part)
        if size is None:
            return []
        sizes.append(size)
    return sizes


def _is_tiny_radius(size: Size) -> bool:
    limit = _POINT
    if size.kind == "%":
        limit = 0.005
    return size.number <= limit


def _is_empty_polygon(inside: Value) -> bool:
    """Return whether all corners lie on one line, and not on the edge of the box."""
    points: list[list[Size | None]] = []
    for corner in split_parts(inside, ","):
        axes = [parse_size(axis) for axis in split_parts(corner)]
        if len(axes) >= 2:
            points.append(axes[-2:])
    if not points:
        return False
    for column in zip(*points, strict=True):
        if column[0] is not None and len(set(column)) == 1:
            return True
    return False


def _leave_nothing(size: Size, other: Size) -> bool:
    """Return whether insets from two sides meet."""
    is_mixed = size.kind != other.kind and size.number
    if is_mixed and other.number:
        return False
    limit = 1 if "%" in {size.kind, other.kind} else 2 * _FAR
    return size.number + other.number >= limit


def _read_inherited(style: Style) -> tuple[int, int]:
    """Return the bits of `UNSEEN`, `TINY` and `CLEAR` that the style sets, and those
    that it undoes.
    """
    mutes = 0
    resets = 0
    visibility = _keyword(style, "visibility")
    if visibility in {"hidden", "collapse"}:
        mutes |= UNSEEN
    elif visibility:
        resets |= UNSEEN
    if style.get("font-size"):
        is_tiny = _is_tiny(style["font-size"])
        if is_tiny:
            mutes |= TINY
        elif is_tiny is not None:
            resets |= TINY
    is_clear = _is_clear(style)
    if is_clear:
        mutes |= CLEAR
    elif is_clear is not None:
        resets |= CLEAR
    return mutes, resets


def _is_tiny(font: Value) -> bool | None:
    """Return whether a font cannot be read; None if it depends on the one around."""
    size = parse_size(font)
    if size is None:
        return False
    limit = _POINT
    if size.kind == "%":
        limit = _POINT / 16
    if size.number <= limit:
        return True
    if size.kind != "length":
        return None
    is_relative = any(token.text in _RELATIVE for token in font)
    if not is_relative:
        return False
    return None


def _is_clear(style: Style) -> bool | None:
    """Return whether text is transparent or looks like its ground; None if the style
    does not say.
    """
    text = _text_colour(style)
    if text is None:
        return None
    if _has_colour_of_ground(style):
        return True
    if not text.is_clear():
        return False
    if "text-shadow" in style or "-webkit-text-stroke" in style:
        return None
    if _keyword(style, "background-clip") == "text":
        return None
    return True


def _text_colour(style: Style) -> Colour | None:
    return parse_colour(
        style.get("-webkit-text-fill-color", ()) or style.get("color", ())
    )


def _has_colour_of_ground(style: Style) -> bool:
    """Return whether the style gives text and background the same colour, without an
    image in the background.
    """
    if style.get("background-image", _NONE) != _NONE:
        return False
    written = style.get("background-color", ())
    if written == (Token("ident", "currentcolor"),):
        return "-webkit-text-fill-color" not in style
    ground = parse_colour(written)
    text = _text_colour(style)
    return ground is not None and text is not None and text.is_like(ground)
