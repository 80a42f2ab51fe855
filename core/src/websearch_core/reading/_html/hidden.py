"""Decide whether an element is hidden, by its attributes and styles, and whether a
control on the page opens it.

Classes count only where frameworks have given them one meaning: text for screen
readers, data for calendars.
"""

from __future__ import annotations
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..._text.consent import names_box
from .._element import Attributes
from .css.look import UNSEEN, Look
from .phrases import PHRASES

MAY_HIDE = frozenset({"hidden", "aria-hidden", "style", "popover", "color"})
_NAMES_TARGETS = frozenset({"aria-controls", "data-target", "data-bs-target"})
MAY_OPEN = _NAMES_TARGETS | {"role"}  # as a link to a place of its page may
TOGGLES = _NAMES_TARGETS | {"aria-expanded", "data-toggle", "data-bs-toggle"}

_ON_TOP = frozenset("dialog alertdialog menu listbox tooltip".split())
# a part that React streams hidden, and then moves to its place
_SENT_LATER = re.compile("S:([0-9a-f]+)")
# The names that frameworks give to text for screen readers; one that shows it on wide
# screens takes it back there.
_SPOKEN = re.compile(
    r"(?<![\w:-])(?!not-)(?:[a-z]{1,12}-)?(?:sr-?only|visually-?hidden|hidden-?visually|screen-?reader(?:s?-only|-text)?"
    r"|show-for-sr|element-invisible|a11y-hidden|assistive-text)(?:-focusable)?(?![\w-])",
    re.IGNORECASE,
)
_SHOWN_WIDE = re.compile(r"(?<![\w:-])(?:sm|md|lg|xl|2xl):not-sr-only(?![\w-])")
# What services that add an event to a calendar read: dates, time zones and texts that
# the page says elsewhere.
_FOR_CALENDARS = re.compile(
    r"(?<![\w-])(?:addeventatc|addthisevent(?:-drop)?|atc_event|atcb|addtocalendar|add-to-calendar-button)(?![\w-])"
)
# one is in all of these
_HINTS = (
    "sr",
    "hidden",
    "reader",
    "invisible",
    "assistive",
    "atc",
    "addthis",
    "calendar",
)
_SKIPS = re.compile(PHRASES["skip links"], re.IGNORECASE)
MAX_SKIP_LENGTH = 60  # characters
_MAX_LEVELS = 3  # from a list of tabs, or a panel, to what has both
WHOLE = 8  # in addition to the bits of `Look`: nothing in the element is visible


