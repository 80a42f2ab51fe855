"""Judge the pages that a service should open for us, each for itself: one that is
refused says nothing about the others of its request.
"""

from __future__ import annotations
import asyncio
from collections.abc import Mapping
from concurrent.futures import Future, wait
from math import inf
from time import monotonic
from typing import Any

from .._runtime.deadline import clamp
from .._runtime.threads import wait_for
from .._text.urls import describe_url, locate
from ..errors import WebSearchError
from ..flow import Request
from ..flow._targets import refuse
from .guard import Guard
from .lookup import LATE, Line, start_lookup


class Targets:
    """The targets of a *request*, which *guard* judges.

    Only the addresses of those that a service inside this network would open are looked
    up. All of them are at the same time, and together take at most *timeout* seconds.
    """

    def __init__(
        self, request: Request, guard: Guard, line: Line, timeout: float | None
    ) -> None:
        self._guard = guard
        self._line = line
        self._timeout = timeout
        self._urls: tuple[str, ...] = ()
        if isinstance(request.target, str):
            self._urls = (request.target,)
        elif request.target is not None:
            self._urls = request.target
        self._refusals: dict[str, WebSearchError] = {}
        self._places: dict[str, tuple[str, int]] = {}  # host and port, by URL
        for url in self._urls:
            try:
                place = locate(guard.check(url))
            except WebSearchError as error:
                self._refuse(url, error)
            else:
                self._places[url] = place
        if not request.judge_target:
            self._places.clear()

    def judge(self) -> None:
        """Raise the error of a target that is refused, or `RefusedTargets` if there are
        others.

        Past the deadline, this raises `TimedOut`, since nobody waits for the others.
        """
        lookups = self._look_up()
        seconds = inf if self._timeout is None else self._timeout
        end = monotonic() + seconds
        try:
            for lookup in lookups.values():
                wait([lookup], clamp(_limit(end - monotonic())))
            self._take(lookups)
        finally:
            _cancel(lookups)

    async def ajudge(self) -> None:
        """Do the same off the event loop, where cancellation enforces the deadline."""
        lookups = self._look_up()
        waiting = [asyncio.wrap_future(lookup) for lookup in lookups.values()]
        for each in waiting:  # its error is taken from the look-up itself
            each.add_done_callback(_retrieve)
        try:
            if waiting:
                await asyncio.wait(waiting, timeout=self._timeout)
            self._take(lookups)
        finally:
            _cancel(lookups)

    def _look_up(self) -> dict[str, Future[Any]]:
        """Start the look-ups; one that cannot start is a refusal."""
        lookups: dict[str, Future[Any]] = {}
        for url, (host, port) in self._places.items():
            try:
                lookups[url] = start_lookup(self._line, self._guard, host, port)
            except WebSearchError as error:
                self._refuse(url, error)
        return lookups

    def _take(self, lookups: Mapping[str, Future[Any]]) -> None:
        for url, lookup in lookups.items():
            host, port = self._places[url]
            try:
                self._guard.judge(host, port, wait_for(lookup, 0, LATE))
            except WebSearchError as error:
                self._refuse(url, error)
        refuse(self._refusals, len(set(self._urls)))

    def _refuse(self, url: str, error: WebSearchError) -> None:
        error.locate(url=describe_url(url))
        self._refusals[url] = error


def _limit(seconds: float) -> float | None:
    """Return *seconds* as a timeout: None without a limit."""
    return None if seconds == inf else max(seconds, 0.0)


def _retrieve(answer: asyncio.Future[Any]) -> None:
    if not answer.cancelled():
        answer.exception()


def _cancel(lookups: Mapping[str, Future[Any]]) -> None:
    for lookup in lookups.values():
        lookup.cancel()
