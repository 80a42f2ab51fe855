"""Merge the answers of several providers by reciprocal rank fusion.

Cormack, Clarke and Büttcher, 2009, https://doi.org/10.1145/1571941.1572114: a result
gets 1 / (k + rank) from each that found it. Only ranks count, since the scores of
different services cannot be compared.
"""

from __future__ import annotations
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    several = len(answers) > 1
    responses = [answer.response for answer in answers]
    costs = [response.cost for response in responses if response.cost is not None]
    ids = [
        (answer.name, answer.response.request_id)
        for answer in answers
        if answer.response.request_id
    ]
    suggestions: dict[str, str] = {}
    for text in (text for one in responses for text in one.suggestions):
        suggestions.setdefault(text.casefold(), text)
    notes = [
        note if not several or note.startswith(one.name) else f"{one.name}: {note}"
        for one in answers
        for note in one.response.notes
    ]
    merged = SearchResponse(
        query=responses[0].query,
        results=merge_results(answers, k),
        provider="+".join(answer.name for answer in answers),
        answer=_merge_texts(answers),
        images=_merge_images(responses),
        suggestions=tuple(suggestions.values()),
        notes=tuple(dict.fromkeys(notes)),
        request_id=", ".join(
            f"{name}={value}" if several else value for name, value in ids
        )
        or None,
        cost=math.fsum(costs) if costs else None,
        usage={
            f"{one.name}.{unit}" if several else unit: amount
            for one in answers
            for unit, amount in one.response.usage.items()
        },
        raw={answer.name: answer.response.raw for answer in answers}
        if several
        else responses[0].raw,
    )
    return merged.with_notes(partial=any(one._is_partial for one in responses))  # noqa: SLF001 - private to users


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
    first = [(min(find.round for find in finds), finds) for finds in pages.values()]
    kept = [
        sorted((find for find in finds if find.round == earliest), key=_order)
        for earliest, finds in first
    ]
    scored = [(_score(finds, k), finds) for finds in kept]
    scored.sort(key=lambda pair: (pair[1][0].round, -pair[0], _order(pair[1][0])))
    return tuple(
        _merge_finds(finds, score).model_copy(update={"rank": n, "citation_id": n})
        for n, (score, finds) in enumerate(scored, 1)
    )


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
    # a longer one may track
    urls = [
        (not one.url.startswith("https:"), len(one.url), one.url) for one in results
    ]
    found_by: dict[str, int] = {}
    for find in finds:
        found_by.setdefault(find.finder, find.rank)
    dates = [result.published for result in results if result.published]
    return results[0].model_copy(
        update={
            "url": min(urls)[-1],
            "title": next(
                (one.title for one in results if one.title and one.title != one.url),
                results[0].title,
            ),
            "snippet": max((result.snippet for result in results), key=len),
            "content": max(
                (result.content for result in results if result.content),
                key=len,
                default=None,
            ),
            "author": next(
                (result.author for result in results if result.author), None
            ),
            "published": next(
                (date for date in dates if date.hour or date.minute),
                dates[0] if dates else None,
            ),
            "provider": finds[0].finder,
            "score": score,
            "found_by": tuple(found_by.items()),
        }
    )


def _merge_texts(answers: Sequence[Answer]) -> str | None:
    """Return the direct answer; if there are different ones, each with the provider
    that gave it.
    """
    texts: dict[str, str] = {}
    for answer in answers:
        if text := answer.response.answer:
            texts.setdefault(text, answer.name)
    if len(texts) > 1:
        return "\n\n".join(f"{text} ({name})" for text, name in texts.items())
    return next(iter(texts), None)


def _merge_images(responses: Iterable[SearchResponse]) -> tuple[Image, ...]:
    images: dict[str, Image] = {}
    for response in responses:
        for image in response.images:
            before = images.setdefault(image.url, image)
            if (image.description and not before.description) or (
                image.page_url and not before.page_url
            ):
                more = {"description": before.description or image.description}
                images[image.url] = before.model_copy(
                    update={**more, "page_url": before.page_url or image.page_url}
                )
    return tuple(images.values())
