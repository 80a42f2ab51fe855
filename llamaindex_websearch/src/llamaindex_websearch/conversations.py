"""
Find the conversation in which a tool is called: that of the workflow's `Context`.

The numbers of its sources are stored in the context, so a conversation that goes on in another process still has them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary

from llama_index.core.async_utils import asyncio_run
from llama_index.core.llms import ChatMessage, TextBlock
from llama_index.core.workflow import Context, WorkflowRuntimeError
from llama_index_instrumentation.dispatcher import active_instrument_tags

from websearch_core.errors import ConfigurationError
from websearch_core.provenance import Ledger

_KEY = "websearch_conversation"
_MARK = "+configured"  # after the name of a conversation that has options of its own
_MAX_CONVERSATIONS = 10_000  # with such options; the one that was used least recently is forgotten
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_SOURCES = "websearch_sources"
_names: WeakKeyDictionary[object, str] = WeakKeyDictionary()  # of the stores that have no field for a name

T = TypeVar("T")
Number = Callable[[Hashable, Iterable[Mapping[str, Any]]], T]


class Configured:
    """
    The options of each conversation that has some, in memory.

    A pickle or copy is empty: the options may contain keys.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._options: dict[str, Mapping[str, Any]] = {}

    def __reduce__(self) -> tuple[type[Configured], tuple[()]]:
        return Configured, ()

    def set(self, conversation: str, options: Mapping[str, Any]) -> None:
        """Set the options of a conversation."""
        with self._lock:
            self._options.pop(conversation, None)
            self._options[conversation] = dict(options)
            while len(self._options) > _MAX_CONVERSATIONS:
                del self._options[next(iter(self._options))]

    def get(self, conversation: str | None) -> Mapping[str, Any]:
        """
        Return the options of a conversation.

        Args:
            conversation: Its name, with or without the mark of one that has options: a saved context may be edited.

        Raises:
            ConfigurationError: It has options, and they are not known here. It must not use another tenant's.

        """
        name = plain(conversation)
        if name is None:
            return _NOTHING
        with self._lock:
            options = self._options.pop(name, None)
            if options is not None:
                self._options[name] = options
        if options is None and name != conversation:
            raise ConfigurationError("the options of this conversation are not known here: call `configure` again")
        return _NOTHING if options is None else options


def plain(conversation: str | None) -> str | None:
    """Return the name of a conversation without the mark."""
    return conversation and conversation.removesuffix(_MARK)


def current_run() -> str | None:
    """Return the name of the workflow's run in which a tool is called; None outside workflows."""
    found = active_instrument_tags.get().get("llamaindex.run_id")
    return None if found is None else str(found)


def current_conversation(*, marked: bool = False) -> str | None:
    """Blocking version of `acurrent_conversation`."""
    context = _step_context()
    return asyncio_run(conversation_of(context, marked=marked)) if context else None


async def acurrent_conversation(*, marked: bool = False) -> str | None:
    """Return the name of the conversation of the workflow whose step is running; None outside workflows."""
    context = _step_context()
    return await conversation_of(context, marked=marked) if context else None


async def conversation_of(context: Context, *, configured: bool = False, marked: bool = False) -> str:
    """
    Return the name of the conversation of *context*.

    The name is stored in the state of the context, so it is the same in every turn, and after ``Context.from_dict``.

    Args:
        context: The context.
        configured: Mark the conversation as one that has options of its own.
        marked: Return the mark, too.

    Raises:
        ConfigurationError: The state has a type without a field for it.

    """
    known = await context.store.get(_KEY, default=None)
    if not known or not isinstance(known, str) or (configured and known == plain(known)):
        try:
            async with context.store.edit_state() as state:  # other tools of the same step may do the same
                stored = getattr(state, _KEY, None)
                known = stored if stored and isinstance(stored, str) else uuid4().hex
                if configured:
                    known = f"{plain(known)}{_MARK}"
                setattr(state, _KEY, known)
        except ValueError as error:
            raise ConfigurationError(f"the state of the workflow needs a field `{_KEY}: str | None = None`") from error
    return str(known) if marked else str(plain(known))


def number_sources(ledger: Ledger, number: Number[T]) -> T:
    """Blocking version of `anumber_sources`."""
    context = _step_context()
    return asyncio_run(_number_in(context, ledger, number)) if context else number(None, ())


async def anumber_sources(ledger: Ledger, number: Number[T]) -> T:
    """
    Number sources in the conversation of the workflow whose step is running; outside workflows, in one of the ledger.

    Args:
        ledger: The ledger that numbers them.
        number: Takes the name of the conversation and the sources that are stored in it, and returns the result.

    """
    context = _step_context()
    return await _number_in(context, ledger, number) if context else number(None, ())


async def _number_in(context: Context, ledger: Ledger, number: Number[T]) -> T:
    try:
        name = await conversation_of(context)
    except ConfigurationError:  # numbers are kept in memory then
        name = _names.setdefault(context.store, uuid4().hex)
    stored = await context.store.get(_SOURCES, default=None)
    result = number(name, stored if isinstance(stored, list) else ())
    with suppress(ValueError):  # the state has no field for them
        await context.store.set(_SOURCES, ledger.sources(name))
    return result


def text_of(message: str | ChatMessage) -> str:
    """Return the texts of *message*, on separate lines, so that two of them cannot form one URL."""
    if isinstance(message, str):
        return message
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock))


def _step_context() -> Context | None:
    try:
        return Context.get_step_context()
    except WorkflowRuntimeError:
        return None
