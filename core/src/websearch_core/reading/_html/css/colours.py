"""Parse CSS colours (https://www.w3.org/TR/css-color-4/) to compare the colour of a text with its background."""

from __future__ import annotations
import colorsys
from collections.abc import Sequence
from typing import NamedTuple

from .syntax import Token, parse_size

_NAMED = {
    name: value
    for name, _, value in (
        pair.partition("=")
        for pair in """
    aliceblue=f0f8ff antiquewhite=faebd7 aqua=00ffff aquamarine=7fffd4 azure=f0ffff beige=f5f5dc bisque=ffe4c4
    black=000000 blanchedalmond=ffebcd blue=0000ff blueviolet=8a2be2 brown=a52a2a burlywood=deb887 cadetblue=5f9ea0
    chartreuse=7fff00 chocolate=d2691e coral=ff7f50 cornflowerblue=6495ed cornsilk=fff8dc crimson=dc143c cyan=00ffff
    darkblue=00008b darkcyan=008b8b darkgoldenrod=b8860b darkgray=a9a9a9 darkgreen=006400 darkgrey=a9a9a9
    darkkhaki=bdb76b darkmagenta=8b008b darkolivegreen=556b2f darkorange=ff8c00 darkorchid=9932cc darkred=8b0000
    darksalmon=e9967a darkseagreen=8fbc8f darkslateblue=483d8b darkslategray=2f4f4f darkslategrey=2f4f4f
    darkturquoise=00ced1 darkviolet=9400d3 deeppink=ff1493 deepskyblue=00bfff dimgray=696969 dimgrey=696969
    dodgerblue=1e90ff firebrick=b22222 floralwhite=fffaf0 forestgreen=228b22 fuchsia=ff00ff gainsboro=dcdcdc
    ghostwhite=f8f8ff gold=ffd700 goldenrod=daa520 gray=808080 green=008000 greenyellow=adff2f grey=808080
    honeydew=f0fff0 hotpink=ff69b4 indianred=cd5c5c indigo=4b0082 ivory=fffff0 khaki=f0e68c lavender=e6e6fa
    lavenderblush=fff0f5 lawngreen=7cfc00 lemonchiffon=fffacd lightblue=add8e6 lightcoral=f08080 lightcyan=e0ffff
    lightgoldenrodyellow=fafad2 lightgray=d3d3d3 lightgreen=90ee90 lightgrey=d3d3d3 lightpink=ffb6c1
    lightsalmon=ffa07a lightseagreen=20b2aa lightskyblue=87cefa lightslategray=778899 lightslategrey=778899
    lightsteelblue=b0c4de lightyellow=ffffe0 lime=00ff00 limegreen=32cd32 linen=faf0e6 magenta=ff00ff maroon=800000
    mediumaquamarine=66cdaa mediumblue=0000cd mediumorchid=ba55d3 mediumpurple=9370db mediumseagreen=3cb371
    mediumslateblue=7b68ee mediumspringgreen=00fa9a mediumturquoise=48d1cc mediumvioletred=c71585 midnightblue=191970
    mintcream=f5fffa mistyrose=ffe4e1 moccasin=ffe4b5 navajowhite=ffdead navy=000080 oldlace=fdf5e6 olive=808000
    olivedrab=6b8e23 orange=ffa500 orangered=ff4500 orchid=da70d6 palegoldenrod=eee8aa palegreen=98fb98
    paleturquoise=afeeee palevioletred=db7093 papayawhip=ffefd5 peachpuff=ffdab9 peru=cd853f pink=ffc0cb plum=dda0dd
    powderblue=b0e0e6 purple=800080 rebeccapurple=663399 red=ff0000 rosybrown=bc8f8f royalblue=4169e1
    saddlebrown=8b4513 salmon=fa8072 sandybrown=f4a460 seagreen=2e8b57 seashell=fff5ee sienna=a0522d silver=c0c0c0
    skyblue=87ceeb slateblue=6a5acd slategray=708090 slategrey=708090 snow=fffafa springgreen=00ff7f steelblue=4682b4
    tan=d2b48c teal=008080 thistle=d8bfd8 tomato=ff6347 turquoise=40e0d0 violet=ee82ee wheat=f5deb3 white=ffffff
    whitesmoke=f5f5f5 yellow=ffff00 yellowgreen=9acd32
    """.split()
    )
}
_SYSTEM = frozenset(
    "accentcolor accentcolortext activetext buttonborder buttonface buttontext canvas canvastext field fieldtext "
    "graytext highlight highlighttext linktext mark marktext selecteditem selecteditemtext visitedtext".split()
)
_FUNCTIONS = frozenset("rgb rgba hsl hsla hwb lab lch oklab oklch color".split())
_NEAR = 8  # of 255: colours that differ by no more than this in every channel look the same
_FAINT = 0.05  # an opacity at which text cannot be read


class Colour(NamedTuple):
    """A colour."""

    channels: tuple[float, ...] | None  # red, green and blue from 0 to 255; None if only a browser can compute them
    alpha: float = 1.0  # the opacity from 0 to 1

    def is_clear(self) -> bool:
        """Return whether the colour is practically transparent."""
        return self.alpha < _FAINT

    def is_like(self, ground: Colour) -> bool:
        """Return whether text of this colour is invisible on *ground*."""
        if self.channels is None or ground.channels is None or ground.alpha < 1 - _FAINT:
            return False
        return all(abs(one - other) <= _NEAR for one, other in zip(self.channels, ground.channels, strict=True))


def parse_colour(value: Sequence[Token]) -> Colour | None:
    """Return the colour that *value* means, or None. The channels of ``currentcolor`` are not known here."""
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
        return Colour(None) if first.text in _SYSTEM or first.text == "currentcolor" else None
    if first.kind != "function" or value[-1] != Token("mark", ")"):
        return None
    if first.text not in _FUNCTIONS:
        return Colour(None) if first.text in {"color-mix", "light-dark", "device-cmyk", "contrast-color"} else None
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
        return Colour(tuple(max(0.0, min(255.0, n * 255 if percent else n)) for n, percent in channels), alpha)
    if name in {"hsl", "hsla", "hwb"}:
        hue = channels[0][0] % 360 / 360
        second, third = (max(0.0, min(1.0, n if percent else n / 100)) for n, percent in channels[1:])
        if name == "hwb":
            grey = second + third
            if grey >= 1:
                return Colour((255 * second / grey,) * 3, alpha)
            pure = colorsys.hsv_to_rgb(hue, 1, 1)
            return Colour(tuple(255 * (one * (1 - grey) + second) for one in pure), alpha)
        return Colour(tuple(255 * one for one in colorsys.hls_to_rgb(hue, third, second)), alpha)
    return Colour(None, alpha)
