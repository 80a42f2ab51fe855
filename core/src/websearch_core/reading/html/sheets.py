"""
What the style sheets in a page hide: the rules of its own ``<style>`` elements.

A browser matches thousands of rules with every element. Here, few rules matter: a rule hides only if its selector
asks for names, classes and ids of the element alone (`Selector.is_simple`). Rules with other selectors may show what
such a rule hides, and so do conditions that cannot be judged: what is in doubt is visible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from .colours import Colour, colour
from .conditions import ALWAYS, NARROW, PERHAPS, WIDE, Condition, media, supports
from .css import CLOSERS, Declaration, declarations, parts_of, tokens, unescaped
from .look import PLAIN, Look, computed, look
from .selectors import Element, Selector, selectors

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from .tame import Tamed

MOST_BYTES = 2**20  # of all style sheets of a page
_MOST_RULES = 20_000
_MOST_LOOKS = 2_000  # kinds of elements that are remembered
_MOST_DOUBTS = 30  # rules that may show an element again and are tried one by one
_MOST_KEYS = 4_000  # names, classes and ids that rules hide
_DEEPEST = 16  # blocks in one another
_NO_LAYER = 1_000_000

# A rule as nearly all are written: no block in the block, no odd quotes, no more than two brackets in one another.
_STRING = r"""(?:"(?:[^"\\\n\r\f]++|\\[^\n\r\f])*+"|'(?:[^'\\\n\r\f]++|\\[^\n\r\f])*+')"""
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+\*/"
_IN_BRACKETS = r"(?:[^{}\"'\\/()]++|/(?!\*))*+"
_BRACKETS = rf"\([ \t\r\n\f]*+(?:{_STRING})?+{_IN_BRACKETS}(?:\({_IN_BRACKETS}\){_IN_BRACKETS})*+\)"
_VALUES = rf"""(?:[^{{}}"'\\/()\[\];]++|{_STRING}|{_BRACKETS}|\\[^\n\r\f]|{_COMMENT}|/(?!\*))*+"""
_BLOCK = rf"""(?:[^{{}}"'\\/()\[\]]++|{_STRING}|{_BRACKETS}|\\[^\n\r\f]|{_COMMENT}|/(?!\*))*+"""
_PRELUDE = rf"""(?:[^{{}}"'\\/();@\[\]]++|\\[^\n\r\f]|\[(?:[^\[\]{{}}"'\\/()]++|{_STRING}|/(?!\*))*+\]|{_BRACKETS}|{_COMMENT})++"""
_RULE = re.compile(rf"({_PRELUDE})\{{({_BLOCK})\}}")
_NESTED_BLOCK = re.compile(rf"\{{{_BLOCK}(?:\{{{_BLOCK}\}}{_BLOCK})*+\}}")
_DECLARATION = re.compile(rf"({_VALUES})(;|(?=\}}))")
_AT = re.compile(rf"@([\w-]++)({_VALUES})([{{;])")
_GAP = re.compile(rf"(?:[ \t\r\n\f]++|{_COMMENT}|<!--|-->)++")
_GAP_IN_BLOCK = re.compile(rf"(?:[ \t\r\n\f;]++|{_COMMENT})++")
_CUSTOM = re.compile(r"\s*--[\w-]*+\s*:")

