"""Merge the answers of several providers by reciprocal rank fusion.

Cormack, Clarke and Büttcher, 2009, https://doi.org/10.1145/1571941.1572114: a result
gets 1 / (k + rank) from each that found it. Only ranks count, since the scores of
different services cannot be compared.
"""

from __future__ import annotations
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from .._text.urls import find_page
from ..models import Image, SearchResponse, SearchResult


@dataclass(frozen=True)
class Answer:
    """What one provider answered.

    ``engines`` are those behind each result; the first ``depth`` results are merged
    before the next ones.
    """

    name: str
    response: SearchResponse
    engines: Sequence[Sequence[str]]
    depth: float = math.inf


class _Find(NamedTuple):
    """One provider's result. Finds are sorted by rank, then by the order in which the
    providers are named.
    """

    rank: int
    turn: int
    answer: Answer

    @property
    def result(self) -> SearchResult:
        return self.answer.response.results[self.rank - 1]

    @property
    def engines(self) -> Sequence[str]:
        return self.answer.engines[self.rank - 1]

    @property
    def round(self) -> float:
        return (self.rank - 1) // self.answer.depth

    @property
    def finder(self) -> str:
        return self.result.provider or self.answer.name


def merge_answers(answers: Sequence[Answer], k: float) -> SearchResponse:
    """Merge responses, in the order of the providers, into one with all of their
    results. The smaller *k*, the constant of reciprocal rank fusion, the more the first
    ranks count.
    """
    results = merge_results(answers, k)
    if len(answers) == 1:
        response = answers[0].response
        notes = tuple(dict.fromkeys(response.notes))
        update = {"provider": answers[0].name, "results": results, "notes": notes}
        return response.model_copy(update=update)
    responses = [answer.response for answer in answers]
    costs = [response.cost for response in responses if response.cost is not None]
    is_partial = any(response._is_partial for response in responses)  # noqa: SLF001
    merged = SearchResponse(
        query=responses[0].query,
        results=results,
        provider="+".join(answer.name for answer in answers),
        answer=_merge_texts(answers),
        images=_merge_images(responses),
        suggestions=_merge_suggestions(responses),
        notes=_merge_notes(answers),
        request_id=_merge_request_ids(answers),
        cost=math.fsum(costs) if costs else None,
        usage=_merge_usage(answers),
        raw={answer.name: answer.response.raw for answer in answers},
    )
    return merged.with_notes(partial=is_partial)


def _merge_suggestions(responses: Iterable[SearchResponse]) -> tuple[str, ...]:
    """Return each suggestion once, whatever its case."""
    suggestions: dict[str, str] = {}
    for response in responses:
        for text in response.suggestions:
            suggestions.setdefault(text.casefold(), text)
    return tuple(suggestions.values())


def _merge_notes(answers: Iterable[Answer]) -> tuple[str, ...]:
    """Return the notes, each of which names its provider."""
    notes: list[str] = []
    for answer in answers:
        for note in answer.response.notes:
            prefix = "" if note.startswith(answer.name) else f"{answer.name}: "
            notes.append(f"{prefix}{note}")
    return tuple(dict.fromkeys(notes))


def _merge_request_ids(answers: Iterable[Answer]) -> str | None:
    ids = [
        f"{answer.name}={answer.response.request_id}"
        for answer in answers
        if answer.response.request_id
    ]
    return ", ".join(ids) or None


def _merge_usage(answers: Iterable[Answer]) -> dict[str, float]:
    usage: dict[str, float] = {}
    for answer in answers:
        for unit, amount in answer.response.usage.items():
            usage[f"{answer.name}.{unit}"] = amount
    return usage


