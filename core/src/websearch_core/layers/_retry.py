"""Try again after a temporary failure."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeVar

from .._deadline import time_left
from ..errors import RateLimited, ServiceError, WebSearchError
from ..events import Wait, emit
from ..flow import Flow, Sleep
from ..models import Page, SearchQuery, SearchResponse
from ..provider._declare import FoundFile
from ._layer import ProviderWrapper, Rank, check_number, read_many, reader, searcher

T = TypeVar("T")


@dataclass(frozen=True)
class Retry(ProviderWrapper):
    """
    Try again after a temporary failure, as long as there is time.

    The pause doubles, with full jitter (a random part of it), so that callers that failed together do not retry
    together: https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter. If the service says
    when to come back, that is the pause; if it is too long, the failure is raised.

    Args:
        inner: The provider to ask; omit it in ``WebSearch(layers=[Retry(...)])``.
        attempts: Maximum number of attempts.
        pause: Seconds of the first pause; doubled if the service said that we are too fast.
        longest: Maximum seconds of a pause.

    Raises:
        ConfigurationError: A value is invalid.

    """

    rank: ClassVar[Rank] = Rank.RETRY

    attempts: Annotated[int, FoundFile(at_most=5)] = 3
    pause: Annotated[float, FoundFile(at_most=10)] = 0.5
    longest: Annotated[float, FoundFile(at_most=60)] = 10.0

    def __post_init__(self) -> None:
        check_number(self, "attempts", minimum=1, integer=True)
        check_number(self, "pause", minimum=0)
        check_number(self, "longest", minimum=0)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, more than once if necessary."""
        return self._persist(lambda: searcher(self, self.inner).search(query))

    def read(self, url: str, /) -> Flow[Page]:
        """Read, more than once if necessary."""
        return self._persist(lambda: reader(self, self.inner).read(url))

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages, again if the whole request failed."""
        return self._persist(lambda: read_many(reader(self, self.inner), urls))

    def _persist(self, attempt: Callable[[], Flow[T]]) -> Flow[T]:
        number = 0
        while True:
            number += 1
            try:
                return (yield from attempt())
            except ServiceError as failure:
                failure.provider = failure.provider or self.name  # the sender does not know for which provider it sends
                pause = self._pause(failure, number)
                if not failure.temporary or number == self.attempts or pause > min(self.longest, time_left()):
                    raise
                emit(Wait(provider=self.name, seconds=pause, reason="retry", attempt=number, error=failure))
            yield Sleep(pause)

    def _pause(self, failure: ServiceError, number: int) -> float:
        if failure.retry_after is not None:
            return failure.retry_after
        first = self.pause * 2 if isinstance(failure, RateLimited) else self.pause
        return random.uniform(0, min(first * 2 ** (number - 1), self.longest))  # noqa: S311 - not a secret
