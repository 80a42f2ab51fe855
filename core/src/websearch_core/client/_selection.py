"""Select the providers for search and reading, once, when a `WebSearch` is made.

Explicit argument > ``WEB_SEARCH_PROVIDER`` or the settings file > the first of
`AUTOMATIC` that is configured > DuckDuckGo. An explicit choice is kept: there is no
fallback unless several providers are named. Only the automatic choice without any key
falls back by itself: if DuckDuckGo answers with a challenge, to Tavily's keyless tier.
"""

from __future__ import annotations
import contextlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from .. import errors, events
from .._registry import (
    find_class,
    is_known,
    known,
    provider_class,
    registered_name,
    unknown_provider,
)
from .._runtime.scope import current_call
from .._text.lists import split_list
from .._text.urls import Origin, find_origin, is_this_machine, parse_holes
from ..flow import Call, Flow
from ..layers import (
    Breaker,
    Fallback,
    Layer,
    Rank,
    Relax,
    Retry,
    SingleFlight,
    Throttle,
    leaves,
)
from ..layers._layer import address, check_part, parts
from ..layers._stack import Stack
from ..layers._trail import Trail, Turn
from ..models import Page, SearchQuery
from ..provider._declare import destinations
from ..provider._ports import (
    PageReader,
    Provider,
    Role,
    SearchProvider,
    can,
    needs_network,
)
from ..settings import Settings
from ..settings._build import build, collect_options
from ..settings._merge import check_home
from ..settings._values import CONCERNS

if TYPE_CHECKING:
    from ..layers import Cache, CacheBackend
    from ._signature import Choice

_log = logging.getLogger(__name__)
_log_once = cache(_log.log)

AUTOMATIC = (
    "tavily", "brave", "searxng", "exa", "perplexity", "linkup", "parallel", "you",
    "firecrawl", "kagi", "serper",
    "serpapi", "searchapi", "mojeek", "jina", "keenable", "ollama",
)  # fmt: skip
AUTO = "auto"  # as a reader: whatever reads pages on this machine
# nobody has chosen them unless there is a key
_KEY_OPTIONAL = frozenset({"firecrawl", "jina", "keenable", "you"})


