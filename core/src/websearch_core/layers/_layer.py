"""What a layer is, how layers are ordered, and how to look inside them."""

from __future__ import annotations
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from math import inf
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, get_args

from .._registry import is_known
from .._runtime.bugs import contain_bugs
from ..errors import (
    BadResponse,
    ConfigurationError,
    InvalidOption,
    ServiceError,
    UnsafeURL,
    WebSearchError,
)
from ..flow import Flow, Gather
from ..models import Page, SearchQuery, SearchResponse
from ..provider._ports import (
    BatchReader,
    PageReader,
    Provider,
    Role,
    SearchProvider,
    can,
    check_port,
)

_BATCH = 20  # pages; for readers that do not say how many they can read at once
_MAX_DEPTH = 100  # layers around each other


class Rank(IntEnum):
    """Where a layer stands, counted from the provider outwards: the lower the rank, the
    closer to the provider.

    Layers of the same rank stand in the order of their list, from the provider outwards
    as well. Those below ``COMBINE`` are put around each provider, the others around all
    of them together. So a retry waits for the throttle and is charged to the budget,
    and an answer from the cache is free. Any number in between is a rank, too.
    """

    ROBOTS = 5
    THROTTLE = 10
    BUDGET = 20
    RETRY = 30
    BREAKER = 40
    CACHE = 50
    SINGLE_FLIGHT = 60
    OUTERMOST = 70  # around each provider; the default for a layer without a rank
    COMBINE = 100  # combines several providers into one, such as `Fallback`
    RERANK = 110
    RELAX = 120
    POLICY = 130


L_co = TypeVar("L_co", bound="Layer", covariant=True)


@dataclass(frozen=True)
class Layer:
    """The options of a layer: a value, without state. Base of all layers, which are
    frozen dataclasses.

    Called with a provider, it returns one that has the layer around it:
    ``Retry(5)(provider)``. One with the rank ``COMBINE`` is called with several
    providers. In ``WebSearch(layers=[...])``, ``rank`` decides where it stands.
    """

    rank: ClassVar[int] = Rank.OUTERMOST
    # the class based on ``ProviderWrapper[...]`` of it
    running_part: ClassVar[Callable[..., Provider] | None] = None

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Answer what is not an option with the line to write."""
        kind = cls.__name__
        first = args[0] if args and isinstance(args[0], tuple | list) else args[:1]
        if "inner" in given or (first and all(map(_is_provider, first))):
            inside = ", ".join(["provider"] * max(len(first), 1))
            raise ConfigurationError(
                f"{kind}: a provider is not an option: write {kind}(...)({inside})"
            )
        return super().__new__(cls)

    @classmethod
    def of(cls, short: Any, /) -> Self:
        """Return the layer that *short* stands for: the layer itself, or the value of
        its first option.
        """
        make: Any = cls  # whose options this base does not know
        layer: Self = short if isinstance(short, cls) else make(short)
        return layer

    def start(self) -> Callable[..., Provider]:
        """Return a function that puts the running part of this layer around a provider.

        Each `WebSearch` calls this once, and the function with each of its providers.
        So what is made here is shared by the providers of one `WebSearch`, and what the
        running part makes belongs to one provider. A layer whose providers share
        nothing needs no ``start``: its part is the class that is based on
        ``ProviderWrapper[...]`` of the layer.

        Raises:
            ConfigurationError: There is no such class.
        """
        if (part := type(self).running_part) is None:
            kind = type(self).__name__
            raise ConfigurationError(
                f"{kind} has no running part: write class "
                f"Part(ProviderWrapper[{kind}]), or start"
            )
        return partial(part, self)

    def __call__(self, *inner: Provider) -> Any:
        """Return a provider with this layer around *inner*, or around several:
        ``Fallback()(one, other)``.

        Raises:
            ConfigurationError: One is not a provider, or can do nothing of what this
                layer is for.
        """
        wrapped = Started(self).put_around(*inner)
        roles: list[Role] = [
            role for role in ("search", "read") if handles(wrapped, role)
        ]
        if not any(can(leaf, role) for leaf in leaves(wrapped) for role in roles):
            kind, verbs = type(self).__name__, " or ".join(roles)
            raise ConfigurationError(
                f"{kind} would do nothing here: {wrapped.name} cannot {verbs}"
            )
        return wrapped

    def __deepcopy__(self, _: object) -> Self:
        return self


class _Part(Generic[L_co]):
    """A running part. The class of one registers itself with its layer, and a copy of
    one starts without state.
    """

    layer: L_co
    _started: Started | None = None

    def __init_subclass__(cls) -> None:
        for base in cls.__dict__.get("__orig_bases__", ()):
            for layer in get_args(base):
                if isinstance(layer, type) and issubclass(layer, Layer):
                    layer.running_part = cast("Callable[..., Provider]", cls)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy the layer and what is inside: a copy starts without state. Parts that
        share state do so in a copy.
        """
        return Started.put_around, (self._started or Started(self.layer), *held(self))


