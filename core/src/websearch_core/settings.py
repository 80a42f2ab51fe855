"""
Load settings: from arguments, else the environment, else files, else the defaults.

The first file is the one that ``WEB_SEARCH_CONFIG`` names, else the nearest ``websearch.toml`` or ``[tool.websearch]``
table of a ``pyproject.toml``, from the working directory up to the root of the project. The second one, with lower
priority, is the user's own ``websearch.toml``::

    provider = "searxng"             # or a chain: ["tavily", "brave"]
    reader = "direct"
    max_length = 8_000

    [providers.searxng]
    base_url = "http://localhost:8888"

Environment variables: ``WEB_SEARCH_PROVIDER``, ``WEB_SEARCH_READER``, ``WEB_SEARCH_ALLOW`` and so on, with lists
separated by commas, and for each provider the variables that its module declares, such as ``BRAVE_API_KEY``.

A file found in or above the working directory may set only the fields annotated with `FoundFile`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from ._build import Option, by_name, check_entries, conceal, limit_of, too_high
from ._domains import Domain, Domains
from ._registry import provider_class
from ._sources import ARGUMENT, DEFAULT, Source, make_refusal, read_files
from ._text.suggestion import suggest_name
from .errors import ConfigurationError
from .layers import layer_class
from .models import describe_problems
from .provider._declare import FoundFile, field_notes

__all__ = [
    "Settings",
]

_Path = tuple[str, ...]
_Entries = dict[_Path, tuple[Any, Source]]  # the settings of one place, by name or ("providers", name, option)


def _split_list(value: Any) -> Any:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    return value


def _conceal_by_name(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: conceal(provider_class(name), given) for name, given in by_name(options).items()}


_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_list)]
_DomainNames = Annotated[tuple[Domain, ...], NoDecode, BeforeValidator(_split_list)]


class Settings(BaseSettings):
    """
    The settings, including the options of providers and layers.

    Args:
        provider: The provider to search with. Several names are a chain, called in order. By default, one is chosen
            automatically.
        reader: The provider to read pages with. Several names are a chain. By default, ``direct``.
        allow: Networks and origins that pages may be read from although they are not public. By default, only public
            addresses.
        timeout: Seconds for a whole call.
        connect_timeout: Seconds to wait for one connection.
        attempts: How often to send a request whose failures may be temporary.
        max_length: Maximum characters of one part of a page.
        max_tokens: Maximum tokens of one part of a page, and of a tool's text. It replaces ``max_length``.
        links: What to do with the links in pages: ``keep`` them, keep only their ``text``, or ``drop`` them.
        http_library: ``httpx`` or ``httpx2``.
        allowed_domains: The only domains, with their subdomains, that may be searched and read. By default, any.
        blocked_domains: Domains, with their subdomains, that may be neither searched nor read.
        max_snippet_chars: Maximum characters of each snippet. By default, only texts cut it, to 1,000.
        providers: The options of each provider, by its name.
        layers: The options of each layer, by its name. By default requests are retried, and an option that no provider
            supports is an error.

    """

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix="WEB_SEARCH_", env_ignore_empty=True, extra="forbid", frozen=True, hide_input_in_errors=True
    )

    provider: Annotated[_Names, FoundFile()] = ()
    reader: Annotated[_Names, FoundFile()] = ()
    allow: _Names = ()
    timeout: Annotated[float, FoundFile(at_most=120)] = Field(default=30.0, gt=0)
    connect_timeout: Annotated[float, FoundFile(at_most=60)] = Field(default=10.0, gt=0)
    attempts: Annotated[int, FoundFile(at_most=5)] = Field(default=3, ge=1)
    max_length: Annotated[int, FoundFile(at_most=100_000)] = Field(default=15_000, ge=1)
    max_tokens: Annotated[int | None, FoundFile(at_most=25_000, replaces="max_length")] = Field(default=None, ge=1)
    links: Literal["keep", "text", "drop"] = "keep"
    http_library: Literal["httpx", "httpx2"] = "httpx"
    allowed_domains: Annotated[_DomainNames, FoundFile(narrows=True)] = ()
    blocked_domains: Annotated[_DomainNames, FoundFile(narrows=True)] = ()
    max_snippet_chars: Annotated[int | None, FoundFile(at_most=1_000)] = Field(default=None, ge=1)
    providers: Annotated[dict[str, dict[str, Any]], AfterValidator(_conceal_by_name)] = Field(
        default_factory=dict, repr=False
    )
    layers: dict[str, dict[str, Any]] = Field(default_factory=dict, repr=False)

    _options: dict[str, dict[str, Option]] = PrivateAttr(default_factory=dict)
    _sources: dict[str, Source] = PrivateAttr(default_factory=dict)
    _layer_sources: dict[tuple[str, str], Source] = PrivateAttr(default_factory=dict)
    _files: tuple[Source, ...] = PrivateAttr(default=())

    @classmethod
    def load(cls, **explicit: object) -> Settings:
        """
        Load the settings; those of *explicit* that are not None win.

        Raises:
            ConfigurationError: A value is wrong, or in a file that may not set it; the message names the setting, and
                never shows the value.

        """
        files = read_files()
        arguments = {name: value for name, value in explicit.items() if value is not None}
        places = [
            _flatten(arguments, lambda _: ARGUMENT),
            _flatten(cls._read_environment(), lambda name: Source("environment", f"WEB_SEARCH_{name.upper()}")),
            *(_flatten(table, lambda _, source=source: source) for source, table in files),  # type: ignore[misc]
        ]
        for place in places:
            cls._check_entries(place)
        chosen, overruled = _merge(places)
        cls._narrow(chosen, overruled)
        settings = cls._make(
            {path: value for path, (value, _) in chosen.items()},
            {path[0]: source for path, (_, source) in chosen.items() if len(path) == 1},
        )
        settings._remember(chosen, overruled, files)  # noqa: SLF001 - an instance of this class
        return settings

    def source(self, name: str) -> Source:
        """Return the source of the setting *name*."""
        return self._sources.get(name, DEFAULT)

    def layer_source(self, layer: str, option: str) -> Source:
        """Return the source of an *option* in the table of a *layer*."""
        return self._layer_sources.get((layer, option), DEFAULT)

    @property
    def domains(self) -> Domains:
        """The domain policy."""
        return Domains(self.allowed_domains, self.blocked_domains)

    @property
    def files(self) -> tuple[Source, ...]:
        """The files that were read, in order of precedence."""
        return self._files

    def options(self, name: str) -> Mapping[str, Option]:
        """Return the options set for the provider *name*, with their sources, except its environment variables."""
        return self._options.get(name, {})

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic-settings fixes the names
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use only what `load` collects: it reads the environment and the files itself, to know each source."""
        return (init_settings,)

    def __getstate__(self) -> dict[Any, Any]:
        """Leave out the options of providers, which may be keys: the providers are pickled themselves."""
        state = super().__getstate__()
        return {
            **state,
            "__dict__": {**state["__dict__"], "providers": {}},
            "__pydantic_private__": {**(state["__pydantic_private__"] or {}), "_options": {}},
        }

    @classmethod
    def _read_environment(cls) -> dict[str, Any]:
        try:
            return EnvSettingsSource(cls)()
        except SettingsError as error:
            name = re.search('field "(\\w+)"', str(error))
            where = f"environment WEB_SEARCH_{name[1].upper()}" if name else "environment"
            raise ConfigurationError(f"{where}: not JSON") from None

    @classmethod
    def _make(cls, entries: Mapping[_Path, Any], sources: Mapping[str, Source] = MappingProxyType({})) -> Settings:
        values: dict[str, Any] = {}
        for path, value in entries.items():
            if len(path) == 3:
                values.setdefault(path[0], {}).setdefault(path[1], {})[path[2]] = value
            elif len(path) == 2:
                values.setdefault(path[0], {}).setdefault(path[1], {})
            else:
                values[path[0]] = value
        try:
            return cls(**values)
        except ValidationError as error:
            wrong = {sources.get(str(problem["loc"][0]), ARGUMENT) for problem in error.errors(include_input=False)}
            where = wrong.pop() if len(wrong) == 1 else ARGUMENT
            place = "settings" if where == ARGUMENT else where
            raise ConfigurationError(f"{place}: {describe_problems(error, cls.model_fields)}") from None

    @classmethod
    def _check_entries(cls, place: _Entries) -> None:
        """Reject unknown names, and what a found file may not set."""
        for path, (value, source) in place.items():
            if path[0] == "layers" and path[1:]:
                cls._check_layer(path, source)
                continue
            if len(path) == 3:
                check_entries(provider_class(path[1]), {path[2]: Option(value, source)})
                continue
            field = cls.model_fields.get(path[0])
            if field is None:  # pydantic-settings would take "ALLOW" for "allow"
                where = "settings" if source == ARGUMENT else source
                name = path[0] if path[0].isidentifier() else repr(path[0])
                raise ConfigurationError(f"{where}: {name}: not an option{suggest_name(path[0], cls.model_fields)}")
            if not source.trusted and not any(isinstance(note, FoundFile) for note in field.metadata):
                raise make_refusal(source, path[0], "may not be set here", variables=(f"WEB_SEARCH_{path[0].upper()}",))

    @classmethod
    def _narrow(cls, chosen: _Entries, overruled: Mapping[_Path, Any]) -> None:
        """Combine the domains of a found file with those of a trusted source that it would replace."""
        for name in ("allowed_domains", "blocked_domains"):
            if (name,) not in overruled:
                continue
            given, source = chosen[name,]
            found = getattr(cls._make({(name,): given}, {name: source}), name)
            trusted = getattr(cls._make({(name,): overruled[name,]}), name)
            both = Domains(allowed=trusted).narrow(found) if name == "allowed_domains" else Domains((), trusted + found)
            if both is None:
                raise make_refusal(source, name, "may only narrow those set elsewhere")
            chosen[name,] = getattr(both, name.removesuffix("_domains")), source

    @classmethod
    def _check_layer(cls, path: _Path, source: Source) -> None:
        """Reject layer options that a found file may not set: layers of other packages may do anything."""
        if source.trusted:
            return
        notes = field_notes(layer_class(path[1]))
        allowed = {option for option, some in notes.items() if any(isinstance(note, FoundFile) for note in some)}
        refused = path[2] not in allowed and path[2] in notes if len(path) == 3 else not allowed
        if refused:
            raise make_refusal(source, ".".join(path), "may not be set here")

    def _remember(self, chosen: _Entries, overruled: Mapping[_Path, Any], files: list[tuple[Source, Any]]) -> None:
        self._files = tuple(source for source, _ in files)
        for path, (value, source) in chosen.items():
            if len(path) == 1:
                self._sources[path[0]] = source
            elif path[0] == "layers":
                self._remember_layer(path, Option(value, source, overruled.get(path)))
            else:
                self._options.setdefault(path[1], {})[path[2]] = Option(value, source, overruled.get(path))
        self._check_limits({path[0]: value for path, value in overruled.items() if len(path) == 1})

    def _remember_layer(self, path: _Path, option: Option) -> None:
        if len(path) == 2:
            return
        self._layer_sources[path[1], path[2]] = option.source
        notes = field_notes(layer_class(path[1])).get(path[2], ())
        value = option.value
        if not option.source.trusted and isinstance(value, int | float) and too_high(value, notes, option.limit):
            why = f"may not be more than {limit_of(notes, option.limit)} here"
            raise make_refusal(option.source, ".".join(path), why)

    def _check_limits(self, overruled: Mapping[str, Any]) -> None:
        """
        Reject a limit in a found file that is higher than the file may set.

        Args:
            overruled: The values from trusted sources that the file overrules.

        """
        trusted = self._make({(name,): value for name, value in overruled.items()})
        set_by_trusted = {*overruled, *(name for name, source in self._sources.items() if source.trusted)}
        for name, source in self._sources.items():
            if source.trusted:
                continue
            notes = type(self).model_fields[name].metadata
            limit = getattr(trusted, name) if name in overruled else None
            why = None
            if too_high(getattr(self, name), notes, limit):
                why = f"may not be more than {limit_of(notes, limit)} here"
            elif replaced := {note.replaces for note in notes if isinstance(note, FoundFile)} & set_by_trusted:
                why = f"may not take the place of {', '.join(map(str, replaced))} here"
            if why:
                raise make_refusal(source, name, why, variables=(f"WEB_SEARCH_{name.upper()}",))


