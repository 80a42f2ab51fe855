"""Make claims and altered claims from the questions and answers of XQuAD."""

from __future__ import annotations
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from benchmarks.reading.passages import CORPUS
from websearch_core._text.sentences import SENTENCE_END, split_sentences

_RAISED = 3  # what a figure is altered by: a year stays plausible
_STATEMENTS = 3  # of each passage
_MIN_LENGTH, _MAX_LENGTH = 20, 400  # characters of a statement
_QUESTION_MARKS = "?？؟;\u037e "


class Question(NamedTuple):
    """A question, its answer, the number of its passage, and whether the answer is a
    name.
    """

    text: str
    answer: str
    passage: int
    is_name: bool


class Article(NamedTuple):
    """The passages of an article, and the questions about them."""

    passages: list[str]
    questions: list[Question]


class Claims(NamedTuple):
    """A claim, and the same claim with something altered.

    Args:
        text: Question and answer as one statement, on one line.
        passage: The number of the passage that supports it.
        kind: What was altered.
        altered: The altered claim, or nothing if it has neither a figure nor a name as
            its answer.
    """

    text: str
    passage: int
    kind: str = ""
    altered: str = ""


def load_articles(code: str) -> list[Article]:
    """Load the articles in one language."""
    names = _names()
    return [
        Article(
            [paragraph["context"] for paragraph in article["paragraphs"]],
            [
                Question(
                    one["question"], one["answers"][0]["text"], n, one["id"] in names
                )
                for n, paragraph in enumerate(article["paragraphs"], 1)
                for one in paragraph["qas"]
            ],
        )
        for article in _load(code)
    ]


def make_claims(article: Article) -> Iterator[Claims]:
    """Yield a claim for each question."""
    names = [
        one
        for one in article.questions
        if one.is_name and not re.search(r"\d", one.answer)
    ]
    for one in article.questions:
        text = _state(one.text, one.answer)
        figures = list(re.finditer(r"\d+", one.answer))
        if figures:
            last = figures[-1]
            raised = f"{one.answer[: last.start()]}{int(last[0]) + _RAISED}{one.answer[last.end() :]}"
            yield Claims(text, one.passage, "figure altered", _state(one.text, raised))
            continue
        others = {other.answer for other in names if other.passage != one.passage} - {
            one.answer
        }
        if one.is_name and others:
            other = min(
                others, key=lambda name: (abs(len(name) - len(one.answer)), name)
            )
            yield Claims(text, one.passage, "name altered", _state(one.text, other))
        else:
            yield Claims(text, one.passage)


def make_statements(article: Article) -> Iterator[tuple[str, int]]:
    """Yield the first sentences of each passage as statements, each with the number of
    its passage.
    """
    for n, passage in enumerate(article.passages, 1):
        for start, end in islice(split_sentences(passage), _STATEMENTS):
            statement = _join(passage[start:end])
            if _MIN_LENGTH <= len(statement) <= _MAX_LENGTH:
                yield statement, n


def _state(question: str, answer: str) -> str:
    return _join(f"{question.rstrip(_QUESTION_MARKS)} {answer.rstrip('.')}")


def _join(text: str) -> str:
    """Return *text* as one sentence without citations."""
    return " ".join(SENTENCE_END.sub(" ", text.replace("[", "(")).split())


@cache
def _names() -> frozenset[str]:
    """Return the questions whose answer in English begins with a capital."""
    questions = (
        one
        for article in _load("en")
        for paragraph in article["paragraphs"]
        for one in paragraph["qas"]
    )
    return frozenset(
        one["id"] for one in questions if one["answers"][0]["text"][:1].isupper()
    )


@cache
def _load(code: str) -> list[Any]:
    articles: list[Any] = json.loads(
        (CORPUS / f"xquad.{code}.json").read_text("utf-8")
    )["data"]
    return articles
