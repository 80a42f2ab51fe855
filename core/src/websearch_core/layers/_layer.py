"""What a layer is, where it stands, and how to see through it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Protocol, Self, cast

from ..errors import ConfigurationError
from ..provider._ports import PageReader, Provider, Role, SearchProvider, can

_MAX_DEPTH = 100  # layers around each other


class Rank(IntEnum):
    """
    Where a layer stands, from the provider outwards.

    Those below ``COMBINE`` stand around each provider, the others around all of them together. A retry so waits for
    the throttle and is paid from the budget, and an answer from the cache costs nothing. Any number in between is a
    rank too.
    """

    THROTTLE = 10
    BUDGET = 20
    RETRY = 30
    BREAKER = 40
    SINGLE_FLIGHT = 50
    CACHE = 60
    OUTERMOST = 70  # of one provider: where a layer stands that names no rank
    COMBINE = 100  # makes one provider of several, such as `Fallback`
    RERANK = 110
    RELAX = 120
    POLICY = 130


class Layer(Protocol):
    """
    A provider made of another, or of several.

    Only `inner` is needed of a layer that you put around a provider by hand. With `wrap` it can also be one of
    ``WebSearch(layers=[...])``; a number ``rank`` then says where it stands, `Rank.OUTERMOST` if it has none.
    """

    @property
    def inner(self) -> Provider | tuple[Provider, ...] | None:
        """What it holds, for checks to see through it; None or ``()`` in a layer that waits for `wrap`."""
        ...

    def wrap(self, inner: Any, /) -> Any:
        """
        Return a layer like this one around *inner*, and leave this one as it is.

        *inner* is a provider, or with the rank ``COMBINE`` a tuple of them. What the new layer shares with this one is
        shared by all providers of one `WebSearch`, and by no other: each begins by taking a deep copy of its layers.
        """
        ...


@dataclass(frozen=True)
class ProviderWrapper:
    """
    What the layers around one provider share: they have its name and its options.

    Args:
        inner: The provider inside; None in a layer that waits for `wrap`.

    """

    inner: Provider | None = None

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
        """Return the same layer around *inner*."""
        return replace(self, inner=inner)


def held(provider: object) -> tuple[Provider, ...]:
    """Return the providers right inside of a layer; none if it is not a layer."""
    inner = getattr(provider, "inner", None)
    if inner is None or isinstance(provider, type):
        return ()
    return tuple(inner) if isinstance(inner, tuple | list) else (inner,)


def parts(provider: Provider, *, around: tuple[int, ...] = ()) -> Iterator[Provider]:
    """
    Yield *provider* and, if it is a layer, all that is inside of it.

    Raises:
        ConfigurationError: A layer holds itself, or there are too many around each other.

    """
    if id(provider) in around:
        raise ConfigurationError(f"a {type(provider).__name__} holds itself")
    if len(around) >= _MAX_DEPTH:  # a property may make a new layer each time
        raise ConfigurationError(f"a {type(provider).__name__} is inside of more than {_MAX_DEPTH} layers")
    yield provider
    for inner in held(provider):
        yield from parts(inner, around=(*around, id(provider)))


def leaves(provider: Provider) -> list[Provider]:
    """Return the providers at the bottom of the layers around them; of one that is not a layer, itself."""
    return [part for part in parts(provider) if not held(part)]


def searcher(layer: object, provider: Provider | None) -> SearchProvider:
    """
    Return the *provider* that *layer* holds, if it can search.

    Raises:
        ConfigurationError: It cannot, or there is none.

    """
    return cast("SearchProvider", _able(layer, provider, "search"))


def reader(layer: object, provider: Provider | None) -> PageReader:
    """
    Return the *provider* that *layer* holds, if it can read.

    Raises:
        ConfigurationError: It cannot, or there is none.

    """
    return cast("PageReader", _able(layer, provider, "read"))


def name_of(layer: object, provider: Provider | None) -> str:
    """
    Return the name of the *provider* that *layer* holds.

    Raises:
        ConfigurationError: There is none.

    """
    return _there(layer, provider).name


def options_of(provider: Provider | None) -> frozenset[str]:
    """Return the options of a query that *provider* supports."""
    return frozenset(getattr(provider, "options", ()))


def _able(layer: object, provider: Provider | None, role: Role) -> Provider:
    there = _there(layer, provider)
    if not can(there, role):
        raise ConfigurationError(f"{there.name} cannot {role}")
    return there


def _there(layer: object, provider: Provider | None) -> Provider:
    if provider is None:
        raise empty(layer)
    return provider


def empty(layer: object) -> ConfigurationError:
    """Make the error for a layer that is used without a provider inside."""
    kind = type(layer).__name__
    return ConfigurationError(f"{kind} holds no provider: give it one, or write WebSearch(layers=[{kind}()])")


def check_number(layer: object, field: str, *, least: int, whole: bool = False) -> None:
    """
    Make sure that a field of *layer* is a number, and not too small.

    Raises:
        ConfigurationError: It is not.

    """
    value = getattr(layer, field)
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not value >= least:  # NaN is not, either
        kind = "a whole number" if whole else "a number"
        raise ConfigurationError(f"{type(layer).__name__}: {field}: must be {kind} of at least {least}")
