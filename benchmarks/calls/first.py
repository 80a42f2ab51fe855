"""Measure the first page that a process reads, with all that is imported for it.

    python -m benchmarks.calls.first [CHECKOUT ...]

compares this checkout with others, each with the ``.venv`` of its own.
"""

from __future__ import annotations
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.calls.server import Server
from benchmarks.compare import Comparison, Cost, compare
from benchmarks.report import Goal, Section, Table, milliseconds, times

_ROUNDS = 12
_SERVERS = {"html": "at once", "distant": "after 200 ms"}
_ISOLATED = "the default: another process parses"
_HERE = "`isolate=False`"
# The most that the first page may cost, compared with a process that parses it itself.
_MAX_RATIOS = {"html": 1.0, "distant": 0.7}
_PROGRAM = """
import time
from websearch_core import WebSearch
from websearch_core.providers import Direct

url = {url!r}
web = WebSearch(
    "tavily", api_key="none", reader=Direct({options}), internal=["127.0.0.0/8"]
)
begun = time.perf_counter()
before = time.process_time()
page = web.read(url)
seconds = time.perf_counter() - begun
assert "Rotating keys" in page.content, page
print(seconds, before)
"""


def measure(server: Server) -> Section:
    """Read one page in each fresh process, with the process that parses and without."""
    candidates = {
        _HERE: (sys.executable, "isolate=False"),
        _ISOLATED: (sys.executable, ""),
    }
    results = _compare(server, candidates, _HERE)
    ratios = {path: result.ratio(_ISOLATED) for path, result in results.items()}
    return Section(
        title="The first page",
        method=(
            f"Each page is the first of a fresh process: {_ROUNDS} rounds after one "
            "to warm up, and the server of this machine. The wall time is that of "
            "`WebSearch.read`. The CPU time is that of the whole process and of the "
            "one that parses, from the call on."
        ),
        tables=[_make_table(results)],
        goals=[
            Goal(
                f"with a server that answers {_SERVERS[path]}, the first page takes "
                f"at most {most} times as long as without another process",
                times(ratios[path]),
                ratios[path] <= most,
            )
            for path, most in _MAX_RATIOS.items()
        ],
    )


def _compare(
    server: Server, candidates: dict[str, tuple[str, str]], reference: str
) -> dict[str, Comparison]:
    """Compare programs, each with its Python and the options of its reader."""
    results: dict[str, Comparison] = {}
    for path in _SERVERS:
        work: dict[str, Callable[[], Cost]] = {}
        for name, (python, options) in candidates.items():
            program = _PROGRAM.format(url=f"{server.url}/{path}/1", options=options)
            work[name] = partial(_read, python, program)
        results[path] = compare(work, reference=reference, rounds=_ROUNDS, warm_up=1)
    return results


def _read(python: str, program: str) -> Cost:
    """Run *program*; its CPU time counts from the call to the end of all processes."""
    before = _children()
    done = subprocess.run(
        [python, "-I", "-c", program], check=True, capture_output=True, text=True
    )
    seconds, start = map(float, done.stdout.split())
    return Cost(seconds, _children() - before - start)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _make_table(results: dict[str, Comparison]) -> Table:
    rows: list[Sequence[str]] = []
    for path, result in results.items():
        for name, costs in result.costs.items():
            row = (
                f"{name}, {_SERVERS[path]}",
                milliseconds(min(cost.wall for cost in costs)),
                milliseconds(result.wall(name)),
                times(result.ratio(name)),
                result.spread(name),
                milliseconds(min(cost.cpu for cost in costs)),
                milliseconds(result.cpu(name)),
                times(result.cpu_ratio(name)),
            )
            rows.append(row)
    head = (
        "first page", "wall, best", "wall", "x the first row", "spread",
        "CPU, best", "CPU", "x the first row, CPU",
    )  # fmt: skip
    return Table(head, rows)


def main() -> None:
    """Compare this checkout with those that the command line names."""
    candidates: dict[str, tuple[str, str]] = {}
    for folder in map(Path, sys.argv[1:]):
        python = folder.resolve() / ".venv" / "bin" / "python"
        candidates[folder.name] = (str(python), "")
    candidates["this checkout"] = (sys.executable, "")
    with Server() as server:
        started = time.perf_counter()
        print(_make_table(_compare(server, candidates, next(iter(candidates)))))
        print(f"\nIt took {time.perf_counter() - started:.0f} s.")


if __name__ == "__main__":
    main()
