"""Turn the dates of a query into those of a service."""

from __future__ import annotations
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType

from .._runtime.clock import now
from ..models import SearchQuery

_DAYS = {"hour": 1, "day": 1, "week": 7, "month": 31, "year": 366}


def date_range(query: SearchQuery) -> tuple[date | None, date | None]:
    """Return the first and the last day that *query* asks for, in UTC; for services
    without a word for last week.
    """
    if query.time_range is None:
        return query.after, query.before
    return now().date() - timedelta(days=_DAYS[query.time_range]), None


def date_span(
    query: SearchQuery,
    periods: Mapping[str, str] = MappingProxyType({}),
    *,
    sign: str = "to",
) -> str | None:
    """Return the dates of *query* as one text, ``2026-01-01to2026-06-30``, or the word
    in *periods*.

    For services that need both ends: from 1970, until today. Where it is tomorrow
    already, a query may begin after today in UTC; then its first day is the last one,
    too.
    """
    if query.time_range:
        return periods.get(query.time_range, query.time_range)
    if not (query.after or query.before):
        return None
    first = query.after or date(1970, 1, 1)
    last = query.before or max(now().date(), first)
    return f"{first}{sign}{last}"


def midnight(day: date) -> int:
    """Return the Unix time, in seconds, at which *day* begins in UTC."""
    return int(datetime.combine(day, datetime.min.time(), UTC).timestamp())
