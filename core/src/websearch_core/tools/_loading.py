"""What loaders and readers share: pages as documents, several at a time, also if some cannot be read."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ..client._arguments import as_urls
from ..errors import (
    AuthenticationError,
    BudgetExceeded,
    ConfigurationError,
    InvalidOption,
    QuotaExhausted,
    WebSearchError,
)
from ._documents import PlainDocument, make_document
from ._retrieval import with_limit

if TYPE_CHECKING:
    from ..client import WebSearch
    from ..models import Page
    from ..reading import ReadOptions

OnError: TypeAlias = Literal["raise", "skip"]

_log = logging.getLogger(__name__)
_AHEAD = 16  # pages that are read together: twice as many as are read at a time
# Other pages would fail, too.
_FOR_ALL = (AuthenticationError, BudgetExceeded, ConfigurationError, InvalidOption, QuotaExhausted)


@dataclass(frozen=True)
class Loading:
    """
    Loads pages as documents, 16 at a time, when they are requested.

    Args:
        web: The `WebSearch` to read with.
        read_options: The options of each page. Without a limit, pages are whole.
        on_error: What to do about a page that cannot be read: ``raise`` its error, after the pages before it; or
            ``skip`` it, and log a warning with its URL. A wrong key, a used-up budget and the like are raised in either
            case: no other page could be read.

    Raises:
        InvalidOption: An argument is wrong.

    """

    web: WebSearch
    read_options: ReadOptions | Mapping[str, Any] | None = None
    on_error: OnError = "raise"

    def __post_init__(self) -> None:
        """Refuse wrong options now rather than with the first page."""
        if self.on_error not in get_args(OnError):
            raise InvalidOption(f"on_error: {self.on_error!r} is not one of {', '.join(get_args(OnError))}")
        with_limit(self.read_options)

    def load(self, urls: str | Sequence[str]) -> Iterator[PlainDocument]:
        """
        Load pages.

        Args:
            urls: One absolute http(s) URL, or several.

        Raises:
            InvalidOption: It is neither.
            WebSearchError: As *on_error* says.

        """
        for some in _split(urls):
            yield from self._finish(self.web.read_many(some, **with_limit(self.read_options)))

    async def aload(self, urls: str | Sequence[str]) -> AsyncIterator[PlainDocument]:
        """Do the same as `load` on the running event loop."""
        for some in _split(urls):
            for document in self._finish(await self.web.aread_many(some, **with_limit(self.read_options))):
                yield document

    def _finish(self, pages: Sequence[Page | WebSearchError]) -> Iterator[PlainDocument]:
        for page in pages:
            if not isinstance(page, WebSearchError):
                yield make_document(page=page)
            elif self.on_error == "raise" or isinstance(page, _FOR_ALL):
                raise page
            else:
                _log.warning("left out a page: %s", page)


def list_urls(urls: str | Sequence[str]) -> list[str]:
    """
    Return one URL, or several, as a list.

    Raises:
        InvalidOption: It is neither.

    """
    return [urls] if isinstance(urls, str) else as_urls(urls)


def _split(urls: str | Sequence[str]) -> list[list[str]]:
    """Return the URLs in parts that are read together."""
    given = list_urls(urls)
    return [given[start : start + _AHEAD] for start in range(0, len(given), _AHEAD)]
