"""Send identical calls that are made at the same time only once."""

from __future__ import annotations
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

from .. import events
from .._runtime.scope import current_call
from .._text.urls import identify
from ..errors import WebSearchError
from ..flow import Flow, Share, SharedAnswer
from ..flow._flights import Flights
from ..models import Page, SearchQuery, SearchResponse
from ..provider._ports import Provider
from ._identity import Identity, describe_page, describe_query
from ._layer import Layer, ProviderWrapper, Rank

A = TypeVar("A", SearchResponse, Page)


@dataclass(frozen=True)
class SingleFlight(Layer):
    """Send a request once if several callers want the same at the same time; all of
    them get its answer.

    Calls are the same if their queries or URLs, their options and the key of the
    provider are. Blocking calls share with each other, whatever their threads, and so
    do the calls of one event loop. An error is raised for everybody. A caller that is
    cancelled, or whose time is up, does not disturb the others; when nobody waits any
    more, the request is cancelled. Only one of the answers has a ``cost`` and a
    ``usage``, since only one was paid for.

    Only the same caller shares: the calls of one `WebSearch` and, where a `Budget`
    stands inside, of one tenant. An error about the caller, such as a used-up budget,
    is raised for nobody else: the others ask again.
    """

    rank: ClassVar[int] = Rank.SINGLE_FLIGHT


class _SingleFlightProvider(ProviderWrapper[SingleFlight]):
    def __init__(self, layer: SingleFlight, inner: Provider) -> None:
        super().__init__(layer, inner)
        self._flights = Flights()
        self._identity = Identity(inner)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        ask = partial(super().search, query)
        if current_call().is_shared:
            return (yield from ask())
        description = describe_query(query)
        if description is None:
            return (yield from ask())
        response = yield from self._share(description, ask)
        return name_search(query, response)

    def read(self, url: str, /) -> Flow[Page]:
        ask = partial(super().read, url)
        if current_call().is_shared:
            return (yield from ask())
        page = yield from self._share(describe_page(url), ask)
        return name_page(url, page)

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        key = self._make_key(
            ["read_many", *map(identify, urls), *current_call().content.describe()]
        )
        shared: SharedAnswer = yield Share(
            self._flights, key, partial(super().read_many, urls)
        )
        pages: list[Page | WebSearchError] = []
        others: list[int] = []  # places of errors that concern somebody else's call
        for place, answer in enumerate(shared.value):
            if isinstance(answer, Page):
                pages.append(
                    name_page(urls[place], give_share(answer, shared, self.name))
                )
                continue
            pages.append(answer)
            if answer.concerns_caller and not shared.is_own:
                others.append(place)
        if others:
            read = yield from super().read_many([urls[place] for place in others])
            for place, page in zip(others, read, strict=True):
                pages[place] = page
        return pages

    def _share(self, what: list[Any], make: Callable[[], Flow[A]]) -> Flow[A]:
        shared: SharedAnswer = yield Share(self._flights, self._make_key(what), make)
        answer: A = shared.value
        return give_share(answer, shared, self.name)

    def _make_key(self, what: list[Any]) -> Hashable:
        call = current_call()
        return (
            self._identity.caller(),
            call.max_age,
            call.reads_on,
            self._identity.of(what),
        )


def give_share(answer: A, shared: SharedAnswer, name: str) -> A:
    """Return *answer* for one of those who share it: only the first pays for it.

    *name* is that of the provider, if the answer does not say whose it is.
    """
    if shared.is_first:
        return answer
    events.emit(events.CallShared(provider=answer.provider or name))
    return free(answer)


def free(answer: A, **update: object) -> A:
    """Return *answer* without what it cost, for a caller that it cost nothing, and with
    other fields to *update*.
    """
    return answer.model_copy(update={"cost": 0.0, "usage": {}, **update})


def name_search(query: SearchQuery, response: SearchResponse) -> SearchResponse:
    """Return *response* for a caller who spelled its query as in *query*."""
    if response.query == query.text:
        return response
    return response.model_copy(update={"query": query.text})


def name_page(url: str, page: Page) -> Page:
    """Return *page* for a caller who asked for *url*, another spelling of its URL."""
    return page if page.url == url else page.model_copy(update={"url": url})


def is_free(answer: SearchResponse | Page) -> bool:
    """Return whether *answer* was kept or shared, so that its time says nothing about
    the service.
    """
    return answer.cost == 0 and not answer.usage
