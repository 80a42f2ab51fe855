"""Measure how fast pages are read and in how much memory; the candidates take turns,
each in its own process.
"""

from __future__ import annotations
import random
import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from benchmarks.reading.candidates import OURS, TRAFILATURA, Candidate
from benchmarks.reading.process import Reader
from benchmarks.report import Goal, Section, Table, milliseconds, times
from training.corpus import CONTENT_TYPE, Page

ROUNDS = 5
OF_EACH_KIND = 10
_MIN_RATIO = 5.0


@dataclass(frozen=True)
class Speed:
    """How fast a candidate is.

    Args:
        rounds: Seconds of CPU time for each page, for each round.
        memory: Peak memory of its process, in MiB.
    """

    rounds: Sequence[Sequence[float]]
    memory: float

    def seconds(self) -> list[float]:
        """Return the median over the rounds for each page, in ascending order."""
        return sorted(
            statistics.median(page) for page in zip(*self.rounds, strict=True)
        )

    def pages_a_second(self) -> float:
        """Return how many pages of the sample it reads in a second on one core."""
        seconds = self.seconds()
        return len(seconds) / sum(seconds)

    def times_faster(self, other: Speed) -> list[float]:
        """Return for each round how many times as fast as the *other* it was."""
        return [
            sum(theirs) / sum(ours)
            for ours, theirs in zip(self.rounds, other.rounds, strict=True)
        ]


def sample(pages: Sequence[Page]) -> list[Page]:
    """Return some pages of each kind, the same ones in every run."""
    choose = random.Random(0).sample
    by_kind: dict[str, list[Page]] = {}
    for page in pages:
        by_kind.setdefault(page.kind, []).append(page)
    return [
        page
        for _, group in sorted(by_kind.items())
        for page in choose(group, min(OF_EACH_KIND, len(group)))
    ]


def measure(
    candidates: Mapping[Candidate, str], pages: Sequence[Page]
) -> dict[str, Speed]:
    """Let the *candidates* take turns, in a new order each round.

    Args:
        candidates: The Python of each candidate.
        pages: The pages to read.
    """
    rounds: dict[str, list[list[float]]] = {}
    shuffle = random.Random(0).sample
    with ExitStack() as stack:
        readers = {
            candidate.name: stack.enter_context(Reader(candidate, python))
            for candidate, python in candidates.items()
        }
        for turn in range(-1, ROUNDS):  # one round to warm up
            for name in shuffle(list(readers), len(readers)):
                seconds = [
                    readers[name].read(page.data, page.url, CONTENT_TYPE)["seconds"]
                    for page in pages
                ]
                if turn >= 0:
                    rounds.setdefault(name, []).append(seconds)
        return {
            name: Speed(rounds[name], reader.memory())
            for name, reader in readers.items()
        }


def section(
    found: Mapping[str, Speed], pages: Sequence[Page], measured: str
) -> Section:
    """Report what was *found*; *measured* is a sentence that says when and with which
    versions.
    """
    reference, ours = found.get(TRAFILATURA.name), found[OURS.name]
    rows = []
    for name, speed in sorted(
        found.items(), key=lambda item: -item[1].pages_a_second()
    ):
        ratios = speed.times_faster(reference) if reference else []
        seconds = speed.seconds()
        rows.append(
            (
                name,
                f"{speed.pages_a_second():.1f}",
                times(statistics.median(ratios)) if ratios else "-",
                f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "-",
                milliseconds(statistics.median(seconds)),
                milliseconds(seconds[int(0.95 * len(seconds))]),
                milliseconds(seconds[-1]),
                f"{speed.memory:.0f} MiB",
            )
        )
    size = sum(len(page.data) for page in pages)
    goals = []
    if reference:
        ratio = statistics.median(ours.times_faster(reference))
        goals = [
            Goal(
                f"it reads at least {_MIN_RATIO:.0f} times as many pages a second as "
                f"trafilatura does to Markdown",
                f"{times(ratio)} times",
                ratio >= _MIN_RATIO,
            ),
            Goal(
                "it uses no more memory than trafilatura",
                f"{ours.memory:.0f} MiB, {reference.memory:.0f} MiB for trafilatura",
                ours.memory <= reference.memory,
            ),
        ]
    return Section(
        title="Reading pages: speed",
        plot="plots/reading-speed.svg",
        method=(
            f"{len(pages)} of the pages above, {OF_EACH_KIND} of each kind, "
            f"{size / 1e6:.0f} MB in all, from "
            f"bytes to Markdown; {ROUNDS} rounds after one to warm up. The candidates "
            f"take turns, each in its own "
            "process. Times are CPU time, so that other work on the machine matters "
            "little; the time of a page is the "
            "median of its rounds. The ratio to trafilatura is the median of the "
            "ratios of the rounds, and the range "
            f"spans them all. Memory is the peak of the process including its "
            f"libraries. {measured}"
        ),
        tables=[
            Table(
                (
                    "",
                    "pages a second",
                    "x trafilatura",
                    "range",
                    "median page",
                    "95 of 100",
                    "slowest",
                    "memory",
                ),
                rows,
            )
        ],
        goals=goals,
    )
