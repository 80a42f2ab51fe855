"""
What there is to know of a block of text without reading it: how much text and how many links are around it, what the
page's own names for its parts say, what comes before and after. `words` is all that has to be learned for it.

Class and id names are telling in any language, and so is structure; no trait looks at what the text says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .linked import types
from .outline import TELLING, Outline
from .tree import HEADINGS

if TYPE_CHECKING:
    from .metadata import Metadata

LEVELS = 6  # a block's element, and so many less one around it, are looked at
UNKNOWN = -1.0  # what there is not: a parent of the body, a heading before the first
_PROSE = frozenset({"p", "li", "blockquote", "pre", "td", "dd"})
_LINE = 60  # characters, from which on a text in one of these is prose
_LONG = 200  # characters, from which on a text is long
_MOSTLY_LINKS = 0.8
_REPEATED = 3  # siblings of the same kind, from which on they are a list of things
_FIRST_WORDS = 60

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile("[a-z]{3,19}")
_LETTERS = re.compile(r"\w+")

Values = Sequence[float]


@dataclass(frozen=True)
class Traits:
    """
    The traits of all blocks of a page, by name.

    Args:
        levels: For each level, the element of each block there, as its place in the lists of *elements*.
        elements: Traits of elements; each list ends with what stands for an element that there is not.
        blocks: Traits of blocks.
        page: Traits of the page.

    """

    levels: list[list[int]]
    elements: dict[str, Values]
    blocks: dict[str, Values]
    page: dict[str, float]


def words_of(marks: str) -> set[str]:
    """``"SideBar ad-slot_2"`` -> ``{"side", "bar", "slot"}``: what names mean does not hang on how they are spelt."""
    return set(_WORD.findall(_CAMEL.sub(" ", marks).lower()))


def traits(outline: Outline, url: str, facts: Metadata, words: Mapping[str, float]) -> Traits:
    """
    Collect the traits of every block.

    Args:
        outline: The page, with at least one block.
        url: Its address, whose last part tells articles from lists.
        facts: What it says of itself.
        words: What a word of a class or id name, or an element (``<li>``), says for or against being content.

    """
    kept = bytearray(len(outline.names))
    kept[0] = 1
    for element in outline.block_elements:
        while not kept[element]:
            kept[element] = 1
            element = outline.parents[element]
    numbers = list(compress(range(len(kept)), kept))
    place = dict(zip(numbers, range(len(numbers)), strict=True))
    parents = [place.get(outline.parents[number], -1) for number in numbers]
    names = [outline.names[number] for number in numbers]
    marks = [outline.marks[number] for number in numbers]
    around = [outline.around[number] for number in numbers]
    own = [place[element] for element in outline.block_elements]
    texts, last = outline.block_texts, len(numbers)

    lengths = [len(text) or 1 for text in texts]
    linked_shares = [min(1.0, linked / length) for linked, length in zip(outline.block_linked, lengths, strict=True)]
    total, count = sum(lengths), len(texts)

    letters, linked, prose = [0] * last, [0.0] * last, [0] * last
    blocks, headings, link_blocks = [0] * last, [0] * last, [0] * last
    first, final = [count] * last, [-1] * last
    for block, element in enumerate(own):
        length = lengths[block]
        letters[element] += length
        linked[element] += linked_shares[block] * length
        blocks[element] += 1
        link_blocks[element] += linked_shares[block] > _MOSTLY_LINKS
        name = names[element]
        if name in _PROSE:
            if length > _LINE:
                prose[element] += length
        elif name in HEADINGS:
            headings[element] += 1
        if final[element] < 0:
            first[element] = block
        final[element] = block
    for element in range(last - 1, 0, -1):
        parent = parents[element]
        letters[parent] += letters[element]
        linked[parent] += linked[element]
        prose[parent] += prose[element]
        blocks[parent] += blocks[element]
        headings[parent] += headings[element]
        link_blocks[parent] += link_blocks[element]
        first[parent] = min(first[parent], first[element])
        final[parent] = max(final[parent], final[element])

    known: dict[str, tuple[float, float]] = {"": (0.0, 0.0)}
    worst, best, tags = [0.0] * last, [0.0] * last, [0.0] * last
    worst_yet, best_yet, worst_sum, best_sum = [0.0] * last, [0.0] * last, [0.0] * last, [0.0] * last
    tag_sum, depths = [0.0] * last, [0] * last
    kinds = [(parent, name, mark.partition(" ")[0]) for parent, name, mark in zip(parents, names, marks, strict=True)]
    siblings, alike = Counter(kinds), Counter(zip(names, marks, strict=True))
    for element in range(last):
        mark, parent = marks[element], parents[element]
        if mark not in known:
            said = [words[word] for word in words_of(mark) if word in words]
            known[mark] = (min(said), max(said)) if said else (0.0, 0.0)
        low, high = known[mark]
        tag = words.get(f"<{names[element]}>", 0.0)
        worst[element], best[element], tags[element] = low, high, tag
        if element:
            worst_yet[element] = min(low, worst_yet[parent])
            best_yet[element] = max(high, best_yet[parent])
            worst_sum[element] = worst_sum[parent] + low
            best_sum[element] = best_sum[parent] + high
            tag_sum[element] = tag_sum[parent] + tag
            depths[element] = depths[parent] + 1

    levels = [own]
    parents[0] = last  # the element that there is not is its own parent
    parents.append(last)
    for _ in range(LEVELS - 1):
        levels.append([parents[element] for element in levels[-1]])

    elements: dict[str, Values] = {
        "letters": letters,
        "blocks": blocks,
        "letters per block": [part / of for part, of in zip(letters, blocks, strict=True)],
        "share of the page": [part / total for part in letters],
        "prose": [part / of for part, of in zip(prose, letters, strict=True)],
        "linked": [part / of for part, of in zip(linked, letters, strict=True)],
        "link blocks": [part / of for part, of in zip(link_blocks, blocks, strict=True)],
        "headings": headings,
        "siblings": [siblings[kind] for kind in kinds],
        "alike": [alike[kind] for kind in zip(names, marks, strict=True)],
        "worst word": worst,
        "best word": best,
        "tag": tags,
        "worst word yet": worst_yet,
        "best word yet": best_yet,
        "worst words": worst_sum,
        "best words": best_sum,
        "tags": tag_sum,
        "depth": depths,
        **{f"in {name}": [float(bits & bit > 0) for bits in around] for name, bit in TELLING.items()},
    }
    lists: dict[int, tuple[float, ...]] = {}
    for element in own:
        if element not in lists:
            lists[element] = _list_around(element, parents, elements["siblings"], letters, blocks, first, final)
            lists[element] += _half_around(element, parents, letters, depths, total)
    told = list(zip(*(lists[element] for element in own), strict=True))

    title_words = set(_LETTERS.findall(facts.title.lower()))
    since: list[float] = []
    level: list[float] = []
    heading, heading_level, headline = -1, 0, -1
    for block, element in enumerate(own):
        name = names[element]
        if name in HEADINGS:
            heading, heading_level = block, int(name[1])
            if headline < 0 and name == "h1":
                headline = block
        since.append(block - heading if heading >= 0 else UNKNOWN)
        level.append(heading_level)
    before = 0
    shares: list[float] = []
    for length in lengths:
        shares.append(before / total)
        before += length
    seen = Counter(texts)
    spread: dict[str, Values] = {
        "length": lengths,
        "words": [text.count(" ") + 1 for text in texts],
        "linked": linked_shares,
        "tag": [tags[element] for element in own],
        "times": [seen[text] for text in texts],
        "since heading": since,
        "heading level": level,
        "after headline": [block - headline if headline >= 0 else 999 for block in range(count)],
        "place": [block / count for block in range(count)],
        "text before": shares,
        "sentence": [text[-1:] in '.!?。！？…"”' for text in texts],
        "in title": [_share_in(text, title_words) for text in texts],
        **dict(zip(_TOLD, told, strict=True)),
    }

    tag_count = Counter(outline.names)
    paragraphs = [length for length, element in zip(lengths, own, strict=True) if names[element] == "p"]
    path = [part for part in urlsplit(url).path.split("/") if part]
    slug = path[-1] if path else ""
    page: dict[str, float] = {
        "letters": total,
        "blocks": count,
        "letters per block": total / count,
        "linked": linked[0] / total,
        "link blocks": link_blocks[0] / count,
        "headings": headings[0],
        "subheadings": (tag_count["h2"] + tag_count["h3"]) / count,
        "paragraphs": len(paragraphs),
        "paragraph text": sum(paragraphs) / total,
        "long texts": sum(length > _LONG for length in lengths) / count,
        "articles": tag_count["article"],
        "forms": tag_count["form"],
        "buttons": tag_count["button"] / count,
        "items": tag_count["li"] / len(outline.names),
        "cells": tag_count["td"] / len(outline.names),
        "code": tag_count["pre"],
        "images": tag_count["img"] / count,
        "prices": sum("$" in text or "€" in text or "£" in text for text in texts) / count,
        "path": len(path),
        "slug": len(slug),
        "dashes": slug.count("-"),
        **_kinds(facts),
        "number in path": float(bool(re.search("[0-9]{4}", urlsplit(url).path))),
    }
    return Traits(levels, {name: [*values, UNKNOWN] for name, values in elements.items()}, spread, page)


_KINDS = {
    "article": {"Article", "NewsArticle", "BlogPosting", "TechArticle", "Report", "ScholarlyArticle"},
    "product": {"Product", "ProductGroup"},
    "questions": {"QAPage", "DiscussionForumPosting"},
    "answers": {"FAQPage"},
    "list": {"ItemList", "CollectionPage"},
}


def _kinds(facts: Metadata) -> dict[str, float]:
    """Whether the page says that there is an article on it, a product, questions, a list."""
    said = set().union(*(types(thing) for thing in facts.linked.things))
    return {f"says {kind}": float(not said.isdisjoint(names)) for kind, names in _KINDS.items()}


_TOLD = (
    "list: levels up", "list: things", "list: letters", "list: blocks", "list: share", "list: share of the page",
    "list: linked before", "list: begin", "list: end", "half: levels up", "half: depth", "half: share",
)  # fmt: skip


def _list_around(
    element: int,
    parents: Sequence[int],
    siblings: Values,
    letters: Sequence[int],
    blocks: Sequence[int],
    first: Sequence[int],
    final: Sequence[int],
) -> tuple[float, ...]:
    """The list of similar things that an element is in, if it is in one: products, posts, links of a menu."""
    up = 0
    while element < len(letters) and siblings[element] < _REPEATED:
        element = parents[element]
        up += 1
    if element >= len(letters) or parents[element] >= len(letters):
        return (UNKNOWN,) * 9
    whole = parents[element]
    return (
        up,
        siblings[element],
        letters[element],
        blocks[element],
        letters[element] / letters[whole],
        letters[whole] / letters[0],
        first[element] / blocks[0],
        first[whole] / blocks[0],
        final[whole] / blocks[0],
    )


def _half_around(
    element: int, parents: Sequence[int], letters: Sequence[int], depths: Sequence[int], total: int
) -> tuple[float, ...]:
    """The smallest part around an element that holds half of the text of the page."""
    up = 0
    while letters[element] < total / 2:
        element = parents[element]
        up += 1
    return up, depths[element], letters[element] / total


def _share_in(text: str, words: set[str]) -> float:
    found = _LETTERS.findall(text[: 10 * _FIRST_WORDS].lower())[:_FIRST_WORDS]
    return sum(word in words for word in found) / len(found) if found and words else 0.0