@dataclass
class Selection:
    """Makes the providers of one `WebSearch`.

    Each name has one instance, so that a provider that searches and reads shares its
    state.
    """

    settings: Settings
    _made: dict[str, Provider] = field(default_factory=dict)
    # objects that the caller made, to search with
    _given: list[Provider] = field(default_factory=list)
    _has_reader: bool = False  # somebody chose who reads

    def __post_init__(self) -> None:
        """Reject unknown names early, and everything if web search is switched off."""
        if off := self.settings.switched_off():
            raise errors.ConfigurationError(
                f"web search is switched off: {off.at()} is false"
            )

    def searchers(
        self, choice: Choice | None, **one: Any
    ) -> tuple[list[Provider], bool]:
        """Return the providers to search with, in order, and whether we chose; *one*
        has options of the only one.
        """
        chosen = _as_list(choice) or list(self.settings.provider)
        self._given = [item for item in chosen if not isinstance(item, str)]
        if one and (len(chosen) != 1 or not isinstance(chosen[0], str)):
            raise errors.ConfigurationError(
                f"{' and '.join(one)}: name the one provider that this is for, or give "
                f"the provider itself, such as "
                "Tavily(api_key=...)"
            )
        if chosen:
            return [
                self._find_for_role(item, "search", **one) for item in chosen
            ], False
        for name in AUTOMATIC:
            if self.settings.switched_off(name):
                continue
            with contextlib.suppress(errors.MissingKey):
                provider = self._find_for_role(name, "search")
                if (
                    name not in _KEY_OPTIONAL
                    or getattr(provider, "api_key", None) is not None
                ):
                    return [provider], True
        return self._search_without_key(), True

    def _search_without_key(self) -> list[Provider]:
        """Return DuckDuckGo and Tavily's keyless tier, unless they are switched off."""
        on = [
            name
            for name in ("duckduckgo", "tavily")
            if not self.settings.switched_off(name)
        ]
        if not on:
            raise errors.ConfigurationError(
                "duckduckgo and tavily, which need no key, are switched off: name a "
                "provider"
            )
        made = [
            build_provider(name, self.settings, keyless=True)
            if name == "tavily"
            else name
            for name in on
        ]
        return [self._find_for_role(item, "search") for item in made]

    def readers(
        self, choice: Choice | None, searchers: Sequence[Provider]
    ) -> tuple[list[Provider], bool]:
        """Return the readers, in order, and whether the choice was automatic.

        Some *searchers* can read as well. An object that the caller made reads, too; a
        name says only who searches.
        """
        own = [
            item
            for item in self._given
            if _can_all(item, "read") and not _reads_offline(item)
        ]
        chosen = _as_list(choice) or own or list(self.settings.reader)
        self._has_reader = bool(chosen)
        if chosen:
            return self._expand(chosen, searchers), AUTO in chosen
        return self._read_without_service(searchers, rendered=False), True

    def _expand(
        self, chosen: Sequence[str | Provider], searchers: Sequence[Provider]
    ) -> list[Provider]:
        chain: list[Provider] = []
        for item in chosen:
            auto = item == AUTO
            found = (
                self._read_without_service(searchers)
                if auto
                else [self._find_for_role(item, "read")]
            )
            chain += [
                reader for reader in found if all(reader is not one for one in chain)
            ]
        return chain

    def _read_without_service(
        self, searchers: Sequence[Provider], *, rendered: bool = True
    ) -> list[Provider]:
        """Return the readers of this machine: an index that was searched, ``direct``,
        and a browser if there is one.
        """
        # an index returns its pages without fetching
        offline = [item for item in searchers if _reads_offline(item)]
        chain = [self._find_for_role(item, "read") for item in (*offline, "direct")]
        if rendered and not self.settings.switched_off("browser"):
            browser = self._find_for_role("browser", "read")
            if (
                not callable(find := getattr(browser, "problem", None))
                or find() is None
            ):
                chain.append(browser)
        return chain

    def page_reader(self, reader: PageReader, stack: Stack) -> PageReader:
        """Return what reads a single page: *reader*, and a browser if the page needs it
        and nobody chose who reads.
        """
        # and not what a test has in its place
        is_direct = any(leaf.name == "direct" for leaf in leaves(reader))
        if self._has_reader or not is_direct or self.settings.switched_off("browser"):
            return reader
        return Rendering(
            reader,
            lambda: read_chain(
                [self._find_for_role("browser", "read")], stack, automatic=False
            ),
        )

    def name_of(self, provider: Provider) -> str:
        """Return the name by which *provider* was requested; a plug-in may call itself
        something else.
        """
        return next(
            (name for name, made in self._made.items() if made is provider),
            provider.name,
        )

    def _find_for_role(self, item: str | Provider, role: Role, **one: Any) -> Provider:
        """Return the provider that *item* is or names, after checking that it can do
        *role*.
        """
        if isinstance(item, str) and not is_known(item):
            problem = unknown_provider(item, _able(role), f"those that can {role}:")
            raise type(problem)(f"{self._place(item, role)}{problem}")
        # rather than that its key is missing
        if isinstance(item, str) and not can(provider_class(item), role):
            raise errors.ConfigurationError(
                f"{self._place(item, role)}{_unable(registered_name(item), role)}"
            )
        provider = self._find_by_name(item, **one) if isinstance(item, str) else item
        check_provider(provider, self.settings)
        if not _can_all(provider, role):
            raise _unable(provider.name, role)
        return provider

    def _place(self, name: str, role: Role) -> str:
        """Return where the file or the variable is that names a provider, for messages;
        empty if an argument does.
        """
        setting = "provider" if role == "search" else "reader"
        source = self.settings.source(setting)
        return (
            f"{source.at()}: "
            if source.kind != "argument" and name in getattr(self.settings, setting)
            else ""
        )

    def _find_by_name(self, name: str, **one: Any) -> Provider:
        name = registered_name(name)
        if name not in self._made:
            self._made[name] = build_provider(name, self.settings, **one)
        return self._made[name]


