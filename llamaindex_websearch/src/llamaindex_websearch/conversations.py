"""
Find the conversation in which a tool is called: that of the workflow's `Context`.

The numbers of its sources are stored in the context, so a conversation that goes on in another process still has them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary

from llama_index.core.async_utils import asyncio_run
from llama_index.core.llms import ChatMessage, TextBlock
from llama_index.core.workflow import Context, WorkflowRuntimeError

from websearch_core.errors import ConfigurationError
from websearch_core.provenance import Ledger

_KEY = "websearch_conversation"
_SOURCES = "websearch_sources"
_names: WeakKeyDictionary[object, str] = WeakKeyDictionary()  # of the stores that have no field for a name

T = TypeVar("T")
Number = Callable[[Hashable, Iterable[Mapping[str, Any]]], T]


def current_conversation() -> str | None:
    """Blocking version of `acurrent_conversation`."""
    context = _step_context()
    return asyncio_run(conversation_of(context)) if context else None


async def acurrent_conversation() -> str | None:
    """Return the name of the conversation of the workflow whose step is running; None outside workflows."""
    context = _step_context()
    return await conversation_of(context) if context else None


async def conversation_of(context: Context) -> str:
    """
    Return the name of the conversation of *context*.

    The name is stored in the state of the context, so it is the same in every turn, and after ``Context.from_dict``.

    Raises:
        ConfigurationError: The state has a type without a field for it.

    """
    if known := await context.store.get(_KEY, default=None):
        return str(known)
    try:
        async with context.store.edit_state() as state:  # other tools of the same step may do the same
            if not getattr(state, _KEY, None):
                setattr(state, _KEY, uuid4().hex)
            return str(getattr(state, _KEY))
    except ValueError as error:
        raise ConfigurationError(f"the state of the workflow needs a field `{_KEY}: str | None = None`") from error


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
    result = number(name, await context.store.get(_SOURCES, default=None) or ())
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
