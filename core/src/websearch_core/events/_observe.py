"""Announce the start and the end of searches, pages and requests, and say how asking each provider ended."""

from __future__ import annotations

import time
from typing import Self

from .._text.urls import describe_url
from ..errors import WebSearchError
from ..flow import Flow, Request, Response
from ..models import Page, SearchQuery, SearchResponse
from ..models._outcomes import Outcome
from . import Exchange, ReadEnd, ReadStart, SearchEnd, SearchStart
from ._hooks import emit


def observe_search(search: Flow[SearchResponse], query: SearchQuery, provider: str) -> Flow[SearchResponse]:
    """Announce *search*, and measure its time."""
    started = time.monotonic()
    emit(SearchStart(provider=provider, query=query))
    try:
        response = yield from search
    except BaseException as error:
        if isinstance(error, WebSearchError):
            error.locate(provider)
        emit(SearchEnd(provider=provider, query=query, seconds=time.monotonic() - started, error=error))
        raise
    seconds = time.monotonic() - started
    outcomes = find_outcomes(response, provider, seconds)
    response = response.model_copy(update={"elapsed": seconds, "outcomes": outcomes})
    emit(SearchEnd(provider=response.provider or provider, query=query, seconds=seconds, response=response))
    return response


def observe_read(read: Flow[Page], url: str, provider: str) -> Flow[Page]:
    """Announce the reading of a page."""
    started = time.monotonic()
    emit(ReadStart(provider=provider, url=url))
    try:
        page = yield from read
    except BaseException as error:
        if isinstance(error, WebSearchError):
            error.url = (
                describe_url(url) if isinstance(url, str) else None
            )  # the page, even if a service was asked for it
            error.locate(provider)
        emit(ReadEnd(provider=provider, url=url, seconds=time.monotonic() - started, error=error))
        raise
    seconds = time.monotonic() - started
    page = page.model_copy(update={"outcomes": find_outcomes(page, provider, seconds)})
    emit(ReadEnd(provider=page.provider or provider, url=url, seconds=seconds, page=page))
    return page


def find_outcomes(answer: SearchResponse | Page, provider: str, seconds: float) -> tuple[Outcome, ...]:
    """Return the outcomes of *answer*; without any, one for the only *provider*, which took *seconds*."""
    return answer.outcomes or (Outcome.of_answer(provider, seconds, empty=is_empty(answer)),)


def is_empty(answer: SearchResponse | Page) -> bool:
    """Return whether a search found nothing; reading a page always finds it, or is an error."""
    return isinstance(answer, SearchResponse) and not (answer.results or answer.answer or answer.images)


class observe_request:  # noqa: N801 - a block, which every request is sent in: a generator would take longer
    """Announce the *request* that is sent in this block, which sets its ``response``."""

    __slots__ = "_request", "_started", "response"

    def __init__(self, request: Request) -> None:
        self._request = request
        self.response: Response | None = None

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        response = self.response
        if isinstance(error, WebSearchError):
            error.locate(url=describe_url(self._request.url))
        emit(
            Exchange(
                method=self._request.method,
                url=self._request.url.partition("?")[0],
                seconds=time.monotonic() - self._started,
                status=response.status if response else None,
                size=len(response.content) if response else 0,
                error=error,
            )
        )
