"""Features of a text block that do not depend on its language: how much text and how
many links are around it, what the page calls its parts, what comes before and after.

Class names, ids and structure mean much the same in any language. No feature looks at
the text itself, except for prices and the words of what the page states about itself
(its title, its description, the texts in its data): stop words, capitals and
punctuation were tried, and added nothing.
"""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, compress, count, islice, repeat
from operator import itemgetter, not_, sub, truediv
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..._text.markup import strip_markup
from ..._text.terms import UNSPACED
from .._element import HEADINGS
from .jsonld import types
from .text_blocks import TELLING_TAGS, TextBlocks

if TYPE_CHECKING:
    from .metadata import Metadata

LEVELS = 6  # elements examined for a block: its own and those around it
# value of a missing feature: of an element outside the body, or without a heading
# before the block
MISSING = -1.0

_PROSE = frozenset({"p", "li", "blockquote", "pre", "td", "dd"})
_MIN_PROSE = 60  # characters: a longer text in one of these elements is prose
_LONG = 200  # characters: a longer text is long
_MOSTLY_LINKS = 0.8  # share of linked characters
_MIN_ITEMS = 3  # siblings of the same kind that make a list of things
_FAR = 999  # blocks: the distance if there is no headline
_COMPARED_LENGTH = 100  # characters of a text to compare with what the page states
_CURRENCIES = re.compile("[$€£]")
_UNSPACED = re.compile(f"[{UNSPACED}]+")
# for each character of a text in UTF-8, if much of it is in such a script
_MIN_BYTES = 1.3
_CAMEL = re.compile(r"[A-Z](?<=[a-z0-9].)")  # begins with what is rare
_WORD = re.compile("[a-z]{3,19}")
_APART = "\0"  # the parser's text never has this character
_KINDS = {
    "article": {
        "Article",
        "NewsArticle",
        "BlogPosting",
        "TechArticle",
        "Report",
        "ScholarlyArticle",
    },
    "product": {"Product", "ProductGroup"},
    "discussion": {"QAPage", "DiscussionForumPosting"},
    "list": {"ItemList", "CollectionPage"},
}
# of a thing in JSON-LD
_STATED_TEXTS = ("articleBody", "text", "reviewBody", "description")
_MAX_STATED_LENGTH = 100_000  # characters

Values = Sequence[float]


def words_of(marks: str) -> set[str]:
    """``"SideBar ad-slot_2"`` -> ``{"side", "bar", "slot"}``, however the names are
    spelled.
    """
    return set(_WORD.findall(_spell(marks)))


def _spell(marks: str) -> str:
    if marks.islower():
        return marks
    return _CAMEL.sub(_part, marks).lower()


def _part(capital: re.Match[str]) -> str:
    return f" {capital[0]}"


