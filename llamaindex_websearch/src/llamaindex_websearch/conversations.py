"""Find the conversation in which a tool is called: that of the workflow's `Context`.

What it found, with its numbers, and what the user named are stored in the context, so a
conversation that goes on in another process still has them.
"""

from __future__ import annotations
import logging
import threading
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from llama_index.core.async_utils import asyncio_run
from llama_index.core.llms import ChatMessage, TextBlock
from llama_index.core.memory import BaseMemory
from llama_index.core.workflow import Context, WorkflowRuntimeError
from llama_index_instrumentation.dispatcher import active_instrument_tags

from websearch_core.errors import ConfigurationError
from websearch_core.tools import Run, WebTools, find_numbers

_KEY = "websearch_conversation"
_MARK = "+configured"  # after the name of a conversation that has options of its own
# with such options; the one that was used least recently is forgotten
_MAX_CONVERSATIONS = 10_000
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_SOURCES = "websearch_sources"
_NAMED = "websearch_named"
_MAX_NAMED = 100  # URLs of the user in one context; the oldest are forgotten
_NO_FIELD = (
    f"the state of the workflow has no field `{_SOURCES}`, so what other processes "
    f"found is unknown"
)
_log = logging.getLogger(__name__)


class ConversationOptions:
    """The options of each conversation that has some, in memory.

    A pickle or copy is empty: the options may contain keys.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._options: dict[str, Mapping[str, Any]] = {}

    def __reduce__(self) -> tuple[type[ConversationOptions], tuple[()]]:
        return ConversationOptions, ()

    def set(self, conversation: str, options: Mapping[str, Any]) -> None:
        """Set the options of a conversation."""
        with self._lock:
            self._options.pop(conversation, None)
            self._options[conversation] = dict(options)
            while len(self._options) > _MAX_CONVERSATIONS:
                del self._options[next(iter(self._options))]

    def get(self, conversation: str | None) -> Mapping[str, Any]:
        """Return the options of a conversation.

        Args:
            conversation: Its name, with or without the mark of one that has options: a
                saved context may be edited.

        Raises:
            ConfigurationError: It has options, and they are not known here. It must not
                use another tenant's.
        """
        name = _unmark(conversation)
        if name is None:
            return _NOTHING
        with self._lock:
            options = self._options.pop(name, None)
            if options is not None:
                self._options[name] = options
        if options is None and name != conversation:
            raise ConfigurationError(
                "the options of this conversation are not known here: call `configure` "
                "again"
            )
        return _NOTHING if options is None else options


class Conversations:
    """The conversations of one tool spec: that of a call is the `Context` of the
    workflow whose step is running.

    Args:
        tools: The tools of the spec.
    """

    def __init__(self, tools: WebTools) -> None:
        self._tools = tools
        self.options: ConversationOptions = ConversationOptions()
        self._has_warned = False

    @contextmanager
    def enter(self) -> Iterator[Run]:
        """Blocking version of `aenter`."""
        context = _find_context()
        run = asyncio_run(self._find_run(context)) if context else self._make_run()
        yield run
        if context:
            asyncio_run(self._store_sources(context, run))

    @asynccontextmanager
    async def aenter(self) -> AsyncIterator[Run]:
        """Yield the run of a call; after it, store the sources that its conversation
        has numbers for.
        """
        context = _find_context()
        run = await self._find_run(context) if context else self._make_run()
        yield run
        if context:
            await self._store_sources(context, run)

    async def _find_run(self, context: Context) -> Run:
        conversation: str | None
        try:
            conversation = await find_conversation(context, marked=True)
        except ConfigurationError as error:
            conversation = _find_run()
            if not self._has_warned:
                self._has_warned = True
                _log.warning("each run is a conversation of its own: %s", error)
        sources, named = [
            await context.store.get(name, default=None) for name in (_SOURCES, _NAMED)
        ]
        if isinstance(named, list):
            text = "\n".join(one for one in named[-_MAX_NAMED:] if isinstance(one, str))
            self._tools.provenance.allow_text(text, _unmark(conversation))
        kind: Any = getattr(context.store, "state_type", dict)
        # any field, or this one
        has_field = hasattr(kind, "__getitem__") or _SOURCES in kind.model_fields
        return self._make_run(
            conversation,
            sources if isinstance(sources, list) else (),
            await _find_numbers(context),
            "" if has_field else _NO_FIELD,
        )

    def _make_run(
        self,
        conversation: str | None = None,
        sources: Sequence[Mapping[str, Any]] = (),
        numbers: Collection[int] = (),
        forgets: str = "",
    ) -> Run:
        name = _unmark(conversation)
        return Run(
            name=_find_run() or name,
            conversation=name,
            options=self.options.get(conversation)
            if self._tools.configurable
            else _NOTHING,
            sources=sources,
            numbers=numbers,
            shares=True,
            forgets=forgets,
        )

    async def _store_sources(self, context: Context, run: Run) -> None:
        with suppress(ValueError):  # the state has no field for them
            await context.store.set(
                _SOURCES, self._tools.provenance.sources(run.conversation)
            )


async def store_named(context: Context, urls: Sequence[str]) -> None:
    """Store in *context* what the user named, if its state has a place for that."""
    with suppress(ValueError):
        async with context.store.edit_state() as state:
            known = getattr(state, _NAMED, None)
            named = dict.fromkeys([*(known if isinstance(known, list) else ()), *urls])
            setattr(state, _NAMED, list(named)[-_MAX_NAMED:])


def _unmark(conversation: str | None) -> str | None:
    """Return the name of a conversation without the mark."""
    return conversation and conversation.removesuffix(_MARK)


def _find_run() -> str | None:
    """Return the name of the workflow's run in which a tool is called; None outside
    workflows.
    """
    found = active_instrument_tags.get().get("llamaindex.run_id")
    return None if found is None else str(found)


async def find_conversation(
    context: Context, *, configured: bool = False, marked: bool = False
) -> str:
    """Return the name of the conversation of *context*.

    The name is stored in the state of the context, so it is the same in every turn, and
    after ``Context.from_dict``.

    Args:
        context: The context.
        configured: Mark the conversation as one that has options of its own.
        marked: Return the mark, too.

    Raises:
        ConfigurationError: The state has a type without a field for it.
    """
    known = await context.store.get(_KEY, default=None)
    if (
        not known
        or not isinstance(known, str)
        or (configured and known == _unmark(known))
    ):
        try:
            # other tools of the same step may do the same
            async with context.store.edit_state() as state:
                stored = getattr(state, _KEY, None)
                known = stored if stored and isinstance(stored, str) else uuid4().hex
                if configured:
                    known = f"{_unmark(known)}{_MARK}"
                setattr(state, _KEY, known)
        except ValueError as error:
            raise ConfigurationError(
                f"the state of the workflow needs a field `{_KEY}: str | None = None`"
            ) from error
    return str(known) if marked else str(_unmark(known))


def join_texts(user_msg: str | ChatMessage) -> str:
    """Return the texts of *user_msg*, on separate lines, so that two of them cannot
    form one URL.
    """
    if isinstance(user_msg, str):
        return user_msg
    return "\n".join(
        block.text for block in user_msg.blocks if isinstance(block, TextBlock)
    )


async def _find_numbers(context: Context) -> set[int]:
    """Return the numbers of sources in the messages of an agent, which keeps its memory
    in *context*: a program may have stored them without what they stand for.
    """
    memory = await context.store.get("memory", default=None)
    messages = await memory.aget_all() if isinstance(memory, BaseMemory) else []
    numbers: set[int] = set()
    for message in messages:
        numbers |= find_numbers(join_texts(message))
    return numbers


def _find_context() -> Context | None:
    try:
        return Context.get_step_context()
    except WorkflowRuntimeError:
        return None
