"""Decide whether an element is hidden, by its attributes and styles, and whether a control on the page opens it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .css.look import UNSEEN, Look

MAY_HIDE = frozenset({"hidden", "aria-hidden", "style", "popover"})
_NAMES_TARGETS = frozenset({"aria-controls", "data-target", "data-bs-target"})
MAY_OPEN = _NAMES_TARGETS | {"href", "role"}

_ON_TOP = frozenset("dialog alertdialog menu listbox tooltip".split())
_SENT_LATER = re.compile("S:([0-9a-f]+)")  # a part that React streams hidden, and then moves to its place
WHOLE = 8  # in addition to the bits of `Look`: nothing in the element is visible


def hiding(name: str, attributes: Mapping[str, str | None], look: Look) -> int:
    """
    Return how an element is hidden when the page opens.

    Returns:
        0 if it is visible. The bits `UNSEEN`, `TINY` and `CLEAR` if its text is hidden, but elements in it can be
        visible. `WHOLE`, with such bits, if nothing in it is visible.

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
    Return whether no control or script makes a hidden element part of the page.

    This is so for dialogs and the like, which open above the page, and for text that only machines read: text is not
    made white on white in order to show it later.
    """
    if name == "dialog" or "popover" in attributes or (attributes.get("role") or "").lower() in _ON_TOP:
        return True
    return look.disguises or look.mutes & ~UNSEEN > 0


class Openers:
    """The controls and gaps seen so far, and the hidden elements that they open or that will fill them."""

    def __init__(self) -> None:
        self._targets: set[str] = set()  # ids of elements that controls open
        self._tabs: set[str] = set()  # ids of tabs
        self._gaps: set[str] = set()  # numbers of the gaps that React fills with streamed parts

    def pass_by(self, name: str, attributes: Mapping[str, str | None]) -> None:
        """Note a visible element that may open others: a tab, the header of an accordion, a link within the page."""
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
        """Return whether a control before a hidden element opens it, or a script moves it into a gap."""
        if stays_hidden(name, attributes, look):
            return False
        identity = attributes.get("id") or ""
        if identity and identity in self._targets:
            return True
        if (attributes.get("role") or "").lower() == "tabpanel":
            return not self._tabs.isdisjoint((attributes.get("aria-labelledby") or "").split())
        piece = _SENT_LATER.fullmatch(identity)
        return piece is not None and "hidden" in attributes and piece[1] in self._gaps
