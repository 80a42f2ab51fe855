"""Answers to a list of any length, as they are ready: what `WebSearch.iter_read` and
its like are made of.
"""

from __future__ import annotations
import asyncio
import threading
from collections import Counter, deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Generator,
    Hashable,
    Iterable,
    Sequence,
)
from concurrent.futures import Future
from functools import partial
from math import inf
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from .._runtime.bugs import as_error
from .._runtime.deadline import time_left
from .._runtime.scope import Deadline, Delay, current_call, scope
from .._text.urls import describe_url
from ..errors import InvalidOption, RateLimited, TimedOut, Unavailable, WebSearchError
from ..flow import Flow, Gather, Sleep
from ..flow._branches import Branch, cancel_all, cut_all
from ..layers._layer import spread
from ..layers._single_flight import free
from ..models import Page
from ._arguments import check_number

if TYPE_CHECKING:
    from . import WebSearch

A = TypeVar("A")
_KEPT = 64  # answers that are given again if their item comes again soon
_END: Any = object()
# what a source gives that cannot say what comes next before it has the next answer
NOT_NOW: Any = object()
K = TypeVar("K")
T = TypeVar("T")

# seconds; a call that waits longer looks again, since another host may have become free
_STEP = 0.25
# items that are known beyond those under way, so that nobody waits for the next
_AHEAD = 8
_MOST_ANSWERED = 10_000  # hosts that are known to answer
# items for each slot: if few hosts have taken all turns, others may come later
_MOST_WAITING = 64
# statuses of failures that say nothing about a page, only about its host
_SILENCE = {None, 429, 503}


