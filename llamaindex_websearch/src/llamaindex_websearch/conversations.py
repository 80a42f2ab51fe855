"""Which conversation a tool is called in: that of the workflow's `Context`."""

from __future__ import annotations

from uuid import uuid4

from llama_index.core.async_utils import asyncio_run
from llama_index.core.llms import ChatMessage, TextBlock
from llama_index.core.workflow import Context, WorkflowRuntimeError

from websearch_core.errors import ConfigurationError

_KEY = "websearch_conversation"


def current_conversation() -> str | None:
    """Do as `acurrent_conversation` does, for blocking calls."""
    context = _step_context()
    return asyncio_run(conversation_of(context)) if context else None


async def acurrent_conversation() -> str | None:
    """Name the conversation of the workflow whose step is running; None outside of workflows."""
    context = _step_context()
    return await conversation_of(context) if context else None


async def conversation_of(context: Context) -> str:
    """
    Name the conversation of *context*.

    The name is kept in the state of the context: it is the same in every turn of one context, and after
    ``Context.from_dict``.

    Raises:
        ConfigurationError: The state is of a type that cannot hold it.

    """
    if known := await context.store.get(_KEY, default=None):
        return str(known)
    try:
        async with context.store.edit_state() as state:  # other tools of the same step may be asking
            if not getattr(state, _KEY, None):
                setattr(state, _KEY, uuid4().hex)
            return str(getattr(state, _KEY))
    except ValueError as error:
        raise ConfigurationError(f"the state of the workflow needs a field `{_KEY}: str | None = None`") from error


def text_of(message: str | ChatMessage) -> str:
    """Return the texts of *message*, apart from each other: two of them must not run together into one URL."""
    if isinstance(message, str):
        return message
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock))


def _step_context() -> Context | None:
    try:
        return Context.get_step_context()
    except WorkflowRuntimeError:
        return None
