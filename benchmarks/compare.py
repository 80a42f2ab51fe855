"""Compare costs on a noisy machine.

The candidates take turns, and each round compares them with the reference of the same
round: noise affects all of them alike. The result is the median of those ratios. The
medians of the times only give an idea; they differ between machines and days.
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
    """Seconds of wall time and of CPU time."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Comparison:
    """The costs of all candidates, round by round.

    Args:
        costs: The costs of each candidate, one for each round.
        reference: The candidate that the others are compared with.
    """

    costs: Mapping[str, Sequence[Cost]]
    reference: str

    def wall(self, name: str) -> float:
        """Return the median of the wall time, in seconds."""
        return statistics.median(cost.wall for cost in self.costs[name])

    def cpu(self, name: str) -> float:
        """Return the median of the CPU time, in seconds."""
        return statistics.median(cost.cpu for cost in self.costs[name])

    def ratio(self, name: str) -> float:
        """Return the median over the rounds of the wall time of *name*, divided by that
        of the reference.
        """
        return statistics.median(self._ratios(name))

    def cpu_ratio(self, name: str) -> float:
        """Return the same for the CPU time."""
        pairs = zip(self.costs[name], self.costs[self.reference], strict=True)
        return statistics.median(cost.cpu / reference.cpu for cost, reference in pairs)

    def between(self, name: str, other: str) -> float:
        """Return the median over the rounds of the wall time of *name*, divided by that
        of *other*.
        """
        return statistics.median(
            a.wall / b.wall
            for a, b in zip(self.costs[name], self.costs[other], strict=True)
        )

    def cpu_between(self, name: str, other: str) -> float:
        """Return the same for the CPU time."""
        return statistics.median(
            a.cpu / b.cpu
            for a, b in zip(self.costs[name], self.costs[other], strict=True)
        )

    def spread(self, name: str) -> str:
        """Return the first and the third quartile of the ratios of wall time."""
        low, _, high = statistics.quantiles(self._ratios(name), n=4)
        return f"{low:.2f} to {high:.2f}"

    def cpu_spread(self, name: str) -> str:
        """Return the first and the third quartile of the CPU time, in milliseconds."""
        low, _, high = statistics.quantiles(
            (cost.cpu * 1000 for cost in self.costs[name]), n=4
        )
        return f"{low:.2f} to {high:.2f}"

    def _ratios(self, name: str) -> list[float]:
        pairs = zip(self.costs[name], self.costs[self.reference], strict=True)
        return [cost.wall / reference.wall for cost, reference in pairs]


def compare(
    candidates: Mapping[str, Callable[[], Cost]],
    *,
    reference: str,
    rounds: int,
    warm_up: int,
) -> Comparison:
    """Let the *candidates* take turns, in a new order each round, since each one finds
    the caches of the one before.

    Args:
        candidates: By name, a function that does the work and returns its cost.
        reference: The name of the candidate that the others are compared with.
        rounds: Rounds that count.
        warm_up: Rounds before them that do not count.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in candidates}
    shuffle = random.Random(0).sample
    for turn in range(-warm_up, rounds):
        for name in shuffle(list(candidates), len(candidates)):
            cost = candidates[name]()
            if turn >= 0:
                costs[name].append(cost)
    return Comparison(costs, reference)


def measure_cost(work: Callable[[], object], repeat: int = 1) -> Cost:
    """Return the mean cost of *work* in this process over *repeat* calls, with the
    garbage collector off.
    """
    gc.collect()
    gc.disable()  # or one candidate would pay for the garbage of another
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(repeat):
            work()
        return Cost(
            (time.perf_counter() - wall) / repeat, (time.process_time() - cpu) / repeat
        )
    finally:
        gc.enable()
