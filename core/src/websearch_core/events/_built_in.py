"""The events of our own layers and calls. `websearch_core.events` is the public
interface.
"""

from __future__ import annotations
from dataclasses import dataclass
from typing import Literal

from ..models import Page, SearchQuery, SearchResponse
from ._hooks import Event


@dataclass(frozen=True, kw_only=True)
class SearchStart(Event):
    """A search begins.

    Args:
        provider: The name of the provider, or of all in a chain.
        query: What to search for.
    """

    provider: str
    query: SearchQuery


@dataclass(frozen=True, kw_only=True)
class SearchEnd(Event):
    """A search ended, with a response or an error.

    Args:
        provider: The name of the provider that answered, or else of all in the chain.
        query: What was searched for.
        seconds: How long it took.
        response: The response, with its ``cost`` and ``usage`` if the service states
            them.
        error: Why there is none; `GeneratorExit` if the call was cancelled.
    """

    provider: str
    query: SearchQuery
    seconds: float
    response: SearchResponse | None = None
    error: BaseException | None = None


@dataclass(frozen=True, kw_only=True)
class ReadStart(Event):
    """The reading of a page begins.

    Args:
        provider: The name of the reader, or of all in a chain.
        url: The requested URL.
    """

    provider: str
    url: str


@dataclass(frozen=True, kw_only=True)
class ReadEnd(Event):
    """A page was read, or could not be.

    Args:
        provider: The name of the reader that answered, or else of all in the chain.
        url: The requested URL.
        seconds: How long it took.
        page: The part of the page that was asked for.
        error: Why there is none; `GeneratorExit` if the call was cancelled.
    """

    provider: str
    url: str
    seconds: float
    page: Page | None = None
    error: BaseException | None = None


@dataclass(frozen=True, kw_only=True)
class Exchange(Event):
    """An HTTP request was answered, or failed.

    Args:
        method: The HTTP method.
        url: The URL without its query.
        seconds: How long it took.
        status: The HTTP status; None without an answer.
        size: Bytes of the body, decompressed.
        error: Why there is no answer.
    """

    method: str
    url: str
    seconds: float
    status: int | None = None
    size: int = 0
    error: BaseException | None = None


@dataclass(frozen=True, kw_only=True)
class Wait(Event):
    """A call pauses.

    Args:
        provider: The name of the provider that it waits for.
        seconds: How long it will wait.
        reason: Why: ``retry`` after a temporary failure, ``throttle`` to stay below a
            rate.
        attempt: How many attempts there have been.
        error: The temporary failure.
    """

    provider: str
    seconds: float
    reason: Literal["retry", "throttle"]
    attempt: int = 0
    error: BaseException | None = None


@dataclass(frozen=True, kw_only=True)
class Failover(Event):
    """A provider failed or found nothing, and the next one is asked.

    Args:
        provider: The name of the first one.
        next_provider: The name of the next one.
        error: How it failed; None if it found nothing.
    """

    provider: str
    next_provider: str
    error: BaseException | None = None


@dataclass(frozen=True, kw_only=True)
class HedgeStarted(Event):
    """A provider has not answered yet, and the next one is asked too; the first answer
    counts.

    Args:
        provider: The name of the first one.
        next_provider: The name of the next one.
        seconds: How long the first one has had.
    """

    provider: str
    next_provider: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ProviderSkipped(Event):
    """`websearch_core.layers.Fuse` leaves out a provider that failed, and merges what
    the others found.

    Args:
        provider: The name of the provider.
        error: How it failed.
    """

    provider: str
    error: BaseException


@dataclass(frozen=True, kw_only=True)
class CallShared(Event):
    """A call got the answer of an identical one that was under way, and sent nothing
    itself.

    Args:
        provider: The name of the provider that answered.
    """

    provider: str


@dataclass(frozen=True, kw_only=True)
class CacheHit(Event):
    """An answer or a page comes from the cache, or was given to the same conversation
    before. Unless ``validated``, nothing was sent for it.

    Args:
        provider: The name of the provider that gave it.
        age: How long ago, in seconds.
        stale: True if it is too old, but the service failed.
        validated: True if it was too old, but the site of the page says that it has not
            changed. That was asked.
    """

    provider: str
    age: float
    stale: bool = False
    validated: bool = False


@dataclass(frozen=True, kw_only=True)
class BreakerOpened(Event):
    """A provider has failed several times in a row, and calls to it are refused for a
    while.

    Args:
        provider: The name of the provider.
        seconds: For how long.
        error: The last failure.
    """

    provider: str
    seconds: float
    error: BaseException


@dataclass(frozen=True, kw_only=True)
class BreakerClosed(Event):
    """A provider works again after a `BreakerOpened`.

    Args:
        provider: The name of the provider.
    """

    provider: str


@dataclass(frozen=True, kw_only=True)
class Charge(Event):
    """A `websearch_core.layers.Budget` counted a call: what the service says it
    charged, else an estimate.

    Args:
        provider: The name of the provider that was called.
        usd: US dollars.
        credits: Credits of the service.
    """

    provider: str
    usd: float
    credits: float
