"""
Bugs met while reading a page: they cost that page, not the batch, crawl or agent run that it belongs to.

The web sends what no test has seen. Whatever exception a page provokes becomes a `BadResponse`, so callers handle it as
they handle every page that cannot be read. The bug stays visible: it is the ``__cause__`` of that error, and the logger
``websearch_core.bugs`` gets its traceback.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from .errors import BadResponse, WebSearchError

E = TypeVar("E")
T = TypeVar("T")

_log = logging.getLogger("websearch_core.bugs")  # a name that applications configure
_MAX_CHAIN_LENGTH = 5  # exceptions, each the cause of the one before


def contain_bugs(read: Callable[[], Generator[E, Any, T]], provider: str) -> Generator[E, Any, T]:
    """
    Read one page; a bug becomes the error of that page.

    Args:
        read: Starts the flow that reads.
        provider: The name of the reader, for the message.

    Raises:
        WebSearchError: The page cannot be read. For a bug, it is a `BadResponse` with the bug as its ``__cause__``.

    """
    try:
        return (yield from read())
    except WebSearchError:
        raise
    except Exception as bug:
        raise as_error(bug, f"{provider} read", provider) from bug


def as_error(bug: Exception, what: str, provider: str | None = None) -> BadResponse:
    """
    Log *bug* and return the error that stands for it.

    Neither the log nor the error repeats the text of the exception: it may quote a key, or a page that wants to be read
    as an instruction. Whoever needs the text finds it in ``__cause__``.

    Args:
        bug: The exception.
        what: What failed, such as ``direct read``.
        provider: The name of the provider that failed, if there was one.

    """
    kind = type(bug).__name__
    _log.error("%s failed: unexpected %s\n%s", what, kind, _traceback(bug))
    error = BadResponse(f"{what} failed: unexpected {kind}", provider=provider)
    error.__cause__ = bug
    return error


def _traceback(bug: BaseException) -> str:
    """Return the stack of *bug* and of its causes, each with its type but without its text."""
    parts: list[str] = []
    error: BaseException | None = bug
    while error is not None and len(parts) < _MAX_CHAIN_LENGTH:
        stack = "".join(traceback.format_tb(error.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{stack}{type(error).__module__}.{type(error).__qualname__}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\ncaused by\n".join(parts)
