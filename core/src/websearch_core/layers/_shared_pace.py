"""A queue that processes and machines share, through Redis."""

from __future__ import annotations
import hashlib
import logging
import math
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar

from ..errors import ConfigurationError
from ._caching.redis import SCHEMES, connect
from ._pace import Pace, PaceLimits, Ticket

T = TypeVar("T")

_PREFIX = "websearch-throttle:"
_RETRY_AFTER = 10.0  # seconds for which a Redis that failed is left alone
_POLL = 0.05  # seconds; nobody knows when a request of another process ends
_log = logging.getLogger(__name__)

# The clock is that of Redis, since those of machines differ. Times are in milliseconds.
# `next` is when a request is due (GCRA:
# https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm); `leases` are the requests
# under way, with the time at which each has ended at the latest, so that those of a
# process that died come back. What cannot come from this script, or is further away
# than we ever wait, such as after the clock was set back, is removed: else one wrong
# key would hold up everybody for ever.
_ADMIT = """
local next_key, leases, cooldown = KEYS[1], KEYS[2], KEYS[3]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local concurrent = tonumber(ARGV[3])
local lease, ticket = tonumber(ARGV[4]), ARGV[5]
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local far = 120000
local function ask(command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  redis.call('DEL', key)
end
local left = redis.call('PTTL', cooldown)
if left > far then redis.call('DEL', cooldown) elseif left > 0 then return left end
local due = tonumber(ask('GET', next_key) or '0') or 0
if not (due <= now + burst * interval + far) then due = 0 end
local wait = due - (burst - 1) * interval - now
if wait > 0 then return math.ceil(wait) end
if concurrent > 0 then
  ask('ZREMRANGEBYSCORE', leases, '-inf', now)
  redis.call('ZREMRANGEBYSCORE', leases, now + far, '+inf')
  if redis.call('ZCARD', leases) >= concurrent then return -1 end
  redis.call('ZADD', leases, now + lease, ticket)
  redis.call('PEXPIRE', leases, math.ceil(lease) + 60000)
end
if interval > 0 then
  local following = math.max(due, now) + interval
  local life = math.ceil(following - now) + 1000
  redis.call('SET', next_key, string.format('%.3f', following), 'PX', life)
end
return 0
"""
_START_COOLDOWN = """
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
end
"""


class SharedLimits:
    """What is under way and when the next request is due, in Redis. Each time that it
    fails is logged once.
    """

    def __init__(self, url: str) -> None:
        if not isinstance(url, str) or not url.startswith(SCHEMES):
            raise ConfigurationError(
                "Throttle: shared: must be a URL of Redis, such as "
                "redis://localhost:6379/0"
            )
        self._client = connect(url, "a throttle", "Throttle: shared")
        self._admit = self._client.register_script(_ADMIT)
        self._start_cooldown = self._client.register_script(_START_COOLDOWN)
        self._retry_at = 0.0
        self._is_down = False

    def admit(
        self, key: str, ticket: str, endpoint: str, limits: PaceLimits, longest: float
    ) -> float | None:
        """Return 0 if the request *ticket* may be sent now, which is then counted, or
        else the seconds to wait; None if Redis does not answer. The request has ended
        after *longest* seconds, whatever happens.
        """
        keys = [
            _name(key, "next"),
            _name(key, "leases"),
            _name(key, "cooldown", endpoint),
        ]
        numbers = [
            f"{limits.interval * 1000:.3f}",
            limits.burst,
            limits.concurrent or 0,
            math.ceil(longest * 1000),
            ticket,
        ]
        wait: int | None = self._try(lambda: self._admit(keys=keys, args=numbers))
        if wait is None:
            return None
        if wait < 0:
            return _POLL
        return wait / 1000

    def release(self, key: str, ticket: str) -> None:
        """Count a request no longer, since it has ended."""
        self._try(lambda: self._client.zrem(_name(key, "leases"), ticket))

    def start_cooldown(self, key: str, endpoint: str, seconds: float) -> None:
        """Let nobody send anything to *endpoint* for some time."""
        keys = [_name(key, "cooldown", endpoint)]
        milliseconds = math.ceil(seconds * 1000)
        self._try(lambda: self._start_cooldown(keys=keys, args=[milliseconds]))

    def _try(self, ask: Callable[[], T]) -> T | None:
        if monotonic() < self._retry_at:
            return None
        try:
            answer = ask()
        except Exception as error:  # noqa: BLE001 - logged; Redis never fails a call
            self._retry_at = monotonic() + _RETRY_AFTER
            if not self._is_down:
                self._is_down = True
                kind = type(error).__name__  # its text may hold a password
                _log.warning(
                    "the shared throttle does not work (%s): this process keeps to the "
                    "limits alone",
                    kind,
                )
            return None
        if self._is_down:
            self._is_down = False
            _log.warning("the shared throttle works again")
        return answer


class SharedPace(Pace):
    """A `Pace` that Redis decides about as well, under the name that *key* returns,
    which may block.

    The requests of this process keep their order, and the first of them asks Redis. If
    that does not answer, this process keeps to the limits alone, until it answers
    again.
    """

    is_shared = True

    def __init__(
        self,
        shared: SharedLimits,
        key: Callable[[], str],
        *limits: Any,
        slow_start: bool = False,
    ) -> None:
        super().__init__(*limits, slow_start=slow_start)
        self._shared = shared
        self._key = key
        self._leases: dict[Ticket, tuple[str, str]] = {}

    def wait(self, ticket: Ticket) -> float:
        """Return what `Pace.wait` does; it may block while Redis answers."""
        with self._lock:
            now = monotonic()
            limits = self._limits
            is_next = self._is_next(ticket, now)
        if not is_next:
            return super().wait(ticket)
        lease = self._key(), secrets.token_hex(8)
        wait = self._shared.admit(*lease, ticket.endpoint, limits, ticket.longest)
        if wait is None:
            return super().wait(ticket)
        with self._lock:
            is_counted = not wait and limits.concurrent is not None
            if not wait and not ticket.has_left:
                self._send(ticket)
                if is_counted:
                    self._leases[ticket] = lease
                return 0.0
        if is_counted:  # the caller was cancelled while Redis was asked
            self._shared.release(*lease)
        return wait

    def _is_next(self, ticket: Ticket, now: float) -> bool:
        """Return whether only Redis may still hold the request back."""
        if ticket.has_left or self._find_cooldown(ticket.endpoint, now):
            return False
        if self._is_held_back(now):
            return False
        return not self._count_ahead(ticket, now)

    def leave(self, ticket: Ticket) -> None:
        """Give the slot back, to other processes in the background."""
        super().leave(ticket)
        lease = self._leases.pop(ticket, None)
        if lease is not None:
            _in_background(self._shared.release, *lease)

    def _start_cooldown(self, endpoint: str, seconds: float) -> None:
        super()._start_cooldown(endpoint, seconds)
        _in_background(
            lambda: self._shared.start_cooldown(self._key(), endpoint, seconds)
        )


def _in_background(work: Callable[..., None], *arguments: Any) -> None:
    """Do *work* without holding up an event loop. An interpreter that ends waits for
    it.
    """
    # no thread starts any more: the lease runs out by itself
    with suppress(RuntimeError):
        threading.Thread(target=work, args=arguments, name="websearch-throttle").start()


def _name(key: str, kind: str, endpoint: str = "") -> str:
    """Return a name that reveals neither a site nor an endpoint. Names of one *key* are
    on one node of a cluster.
    """
    name = f"{_PREFIX}{{{_hash(key)}}}:{kind}"
    if endpoint:
        name += f":{_hash(endpoint)}"
    return name


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
