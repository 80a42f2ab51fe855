"""
What can go wrong, and whose fault it is.

::

    WebSearchError
    ├── ConfigurationError   (ValueError)       the set-up is wrong: fix the code or the environment
    │   ├── UnknownProvider  (LookupError)
    │   └── MissingKey
    ├── InvalidOption        (ValueError)       the question makes no sense, whoever is asked
    ├── UnsupportedOption    (ValueError)       this provider has no way to say what was asked
    ├── UnsafeURL            (ValueError)       this address may not be opened from here
    ├── BudgetExceeded                          the caller's own limit is used up
    └── ServiceError                            the other side, or the way there
        ├── AuthenticationError (PermissionError)   the key is wrong or may not do this
        ├── QuotaExhausted                          the purse is empty
        ├── RateLimited                             too fast; see ``retry_after``      temporary
        ├── Blocked                                 taken for a robot (a CAPTCHA page)
        ├── BadRequest          (ValueError)        the service does not accept the question
        ├── Unavailable         (ConnectionError)   down, busy or unreachable          temporary
        ├── TimedOut            (TimeoutError)      no answer in time                  temporary
        ├── BadResponse                             an answer, but not the promised one
        ├── TooLarge                                an answer beyond the size allowed
        ├── UnsupportedContent                      a page of a kind that has no text for us
        ├── PageNotFound        (LookupError)       the page is not there
        └── AllProvidersFailed  (ExceptionGroup)    each provider of a chain failed; holds every cause

Finding nothing is not an error.  Each class also is the builtin that people already catch, has a stable ``code`` for
programs and models, and says whether trying again may help (``temporary``).  No message holds a key, nor any words but
our own: a model reads it outside of the marks that stand around data.  What a service said is in ``detail``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

__all__ = [
    "AllProvidersFailed",
    "AuthenticationError",
    "BadRequest",
    "BadResponse",
    "Blocked",
    "BudgetExceeded",
    "ConfigurationError",
    "InvalidOption",
    "MissingKey",
    "PageNotFound",
    "QuotaExhausted",
    "RateLimited",
    "ServiceError",
    "TimedOut",
    "TooLarge",
    "Unavailable",
    "UnknownProvider",
    "UnsafeURL",
    "UnsupportedContent",
    "UnsupportedOption",
    "WebSearchError",
]


class WebSearchError(Exception):
    """The root of everything this library raises on purpose."""

    code: ClassVar[str] = "error"


class ConfigurationError(WebSearchError, ValueError):
    """The library was set up wrongly."""

    code = "configuration"


class UnknownProvider(ConfigurationError, LookupError):
    """No provider has that name."""

    code = "unknown_provider"


class MissingKey(ConfigurationError):
    """
    A provider was asked for by name, and what it cannot do without, mostly its key, is not there.

    ``variables`` names the environment variables that would help, any one of them.
    """

    code = "missing_key"

    def __init__(self, message: str, *, variables: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.variables: tuple[str, ...] = tuple(variables)


class InvalidOption(WebSearchError, ValueError):
    """A value that no provider could make sense of: an empty query, a limit of zero."""

    code = "invalid_option"


class UnsupportedOption(WebSearchError, ValueError):
    """
    The provider cannot express what was asked, and dropping it in silence would be a lie.

    ``options`` names the fields of the query concerned, ``provider`` who does not support them, where that is known.
    """

    code = "unsupported_option"

    def __init__(self, message: str, *, options: Sequence[str] = (), provider: str | None = None) -> None:
        super().__init__(message)
        self.options: tuple[str, ...] = tuple(options)
        self.provider = provider


class UnsafeURL(WebSearchError, ValueError):
    """The URL is ambiguous, or leads to a place that pages may not be read from. Says nothing of what is there."""

    code = "unsafe_url"


class BudgetExceeded(WebSearchError):
    """A limit that the caller set is used up."""

    code = "budget_exceeded"


class ServiceError(WebSearchError):
    """
    A service failed, or the way there.

    Args:
        message: What happened, in our own words: a model gets to read it.
        provider: The name of the provider that failed.
        status: The HTTP status, where there was one.
        retry_after: Seconds after which the service asks to be tried again.
        detail: What the service said about it, for developers: one line of at most 200 characters, without keys. It may
            quote the page. A traceback shows it; ``str(error)`` and what a model is told do not.

    """

    code = "service_error"
    temporary: bool = False

    def __init__(
        self,
        message: str,
        *,
        provider: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        detail: str | None = None,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.status = status
        self.retry_after = retry_after
        self.detail: str | None = detail or None
        if detail:
            self.add_note(f"The service said: {detail}")


class AuthenticationError(ServiceError, PermissionError):
    """The key is missing, wrong, or not allowed to do this."""

    code = "authentication_failed"


class QuotaExhausted(ServiceError):
    """The plan, credit or free allowance is used up. Trying again soon does not help."""

    code = "quota_exhausted"


class RateLimited(ServiceError):
    """Too many requests in too short a time."""

    code = "rate_limited"
    temporary = True


class Blocked(ServiceError):
    """The service takes us for a robot and answers with a challenge. Not the same as finding nothing."""

    code = "blocked"


class BadRequest(ServiceError, ValueError):
    """The service understood that it was asked something, and refused the question."""

    code = "bad_request"


class Unavailable(ServiceError, ConnectionError):
    """The service is down, overloaded or cannot be reached."""

    code = "unavailable"
    temporary = True


class TimedOut(ServiceError, TimeoutError):
    """No answer within the time allowed."""

    code = "timed_out"
    temporary = True


class BadResponse(ServiceError):
    """The answer cannot be understood: not JSON, an HTML page, a changed format."""

    code = "bad_response"


class TooLarge(ServiceError):
    """The answer is larger than the caller allows."""

    code = "too_large"


class UnsupportedContent(ServiceError):
    """The page is of a kind we cannot turn into text, such as a video. The message names it if it is a known one."""

    code = "unsupported_content"


class PageNotFound(ServiceError, LookupError):
    """The page is not there: 404, 410, or a reader that says as much."""

    code = "page_not_found"


class AllProvidersFailed(ServiceError, ExceptionGroup[WebSearchError]):
    """Every provider of a chain failed; ``exceptions`` keeps each cause, in the order they were asked."""

    code = "all_providers_failed"

    def __new__(cls, message: str, exceptions: Sequence[WebSearchError]) -> Self:
        """Make the group; ExceptionGroup takes its arguments here."""
        return super().__new__(cls, message, exceptions)

    def __init__(self, message: str, exceptions: Sequence[WebSearchError]) -> None:
        super().__init__(message)
        waits = [wait for cause in exceptions if (wait := getattr(cause, "retry_after", None)) is not None]
        self.retry_after: float | None = min(waits, default=None)
        self.temporary: bool = any(getattr(cause, "temporary", False) for cause in exceptions)

    def derive(self, excs: Sequence[WebSearchError]) -> AllProvidersFailed:  # type: ignore[override]
        """Keep the type when Python splits the group."""
        return AllProvidersFailed(self.message, excs)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.exceptions)

    def __str__(self) -> str:
        return self.message
