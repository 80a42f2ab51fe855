"""Turn the shapes that settings are written in into one.

Ours is flat names, and tables for what has parts: a setting, a provider, a layer::

    provider = "searxng"
    retry = 5                        # the same as retry = {attempts = 5}
    read_options = {max_length = 8000}
    providers = {searxng = {base_url = "http://localhost:8888"}}

These mean the same::

    {"web_search": {"enabled": true, "provider": "searxng",
                    "url": "http://localhost:8888", "api_key": ""}}
    {"webSearch": {"provider": "tavily", "tavily": {"apiKey": "..."}}}
    {"webSearch.provider": "tavily", "webSearch.tavily.apiKey": "..."}
    {"search_provider": "duckduckgo", "read_provider": "jina", "max_page_length": 15000}
    {"id": "web", "name": "Web", "version": "1", "enabled": true,
     "config": {"search_provider": "duckduckgo"}}
"""

from __future__ import annotations
import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from math import inf
from os import PathLike, fspath
from typing import Any, Literal, NamedTuple, TypeAlias

from .._registry import is_known, provider_class, registered_name
from ..errors import ConfigurationError, UnknownProvider
from ..layers import Layer, layer_class
from ..layers._stack import find_combination, set_options
from ..provider._declare import field_notes, required_names
from ._names import FOREIGN_NAMES
from ._sources import Option, Source, Table
from ._values import HOMES, SETTINGS, Http, Timeout, find_setting


class Name(NamedTuple):
    """What an option is called: a setting, a part of one, or an option of a provider or
    a layer.

    ``Name("enabled")``, ``Name("timeout", "read")``, ``Name("providers", "brave",
    "api_key")``.
    """

    group: str
    part: str | None = None
    option: str | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """Its words."""
        return tuple(word for word in self if word is not None)

    @property
    def parent(self) -> str:
        """The provider or layer that it is about."""
        assert self.part is not None
        return self.part


OTHER_NAMES: Mapping[str, str] = {
    "search_provider": "provider",
    "read_provider": "reader",
    "max_page_length": "read_options.max_length",
}
SWITCH = "enabled"

_WRAPPERS = ("web_search", "webSearch")
# beside `config` and `enabled`
_MANIFEST_KEYS = frozenset({"id", "name", "version", "entrypoint", "description"})
# beside `provider`, each for that one
_PROVIDER_KEYS: Mapping[str, str] = {"api_key": "api_key", "url": "base_url"}
_ON = {"true", "1", "yes", "on"}
_OFF = {"false", "0", "no", "off"}
# a word without any of these is meant for something else than a file of this name
_IS_PLACE = re.compile(r"[/\\.:~]")
_SWITCHED = {"cache", "robots"}  # what `true` adds, and 1 too
_log = logging.getLogger(__name__)
# its path in our shape, its value, and where it is written
_Entry: TypeAlias = tuple[Name, Any, Source]


def flatten(table: Table, names: Collection[str]) -> dict[Name, Option]:
    """Return the settings of one place, flat and by their own names, of which *names*
    has all.
    """
    options: dict[Name, Option] = {}
    for name, value, source in _read_table(table, names):
        if name in options and value != {}:
            both = f"{options[name].source.key} and {source.key}"
            raise ConfigurationError(f"{source.at(both)}: keep one of them")
        options[name] = Option(value, source)
    return options


def _read_table(table: Table, names: Collection[str]) -> Iterator[_Entry]:
    beside: dict[str, tuple[Any, Source]] = {}
    chosen: Any = None
    ours = {
        *names,
        *OTHER_NAMES,
        *_PROVIDER_KEYS,
        *FOREIGN_NAMES,
        *SETTINGS["read_options"].parts,
        *SETTINGS["search_options"].parts,
    }
    for written, value, source in _unwrap(table):
        name = _to_own_name(written, ours)
        name = OTHER_NAMES.get(name, name)
        setting = find_setting(name)
        is_foreign_table = name not in names and isinstance(value, Mapping)
        if name in _PROVIDER_KEYS:
            beside[name] = value, source
        elif name in {"providers", "layers"}:
            yield from _read_tables(name, value, source)
        elif "." in name or setting.parts:
            yield from _read_group(name, value, source)
        elif setting.layers:
            yield from _read_concern(name, value, source)
        elif is_foreign_table and is_known(name):
            yield from _read_options(name, value, source)
        else:
            if name == "provider":
                chosen = value
            yield Name(name), value, source
    for name, (value, source) in beside.items():
        if value not in ("", None):
            yield from _read_beside(name, value, source, chosen)