# Words without which a rule cannot hide. What is written with escapes or comments is always looked at.
_SMALL = r"(?<=[\s:/(])\+?(?:0*\.0|0+(?![.\d])|0*1(?:\.0*)?(?:px|%)|\.\d+(?:px|pt|%)|\d+e-|0*[2-6](?:\.\d*)?%|[\w-]*(?:calc|var|min|max|clamp)\()"
_HINT = re.compile(
    r"\\|/\*|content-visibility|text-indent|(?<![\w-])clip|-webkit-clip|line-height\s*:\s*0(?![.\d])"
    r"|(?:display|visibility)[^;]*(?:none|hidden|collapse|var\()"
    rf"|(?:opacity|zoom|(?<![\w-])font(?:-size)?)\s*:[^;]*?{_SMALL}"
    rf"|(?:(?<!line-)height|width|-size)\s*:\s*{_SMALL}"
    r"|(?:transform|translate|scale|filter)\s*:[^;]*(?:scale|matrix|rotate[xy]|opacity|\d{4}|var\(|[:\s]\.?0)"
    r"|(?:left|right|top|bottom|inset[\w-]*|margin[\w-]*)\s*:[^;]*(?:-\d{2}|\d{4}|\de|var\()"
    r"|letter-spacing\s*:\s*(?:-|calc|var)"
    r"|color\s*:[^;]*(?:transparent|[,/]\s*(?:0?\.0\d*|0+%?|[0-4]%)\s*\)|#(?:[\da-f]{3}0|[\da-f]{6}0[\da-f])(?![\da-f])|var\()"
    r"|background[^;]*(?:currentcolor|var\()",
    re.IGNORECASE,
)
_TEXT_COLOUR = re.compile(r"(?:^|[\s;{/])(?:-webkit-text-fill-)?color\s*:\s*([^;!]++)", re.IGNORECASE)
_GROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!]++)", re.IGNORECASE)
# A subject without a class or an id: it may be any element.
_GENERAL = re.compile(
    r"(?:^|[\s>+~,&])(?:[\w*|&-]+)?(?:\[[^\]]*\]|::?[\w-]+(?:\([^)]*\))?)*\s*(?:,|$)|&|:(?:is|where|any)"
)
_DOCTYPE = re.compile(rb"\s*+<!doctype", re.IGNORECASE)


class Rule(NamedTuple):
    """
    A rule of a style sheet.

    Args:
        order: Its place.
        prelude: Its selectors.
        block: Its declarations.
        condition: When it holds.
        layer: The place of its cascade layer.
        is_nested: Whether it stands in another rule, so that its selectors are relative.

    """

    order: int
    prelude: str
    block: str
    condition: Condition
    layer: int
    is_nested: bool


class Applied(NamedTuple):
    """Declarations that may hold for an element, with their precedence before importance."""

    precedence: tuple[int, tuple[int, int, int], int]
    declared: tuple[Declaration, ...]
    sure: int  # bits of the widths at which they hold for sure
    maybe: int  # bits of the widths at which they may

    @property
    def is_layered(self) -> bool:
        """Whether they stand in a cascade layer."""
        return self.precedence[0] != _NO_LAYER


class _Scope(NamedTuple):
    """
    What is around a rule.

    Args:
        condition: When it holds.
        layer: The place of the cascade layer.
        parent: The selectors of the rule around it.
        is_odd: Whether those are relative to another rule.

    """

    condition: Condition
    layer: int
    parent: str | None
    is_odd: bool = False


