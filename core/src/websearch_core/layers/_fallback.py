"""Try the next provider when one fails."""

from __future__ import annotations
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, TypeVar, cast

from .. import events
from .._runtime.bugs import contain_bugs
from .._runtime.deadline import time_left, time_limit
from .._runtime.scope import Patience, scope
from ..errors import (
    ConfigurationError,
    NeedsBrowser,
    ServiceError,
    TimedOut,
    UnsupportedOption,
    WebSearchError,
)
from ..flow import Flow, Hedge
from ..models import Page, SearchQuery, SearchResponse
from ..models._outcomes import MORE_HIDDEN, is_empty
from ..provider._ports import Provider, helps_after
from ._bucket import Hedging, parse_hedge
from ._layer import (
    Layer,
    ProviderGroup,
    Rank,
    address,
    ask_provider,
    check_numbers,
    leaves,
    read_many,
    spread,
)
from ._single_flight import is_free
from ._trail import MostlyHidden, NothingFound, Trail, Turn

A = TypeVar("A", SearchResponse, Page)


@dataclass(frozen=True)
class Fallback(Layer):
    """Ask providers in order until one answers. The ``outcomes`` of the answer say how
    each ended, and a note who failed.

    Each gets a fair share of the remaining time, so that a hanging provider does not
    use up the time of the next. One that says when to come back is not waited for: the
    next one is asked at once. A provider that does not support an option of the query
    is skipped too, and so is one that cannot help: ``browser`` where a page does not
    exist. A page of which more is hidden than shown is read by a browser too if one
    follows; if that fails, the page is the answer.

    Args:
        on: The errors after which the next provider is asked; any other error ends the
            search.
        silent_errors: The errors that the note does not mention.
        on_empty: Whether the next provider is also asked if one finds nothing. If none
            finds anything, the first empty answer is returned.
        hedge: When to ask the next provider too, without giving up the first: after so
            many seconds, or after a percentile of the times that the provider took
            lately, such as ``"p95"``. The first answer counts, and the other call is
            cancelled. None waits for each provider. Batches of pages (``read_many``)
            are never hedged.
        hedge_share: The share of calls that may be hedged, so that a slow provider does
            not double the requests.

    Raises:
        ConfigurationError: A value is invalid.
    """

    rank: ClassVar[int] = Rank.COMBINE

    on: tuple[type[WebSearchError], ...] = (ServiceError, UnsupportedOption)
    silent_errors: tuple[type[WebSearchError], ...] = ()
    on_empty: bool = False
    hedge: float | str | None = None
    hedge_share: float = 0.05

    def __post_init__(self) -> None:
        for name in ("on", "silent_errors"):
            kinds = getattr(self, name)
            if not isinstance(kinds, tuple) or not all(map(_is_error, kinds)):
                raise ConfigurationError(
                    f"Fallback: {name}: must be a tuple of classes of "
                    f"websearch_core.errors"
                )
        if not isinstance(self.on_empty, bool):
            raise ConfigurationError("Fallback: on_empty: must be True or False")
        check_numbers(self, "hedge_share", minimum=0)
        if self.hedge is not None:
            parse_hedge(self.hedge)


def _is_error(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, WebSearchError)


