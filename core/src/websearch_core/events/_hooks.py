"""Hooks: what an event is, and how it gets to those who listen. `websearch_core.events` is the public interface."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from .._runtime.bugs import as_error
from ..errors import ConfigurationError
from ..models import Page, SearchQuery, SearchResponse


@dataclass(frozen=True, kw_only=True)
class Event:
    """
    Something that happened. A layer may define its own::

        @dataclass(frozen=True, kw_only=True)
        class CacheHit(Event):
            name: ClassVar[str] = "cache_hit"
            provider: str

    """

    name: ClassVar[str] = "event"

    def as_json(self) -> dict[str, Any]:
        """
        Return its fields as plain data: queries as texts, URLs in full, errors as their codes.

        Answers are reduced to their figures: ``results`` or ``length``, ``cost``, ``usage``.
        """
        data: dict[str, Any] = {}
        for part in fields(self):
            data |= _as_plain(part.name, getattr(self, part.name))
        return data


Hook: TypeAlias = Callable[[Event], object]


@dataclass(eq=False)
class Listener:
    """A hook, and whether an exception of it has been logged."""

    hook: Hook
    has_failed: bool = field(default=False)

    def hear(self, event: Event) -> None:
        try:
            self.hook(event)
        except Exception as bug:  # noqa: BLE001 - logged; a call does not fail because nobody could watch it
            if not self.has_failed:
                self.has_failed = True
                as_error(bug, f"on_event for {event.name}")


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("websearch_listeners", default=())


def emit(event: Event) -> None:
    """Pass *event* to the hooks of the current call; without one, do nothing."""
    for listener in _listeners.get():
        listener.hear(event)


@contextmanager
def listen(hook: Hook) -> Iterator[None]:
    """Call *hook* for each event of the calls made in this block, besides the hooks of their `WebSearch`."""
    with listening((Listener(check_hook(hook)),)):
        yield


class listening:  # noqa: N801 - a block, which every call enters: a generator would take longer
    """Add *listeners* in this block; each hears an event once."""

    __slots__ = "_listeners", "_token"

    def __init__(self, listeners: tuple[Listener, ...]) -> None:
        self._listeners = listeners

    def __enter__(self) -> None:
        outer = _listeners.get()
        new = (*outer, *(one for one in self._listeners if one not in outer)) if outer else self._listeners
        self._token = _listeners.set(new)

    def __exit__(self, *_: object) -> None:
        _listeners.reset(self._token)


def check_hook(hook: Hook) -> Hook:
    """Return *hook*, or raise `ConfigurationError` if it is not a plain function of an event."""
    if not callable(hook) or inspect.iscoroutinefunction(hook):
        raise ConfigurationError("on_event: must be a function of an event, and not async: it is called during a call")
    return hook


def _as_plain(name: str, value: Any) -> dict[str, Any]:
    match value:
        case SearchResponse():
            return {"results": len(value.results), "cost": value.cost, "usage": dict(value.usage)}
        case Page():
            return {"length": value.content_length, "cost": value.cost, "usage": dict(value.usage)}
        case SearchQuery():
            return {name: value.text}
        case BaseException():
            return {name: describe_error(value)}
        case None if name in {"response", "page"}:
            return {}
    return {name: value}


def describe_error(error: BaseException) -> str:
    """Return the code of *error*, ``cancelled``, or for a bug the name of its class."""
    if isinstance(error, GeneratorExit):
        return "cancelled"
    return str(getattr(error, "code", type(error).__name__))
