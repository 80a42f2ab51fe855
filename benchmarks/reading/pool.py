"""Measure reading many pages at once, on one core and on several, and how much it
delays an event loop.

Other work on the machine takes its share of the cores, so linear scaling is measured
too: independent programs that each read their share of the pages. ``python -m
benchmarks.reading.pool FOLDER 0 4`` is the first of four.
"""

from __future__ import annotations
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.compare import Cost, compare, measure_cost
from benchmarks.report import Goal, Section, Table, milliseconds, times
from training.corpus import CONTENT_TYPE, wcxb
from websearch_core import Page, WebSearch
from websearch_core.flow import Flow, Response
from websearch_core.providers.direct import Direct
from websearch_core.reading import read_bytes
from websearch_core.reading._isolation.pool import count_cores

_ROOT = Path(__file__).resolve().parents[2]
_ROUNDS = 3
_NUMBERS = (1, 2, 4)  # of processes
_MIN_EFFICIENCY = 0.85  # compared with as many separate programs
_PAUSE = 0.001  # seconds
_MAX_DELAY = 0.005  # seconds: Python's switch interval, which any thread may take
_LARGE = (
    b"<p>Brown algae of the <a href=/x>northern seas</a>, of the order "
    b"<b>Laminariales</b>.</p>"
)
_HERE = "threads, `isolate=False`"
_DEFAULT = "the default"


class _Served:
    """`Direct`, with pages from memory instead of the network."""

    name = "served"

    def __init__(self, pages: Mapping[str, bytes], **options: Any) -> None:
        self._pages = pages
        self._direct = Direct(**options)

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*."""
        reading = self._direct.read(url)
        next(reading)  # the request
        call = reading.send(
            Response(
                status=200,
                headers={"content-type": CONTENT_TYPE},
                content=self._pages[url],
            )
        )
        try:
            reading.send((yield call))
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        raise AssertionError("the reader requested more than the page")


def measure(folder: Path) -> Section:
    """Read the pages of a *folder* in WCXB's layout from memory, in several rounds."""
    corpus = _load(folder)
    numbers = [number for number in _NUMBERS if number <= count_cores()]
    options: dict[str, dict[str, Any]] = {
        _HERE: {"isolate": False},
        _DEFAULT: {},
        **{
            _describe(number): {"isolate": True, "processes": number}
            for number in numbers
        },
    }
    webs = {name: _make_web(corpus, **chosen) for name, chosen in options.items()}
    one, most, linear = (
        _describe(1),
        _describe(numbers[-1]),
        f"{numbers[-1]} separate programs",
    )

    def read(name: str, urls: list[str]) -> None:
        pages = webs[name].read_many(urls, timeout=600)
        failed = [page for page in pages if not isinstance(page, Page)]
        assert not failed, failed[0]

    for name in webs:  # to warm up
        read(name, list(islice(corpus, 64)))
    result = compare(
        {
            **{
                name: partial(measure_cost, partial(read, name, list(corpus)))
                for name in webs
            },
            linear: partial(_run_programs, folder, numbers[-1]),
        },
        reference=linear,
        rounds=_ROUNDS,
        warm_up=0,
    )
    rows = [
        (
            name,
            f"{len(corpus) / result.wall(name):.0f}",
            times(result.ratio(one) / result.ratio(name)),
            milliseconds(result.cpu(name) / len(corpus)) if name in webs else "",
        )
        for name in result.costs
    ]
    efficiency = 1 / result.ratio(most)

    lags = {
        (what, where): asyncio.run(_measure_lag(work))
        for what, where, work in _make_work(corpus, webs[most])
    }
    large = next(iter(lags))[0]
    apart = lags[large, "processes"]
    return Section(
        title="Many pages at once",
        method=(
            f"{len(corpus)} pages of WCXB, "
            f"{sum(map(len, corpus.values())) / 2**20:.0f} MiB in all, pass from "
            f"memory "
            "through `WebSearch.read_many`, so that only turning them into text "
            "counts; "
            f"{_ROUNDS} rounds after one to warm up. The table also has the CPU time "
            f"of the calling process for a "
            "page, and what separate programs achieve that each read their share. The "
            "second table is about an event "
            f"loop that only sleeps for {_PAUSE * 1000:.0f} ms, again and again, while "
            f"`aread` or `aread_many` runs: "
            "how late it woke up."
        ),
        tables=[
            Table(
                (
                    "",
                    "pages a second",
                    "times one process",
                    "CPU of the caller, a page",
                ),
                rows,
            ),
            Table(
                ("late while reading", "in", "median", "99 of 100", "worst"),
                [(*about, *_spread(late)) for about, late in lags.items()],
            ),
        ],
        goals=[
            Goal(
                f"{most} read at least {_MIN_EFFICIENCY:.0%} as many pages as {linear} "
                f"({os.cpu_count()} cores)",
                f"{efficiency:.0%}",
                efficiency >= _MIN_EFFICIENCY,
            ),
            Goal(
                f"a page of 10 MiB delays an event loop by at most "
                f"{milliseconds(_MAX_DELAY)} in 99 of 100 turns",
                f"{_spread(apart)[1]}, and {_spread(apart)[2]} at worst",
                _quantile(apart, 99) <= _MAX_DELAY,
            ),
        ],
    )


