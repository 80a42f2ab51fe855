"""Log what happens, through the same events as everybody else's hook.

At level info: providers, numbers, lengths, times, error codes, and where a page is,
without the query of its URL. At level debug: the query, and whole URLs. At level
warning: each call that a service failed, with its status; and once an hour for each
provider and key, what an operator must change, such as a wrong key. Each line names the
tenant and the run of its call, if it has any. No line has a key.
"""

from __future__ import annotations
import logging
import re
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .. import errors, events
from .._text.quantity import quantity
from ._hooks import describe_error

if TYPE_CHECKING:
    from ..models import SearchResponse

_MAX_LENGTH = 200  # characters of an address
_MAX_NAME = 60  # of a tenant or a run
_FOR_OPERATORS = (
    errors.AuthenticationError,
    errors.QuotaExhausted,
    errors.Blocked,
    errors.ConfigurationError,
)
_AGAIN_AFTER = 3600.0  # seconds
_MAX_WARNED = 10_000
# when, by the provider, the code of the error, and what tells keys apart
_warned: dict[tuple[str | None, ...], float] = {}
_warned_lock = threading.Lock()
_log = logging.getLogger("websearch_core")


def log_event(event: events.Event) -> None:  # noqa: C901, PLR0912 - a table of events
    error = getattr(event, "error", None)
    has_warned = False
    if error is not None:
        has_warned = _warn(error, event)
    elif not _log.isEnabledFor(logging.INFO):
        return
    debug = partial(_write, event, logging.DEBUG)
    info = partial(_write, event, logging.INFO)
    match event:
        case events.SearchStart():
            debug("%s search: %r", event.provider, event.query.text)
        case events.ReadStart():
            debug("%s read: %r", event.provider, event.url)
        case events.SearchEnd(response=None) | events.ReadEnd(page=None):
            _write_failure(event, has_warned=has_warned)
        case events.SearchEnd(response=response):
            info(
                "%s search (%s): %s in %.2f s",
                event.provider,
                _measure(event),
                _count_results(response),
                event.seconds,
            )
        case events.ReadEnd(page=page):
            length = page.content_length if page else 0
            where = _show_address(event.url)
            info(
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
            debug(
                "%s %s: %s, %d bytes",
                event.method,
                _show_address(event.url),
                outcome,
                event.size,
            )
        case events.Wait():
            why = f" after {describe_error(event.error)}" if event.error else ""
            info(
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
            info("%s %s: %s is next", event.provider, why, event.next_provider)
        case events.HedgeStarted():
            info(
                "%s has not answered after %.2f s: %s is asked too",
                event.provider,
                event.seconds,
                event.next_provider,
            )
        case events.ProviderSkipped():
            info("%s is left out: %s", event.provider, describe_error(event.error))
        case events.BreakerOpened():
            why = describe_error(event.error)
            _write(
                event,
                logging.WARNING,
                "%s is not asked for %.1f s: %s, several times",
                event.provider,
                event.seconds,
                why,
            )
        case events.BreakerClosed():
            info("%s works again", event.provider)
        # of a layer that this module does not know; its fields may hold anything
        case _:
            debug("%s", event.name)


def _write_failure(
    event: events.SearchEnd | events.ReadEnd, *, has_warned: bool
) -> None:
    """Write that a call failed: a warning if a service did, and not a page or the
    caller, unless one *has_warned* of the same.
    """
    error = event.error
    why = describe_error(error) if error else ""
    status = getattr(error, "status", None)
    if status is not None:
        why += f" ({status})"
    level = logging.INFO
    if isinstance(event, events.ReadEnd):
        what = f"read ({_show_address(event.url)})"
    else:
        what = f"search ({_measure(event)})"
        is_failure = isinstance(error, errors.ServiceError | errors.AllProvidersFailed)
        if is_failure and not has_warned:
            level = logging.WARNING
    line = "%s %s failed after %.2f s: %s"
    _write(event, level, line, event.provider, what, event.seconds, why)


def _write(event: events.Event, level: int, line: str, *values: object) -> None:
    """Write a line about *event*, and whose call it is about."""
    if not _log.isEnabledFor(level):
        return
    callers = []
    if event.tenant:
        callers.append(f"tenant {_show_name(event.tenant)}")
    if event.run:
        callers.append(f"run {_show_name(event.run)}")
    whose = f" [{', '.join(callers)}]" if callers else ""
    _log.log(level, f"{line}%s", *values, whose)


def _show_name(name: str) -> str:
    """Return *name* in printable ASCII, and not too long."""
    return re.sub(r"[^\x20-\x7e]", "?", name)[:_MAX_NAME]


def _warn(error: BaseException, event: events.Event) -> bool:
    """Warn of what fails until somebody changes it: a search engine that blocks us, but
    not a page that does. Return whether it was due.
    """
    has_warned = False
    causes: Sequence[BaseException] = (error,)
    if isinstance(error, errors.AllProvidersFailed):
        causes = error.exceptions
    provider = getattr(event, "provider", "")
    for cause in causes:
        if not isinstance(cause, _FOR_OPERATORS):
            continue
        if isinstance(event, events.ReadEnd) and isinstance(cause, errors.Blocked):
            continue
        key = getattr(cause, "key_mark", None)
        if _is_due((cause.provider or provider, cause.code, event.tenant, key)):
            line = f"{cause.summary}{_describe_cause(cause)}"
            _write(event, logging.WARNING, "%s", line)
            has_warned = True
    return has_warned


def _is_due(key: tuple[str | None, ...]) -> bool:
    """Return whether to warn of a provider's error again, and remember that."""
    now = time.monotonic()
    with _warned_lock:
        last = _warned.get(key)
        if last is not None and now - last < _AGAIN_AFTER:
            return False
        _warned[key] = now
        while len(_warned) > _MAX_WARNED:  # tenants may be many
            del _warned[next(iter(_warned))]
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
