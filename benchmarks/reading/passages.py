"""
Whether the part of a page that is read holds the answer: the passages for a question, and the first characters.

The pages are made of XQuAD (1,190 questions of 48 articles in twelve languages, CC BY-SA 4.0), which is looked for
beside the repository, at ``../shared/corpora/ir/xquad``. Four articles are a page.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Goal, Section, Table
from websearch_core.models import Page
from websearch_core.reading import find_phrase, pick_passages
from websearch_core.tokens import estimate_tokens

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpora" / "ir" / "xquad"

_LANGUAGES = {
    "en": "English", "de": "German", "es": "Spanish", "ro": "Romanian", "el": "Greek", "ru": "Russian",
    "tr": "Turkish", "ar": "Arabic", "hi": "Hindi", "vi": "Vietnamese", "th": "Thai", "zh": "Chinese",
}  # fmt: skip
_ARTICLES = 4  # on a page
_BUDGET = 1_800  # characters
_CHINESE = 3  # of its characters say what one of its does
_GOAL = 0.9
_LENGTHS = (125_000, 250_000, 500_000, 1_000_000)
_SLOWEST = 1.0  # seconds for 100,000 characters
_TOKENIZERS = ("cl100k_base", "o200k_base")


class Kept(NamedTuple):
    """
    How often the answer was kept.

    Args:
        questions: How many there were.
        length: Characters of a page, on average.
        budget: Characters that may be kept.
        first: The part of the answers that is among the first characters.
        passages: The part of them that is in the passages.
        seconds: What choosing the passages costs, for a question.

    """

    questions: int
    length: float
    budget: int
    first: float
    passages: float
    seconds: float


def measure() -> Section:
    """Ask every question of its page."""
    kept = {name: _kept(code) for code, name in _LANGUAGES.items()}
    best = max(one.passages for one in kept.values())
    worst = min(kept, key=lambda name: kept[name].passages)
    costs = [(length, _cost(length, pick_passages), _cost(length, find_phrase)) for length in _LENGTHS]
    per_page = max(max(by_query, by_phrase) / length * 100_000 for length, by_query, by_phrase in costs)
    return Section(
        title="The part that answers",
        method=(
            f"Pages of {_ARTICLES} articles of XQuAD, and every question asked of its page: how often the answer, word "
            f"for word, is in what is kept of it, marks included, with room for {_BUDGET:,} characters "
            f"({_BUDGET // _CHINESE} in Chinese). The questions were written by people who saw the paragraph, which "
            "flatters whatever looks for words: compare the columns and the languages, and do not take the numbers for "
            "a promise. The second table is of one long page; times are of the processor."
        ),
        tables=[
            Table(
                ("", "questions", "characters of a page", "first characters", "`query=`", "ms a question"),
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
                [(f"{length:,}", f"{a * 1000:.0f} ms", f"{b * 1000:.0f} ms") for length, a, b in costs],
            ),
            *_estimates(),
        ],
        goals=[
            Goal(
                f"the answer is kept at least {_GOAL:.0%} of the time in every language",
                f"{kept[worst].passages:.1%} ({worst}) to {best:.1%}; "
                f"{statistics.mean(one.first for one in kept.values()):.1%} by the first characters",
                kept[worst].passages >= _GOAL,
            ),
            Goal(
                f"100,000 characters cost less than {_SLOWEST:.0f} s, however long the page",
                f"{per_page * 1000:.0f} ms at most",
                per_page < _SLOWEST,
            ),
        ],
    )


def _pages(code: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the text of each page, and the questions with their answers."""
    articles = json.loads((CORPUS / f"xquad.{code}.json").read_text("utf-8"))["data"]
    for start in range(0, len(articles) - _ARTICLES + 1, _ARTICLES):
        paragraphs = [one for article in articles[start : start + _ARTICLES] for one in article["paragraphs"]]
        asked = [(one["question"], one["answers"][0]["text"]) for paragraph in paragraphs for one in paragraph["qas"]]
        yield "\n\n".join(paragraph["context"].strip() for paragraph in paragraphs), asked


def _kept(code: str) -> Kept:
    budget = _BUDGET // (_CHINESE if code == "zh" else 1)
    questions = first = chosen = 0
    seconds = 0.0
    lengths = []
    for text, asked in _pages(code):
        page = Page(url="https://page.example/", content=text)
        lengths.append(len(text))
        for question, answer in asked:
            started = time.process_time()
            part = pick_passages(page, question, budget)
            seconds += time.process_time() - started
            questions += 1
            first += answer in text[:budget]
            chosen += answer in part.content
    return Kept(questions, statistics.mean(lengths), budget, first / questions, chosen / questions, seconds / questions)


def _cost(length: int, choose: Callable[[Page, str, int], Page]) -> float:
    """Return the seconds that a part of a page of *length* takes, the best of three times."""
    text = "\n\n".join(f"## Page {n}\n\n{text}" for n, (text, _) in enumerate(_pages("en")))
    page = Page(url="https://page.example/", content=(text * (length // len(text) + 1))[:length])
    taken = []
    for _ in range(3):
        started = time.process_time()
        choose(page, "the Norman conquest", 15_000)
        taken.append(time.process_time() - started)
    return min(taken)


def _estimates() -> Iterator[Table]:
    """Compare the estimate of tokens with those tokenizers of OpenAI that LlamaIndex brings along."""
    llama_index = find_spec("llama_index.core")
    if llama_index is None or llama_index.origin is None or find_spec("tiktoken") is None:
        return
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(Path(llama_index.origin).parent / "_static" / "tiktoken_cache"))
    import tiktoken

    encodings = [tiktoken.get_encoding(name) for name in _TOKENIZERS]
    rows = []
    for code, name in _LANGUAGES.items():
        texts = [text[start : start + 5_000] for text, _ in _pages(code) for start in range(0, len(text), 5_000)]
        row = [name]
        for encoding in encodings:
            ratios = sorted(estimate_tokens(text) / len(encoding.encode(text)) for text in texts)
            row.append(f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
        rows.append(row)
    yield Table(("tokens estimated for each one there is", *_TOKENIZERS), rows)
