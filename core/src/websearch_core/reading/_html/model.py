"""Evaluate the learned model of what is content, without dependencies: small decision
trees, for all blocks at once.

A tree has seven questions and eight leaves. The cost is not in the questions but in
asking them one at a time, so each question is asked for all blocks of a page in one
step: the values of all blocks are the bytes of a long integer, and so are the answers.
Those for one tree are shifted together into one byte per block, and a table of 256
bytes maps that byte to the tree's vote, again for all blocks. The idea that questions
can be answered in any order is from Lucchese et al., "QuickScorer" (SIGIR 2015).
`training/train.py` makes the model.
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

QUESTIONS = 7  # in a tree
MAX_VOTES = 0xFFFF  # for the sum of all trees: two bytes
MAX_EDGES = 127  # of a trait: an eighth bit is for the answer
_BATCH_SIZE = 4096  # blocks at a time, to bound the memory for long pages


class Feature(NamedTuple):
    """A feature that the trees ask about."""

    of: str  # ``element``, ``block`` or ``page``
    trait: str
    # For an element, the number of levels up; for a block, how many blocks later, or
    # earlier if negative.
    where: int = 0


class ContentModel:
    """A trained model that gives the probability that a block is content, as
    `training/train.py` writes it.

    ``words``: the weight of each word. ``features``: see `Feature`. ``edges``: for each
    trait, the thresholds that questions compare it with. ``trees``: each with its
    questions ([feature, edge]), the ways on from them and its votes; the votes of all
    trees add up to at most `MAX_VOTES`. ``base`` and ``scale``: they turn the sum of
    the votes into log-odds.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.words: dict[str, float] = model["words"]
        self._features = [Feature(*named) for named in model["features"]]
        self._edges: dict[str, dict[str, list[float]]] = model["edges"]
        questions: dict[tuple[int, int], int] = {}  # their numbers
        for tree in model["trees"]:
            for feature, edge in tree["questions"]:
                questions.setdefault((feature, edge), len(questions))
        self._questions = [*questions]
        self._trees: list[tuple[list[int], bytes]] = []
        for tree in model["trees"]:
            asks = [questions[feature, edge] for feature, edge in tree["questions"]]
            # a smaller tree repeats its first one, which changes nothing
            asks += asks[:1] * (QUESTIONS - len(asks))
            self._trees.append((asks, _load_table(tree)))
        self._base: float = model["base"]
        self._scale: float = model["scale"]

    def probabilities(self, traits: BlockFeatures) -> list[float]:
        """Return the probability, from 0 to 1, that each block is content."""
        columns = self._columns(traits)
        chances: list[float] = []
        for begin in range(0, traits.count, _BATCH_SIZE):
            some = [column[begin : begin + _BATCH_SIZE] for column in columns]
            chances += [
                1 / (1 + math.exp(-self._base - self._scale * votes))
                for votes in self._votes(some)
            ]
        return chances

    def _columns(self, traits: BlockFeatures) -> list[bytes]:
        """Return a column for each feature: for each block, how many edges of the trait
        its value exceeds.
        """
        count = traits.count
        edges = self._edges
        page = {
            trait: bisect_left(steps, traits.page[trait])
            for trait, steps in edges["page"].items()
        }
        elements = _find_steps(traits.elements(), edges["element"])
        blocks = _find_steps(traits.blocks(), edges["block"])
        # The traits of an element are stored together, so that each block copies them
        # in one step.
        width = len(elements)
        table = bytearray().join(elements.values())
        for number, steps in enumerate(elements.values()):
            table[number::width] = steps
        rows = [table[begin : begin + width] for begin in range(0, len(table), width)]
        levels = [b"".join(map(rows.__getitem__, level)) for level in traits.levels]
        place = {trait: number for number, trait in enumerate(elements)}
        columns: list[bytes] = []
        for of, trait, where in self._features:
            if of == "page":
                columns.append(bytes([page[trait]]) * count)
            elif of == "element":
                columns.append(levels[where][place[trait] :: width])
            else:
                missing = bisect_left(edges["block"][trait], MISSING)
                columns.append(_move(blocks[trait], where, missing))
        return columns

    # Measured: runs for each page over some hundred trees, a byte for each block in
    # each long integer. The answer to a question is the highest bit of a sum: here
    # whether a value exceeds more than 2 edges, of which it exceeds 1, 3, 0 and 2.
    #
    #   steps  01 03 00 02    plus 127 - 2  7e 80 7d 7f    answers  00 80 00 00
    #
    # ``bits`` has the answers to the seven questions of a tree, and the table of the
    # tree maps each byte to a vote. The sums of votes are two bytes wide, so that those
    # of even blocks are separate; those of odd blocks are what else is in the total:
    #
    #   votes  04 01 7f 20    even  04 .. 7f ..    total - even  .. 01 .. 20
    def _votes(self, columns: list[bytes]) -> Iterator[int]:
        """Return the sum of the votes of all trees for each block."""
        count = len(columns[0])
        pairs = count // 2 + 1
        lanes = int.from_bytes(b"\xff\0" * pairs, "little")
        even = 0
        total = 0
        ones = int.from_bytes(b"\x01" * count, "little")
        highest = ones << 7
        steps = [int.from_bytes(column, "little") for column in columns]
        rises = [ones * (MAX_EDGES - edge) for edge in range(MAX_EDGES)]
        answers = [
            steps[feature] + rises[edge] & highest for feature, edge in self._questions
        ]
        for (a, b, c, d, e, f, g), table in self._trees:
            bits = (
                answers[a] >> 7
                | answers[b] >> 6
                | answers[c] >> 5
                | answers[d] >> 4
                | answers[e] >> 3
                | answers[f] >> 2
                | answers[g] >> 1
            )
            votes = int.from_bytes(
                bits.to_bytes(count, "little").translate(table), "little"
            )
            total += votes
            even += votes & lanes
        sums = (
            struct.unpack(f"<{pairs}H", some.to_bytes(2 * pairs, "little"))
            for some in (even, total - even >> 8)
        )
        return islice(chain.from_iterable(zip(*sums, strict=True)), count)


