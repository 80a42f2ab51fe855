"""What belongs to a call: who makes it, how long it may take, what it wants, and who
listens.

All of it is one value, `CallContext`, in one context variable: a thread or task that
works for the call gets a copy.
"""

from __future__ import annotations
import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar
from weakref import WeakKeyDictionary, ref

from .._text.quantity import is_number
from .._text.vocabulary import Responses
from ..errors import InvalidOption

T = TypeVar("T")

# with names, known at the same time; the one that was used least recently is forgotten
_MAX_RUNS = 10_000


@dataclass(eq=False, slots=True)
class Deadline:
    """A moment of `time.monotonic` until which there is time, or ``inf``; moved for
    those who join later.
    """

    at: float = math.inf


@dataclass(eq=False, slots=True)
class Patience:
    """How long a call waits because others ask it to come back later, all such waits
    together.
    """

    seconds: float = math.inf  # from the first wait on
    # the moment of `time.monotonic` when that is over; ``inf`` before the first wait
    until: float = math.inf

    def allows(self, wait: float) -> bool:
        """Return whether to wait so many seconds from now."""
        now = time.monotonic()
        until = min(self.until, now + self.seconds)
        if now + wait > until + 0.01:  # what is left of a wait is asked about again
            return False
        self.until = until
        return True


class Delay:
    """How long a call of a list has waited for its turn, which is not part of its time:
    that begins when it is sent.

    It waits in a ``with`` block. What several parts of the call wait at the same time
    counts once.
    """

    __slots__ = "_before", "_lock", "_since", "_waiting", "until"

    def __init__(self, until: float) -> None:
        # the moment of `time.monotonic` when the time of the whole list is over
        self.until = until
        self._before = 0.0
        self._since = 0.0
        self._waiting = 0
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """How long it has waited until now."""
        with self._lock:
            if not self._waiting:
                return self._before
            return self._before + time.monotonic() - self._since

    def __enter__(self) -> None:
        with self._lock:
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._waiting -= 1
            if not self._waiting:
                self._before += time.monotonic() - self._since


class WantedContent(NamedTuple):
    """What a call wants of the pages that it reads, instead of what the reader was made
    with.

    ``menus`` says whether the links in menus are needed, as for a crawl; ``route`` is
    the fragment by which the scripts of the page choose what to show, if the URL has
    one.
    """

    comments: Responses | None = None
    reviews: Responses | None = None
    links: Literal["keep", "text", "drop"] | None = None
    transcripts: Responses | None = None
    menus: bool = False
    route: str = ""
    ocr: Callable[[bytes, str], str] | None = None

    def describe(self) -> list[str]:
        """Return the same for the key of a page, which is another one if other parts of
        it are wanted.
        """
        return [
            f"{name}={getattr(value, '__qualname__', value)}"
            for name, value in self._asdict().items()
            if value
        ]


# whether pages are parsed in other processes; ``require`` makes it an error if none can
# be started
Isolation: TypeAlias = bool | Literal["require"]


class Parsing(NamedTuple):
    """Where the pages of a call are parsed."""

    isolate: Isolation = True
    # for one client; None for the number of cores, at most 8
    processes: int | None = None


class Caller(NamedTuple):
    """Who makes a call: only equal callers share what is under way, and only those that
    look the same what is kept.
    """

    web: Hashable = None  # what identifies the `WebSearch` in this process
    # what it may open and how it connects, as far as that can be shown, as text
    policy: str = ""
    # stands for what cannot be shown, such as the caller's own HTTP client; unique in
    # the world
    own: str = ""
    tenant: str = ""  # whom a budget charges, where that tells callers apart


class Account(NamedTuple):
    """Who is charged."""

    # the name of a customer, team or user; empty if the program has only one
    tenant: str = ""
    # a name, or an object that lives as long as the run; None for all calls of a
    # `WebSearch`
    run: Any = None


