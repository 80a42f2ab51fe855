"""Retry a call after a temporary failure."""

from __future__ import annotations
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Annotated, ClassVar, TypeVar

from .. import events
from .._runtime.deadline import time_left
from .._runtime.scope import current_call
from ..errors import Attempt, RateLimited, ServiceError, WebSearchError
from ..flow import Flow, Sleep
from ..models import Page, SearchQuery, SearchResponse
from ..provider._declare import ProjectFile
from ..provider._ports import Provider
from ._bucket import Bucket
from ._chain import Chain
from ._layer import Layer, ProviderWrapper, Rank, check_numbers, find_outage

T = TypeVar("T")

# The system's generator has no state that a fork would copy or a seed would repeat.
_random = random.SystemRandom()
_RETRIES_PER_SECOND = 0.1  # how fast the bucket refills on its own


@dataclass(frozen=True)
class Retry(Layer):
    """Retry a call after a temporary failure, as long as there is time.

    The pause doubles, with full jitter (a random part of it), so that callers that
    failed together do not retry together:
    https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter.
    If the service says when to come back, that is the pause; if it is too long, the
    failure is raised.

    Each provider has a bucket of extra attempts, so that retries cannot multiply an
    outage: while everything fails, about one call in five is retried. The ``attempts``
    of the error that is finally raised list what was tried.

    Args:
        attempts: Maximum number of attempts.
        wait_initial: Seconds of the first pause; doubled if the service said that we
            are too fast.
        wait_max: Maximum seconds of a pause.
        extra_share: Extra attempts that each call adds to the bucket, which holds at
            most ten and starts full. Every ten seconds add one, too. None means no
            limit, as for the built-in reader: what fails there is the site of a page.

    Raises:
        ConfigurationError: A value is invalid.
    """

    rank: ClassVar[int] = Rank.RETRY

    attempts: Annotated[int, ProjectFile(at_most=5)] = 3
    wait_initial: Annotated[float, ProjectFile(at_most=10)] = 0.5
    wait_max: Annotated[float, ProjectFile(at_most=60)] = 10.0
    extra_share: float | None = 0.2

    def __post_init__(self) -> None:
        check_numbers(self, "attempts", minimum=1, integer=True)
        check_numbers(self, "wait_initial", "wait_max", minimum=0)
        check_numbers(self, "extra_share", minimum=0, optional=True)


class _RetryProvider(ProviderWrapper[Retry]):
    def __init__(self, layer: Retry, inner: Provider) -> None:
        super().__init__(layer, inner)
        extra_share = layer.extra_share
        if Chain(inner).opens_pages:
            extra_share = None  # each page is another site: no single service suffers
        self._bucket = Bucket(extra_share, per_second=_RETRIES_PER_SECOND)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        return self._retry(partial(super().search, query))

    def read(self, url: str, /) -> Flow[Page]:
        return self._retry(partial(super().read, url))

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages; retry if the request or all of its pages failed."""
        pages: list[Page | WebSearchError] = []
        read = super().read_many

        def attempt() -> Flow[None]:
            pages[:] = yield from read(urls)
            outage = find_outage(pages)
            if outage is not None:
                raise outage

        try:
            yield from self._retry(attempt)
        except ServiceError as error:
            is_outage = any(error is page for page in pages)
            if not is_outage:
                raise
        # After an outage, each page has its own error, as if it had been read alone.
        return pages

    def _retry(self, call: Callable[[], Flow[T]]) -> Flow[T]:
        self._bucket.add_call()
        attempts: list[Attempt] = []
        first_start = monotonic()
        while True:
            start = monotonic()
            try:
                return (yield from call())
            except ServiceError as error:
                offset = round(start - first_start, 3)
                duration = round(monotonic() - start, 3)
                attempts.append(Attempt(error.code, offset, duration))
                error.attempts = tuple(attempts)
                # The HTTP client does not know for which provider it sends.
                error.provider = error.provider or self.name
                pause = self._find_pause(error)
                if not self._may_retry(error, pause):
                    raise
                events.emit(
                    events.Wait(
                        provider=self.name,
                        seconds=pause,
                        reason="retry",
                        attempt=len(attempts),
                        error=error,
                    )
                )
            yield Sleep(pause)

    def _find_pause(self, error: ServiceError) -> float:
        if error.retry_after is not None:
            return error.retry_after
        first_pause = self.layer.wait_initial
        if isinstance(error, RateLimited):
            first_pause *= 2
        doublings = len(error.attempts) - 1
        limit = min(first_pause * 2**doublings, self.layer.wait_max)
        return _random.uniform(0, limit)

    def _may_retry(self, error: ServiceError, pause: float) -> bool:
        """Return whether to retry; if so, take one extra attempt from the bucket."""
        if not error.temporary:
            return False
        if len(error.attempts) >= self.layer.attempts:
            return False
        if pause > min(self.layer.wait_max, time_left()):
            return False
        if error.retry_after is not None and not current_call().patience.allows(pause):
            error.concerns_caller = True  # another caller may be more patient
            return False
        if not self._bucket.take():
            error.add_note(
                f"Not tried again: {self.name} has failed often, "
                "and its retries are used up."
            )
            return False
        return True
