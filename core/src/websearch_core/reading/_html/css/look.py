"""Decide from the CSS properties of an element whether people can see it and its text.

Properties have their CSS meaning, including shorthands, invalid values and the order of
declarations.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from .colours import parse_colour
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
UNSEEN, TINY, CLEAR = 1, 2, 4
_FAINT = 0.05  # an opacity at which text cannot be read
_POINT = 1.0  # pixels: a box this small shows nothing
_OFF_PAGE = 100  # pixels beyond the left or upper edge, where a box is out of sight
_FAR = 2_000  # pixels in other directions, and for margins: layouts use smaller values
_SQUEEZED = -16  # pixels between letters, which put them on top of each other
# units of the font around an element
_RELATIVE = frozenset({"em", "ex", "ch", "cap", "ic", "lh"})
_MAX_CACHED_LENGTH = 300  # characters of a style

_T = TypeVar("_T")
# Fast path: common styles that hide nothing and undo nothing.
_HARMLESS = re.compile(
    r"(?:\s*+(?:"
    r"(?:padding|border|flex|grid|--|object|list-style|align|justify|text-align|text-decoration|vertical|"
    r"background-(?:size|pos|rep)|font-(?:weight|family|style)|aspect-ratio|gap|float|clear|cursor|order)[\w-]*+\s*+:[^;\\\"'/{}()\[\]]*+"
    r"|(?:max-|min-)?(?:width|height)\s*+:\s*+(?:[2-9]|\d\d)[\d.]*+(?:px|%|r?em|v[wh])\s*+"
    r"|margin[\w-]*+\s*+:[^;\\\"'/{}()\[\]-]*+"
    r"|background-image\s*+:\s*+url\([^;\\\"'/{}()\[\]]*+(?:/(?!\*)[^;\\\"'/{}()\[\]]*+)*+\)\s*+"
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
    # it may hide the text in a way that only a browser can compute
    doubtful: bool = False


PLAIN = Look()


def judge_inline_style(text: str, inherited: Mapping[str, Value] = _NOTHING) -> Look:
    """Judge a ``style`` attribute, with the variables that it has *inherited*."""
    if not text or _HARMLESS.fullmatch(text):
        return PLAIN
    if inherited and "(" in text:
        return _judge(text, inherited)
    return _judge_cached(text) if len(text) <= _MAX_CACHED_LENGTH else _judge(text)


def _judge(text: str, inherited: Mapping[str, Value] = _NOTHING) -> Look:
    # later ones win
    declared = sorted(parse_declarations(text), key=lambda one: one.important)
    variables = Variables(
        dict(inherited)
        | {one.name: one.value for one in declared if one.name.startswith("--")}
    )
    style = _compute_style(declared, variables)
    mutes, resets = _read_inherited(style)
    displays = _keyword(style, "display") not in {"", "none"}
    # a value from style sheets alone raises no doubt: it is common
    values = {one.name: variables.substitute(one.value) or () for one in declared}
    doubtful = is_doubtful(values)
    return Look(_closes(style), _disguises(style), mutes, resets, displays, doubtful)


_judge_cached = lru_cache(maxsize=1_024)(_judge)


def _compute_style(declared: Sequence[Declaration], variables: Variables) -> Style:
    """Compute the value of each property that matters; it is empty if it is valid but
    cannot be known.
    """
    style: Style = {}
    for written, value, _ in declared:
        if written == "all" and len(value) == 1 and value[0].text in _GLOBAL:
            style.clear()
            continue
        name = _ALIASES.get(written, written)
        if name not in _VALID and name not in _SHORTHANDS:
            continue
        known = variables.substitute(value)
        if known is None or (
            len(known) == 1 and known[0].kind == "ident" and known[0].text in _GLOBAL
        ):
            style.update(
                dict.fromkeys(
                    _SHORTHANDS[name][1] if name in _SHORTHANDS else (name,), ()
                )
            )
        elif name in _SHORTHANDS:
            style.update(_SHORTHANDS[name][0](known))
        elif _VALID[name](known):
            style[name] = known
    return style


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
    known = frozenset(words.split())
    return lambda value: (
        len(value) == 1 and value[0].kind == "ident" and value[0].text in known
    )


def _is_display(value: Value) -> bool:
    names = [token.text for token in value if token.kind == "ident"]
    return (
        len(names) == len(value)
        and _DISPLAYS.issuperset(names)
        and (len(names) == 1 or "none" not in names)
    )


def _is_number(value: Value) -> bool:
    found = parse_size(value)
    return found is not None and found.kind in {"", "%"}


def _is_length(value: Value) -> bool:
    found = parse_size(value)
    return found is not None and (
        found.kind in {"length", "%"} or not (found.kind or found.number)
    )


def _is_size(value: Value) -> bool:
    found = parse_size(value)
    if found is None:
        return value[0].text in _SIZES or value[0] == Token("function", "fit-content")
    return _is_length(value) and found.number >= 0


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
_ALIASES = {
    **{
        f"-webkit-{name}": name
        for name in ("transform", "filter", "clip-path", "background-clip", "opacity")
    },
    "overflow-inline": "overflow-x", "overflow-block": "overflow-y",
    "inline-size": "width", "block-size": "height", "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "min-inline-size": "min-width", "min-block-size": "min-height",
    **{
        f"{logical}{flow}": f"{physical}{side}"
        for logical,
        physical in (("inset-", ""), ("margin-", "margin-"), ("padding-", "padding-"))
        for flow, side in (
            ("inline-start", "left"), ("inline-end", "right"), ("block-start", "top"),
            ("block-end", "bottom"),
        )
    },
}  # fmt: skip


# Shorthands set several properties, including those for which they give no value.


def _sides(prefix: str, valid: Callable[[Value], bool], *sides: str) -> _Shorthand:
    names = tuple(prefix + side for side in sides or _SIDES)

    def expand(value: Value) -> Style:
        parts = split_parts(value)
        fits = 1 <= len(parts) <= len(names) and all(map(valid, parts))
        return dict(zip(names, _four(parts), strict=False)) if fits else {}

    return expand, names


def _four(given: Sequence[_T]) -> tuple[_T, _T, _T, _T]:
    """Return the values of the four sides; a missing one is that of the opposite
    side.
    """
    right = given[1] if len(given) > 1 else given[0]
    return (
        given[0],
        right,
        given[2] if len(given) > 2 else given[0],
        given[3] if len(given) > 3 else right,
    )


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
    return {"font-size": sizes[-1]} if sizes else {}


def _background(value: Value) -> Style:
    layers = split_parts(value, ",")
    parts = [part for layer in layers for part in split_parts(layer)]
    ground = next((part for part in reversed(parts) if _is_colour(part)), ())
    image = [
        part
        for part in parts
        if part[0].kind == "string" or (part[0].kind == "function" and part != ground)
    ]
    clips = [part for part in parts if part[0] == Token("ident", "text")]
    return {
        "background-color": ground,
        "background-image": image[0] if image else _NONE,
        "background-clip": clips[0] if clips else (),
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
    **{
        f"{name}-{axis}": _sides(prefix, _is_offset, *sides)
        for name, prefix in (
            ("inset", ""),
            ("margin", "margin-"),
            ("padding", "padding-"),
        )
        for axis, sides in (("inline", ("left", "right")), ("block", ("top", "bottom")))
    },
}


# Ways to hide an element.


def _keyword(style: Style, name: str) -> str:
    value = style.get(name)
    return value[0].text if value and value[0].kind == "ident" else ""


def _number(style: Style, name: str) -> float | None:
    """Return a length in pixels, or a number; None if it depends on something else,
    such as a percentage.
    """
    found = parse_size(style.get(name, ()))
    return (
        None if found is None or (found.kind == "%" and found.number) else found.number
    )


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
    filters = split_parts(style.get("filter", ()))
    written = [
        style.get("opacity", ()),
        *(part[1:-1] for part in filters if part[0] == Token("function", "opacity")),
    ]
    return any(
        (amount := parse_size(one)) is not None and amount.number < _FAINT
        for one in written
    )


def _is_cut_away(style: Style) -> bool:
    """Return whether the box has no room, and overflowing content is cut off."""
    clips = any(
        _keyword(style, axis) not in {"", "visible"}
        for axis in ("overflow-x", "overflow-y")
    )
    if not clips and not any(
        token.text in {"paint", "strict", "content"}
        for token in style.get("contain", ())
    ):
        return False
    return (
        _is_narrow(
            style,
            ("height", "max-height"),
            "min-height",
            ("padding-top", "padding-bottom"),
        )
        or _is_narrow(
            style,
            ("width", "max-width"),
            "min-width",
            ("padding-left", "padding-right"),
        )
        or (_number(style, "line-height") == 0 and not style.get("min-height"))
    )


def _is_narrow(
    style: Style, most: Sequence[str], least: str, padding: Sequence[str]
) -> bool:
    if not any(
        (number := _number(style, name)) is not None and number <= _POINT
        for name in most
    ):
        return False
    widens = parse_size(style.get(least, ()))
    if (
        widens is not None
        and widens.number > 0
        and (widens.kind == "%" or widens.number > _POINT)
    ) or (least in style and not style[least]):
        return False
    sizes = [parse_size(style.get(side, ())) for side in padding]
    return not any(
        one is not None
        and (one.number > 2 * _POINT or (one.kind == "%" and one.number))
        for one in sizes
    )


def _collapses(style: Style) -> bool:
    """Return whether a transform leaves the element without area: no width, no height,
    or seen edge-on.
    """
    scale = [parse_size(part) for part in split_parts(style.get("scale", ()))]
    if any(one is not None and abs(one.number) < _FAINT for one in scale[:2]):
        return True
    for part in split_parts(style.get("transform", ())):
        name = part[0].text
        numbers = [parse_size(argument) for argument in split_parts(part[1:-1], ",")]
        if not numbers or None in numbers:
            continue
        by = [one.number for one in numbers if one is not None]
        if (
            (
                name.startswith("scale")
                and name != "scalez"
                and any(abs(one) < _FAINT for one in by[:2])
            )
            or (
                name == "matrix"
                and len(by) == 6
                and abs(by[0] * by[3] - by[1] * by[2]) < _FAINT * _FAINT
            )
            or (
                name == "matrix3d"
                and len(by) == 16
                and abs(by[0] * by[5] - by[1] * by[4]) < _FAINT * _FAINT
            )
            or (name in {"rotatex", "rotatey"} and abs(abs(by[0]) % 180 - 90) < 1)
        ):
            return True
    return False


def _disguises(style: Style) -> bool:
    """Return whether the style only serves to show text to machines, not to people."""
    zoom = parse_size(style.get("zoom", ()))
    return (
        _is_away(style)
        or _is_shifted(style)
        or _is_indented(style)
        or _is_clipped(style)
        or (zoom is not None and 0 < zoom.number < _FAINT)
        or (
            (spacing := _number(style, "letter-spacing")) is not None
            and spacing <= _SQUEEZED
        )
    )


def _is_away(style: Style) -> bool:
    """Return whether the position or a margin moves the box far off the page."""
    if _keyword(style, "position") in {
        "absolute",
        "fixed",
        "relative",
        "sticky",
        "-webkit-sticky",
    }:
        most = (
            _OFF_PAGE if _keyword(style, "position") in {"absolute", "fixed"} else _FAR
        )
        for side in _SIDES:
            offset = parse_size(style.get(side, ()))
            if offset is None:
                continue
            far = offset.number * 100 if offset.kind == "%" else offset.number
            if (
                far <= (-most if side in {"left", "top"} else -max(_FAR, most))
                or far >= 2 * _FAR
            ):
                return True
    return any(
        (margin := _number(style, f"margin-{side}")) is not None and margin <= -_FAR
        for side in ("left", "top", "right")
    )


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
        by = parse_size(move)
        far = (
            0.0 if by is None else abs(by.number) * (_FAR / 10 if by.kind == "%" else 1)
        )
        if far >= _FAR and far > width:
            return True
    return False


def _is_indented(style: Style) -> bool:
    clips = _keyword(style, "overflow-x") in {"hidden", "clip"}
    for part in split_parts(style.get("text-indent", ())):
        by = parse_size(part)
        if by is None:
            continue
        if by.number <= (-1 if by.kind == "%" else -_OFF_PAGE) or by.number >= _FAR:
            return True
        if (
            by.kind == "%"
            and by.number >= 1
            and clips
            and _keyword(style, "white-space") == "nowrap"
        ):
            return True
    return False


def _is_clipped(style: Style) -> bool:
    """Return whether ``clip`` or ``clip-path`` leaves nothing of the element."""
    clip = style.get("clip", ())
    if clip and clip[0] == Token("function", "rect"):
        edges = [
            parse_size([token]) for token in clip[1:-1] if token != Token("mark", ",")
        ]
        if len(edges) == 4 and None not in edges:
            top, right, bottom, left = (one.number for one in edges if one is not None)
            if right - left <= _POINT or bottom - top <= _POINT:
                return True
    for part in split_parts(style.get("clip-path", ())):
        if part[0].kind == "function" and _is_empty_shape(part[0].text, part[1:-1]):
            return True
    return False


def _is_empty_shape(name: str, inside: Value) -> bool:
    if name == "polygon":
        corners = [
            [parse_size(axis) for axis in split_parts(corner)]
            for corner in split_parts(inside, ",")
        ]
        points = [(one[-2], one[-1]) for one in corners if len(one) >= 2]
        return bool(points) and any(
            len({point[axis] for point in points}) == 1 and points[0][axis]
            for axis in (0, 1)
        )
    numbers: list[Size | None] = []
    for part in split_parts(inside):
        if part[0].kind == "ident" and part[0].text in {"at", "round"}:
            break
        numbers.append(parse_size(part))
    if not numbers or None in numbers:
        return False
    sizes = [one for one in numbers if one is not None]
    if name in {"circle", "ellipse"}:
        return any(
            one.number <= (0.005 if one.kind == "%" else _POINT) for one in sizes[:2]
        )
    if name == "inset" and len(sizes) <= 4:
        top, right, bottom, left = _four(sizes)
        return any(
            one.number + other.number
            >= (1 if "%" in {one.kind, other.kind} else 2 * _FAR)
            for one, other in ((top, bottom), (left, right))
            if one.kind == other.kind or not one.number or not other.number
        )
    if name == "xywh" and len(sizes) == 4:
        return min(sizes[2].number, sizes[3].number) <= 0
    if name == "rect" and len(sizes) == 4:
        return sizes[1].number <= sizes[3].number or sizes[2].number <= sizes[0].number
    return False


def _read_inherited(style: Style) -> tuple[int, int]:
    """Return the bits of `UNSEEN`, `TINY` and `CLEAR` that the style sets, and those
    that it undoes.
    """
    mutes = resets = 0
    if visibility := _keyword(style, "visibility"):
        mutes, resets = (
            (UNSEEN, 0) if visibility in {"hidden", "collapse"} else (0, UNSEEN)
        )
    if font := style.get("font-size"):
        found = parse_size(font)
        if found is not None and found.number <= (
            _POINT / 16 if found.kind == "%" else _POINT
        ):
            mutes |= TINY
        elif found is None or (
            found.kind == "length"
            and _RELATIVE.isdisjoint(token.text for token in font)
        ):
            resets |= TINY
    text = parse_colour(
        style.get("-webkit-text-fill-color", ()) or style.get("color", ())
    )
    if text is not None:
        is_clear = (
            text.is_clear()
            and "text-shadow" not in style
            and "-webkit-text-stroke" not in style
        )
        if (
            is_clear and _keyword(style, "background-clip") != "text"
        ) or _has_colour_of_ground(style):
            mutes |= CLEAR
        elif not text.is_clear():
            resets |= CLEAR
    return mutes, resets


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
    text = parse_colour(
        style.get("-webkit-text-fill-color", ()) or style.get("color", ())
    )
    return ground is not None and text is not None and text.is_like(ground)
