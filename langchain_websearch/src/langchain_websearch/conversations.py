"""Find the conversation of a run, and what the user wrote in it."""

from __future__ import annotations
import threading
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig, ensure_config

from websearch_core.provenance import Ledger
from websearch_core.tools import read_field

KEYS = ("tenant_id", "user_id", "thread_id")
# at the same time; the oldest are dropped, so that runs that never end do not pile up
_MAX_RUNS = 10_000


def find_conversation(
    config: RunnableConfig | None,
    keys: Sequence[str] = KEYS,
    parent_run_id: UUID | None = None,
) -> Hashable:
    """Return a name for the conversation of a run: its tenant, user and thread; without
    any of them, the run itself.

    Args:
        config: The config of the run. A key is looked up in ``configurable``, then in
            the ``context`` of a LangGraph graph, then in ``metadata``.
        keys: The keys that distinguish conversations.
        parent_run_id: The run that calls a tool or a model, where the config does not
            show it.

    Returns:
        A tuple of the values; just the ``thread_id`` if there is nothing else. For a
        run without them, a `Root`: one ``invoke`` or ``stream`` of a LangGraph graph,
        with its subgraphs, or elsewhere the run that calls the tool. None for a tool
        that is called outside of any run.
    """
    config = config or {}
    values = {key: _find_value(config, key) for key in keys}
    names = [key for key, value in values.items() if value is not None]
    if names == ["thread_id"]:
        return values["thread_id"]
    if names:
        return tuple(values[key] for key in keys)
    root = (
        _find_root(config)
        or parent_run_id
        or getattr(config.get("callbacks"), "parent_run_id", None)
    )
    if root is None:
        return None
    return Root(root)


@dataclass(frozen=True)
class Root:
    """The conversation of a run that has no ID.

    Args:
        run: What identifies the run. A copy in another process has no part in it.
    """

    run: Hashable

    def __reduce__(self) -> tuple[type[Root], tuple[str]]:
        return Root, (str(id(self.run)),)


def find_tenant(config: RunnableConfig) -> str | None:
    """Return the tenant of a run, for budgets: its ``tenant_id``, else its
    ``user_id``.
    """
    tenant = _find_value(config, "tenant_id")
    if tenant is not None:
        return tenant
    return _find_value(config, "user_id")


def _find_value(config: RunnableConfig, key: str) -> str | None:
    value = (config.get("configurable") or {}).get(key)
    if value is None:
        value = read_field(find_context(config), key)
    if value is None:
        value = (config.get("metadata") or {}).get(key)
    return None if value is None else str(value)


def find_context(config: RunnableConfig) -> object:
    """Return the context that a run of a LangGraph graph was given, as in
    ``agent.invoke(..., context=...)``: a mapping, or an object with fields.
    """
    return getattr(_find_runtime(config), "context", None)


def _find_runtime(config: RunnableConfig) -> object:
    return (config.get("configurable") or {}).get("__pregel_runtime")


def find_run(config: RunnableConfig, conversation: Hashable) -> Hashable:
    """Return what identifies the run that a tool is called in: a name, or an object
    that lives as long as the run.

    A run is one ``invoke`` or ``stream`` of a LangGraph graph, including subgraphs.
    Elsewhere, it is the *conversation*.
    """
    root = _find_root(config)
    return conversation if root is None else root


def _find_root(config: RunnableConfig) -> Any:
    """Return the object that LangGraph makes for each run, and passes on to subgraphs;
    None elsewhere.
    """
    runtime = _find_runtime(config)
    control = getattr(runtime, "control", None)
    if control is None:  # before LangGraph 1.2
        return getattr(runtime, "stream_writer", None)
    return control


