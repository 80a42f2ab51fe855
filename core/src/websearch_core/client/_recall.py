"""Give a conversation the answer that it was given before."""

from __future__ import annotations
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._runtime.scope import current_call, scope
from ..events import CacheHit, emit
from ..flow import Flow, Share, SharedAnswer
from ..flow._flights import Flights
from ..layers._chain import Chain, Describe
from ..layers._single_flight import free, give_share
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


class Asker:
    """Asks a chain, unless the conversation was given the answer before.

    Calls at the same time share an answer if the chain has a `SingleFlight`, as all
    calls do.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._flights = Flights() if chain.shares else None

    def ask(self, describe: Describe, request: Callable[[], Flow[A]]) -> Flow[A]:
        """Return the answer that the conversation was given before, or else *request*
        it.

        *describe* returns what is requested, for a key like that of a `Cache`.
        """
        memory = current_call().memory
        if memory is None:
            return (yield from request())
        key = self._chain.make_key(describe)
        if key is None:
            return (yield from request())
        entry = memory.find(key)
        if entry is not None and _may_repeat(entry):
            return cast("A", self._repeat(entry))
        if self._flights is None:
            answer = yield from request()
            self._keep(memory, key, answer)
        else:
            answer = yield from self._share(self._flights, memory, key, request)
        if entry is not None and isinstance(answer, SearchResponse):
            return answer.with_notes(_SEARCHED_BEFORE)
        return answer

    def remembers(self, describe: Describe) -> bool:
        """Return whether `ask` would send nothing."""
        memory = current_call().memory
        if memory is None:
            return False
        key = self._chain.make_key(describe)
        if key is None:
            return False
        entry = memory.find(key)
        return entry is not None and _may_repeat(entry)

    def _share(
        self,
        flights: Flights,
        memory: Recall,
        key: Hashable,
        request: Callable[[], Flow[A]],
    ) -> Flow[A]:
        call = current_call()
        make = partial(self._request_once, memory, key, request)
        try:
            shared: SharedAnswer = yield Share(
                flights, (key, call.max_age, call.reads_on), make
            )
        except _AnswerInMemoryError as error:
            return cast("A", self._repeat(error.entry))
        answer: A = shared.value
        answer = give_share(answer, shared, self._chain.provider.name)
        if not shared.is_own:  # another conversation may have kept it, for itself
            self._keep(memory, key, answer)
        return answer

    def _request_once(
        self, memory: Recall, key: Hashable, request: Callable[[], Flow[A]]
    ) -> Flow[A]:
        """Request an answer that others wait for, too, and keep it before it is theirs.

        So whoever comes too late to wait for it finds it here.
        """
        entry = memory.find(key)
        if entry is not None and _may_repeat(entry):
            raise _AnswerInMemoryError(entry)
        with scope(is_shared=True):
            answer = yield from request()
        self._keep(memory, key, answer)
        return answer

    def _repeat(self, entry: Entry) -> SearchResponse | Page:
        answer: Any = free(cast("Any", entry.answer), outcomes=())
        name = answer.provider or self._chain.provider.name
        emit(CacheHit(provider=name, age=entry.age))
        if isinstance(answer, SearchResponse):
            return answer.with_notes(_SAME_ANSWER)
        return cast("Page", answer)

    def _keep(
        self, memory: Recall, key: Hashable, answer: SearchResponse | Page
    ) -> None:
        """Keep an answer as far as the terms of its service allow.

        Of a search that may not be kept, it is kept that it was made.
        """
        if isinstance(answer, Page):
            if self._chain.may_be_recorded:
                memory.keep(key, answer)
        elif not self._chain.may_be_recorded:
            memory.keep(key, None)
        elif not answer._is_partial:  # noqa: SLF001 - private to users
            memory.keep(key, _without_raw(answer))


class _AnswerInMemoryError(Exception):
    """The conversation was given the answer while its question waited: that is no
    answer for other conversations.
    """

    concerns_caller = True

    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self.entry = entry


def _may_repeat(entry: Entry) -> bool:
    """Return whether the answer may be given again, and the caller takes an old one."""
    return entry.answer is not None and entry.age < current_call().max_age


def _without_raw(response: SearchResponse) -> SearchResponse:
    raw = [response.raw, *(result.raw for result in response.results)]
    if all(part is None for part in raw):
        return response
    results = [result.model_copy(update={"raw": None}) for result in response.results]
    return response.model_copy(update={"raw": None, "results": tuple(results)})
