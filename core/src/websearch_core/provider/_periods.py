"""The period of time that a query asks for, in the ways that services take it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from ..models import SearchQuery

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


def first_day(query: SearchQuery) -> date | None:
    """
    Return the first day of the period that *query* asks for, in UTC; None if it has no beginning.

    For services that have no ``time_range``, but take a date. It is a whole day, so up to a day more is searched.
    """
    if query.time_range:
        return datetime.now(UTC).date() - timedelta(days=_DAYS[query.time_range])
    return query.after


def google_period(query: SearchQuery) -> str | None:
    """Return the period as Google's parameter ``tbs``, which services that pass queries on to Google take too."""
    if query.time_range:
        return f"qdr:{query.time_range[0]}"
    ends = {"cd_min": query.after, "cd_max": query.before}
    parts = [f"{name}:{day:%m/%d/%Y}" for name, day in ends.items() if day]
    return ",".join(["cdr:1", *parts]) if parts else None
