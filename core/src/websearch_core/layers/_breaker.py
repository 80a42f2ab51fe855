"""Leave a service alone that keeps failing."""

from __future__ import annotations
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeVar

from .. import events
from .._runtime.forks import Restartable
from ..errors import RateLimited, ServiceError, TimedOut, Unavailable, WebSearchError
from ..flow import Flow
from ..models import Page, SearchQuery, SearchResponse
from ..provider._declare import ProjectFile
from ..provider._ports import Provider
from ._chain import Chain
from ._layer import Layer, ProviderWrapper, Rank, check_numbers, find_outage

T = TypeVar("T")
# has no state that a fork, or a program that sets a seed, would give to others
_random = random.SystemRandom()

Change = Literal["opened", "closed"]


@dataclass(frozen=True)
class Breaker(Layer):
    """Refuse calls for a while after several temporary failures in a row, so that the
    next provider is asked at once.

    A refusal is `Unavailable`, with ``retry_after``. Then one call is let through; if
    it fails, calls are refused for twice the time. A call counts as one failure,
    however often it was tried. What does not count: a call that was cancelled, one
    whose own time was too short, one that a `Throttle` held back, a page that could not
    be read although the service works, and errors that are not temporary. Pages that
    the built-in reader fetches never count.

    By default, each provider of a chain of several has one.

    Args:
        failures: Failures in a row after which calls are refused.
        reset_timeout: Seconds to refuse them; doubled each time the call after that
            fails.
        max_reset_timeout: Maximum seconds to refuse them.
        min_timeout: Seconds without an answer after which a call failed by timing out.
            If the caller's time was up earlier, that does not count.

    Raises:
        ConfigurationError: A value is invalid.
    """

    rank: ClassVar[int] = Rank.BREAKER

    failures: int = 5
    reset_timeout: Annotated[float, ProjectFile(at_most=60)] = 10.0
    max_reset_timeout: Annotated[float, ProjectFile(at_most=600)] = 300.0
    min_timeout: float = 3.0

    def __post_init__(self) -> None:
        check_numbers(self, "failures", minimum=1, integer=True)
        check_numbers(
            self, "reset_timeout", "max_reset_timeout", "min_timeout", minimum=0
        )


class _BreakerProvider(ProviderWrapper[Breaker]):
    def __init__(self, layer: Breaker, inner: Provider) -> None:
        super().__init__(layer, inner)
        self._circuit = Circuit(
            layer.failures, layer.reset_timeout, layer.max_reset_timeout
        )
        self._fetches = Chain(inner).opens_pages

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        return self._watch(partial(super().search, query))

    def read(self, url: str, /) -> Flow[Page]:
        return self._watch_reading(partial(super().read, url))

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        return self._watch_reading(partial(super().read_many, urls), find_outage)

    def _watch_reading(
        self,
        call: Callable[[], Flow[T]],
        fault: Callable[[T], ServiceError | None] | None = None,
    ) -> Flow[T]:
        return call() if self._fetches else self._watch(call, fault)

    def _watch(
        self,
        call: Callable[[], Flow[T]],
        fault: Callable[[T], ServiceError | None] | None = None,
    ) -> Flow[T]:
        admitted = self._circuit.enter()
        if not isinstance(admitted, Pass):
            raise self._refuse(admitted)
        began = monotonic()
        failure: BaseException | None = None
        try:
            answer = yield from call()
        except BaseException as error:
            failure = error
            raise
        else:
            failure = fault(answer) if fault else None
            return answer
        finally:
            self._judge(admitted, failure, monotonic() - began)

    def _judge(
        self, admitted: Pass, failure: BaseException | None, seconds: float
    ) -> None:
        worked: bool | None = None
        if failure is None:
            worked = True
        elif self._is_failure(failure, seconds):
            worked = False
        retry_after = getattr(failure, "retry_after", None)
        change = self._circuit.leave(admitted, worked=worked, retry_after=retry_after)
        if change == "opened" and isinstance(failure, ServiceError):
            events.emit(
                events.BreakerOpened(
                    provider=self.name, seconds=self._circuit.time_left(), error=failure
                )
            )
        elif change == "closed":
            events.emit(events.BreakerClosed(provider=self.name))

    def _is_failure(self, error: BaseException, seconds: float) -> bool:
        match error:
            case ServiceError(temporary=False) | ServiceError(concerns_page=True):
                return False
            case TimedOut():
                return seconds >= self.layer.min_timeout
            case RateLimited(status=None):  # nothing was sent
                return False
        return isinstance(error, ServiceError)

    def _refuse(self, wait: float) -> Unavailable:
        until = (
            f"for another {wait:.0f} s"
            if wait
            else "until a call that is under way shows that it works again"
        )
        return Unavailable(
            f"{self.name} failed several times in a row and is not asked {until}",
            provider=self.name,
            retry_after=wait or None,
        )


class Pass(NamedTuple):
    """The permission to make a call.

    ``era`` counts how often the circuit had opened or closed when the call began;
    ``is_probe``: it tests the service.
    """

    era: int
    is_probe: bool


class Circuit(Restartable):
    """Counts *failures* in a row. After too many it is open: calls are refused for a
    while, then one passes.

    If that one succeeds, the circuit closes; if it fails, the while doubles, up to
    *max_reset_timeout*. A random fifth of it keeps processes apart. Calls that began
    before it opened or closed count no more.
    """

    def __init__(
        self, failures: int, reset_timeout: float, max_reset_timeout: float
    ) -> None:
        self._max_failures = failures
        self._reset_timeout = reset_timeout
        self._max_reset_timeout = max_reset_timeout
        self._failed = 0
        self._opened = 0
        self._until = 0.0
        self._is_open = False
        self._era = 0
        super().__init__()

    def start_over(self) -> None:
        """Forget a call of the parent process that probes: it leaves there."""
        self._is_probed = False
        self._lock = threading.Lock()

    def enter(self) -> Pass | float:
        """Return a pass, or the seconds until it is worth asking for one again; 0 while
        another call probes.
        """
        with self._lock:
            if not self._is_open:
                return Pass(self._era, is_probe=False)
            left = self._until - monotonic()
            if left > 0:
                return left
            if self._is_probed:
                return 0.0
            self._is_probed = True
            return Pass(self._era, is_probe=True)

    def leave(
        self, admitted: Pass, *, worked: bool | None, retry_after: float | None = None
    ) -> Change | None:
        """Take a pass back, and return what changed.

        *worked* is None if the call does not show it. *retry_after* is how many seconds
        the service wants to rest.
        """
        with self._lock:
            if admitted.is_probe:
                self._is_probed = False
            if admitted.era != self._era or worked is None:
                return None
            if worked:
                return self._close()
            self._failed += 1
            if admitted.is_probe or self._failed >= self._max_failures:
                return self._open(retry_after)
            return None

    def time_left(self) -> float:
        """Return the seconds that it is still open."""
        with self._lock:
            if not self._is_open:
                return 0.0
            return max(self._until - monotonic(), 0.0)

    def _close(self) -> Change | None:
        self._failed = 0
        self._opened = 0
        if not self._is_open:
            return None
        self._is_open = False
        self._era += 1
        return "closed"

    def _open(self, retry_after: float | None) -> Change:
        longest = self._max_reset_timeout
        doubled = self._reset_timeout * 2 ** min(self._opened, 30)
        seconds = min(doubled, longest) * _random.uniform(0.8, 1)
        self._until = monotonic() + max(seconds, min(retry_after or 0.0, longest))
        self._is_open = True
        self._opened += 1
        self._failed = 0
        self._era += 1
        return "opened"
