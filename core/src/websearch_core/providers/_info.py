"""What is known about each provider: what it can do, and whether it is ready to use."""

from __future__ import annotations
import inspect
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, is_dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .._registry import known, provider_class
from ..errors import ConfigurationError, MissingKey, UnknownProvider
from ..provider._declare import environment, field_notes, is_secret
from ..provider._ports import Limits, Service, can

if TYPE_CHECKING:
    from ..provider._ports import Role
    from ..settings import Settings


@dataclass(frozen=True, kw_only=True)
class ProviderInfo:
    """One provider. The fields are what ``websearch providers --format json`` shows.

    Args:
        name: The name by which users choose it.
        label: Its display name: ``Brave Search``. The name of the class if that has no
            ``label``.
        search: Whether it can search.
        read: Whether it can read pages.
        configured: Whether it can be used with the current settings.
        missing: The environment variables that would make it usable; one of them is
            enough.
        problem: Why it cannot be used.
        variables: All environment variables that it reads.
        options: The fields of a query that it supports, besides ``text``, ``limit`` and
            ``extra``.
        emulated: Those among them for which the service has no parameter, such as
            ``site:`` in the query for domains; with ``limit``, more results take more
            requests.
        topics: The values of ``topic`` that it supports, besides ``general``.
        secrets: Its settings that hold a key: all of them for a class without declared
            fields, which cannot say.
        limits: The limits that the service documents: see
            `websearch_core.provider.Limits`.
        about: Where to get a key, what it costs, and what its terms say: see
            `websearch_core.provider.Service`.
    """

    name: str
    label: str = ""
    search: bool = False
    read: bool = False
    configured: bool = False
    missing: tuple[str, ...] = ()
    problem: str | None = None
    variables: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits, hash=False)
    about: Service = field(default_factory=Service)


def get(name: str) -> type | None:
    """Return the class of the provider *name*, or None if there is no such provider.

    Raises:
        ImportError: It belongs to another package, which cannot be imported.
    """
    try:
        return provider_class(name)
    except UnknownProvider:
        return None


def get_all(settings: Settings | None = None) -> list[ProviderInfo]:
    """Return all providers, sorted by name.

    Args:
        settings: Determine which are configured. None reads the environment and the
            settings files.

    Raises:
        ConfigurationError: The settings are invalid.
    """
    settings = settings or _load()
    return [_describe(name, settings) for name in known()]


def get_configured(settings: Settings | None = None) -> list[ProviderInfo]:
    """Return the providers that are ready to use, sorted by name. Takes and raises what
    `get_all` does.

    ``configured`` means that nothing is missing locally; only the service knows whether
    a key is valid.
    """
    return [info for info in get_all(settings) if info.configured]


def get_default(
    settings: Settings | None = None, *, role: Role = "search"
) -> ProviderInfo:
    """Return the provider that `WebSearch` uses first if none is named.

    Args:
        settings: Determine the choice. None reads the environment and the settings
            files.
        role: ``search``, or ``read`` for the page reader.

    Raises:
        MissingKey: The settings name a provider that has no key.
        ConfigurationError: The settings are invalid.
    """
    from ..client._selection import Selection

    settings = settings or _load()
    selection = Selection(settings, {})
    providers = selection.searchers(None)
    if role == "read":
        providers, _ = selection.readers(None, providers)
    return _describe(selection.name_of(providers[0]), settings)


def _load() -> Settings:
    from ..settings import Settings

    return Settings.load()


def _describe(name: str, settings: Settings) -> ProviderInfo:
    try:
        cls = provider_class(name)
    except (ImportError, AttributeError) as error:  # a plug-in whose package is broken
        return ProviderInfo(name=name, label=name, problem=f"cannot be loaded: {error}")
    attempt = _try(cls, name, settings)
    provider = attempt.provider
    label = getattr(provider, "label", None)
    limits = getattr(provider, "limits", None)
    about = getattr(provider, "about", None)
    options = _names(provider, "options")
    topics = _names(provider, "topics")
    if not topics and "topic" in options:
        topics = ("news",)
    variables = environment(cls).values()
    return ProviderInfo(
        name=name,
        label=label if isinstance(label, str) else getattr(cls, "__name__", name),
        search=can(provider, "search"),
        read=can(provider, "read"),
        configured=attempt.problem is None,
        missing=attempt.missing,
        problem=attempt.problem,
        variables=tuple(chain.from_iterable(variables)),
        options=options,
        emulated=_names(provider, "emulated"),
        topics=topics,
        secrets=_secrets(cls),
        limits=cast("Limits", dict(limits))
        if isinstance(limits, Mapping)
        else Limits(),
        about=about if isinstance(about, Service) else Service(),
    )


class _Attempt(NamedTuple):
    """What came of making a provider: it, why it cannot be used, what it lacks.

    Without an instance it is the class, on which some attributes are properties.
    """

    provider: Any
    problem: str | None
    missing: tuple[str, ...] = ()


def _try(cls: type, name: str, settings: Settings) -> _Attempt:
    """Make a provider as *settings* have it."""
    from ..client._selection import build_provider, check_provider

    provider: Any = cls
    try:
        provider = build_provider(name, settings)
        check_provider(provider, settings)
        problem = provider.problem() if hasattr(provider, "problem") else None
    except MissingKey as error:
        return _Attempt(provider, str(error), error.variables)
    except ConfigurationError as error:
        return _Attempt(provider, str(error))
    return _Attempt(provider, problem)


def _names(provider: object, attribute: str) -> tuple[str, ...]:
    names = getattr(provider, attribute, None)
    return tuple(sorted(names)) if isinstance(names, AbstractSet) else ()


def _secrets(cls: type) -> tuple[str, ...]:
    if is_dataclass(cls):
        return tuple(
            name for name, notes in field_notes(cls).items() if is_secret(notes)
        )
    try:
        parameters = inspect.signature(cls).parameters.values()
    except ValueError:  # it is written in C
        return ()
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return tuple(parameter.name for parameter in parameters if parameter.kind in kinds)
