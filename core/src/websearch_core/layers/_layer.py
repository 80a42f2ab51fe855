"""What a layer is, how layers are ordered, and how to look inside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Any, Protocol, Self, cast

from .._runtime.bugs import contain_bugs
from ..errors import BadResponse, ConfigurationError, ServiceError, UnsafeURL, WebSearchError
from ..flow import Flow, Gather
from ..models import Page
from ..provider._ports import BatchReader, PageReader, Provider, Role, SearchProvider, can

_BATCH = 20  # pages; for readers that do not say how many they can read at once
_MAX_DEPTH = 100  # layers around each other


class Rank(IntEnum):
    """
    The position of a layer, from the provider outwards.

    Layers below ``COMBINE`` wrap each provider, the others wrap all of them together. So a retry waits for the throttle
    and is charged to the budget, and an answer from the cache is free. Any number in between is a valid rank.
    """

    ROBOTS = 5
    THROTTLE = 10
    BUDGET = 20
    RETRY = 30
    BREAKER = 40
    CACHE = 50
    SINGLE_FLIGHT = 60
    OUTERMOST = 70  # around one provider; the default for a layer without a rank
    COMBINE = 100  # combines several providers into one, such as `Fallback`
    RERANK = 110
    RELAX = 120
    POLICY = 130


class Layer(Protocol):
    """
    A provider made of another, or of several.

    A layer that you put around a provider yourself needs only `inner`. With `wrap` it also works in
    ``WebSearch(layers=[...])``, where its number ``rank`` decides its position, by default `Rank.OUTERMOST`.
    """

    @property
    def inner(self) -> Provider | tuple[Provider, ...] | None:
        """What it wraps, so that checks can look inside; None or ``()`` before `wrap`."""
        ...

    def wrap(self, inner: Any, /) -> Any:
        """
        Return a new layer like this one around *inner*; do not change this one.

        *inner* is a provider, or with the rank ``COMBINE`` a tuple of them. State that the new layer shares with this
        one is shared by all providers of one `WebSearch` only: each `WebSearch` first makes a deep copy of its layers.
        """
        ...


@dataclass(frozen=True)
class ProviderWrapper:
    """
    Base of the layers around one provider; they have its name and options.

    Args:
        inner: The provider inside; None before `wrap`.

    """

    inner: Provider | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, short: Any, /) -> Self:
        """Return the layer that *short* stands for: the layer itself, or the value of its first option."""
        make: Any = cls  # whose options this base does not know
        made: Self = short if isinstance(short, cls) else make(short)
        return made

    def __call__(self, inner: Provider, /) -> Self:
        """Wrap *inner* by hand: ``Retry(5)(provider)``."""
        return self.wrap(inner)

    @property
    def name(self) -> str:
        """The name of the provider inside."""
        return name_of(self, self.inner)

    @property
    def options(self) -> frozenset[str]:
        """The options that the provider inside supports."""
        return options_of(self.inner)

    @property
    def provider(self) -> Provider | None:
        """The same as ``inner``."""
        return self.inner

    def wrap(self, inner: Provider, /) -> Self:
        """Return a copy of this layer around *inner*."""
        return replace(self, inner=inner)


def held(provider: object) -> tuple[Provider, ...]:
    """Return the providers directly inside *provider*; empty if it is not a layer."""
    inner = getattr(provider, "inner", None)
    if inner is None or isinstance(provider, type):
        return ()
    return tuple(inner) if isinstance(inner, tuple | list) else (inner,)


def parts(provider: Provider, *, around: tuple[int, ...] = ()) -> Iterator[Provider]:
    """
    Yield *provider* and, if it is a layer, everything inside it.

    Raises:
        ConfigurationError: A layer contains itself, or there are too many layers.

    """
    if id(provider) in around:
        raise ConfigurationError(f"a {type(provider).__name__} contains itself")
    if len(around) >= _MAX_DEPTH:  # a property may make a new layer each time
        raise ConfigurationError(f"a {type(provider).__name__} is inside more than {_MAX_DEPTH} layers")
    yield provider
    for inner in held(provider):
        yield from parts(inner, around=(*around, id(provider)))


def leaves(provider: Provider) -> list[Provider]:
    """Return the innermost providers of *provider*; for one that is not a layer, itself."""
    return [part for part in parts(provider) if not held(part)]


def reads_batches(provider: object) -> bool:
    """Return whether *provider* reads many pages in one request: a layer does if something inside it does."""
    if not callable(getattr(provider, "read_many", None)):
        return False
    inner = held(provider)
    return not inner or any(map(reads_batches, inner))


def batch_size(provider: Provider) -> int:
    """Return how many pages a provider that reads batches can be asked for at once."""
    sizes = (getattr(leaf, "limits", {}).get("pages_per_request") for leaf in leaves(provider))
    return min((size for size in sizes if size), default=_BATCH)


def read_many(provider: Provider, urls: Sequence[str]) -> Flow[list[Page | WebSearchError]]:
    """
    Read pages with *provider*: in one request if it can, else one by one.

    Returns:
        For each URL, in order, the page or its error.

    Raises:
        WebSearchError: The request failed, so none of the pages was read.

    """
    if not reads_batches(provider):
        return (yield from read_each(provider, urls))
    try:
        pages = yield from cast("BatchReader", provider).read_many(urls)
    except UnsafeURL:  # of one of them
        return (yield from read_each(provider, urls))
    if len(pages) != len(urls):
        raise BadResponse(
            f"{provider.name} read failed: {len(pages)} answers for {len(urls)} pages", provider=provider.name
        )
    return pages


def find_outage(pages: Sequence[Page | WebSearchError]) -> ServiceError | None:
    """Return the first error of a batch in which the service failed for every page, and may not fail again."""
    failures = [page for page in pages if isinstance(page, ServiceError) and page.temporary and not page.concerns_page]
    return failures[0] if failures and len(failures) == len(pages) else None


def read_each(provider: Provider, urls: Sequence[str]) -> Flow[list[Page | WebSearchError]]:
    """Read pages with *provider*, each on its own; return for each URL, in order, the page or its error."""
    reading = cast("PageReader", provider)
    return (yield Gather([contain_bugs(partial(reading.read, url), provider.name) for url in urls]))  # type: ignore[no-any-return]


def searcher(layer: object, provider: Provider | None) -> SearchProvider:
    """
    Return *provider*, the one inside *layer*, if it can search.

    Raises:
        ConfigurationError: It cannot, or *provider* is None.

    """
    return cast("SearchProvider", _require_role(layer, provider, "search"))


def reader(layer: object, provider: Provider | None) -> PageReader:
    """
    Return *provider*, the one inside *layer*, if it can read.

    Raises:
        ConfigurationError: It cannot, or *provider* is None.

    """
    return cast("PageReader", _require_role(layer, provider, "read"))


def name_of(layer: object, provider: Provider | None) -> str:
    """
    Return the name of *provider*, the one inside *layer*.

    Raises:
        ConfigurationError: *provider* is None.

    """
    return _require(layer, provider).name


def options_of(provider: Provider | None) -> frozenset[str]:
    """Return the options of a query that *provider* supports."""
    return frozenset(getattr(provider, "options", ()))


def _require_role(layer: object, provider: Provider | None, role: Role) -> Provider:
    inner = _require(layer, provider)
    if not can(inner, role):
        raise ConfigurationError(f"{inner.name} cannot {role}")
    return inner


def _require(layer: object, provider: Provider | None) -> Provider:
    if provider is None:
        raise empty_error(layer)
    return provider


def empty_error(layer: object) -> ConfigurationError:
    """Make the error for a layer that is used without a provider inside."""
    kind = type(layer).__name__
    return ConfigurationError(f"{kind} has no provider inside: give it one, or write WebSearch(layers=[{kind}()])")


def check_inner(layer: Any) -> None:
    """
    Check that what *layer* wraps are providers, and that its options are not.

    Raises:
        ConfigurationError: They are not.

    """
    kind = type(layer).__name__
    for inner in held(layer):
        if not _is_provider(inner):
            raise ConfigurationError(f"{kind}: inner: must be a provider, not {type(inner).__name__}")
    own = fields(layer) if is_dataclass(layer) else ()
    for option in [one for one in own if one.init and one.name != "inner"][:1]:
        value = getattr(layer, option.name)
        inside = value if isinstance(value, tuple) else (value,)
        if inside and all(map(_is_provider, inside)):
            write = f"{kind}(...)({', '.join(['provider'] * len(inside))})"
            raise ConfigurationError(f"{kind}: {option.name}: is not a provider: write {write}")


def _is_provider(value: object) -> bool:
    return not isinstance(value, type) and any(callable(getattr(value, role, None)) for role in ("search", "read"))


def check_number(layer: object, field: str, *, minimum: int, integer: bool = False) -> None:
    """
    Check that a field of *layer* is a number of at least *minimum*.

    Raises:
        ConfigurationError: It is not.

    """
    value = getattr(layer, field)
    kinds = (int,) if integer else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not value >= minimum:  # rejects NaN too
        kind = "a whole number" if integer else "a number"
        raise ConfigurationError(f"{type(layer).__name__}: {field}: must be {kind} of at least {minimum}")
