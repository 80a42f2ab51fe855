"""Find the conversation in which a tool is called: that of the workflow's `Context`.

The sources of a conversation, with their numbers, and the URLs that the user named are
stored in the context, so that it still has them when it goes on in another process.
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
from websearch_core.models import SearchResponse, SearchResult
from websearch_core.tools import PlainDocument, Run, WebTools, find_numbers

_KEY = "websearch_conversation"
_MARK = "+configured"  # after the name of a conversation that has options of its own
# with such options; the one that was used least recently is forgotten
_MAX_CONVERSATIONS = 10_000
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_SOURCES = "websearch_sources"
_URLS = "websearch_named"
_MAX_URLS = 100  # URLs of the user in one context; the oldest are forgotten
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
        if options is not None:
            return options
        if name != conversation:
            raise ConfigurationError(
                "the options of this conversation are not known here: call `configure` "
                "again"
            )
        return _NOTHING


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
        if context is None:
            yield self._make_run()
            return
        run = asyncio_run(self._find_run(context))
        yield run
        asyncio_run(self._store_sources(context, run))

    @asynccontextmanager
    async def aenter(self) -> AsyncIterator[Run]:
        """Yield the run of a call; after it, store the sources that its conversation
        has numbers for.
        """
        context = _find_context()
        if context is None:
            yield self._make_run()
            return
        run = await self._find_run(context)
        yield run
        await self._store_sources(context, run)

    def number(
        self, documents: Sequence[PlainDocument], run: Run, *, reads: bool
    ) -> list[PlainDocument]:
        """Return the documents of a search, which may have read the pages, with the
        numbers of these in the conversation of *run*, where they may be opened.
        """
        documents = [
            document.with_metadata(read=reads and "read_error" not in document.metadata)
            for document in documents
        ]
        results = tuple(map(_as_result, documents))
        response = SearchResponse(query="", provider="", results=results)
        ledger = self._tools.provenance
        ledger.allow_results(response, run.conversation)
        numbered = ledger.number_results(
            response, run.conversation, run.sources, run.numbers
        )
        return [
            document.with_metadata(citation_id=result.citation_id)
            for document, result in zip(documents, numbered.results, strict=True)
        ]

    async def _find_run(self, context: Context) -> Run:
        conversation: str | None
        try:
            conversation = await find_conversation(context, marked=True)
        except ConfigurationError as error:
            conversation = _find_run()
            if not self._has_warned:
                self._has_warned = True
                _log.warning("each run is a conversation of its own: %s", error)
        urls = await context.store.get(_URLS, default=None)
        if isinstance(urls, list):
            text = "\n".join(url for url in urls[-_MAX_URLS:] if isinstance(url, str))
            self._tools.provenance.allow_text(text, _unmark(conversation))
        sources = await context.store.get(_SOURCES, default=None)
        if not isinstance(sources, list):
            sources = []
        numbers = await _find_numbers(context)
        forgets = _NO_FIELD
        kind: Any = getattr(context.store, "state_type", dict)
        # any field, or this one
        if hasattr(kind, "__getitem__") or _SOURCES in kind.model_fields:
            forgets = ""
        return self._make_run(conversation, sources, numbers, forgets)

    def _make_run(
        self,
        conversation: str | None = None,
        sources: Sequence[Mapping[str, Any]] = (),
        numbers: Collection[int] = (),
        forgets: str = "",
    ) -> Run:
        name = _unmark(conversation)
        options = _NOTHING
        if self._tools.configurable:
            options = self.options.get(conversation)
        return Run(
            name=_find_run() or name,
            conversation=name,
            options=options,
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


def _as_result(document: PlainDocument) -> SearchResult:
    metadata = document.metadata
    content = document.text if metadata.get("read") else None
    return SearchResult(
        title=metadata.get("title", ""), url=metadata["url"], content=content
    )


async def store_urls(context: Context, urls: Sequence[str]) -> None:
    """Store the URLs that the user named in *context*, if its state has a field for
    them.
    """
    with suppress(ValueError):
        async with context.store.edit_state() as state:
            stored = getattr(state, _URLS, None)
            if not isinstance(stored, list):
                stored = []
            distinct = dict.fromkeys([*stored, *urls])
            setattr(state, _URLS, list(distinct)[-_MAX_URLS:])


def _unmark(conversation: str | None) -> str | None:
    """Return the name of a conversation without the mark."""
    return conversation and conversation.removesuffix(_MARK)


def _find_run() -> str | None:
    """Return the name of the workflow's run in which a tool is called; None outside
    workflows.
    """
    name = active_instrument_tags.get().get("llamaindex.run_id")
    if name is None:
        return None
    return str(name)


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
    name = _as_name(await context.store.get(_KEY, default=None))
    lacks_mark = configured and name == _unmark(name)
    if name is None or lacks_mark:
        name = await _store_name(context, configured=configured)
    if marked:
        return name
    return name.removesuffix(_MARK)


async def _store_name(context: Context, *, configured: bool) -> str:
    """Name the conversation of *context*, or mark its name as `find_conversation`
    does.
    """
    try:
        async with context.store.edit_state() as state:
            # another tool of the same step may have named it meanwhile
            name = _as_name(getattr(state, _KEY, None)) or uuid4().hex
            if configured:
                name = f"{name.removesuffix(_MARK)}{_MARK}"
            setattr(state, _KEY, name)
            return name
    except ValueError as error:
        raise ConfigurationError(
            f"the state of the workflow needs a field `{_KEY}: str | None = None`"
        ) from error


def _as_name(value: object) -> str | None:
    """Return a value of the state as the name of a conversation, if it is one."""
    if isinstance(value, str) and value:
        return value
    return None


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
    numbers: set[int] = set()
    if not isinstance(memory, BaseMemory):
        return numbers
    for message in await memory.aget_all():
        numbers |= find_numbers(join_texts(message))
    return numbers


def _find_context() -> Context | None:
    try:
        return Context.get_step_context()
    except WorkflowRuntimeError:
        return None
