"""Parse the headers that state rate limits: one lenient parser, since every service has
its own format.

``RateLimit`` and ``RateLimit-Policy`` (draft-ietf-httpapi-ratelimit-headers, all its
forms), ``X-RateLimit-*`` with one value or a comma list with one for each window, names
with a unit (``X-RateLimit-Limit-Requests``, ``X-RateLimit-Remaining-Day``), and
``Retry-After``.
"""

from __future__ import annotations
import math
import re
import time
from calendar import timegm
from collections.abc import Mapping
from email.utils import parsedate
from typing import NamedTuple

_FIELDS = ("limit", "remaining", "reset", "policy")
_NAME = re.compile(
    r"(?:x-)?rate-?limit-(?:([a-z0-9-]+?)-)?"
    r"(limit|remaining|reset|policy|interval)(?:-([a-z0-9-]+))?"
)
_UNITS = {
    "second": 1.0,
    "minute": 60.0,
    "hour": 3_600.0,
    "day": 86_400.0,
    "week": 604_800.0,
    "month": 2_592_000.0,
}
_DURATION = re.compile(
    r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)
# no window is that many seconds long: a larger reset is a point in time
_EPOCH = 1_000_000_000.0
_MOST_LIMITS = 16
_MAX_LENGTH = 400  # characters of a header
_MAX_WAIT = 30 * 86_400.0
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = r"[A-Z][a-z]{2}"
_CLOCK = r"\d\d:\d\d:\d\d"
_HTTP_DATE = re.compile(
    rf"{_WEEKDAY}, \d\d {_MONTH} \d{{4}} {_CLOCK} GMT"
    rf"|{_WEEKDAY}[a-z]{{3,6}}, \d\d-{_MONTH}-\d\d {_CLOCK} GMT"
    rf"|{_WEEKDAY} {_MONTH} [ \d]\d {_CLOCK} \d{{4}}",
    re.ASCII | re.IGNORECASE,
)
# without one, and without a day of the week, a time may be anywhere
_HAS_ZONE = re.compile(r"\d\s?(?:Z|GMT|UTC|[+-]\d\d:?\d\d)$", re.IGNORECASE)


class RateLimit(NamedTuple):
    """One limit that a service states: so many requests in a window of time. What it
    does not say is None.
    """

    # maximum number of requests in the window; 0 means that there is no limit
    limit: float | None = None
    remaining: float | None = None
    reset: float | None = None  # seconds until the window begins again
    window: float | None = None  # its length in seconds
    # what the service calls it, or what it counts: ``requests``, ``tokens``
    name: str = ""

    @property
    def is_exhausted(self) -> bool:
        return self.remaining is not None and self.remaining <= 0 and self.limit != 0

    @property
    def says_something(self) -> bool:
        """Whether anything but the name is stated."""
        return self != RateLimit(name=self.name)


def parse_rate_limits(headers: Mapping[str, str]) -> tuple[RateLimit, ...]:
    """Return the rate limits in *headers*, whose names are in lower case, shortest
    window first.
    """
    short = {
        name: value[:_MAX_LENGTH] for name, value in headers.items() if "rate" in name
    }
    if not short and "retry-after" not in headers:
        return ()
    limits = [*_by_draft(short), *_by_name(short)]
    wait = parse_wait(headers.get("retry-after", ""))
    if wait is not None and not any(limit.is_exhausted for limit in limits):
        limits.append(RateLimit(remaining=0, reset=wait))
    different = dict.fromkeys(limit for limit in limits if limit.says_something)
    return tuple(sorted(different, key=_window_of)[:_MOST_LIMITS])


def _window_of(limit: RateLimit) -> float:
    return math.inf if limit.window is None else limit.window


def parse_wait(value: str) -> float | None:
    """Return the seconds of ``Retry-After`` (RFC 9110, 10.2.3), a number or a date;
    None if missing or invalid.
    """
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", value):
        return min(float(value), _MAX_WAIT)
    return _until(value)


def _by_draft(headers: Mapping[str, str]) -> list[RateLimit]:
    """``RateLimit: "day";r=50;t=30`` with ``RateLimit-Policy: "day";q=100;w=60``, or
    ``limit=10, remaining=9``.
    """
    policies = _items(headers.get("ratelimit-policy", ""))
    states = _items(headers.get("ratelimit", ""))
    if any("r" in state for state in states.values()):
        return [
            _combine(name, policies.get(name, {}), state)
            for name, state in states.items()
        ]
    pairs = dict(map(_pair, headers.get("ratelimit", "").split(",")))
    if "limit" in pairs:
        return [_make(pairs)]
    if policies and all("q" in policy for policy in policies.values()):
        return [_combine(name, policy, {}) for name, policy in policies.items()]
    return []