class ProviderWrapper(_Part[L_co]):
    """Base of what a layer puts around one provider. It passes everything on: define
    what the layer changes.

    A ``read`` needs a ``read_many`` beside it, for pages that are read together. A copy
    or pickle starts without state.

    Args:
        layer: The layer.
        inner: The provider inside.
    """

    def __init__(self, layer: L_co, inner: Provider) -> None:
        self.layer, self.inner = layer, inner

    @property
    def name(self) -> str:
        """The name of the provider inside."""
        return self.inner.name

    @property
    def options(self) -> frozenset[str]:
        """The options that the provider inside supports."""
        return options_of(self.inner)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search with the provider inside."""
        return searcher(self.inner).search(query)

    def read(self, url: str, /) -> Flow[Page]:
        """Read with the provider inside."""
        return reader(self.inner).read(url)

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages with the provider inside, in one request if it can."""
        return read_many(reader(self.inner), urls)


class ProviderGroup(_Part[L_co]):
    """Base of what makes one provider of several, in order."""

    separator: ClassVar[str]

    def __init__(self, layer: L_co, *inner: Provider) -> None:
        self.layer, self.inner = layer, inner

    @property
    def name(self) -> str:
        """The names of the providers, in order."""
        return self.separator.join(provider.name for provider in self.inner)

    @property
    def options(self) -> frozenset[str]:
        """The options that any of them supports."""
        return frozenset().union(*map(options_of, self.inner))


class Started:
    """What a layer puts around providers, with the state that they share. A copy or
    pickle is started again.
    """

    def __init__(self, layer: Layer) -> None:
        self._layer, self._wrap = layer, layer.start()

    def __reduce__(self) -> tuple[Any, ...]:
        return Started, (self._layer,)

    def put_around(self, *inner: Provider) -> Provider:
        """Return a provider with the layer around *inner*; check that both are, and
        that everything is passed on.
        """
        kind = type(self._layer).__name__
        for one in inner:
            if not _is_provider(one):
                raise ConfigurationError(
                    f"{kind}: goes around a provider, not {type(one).__name__}"
                )
        others = ", provider" * (self._layer.rank == Rank.COMBINE)
        if len(inner) != 1 and not (inner and others):
            has = f"{len(inner)} providers" if inner else "no provider"
            raise ConfigurationError(
                f"{kind} has {has} inside: write {kind}(...)(provider{others})"
            )
        wrapped = self._wrap(*inner)
        if list(map(id, held(wrapped))) != list(map(id, inner)):
            raise ConfigurationError(
                f"{kind}: start() must return a function from a provider to one whose "
                f"inner it is"
            )
        check_part(wrapped)
        if not handles(wrapped, "search") and not handles(wrapped, "read"):
            raise ConfigurationError(
                f"{kind} changes nothing: define search, or read and read_many, in its "
                f"running part"
            )
        if isinstance(wrapped, _Part):
            wrapped._started = self  # noqa: SLF001 - a copy needs it
        return wrapped


def handles(wrapped: object, method: str) -> bool:
    """Return whether the running part of a layer has *method*, and not only because its
    base class passes it on.
    """
    own = getattr(type(wrapped), method, None)
    return own is not getattr(ProviderWrapper, method) and callable(
        getattr(wrapped, method, None)
    )


def check_part(part: Provider) -> None:
    """Check that *part* of a chain is a provider, and reads many pages at once if it is
    a layer that reads.
    """
    kind = type(part).__name__
    if isinstance(part, Layer):
        raise ConfigurationError(
            f"{kind} has no provider inside: write {kind}(...)(provider), or "
            f"layers=[{kind}(...)]"
        )
    for inner in held(part):
        if not _is_provider(inner):
            raise ConfigurationError(
                f"{kind}: inner: must be a provider, not {type(inner).__name__}"
            )
    check_port(part)
    if held(part) and handles(part, "read") and not handles(part, "read_many"):
        raise ConfigurationError(
            f"{kind} has read, but no read_many: pages that are read together would "
            f"not pass through it"
        )


def _is_provider(value: object) -> bool:
    return not isinstance(value, type) and any(
        callable(getattr(value, role, None)) for role in ("search", "read")
    )


def held(provider: object) -> tuple[Provider, ...]:
    """Return the providers directly inside *provider*; empty if it is not a layer."""
    inner = getattr(provider, "inner", None)
    if inner is None or isinstance(provider, type):
        return ()
    return tuple(inner) if isinstance(inner, tuple | list) else (inner,)


def rank_of(part: object) -> int | None:
    """Return the rank of the layer that *part* of a chain belongs to; None if it has
    none.
    """
    rank: int | None = getattr(getattr(part, "layer", part), "rank", None)
    return rank


