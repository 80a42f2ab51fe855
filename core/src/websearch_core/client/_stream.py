"""Answers to a list of any length, as they are ready: what `WebSearch.iter_read` and its like are made of."""

from __future__ import annotations
import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Hashable, Iterable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .._text.urls import describe_url
from ..errors import WebSearchError
from ..flow import Flow, Gather
from ..flow._branches import Branch, cut_all
from ..flow._lanes import Lanes
from ..layers._single_flight import free
from ..models import Page, SearchResponse

if TYPE_CHECKING:
    from . import WebSearch

A = TypeVar("A", Page, SearchResponse)
_KEPT = 64  # answers that are given again if their item comes again soon

_END = object()
NOT_NOW: Any = object()  # an item that is none: ask for the next after the next answer, since it depends on that


class Job(Protocol[A]):
    """What is done with each item of a list."""

    name: str  # of the provider
    size: int  # how many items one request takes

    def prepare(self, item: Any, number: int) -> tuple[Any, Hashable, str]:
        """Return what to ask for *item*, what is the same for equal items, and the host that it takes turns in."""
        ...

    def do(self, asked: list[Any]) -> Flow[list[A | WebSearchError]]:
        """Return the flow for items that were prepared."""
        ...


class Stream(Generic[A]):
    """The items of a list that are known, from when they are added until their answers are given.

    Those with the same key are done once, if the first is under way or one of the last that were done.
    """

    def __init__(
        self,
        job: Job[A],
        limit: int,
        host_limit: int,
        *,
        in_order: bool = True,
        give_up_after: int | None = None,
    ) -> None:
        self._job, self._limit, self._in_order = job, limit, in_order
        self.lanes: Lanes[Hashable, A] = Lanes(self._do, limit, host_limit, size=job.size, give_up_after=give_up_after)
        self._count = self._given = 0
        self._items: dict[int, Any] = {}  # by number, until given
        self._asked: dict[Hashable, Any] = {}
        self._numbers: dict[Hashable, list[int]] = {}  # which items wait for the same answer
        self._recent: OrderedDict[Hashable, tuple[Any, A | WebSearchError]] = OrderedDict()
        self._ready: deque[tuple[int, A | WebSearchError]] = deque()
        self._early: dict[int, A | WebSearchError] = {}  # those whose turn comes later, if the order is kept
        self.is_complete = False  # whether no more items will come

    @property
    def wants_more(self) -> bool:
        """Whether to add another item now."""
        is_full = len(self._ready) + len(self._early) >= 16 * self._limit
        return not self.is_complete and not is_full and self.lanes.wants_more

    @property
    def is_over(self) -> bool:
        """Whether all answers were given."""
        return self.is_complete and not self._items

    def begin(self, notify: Callable[[], object]) -> None:
        """Give answers while others are under way: call *notify* for each, and begin few until they are taken."""
        self.lanes.notify, self.lanes.most_done = notify, 2 * self._limit

    def feed(self, item: Any) -> bool:
        """Add the next item of a source, if there is one; return whether to wait for an answer before the next."""
        if item is not NOT_NOW and item is not _END:
            self.add(item)
        elif item is _END or not self._items:
            self.complete()
        else:
            self.lanes.complete()
        return item is NOT_NOW

    def add(self, item: Any) -> None:
        """Begin with *item* when it is its turn."""
        number, self._count = self._count, self._count + 1
        asked, key, host = self._job.prepare(item, number)
        self._items[number] = item
        if key in self._recent:
            self._answer(number, *self._recent[key], is_first=False)
        elif key in self._numbers:
            self._numbers[key].append(number)
        else:
            self._numbers[key], self._asked[key] = [number], asked
            self.lanes.add(key, host)

    def add_all(self, items: Iterable[Any]) -> int:
        """Add all *items*; return how many different ones there are."""
        for item in items:
            self.add(item)
        return len(self._numbers)

    def complete(self) -> None:
        """Say that no more items will come."""
        self.is_complete = True
        self.lanes.complete()

    def take(self) -> tuple[Any, A | WebSearchError] | None:
        """Return the next item that is done, with its answer; None if there is none."""
        while not self._has_next() and self.lanes.done:
            self._finish(*self.lanes.done.popleft())
        if not self._has_next():
            return None
        if self._in_order:
            number, answer = self._given, self._early.pop(self._given)
        else:
            number, answer = self._ready.popleft()
        self._given += 1
        return self._items.pop(number), answer

    def finish(self) -> Flow[list[A | WebSearchError]]:
        """Do all that was added, and return the answers in order."""
        self.complete()
        if self.lanes.hosts == 1:
            self.lanes.host_limit = self._limit
            self.lanes.complete()
        yield Gather([self.lanes.work() for _ in range(min(self._limit, self._count))], self._limit)
        answers: list[A | WebSearchError] = []
        while (given := self.take()) is not None:
            answers.append(given[1])
        return answers

    def _has_next(self) -> bool:
        return self._given in self._early if self._in_order else bool(self._ready)

    def _do(self, keys: list[Hashable]) -> Flow[list[A | WebSearchError]]:
        return (yield from self._job.do([self._asked[key] for key in keys]))

    def _finish(self, key: Hashable, answer: A | WebSearchError) -> None:
        numbers = self._numbers.pop(key)
        asked, first = self._asked.pop(key), self._items[numbers[0]]
        if isinstance(answer, WebSearchError) and isinstance(asked, str):
            answer.locate(self._job.name, describe_url(asked))
        for number in numbers:
            self._answer(number, first, answer, is_first=number == numbers[0])
        self._recent[key] = first, answer
        if len(self._recent) > _KEPT:
            self._recent.popitem(last=False)

    def _answer(self, number: int, first: Any, answer: A | WebSearchError, *, is_first: bool) -> None:
        if not isinstance(answer, WebSearchError) and not is_first:
            answer = free(answer)  # only one of them was paid for
            if isinstance(answer, Page) and answer.url == first != self._items[number]:
                answer = answer.model_copy(update={"url": self._items[number]})
        if self._in_order:
            self._early[number] = answer
        else:
            self._ready.append((number, answer))


