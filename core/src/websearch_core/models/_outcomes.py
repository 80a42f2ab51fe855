"""How asking each provider ended, as data."""

from __future__ import annotations
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

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
# how the note of a page ends of which more is hidden than shown
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


class Outcome(BaseModel):
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

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    provider: str
    status: Status
    seconds: float
    code: str | None = None

    @classmethod
    def of_failure(
        cls, provider: str, seconds: float, error: WebSearchError
    ) -> Outcome:
        """Return the outcome for a provider that failed."""
        known: list[Status] = [
            status for kind, status in _STATUSES.items() if isinstance(error, kind)
        ]
        status = known[0] if known else "failed"
        return cls(
            provider=provider, status=status, seconds=round(seconds, 3), code=error.code
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
    """Return whether a search found nothing; reading a page always finds it, or is an
    error.
    """
    return hasattr(answer, "results") and not (
        answer.results or answer.answer or answer.images
    )
