"""Answers to a list of any length, as they are ready: what `WebSearch.iter_read` and its like are made of."""

from __future__ import annotations
import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Hashable, Iterable
from functools import partial
from math import inf
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from .._text.urls import describe_url
from ..errors import InvalidOption, WebSearchError
from ..flow import Flow, Gather
from ..flow._branches import Branch, cut_all
from ..flow._lanes import Lanes
from ..layers._single_flight import free
from ..models import Page
from ._arguments import check_number

if TYPE_CHECKING:
    from . import WebSearch

A = TypeVar("A")
_KEPT = 64  # answers that are given again if their item comes again soon
_END: Any = object()
NOT_NOW: Any = object()  # what a source gives that cannot say what comes next before it has the next answer


class _Item(NamedTuple):
    """What is done once, for the items with these numbers."""

    key: Hashable
    asked: Any
    numbers: list[int]


class Stream(Lanes[_Item, A]):
    """The items of a list that are known, until their answers are given. Those with one key are done once.

    *prepare* returns what to ask for an item with its number, its key, and the host that it takes turns in; *do* the
    flow for several. The limits are those of `Lanes`.
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
        check_number("give_up_after", 1 if give_up_after is None else give_up_after, 1, InvalidOption)
        super().__init__(lambda items: do([item.asked for item in items]), concurrency, host_limit, size)
        self._give_up = give_up_after or inf
        self._prepare, self._in_order, self._is_complete = prepare, in_order, False
        self._count = self._given = 0
        self._items: dict[int, Any] = {}  # by number, until given
        self._open: dict[Hashable, _Item] = {}
        self._answers: dict[int, A | WebSearchError] = {}
        self._recent: dict[Hashable, tuple[Any, Any]] = {}  # the last that were done: the item with its answer

    @property
    def wants_more(self) -> bool:
        """Whether to add another item now."""
        few = len(self._answers) < 16 * self.limit and len(self._items) < 80 * self.limit
        return few and not self._is_complete and self.has_room

    @property
    def is_over(self) -> bool:
        """Whether all answers were given."""
        return self._is_complete and not self._items

    def add(self, item: Any) -> bool:
        """Take what a source gave; return whether it gives no other before it has an answer."""
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

    def add_all(self, items: Iterable[Any]) -> int:
        """Add all there is; return how many are different."""
        for item in items:
            self.add(item)
        self.add(_END)
        if len(self._waiting) == 1:
            self._host_limit = self.limit
        return len(self._open)

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
            for place in item.numbers[1:]:
                self._answers[place] = _share(first, answer, self._items[place])
            self._answers[item.numbers[0]] = answer
            self._recent[item.key] = first, answer
            if len(self._recent) > _KEPT:
                del self._recent[next(iter(self._recent))]
        self._given += 1
        return self._items.pop(number), self._answers.pop(number)

    def hire(self) -> Flow[None] | None:
        """Do the same; if nobody works and nothing more is added now, what waits for more of its host is done."""
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
    """Return the *answer* to the *first* of equal items for another *item*: only the first was paid for."""
    if isinstance(answer, WebSearchError):
        return answer
    is_renamed = isinstance(answer, Page) and answer.url == first != item
    return free(answer, **({"url": item} if is_renamed else {}))


Start: TypeAlias = Callable[[], Flow[Stream[A]]]


def iterate(web: WebSearch, items: Iterable[Any], start: Start[A]) -> Generator[tuple[Any, A | WebSearchError]]:
    """Yield each item with its answer. Threads do the work, which end with this generator."""
    source, stream = iter(items), web.run(start())
    woken: SimpleQueue[None] = SimpleQueue()
    branches: set[Branch] = set()

    def wake(_: object = None) -> None:
        if woken.empty():  # one is enough, and a consumer that takes its time must not find thousands
            woken.put(None)

    stream.notify, stream.most_done = wake, 2 * stream.limit
    try:
        while not stream.is_over:
            for ended in [branch for branch in branches if branch.done.done()]:
                branches.discard(ended)
                ended.done.result()  # raise what ended it
            has_to_wait = stream.wants_more and stream.add(next(source, _END))
            given = stream.take()  # first, since nothing begins while too much is done
            while (flow := stream.hire()) is not None:
                branches.add(branch := Branch(partial(web.run, flow)))
                branch.done.add_done_callback(wake)
                branch.start()
            if given is not None:
                yield given
            elif not stream.is_over and (has_to_wait or not stream.wants_more):
                woken.get()
    finally:
        stream.clear()
        cut_all([*branches])


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
        task.add_done_callback(lambda _: woken.set())
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
            elif not stream.is_over and (has_to_wait or coming is not None or not stream.wants_more):
                await woken.wait()
    finally:
        stream.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def _as_async(items: Iterable[Any]) -> AsyncGenerator[Any]:
    for item in items:
        yield item
