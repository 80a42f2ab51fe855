"""A queue for each host that pages are fetched from."""

from __future__ import annotations
import math
import threading
from functools import partial

from .._text.urls import find_host, parse_address
from ._pace import Pace
from ._shared_pace import SharedLimits, make_pace

_CONCURRENT = 4  # requests at a time
_INTERVAL = 0.2  # seconds
_BURST = 10  # requests: a page with its redirects and a robots.txt, or the first pages of a batch, do not wait
_MANY = 1000  # hosts; then those are forgotten that nobody has asked for a while


class Hosts:
    """The queues of the hosts of pages, *shared* with other processes or not. None is the default: 5 requests per
    second once some have begun together, and 4 at a time.
    """

    def __init__(
        self, requests_per_second: float | None, concurrent: int | None, shared: SharedLimits | None = None
    ) -> None:
        self._requests_per_second, self._concurrent, self.shared = requests_per_second, concurrent, shared
        self._paces: dict[str, Pace] = {}
        self._many = _MANY
        self._lock = threading.Lock()

    def find(self, url: str) -> Pace:
        """Return the queue of the host of *url*."""
        host = find_host(url)
        with self._lock:
            if host not in self._paces:
                if len(self._paces) >= self._many:
                    self._paces = {name: pace for name, pace in self._paces.items() if not pace.is_idle}
                    self._many = max(_MANY, 2 * len(self._paces))
                self._paces[host] = make_pace(self.shared, partial(str, host), *self._limits(host))
            return self._paces[host]

    def _limits(self, host: str) -> tuple[float, int | None, int]:
        """Return interval, number at a time and burst: none by default for a host that only ``internal`` can open."""
        own = _is_own(host)
        rate = self._requests_per_second or (math.inf if own else 1 / _INTERVAL)
        return 1 / rate, self._concurrent or (None if own else _CONCURRENT), _BURST


def _is_own(host: str) -> bool:
    name = host if parse_address(host) else host.rpartition(":")[0] or host
    address = parse_address(name)
    return name == "localhost" or name.endswith(".localhost") or (address is not None and not address.is_global)
