"""What can go wrong, and whose fault it is. `docs/errors.md` draws the tree of the
classes.

Finding nothing is not an error. Each class is also a builtin exception that people
already catch, has a stable ``code`` for programs and models, and says whether retrying
may help (``temporary``). ``str(error)`` says who failed, how, and at which URL;
``summary`` leaves the URL out, for models. Neither contains a key, or any words but our
own. What a service said is in ``detail``.
"""

from __future__ import annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AccessDenied", "AllProvidersFailed", "Attempt", "AuthenticationError",
    "BadRequest", "BadResponse", "Blocked",
    "BudgetExceeded", "ConfigurationError", "DisallowedByRobots", "DomainNotAllowed",
    "InvalidOption", "MissingKey",
    "NeedsBrowser", "PageNotFound", "QuotaExhausted", "RateLimited", "ServiceError",
    "TimedOut", "TooLarge",
    "Unavailable", "UnknownProvider", "UnsafeURL", "UnsupportedContent",
    "UnsupportedOption", "WebSearchError",
]  # fmt: skip


class WebSearchError(Exception):
    """The base class of all errors that this library raises on purpose.

    ``provider`` is the name of the provider whose call failed, and ``url`` the page
    that was to be read, or what was requested of a service, without credentials and
    query values that look like secrets; each is None where it is unknown.
    ``concerns_caller`` is true if it is about who asked, such as a budget, a policy or
    the time that was left: another caller that waited for the same answer never gets
    it, but asks again.
    """

    code: ClassVar[str] = "error"
    concerns_caller: bool = False
    provider: str | None = None
    url: str | None = None

    @property
    def message(self) -> str:
        """What happened, without the provider and the URL."""
        return str(self.args[0]) if self.args else ""

    def locate(self, provider: str | None = None, url: str | None = None) -> None:
        """Add the provider and the URL, unless they are known."""
        self.provider = self.provider or provider
        self.url = self.url or url

    @property
    def summary(self) -> str:
        """Who failed, and how. It does not say where, which may be inside: a model
        reads it.
        """
        return self.message

    def __str__(self) -> str:
        if not self.url or self.url in self.message:
            return self.summary
        return f"{self.summary} ({self.url})"


class ConfigurationError(WebSearchError, ValueError):
    """The library is configured incorrectly."""

    code = "configuration"


class UnknownProvider(ConfigurationError, LookupError):
    """No provider has this name."""

    code = "unknown_provider"


class MissingKey(ConfigurationError):
    """A provider was requested by name, but something it requires is missing, usually
    its key.

    ``variables`` names environment variables; setting any one of them helps.
    """

    code = "missing_key"

    def __init__(
        self,
        message: str,
        *,
        variables: Sequence[str] = (),
        provider: str | None = None,
    ) -> None:
        super().__init__(message)
        self.variables: tuple[str, ...] = tuple(variables)
        self.provider = provider


class InvalidOption(WebSearchError, ValueError):
    """A value that makes no sense to any provider: an empty query, a limit of zero."""

    code = "invalid_option"


class UnsupportedOption(WebSearchError, ValueError):
    """The provider does not support an option of the query; it is never dropped
    silently.

    ``options`` names the fields of the query that are not supported; ``provider`` names
    the provider, if it is known.
    """

    code = "unsupported_option"

    def __init__(
        self, message: str, *, options: Sequence[str] = (), provider: str | None = None
    ) -> None:
        super().__init__(message)
        self.options: tuple[str, ...] = tuple(options)
        self.provider = provider

    @classmethod
    def by(cls, provider: Any, why: str, *options: str) -> Self:
        """Return the error of a *provider*, whose name begins the message; *why* is the
        rest of it, such as ``has no filter for time``.
        """
        return cls(f"{provider.name} {why}", options=options, provider=provider.name)


class UnsafeURL(WebSearchError, ValueError):
    """The URL is ambiguous, or leads to a place that must not be read. The message
    reveals nothing about that place.
    """

    code = "unsafe_url"
    concerns_caller = True


class DomainNotAllowed(UnsafeURL):
    """The page, or one that it redirects to, is outside ``allowed_domains`` or inside
    ``blocked_domains``.
    """

    code = "domain_not_allowed"


class DisallowedByRobots(WebSearchError, PermissionError):
    """The ``robots.txt`` of the page's site, or of one that it redirects to, asks
    programs not to read the page.
    """

    code = "disallowed_by_robots"


