"""Send no faster than a service allows."""

from __future__ import annotations
import inspect
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeVar

from .. import events
from .._runtime.deadline import time_left, waiting_for_turn
from .._runtime.interrupts import releasing
from .._runtime.scope import Deadline, current_call, scope
from .._text.urls import find_host, parse_address
from ..errors import ConfigurationError, RateLimited, WebSearchError
from ..flow import Call, Flow, Request, Response, Sleep
from ..flow._intercept import Auxiliary, AuxiliaryCall, hold, intercept
from ..models import Page, SearchQuery, SearchResponse
from ..provider._declare import destinations, is_vendor
from ..provider._ports import Provider, needs_network, opens_pages
from ._identity import Identity
from ._layer import Layer, ProviderWrapper, Rank, check_numbers, leaves
from ._pace import DAY, STEP, Pace, Ticket

if TYPE_CHECKING:
    from ._shared_pace import SharedLimits

T = TypeVar("T")

# seconds; then one that no deadline ends is taken for ended where processes share the
# limits
_LONGEST_REQUEST = 60.0
# seconds; a host that asks for a longer one is not waited for
_LONGEST_HOST_COOLDOWN = 10.0
_TOO_MANY = 429
_BUSY = {_TOO_MANY, 503}  # what `Retry-After` of a host is believed with
_CONCURRENT = 4  # requests at a time
_INTERVAL = 0.2  # seconds
# requests: a page with its redirects and a robots.txt, or the first pages of a batch,
# do not wait
_BURST = 10
_MANY = 1000  # hosts; then those are forgotten that nobody has asked for a while


@dataclass(frozen=True)
class Throttle(Layer):
    """Wait before each request, so that the service does not have to refuse it.

    What it keeps to are the limits that the service documents for everybody
    (`websearch_core.provider.Limits`), and those that its responses state: after
    ``X-RateLimit-Remaining: 0`` or ``Retry-After``, requests to the same endpoint wait
    until the reset, for at most a minute. All calls of one `WebSearch` share it, in
    threads and on event loops, searches and pages, first attempts and retries; they are
    served in order. With *shared*, so do processes and machines. Services at your own
    ``base_url`` have no documented limits.

    A service that documents none gets one request at first. Each answer while others
    wait allows one more at a time. A refusal (429) halves the number, and what later
    answers add to it; if it does not say until when, the service gets none for a
    second. Nor does it get more at a time than its responses say are left. An answer
    that takes longer than a second holds up nobody.

    Pages that are fetched from here have a queue for each host, with its port: four
    requests at a time, and after the first ten one every 0.2 seconds. A ``Crawl-delay``
    that `Robots` found makes it slower. After a 429 or 503 with ``Retry-After``, the
    host gets none until then. By default, hosts that only ``internal`` can open because
    their address is not a public one, such as 127.0.0.1, are fetched from without a
    limit.

    A wait that is longer than the time left is the error `RateLimited`, at once and
    without sending anything, and so is a host that asks for more than ten seconds. The
    time of a single call includes its waits. In a list (`WebSearch.search_many`,
    `WebSearch.read_many`), the time of each call begins when it is sent.

    Args:
        requests_per_second: How many requests to begin in a second, evenly spaced, such
            as 0.5; instead of what is documented. ``inf`` means no limit.
        concurrent: How many requests may be under way at a time; instead of what is
            documented.
        host_requests_per_second: The same for each host of pages, after the first ten
            requests; instead of 5.
        host_concurrent: How many requests to each host of pages may be under way at a
            time; instead of 4.
        shared: A URL of Redis (``redis://localhost:6379/0``), version 5 or newer, in
            which all programs that name it share their limits, for each service and
            key. While it does not answer, each process keeps to them alone.
        rate_limiter: What each request waits for as well, such as the
            ``InMemoryRateLimiter`` of LangChain or the ``TokenBucketRateLimiter`` of
            LlamaIndex; it may be shared with a chat model.

    Raises:
        ConfigurationError: A value is invalid, or the package ``redis`` is not
            installed.
    """

    rank: ClassVar[int] = Rank.THROTTLE

    requests_per_second: float | None = None
    concurrent: int | None = None
    host_requests_per_second: float | None = None
    host_concurrent: int | None = None
    shared: str | None = field(default=None, repr=False)  # it may have a password
    rate_limiter: RateLimiter | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_numbers(
            self,
            "requests_per_second",
            "host_requests_per_second",
            minimum=0,
            optional=True,
        )
        check_numbers(
            self,
            "concurrent",
            "host_concurrent",
            minimum=1,
            integer=True,
            optional=True,
        )
        for name in ("requests_per_second", "host_requests_per_second"):
            if getattr(self, name) == 0:
                raise ConfigurationError(f"Throttle: {name}: must be more than 0")
        self._check_rate_limiter()

    def _check_rate_limiter(self) -> None:
        if self.rate_limiter is None:
            return
        acquire = getattr(self.rate_limiter, "acquire", None)
        if isinstance(self.rate_limiter, type) or not callable(acquire):
            raise ConfigurationError(
                "rate_limiter: must be an object with a method acquire(), such as a "
                "BaseRateLimiter"
            )
        if inspect.iscoroutinefunction(acquire):
            raise ConfigurationError(
                "rate_limiter: acquire is an async def, and must block; aacquire is "
                "for async calls"
            )

    @classmethod
    def of(cls, short: Any, /) -> Self:
        """Return the layer that *short* stands for: requests per second, a URL of
        Redis, or a rate limiter.
        """
        if isinstance(short, str):
            return cls(shared=short)
        if isinstance(short, cls | int | float):
            return super().of(short)
        return cls(rate_limiter=short)

    def start(self) -> Callable[[Provider], Provider]:
        """Return a function that puts this around a provider; hosts of pages have the
        same queue under each.
        """
        limits = None
        if self.shared is not None:
            from ._shared_pace import SharedLimits

            limits = SharedLimits(self.shared)
        hosts = Hosts(self.host_requests_per_second, self.host_concurrent, limits)
        return partial(_ThrottleProvider, self, hosts)


