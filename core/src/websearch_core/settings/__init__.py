"""Load settings: from arguments, else the environment, else files, else the defaults.

The first file is the one that ``WEB_SEARCH_CONFIG`` names, else the nearest
``websearch.toml`` or ``[tool.websearch]`` table of a ``pyproject.toml``, from the
working directory up to the root of the project. The second one, with lower priority, is
the user's own ``websearch.toml``. JSON and YAML are understood too.

Environment variables: ``WEB_SEARCH_PROVIDER``, ``WEB_SEARCH_RETRY``,
``WEB_SEARCH_MAX_LENGTH`` and so on, with lists separated by commas, and for each
provider the variables that its module declares, such as ``BRAVE_API_KEY``.

A file found in or above the working directory may set only the fields annotated with
`ProjectFile`.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    ValidationError,
)

from .._registry import provider_class, registered_name
from .._text.lists import NO_TEXTS, Texts
from ..errors import ConfigurationError, InvalidOption
from ..models import SearchQuery
from ..models._domains import DomainNames, Domains
from ..provider._declare import ProjectFile
from . import _merge
from ._build import conceal, is_public
from ._merge import Options
from ._shapes import SWITCH, Name, flatten
from ._sources import ARGUMENT, DEFAULT, Option, Source, Table, read_files
from ._values import (
    Http,
    HttpDefaults,
    PerRun,
    ReadDefaults,
    Seconds,
    Timeout,
    find_setting,
    show_combination,
    show_layer,
    show_options,
)

if TYPE_CHECKING:
    from ..models import SearchOptions
    from ..reading import ReadOptions
    from ._values import Combine, Keep, Obey, Pace, Repeat, Spend
else:
    Combine = Any
    Keep = Any
    Obey = Any
    Pace = Any
    Repeat = Any
    Spend = Any
    SearchOptions = dict[str, Any]
    ReadOptions = ReadDefaults

__all__ = ["Http", "Settings", "Timeout"]


def _conceal_keys(
    options: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """Return the *options* of providers, with names instead of aliases."""
    if not all(isinstance(table, Mapping) for table in options.values()):
        raise ConfigurationError(
            "providers: must map names of providers to mappings of their options"
        )
    return {
        registered_name(name): conceal(provider_class(name), table)
        for name, table in options.items()
    }


def _check_search_options(options: dict[str, Any]) -> dict[str, Any]:
    try:
        query = SearchQuery.of("any", **options)
    except InvalidOption as error:
        raise ValueError(str(error)) from None
    return {name: getattr(query, name) for name in query.model_fields_set - {"text"}}


def _as_mapping(options: ReadDefaults) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for name in ("max_length", *options.model_fields_set):
        value = getattr(options, name)
        if value is not None:
            mapping[name] = value
    return mapping


_USUAL_TIMEOUT: Any = Timeout()  # of any type, since a descriptor is none of these
_NO_OPTIONS: Any = {}


class Settings(BaseModel):
    """The settings, including the options of providers and layers.

    ``Settings(provider="brave", timeout=5)`` has these values and the defaults alone;
    `load` also reads the environment and the files. Either can be passed on:
    ``WebSearch(settings=...)``.

    The settings are the arguments of `WebSearch` of the same names, which explains
    them, and these:

    Args:
        enabled: Whether anything may search or read at all.
        providers: The options of each provider, by its name.
        layers: The options of each layer that is not a setting itself, by its name:
            ``relax``, ``breaker``, ``single_flight``, and those of other
            packages.

    Raises:
        ConfigurationError: A value is wrong; the message names the setting, and never
            shows the value.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True
    )

    enabled: Annotated[bool, ProjectFile(at_most=True)] = True
    provider: Annotated[Texts, ProjectFile(), PerRun()] = NO_TEXTS
    reader: Annotated[Texts, ProjectFile(), PerRun()] = NO_TEXTS
    internal: Texts = NO_TEXTS
    allowed_domains: Annotated[DomainNames, ProjectFile(narrows=True), PerRun()] = (
        NO_TEXTS
    )
    blocked_domains: Annotated[DomainNames, ProjectFile(narrows=True), PerRun()] = (
        NO_TEXTS
    )
    timeout: Annotated[Seconds, PerRun()] = _USUAL_TIMEOUT
    combine: Annotated[Combine, PlainSerializer(show_combination)] = None
    retry: Annotated[Repeat, ProjectFile()] = None
    cache: Annotated[Keep, ProjectFile(at_most=False), PlainSerializer(show_layer)] = (
        Field(default=None, repr=False)
    )  # a URL may have a password
    budget: Annotated[Spend, ProjectFile(narrows=True)] = None
    # the same
    throttle: Annotated[Pace, PlainSerializer(show_layer)] = Field(
        default=None, repr=False
    )
    robots: Obey = None
    search_options: Annotated[
        SearchOptions, AfterValidator(_check_search_options), PerRun()
    ] = _NO_OPTIONS
    read_options: Annotated[
        ReadOptions,
        AfterValidator(_as_mapping),
        PlainSerializer(show_options),
        PerRun(),
    ] = Field(default={}, validate_default=True)
    http: HttpDefaults = Field(default={}, validate_default=True)
    providers: Annotated[dict[str, dict[str, Any]], AfterValidator(_conceal_keys)] = (
        Field(default_factory=dict, repr=False)
    )
    layers: dict[str, dict[str, Any]] = Field(default_factory=dict, repr=False)

    _sources: list[Options] = PrivateAttr(default_factory=list)  # by precedence
    _chosen: Options = PrivateAttr(default_factory=dict)
    _files: tuple[Source, ...] = PrivateAttr(default=())

    if not TYPE_CHECKING:  # for type checkers, the fields are the arguments

        def __init__(self, **values: Any) -> None:
            self._fill([_as_options(Table(ARGUMENT, values))])

    @classmethod
    def load(cls, **explicit: object) -> Settings:
        """Load the settings; those of *explicit* that are not None win.

        Raises:
            ConfigurationError: A value is wrong, or in a file that may not set it; the
                message names the file, its line and the setting, or the variable, and
                never shows the value.
        """
        tables = read_files()
        sources = [
            _as_options(_as_table(explicit)),
            _merge.read_environment(cls.model_fields),
            *map(_as_options, tables),
        ]
        files = tuple(table.source for table in tables)
        settings = cls.__new__(cls)
        return settings._fill(sources, files)  # noqa: SLF001 - of this class

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Settings:
        """Return the settings of *mapping* and the defaults, without a look at the
        environment or any file.

        It may have any shape that a settings file may have, such as ``{"webSearch":
        {"tavily": {"apiKey": "..."}}}`` or ``{"enabled": True, "provider": "searxng",
        "url": "http://localhost:8888"}``. What ``model_dump`` returns can be read
        again; in it, None is what nobody set.

        Raises:
            ConfigurationError: A name or value is wrong.
        """
        if not isinstance(mapping, Mapping):
            raise ConfigurationError(
                f"settings: must be a mapping, not {type(mapping).__name__}"
            )
        settings = {
            str(name): value for name, value in mapping.items() if value is not None
        }
        return cls(**settings)

    def override(self, **explicit: object) -> Settings:
        """Return these settings with those of *explicit* that are not None; errors as
        in `load`.
        """
        sources = [_as_options(_as_table(explicit)), *self._sources]
        settings = type(self).__new__(type(self))
        return settings._fill(sources, self._files)  # noqa: SLF001 - of this class

    def source(self, *path: str) -> Source:
        """Return the source of a setting, or of a part of one: ``source("timeout",
        "read")``.
        """
        option = self._chosen.get(Name(*path))
        return option.source if option else DEFAULT

    def find_layer(self, kind: str) -> Any:
        """Return the layer *kind* of settings files with the options that are set, even
        if it is switched off.
        """
        return _merge.build_layer(kind, _merge.options_of(kind, self._chosen), DEFAULT)

    def layer_options(self, kind: str) -> Mapping[str, Option]:
        """Return the options set for the layer *kind*, with their sources."""
        return _merge.options_of(kind, self._chosen)

    def chosen_layer(self, name: str) -> str | bool | None:
        """Return the *kind* of layer that the setting *name* chooses, False if none, or
        None if it says nothing.
        """
        switch = self._chosen.get(Name(name))
        if switch is None:
            return None
        if isinstance(switch.value, str | bool | None):
            return switch.value
        return type(switch.value).__name__

    @property
    def domains(self) -> Domains:
        """The domain policy."""
        return Domains(self.allowed_domains, self.blocked_domains)

    @property
    def files(self) -> tuple[Source, ...]:
        """The files that were read, in order of precedence."""
        return self._files

    def options(self, name: str) -> Mapping[str, Option]:
        """Return the options set for the provider *name*, with their sources, except
        its environment variables.
        """
        options = _merge.options_of(name, self._chosen, "providers")
        options.pop(SWITCH, None)
        return options

    def switched_off(self, provider: str | None = None) -> Source | None:
        """Return what switches *provider* off, or everything; None if nothing does."""
        path = ("providers", provider, SWITCH) if provider else (SWITCH,)
        switch = self._chosen.get(Name(*path))
        is_on = switch is None or switch.value
        if provider is None:
            is_on = self.enabled
        return None if is_on else self.source(*path)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Settings:
        # a value, whose layers may hold what cannot be copied, such as a rate limiter
        return self

    def __getstate__(self) -> dict[Any, Any]:
        """Leave out the options of providers that may be keys."""
        public = self.model_copy(update={"providers": {}})
        public._sources = [*map(_without_keys, self._sources)]  # noqa: SLF001 - its own
        public._chosen = _without_keys(self._chosen)  # noqa: SLF001
        return super(Settings, public).__getstate__()

    def _fill(self, sources: list[Options], files: tuple[Source, ...] = ()) -> Self:
        """Check each source, set the fields to the first value of each setting, and
        remember where it comes from.
        """
        cls = type(self)
        for options in sources:
            _merge.check_options(options, cls.model_fields)
        chosen = _merge.narrow(_merge.merge(sources))
        try:
            super().__init__(**_merge.nest(chosen))
        except ValidationError as error:
            raise _merge.describe_invalid(error, chosen) from None
        self._sources = sources
        self._chosen = chosen
        self._files = files
        _merge.check_limits(self, chosen)
        return self


def _as_table(explicit: Mapping[str, object]) -> Table:
    entries = {name: value for name, value in explicit.items() if value is not None}
    return Table(ARGUMENT, entries)


def _as_options(table: Table) -> Options:
    options = flatten(table, Settings.model_fields)
    if table.exposed:
        _merge.warn_of_keys(options)
    return options


def _without_keys(options: Options) -> Options:
    """Return *options* without what may be a key."""
    public: Options = {}
    for name, option in options.items():
        word = name.option or SWITCH
        is_secret = find_setting(name.group, name.part).is_secret
        if name.group == "providers" and word != SWITCH:
            is_secret = not is_public(provider_class(name.parent), word)
        if not is_secret:
            public[name] = option
    return public
