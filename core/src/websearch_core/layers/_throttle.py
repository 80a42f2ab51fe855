"""Send no faster than a service allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, TypeVar

from .._deadline import time_left
from ..errors import ConfigurationError, RateLimited, WebSearchError
from ..events import Wait, emit
from ..flow import Call, Flow, Gather, Hedge, Request, Response, Share, Sleep
from ..models import Page, SearchQuery, SearchResponse
from ..provider._declare import is_vendor
from ..provider._ports import Provider, opens_pages
from ._layer import ProviderWrapper, Rank, check_number, leaves, read_many, reader, searcher
from ._pace import Pace, shorten

T = TypeVar("T")


@dataclass(frozen=True)
class Throttle(ProviderWrapper):
    """
    Wait before each request, so that the service does not have to refuse it.

    What it keeps to are the limits that the service documents for everybody (`websearch_core.provider.Limits`), and
    those that its responses state: after ``X-RateLimit-Remaining: 0`` or ``Retry-After``, requests to the same endpoint
    wait until the reset, for at most a minute. All calls of one `WebSearch` share it, in threads and on event loops,
    searches and pages, first attempts and retries; they are served in order. Processes do not share it.

    A wait that does not fit the time that is left is the error `RateLimited`, at once and without sending anything. The
    built-in reader, which sends to the sites of pages, and services at a ``base_url`` of your own have no documented
    limits.

    Args:
        inner: The provider to ask; omit it in ``WebSearch(layers=[Throttle(...)])``.
        requests_per_second: How many requests to begin in a second, evenly spaced, such as 0.5; instead of what is
            documented. ``inf`` means no limit.
        concurrent: How many requests may be under way at a time; instead of what is documented.

    Raises:
        ConfigurationError: A value is invalid.

    """

    rank: ClassVar[Rank] = Rank.THROTTLE

    requests_per_second: float | None = None
    concurrent: int | None = None
    _pace: Pace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.requests_per_second is not None:
            check_number(self, "requests_per_second", minimum=0)
            if self.requests_per_second == 0:
                raise ConfigurationError("Throttle: requests_per_second: must be more than 0")
        if self.concurrent is not None:
            check_number(self, "concurrent", minimum=1, integer=True)
        found = leaves(self.inner) if self.inner is not None else []
        rate = self.requests_per_second or _strictest(found, "requests_per_second") or math.inf
        concurrent = self.concurrent or _strictest(found, "concurrent")
        object.__setattr__(self, "_pace", Pace(1 / rate, concurrent))

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, when it is time."""
        return self._pass_on(searcher(self, self.inner).search(query))

    def read(self, url: str, /) -> Flow[Page]:
        """Read, when it is time."""
        return self._pass_on(reader(self, self.inner).read(url))

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages, when it is time."""
        return self._pass_on(read_many(reader(self, self.inner), urls))

    def _pass_on(self, flow: Flow[T]) -> Flow[T]:
        """Perform the effects of *flow*, and wait before those that send something to the service."""
        if not isinstance(flow, Generator):  # the driver says what is wrong with it
            return (yield from flow)
        try:
            effect = next(flow)
            sends_requests = False
            while True:
                sends_requests = sends_requests or isinstance(effect, Request)
                try:
                    # A provider without requests leaves sending to a library, such as the vendor's, in a Call.
                    if (isinstance(effect, Request) and not effect.guarded) or (
                        isinstance(effect, Call) and not sends_requests
                    ):
                        answer = yield from self._send(effect)
                    elif isinstance(effect, Gather):
                        answer = yield Gather([self._pass_on(one) for one in effect.flows], effect.limit)
                    elif isinstance(effect, Share):
                        answer = yield replace(effect, make=partial(self._start, effect.make))
                    elif isinstance(effect, Hedge):
                        answer = yield effect.wrap(self._pass_on)
                    else:
                        answer = yield effect
                except Exception as error:  # noqa: BLE001 - raised again, inside the flow
                    effect = flow.throw(error)
                else:
                    effect = flow.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        finally:
            flow.close()

    def _start(self, make: Callable[[], Flow[T]]) -> Flow[T]:
        return self._pass_on(make())

    def _send(self, effect: Request | Call) -> Flow[Any]:
        endpoint = effect.url.partition("?")[0] if isinstance(effect, Request) else ""
        ticket = self._pace.enter(endpoint)
        announced = False
        try:
            while wait := self._pace.wait(ticket):
                self._check_time(wait)
                if not announced:
                    announced = True
                    emit(Wait(provider=self.name, seconds=wait, reason="throttle"))
                yield Sleep(shorten(wait))
            answer = yield effect
        finally:
            self._pace.leave(ticket)
        if isinstance(answer, Response):
            self._pace.learn(endpoint, answer.rate_limits)
        return answer

    def _check_time(self, wait: float) -> None:
        if wait > time_left():
            raise RateLimited(
                f"{self.name} request not sent: the service's limits ask for a wait of {wait:.1f} s, "
                "which does not fit the time that is left",
                provider=self.name,
                retry_after=math.ceil(wait * 10) / 10,  # in steps that a person reads
            )


def _strictest(providers: Sequence[Provider], limit: Literal["requests_per_second", "concurrent"]) -> Any:
    stated = [getattr(one, "limits", {}).get(limit) for one in providers if _is_public(one)]
    return min((value for value in stated if value), default=None)


def _is_public(provider: Provider) -> bool:
    """Return whether the limits of the service apply: not to a server of one's own."""
    if opens_pages(provider):
        return False
    if not is_dataclass(provider) or not any(one.name == "base_url" for one in fields(provider)):
        return True
    return is_vendor(provider)
