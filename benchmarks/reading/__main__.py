"""Measure page readers, ours and the peers, on pages whose content is known.

::

    make bench-reading                                                                  # everything
    .venv/bin/python -m benchmarks.reading --peers build/peers/bin/python quality       # one section

Writes its sections of ``benchmarks/results/benchmarks.md`` and ``benchmarks/results/plots``; with
``--only``, nothing. The sections on many pages at once and on passages (which uses
XQuAD) measure only our reader. The requirements of the peers may conflict with ours, so
they live in their own environment, never in ``.venv``.
"""

from __future__ import annotations
import argparse
import os
import pickle
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.reading import (
    documents,
    encodings,
    news,
    passages,
    plots,
    pool,
    quality,
    share,
    size,
    speed,
)
from benchmarks.reading.candidates import CANDIDATES, DOCUMENTS, OURS, Candidate
from benchmarks.reading.process import Absent, Reader
from benchmarks.report import Section, put, store
from training.corpus import ROOT, load, mozilla, wcxb

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = _ROOT / "benchmarks" / "results" / "benchmarks.md"
_STORED = _ROOT / "build" / "reading"  # past results: one plot needs two measurements
_PARTS = (
    "quality",
    "news",
    "share",
    "speed",
    "size",
    "encodings",
    "documents",
    "pool",
    "passages",
)