class Lanes(Generic[K, T]):
    """What waits and is under way, by host. Workers, in threads or tasks, do it in
    turn.

    The time of each item begins when it is sent: what it waits for its turn in a
    `Throttle` is time of the whole list. What that held back because its host is too
    slow for the time of one item begins again when the host is ready, if there is time.
    Until then, the host takes no slot.

    *limit* workers have something under way at a time, *host_limit* of them for one
    host. *do* returns the flow for up to *size* items of a host; fewer wait for more,
    unless no more come. With a finite *give_up*, a host that has not answered yet gets
    one slot, one that failed comes last, and after so many failures in a row its items
    get an error.
    """

    def __init__(
        self,
        do: Callable[[list[K]], Flow[Sequence[T | WebSearchError]]],
        limit: int,
        host_limit: int,
        size: int = 1,
        give_up: float = inf,
    ) -> None:
        self.done: deque[tuple[K, T | WebSearchError]] = deque()
        self.most_done = inf  # then nothing begins until some of it was taken
        # called by workers when something is done
        self.notify: Callable[[], object] = bool
        self.is_whole = False  # whether nothing more comes now
        self._do, self.limit, self._host_limit, self._size, self._give_up = (
            do,
            limit,
            host_limit,
            size,
            give_up,
        )
        self._waiting: dict[str, deque[K]] = {}
        # hosts with something waiting and room for it, in order
        self._ready: dict[str, None] = {}
        self._under_way: Counter[str] = Counter()
        # the hosts that want no requests now, and until when
        self._cooldowns: dict[str, float] = {}
        # the codes of those in a row, by host
        self._failures: dict[str, list[str]] = {}
        self._answered: dict[str, None] = {}  # the last hosts that did
        self._workers = 0
        self._lock = threading.Lock()

    @property
    def has_room(self) -> bool:
        """Whether another item would be done soon, as far as its host is another
        one.
        """
        with self._lock:
            soon = (
                sum(host not in self._failures for host in self._ready)
                + self._under_way.total()
            )
            most = self.limit * _MOST_WAITING if self._size == 1 else 2 * self._size
            return (
                soon < self.limit + _AHEAD
                and sum(map(len, self._waiting.values())) < most
            )

    def put(self, item: K, host: str) -> None:
        """Let *item* wait for its turn; one of a host that was given up is done at
        once.
        """
        with self._lock:
            self.is_whole = False
            self._waiting.setdefault(host, deque()).append(item)
            self._admit(host)

    def flush(self) -> None:
        """Let nothing wait for more of its host."""
        with self._lock:
            self.is_whole = True
            for host in [*self._waiting]:
                self._admit(host)

    def clear(self) -> None:
        """Let nothing wait any longer."""
        with self._lock:
            self._waiting, self._ready, self._cooldowns = {}, {}, {}

    def hire(self) -> Flow[None] | None:
        """Return the flow of another worker, which works until nothing is left that may
        be done now; None if it has nothing to do.
        """
        with self._lock:
            is_full = self._workers >= self.limit or len(self.done) >= self.most_done
            turn = None if is_full else self._find_turn(time_left())
            self._workers += turn is not None
            return None if turn is None else self._work(turn)

    def _work(self, turn: tuple[str, list[K]] | float | None) -> Flow[None]:
        while turn is not None:
            if not isinstance(turn, tuple):
                yield Sleep(min(turn, time_left()))
                turn = self._go_on()
                continue
            host, items = turn
            cooldown, end = 0.0, current_call().end
            answers: Sequence[T | WebSearchError] = ()
            try:
                with scope(deadline=Deadline(end), delay=Delay(end)):
                    answers = yield from self._do(items)
            except WebSearchError as error:
                answers = spread(error, len(items))
                # nothing was sent: it begins again then
                if isinstance(error, RateLimited) and error.status is None:
                    cooldown = error.retry_after or 0.0
            except Exception as bug:  # noqa: BLE001 - logged, and returned as an error
                answers = spread(as_error(bug, "one of several"), len(items))
            finally:
                waits = cooldown <= time_left() and current_call().patience.allows(
                    cooldown
                )
                self._leave(host, items, answers, cooldown if waits else 0.0)
                self.notify()
            if any(isinstance(answer, WebSearchError) for answer in answers):
                yield Sleep(0)  # many that fail at once must not occupy an event loop
            turn = self._go_on()

    def _go_on(self) -> tuple[str, list[K]] | float | None:
        with self._lock:
            turn = (
                None
                if len(self.done) >= self.most_done
                else self._find_turn(time_left())
            )
            self._workers -= turn is None
            return turn

    def _find_turn(self, patience: float) -> tuple[str, list[K]] | float | None:
        """Return what to do next with its host, the seconds after which to look again,
        or None.

        None may also mean that every host with something waiting has as much under way
        as it may: those who are at it do the rest. A cooldown that is longer than
        *patience* is not waited for.
        """
        now = monotonic()
        for host in [
            host
            for host, end in self._cooldowns.items()
            if not now < end <= now + patience
        ]:
            del self._cooldowns[host]
            self._admit(host)
        first = self._find_host()
        if first is None:
            return (
                min(min(self._cooldowns.values()) - now, _STEP)
                if self._cooldowns
                else None
            )
        del self._ready[first]
        waiting = self._waiting[first]
        items = [waiting.popleft() for _ in range(min(self._size, len(waiting)))]
        self._under_way[first] += 1
        self._admit(first)  # again, as the last
        return first, items

    def _find_host(self) -> str | None:
        """Return the host whose turn it is: those that failed come last, and leave half
        of the slots to the others.
        """
        if not self._failures:
            return next(iter(self._ready), None)
        failing = sum(
            number for host, number in self._under_way.items() if host in self._failures
        )
        silent = (
            host
            for host in self._ready
            if self._failures.get(host, [])[-1:] == [TimedOut.code]
        )
        hanging = (host for host in silent if host not in self._answered)
        # A quarter of the slots is for these, beside the others: the list would wait
        # for them at its end.
        if failing < self.limit // 4 and (host := next(hanging, None)):
            return host
        first = next((host for host in self._ready if host not in self._failures), None)
        return (
            next(iter(self._ready), None)
            if first is None and failing < max(1, self.limit // 2)
            else first
        )

    def _leave(
        self,
        host: str,
        items: Sequence[K],
        answers: Sequence[T | WebSearchError],
        cooldown: float,
    ) -> None:
        """Say that *items* have been done; or, with a *cooldown* in seconds, have to be
        done again after it.
        """
        with self._lock:
            self._under_way[host] -= 1
            waiting = self._waiting.setdefault(host, deque())
            if cooldown:
                waiting.extendleft(reversed(items))
                self._ready.pop(host, None)
                self._cooldowns[host] = max(
                    monotonic() + cooldown, self._cooldowns.get(host, 0.0)
                )
                return
            # without answers, it was cut off
            for item, answer in zip(items, answers, strict=False):
                self.done.append((item, answer))
                if self._give_up == inf:
                    continue
                if (
                    isinstance(answer, TimedOut | Unavailable | RateLimited)
                    and answer.status in _SILENCE
                ):
                    self._failures.setdefault(host, []).append(answer.code)
                    self._ready.pop(host, None)
                else:
                    self._failures.pop(host, None)
                    self._answered[host] = None
                    if len(self._answered) > _MOST_ANSWERED:
                        del self._answered[next(iter(self._answered))]
            self._admit(host)
            if not self._under_way[host]:
                del self._under_way[host]
                if not waiting:
                    self._waiting.pop(host, None)

    def _admit(self, host: str) -> None:
        """Let *host* take turns, if it has something waiting and room for it; refuse
        all if it is given up.
        """
        waiting, failures = (
            self._waiting.get(host, deque()),
            self._failures.get(host, []),
        )
        if len(failures) >= self._give_up:
            error = (
                f"not requested: the last {len(failures)} pages of {host} got no "
                f"answer ({failures[-1]})"
            )
            self.done.extend((item, Unavailable(error)) for item in waiting)
            self._waiting.pop(host, None)
        elif (
            len(waiting) >= (1 if self.is_whole else self._size)
            and self._find_room(host) > 0
        ):
            self._ready.update({} if host in self._cooldowns else {host: None})

    def _find_room(self, host: str) -> float:
        """Return how many more items of *host* may be under way."""
        room: float = self._host_limit
        if self._give_up < inf and host not in self._answered:
            room = min(
                room,
                self._give_up - len(self._failures[host])
                if host in self._failures
                else 1,
            )
        return room - self._under_way[host]


class _Item(NamedTuple):
    """What is done once, for the items with these numbers."""

    key: Hashable
    asked: Any
    numbers: list[int]


class Stream(Lanes[_Item, A]):
    """The items of a list that are known, until their answers are given. Those with one
    key are done once.

    *prepare* returns what to ask for an item with its number, its key, and the host
    that it takes turns in; *do* the flow for several. The limits are those of `Lanes`.
    """

    def __init__(
        self,
        prepare: Callable[[Any, int], tuple[Any, Hashable, str]],
        do: Callable[[list[Any]], Flow[list[A | WebSearchError]]],
        concurrency: int,
        host_limit: int,
        size: int = 1,
        *,
        in_order: bool = True,
        give_up_after: int | None = None,
    ) -> None:
        check_number("concurrency", concurrency, 1, InvalidOption)
        check_number(
            "give_up_after",
            1 if give_up_after is None else give_up_after,
            1,
            InvalidOption,
        )
        super().__init__(
            lambda items: do([item.asked for item in items]),
            concurrency,
            host_limit,
            size,
        )
        self._give_up = give_up_after or inf
        self._prepare, self._in_order, self._is_complete = prepare, in_order, False
        self._count = self._given = 0
        self._items: dict[int, Any] = {}  # by number, until given
        self._open: dict[Hashable, _Item] = {}
        self._answers: dict[int, A | WebSearchError] = {}
        # the last that were done: the item with its answer
        self._recent: dict[Hashable, tuple[Any, Any]] = {}

    @property
    def wants_more(self) -> bool:
        """Whether to add another item now."""
        few = (
            len(self._answers) < 16 * self.limit and len(self._items) < 80 * self.limit
        )
        return few and not self._is_complete and self.has_room

    @property
    def is_over(self) -> bool:
        """Whether all answers were given."""
        return self._is_complete and not self._items

    def add(self, item: Any) -> bool:
        """Take what a source gave; return whether it gives no other before it has an
        answer.
        """
        if item is _END or (item is NOT_NOW and not self._items):
            self._is_complete = True
        if item is _END or item is NOT_NOW:
            self.flush()
            return item is NOT_NOW
        number, self._count = self._count, self._count + 1
        self._items[number] = item
        asked, key, host = self._prepare(item, number)
        if key in self._recent:
            self._answers[number] = _share(*self._recent[key], item)
        elif key in self._open:
            self._open[key].numbers.append(number)
        else:
            self._open[key] = _Item(key, asked, [number])
            self.put(self._open[key], host)
        return False

    def add_all(self, items: Iterable[Any]) -> None:
        """Add all there is. If all are of one host, it has all the places."""
        for item in items:
            self.add(item)
        self.add(_END)
        if len(self._waiting) == 1:
            self._host_limit = self.limit

    def take(self) -> tuple[Any, A | WebSearchError] | None:
        """Return the next item that is done, with its answer; None if there is none."""
        while (number := self._find_next()) not in self._answers:
            if not self.done:
                return None
            item, answer = self.done.popleft()
            del self._open[item.key]
            if isinstance(answer, WebSearchError) and isinstance(item.asked, str):
                answer.locate(url=describe_url(item.asked))
            first = self._items[item.numbers[0]]
            for number in item.numbers[1:]:
                self._answers[number] = _share(first, answer, self._items[number])
            self._answers[item.numbers[0]] = answer
            self._recent[item.key] = first, answer
            if len(self._recent) > _KEPT:
                del self._recent[next(iter(self._recent))]
        self._given += 1
        return self._items.pop(number), self._answers.pop(number)

    def hire(self) -> Flow[None] | None:
        """Do the same; if nobody works and nothing more is added now, what waits for
        more of its host is done.
        """
        flow = super().hire()
        if flow is None and not self._workers and not self.wants_more:
            self.flush()
            flow = super().hire()
        return flow

    def finish(self) -> Flow[list[A | WebSearchError]]:
        """Do all that was added, and return the answers in order."""
        yield Gather([*iter(self.hire, None)], self.limit)
        return [given[1] for given in iter(self.take, None)]

    def _find_next(self) -> int:
        return self._given if self._in_order else next(iter(self._answers), -1)


def _share(first: Any, answer: Any, item: Any) -> Any:
    """Return the *answer* to the *first* of equal items for another *item*: only the
    first was paid for.
    """
    if isinstance(answer, WebSearchError):
        return answer
    is_renamed = isinstance(answer, Page) and answer.url == first != item
    return free(answer, **({"url": item} if is_renamed else {}))


Start: TypeAlias = Callable[[], Flow[Stream[A]]]


def iterate(
    web: WebSearch, items: Iterable[Any], start: Start[A]
) -> Generator[tuple[Any, A | WebSearchError]]:
    """Yield each item with its answer. Threads do the work, which end with this
    generator.
    """
    source, stream = iter(items), web.run(start())
    woken: SimpleQueue[None] = SimpleQueue()
    branches: dict[Future[None], Branch] = {}
    ended: deque[Future[None]] = deque()

    def wake() -> None:
        # one is enough, and a consumer that takes its time must not find thousands
        if woken.empty():
            woken.put(None)

    def end(branch: Future[None]) -> None:
        ended.append(branch)
        wake()

    stream.notify, stream.most_done = wake, 2 * stream.limit
    try:
        while not stream.is_over:
            while ended:
                del branches[last := ended.popleft()]
                last.result()  # raise what ended it
            has_to_wait = stream.wants_more and stream.add(next(source, _END))
            given = stream.take()  # first, since nothing begins while too much is done
            while (flow := stream.hire()) is not None:
                branch = Branch(partial(web.run, flow))
                branches[branch.done] = branch
                branch.done.add_done_callback(end)
                branch.start()
            if given is not None:
                yield given
            elif not stream.is_over and (has_to_wait or not stream.wants_more):
                woken.get()
    finally:
        stream.clear()
        cut_all([*branches.values()])


async def aiterate(
    web: WebSearch, items: Iterable[Any] | AsyncIterable[Any], start: Start[A]
) -> AsyncGenerator[tuple[Any, A | WebSearchError]]:
    """Do the same with tasks of the running event loop."""
    await web._load()  # noqa: SLF001 - part of it
    source = aiter(items if isinstance(items, AsyncIterable) else _as_async(items))
    stream, woken = await web.arun(start()), asyncio.Event()
    stream.notify, stream.most_done = woken.set, 2 * stream.limit
    tasks = set[asyncio.Future[Any]]()
    coming: asyncio.Future[Any] | None = None

    def begin(work: Awaitable[Any]) -> asyncio.Future[Any]:
        tasks.add(task := asyncio.ensure_future(work))
        # Only if its result is not taken yet: otherwise a source with nothing to give
        # would be asked again and again.
        task.add_done_callback(lambda done: woken.set() if done in tasks else None)
        return task

    try:
        while not stream.is_over:
            woken.clear()
            has_to_wait = False
            if coming is None and stream.wants_more:
                coming = begin(anext(source, _END))
                await asyncio.sleep(0)
            for ended in [task for task in tasks if task.done()]:
                tasks.discard(ended)
                result = ended.result()  # or raise what ended it
                if ended is coming:
                    has_to_wait, coming = stream.add(result), None
            given = stream.take()
            while (flow := stream.hire()) is not None:
                begin(web.arun(flow))
            if given is not None:
                yield given
            elif not stream.is_over and (
                has_to_wait or coming is not None or not stream.wants_more
            ):
                await woken.wait()
    finally:
        stream.clear()
        await cancel_all(tasks)


async def _as_async(items: Iterable[Any]) -> AsyncGenerator[Any]:
    for item in items:
        yield item
