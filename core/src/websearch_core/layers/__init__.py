"""What stands around providers: retries, caches, budgets, and what makes one provider
of several.

A layer is a value with options. Called with a provider, it returns one that has the
layer around it::

    Fallback()(Retry(5)(Tavily(...)), Retry()(Brave(...)))

Each part of such a chain is a provider itself. Its ``inner`` shows what it is around,
so that checks can look inside.

`WebSearch` composes the chain for you: ``WebSearch(["tavily", "brave"],
retry=Retry(5))``. There the `Rank` of a layer decides its position. Other packages
register layers through the entry-point group ``websearch_core.layers`` (name =
"module:Class"), which makes them available in settings files.
"""

from __future__ import annotations
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING

from .._runtime.lazy import importer
from .._runtime.scope import charge_to, max_age
from ..errors import ConfigurationError
from ._layer import Layer, ProviderWrapper, Rank, leaves

if TYPE_CHECKING:
    from ._breaker import Breaker
    from ._budget import Budget
    from ._cache import Cache
    from ._caching.backend import CacheBackend, CacheStats
    from ._fallback import Fallback
    from ._fuse import Fuse
    from ._relax import Relax
    from ._rerank import Rerank
    from ._retry import Retry
    from ._robots import Robots
    from ._single_flight import SingleFlight
    from ._throttle import RateLimiter, Throttle

__all__ = [
    "Breaker", "Budget", "Cache", "CacheBackend", "CacheStats", "Fallback", "Fuse",
    "Layer", "ProviderWrapper", "Rank",
    "RateLimiter", "Relax", "Rerank", "Retry", "Robots", "SingleFlight", "Throttle",
    "charge_to", "layer_class",
    "leaves", "max_age",
]  # fmt: skip

_BUILT_IN: Mapping[str, str] = MappingProxyType({
    "breaker": "Breaker", "budget": "Budget", "cache": "Cache", "fallback": "Fallback",
    "fuse": "Fuse",
    "relax": "Relax", "retry": "Retry", "robots": "Robots",
    "single_flight": "SingleFlight",
    "throttle": "Throttle",
})  # fmt: skip
_HOMES: Mapping[str, str] = MappingProxyType(
    {name: f"_{module}" for module, name in _BUILT_IN.items()}
    | {
        "CacheBackend": "_caching.backend",
        "CacheStats": "_caching.backend",
        "RateLimiter": "_throttle",
        "Rerank": "_rerank",  # settings cannot have the function that it needs
    }
)
_GROUP = "websearch_core.layers"
# imports a layer: some need a database, and most programs use few
_load = importer(__name__, _HOMES)


def layer_class(name: str) -> type[Layer]:
    """Return the class of the layer that is called *name* in settings files.

    Raises:
        ConfigurationError: No layer has that name (the message lists the known ones),
            or it cannot be loaded.
    """
    if name in _BUILT_IN:
        return _load(_BUILT_IN[name])  # type: ignore[return-value]
    plugged_in = _plugged_in()
    if name not in plugged_in:
        names = ", ".join(sorted({*_BUILT_IN, *plugged_in}))
        raise ConfigurationError(f"unknown layer {name!r}; known are {names}")
    try:
        return plugged_in[name].load()  # type: ignore[no-any-return]
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"layer {name!r} cannot be loaded: {error}") from error


@cache
def _plugged_in() -> Mapping[str, EntryPoint]:
    plugged: dict[str, EntryPoint] = {}
    for entry in entry_points(group=_GROUP):
        if entry.name in _BUILT_IN or entry.name in plugged:
            raise ConfigurationError(f"layer {entry.name!r} is already registered")
        plugged[entry.name] = entry
    return plugged


# type checkers see the imports above; with this function, they would accept any name
if not TYPE_CHECKING:
    __getattr__ = _load


def __dir__() -> list[str]:
    return [*__all__]
