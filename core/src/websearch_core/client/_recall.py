"""Give a conversation the answer that it was given before."""

from __future__ import annotations
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._runtime.scope import current_call
from ..events import CacheHit, emit
from ..flow import Flow
from ..layers._chain import Chain, Describe
from ..layers._single_flight import free
from ..models import Page, SearchResponse

if TYPE_CHECKING:
    from ..provenance._memory import Entry, Recall

A = TypeVar("A", SearchResponse, Page)

_SAME_ANSWER = (
    "this conversation has searched for this before, so this is the same answer: "
    "open a page of it, or use other words"
)
_SEARCHED_BEFORE = (
    "this conversation has searched for this before: "
    "open a page of the answer, or use other words"
)


def recall(chain: Chain, describe: Describe, ask: Callable[[], Flow[A]]) -> Flow[A]:
    """Return the answer that the conversation was given before, or else *ask*.

    *describe* returns what is asked, for a key like that of a `Cache`. Calls at the
    same time share an answer if the chain has a `SingleFlight`, as all calls do.
    """
    memory = current_call().memory
    if memory is None:
        return (yield from ask())
    key = chain.make_key(describe)
    if key is None:
        return (yield from ask())
    entry = memory.find(key)
    if entry is not None and _may_repeat(entry):
        return cast("A", _repeat_answer(chain, entry))
    answer = yield from ask()
    _keep_answer(memory, key, answer, chain)
    if entry is not None and isinstance(answer, SearchResponse):
        return answer.with_notes(_SEARCHED_BEFORE)
    return answer


def is_remembered(chain: Chain, describe: Describe) -> bool:
    """Return whether `recall` would ask nobody."""
    memory = current_call().memory
    if memory is None:
        return False
    key = chain.make_key(describe)
    if key is None:
        return False
    entry = memory.find(key)
    return entry is not None and _may_repeat(entry)


def _may_repeat(entry: Entry) -> bool:
    """Return whether the answer may be given again, and the caller takes an old one."""
    return entry.answer is not None and not current_call().is_fresh


def _repeat_answer(chain: Chain, entry: Entry) -> Any:
    answer: Any = free(cast("Any", entry.answer), outcomes=())
    emit(CacheHit(provider=answer.provider or chain.provider.name, age=entry.age))
    if isinstance(answer, SearchResponse):
        return answer.with_notes(_SAME_ANSWER)
    return answer


def _keep_answer(
    memory: Recall, key: Hashable, answer: SearchResponse | Page, chain: Chain
) -> None:
    """Keep an answer as far as the terms of its service allow.

    Of a search that may not be kept, it is kept that it was made.
    """
    if isinstance(answer, Page):
        if chain.may_be_recorded:
            memory.keep(key, answer)
    elif not chain.may_be_recorded:
        memory.keep(key, None)
    elif not answer._is_partial:  # noqa: SLF001 - private to users
        memory.keep(key, _without_raw(answer))


def _without_raw(response: SearchResponse) -> SearchResponse:
    raw = [response.raw, *(result.raw for result in response.results)]
    if all(part is None for part in raw):
        return response
    results = [result.model_copy(update={"raw": None}) for result in response.results]
    return response.model_copy(update={"raw": None, "results": tuple(results)})
