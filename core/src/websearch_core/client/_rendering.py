"""Read one page where nobody chose a reader: an installed browser renders one that needs its scripts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from .._runtime.scope import current_call
from ..errors import AllProvidersFailed, ConfigurationError, NeedsBrowser, ServiceError, WebSearchError
from ..events import Failover, emit
from ..flow import Call, Flow
from ..layers._layer import leaves
from ..layers._trail import Trail, Turn
from ..models import Page
from ..provider._ports import PageReader

_log = logging.getLogger(__name__)
_logged: set[str] = set()  # each is logged once in a process


class Rendering:
    """
    Reads a page, and renders it if it needs its scripts, a browser is installed and the run is not that of a tenant.

    Args:
        usual: What reads pages.
        make: Makes the reader ``browser`` when it is first needed: its modules take a while to import.

    """

    def __init__(self, usual: PageReader, make: Callable[[], PageReader]) -> None:
        self.name: str = usual.name
        self._usual = usual
        self._make = make

    def __getstate__(self) -> dict[str, Any]:
        browser = self._make()  # which can be pickled, unlike what makes it
        return {**vars(self), "_make": _Made(browser)}

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*."""
        first: Turn[Page] = Turn(self._usual)
        try:
            return (yield from self._usual.read(url))
        except ServiceError as error:
            if not _needs_browser(error) or current_call().account.tenant:
                raise
            first.end = failure = error
            first.stop()
        try:
            browser: PageReader = yield Call(self._find)
            _log_once(logging.INFO, 'a browser renders pages that need their scripts; reader="direct" switches it off')
            emit(Failover(provider=first.provider.name, next_provider=browser.name, error=failure))
            return (yield from _read_next(first, browser, url))
        except ConfigurationError as error:  # there is none, or it does not start
            _log_once(logging.WARNING, f"a page needs a browser to run its scripts: {error}")
            failure.add_note(f"A browser could read it: {error}")
            raise failure from None

    def _find(self) -> PageReader:
        """
        Return the browser.

        Raises:
            ConfigurationError: None is installed; the message says how to get one.

        """
        browser = self._make()
        self._make = _Made(browser)
        for leaf in leaves(browser):
            if callable(find := getattr(leaf, "problem", None)) and (problem := find()):
                raise ConfigurationError(problem)
        return browser


class _Made:
    """Returns what was made."""

    def __init__(self, browser: PageReader) -> None:
        self._browser = browser

    def __call__(self) -> PageReader:
        return self._browser


def _needs_browser(error: WebSearchError) -> bool:
    causes = error.exceptions if isinstance(error, AllProvidersFailed) else (error,)
    return isinstance(causes[-1], NeedsBrowser)


def _read_next(first: Turn[Page], browser: PageReader, url: str) -> Flow[Page]:
    trail: Trail[Page] = Trail(())
    trail.add(first)
    turn: Turn[Page] = Turn(browser)
    try:
        turn.end = yield from browser.read(url)
    except ServiceError as error:
        turn.end = error
    turn.stop()
    trail.add(turn)
    if turn.answer is None:
        raise trail.fail()
    return trail.finish(turn.answer, browser)


def _log_once(level: int, message: str) -> None:
    if message not in _logged:
        _logged.add(message)
        _log.log(level, message)
