"""
Parse selectors (https://www.w3.org/TR/selectors-4/) and match them with elements, without a document.

Only the name, the classes and the id of an element are known. States (``:hover``), attributes and siblings are not
checked: a selector that depends on them may match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from .syntax import CLOSERS, Token, tokenize, unescape

_MAX_COUNT = 500  # selectors of a rule, and compounds of a selector
_MAX_LENGTH = 20_000  # characters of the selectors of a rule
_MAX_CACHED_LENGTH = 200  # characters
_SIMPLE = re.compile(r"\s*(?:([a-zA-Z][\w-]*+|\*)?((?:[.#]-?[a-zA-Z_][\w-]*+)*+))\s*")
IS_SIMPLE = _SIMPLE.fullmatch
_PARTS = re.compile(r"([.#])([^.#]+)")
# A rule for one of these says nothing about the element itself.
_PSEUDO_ELEMENTS = frozenset({"before", "after", "first-line", "first-letter"})
_STATES_OF_ELEMENTS = frozenset(
    "active any-link autofill checked default defined disabled empty enabled first-child first-of-type focus "
    "focus-visible focus-within fullscreen has host hover in-range indeterminate invalid is lang last-child "
    "last-of-type link modal not nth-child nth-last-child nth-last-of-type nth-of-type only-child only-of-type open "
    "optional out-of-range placeholder-shown popover-open read-only read-write required root scope target valid "
    "visited where".split()
)
# Classes that scripts set on a page, or a part of it, when it is ready. Whether they will be set is unknown.
_STATES = re.compile(
    r"(?:no-|has-|is-|wf-|with-)?(?:js|javascript|scripts?|loaded|ready|touch|hover)(?:-.*)?|wf-.*|client-js"
)


class Element(NamedTuple):
    """The properties of an element that selectors are matched with."""

    name: str
    classes: frozenset[str]
    id: str

    @classmethod
    def of(cls, name: str, attributes: Mapping[str, str | None], fold: Callable[[str], str]) -> Element:
        """Make an element from its attributes; *fold* normalises the case of names where it does not matter."""
        return cls(name, frozenset(fold(attributes.get("class") or "").split()), fold(attributes.get("id") or ""))


class Compound(NamedTuple):
    """The conditions of a selector on one element; *only_maybe* if some of them cannot be checked."""

    name: str
    classes: frozenset[str]
    ids: frozenset[str]
    only_maybe: bool

    def matches(self, element: Element) -> bool:
        """Return whether *element* meets the conditions that can be checked."""
        return (
            (not self.name or self.name == element.name)
            and self.classes <= element.classes
            and (not self.ids or self.ids == {element.id})
        )

    def may_come(self) -> bool:
        """Return whether scripts may make any element, or the page, match."""
        return self.only_maybe or any(map(_STATES.fullmatch, self.classes))


class Selector(NamedTuple):
    """
    A selector.

    Args:
        subject: The conditions on the element itself.
        around: The conditions on elements around it.
        is_simple: Whether a match is certain, since there are only conditions on the element's name, classes and id.
        weight: The specificity.

    """

    subject: Compound
    around: tuple[Compound, ...]
    is_simple: bool
    weight: tuple[int, int, int]

    def may_match(self, element: Element, ancestors: Iterable[Element]) -> bool:
        """Return False only if the selector certainly does not match."""
        if not self.subject.matches(element):
            return False
        around = list(ancestors) if self.around else []
        return all(one.may_come() or any(map(one.matches, around)) for one in self.around)


def parse_selectors(prelude: str, fold: Callable[[str], str]) -> tuple[Selector, ...]:
    """Parse the selectors of a rule; leave out those of pseudo-elements."""
    if len(prelude) > _MAX_LENGTH:
        return ()
    prelude = fold(prelude)
    return _parse_cached(prelude) if len(prelude) <= _MAX_CACHED_LENGTH else _parse(prelude)


@lru_cache(maxsize=2_048)
def _parse_cached(prelude: str) -> tuple[Selector, ...]:
    return _parse(prelude)


def _parse(prelude: str) -> tuple[Selector, ...]:
    if simple := _SIMPLE.fullmatch(prelude):
        return (_make_simple(simple),) if prelude.strip() else ()
    return _Reader().read(prelude)


def _make_simple(written: re.Match[str]) -> Selector:
    name = (written[1] or "").lower().replace("*", "")
    parts = _PARTS.findall(written[2])
    classes = frozenset(value for mark, value in parts if mark == ".")
    ids = frozenset(value for mark, value in parts if mark == "#")
    weight = (sum(mark == "#" for mark, _ in parts), sum(mark == "." for mark, _ in parts), int(bool(name)))
    return Selector(Compound(name, classes, ids, only_maybe=False), (), is_simple=True, weight=weight)


class _Reader:
    """Parse a list of selectors, token by token."""

    def __init__(self) -> None:
        self.found: list[Selector] = []
        self.is_valid = True  # as far as we know; browsers ignore the whole rule otherwise
        self._compounds: list[Compound] = []
        self._combinators = ""  # except white space
        self._unseen = False  # the selector is for a pseudo-element
        self._weight = [0, 0, 0]
        self._begin()

    def _begin(self) -> None:
        self._name = ""
        self._classes: set[str] = set()
        self._ids: set[str] = set()
        self._only_maybe = False
        self._is_empty = True

    def read(self, text: str) -> tuple[Selector, ...]:
        """Return the selectors; none of them counts as simple if one of the list is invalid."""
        open_: list[str] = []
        before = ""  # the marks directly before the token
        for token, begin, end in tokenize(text):
            if token is None:
                if not open_:
                    self._end_compound()
                before = ""
                continue
            mark = token.text if token.kind == "mark" else ""
            if open_:
                if mark == open_[-1]:
                    del open_[-1]
                elif mark in CLOSERS or token.kind == "function":
                    open_.append(CLOSERS.get(mark, ")"))
                continue
            if mark == ",":
                self._end()
                if len(self.found) >= _MAX_COUNT:
                    return tuple(self.found)
            elif mark and mark in ">+~":
                self._end_compound()
                self._combinators += mark
            elif mark in {".", ":"}:
                before += mark
                continue
            else:
                self._add_part(before, token, unescape(text[begin:end]))
                if token.kind == "function" or mark == "[":
                    open_.append(CLOSERS.get(mark, ")"))
            before = ""
        self._end()
        self.is_valid = self.is_valid and not open_
        return tuple(self.found if self.is_valid else (one._replace(is_simple=False) for one in self.found))

    def _add_part(self, before: str, token: Token, written: str) -> None:
        kind = token.kind
        if not before and (token == Token("mark", "*") or (kind == "ident" and self._is_empty)):
            self._name = "" if kind == "mark" else token.text
            self._weight[2] += kind == "ident"
        elif before == "." and kind == "ident":
            self._classes.add(written)
            self._weight[1] += 1
        elif not before and kind == "hash":
            self._ids.add(token.text)
            self._weight[0] += 1
        elif before in {":", "::"} and kind in {"ident", "function"}:
            self._unseen = self._unseen or before == "::" or token.text in _PSEUDO_ELEMENTS
            self.is_valid = self.is_valid and (token.text in _STATES_OF_ELEMENTS or self._unseen)
            self._only_maybe = True
            self._weight[1] += token.text != "where"
            self._weight[0] += kind == "function"  # its arguments may have that specificity
        else:
            self.is_valid = self.is_valid and token == Token("mark", "[")
            self._only_maybe = True
            self._weight[1] += 1
        self._is_empty = False

    def _end_compound(self) -> None:
        if not self._is_empty and len(self._compounds) < _MAX_COUNT:
            classes, ids = frozenset(self._classes), frozenset(self._ids)
            self._compounds.append(Compound(self._name, classes, ids, self._only_maybe))
        self._begin()

    def _end(self) -> None:
        self._end_compound()
        if not self._compounds:
            self.is_valid = False
        elif not self._unseen:
            *around, subject = self._compounds
            siblings = not set("+~").isdisjoint(self._combinators)
            is_simple = not around and not self._combinators and not subject.only_maybe
            weight = (self._weight[0], self._weight[1], self._weight[2])
            self.found.append(Selector(subject, () if siblings else tuple(around), is_simple, weight))
        self._compounds, self._combinators, self._unseen, self._weight = [], "", False, [0, 0, 0]