def main() -> int:
    """Measure what the command line names; return 0 even if goals were missed, because
    machines differ.
    """
    arguments = _parse_arguments()
    corpus, structure = arguments.corpus or ROOT / "wcxb", ROOT / "mozilla"
    pages = wcxb(corpus) if (corpus / "metadata.json").exists() else []
    if not pages:
        sys.exit(
            f"no pages in {corpus}: download WCXB and pass its folder with --corpus"
        )

    installed, versions, absent = _find_installed(_choose(arguments), arguments.peers)
    measured = _describe_run(versions)
    sample = speed.sample(pages)
    timed = {
        candidate: python
        for candidate, python in installed.items()
        if candidate in CANDIDATES
    }
    others = {
        "documents": partial(_measure_documents, arguments.peers),
        "pool": partial(pool.measure, corpus),
    }
    results: dict[str, Any] = {}
    sections: list[Section] = []
    for part in arguments.parts or _PARTS:
        print(f"measuring {part} ...", file=sys.stderr, flush=True)
        if part == "quality":
            scores = {
                one.name: quality.measure(one, python, pages)
                for one, python in installed.items()
            }
            known = mozilla(structure)
            kept = {
                one.name: quality.measure(one, python, known)
                for one, python in installed.items()
                if known
            }
            results[part] = scores
            section = quality.section(
                scores,
                kept,
                absent,
                seen=_describe_training(arguments),
                measured=measured,
            )
        elif part == "news":
            articles = load(ROOT / "news")
            scores = {
                one.name: quality.measure(one, python, articles)
                for one, python in installed.items()
            }
            facts = news.read_facts(arguments.peers, articles)
            section = news.section(
                scores, facts, articles, news.languages(articles), measured=measured
            )
        elif part == "share":
            section = share.section(share.measure(pages), measured)
        elif part == "speed":
            results[part] = speed.measure(timed, sample)
            section = speed.section(results[part], sample, measured)
        elif part == "size":
            results[part] = size.measure(timed, pages)
            section = size.section(results[part], measured)
        elif part == "encodings":
            section = encodings.section(encodings.measure(timed), measured)
        elif part in others:
            section = others[part]()
        elif passages.CORPUS.is_dir():
            section = passages.measure()
        else:
            print(f"skipped: XQuAD is not in {passages.CORPUS}", file=sys.stderr)
            continue
        print(section, end="\n\n", flush=True)
        sections.append(section)
    if not arguments.only:
        _draw(results)
        store(_PAGE, put(_PAGE.read_text("utf-8"), sections))
    return 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reading",
        description="Measure page readers, and write their sections of "
        "benchmarks/results/benchmarks.md.",
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(_PARTS))
    parser.add_argument(
        "--peers",
        default=sys.executable,
        metavar="PYTHON",
        help="the Python that has the peers installed",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        help="a folder in WCXB's layout, with pages that our model was not trained on",
    )
    parser.add_argument(
        "--unseen",
        metavar="MODULE:FUNCTION",
        help="a function that reads each page with a model trained without it",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="NAME=MODULE:FUNCTION",
        help="one more candidate for the part quality",
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="measure this candidate and write nothing",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(_PARTS):
        parser.error(
            f"unknown part {', '.join(sorted(unknown))}; choose from "
            f"{', '.join(_PARTS)}"
        )
    return arguments


def _choose(arguments: argparse.Namespace) -> list[Candidate]:
    unseen = (
        [Candidate(quality.UNSEEN, arguments.unseen, ours=True)]
        if arguments.unseen
        else []
    )
    also = [
        Candidate(name, function, ours=True)
        for name, function in (named.split("=", 1) for named in arguments.also)
    ]
    chosen = [OURS, *unseen, *also, *(one for one in CANDIDATES if one is not OURS)]
    return [
        one
        for one in chosen
        if not arguments.only or one is OURS or one.name in arguments.only
    ]


def _find_installed(
    chosen: Sequence[Candidate], peers: str
) -> tuple[dict[Candidate, str], dict[str, str], list[str]]:
    """Return the interpreter of each installed candidate, the versions, and the names
    of the missing candidates.
    """
    installed: dict[Candidate, str] = {}
    versions: dict[str, str] = {}
    absent: list[str] = []
    for candidate in chosen:
        python = sys.executable if candidate.ours else peers
        try:
            with Reader(candidate, python) as reader:
                versions |= reader.versions
            installed[candidate] = python
        except Absent as error:
            if candidate.ours:
                sys.exit(f"{candidate.name} cannot read: {error}")
            absent.append(candidate.name)
    return installed, versions, absent


def _measure_documents(peers: str) -> Section:
    readers, versions, _ = _find_installed(DOCUMENTS, peers)
    return documents.section(documents.measure(readers), _describe_run(versions))


def _describe_run(versions: Mapping[str, str]) -> str:
    """Say when and with which versions is measured."""
    names = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return (
        f"Measured {datetime.now(UTC):%Y-%m-%d} with "
        f"{platform.python_implementation()} {platform.python_version()} on "
        f"{os.cpu_count()} cores ({platform.machine()}): {names}."
    )


def _describe_training(arguments: argparse.Namespace) -> str:
    """Say whether our model was trained on the pages."""
    if arguments.corpus:
        return "Our model has not seen these pages."
    seen = (
        f"Our model was trained on these pages, so the row {OURS.name} does not show "
        f"how well it reads others"
    )
    if arguments.unseen:
        return (
            f"{seen}. The row {quality.UNSEEN} does: there a model that was trained "
            f"without the pages of a site reads "
            "the pages of that site. The goals are judged by that row."
        )
    return f"{seen}."


def _draw(results: Mapping[str, Any]) -> None:
    """Draw the plots that have new results, with past results where a plot needs
    both.
    """
    _STORED.mkdir(parents=True, exist_ok=True)
    for part, result in results.items():
        (_STORED / f"{part}.pickle").write_bytes(pickle.dumps(result))
    stored = {
        path.stem: pickle.loads(path.read_bytes()) for path in _STORED.glob("*.pickle")
    }
    if "quality" in results:
        plots.kinds(stored["quality"])
    if "size" in results:
        plots.size(stored["size"])
    if results.keys() & {"quality", "speed"} and stored.keys() >= {"quality", "speed"}:
        plots.speed(stored["quality"], stored["speed"])


if __name__ == "__main__":
    sys.exit(main())
