"""Parse CSS colours (https://www.w3.org/TR/css-color-4/) to compare the colour of a
text with its background.
"""

from __future__ import annotations
import colorsys
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from .syntax import Token, parse_size

_NAMED: dict[str, str] = json.loads(
    files(__package__ or "").joinpath("colours.json").read_text("utf-8")
)
_SYSTEM = frozenset(
    "accentcolor accentcolortext activetext buttonborder buttonface buttontext canvas "
    "canvastext field fieldtext "
    "graytext highlight highlighttext linktext mark marktext selecteditem "
    "selecteditemtext visitedtext".split()
)
_FUNCTIONS = frozenset("rgb rgba hsl hsla hwb lab lch oklab oklch color".split())
# of 255: colours that differ by no more than this in every channel look the same
_NEAR = 8
_FAINT = 0.05  # an opacity at which text cannot be read


class Colour(NamedTuple):
    """A colour."""

    # red, green and blue from 0 to 255; None if only a browser can compute them
    channels: tuple[float, ...] | None
    alpha: float = 1.0  # the opacity from 0 to 1

    def is_clear(self) -> bool:
        """Return whether the colour is practically transparent."""
        return self.alpha < _FAINT

    def is_like(self, ground: Colour) -> bool:
        """Return whether text of this colour is invisible on *ground*."""
        if (
            self.channels is None
            or ground.channels is None
            or ground.alpha < 1 - _FAINT
        ):
            return False
        return all(
            abs(one - other) <= _NEAR
            for one, other in zip(self.channels, ground.channels, strict=True)
        )


def parse_colour(value: Sequence[Token]) -> Colour | None:
    """Return the colour that *value* means, or None. The channels of ``currentcolor``
    are not known here.
    """
    if not value:
        return None
    first = value[0]
    if len(value) == 1:
        if first.kind == "hash":
            return _parse_hex(first.text)
        if first.kind != "ident":
            return None
        if first.text == "transparent":
            return Colour((0, 0, 0), 0)
        if first.text in _NAMED:
            return _parse_hex(_NAMED[first.text])
        return (
            Colour(None)
            if first.text in _SYSTEM or first.text == "currentcolor"
            else None
        )
    if first.kind != "function" or value[-1] != Token("mark", ")"):
        return None
    if first.text not in _FUNCTIONS:
        return (
            Colour(None)
            if first.text
            in {"color-mix", "light-dark", "device-cmyk", "contrast-color"}
            else None
        )
    return _parse_function(first.text, value[1:-1])


def _parse_hex(digits: str) -> Colour | None:
    if len(digits) not in {3, 4, 6, 8}:
        return None
    long = digits if len(digits) > 4 else "".join(digit * 2 for digit in digits)
    try:
        numbers = bytes.fromhex(long)
    except ValueError:
        return None
    return Colour(tuple(numbers[:3]), numbers[3] / 255 if len(numbers) > 3 else 1.0)


def _parse_function(name: str, inside: Sequence[Token]) -> Colour | None:
    channels: list[tuple[float, bool]] = []  # with whether it is a percentage
    alpha = 1.0
    follows_slash = False
    parts = [token for token in inside if token != Token("mark", ",")]
    if name == "color":
        parts = parts[1:]
    for token in parts:
        if token == Token("mark", "/"):
            follows_slash = True
            continue
        found = parse_size([token]) if token.kind == "number" else None
        if found is None and token != Token("ident", "none"):
            return Colour(None)  # relative to another colour, or calculated
        number, kind = found or (0.0, "")
        if follows_slash or len(channels) == 3:
            alpha = max(0.0, min(1.0, number))
        else:
            channels.append((number, kind == "%"))
    if len(channels) != 3:
        return None
    if name in {"rgb", "rgba"}:
        return Colour(
            tuple(
                max(0.0, min(255.0, n * 255 if percent else n))
                for n, percent in channels
            ),
            alpha,
        )
    if name in {"hsl", "hsla", "hwb"}:
        hue = channels[0][0] % 360 / 360
        second, third = (
            max(0.0, min(1.0, n if percent else n / 100)) for n, percent in channels[1:]
        )
        if name == "hwb":
            grey = second + third
            if grey >= 1:
                return Colour((255 * second / grey,) * 3, alpha)
            pure = colorsys.hsv_to_rgb(hue, 1, 1)
            return Colour(
                tuple(255 * (one * (1 - grey) + second) for one in pure), alpha
            )
        return Colour(
            tuple(255 * one for one in colorsys.hls_to_rgb(hue, third, second)), alpha
        )
    return Colour(None, alpha)
