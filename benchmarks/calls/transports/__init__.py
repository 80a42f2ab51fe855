"""
Measure what one search costs the processor over different HTTP libraries, and which of our promises each keeps.

Each candidate runs in its own process (`worker`), so that none pays for the threads or the garbage of another.
The address is judged at the moment of connecting, one deadline covers the exchange, redirects are not followed, and a
body is inflated by us, up to a limit, as far as the library lets it: `promises` checks which of these hold. Those
marked *bare* are what people write by hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from benchmarks.calls.server import NEAR, Server
from benchmarks.calls.transports.candidates import BARE, CANDIDATES, CORE, DEFAULT, THEIRS, TOOL, Candidate
from benchmarks.compare import Comparison, Cost, compare
from benchmarks.report import Goal, Section, Table, milliseconds, times

_ROOT = Path(__file__).resolve().parents[3]
_OWN_ENVIRONMENT = _ROOT / "build" / "transports" / "bin" / "python"
_BURSTS = {1: 20, 10: 100, 100: 200}  # in flight: searches in a round
_ROUNDS = 5
_CHECKED_AT_ONCE = 3
_PROMISES = (
    "**guard**: only an address that the guard has judged is connected to. **deadline**: a head and a body that come "
    "in drops end in time, and no thread goes on. **bound**: bodies and heads without end and a bomb are cut. "
    "**redirects**: they are reported, not followed. **proxies**: those of the environment are not used for pages. "
    "**cassettes**: vcrpy records and replays a call. **sockets**: pytest-socket keeps it from connecting."
)
_ALL = "all"
_REMARK = (
    "TavilySearch opens a connection for each search and checks none of the results. "
    "[Decision 29](../decisions/0029-connections-are-kept-by-us.md) says why the default is what it is."
)


def measure(server: Server) -> Section:
    """Search with 1, 10 and 100 in flight, on an event loop and in threads, and check the promises."""
    url = f"{server.url}/near"
    skipped = {each.title: reason for each in CANDIDATES if (reason := _find_reason(each))}
    kept = {way: _check(url, way) for way in ("async", "blocking")}
    results = {way: _compare(url, way) for way in ("async", "blocking")}
    many = results["async"][100]
    theirs = [each.cpu_between(TOOL["async"], THEIRS["async"]) for each in results["async"].values()]
    return Section(
        title="HTTP transports",
        method=(
            f"Processor time of one search of a server on this machine that answers after {NEAR * 1000:.0f} ms, with "
            "1, 10 and 100 searches in flight: so many start together, and the next so many when all have ended. Each "
            f"transport has its own process. {_ROUNDS} rounds of {', '.join(map(str, _BURSTS.values()))} searches "
            "after one to warm up, in a new order each, with the garbage collector off; a range is that of the "
            "quartiles, and a ratio compares with the bare client of the same round. The transports send, read, "
            "inflate and decode the same JSON, behind the same guard, deadline and limit where the library has a way "
            "to keep them. What each keeps is checked before, against a server that breaks the rules. The last three "
            f"rows of a table do the rest of a search, too: checks, layers, texts. {_PROMISES}"
        ),
        tables=[_make_table(way, results[way], kept[way]) for way in results],
        goals=[
            Goal(
                "a search costs at most a third of the same request by a bare `httpx.AsyncClient`, 100 in flight",
                f"{times(many.cpu_ratio(CORE['async']))} times",
                many.cpu_ratio(CORE["async"]) <= 1 / 3,
            ),
            Goal(
                "our tool costs no more than that of langchain-tavily, which uses aiohttp",
                ", ".join(f"{times(one)} times with {n} in flight" for one, n in zip(theirs, _BURSTS, strict=True)),
                max(theirs) <= 1,
            ),
            Goal(
                "the default keeps every promise, blocking and async",
                "; ".join(f"{way}: {kept[way][DEFAULT]}" for way in kept),
                all(kept[way][DEFAULT] == _ALL for way in kept),
            ),
        ],
        remark=" ".join([
            *(f"{title} was skipped: {reason}." for title, reason in skipped.items()),
            *_describe_failures(),
            _REMARK,
        ]),
    )  # fmt: skip


def _describe_failures() -> list[str]:
    return [f"{n} searches of {each.title} ({each.way}) failed." for each, n in _failed.items() if n]


def _find_reason(candidate: Candidate) -> str:
    """Return why *candidate* cannot be measured here, or nothing."""
    if candidate.own_environment:
        return "" if _OWN_ENVIRONMENT.exists() else "its environment is not set up; run `make bench ONLY=transports`"
    if candidate.needs and find_spec(candidate.needs) is None:
        return f"{candidate.needs} is not installed; run `make bench ONLY=transports`"
    return ""


_failed: Counter[Candidate] = Counter()  # searches, over all rounds


class _Worker:
    """The process of a candidate."""

    def __init__(self, candidate: Candidate, url: str) -> None:
        self._candidate, self._errors = candidate, TemporaryFile("w+")  # noqa: SIM115 - closed by `end`
        python = _OWN_ENVIRONMENT if candidate.own_environment else sys.executable
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.calls.transports.worker", str(CANDIDATES.index(candidate)), url],
            cwd=_ROOT, env={**os.environ, "PYTHONPATH": f"{_ROOT / 'core' / 'src'}{os.pathsep}{_ROOT}"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, bufsize=1,
        )  # fmt: skip

    def ask(self, *job: Any) -> Any:
        """Let it do something, and return the result."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        answer = self._process.stdout.readline()
        if not answer:
            self._errors.seek(0)
            raise RuntimeError(f"the process of {self._candidate.title} has ended: {self._errors.read()[-3_000:]}")
        return json.loads(answer)

    def measure(self, in_flight: int) -> Cost:
        """Return the cost of a search."""
        wall, cpu, failed = self.ask("measure", _BURSTS[in_flight], in_flight)
        _failed[self._candidate] += failed
        return Cost(wall, cpu)

    def end(self) -> None:
        """End the process: at once, since a connection may be waiting for a server that never answers."""
        with suppress(OSError):
            self._process.kill()
        self._process.communicate()
        self._errors.close()


