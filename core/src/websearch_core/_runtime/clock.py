"""The date and time, which a test can stop."""

from __future__ import annotations
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

_stopped: list[datetime] = []


def now() -> datetime:
    """Return the date and time, in UTC."""
    return _stopped[-1] if _stopped else datetime.now(UTC)


def say_today() -> str:
    """Return the date as a sentence: a model does not know it."""
    return f"Today is {now():%Y-%m-%d} (UTC)"


@contextmanager
def stop_clock(at: datetime) -> Iterator[None]:
    """Stop the clock in this process for a ``with`` block, so that a test can compare
    texts with a date in them.

    It is the clock of ``Today is ...`` in texts for models, of `Page.fetched_at` and of
    ``3 days ago``, and of ``time_range`` for services that take dates. Time limits,
    pauses and the ages of what a cache keeps go on.

    Args:
        at: The time, with its zone.
    """
    _stopped.append(at.astimezone(UTC))
    try:
        yield
    finally:
        _stopped.pop()
