"""What importing costs: fresh interpreters, one statement each."""

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
    "from langchain_core.tools import BaseTool; from langchain_core.retrievers import BaseRetriever; "
    "from langchain_core.document_loaders import BaseLoader"
)
_CLASSES = "from langchain_websearch import WebSearchTool, WebSearchRetriever, WebPageLoader"
_ADDED = f"{_REFERENCE}; {_CLASSES}"
_TOOL = "from langchain_websearch import WebSearchTool"
_CORE = "import websearch_core"
_THEIRS = "from langchain_tavily import TavilySearch"
_STATEMENTS = (
    "pass", "from pydantic import BaseModel", _CORE, "import langchain_websearch", _REFERENCE, _ADDED, _TOOL, _THEIRS,
)  # fmt: skip
_ALLOWED = 1.10

_HTTP_LIBRARIES = ("aiohttp", "httpx", "httpx2", "requests")
_NOT_TO_BE_LOADED = ("langchain_core", "llama_index", "httpx", "httpx2", "bs4")

# These make other packages slower to import when they are there, and are there for developers more than for users.
_WEIGHTS = ("rich", "click", "pygments", "chardet")


def measure(_: Server) -> Section:
    """Import each statement in turn, in fresh interpreters."""
    candidates = {statement: partial(_cost, statement) for statement in _STATEMENTS}
    result = compare(candidates, reference=_REFERENCE, rounds=_ROUNDS, warm_up=2)
    loaded = [name for name in _NOT_TO_BE_LOADED if name in _modules(_CORE)]
    return Section(
        title="Importing",
        method=(
            f"Each statement in a fresh interpreter, {_ROUNDS} rounds after two to warm up, compiled and in the page "
            "cache. Times include the start of the interpreter (`pass`). "
            f"Installed are {len(list(distributions()))} distributions, {_weights()}."
        ),
        tables=[_table(result)],
        goals=[
            Goal(
                f"`{_CLASSES}` adds at most {_ALLOWED - 1:.0%} to its base classes",
                f"{result.ratio(_ADDED) - 1:+.1%} by the clock, {result.cpu_ratio(_ADDED) - 1:+.1%} of the processor",
                result.ratio(_ADDED) <= _ALLOWED,
            ),
            Goal(
                f"`{_CORE}` loads none of {', '.join(_NOT_TO_BE_LOADED)}",
                f"loaded {', '.join(loaded) or 'none of them'}",
                not loaded,
            ),
        ],
        remark=(
            "`import langchain_websearch` loads nothing until one of its names is used. "
            f"With `{_TOOL}` alone: {result.ratio(_TOOL) - 1:+.1%} over the base classes by the clock, "
            f"against {result.ratio(_THEIRS) - 1:+.1%} for `TavilySearch`."
        ),
    )


def _cost(statement: str) -> Cost:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", statement], check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _modules(statement: str) -> set[str]:
    tell = f"{statement}; import json, sys; print(json.dumps(list(sys.modules)))"
    answer = subprocess.run([sys.executable, "-I", "-c", tell], check=True, capture_output=True, text=True)
    return set(json.loads(answer.stdout))


def _table(result: Comparison) -> Table:
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
    modules = {name: _modules(name) for name in _STATEMENTS}
    rows = [
        (
            f"`{name}`",
            milliseconds(result.wall(name)),
            milliseconds(result.cpu(name)),
            times(result.ratio(name)),
            result.spread(name),
            times(result.cpu_ratio(name)),
            str(len(modules[name])),
            ", ".join(library for library in _HTTP_LIBRARIES if library in modules[name]),
        )
        for name in _STATEMENTS
    ]
    return Table(head, rows)


def _weights() -> str:
    installed = {distribution.metadata["Name"].lower() for distribution in distributions()}
    there = [name for name in _WEIGHTS if name in installed]
    return f"of those that slow others down: {', '.join(there) or 'none'} (of {', '.join(_WEIGHTS)})"