def _load(folder: Path) -> dict[str, bytes]:
    return {page.url: page.data for page in wcxb(folder)}


def _run_programs(folder: Path, number: int) -> Cost:
    """Start *number* programs together, and return the time of the slowest."""
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                subprocess.Popen(
                    [
                        sys.executable,
                        "-m",
                        "benchmarks.reading.pool",
                        str(folder.resolve()),
                        str(first),
                        str(number),
                    ],
                    cwd=_ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            for first in range(number)
        ]
        for program in programs:
            assert program.stdout
            assert program.stdout.readline() == b"ready\n"
        seconds = [float(line) for line in _finish(programs)]
    return Cost(max(seconds), 0.0)


def _finish(programs: Sequence[subprocess.Popen[bytes]]) -> list[bytes]:
    for program in programs:
        assert program.stdin
        program.stdin.close()
    return [program.stdout.read() for program in programs if program.stdout]


def _read_share(folder: Path, first: int, of: int) -> None:
    """Run one of the programs: load its share, report that it is ready, and read when
    standard input ends.
    """
    share = list(islice(_load(folder).items(), first, None, of))
    read_bytes(share[0][1], share[0][0], CONTENT_TYPE, isolate=False)
    print("ready", flush=True)
    sys.stdin.read()
    begun = time.perf_counter()
    for url, data in share:
        read_bytes(data, url, CONTENT_TYPE, isolate=False)
    print(time.perf_counter() - begun)


def _describe(number: int) -> str:
    return f"{number} process{'es' * (number > 1)}"


def _make_web(pages: Mapping[str, bytes], **options: Any) -> WebSearch:
    return WebSearch("duckduckgo", reader=_Served(pages, **options), timeout=60)


def _make_work(
    corpus: Mapping[str, bytes], apart: WebSearch
) -> list[tuple[str, str, Awaitable[object]]]:
    url = "https://large.example/"
    large = {url: _LARGE * (10 * 2**20 // len(_LARGE))}
    here = {"isolate": False}
    return [
        ("a page of 10 MiB", "threads", _make_web(large, **here).aread(url)),
        ("a page of 10 MiB", "processes", _make_web(large).aread(url)),
        (
            f"{len(corpus)} pages",
            "threads",
            _make_web(corpus, **here).aread_many(corpus, timeout=600),
        ),
        (f"{len(corpus)} pages", "processes", apart.aread_many(corpus, timeout=600)),
    ]


async def _measure_lag(work: Awaitable[object]) -> list[float]:
    """Return by how many seconds each pause was too long while *work* ran."""
    working = asyncio.ensure_future(work)
    late = []
    while not working.done():
        begun = time.perf_counter()
        await asyncio.sleep(_PAUSE)
        late.append(time.perf_counter() - begun - _PAUSE)
    await working
    return late


def _quantile(late: Sequence[float], hundredth: int) -> float:
    return statistics.quantiles(late, n=100, method="inclusive")[hundredth - 1]


def _spread(late: Sequence[float]) -> tuple[str, str, str]:
    return (
        milliseconds(_quantile(late, 50)),
        milliseconds(_quantile(late, 99)),
        milliseconds(max(late)),
    )


if __name__ == "__main__":
    _read_share(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
