"""Hooks: what an event is, and how it gets to those who listen. `websearch_core.events`
is the public interface.
"""

from __future__ import annotations
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import count
from threading import Lock
from typing import Any, ClassVar, TypeAlias, cast
from uuid import UUID

from .._runtime.bugs import as_error
from .._runtime.forks import Restartable
from .._runtime.scope import ByRun, current_call, scope
from ..errors import ConfigurationError
from ..models import Page, SearchQuery, SearchResponse

_CALLER = {"tenant", "run"}


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened. A layer may define its own::

        @dataclass(frozen=True, kw_only=True)
        class CacheHit(Event):
            provider: str

    Its ``name`` is that of the class, as ``cache_hit``.

    Args:
        tenant: Whose call it is, as `websearch_core.charge_to` and the tools say; empty
            without tenants.
        run: The run that the call belongs to, as text; empty outside of any run.
    """

    name: ClassVar[str] = "event"

    tenant: str = ""
    run: str = ""

    def __init_subclass__(cls) -> None:
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def as_json(self) -> dict[str, Any]:
        """Return its fields as plain data: queries as texts, URLs in full, errors as
        their codes.

        Answers are reduced to their figures: ``results`` or ``length``, ``cost``,
        ``usage``.
        """
        data: dict[str, Any] = {}
        for part in fields(self):
            if part.name in _CALLER and not getattr(self, part.name):
                continue
            data |= _as_plain(part.name, getattr(self, part.name))
        return data


Hook: TypeAlias = Callable[[Event], object]


@dataclass(eq=False)
class Listener:
    """A hook, and whether an exception of it has been logged."""

    hook: Hook
    has_failed: bool = field(default=False)


def emit(event: Event) -> None:
    """Pass *event* to the hooks of the current call, with its tenant and run; without
    a hook, do nothing.
    """
    call = current_call()
    if not call.listeners:
        return
    # it was made for this call, and nobody has seen it yet
    if call.account.tenant:
        object.__setattr__(event, "tenant", call.account.tenant)
    if call.account.run is not None:
        object.__setattr__(event, "run", _name_run(call.account.run))
    for listener in call.listeners:
        try:
            listener.hook(event)
        # logged: a call does not fail because nobody could watch it
        except Exception as bug:  # noqa: BLE001
            if not listener.has_failed:
                listener.has_failed = True
                as_error(bug, f"on_event for {event.name}")


@contextmanager
def listen(hook: Hook) -> Iterator[None]:
    """Call *hook* for each event of the calls made in this block, besides the hooks of
    their `WebSearch`.
    """
    with scope(listeners=(*current_call().listeners, Listener(check_hook(hook)))):
        yield


def check_hook(hook: Hook) -> Hook:
    """Return *hook*, or raise `ConfigurationError` if it is not a plain function of an
    event.
    """
    if not callable(hook) or inspect.iscoroutinefunction(hook):
        raise ConfigurationError(
            "on_event: must be a function of an event, or a list of them, and not "
            "async: it is called during a call"
        )
    return hook


def make_listeners(hooks: Hook | Sequence[Hook] | None) -> list[Listener]:
    """Return a listener for each of *hooks*: one, a list of them, or None."""
    if hooks is None:
        return []
    if not isinstance(hooks, list | tuple):
        return [Listener(check_hook(cast("Hook", hooks)))]
    return [Listener(check_hook(hook)) for hook in hooks]


class _Numbers(Restartable):
    """Numbers for the runs of this process that have no name."""

    def start_over(self) -> None:
        self._lock = Lock()
        self._numbers: ByRun[int] = ByRun(partial(next, count(1)))

    def find(self, run: object) -> int:
        """Return the number of *run*, which no other run has."""
        with self._lock:
            return self._numbers.find(run)


_numbers = _Numbers()


def _name_run(run: object) -> str:
    """Return a run as text: an object by its class and a number of its own."""
    if isinstance(run, str | int | UUID):
        return str(run)
    if isinstance(run, tuple):
        return "/".join(_name_run(part) for part in run if part is not None)
    return f"{type(run).__name__} {_numbers.find(run)}"


def _as_plain(name: str, value: Any) -> dict[str, Any]:
    match value:
        case SearchResponse():
            return {
                "results": len(value.results),
                "cost": value.cost,
                "usage": dict(value.usage),
            }
        case Page():
            return {
                "length": value.content_length,
                "cost": value.cost,
                "usage": dict(value.usage),
            }
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
