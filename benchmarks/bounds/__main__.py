"""Put repeated text into every place of a document, and write docs/measured/bounds.md.

    python -m benchmarks.bounds --peers build/bounded/bin/python

``--part 3`` measures a third of the texts in each place, which differ from place to
place.
"""

from __future__ import annotations
import argparse
import os
import platform
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from benchmarks.report import Table, store
from tests.bounds.documents import CITED, OTHERS, READ
from tests.bounds.units import UNITS
from tests.bounds.worker import MOST_SECONDS, Worker

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "bounds.md"
_SIZE = 80_000  # characters
_TASK = "tests.bounds.documents:seconds"
_SHARED = (("HTML body", "["), ("HTML body", "[a "), ("HTML paragraph", "<a "), ("HTML author", "a."),
           ("RSS item author", "1"), ("RSS item author", "-"), ("RSS item pubDate", "1"))  # fmt: skip
_PEERS = {"HTML": ("trafilatura", "WebBaseLoader"), "RSS": ("feedparser",)}


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers",
        required=True,
        help="the Python of an environment with the other libraries",
    )
    parser.add_argument(
        "--part", type=int, default=1, help="measure one of so many texts in each place"
    )
    given = parser.parse_args()
    peers = given.peers
    places = (*READ, *OTHERS, *CITED)
    with Worker() as worker:
        costs = {
            (place, unit): _ours(worker, place, unit)
            for row, place in enumerate(places)
            for column, unit in enumerate(UNITS)
            if (row + column) % given.part == 0 or (place, unit) in _SHARED
        }
    worst = sorted(costs.items(), key=lambda item: -item[1])
    documents = [item for item in worst if item[0][0] in READ]
    shown = [
        *documents[:5],
        *(
            next(item for item in worst if item[0][0] == place)
            for place in (*OTHERS, *CITED)
        ),
    ]
    ours = Table(
        ("place", "repeated", "s"),
        [(place, f"`{unit!r}`", _seconds(cost)) for (place, unit), cost in shown],
    )
    others = Table(
        ("place", "repeated", "ours, s", "others, s"),
        [
            (
                place,
                f"`{unit!r}`",
                _seconds(costs[place, unit]),
                ", ".join(_others(peers, place, unit)),
            )
            for place, unit in _SHARED
        ],
    )
    part = (
        f", and of these combinations one in {given.part} was read"
        if given.part > 1
        else ""
    )
    store(
        PAGE,
        f"""<!-- Written by `make bench-bounds`. Do not edit. -->

# Repeated text

{len(UNITS)} texts, such as `[` and `<a `, were repeated up to {_SIZE:,} characters in {len(places)} places of
documents{part}: {len(costs):,} cases; `find` and `query` got 960,000 characters. The times are of the processor, of
one run each, in a process that is killed after {MOST_SECONDS} s. Measured on {datetime.now(UTC):%Y-%m-%d} with
Python {platform.python_version()}.
{sum(cost < inf for cost in costs.values()):,} cases ended by themselves,
{sum(cost <= 1 for cost in costs.values()):,} within a second. The longest of the documents, and the longest of all
else:

{ours}

`tests/bounds` tests that time grows no faster than length. A part of these cases is in `make test`, all are in
`make test-whole`.

Some of the same documents, read by us (in the same process, without the one that is killed at the deadline) and by
others, which got the same bytes; WebBaseLoader is LangChain's, with BeautifulSoup:

{others}
""",
    )


def _ours(worker: Worker, place: str, unit: str) -> float:
    seconds = worker.ask(_TASK, place, unit, _SIZE)
    return inf if seconds is None else float(seconds)


def _others(python: str, place: str, unit: str) -> Iterator[str]:
    """Yield what other libraries need for a document."""
    content = READ[place]((unit * _SIZE)[:_SIZE])[2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "document"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        for name in _PEERS[place.split(maxsplit=1)[0]]:
            command = [
                python,
                "-W",
                "ignore",
                str(Path(__file__).with_name("peer.py")),
                name,
                str(path),
            ]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, preexec_fn=_limit,
                env={**os.environ, "USER_AGENT": "benchmark"},
            )  # fmt: skip
            yield (
                f"{name} {_seconds(float(done.stdout) if not done.returncode else inf)}"
            )


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def _seconds(cost: float) -> str:
    return f"killed after {MOST_SECONDS}" if cost == inf else f"{cost:.2f}"


if __name__ == "__main__":
    main()
