"""
Find the elements that the rules in a page's own ``<style>`` elements hide.

A browser matches thousands of rules with every element. Here only few rules matter, because a rule can hide only if its
selector has no conditions except on the name, classes and id of the element (`Selector.is_simple`). Rules with other
selectors, and conditions that cannot be evaluated, can only show what such a rule hides: in doubt, text is visible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from .conditions import ALWAYS, NARROW, PERHAPS, WIDE, Condition, read_media, read_supports
from .look import PLAIN, UNSEEN, Look, Style, compute_style, find_causes, judge_style, sort_by_importance
from .selectors import IS_SIMPLE, Element, Selector, parse_selectors
from .syntax import CLOSERS, Declaration, parse_declarations, tokenize, unescape

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from ..harden import Hardened

MAX_LENGTH = 2**19  # characters of all style sheets of a page
_MAX_RULES = 10_000
_MAX_LOOKS = 2_000  # cached results, one for each kind of element
_MAX_DOUBTS = 8  # rules that may show an element again, tried one at a time
_MAX_CACHED_LENGTH = 1_000  # characters of a cached style, or of combined selectors
_MAX_EFFORT = 100_000  # characters that are tokenized, which is slow
_MAX_BLOCK_LENGTH = 20_000  # characters
_MAX_DEPTH = 16  # nested blocks
_NO_LAYER = 1_000_000

# The usual form of a rule, for the fast path: no nested blocks, no unmatched quotes, at most two nested brackets.
_STRING = r"""(?:"(?:[^"\\\n\r\f]++|\\[^\n\r\f])*+"|'(?:[^'\\\n\r\f]++|\\[^\n\r\f])*+')"""
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+\*/"
_IN_BRACKETS = r"(?:[^{}\"'\\/()]++|/(?!\*))*+"
_BRACKETS = rf"\([ \t\r\n\f]*+(?:{_STRING})?+{_IN_BRACKETS}(?:\({_IN_BRACKETS}\){_IN_BRACKETS})*+\)"
_VALUES = rf"""(?:[^{{}}"'\\/()\[\];]++|{_STRING}|{_BRACKETS}|\\[^\n\r\f]|{_COMMENT}|/(?!\*))*+"""
_BLOCK = rf"""(?:[^{{}}"'\\/()\[\]]++|{_STRING}|{_BRACKETS}|\\[^\n\r\f]|{_COMMENT}|/(?!\*))*+"""
_ATTRIBUTE = rf"""\[(?:[^\[\]{{}}"'\\/()]++|{_STRING}|/(?!\*))*+\]"""
_PRELUDE = rf"""(?:[^{{}}"'\\/();@<\[\]]++|\\[^\n\r\f]|{_ATTRIBUTE}|{_BRACKETS}|{_COMMENT})++"""
_RULE = re.compile(rf"(?:[ \t\r\n\f]++|-->)*+({_PRELUDE})\{{({_BLOCK})\}}")
_NESTED_BLOCK = re.compile(rf"\{{{_BLOCK}(?:\{{{_BLOCK}\}}{_BLOCK})*+\}}")
_DECLARATION = re.compile(rf"({_VALUES})(;|(?=\}}))")
_AT = re.compile(rf"@([\w-]++)({_VALUES})([{{;])")
_GAP = re.compile(rf"(?:[ \t\r\n\f]++|{_COMMENT}|<!--|-->)++")
_GAP_IN_BLOCK = re.compile(rf"(?:[ \t\r\n\f;]++|{_COMMENT})++")
_CUSTOM = re.compile(r"\s*--[\w-]*+\s*:")

