"""Find what the page is about: which of its blocks a reader came for."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

from .blocks import TextBlocks
from .features import BlockFeatures
from .model import ContentModel, load_model

if TYPE_CHECKING:
    from .metadata import Metadata

_NEIGHBOURS = 0.4  # what a block is thought to be hangs so much on those before and after it
_ALIKE = 0.5  # and so much on those that look alike
_DOUBTS = math.exp(-1), math.e  # what all odds of a page may be off by, one as likely as the other
_RECALL = 0.7  # what leaving content out weighs against keeping what is none
_LONG = 100  # characters: what is so long and there again is there for wide and for narrow screens
_MAX_WORDS = 25  # characters, in the mean of a text for people
_CELLS = frozenset({"td", "th"})
_VERBATIM = _CELLS | {"pre", "code"}  # where the same is said twice with reason


def select_content(outline: TextBlocks, url: str, facts: Metadata, model: ContentModel | None = None) -> list[bool]:
    """
    Say for each block of the page whether it is content.

    A learned model says how likely each block is. Where to draw the line differs from page to page: it is drawn where
    the words that are kept can be expected to have the best F (precision counts more), so that a page that leaves the
    model in doubt keeps what it is in doubt about (Lipton et al., "Optimal Thresholding of Classifiers to Maximize F1",
    2014).

    Args:
        outline: The page.
        url: Its address.
        facts: What it says of itself.
        model: Another model than the one that comes with this package.

    """
    if not outline.block_texts:
        return []
    model = model or load_model()
    traits = BlockFeatures(outline, url, facts, model.words)
    chances = _smooth(_average_alike(outline, model.probabilities(traits)))
    line = _threshold(chances, traits.sizes)
    kept = _drop_machine_text(outline, [chance >= line for chance in chances], traits.sizes)
    kept = whole_rows(outline, _drop_repeats(outline, kept))
    return _keep_headline(outline, facts.title, kept)


def _average_alike(outline: TextBlocks, chances: list[float]) -> list[float]:
    """What looks alike is alike: draw each block towards those in elements of the same names and in the same part."""
    names, marks, around = outline.names, outline.marks, outline.around
    wholes = [max(outline.parents[element], 0) for element in outline.block_elements]
    looks = [
        (names[element], marks[element], names[whole], marks[whole], around[element])
        for element, whole in zip(outline.block_elements, wholes, strict=True)
    ]
    hoped = dict.fromkeys(looks, 0.0)
    letters = dict.fromkeys(looks, 0)
    for look, chance, text in zip(looks, chances, outline.block_texts, strict=True):
        length = len(text) + 1
        hoped[look] += chance * length
        letters[look] += length
    return [
        (1 - _ALIKE) * chance + _ALIKE * hoped[look] / letters[look]
        for look, chance in zip(looks, chances, strict=True)
    ]


def _smooth(chances: list[float]) -> list[float]:
    """Content comes in one piece, or a few: draw each block towards its neighbours."""
    before, after = [chances[0], *chances[:-1]], [*chances[1:], chances[-1]]
    return [
        (1 - _NEIGHBOURS) * chance + _NEIGHBOURS * (one + other) / 2
        for chance, one, other in zip(chances, before, after, strict=True)
    ]


def _drop_machine_text(outline: TextBlocks, kept: list[bool], words: list[int]) -> list[bool]:
    """Leave out what is there for scripts alone, JSON and keys and addresses, unless that is all there is."""
    blocks = zip(outline.block_texts, outline.block_elements, outline.block_linked, words, kept, strict=True)
    legible = [
        keep
        and not (
            len(text) >= max(_LONG, _MAX_WORDS * count)
            and text.isascii()
            and 2 * linked < len(text)
            and outline.names[element] not in _VERBATIM
        )
        for text, element, linked, count, keep in blocks
    ]
    return legible if any(legible) else kept


def _drop_repeats(outline: TextBlocks, kept: list[bool]) -> list[bool]:
    """Keep of the same long text the first only, and what is beside that."""
    said: dict[str, int] = {}
    once: list[bool] = []
    for text, element, keep in zip(outline.block_texts, outline.block_elements, kept, strict=True):
        around = outline.parents[element]
        once.append(keep and said.get(text, around) == around)
        if keep and len(text) >= _LONG and outline.names[element] not in _VERBATIM:
            said.setdefault(text, around)
    return once


def whole_rows(outline: TextBlocks, kept: list[bool]) -> list[bool]:
    """
    Keep all cells of a row or none: without one, the others mean something else.

    That is of cells that are a single text: one of several blocks holds more than data.
    """
    names, parents = outline.names, outline.parents
    rows = [parents[element] if names[element] in _CELLS else -1 for element in outline.block_elements]
    begun = {row for row, keep in zip(rows, kept, strict=True) if keep and row >= 0}
    return [keep or row in begun for row, keep in zip(rows, kept, strict=True)]


def _keep_headline(outline: TextBlocks, title: str, kept: list[bool]) -> list[bool]:
    """Keep the heading that is the title of the page, which the model often takes for a part of the top."""
    for block, (text, element) in enumerate(zip(outline.block_texts, outline.block_elements, strict=True)):
        if outline.names[element] == "h1" and text.casefold() == title.casefold():
            kept[block] = True
            break
    return kept


def _threshold(chances: list[float], words: list[int]) -> float:
    """
    The chance from which on to keep a block.

    The model does not err block by block: where it takes one for more than it is, it does so with others of the page.
    So the line is drawn where F is best in the mean of all odds being less, and being more.
    """
    order = sorted(range(len(chances)), key=chances.__getitem__, reverse=True)
    blocks = [(chances[block], words[block]) for block in order]
    kept = [*accumulate(count for _, count in blocks)]
    quality = [0.0] * len(blocks)
    for odds in _DOUBTS:
        hoped = [*accumulate([odds * chance * count / (1 - chance + odds * chance) for chance, count in blocks])]
        true = _RECALL * hoped[-1]
        quality = [yet + gain / (cost + true) for yet, gain, cost in zip(quality, hoped, kept, strict=True)]
    return chances[order[quality.index(max(quality))]]