def _words_of_all(marks: AbstractSet[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each of *marks* with its words, all spelled in one step."""
    spelled = _spell(_APART.join(marks)).split(_APART)
    return zip(marks, map(_WORD.findall, spelled), strict=True)


def count_words(text: str) -> int:
    """Count the words of a text quickly; every character of a script without spaces is
    one.
    """
    words = text.count(" ") + 1
    if text.isascii() or len(text.encode("utf-8", "replace")) < _MIN_BYTES * len(text):
        return words
    return words + sum(map(len, _UNSPACED.findall(text)))


class BlockFeatures:
    """The features of all blocks of a page with at least one, by name.

    *words* says how strongly a word of a class or id, or a tag (``<li>``), speaks for
    or against content.
    """

    def __init__(
        self, outline: TextBlocks, url: str, facts: Metadata, words: Mapping[str, float]
    ) -> None:
        self._outline = outline
        self._tree = _Tree(outline)
        self._names = _Names(self._tree, words)
        self._stated = {
            "in title": set(facts.title.lower().split()),
            "in description": set((facts.description or "").lower().split()),
            "in data": _words_of_data(facts),
        }
        self.count = len(outline.block_texts)
        self.sizes = [*map(count_words, outline.block_texts)]
        self.page = _page(outline, self._tree, url, facts)
        # for each level, the element of each block, as an index into the values of
        # `elements`
        self.levels = self._tree.levels()

    def elements(self) -> Iterator[tuple[str, Values]]:
        """Yield the features of elements; the last value of each is for a missing
        element.

        They come one by one, so that the features of a large page are never all in
        memory.
        """
        tree = self._tree
        names = self._names
        total = tree.letters[0]
        plain: dict[str, Values] = {
            "letters": tree.letters,
            "blocks": tree.blocks,
            "headings": tree.headings,
            "siblings": names.siblings,
            "alike": names.alike,
            "worst word": names.worst,
            "best word": names.best,
            "tag": names.tags,
        }
        for name, values in plain.items():
            yield name, [*values, MISSING]
        yield "letters per block", _ratios(tree.letters, tree.blocks)
        yield "share of the page", _ratios(tree.letters, repeat(total))
        yield "prose", _ratios(tree.prose, tree.letters)
        yield "linked", _ratios(tree.linked, tree.letters)
        yield "link blocks", _ratios(tree.link_blocks, tree.blocks)

    def blocks(self) -> Iterator[tuple[str, Values]]:
        """Yield the features of blocks, also one by one: their surroundings, what comes
        before, the block itself.
        """
        tree = self._tree
        names = self._names
        yield "tag", [names.tags[element] for element in tree.own]
        yield from _around(tree, names)
        yield from _in_order(self._outline, tree, self.sizes)
        beginnings = [
            text[:_COMPARED_LENGTH].lower().split()
            for text in self._outline.block_texts
        ]
        for name, words in self._stated.items():
            yield name, _shares(words, beginnings)


def _shares(words: set[str], beginnings: list[list[str]]) -> list[float]:
    """Return the share of the beginning of each text that *words* has."""
    shares = [0.0] * len(beginnings)
    for block in compress(count(), map(not_, map(words.isdisjoint, beginnings))):
        beginning = beginnings[block]
        shares[block] = sum(map(words.__contains__, beginning)) / len(beginning)
    return shares


def _ratios(parts: Values, wholes: Iterable[float]) -> Values:
    return [*map(truediv, parts, wholes), MISSING]


class _Tree:
    """The elements that contain text, renumbered in the same order, and how much text
    each contains.
    """

    def __init__(self, outline: TextBlocks) -> None:
        holds_text = outline.around_all(outline.block_elements)
        number = list(accumulate(holds_text, initial=-1))[1:]
        self.names = list(compress(outline.names, holds_text))
        self.marks = list(compress(outline.marks, holds_text))
        self.around = list(compress(outline.around, holds_text))
        parents = compress(outline.parents, holds_text)
        self.parents = [number[parent] for parent in parents]
        self.parents[0] = -1
        # of each block
        self.own = outline.by_block(number)
        self.lengths = [len(text) or 1 for text in outline.block_texts]
        self.linked_shares = [
            min(1.0, part / of)
            for part, of in zip(outline.block_linked, self.lengths, strict=True)
        ]
        self._measure()

    # Measured: first each block adds to its own element, then each element to its
    # parent, from the last one on: those inside come after the ones around them.
    def _measure(self) -> None:
        count = len(self.names)
        names = self.names
        parents = self.parents
        letters = [0] * count
        prose = [0] * count
        blocks = [0] * count
        headings = [0] * count
        link_blocks = [0] * count
        linked = [0.0] * count
        last = [-1] * count
        for block, (element, length, share) in enumerate(
            zip(self.own, self.lengths, self.linked_shares, strict=True)
        ):
            letters[element] += length
            linked[element] += share * length
            blocks[element] += 1
            link_blocks[element] += share > _MOSTLY_LINKS
            name = names[element]
            if name in _PROSE:
                prose[element] += length if length > _MIN_PROSE else 0
            elif name in HEADINGS:
                headings[element] += 1
            last[element] = block
        for element in range(count - 1, 0, -1):
            parent = parents[element]
            letters[parent] += letters[element]
            blocks[parent] += blocks[element]
            if linked[element]:
                linked[parent] += linked[element]
                link_blocks[parent] += link_blocks[element]
            if prose[element]:
                prose[parent] += prose[element]
            if headings[element]:
                headings[parent] += headings[element]
            if last[element] > last[parent]:  # noqa: PLR1730 - twice as fast
                last[parent] = last[element]
        self.letters = letters
        self.linked = linked
        self.prose = prose
        self.last = last
        self.blocks = blocks
        self.headings = headings
        self.link_blocks = link_blocks

    def levels(self) -> list[list[int]]:
        """Return for each level the element of each block; the number after the last
        one means none.
        """
        missing = len(self.names)
        parents = [missing, *self.parents[1:], missing]
        levels = [self.own]
        for _ in range(LEVELS - 1):
            levels.append([parents[element] for element in levels[-1]])
        return levels


class _Names:
    """What the names of the elements say for or against content: alone, and with the
    elements around them.
    """

    # Measured: the loop over all elements, whose ``paths`` are, for the way from the
    # body to an element: the worst and the best weight, the sums of all and of those
    # of the tags, and the length.
    def __init__(self, tree: _Tree, words: Mapping[str, float]) -> None:
        marks = set(tree.marks)
        first = {mark: mark.partition(" ")[0] for mark in marks}
        kinds = [
            *zip(
                tree.parents,
                tree.names,
                map(first.__getitem__, tree.marks),
                strict=True,
            )
        ]
        looks = [*zip(tree.names, tree.marks, strict=True)]
        self.siblings = [*map(Counter(kinds).__getitem__, kinds)]
        self.alike = [*map(Counter(looks).__getitem__, looks)]
        weights = {
            mark: [*map(words.__getitem__, filter(words.__contains__, own))] or [0.0]
            for mark, own in _words_of_all(marks)
        }
        worst = {mark: min(own) for mark, own in weights.items()}
        best = {mark: max(own) for mark, own in weights.items()}
        tags = {name: words.get(f"<{name}>", 0.0) for name in set(tree.names)}
        self.worst = [*map(worst.__getitem__, tree.marks)]
        self.best = [*map(best.__getitem__, tree.marks)]
        self.tags = [*map(tags.__getitem__, tree.names)]
        paths: list[tuple[float, float, float, float, float, int]] = [
            (0.0, 0.0, 0.0, 0.0, 0.0, 0)
        ]
        below = zip(tree.parents, self.worst, self.best, self.tags, strict=True)
        for parent, bad, good, tag in islice(below, 1, None):
            low, high, bads, goods, sum_of_tags, depth = paths[parent]
            low = bad if bad < low else low  # noqa: FURB136 - calls would take a third of this loop
            high = good if good > high else high  # noqa: FURB136
            paths.append(
                (low, high, bads + bad, goods + good, sum_of_tags + tag, depth + 1)
            )
        self.paths = paths


_PATH = (
    "worst word yet",
    "best word yet",
    "worst words",
    "best words",
    "tags",
    "depth",
)
_LIST = ("list: things", "list: letters", "list: share of the page", "list: end")
# for each tag, what each byte of `TextBlocks.around` has of its bit
_BITS = {bit: bytes(map(bit.__and__, range(256))) for bit in TELLING_TAGS.values()}
_HALF = ("half: levels up", "half: depth", "half: share")


def _around(tree: _Tree, names: _Names) -> Iterator[tuple[str, Values]]:
    """Yield the features of where a block is and what it is part of."""
    yield from _columns(_PATH, tree, names.paths)
    yield from _columns(_LIST, tree, _lists(tree, names))
    yield from zip(_HALF, _halves(tree, names), strict=True)
    around = bytes(map(tree.around.__getitem__, tree.own))
    for name, bit in TELLING_TAGS.items():
        yield f"in {name}", around.translate(_BITS[bit])


def _columns(
    names: Iterable[str], tree: _Tree, features: Sequence[Values]
) -> Iterator[tuple[str, Values]]:
    """Yield the features of the element of each block, by name.

    As lists: to part them with `zip` is slower, as it needs an iterator for each.
    """
    rows = [*map(features.__getitem__, tree.own)]
    for place, name in enumerate(names):
        yield name, [*map(itemgetter(place), rows)]


def _lists(tree: _Tree, names: _Names) -> list[Values]:
    """Return for each element the features of the list of similar things that contains
    it, if any.
    """
    letters = tree.letters
    last = tree.last
    total = letters[0]
    count = tree.blocks[0]
    lists: list[Values] = [(MISSING,) * len(_LIST)]
    inner = zip(tree.parents, names.siblings, letters, strict=True)
    for parent, alike, length in islice(inner, 1, None):
        if alike < _MIN_ITEMS:
            lists.append(lists[parent])
        else:
            share = letters[parent] / total
            lists.append((alike, length, share, last[parent] / count))
    return lists


def _halves(tree: _Tree, names: _Names) -> Iterator[Values]:
    """Yield the features of the smallest element around each block with half of the
    page's text.
    """
    total = tree.letters[0]
    halves = [0]  # around each element
    for element, parent in enumerate(tree.parents[1:], 1):
        is_half = 2 * tree.letters[element] >= total
        around = element if is_half else halves[parent]
        halves.append(around)
    own = [halves[element] for element in tree.own]
    depths = [path[-1] for path in names.paths]
    depths_of_halves = [depths[half] for half in own]
    yield [*map(sub, map(depths.__getitem__, tree.own), depths_of_halves)]
    yield depths_of_halves
    yield [tree.letters[half] / total for half in own]


def _in_order(
    outline: TextBlocks, tree: _Tree, sizes: Values
) -> Iterator[tuple[str, Values]]:
    """Yield the features of what comes before a block, and of the block itself."""
    lengths = tree.lengths
    count = len(lengths)
    since: list[float] = []
    heading = -1
    headline = -1
    for block, element in enumerate(tree.own):
        name = tree.names[element]
        if name in HEADINGS:
            heading = block
        if headline < 0 and name == "h1":
            headline = block
        distance = block - heading if heading >= 0 else MISSING
        since.append(distance)
    yield "since heading", since
    if headline >= 0:
        yield "after headline", [*map(float, range(-headline, count - headline))]
    else:
        yield "after headline", [_FAR] * count
    yield "length", lengths
    yield "words", sizes
    yield "linked", tree.linked_shares
    times = Counter(outline.block_texts)
    yield "times", [*map(times.__getitem__, outline.block_texts)]
    yield "place", [block / count for block in range(count)]
    total = tree.letters[0]
    before = accumulate(lengths[:-1], initial=0)
    yield "text before", [length / total for length in before]


def _words_of_data(facts: Metadata) -> set[str]:
    """Return the words of the texts in JSON-LD of the thing that the page is about."""
    values = [facts.about.get(key) for key in _STATED_TEXTS]
    texts = [value for value in values if isinstance(value, str)]
    return set(strip_markup(" ".join(texts)[:_MAX_STATED_LENGTH]).lower().split())


def _page(
    outline: TextBlocks, tree: _Tree, url: str, facts: Metadata
) -> dict[str, float]:
    """Return the features that all blocks share: mostly what sort of page it is."""
    total = tree.letters[0]
    count = tree.blocks[0]
    tags = Counter(outline.names)
    paragraphs = [
        length
        for length, element in zip(tree.lengths, tree.own, strict=True)
        if tree.names[element] == "p"
    ]
    priced = [*filter(_CURRENCIES.search, outline.block_texts)]
    address = urlsplit(url).path
    path = [part for part in address.split("/") if part]
    slug = path[-1] if path else ""
    kinds: set[str] = set().union(*map(types, facts.linked.things))
    return {
        "letters": total,
        "blocks": count,
        "letters per block": total / count,
        "linked": tree.linked[0] / total,
        "link blocks": tree.link_blocks[0] / count,
        "headings": tree.headings[0],
        "subheadings": (tags["h2"] + tags["h3"]) / count,
        "paragraphs": len(paragraphs),
        "paragraph text": sum(paragraphs) / total,
        "long texts": sum(length > _LONG for length in tree.lengths) / count,
        "articles": tags["article"],
        "forms": tags["form"],
        "buttons": tags["button"] / count,
        "items": tags["li"] / len(outline.names),
        "cells": tags["td"] / len(outline.names),
        "code": tags["pre"],
        "images": tags["img"] / count,
        "prices": len(priced) / count,
        "path": len(path),
        "slug": len(slug),
        "dashes": slug.count("-"),
        "number in path": float(re.search("[0-9]{4}", address) is not None),
        **{
            f"says {kind}": float(not kinds.isdisjoint(names))
            for kind, names in _KINDS.items()
        },
        "about": float(bool(facts.about)),
        "described": len(facts.description or ""),
        "dated": float(facts.published is not None),
        "signed": float(facts.author is not None),
    }
