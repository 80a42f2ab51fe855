"""Ask several providers at once, and merge what they find."""

from __future__ import annotations
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, ClassVar, NamedTuple

from .._runtime.bugs import contain_bugs
from .._runtime.deadline import time_left, time_limit
from ..errors import (
    AllProvidersFailed,
    BudgetExceeded,
    ConfigurationError,
    ServiceError,
    UnsupportedOption,
    WebSearchError,
)
from ..events import ProviderSkipped, emit
from ..flow import Flow, Gather
from ..models import SearchQuery, SearchResponse, SearchResult
from ..models._outcomes import Outcome, find_outcomes
from ..provider._ports import Provider
from ._depth import deepen, find_depth, split, take_page
from ._layer import (
    Layer,
    ProviderGroup,
    Rank,
    address,
    ask_provider,
    check_numbers,
    leaves,
)
from ._merge import Answer, merge_answers

# after any other error, the search fails
_SKIPPED = (ServiceError, UnsupportedOption, BudgetExceeded)


class _Attempt(NamedTuple):
    """How asking one provider ended."""

    end: Answer | WebSearchError
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Fuse(Layer):
    """Search with several providers at once, and merge their results by reciprocal rank
    fusion.

    A page that several of them find comes first; ``found_by`` says who found it, and at
    which rank. A provider that fails, is too slow or does not support an option is left
    out, with a note, a `ProviderSkipped` for a hook, and its outcome in ``outcomes``.
    With this layer, pages are still read by one reader after the other.

    Args:
        k: The constant of reciprocal rank fusion: the smaller, the more the first ranks
            count.
        results_per_provider: How many results of each to merge together, if it returns
            that many for one request; for more, the next ones are asked for, too. More
            than the limit of the query makes the merged ranking better.
        wait_for_others: The share of the time of the search that is spent on waiting
            for the providers, up to 1.

    Raises:
        ConfigurationError: A value is invalid.
    """

    rank: ClassVar[int] = Rank.COMBINE

    k: float = 10
    results_per_provider: int = 20
    wait_for_others: float = 0.8

    def __post_init__(self) -> None:
        check_numbers(self, "k", minimum=0)
        check_numbers(self, "results_per_provider", minimum=1, integer=True)
        check_numbers(self, "wait_for_others", minimum=0, maximum=1)
        if self.k == math.inf:
            raise ConfigurationError("Fuse: k: must be finite")
        if not self.wait_for_others:
            raise ConfigurationError("Fuse: wait_for_others: must be more than 0")


class _FuseProvider(ProviderGroup[Fuse]):
    separator = "+"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        asks = [self._ask(provider, query) for provider in self.inner]
        with time_limit(time_left() * self.layer.wait_for_others):
            attempts: Sequence[_Attempt] = yield Gather(asks, limit=len(asks))
        answers: list[Answer] = []
        failures: list[WebSearchError] = []
        notes: list[str] = []
        outcomes: list[Outcome] = []
        for provider, attempt in zip(self.inner, attempts, strict=True):
            outcomes += attempt.outcomes
            if isinstance(attempt.end, Answer):
                answers.append(attempt.end)
            else:
                failures.append(attempt.end)
                notes.append(_describe_absence(provider.name, attempt.end))
        self._check(answers, failures)
        merged = merge_answers(answers, self.layer.k)
        results = take_page(merged.results, query)
        page = merged.model_copy(
            update={"results": results, "outcomes": tuple(outcomes)}
        )
        return page.with_notes(*notes, partial=bool(failures))

    def _check(
        self, answers: Sequence[Answer], failures: Sequence[WebSearchError]
    ) -> None:
        """Raise the error that ends the search, or the one of all providers."""
        for failure in failures:
            if not isinstance(failure, _SKIPPED):
                raise failure
        if answers:
            return
        if all(isinstance(failure, BudgetExceeded) for failure in failures):
            raise failures[0]
        reasons = "; ".join(failure.summary for failure in failures)
        raise AllProvidersFailed(f"every provider failed: {reasons}", failures)

    def _ask(self, provider: Provider, query: SearchQuery) -> Flow[_Attempt]:
        began = monotonic()
        try:
            answer = yield from contain_bugs(
                partial(self._search, provider, query), provider.name, "search"
            )
        except WebSearchError as failure:
            if isinstance(failure, _SKIPPED):
                emit(ProviderSkipped(provider=provider.name, error=failure))
            seconds = monotonic() - began
            outcome = Outcome.of_failure(provider.name, seconds, failure)
            return _Attempt(failure, (outcome,))
        seconds = monotonic() - began
        outcomes = find_outcomes(answer.response, provider.name, seconds)
        return _Attempt(answer, outcomes)

    def _search(self, provider: Provider, query: SearchQuery) -> Flow[Answer]:
        depth = find_depth(provider, self.layer.results_per_provider)
        response = yield from ask_provider(
            provider, "search", deepen(address(query, provider, *self.inner), depth)
        )
        inside, outside = split(response.results, query)
        response = response.model_copy(update={"results": (*inside, *outside)})
        engines = [_find_engines(provider, result) for result in response.results]
        return Answer(provider.name, response, engines, depth)


def _find_engines(provider: Provider, result: SearchResult) -> tuple[str, ...]:
    """Return the engines behind a result: those that the provider names, or the
    provider itself.
    """
    name = result.provider or provider.name
    leaf = next((leaf for leaf in leaves(provider) if leaf.name == name), None)
    find_engines: Any = getattr(leaf, "find_engines", None)
    if find_engines is None:
        return (name,)
    return tuple(find_engines(result)) or (name,)


def _describe_absence(name: str, failure: WebSearchError) -> str:
    if isinstance(failure, UnsupportedOption) and failure.options:
        return f"{name} does not support {', '.join(failure.options)}: left out"
    return f"{name} failed ({failure.code}): left out"
