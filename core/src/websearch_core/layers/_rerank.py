"""Put results in a better order."""

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
_SHARE = 0.8  # of the time that is left


@dataclass(frozen=True)
class Rerank(Layer):
    """Order results by how well their texts answer the query, as a function of yours
    says.

    More results are asked for than wanted, and the best of them are returned. If
    scoring fails, or takes more than four fifths of the time that is left, the order
    stays, and a note says so.

    Args:
        score: Takes the query and a list of texts, one for each result, and returns a
            number for each: the higher, the better. It may block, or be async.
        weight: How much the new order counts, from 0 to 1; the rest is the order of the
            provider, merged by reciprocal rank fusion.
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
        start = (query.page - 1) * query.limit // depth * depth
        end = query.page * query.limit
        try:
            for first in range(start, min(end, len(inside)), depth):
                part = slice(first, first + depth)
                scores = yield from self._rate(query.text, inside[part])
                ordered[part] = _reorder(inside[part], scores, self.layer.weight)
        except WebSearchError as error:
            failed = (
                f"reranking failed ({error.code}): the results are in their original "
                f"order"
            )
            response = response.with_notes(failed, partial=True)
            ordered = inside
        return response.model_copy(
            update={"results": take_page([*ordered, *outside], query)}
        )

    def _rate(self, query: str, results: Iterable[SearchResult]) -> Flow[list[float]]:
        """Return the scores; whatever the function raises becomes a `WebSearchError`,
        and is logged.
        """
        score: Any = self.layer.score
        # an object that is called, and not a function
        if inspect.iscoroutinefunction(type(score).__call__):
            score = score.__call__
        texts = [
            f"{result.title}\n{result.snippet or result.content or ''}"
            for result in results
        ]
        try:
            with time_limit(time_left() * _SHARE):
                rated = yield AuxiliaryCall(score, query, list(texts))
            return _check_scores(rated, len(texts))
        except WebSearchError:
            raise
        except Exception as bug:
            raise as_error(bug, "reranking") from bug


def _check_scores(rated: Any, count: int) -> list[float]:
    scores = [float(score) for score in rated]  # of an array of numpy, too
    if len(scores) != count:
        raise BadResponse(f"reranking failed: {len(scores)} scores for {count} texts")
    if not all(map(math.isfinite, scores)):
        raise BadResponse("reranking failed: a score is not a finite number")
    return scores


def _reorder(
    results: Sequence[SearchResult], scores: Sequence[float], weight: float
) -> list[SearchResult]:
    """Merge the order of *results* with that of *scores*, in which equal ones share the
    last of their ranks.
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
