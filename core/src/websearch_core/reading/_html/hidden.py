"""Whether an element is one that no reader sees, by its attributes and its look, and whether something opens it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .css.look import UNSEEN, Look

MAY_HIDE = frozenset({"hidden", "aria-hidden", "style", "popover"})
_NAMES_TARGETS = frozenset({"aria-controls", "data-target", "data-bs-target"})
MAY_OPEN = _NAMES_TARGETS | {"href", "role"}

_ON_TOP = frozenset("dialog alertdialog menu listbox tooltip".split())
_SENT_LATER = re.compile("S:([0-9a-f]+)")  # a part of a page that React sends in pieces, before it is put in its place
WHOLE = 8  # beside the bits of `Look`: nothing inside can be seen


def hiding(name: str, attributes: Mapping[str, str | None], look: Look) -> int:
    """
    Return how an element is kept from sight when the page opens.

    Returns:
        0 if it is not; the bits `UNSEEN`, `TINY` and `CLEAR` where only its text is, and elements in it can be seen
        again; more if nothing in it can be seen.

    """
    if look.closes or look.disguises or (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return WHOLE | look.mutes
    is_put_away = (
        (name == "dialog" and "open" not in attributes)
        or ("hidden" in attributes and (attributes["hidden"] or "").strip().lower() != "until-found")
        or "popover" in attributes
    )
    return (0 if look.displays or not is_put_away else WHOLE) | look.mutes


def stays_hidden(name: str, attributes: Mapping[str, str | None], look: Look) -> bool:
    """
    Return whether a hidden element is one that no control and no script makes a part of the page.

    Such is what opens above the page, and what is there to be read by machines alone: nobody makes text white on
    white to show it later.
    """
    if name == "dialog" or "popover" in attributes or (attributes.get("role") or "").lower() in _ON_TOP:
        return True
    return look.disguises or look.mutes & ~UNSEEN > 0


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

    def open(self, name: str, attributes: Mapping[str, str | None], look: Look) -> bool:
        """Return whether a hidden element is one that a reader of the page gets to see."""
        if stays_hidden(name, attributes, look):
            return False
        identity = attributes.get("id") or ""
        if identity and identity in self._targets:
            return True
        if (attributes.get("role") or "").lower() == "tabpanel":
            return not self._tabs.isdisjoint((attributes.get("aria-labelledby") or "").split())
        piece = _SENT_LATER.fullmatch(identity)
        return piece is not None and "hidden" in attributes and piece[1] in self._gaps
