"""Measure what several providers at once and reranking are worth, and what they cost;
write ``docs/measured/fusion.md``.

    python -m benchmarks.fusion
"""

from __future__ import annotations
import sys
from pathlib import Path

from benchmarks.fusion.quality import measure_quality
from benchmarks.fusion.rerank import measure_rerank
from benchmarks.fusion.runs import CORPUS
from benchmarks.fusion.waiting import measure_waiting
from benchmarks.report import store

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "fusion.md"
_HEAD = """<!-- Written by `make bench-fusion`. Do not edit. -->

# Several providers at once

What it is worth to merge the results of several providers, to rerank results, and what it costs. [Several providers
at once](../fusion.md) says how it works.
"""


def main() -> int:
    """Write the page, or say why not."""
    if not CORPUS.is_dir():
        print(
            "skipped: the runs of TREC are not in ../shared/corpora/ir", file=sys.stderr
        )
        return 0
    sections = [measure_quality(), measure_rerank(), measure_waiting()]
    store(_PAGE, "\n\n".join([_HEAD.rstrip(), *map(str, sections)]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
