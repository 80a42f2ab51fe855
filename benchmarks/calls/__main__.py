"""Measure calls, and write their sections of ``benchmarks/results/benchmarks.md``.

    python -m benchmarks.calls                      # all, and write the page
    python -m benchmarks.calls imports overhead     # these, and only print them
    python -m benchmarks.calls --write concurrency  # this, and write its section

All sections are usually written together, because their times are meant to be compared;
those that measure no time are also written alone: ``python -m benchmarks.calls schemas
checkpoints``. A section that is written alone says when it was measured. The sections
on reading pages come from ``python -m benchmarks.reading`` and stay as they are.
"""

from __future__ import annotations
import argparse
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks.calls.server import Server
from benchmarks.report import Section, head, put, store

_PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "benchmarks.md"
_MEASUREMENTS = (
    "imports",
    "first",
    "overhead",
    "concurrency",
    "twice",
    "failures",
    "schemas",
    "checkpoints",
)
_UNTIMED = {"schemas", "checkpoints"}  # their numbers do not depend on the machine


def main() -> int:
    """Measure what the command line names; return 0 even if goals were missed, because
    machines differ.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calls",
        description="Measure calls, and write benchmarks/results/benchmarks.md.",
    )
    parser.add_argument(
        "measurements", nargs="*", metavar="measurement", help=", ".join(_MEASUREMENTS)
    )
    parser.add_argument(
        "--write", action="store_true", help="write these sections alone, with the date"
    )
    arguments = parser.parse_args()
    chosen = arguments.measurements or _MEASUREMENTS
    if unknown := set(chosen) - set(_MEASUREMENTS):
        parser.error(
            f"unknown measurement {', '.join(sorted(unknown))}; choose from "
            f"{', '.join(_MEASUREMENTS)}"
        )
    if find_spec("langchain_tavily") is None:
        sys.exit("langchain-tavily is not installed: run `make bench`")

    _clear_environment()
    sections: list[Section] = []
    with Server() as server:
        for name in chosen:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            section: Section = import_module(f"benchmarks.calls.{name}").measure(server)
            print(section, end="\n\n", flush=True)
            sections.append(section)
    if set(chosen) == set(_MEASUREMENTS):
        store(_PAGE, put(_PAGE.read_text("utf-8"), sections, head()))
    elif arguments.write:
        dated = [
            replace(section, method=f"{section.method} {_describe_day()}")
            for section in sections
        ]
        store(_PAGE, put(_PAGE.read_text("utf-8"), dated))
    elif set(chosen) <= _UNTIMED:
        store(_PAGE, put(_PAGE.read_text("utf-8"), sections))
    return 0


def _describe_day() -> str:
    load = (
        f" with a load of {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    )
    return (
        f"Measured on {datetime.now(UTC):%Y-%m-%d} on {os.cpu_count()} cores{load}, "
        f"apart from other sections."
    )


def _clear_environment() -> None:
    """Remove proxies, keys, settings and tracing from the environment, so that they
    cannot change the numbers.
    """
    prefixes = ("WEB_SEARCH_", "TAVILY_", "LANGSMITH_", "LANGCHAIN_")
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    for name in list(os.environ):
        if name.startswith(prefixes) or name.upper() in proxies:
            del os.environ[name]


if __name__ == "__main__":
    sys.exit(main())
