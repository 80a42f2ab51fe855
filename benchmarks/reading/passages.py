"""Measure how often an excerpt has the answer: the passages for a question, compared
with the first characters.

The pages are made from XQuAD (1,190 questions about 48 articles in twelve languages, CC
BY-SA 4.0), which is expected beside the repository, in ``../shared/corpora/ir/xquad``.
Four articles make a page.
"""

from __future__ import annotations
import json
import os
import statistics
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Goal, Section, Table
from websearch_core.models import Page
from websearch_core.reading import Excerpt
from websearch_core.tokens import estimate_tokens

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpora" / "ir" / "xquad"

LANGUAGES = {
    "en": "English", "de": "German", "es": "Spanish", "ro": "Romanian", "el": "Greek",
    "ru": "Russian",
    "tr": "Turkish", "ar": "Arabic", "hi": "Hindi", "vi": "Vietnamese", "th": "Thai",
    "zh": "Chinese",
}  # fmt: skip
_ARTICLES = 4  # of a page
_BUDGET = 1_800  # characters
_CHINESE = 3  # characters of other languages that say as much as one Chinese character
_GOAL = 0.9
_SOUGHT = "the Norman conquest"
_LENGTHS = (125_000, 250_000, 500_000, 1_000_000)
_MAX_SECONDS = 1.0  # for 100,000 characters
_TOKENIZERS = ("cl100k_base", "o200k_base")


class Kept(NamedTuple):
    """How often the excerpt had the answer.

    Args:
        questions: The number of questions.
        length: Average characters of a page.
        budget: Most characters of an excerpt.
        first: The share of answers among the first characters.
        passages: The share of answers in the passages.
        seconds: CPU time for picking the passages, per question.
    """

    questions: int
    length: float
    budget: int
    first: float
    passages: float
    seconds: float


def measure() -> Section:
    """Ask each page its questions, in all languages."""
    kept = {name: _measure_language(code) for code, name in LANGUAGES.items()}
    best = max(one.passages for one in kept.values())
    worst = min(kept, key=lambda name: kept[name].passages)
    ways = [
        Excerpt(query=_SOUGHT, max_length=15_000),
        Excerpt(find=_SOUGHT, max_length=15_000),
    ]
    costs = [
        (length, *(_measure_cost(length, way) for way in ways)) for length in _LENGTHS
    ]
    per_page = max(
        max(by_query, by_phrase) / length * 100_000
        for length, by_query, by_phrase in costs
    )
    return Section(
        title="The part that answers",
        method=(
            f"Each page has {_ARTICLES} articles of XQuAD, and every question is asked "
            f"of its page. The table says how "
            f"often the excerpt has the exact answer, with room for {_BUDGET:,} "
            f"characters ({_BUDGET // _CHINESE} in "
            "Chinese) including marks. The questions were written by people who saw "
            "the paragraph, which favours "
            "matching words: compare the columns and the languages, but do not take "
            "the numbers as a promise. The "
            "second table is about one long page. Times are CPU time."
        ),
        tables=[
            Table(
                (
                    "",
                    "questions",
                    "characters of a page",
                    "first characters",
                    "`query=`",
                    "ms a question",
                ),
                [
                    (
                        name,
                        f"{one.questions:,}",
                        f"{one.length:,.0f}",
                        f"{one.first:.1%}",
                        f"{one.passages:.1%}",
                        f"{one.seconds * 1000:.1f}",
                    )
                    for name, one in kept.items()
                ],
            ),
            Table(
                ("characters of a page", "`query=`", "`find=`"),
                [
                    (f"{length:,}", f"{a * 1000:.0f} ms", f"{b * 1000:.0f} ms")
                    for length, a, b in costs
                ],
            ),
            *_estimates(),
        ],
        goals=[
            Goal(
                f"the excerpt has the answer at least {_GOAL:.0%} of the time in every "
                f"language",
                f"{kept[worst].passages:.1%} ({worst}) to {best:.1%}; "
                f"{statistics.mean(one.first for one in kept.values()):.1%} with the "
                f"first characters",
                kept[worst].passages >= _GOAL,
            ),
            Goal(
                f"100,000 characters take less than {_MAX_SECONDS:.0f} s, however long "
                f"the page is",
                f"at most {per_page * 1000:.0f} ms",
                per_page < _MAX_SECONDS,
            ),
        ],
    )


def _pages(code: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the text of each page, and its questions with their answers."""
    articles = json.loads((CORPUS / f"xquad.{code}.json").read_text("utf-8"))["data"]
    for start in range(0, len(articles) - _ARTICLES + 1, _ARTICLES):
        paragraphs = [
            one
            for article in articles[start : start + _ARTICLES]
            for one in article["paragraphs"]
        ]
        questions = [
            (one["question"], one["answers"][0]["text"])
            for paragraph in paragraphs
            for one in paragraph["qas"]
        ]
        yield (
            "\n\n".join(paragraph["context"].strip() for paragraph in paragraphs),
            questions,
        )


def _measure_language(code: str) -> Kept:
    budget = _BUDGET // (_CHINESE if code == "zh" else 1)
    count = first = chosen = 0
    seconds = 0.0
    lengths = []
    for text, questions in _pages(code):
        page = Page(url="https://page.example/", content=text)
        lengths.append(len(text))
        for question, answer in questions:
            started = time.process_time()
            part = Excerpt(query=question, max_length=budget).of(page)
            seconds += time.process_time() - started
            count += 1
            first += answer in text[:budget]
            chosen += answer in part.content
    return Kept(
        count,
        statistics.mean(lengths),
        budget,
        first / count,
        chosen / count,
        seconds / count,
    )


def _measure_cost(length: int, excerpt: Excerpt) -> float:
    """Return the CPU time of one excerpt of a page of *length*: the best of three runs,
    in seconds.
    """
    text = "\n\n".join(
        f"## Page {n}\n\n{text}" for n, (text, _) in enumerate(_pages("en"))
    )
    page = Page(
        url="https://page.example/", content=(text * (length // len(text) + 1))[:length]
    )
    taken = []
    for _ in range(3):
        started = time.process_time()
        excerpt.of(page)
        taken.append(time.process_time() - started)
    return min(taken)


def _estimates() -> Iterator[Table]:
    """Compare our estimate of tokens with the OpenAI tokenizers that LlamaIndex
    ships.
    """
    llama_index = find_spec("llama_index.core")
    if (
        llama_index is None
        or llama_index.origin is None
        or find_spec("tiktoken") is None
    ):
        return
    os.environ.setdefault(
        "TIKTOKEN_CACHE_DIR",
        str(Path(llama_index.origin).parent / "_static" / "tiktoken_cache"),
    )
    import tiktoken

    encodings = [tiktoken.get_encoding(name) for name in _TOKENIZERS]
    rows = []
    for code, name in LANGUAGES.items():
        texts = [
            text[start : start + 5_000]
            for text, _ in _pages(code)
            for start in range(0, len(text), 5_000)
        ]
        row = [name]
        for encoding in encodings:
            ratios = sorted(
                estimate_tokens(text) / len(encoding.encode(text)) for text in texts
            )
            row.append(
                f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            )
        rows.append(row)
    yield Table(("estimated tokens for each actual token", *_TOKENIZERS), rows)