def _flatten(table: Mapping[str, Any], source: Callable[[str], Source]) -> _Entries:
    """Flatten the settings of one place, with current names for settings and providers instead of aliases."""
    entries: _Entries = {}
    for given, value in table.items():
        name = _OTHER_NAMES.get(given, given)
        if name not in {"providers", "layers"}:
            entries[name,] = value, source(name)
            continue
        if not isinstance(value, Mapping) or not all(isinstance(options, Mapping) for options in value.values()):
            raise ConfigurationError(f"{source(name)}: {name}: not a table for each {name.removesuffix('s')}")
        for whose, options in (by_name(value) if name == "providers" else value).items():
            if name == "layers":
                entries[name, whose] = {}, source(name)  # an empty table adds the layer, too
            entries |= {(name, whose, option): (given, source(name)) for option, given in options.items()}
    return entries


def _merge(places: list[_Entries]) -> tuple[_Entries, dict[_Path, Any]]:
    """Return the first entry for each setting and, if that is from a found file, the first trusted value."""
    chosen: _Entries = {}
    overruled: dict[_Path, Any] = {}
    for place in places:
        for path, (value, source) in place.items():
            if path not in chosen:
                chosen[path] = value, source
            elif source.trusted and not chosen[path][1].trusted:
                overruled.setdefault(path, value)
    return chosen, overruled


_OTHER_NAMES = {"search_provider": "provider", "read_provider": "reader", "max_page_length": "max_length"}
