"""Measure how good merged rankings are, through the layers that a program uses."""

from __future__ import annotations
import asyncio
import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from benchmarks.fusion.runs import Run, documents_of, load_judgements, load_runs, ndcg
from benchmarks.report import Goal, Section, Table
from websearch_core import Timeout, WebSearch
from websearch_core.layers import Fuse

_DRAWS = 20
_SIZES = (2, 3, 4, 5)
_DEPTH = 20
_SEED = 7

Judgements = Mapping[str, Mapping[str, int]]


def measure_quality() -> Section:
    """Compare one provider, taking turns, and `Fuse`."""
    judgements, runs = load_judgements(), load_runs(_DEPTH)
    alone = {run.name: _mean_of_run(run, judgements) for run in runs}
    chance = random.Random(_SEED)
    rows, gains = [], []
    for size in _SIZES:
        draws = [chance.sample(runs, size) for _ in range(_DRAWS)]
        one = statistics.mean(
            statistics.mean(alone[run.name] for run in draw) for draw in draws
        )
        best = statistics.mean(max(alone[run.name] for run in draw) for draw in draws)
        turns = statistics.mean(_mean_of_turns(draw, judgements) for draw in draws)
        fused = {
            k: statistics.mean(
                _mean_fused(draw, judgements, Fuse(k=k)) for draw in draws
            )
            for k in (1, 10, 60)
        }
        shallow = statistics.mean(
            _mean_fused(draw, judgements, Fuse(results_per_provider=10))
            for draw in draws
        )
        gains.append((fused[10] - one, fused[10] - turns))
        values = (one, best, turns, fused[1], fused[10], fused[60], shallow)
        rows.append((str(size), *(f"{value:.3f}" for value in values)))
    columns = (
        "one, at random",
        "the best of them",
        "taking turns",
        "`k=1`",
        "`k=10`",
        "`k=60`",
        "`depth=10`",
    )
    return Section(
        title="Merged rankings",
        method=(
            f"nDCG@10 over {len(judgements)} topics of the TREC 2003 Robust track, "
            f"with the results of {len(runs)} "
            f"systems that took part. Each system is a provider that returns its first "
            f"{_DEPTH} results. For each "
            f"number of providers, the mean of {_DRAWS} random sets of systems. *The "
            f"best of them* is known only "
            "afterwards. *Taking turns* shows the first result of each, then the "
            "second of each, and so on. The other "
            "columns are `WebSearch([...], combine=Fuse(...))`; `k=10` and 20 results "
            "of each are its defaults, and "
            "`depth=10` asks for ten only, with `k=10`."
        ),
        tables=[Table(("providers", *columns), rows)],
        goals=[
            Goal(
                "fusing is better than one provider at random and than taking turns, "
                "for every number of providers",
                f"by {min(gain for gain, _ in gains):.3f} and "
                f"{min(gain for _, gain in gains):.3f} at least",
                all(over_one > 0 and over_turns > 0 for over_one, over_turns in gains),
            )
        ],
        remark=(
            "All systems searched the same collection of newspapers, in 2003. Services "
            "for the web have different "
            "indexes, so that fewer pages are found by several of them."
        ),
    )


def _mean_of_run(run: Run, judgements: Judgements) -> float:
    return statistics.mean(
        ndcg(run.found.get(topic, ()), grades) for topic, grades in judgements.items()
    )


def _mean_of_turns(runs: Sequence[Run], judgements: Judgements) -> float:
    return statistics.mean(
        ndcg(list(dict.fromkeys(_take_turns(runs, topic))), grades)
        for topic, grades in judgements.items()
    )


def _take_turns(runs: Sequence[Run], topic: str) -> Iterator[str]:
    for each in zip_longest(*(run.found.get(topic, ()) for run in runs)):
        yield from filter(None, each)


def _mean_fused(runs: Sequence[Run], judgements: Judgements, layer: Fuse) -> float:
    async def search() -> float:
        async with WebSearch(
            list(runs), layers=[layer], timeout=Timeout(search=600)
        ) as web:  # tasks cost less than threads
            found = {topic: await web.asearch(topic, limit=10) for topic in judgements}
        return statistics.mean(
            ndcg(documents_of(found[topic]), grades)
            for topic, grades in judgements.items()
        )

    return asyncio.run(search())