def _unwrap(table: Table) -> Iterator[tuple[str, Any, Source]]:
    """Yield the entries inside a table ``web_search`` or a manifest, and those around
    it that are not for others.
    """
    entries = _split_names(table.entries, replace(table.source, written=table.prefix))
    tables = [entry for entry in entries if isinstance(entry[1], Mapping)]
    wrapped = [entry for entry in tables if entry[0] in _WRAPPERS]
    is_manifest = False
    if not wrapped:
        wrapped = [entry for entry in tables if entry[0] == "config"]
        is_manifest = bool(wrapped)
    for _, inside, source in wrapped:
        yield from _split_names(inside, source)
    is_for_others = bool(wrapped) and table.shared
    for entry in entries:
        name = entry[0]
        if is_manifest and name in _MANIFEST_KEYS:
            continue
        if entry in wrapped:
            continue
        is_switch = is_manifest and name == SWITCH
        if is_switch or not is_for_others:
            yield entry


def _split_names(
    entries: Mapping[Any, Any], source: Source
) -> list[tuple[str, Any, Source]]:
    """Return *entries*, with ``webSearch.tavily.apiKey`` taken for tables inside one
    another.
    """
    split: list[tuple[str, Any, Source]] = []
    for key, entry in entries.items():
        name, *inner = str(key).split(".")
        value = entry
        if name in _WRAPPERS:
            for part in reversed(inner):
                value = {part: value}
        else:
            name = str(key)
        split.append((name, value, _inside(source, name)))
    return split


def _inside(source: Source, name: Any) -> Source:
    return replace(source, written=(*source.written, str(name)))


def _read_tables(kind: str, value: Any, source: Source) -> Iterator[_Entry]:
    tables = value.values() if isinstance(value, Mapping) else [None]
    if not all(isinstance(options, Mapping) for options in tables):
        raise ConfigurationError(
            f"{source.at()}: not a table for each {kind.removesuffix('s')}"
        )
    for whose, options in value.items():
        here = _inside(source, whose)
        if kind == "layers":
            yield from _read_layer(whose, options, here)
        else:
            yield from _read_options(_find_provider(whose, here), options, here)


def _read_layer(
    kind: str, options: Mapping[Any, Any], source: Source
) -> Iterator[_Entry]:
    if kind in HOMES:
        home = HOMES[kind]
        line = f"[{home}]" if home == kind else f"[{home}.{kind}]"
        if source.kind == "environment":
            line = SETTINGS[home].variable
        raise ConfigurationError(f"{source.at()}: this is a setting: write {line}")
    yield Name("layers", kind), {}, source  # an empty table adds the layer, too
    for name, value in options.items():
        yield Name("layers", kind, name), value, _inside(source, name)


def _read_group(name: str, value: Any, source: Source) -> Iterator[_Entry]:
    """Read ``timeout.read``, or all of ``timeout``."""
    group, *part = name.split(".", 1)
    if part:
        yield Name(group, part[0]), value, source
    else:
        yield from _read_parts(name, value, source)


def _read_parts(group: str, value: Any, source: Source) -> Iterator[_Entry]:
    """Read a setting that is made of parts: a table, or a value of the class that has
    them.
    """
    if isinstance(value, Timeout | Http):
        parts = vars(value).items()
        value = {name: part for name, part in parts if part is not None}
    elif group == "timeout" and isinstance(value, bool):
        raise ConfigurationError(f"{source.at()}: must be a number of seconds above 0")
    elif group == "timeout" and not isinstance(value, Mapping):
        yield Name("timeout", "search"), value, source
        yield Name("timeout", "read"), value, source
        return
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{source.at()}: must be a table of options")
    for written, entry in value.items():
        part = _to_own_name(str(written), SETTINGS[group].parts)
        if entry is not None:  # as `Settings.model_dump` writes what nobody set
            yield Name(group, part), entry, _inside(source, written)


def _read_concern(name: str, value: Any, source: Source) -> Iterator[_Entry]:
    """Read a setting that is a layer: its short form, a table of its options, or the
    layer itself.
    """
    if isinstance(value, Layer):
        yield Name(name), value, source
        return
    if isinstance(value, Mapping):
        yield from _read_layer_table(name, value, source)
        return
    try:
        switch, options = _read_short(name, value)
    except (ValueError, ConfigurationError) as error:
        raise ConfigurationError(f"{source.at()}: {error}") from None
    yield Name(name), switch, source
    for option, entry in options.items():
        yield Name("layers", str(switch), option), entry, source


