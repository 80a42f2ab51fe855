"""Contain bugs in reading a page: only that page fails, not the batch, crawl or agent
run that it belongs to.

The web sends pages that no test has seen. Any exception that one provokes becomes a
`BadResponse`, so callers handle it like every page that cannot be read. The bug stays
visible: it is the ``__cause__`` of that error, and the logger ``websearch_core.bugs``
gets its traceback.
"""

from __future__ import annotations
import copy
import logging
import traceback
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from ..errors import BadResponse, WebSearchError

E = TypeVar("E")
T = TypeVar("T")
X = TypeVar("X", bound=BaseException)

# a stable name, for the logging configuration of applications
_log = logging.getLogger("websearch_core.bugs")
_MAX_CHAIN_LENGTH = 5  # exceptions, each the cause of the previous one


def contain_bugs(
    flow: Callable[[], Generator[E, Any, T]], provider: str, verb: str = "read"
) -> Generator[E, Any, T]:
    """Run the flow that reads one page, or asks one of several providers; a bug becomes
    their error.

    It becomes a `BadResponse` with the bug as its ``__cause__``, which names *provider*
    and *verb*. Only what pytest-socket raises stays as it is, since it is about a test
    and not about a page.
    """
    try:
        return (yield from flow())
    except WebSearchError as error:
        error.locate(provider)
        raise
    except Exception as bug:
        if type(bug).__module__ == "pytest_socket":
            raise
        raise as_error(bug, f"{provider} {verb}", provider) from bug


def copy_error(error: X) -> X:
    """Return a copy of *error* for one of several who get it: what one of them adds to
    it, such as a URL, says nothing about the others.
    """
    try:
        own = copy.copy(error)
    except Exception:  # noqa: BLE001 - an error of a foreign class may not be copyable
        return error
    own.__cause__ = error.__cause__
    notes = getattr(error, "__notes__", None)
    if notes is not None:
        own.__notes__ = [*notes]
    return own.with_traceback(error.__traceback__)


def as_error(bug: Exception, what: str, provider: str | None = None) -> BadResponse:
    """Log *bug*, and return an error of *provider* in its place, which says that
    *what*, such as ``direct read``, failed.

    Neither the log nor the error repeats the text of the exception: it may quote a key,
    or a page that poses as an instruction. The text is in ``__cause__``.
    """
    kind = type(bug).__name__
    _log.error("%s failed: unexpected %s\n%s", what, kind, _format_stack(bug))
    error = BadResponse(f"{what} failed: unexpected {kind}", provider=provider)
    error.__cause__ = bug
    return error


def _find_cause(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None:
        return error.__cause__
    if error.__suppress_context__:
        return None
    return error.__context__


def _format_stack(bug: BaseException) -> str:
    """Format the stacks of *bug* and its causes, each with its type but without its
    text.
    """
    parts: list[str] = []
    error: BaseException | None = bug
    while error is not None and len(parts) < _MAX_CHAIN_LENGTH:
        stack = "".join(traceback.format_tb(error.__traceback__))
        parts.append(
            f"Traceback (most recent call "
            f"last):\n{stack}{type(error).__module__}.{type(error).__qualname__}"
        )
        error = _find_cause(error)
    return "\ncaused by\n".join(parts)