class Sheets:
    """The rules of the style sheets in a page."""

    def __init__(
        self, rules: Sequence[Rule], keyframes: frozenset[str], root: Sequence[Element], *, folds: bool
    ) -> None:
        self._rules = rules
        self._keyframes = keyframes
        self._root = root
        self._fold: Callable[[str], str] = str.lower if folds else str
        self._keys: set[str] = set()  # what rules that may hide ask for: ".class", "#id" or a name
        self._classes: dict[str, bool] = {"": False}  # whether a class attribute has such a class
        self._applied: dict[tuple[str, str, str], tuple[list[Applied], list[tuple[Applied, Selector]]]] = {}
        self._declared: dict[int, tuple[Declaration, ...]] = {}
        self._general: list[Rule] | None = None
        for rule in rules:
            if rule.condition.sure and not rule.is_nested and len(self._keys) < _MOST_KEYS and _may_hide(rule.block):
                for selector in selectors(rule.prelude, self._fold):
                    if selector.is_simple:
                        self._keys.add(_key(selector))

    def __bool__(self) -> bool:
        return bool(self._keys)

    def concern(self, name: str, attributes: Mapping[str, str | None]) -> bool:
        """Return whether a rule may hide such an element. Nearly always none does."""
        keys = self._keys
        if name in keys or "*" in keys:
            return True
        if classes := attributes.get("class"):
            known = self._classes.get(classes)
            if known is None:
                known = any("." + one in keys for one in self._fold(classes).split())
                if len(self._classes) < _MOST_LOOKS:
                    self._classes[classes] = known
            if known:
                return True
        identity = attributes.get("id")
        return bool(identity) and "#" + self._fold(identity or "") in keys

    def look(
        self, name: str, attributes: Mapping[str, str | None], ancestors: Iterable[tuple[str, Mapping[str, str | None]]]
    ) -> Look:
        """
        Return what the style sheets and its ``style`` say about an element.

        Args:
            name: Its name.
            attributes: Its attributes.
            ancestors: The elements around it, up to the body.

        """
        element = Element.of(name, attributes, self._fold)
        key = (name, attributes.get("class") or "", element.id)
        found = self._applied.get(key)
        if found is None:
            found = self._applying(element)
            if len(self._applied) < _MOST_LOOKS:
                self._applied[key] = found
        sure, doubtful = found
        inline = tuple(declarations(attributes.get("style") or ""))
        seen = self._judged(sure, (), inline)
        if not _hides(seen) or not doubtful:
            return seen
        around = [*self._root, *(Element.of(*one, self._fold) for one in ancestors)]
        doubts = [applied for applied, selector in doubtful if selector.may_match(element, around)]
        if doubts:
            trials = chain([doubts], ([one] for one in doubts[:_MOST_DOUBTS]))
            for trial in trials:
                seen = _either(seen, self._judged(sure, trial, inline))
                if not _hides(seen):
                    break
        return seen

    def _judged(self, sure: Sequence[Applied], doubts: Sequence[Applied], inline: tuple[Declaration, ...]) -> Look:
        """Judge what holds at both widths, if *doubts* hold too: what is seen at one of them is seen."""
        seen: list[Look] = []
        for width in (NARROW, WIDE):
            holding = [rule for rule in sure if rule.sure & width]
            holding += [rule for rule in doubts if rule.maybe & width]
            declared = _cascaded(holding, inline)
            style = computed(declared)
            now = look(declared)
            names = {token.text for token in style.get("animation-name", ())}
            seen.append(PLAIN if not names.isdisjoint(self._keyframes) and _hides(now) else now)
        return _either(*seen)

    def _applying(self, element: Element) -> tuple[list[Applied], list[tuple[Applied, Selector]]]:
        """Collect the rules that hold for an element; and those that may, with what they ask of the elements around it."""
        if self._general is None:
            self._general = [rule for rule in self._rules if _GENERAL.search(rule.prelude)]
        names = [*element.classes, *([element.id] if element.id else [])]
        named = [rule for rule in self._rules if any(name in rule.prelude for name in names)] if names else []
        sure: list[Applied] = []
        doubtful: list[tuple[Applied, Selector]] = []
        seen: set[int] = set()
        for rule in chain(named, self._general):
            if rule.order in seen:
                continue
            seen.add(rule.order)
            for selector in selectors(rule.prelude, self._fold):
                if not selector.subject.matches(element):
                    continue
                declared = self._declared.get(rule.order)
                if declared is None:
                    declared = self._declared[rule.order] = tuple(declarations(rule.block))
                applied = Applied(
                    (rule.layer, selector.weight, rule.order), declared, rule.condition.sure, rule.condition.maybe
                )
                if selector.is_simple and not rule.is_nested:
                    if applied.sure:
                        sure.append(applied)
                    if applied.maybe != applied.sure:
                        doubtful.append((applied, selector))
                else:
                    doubtful.append((applied, selector))
        return sure, doubtful


