"""Try the next provider when one fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from .._bugs import contain_bugs
from .._deadline import time_left, time_limit
from .._observe import find_outcomes, is_empty
from .._outcomes import Outcome
from ..errors import (
    AllProvidersFailed,
    ConfigurationError,
    ServiceError,
    UnsupportedOption,
    WebSearchError,
)
from ..events import Failover, emit
from ..flow import Flow
from ..models import Page, SearchQuery, SearchResponse
from ..provider._ports import Provider
from ._layer import Rank, empty_error, options_of, read_many, reader, searcher

A = TypeVar("A", SearchResponse, Page)


@dataclass(frozen=True)
class Fallback:
    """
    Ask providers in order until one answers. The ``outcomes`` of the answer say how each ended, and a note who failed.

    Each gets a fair share of the remaining time, so that a hanging provider does not use up the time of the next. A
    provider that does not support an option of the query is skipped too.

    Args:
        inner: The providers to ask, in order; omit it in ``WebSearch(layers=[Fallback(...)])``.
        after: The errors after which the next provider is asked; any other error ends the search.
        tacit: The errors that the note does not mention.
        on_empty: Whether the next provider is also asked if one finds nothing. If none finds anything, the first empty
            answer is returned.

    """

    rank: ClassVar[Rank] = Rank.COMBINE

    inner: tuple[Provider, ...] = ()
    after: tuple[type[WebSearchError], ...] = (ServiceError, UnsupportedOption)
    tacit: tuple[type[WebSearchError], ...] = ()
    on_empty: bool = False

    def __post_init__(self) -> None:
        for field in ("after", "tacit"):
            kinds = getattr(self, field)
            if not isinstance(kinds, tuple) or not all(
                isinstance(k, type) and issubclass(k, WebSearchError) for k in kinds
            ):
                raise ConfigurationError(f"Fallback: {field}: must be a tuple of classes of websearch_core.errors")
        if not isinstance(self.on_empty, bool):
            raise ConfigurationError("Fallback: on_empty: must be True or False")

    @property
    def name(self) -> str:
        """The names of the providers, in order."""
        if not self.inner:
            raise empty_error(self)
        return "|".join(provider.name for provider in self.inner)

    @property
    def options(self) -> frozenset[str]:
        """The options that any of them supports."""
        return frozenset().union(*map(options_of, self.inner))

    @property
    def providers(self) -> tuple[Provider, ...]:
        """The same as ``inner``."""
        return self.inner

    def wrap(self, inner: tuple[Provider, ...], /) -> Fallback:
        """Return a copy of this layer around *inner*."""
        return replace(self, inner=inner)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search with the first provider that succeeds."""
        return self._try_each(lambda provider: searcher(self, provider).search(query))

    def read(self, url: str, /) -> Flow[Page]:
        """Read with the first provider that succeeds."""
        return self._try_each(lambda provider: contain_bugs(lambda: reader(self, provider).read(url), provider.name))

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages with the first provider, those that it cannot read with the next, and so on."""
        if not self.inner:
            raise empty_error(self)
        answers: dict[str, Page | WebSearchError] = {}
        trails: dict[str, _Trail[Page]] = {url: _Trail(self.tacit) for url in urls}
        for turn, provider in enumerate(self.inner):
            left = [url for url in trails if url not in answers]
            began = monotonic()
            with time_limit(time_left() / (len(self.inner) - turn)):
                found = yield from self._read_all(provider, left)
            for url, answer in found.items():
                trail = trails[url]
                if isinstance(answer, self.after):
                    trail.add_failure(provider, answer, monotonic() - began)
                    self._announce(provider, answer, turn + 1)
                elif isinstance(answer, WebSearchError):
                    answers[url] = answer
                else:
                    answers[url] = trail.finish(answer, provider, monotonic() - began)
        return [answers.get(url) or trails[url].fail() for url in urls]

    def _read_all(self, provider: Provider, urls: Sequence[str]) -> Flow[dict[str, Page | WebSearchError]]:
        if not urls:
            return {}
        try:
            pages = yield from contain_bugs(lambda: read_many(reader(self, provider), urls), provider.name)
        except self.after as failure:
            return dict.fromkeys(urls, failure)
        return dict(zip(urls, pages, strict=True))

    def _try_each(self, ask: Callable[[Provider], Flow[A]]) -> Flow[A]:
        if not self.inner:
            raise empty_error(self)
        trail: _Trail[A] = _Trail(self.tacit)
        for turn, provider in enumerate(self.inner):
            began = monotonic()
            with time_limit(time_left() / (len(self.inner) - turn)):
                try:
                    answer = yield from ask(provider)
                except self.after as failure:
                    trail.add_failure(provider, failure, monotonic() - began)
                    self._announce(provider, failure, turn + 1)
                    continue
            if self.on_empty and is_empty(answer):
                trail.add_empty(provider, answer, monotonic() - began)
                self._announce(provider, None, turn + 1)
                continue
            return trail.finish(answer, provider, monotonic() - began)
        return trail.finish_empty()

    def _announce(self, provider: Provider, failure: WebSearchError | None, turn: int) -> None:
        if turn < len(self.inner) and not isinstance(failure, self.tacit):
            emit(Failover(provider=provider.name, next_provider=self.inner[turn].name, error=failure))


class _Trail(Generic[A]):
    """Who has been asked, and how it ended."""

    def __init__(self, tacit: tuple[type[WebSearchError], ...]) -> None:
        self._tacit = tacit
        self._outcomes: list[Outcome] = []
        self._words: list[str] = []
        self._failures: list[WebSearchError] = []
        self._empty: list[A] = []

    def add_failure(self, provider: Provider, failure: WebSearchError, seconds: float) -> None:
        self._failures.append(failure)
        self._outcomes.append(Outcome.of_failure(provider.name, seconds, failure))
        if not isinstance(failure, self._tacit):
            self._words.append(f"{provider.name} failed ({failure.code})")

    def add_empty(self, provider: Provider, answer: A, seconds: float) -> None:
        self._empty.append(answer)
        self._outcomes.extend(find_outcomes(answer, provider.name, seconds))
        self._words.append(f"{provider.name} found nothing")

    def finish(self, answer: A, provider: Provider, seconds: float) -> A:
        """Return *answer* with the outcomes, and a note about those who did not answer."""
        self._outcomes.extend(find_outcomes(answer, provider.name, seconds))
        return self._complete(answer, f"answered by {provider.name}")

    def finish_empty(self) -> A:
        """
        Return the first empty answer.

        Raises:
            AllProvidersFailed: There is none.

        """
        if not self._empty:
            raise self.fail()
        return self._complete(self._empty[0])

    def fail(self) -> AllProvidersFailed:
        reasons = "; ".join(str(failure) for failure in self._failures)
        return AllProvidersFailed(f"every provider failed: {reasons}", self._failures)

    def _complete(self, answer: A, *end: str) -> A:
        note = ["; ".join([*self._words, *end])] if self._words else []
        return answer.model_copy(update={"outcomes": tuple(self._outcomes)}).with_notes(*note)
