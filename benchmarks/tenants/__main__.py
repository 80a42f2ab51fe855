"""Measure many tenants in one process, and write ``docs/measured/tenants.md``.

python -m benchmarks.tenants                # measure everything and write the page
python -m benchmarks.tenants connections    # measure this and only print it
"""

from __future__ import annotations
import os
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.report import Section, put, store
from benchmarks.tenants.server import Server

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "tenants.md"
_MEASUREMENTS = ("cost", "connections", "threads", "isolation")
_HEAD = """<!-- Written by `make bench-tenants`. Do not edit. -->

# Many tenants in one process

What a tenant costs, which connections tenants share, and what the others feel of a hostile one.
[Many tenants](../tenants.md) says how to serve them. Services and sites are on the same machine, and the times depend
on it: trust the ratios more.

**0 of 0 goals were met.**

"""


def main() -> int:
    """Measure what the command line names; return 0 even if goals were missed, because
    machines differ.
    """
    chosen = sys.argv[1:] or _MEASUREMENTS
    for name in [
        name
        for name in os.environ
        if name.lower().endswith("_proxy") or name.endswith("_API_KEY")
    ]:
        del os.environ[name]
    sections: list[Section] = []
    with Server() as server:
        for name in chosen:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            sections.append(import_module(f"benchmarks.tenants.{name}").measure(server))
            print(sections[-1], end="\n\n", flush=True)
    if tuple(chosen) == _MEASUREMENTS:
        store(_PAGE, put("", sections, _HEAD))
    return 0


if __name__ == "__main__":
    sys.exit(main())
