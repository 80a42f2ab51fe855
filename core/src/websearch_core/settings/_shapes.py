"""
Turn the shapes that settings are written in into one.

Ours is flat names and a table for each provider and layer::

    provider = "searxng"
    providers = {searxng = {base_url = "http://localhost:8888"}}

These mean the same::

    {"web_search": {"enabled": true, "provider": "searxng", "url": "http://localhost:8888", "api_key": ""}}
    {"webSearch": {"provider": "tavily", "tavily": {"apiKey": "..."}}}
    {"webSearch.provider": "tavily", "webSearch.tavily.apiKey": "..."}
    {"search_provider": "duckduckgo", "read_provider": "jina", "max_page_length": 15000}
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from .._registry import is_known, provider_class, registered_name
from ..errors import ConfigurationError, UnknownProvider
from ..provider._declare import field_notes
from ._sources import Option, Source, Table

Path: TypeAlias = tuple[str, ...]  # ("timeout",), ("providers", "brave", "api_key"), ("layers", "retry")
OTHER_NAMES = MappingProxyType(
    {"search_provider": "provider", "read_provider": "reader", "max_page_length": "max_length"}
)
SWITCH = "enabled"

_WRAPPERS = ("web_search", "webSearch")
_OF_PROVIDER = MappingProxyType({"api_key": "api_key", "url": "base_url"})  # beside `provider`, each for that one
_BOTH = ("search_timeout", "read_timeout")  # what `timeout` sets
_log = logging.getLogger(__name__)
_Entry: TypeAlias = tuple[Path, Any, Source]  # its path in our shape, its value, and where it is written


def flatten(table: Table, names: Collection[str]) -> dict[Path, Option]:
    """
    Return the settings of one place, flat and by their own names.

    Args:
        table: The settings.
        names: The names of all settings.

    Raises:
        UnknownProvider: There is a table for a provider of another name.
        ConfigurationError: What should be a table is not one, or it is not clear which provider a key is for.

    """
    found: dict[Path, Option] = {}
    for path, value, source in _read_table(table, names):
        if path in found and len(path) != 2:
            raise ConfigurationError(f"{source.place}: {found[path].source.key} and {source.key}: keep one of them")
        found[path] = Option(value, source)
    if both := found.get(("timeout",)):
        found |= {(name,): both for name in _BOTH if (name,) not in found}
    return found


def _read_table(table: Table, names: Collection[str]) -> Iterator[_Entry]:
    beside: dict[str, tuple[Any, Source]] = {}
    chosen: Any = None
    for given, value, source in _unwrap(table):
        name = _to_own_name(given, {*names, *OTHER_NAMES, *_OF_PROVIDER})
        name = OTHER_NAMES.get(name, name)
        if name in _OF_PROVIDER:
            beside[name] = value, source
        elif name in {"providers", "layers"}:
            yield from _read_tables(name, value, source)
        elif name not in names and isinstance(value, Mapping) and is_known(name):
            yield from _read_options(name, value, source)
        else:
            chosen = value if name == "provider" else chosen
            yield (name,), value, source
    for name, (value, source) in beside.items():
        if value not in ("", None):
            yield from _read_beside(name, value, source, chosen)


def _unwrap(table: Table) -> Iterator[tuple[str, Any, Source]]:
    """Yield the entries inside a table ``web_search``, and those around it unless they are another program's."""
    entries = _split_names(table.entries, replace(table.source, written=table.prefix))
    wrapped = [entry for entry in entries if entry[0] in _WRAPPERS and isinstance(entry[1], Mapping)]
    for _, inside, source in wrapped:
        yield from _split_names(inside, source)
    if not (wrapped and table.shared):
        yield from (entry for entry in entries if entry not in wrapped)


def _split_names(entries: Mapping[Any, Any], source: Source) -> list[tuple[str, Any, Source]]:
    """Return *entries*, with ``webSearch.tavily.apiKey`` taken for tables inside one another."""
    found = []
    for key, entry in entries.items():
        name, value = str(key), entry
        if name.partition(".")[0] in _WRAPPERS and "." in name:
            name, *inner = name.split(".")
            for part in reversed(inner):
                value = {part: value}
        found.append((name, value, _inside(source, name)))
    return found


def _inside(source: Source, name: Any) -> Source:
    return replace(source, written=(*source.written, str(name)))


def _read_tables(kind: str, value: Any, source: Source) -> Iterator[_Entry]:
    if not isinstance(value, Mapping) or not all(isinstance(options, Mapping) for options in value.values()):
        raise ConfigurationError(f"{source.place}: {source.key}: not a table for each {kind.removesuffix('s')}")
    for whose, options in value.items():
        here = _inside(source, whose)
        if kind == "layers":
            yield (kind, whose), {}, here  # an empty table adds the layer, too
            yield from (((kind, whose, name), one, _inside(here, name)) for name, one in options.items())
        else:
            yield from _read_options(_find_provider(whose, here), options, here)


def _find_provider(name: str, source: Source) -> str:
    """Return the registered name of a provider; an error says where the unknown one is."""
    try:
        return registered_name(name)
    except UnknownProvider as error:
        raise UnknownProvider(f"{source.place}: {error}") from None


def _read_options(whose: str, options: Mapping[Any, Any], source: Source) -> Iterator[_Entry]:
    name = registered_name(whose)
    known = {*field_notes(provider_class(name)), SWITCH}
    yield ("providers", name), {}, source
    for given, value in options.items():
        yield ("providers", name, _to_own_name(str(given), known)), value, _inside(source, given)


def _read_beside(name: str, value: Any, source: Source, chosen: Any) -> Iterator[_Entry]:
    """Give a key or URL that is beside ``provider`` to that provider, if it has a use for it."""
    several = [one.strip() for one in chosen.split(",") if one] if isinstance(chosen, str) else list(chosen or ())
    if len(several) != 1 or not isinstance(several[0], str):
        raise ConfigurationError(f"{source.place}: {source.key}: name the provider it is for, as provider beside it")
    whose = _find_provider(several[0], source)
    if name == "url" and not needs_url(whose):
        _log.warning("%s: %s: ignored, since %s has a server of its own", source.place, source.key, whose)
        return
    yield ("providers", whose, _OF_PROVIDER[name]), value, source


def needs_url(provider: str) -> bool:
    """Return whether users of *provider* run its server themselves, so that its URL has no default."""
    cls = provider_class(provider)
    return is_dataclass(cls) and any(
        one.name == "base_url" and one.default is MISSING and one.default_factory is MISSING for one in fields(cls)
    )


def _to_own_name(given: str, known: Collection[str]) -> str:
    """Return ``api_key`` for ``apiKey``, if that is a known name and *given* is not."""
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", given).lower()
    return name if given not in known and given[:1].islower() and name in known else given
