"""
Measure, and write ``docs/measured/benchmarks.md``.

    python -m benchmarks.calls                   # everything, and write the page
    python -m benchmarks.calls imports overhead     # these, and only print them

These sections are written together, since their numbers are for comparison with one another. Those on reading pages
are written by ``python -m benchmarks.reading`` and stay as they are.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.calls.server import Server
from benchmarks.report import Section, head, put

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "benchmarks.md"
_MEASUREMENTS = ("imports", "overhead", "concurrency", "failures")


def main() -> int:
    """Measure what is asked for; the exit status is 0 whether or not the goals were met, since machines differ."""
    parser = argparse.ArgumentParser(description="Measure, and write docs/measured/benchmarks.md.")
    parser.add_argument("measurements", nargs="*", metavar="measurement", help=", ".join(_MEASUREMENTS))
    chosen = parser.parse_args().measurements or _MEASUREMENTS
    if unknown := set(chosen) - set(_MEASUREMENTS):
        parser.error(f"no measurement called {', '.join(sorted(unknown))}; there are {', '.join(_MEASUREMENTS)}")

    _forget_the_environment()
    sections: list[Section] = []
    with Server() as server:
        for name in chosen:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            section: Section = import_module(f"benchmarks.calls.{name}").measure(server)
            print(section, end="\n\n", flush=True)
            sections.append(section)
    if set(chosen) == set(_MEASUREMENTS):
        _PAGE.write_text(put(_PAGE.read_text("utf-8"), sections, head()), "utf-8")
    return 0


def _forget_the_environment() -> None:
    """Let no proxy, key, setting or tracing of whoever measures take part."""
    prefixes = ("WEB_SEARCH_", "TAVILY_", "LANGSMITH_", "LANGCHAIN_")
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    for name in list(os.environ):
        if name.startswith(prefixes) or name.upper() in proxies:
            del os.environ[name]


if __name__ == "__main__":
    sys.exit(main())
