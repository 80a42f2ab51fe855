"""Interrupt blocking calls that are waiting for a server, and write
benchmarks/results/stopping.md.

python -m benchmarks.stopping
"""

from __future__ import annotations
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.report import Table, store
from tests.faults.stopping import PROGRAMS, stop

PAGE = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "stopping.md"
_TIMES = 3


def main() -> None:
    """Measure, and write the page."""
    rows = []
    for name, (_, under_way) in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            stops = [stop(name, Path(folder)) for _ in range(_TIMES)]
        seconds = [one.seconds for one in stops]
        asked = max(sum("/held/" in path for path in one.paths) for one in stops)
        rows.append(
            (
                name,
                str(under_way),
                str(asked),
                f"{median(seconds):.3f}",
                f"{max(seconds):.3f}",
            )
        )
    table = Table(
        ("call", "requests under way", "requests in all", "median, s", "longest, s"),
        rows,
    )
    store(
        PAGE,
        f"""<!-- Written by `make bench-stopping`. Do not edit. -->

# Stopping

What happens when Ctrl-C is pressed during a blocking call. A server on this machine takes each request and does not
answer it. Once it holds all requests that the call sends at a time, the program gets SIGINT; the time is from there to
its next line, which it writes after `except KeyboardInterrupt`. Then the server answers what it holds, and the program
reads another page. `read_many` has 400 URLs, the crawl a start page with 400 links. Each call {_TIMES} times.

{table}

After the signal, only the request for the other page was sent, and that page was read each time.
`tests/faults/test_stopping.py` tests this, and that the command line ends at SIGTERM.
""",
    )


if __name__ == "__main__":
    main()
