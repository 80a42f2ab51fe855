"""Announce the start and the end of searches, pages and requests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ._hooks import emit
from .events import Exchange, ReadEnd, ReadStart, SearchEnd, SearchStart
from .flow import Flow, Request, Response
from .models import Page, SearchQuery, SearchResponse


def observe_search(search: Flow[SearchResponse], query: SearchQuery, provider: str) -> Flow[SearchResponse]:
    """Announce *search*, and measure its time."""
    started = time.monotonic()
    emit(SearchStart(provider=provider, query=query))
    try:
        response = yield from search
    except BaseException as error:
        emit(SearchEnd(provider=provider, query=query, seconds=time.monotonic() - started, error=error))
        raise
    seconds = time.monotonic() - started
    response = response.model_copy(update={"elapsed": seconds})
    emit(SearchEnd(provider=response.provider or provider, query=query, seconds=seconds, response=response))
    return response


def observe_read(read: Flow[Page], url: str, provider: str) -> Flow[Page]:
    """Announce the reading of a page."""
    started = time.monotonic()
    emit(ReadStart(provider=provider, url=url))
    try:
        page = yield from read
    except BaseException as error:
        emit(ReadEnd(provider=provider, url=url, seconds=time.monotonic() - started, error=error))
        raise
    emit(ReadEnd(provider=page.provider or provider, url=url, seconds=time.monotonic() - started, page=page))
    return page


@contextmanager
def observe_request(request: Request) -> Iterator[list[Response]]:
    """Announce the request that is sent in this block, which appends its response to the list."""
    started = time.monotonic()
    responses: list[Response] = []
    error: BaseException | None = None
    try:
        yield responses
    except BaseException as failure:
        error = failure
        raise
    finally:
        response = responses[0] if responses else None
        emit(
            Exchange(
                method=request.method,
                url=request.url.partition("?")[0],
                seconds=time.monotonic() - started,
                status=response.status if response else None,
                size=len(response.content) if response else 0,
                error=error,
            )
        )
