"""Keep answers and pages, and give them again."""

from __future__ import annotations
import logging
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Self, TypeVar

from .._runtime.clock import now
from .._runtime.owners import UnsafeFile
from .._runtime.scope import Deadline, current_call, scope
from .._text.quantity import quantity
from ..errors import (
    BadResponse,
    Blocked,
    ConfigurationError,
    PageNotFound,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unavailable,
    WebSearchError,
)
from ..events import CacheHit, emit
from ..flow import Flow
from ..flow._intercept import AuxiliaryCall
from ..models import Page, SearchQuery, SearchResponse
from ..models._outcomes import Outcome
from ..provider._ports import Provider
from ._caching.backend import CacheBackend, MemoryBackend
from ._caching.entries import VERSION, Entry, decode, encode
from ._caching.http import NotModified, Watch
from ._caching.redis import SCHEMES, RedisBackend
from ._caching.sqlite import NotACacheError, SQLiteBackend
from ._chain import Chain
from ._identity import (
    describe_page,
    describe_provider,
    describe_query,
    digest,
)
from ._layer import (
    Layer,
    ProviderWrapper,
    Rank,
    check_numbers,
    read_each,
    reads_batches,
    spread,
)
from ._single_flight import free, name_page, name_search

A = TypeVar("A", SearchResponse, Page)

_FAILURES = (Unavailable, TimedOut, RateLimited, QuotaExhausted, Blocked, BadResponse)
_GONE = {404, 410}
# seconds for which an entry is kept after its time, to ask whether it has changed
_ASK = 86_400.0
_IN_MEMORY = 64 * 2**20  # bytes of what must not be kept in a file
_RETRY_AFTER = 10.0  # seconds for which a backend that failed is left alone
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cache(Layer):
    """Keep answers and whole pages, and give them again without asking the service.

    They are kept in one file that processes share, in Redis, or in a `CacheBackend`.
    The same means: the same words or URL, options, provider with its own options and
    layers such as `Robots`, key, *tenant*, ``internal`` and domain policy, and where a
    `Budget` stands inside, the same tenant of `charge_to`. What a service forbids to
    record, and what a provider says that has no declared options or was defined in a
    function, stays in the memory of this process. So do the answers of a `WebSearch`
    with its own HTTP client or ``verify``, unless *tenant* says whose they are. A
    cached answer costs nothing; a hook hears a `CacheHit` with its age.

    Args:
        location: A file, ``:memory:``, a URL of Redis (``redis://localhost:6379/0``),
            or a backend. By default, ``answers.db`` in the user's cache folder.
        max_age: Seconds for which an answer or a page is given again.
        stale_if_error: Seconds for which it is given after that if the service fails; a
            note says so.
        not_found_max_age: Seconds for which a page that does not exist (404, 410) is
            remembered, and an answer of which a part failed, such as a page of results.
        max_bytes: Maximum size of the file in bytes; the oldest entries go first.
        tenant: Whose entries these are; those of other tenants are never given.
        ignore_terms: Also write what the terms of its service do not allow to keep,
            such as Brave's.

    Raises:
        ConfigurationError: A value is invalid; from a call: another user may change the
            file.
    """

    rank: ClassVar[int] = Rank.CACHE

    # a URL may have a password
    location: str | Path | CacheBackend | None = field(default=None, repr=False)
    max_age: float = 3600.0
    stale_if_error: float = 86_400.0
    not_found_max_age: float = 60.0
    max_bytes: int = 256 * 2**20
    tenant: str = ""
    ignore_terms: bool = False

    def __post_init__(self) -> None:
        check_numbers(self, "max_age", "stale_if_error", "not_found_max_age", minimum=0)
        check_numbers(self, "max_bytes", minimum=1, integer=True)
        if not isinstance(self.tenant, str):
            raise ConfigurationError("Cache: tenant: must be text")
        if not _is_location(self.location):
            raise ConfigurationError(
                "Cache: location: must be a path, a URL of Redis, or a backend with "
                "get and set"
            )

    @classmethod
    def of(cls, short: Any, /) -> Self:
        """Return the layer that *short* stands for: True, the seconds of ``max_age``,
        or the ``location``.
        """
        if short is True:
            return cls()
        if isinstance(short, int | float):
            return cls(max_age=short)
        return super().of(short)

    @property
    def backend(self) -> CacheBackend:
        """Where the entries are that may be written."""
        return open_backend(self.location, self.max_bytes)

    def start(self) -> Callable[[Provider], Provider]:
        """Return a function that puts this around a provider; all of them keep their
        entries in one place.
        """
        return partial(
            _CacheProvider,
            self,
            Store(self.backend),
            Store(MemoryBackend(min(self.max_bytes, _IN_MEMORY))),
        )


