"""Do without what a provider cannot express, and say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import UnsupportedOption
from ..flow import Flow
from ..models import Page, SearchQuery, SearchResponse


@dataclass(frozen=True)
class Relax:
    """
    Ask again without the options that the provider cannot express, and note it in the response.

    For queries that a model wrote: it is told, instead of stopped.

    Args:
        provider: Whom to ask.

    """

    provider: Any

    @property
    def name(self) -> str:
        """The name of the provider inside."""
        return str(self.provider.name)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, with less than was asked if need be."""
        response: SearchResponse
        try:
            response = yield from self.provider.search(query)
        except UnsupportedOption as error:
            if not error.options:
                raise
            dropped = error.options
        else:
            return response
        response = yield from self.provider.search(query.without(*dropped))
        return response.noting(f"{self.name} does not support {', '.join(dropped)}: ignored")

    def read(self, url: str, /) -> Flow[Page]:
        """Read."""
        return self.provider.read(url)  # type: ignore[no-any-return]
