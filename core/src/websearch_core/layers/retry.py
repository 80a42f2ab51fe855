"""Try again after a failure that may pass."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ..deadline import time_left
from ..errors import RateLimited, ServiceError
from ..flow import Flow, Sleep
from ..models import Page, SearchQuery, SearchResponse

T = TypeVar("T")


@dataclass(frozen=True)
class Retry:
    """
    Try again after a temporary failure, as long as there is time.

    The pause doubles, with full jitter (a random part of it), so that callers who failed together do not return
    together: https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter. A service that says
    when to come back is taken at its word, and if that is too far off the failure stands.

    Args:
        provider: Whom to ask.
        attempts: How often, at most.
        pause: Seconds of the first pause; twice that where the service said we are too fast.
        longest: Seconds beyond which no pause is worth it.

    """

    provider: Any
    attempts: int = 3
    pause: float = 0.5
    longest: float = 10.0

    @property
    def name(self) -> str:
        """The name of the provider inside."""
        return str(self.provider.name)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, more than once if need be."""
        return self._persist(lambda: self.provider.search(query))

    def read(self, url: str, /) -> Flow[Page]:
        """Read, more than once if need be."""
        return self._persist(lambda: self.provider.read(url))

    def _persist(self, attempt: Callable[[], Flow[T]]) -> Flow[T]:
        for number in range(1, self.attempts + 1):
            try:
                return (yield from attempt())
            except ServiceError as failure:
                failure.provider = failure.provider or self.name  # what failed on the way does not know whose way
                pause = self._pause(failure, number)
                if not failure.temporary or number == self.attempts or pause > min(self.longest, time_left()):
                    raise
            yield Sleep(pause)
        raise AssertionError("the last attempt either returns or raises")

    def _pause(self, failure: ServiceError, number: int) -> float:
        if failure.retry_after is not None:
            return failure.retry_after
        first = self.pause * 2 if isinstance(failure, RateLimited) else self.pause
        return random.uniform(0, min(first * 2 ** (number - 1), self.longest))  # noqa: S311 - no secret
