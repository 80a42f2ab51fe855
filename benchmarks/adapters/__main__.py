"""Compare the shapes of captured answers with our cassettes, play and mutate them, and
write docs/measured/adapters.md.

    python -m benchmarks.adapters            # write the page python -m
        benchmarks.adapters --cassettes  # also write the cassettes that have these
        shapes

The shapes are expected beside the repository, in ``../shared/recordings/shapes``.
"""

from __future__ import annotations
import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from benchmarks.adapters.cases import CHAINS, PROVIDERS, RETIRED, Case, Chain, find_case
from benchmarks.adapters.play import (
    Trial,
    find_problems,
    make_chain,
    make_tape,
    mutate,
    mutate_failure,
    play,
    play_headers,
)
from benchmarks.adapters.shapes import Captured, fields, find_shapes, marks
from benchmarks.report import Table, store
from tests.cassettes import record
from tests.cassettes import tape as tapes
from tests.cassettes.shape import Differences, Shape, compare, shape_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "adapters.md"
FIRST = "# shaped after a captured answer, values invented: "
_LONGEST = 150  # characters of a text on a cassette
_NAMED = 6  # fields of a kind that the page names


_ABOUT = """\
<!-- Written by `make bench-adapters`. Do not edit. -->

# Adapters and real answers

What {shapes} answers that services really gave say about our cassettes and adapters. Of each, only the shape is known:
keys, types, order, nulls, lengths and marks of texts, no value. So an answer of invented values is made for each shape,
as long as the captured one, and played to the adapter. What must come of it is stated by paths of the service's
documentation, in `benchmarks/adapters/cases.py`, not by the adapter. The shapes are not part of the repository.

{exchanges} of them are whole HTTP exchanges, of whose answers only headers and length are known. {compared} have an
inside that can be compared. For {written} of these there is a cassette, `cassettes/*/shaped_*.yaml`, with an item of
each kind and shorter texts. {chained} more have the headers and redirects of exchanges that follow each other. The
usual tests of cassettes play them.

## By service

A mutation is an answer with one value missing, null or of another type and content, or with all its keys in the
opposite order. It fails if anything but a response or a typed error comes of it, or if a wrong value in one result
changes another. Besides the shapes, our own cassettes of failures are mutated."""
_DIFFERENCES = """\
## Differences from our cassettes

Each captured answer beside our cassette of its scenario that was written from the documentation or recorded. Most
fields are optional, and what a cassette asked for may differ. The last column has the texts with tags or entities."""
_EXCHANGES = """\
## Exchanges

Our own answer is played with the headers of the captured exchange and no others, and with a redirect where it has a
`Location`."""


class Compared(NamedTuple):
    """How a captured answer differs from our cassette of its scenario; None if we have
    no such cassette.
    """

    captured: Captured
    case: Case
    cassette: str
    differences: Differences | None
    nulls: list[str]
    marked: list[str]
    problems: list[str]


