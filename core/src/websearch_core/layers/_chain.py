"""What is true of a provider with all its layers."""

from __future__ import annotations
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import Any, TypeAlias, get_args

from .._runtime.scope import Parsing
from ..provider._ports import Price, Provider, Role, needs_network, opens_pages
from ._identity import Identity
from ._layer import batch_size, parts, reads_batches
from ._single_flight import SingleFlight

# Describes a request as JSON, for a key; None if it cannot be described.
Describe: TypeAlias = Callable[[], list[Any] | None]

_PAGES_PER_HOST = 4  # at a time, unless the `Throttle` says something else


class Chain:
    """A provider with its layers, and what is true of all of it.

    A chain does not change, so this is found out once, and not in each call.
    """

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.identity = Identity(provider)
        leaves = self.identity.leaves
        self.needs_network = any(needs_network(leaf) for leaf in leaves)
        self.opens_pages = any(opens_pages(leaf) for leaf in leaves)
        self.may_be_recorded = not any(
            getattr(leaf, "terms_forbid_recording", "") for leaf in leaves
        )
        self.shares = any(
            isinstance(getattr(part, "layer", None), SingleFlight)
            for part in parts(provider)
        )
        self.batch_size = 1
        if reads_batches(provider):
            self.batch_size = batch_size(provider)
        self.host_limit = _find_host_limit(provider)
        self.parsing = _find_parsing(leaves)

    @cached_property
    def prices(self) -> dict[Role, dict[str, Price]]:
        """What a search and a page cost, by the names of the providers."""
        from ._prices import list_prices  # making a tool does not need it

        leaves = self.identity.leaves
        return {verb: list_prices(leaves, verb) for verb in get_args(Role)}

    def make_key(self, describe: Describe) -> Hashable:
        """Return a key for a request of this caller; None if it has none."""
        if not self.needs_network:
            return None
        request = describe()
        if request is None:
            return None
        return self.identity.caller(), self.identity.of(request)


def _find_parsing(leaves: Iterable[Provider]) -> Parsing:
    """Return where pages are parsed: what the first reader with the option ``isolate``
    says holds for all readers of a chain.
    """
    for leaf in leaves:
        isolate = getattr(leaf, "isolate", None)
        if isolate is not None:
            return Parsing(isolate, getattr(leaf, "processes", None))
    return Parsing()


def _find_host_limit(provider: Provider) -> int:
    """Return how many pages of one host to read at a time."""
    limits: list[int] = []
    for part in parts(provider):
        layer = getattr(part, "layer", None)
        limit = getattr(layer, "host_concurrent", None)
        if limit:
            limits.append(limit)
    return max(limits, default=_PAGES_PER_HOST)