class ByRun(Generic[T]):
    """What belongs to each run: under its name, or for as long as the object lives that
    identifies it.

    *make* returns what a new one has. Its users hold a lock.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.by_name: dict[Any, T] = {}
        self.by_object: WeakKeyDictionary[Any, T] = WeakKeyDictionary()

    def find(self, run: object) -> T:
        """Return what belongs to *run*."""
        values: Any = self.by_name
        if not isinstance(run, str):
            # a name, such as a number, cannot be referred to weakly
            with suppress(TypeError):
                ref(run)
                values = self.by_object
        value: T = values.pop(run) if run in values else self._make()
        values[run] = value  # at the end: the names used least recently come first
        while len(self.by_name) > _MAX_RUNS:
            del self.by_name[next(name for name in self.by_name if name is not None)]
        return value


class CallContext(NamedTuple):
    """What belongs to a call."""

    # when its time is up, without its waits in a list; this one is never moved
    deadline: Deadline = Deadline()
    # how long it has waited for its turn, as one of a list: others wait within their
    # time
    delay: Delay | None = None
    # for being asked to come back later; this one has no end, so it does not change
    patience: Patience = Patience()
    caller: Caller = Caller()  # who makes it
    account: Account = Account()  # who is charged
    content: WantedContent = WantedContent()  # what it wants of pages
    parsing: Parsing = Parsing()  # where these are parsed
    max_age: float = math.inf  # seconds; answers that were given before that are old
    # whether it reads what follows of a page, which should be the same page as before
    reads_on: bool = False
    # whether the marks of an excerpt name offsets: who reads a document of a retriever
    # cannot ask for one
    marks_offsets: bool = True
    # what its conversation was given (`websearch_core.provenance`); None outside of the
    # tools
    memory: Any = None
    # who hears its events, as `websearch_core.events` has them
    listeners: tuple[Any, ...] = ()
    # what its thread works for (`websearch_core.flow._branches`); None if it is the
    # caller's own
    branch: Any = None
    # the shared work (`websearch_core.flow._flights`) that it is part of
    leading: tuple[object, ...] = ()
    # whether all of it is shared with others who ask the same now: then no layer inside
    # shares it again
    is_shared: bool = False
    request: Any = None  # the `websearch_core.flow.Request` that is being sent

    @property
    def end(self) -> float:
        """The moment of `time.monotonic` when its time is up, if it waits no more."""
        return (
            self.deadline.at
            if self.delay is None
            else min(self.deadline.at + self.delay.seconds, self.delay.until)
        )


_call: ContextVar[CallContext] = ContextVar(
    "websearch_call",
    default=CallContext(),  # noqa: B039 - immutable
)
current_call: Callable[[], CallContext] = _call.get


# Every call enters it several times: a generator would take longer.
class scope:  # noqa: N801 - a block
    """Change what belongs to the calls in this block, as ``scope(reads_on=True)``; a
    flow may yield inside.
    """

    __slots__ = "_changes", "_inner", "_outer"

    def __init__(self, **changes: Any) -> None:
        self._changes = changes

    def __enter__(self) -> None:
        self._outer = _call.get()
        self._inner = self._outer._replace(**self._changes)
        _call.set(self._inner)

    def __exit__(self, *_: object) -> None:
        now = _call.get()
        if now is self._inner:
            _call.set(self._outer)
        else:
            # a flow is closed in another context, or somebody left something set: undo
            # what is still from here
            ours = {
                name: getattr(self._outer, name)
                for name, to in self._changes.items()
                if getattr(now, name) is to
            }
            _call.set(now._replace(**ours))


@contextmanager
def max_age(seconds: float) -> Iterator[None]:
    """Take nothing in this block that was kept for longer than *seconds*; what is asked
    for is kept for later calls.

    It holds for everything that is called in the block, including tools and agents, for
    our cache, for the memory of a conversation, and for the copies of pages that Exa,
    Firecrawl, Jina and You.com have. With 0, all is asked for again::

        with max_age(0):
            web.search("weather in Oslo")
    """
    if not is_number(seconds) or not seconds >= 0:
        raise InvalidOption("max_age: must be a number of seconds, 0 or more")
    with scope(max_age=seconds):
        yield


@contextmanager
def charge_to(tenant: str | None = None, *, run: object = None) -> Iterator[None]:
    """Charge the calls in this block to the budget of a tenant, or of a run.

    The tools for LangChain and LlamaIndex name their run by themselves, and LangChain's
    the tenant, too: the ``tenant_id`` of the run's config, else its ``user_id``.

    Args:
        tenant: The name of the tenant; None leaves it as it is outside the block.
        run: What identifies the run: a name, or a hashable object that lives as long as
            the run; None leaves it as it is.
    """
    with scope(account=find_account(tenant, run)):
        yield


def find_account(tenant: str | None, run: object) -> Account:
    """Return who is charged for calls of a tenant, or of a run; None leaves it as it
    is.
    """
    hash(run)
    account = current_call().account
    if tenant is not None:
        account = account._replace(tenant=str(tenant))
    if run is not None:
        account = account._replace(run=run)
    return account


def current_client() -> Hashable:
    """Return who shares threads, look-ups and queues with others: a `WebSearch`, or one
    of its tenants.
    """
    call = current_call()
    return call.caller.web, call.account.tenant


def run_apart(work: Callable[[], T], **changes: Any) -> T:
    """Call *work* in a copy of the context, with *changes* as for `scope`: Ctrl-C
    cannot leave anything of them behind.

    Variables that an application sets there, in a hook or a provider, are set here as
    well when it ends.
    """
    context = copy_context()
    context.run(_call.set, _call.get()._replace(**changes))
    try:
        return context.run(work)
    finally:
        for variable, value in context.items():
            if variable is not _call and variable.get(None) is not value:
                variable.set(value)