def _combine(
    name: str, policy: Mapping[str, str], state: Mapping[str, str]
) -> RateLimit:
    return RateLimit(
        limit=_number(policy.get("q")),
        remaining=_number(state.get("r")),
        reset=_number(state.get("t")),
        window=_number(policy.get("w")),
        name=name,
    )


def _by_name(headers: Mapping[str, str]) -> list[RateLimit]:
    """Headers with one limit each, or one limit for each window, separated by
    commas.
    """
    groups: dict[str, dict[str, str]] = {}
    for name, value in headers.items():
        match = _NAME.fullmatch(name)
        if match:
            groups.setdefault(match[1] or match[3] or "", {})[match[2]] = value
    limits: list[RateLimit] = []
    for unit, group in groups.items():
        limits += _windows(unit, group)
    return limits


def _windows(unit: str, group: Mapping[str, str]) -> list[RateLimit]:
    if not group.keys() & {"limit", "remaining", "reset"}:
        return []
    lists = {field: _split(group.get(field, "")) for field in _FIELDS}
    count = max(1, *(len(lists[field]) for field in ("remaining", "reset", "limit")))
    # `10, 10;w=1, 50;w=60`: the first is the nearest
    if len(lists["remaining"]) == 1 and len(lists["limit"]) > 1:
        count = 1
    limits = []
    for n in range(min(count, _MOST_LIMITS)):
        parts = {field: values[n] for field, values in lists.items() if n < len(values)}
        parts["interval"] = group.get("interval", "")
        limits.append(_make(parts, unit))
    return limits


def _make(parts: Mapping[str, str], unit: str = "") -> RateLimit:
    windows = [
        re.search(r";\s*w=\s*\"?(\d{1,9})", parts.get(field, ""))
        for field in ("policy", "limit")
    ]
    seconds = next((float(match[1]) for match in windows if match), None)
    window = seconds or _number(parts.get("interval")) or _UNITS.get(unit)
    return RateLimit(
        limit=_number(parts.get("limit", "").partition(";")[0]),
        remaining=_number(parts.get("remaining")),
        reset=_reset(parts.get("reset", "")),
        window=window,
        name="" if unit in _UNITS else unit,
    )


def _split(value: str) -> list[str]:
    """Split a comma list; the comma of a date, ``Wed, 21 Oct``, is not one."""
    return re.split(r"(?<![A-Za-z]),", value) if value else []


def _items(value: str) -> dict[str, dict[str, str]]:
    """Parse a list of items with parameters (RFC 9651): ``"day";q=100;w=60,
    "hour";q=10``.
    """
    items: dict[str, dict[str, str]] = {}
    if not value:
        return items
    for item in value.split(","):
        name, *parameters = item.split(";")
        items[name.strip().strip('"')] = dict(map(_pair, parameters))
    return items


def _pair(text: str) -> tuple[str, str]:
    name = text.partition("=")[0]
    value = text.partition("=")[2]
    return name.strip().lower(), value.strip().strip('"')


def _reset(value: str) -> float | None:
    """Return the seconds until a reset, which services give as a number, a duration or
    a point in time.
    """
    number = _number(value)
    if number is None:
        return _until(value.strip())
    if number < _EPOCH:
        return min(number, _MAX_WAIT)
    stamp = number / 1000 if number >= _EPOCH * 1000 else number
    return min(max(0.0, stamp - time.time()), _MAX_WAIT)


def _number(value: str | None) -> float | None:
    """Return a number or a duration (``1s``, ``6m0s``, ``250ms``) in seconds."""
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", text, re.ASCII):
        return float(text)
    if not text or len(text) >= 40:
        return None
    match = _DURATION.fullmatch(text)
    if match is None or not text.isascii():
        return None
    sizes = (86_400, 3_600, 60, 1, 0.001)
    return sum(
        float(part) * size
        for part, size in zip(match.groups(), sizes, strict=True)
        if part
    )


def parse_http_date(value: str) -> float | None:
    """Return an HTTP date (RFC 9110, 5.6.7) in seconds since 1970; None for anything
    else. All three forms are in GMT.
    """
    if not _HTTP_DATE.fullmatch(value):
        return None
    try:
        return float(timegm(parsedate(value) or ()))
    except (ValueError, TypeError, OverflowError):
        return None


def _until(value: str) -> float | None:
    """Return the seconds until an HTTP date, or one with an offset or in the format of
    ISO 8601; 0 if it has passed.
    """
    end = parse_http_date(value)
    if end is None and _HAS_ZONE.search(value):
        from .dates import parse_date  # a program that makes tools does without

        date = parse_date(value)
        end = None if date is None else date.timestamp()
    if end is None:
        return None
    return min(max(end - time.time(), 0.0), _MAX_WAIT)
