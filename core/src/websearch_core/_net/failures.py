"""Turn what the HTTP libraries raise and log into what may be shown: our errors,
without keys, queries and addresses.

The caller's own client may be of either library, so the errors of both are understood.
"""

from __future__ import annotations
import logging
import os
import re
import ssl
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from .._runtime.scope import current_call, scope
from ..errors import (
    BadResponse,
    ConfigurationError,
    TimedOut,
    Unavailable,
    UnsafeURL,
    WebSearchError,
)
from ..flow import Request
from ..flow._redaction import SecretRequest, keys_in, without_keys
from .proxy import Proxy
from .stream import TOO_LONG
from .system import is_failed_lookup

_LOGGERS = (  # a logger's filter does not see the records of its child loggers
    *("httpx", "httpx2"),
    *(
        f"httpcore.{part}"
        for part in ("connection", "http11", "http2", "proxy", "socks")
    ),
    *(
        f"httpcore2.{part}"
        for part in ("connection", "http11", "http2", "proxy", "socks")
    ),
)


# how httpcore and h11 say that the other side has closed the connection
_CLOSED = re.compile("without sending|closed connection")
_UNKNOWN = (
    "nobody who is trusted here has signed the certificate (if it is of your company: "
    "http.certificates)"
)
# What is wrong with a certificate, by the number that OpenSSL gives it:
# https://docs.openssl.org/master/man3/X509_STORE_CTX_get_error/
_MISTAKES = {
    9: "the certificate is not valid yet",
    10: "the certificate has expired",
    18: _UNKNOWN,
    19: _UNKNOWN,
    20: _UNKNOWN,
    21: _UNKNOWN,
    62: "the certificate is for another name",
    64: "the certificate is for another address",
}


def redact_logs() -> None:
    """Remove queries and keys from the logs of the HTTP libraries."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_log_redaction)


@contextmanager
def translate_errors(
    request: Request, proxy: Proxy | None = None
) -> Iterator[list[Any]]:
    """Raise our errors instead of the HTTP library's, whose messages may contain URLs
    and internal addresses.

    Yields a list, to which to add the answer as soon as it begins: the messages say
    whether it did.
    """
    answers: list[Any] = []
    try:
        with scope(request=request):
            yield answers
    except Exception as error:
        _remove_request(error, request)
        server = "the page's server" if request.guarded else "the service"
        if proxy:
            server += f" through the proxy {proxy}"
        ours = _translate(error, request, server, has_begun=bool(answers))
        if ours is error:
            raise
        raise ours from error


def _translate(
    error: Exception, request: Request, server: str, *, has_begun: bool
) -> Exception:
    """Return our error for *error*; itself if it is ours, or a bug."""
    if isinstance(error, WebSearchError):
        return error
    if isinstance(error, (TimeoutError, *_find_error_types("TimeoutException"))):
        return TimedOut(f"no answer from {server} within the time allowed")
    if isinstance(
        error,
        _find_error_types("LocalProtocolError", "UnsupportedProtocol", "InvalidURL"),
    ):
        if request.guarded:  # a page may have chosen the URL
            return UnsafeURL("no request can be sent to this URL")
        return ConfigurationError(
            f"{urlsplit(request.url).netloc!r} is not a host that a request can be "
            f"sent to"
        )
    if isinstance(error, _find_error_types("ConnectError")):
        return _make_connection_error(error, server)
    # the caller's own client failed to parse a redirect's Location
    if isinstance(error, UnicodeError):
        return BadResponse(f"{server} redirects to an invalid URL")
    if isinstance(error, _find_error_types("HTTPError", "StreamError")):
        failure = Unavailable(_describe_break(server, error, has_begun=has_begun))
        # what a browser cannot read either will be the same the next time
        is_odd_page = request.guarded and _is_malformed(error)
        failure.temporary = not is_odd_page
        return failure
    return error


def is_end(error: Exception) -> bool:
    """Return whether *error* says that the connection ended in the middle of a body, or
    brought nothing more.
    """
    if isinstance(error, _find_error_types("RemoteProtocolError")):
        return not _is_malformed(error)
    return isinstance(error, _find_error_types("ReadError", "ReadTimeout"))


def _is_malformed(error: Exception) -> bool:
    """Return whether *error* is about what arrived, and not about what did not."""
    if not isinstance(error, _find_error_types("RemoteProtocolError")):
        return False
    return _CLOSED.search(str(error)) is None


def _make_connection_error(error: Exception, server: str) -> Unavailable:
    reason = _find_root_cause(error)
    # by the caller's own client; for ours, `lookup` says so
    if is_failed_lookup(reason):
        failure = Unavailable("the host name does not resolve")
        failure.temporary = False
        return failure
    failure = Unavailable(f"cannot connect to {server}{_describe_cause(reason)}")
    failure.temporary = not isinstance(reason, ssl.SSLError)
    return failure


def _remove_request(error: Exception, request: Request) -> None:
    """Remove the request and its keys from *error*: our errors are chained to those of
    the HTTP library.
    """
    keys = keys_in(request)
    for link in _walk_chain(error):
        for name, value in vars(link).items():
            if isinstance(value, _find_error_types("Request", "Response")):
                vars(link)[name] = None
        texts = [arg for arg in link.args if isinstance(arg, str)]
        if any(without_keys(text, keys) != text for text in texts):
            link.args = tuple(_remove_keys(arg, keys) for arg in link.args)


def _remove_keys(arg: Any, keys: Sequence[str]) -> Any:
    if isinstance(arg, str):
        return without_keys(arg, keys)
    return arg


def _walk_chain(error: BaseException) -> list[BaseException]:
    """Return *error*, and all errors in its chain of causes and contexts."""
    chain: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop()
        if link is None or any(link is other for other in chain):
            continue
        chain.append(link)
        waiting += [link.__cause__, link.__context__]
        waiting += getattr(link, "exceptions", ())
    return chain


class _LogRedaction(logging.Filter):
    """Removes queries, and keys that a service repeats, from the logs of the HTTP
    library.

    These logs have the URL of every request and, at debug level, the headers of every
    answer.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = current_call().request
        if request is None:
            return True
        if isinstance(record.args, tuple):
            args: tuple[Any, ...] = record.args
            record.args = tuple(map(_remove_query, args))
        message = record.getMessage()
        if isinstance(request, SecretRequest) and "set-cookie" in message.lower():
            return False  # the cookie of a session logs its holder in, too
        redacted = without_keys(message, keys_in(request))
        if redacted != message:
            record.msg = redacted
            record.args = ()
        return True