def _find_steps(
    traits: Iterator[tuple[str, Values]], edges: Mapping[str, list[float]]
) -> dict[str, bytes]:
    """Return the steps of the values of each trait that a question is about."""
    return {
        trait: _steps(values, edges[trait])
        for trait, values in traits
        if trait in edges
    }


def _move(steps: bytes, where: int, missing: int) -> bytes:
    """Return for each block the step of the one that comes *where* blocks later."""
    beyond = bytes([missing]) * min(abs(where), len(steps))
    if where < 0:
        return beyond + steps[: len(steps) - len(beyond)]
    return steps[where:] + beyond


@cache
def load_model() -> ContentModel:
    """Load the model that is part of this package."""
    return ContentModel(
        json.loads(files(__package__ or "").joinpath("model.json").read_text("utf-8"))
    )


def _steps(values: Values, edges: list[float]) -> bytes:
    """Return how many of the ascending *edges* each value exceeds, as a byte."""
    if isinstance(values[0], float):  # usually many different values, unlike counts
        return bytes(map(bisect_left, repeat(edges), values))
    distinct = set(values)
    steps = dict(zip(distinct, map(bisect_left, repeat(edges), distinct), strict=True))
    return bytes(map(steps.__getitem__, values))


def _load_table(tree: Mapping[str, Any]) -> bytes:
    """Return the vote of a tree for every combination of answers.

    A tree is stored as its questions, in order from the left, each with its two ways
    on: a number of zero or more is the next question, and ~v is the vote v.
    """
    table = bytearray(256)
    for answers in range(1 << QUESTIONS):
        way = 0
        while way >= 0:
            way = tree["ways"][way][answers >> way & 1]
        table[answers] = tree["votes"][~way]
    return bytes(table)
