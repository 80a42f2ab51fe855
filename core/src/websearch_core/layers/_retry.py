"""Try again after a temporary failure."""

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
from ..provider._declare import FoundFile
from ..provider._ports import Provider, opens_pages
from ._bucket import Bucket
from ._layer import Layer, ProviderWrapper, Rank, check_numbers, find_outage, leaves

T = TypeVar("T")

# has no state that a fork, or a program that sets a seed, would give to others
_random = random.SystemRandom()
_PER_SECOND = 0.1  # retries gained by waiting


@dataclass(frozen=True)
class Retry(Layer):
    """Try again after a temporary failure, as long as there is time.

    The pause doubles, with full jitter (a random part of it), so that callers that
    failed together do not retry together:
    https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter. If
    the service says when to come back, that is the pause; if it is too long, the
    failure is raised.

    Each provider has a bucket of extra attempts, so that they cannot multiply an
    outage: while everything fails, about one call in five is tried again. The
    ``attempts`` of the error that is raised at the end list what was tried.

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

    attempts: Annotated[int, FoundFile(at_most=5)] = 3
    wait_initial: Annotated[float, FoundFile(at_most=10)] = 0.5
    wait_max: Annotated[float, FoundFile(at_most=60)] = 10.0
    extra_share: float | None = 0.2

    def __post_init__(self) -> None:
        check_numbers(self, "attempts", minimum=1, integer=True)
        check_numbers(self, "wait_initial", "wait_max", minimum=0)
        check_numbers(self, "extra_share", minimum=0, optional=True)


class _RetryProvider(ProviderWrapper[Retry]):
    def __init__(self, layer: Retry, inner: Provider) -> None:
        super().__init__(layer, inner)
        own_sites = any(map(opens_pages, leaves(inner)))
        self._extra = Bucket(
            None if own_sites else layer.extra_share, per_second=_PER_SECOND
        )

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        return self._persist(partial(super().search, query))

    def read(self, url: str, /) -> Flow[Page]:
        return self._persist(partial(super().read, url))

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages, again if the request failed, or all of them for a reason
        that may pass.
        """
        pages: list[Page | WebSearchError] = []
        read = super().read_many

        def attempt() -> Flow[None]:
            pages[:] = yield from read(urls)
            if outage := find_outage(pages):
                raise outage

        try:
            yield from self._persist(attempt)
        except ServiceError as failure:
            if not any(failure is page for page in pages):
                raise
        return pages

    def _persist(self, attempt: Callable[[], Flow[T]]) -> Flow[T]:
        self._extra.add_call()
        tried: list[Attempt] = []
        first = monotonic()
        while True:
            began = monotonic()
            try:
                return (yield from attempt())
            except ServiceError as failure:
                # the sender does not know for which provider it sends
                failure.provider = failure.provider or self.name
                tried.append(
                    Attempt(
                        failure.code,
                        round(began - first, 3),
                        round(monotonic() - began, 3),
                    )
                )
                failure.attempts = tuple(tried)
                pause = self._pause(failure, len(tried))
                if (
                    not failure.temporary
                    or len(tried) >= self.layer.attempts
                    or pause > min(self.layer.wait_max, time_left())
                ):
                    raise
                if (
                    failure.retry_after is not None
                    and not current_call().patience.allows(pause)
                ):
                    failure.concerns_caller = True  # another one may be more patient
                    raise
                if not self._extra.take():
                    failure.add_note(
                        f"Not tried again: {self.name} has failed often, and its "
                        f"retries are used up."
                    )
                    raise
                events.emit(
                    events.Wait(
                        provider=self.name,
                        seconds=pause,
                        reason="retry",
                        attempt=len(tried),
                        error=failure,
                    )
                )
            yield Sleep(pause)

    def _pause(self, failure: ServiceError, number: int) -> float:
        if failure.retry_after is not None:
            return failure.retry_after
        first = self.layer.wait_initial * (2 if isinstance(failure, RateLimited) else 1)
        return _random.uniform(0, min(first * 2 ** (number - 1), self.layer.wait_max))