def read_sheets(document: LexborHTMLParser, tamed: Tamed) -> Sheets | None:
    """
    Return the style sheets of a page; None if they hide nothing.

    Args:
        document: The page, parsed.
        tamed: Its source, and those of its style sheets.

    """
    sources = tamed.sheets
    if not sources:
        return None
    folds = not _DOCTYPE.match(tamed.source)  # then case makes no difference to classes and ids
    reader = _Reader()
    for node in document.css("style"):
        number = node.text()
        if number.isdecimal() and int(number) < len(sources) and not _is_unused(node):
            stated = node.attributes
            if (stated.get("type") or "text/css").strip().lower() == "text/css":
                reader.read(sources[int(number)].decode("utf-8", "replace"), media(stated.get("media") or ""))
    fold = str.lower if folds else str
    around = [
        Element.of(one.tag or "", one.attributes, fold) for one in (document.root, document.body) if one is not None
    ]
    return Sheets(reader.rules, frozenset(reader.keyframes), around, folds=folds) or None


def _is_unused(node: LexborNode) -> bool:
    """Return whether it is for readers without scripts, or in a template."""
    around = node.parent
    while around is not None:
        if around.tag in {"noscript", "template"}:
            return True
        around = around.parent
    return False


def _key(selector: Selector) -> str:
    """What to look for first: an id or a class, if there is one."""
    subject = selector.subject
    return next(chain(map("#{}".format, subject.ids), map(".{}".format, subject.classes)), subject.name or "*")


def _may_hide(block: str) -> bool:
    if _HINT.search(block):
        return True
    text = _TEXT_COLOUR.search(block)
    ground = _GROUND.search(block) if text else None
    if text is None or ground is None:
        return False
    one, other = _colour(text[1]), _colour(ground[1])
    return one is not None and other is not None and one.is_like(other)


@lru_cache(maxsize=256)
def _colour(written: str) -> Colour | None:
    """Return the first colour that is written."""
    found = tuple(span.token for span in tokens(written[:200]) if span.token)
    return next((one for one in map(colour, parts_of(found)) if one), None)


def _hides(seen: Look) -> bool:
    return bool(seen.closes or seen.disguises or seen.mutes)


def _either(one: Look, other: Look) -> Look:
    """Return what is so in both cases."""
    if one == other:
        return one
    if not (_hides(one) and _hides(other)):
        return PLAIN._replace(resets=one.resets | other.resets, displays=one.displays or other.displays)
    disguises = one.disguises and other.disguises
    closes = not disguises and bool((one.closes or one.disguises) and (other.closes or other.disguises))
    return Look(closes, disguises, one.mutes & other.mutes, one.resets | other.resets, one.displays or other.displays)


def _cascaded(rules: list[Applied], inline: tuple[Declaration, ...]) -> list[Declaration]:
    """
    Put declarations in the order of the cascade, the one that holds last.

    What is important counts more in an earlier layer (https://www.w3.org/TR/css-cascade-5/#layer-ordering).
    """
    rules = sorted(rules, key=lambda rule: rule.precedence)
    normal = [one for rule in rules for one in rule.declared if not one.important]
    normal += [one for one in inline if not one.important]
    urgent = sorted(rules, key=lambda rule: (-rule.precedence[0], *rule.precedence[1:]))
    plain = [one for rule in urgent if not rule.is_layered for one in rule.declared if one.important]
    layered = [one for rule in urgent if rule.is_layered for one in rule.declared if one.important]
    return [*normal, *plain, *(one for one in inline if one.important), *layered]


