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
# those whose colour only a browser can compute
_COMPUTED_FUNCTIONS = frozenset(
    "color-mix light-dark device-cmyk contrast-color".split()
)
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
        if self.channels is None or ground.channels is None:
            return False
        if ground.alpha < 1 - _FAINT:
            return False
        return all(
            abs(own - other) <= _NEAR
            for own, other in zip(self.channels, ground.channels, strict=True)
        )


def parse_colour(value: Sequence[Token]) -> Colour | None:
    """Return the colour that *value* means, or None. The channels of ``currentcolor``
    are not known here.
    """
    if not value:
        return None
    first = value[0]
    if len(value) == 1:
        return _parse_word(first)
    if first.kind != "function" or value[-1] != Token("mark", ")"):
        return None
    if first.text in _COMPUTED_FUNCTIONS:
        return Colour(None)
    if first.text not in _FUNCTIONS:
        return None
    return _parse_function(first.text, value[1:-1])


def _parse_word(token: Token) -> Colour | None:
    if token.kind == "hash":
        return _parse_hex(token.text)
    if token.kind != "ident":
        return None
    if token.text == "transparent":
        return Colour((0, 0, 0), 0)
    if token.text in _NAMED:
        return _parse_hex(_NAMED[token.text])
    if token.text in _SYSTEM or token.text == "currentcolor":
        return Colour(None)
    return None


def _parse_hex(digits: str) -> Colour | None:
    if len(digits) not in {3, 4, 6, 8}:
        return None
    long = digits
    if len(digits) <= 4:
        long = "".join(digit * 2 for digit in digits)
    try:
        numbers = bytes.fromhex(long)
    except ValueError:
        return None
    alpha = 1.0
    if len(numbers) > 3:
        alpha = numbers[3] / 255
    return Colour(tuple(numbers[:3]), alpha)


def _parse_function(name: str, inside: Sequence[Token]) -> Colour | None:
    channels: list[_Channel] = []
    alpha = 1.0
    follows_slash = False
    parts = [token for token in inside if token != Token("mark", ",")]
    if name == "color":
        parts = parts[1:]
    for token in parts:
        if token == Token("mark", "/"):
            follows_slash = True
            continue
        channel = _parse_channel(token)
        if channel is None:
            return Colour(None)  # relative to another colour, or calculated
        if follows_slash or len(channels) == 3:
            alpha = _limit(channel.number, 1.0)
        else:
            channels.append(channel)
    if len(channels) != 3:
        return None
    if name in {"rgb", "rgba"}:
        return Colour(tuple(map(_read_light, channels)), alpha)
    if name in {"hsl", "hsla", "hwb"}:
        return Colour(_read_hue(name, channels), alpha)
    return Colour(None, alpha)


class _Channel(NamedTuple):
    number: float
    is_share: bool  # a percentage


def _parse_channel(token: Token) -> _Channel | None:
    """Return a channel; None if only a browser can compute it."""
    if token == Token("ident", "none"):
        return _Channel(0.0, is_share=False)
    if token.kind != "number":
        return None
    size = parse_size([token])
    if size is None:
        return None
    return _Channel(size.number, size.kind == "%")


def _read_light(channel: _Channel) -> float:
    """Return red, green or blue, from 0 to 255."""
    if channel.is_share:
        return _limit(channel.number * 255, 255.0)
    return _limit(channel.number, 255.0)


def _read_share(channel: _Channel) -> float:
    """Return a share, from 0 to 1, of a percentage or a number up to 100."""
    if channel.is_share:
        return _limit(channel.number, 1.0)
    return _limit(channel.number / 100, 1.0)


def _read_hue(name: str, channels: Sequence[_Channel]) -> tuple[float, ...]:
    """Return red, green and blue of a hue with its saturation or its grey."""
    hue = channels[0].number % 360 / 360
    second = _read_share(channels[1])
    third = _read_share(channels[2])
    if name != "hwb":
        colour = colorsys.hls_to_rgb(hue, third, second)
        return tuple(255 * light for light in colour)
    grey = second + third
    if grey >= 1:
        return (255 * second / grey,) * 3
    pure = colorsys.hsv_to_rgb(hue, 1, 1)
    return tuple(255 * (light * (1 - grey) + second) for light in pure)


def _limit(number: float, top: float) -> float:
    """Return the nearest number from 0 to *top*."""
    return max(0.0, min(top, number))