class _ThrottleProvider(ProviderWrapper[Throttle]):
    def __init__(self, layer: Throttle, hosts: Hosts, inner: Provider) -> None:
        super().__init__(layer, inner)
        services = leaves(inner)
        rate = layer.requests_per_second or _strictest(services, "requests_per_second")
        concurrent = layer.concurrent or _strictest(services, "concurrent")
        self.concurrent: int | None = concurrent
        self.interval: float = 1 / (rate or math.inf)
        self._hosts = hosts
        self._fetches = any(map(opens_pages, services))
        self._pace = _make_pace(
            hosts.shared,
            partial(_identify, services),
            self.interval,
            concurrent,
            slow_start=not rate and not concurrent and any(map(_is_shy, services)),
        )

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        return self._pass_on(super().search(query))

    def read(self, url: str, /) -> Flow[Page]:
        return self._pass_on(super().read(url), url)

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        return self._pass_on(super().read_many(urls))

    def _pass_on(self, flow: Flow[T], url: str = "") -> Flow[T]:
        """Perform the effects of *flow*, and wait before those that send something to
        the service or the host.
        """
        fetches = bool(url) and self._fetches
        sends_requests = False

        def perform(effect: Request | Call) -> Flow[Any]:
            nonlocal sends_requests
            if isinstance(effect, Request):
                sends_requests = True
                page = effect.url if effect.guarded else None
                return (yield from self._send(effect, page))
            # A provider without requests leaves sending to a library, such as the
            # vendor's, in a Call.
            if sends_requests or isinstance(effect, Auxiliary):
                return (yield effect)
            page = url if fetches else None
            return (yield from self._send(effect, page))

        return intercept(flow, perform)

    def _send(self, effect: Request | Call, page: str | None) -> Flow[Any]:
        """Send a request, or call a library, when it is time; *page* is the URL that is
        fetched, None for a service.
        """
        pace = self._pace
        endpoint = ""
        if page is not None:
            pace = self._hosts.find(page)
        elif isinstance(effect, Request):
            endpoint = effect.url.partition("?")[0]
        left = time_left()
        if self.layer.rate_limiter is not None:
            with waiting_for_turn():
                yield from hold(effect, wait_for(self.layer.rate_limiter, self.name))
        is_page = page is not None and not isinstance(effect, Auxiliary)
        if is_page and isinstance(effect, Request):
            pace.slow_down(effect.crawl_delay)
        ticket = Ticket(endpoint, min(left, _LONGEST_REQUEST))
        release = releasing(partial(pace.leave, ticket))
        try:
            pace.enter(ticket)
            with waiting_for_turn():
                yield from hold(
                    effect, self._wait(pace, ticket, left, of_host=page is not None)
                )
            answer = yield effect
        finally:
            release.close()
        self._learn(pace, endpoint, answer, of_host=page is not None)
        return answer

    def _learn(self, pace: Pace, endpoint: str, answer: Any, *, of_host: bool) -> None:
        """Learn the limits from an answer; a host's only while it is busy."""
        if not isinstance(answer, Response):
            if not of_host:
                pace.learn(endpoint, ())
            return
        if of_host and answer.status not in _BUSY:
            return
        pace.learn(
            endpoint,
            answer.rate_limits,
            below=math.inf if of_host else DAY,
            was_refused=answer.status == _TOO_MANY,
        )

    def _wait(
        self, pace: Pace, ticket: Ticket, left: float, *, of_host: bool
    ) -> Flow[None]:
        """Wait until it is time; *left* is the time of the call itself, which may be
        one of a list.
        """
        announced = False
        while True:
            # a store that processes share is asked off the event loop, and answers soon
            if pace.is_shared:
                with scope(deadline=Deadline()):
                    wait: float = yield AuxiliaryCall(pace.wait, ticket)
            else:
                wait = pace.wait(ticket)
            if not wait:
                return
            cooldown = pace.find_cooldown(ticket.endpoint)
            self._check_time(wait, cooldown, min(left, time_left()), of_host=of_host)
            if not announced:
                announced = True
                events.emit(
                    events.Wait(provider=self.name, seconds=wait, reason="throttle")
                )
            yield Sleep(min(wait, STEP))

    def _check_time(
        self, wait: float, cooldown: float, left: float, *, of_host: bool
    ) -> None:
        """Raise an error if the wait is too long; *cooldown* is how long the service or
        host wants no requests.
        """
        who = "the page's host" if of_host else "the service"
        is_too_long = bool(cooldown) and not current_call().patience.allows(cooldown)
        if of_host and cooldown > min(_LONGEST_HOST_COOLDOWN, max(left, 0.0)):
            is_too_long = True
        if not cooldown and not of_host:
            left = time_left()
        if is_too_long:
            why = f"{who} asked to be left alone for another {cooldown:.0f} s"
            if cooldown < 1:
                why = f"{who} asked to be left alone for a moment"
        elif wait > left:
            limits = "the service's limits ask"
            if of_host:
                limits = "the limits for the page's host ask"
            why = (
                f"{limits} for a wait of {wait:.1f} s, which is longer than the time "
                "left"
            )
        else:
            return
        error = RateLimited(
            f"{self.name} request not sent: {why}",
            provider=self.name,
            retry_after=math.ceil(wait * 10) / 10,  # in steps that a person reads
        )
        error.concerns_caller = True  # another one may have more time
        raise error