def hiding(name: str, attributes: Attributes, look: Look) -> int:
    """Return how an element is hidden when the page opens; 0 if it is visible.

    Bits `UNSEEN`, `TINY` and `CLEAR`: its text is hidden, but elements in it can be
    visible, unless `WHOLE` is set.
    """
    if look.closes or look.disguises:
        return WHOLE | look.mutes
    if (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return WHOLE | look.mutes
    if _is_put_away(name, attributes) and not look.displays:
        return WHOLE | look.mutes
    return look.mutes


def _is_put_away(name: str, attributes: Attributes) -> bool:
    if name == "dialog" and "open" not in attributes:
        return True
    return "hidden" in attributes or "popover" in attributes


@lru_cache(4096)
def may_be_unseen(classes: str) -> bool:
    """Return whether *classes* say that a text is for screen readers, which style
    sheets hide, for calendars, or asks for consent.
    """
    if names_box(classes):
        return True
    lower = classes.lower()
    if not any(map(lower.__contains__, _HINTS)):
        return False
    return is_for_calendars(classes) or _is_spoken(classes)


def _is_spoken(classes: str) -> bool:
    if _SPOKEN.search(classes) is None:
        return False
    return not _SHOWN_WIDE.search(classes)


def is_for_calendars(classes: str) -> bool:
    """Return whether *classes* say that an element has data for a service that adds
    events to calendars.
    """
    return _FOR_CALENDARS.search(classes) is not None


def skips(text: str) -> bool:
    """Return whether a link within the page says that it skips a part, which only users
    of keyboards see.
    """
    words = " ".join(text.split()).rstrip(".!\u203a»→↓ ")
    return len(text) <= MAX_SKIP_LENGTH and _SKIPS.fullmatch(words) is not None


def stays_hidden(name: str, attributes: Attributes, look: Look) -> bool:
    """Return whether no control or script makes a hidden element part of the page.

    This is so for dialogs, which open above the page, and for text that only machines
    read, such as white on white.
    """
    if name == "dialog" or "popover" in attributes:
        return True
    if (attributes.get("role") or "").lower() in _ON_TOP:
        return True
    return look.disguises or look.mutes & ~UNSEEN > 0


class _Control(NamedTuple):
    place: int  # the number of its element
    targets: list[str]  # ids of the elements that it opens
    tabs: list[str]  # its own ids, if it is a tab
    tablist: int = 0  # its own number, if it is a list of tabs


class Openers:
    """The controls and gaps seen so far, and the hidden elements that they open or that
    will fill them.

    What only a control without words opens, or no script moves, is read but counted in
    ``unasked``. A *streamed* page has the script by which React moves parts into gaps.
    """

    def __init__(self, *, streamed: bool) -> None:
        self._streamed = streamed
        self._targets: set[str] = set()
        self._tabs: set[str] = set()
        # the nearest elements around lists of tabs
        self._around_tabs: set[int] = set()
        # all of these, whether the control has a word or not
        self._wordless: set[str] = set()
        self.unasked = 0
        # numbers of the gaps that React fills with streamed parts
        self._gaps: set[str] = set()
        self.waiting: list[_Control] = []  # those in which no word was seen so far
        # the elements around the last text, from the outermost control on
        self._path: list[int] = []

    def pass_by(self, place: int, name: str, attributes: Attributes) -> None:
        """Note a visible element that may open others: a tab, the header of an
        accordion, a link within the page.
        """
        if name == "template":
            self._pass_gap(attributes.get("id") or "")
            return
        role = (attributes.get("role") or "").lower()
        if role == "tablist":
            self.waiting.append(_Control(place, [], [], place))
            return
        targets = find_targets(name, attributes)
        tabs: list[str] = []
        if role == "tab":
            tabs = (attributes.get("id") or "").split()
        if targets or tabs:  # few have
            self.waiting.append(_Control(place, targets, tabs))
            self._wordless.update(targets, tabs)

    def _pass_gap(self, identity: str) -> None:
        if identity.startswith(("B:", "P:")):
            self._gaps.add(identity[2:])

    def see(self, text: str, element: int, parents: Sequence[int]) -> None:
        """Note visible text: the controls around it have a word now, and the others
        that were waiting have ended.
        """
        self._leave(element, parents)
        if any(map(str.isalnum, text)):
            for control in self.waiting:
                self._targets.update(control.targets)
                self._tabs.update(control.tabs)
                if control.tablist:
                    around = near(control.tablist, parents)
                    self._around_tabs.update(around)
            self.waiting = []

    def _leave(self, element: int, parents: Sequence[int]) -> None:
        """Let go of the controls that are not around an element.

        Only what differs from the elements around the last text is looked at: there are
        many texts, and many elements around each.
        """
        path = self._path
        first = self.waiting[0].place
        inner: list[int] = []  # the elements around this one that are not in the path
        while element >= first:
            while path and path[-1] > element:
                path.pop()
            if path and path[-1] == element:
                break
            inner.append(element)
            element = parents[element]
        else:
            path.clear()
        common = path[-1] if path else -1
        around = set(inner)
        still: list[_Control] = []
        while self.waiting and self.waiting[-1].place > common:
            control = self.waiting.pop()
            if control.place in around:
                still.append(control)
        self.waiting += reversed(still)
        path += reversed(inner)

    def open(
        self,
        name: str,
        attributes: Attributes,
        look: Look,
        here: int,
        parents: Sequence[int],
    ) -> bool:
        """Return whether a control before a hidden element opens it, or a script moves
        it into a gap.

        A panel without names belongs to a list of tabs in an element close around it:
        *here*, or one of its *parents*.
        """
        if stays_hidden(name, attributes, look):
            return False
        identity = attributes.get("id") or ""
        is_panel = (attributes.get("role") or "").lower() == "tabpanel"
        tabs = (attributes.get("aria-labelledby") or "").split() if is_panel else []
        if identity in self._targets or not self._tabs.isdisjoint(tabs):
            return True
        if identity in self._wordless or not self._wordless.isdisjoint(tabs):
            self.unasked += 1
            return True
        if is_panel:
            around = (here, *near(here, parents))
            if not self._around_tabs.isdisjoint(around):
                return True
        return "hidden" in attributes and self._fill(identity)

    def _fill(self, identity: str) -> bool:
        """Return whether a part that was streamed hidden has a gap to fill."""
        piece = _SENT_LATER.fullmatch(identity)
        if piece is None or piece[1] not in self._gaps:
            return False
        if not self._streamed:
            self.unasked += 1
        return True


def near(element: int, parents: Sequence[int]) -> list[int]:
    """Return the nearest elements around another, the body excepted."""
    around: list[int] = []
    while len(around) < _MAX_LEVELS:
        element = parents[element]
        if element <= 0:
            break
        around.append(element)
    return around


def find_targets(name: str, attributes: Attributes) -> list[str]:
    """Return the ids of the elements that an element opens or leads to."""
    targets: list[str] = []
    if name == "a":
        href = attributes.get("href") or ""
        if href[:1] == "#":
            targets.append(href[1:])
    if not _NAMES_TARGETS.isdisjoint(attributes):
        for attribute in _NAMES_TARGETS:
            ids = (attributes.get(attribute) or "").split()
            targets += [identity.removeprefix("#") for identity in ids]
    return [target for target in targets if target]
