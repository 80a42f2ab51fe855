"""Ask a provider, or give what the conversation was given before: see `websearch_core.provenance._memory`."""

from __future__ import annotations
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._runtime.scope import current_call
from ..events import CacheHit, CallShared, emit
from ..flow import Flow, Share, SharedAnswer
from ..layers._identity import Identity
from ..layers._layer import leaves
from ..layers._single_flight import free
from ..models import Page, SearchResponse
from ..provider._ports import Provider, needs_network

if TYPE_CHECKING:
    from ..provenance._memory import Kept, Recall

A = TypeVar("A", SearchResponse, Page)

_AGAIN = (
    "this conversation has searched for this before, so this is the same answer: open a page of it, or use other words"
)
_ASKED_AGAIN = "this conversation has searched for this before: open a page of the answer, or use other words"


def recall(provider: Provider, describe: Callable[[], list[Any] | None], ask: Callable[[], Flow[A]]) -> Flow[A]:
    """Return the answer that the conversation was given, or else *ask*.

    *describe* returns what *provider* is asked, for a key as that of a `Cache`; None if it cannot be shown.
    """
    if current_call().memory is None or (key := _make_key(provider, describe)) is None:
        return (yield from ask())
    memory = current_call().memory
    if found := _find(memory, key):
        return cast("A", _give(provider, found))
    if not memory.gives:
        return (yield from _ask(provider, key, ask))
    what = memory.conversation, key, current_call().is_fresh
    shared: SharedAnswer = yield Share(memory.flights, what, partial(_ask, provider, key, ask))
    if shared.is_first:
        return cast("A", shared.value)
    emit(CallShared(provider=shared.value.provider or provider.name))
    return cast("A", free(shared.value))


def _find(memory: Recall, key: Hashable) -> Kept | None:
    known = memory.find(key)
    return known if known and known.answer is not None and not current_call().is_fresh else None


def _give(provider: Provider, known: Kept) -> Any:
    again: Any = free(cast("Any", known.answer), outcomes=())
    emit(CacheHit(provider=again.provider or provider.name, age=known.age))
    return again.with_notes(_AGAIN) if isinstance(again, SearchResponse) else again


def _ask(provider: Provider, key: Hashable, ask: Callable[[], Flow[A]]) -> Flow[A]:
    """Ask, and keep the answer before another call looks for it."""
    memory = current_call().memory
    known = memory.find(key)
    if found := _find(memory, key):
        return cast("A", _give(provider, found))
    answer = yield from ask()
    if any(getattr(one, "terms_forbid_recording", "") for one in leaves(provider)):
        if isinstance(answer, SearchResponse):
            memory.keep(key, None)
    elif isinstance(answer, Page):
        memory.keep(key, answer)
    elif not answer._is_partial:  # noqa: SLF001 - private to users
        results = tuple(one.model_copy(update={"raw": None}) for one in answer.results)
        memory.keep(key, answer.model_copy(update={"raw": None, "results": results}))
    return answer.with_notes(_ASKED_AGAIN) if known and isinstance(answer, SearchResponse) else answer


def is_known(provider: Provider, describe: Callable[[], list[Any] | None]) -> bool:
    """Return whether `recall` would ask nobody."""
    memory = current_call().memory
    if memory is None or current_call().is_fresh or (key := _make_key(provider, describe)) is None:
        return False
    known = memory.find(key)
    return known is not None and known.answer is not None


def _make_key(provider: Provider, describe: Callable[[], list[Any] | None]) -> Hashable:
    what = describe() if any(map(needs_network, leaves(provider))) else None
    identity = Identity(provider)
    return None if what is None else (identity.caller(), identity.of(what))
