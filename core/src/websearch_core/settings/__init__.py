"""
Load settings: from arguments, else the environment, else files, else the defaults.

The first file is the one that ``WEB_SEARCH_CONFIG`` names, else the nearest ``websearch.toml`` or ``[tool.websearch]``
table of a ``pyproject.toml``, from the working directory up to the root of the project. The second one, with lower
priority, is the user's own ``websearch.toml``. JSON and YAML are understood too::

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError

from .._registry import provider_class
from .._text.lists import NO_TEXTS, Texts
from ..errors import ConfigurationError
from ..layers._amounts import check_budget, split_texts
from ..models._domains import DomainNames, Domains
from ..provider._declare import FoundFile
from ._build import by_name, conceal
from ._places import (
    Place,
    check_limits,
    check_place,
    describe_invalid,
    merge,
    narrow,
    nest,
    parse_switch,
    read_environment,
    warn_of_keys,
)
from ._shapes import SWITCH, flatten
from ._sources import ARGUMENT, DEFAULT, Option, Source, Table, read_files

__all__ = [
    "Settings",
]


def _conceal_by_name(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: conceal(provider_class(name), given) for name, given in by_name(options).items()}


_Limits: TypeAlias = Annotated[Texts, BeforeValidator(split_texts), AfterValidator(check_budget)]


class Settings(BaseModel):
    """
    The settings, including the options of providers and layers.

    ``Settings(provider="brave", timeout=5)`` has these values and the defaults alone; `load` also reads the environment
    and the files. Either can be passed on: ``WebSearch(settings=...)``.

    Args:
        enabled: Whether anything may search or read at all.
        provider: The provider to search with. Several names are a chain, called in order. By default, one is chosen
            automatically.
        fuse: Whether several providers are asked at once and their results merged, instead of one after the other.
        reader: The provider to read pages with. Several names are a chain. By default, ``direct``; ``auto`` adds the
            local index if it was searched and, for pages that need scripts, an installed browser.
        allow: Networks and origins that pages may be read from although they are not public. By default, only public
            addresses.
        timeout: Seconds for a whole call: sets both of the next two.
        search_timeout: Seconds for a search.
        read_timeout: Seconds for reading a page, and for a search that reads pages too.
        connect_timeout: Seconds to wait for one connection.
        attempts: How often to send a request whose failures may be temporary.
        cache: Store answers and pages and reuse them: ``true``, or for how many seconds, or where (a path, or a URL of
            Redis). By default, nothing is stored.
        robots: Read only pages that the ``robots.txt`` of their site allows.
        throttle: A URL of Redis in which programs share the limits of services and hosts. By default, each process
            applies them by itself.
        max_length: Maximum characters of one part of a page.
        max_tokens: Maximum tokens of one part of a page, and of a tool's text. It replaces ``max_length``.
        links: What to do with the links in pages: ``keep`` them, keep only their ``text``, or ``drop`` them.
        comments: ``drop`` or ``keep`` what readers wrote about a page. By default, articles drop it, and other pages
            keep what belongs to them.
        reviews: The same for reviews. By default, what belongs to the page is kept.
        http_library: ``httpx`` or ``httpx2``.
        allowed_domains: The only domains, with their subdomains, that may be searched and read. By default, any.
        blocked_domains: Domains, with their subdomains, that may be neither searched nor read.
        max_snippet_chars: Maximum characters of each snippet. By default, only texts cut it, to 1,000.
        budget: Limits for what calls may use, such as ``1 USD/day``, ``500 credits/month`` or ``20 calls``. By default,
            none.
        providers: The options of each provider, by its name.
        layers: The options of each layer, by its name. By default requests are retried, and an option that no provider
            supports is an error.

    Raises:
        ConfigurationError: A value is wrong; the message names the setting, and never shows the value.

    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    enabled: Annotated[bool, FoundFile(at_most=True)] = True
    provider: Annotated[Texts, FoundFile()] = NO_TEXTS
    fuse: bool = False
    reader: Annotated[Texts, FoundFile()] = NO_TEXTS
    allow: Texts = NO_TEXTS
    timeout: Annotated[float | None, FoundFile(at_most=120)] = Field(default=None, gt=0)
    search_timeout: Annotated[float, FoundFile(at_most=120)] = Field(default=15.0, gt=0)
    read_timeout: Annotated[float, FoundFile(at_most=120)] = Field(default=30.0, gt=0)
    connect_timeout: Annotated[float, FoundFile(at_most=60)] = Field(default=5.0, gt=0)
    attempts: Annotated[int, FoundFile(at_most=5)] = Field(default=3, ge=1)
    cache: Annotated[bool | float | str | None, BeforeValidator(parse_switch), FoundFile(at_most=False)] = None
    robots: bool = False
    throttle: str | None = Field(default=None, repr=False)  # a URL may have a password
    max_length: Annotated[int, FoundFile(at_most=100_000)] = Field(default=15_000, ge=1)
    max_tokens: Annotated[int | None, FoundFile(at_most=25_000, replaces="max_length")] = Field(default=None, ge=1)
    links: Literal["keep", "text", "drop"] = "keep"
    comments: Annotated[Literal["drop", "keep"] | None, FoundFile()] = None
    reviews: Annotated[Literal["drop", "keep"] | None, FoundFile()] = None
    http_library: Literal["httpx", "httpx2"] = "httpx"
    allowed_domains: Annotated[DomainNames, FoundFile(narrows=True)] = NO_TEXTS
    blocked_domains: Annotated[DomainNames, FoundFile(narrows=True)] = NO_TEXTS
    max_snippet_chars: Annotated[int | None, FoundFile(at_most=1_000)] = Field(default=None, ge=1)
    budget: Annotated[_Limits, FoundFile(narrows=True)] = NO_TEXTS
    providers: Annotated[dict[str, dict[str, Any]], AfterValidator(_conceal_by_name)] = Field(
        default_factory=dict, repr=False
    )
    layers: dict[str, dict[str, Any]] = Field(default_factory=dict, repr=False)

    _places: list[Place] = PrivateAttr(default_factory=list)  # by precedence
    _chosen: Place = PrivateAttr(default_factory=dict)
    _files: tuple[Source, ...] = PrivateAttr(default=())

    if not TYPE_CHECKING:  # for type checkers, the fields are the arguments

        def __init__(self, **values: Any) -> None:
            self._fill([_as_place(Table(ARGUMENT, values))])

    @classmethod
    def load(cls, **explicit: object) -> Settings:
        """
        Load the settings; those of *explicit* that are not None win.

        Raises:
            ConfigurationError: A value is wrong, or in a file that may not set it; the message names the file, its line
                and the setting, or the variable, and never shows the value.

        """
        tables = read_files()
        places = [_as_place(_given(explicit)), read_environment(cls.model_fields), *map(_as_place, tables)]
        settings = cls.__new__(cls)
        settings._fill(places, tuple(table.source for table in tables))  # noqa: SLF001 - an instance of this class
        return settings

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Settings:
        """
        Return the settings of *mapping* and the defaults, without a look at the environment or any file.

        It may have any shape that a settings file may have, such as ``{"webSearch": {"tavily": {"apiKey": "..."}}}`` or
        ``{"enabled": True, "provider": "searxng", "url": "http://localhost:8888"}``.

        Raises:
            ConfigurationError: A name or value is wrong.

        """
        if not isinstance(mapping, Mapping):
            raise ConfigurationError(f"settings: must be a mapping, not {type(mapping).__name__}")
        return cls(**{str(name): value for name, value in mapping.items()})

    def override(self, **explicit: object) -> Settings:
        """
        Return these settings with those of *explicit* that are not None.

        Raises:
            ConfigurationError: A value is wrong.

        """
        settings = type(self).__new__(type(self))
        settings._fill([_as_place(_given(explicit)), *self._places], self._files)  # noqa: SLF001 - see `load`
        return settings

    def source(self, name: str) -> Source:
        """Return the source of the setting *name*."""
        return self._source_of((name,))

    def layer_source(self, layer: str, option: str) -> Source:
        """Return the source of an *option* in the table of a *layer*."""
        return self._source_of(("layers", layer, option))

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
        own = {path[2]: option for path, option in self._chosen.items() if path[:2] == ("providers", name) and path[2:]}
        return {option: one for option, one in own.items() if option != SWITCH}

    def switched_off(self, provider: str | None = None) -> Source | None:
        """Return what switches *provider* off, or everything; None if nothing does."""
        path = ("providers", provider, SWITCH) if provider else (SWITCH,)
        switch = self._chosen.get(path)
        on = self.enabled if provider is None else switch is None or switch.value
        return None if on else self._source_of(path)

    def __getstate__(self) -> dict[Any, Any]:
        """Leave out the options of providers, which may be keys: the providers are pickled themselves."""
        state = super().__getstate__()
        private = {
            **(state["__pydantic_private__"] or {}),
            "_places": [_without_options(place) for place in self._places],
        }
        private["_chosen"] = _without_options(self._chosen)
        return {**state, "__dict__": {**state["__dict__"], "providers": {}}, "__pydantic_private__": private}

    def _fill(self, places: list[Place], files: tuple[Source, ...] = ()) -> None:
        """Check the *places*, set the fields to the first value of each setting, and remember where it comes from."""
        cls = type(self)
        for place in places:
            check_place(place, cls.model_fields)
        chosen = narrow(merge(places))
        try:
            super().__init__(**nest(chosen))
        except ValidationError as error:
            raise describe_invalid(error, chosen) from None
        self._places, self._chosen, self._files = places, chosen, files
        check_limits(self, chosen)

    def _source_of(self, path: tuple[str, ...]) -> Source:
        option = self._chosen.get(path)
        return option.source if option else DEFAULT


def _given(explicit: Mapping[str, object]) -> Table:
    return Table(ARGUMENT, {name: value for name, value in explicit.items() if value is not None})


def _as_place(table: Table) -> Place:
    place = flatten(table, Settings.model_fields)
    if table.exposed:
        warn_of_keys(place)
    return place


def _without_options(place: Place) -> Place:
    return {path: option for path, option in place.items() if path[0] != "providers" or path[2:] == (SWITCH,)}
