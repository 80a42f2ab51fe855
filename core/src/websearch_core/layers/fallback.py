"""Ask the next provider when one fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..bugs import contain
from ..deadline import time_left, time_limit
from ..errors import AllProvidersFailed, ServiceError, UnsupportedOption, WebSearchError
from ..flow import Flow
from ..models import Page, SearchQuery, SearchResponse


@dataclass(frozen=True)
class Fallback:
    """
    Ask providers in order until one answers; the answer says who failed before.

    Each gets a fair share of the time left, so that one which hangs does not use up the turn of the next. One that
    cannot express what was asked is passed over as well.

    Args:
        providers: Whom to ask, in order.
        after: The failures after which the next one is asked; any other ends the search.
        tacit: The failures that need no remark in the answer.

    """

    providers: tuple[Any, ...]
    after: tuple[type[WebSearchError], ...] = (ServiceError, UnsupportedOption)
    tacit: tuple[type[WebSearchError], ...] = ()

    @property
    def name(self) -> str:
        """The names of all, in order."""
        return "|".join(provider.name for provider in self.providers)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search with the first that can."""
        return self._first(lambda provider: provider.search(query))

    def read(self, url: str, /) -> Flow[Page]:
        """Read with the first that can."""
        return self._first(lambda provider: contain(lambda: provider.read(url), provider.name))

    def _first(self, ask: Callable[[Any], Flow[Any]]) -> Flow[Any]:
        failures: list[WebSearchError] = []
        for turn, provider in enumerate(self.providers):
            with time_limit(time_left() / (len(self.providers) - turn)):
                try:
                    answer = yield from ask(provider)
                except self.after as failure:
                    failures.append(failure)
                    continue
            who = [
                f"{failed.name} failed ({failure.code})"
                for failed, failure in zip(self.providers, failures, strict=False)
                if not isinstance(failure, self.tacit)
            ]
            return answer.noting(f"{'; '.join(who)}; answered by {provider.name}") if who else answer
        reasons = "; ".join(str(failure) for failure in failures)
        raise AllProvidersFailed(f"every provider failed: {reasons}", failures)
