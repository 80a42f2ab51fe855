"""Log what happens, through the same events as everybody else's hook.

At level info: providers, numbers, lengths, times, error codes, and where a page is,
without the query of its URL. At level debug: the query, and whole URLs. At level
warning, once an hour for each provider: what an operator must change, such as a wrong
key. No line has a key.
"""

from __future__ import annotations
import logging
import re
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .. import errors, events
from .._text.quantity import quantity
from ._hooks import describe_error

if TYPE_CHECKING:
    from ..models import SearchResponse

_MAX_LENGTH = 200  # characters of an address
_FOR_OPERATORS = (
    errors.AuthenticationError,
    errors.QuotaExhausted,
    errors.Blocked,
    errors.ConfigurationError,
)
_AGAIN_AFTER = 3600.0  # seconds
# when, by the provider and the code of the error
_warned: dict[tuple[str, str], float] = {}
_warned_lock = threading.Lock()
_log = logging.getLogger("websearch_core")


def log_event(event: events.Event) -> None:  # noqa: C901, PLR0912 - a table of events
    error = getattr(event, "error", None)
    if error is not None:
        provider = getattr(event, "provider", "")
        _warn(error, provider, of_page=isinstance(event, events.ReadEnd))
    if not _log.isEnabledFor(logging.INFO):
        return
    match event:
        case events.SearchStart():
            _log.debug("%s search: %r", event.provider, event.query.text)
        case events.ReadStart():
            _log.debug("%s read: %r", event.provider, event.url)
        case events.SearchEnd(response=None) | events.ReadEnd(page=None):
            what = event.name.removesuffix("_end")
            of = (
                _measure(event)
                if isinstance(event, events.SearchEnd)
                else _show_address(event.url)
            )
            why = describe_error(event.error) if event.error else ""
            _log.info(
                "%s %s (%s) failed after %.2f s: %s",
                event.provider,
                what,
                of,
                event.seconds,
                why,
            )
        case events.SearchEnd(response=response):
            _log.info(
                "%s search (%s): %s in %.2f s",
                event.provider,
                _measure(event),
                _count_results(response),
                event.seconds,
            )
        case events.ReadEnd(page=page):
            length = page.content_length if page else 0
            where = _show_address(event.url)
            _log.info(
                "%s read (%s): %d characters in %.2f s",
                event.provider,
                where,
                length,
                event.seconds,
            )
        case events.Exchange():
            outcome = (
                event.status if event.error is None else describe_error(event.error)
            )
            _log.debug(
                "%s %s: %s, %d bytes",
                event.method,
                _show_address(event.url),
                outcome,
                event.size,
            )
        case events.Wait():
            why = f" after {describe_error(event.error)}" if event.error else ""
            _log.info(
                "%s waits %.2f s (%s%s)",
                event.provider,
                event.seconds,
                event.reason,
                why,
            )
        case events.Failover():
            why = (
                f"failed ({describe_error(event.error)})"
                if event.error
                else "found nothing"
            )
            _log.info("%s %s: %s is next", event.provider, why, event.next_provider)
        case events.HedgeStarted():
            _log.info(
                "%s has not answered after %.2f s: %s is asked too",
                event.provider,
                event.seconds,
                event.next_provider,
            )
        case events.ProviderSkipped():
            _log.info("%s is left out: %s", event.provider, describe_error(event.error))
        case events.BreakerOpened():
            why = describe_error(event.error)
            _log.warning(
                "%s is not asked for %.1f s: %s, several times",
                event.provider,
                event.seconds,
                why,
            )
        case events.BreakerClosed():
            _log.info("%s works again", event.provider)
        # of a layer that this module does not know; its fields may hold anything
        case _:
            _log.debug("%s", event.name)


def _warn(error: BaseException, provider: str, *, of_page: bool) -> None:
    """Warn of what fails until somebody changes it: a search engine that blocks us, but
    not a page that does.
    """
    causes: Sequence[BaseException] = (error,)
    if isinstance(error, errors.AllProvidersFailed):
        causes = error.exceptions
    for cause in causes:
        if not isinstance(cause, _FOR_OPERATORS):
            continue
        if of_page and isinstance(cause, errors.Blocked):
            continue
        if _is_due((cause.provider or provider, cause.code)):
            _log.warning("%s%s", cause.summary, _describe_cause(cause))


def _is_due(key: tuple[str, str]) -> bool:
    """Return whether to warn of a provider's error again, and remember that."""
    now = time.monotonic()
    with _warned_lock:
        last = _warned.get(key)
        if last is not None and now - last < _AGAIN_AFTER:
            return False
        _warned[key] = now
    return True


def _count_results(response: SearchResponse | None) -> str:
    if response is None:
        return quantity(0, "result")
    count = quantity(len(response.results), "result")
    if response.answer:
        count += " and an answer"
    return count


def _describe_cause(error: errors.WebSearchError) -> str:
    """Return the status and where the key came from, if they are known and the message
    does not say so.
    """
    facts: list[str] = []
    status = getattr(error, "status", None)
    if status and str(status) not in error.message:
        facts.append(f"status {status}")
    source = getattr(error, "key_source", None)
    if source:
        facts.append(f"key from {source}")
    return f" ({', '.join(facts)})" if facts else ""


def _measure(event: events.SearchEnd) -> str:
    return quantity(len(event.query.text), "character")


def _show_address(url: str) -> str:
    """Return *url* without credentials, query and fragment, in printable ASCII."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.port:
            host += f":{parts.port}"
        address = f"{parts.scheme}://{host}{parts.path}"
    except ValueError:
        return "an invalid URL"
    return re.sub(r"[^\x21-\x7e]", "?", address)[:_MAX_LENGTH]
