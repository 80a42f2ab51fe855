"""The layers of a `WebSearch`, folded over its providers."""

from __future__ import annotations
from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any

from ..errors import ConfigurationError
from ..provider._ports import Provider, Role, can
from ._layer import Layer, Rank, Started, handles, inner_of


class Stack:
    """The layers of one `WebSearch`. Each is started once, so that its providers share
    the state, and no other ones do.

    Each of the *layers* replaces a *default* one of the same type or rank; None leaves
    out all defaults. The *chain_layers* are more defaults, for each provider of a
    chain.
    """

    def __init__(
        self,
        layers: Sequence[Layer] | None,
        default: Sequence[Layer] = (),
        chain_layers: Sequence[Layer] = (),
    ) -> None:
        if layers is not None and not isinstance(layers, list | tuple):
            raise ConfigurationError(
                f"layers: give a list of layers, not {type(layers).__name__}"
            )
        self._own = [_check(layer) for layer in layers or ()]
        self._default: list[Layer] = []
        self._chain_layers: list[Layer] = []
        if layers is not None:
            self._default = self._without_replaced(default)
            self._chain_layers = self._without_replaced(chain_layers)
        every = (*self._own, *self._default, *self._chain_layers)
        self._started = {id(layer): Started(layer) for layer in every}
        self._wrapped: dict[tuple[int, ...], tuple[object, Provider]] = {}
        if sum(layer.rank == Rank.COMBINE for layer in every) > 1:
            raise ConfigurationError(
                "layers: only one layer may combine several providers"
            )

    def chain(
        self, providers: Sequence[Provider], role: Role, *, combine: Layer
    ) -> Provider:
        """Return one provider made of *providers*, in the order to ask them, and the
        layers around them.

        Layers that do nothing about *role* are skipped. A provider that already has
        layers gets none of the defaults; those of the list go around it. *combine*
        makes one of several if no layer of the stack does, or not for that role.
        """
        default = list(self._default)
        if len(providers) > 1:
            default += self._chain_layers
        links = [self._wrap_each(provider, role, default) for provider in providers]
        chain = self._combine(links, role, combine)
        for layer in _sort_outwards([*self._own, *self._default]):
            if layer.rank > Rank.COMBINE:
                chain = self._wrap_for(role, layer, chain)
        return chain

    def _combine(
        self, links: Sequence[Provider], role: Role, combine: Layer
    ) -> Provider:
        if len(links) == 1:
            return links[0]
        for layer in _sort_outwards([*self._own, *self._default]):
            if layer.rank != Rank.COMBINE:
                continue
            group = self._wrap(layer, links)
            if can(group, role):
                return group
        combined: Provider = combine(*links)
        return combined

    def _without_replaced(self, default: Sequence[Layer]) -> list[Layer]:
        kinds = {type(layer) for layer in self._own}
        ranks = {layer.rank for layer in self._own} - {Rank.OUTERMOST}
        others = [layer for layer in default if type(layer) not in kinds]
        return [layer for layer in others if layer.rank not in ranks]

    def _wrap_each(
        self, provider: Provider, role: Role, default: Sequence[Layer]
    ) -> Provider:
        layers = list(self._own)
        if not inner_of(provider):
            layers += default
        for layer in _sort_outwards(layers):
            if layer.rank < Rank.COMBINE:
                provider = self._wrap_for(role, layer, provider)
        return provider

    def _wrap_for(self, role: Role, layer: Layer, provider: Provider) -> Provider:
        wrapped = self._wrap(layer, [provider])
        return wrapped if handles(wrapped, role) else provider

    def _wrap(self, layer: Layer, inner: Sequence[Provider]) -> Provider:
        """Wrap a provider that searches and reads only once, so that both share the
        state of the layer.
        """
        key = id(layer), *map(id, inner)
        if key not in self._wrapped:
            self._wrapped[key] = inner, self._started[id(layer)].put_around(*inner)
        return self._wrapped[key][1]


def find_combination(short: str | Layer) -> Layer:
    """Return the layer that *short* stands for: ``first``, ``until_results`` or
    ``fuse``, or the layer itself.
    """
    from ._fallback import Fallback
    from ._fuse import Fuse

    names: dict[str, Layer] = {
        "first": Fallback(),
        "until_results": Fallback(on_empty=True),
        "fuse": Fuse(),
    }
    if isinstance(short, str) and short in names:
        return names[short]
    if not isinstance(short, Layer) or short.rank != Rank.COMBINE:
        raise ConfigurationError(
            f"must be {', '.join(names)}, or a layer such as Fallback(...) or Fuse(...)"
        )
    return short


def set_options(layer: Any) -> dict[str, Any]:
    """Return the options of *layer* that differ from their defaults."""
    options: dict[str, Any] = {}
    for field in fields(layer):
        if not field.init:
            continue
        default = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        value = getattr(layer, field.name)
        if value != default:
            options[field.name] = value
    return options


def _sort_outwards(layers: Sequence[Layer]) -> list[Layer]:
    return sorted(layers, key=lambda layer: layer.rank)


def _check(layer: object) -> Layer:
    kind = type(layer).__name__
    if isinstance(layer, type):
        raise ConfigurationError(
            f"layers: {layer.__name__} is a class: write {layer.__name__}()"
        )
    if inner_of(layer):
        raise ConfigurationError(
            f"layers: {kind} already holds a provider; remove it, or pass {kind} "
            "as the provider"
        )
    if not isinstance(layer, Layer):
        raise ConfigurationError(
            f"layers: {kind} is not a layer: "
            "its base class must be websearch_core.layers.Layer"
        )
    if not isinstance(layer.rank, int):
        raise ConfigurationError(f"layers: the rank of {kind} is not a number")
    return layer