# A rule may hide something only if it contains one of these words, followed by its pattern. Escapes always count,
# except the characters of icon fonts.
_SPACE = r"(?:[ \t\r\n\f]++|/\*(?:[^*]|\*(?!/)){0,2000}+\*/)*+"
_ANY = r"[^;}]{0,2000}?"  # of a value: without an end, a sheet that repeats a property would take quadratic time
_SMALL = (
    rf"{_ANY}(?<![\w.#])(?:0*\.0|0+(?![.\d])|0*1(?:\.0*)?(?:px|%)|\.\d+(?:px|pt|%)|\d+e-|0*[2-6](?:\.\d*)?%|calc\()"
)
_FAR = rf"{_ANY}(?:-\d{{3}}|-\d\d[a-z%]|-?\d{{4}}|\de[-+\d]|calc\(-)"
_VERY_FAR = rf"{_ANY}(?:-?\d{{4}}|-\d{{3}}[a-z%]|\de[-+\d]|calc\(-)"
_CLEAR_HEX = r"#(?:[\da-f]{3}0|[\da-f]{6}0[\da-f])(?![\da-f])"
_HINTS = {
    word: re.compile(rf"{word}{_SPACE}(?:{like}|/\*|:[^;}}]{{2000}})")  # what is longer is looked at, too
    for word, like in {
        "display": rf":{_SPACE}(?:none|var\()",
        "visibility": rf":{_ANY}(?:hidden|collapse|var\()",
        "opacity": rf"(?::{_SMALL}|\({_SMALL})",
        "zoom": f":{_SMALL}",
        "font": rf"(?:-size{_SPACE})?:{_SMALL}",
        "text-indent": f":{_FAR}",
        "letter-spacing": f":{_FAR}",
        "clip": rf"(?:-path)?[^;}}:]{{0,100}}:{_ANY}[(]",
        "transform": rf":{_ANY}(?:scale|matrix|rotate[xy]|\d{{4}}|var\()",
        "scale": f":{_SMALL}",
        "translate": f":{_FAR}",
        "height": f":{_SMALL}",
        "width": f":{_SMALL}",
        "-size": f":{_SMALL}",
        "left": f":{_FAR}",
        "right": f":{_VERY_FAR}",
        "top": f":{_FAR}",
        "bottom": f":{_VERY_FAR}",
        "inset": rf"[\w-]{{0,50}}+{_SPACE}:{_FAR}",
        "margin": rf"[\w-]{{0,50}}+{_SPACE}:{_VERY_FAR}",
        "color": rf":{_ANY}(?:transparent|[,/]\s*(?:0?\.0\d*|0+%?|[0-4]%)\s*\)|{_CLEAR_HEX})",
        "currentcolor": "",
    }.items()
} | {"\\": re.compile(r"\\(?![\da-f]{1,6}[\"'])")}
# A subject without a class or an id, which may match any element.
_GENERAL = re.compile(
    r"(?:^|[\s>+~,&])(?:[\w*|&-]+)?(?:\[[^\]]{0,500}+\]|::?[\w-]+(?:\([^)]{0,500}+\))?)*\s*(?:,|$)|&|:(?:is|where|any)"
)
_DOCTYPE = re.compile(rb"\s*+<!doctype", re.IGNORECASE)


class _Scope(NamedTuple):
    """
    The context of a rule.

    Args:
        condition: When the rule holds.
        layer: The position of its cascade layer.
        parent: The selectors of the rule around it.
        is_odd: Whether its selectors are relative to another rule.

    """

    condition: Condition
    layer: int
    parent: str | None
    is_odd: bool = False


class Rule(NamedTuple):
    """
    A rule of a style sheet.

    Args:
        order: Its position among all rules.
        prelude: Its selectors.
        block: Its declarations.
        scope: Its context.

    """

    order: int
    prelude: str
    block: str
    scope: _Scope


class Applied(NamedTuple):
    """Declarations that may apply to an element, with their precedence, regardless of importance."""

    precedence: tuple[int, tuple[int, int, int], int]
    declared: tuple[Declaration, ...]
    sure: int  # bits of the widths at which they certainly apply
    maybe: int  # bits of the widths at which they may apply

    @property
    def is_layered(self) -> bool:
        """Whether the declarations are in a cascade layer."""
        return self.precedence[0] != _NO_LAYER


class _ApplyingRules(NamedTuple):
    """The declarations that apply to a kind of element, and those that may apply, with their selectors."""

    sure: list[Applied]
    doubtful: list[tuple[Applied, Selector]]


