"""Measure what reranking changes, through the layer that a program uses.

The documents and questions are those of Cranfield (1,400 abstracts of papers on
aerodynamics), which are expected beside the repository, in
``../shared/corpora/ir/cranfield``.
"""

from __future__ import annotations
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.fusion.runs import CORPUS, ndcg
from benchmarks.report import Goal, Section, Table
from websearch_core import WebSearch
from websearch_core._text.bm25 import Question, score_counts
from websearch_core._text.terms import split_terms
from websearch_core.flow import Flow
from websearch_core.layers import Rerank
from websearch_core.models import SearchQuery, SearchResponse, SearchResult

_WEIGHTS = (0.25, 0.5, 0.75, 1)
_SNIPPET = 40  # words
_FOUND = 20
_URL = "https://cranfield.example/"


class Document(NamedTuple):
    """An abstract."""

    title: str
    text: str

    @property
    def snippet(self) -> str:
        """Its beginning."""
        return " ".join(self.text.split()[:_SNIPPET])


@dataclass
class Engine:
    """A provider that ranks documents by BM25 over what *view* shows of each."""

    name: str
    documents: Mapping[str, Document]
    view: Callable[[Document], str]
    limits = {"results_per_request": _FOUND}  # noqa: RUF012 - as a provider declares it
    _forms: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self._forms = {
            key: [word.form for word in split_terms(self.view(one))]
            for key, one in self.documents.items()
        }

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Return the best documents, each with its title and the first words of its
        text.
        """
        question = Question(query.text)
        forms = list(self._forms.values())
        scores = score_counts(
            [question.count(each) for each in forms], list(map(len, forms))
        )
        best = sorted(zip(self._forms, scores, strict=True), key=lambda pair: -pair[1])[
            : query.limit
        ]
        results = tuple(
            SearchResult(
                title=one.title, url=_URL + key, snippet=one.snippet, provider=self.name
            )
            for key, score in best
            if score and (one := self.documents[key])
        )
        return SearchResponse(query=query.text, results=results, provider=self.name)
        yield


def measure_rerank() -> Section:
    """Compare the order of an engine with those of `Rerank`."""
    documents, questions = _load()
    rows, changes = [], []
    for name, view in _VIEWS.items():
        engine = Engine(name, documents, view)
        plain = _mean(WebSearch(engine), questions)
        lexical = [
            _mean(WebSearch(engine, layers=[Rerank(weight=weight)]), questions)
            for weight in _WEIGHTS
        ]
        changes.append(lexical[_WEIGHTS.index(0.5)] - plain)
        rows.append((name, *(f"{value:.3f}" for value in (plain, *lexical))))
    head = (
        "the engine sees",
        "its order",
        *(f"`weight={weight}`" for weight in _WEIGHTS),
    )
    return Section(
        title="Reranking",
        method=(
            f"nDCG@10 of {len(questions)} questions about {len(documents):,} abstracts "
            f"(Cranfield). The engine is a "
            "provider that ranks by BM25 and returns a title and the first "
            f"{_SNIPPET} words of a text. One engine sees only titles, the other whole "
            f"abstracts. `Rerank` gets the "
            f"first {_FOUND} results. Its columns are the built-in comparison of "
            f"words, with different weights of the "
            "new order; 0.5 is the default."
        ),
        tables=[Table(head, rows)],
        goals=[
            Goal(
                "the default makes neither engine worse",
                " and ".join(f"{change:+.3f}" for change in changes),
                min(changes) >= 0,
            )
        ],
        remark=(
            "The words of a snippet say less than what a good engine knows: alone "
            "(`weight=1`) they make its order "
            "worse, so they only correct it by default, and the gain is small. The "
            "default was chosen on these "
            "questions. No model was measured as `score=`."
        ),
    )


_VIEWS: dict[str, Callable[[Document], str]] = {
    "titles": lambda one: one.title,
    "whole abstracts": lambda one: f"{one.title}\n{one.text}",
}


def _mean(web: WebSearch, questions: Mapping[str, Mapping[str, int]]) -> float:
    with web:
        return statistics.mean(
            ndcg(
                [
                    result.url.removeprefix(_URL)
                    for result in web.search(text, limit=10).results
                ],
                grades,
            )
            for text, grades in questions.items()
        )


def _load() -> tuple[dict[str, Document], dict[str, dict[str, int]]]:
    """Return the documents, and the relevant ones of each question."""
    folder = CORPUS / "cranfield"
    documents = {}
    for record in re.findall(
        r"<doc>(.*?)</doc>",
        (folder / "cran.all.1400.xml").read_text("utf-8"),
        re.DOTALL,
    ):
        title, text = _element(record, "title"), _element(record, "text")
        documents[_element(record, "docno")] = Document(
            title, text.removeprefix(title).strip()
        )
    relevant: dict[int, dict[str, int]] = defaultdict(dict)
    for line in (folder / "cranqrel.trec.txt").read_text("utf-8").splitlines():
        question, _, document, grade = line.split()
        if int(grade) > 0:
            relevant[int(question)][document] = 1
    texts = re.findall(
        r"<title>(.*?)</title>", (folder / "cran.qry.xml").read_text("utf-8"), re.DOTALL
    )
    return documents, {
        " ".join(text.split()): relevant[n]
        for n, text in enumerate(texts, 1)
        if relevant[n]
    }


def _element(record: str, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", record, re.DOTALL)
    return " ".join(found[1].split()) if found else ""