def parts(provider: Provider, *, around: tuple[int, ...] = ()) -> Iterator[Provider]:
    """Yield *provider* and, if it is a layer, everything inside it; raise if a layer
    contains itself.
    """
    if id(provider) in around:
        raise ConfigurationError(f"a {type(provider).__name__} contains itself")
    if len(around) >= _MAX_DEPTH:  # a property may make a new layer each time
        raise ConfigurationError(
            f"a {type(provider).__name__} is inside more than {_MAX_DEPTH} layers"
        )
    yield provider
    for inner in held(provider):
        yield from parts(inner, around=(*around, id(provider)))


def leaves(provider: Provider) -> list[Provider]:
    """Return the innermost providers of *provider*; for one that is not a layer,
    itself.
    """
    return [part for part in parts(provider) if not held(part)]


def reads_batches(provider: object) -> bool:
    """Return whether *provider* reads many pages in one request: a layer does if
    something inside it does.
    """
    if not callable(getattr(provider, "read_many", None)):
        return False
    inner = held(provider)
    return not inner or any(map(reads_batches, inner))


def batch_size(provider: Provider) -> int:
    """Return how many pages a provider that reads batches can be asked for at once."""
    sizes = (
        getattr(leaf, "limits", {}).get("pages_per_request")
        for leaf in leaves(provider)
    )
    return min((size for size in sizes if size), default=_BATCH)


def read_many(
    provider: Provider, urls: Sequence[str]
) -> Flow[list[Page | WebSearchError]]:
    """Read pages with *provider*: in one request if it can, else one by one. Return the
    page or its error for each URL, in order; an error that is raised means that none of
    them was read.
    """
    if not reads_batches(provider):
        return (yield from read_each(provider, urls))
    try:
        pages = yield from cast("BatchReader", provider).read_many(urls)
    except UnsafeURL:  # of one of them
        return (yield from read_each(provider, urls))
    if len(pages) != len(urls):
        raise BadResponse(
            f"{provider.name} read failed: {len(pages)} answers for {len(urls)} pages",
            provider=provider.name,
        )
    return pages


def find_outage(pages: Sequence[Page | WebSearchError]) -> ServiceError | None:
    """Return the first error of a batch in which the service failed for every page, and
    may not fail again.
    """
    failures = [
        page
        for page in pages
        if isinstance(page, ServiceError) and page.temporary and not page.concerns_page
    ]
    return failures[0] if failures and len(failures) == len(pages) else None


def read_each(
    provider: Provider, urls: Sequence[str]
) -> Flow[list[Page | WebSearchError]]:
    """Read pages with *provider*, each on its own; return for each URL, in order, the
    page or its error.
    """
    reading = cast("PageReader", provider)
    flows = [contain_bugs(partial(reading.read, url), provider.name) for url in urls]
    return (yield Gather(flows))  # type: ignore[no-any-return]


def address(query: SearchQuery, provider: Provider, *group: Provider) -> SearchQuery:
    """Return *query* with the ``extra`` for *provider*; for one of a *group*, it must
    say whom a parameter is for.
    """
    if not query.extra:
        return query
    own = {leaf.name for leaf in leaves(provider)}
    known = own.union(leaf.name for one in group for leaf in leaves(one))
    named = {
        key
        for key, one in query.extra.items()
        if isinstance(one, Mapping) and (key in known or is_known(key))
    }
    rest = {name: value for name, value in query.extra.items() if name not in named}
    if rest and len(known) > 1:
        line = f"extra={{{min(known)!r}: {{{next(iter(rest))!r}: ...}}}}"
        raise InvalidOption(
            f"extra: several providers are asked, {', '.join(sorted(known))}: write "
            f"{line}"
        )
    parts = {name: query.extra[name] for name in named & own}
    extra = parts if len(own) > 1 else {**rest, **parts.get(min(own), {})}
    return query.model_copy(update={"extra": extra})


def searcher(provider: Provider) -> SearchProvider:
    """Return *provider* if it can search; raise `ConfigurationError` if it cannot."""
    if not can(provider, "search"):
        raise ConfigurationError(f"{provider.name} cannot search")
    return provider


def reader(provider: Provider) -> PageReader:
    """Return *provider* if it can read; raise `ConfigurationError` if it cannot."""
    if not can(provider, "read"):
        raise ConfigurationError(f"{provider.name} cannot read")
    return provider


def options_of(provider: Provider) -> frozenset[str]:
    """Return the options of a query that *provider* supports."""
    return frozenset(getattr(provider, "options", ()))


def check_numbers(
    layer: object,
    *names: str,
    minimum: float,
    maximum: float = inf,
    integer: bool = False,
    optional: bool = False,
) -> None:
    """Check that fields of *layer* are numbers in these bounds, or None if they are
    *optional*.
    """
    kinds, kind = ((int,), "a whole number") if integer else ((int, float), "a number")
    for name in names:
        value = getattr(layer, name)
        if value is None and optional:
            continue
        # NaN, too
        if (
            isinstance(value, bool)
            or not isinstance(value, kinds)
            or not minimum <= value <= maximum
        ):
            most = f" and at most {maximum}" if maximum < inf else ""
            raise ConfigurationError(
                f"{type(layer).__name__}: {name}: must be {kind} of at least "
                f"{minimum}{most}"
            )