def iterate(
    web: WebSearch, items: Iterable[Any], make: Callable[[], Flow[Stream[A]]]
) -> Generator[tuple[Any, A | WebSearchError]]:
    """Yield each item with its answer. Threads do the work, which end with this generator."""
    source, stream = iter(items), web.run(make())
    woken: SimpleQueue[Future[Any] | None] = SimpleQueue()
    stream.begin(partial(woken.put, None))
    branches: set[Branch] = set()
    try:
        while not stream.is_over:
            waits = False
            if stream.wants_more:
                waits = stream.feed(next(source, _END))
            while stream.lanes.hire():
                branch = Branch(partial(web.run, stream.lanes.work()))
                branches.add(branch)
                branch.done.add_done_callback(woken.put)
                branch.done.add_done_callback(partial(_drop, branches, branch))
                branch.start()
            given = stream.take()
            if given is not None:
                yield given
            elif waits or not stream.wants_more:
                ended = woken.get()
                if ended is not None:
                    ended.result()  # raises what ended a worker
    finally:
        stream.lanes.clear()
        cut_all(list(branches))


async def aiterate(
    web: WebSearch, items: Iterable[Any] | AsyncIterable[Any], make: Callable[[], Flow[Stream[A]]]
) -> AsyncGenerator[tuple[Any, A | WebSearchError]]:
    """Do the same with tasks of the running event loop."""
    await web._load()  # noqa: SLF001 - part of it
    source, stream = _find_next(items), await web.arun(make())
    woken = asyncio.Event()
    stream.begin(woken.set)
    tasks: set[asyncio.Task[None]] = set()
    coming: asyncio.Future[Any] | None = None
    try:
        while not stream.is_over:
            woken.clear()
            waits = False
            if stream.wants_more and coming is None:
                coming = asyncio.ensure_future(source())
                coming.add_done_callback(lambda _: woken.set())
                await asyncio.sleep(0)
            if coming is not None and coming.done():
                waits, coming = stream.feed(coming.result()), None
            for task in [task for task in tasks if task.done()]:
                tasks.discard(task)
                task.result()
            while stream.lanes.hire():
                task = asyncio.create_task(web.arun(stream.lanes.work()))
                tasks.add(task)
                task.add_done_callback(lambda _: woken.set())
            given = stream.take()
            if given is not None:
                yield given
            elif waits or coming is not None or not stream.wants_more:
                await woken.wait()
    finally:
        stream.lanes.clear()
        left = [*tasks, *([coming] if coming else [])]
        for one in left:
            one.cancel()
        if left:
            await asyncio.wait(left)


def _find_next(items: Iterable[Any] | AsyncIterable[Any]) -> Callable[[], Any]:
    if isinstance(items, AsyncIterable):
        return partial(anext, aiter(items), _END)
    source = iter(items)

    async def find_next() -> Any:
        return next(source, _END)

    return find_next


def _drop(branches: set[Branch], branch: Branch, _: object) -> None:
    branches.discard(branch)
