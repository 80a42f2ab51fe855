"""Read a list of real pages with ours and with others, and write benchmarks/results/bulk.md.

    python -m benchmarks.bulk --peers build/bulk/bin/python --cluster
        build/cluster/bin/python

``--part`` measures one part again: ``peers``, ``memory``, ``hanging``, ``million`` or
``ray``.
"""

from __future__ import annotations
import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.bulk.ours import OURS
from benchmarks.bulk.peers import CONCURRENCY, PATIENCE, PEERS, PER_HOST
from benchmarks.bulk.server import FOLDERS, LATENCY
from benchmarks.program import Program
from benchmarks.reading.metrics import score
from benchmarks.report import Goal, Section, Table, put, store, times
from training.corpus import ROOT, Page, wcxb

PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "bulk.md"
_PROGRAM = Path(__file__).resolve().parents[2]
_HOSTS, _HANGING = 20, 12
_US, _BARE, _TRAFILATURA = "iter_read", "parsing alone", "trafilatura alone"
_OTHERS = [name for name in PEERS if name != _TRAFILATURA]
_MOST_MEMORY = 400  # MiB
_LINES, _READ = 1_000_000, 100_000


class Run(NamedTuple):
    """What a program did with a list: seconds by the clock and of the processor, MiB,
    and its rows.
    """

    seconds: float
    cpu: float
    start: float  # processor seconds until it was ready
    memory: float
    rows: dict[str, dict[str, str]]
    most: int  # requests at a time for one host


class Bench:
    """The server, the environments of others, and the pages."""

    def __init__(
        self, given: argparse.Namespace, server: Program, folder: Path
    ) -> None:
        self.rounds, self.lines, self._server, self._folder = (
            given.rounds,
            given.lines,
            server,
            folder,
        )
        self._pythons = {
            **dict.fromkeys(OURS, sys.executable),
            **dict.fromkeys(PEERS, given.peers),
        }
        self._pythons |= {"ReadPages": given.cluster}
        corpus = [page for name in FOLDERS for page in wcxb(ROOT / name)]
        numbers = random.Random(1).sample(
            range(len(corpus)), min(given.pages, len(corpus))
        )
        self.pages: dict[int, Page] = {number: corpus[number] for number in numbers}

    def find_urls(self, hosts: int = _HOSTS) -> list[str]:
        """Return the URL of each page, on *hosts* hosts."""
        port = urlsplit(self._server.url).port
        return [
            f"http://127.0.1.{1 + n % hosts}:{port}/{number}"
            for n, number in enumerate(self.pages)
        ]

    def hang(self, urls: Sequence[str]) -> list[str]:
        """Return *urls* with as many for each of twelve hosts that never answer,
        mixed.
        """
        port = urlsplit(self._server.url).port
        each = len(urls) // (_HOSTS - _HANGING)
        others = [
            f"http://127.0.1.{101 + host}:{port}/{n}"
            for host in range(_HANGING)
            for n in range(each)
        ]
        return random.Random(2).sample([*urls, *others], len(urls) + len(others))

    def run(self, name: str, urls: Sequence[str] = ()) -> Run:
        """Let a program read *urls*, or the files of the pages."""
        items, output = self._folder / "list", self._folder / "rows"
        items.write_text("\n".join(urls or self._files()), "utf-8")
        module = "benchmarks.bulk.ours" if name in OURS else ""
        program = (
            ["-m", module] if module else [str(Path(__file__).with_name("peers.py"))]
        )
        done = subprocess.run(
            [sys.executable, Path(__file__).with_name("watch.py"), self._pythons[name], *program, name, items, output],
            capture_output=True, text=True, check=False, cwd=_PROGRAM,
            env={**os.environ, "PYTHONPATH": str(_PROGRAM), "CRAWL4_AI_BASE_DIRECTORY": str(self._folder)},
        )  # fmt: skip
        cost = json.loads(done.stdout)
        assert not cost.pop("code"), done.stderr[-3000:]
        rows = {
            row["url"]: row for row in map(json.loads, output.open(encoding="utf-8"))
        }
        print(f"{name}: {cost}, {len(rows)} rows", flush=True)
        return Run(**cost, rows=rows, most=self._server.ask()["most"])

    def _files(self) -> list[str]:
        places = {number: self._folder / f"{number}.html" for number in self.pages}
        for number, place in places.items():
            place.write_bytes(self.pages[number].data)
        return [*map(str, places.values())]

    def rate(self, run: Run) -> tuple[int, float, float, float]:
        """Return how many pages have a text, and the mean recall, precision and F1 of
        all.
        """
        texts = {
            int(Path(urlsplit(url).path).stem): row["text"]
            for url, row in run.rows.items()
        }
        scores = [
            score(page, texts.get(number, "")) for number, page in self.pages.items()
        ]
        parts = [
            mean(getattr(one, part) for one in scores)
            for part in ("recall", "precision", "f1")
        ]
        return sum(map(bool, texts.values())), parts[0], parts[1], parts[2]


