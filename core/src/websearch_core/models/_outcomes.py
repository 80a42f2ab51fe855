"""How asking each provider ended, as data."""

from __future__ import annotations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import (
    AuthenticationError,
    BadResponse,
    Blocked,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    UnsupportedOption,
    WebSearchError,
)
from ._value import Value

if TYPE_CHECKING:
    from . import Page, SearchResponse

Status: TypeAlias = Literal[
    "ok",
    "empty",
    "blocked",
    "rate_limited",
    "quota",
    "auth",
    "parse",
    "timeout",
    "skipped",
    "cancelled",
    "failed",
]
# How a note ends that is about a page with more hidden text than other text.
MORE_HIDDEN = ", more than are here"
_STATUSES: dict[type[WebSearchError], Status] = {
    AuthenticationError: "auth",
    BadResponse: "parse",
    Blocked: "blocked",
    QuotaExhausted: "quota",
    RateLimited: "rate_limited",
    TimedOut: "timeout",
    UnsupportedOption: "skipped",
}


class Outcome(Value):
    """How asking a provider ended.

    Args:
        provider: Its name.
        status: ``ok``; ``empty`` if it found nothing; ``skipped`` if it does not
            support an option of the query, or cannot help where those before it failed;
            ``blocked``, ``rate_limited``, ``quota``, ``auth``, ``parse`` (an answer
            that cannot be understood) and ``timeout``, the usual ways to fail;
            ``cancelled`` if another one answered first (a hedge); or ``failed`` in any
            other way.
        seconds: How long it took, with retries.
        code: The ``code`` of the error; None if it answered.
    """

    provider: str
    status: Status
    seconds: float
    code: str | None = None

    @classmethod
    def of_failure(
        cls, provider: str, seconds: float, error: WebSearchError
    ) -> Outcome:
        """Return the outcome for a provider that failed."""
        statuses: list[Status] = [
            status for kind, status in _STATUSES.items() if isinstance(error, kind)
        ]
        return cls(
            provider=provider,
            status=statuses[0] if statuses else "failed",
            seconds=round(seconds, 3),
            code=error.code,
        )


def find_outcomes(
    answer: SearchResponse | Page, provider: str, seconds: float
) -> tuple[Outcome, ...]:
    """Return the outcomes of *answer*; without any, one for the only *provider*, which
    took *seconds*.
    """
    if answer.outcomes:
        return answer.outcomes
    return (
        Outcome(
            provider=provider,
            status="empty" if is_empty(answer) else "ok",
            seconds=round(seconds, 3),
        ),
    )


def is_empty(answer: Any) -> bool:
    """Return whether a search found nothing. A page is never empty: it is there, or
    reading it is an error.
    """
    if not hasattr(answer, "results"):
        return False
    return not (answer.results or answer.answer or answer.images)
