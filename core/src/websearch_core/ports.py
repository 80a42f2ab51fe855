"""
The ports: what a provider must be.

A provider is any object with a ``name`` and one or both of these methods; nothing is inherited. Layers (`Retry`,
`Fallback`, ...) take providers and are providers.
"""

from __future__ import annotations

from typing import Protocol

from .flow import Flow
from .models import Page, SearchQuery, SearchResponse


class SearchProvider(Protocol):
    """Finds pages."""

    @property
    def name(self) -> str:
        """The word it is asked for by."""
        ...

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """
        Begin to search.

        Returns:
            A flow that ends with what was found.

        Raises:
            UnsupportedOption: The service cannot express something that was asked.
            ServiceError: The service failed.

        """
        ...


class PageReader(Protocol):
    """Turns a URL into text."""

    @property
    def name(self) -> str:
        """The word it is asked for by."""
        ...

    def read(self, url: str, /) -> Flow[Page]:
        """
        Begin to read the page at *url*.

        Returns:
            A flow that ends with the whole page; cutting a window out of it is not the reader's business.

        Raises:
            UnsafeURL: The URL may not be opened.
            ServiceError: The page or the reading service failed.

        """
        ...
