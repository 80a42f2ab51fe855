"""The page benchmarks/results/faults.md."""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Table
from tests.faults import run
from tests.faults.model import Fault
from tests.faults.table import CASES, FAULTS

PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "faults.md"
_INTRODUCTION = """<!-- Written by `make bench-faults`. Do not edit. -->

# Faults

{summary}

What happens when a service, a page, the network or the program around a call fails. {calls} calls meet their fault on a
server on this machine that sends exactly the bytes of the fault, each blocking and async: searches with Tavily (JSON)
and DuckDuckGo (HTML), pages read with `direct`, and a chain in which Brave answers after Tavily has failed. Defaults
apply, with shorter deadlines and pauses. A call is as expected if it ends with this code, in time, with this number of
requests and this outcome of the first provider, and if neither the key nor an internal address shows in what it returns
or raises. What no such call can show is proven by {proofs} tests (T), which ran for this page too.
[Errors](../../docs/errors.md) explains the codes. The same calls are tests of every HTTP library: `tests/faults`.

The others are judged by less: a call has to end within 10 s, with at most 64 MiB, with an error that is raised or with
the answer, and without showing the key; a page that is cut has to say so. `httpx` is
`Client(follow_redirects=True).get(url).raise_for_status()`, with `.json()` for a service; `TavilySearch` is
langchain-tavily's, which returns errors as results; `WebBaseLoader` is LangChain's, `SimpleWebPageReader`
LlamaIndex's. All have their defaults: {versions}. A dash means that they cannot be asked the same. What clients do with
URLs and redirects that lead inside is in [hostile URLs](ssrf.md)."""
_NAMED = (
    "httpx",
    "langchain-tavily",
    "langchain-community",
    "llama-index-readers-web",
    "requests",
)
_TITLES = {
    "services": "Services",
    "pages": "Pages",
    "ourselves": "The program, its machine and its files",
}
_LABELS = {"httpx": "httpx with services", "httpx page": "httpx with pages"}


@dataclass(frozen=True)
class Judged:
    """How a call ended: *what* it should, or with a *problem*."""

    problem: str = ""
    what: str = ""

    @property
    def fits(self) -> bool:
        """Whether it ended as expected."""
        return not self.problem

    def __str__(self) -> str:
        return f"✓ {self.what}" if self.fits else f"✗ {self.problem}"


def row(fault: Fault) -> tuple[str, str, str]:
    """Return what the page says about a fault before anything is measured."""
    return str(fault.number), f"**{fault.name}**: {fault.injected}", fault.promise


def write_page(
    ours: Mapping[tuple[int, run.Way], Judged],
    proofs: Mapping[str, bool],
    peers: Mapping[tuple[int, str], Judged],
    columns: Mapping[str, Sequence[str]],
) -> tuple[str, list[int]]:
    """Return the page, and the numbers of the faults that did not end as expected."""
    missed = [
        fault.number
        for fault in FAULTS
        if not all(proofs[proof] for proof in fault.proven_by)
        or not all(ours[fault.number, way].fits for way in run.WAYS if fault.cases)
    ]
    parts = [_introduce(missed, proofs, peers)]
    for section, title in _TITLES.items():
        parts.append(
            f"## {title}\n\n{_make_table(section, ours, proofs, peers, columns[section])}"
        )
    parts.append(f"## The tests\n\n{_list_proofs()}")
    return "\n\n".join(parts) + "\n", missed


def _introduce(
    missed: Sequence[int],
    proofs: Mapping[str, bool],
    peers: Mapping[tuple[int, str], Judged],
) -> str:
    kept = len(FAULTS) - len(missed)
    counts = []
    for peer in dict.fromkeys(name for _, name in sorted(peers)):
        judged = [one for (_, name), one in peers.items() if name == peer]
        counts.append(
            f"{_LABELS.get(peer, peer)} {sum(one.fits for one in judged)} of "
            f"{len(judged)}"
        )
    return _INTRODUCTION.format(
        summary=f"**{kept} of {len(FAULTS)} faults end as expected**"
        + (f" (not {', '.join(map(str, missed))})" if missed else "")
        + (
            f"; of those that others can be asked: {', '.join(counts)}."
            if counts
            else "."
        ),
        calls=len(CASES),
        proofs=len(proofs),
        versions=", ".join(
            line.partition("  #")[0].replace("==", " ")
            for line in Path(__file__)
            .with_name("requirements.in")
            .read_text("utf-8")
            .splitlines()
            if line.startswith(tuple(f"{name}==" for name in _NAMED))
        ),
    )


def _make_table(
    section: str,
    ours: Mapping[tuple[int, run.Way], Judged],
    proofs: Mapping[str, bool],
    peers: Mapping[tuple[int, str], Judged],
    columns: Sequence[str],
) -> Table:
    head = [
        "",
        "fault",
        "expected",
        *run.WAYS,
        *(_LABELS.get(peer, peer) for peer in columns),
    ]
    rows = []
    for fault in FAULTS:
        if fault.section != section:
            continue
        tests = _mark_tests(fault, proofs)
        cells = [_join(ours.get((fault.number, way)), tests) for way in run.WAYS]
        others = [str(peers.get((fault.number, peer), "-")) for peer in columns]
        rows.append(
            [
                cell.replace("|", "\\|").replace("\n", " ")
                for cell in (*row(fault), *cells, *others)
            ]
        )
    return Table(head, rows, numbers=False)


def _mark_tests(fault: Fault, proofs: Mapping[str, bool]) -> str:
    failed = [
        proof.partition("::")[2] for proof in fault.proven_by if not proofs[proof]
    ]
    return f"✗ {', '.join(failed)}" if failed else "✓ T" if fault.proven_by else ""


def _join(judged: Judged | None, tests: str) -> str:
    if judged is None or (tests and not tests.startswith("✓")):
        return tests
    return f"{judged}{', T' if tests else ''}"


def _list_proofs() -> str:
    lines = []
    for fault in FAULTS:
        by_file: dict[str, list[str]] = {}
        for proof in fault.proven_by:
            path, _, name = proof.partition("::")
            by_file.setdefault(path, []).append(f"`{name}`")
        files = [
            f"[{path}](../../{path}): {', '.join(names)}"
            for path, names in by_file.items()
        ]
        if files:
            lines.append(f"- {fault.number}: {'; '.join(files)}")
    return "\n".join(lines)
