"""What holds for the calls of a block: who makes them, what is wanted of pages, and how fresh."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple, TypeVar

from .._text.choices import Responses

T = TypeVar("T")


class Choices(NamedTuple):
    """
    What a call wants of the pages that it reads, instead of what the reader was made with.

    Args:
        comments: What to do with readers' comments.
        reviews: What to do with reviews.
        links: What to do with links.
        menus: Whether the links in menus are needed, as for a crawl.

    """

    comments: Responses | None = None
    reviews: Responses | None = None
    links: Literal["keep", "text", "drop"] | None = None
    menus: bool = False


class Caller(NamedTuple):
    """
    Who makes a call: only equal callers share what is under way, and only those that look the same what is kept.

    Args:
        web: What identifies the `WebSearch` in this process.
        policy: What it may open and how it connects, as far as that can be shown, as text.
        own: What stands for that which cannot be shown, such as the caller's own HTTP client; unique in the world.
        tenant: Whom a budget charges.

    """

    web: Hashable = None
    policy: str = ""
    own: str = ""
    tenant: str = ""


_caller: ContextVar[Caller] = ContextVar("websearch_caller", default=Caller())  # noqa: B039 - immutable
_fresh: ContextVar[bool] = ContextVar("websearch_fresh", default=False)
_reading_on: ContextVar[bool] = ContextVar("websearch_reading_on", default=False)
_choices: ContextVar[Choices] = ContextVar("websearch_choices", default=Choices())  # noqa: B039 - immutable


class caller_scope:  # noqa: N801 - a block, which every call enters: a generator would take longer
    """Say in this block who makes the calls."""

    __slots__ = "_caller", "_token"

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __enter__(self) -> None:
        self._token = _caller.set(self._caller)

    def __exit__(self, *_: object) -> None:
        _caller.reset(self._token)


def choices_scope(choices: Choices) -> AbstractContextManager[None]:
    """Say in this block of a flow what is wanted of pages."""
    return _scope(_choices, choices)


def reading_on(reads_on: bool) -> AbstractContextManager[None]:
    """Say in this block of a flow that what follows of a page is read, so that it should be the same page as before."""
    return _scope(_reading_on, reads_on)


@contextmanager
def _scope(variable: ContextVar[T], value: T) -> Iterator[None]:
    outer = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        variable.set(outer)  # not by a token: a flow may be closed in another context


@contextmanager
def no_cache() -> Iterator[None]:
    """
    Ask the services in this block, whatever the cache holds; their answers are kept for later calls.

    It holds for everything that is called in the block, including tools and agents::

        with no_cache():
            web.search("weather in Oslo")
    """
    token = _fresh.set(True)
    try:
        yield
    finally:
        _fresh.reset(token)


def current_caller() -> Caller:
    """Return who makes this call; the tenant is that of `websearch_core._runtime.turns.tenant_scope`."""
    return _caller.get()


def current_choices() -> Choices:
    """Return what this call wants of pages."""
    return _choices.get()


def describe_choices() -> list[str]:
    """Return the same for the key of a page, which is another one if other parts of it are wanted."""
    return [f"{name}={value}" for name, value in _choices.get()._asdict().items() if value]


def wants_fresh() -> bool:
    """Return whether this call is made inside `no_cache`."""
    return _fresh.get()


def reads_on() -> bool:
    """Return whether this call reads on in a page."""
    return _reading_on.get()
