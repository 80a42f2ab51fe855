"""Try the next provider when one fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from .._bugs import contain_bugs
from .._deadline import time_left, time_limit
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
    Ask providers in order until one answers; a note in the answer says which ones failed.

    Each gets a fair share of the remaining time, so that a hanging provider does not use up the time of the next. A
    provider that does not support an option of the query is skipped too.

    Args:
        inner: The providers to ask, in order; omit it in ``WebSearch(layers=[Fallback(...)])``.
        after: The errors after which the next provider is asked; any other error ends the search.
        tacit: The errors that the note does not mention.

    """

    rank: ClassVar[Rank] = Rank.COMBINE

    inner: tuple[Provider, ...] = ()
    after: tuple[type[WebSearchError], ...] = (ServiceError, UnsupportedOption)
    tacit: tuple[type[WebSearchError], ...] = ()

    def __post_init__(self) -> None:
        for field in ("after", "tacit"):
            kinds = getattr(self, field)
            if not isinstance(kinds, tuple) or not all(
                isinstance(k, type) and issubclass(k, WebSearchError) for k in kinds
            ):
                raise ConfigurationError(f"Fallback: {field}: must be a tuple of classes of websearch_core.errors")

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
        failures: dict[str, list[WebSearchError]] = {url: [] for url in urls}
        for turn, provider in enumerate(self.inner):
            left = [url for url in failures if url not in answers]
            with time_limit(time_left() / (len(self.inner) - turn)):
                for url, answer in (yield from self._read_all(provider, left)).items():
                    if isinstance(answer, self.after):
                        failures[url].append(answer)
                        self._announce(provider, answer, turn + 1)
                    else:
                        answers[url] = (
                            answer if isinstance(answer, WebSearchError) else self._note(answer, failures[url])
                        )
        return [answers.get(url) or _all_failed(failures[url]) for url in urls]

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
        failures: list[WebSearchError] = []
        for turn, provider in enumerate(self.inner):
            with time_limit(time_left() / (len(self.inner) - turn)):
                try:
                    answer = yield from ask(provider)
                except self.after as failure:
                    failures.append(failure)
                    self._announce(provider, failure, turn + 1)
                    continue
            return self._note(answer, failures)
        raise _all_failed(failures)

    def _note(self, answer: A, failures: Sequence[WebSearchError]) -> A:
        """Say in *answer* who failed before the provider that gave it."""
        who = [
            f"{failed.name} failed ({failure.code})"
            for failed, failure in zip(self.inner, failures, strict=False)
            if not isinstance(failure, self.tacit)
        ]
        name = self.inner[len(failures)].name
        return answer.with_notes(f"{'; '.join(who)}; answered by {name}") if who else answer

    def _announce(self, provider: Provider, failure: WebSearchError, turn: int) -> None:
        if turn < len(self.inner) and not isinstance(failure, self.tacit):
            emit(Failover(provider=provider.name, next_provider=self.inner[turn].name, error=failure))


def _all_failed(failures: Sequence[WebSearchError]) -> AllProvidersFailed:
    reasons = "; ".join(str(failure) for failure in failures)
    return AllProvidersFailed(f"every provider failed: {reasons}", failures)
