"""The layers of a `WebSearch`, folded over its providers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from functools import partial
from typing import Any

from ..errors import ConfigurationError
from ..provider._ports import Provider, Role, can, check_port
from ._layer import Layer, Rank, held


class Stack:
    """
    The layers of one `WebSearch`. It copies each, so that no other `WebSearch` shares their state.

    Args:
        given: The requested layers; None also leaves out the defaults.
        default: The default layers. A given layer of the same type or rank replaces a default one.
        for_several: More default layers, for each provider of a chain of several.

    Raises:
        ConfigurationError: One of *given* is not a layer, or cannot be copied.

    """

    def __init__(
        self, given: Sequence[Layer] | None, default: Sequence[Layer] = (), for_several: Sequence[Layer] = ()
    ) -> None:
        self._given = [_copy(layer) for layer in _as_sequence(given)]
        self._default = self._keep(default) if given is not None else []
        self._for_several = self._keep(for_several) if given is not None else []
        self._wrapped: dict[tuple[int, int], tuple[object, Provider]] = {}
        if len([layer for layer in (*self._given, *self._default) if rank(layer) == Rank.COMBINE]) > 1:
            raise ConfigurationError("layers: only one layer may combine several providers")

    def chain(self, providers: Sequence[Provider], role: Role, *, combine: Layer) -> Provider:
        """
        Return one provider made of *providers* and the layers around them.

        A provider that already has layers gets none of the defaults; the given ones go around it.

        Args:
            providers: The providers, in the order to ask them.
            role: What the provider is for; layers without that method are skipped.
            combine: The layer that combines several providers if none of the stack does, or not for that role.

        """
        default = [*self._default, *(self._for_several if len(providers) > 1 else ())]
        links = [self._wrap_each(provider, role, default) for provider in providers]
        every = _sort_outwards([*self._given, *self._default])
        if len(links) == 1:
            chain = links[0]
        else:
            combine = next((layer for layer in every if rank(layer) == Rank.COMBINE and can(layer, role)), combine)
            chain = _wrap(combine, tuple(links))
        for layer in every:
            if rank(layer) > Rank.COMBINE:
                chain = self._wrap(layer, chain, role)
        return chain

    def _keep(self, default: Sequence[Layer]) -> list[Layer]:
        return [_copy(layer) for layer in default if not any(_replaces(given, layer) for given in self._given)]

    def _wrap_each(self, provider: Provider, role: Role, default: Sequence[Layer]) -> Provider:
        for layer in _sort_outwards([*self._given, *([] if held(provider) else default)]):
            if rank(layer) < Rank.COMBINE:
                provider = self._wrap(layer, provider, role)
        return provider

    def _wrap(self, layer: Layer, provider: Provider, role: Role) -> Provider:
        """Wrap a provider that searches and reads only once, so that both share the state of the layer."""
        if not can(layer, role):
            return provider
        place = id(layer), id(provider)
        if place not in self._wrapped:
            self._wrapped[place] = provider, _wrap(layer, provider)
        return self._wrapped[place][1]


def find_combination(short: str | Layer) -> Layer:
    """
    Return the layer that *short* stands for: ``first``, ``until_results`` or ``fuse``, or the layer itself.

    Raises:
        ConfigurationError: It is neither.

    """
    from ._fallback import Fallback
    from ._fuse import Fuse

    names: dict[str, Callable[[], Layer]] = {
        "first": Fallback,
        "until_results": partial(Fallback, on_empty=True),
        "fuse": Fuse,
    }
    if isinstance(short, str) and short in names:
        return names[short]()
    if isinstance(short, str) or rank(short) != Rank.COMBINE:
        raise ConfigurationError(f"must be {', '.join(names)}, or a layer such as Fallback(...) or Fuse(...)")
    return short


def set_options(layer: Any) -> dict[str, Any]:
    """Return the options of *layer* that differ from their defaults."""
    options = [field for field in fields(layer) if field.init and field.name != "inner"]
    usual = {one.name: one.default if one.default_factory is MISSING else one.default_factory() for one in options}
    return {name: value for name, default in usual.items() if (value := getattr(layer, name)) != default}


def rank(layer: object) -> int:
    """Return the rank of *layer*."""
    found: int = getattr(layer, "rank", Rank.OUTERMOST)
    return found


def _sort_outwards(layers: Sequence[Layer]) -> list[Layer]:
    """Sort from the provider outwards; among equal ranks, the first in the list is the outermost."""
    return sorted(layers, key=rank, reverse=True)[::-1]


def _replaces(given: Layer, default: Layer) -> bool:
    return type(given) is type(default) or rank(given) == rank(default) != Rank.OUTERMOST


def _as_sequence(layers: Sequence[Layer] | None) -> Sequence[Layer]:
    if layers is None:
        return ()
    if not isinstance(layers, list | tuple):
        raise ConfigurationError(f"layers: give a list of layers, not {type(layers).__name__}")
    return layers


def _copy(layer: Layer) -> Layer:
    kind = type(layer).__name__
    if isinstance(layer, type):
        raise ConfigurationError(f"layers: {layer.__name__} is a class: write {layer.__name__}()")
    if not callable(getattr(layer, "wrap", None)):
        raise ConfigurationError(f"layers: {kind} has no method wrap(inner)")
    if not isinstance(rank(layer), int):
        raise ConfigurationError(f"layers: the rank of {kind} is not a number")
    if held(layer):
        raise ConfigurationError(f"layers: {kind} already holds a provider; remove it, or pass {kind} as the provider")
    try:
        return copy.deepcopy(layer)
    except (TypeError, copy.Error) as error:
        raise ConfigurationError(
            f"layers: {kind} cannot be copied ({error}), and each WebSearch takes its own copy; give it a __deepcopy__"
        ) from error


def _wrap(layer: Layer, inner: Provider | tuple[Provider, ...]) -> Provider:
    wrapped: Provider = layer.wrap(inner)
    inside = inner if isinstance(inner, tuple) else (inner,)
    if id(wrapped) == id(layer) or list(map(id, held(wrapped))) != list(map(id, inside)):
        kind = type(layer).__name__
        raise ConfigurationError(f"layers: {kind}.wrap(inner) must return a new layer whose inner is that provider")
    check_port(wrapped)
    return wrapped