def shape_as_ours(captured: Captured) -> Shape:
    """Return the shape of a captured answer in the words of `tests.cassettes.shape`."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path, kind in fields(captured.shape):
        found[path].add(kind)
    return {path: frozenset(kinds) for path, kinds in found.items()}


def compare_with_ours(captured: Captured, case: Case) -> Compared:
    """Compare a captured answer with our cassette of its scenario, and play an answer
    of its shape.
    """
    path = tapes.FOLDER / case.provider / f"{case.scenario}.yaml"
    name = f"{case.provider}/{case.scenario}"
    body = case.invent(captured.shape)
    problems = [] if case.skipped else find_problems(case, body, play(case, body))
    marked = sorted(
        {
            f"{path}: {mark}"
            for path, mark in marks(captured.shape)
            if mark in {"tags", "entities"}
        }
    )
    if case.skipped or not path.exists():
        return Compared(captured, case, name, None, [], marked, problems)
    ours = tapes.load(path)["interactions"][-1]["response"]["body"]["string"]
    shape, theirs = (
        shape_of(ours if isinstance(ours, str) else ours.decode()),
        shape_as_ours(captured),
    )
    nulls = [
        path
        for path in shape.keys() & theirs.keys()
        if "null" in theirs[path] - shape[path]
    ]
    return Compared(
        captured, case, name, compare(shape, theirs), sorted(nulls), marked, problems
    )


def write_cassette(captured: Captured, case: Case) -> Path:
    """Write the cassette that has the shape of a captured answer, in which nothing else
    is its own.
    """
    body = case.invent(captured.shape, longest=_LONGEST, whole=False)
    about = "Lists have an item of each kind, and texts are shorter."
    path = tapes.FOLDER / case.provider / f"shaped_{case.cassette}.yaml"
    return _write(path, f"{FIRST}{captured.name}\n# {about}", make_tape(case, body))


def write_chain(chain: Chain) -> Path:
    """Write the cassette whose answers have the headers of captured exchanges."""
    path = tapes.FOLDER / chain.name.partition("/")[0] / f"shaped_{chain.cassette}.yaml"
    about = "Headers and redirects are those of the exchanges, texts are shorter."
    return _write(
        path,
        f"{FIRST}{chain.name}\n# {about}",
        make_chain(chain, chain.find(find_shapes())),
    )


def _write(path: Path, about: str, tape: tapes.Tape) -> Path:
    for exchange in tape["interactions"]:
        exchange["response"]["body"]["string"] = record.Text(
            exchange["response"]["body"]["string"]
        )
    text = yaml.safe_dump(tape, allow_unicode=True, sort_keys=False, width=110)
    path.write_text(
        f"{about} Written by `make bench-adapters CASSETTES=1`.\n{text}", "utf-8"
    )
    return path


def find_written() -> Iterator[tuple[Captured, Case]]:
    """Yield the captured answers that cassettes are written from: the first of each
    case that names one.
    """
    seen: set[str] = set()
    for captured in find_shapes():
        case = find_case(captured)
        if case and case.cassette and case.shapes not in seen:
            seen.add(case.shapes)
            yield captured, case


def find_failures() -> Iterator[tuple[str, Trial]]:
    """Yield what came of our own cassettes of failures with wrong values, with the name
    of the provider.
    """
    for path in tapes.find_tapes():
        tape = tapes.load(path)
        reader = tape["web"].get("reader", "") if tapes.role(tape) == "read" else ""
        provider = reader or tape["web"].get("provider", "")
        if (
            "error" not in tape["expect"]
            or not isinstance(provider, str)
            or "," in provider
        ):
            continue
        try:
            json.loads(tapes.responses(tape)[-1].content)
        except ValueError:
            continue
        yield provider, mutate_failure(tape, provider)


def _name(names: Iterable[str]) -> str:
    several = list(names)
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return ", ".join(f"`{one}`" for one in several[:_NAMED]) + more or "-"


def _differences(compared: list[Compared]) -> Table:
    rows = []
    for one in compared:
        if one.case.skipped:
            continue
        if one.differences is None:
            rows.append([f"`{one.captured.name}`", "there was none", *["-"] * 5])
            continue
        new = [line.partition(" ")[0] for line in one.differences.new]
        missing = [line.partition(" ")[0] for line in one.differences.missing]
        rows.append(
            [f"`{one.captured.name}`", f"`{one.cassette}`", _name(new), _name(missing), _name(one.nulls),
             "; ".join(one.differences.changed) or "-", ", ".join(one.marked) or "-"]
        )  # fmt: skip
    return Table(
        [
            "captured",
            "our cassette",
            "only captured",
            "only ours",
            "only there null",
            "of another type",
            "marks in texts",
        ],
        rows,
        numbers=False,
    )


def _services(
    shapes: list[Captured],
    compared: list[Compared],
    trials: dict[str, list[Trial]],
    written: Counter[str],
) -> Table:
    rows = []
    folders = {PROVIDERS.get(shape.service, shape.service) for shape in shapes}
    for name in sorted({*folders, *trials}):
        own = [one for one in compared if one.case.provider == name]
        there = [
            shape
            for shape in shapes
            if PROVIDERS.get(shape.service, shape.service) == name
        ]
        mine = trials.get(name, [])
        rows.append(
            [f"`{name}`", *map(str, [
                len(there), len(own),
                sum(not one.case.skipped and bool(one.problems) for one in own),
                written[name],
                sum(trial.count for trial in mine),
                sum(len(trial.failures) for trial in mine),
            ])]
        )  # fmt: skip
    total = ["all", *(f"{sum(int(row[n]) for row in rows):,}" for n in range(1, 7))]
    head = [
        "service",
        "captured answers",
        "with an inside",
        "misread",
        "cassettes of their shape",
        "mutations",
        "failures",
    ]
    return Table(head, [*rows, total])


def _exchanges(shapes: list[Captured]) -> Table:
    counted: Counter[tuple[str, tuple[str, ...], str]] = Counter()
    for one in shapes:
        if one.headers is not None:
            location = (
                one.shape.get("headers", {}).get("location", "")
                if isinstance(one.shape, dict)
                else ""
            )
            counted[one.service, tuple(sorted(one.headers)), location] += 1
    rows = [
        [
            f"`{service}`",
            str(count),
            _name(headers),
            "yes" if play_headers(service, list(headers), location) else "**no**",
        ]
        for (service, headers, location), count in sorted(counted.items())
    ]
    return Table(
        ["service", "exchanges", "their headers", "our answer is read alike with them"],
        rows,
        numbers=False,
    )


def make_page() -> str:
    """Return the page of measurements, without the commit."""
    shapes = find_shapes()
    cased = [(one, case) for one in shapes if (case := find_case(one))]
    compared = [compare_with_ours(one, case) for one, case in cased]
    trials: defaultdict[str, list[Trial]] = defaultdict(list)
    for one, case in cased:
        if not case.skipped:
            trials[case.provider].append(
                mutate(case, case.invent(one.shape, longest=_LONGEST, whole=False))
            )
    for provider, trial in find_failures():
        trials[provider].append(trial)
    written = Counter(case.provider for _, case in find_written())
    written.update(chain.name.partition("/")[0] for chain in CHAINS)
    failed = [
        f"- `{name}`: {line}"
        for name, several in sorted(trials.items())
        for trial in several
        for line in trial.failures
    ]
    misread = [
        f"- {one.captured.name}: {line}" for one in compared for line in one.problems
    ]
    skipped = [
        f"- {one.captured.name}: {one.case.skipped}."
        for one in compared
        if one.case.skipped
    ]
    retired = [
        f"- `{name}`: there is no adapter, {why}." for name, why in RETIRED.items()
    ]
    about = _ABOUT.format(
        shapes=len(shapes),
        exchanges=sum(one.is_exchange for one in shapes),
        compared=len(compared),
        written=sum(written.values()) - len(CHAINS),
        chained=len(CHAINS),
    )
    parts = [
        about,
        str(_services(shapes, compared, trials, written)),
        *(["Misread:", "\n".join(misread)] if misread else ["No answer is misread."]),
        *(["Failures:", "\n".join(failed)] if failed else []),
        _DIFFERENCES,
        str(_differences(compared)),
        _EXCHANGES,
        str(_exchanges(shapes)),
        "## Not compared",
        "\n".join([*skipped, *retired]),
    ]
    return "\n\n".join(parts)


def main() -> int:
    """Write the page, and the cassettes if the command line says so."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").strip().splitlines()[0]
    )
    parser.add_argument(
        "--cassettes",
        action="store_true",
        help="also write the cassettes that have these shapes",
    )
    arguments = parser.parse_args()
    if not find_shapes():
        print(
            "skipped: the shapes are not in ../shared/recordings/shapes",
            file=sys.stderr,
        )
        return 0
    if arguments.cassettes:
        for captured, case in find_written():
            print(tapes.name_of(write_cassette(captured, case)))
        for chain in CHAINS:
            print(tapes.name_of(write_chain(chain)))
    store(PAGE, make_page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