class Sheets:
    """
    The rules of the style sheets in a page.

    Everything is computed on demand, since most rules are never needed.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        suspects: Iterable[int],
        keyframes: frozenset[str],
        root: Sequence[Element],
        fold: Callable[[str], str],
    ) -> None:
        self._rules = rules
        self._keyframes = keyframes
        self._root = root
        self._fold = fold
        self._keys: dict[str, list[tuple[Selector, int]]] = {}  # rules that may hide, by what they match
        for order in suspects:
            prelude = rules[order].prelude
            if "\\" not in prelude and "/*" not in prelude and not any(map(IS_SIMPLE, prelude.split(","))):
                continue
            for selector in parse_selectors(prelude, fold):
                if selector.is_simple:
                    self._keys.setdefault(_key(selector), []).append((selector, order))
        self._named = {key for key in self._keys if key[0] not in ".#"}
        self._classes: dict[str, bool] = {}  # whether a class attribute has one of the keys
        self._causes: dict[int, frozenset[str]] = {}  # the result of `find_causes` for each rule
        self._declared: dict[int, tuple[Declaration, ...]] = {}
        self._by_word: dict[str, list[Rule]] = {}
        self._general: dict[int, bool] = {}  # whether a rule may match elements of any class
        self._applied: dict[tuple[str, str, str], _ApplyingRules | None] = {}
        self.closes = True
        self._lowered: list[str] = []  # the blocks of the rules in lower case
        self._looks: dict[tuple[tuple[str, str, str], str, tuple[int, ...]], Look] = {}

    def __bool__(self) -> bool:
        return bool(self._keys)

    def concern(self, name: str, attributes: Mapping[str, str | None]) -> bool:
        """Return whether a rule may hide such an element. This is rare."""
        if classes := attributes.get("class"):
            known = self._classes.get(classes)
            if known is None:
                known = any("." + one in self._keys for one in self._fold(classes).split())
                if len(self._classes) < _MAX_LOOKS:
                    self._classes[classes] = known
            if known:
                return True
        if self._named and (name in self._named or "*" in self._named):
            return True
        identity = attributes.get("id")
        return bool(identity) and "#" + self._fold(identity or "") in self._keys

    def look(
        self, name: str, attributes: Mapping[str, str | None], ancestors: Iterable[tuple[str, Mapping[str, str | None]]]
    ) -> Look | None:
        """
        Judge an element by the style sheets and its ``style`` attribute; return None if the sheets hide nothing.

        Args:
            name: The name of the element.
            attributes: Its attributes.
            ancestors: The elements around it, up to the body.

        """
        key = (name, attributes.get("class") or "", attributes.get("id") or "")
        if key in self._applied:
            found = self._applied[key]
        else:
            found = self._collect_rules(Element.of(name, attributes, self._fold))
            if len(self._applied) < _MAX_LOOKS:
                self._applied[key] = found
        if found is None:
            return None
        doubts: list[Applied] = []
        if found.doubtful:
            around = [*self._root, *(Element.of(*one, self._fold) for one in ancestors)]
            element = Element.of(name, attributes, self._fold)
            doubts = [applied for applied, selector in found.doubtful if selector.may_match(element, around)]
        style = attributes.get("style") or ""
        kind = (key, style, tuple(one.precedence[2] for one in doubts))
        seen = self._looks.get(kind)
        if seen is None:
            seen = self._judge(found.sure, doubts, tuple(parse_declarations(style)))
            if len(self._looks) < _MAX_LOOKS and len(style) < _MAX_CACHED_LENGTH:
                self._looks[kind] = seen
        if not self.closes and not seen.disguises:
            mutes = seen.mutes & ~UNSEEN
            return seen._replace(closes=False, mutes=mutes) if mutes else None
        return seen

    def without_closed(self) -> Sheets:
        """Return a copy that ignores hiding that scripts may undo."""
        other = copy(self)
        other.closes = False
        return other

    def _judge(self, sure: Sequence[Applied], doubts: Sequence[Applied], inline: tuple[Declaration, ...]) -> Look:
        """Judge an element, which counts as visible if it would be with some of the *doubts*."""
        seen = self._judge_both(sure, (), inline)
        if doubts:
            for trial in chain([doubts], ([one] for one in doubts[:_MAX_DOUBTS])):
                if not _hides(seen):
                    break
                seen = _combine(seen, self._judge_both(sure, trial, inline))
        return seen

    def _judge_both(self, sure: Sequence[Applied], doubts: Sequence[Applied], inline: tuple[Declaration, ...]) -> Look:
        """Judge an element at both widths; it counts as visible if it is at one of them."""
        seen: list[Look] = []
        before: list[Applied] | None = None
        for width in (NARROW, WIDE):
            holding = [rule for rule in sure if rule.sure & width]
            holding += [rule for rule in doubts if rule.maybe & width]
            if holding != before:
                before = holding
                declared = _cascade(holding, inline)
                style = compute_style(declared)
                now = judge_style(style)
                seen.append(PLAIN if _hides(now) and self._may_appear(declared, style) else now)
        return _combine(seen[0], seen[-1])

    def _may_appear(self, declared: Sequence[Declaration], style: Style) -> bool:
        """Return whether an animation or a transition may show the element, as on many pages when they scroll."""
        if "display" in find_causes(style):
            return False
        moves = ("transition", "animation-duration", "-webkit-transition", "-webkit-animation-duration")
        names = {token.text for token in style.get("animation-name", ())}
        return any(one.name.startswith(moves) for one in declared) or not names.isdisjoint(self._keyframes)

    def _collect_rules(self, element: Element) -> _ApplyingRules | None:
        """Collect the rules that apply or may apply to an element; None if none of them hides it."""
        keys = [*map(".{}".format, element.classes), f"#{element.id}", element.name, "*"]
        suspects = {
            order for key in keys for selector, order in self._keys.get(key, ()) if selector.subject.matches(element)
        }
        causes = frozenset().union(*map(self._find_cause, suspects))
        if not causes:
            return None
        names = [*element.classes, *([element.id] if element.id else [])]
        rules = {rule.order: rule for word in causes for rule in self._rules_with(word)}
        sure: list[Applied] = []
        doubtful: list[tuple[Applied, Selector]] = []
        for order, rule in rules.items():
            if order not in suspects and not any(name in rule.prelude for name in names) and not self._is_general(rule):
                continue
            for selector in parse_selectors(rule.prelude, self._fold):
                if not selector.subject.matches(element):
                    continue
                condition = rule.scope.condition
                precedence = (rule.scope.layer, selector.weight, order)
                applied = Applied(precedence, self._declarations(rule), condition.sure, condition.maybe)
                is_sure = selector.is_simple and not rule.scope.is_odd
                if is_sure and applied.sure:
                    sure.append(applied)
                if not is_sure or applied.maybe != applied.sure:
                    doubtful.append((applied, selector))
        return _ApplyingRules(sure, doubtful)

    def _find_cause(self, order: int) -> frozenset[str]:
        found = self._causes.get(order)
        if found is None:
            declared = sort_by_importance(self._declarations(self._rules[order]))
            found = self._causes[order] = find_causes(compute_style(declared))
        return found

    def _declarations(self, rule: Rule) -> tuple[Declaration, ...]:
        found = self._declared.get(rule.order)
        if found is None:
            found = self._declared[rule.order] = tuple(parse_declarations(rule.block[:_MAX_BLOCK_LENGTH]))
        return found

    def _rules_with(self, word: str) -> list[Rule]:
        """Return the rules that may set a property with *word* in its name."""
        found = self._by_word.get(word)
        if found is None:
            if not self._lowered:
                self._lowered = [rule.block.lower() for rule in self._rules]
            blocks = zip(self._rules, self._lowered, strict=True)
            found = [rule for rule, block in blocks if word in block or "\\" in block or "all" in block]
            self._by_word[word] = found
        return found

    def _is_general(self, rule: Rule) -> bool:
        found = self._general.get(rule.order)
        if found is None:
            found = self._general[rule.order] = bool(_GENERAL.search(rule.prelude)) or "\\" in rule.prelude
        return found


def read_sheets(document: LexborHTMLParser, hardened: Hardened) -> Sheets | None:
    """
    Read the style sheets of a page; return None if they hide nothing.

    Args:
        document: The parsed page.
        hardened: Its source, with its style sheets.

    """
    sources = hardened.sheets
    if not sources:
        return None
    folds = not _DOCTYPE.match(hardened.source)  # in quirks mode the case of classes and ids does not matter
    reader = _Reader()
    for node in document.css("style"):
        number = node.text()
        if number.isdecimal() and int(number) < len(sources) and not _is_unused(node):
            stated = node.attributes
            if (stated.get("type") or "text/css").strip().lower() == "text/css":
                reader.read(sources[int(number)].decode("utf-8", "replace"), read_media(stated.get("media") or ""))
    fold = str.lower if folds else str
    around = [
        Element.of(one.tag or "", one.attributes, fold) for one in (document.root, document.body) if one is not None
    ]
    return Sheets(reader.rules, reader.suspects, frozenset(reader.keyframes), around, fold) or None


def _is_unused(node: LexborNode) -> bool:
    """Return whether a style sheet does not apply, because it is in ``<noscript>`` or a template."""
    around = node.parent
    while around is not None:
        if around.tag in {"noscript", "template"}:
            return True
        around = around.parent
    return False


def _key(selector: Selector) -> str:
    """Return the key to look a selector up by: an id or a class, if it has one."""
    subject = selector.subject
    return next(chain(map("#{}".format, subject.ids), map(".{}".format, subject.classes)), subject.name or "*")


def _hides(seen: Look) -> bool:
    return bool(seen.closes or seen.disguises or seen.mutes)


def _combine(one: Look, other: Look) -> Look:
    """Combine two judgements: return what is hidden in both cases."""
    if one == other:
        return one
    if not (_hides(one) and _hides(other)):
        return PLAIN._replace(resets=one.resets | other.resets, displays=one.displays or other.displays)
    disguises = one.disguises and other.disguises
    closes = not disguises and bool((one.closes or one.disguises) and (other.closes or other.disguises))
    return Look(closes, disguises, one.mutes & other.mutes, one.resets | other.resets, one.displays or other.displays)


def _cascade(rules: list[Applied], inline: tuple[Declaration, ...]) -> list[Declaration]:
    """
    Sort declarations in the order of the cascade, so that the last one wins.

    Among important declarations, earlier layers win (https://www.w3.org/TR/css-cascade-5/#layer-ordering).
    """
    rules = sorted(rules, key=lambda rule: rule.precedence)
    normal = [one for rule in rules for one in rule.declared if not one.important]
    normal += [one for one in inline if not one.important]
    urgent = sorted(rules, key=lambda rule: (-rule.precedence[0], *rule.precedence[1:]))
    plain = [one for rule in urgent if not rule.is_layered for one in rule.declared if one.important]
    layered = [one for rule in urgent if rule.is_layered for one in rule.declared if one.important]
    return [*normal, *plain, *(one for one in inline if one.important), *layered]


class _Reader:
    """Read style sheets, one after the other, into rules. Reads no character more than twice, whatever the input."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.suspects: list[int] = []  # the rules that may hide something
        self.keyframes: set[str] = set()
        self._layers: dict[str, int] = {}
        self._hints: list[int] = []  # offsets where rules may hide something, in descending order
        self._room = MAX_LENGTH
        self._effort = 0

    def read(self, text: str, condition: Condition) -> None:
        """Read a style sheet that applies under a *condition*."""
        text = text[: self._room]
        self._room -= len(text)
        if not condition.maybe:
            return
        self._hints = _hints(text)
        scopes = [_Scope(condition, _NO_LAYER, None)]
        place = 0
        while place < len(text) and len(self.rules) < _MAX_RULES:
            scope = scopes[-1]
            if scope.parent is None and (rule := _RULE.match(text, place)):
                self._add(rule[1], rule[2], rule.start(2), scope)
                place = rule.end()
                continue
            if gap := (_GAP if scope.parent is None else _GAP_IN_BLOCK).match(text, place):
                place = gap.end()
                continue
            if text[place] == "}":
                if len(scopes) > 1:
                    del scopes[-1]
                place += 1
            elif text[place] == "@":
                place = self._at_rule(text, place, scopes)
            elif scope.parent is None:
                place = self._odd_rule(text, place, scopes)
            elif (rule := _RULE.match(text, place)) and not _CUSTOM.match(rule[1]):
                self._add(_resolve_nesting(rule[1], scope.parent), rule[2], rule.start(2), scope._replace(is_odd=True))
                place = rule.end()
            else:
                place = self._read_in_block(text, place, scopes)

    def _add(self, prelude: str, block: str, begin: int, scope: _Scope) -> None:
        """Add a rule, whose block begins at *begin*."""
        order = len(self.rules)
        self.rules.append(Rule(order, prelude, block, scope))
        hints = self._hints
        while hints and hints[-1] < begin:
            del hints[-1]
        if hints and hints[-1] < begin + len(block) and scope.condition.sure and not scope.is_odd:
            self.suspects.append(order)

    def _odd_rule(self, text: str, place: int, scopes: list[_Scope]) -> int:
        """Begin a rule that has nested blocks, or an unusual form."""
        end, mark = self._find_end(text, place, "{")
        if mark == "{":
            depth = len(scopes)
            self._open(scopes, scopes[-1]._replace(parent=text[place : end - 1]))
            if len(scopes) == depth:
                return self._find_end(text, end, "}")[0]
        return end

    def _read_in_block(self, text: str, place: int, scopes: list[_Scope]) -> int:
        """Read a declaration, or begin a nested rule, in the block of a rule."""
        scope = scopes[-1]
        found = _DECLARATION.match(text, place)
        if found and found.end() > place:
            end, mark, written = found.end(), found[2], found[1]
        else:
            end, mark = self._find_end(text, place, ";{}")
            written = text[place : end - len(mark)]
            end -= mark == "}"
        if mark == "{":
            if _CUSTOM.match(written):
                return self._find_end(text, end, "}")[0]
            depth = len(scopes)
            self._open(scopes, scope._replace(parent=_resolve_nesting(written, scope.parent or ""), is_odd=True))
            return end if len(scopes) > depth else self._find_end(text, end, "}")[0]
        self._add(scope.parent or "", written, place, scope)
        return max(end, place + (mark != "}"))

    def _at_rule(self, text: str, place: int, scopes: list[_Scope]) -> int:
        """Begin or skip an at-rule."""
        found = _AT.match(text, place)
        if found:
            name, written, mark, end = found[1].lower(), found[2], found[3], found.end()
        else:
            end, mark = self._find_end(text, place, ";{")
            name, _, written = unescape(text[place + 1 : end - 1]).lower().partition(" ")
        if name == "layer" and mark == ";":
            for layer in written.split(","):
                self._layers.setdefault(layer.strip(), len(self._layers))
        if mark != "{":
            return end
        scope = scopes[-1]
        if name.removeprefix("-webkit-") == "keyframes":
            self.keyframes.add(unescape(written.strip().strip("\"'")).lower())
        condition: Condition | None = None
        layer = scope.layer
        if name == "media":
            condition = read_media(written.strip())
        elif name == "supports":
            condition = read_supports(written.strip())
        elif name == "layer":
            condition, layer = ALWAYS, self._number_layer(written)
        elif name in {"container", "scope", "starting-style", "-moz-document"}:
            condition = PERHAPS
        if condition is not None and condition.maybe:
            depth = len(scopes)
            self._open(scopes, scope._replace(condition=scope.condition.and_(condition), layer=layer))
            if len(scopes) > depth:
                return end
        block = _NESTED_BLOCK.match(text, end - 1)
        return block.end() if block else self._find_end(text, end, "}")[0]

    def _number_layer(self, written: str) -> int:
        name = written.strip() or f"\0{len(self._layers)}"
        return self._layers.setdefault(name, len(self._layers))

    def _find_end(self, text: str, place: int, marks: str) -> tuple[int, str]:
        """Return the end of the first of *marks* outside of brackets, and the mark."""
        open_: list[str] = []
        for token, begin, end in tokenize(text, place):
            self._effort += end - begin
            if self._effort > _MAX_EFFORT:
                break
            if token is None:
                continue
            mark = token.text if token.kind == "mark" else ""
            if not open_ and mark and mark in marks:
                return end, mark
            if open_ and mark == open_[-1]:
                del open_[-1]
            elif token.kind == "function" or mark in CLOSERS:
                open_.append(CLOSERS.get(mark, ")"))
        return len(text), ""

    @staticmethod
    def _open(scopes: list[_Scope], scope: _Scope) -> None:
        if len(scopes) < _MAX_DEPTH:
            scopes.append(scope)


def _resolve_nesting(prelude: str, parent: str) -> str:
    """Return the selectors of a nested rule, with those of its parent if it refers to them."""
    return f"{prelude},{parent}" if "&" in prelude and len(prelude) + len(parent) < _MAX_CACHED_LENGTH else prelude


def _hints(text: str) -> list[int]:
    """Return the offsets where a rule may hide something, in descending order."""
    text = text.lower()
    places: set[int] = set()
    for word, like in _HINTS.items():
        place = text.find(word)
        while place >= 0:
            if like.match(text, place):
                places.add(place)
            place = text.find(word, place + len(word))
    return sorted(places, reverse=True)
