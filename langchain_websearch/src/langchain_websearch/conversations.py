"""Which conversation a run belongs to, and what the user said in it."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig, ensure_config

from websearch_core.provenance import Ledger

KEYS = ("tenant_id", "user_id", "thread_id")
_MAX_RUNS = 10_000  # that are under way at once; one that never ends is forgotten


def conversation_of(config: RunnableConfig | None, keys: Sequence[str] = KEYS) -> Hashable:
    """
    Name the conversation of a run: whose it is, and which thread.

    Args:
        config: The config of the run. A key is looked up in ``configurable``, then in ``metadata``.
        keys: Which keys tell conversations apart.

    Returns:
        A tuple of the values; the ``thread_id`` itself if there is only that; None if there is nothing.

    """
    config = config or {}
    places = config.get("configurable") or {}, config.get("metadata") or {}
    found = {key: str(place[key]) for place in reversed(places) for key in keys if place.get(key) is not None}
    if set(found) == {"thread_id"}:
        return found["thread_id"]
    return tuple(found.get(key) for key in keys) if found else None


class UserURLs(BaseCallbackHandler):
    """
    Lets the URLs that the user wrote be opened.

    Only the input of a root run counts. Further in, a human message may be a summary that middleware wrote, or a task
    that a model wrote for a sub-agent. The URLs are named when the run calls a model or a tool, because only there
    does LangChain show a callback the ``configurable`` of the run, and with it the tenant.

    Args:
        ledger: Where to name them.
        keys: Which keys of a config tell conversations apart, as for `conversation_of`.

    """

    run_inline = True  # before the model answers and the tool runs

    def __init__(self, ledger: Ledger, keys: Sequence[str] = KEYS) -> None:
        self._ledger = ledger
        self._keys = keys
        self._turns: dict[UUID, _Turn] = {}  # by each run within the turn
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
        """Note what the user said, if this is the root run."""
        if parent_run_id is None:
            self._follow(run_id, _Turn(said_by_user(inputs)))
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
        """Name the URLs of this turn."""
        self._name(parent_run_id, metadata)

    def on_llm_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        prompts: list[str],  # noqa: ARG002
        *,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Name the URLs of this turn."""
        self._name(parent_run_id, metadata)

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
        """Name the URLs of this turn; a tool may run an agent, so follow it."""
        self._follow(run_id, self._turn(parent_run_id))
        self._name(parent_run_id, metadata)

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
        if turn is None or not turn.said:
            return
        with self._lock:
            self._turns[run_id] = turn
            while len(self._turns) > _MAX_RUNS:
                del self._turns[next(iter(self._turns))]

    def _forget(self, run_id: UUID) -> None:
        with self._lock:
            self._turns.pop(run_id, None)

    def _name(self, run_id: UUID | None, metadata: dict[str, Any] | None) -> None:
        turn = self._turn(run_id)
        if turn is None:
            return
        here = RunnableConfig(configurable=ensure_config().get("configurable") or {}, metadata=metadata or {})
        conversation = conversation_of(here, self._keys)
        if conversation not in turn.named_in:
            turn.named_in.add(conversation)
            for text in turn.said:
                self._ledger.allow_text(text, conversation)


class _Turn:
    """What the user said in one root run, and the conversations whose ledger knows it."""

    def __init__(self, said: list[str]) -> None:
        self.said = said
        self.named_in: set[Hashable] = set()


def said_by_user(inputs: Any) -> list[str]:
    """
    Return the texts of the user in the input of a run.

    These are the human messages in ``messages`` or in a bare list of messages, in any form that LangChain takes, and
    an input that is nothing but a string. The same holds for what a LangGraph ``Command`` resumes or updates a run
    with. Other fields of a state may be anybody's words and do not count; nor does a message that LangChain marks as
    not typed by the user (``additional_kwargs["lc_source"]``), such as a summary.
    """
    if hasattr(inputs, "resume") and hasattr(inputs, "update"):  # a Command: LangGraph is not always installed
        return said_by_user(inputs.resume) + said_by_user(inputs.update)
    if isinstance(inputs, str):
        return [inputs]
    if isinstance(inputs, dict):
        inputs = inputs.get("messages")
    elif not isinstance(inputs, BaseMessage | PromptValue | list | tuple):
        inputs = getattr(inputs, "messages", None)
    return [_text(message) for message in _messages(inputs) if _is_of_user(message)]


def _messages(given: Any) -> Iterable[BaseMessage]:
    if given is None:
        return []
    try:
        if isinstance(given, PromptValue):
            return given.to_messages()
        if isinstance(given, tuple) and not all(isinstance(part, str) for part in given):
            given = list(given)
        # As LangGraph's `add_messages` has it, anything but a list is one message: ("user", "Read ...").
        return convert_to_messages(given if isinstance(given, list) else [given])
    except (NotImplementedError, TypeError, ValueError):  # no messages at all; the run itself says so, if it must
        return []


def _is_of_user(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def _text(message: BaseMessage) -> str:
    """The texts of a message, apart from each other: two of them must not run together into one URL."""
    if isinstance(message.content, str):
        return message.content
    texts = [block if isinstance(block, str) else block.get("text") for block in message.content]
    return "\n".join(text for text in texts if isinstance(text, str))
