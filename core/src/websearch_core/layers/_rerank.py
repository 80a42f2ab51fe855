"""Order results again, by scores that the application's own function returns."""

from __future__ import annotations
import inspect
import math
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from .._runtime.bugs import as_error
from .._runtime.deadline import time_left, time_limit
from ..errors import BadResponse, ConfigurationError, WebSearchError
from ..flow import Flow
from ..flow._intercept import AuxiliaryCall
from ..models import SearchQuery, SearchResponse, SearchResult
from ._depth import deepen, find_depth, split, take_page
from ._layer import Layer, ProviderWrapper, Rank, check_numbers

Score: TypeAlias = Callable[
    [str, list[str]], "Sequence[float] | Awaitable[Sequence[float]]"
]
_K = 10  # of reciprocal rank fusion, as for `Fuse`
_TIME_SHARE = 0.8  # of the time that is left


@dataclass(frozen=True)
class Rerank(Layer):
    """Order results by how well their texts answer the query, which your own function
    scores.

    The layer asks for more results than the query wants, and returns the best of them.
    If scoring fails, or takes more than four fifths of the time that is left, the order
    stays, and a note says so.

    Args:
        score: Takes the query and a list of texts, one for each result, and returns a
            number for each: the higher, the better. It may block, or be async.
        weight: How much the new order counts, from 0 to 1. Below 1, it is merged with
            the order of the provider by reciprocal rank fusion.
        depth: How many results to order together, if the provider returns that many for
            one request.

    Raises:
        ConfigurationError: A value is invalid.
    """

    rank: ClassVar[int] = Rank.RERANK

    score: Score
    weight: float = 1.0
    depth: int = 20

    def __post_init__(self) -> None:
        if not callable(self.score):
            raise ConfigurationError(
                "Rerank: score: must be a function from a query and texts to their "
                "scores"
            )
        check_numbers(self, "weight", minimum=0, maximum=1)
        check_numbers(self, "depth", minimum=1, integer=True)


class _RerankProvider(ProviderWrapper[Rerank]):
    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        depth = find_depth(self.inner, self.layer.depth)
        response = yield from super().search(deepen(query, depth))
        inside, outside = split(response.results, query)
        ordered = list(inside)
        # Blocks of *depth* results are ordered, each on its own (see `_depth`): only
        # those that the page is in.
        start = (query.page - 1) * query.limit // depth * depth
        end = query.page * query.limit
        try:
            for first in range(start, min(end, len(inside)), depth):
                block = slice(first, first + depth)
                scores = yield from self._rate(query.text, inside[block])
                ordered[block] = _reorder(inside[block], scores, self.layer.weight)
        except WebSearchError as error:
            note = (
                f"reranking failed ({error.code}): the results are in their original "
                f"order"
            )
            response = response.with_notes(note, partial=True)
            ordered = inside
        return response.model_copy(
            update={"results": take_page([*ordered, *outside], query)}
        )

    def _rate(self, query: str, results: Iterable[SearchResult]) -> Flow[list[float]]:
        """Return the scores; whatever the function raises becomes a `WebSearchError`,
        and is logged.
        """
        score: Any = self.layer.score
        # A `Call` does not see that an object is async, only that its method is.
        if inspect.iscoroutinefunction(type(score).__call__):
            score = score.__call__
        texts = [
            f"{result.title}\n{result.snippet or result.content or ''}"
            for result in results
        ]
        try:
            with time_limit(time_left() * _TIME_SHARE):
                # a copy: the function may change its list
                scores = yield AuxiliaryCall(score, query, list(texts))
            return _check_scores(scores, len(texts))
        except WebSearchError:
            raise
        except Exception as bug:
            raise as_error(bug, "reranking") from bug


def _check_scores(values: Any, count: int) -> list[float]:
    scores = [float(value) for value in values]  # of an array of numpy, too
    if len(scores) != count:
        raise BadResponse(f"reranking failed: {len(scores)} scores for {count} texts")
    if not all(map(math.isfinite, scores)):
        raise BadResponse("reranking failed: a score is not a finite number")
    return scores


def _reorder(
    results: Sequence[SearchResult], scores: Sequence[float], weight: float
) -> list[SearchResult]:
    """Merge the order of *results* with that of their *scores*.

    Equal scores share a rank, so the order of *results* decides between them.
    """
    ascending = sorted(scores)
    ranks = [len(scores) - bisect_left(ascending, score) for score in scores]
    merged = [
        (1 - weight) / (_K + before) + weight / (_K + after)
        for before, after in enumerate(ranks, 1)
    ]
    order = sorted(range(len(results)), key=lambda n: (-merged[n], n))
    return [
        results[n].model_copy(update={"score": merged[n] if weight < 1 else scores[n]})
        for n in order
    ]