def _make_pace(
    shared: SharedLimits | None,
    key: Callable[[], str],
    *limits: Any,
    slow_start: bool = False,
) -> Pace:
    """Return a queue for this process, or one that is *shared* with others under the
    name that *key* returns.
    """
    if shared is None:
        return Pace(*limits, slow_start=slow_start)
    from ._shared_pace import SharedPace

    return SharedPace(shared, key, *limits, slow_start=slow_start)


def _identify(providers: Sequence[Provider]) -> str:
    """Return a text that is the same for all who use the same service with the same
    key; it does not reveal the key.
    """
    parts: list[str] = []
    for provider in providers:
        places = sorted(destinations(provider).values())
        parts.append(Identity(provider).of(["throttle", provider.name, places]))
    return "".join(parts)


def _strictest(
    providers: Sequence[Provider], limit: Literal["requests_per_second", "concurrent"]
) -> Any:
    public = filter(_is_public, providers)
    values = [getattr(provider, "limits", {}).get(limit) for provider in public]
    return min(filter(None, values), default=None)


def _is_shy(provider: Provider) -> bool:
    """Return whether requests should begin slowly: a service with unknown limits."""
    return _is_public(provider) and needs_network(provider)


def _is_public(provider: Provider) -> bool:
    """Return whether the limits of the service apply: not to a server of one's own."""
    if opens_pages(provider):
        return False
    if not is_dataclass(provider):
        return True
    names = {field.name for field in fields(provider)}
    return "base_url" not in names or is_vendor(provider)


