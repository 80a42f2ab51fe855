"""
Whether an element is one that no reader sees, as far as the page's own attributes tell.

What style sheets hide by class, or make white on white, only a layout engine knows: that is out of reach here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MAY_HIDE = frozenset({"hidden", "aria-hidden", "style"})
_NAMES_TARGETS = frozenset({"aria-controls", "data-target", "data-bs-target"})
MAY_OPEN = _NAMES_TARGETS | {"href", "role"}

_ON_TOP = frozenset("dialog alertdialog menu listbox tooltip".split())
_SENT_LATER = re.compile("S:([0-9a-f]+)")  # a part of a page that React sends in pieces, before it is put in its place
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NOTHING = re.compile(r"[+-]?0*\.?0*(?:px|pt|em|rem|ex|ch|vw|vh|cm|mm|in|%)?")
_HEX = re.compile("#([0-9a-f]{3}|[0-9a-f]{6})")
_RGB = re.compile(r"rgba?\(([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3})(?:,1(?:\.0)?)?\)")
_FAR_AWAY = re.compile(r"-\d{3,}(?:\.\d+)?(?:px|em|rem|pt|vw|%)?|-\d{2,}(?:em|rem)")


def is_hidden(name: str, attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element is not shown when the page opens."""
    if name == "dialog" and "open" not in attributes:
        return True
    if "hidden" in attributes and (attributes["hidden"] or "").strip().lower() != "until-found":
        return True
    if (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = attributes.get("style")
    if not style:
        return False
    declared = _declarations(style)
    return _closes(declared) or _disguises(declared)


def stays_hidden(name: str, attributes: Mapping[str, str | None]) -> bool:
    """
    Return whether a hidden element is one that no control and no script makes a part of the page.

    Such is what opens above the page, and what is there to be read by machines alone: nobody makes text white on
    white to show it later.
    """
    if name == "dialog" or (attributes.get("role") or "").lower() in _ON_TOP:
        return True
    return _disguises(_declarations(attributes.get("style") or ""))


class Openers:
    """What a reader has come by on the page that opens, or will be replaced by, something hidden further down."""

    def __init__(self) -> None:
        self._targets: set[str] = set()  # ids that controls say they open
        self._tabs: set[str] = set()  # ids of tabs
        self._gaps: set[str] = set()  # where React puts what it sends later

    def pass_by(self, name: str, attributes: Mapping[str, str | None]) -> None:
        """Take note of an element that is not hidden: a tab, the head of an accordion, a link within the page."""
        if name == "template":
            gap = attributes.get("id") or ""
            if gap.startswith(("B:", "P:")):
                self._gaps.add(gap[2:])
            return
        if name == "a" and (href := attributes.get("href")) and href[0] == "#":
            self._targets.add(href[1:])
        if not _NAMES_TARGETS.isdisjoint(attributes):
            stated = " ".join(attributes.get(attribute) or "" for attribute in _NAMES_TARGETS)
            self._targets.update(target.removeprefix("#") for target in stated.split())
        if (role := attributes.get("role")) and role.lower() == "tab":
            self._tabs.update((attributes.get("id") or "").split())

    def open(self, name: str, attributes: Mapping[str, str | None]) -> bool:
        """Return whether a hidden element is one that a reader of the page gets to see."""
        if stays_hidden(name, attributes):
            return False
        identity = attributes.get("id") or ""
        if identity and identity in self._targets:
            return True
        if (attributes.get("role") or "").lower() == "tabpanel":
            return not self._tabs.isdisjoint((attributes.get("aria-labelledby") or "").split())
        piece = _SENT_LATER.fullmatch(identity)
        return piece is not None and "hidden" in attributes and piece[1] in self._gaps


def _declarations(style: str) -> dict[str, str]:
    declared: dict[str, str] = {}
    for declaration in _COMMENT.sub("", style).lower().split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            declared[name.strip()] = value.replace("!important", "").strip()
    return declared


def _closes(style: Mapping[str, str]) -> bool:
    """Tell whether this is how pages put away what they may show later."""
    return (
        style.get("display") == "none"
        or style.get("visibility") in {"hidden", "collapse"}
        or _is_nothing(style, "opacity")
        or style.get("transform", "").replace(" ", "") == "scale(0)"
        or (
            style.get("overflow") == "hidden"
            and any(_is_nothing(style, size) for size in ("height", "width", "max-height"))
        )
    )


def _disguises(style: Mapping[str, str]) -> bool:
    """Tell whether this keeps people from seeing what machines read."""
    return (
        _is_nothing(style, "font-size")
        or (style.get("position") in {"absolute", "fixed"} and (_away(style, "left") or _away(style, "top")))
        or _away(style, "text-indent")
        or style.get("color") == "transparent"
        or _same_colours(style)
        or style.get("clip", "").replace(" ", "").replace("px", "") in {"rect(0,0,0,0)", "rect(0000)", "rect(1,1,1,1)"}
        or style.get("clip-path", "").replace(" ", "") in {"inset(50%)", "inset(100%)", "circle(0)"}
    )


def _is_nothing(style: Mapping[str, str], name: str) -> bool:
    return bool(style.get(name)) and _NOTHING.fullmatch(style[name]) is not None


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