def merge_results(answers: Sequence[Answer], k: float) -> tuple[SearchResult, ...]:
    """Merge the results of *answers*, best first; each page occurs once.

    Each engine votes once for a page, with its best rank. Among equal scores, the best
    rank decides, then the order of the providers. Who finds a page again among deeper
    results than the first who found it has no vote.
    """
    pages: dict[str, list[_Find]] = {}
    for turn, answer in enumerate(answers):
        for rank, result in enumerate(answer.response.results, 1):
            pages.setdefault(find_page(result.url), []).append(
                _Find(rank, turn, answer)
            )
    candidates: list[tuple[float, list[_Find]]] = []
    for finds in pages.values():
        voters = _find_voters(finds)
        candidates.append((_score(voters, k), voters))
    candidates.sort(key=_order_of_candidate)
    results: list[SearchResult] = []
    for rank, (score, finds) in enumerate(candidates, 1):
        result = _merge_finds(finds, score)
        place = {"rank": rank, "citation_id": rank}
        results.append(result.model_copy(update=place))
    return tuple(results)


def _find_voters(finds: Sequence[_Find]) -> list[_Find]:
    """Return the finds of one page among the first results that have it, in order."""
    earliest = min(find.round for find in finds)
    return sorted((find for find in finds if find.round == earliest), key=_order)


def _order_of_candidate(
    candidate: tuple[float, list[_Find]],
) -> tuple[float, float, tuple[int, int]]:
    score, finds = candidate
    return finds[0].round, -score, _order(finds[0])


def _order(find: _Find) -> tuple[int, int]:
    return find.rank, find.turn


def _score(finds: Iterable[_Find], k: float) -> float:
    best: dict[str, int] = {}
    for find in finds:
        for engine in find.engines:
            best[engine] = min(find.rank, best.get(engine, find.rank))
    # exact: the order of the providers changes no digit
    return math.fsum(1 / (k + rank) for rank in best.values())


def _merge_finds(finds: Sequence[_Find], score: float) -> SearchResult:
    """Return the best-ranked of the finds of one page, with what the others know
    better.
    """
    results = [find.result for find in finds]
    found_by: dict[str, int] = {}
    for find in finds:
        found_by.setdefault(find.finder, find.rank)
    contents = [result.content for result in results if result.content]
    authors = [result.author for result in results if result.author]
    return results[0].model_copy(
        update={
            "url": min((result.url for result in results), key=_order_of_url),
            "title": _find_title(results),
            "snippet": max((result.snippet for result in results), key=len),
            "content": max(contents, key=len, default=None),
            "author": next(iter(authors), None),
            "published": _find_date(results),
            "provider": finds[0].finder,
            "score": score,
            "found_by": tuple(found_by.items()),
        }
    )


def _order_of_url(url: str) -> tuple[bool, int, str]:
    """Prefer https, then the shorter one: a longer one may track."""
    return not url.startswith("https:"), len(url), url


def _find_title(results: Sequence[SearchResult]) -> str:
    """Return the first title that is not just the URL."""
    for result in results:
        if result.title and result.title != result.url:
            return result.title
    return results[0].title


def _find_date(results: Sequence[SearchResult]) -> datetime | None:
    """Return the first date with a time, else the first date."""
    dates = [result.published for result in results if result.published]
    for date in dates:
        if date.hour or date.minute:
            return date
    return next(iter(dates), None)


def _merge_texts(answers: Sequence[Answer]) -> str | None:
    """Return the direct answer; if there are different ones, each with the provider
    that gave it.
    """
    texts: dict[str, str] = {}
    for answer in answers:
        text = answer.response.answer
        if text:
            texts.setdefault(text, answer.name)
    if len(texts) > 1:
        return "\n\n".join(f"{text} ({name})" for text, name in texts.items())
    return next(iter(texts), None)


def _merge_images(responses: Iterable[SearchResponse]) -> tuple[Image, ...]:
    images: dict[str, Image] = {}
    for response in responses:
        for image in response.images:
            before = images.setdefault(image.url, image)
            facts = {
                "description": before.description or image.description,
                "page_url": before.page_url or image.page_url,
            }
            images[image.url] = before.model_copy(update=facts)
    return tuple(images.values())
