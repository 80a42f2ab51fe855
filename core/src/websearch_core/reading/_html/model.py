"""
A small learned model, and nothing needed to ask it: decision trees as tables of numbers, over all blocks at once.

The trees are many and small (seven questions, eight answers). What costs is not the questions but asking them one by
one, so they are asked of all blocks of a page in one step each: the answers to one question are the bytes of a long
integer, the answers to the questions of a tree are shifted into one byte for each block, and a table of 256 bytes turns
that byte into the tree's vote, again for all blocks. That questions may be answered out of order is the idea of
Lucchese et al., "QuickScorer" (SIGIR 2015). `benchmarks/reader_model.py` is where the numbers are from.
"""

from __future__ import annotations

import json
import math
import struct
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

from .features import MISSING, BlockFeatures, Values

QUESTIONS = 7  # of a tree
MAX_VOTES = 0xFFFF  # of all trees together: as much as two bytes hold
_AT_ONCE = 4096  # blocks, so that a page of many does not take much room


class Feature(NamedTuple):
    """
    A trait that is asked for.

    Args:
        of: ``element``, ``block`` or ``page``.
        trait: Its name.
        where: Levels up for an element; blocks after this one, or before it if negative, for a block.

    """

    of: str
    trait: str
    where: int = 0


class ContentModel:
    """
    The model.

    Args:
        model: As `benchmarks/reader_model.py` writes it. ``words``: what each says for being content. ``features``.
            ``edges``: for each trait, the values that questions ask whether it exceeds. ``trees``: each with its
            questions ([feature, edge]), the ways on from them and its votes; those of all trees together are at most
            `MAX_VOTES`. ``base`` and ``scale``: they turn the sum of the votes into log-odds.

    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.words: dict[str, float] = model["words"]
        self._features = [Feature(*named) for named in model["features"]]
        self._edges: dict[str, dict[str, list[float]]] = model["edges"]
        asked = {tuple(question): None for tree in model["trees"] for question in tree["questions"]}
        place = dict(zip(asked, range(len(asked)), strict=True))
        self._questions = [(feature, bytes(edge + 1) + b"\x01" * (255 - edge)) for feature, edge in asked]
        self._trees = [
            ([place[tuple(question)] for question in _padded(tree["questions"])], _load_table(tree))
            for tree in model["trees"]
        ]
        self._base: float = model["base"]
        self._scale: float = model["scale"]

    def probabilities(self, traits: BlockFeatures) -> list[float]:
        """Return how likely each block is content, from 0 to 1."""
        columns = self._columns(traits)
        chances: list[float] = []
        for begin in range(0, traits.count, _AT_ONCE):
            some = [column[begin : begin + _AT_ONCE] for column in columns]
            chances += [1 / (1 + math.exp(-self._base - self._scale * votes)) for votes in self._votes(some)]
        return chances

    def _columns(self, traits: BlockFeatures) -> list[bytes]:
        """For each feature, how many of the edges of its trait the feature exceeds, for each block."""
        count = traits.count
        asked = self._edges["page"], self._edges["element"], self._edges["block"]
        page = {trait: bisect_left(edges, traits.page[trait]) for trait, edges in asked[0].items()}
        elements = {trait: _steps(values, asked[1][trait]) for trait, values in traits.elements() if trait in asked[1]}
        blocks = {trait: _steps(values, asked[2][trait]) for trait, values in traits.blocks() if trait in asked[2]}
        # All of an element lies together, so that a block takes it in one go.
        rows = [*map(bytes, zip(*elements.values(), strict=True))]
        levels = [b"".join(map(rows.__getitem__, level)) for level in traits.levels]
        place = {trait: number for number, trait in enumerate(elements)}
        columns: list[bytes] = []
        for of, trait, where in self._features:
            if of == "page":
                columns.append(bytes([page[trait]]) * count)
            elif of == "element":
                columns.append(levels[where][place[trait] :: len(elements)])
            else:
                beyond = bytes([bisect_left(self._edges["block"][trait], MISSING)]) * min(abs(where), count)
                steps = blocks[trait]
                columns.append(beyond + steps[: count - len(beyond)] if where < 0 else steps[where:] + beyond)
        return columns

    def _votes(self, columns: list[bytes]) -> Iterator[int]:
        """For each block the sum of the votes of all trees."""
        count = len(columns[0])
        pairs = count // 2 + 1
        lanes = int.from_bytes(b"\xff\0" * pairs, "little")  # a sum takes two bytes: every other block has its own
        even = odd = 0
        # Of each question the answers of all blocks, a byte with 0 or 1 for each.
        told = [int.from_bytes(columns[feature].translate(exceeds), "little") for feature, exceeds in self._questions]
        for (a, b, c, d, e, f, g), table in self._trees:
            asked = told[a] | told[b] << 1 | told[c] << 2 | told[d] << 3 | told[e] << 4 | told[f] << 5 | told[g] << 6
            votes = int.from_bytes(asked.to_bytes(count, "little").translate(table), "little")
            even += votes & lanes
            odd += votes >> 8 & lanes
        sums = (struct.unpack(f"<{pairs}H", some.to_bytes(2 * pairs, "little")) for some in (even, odd))
        return islice(chain.from_iterable(zip(*sums, strict=True)), count)


@cache
def load_model() -> ContentModel:
    """Return the model that comes with this package."""
    return ContentModel(json.loads(files(__package__ or "").joinpath("model.json").read_text("utf-8")))


def _steps(values: Values, edges: list[float]) -> bytes:
    """How many of *edges*, which ascend, each value exceeds."""
    if isinstance(values[0], float):  # many different ones, most of the time, unlike counts
        return bytes(map(bisect_left, repeat(edges), values))
    known = {value: bisect_left(edges, value) for value in set(values)}
    return bytes(map(known.__getitem__, values))


def _padded(questions: list[list[int]]) -> list[list[int]]:
    """Let a smaller tree ask its first question again, of which nothing follows."""
    return questions + questions[:1] * (QUESTIONS - len(questions))


def _load_table(tree: Mapping[str, Any]) -> bytes:
    """
    The vote of a tree for every combination of answers.

    A tree is written as its questions in the order in which they are met from the left, each with the two ways on: to a
    question if zero or more, to vote v if ~v.
    """
    table = bytearray(256)
    for answers in range(1 << QUESTIONS):
        way = 0
        while way >= 0:
            way = tree["ways"][way][answers >> way & 1]
        table[answers] = tree["votes"][~way]
    return bytes(table)