def check_provider(provider: Provider, settings: Settings) -> None:
    """Raise `ConfigurationError` unless *provider*, and each inside it, meets its port
    and keeps its key secure.
    """
    _, origins = parse_holes(settings.internal)
    for part in parts(provider):
        check_part(part)
        check_transport(part, origins)


def search_chain(
    providers: Sequence[Provider], stack: Stack, *, automatic: bool
) -> SearchProvider:
    """Compose *providers* and the layers of *stack*. Of our own choice, the next is
    asked only if one is blocked.
    """
    combine = Fallback(on=(errors.Blocked,)) if automatic else Fallback()
    return cast("SearchProvider", stack.chain(providers, "search", combine=combine))


def read_chain(
    readers: Sequence[Provider], stack: Stack, *, automatic: bool
) -> PageReader:
    """Compose *readers* in the same way. A miss in the local index adds no note unless
    the index was requested.
    """
    combine = Fallback(silent_errors=(errors.PageNotFound,) if automatic else ())
    return cast("PageReader", stack.chain(readers, "read", combine=combine))


def make_stack(
    settings: Settings,
    layers: Sequence[Layer] | None,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> Stack:
    """Return the layers of one `WebSearch`: the defaults, adjusted by the settings, and
    then by arguments.

    Those that are *given* as arguments go around providers that have layers of their
    own, too.
    """
    chosen = {
        name: layer
        for name in CONCERNS
        if (layer := getattr(settings, name)) is not None and layer is not False
    }
    own = [chosen[name] for name in CONCERNS if name in given and name in chosen]
    if own and layers is None:
        raise errors.ConfigurationError(
            f"{min(given.keys() & chosen)}: not with layers=None, which removes all "
            f"layers"
        )
    for layer in layers if isinstance(layers, list | tuple) else ():
        check_home(layer)
    defaults: dict[str, Layer] = {
        "relax": Relax(unsupported="raise"),
        "single_flight": SingleFlight(),
    }
    usual: dict[str, Layer] = {"retry": Retry(), "throttle": Throttle()}
    defaults |= {
        name: layer
        for name, layer in usual.items()
        if getattr(settings, name) is not False
    }
    defaults |= chosen | {name: settings.find_layer(name) for name in settings.layers}
    has_breaker = any(layer.rank == Rank.BREAKER for layer in defaults.values())
    return Stack(
        [*layers, *own] if isinstance(layers, list | tuple) else layers,
        list(defaults.values()),
        [] if has_breaker else [Breaker()],
    )


def check_search_options(options: Mapping[str, Any], provider: SearchProvider) -> None:
    """Raise `UnsupportedOption` if *provider* lacks one of *options*, unless they say
    that a note is enough.
    """
    if options.get("extra"):
        address(SearchQuery.of("any", extra=options["extra"]), provider)
    layers = [getattr(part, "layer", None) for part in parts(provider)]
    relaxes = [layer.unsupported for layer in layers if isinstance(layer, Relax)]
    if (
        not options
        or (options.get("unsupported") or next(iter(relaxes), "raise")) == "note"
    ):
        return
    # imported here: few programs set options of every search
    from ..provider._http import check_options

    # kept to in any case
    query = SearchQuery.of("any", **options).without(
        "allowed_domains", "blocked_domains"
    )
    failures: list[errors.UnsupportedOption] = []
    for leaf in leaves(provider):
        try:
            if hasattr(leaf, "options"):  # else it does not say
                check_options(query, leaf)
        except errors.UnsupportedOption as failure:
            failures.append(failure)
        else:
            return
    raise failures[0]


def find_cache(settings: Settings) -> CacheBackend:
    """Return where the cache of these settings is, whether it is switched on or not."""
    layer = settings.cache or settings.find_layer("cache")
    return cast("Cache", layer).backend


def _as_list(choice: Choice | None) -> list[str | Provider]:
    if choice is None:
        return []
    choice = split_list(choice)
    several: list[str | Provider] = (
        list(choice) if isinstance(choice, list | tuple) else [cast("Provider", choice)]
    )
    if not several:
        raise errors.ConfigurationError("the list of providers is empty")
    return several


def _unable(name: str, role: Role) -> errors.ConfigurationError:
    return errors.ConfigurationError(
        f"{name!r} cannot {role}; those that can: {', '.join(_able(role))}"
    )


def _able(role: Role) -> list[str]:
    """Return the names of the providers that can do *role*. A plug-in whose package is
    broken can do nothing.
    """
    return [name for name in known() if can(find_class(name), role)]


def _can_all(provider: Provider, role: Role) -> bool:
    """A layer can do what it has a method for, if everything inside it can, too."""
    return all(can(part, role) for part in parts(provider))


def _reads_offline(provider: Provider) -> bool:
    return _can_all(provider, "read") and not any(
        needs_network(leaf) for leaf in leaves(provider)
    )


def build_provider(name: str, settings: Settings, **explicit: Any) -> Any:
    """Construct the provider called *name* from arguments, environment and file; errors
    as in `build`.
    """
    cls, own = provider_class(name), registered_name(name)
    if off := settings.switched_off(own):
        raise errors.ConfigurationError(f"{own} is switched off: {off.at()} is false")
    return build(cls, collect_options(cls, settings.options(own), explicit), own)


def check_transport(provider: Any, allowed: Collection[Origin]) -> None:
    """Refuse to send a provider's key over plain http, except within this machine, or
    to an *allowed* origin.
    """
    if getattr(provider, "api_key", None) is None:
        return
    for name, url in destinations(provider).items():
        parts, origin = urlsplit(url), find_origin(url)
        if parts.scheme == "https" or (
            origin and (is_this_machine(origin[1]) or origin in allowed)
        ):
            continue
        raise errors.ConfigurationError(
            f"{provider.name}: {name} would send the key unencrypted; use https, or "
            f"allow the origin by "
            f"internal=['http://{parts.netloc}']"
        )


class Rendering:
    """Reads one page where nobody chose a reader, and renders it if it needs its
    scripts.

    It does so only if a browser is installed, and the run is not that of a tenant.

    The reader ``browser`` is made when it is first needed: its modules take a while to
    import.
    """

    def __init__(self, usual: PageReader, make: Callable[[], PageReader]) -> None:
        self.name: str = usual.name
        self._usual, self._make = usual, make
        self._browser: PageReader | None = None

    def __getstate__(self) -> dict[str, Any]:
        # what makes it has closures
        return {**vars(self), "_browser": self._browser or self._make(), "_make": None}

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*."""
        turn: Turn[Page] = Turn(self._usual)
        try:
            return (yield from self._usual.read(url))
        except errors.ServiceError as error:
            *_, last = getattr(error, "exceptions", (error,))
            if (
                not isinstance(last, errors.NeedsBrowser)
                or current_call().account.tenant
            ):
                raise
            turn.end = failure = error
        turn.stop()
        try:
            return (yield from self._render(url, turn))
        except errors.ConfigurationError as error:
            # there is no browser, or it does not start
            _log_once(
                logging.WARNING, f"a page needs a browser to run its scripts: {error}"
            )
            failure.add_note(f"A browser could read it: {error}")
            raise failure from None

    def _render(self, url: str, failed: Turn[Page]) -> Flow[Page]:
        browser: PageReader = yield Call(self._find)
        _log_once(
            logging.INFO,
            'a browser renders pages that need their scripts; reader="direct" switches '
            "it off",
        )
        error = cast("errors.WebSearchError", failed.end)
        events.emit(
            events.Failover(provider=self.name, next_provider=browser.name, error=error)
        )
        trail, turn = Trail[Page](()), Turn[Page](browser)
        try:
            turn.end = yield from browser.read(url)
        except errors.ServiceError as error:
            turn.end = error
        turn.stop()
        trail.add(failed)
        trail.add(turn)
        if turn.answer is None:
            raise trail.fail()
        return trail.finish(turn.answer, browser)

    def _find(self) -> PageReader:
        self._browser = self._browser or self._make()
        for leaf in leaves(self._browser):
            if callable(find := getattr(leaf, "problem", None)) and (problem := find()):
                raise errors.ConfigurationError(problem)
        return self._browser


def find_network_problem(settings: Settings) -> str | None:
    """Return what is wrong with the certificates and the proxies that the settings and
    the environment name; None if nothing is.
    """
    from .._net.certificates import find_problem

    return find_problem(settings.http.library, settings.http.certificates)
