"""Results of real search systems, replayed as providers.

16 runs of the TREC 2003 Robust track (newspapers, 100 topics), each cut to its first
results, as a service would answer. They are expected beside the repository, in
``../shared/corpora/ir/robust03_runs``; they are NIST's, and are not part of it.
"""

from __future__ import annotations
import gzip
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from websearch_core.flow import Flow
from websearch_core.models import SearchQuery, SearchResponse, SearchResult

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpora" / "ir"
_URL = "https://trec.example/"
_CUT = 10  # nDCG@10


@dataclass(frozen=True)
class Run:
    """A provider that finds, for the number of a topic, what a system of 2003 found."""

    name: str
    found: Mapping[str, Sequence[str]]
    limits = {"results_per_request": 20}  # noqa: RUF012 - as a provider declares it

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Return the first results of the run."""
        results = tuple(
            SearchResult(
                title=document, url=_URL + document, provider=self.name, rank=n
            )
            for n, document in enumerate(
                self.found.get(query.text, ())[: query.limit], 1
            )
        )
        return SearchResponse(query=query.text, results=results, provider=self.name)
        yield


def load_runs(depth: int) -> list[Run]:
    """Return the runs, each cut to its *depth* best results for a topic."""
    runs = []
    for path in sorted((CORPUS / "robust03_runs").glob("input.*.gz")):
        scored: dict[str, list[tuple[float, str]]] = defaultdict(list)
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
            for parts in map(str.split, lines):
                if len(parts) >= 6:
                    scored[parts[0]].append((-float(parts[4]), parts[2]))
        found = {
            topic: [document for _, document in sorted(each)[:depth]]
            for topic, each in scored.items()
        }
        runs.append(Run(path.name.removeprefix("input.").removesuffix(".gz"), found))
    return runs


def load_judgements() -> dict[str, dict[str, int]]:
    """Return the grade of each judged document of the topics that have a relevant
    one.
    """
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with gzip.open(
        CORPUS / "robust03_runs" / "robust03_qrels.txt.gz", "rt", encoding="utf-8"
    ) as lines:
        for topic, _, document, grade in map(str.split, lines):
            grades[topic][document] = max(int(grade), 0)
    return {topic: each for topic, each in sorted(grades.items()) if any(each.values())}


def documents_of(response: SearchResponse) -> list[str]:
    """Return the documents of a response, in order."""
    return [result.url.removeprefix(_URL) for result in response.results]


def ndcg(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return nDCG@10 of *ranking*, with the grades as gains (Järvelin and Kekäläinen,
    2002).
    """
    ideal = sorted(grades.values(), reverse=True)
    return _gain([grades.get(one, 0) for one in ranking]) / (_gain(ideal) or 1.0)


def _gain(grades: Sequence[int]) -> float:
    return math.fsum(grade / math.log2(n + 2) for n, grade in enumerate(grades[:_CUT]))