class RateLimiter(Protocol):
    """Says when the next request may be sent.

    The ``BaseRateLimiter`` of ``langchain_core.rate_limiters`` and that of
    ``llama_index.core.rate_limiter`` are ones. Async calls await ``aacquire`` or
    ``async_acquire`` if it has one of them.
    """

    def acquire(self) -> Any:
        """Block until one request may be sent; return False if it may not."""
        ...


def wait_for(limiter: RateLimiter, provider: str) -> Flow[None]:
    """Wait until *limiter* lets a request through; if it does not, that is
    `RateLimited`.
    """
    asynchronous = getattr(limiter, "aacquire", None) or getattr(
        limiter, "async_acquire", None
    )
    admitted = yield AuxiliaryCall.either(limiter.acquire, asynchronous)
    if admitted is False:
        raise RateLimited(
            f"{provider} request not sent: the rate limiter does not let it through",
            provider=provider,
        )


class Hosts:
    """The queues of the hosts of pages, *shared* with other processes or not. None is
    the default: 5 requests per second once some have begun together, and 4 at a time.
    """

    def __init__(
        self,
        requests_per_second: float | None,
        concurrent: int | None,
        shared: SharedLimits | None = None,
    ) -> None:
        self._requests_per_second = requests_per_second
        self._concurrent = concurrent
        self.shared = shared
        self._paces: dict[str, Pace] = {}
        self._many = _MANY
        self._lock = threading.Lock()

    def find(self, url: str) -> Pace:
        """Return the queue of the host of *url*."""
        host = find_host(url)
        with self._lock:
            pace = self._paces.get(host)
            if pace is not None:
                return pace
            if len(self._paces) >= self._many:
                self._drop_idle()
            pace = _make_pace(self.shared, partial(str, host), *self._limits(host))
            self._paces[host] = pace
            return pace

    def _drop_idle(self) -> None:
        paces = self._paces.items()
        self._paces = {host: pace for host, pace in paces if not pace.is_idle}
        self._many = max(_MANY, 2 * len(self._paces))

    def _limits(self, host: str) -> tuple[float, int | None, int]:
        """Return interval, number at a time and burst: none by default for a host that
        only ``internal`` can open.
        """
        rate = 1 / _INTERVAL
        concurrent: int | None = _CONCURRENT
        if _is_own(host):
            rate = math.inf
            concurrent = None
        interval = 1 / (self._requests_per_second or rate)
        return interval, self._concurrent or concurrent, _BURST


def _is_own(host: str) -> bool:
    name = host if parse_address(host) else host.rpartition(":")[0] or host
    address = parse_address(name)
    return (
        name == "localhost"
        or name.endswith(".localhost")
        or (address is not None and not address.is_global)
    )