class _FallbackProvider(ProviderGroup[Fallback]):
    separator = "|"

    def __init__(self, layer: Fallback, *inner: Provider) -> None:
        super().__init__(layer, *inner)
        self._hedging: Hedging | None = None
        if layer.hedge is not None:
            self._hedging = Hedging(layer.hedge, layer.hedge_share)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        def ask(provider: Provider) -> Flow[SearchResponse]:
            own = address(query, provider, *self.inner)
            return contain_bugs(
                partial(ask_provider, provider, "search", own), provider.name, "search"
            )

        return self._try_each(ask)

    def read(self, url: str, /) -> Flow[Page]:
        return self._try_each(
            lambda provider: contain_bugs(
                lambda: ask_provider(provider, "read", url), provider.name
            )
        )

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages with the first provider, those that it cannot read with the
        next, and so on.
        """
        answers: dict[str, Page | WebSearchError] = {}
        trails: dict[str, Trail[Page]] = {
            url: Trail(self.layer.silent_errors) for url in urls
        }
        for n, provider in enumerate(self.inner, 1):
            left: list[str] = []
            for url, trail in trails.items():
                if url in answers:
                    continue
                if n == 1 or trail.is_helped_by(provider):
                    left.append(url)
                else:
                    trail.skip(provider)
            turn: Turn[Page] = Turn(provider)
            others = self.inner[n:]
            limit = time_limit(time_left() / (len(others) + 1))
            with limit, _stay_impatient(others):
                pages = yield from self._read_all(provider, left, trails)
            turn.stop()
            for url, page in pages.items():
                answer = self._judge(page, trails[url], turn, self.inner[n:])
                if answer is not None:
                    answers[url] = answer
        return [answers.get(url) or trails[url].end() for url in urls]

    def _judge(
        self,
        answer: Page | WebSearchError,
        trail: Trail[Page],
        turn: Turn[Page],
        others: Sequence[Provider],
    ) -> Page | WebSearchError | None:
        """Return the answer that ends the reading of a page; None if *others* go on."""
        end = answer
        if isinstance(answer, Page) and self._is_lacking(answer, others):
            end = MostlyHidden(answer)
        is_error = isinstance(end, WebSearchError)
        if is_error and not isinstance(end, self._lost(trail)):
            return end
        trail.add(replace(turn, end=end))
        if isinstance(end, Page):
            return trail.finish(end, turn.provider)
        able = [other for other in others if trail.is_helped_by(other)]
        self._announce(turn.provider, end, able)
        return None

    def _read_all(
        self, provider: Provider, urls: Sequence[str], trails: Mapping[str, Trail[Page]]
    ) -> Flow[dict[str, Page | WebSearchError]]:
        if not urls:
            return {}
        try:
            pages = yield from contain_bugs(
                lambda: read_many(provider, urls), provider.name
            )
        except WebSearchError as failure:
            has_answer = any(trails[url].has_answer for url in urls)
            if not has_answer and not isinstance(failure, self.layer.on):
                raise
            return dict(zip(urls, spread(failure, len(urls)), strict=True))
        return dict(zip(urls, pages, strict=True))

    def _try_each(self, ask: Callable[[Provider], Flow[A]]) -> Flow[A]:
        trail: Trail[A] = Trail(self.layer.silent_errors)
        left = list(self.inner)
        while left:
            turns = yield from self._take_turns(ask, left, self._lost(trail))
            for turn in turns:
                trail.add(turn)
            for turn in turns:
                if turn.answer is not None:
                    return trail.finish(turn.answer, turn.provider)
            while left and not trail.is_helped_by(left[0]):
                trail.skip(left.pop(0))
            self._announce(turns[-1].provider, turns[-1].end, left)
        end = trail.end()
        if isinstance(end, WebSearchError):
            raise end
        return end

    def _lost(self, trail: Trail[A]) -> tuple[type[WebSearchError], ...]:
        """Return the errors that do not end the call: all of them, once there is an
        answer.
        """
        if trail.has_answer:
            return (WebSearchError,)
        return (*self.layer.on, NothingFound)

    def _is_lacking(
        self, answer: SearchResponse | Page, others: Sequence[Provider]
    ) -> bool:
        """Return whether more of a page is hidden than shown, and one of *others* may
        show the rest.
        """
        if not (isinstance(answer, Page) and issubclass(NeedsBrowser, self.layer.on)):
            return False
        if not any(note.endswith(MORE_HIDDEN) for note in answer.notes):
            return False
        return any(map(_renders, others))

    def _take_turns(
        self,
        ask: Callable[[Provider], Flow[A]],
        left: list[Provider],
        lost: tuple[type[WebSearchError], ...],
    ) -> Flow[list[Turn[A]]]:
        """Ask the first of those who are left, and the next one too if that is late;
        take them from the list.
        """
        turn: Turn[A] = Turn(left.pop(0))
        after: float | None = None
        if self._hedging is not None:
            after = self._hedging.begin(turn.provider.name)
        if after is not None and _may_be_hedge(left):
            turns = yield from self._hedge(turn, ask, left, after)
        else:
            turns = [turn]
            try:
                turn.end = yield from self._ask(turn, ask, left)
            except lost as failure:
                turn.end = failure
        if self._hedging is not None:
            self._add_times(self._hedging, turns)
        return turns

    def _add_times(self, hedging: Hedging, turns: Sequence[Turn[A]]) -> None:
        """Remember how long services took; an answer that was kept says nothing."""
        for turn in turns:
            if isinstance(turn.end, WebSearchError):
                continue
            if turn.answer is not None and is_free(turn.answer):
                continue
            hedging.add_time(turn.provider.name, turn.measure())

    def _hedge(
        self,
        first: Turn[A],
        ask: Callable[[Provider], Flow[A]],
        left: list[Provider],
        after: float,
    ) -> Flow[list[Turn[A]]]:
        turns = [first]

        def make_second() -> Flow[A] | None:
            if self._hedging is None or not self._hedging.take():
                return None
            turns.append(Turn(left.pop(0)))
            first.late_after = after
            events.emit(
                events.HedgeStarted(
                    provider=first.provider.name,
                    next_provider=turns[1].provider.name,
                    seconds=after,
                )
            )
            return self._ask(turns[1], ask, left)

        ends = yield Hedge(self._ask(first, ask, left), make_second, after)
        for turn, end in zip(turns, ends, strict=False):
            turn.end = end
        if any(turn.answer for turn in turns):
            return turns
        for turn in turns:
            turn.end = turn.end or TimedOut(
                "no answer within the time allowed", provider=turn.provider.name
            )
            is_error = isinstance(turn.end, WebSearchError)
            if is_error and not isinstance(turn.end, (*self.layer.on, NothingFound)):
                raise cast("WebSearchError", turn.end)
        return turns

    def _ask(
        self,
        turn: Turn[A],
        ask: Callable[[Provider], Flow[A]],
        others: Sequence[Provider],
    ) -> Flow[A]:
        """Ask one provider, for its share of the time; what one of *others* may do
        better is a failure.
        """
        try:
            limit = time_limit(time_left() / (len(others) + 1))
            with limit, _stay_impatient(others):
                answer = yield from ask(turn.provider)
        finally:
            turn.stop()
        if self.layer.on_empty and is_empty(answer):
            raise NothingFound(answer)
        if self._is_lacking(answer, others):
            raise MostlyHidden(answer)
        return answer

    def _announce(
        self, provider: Provider, end: object, left: Sequence[Provider]
    ) -> None:
        if not left or isinstance(end, self.layer.silent_errors):
            return
        error: WebSearchError | None = None
        if isinstance(end, WebSearchError) and not isinstance(end, NothingFound):
            error = end
        events.emit(
            events.Failover(
                provider=provider.name, next_provider=left[0].name, error=error
            )
        )


def _stay_impatient(others: Sequence[Provider]) -> AbstractContextManager[None]:
    """Return the block in which nobody comes back later to a service that asks for it:
    one of *others* is asked instead.
    """
    if any(_may_be_hedge([other]) for other in others):
        return scope(patience=Patience(0.0))
    return nullcontext()


def _renders(provider: Provider) -> bool:
    return any(NeedsBrowser in helps_after(leaf) for leaf in leaves(provider))


def _may_be_hedge(left: Sequence[Provider]) -> bool:
    """Return whether the next provider may be asked beside the first: not one that only
    helps after certain errors.
    """
    return bool(left) and not any(map(helps_after, leaves(left[0])))
