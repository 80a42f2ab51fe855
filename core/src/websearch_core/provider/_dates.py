"""Turn the dates of a query into those of a service."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from .._runtime.clock import now
from ..models import SearchQuery

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


def date_range(query: SearchQuery) -> tuple[date | None, date | None]:
    """Return the first and the last day that *query* asks for, in UTC; for services without a word for last week."""
    if query.time_range is None:
        return query.after, query.before
    return now().date() - timedelta(days=_DAYS[query.time_range]), None


def closed_range(query: SearchQuery) -> tuple[date, date]:
    """
    Return the first and the last day, as `date_range` does, for services that need both: from 1970, until today.

    Where it is tomorrow already, a query may begin after today in UTC; then its first day is the last one, too.
    """
    first, last = date_range(query)
    return first or date(1970, 1, 1), last or max(now().date(), first or date.min)


def midnight(day: date) -> int:
    """Return the Unix time, in seconds, at which *day* begins in UTC."""
    return int(datetime.combine(day, datetime.min.time(), UTC).timestamp())