def _is_location(value: object) -> bool:
    """Return whether entries may be kept there: a path, a URL of Redis or a backend."""
    if value is None or isinstance(value, Path):
        return True
    if isinstance(value, str):
        return bool(value) and ("://" not in value or value.startswith(SCHEMES))
    methods = [getattr(value, name, None) for name in ("get", "set")]
    return all(map(callable, methods))


class _CacheProvider(ProviderWrapper[Cache]):
    def __init__(
        self, layer: Cache, durable: Store, memory: Store, inner: Provider
    ) -> None:
        super().__init__(layer, inner)
        chain = Chain(inner)
        self._identity = chain.identity
        self._is_remote = chain.needs_network
        description = describe_provider(inner)
        self._made_of = secrets.token_hex(16)
        if description:
            self._made_of = digest(description)
        may_be_kept = layer.ignore_terms or chain.may_be_recorded
        self._memory = memory
        self._durable = memory
        if description and may_be_kept:
            self._durable = durable

    @property
    def _store(self) -> Store:
        """Where the entries of this caller are: in memory if not all that distinguishes
        it from others can be shown.
        """
        if current_call().caller.own and not self.layer.tenant:
            return self._memory
        return self._durable

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        ask = partial(super().search, query)
        description = describe_query(query)
        if description is None or not self._is_remote:
            return (yield from ask())
        response = yield from self._keep(self._key(description), SearchResponse, ask)
        return name_search(query, response)

    def read(self, url: str, /) -> Flow[Page]:
        ask = partial(super().read, url)
        if not self._is_remote:
            return (yield from ask())
        page = yield from self._keep(self._key(describe_page(url)), Page, ask)
        return name_page(url, page)

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages, in one request for those that were not read earlier."""
        if not self._is_remote:
            return (yield from super().read_many(urls))
        if not reads_batches(self.inner):
            return (yield from read_each(self, urls))
        keys = [self._key(describe_page(url)) for url in urls]
        entries: list[Entry | None] = yield from self._load(Page, *keys)
        fresh: dict[str, Entry] = {}
        for url, entry in zip(urls, entries, strict=True):
            if entry is not None and self._is_fresh(entry):
                fresh[url] = entry
        began = monotonic()
        read = yield from self._read_rest([url for url in urls if url not in fresh])
        seconds = monotonic() - began
        new: dict[str, Entry | None] = {}
        for key, url in zip(keys, urls, strict=True):
            if url in read:
                new[key] = self._make_entry(read[url])
        yield from self._save(new)
        answers: list[Page | WebSearchError] = []
        for url, entry in zip(urls, entries, strict=True):
            if url in fresh:
                answer = self._give(fresh[url])
            else:
                answer = self._replace_failure(read[url], entry, seconds)
            if isinstance(answer, Page):
                answer = name_page(url, answer)
            answers.append(answer)
        return answers

    def _read_rest(self, urls: Sequence[str]) -> Flow[dict[str, Page | WebSearchError]]:
        """Read the pages that are not kept; a failure is that of each."""
        if not urls:
            return {}
        try:
            pages = yield from super().read_many(urls)
        except _FAILURES as failure:
            pages = [*spread(failure, len(urls))]
        return dict(zip(urls, pages, strict=True))

    def _keep(self, key: str, kind: type[A], ask: Callable[[], Flow[A]]) -> Flow[A]:
        (entry,) = yield from self._load(kind, key)
        if entry and self._is_fresh(entry):
            answer: A | WebSearchError = self._give(entry)
        else:
            watch = Watch(entry.validators) if entry else Watch()
            answer = yield from self._ask(key, entry, ask, watch)
        if isinstance(answer, WebSearchError):
            raise answer
        return answer

    def _ask(
        self, key: str, entry: Entry | None, ask: Callable[[], Flow[A]], watch: Watch
    ) -> Flow[A | WebSearchError]:
        """Ask the service, or if *entry* has validators, the site whether it still
        holds.
        """
        began = monotonic()
        try:
            answer: A | WebSearchError = yield from watch.watch(ask())
        except NotModified:
            assert entry is not None
            is_kept = watch.lifetime.is_storable
            yield from self._save(
                {key: entry.renew(watch.lifetime) if is_kept else None},
                erase=not is_kept,
            )
            return self._give(entry, validated=True)  # type: ignore[no-any-return]
        except (PageNotFound, *_FAILURES) as failure:
            answer = failure
        seconds = monotonic() - began
        if watch.lifetime.is_storable:
            new = self._make_entry(answer, watch)
            # Half an answer does not replace a whole one that may still stand in if the
            # service fails.
            if new is not None and new.partial:
                # also one that must not be given now
                (whole,) = yield from self._use(self._store.load, key)
                if self._may_stand_in(whole):
                    new = None
            yield from self._save({key: new})
        elif entry or current_call().max_age < inf:
            yield from self._save({key: None}, erase=True)
        return self._replace_failure(answer, entry, seconds)

    def _load(
        self, kind: type[SearchResponse | Page], *keys: str
    ) -> Flow[list[Entry | None]]:
        max_age = current_call().max_age
        if not max_age:
            return [None] * len(keys)
        entries: list[Entry | None] = yield from self._use(self._store.load, *keys)
        kinds = (kind, PageNotFound)
        for place, entry in enumerate(entries):
            if entry is None:
                continue
            if entry.age >= max_age or not isinstance(entry.answer, kinds):
                entries[place] = None
        return entries

    def _make_entry(
        self, answer: SearchResponse | Page | WebSearchError, watch: Watch | None = None
    ) -> Entry | None:
        """Return an entry for an answer, or for a page that does not exist; None for
        other failures.
        """
        if isinstance(answer, PageNotFound):
            if answer.status not in _GONE:
                return None
        elif isinstance(answer, WebSearchError):
            return None
        if watch is None:
            return Entry.of(answer)
        return Entry.of(answer, watch.lifetime, watch.validators)

    def _save(
        self, entries: Mapping[str, Entry | None], *, erase: bool = False
    ) -> Flow[None]:
        """Keep *entries*; None for a key keeps what is there, or erases it."""
        new: dict[str, tuple[Entry | None, float]] = {}
        for key, entry in entries.items():
            if entry is not None:
                new[key] = entry, self._find_ttl(entry)
            elif erase:
                new[key] = None, 1.0
        if new:
            # the answer is there, even if there is no more time to keep it
            with suppress(TimedOut):
                yield from self._use(self._store.save, new)

    def _find_ttl(self, entry: Entry) -> float:
        """Return for how many seconds to keep *entry*: while it may be given, read on
        in, or asked about.
        """
        fresh, stale = self._find_bounds(entry)
        if entry.is_brief:
            return fresh
        if entry.validators:
            stale = max(stale, _ASK)
        return max(self.layer.max_age, fresh + stale)

    def _find_bounds(self, entry: Entry) -> tuple[float, float]:
        """Return the seconds for which *entry* is fresh, and then stale."""
        fresh = self.layer.max_age
        if entry.fresh is not None:
            fresh = min(fresh, entry.fresh)
        if entry.is_brief:
            return min(fresh, self.layer.not_found_max_age), 0.0
        stale = self.layer.stale_if_error
        if entry.stale is not None:
            stale = min(stale, entry.stale)
        return fresh, stale

    def _use(self, work: Callable[..., Any], *arguments: Any) -> Flow[Any]:
        """Do *work* off the event loop; a blocking call needs no other thread for what
        ends soon by itself.
        """
        deadline = current_call().deadline
        if self._store.is_prompt:
            deadline = Deadline()
        with scope(deadline=deadline):
            return (yield AuxiliaryCall(work, *arguments))

    def _is_fresh(self, entry: Entry) -> bool:
        """Return whether *entry* may be given without asking; who reads on needs the
        page that it began with.
        """
        fresh, _ = self._find_bounds(entry)
        if current_call().reads_on and not entry.missing:
            fresh = self.layer.max_age
        return entry.age < fresh

    def _give(
        self, entry: Entry, *, stale: bool = False, validated: bool = False
    ) -> Any:
        emit(
            CacheHit(
                provider=self.name, age=entry.age, stale=stale, validated=validated
            )
        )
        answer: Any = entry.answer
        if isinstance(answer, PageNotFound):
            return answer
        if validated:
            return free(answer, outcomes=(), fetched_at=now())
        return free(answer, outcomes=())  # nobody was asked

    def _replace_failure(
        self, answer: A | WebSearchError, entry: Entry | None, seconds: float
    ) -> A | WebSearchError:
        """Return what *entry* holds if the service failed, after *seconds*, and it is
        not too old for that.
        """
        if not isinstance(answer, _FAILURES) or entry is None:
            return answer
        if not self._may_stand_in(entry):
            return answer
        old: A = self._give(entry, stale=True)
        old = old.model_copy(
            update={"outcomes": (Outcome.of_failure(self.name, seconds, answer),)}
        )
        return old.with_notes(
            f"{self.name} failed ({answer.code}); from the cache, "
            f"{_describe_age(entry.age)} old"
        )

    def _may_stand_in(self, entry: Entry | None) -> bool:
        if entry is None or entry.is_brief:
            return False
        return entry.age < sum(self._find_bounds(entry))

    def _key(self, what: Sequence[Any]) -> str:
        caller = self._identity.caller()
        own = "" if self.layer.tenant else caller.own
        whose = [self.layer.tenant, caller.tenant, caller.policy, own]
        return self._identity.of([VERSION, whose, self._made_of, what])


def _describe_age(seconds: float) -> str:
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return quantity(int(seconds // length), unit)
    return "less than a minute"


def open_backend(
    location: str | Path | CacheBackend | None, max_bytes: int
) -> CacheBackend:
    """Return the backend at *location*: a file, ``:memory:``, a URL of Redis, or
    itself; by default, a file.
    """
    if location is None:
        return SQLiteBackend(default_path(), max_bytes, may_replace=True)
    if isinstance(location, str) and location.startswith(SCHEMES):
        return RedisBackend(location)
    # as SQLite calls it, which would make a file of this name beside it
    if str(location) == ":memory:":
        return MemoryBackend(max_bytes)
    if isinstance(location, str | Path):
        return SQLiteBackend(Path(location).expanduser(), max_bytes)
    return location


def default_path() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("websearch", appauthor=False) / "answers.db"


class Store:
    """Keeps entries in a backend. If that fails, it is logged once, and left alone for
    a while.

    A file that another user may change is an error: `UnsafeFile`.
    """

    def __init__(self, backend: CacheBackend) -> None:
        self.backend = backend
        # waits for nobody for long
        self.is_prompt = isinstance(backend, SQLiteBackend | MemoryBackend)
        self._retry_at = {"get": 0.0, "set": 0.0}
        self._has_failed = False

    def load(self, *keys: str) -> list[Entry | None]:
        """Return the entry under each of *keys*, or None."""
        entries: list[Entry | None] = []
        for key in keys:
            data = self._try("get", key)
            entry = decode(data) if isinstance(data, bytes) else None
            entries.append(entry)
        return entries

    def save(self, entries: dict[str, tuple[Entry | None, float]]) -> None:
        """Keep *entries*, each for its seconds; None, or what is not JSON, replaces
        what is there by nothing.
        """
        for key, (entry, ttl) in entries.items():
            data = encode(entry) if entry else None
            self._try("set", key, data or b"", ttl)

    def _try(self, method: str, *arguments: Any) -> Any:
        if time.monotonic() < self._retry_at[method]:
            return None
        try:
            return getattr(self.backend, method)(*arguments)
        except UnsafeFile:
            # without its owner, it would not work at the next call either
            raise
        except Exception as error:  # noqa: BLE001 - logged; a cache never fails a call
            self._retry_at[method] = time.monotonic() + _RETRY_AFTER
            if not self._has_failed:
                self._has_failed = True
                _log.warning(
                    "the cache does not work (%s): calls go on without it",
                    _describe(error),
                )
            return None


def _describe(error: Exception) -> str:
    """Describe *error* without what a client of a server might say about its
    password.
    """
    named = type(error).__name__
    is_ours = isinstance(
        error, sqlite3.Error | OSError | NotACacheError | ConfigurationError
    )
    return f"{named}: {error}" if is_ours else named