def compare_peers(bench: Bench) -> Section:
    """Read the list with everything, in turn."""
    urls = bench.find_urls()
    names = [_US, *_OTHERS, _BARE, _TRAFILATURA]
    runs: dict[str, list[Run]] = {name: [] for name in names}
    for turn in range(bench.rounds):
        for name in random.Random(turn).sample(names, len(names)):
            runs[name].append(
                bench.run(name, () if name in {_BARE, _TRAFILATURA} else urls)
            )

    def compare(name: str, other: str, part: str) -> float:
        pairs = zip(runs[name], runs[other], strict=True)
        return float(
            median(getattr(one, part) / getattr(two, part) for one, two in pairs)
        )

    rows, incomplete = [], list[str]()
    for name in names:
        count, recall, precision, f1 = bench.rate(runs[name][-1])
        incomplete += [name] if count < 0.9 * len(urls) else []
        alone = name in {_BARE, _TRAFILATURA}
        cpu = median(run.cpu for run in runs[name]) / len(urls)
        rows.append((
            name, "" if alone else f"{median(run.seconds for run in runs[name]):.1f}",
            f"{1000 * cpu:.1f}",
            f"{median(run.start for run in runs[name]):.1f}",
            f"{max(run.memory for run in runs[name]):.0f}",
            "" if alone else str(max(run.most for run in runs[name])), str(count),
            f"{recall:.3f}",
            f"{precision:.3f}", f"{f1:.3f}",
        ))  # fmt: skip
    head = ("", "s", "processor, ms a page", "s to start", "MiB", "most for one host", "pages", "recall", "precision",
            "F1")  # fmt: skip
    ratios = {
        name: compare(_US, name, "seconds")
        for name in _OTHERS
        if name not in incomplete
    }
    bare, peer = compare(_US, _BARE, "cpu"), compare(_US, _TRAFILATURA, "cpu")
    whole = compare(_US, _OTHERS[0], "cpu")
    size = sum(len(page.data) for page in bench.pages.values()) / len(bench.pages)
    return Section(
        "The same list with others",
        f"{len(urls)} real pages of WCXB, of {size / 1000:.0f} KB on average, on "
        f"{_HOSTS} hosts of a server on this "
        f"machine that answers after {LATENCY * 1000:.0f} ms. Each reads {CONCURRENCY} "
        f"at a time, {PER_HOST} for one "
        "host as far as it has a limit for that, and writes a row for each page; the "
        "list has the hosts in turn. "
        f"Programs take turns, {bench.rounds} times, while the load average of the "
        f"machine is "
        f"{os.getloadavg()[2]:.0f}; a clock means little where that is much more than "
        f"the number of cores. The times "
        "are medians, of all processes of a program, from when everything is imported, "
        "and the processes that parse "
        "are ready, to its end; what comes before takes the processor the seconds to "
        "start. Parsing and trafilatura "
        "alone have the pages in memory and run in two processes at once, as in the "
        "lists. Recall, precision and F1 "
        "are those of the words, compared with the content that its authors marked; a "
        "page without text counts as 0.",
        [Table(head, rows)],
        [
            *(Goal(f"faster by the clock than {name}", f"{times(ratio)} of its "
                                                       f"time", ratio < 1)
              for name, ratio in ratios.items()),
            Goal("at most 1.25 times the processor time of parsing "
                 "alone", times(bare), bare <= 1.25),
            Goal("at most 0.75 of the processor time of trafilatura "
                 "alone", times(peer), peer <= 0.75),
        ],
        f"Of the processor time of the whole program with httpx and trafilatura, "
        f"`iter_read` needs {times(whole)}. "
        "WebBaseLoader returns the text of the whole page, and Crawl4AI Markdown of "
        "the whole page unless it is given "
        "a filter: recall without precision."
        + "".join(f" {name} is not compared: too few pages came, for a reason to be "
                  f"found." for name in incomplete),
    )  # fmt: skip


def measure_memory(bench: Bench) -> Section:
    """Read with 200 pages in flight."""
    run = bench.run("iter_read, 200 at a time", bench.find_urls(hosts=60))
    return Section(
        "200 in flight",
        f"The same {len(bench.pages)} pages on 60 hosts, with `concurrency=200`.",
        [],
        [Goal(f"below {_MOST_MEMORY} MiB, with the processes that parse", f"{run.memory:.0f} MiB",
              run.memory < _MOST_MEMORY)],
    )  # fmt: skip


