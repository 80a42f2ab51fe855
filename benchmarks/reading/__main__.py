"""
Reading pages: ours and the peers, on pages of which it is known what they say.

::

    make bench-reading                                                                  # everything
    .venv/bin/python -m benchmarks.reading --peers build/peers/bin/python quality       # one section

Writes its sections of ``docs/measured/benchmarks.md``, and ``docs/measured/plots``; with ``--only``, nothing. The
sections on many pages at once and on passages (of XQuAD, beside WCXB) measure only our reader. The requirements of the
peers may contradict ours, so they have an environment of their own, never ``.venv``.
"""

from __future__ import annotations

import argparse
import os
import pickle
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.reading import encodings, passages, plots, pool, quality, size, speed
from benchmarks.reading.candidates import CANDIDATES, OURS, Candidate
from benchmarks.reading.process import Absent, Reader
from benchmarks.report import Section, put
from training.corpus import ROOT, mozilla, wcxb

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = _ROOT / "docs" / "measured" / "benchmarks.md"
_STORED = _ROOT / "build" / "reading"  # what was measured, for the plot that needs two measurements
_PARTS = ("quality", "speed", "size", "encodings", "pool", "passages")


def main() -> int:
    """Measure what is asked for; the exit status is 0 whether or not the goals were met, since machines differ."""
    asked = _arguments()
    corpus, structure = asked.corpus or ROOT / "wcxb", ROOT / "mozilla"
    pages = wcxb(corpus) if (corpus / "metadata.json").exists() else []
    if not pages:
        sys.exit(f"there are no pages in {corpus}: get WCXB and name its folder with --corpus")

    installed, versions, absent = _installed(_chosen(asked), asked.peers)
    measured = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} with {platform.python_implementation()} {platform.python_version()} on "
        f"{os.cpu_count()} cores ({platform.machine()}): "
        + ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
        + "."
    )
    sample = speed.sample(pages)
    timed = {candidate: python for candidate, python in installed.items() if candidate in CANDIDATES}
    results: dict[str, Any] = {}
    sections: list[Section] = []
    for part in asked.parts or _PARTS:
        print(f"measuring {part} ...", file=sys.stderr, flush=True)
        if part == "quality":
            scores = {one.name: quality.measure(one, python, pages) for one, python in installed.items()}
            known = mozilla(structure)
            kept = {one.name: quality.measure(one, python, known) for one, python in timed.items()} if known else {}
            results[part] = scores
            section = quality.section(scores, kept, absent, seen=_seen(asked), measured=measured)
        elif part == "speed":
            results[part] = speed.measure(timed, sample)
            section = speed.section(results[part], sample, measured)
        elif part == "size":
            results[part] = size.measure(timed, pages)
            section = size.section(results[part], measured)
        elif part == "encodings":
            section = encodings.section(encodings.measure(timed), measured)
        elif part == "pool":
            section = pool.measure(corpus)
        elif passages.CORPUS.is_dir():
            section = passages.measure()
        else:
            print(f"there is no XQuAD in {passages.CORPUS}", file=sys.stderr)
            continue
        print(section, end="\n\n", flush=True)
        sections.append(section)
    if not asked.only:
        _draw(results)
        _PAGE.write_text(put(_PAGE.read_text("utf-8"), sections), "utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Measure reading, and write its sections of docs/measured/benchmarks.md."
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(_PARTS))
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="the interpreter that has the peers")
    parser.add_argument("--corpus", type=Path, help="a folder in WCXB's layout, of pages our model was not trained on")
    parser.add_argument(
        "--unseen", metavar="MODULE:FUNCTION", help="ours, reading each page by a model that was trained without it"
    )
    parser.add_argument(
        "--also", action="append", default=[], metavar="NAME=MODULE:FUNCTION", help="another candidate, for quality"
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="this candidate; nothing is written")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(_PARTS):
        parser.error(f"no part called {', '.join(sorted(unknown))}; there are {', '.join(_PARTS)}")
    return asked


def _chosen(asked: argparse.Namespace) -> list[Candidate]:
    unseen = [Candidate(quality.UNSEEN, asked.unseen, ours=True)] if asked.unseen else []
    also = [Candidate(name, function, ours=True) for name, function in (named.split("=", 1) for named in asked.also)]
    chosen = [OURS, *unseen, *also, *(one for one in CANDIDATES if one is not OURS)]
    return [one for one in chosen if not asked.only or one is OURS or one.name in asked.only]


def _installed(chosen: Sequence[Candidate], peers: str) -> tuple[dict[Candidate, str], dict[str, str], list[str]]:
    """Return the interpreter of each candidate that can be asked, the versions there are, and who is absent."""
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
                sys.exit(f"{candidate.name} cannot be asked: {error}")
            absent.append(candidate.name)
    return installed, versions, absent


def _seen(asked: argparse.Namespace) -> str:
    """Say what our model knows of the pages."""
    if asked.corpus:
        return "Our model has not seen these pages."
    seen = f"Our model was trained on these pages: the row {OURS.name} says how well it knows them"
    if asked.unseen:
        return (
            f"{seen}, {quality.UNSEEN} how well it reads others, since there each page is read by a model that was "
            "trained without the pages of its site. The goals are judged by the latter."
        )
    return f"{seen}, and not how well it reads others."


def _draw(results: Mapping[str, Any]) -> None:
    """Draw what was measured now, and what needs what was measured before."""
    _STORED.mkdir(parents=True, exist_ok=True)
    for part, result in results.items():
        (_STORED / f"{part}.pickle").write_bytes(pickle.dumps(result))
    stored = {path.stem: pickle.loads(path.read_bytes()) for path in _STORED.glob("*.pickle")}
    if "quality" in results:
        plots.kinds(stored["quality"])
    if "size" in results:
        plots.size(stored["size"])
    if results.keys() & {"quality", "speed"} and stored.keys() >= {"quality", "speed"}:
        plots.speed(stored["quality"], stored["speed"])


if __name__ == "__main__":
    sys.exit(main())
