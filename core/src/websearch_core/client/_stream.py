"""Answers to a list of any length, as they are ready: for `WebSearch.iter_read` and its
like.
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
    Iterator,
    Sequence,
)
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from .._runtime.bugs import as_error
from .._runtime.deadline import time_left
from .._runtime.interrupts import wait_in_steps
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
K = TypeVar("K")
T = TypeVar("T")

_END: Any = object()
# what a source gives that cannot say what comes next before it has the next answer
NOT_NOW: Any = object()
_MAX_RECENT = 64  # answers that are given again if their item comes again soon
# seconds; a call that waits longer looks again, since another host may have become free
_STEP = 0.25
# items that wait beyond those under way, so that nobody waits for the next
_AHEAD = 8
_MAX_ANSWERED = 10_000  # hosts that have answered, to remember
# items for each slot: if few hosts have taken all turns, others may come later
_MAX_WAITING = 64
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
        self.max_done = inf  # then nothing begins until some of it was taken
        # called by workers when something is done
        self.notify: Callable[[], object] = bool
        self.is_whole = False  # whether nothing more comes now
        self.limit = limit
        self._do = do
        self._host_limit = host_limit
        self._size = size
        self._give_up = give_up
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
            sound = [host for host in self._ready if host not in self._failures]
            if len(sound) + self._under_way.total() >= self.limit + _AHEAD:
                return False
            capacity = 2 * self._size
            if self._size == 1:
                capacity = self.limit * _MAX_WAITING
            return sum(map(len, self._waiting.values())) < capacity

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
            self._waiting = {}
            self._ready = {}
            self._cooldowns = {}

    def hire(self) -> Flow[None] | None:
        """Return the flow of another worker, which works until nothing is left that may
        be done now; None if it has nothing to do.
        """
        with self._lock:
            if self._workers >= self.limit:
                return None
            turn = self._find_turn(time_left())
            if turn is None:
                return None
            self._workers += 1
            return self._work(turn)

    def _work(self, turn: tuple[str, list[K]] | float | None) -> Flow[None]:
        while turn is not None:
            if isinstance(turn, tuple):
                yield from self._take_turn(*turn)
            else:
                yield Sleep(min(turn, time_left()))
            turn = self._go_on()

    def _take_turn(self, host: str, items: list[K]) -> Flow[None]:
        cooldown = 0.0
        end = current_call().end
        answers: Sequence[T | WebSearchError] = ()
        try:
            with scope(deadline=Deadline(end), delay=Delay(end)):
                answers = yield from self._do(items)
        except WebSearchError as error:
            answers = spread(error, len(items))
            cooldown = _find_cooldown(error)
        except Exception as bug:  # noqa: BLE001 - logged, and returned as an error
            answers = spread(as_error(bug, "one of several"), len(items))
        finally:
            self._leave(host, items, answers, cooldown)
            self.notify()
        if any(isinstance(answer, WebSearchError) for answer in answers):
            yield Sleep(0)  # many that fail at once must not occupy an event loop

    def _go_on(self) -> tuple[str, list[K]] | float | None:
        with self._lock:
            turn = self._find_turn(time_left())
            if turn is None:
                self._workers -= 1
            return turn

    def _find_turn(self, patience: float) -> tuple[str, list[K]] | float | None:
        """Return what to do next with its host, the seconds after which to look again,
        or None.

        None may also mean that every host with something waiting has as much under way
        as it may: those who are at it do the rest. A cooldown that is longer than
        *patience* is not waited for.
        """
        if len(self.done) >= self.max_done:
            return None
        now = monotonic()
        for host, end in [*self._cooldowns.items()]:
            if not now < end <= now + patience:
                del self._cooldowns[host]
                self._admit(host)
        first = self._find_host()
        if first is not None:
            del self._ready[first]
            waiting = self._waiting[first]
            size = min(self._size, len(waiting))
            items = [waiting.popleft() for _ in range(size)]
            self._under_way[first] += 1
            self._admit(first)  # again, as the last
            return first, items
        if not self._cooldowns:
            return None
        return min(min(self._cooldowns.values()) - now, _STEP)

    def _find_host(self) -> str | None:
        """Return the host whose turn it is: those that failed come last, and leave half
        of the slots to the others.

        Those that hang come first, in a quarter of the slots: the list would wait for
        them at its end.
        """
        if not self._failures:
            return next(iter(self._ready), None)
        failing = 0
        for host, number in self._under_way.items():
            if host in self._failures:
                failing += number
        if failing < self.limit // 4:
            for host in self._ready:
                last_failure = self._failures.get(host, [])[-1:]
                if last_failure == [TimedOut.code] and host not in self._answered:
                    return host
        for host in self._ready:
            if host not in self._failures:
                return host
        if failing < max(1, self.limit // 2):
            return next(iter(self._ready), None)
        return None

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
                end = monotonic() + cooldown
                self._cooldowns[host] = max(end, self._cooldowns.get(host, 0.0))
                return
            # without answers, it was cut off
            for item, answer in zip(items, answers, strict=False):
                self.done.append((item, answer))
                if self._give_up < inf:
                    self._judge(host, answer)
            self._admit(host)
            if not self._under_way[host]:
                del self._under_way[host]
                if not waiting:
                    self._waiting.pop(host, None)

    def _judge(self, host: str, answer: T | WebSearchError) -> None:
        """Count the failures of *host* in a row."""
        if (
            isinstance(answer, TimedOut | Unavailable | RateLimited)
            and answer.status in _SILENCE
        ):
            self._failures.setdefault(host, []).append(answer.code)
            self._ready.pop(host, None)
            return
        self._failures.pop(host, None)
        self._answered[host] = None
        if len(self._answered) > _MAX_ANSWERED:
            del self._answered[next(iter(self._answered))]

    def _admit(self, host: str) -> None:
        """Let *host* take turns, if it has something waiting and room for it; refuse
        all if it is given up.
        """
        waiting = self._waiting.get(host, deque())
        failures = self._failures.get(host, [])
        if len(failures) >= self._give_up:
            error = (
                f"not requested: the last {len(failures)} pages of {host} got no "
                f"answer ({failures[-1]})"
            )
            self.done.extend((item, Unavailable(error)) for item in waiting)
            self._waiting.pop(host, None)
            return
        size = 1 if self.is_whole else self._size
        if len(waiting) < size or host in self._cooldowns:
            return
        if self._find_room(host) > 0:
            self._ready[host] = None

    def _find_room(self, host: str) -> float:
        """Return how many more items of *host* may be under way."""
        room: float = self._host_limit
        if self._give_up < inf and host not in self._answered:
            trials: float = 1
            if host in self._failures:
                trials = self._give_up - len(self._failures[host])
            room = min(room, trials)
        return room - self._under_way[host]


def _find_cooldown(error: WebSearchError) -> float:
    """Return the seconds after which to begin again; 0 to give up."""
    if not isinstance(error, RateLimited) or error.status is not None:  # it was sent
        return 0.0
    seconds = error.retry_after or 0.0
    if seconds > time_left() or not current_call().patience.allows(seconds):
        return 0.0
    return seconds


@dataclass(eq=False)
class Task:
    """What is done once, for all items with one key."""

    request: Any
    key: Hashable
    lane: str  # the host that it takes turns in
    numbers: list[int] = field(default_factory=list)  # of the items


class Stream(Lanes[Task, A]):
    """The items of a list, until their answers are taken.

    *prepare* returns the task for an item with its number; *do* the flow for several
    requests. The limits are those of `Lanes`.
    """

    def __init__(
        self,
        prepare: Callable[[Any, int], Task],
        do: Callable[[list[Any]], Flow[list[A | WebSearchError]]],
        concurrency: int,
        host_limit: int,
        size: int = 1,
        *,
        in_order: bool = True,
        give_up_after: int | None = None,
    ) -> None:
        check_number("concurrency", concurrency, 1, InvalidOption)
        if give_up_after is not None:
            check_number("give_up_after", give_up_after, 1, InvalidOption)

        def do_tasks(tasks: list[Task]) -> Flow[list[A | WebSearchError]]:
            return do([task.request for task in tasks])

        super().__init__(
            do_tasks, concurrency, host_limit, size, give_up=give_up_after or inf
        )
        self._prepare = prepare
        self._in_order = in_order
        self._is_complete = False
        self._count = 0
        self._taken = 0
        self._items: dict[int, Any] = {}  # by number, until they are taken
        self._open: dict[Hashable, Task] = {}
        self._answers: dict[int, A | WebSearchError] = {}
        # the last that were done: the item with its answer
        self._recent: dict[Hashable, tuple[Any, Any]] = {}

    @property
    def wants_more(self) -> bool:
        """Whether to add another item now."""
        if self._is_complete:
            return False
        if len(self._answers) >= 16 * self.limit or len(self._items) >= 80 * self.limit:
            return False
        return self.has_room

    @property
    def is_over(self) -> bool:
        """Whether all answers were taken."""
        return self._is_complete and not self._items

    def add(self, item: Any) -> bool:
        """Take what a source gave; return whether it gives no other before it has an
        answer.
        """
        if item is _END or item is NOT_NOW:
            if item is _END or not self._items:
                self._is_complete = True
            self.flush()
            return item is NOT_NOW
        number = self._count
        self._count += 1
        self._items[number] = item
        task = self._prepare(item, number)
        if task.key in self._recent:
            self._answers[number] = _share(*self._recent[task.key], item)
        elif task.key in self._open:
            self._open[task.key].numbers.append(number)
        else:
            task.numbers.append(number)
            self._open[task.key] = task
            self.put(task, task.lane)
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
        while True:
            number = self._taken
            if not self._in_order:
                number = next(iter(self._answers), -1)
            if number in self._answers:
                self._taken += 1
                return self._items.pop(number), self._answers.pop(number)
            if not self.done:
                return None
            self._settle(*self.done.popleft())

    def _settle(self, task: Task, answer: A | WebSearchError) -> None:
        """Give an answer to each item of a task."""
        del self._open[task.key]
        if isinstance(answer, WebSearchError) and isinstance(task.request, str):
            answer.locate(url=describe_url(task.request))
        first = self._items[task.numbers[0]]
        for number in task.numbers[1:]:
            self._answers[number] = _share(first, answer, self._items[number])
        self._answers[task.numbers[0]] = answer
        self._recent[task.key] = first, answer
        if len(self._recent) > _MAX_RECENT:
            del self._recent[next(iter(self._recent))]

    def hire(self) -> Flow[None] | None:
        """Do the same; if nobody works and nothing more is added now, what waits for
        more of its host is done.
        """
        flow = super().hire()
        if flow is not None:
            return flow
        if self._workers or self.wants_more:
            return None
        self.flush()
        return super().hire()

    def finish(self) -> Flow[list[A | WebSearchError]]:
        """Do all that was added, and return the answers in order."""
        yield Gather([*iter(self.hire, None)], self.limit)
        return [answer for _, answer in iter(self.take, None)]


def _share(first: Any, answer: Any, item: Any) -> Any:
    """Return the *answer* to the *first* of equal items for another *item*: only the
    first was paid for.
    """
    if isinstance(answer, WebSearchError):
        return answer
    if isinstance(answer, Page) and answer.url == first != item:
        return free(answer, url=item)
    return free(answer)


Start: TypeAlias = Callable[[], Flow[Stream[A]]]


def iterate(
    web: WebSearch, items: Iterable[Any], start: Start[A]
) -> Generator[tuple[Any, A | WebSearchError]]:
    """Yield each item with its answer. Threads do the work, which end with this
    generator.
    """
    source = iter(items)
    stream = web.run(start())
    wakes: SimpleQueue[None] = SimpleQueue()
    branches: dict[Future[None], Branch] = {}
    ended: deque[Future[None]] = deque()

    def wake() -> None:
        # one is enough, and a consumer that takes its time must not find thousands
        if wakes.empty():
            wakes.put(None)

    def wait_for_wake(seconds: float) -> bool:
        with suppress(Empty):
            wakes.get(timeout=seconds)
            return True
        return False

    def end(branch: Future[None]) -> None:
        ended.append(branch)
        wake()

    stream.notify = wake
    stream.max_done = 2 * stream.limit
    try:
        while not stream.is_over:
            while ended:
                last = ended.popleft()
                del branches[last]
                last.result()  # raise what ended it
            has_to_wait = stream.wants_more and stream.add(next(source, _END))
            row = stream.take()  # first, since nothing begins while too much is done
            for flow in iter(stream.hire, None):
                branch = Branch(partial(web.run, flow))
                branches[branch.done] = branch
                branch.done.add_done_callback(end)
                branch.start()
            if row is not None:
                yield row
                continue
            has_to_wait = has_to_wait or not stream.wants_more
            if has_to_wait and not stream.is_over:
                wait_in_steps(wait_for_wake)
    finally:
        stream.clear()
        cut_all([*branches.values()])


async def aiterate(
    web: WebSearch, items: Iterable[Any] | AsyncIterable[Any], start: Start[A]
) -> AsyncGenerator[tuple[Any, A | WebSearchError]]:
    """Do the same with tasks of the running event loop."""
    await web._load()  # noqa: SLF001 - part of it
    if not isinstance(items, AsyncIterable):
        items = _as_async(items)
    source = aiter(items)
    stream = await web.arun(start())
    woken = asyncio.Event()
    tasks = _Tasks(woken.set)
    coming: asyncio.Future[Any] | None = None
    stream.notify = woken.set
    stream.max_done = 2 * stream.limit
    try:
        while not stream.is_over:
            woken.clear()
            has_to_wait = False
            if coming is None and stream.wants_more:
                coming = tasks.begin(anext(source, _END))
                await asyncio.sleep(0)
            for task in tasks.take_ended():
                result = task.result()  # or raise what ended it
                if task is coming:
                    has_to_wait = stream.add(result)
                    coming = None
            row = stream.take()
            for flow in iter(stream.hire, None):
                tasks.begin(web.arun(flow))
            if row is not None:
                yield row
                continue
            has_to_wait = has_to_wait or coming is not None
            if stream.is_over:
                return
            if has_to_wait or not stream.wants_more:
                await woken.wait()
    finally:
        stream.clear()
        await tasks.cancel()


class _Tasks:
    """The tasks of a list. Each calls *wake* when it ends."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._tasks: set[asyncio.Future[Any]] = set()

    def begin(self, work: Awaitable[Any]) -> asyncio.Future[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Future[Any]) -> None:
        # Only if its result is not taken yet: otherwise a source with nothing to give
        # would be asked again and again.
        if task in self._tasks:
            self._wake()

    def take_ended(self) -> Iterator[asyncio.Future[Any]]:
        for task in [task for task in self._tasks if task.done()]:
            self._tasks.discard(task)
            yield task

    async def cancel(self) -> None:
        await cancel_all(self._tasks)


async def _as_async(items: Iterable[Any]) -> AsyncGenerator[Any]:
    for item in items:
        yield item
