"""How each provider stands: what it can do, and what it lacks."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from .._net.guard import Guard
from .._selection import build_provider, check_provider
from ..errors import ConfigurationError, MissingKey
from ..provider._declare import environment
from ..provider._ports import can
from ..providers import known, provider_class
from ..settings import Settings


@dataclass(frozen=True, kw_only=True)
class ProviderStatus:
    """
    One provider; its fields are what ``websearch providers --format json`` shows.

    Args:
        name: Its name.
        search: True if it can search.
        read: True if it can read pages.
        configured: True if it can be used as things are.
        missing: The environment variables that would make it usable, by name; any one of them.
        problem: Why it cannot be used, in words.
        variables: All environment variables that it looks at.
        options: The fields of a query that it can express.

    """

    name: str
    search: bool = False
    read: bool = False
    configured: bool = False
    missing: tuple[str, ...] = ()
    problem: str | None = None
    variables: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def provider_statuses(settings: Settings) -> list[ProviderStatus]:
    """Return how every known provider stands, by name."""
    return [_status(name, settings) for name in known()]


def _status(name: str, settings: Settings) -> ProviderStatus:
    try:
        cls = provider_class(name)
    except (ImportError, AttributeError) as error:  # a plug-in whose package is broken
        return ProviderStatus(name=name, problem=f"cannot be loaded: {error}")
    provider: Any = cls  # as long as there is no instance; the attributes of some classes are properties
    problem: str | None = None
    missing: tuple[str, ...] = ()
    try:
        provider = build_provider(name, settings)
        check_provider(provider, Guard.allowing(settings.allow))
        if hasattr(provider, "problem"):
            problem = provider.problem()
    except MissingKey as error:
        problem, missing = str(error), error.variables
    except ConfigurationError as error:
        problem = str(error)
    options = getattr(provider, "options", ())
    return ProviderStatus(
        name=name,
        search=can(provider, "search"),
        read=can(provider, "read"),
        configured=problem is None,
        missing=missing,
        problem=problem,
        variables=tuple(name for names in environment(cls).values() for name in names),
        options=tuple(sorted(options)) if isinstance(options, AbstractSet) else (),
    )
