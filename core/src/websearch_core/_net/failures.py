"""
Turn what the HTTP libraries raise and log into what may be shown: our errors, without keys, queries and addresses.

The caller's own client may be of either library, so the errors of both are understood.
"""

from __future__ import annotations

import logging
import os
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

from ..errors import BadResponse, ConfigurationError, TimedOut, Unavailable, UnsafeURL, WebSearchError
from ..flow import Request
from ..flow._redaction import SecretRequest, keys_in, without_keys
from .head import TOO_LONG
from .proxy import Proxy
from .system import is_failed_lookup

_LOGGERS = (  # a logger's filter does not see the records of its child loggers
    *("httpx", "httpx2"),
    *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)


def redact_logs() -> None:
    """Remove queries and keys from the logs of the HTTP libraries."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_log_redaction)


@contextmanager
def translate_errors(request: Request, proxy: Proxy | None = None) -> Iterator[list[Any]]:
    """
    Raise our errors instead of the HTTP library's, whose messages may contain URLs and internal addresses.

    Yields a list, to which to add the answer as soon as it begins: the messages say whether it did.
    """
    answers: list[Any] = []
    place = "the page's server" if request.guarded else "the service"
    place += f" through the proxy {proxy}" if proxy else ""
    late = f"no answer from {place} within the time allowed"
    sending = _sending.set(request)
    try:
        with _remove_request(request):
            yield answers
    except WebSearchError:
        raise
    except TimeoutError as error:
        raise TimedOut(late) from error
    except _find_error_types("TimeoutException") as error:
        raise TimedOut(late) from error
    except _find_error_types("LocalProtocolError", "UnsupportedProtocol", "InvalidURL") as error:
        if request.guarded:  # a page may have chosen the URL
            raise UnsafeURL("no request can be sent to this URL") from error
        raise ConfigurationError(
            f"{urlsplit(request.url).netloc!r} is not a host that a request can be sent to"
        ) from error
    except _find_error_types("ConnectError") as error:
        reason = _find_root_cause(error)
        is_unknown = is_failed_lookup(reason)  # by the caller's own client; for ours, `lookup` says so
        problem = "the host name does not resolve" if is_unknown else f"cannot connect to {place}"
        failure = Unavailable(problem + ("" if is_unknown else _describe_cause(reason)))
        failure.temporary = not (is_unknown or isinstance(reason, ssl.SSLError))
        raise failure from error
    except UnicodeError as error:  # the caller's own client failed to parse a redirect's Location
        raise BadResponse(f"{place} redirects to an invalid URL") from error
    except _find_error_types("HTTPError", "StreamError") as error:
        raise Unavailable(_describe_break(place, error, has_begun=bool(answers))) from error
    finally:
        _sending.reset(sending)


@contextmanager
def _remove_request(request: Request) -> Iterator[None]:
    """Remove the request and its keys from any error raised: our errors are chained to those of the HTTP library."""
    try:
        yield
    except Exception as error:
        keys = keys_in(request)
        for one in _walk_chain(error):
            for name, value in vars(one).items():
                if isinstance(value, _find_error_types("Request", "Response")):
                    vars(one)[name] = None
            if any(isinstance(arg, str) and without_keys(arg, keys) != arg for arg in one.args):
                one.args = tuple(without_keys(arg, keys) if isinstance(arg, str) else arg for arg in one.args)
        raise


def _walk_chain(error: BaseException) -> list[BaseException]:
    """Return *error*, and all errors in its chain of causes and contexts."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and not any(one is other for other in found):
            found.append(one)
            waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return found


class _LogRedaction(logging.Filter):
    """
    Removes queries, and keys that a service repeats, from the logs of the HTTP library.

    These logs have the URL of every request and, at debug level, the headers of every answer.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = _sending.get()
        if request is None:
            return True
        if isinstance(record.args, tuple):
            args: tuple[Any, ...] = record.args
            record.args = tuple(arg.copy_with(query=None) if hasattr(arg, "copy_with") else arg for arg in args)
        message = record.getMessage()
        if isinstance(request, SecretRequest) and "set-cookie" in message.lower():
            return False  # whoever has the cookie of a session is logged in, too
        redacted = without_keys(message, keys_in(request))
        if redacted != message:
            record.msg, record.args = redacted, ()
        return True


_sending: ContextVar[Request | None] = ContextVar("websearch_request", default=None)
_log_redaction = _LogRedaction()


def _find_error_types(*names: str) -> tuple[type[Exception], ...]:
    """
    Return these exceptions of all loaded HTTP libraries: the caller's own client may use the other one.

    One that another thread is importing may not have them yet, and has raised none.
    """
    loaded = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    return tuple(getattr(library, name) for library in loaded for name in names if hasattr(library, name))


def _describe_break(place: str, error: Exception, *, has_begun: bool) -> str:
    """Say in our own words how an answer failed to arrive."""
    if isinstance(error, _find_error_types("RemoteProtocolError")) and "without sending" not in str(error):
        if str(error) == TOO_LONG:
            return f"{place} sent headers without end, and no answer"
        return f"{place} sent an answer that is not valid HTTP"
    return f"{place} broke off its answer" if has_begun else f"{place} closed the connection before it answered"


def _find_root_cause(error: BaseException | None) -> OSError | None:
    """Return the error of the operating system or TLS that caused an error of an HTTP library."""
    while error is not None and not (isinstance(error, OSError) and error.strerror):
        error = error.__cause__ or error.__context__
    return error


def _describe_cause(reason: OSError | None) -> str:
    """Describe *reason* without addresses and names, which may be internal ones."""
    if reason is None:
        return ""
    return f": {reason.reason if isinstance(reason, ssl.SSLError) else os.strerror(reason.errno or 0)}"