def measure_hanging(bench: Bench) -> Section:
    """Read from eight hosts, and from these and twelve that hang."""
    urls = bench.find_urls(hosts=_HOSTS - _HANGING)
    mixed = bench.hang(urls)
    rows, shares = [], []
    for name in ("iter_read, 5 s", "iter_read, 64 at a time, 5 s"):
        plain, whole = bench.run(name, urls), bench.run(name, mixed)
        errors = [row["error"] for row in whole.rows.values() if not row["text"]]
        asked = sum("not requested" not in error for error in errors)
        shares.append((whole.seconds - plain.seconds) / whole.seconds)
        rows.append((name, f"{plain.seconds:.1f}", f"{whole.seconds:.1f}", f"{100 * shares[-1]:.0f} %", str(asked),
                     str(len(errors) - asked)))  # fmt: skip
    head = (
        "",
        "s, without",
        "s, with",
        "share of the run",
        "requested of these",
        "not requested",
    )
    return Section(
        "Hosts that hang",
        f"The same pages on {_HOSTS - _HANGING} hosts, with a `timeout` of 5 s, and "
        f"the same with as many URLs of each "
        f"of {_HANGING} hosts that take requests and never answer: {len(mixed)} URLs, "
        f"mixed.",
        [Table(head, rows)],
        [Goal("at most 10 % of the run", f"{100 * shares[0]:.0f} %", shares[0] <= 0.1)],
        "A host that hangs is tried once at the beginning, and again beside the "
        "others, in a quarter of the slots. "
        "What is left of that when the others are read is waited for: nothing, if the "
        "list takes some times the "
        "`timeout`.",
    )


def measure_million(bench: Bench) -> Section:
    """Go on with a list of a million lines."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.bulk.million",
        str(bench.lines),
        str(min(_READ, bench.lines)),
    ]
    return describe_million(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )


def describe_million(output: str) -> Section:
    """Return what the program printed."""
    result = json.loads(output)
    assert result["rows"] == result["lines"]
    return Section(
        "A million lines",
        f"`websearch read -i` with {result['lines']:,} generated URLs and a reader "
        f"that has its page ready, so that "
        f"only the list costs. {result['lines'] - result['read']:,} of them have their "
        f"row from an interrupted run, "
        f"and {result['read']:,} are read. Each gets one row.",
        [],
        [
            Goal(f"below {_MOST_MEMORY} MiB", f"{result['memory']:.0f} MiB", result["memory"] < _MOST_MEMORY),
            Goal("flat: 10 MiB more at most after nine tenths of what is read", f"{result['growth']:.1f} MiB",
                 result["growth"] <= 10),
        ],
        f"A line that is read costs {1000 * result['seconds']:.2f} ms of processor "
        f"time, besides its page; one that "
        f"is there {1_000_000 * result['seconds_there']:.0f} µs.",
    )  # fmt: skip


def measure_ray(bench: Bench) -> Section:
    """Read the list with Ray, and without."""
    urls = bench.find_urls()
    few = urls[:_HOSTS]
    added = len(urls) - len(few)
    rows, costs = [], []
    for name in (_US, "ReadPages"):
        small, large = bench.run(name, few), bench.run(name, urls)
        cpu, seconds = (
            (large.cpu - small.cpu) / added,
            (large.seconds - small.seconds) / added,
        )
        costs.append(cpu)
        row = (
            f"{1000 * cpu:.1f}",
            f"{1000 * seconds:.1f}",
            f"{small.seconds:.1f}",
            f"{large.memory:.0f}",
        )
        rows.append(
            (name, *row, str(sum(bool(row["text"]) for row in large.rows.values())))
        )
    head = (
        "",
        "processor, ms a page",
        "clock, ms a page",
        f"s for {len(few)} pages",
        "MiB",
        "pages",
    )
    return Section(
        "What Ray adds",
        f"The same list, read by two actors of `ReadPages` with 16 pages at a time "
        f"each, in a local cluster. What a "
        f"page costs is the difference between {len(urls)} and {len(few)} pages; "
        f"memory is that of all processes.",
        [Table(head, rows)],
        [],
        f"Ray adds {1000 * (costs[1] - costs[0]):.1f} ms of processor time to a page.",
    )


PARTS: Mapping[str, Callable[[Bench], Section]] = {
    "peers": compare_peers, "memory": measure_memory, "hanging": measure_hanging,
    "million": measure_million,
    "ray": measure_ray,
}  # fmt: skip


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers",
        required=True,
        help="the Python of an environment with the other libraries",
    )
    parser.add_argument(
        "--cluster", required=True, help="the Python of an environment with Ray"
    )
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=_LINES)
    parser.add_argument("--part", choices=PARTS, action="append")
    given = parser.parse_args()
    if not ROOT.is_dir():
        sys.exit(
            f"nothing was measured: the pages of {ROOT.name} are not at "
            f"../{ROOT.parent.parent.name}"
        )
    beginning = f"""<!-- Written by `make bench-bulk`. Do not edit. -->

# Lists

What [lists of any length](../../docs/bulk.md) cost. Measured on {datetime.now(UTC):%Y-%m-%d} with Python
{platform.python_version()} on {os.cpu_count()} cores, with a timeout of {PATIENCE} s for a page unless something else
is said; [how it is measured](../../benchmarks/bulk). [What long lists cost](../../docs/bulk.md#what-long-lists-cost) draws the conclusions.

**0 of 0 goals were met.**

"""
    with (
        tempfile.TemporaryDirectory() as folder,
        Program("benchmarks.bulk.server") as server,
    ):
        bench = Bench(given, server, Path(folder))
        for name in given.part or PARTS:
            page = PAGE.read_text("utf-8") if PAGE.exists() else beginning
            page = page.partition("\n\nLast measured at commit ")[0] + "\n"
            store(PAGE, put(page, [PARTS[name](bench)], beginning))


if __name__ == "__main__":
    main()
