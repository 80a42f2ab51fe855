"""
A small learned model, and nothing needed to ask it: decision trees as tables of numbers, over all blocks at once.

The trees are many and small (seven questions, eight answers). What costs is not the questions but asking them one by
one, so they are asked of all blocks of a page in one step each: the answers to one question are the bytes of a long
integer, the answers to the questions of a tree are shifted into one byte for each block, and a table of 256 bytes turns
that byte into the tree's vote. (Lucchese et al., "QuickScorer", SIGIR 2015, have the idea of answering questions out of
order.) See `benchmarks/reader_model.py` for where the numbers are from.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from operator import itemgetter
from typing import Any, NamedTuple

from .traits import UNKNOWN, Traits, Values

QUESTIONS = 7  # of a tree
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


class Forest:
    """
    The model.

    Args:
        model: As `benchmarks/reader_model.py` writes it: ``words``, and what they say; ``features``; ``edges``, for
            each trait the values of which a question may ask whether it exceeds them; ``trees``, each with its
            questions ([feature, edge]), the ways on from them and its votes, from 0 to 255; ``base`` and ``scale``,
            which turn the sum of the votes into log-odds.

    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.words: dict[str, float] = model["words"]
        self._features = [Feature(*named) for named in model["features"]]
        self._edges: dict[str, dict[str, list[float]]] = model["edges"]
        self._trees = [([tuple(question) for question in tree["questions"]], _table(tree)) for tree in model["trees"]]
        self._base: float = model["base"]
        self._scale: float = model["scale"]

    def chances(self, traits: Traits) -> list[float]:
        """Return how likely each block is content, from 0 to 1."""
        count = len(traits.levels[0])
        columns = self._columns(traits, count)
        chances: list[float] = []
        for begin in range(0, count, _AT_ONCE):
            some = [column[begin : begin + _AT_ONCE] for column in columns]
            chances += [1 / (1 + math.exp(-self._base - self._scale * votes)) for votes in self._votes(some)]
        return chances

    def _columns(self, traits: Traits, count: int) -> list[bytes]:
        """For each feature, how many of the edges of its trait the feature exceeds, for each block."""
        page = {trait: bisect_left(edges, traits.page[trait]) for trait, edges in self._edges["page"].items()}
        blocks = {trait: _steps(traits.blocks[trait], edges) for trait, edges in self._edges["block"].items()}
        elements = {trait: _steps(traits.elements[trait], edges) for trait, edges in self._edges["element"].items()}
        gather = [itemgetter(*level, level[0]) for level in traits.levels]  # one more, so that it is never one alone
        columns: list[bytes] = []
        for of, trait, where in self._features:
            if of == "page":
                columns.append(bytes([page[trait]]) * count)
            elif of == "element":
                columns.append(bytes(gather[where](elements[trait])[:count]))
            else:
                beyond = bytes([bisect_left(self._edges["block"][trait], UNKNOWN)]) * min(abs(where), count)
                steps = blocks[trait]
                columns.append(beyond + steps[: count - len(beyond)] if where < 0 else steps[where:] + beyond)
        return columns

    def _votes(self, columns: list[bytes]) -> Iterator[int]:
        answers: dict[tuple[int, ...], int] = {}
        count = len(columns[0])
        votes: list[bytes] = []
        for questions, table in self._trees:
            asked = 0
            for place, question in enumerate(questions):
                answer = answers.get(question)
                if answer is None:
                    feature, edge = question
                    answer = int.from_bytes(columns[feature].translate(_exceeds(edge)), "little")
                    answers[question] = answer
                asked |= answer << place
            votes.append(asked.to_bytes(count, "little").translate(table))
        return map(sum, zip(*votes, strict=True))


@cache
def forest() -> Forest:
    """Return the model that comes with this package."""
    return Forest(json.loads(files(__package__).joinpath("forest.json").read_text("utf-8")))


def _steps(values: Values, edges: list[float]) -> bytes:
    """How many of *edges*, which ascend, each value exceeds."""
    known = {value: bisect_left(edges, value) for value in set(values)}
    return bytes(map(known.__getitem__, values))


@cache
def _exceeds(edge: int) -> bytes:
    """A table that turns the count of edges that are exceeded into whether this one is."""
    return bytes(edge + 1) + b"\x01" * (255 - edge)


def _table(tree: Mapping[str, Any]) -> bytes:
    """
    The vote of a tree for every combination of answers.

    A tree is written as its questions in the order in which they are met from the left, each with the two ways on: to a
    question if zero or more, to vote v if ~v.
    """
    table = bytearray(256)
    for answers in range(1 << len(tree["questions"])):
        way = 0
        while way >= 0:
            way = tree["ways"][way][answers >> way & 1]
        table[answers] = tree["votes"][~way]
    return bytes(table)