def _read_layer_table(
    name: str, table: Mapping[Any, Any], source: Source
) -> Iterator[_Entry]:
    """Read the options of the layer that a setting is; ``combine`` says which it is."""
    kind = SETTINGS[name].layers[0]
    if name == "combine":
        kind, table = _find_combined(table, source)
        source = _inside(source, kind)
    yield Name(name), kind, source
    options = [option.name for option in fields(layer_class(kind))]
    for written, entry in table.items():
        option = _to_own_name(str(written), options)
        yield Name("layers", kind, option), entry, _inside(source, written)


def _find_combined(
    tables: Mapping[Any, Any], source: Source
) -> tuple[str, Mapping[Any, Any]]:
    if len(tables) == 1:
        kind, table = next(iter(tables.items()))
        if HOMES.get(kind) == "combine" and isinstance(table, Mapping):
            return kind, table
    raise ConfigurationError(
        f"{source.at()}: must be one table, [combine.fuse] or [combine.fallback]"
    )


def _parse_text(text: str, *, switch: bool) -> Any:
    """Return what the text of a variable says: on or off, a number, or what it is."""
    word = text.lower()
    if word in {"none", "null", "disabled"}:
        return False
    is_switch = switch or not word.isdigit()
    if is_switch and word in _ON | _OFF:
        return word in _ON
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _read_short(name: str, value: Any) -> tuple[str | Literal[False], dict[str, Any]]:
    """Return the name of the layer that a short form means, with the options that it
    sets; False if it means none.
    """
    if isinstance(value, PathLike):
        value = fspath(value)
    if isinstance(value, str) and name != "combine":
        value = _parse_text(value.strip(), switch=name in _SWITCHED)
    if value is False:
        return False, {}
    if value in ("", (), []):
        raise ValueError("is empty: write false to switch it off")
    if name == "combine":
        layer: Any = find_combination(value)
        kind = "fuse" if value == "fuse" else "fallback"
        options = set_options(layer)
        if value == "first":
            options["on_empty"] = False
        return kind, options
    if value is True and name not in _SWITCHED:
        raise ValueError("must say how, or be false")
    if name == "cache" and not _is_store(value):
        raise ValueError(
            "must be true, false, seconds above 0, a path such as ./answers.db, "
            "or a URL of Redis"
        )
    kind = SETTINGS[name].layers[0]
    if value is True:
        return kind, {}
    return kind, set_options(layer_class(kind).of(value))


def _is_store(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_IS_PLACE.search(value))
    if value is True:
        return True
    return isinstance(value, int | float) and 0 < value < inf


def _find_provider(name: str, source: Source) -> str:
    """Return the registered name of a provider; an error says where the unknown one
    is.
    """
    try:
        return registered_name(name)
    except UnknownProvider as error:
        raise UnknownProvider(f"{source.at()}: {error}") from None


def _read_options(
    whose: str, options: Mapping[Any, Any], source: Source
) -> Iterator[_Entry]:
    name = registered_name(whose)
    fields = {*field_notes(provider_class(name)), SWITCH}
    yield Name("providers", name), {}, source
    for written, value in options.items():
        option = _to_own_name(str(written), fields)
        yield Name("providers", name, option), value, _inside(source, written)


def _read_beside(
    name: str, value: Any, source: Source, chosen: Any
) -> Iterator[_Entry]:
    """Give a key or URL that is beside ``provider`` to that provider, if it has a use
    for it.
    """
    providers = list(chosen or ())
    if isinstance(chosen, str):
        providers = [name.strip() for name in chosen.split(",") if name]
    if len(providers) != 1 or not isinstance(providers[0], str):
        raise ConfigurationError(
            f"{source.at()}: name the provider it is for, as provider beside it"
        )
    whose = _find_provider(providers[0], source)
    if name == "url" and not needs_url(whose):
        _log.warning(
            "%s: ignored, since %s has a server of its own", source.at(), whose
        )
        return
    yield Name("providers", whose, _PROVIDER_KEYS[name]), value, source


def needs_url(provider: str) -> bool:
    """Return whether users of *provider* run its server themselves, so that its URL has
    no default.
    """
    return "base_url" in required_names(provider_class(provider))


def _to_own_name(written: str, names: Collection[str]) -> str:
    """Return ``api_key`` for ``apiKey``, if *names* has that and not the other."""
    if written in names or not written[:1].islower():
        return written
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", written).lower()
    return name if name in names else written