def _remove_query(arg: Any) -> Any:
    """Return *arg* of a log record; without its query if it is a URL of the library."""
    if hasattr(arg, "copy_with"):
        return arg.copy_with(query=None)
    return arg


_log_redaction = _LogRedaction()


def _find_error_types(*names: str) -> tuple[type[Exception], ...]:
    """Return these exceptions of all loaded HTTP libraries: the caller's own client may
    use the other one.

    One that another thread is importing may not have them yet, and has raised none.
    """
    loaded = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    types: list[type[Exception]] = []
    for library in loaded:
        types += [getattr(library, name) for name in names if hasattr(library, name)]
    return tuple(types)


def _describe_break(server: str, error: Exception, *, has_begun: bool) -> str:
    """Say in our own words how an answer failed to arrive."""
    if _is_malformed(error):
        if str(error) == TOO_LONG:
            return f"{server} sent headers without end, and no answer"
        return f"{server} sent a response that is not valid HTTP"
    if has_begun:
        return f"{server} closed the connection before its response was complete"
    return f"{server} closed the connection before it answered"


def _find_root_cause(error: BaseException | None) -> OSError | None:
    """Return the error of the operating system or TLS that caused an error of an HTTP
    library.
    """
    while error is not None:
        if isinstance(error, OSError) and error.strerror:
            return error
        error = error.__cause__ or error.__context__
    return None


def _describe_cause(reason: OSError | None) -> str:
    """Describe *reason* without addresses and names, which may be internal ones."""
    if reason is None:
        return ""
    if isinstance(reason, ssl.SSLCertVerificationError):
        mistake = _MISTAKES.get(reason.verify_code)
        if mistake is not None:
            return f": {reason.reason}: {mistake}"
    if isinstance(reason, ssl.SSLError):
        return f": {reason.reason}"
    return f": {os.strerror(reason.errno or 0)}"