class BudgetExceeded(WebSearchError):
    """A budget that the caller set is used up."""

    code = "budget_exceeded"
    concerns_caller = True


@dataclass(frozen=True)
class Attempt:
    """One of several attempts that failed.

    Args:
        code: The ``code`` of its error.
        began: Seconds from the beginning of the first attempt.
        seconds: How long it took.
    """

    code: str
    began: float
    seconds: float


class ServiceError(WebSearchError):
    """The service or the network failed.

    Args:
        message: What happened, in our own words: a model reads it.
        provider: The name of the provider that failed.
        status: The HTTP status, if there was one.
        retry_after: Seconds to wait before retrying, if the service said so.
        detail: What the service said about it, for developers: one line of at most 200
            characters, without keys. It may quote the page. A traceback shows it;
            ``str(error)`` and the text for a model do not.

    ``key_mark`` tells keys apart in this process, without saying anything about them.
    ``concerns_page`` is true if a reading service works, but could not read the page.
    ``attempts`` lists what was tried, if the error was raised after retrying: an
    `Attempt` for each, the last of which is this error.
    """

    code = "service_error"
    temporary: bool = False
    concerns_page: bool = False
    key_mark: str | None = None

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
        self.attempts: tuple[Attempt, ...] = ()
        if detail:
            self.add_note(f"The service said: {detail}")

    @property
    def summary(self) -> str:
        """Who failed, and how. It does not say where, which may be inside: a model
        reads it.
        """
        if not self.provider or self.message.startswith(self.provider):
            return self.message
        return f"{self.provider}: {self.message}"


class AuthenticationError(ServiceError, PermissionError):
    """The key is missing, wrong, or not allowed to do this.

    ``key_source`` says where the key came from, such as the name of an environment
    variable, if that is known.
    """

    code = "authentication_failed"
    key_source: str | None = None


class QuotaExhausted(ServiceError):
    """The plan's quota, credit or free allowance is used up. Retrying soon does not
    help.
    """

    code = "quota_exhausted"


class RateLimited(ServiceError):
    """Too many requests in too short a time."""

    code = "rate_limited"
    temporary = True


class Blocked(ServiceError):
    """The service or the page treats us as a bot: it answers with a challenge, or
    refuses. Not the same as empty.
    """

    code = "blocked"


class BadRequest(ServiceError, ValueError):
    """The service understood the request and rejected it."""

    code = "bad_request"


class Unavailable(ServiceError, ConnectionError):
    """The service is down, overloaded or unreachable."""

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
    """The page cannot be turned into text, for example a video. The message names its
    kind if that is a known one.
    """

    code = "unsupported_content"


class PageNotFound(ServiceError, LookupError):
    """The page does not exist: 404, 410, or the equivalent answer of a reader."""

    code = "page_not_found"


class AccessDenied(ServiceError, PermissionError):
    """The page is closed to us: it needs a login (401) or payment (402), or is withheld
    for legal reasons (451).
    """

    code = "access_denied"


class NeedsBrowser(ServiceError):
    """The page has no content without running its scripts. A reader that runs them may
    read it.
    """

    code = "needs_browser"


class AllProvidersFailed(ServiceError, ExceptionGroup[WebSearchError]):
    """Every provider of a chain failed; ``exceptions`` has the cause of each, in the
    order of the calls.
    """

    code = "all_providers_failed"

    def __new__(cls, message: str, exceptions: Sequence[WebSearchError]) -> Self:
        """Make the group; ExceptionGroup takes its arguments here."""
        return super().__new__(cls, message, exceptions)

    def __init__(self, message: str, exceptions: Sequence[WebSearchError]) -> None:
        super().__init__(message)
        waits = [getattr(cause, "retry_after", None) for cause in exceptions]
        self.retry_after: float | None = min(
            (wait for wait in waits if wait is not None), default=None
        )
        self.temporary: bool = any(
            getattr(cause, "temporary", False) for cause in exceptions
        )
        self.concerns_caller = any(cause.concerns_caller for cause in exceptions)

    def derive(  # type: ignore[override]
        self, excs: Sequence[WebSearchError]
    ) -> AllProvidersFailed:
        """Keep the type when Python splits the group."""
        return AllProvidersFailed(self.message, excs)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.exceptions), self.__dict__

    @property
    def summary(self) -> str:
        """Who failed, and how, for each of them."""
        return self.message

    def __str__(self) -> str:
        return self.message
