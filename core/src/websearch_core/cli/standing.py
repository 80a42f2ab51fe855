"""How each provider stands: what it can do, and what it lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import ConfigurationError, MissingKey
from ..provider import environment
from ..providers import known, provider_class
from ..settings import Settings, configured


@dataclass(frozen=True, kw_only=True)
class Standing:
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


def standings(settings: Settings) -> list[Standing]:
    """Return how every known provider stands, by name."""
    return [_standing(name, settings) for name in known()]


def _standing(name: str, settings: Settings) -> Standing:
    try:
        cls = provider_class(name)
    except (ImportError, AttributeError) as error:  # a plug-in whose package is broken
        return Standing(name=name, problem=f"cannot be loaded: {error}")
    problem, missing = _lack(cls, settings)
    return Standing(
        name=name,
        search=hasattr(cls, "search"),
        read=hasattr(cls, "read"),
        configured=problem is None,
        missing=missing,
        problem=problem,
        variables=_variables(cls),
        options=tuple(sorted(getattr(cls, "options", ()))),
    )


def _lack(cls: Any, settings: Settings) -> tuple[str | None, tuple[str, ...]]:
    try:
        made = configured(cls.name, settings)
    except MissingKey as error:
        return str(error), error.variables
    except ConfigurationError as error:
        return str(error), ()
    if cls.name == "local" and not made.path.is_file():
        return f"there is no index at {made.path} yet: websearch index PATH_OR_URL", ()
    return None, ()


def _variables(cls: Any) -> tuple[str, ...]:
    return tuple(name for names in environment(cls).values() for name in names)