@contextmanager
def _start(url: str, candidates: Sequence[Candidate]) -> Iterator[dict[str, _Worker]]:
    workers = {each.title: _Worker(each, url) for each in candidates if not _find_reason(each)}
    try:
        yield workers
    finally:
        for worker in workers.values():
            worker.end()


def _check(url: str, way: str) -> dict[str, str]:
    """Return which promises each transport keeps. Their times are judged with much to spare, so a few run together."""
    _report(f"checking the {way} transports")

    def check(candidate: Candidate) -> str:
        with _start(url, [candidate]) as workers:
            return _describe(workers[candidate.title].ask("check"))

    checked = [each for each in CANDIDATES if each.way == way and each.is_seam and not _find_reason(each)]
    with ThreadPoolExecutor(_CHECKED_AT_ONCE) as threads:
        return dict(zip((each.title for each in checked), threads.map(check, checked), strict=True))


def _report(doing: str) -> None:
    print(f"  {doing} ...", file=sys.stderr, flush=True)


def _describe(wrong: Mapping[str, str]) -> str:
    broken = "; ".join(f"{name} ({reason})" for name, reason in wrong.items() if reason)
    return f"not {broken}" if broken else _ALL


def _compare(url: str, way: str) -> dict[int, Comparison]:
    _report(f"measuring the {way} transports")
    with _start(url, [each for each in CANDIDATES if each.way == way]) as workers:
        return {
            in_flight: compare(
                {title: partial(worker.measure, in_flight) for title, worker in workers.items()},
                reference=BARE[way],
                rounds=_ROUNDS,
                warm_up=1,
            )
            for in_flight in _BURSTS
        }


def _make_table(way: str, results: Mapping[int, Comparison], kept: Mapping[str, str]) -> Table:
    head = [way, *(f"{n} in flight" for n in results), *(f"/ bare, {n}" for n in results), "promises kept"]
    rows = [
        (
            title,
            *(f"{milliseconds(each.cpu(title))} ({each.cpu_spread(title)})" for each in results.values()),
            *(times(each.cpu_ratio(title)) for each in results.values()),
            kept.get(title, ""),
        )
        for title in results[1].costs
    ]
    return Table(head, rows)