class _Reader:
    """Reads style sheets, one after the other, into rules. Whatever they say, each character is read at most twice."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.keyframes: set[str] = set()
        self._layers: dict[str, int] = {}
        self._room = MOST_BYTES

    def read(self, text: str, condition: Condition) -> None:
        """Read a style sheet that holds on a *condition*."""
        text = text[: self._room]
        self._room -= len(text)
        if not condition.maybe:
            return
        scopes = [_Scope(condition, _NO_LAYER, None)]
        place = 0
        while place < len(text) and len(self.rules) < _MOST_RULES:
            scope = scopes[-1]
            if gap := (_GAP if scope.parent is None else _GAP_IN_BLOCK).match(text, place):
                place = gap.end()
                continue
            if text[place] == "}":
                if len(scopes) > 1:
                    del scopes[-1]
                place += 1
            elif text[place] == "@":
                place = self._at(text, place, scopes)
            elif (rule := _RULE.match(text, place)) and not _CUSTOM.match(rule[1]):
                self._add(rule[1], rule[2], scope, is_nested=scope.parent is not None)
                place = rule.end()
            elif scope.parent is None:
                place = self._odd_rule(text, place, scopes)
            else:
                place = self._inside(text, place, scopes)

    def _add(self, prelude: str, block: str, scope: _Scope, *, is_nested: bool) -> None:
        if is_nested and "&" in prelude and scope.parent:
            prelude = prelude.replace("&", f":is({scope.parent})") + "," + scope.parent
        condition = scope.condition
        self.rules.append(Rule(len(self.rules), prelude, block, condition, scope.layer, is_nested or scope.is_odd))

    def _odd_rule(self, text: str, place: int, scopes: list[_Scope]) -> int:
        """Begin a rule that has blocks in its block, or is written oddly."""
        end, mark = _until(text, place, "{")
        if mark == "{":
            self._open(scopes, scopes[-1]._replace(parent=text[place : end - 1]))
            if scopes[-1].parent is None:
                return _until(text, end, "}")[0]
        return end

    def _inside(self, text: str, place: int, scopes: list[_Scope]) -> int:
        """Read a declaration, or begin a rule, in the block of another."""
        scope = scopes[-1]
        found = _DECLARATION.match(text, place)
        if found and found.end() > place:
            end, mark, written = found.end(), found[2], found[1]
        else:
            end, mark = _until(text, place, ";{}")
            written = text[place : end - len(mark)]
            end -= mark == "}"
        if mark == "{":
            if _CUSTOM.match(written):
                return _until(text, end, "}")[0]
            depth = len(scopes)
            self._open(scopes, scope._replace(parent=written, is_odd=True))
            return end if len(scopes) > depth else _until(text, end, "}")[0]
        self._add(scope.parent or "", written, scope, is_nested=False)
        return max(end, place + (mark != "}"))

    def _at(self, text: str, place: int, scopes: list[_Scope]) -> int:
        """Begin, or pass by, what ``@`` begins."""
        found = _AT.match(text, place)
        if found:
            name, written, mark, end = found[1].lower(), found[2], found[3], found.end()
        else:
            end, mark = _until(text, place, ";{")
            name, _, written = unescaped(text[place + 1 : end - 1]).lower().partition(" ")
        if name == "layer" and mark == ";":
            for layer in written.split(","):
                self._layers.setdefault(layer.strip(), len(self._layers))
        if mark != "{":
            return end
        scope = scopes[-1]
        if name.removeprefix("-webkit-") == "keyframes":
            self.keyframes.add(unescaped(written.strip().strip("\"'")).lower())
        condition: Condition | None = None
        layer = scope.layer
        if name == "media":
            condition = media(written.strip())
        elif name == "supports":
            condition = supports(written.strip())
        elif name == "layer":
            condition, layer = ALWAYS, self._layer(written)
        elif name in {"container", "scope", "starting-style", "-moz-document"}:
            condition = PERHAPS
        if condition is not None and condition.maybe:
            depth = len(scopes)
            self._open(scopes, scope._replace(condition=scope.condition.and_(condition), layer=layer))
            if len(scopes) > depth:
                return end
        block = _NESTED_BLOCK.match(text, end - 1)
        return block.end() if block else _until(text, end, "}")[0]

    def _layer(self, written: str) -> int:
        name = written.strip() or f"\0{len(self._layers)}"
        return self._layers.setdefault(name, len(self._layers))

    @staticmethod
    def _open(scopes: list[_Scope], scope: _Scope) -> None:
        if len(scopes) < _DEEPEST:
            scopes.append(scope)


def _until(text: str, place: int, marks: str) -> tuple[int, str]:
    """Return where the first of *marks* that is in no bracket ends, and which it is."""
    open_: list[str] = []
    for token, _, end in tokens(text, place):
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
