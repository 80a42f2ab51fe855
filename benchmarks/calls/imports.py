"""Measure what importing costs: one statement in each fresh interpreter."""

from __future__ import annotations
import json
import resource
import subprocess
import sys
import time
from functools import partial
from importlib.metadata import distributions

from benchmarks.calls.server import Server
from benchmarks.compare import Comparison, Cost, compare
from benchmarks.report import Goal, Section, Table, milliseconds, times

_ROUNDS = 21
_REFERENCE = (
    "from langchain_core.tools import BaseTool; from langchain_core.retrievers import "
    "BaseRetriever"
)
_CLASSES = (
    "from langchain_websearch import WebSearchTool, WebSearchRetriever, WebPageLoader"
)
_TOOL = "from langchain_websearch import WebSearchTool"
_CORE = "import websearch_core"
_THEIRS = "from langchain_tavily import TavilySearch"
_STATEMENTS = (
    "pass", "from pydantic import BaseModel", _CORE, _REFERENCE, _TOOL, _CLASSES,
    _THEIRS,
)  # fmt: skip
_MAX_RATIO = 1.15

_HTTP_LIBRARIES = ("aiohttp", "httpx", "httpx2", "requests")
_FORBIDDEN = ("langchain_core", "llama_index", "httpx", "httpx2", "bs4")

# These slow down the import of other packages, and developers have them more often than
# users.
_SLOWING = ("rich", "click", "pygments", "chardet")


def measure(_: Server) -> Section:
    """Run each import statement in turn, in fresh interpreters."""
    candidates = {statement: partial(_measure, statement) for statement in _STATEMENTS}
    result = compare(candidates, reference=_REFERENCE, rounds=_ROUNDS, warm_up=2)
    loaded = [name for name in _FORBIDDEN if name in _list_modules(_CORE)]
    return Section(
        title="Importing",
        method=(
            f"Each statement runs in a fresh interpreter: {_ROUNDS} rounds after two "
            f"to warm up, with compiled files "
            f"in the page cache. Times include starting the interpreter (`pass`). "
            f"{_describe_installed()}"
        ),
        tables=[_make_table(result)],
        goals=[
            Goal(
                f"`{_TOOL}` takes at most {_MAX_RATIO - 1:.0%} more CPU time than the "
                f"base classes",
                f"{result.cpu_ratio(_TOOL) - 1:+.1%} CPU, "
                f"{result.ratio(_TOOL) - 1:+.1%} wall",
                result.cpu_ratio(_TOOL) <= _MAX_RATIO,
            ),
            Goal(
                f"`{_CORE}` loads none of {', '.join(_FORBIDDEN)}",
                f"it loaded {', '.join(loaded) or 'none of them'}",
                not loaded,
            ),
        ],
        remark=(
            f"All three classes take {result.cpu_ratio(_CLASSES) - 1:+.1%} CPU over "
            f"the base classes, "
            f"`TavilySearch` {result.cpu_ratio(_THEIRS) - 1:+.1%}."
        ),
    )


def _measure(statement: str) -> Cost:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", statement], check=True)
    wall, after = (
        time.perf_counter() - start,
        resource.getrusage(resource.RUSAGE_CHILDREN),
    )
    return Cost(
        wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    )


def _list_modules(statement: str) -> set[str]:
    source = f"{statement}; import json, sys; print(json.dumps(list(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-I", "-c", source], check=True, capture_output=True, text=True
    )
    return set(json.loads(answer.stdout))


def _make_table(result: Comparison) -> Table:
    head = (
        "statement",
        "wall",
        "CPU",
        "x the base classes, wall",
        "spread",
        "x the base classes, CPU",
        "modules",
        "HTTP libraries",
    )
    modules = {name: _list_modules(name) for name in _STATEMENTS}
    rows = [
        (
            f"`{name}`",
            milliseconds(result.wall(name)),
            milliseconds(result.cpu(name)),
            times(result.ratio(name)),
            result.spread(name),
            times(result.cpu_ratio(name)),
            str(len(modules[name])),
            ", ".join(
                library for library in _HTTP_LIBRARIES if library in modules[name]
            ),
        )
        for name in _STATEMENTS
    ]
    return Table(head, rows)


def _describe_installed() -> str:
    installed = [
        distribution.metadata["Name"].lower() for distribution in distributions()
    ]
    slowing = [name for name in _SLOWING if name in installed]
    return (
        f"{len(installed)} distributions are installed; those among them that slow "
        f"down other imports: "
        f"{', '.join(slowing) or 'none'} (of {', '.join(_SLOWING)})."
    )
