"""
Comparing costs on a noisy machine.

The candidates take turns, round by round, and each round compares them with the reference of that same round: what
disturbs the machine disturbs them all. What counts is the median of those ratios; the medians of the times
themselves are there to give an idea, and differ from one machine and day to the next.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Seconds that something took, by the clock and of the processor."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Comparison:
    """
    What the candidates cost, round by round.

    Args:
        costs: The costs of each candidate, in the order of the rounds.
        reference: The candidate that the others are compared with.

    """

    costs: Mapping[str, Sequence[Cost]]
    reference: str

    def wall(self, name: str) -> float:
        """Return the median of seconds by the clock."""
        return statistics.median(cost.wall for cost in self.costs[name])

    def cpu(self, name: str) -> float:
        """Return the median of seconds of the processor."""
        return statistics.median(cost.cpu for cost in self.costs[name])

    def ratio(self, name: str) -> float:
        """Return the median, over the rounds, of how many times the reference's time *name* took, by the clock."""
        return statistics.median(self._ratios(name))

    def cpu_ratio(self, name: str) -> float:
        """Return the same for the processor's time."""
        pairs = zip(self.costs[name], self.costs[self.reference], strict=True)
        return statistics.median(cost.cpu / reference.cpu for cost, reference in pairs)

    def spread(self, name: str) -> str:
        """Return the first and the third quartile of the ratios by the clock."""
        low, _, high = statistics.quantiles(self._ratios(name), n=4)
        return f"{low:.2f} to {high:.2f}"

    def _ratios(self, name: str) -> list[float]:
        pairs = zip(self.costs[name], self.costs[self.reference], strict=True)
        return [cost.wall / reference.wall for cost, reference in pairs]


def compare(candidates: Mapping[str, Callable[[], Cost]], *, reference: str, rounds: int, warm_up: int) -> Comparison:
    """
    Let the *candidates* take turns, in another order each round, since who goes before leaves its caches behind.

    Args:
        candidates: What to do, and how to say what it cost, by name.
        reference: The name of the candidate that the others are compared with.
        rounds: How often each has its turn.
        warm_up: How many rounds before those do not count.

    """
    costs: dict[str, list[Cost]] = {name: [] for name in candidates}
    shuffle = random.Random(0).sample
    for turn in range(-warm_up, rounds):
        for name in shuffle(list(candidates), len(candidates)):
            cost = candidates[name]()
            if turn >= 0:
                costs[name].append(cost)
    return Comparison(costs, reference)


def timed(work: Callable[[], object], repeat: int = 1) -> Cost:
    """Return what *work* costs in this process, in the mean of *repeat* times, without the garbage collector."""
    gc.collect()
    gc.disable()  # or whoever's turn it is pays for the litter of the one before
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(repeat):
            work()
        return Cost((time.perf_counter() - wall) / repeat, (time.process_time() - cpu) / repeat)
    finally:
        gc.enable()
