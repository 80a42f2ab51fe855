"""
Where settings come from: an explicit argument, else the environment, else a file, else the default.

The file is the one that ``WEB_SEARCH_CONFIG`` names, else the nearest ``websearch.toml`` or table
``[tool.websearch]`` of a ``pyproject.toml`` from the working directory up to the root of the project, and below it the
user's own ``websearch.toml``::

    provider = "searxng"             # or a chain: ["tavily", "brave"]
    reader = "direct"
    max_length = 8_000

    [providers.searxng]
    base_url = "http://localhost:8888"

In the environment: ``WEB_SEARCH_PROVIDER``, ``WEB_SEARCH_READER``, ``WEB_SEARCH_ALLOW`` and so on, lists separated by
commas, and for each provider the variables that its file names, such as ``BRAVE_API_KEY``.

A file that was merely found may set only the fields with the note `FoundFile`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from ._registry import provider_class
from ._sources import ARGUMENT, DEFAULT, Source, read_files, refusal
from .errors import ConfigurationError
from .layers import layer_class
from .models import describe_problems
from .provider._declare import FoundFile, field_notes

__all__ = [
    "Settings",
]

_Path = tuple[str, ...]
_Said = dict[_Path, tuple[Any, Source]]  # what one place says of each setting, by name or ("providers", whose, option)


def _listed(value: Any) -> Any:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    return value


def _by_name_concealed(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: conceal(provider_class(name), given) for name, given in by_name(options).items()}


_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]


class Settings(BaseSettings):
    """
    The settings that are not a provider's own.

    Args:
        provider: Who searches. Several names are a chain, asked in order. Left out, one is chosen automatically.
        reader: Who reads pages. Several names are a chain. Left out, ``direct`` does.
        allow: Networks and origins that pages may be read from although they are not public. Left out, only public
            addresses.
        timeout: Seconds for a whole call.
        connect_timeout: Seconds to wait for one connection.
        attempts: How often a request is sent if its failure may be temporary.
        max_length: Characters of a page in one part.
        max_tokens: Tokens of a page in one part, and of a text of the tools. It takes the place of ``max_length``.
        links: What becomes of the links in pages: ``keep`` them, keep their ``text`` alone, or ``drop`` them.
        http_library: ``httpx`` or ``httpx2``.
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
    links: Annotated[Literal["keep", "text", "drop"], FoundFile()] = "keep"
    http_library: Literal["httpx", "httpx2"] = "httpx"
    providers: Annotated[dict[str, dict[str, Any]], AfterValidator(_by_name_concealed)] = Field(
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
        Read the settings; those of *explicit* that are not None win.

        Raises:
            ConfigurationError: A value is wrong, or stands in a file that is not trusted with it; the message says
                which, and never shows it.

        """
        files = read_files()
        arguments = {name: value for name, value in explicit.items() if value is not None}
        places = [
            _flat(arguments, lambda _: ARGUMENT),
            _flat(cls._from_environment(), lambda name: Source("environment", f"WEB_SEARCH_{name.upper()}")),
            *(_flat(table, lambda _, source=source: source) for source, table in files),  # type: ignore[misc]
        ]
        for place in places:
            cls._check_entries(place)
        chosen, overruled = _merged(places)
        settings = cls._made({path: value for path, (value, _) in chosen.items()})
        settings._remember(chosen, overruled, files)  # noqa: SLF001 - it is one of these
        return settings

    def source(self, name: str) -> Source:
        """Return where the setting *name* comes from."""
        return self._sources.get(name, DEFAULT)

    def layer_source(self, layer: str, option: str) -> Source:
        """Return where an *option* in the table of a *layer* comes from."""
        return self._layer_sources.get((layer, option), DEFAULT)

    @property
    def files(self) -> tuple[Source, ...]:
        """The files that were read, the one that wins first."""
        return self._files

    def options(self, name: str) -> Mapping[str, Option]:
        """Return what was set for the provider called *name*, and by whom; its environment variables are not here."""
        return self._options.get(name, {})

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - their names are given
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take only what `load` puts together: it reads the environment and the files, to know who says what."""
        return (init_settings,)

    def __getstate__(self) -> dict[Any, Any]:
        """Leave out the options of providers, which may be keys: the providers are made, and pickled beside this."""
        state = super().__getstate__()
        return {
            **state,
            "__dict__": {**state["__dict__"], "providers": {}},
            "__pydantic_private__": {**(state["__pydantic_private__"] or {}), "_options": {}},
        }

    @classmethod
    def _from_environment(cls) -> dict[str, Any]:
        try:
            return EnvSettingsSource(cls)()
        except SettingsError as error:
            raise ConfigurationError(f"settings: {error}") from None

    @classmethod
    def _made(cls, said: Mapping[_Path, Any]) -> Settings:
        values: dict[str, Any] = {}
        for path, value in said.items():
            if len(path) == 3:
                values.setdefault(path[0], {}).setdefault(path[1], {})[path[2]] = value
            elif len(path) == 2:
                values.setdefault(path[0], {}).setdefault(path[1], {})
            else:
                values[path[0]] = value
        try:
            return cls(**values)
        except ValidationError as error:
            raise ConfigurationError(f"settings: {describe_problems(error)}") from None

    @classmethod
    def _check_entries(cls, place: _Said) -> None:
        """Refuse what is no setting at all, and what a found file may not set."""
        for path, (value, source) in place.items():
            if path[0] == "layers" and path[1:]:
                cls._check_layer(path, source)
                continue
            if len(path) == 3:
                check_entries(provider_class(path[1]), {path[2]: Option(value, source)})
                continue
            field = cls.model_fields.get(path[0])
            if field is None:  # pydantic-settings would take "ALLOW" for "allow"
                raise ConfigurationError(f"settings: {path[0]!r}: Extra inputs are not permitted")
            if not source.trusted and not any(isinstance(note, FoundFile) for note in field.metadata):
                raise refusal(source, path[0], "may not be set here", variables=(f"WEB_SEARCH_{path[0].upper()}",))

    @classmethod
    def _check_layer(cls, path: _Path, source: Source) -> None:
        """Refuse what a found file may not set of a layer: nobody knows what those of other packages do."""
        if source.trusted:
            return
        notes = field_notes(layer_class(path[1]))
        harmless = {option for option, some in notes.items() if any(isinstance(note, FoundFile) for note in some)}
        refused = path[2] not in harmless and path[2] in notes if len(path) == 3 else not harmless
        if refused:
            raise refusal(source, ".".join(path), "may not be set here")

    def _remember(self, chosen: _Said, overruled: Mapping[_Path, Any], files: list[tuple[Source, Any]]) -> None:
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
            raise refusal(option.source, ".".join(path), why)

    def _check_limits(self, overruled: Mapping[str, Any]) -> None:
        """
        Refuse a limit of a found file that is higher than what it may set.

        Args:
            overruled: What trusted sources say of the settings that the file overrules.

        """
        trusted = self._made({(name,): value for name, value in overruled.items()})
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
                raise refusal(source, name, why, variables=(f"WEB_SEARCH_{name.upper()}",))


def _flat(table: Mapping[str, Any], source: Callable[[str], Source]) -> _Said:
    """Bring the settings of one place under the names used here, those of providers under the providers' real names."""
    said: _Said = {}
    for given, value in table.items():
        name = _OTHER_NAMES.get(given, given)
        if name not in {"providers", "layers"}:
            said[name,] = value, source(name)
            continue
        if not isinstance(value, Mapping) or not all(isinstance(options, Mapping) for options in value.values()):
            raise ConfigurationError(f"{source(name)}: {name}: not a table for each {name.removesuffix('s')}")
        for whose, options in (by_name(value) if name == "providers" else value).items():
            if name == "layers":
                said[name, whose] = {}, source(name)  # an empty table asks for a layer as well
            said |= {(name, whose, option): (given, source(name)) for option, given in options.items()}
    return said


def _merged(places: list[_Said]) -> tuple[_Said, dict[_Path, Any]]:
    """Return what is first said of each setting and, where a found file says it, what a trusted source would have."""
    chosen: _Said = {}
    overruled: dict[_Path, Any] = {}
    for place in places:
        for path, (value, source) in place.items():
            if path not in chosen:
                chosen[path] = value, source
            elif source.trusted and not chosen[path][1].trusted:
                overruled.setdefault(path, value)
    return chosen, overruled


_OTHER_NAMES = {"search_provider": "provider", "read_provider": "reader", "max_page_length": "max_length"}
