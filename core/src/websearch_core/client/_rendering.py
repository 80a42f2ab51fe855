"""Read one page where nobody chose a reader: an installed browser renders one that needs its scripts."""

from __future__ import annotations
import logging
from collections.abc import Callable
from functools import cache
from typing import Any

from .._runtime.scope import current_call
from ..errors import ConfigurationError, NeedsBrowser, ServiceError
from ..events import Failover, emit
from ..flow import Call, Flow
from ..layers._layer import leaves
from ..layers._trail import Trail, Turn
from ..models import Page
from ..provider._ports import PageReader

_log = logging.getLogger(__name__)


class Rendering:
    """Reads a page, and renders it if it needs its scripts, a browser is installed and the run is not that of a tenant.

    The reader ``browser`` is made when it is first needed: its modules take a while to import.
    """

    def __init__(self, usual: PageReader, make: Callable[[], PageReader]) -> None:
        self.name: str = usual.name
        self._usual, self._make = usual, make
        self._browser: PageReader | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_browser": self._browser or self._make(), "_make": None}  # what makes it has closures

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*."""
        turn: Turn[Page] = Turn(self._usual)
        try:
            return (yield from self._usual.read(url))
        except ServiceError as error:
            *_, last = getattr(error, "exceptions", (error,))
            if not isinstance(last, NeedsBrowser) or current_call().account.tenant:
                raise
            turn.end = failure = error
        turn.stop()
        try:
            return (yield from self._render(url, turn))
        except ConfigurationError as error:  # there is no browser, or it does not start
            _log_once(logging.WARNING, f"a page needs a browser to run its scripts: {error}")
            failure.add_note(f"A browser could read it: {error}")
            raise failure from None

    def _render(self, url: str, failed: Turn[Page]) -> Flow[Page]:
        browser: PageReader = yield Call(self._find)
        _log_once(logging.INFO, 'a browser renders pages that need their scripts; reader="direct" switches it off')
        emit(Failover(provider=self.name, next_provider=browser.name, error=failed.end))  # type: ignore[arg-type]
        trail, turn = Trail[Page](()), Turn[Page](browser)
        try:
            turn.end = yield from browser.read(url)
        except ServiceError as error:
            turn.end = error
        turn.stop()
        trail.add(failed)
        trail.add(turn)
        if turn.answer is None:
            raise trail.fail()
        return trail.finish(turn.answer, browser)

    def _find(self) -> PageReader:
        self._browser = self._browser or self._make()
        for leaf in leaves(self._browser):
            if callable(find := getattr(leaf, "problem", None)) and (problem := find()):
                raise ConfigurationError(problem)
        return self._browser


@cache
def _log_once(level: int, message: str) -> None:
    _log.log(level, message)
