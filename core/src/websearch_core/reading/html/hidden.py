"""
Whether an element is one that no reader sees, as far as its own attributes tell.

What style sheets hide by class, and what is white on white, only a layout engine knows: that is out of reach here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

MAY_HIDE = frozenset({"hidden", "aria-hidden", "style"})

_SENT_LATER = re.compile("[SP]:[0-9a-f]+")  # a part of a page that React sends in pieces, before it is put in its place
_ON_TOP = frozenset("dialog alertdialog menu listbox tooltip".split())
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NOTHING = re.compile(r"[+-]?0*\.?0*(?:px|pt|em|rem|ex|ch|vw|vh|cm|mm|in|%)?")
_HEX = re.compile("#([0-9a-f]{3}|[0-9a-f]{6})")
_RGB = re.compile(r"rgba?\(([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3})(?:,1(?:\.0)?)?\)")
_FAR_AWAY = re.compile(r"-\d{3,}(?:\.\d+)?(?:px|em|rem|pt|vw|%)?|-\d{2,}(?:em|rem)")


def is_hidden(attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element with these attributes is not shown."""
    if "hidden" in attributes and (attributes["hidden"] or "").strip().lower() != "until-found":
        return True
    if (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = attributes.get("style")
    return bool(style) and _hides(_declarations(style or ""))


def is_on_top(attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element with these attributes opens above the page, and so is no part of it."""
    return (attributes.get("role") or "").lower() in _ON_TOP


def is_opened(attributes: Mapping[str, str | None], controlled: Set[str], seen: Set[str]) -> bool:
    """
    Return whether a hidden element with these attributes is one that the page itself offers to open.

    Args:
        attributes: Its attributes.
        controlled: The ids that controls which can be seen say they open.
        seen: The ids of everything that can be seen.

    """
    if is_on_top(attributes):
        return False
    name = attributes.get("id") or ""
    if attributes.get("role") == "tabpanel" or name in controlled:
        return True
    if "hidden" in attributes and _SENT_LATER.fullmatch(name):
        return True
    return not seen.isdisjoint((attributes.get("aria-labelledby") or "").split())


def _declarations(style: str) -> dict[str, str]:
    declared: dict[str, str] = {}
    for declaration in _COMMENT.sub("", style).lower().split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            declared[name.strip()] = value.replace("!important", "").strip()
    return declared


def _hides(style: Mapping[str, str]) -> bool:
    def nothing(name: str) -> bool:
        return bool(style.get(name)) and _NOTHING.fullmatch(style[name]) is not None

    return (
        style.get("display") == "none"
        or style.get("visibility") in {"hidden", "collapse"}
        or nothing("opacity")
        or nothing("font-size")
        or (style.get("overflow") == "hidden" and (nothing("height") or nothing("width") or nothing("max-height")))
        or (style.get("position") in {"absolute", "fixed"} and (_away(style, "left") or _away(style, "top")))
        or _away(style, "text-indent")
        or style.get("color") == "transparent"
        or _same_colours(style)
        or style.get("transform", "").replace(" ", "") == "scale(0)"
        or style.get("clip", "").replace(" ", "").replace("px", "") in {"rect(0,0,0,0)", "rect(0000)", "rect(1,1,1,1)"}
        or style.get("clip-path", "").replace(" ", "") in {"inset(50%)", "inset(100%)", "circle(0)"}
    )


def _away(style: Mapping[str, str], name: str) -> bool:
    return name in style and _FAR_AWAY.fullmatch(style[name]) is not None


def _same_colours(style: Mapping[str, str]) -> bool:
    """Tell whether the text has the colour of its background, where the element itself says both."""
    text, ground = (
        _colour(style.get("color", "")),
        _colour(style.get("background-color") or style.get("background", "")),
    )
    return text is not None and text == ground


def _colour(value: str) -> tuple[int, ...] | None:
    """Red, green and blue from 0 to 255; None for what is no colour, or one that is rarely used to hide."""
    value = {"white": "#ffffff", "black": "#000000"}.get(value, value.replace(" ", ""))
    if digits := _HEX.fullmatch(value):
        pairs = digits[1] if len(digits[1]) == 6 else "".join(digit * 2 for digit in digits[1])
        return tuple(int(pairs[n : n + 2], 16) for n in (0, 2, 4))
    if numbers := _RGB.fullmatch(value):
        return tuple(min(int(number), 255) for number in numbers.groups())
    return None
