"""Find the conversation in which a tool is called: that of the workflow's `Context`."""

from __future__ import annotations

from uuid import uuid4

from llama_index.core.async_utils import asyncio_run
from llama_index.core.llms import ChatMessage, TextBlock
from llama_index.core.workflow import Context, WorkflowRuntimeError

from websearch_core.errors import ConfigurationError

_KEY = "websearch_conversation"


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