class UserURLs(BaseCallbackHandler):
    """Allows the URLs that the user wrote to be opened.

    Only the input of a root run counts. In inner runs, a human message may be a summary
    by middleware, or a task that a model wrote for a sub-agent. The URLs are allowed
    when the run calls a model or a tool, because only then does LangChain show a
    callback the ``configurable`` of the run, and with it the tenant.

    Args:
        ledger: The ledger to allow them in.
        keys: The keys of a config that distinguish conversations, as for
            `find_conversation`.
    """

    run_inline = True  # so that it is done before the model answers and the tool runs

    def __init__(self, ledger: Ledger, keys: Sequence[str] = KEYS) -> None:
        self._ledger = ledger
        self._keys = keys
        self._turns: dict[UUID, _Turn] = {}  # by the ID of each run within the turn
        self._lock = threading.Lock()

    def on_chain_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002 - the signatures are LangChain's
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Remember what the user wrote, if this is the root run."""
        if parent_run_id is None:
            self._follow(run_id, _Turn(find_user_texts(inputs)))
        else:
            self._follow(run_id, self._turn(parent_run_id))

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        messages: list[list[BaseMessage]],  # noqa: ARG002 - not all human messages are the user's
        *,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Allow the URLs of this turn."""
        self._allow(parent_run_id, metadata)

    def on_llm_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        prompts: list[str],  # noqa: ARG002
        *,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Allow the URLs of this turn."""
        self._allow(parent_run_id, metadata)

    def on_tool_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        input_str: str,  # noqa: ARG002
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Allow the URLs of this turn; a tool may run an agent, so follow it."""
        self._follow(run_id, self._turn(parent_run_id))
        self._allow(parent_run_id, metadata)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget the run."""
        self._forget(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget the run."""
        self._forget(run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget the run."""
        self._forget(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget the run."""
        self._forget(run_id)

    def _turn(self, run_id: UUID | None) -> _Turn | None:
        with self._lock:
            return self._turns.get(run_id) if run_id else None

    def _follow(self, run_id: UUID, turn: _Turn | None) -> None:
        if turn is None or not turn.texts:
            return
        with self._lock:
            self._turns[run_id] = turn
            while len(self._turns) > _MAX_RUNS:
                del self._turns[next(iter(self._turns))]

    def _forget(self, run_id: UUID) -> None:
        with self._lock:
            self._turns.pop(run_id, None)

    def _allow(self, run_id: UUID | None, metadata: dict[str, Any] | None) -> None:
        turn = self._turn(run_id)
        if turn is None:
            return
        config = RunnableConfig(
            configurable=ensure_config().get("configurable") or {},
            metadata=metadata or {},
        )
        conversation = find_conversation(config, self._keys, run_id)
        if conversation not in turn.allowed_in:
            turn.allowed_in.add(conversation)
            for text in turn.texts:
                self._ledger.allow_text(text, conversation)


class _Turn:
    """What the user wrote in one root run, and the conversations in which its URLs are
    allowed.
    """

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.allowed_in: set[Hashable] = set()


def find_user_texts(inputs: Any) -> list[str]:
    """Return what the user wrote in the input of a run.

    That is the human messages in ``messages`` or in a bare list of messages, in any
    form that LangChain accepts, or an input that is just a string. The same applies to
    the values with which a LangGraph ``Command`` resumes or updates a run. Other fields
    of a state do not count, because anyone may have written them; nor do messages that
    LangChain marks as not typed by the user (``additional_kwargs["lc_source"]``), such
    as summaries.
    """
    # a Command: LangGraph is not always installed
    if hasattr(inputs, "resume") and hasattr(inputs, "update"):
        return find_user_texts(inputs.resume) + find_user_texts(inputs.update)
    if isinstance(inputs, str):
        return [inputs]
    messages = _read_messages(_find_messages(inputs))
    return [_join_texts(message) for message in messages if _is_from_user(message)]


def _find_messages(inputs: Any) -> Any:
    """Return the messages in the input of a run, in whatever form it has them."""
    if isinstance(inputs, dict):
        return inputs.get("messages")
    if isinstance(inputs, BaseMessage | list | tuple):
        return inputs
    if hasattr(inputs, "to_messages"):
        return inputs
    return getattr(inputs, "messages", None)


def _read_messages(messages: Any) -> Iterable[BaseMessage]:
    if messages is None:
        return []
    try:
        if hasattr(messages, "to_messages"):  # the value of a prompt
            return list(messages.to_messages())
        return convert_to_messages(_as_list(messages))
    except (NotImplementedError, TypeError, ValueError):
        # not messages; if that is an error, the run itself raises it
        return []


def _as_list(messages: Any) -> list[Any]:
    """Return a list or tuple of messages as a list.

    As in LangGraph's `add_messages`, anything else is one message, and so is a tuple of
    texts: ``("user", "Read ...")``.
    """
    if isinstance(messages, list):
        return messages
    if not isinstance(messages, tuple):
        return [messages]
    if all(isinstance(part, str) for part in messages):
        return [messages]
    return list(messages)


def _is_from_user(message: BaseMessage) -> bool:
    return (
        isinstance(message, HumanMessage)
        and "lc_source" not in message.additional_kwargs
    )


def _join_texts(message: BaseMessage) -> str:
    """Return the texts of a message, on separate lines, so that two of them cannot form
    one URL.

    Other blocks may have a ``text``, too: that of a file, a document or a search
    result, which the user did not write.
    """
    if isinstance(message.content, str):
        return message.content
    texts: list[Any] = []
    for block in message.content:
        if isinstance(block, str):
            texts.append(block)
        elif block.get("type") == "text":
            texts.append(block.get("text"))
    return "\n".join(text for text in texts if isinstance(text, str))
