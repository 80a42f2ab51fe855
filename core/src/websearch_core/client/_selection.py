"""Select the providers for search and reading, once, when a `WebSearch` is made.

Explicit argument > ``WEB_SEARCH_PROVIDER`` or the settings file > the first of
`AUTOMATIC` that is configured > those of `WITHOUT_KEY`, which need none. An explicit
choice is kept: there is no fallback unless several providers are named. Only the choice
without any key falls back by itself, since each of these has a small allowance.
"""

from __future__ import annotations
import contextlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
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
# who searches without a key, and by which options; the first is asked first
WITHOUT_KEY: Mapping[str, Mapping[str, Any]] = {
    "keenable": {},
    "you": {"keyless": True},
    "duckduckgo": {},
}
# nobody has chosen them unless there is a key
_KEY_OPTIONAL = frozenset({"firecrawl", "jina", "keenable", "you"})


@dataclass
class Selection:
    """Makes the providers of one `WebSearch`.

    Each name has one instance, so that a provider that searches and reads shares its
    state.
    """

    settings: Settings
    _by_name: dict[str, Provider] = field(default_factory=dict)
    # objects that the caller made, to search with
    _objects: list[Provider] = field(default_factory=list)
    _has_reader: bool = False  # somebody chose who reads

    def __post_init__(self) -> None:
        """Reject unknown names early, and everything if web search is switched off."""
        switch = self.settings.switched_off()
        if switch:
            raise errors.ConfigurationError(
                f"web search is switched off: {switch.at()} is false"
            )

    def searchers(self, choice: Choice | None, **options: Any) -> list[Provider]:
        """Return the providers to search with, in order.

        The *options* are those of the only one.
        """
        chosen = _as_list(choice) or list(self.settings.provider)
        self._objects = [item for item in chosen if not isinstance(item, str)]
        is_one_name = len(chosen) == 1 and not self._objects
        if options and not is_one_name:
            raise errors.ConfigurationError(
                f"{' and '.join(options)}: name the one provider that this is for, or "
                "give the provider itself, such as Tavily(api_key=...)"
            )
        if not chosen:
            return self._choose_searcher()
        return [self._find_for_role(item, "search", **options) for item in chosen]

    def _choose_searcher(self) -> list[Provider]:
        """Return the first provider that has a key, else those that need none."""
        for name in AUTOMATIC:
            if self.settings.switched_off(name):
                continue
            with contextlib.suppress(errors.MissingKey):
                provider = self._find_for_role(name, "search")
                has_key = getattr(provider, "api_key", None) is not None
                if has_key or name not in _KEY_OPTIONAL:
                    return [provider]
        return self._search_without_key()

    def _search_without_key(self) -> list[Provider]:
        """Return those of `WITHOUT_KEY` that are not switched off."""
        items: list[str | Provider] = []
        for name, options in WITHOUT_KEY.items():
            if not self.settings.switched_off(name):
                items.append(build_provider(name, self.settings, **options))
        if not items:
            names = ", ".join(WITHOUT_KEY)
            raise errors.ConfigurationError(
                f"{names}, which need no key, are switched off: name a provider"
            )
        return [self._find_for_role(item, "search") for item in items]

    def readers(
        self, choice: Choice | None, searchers: Sequence[Provider]
    ) -> tuple[list[Provider], bool]:
        """Return the readers, in order, and whether the choice was automatic.

        Some *searchers* can read as well. An object that the caller made reads, too; a
        name says only who searches.
        """
        able = [item for item in self._objects if _can_all(item, "read")]
        own = [item for item in able if not _reads_offline(item)]
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
            if item == AUTO:
                readers = self._read_without_service(searchers)
            else:
                readers = [self._find_for_role(item, "read")]
            for reader in readers:
                if all(reader is not other for other in chain):
                    chain.append(reader)
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
            if _find_problem(browser) is None:
                chain.append(browser)
        return chain

    def page_reader(self, reader: PageReader, stack: Stack) -> PageReader:
        """Return what reads a single page: *reader*, and a browser if the page needs it
        and nobody chose who reads.
        """
        # and not what a test has in its place
        is_direct = any(leaf.name == "direct" for leaf in leaves(reader))
        if self._has_reader or not is_direct:
            return reader
        if self.settings.switched_off("browser"):
            return reader

        def make_browser() -> PageReader:
            browser = self._find_for_role("browser", "read")
            return read_chain([browser], is_automatic=False, stack=stack)

        return Rendering(reader, make_browser)

    def name_of(self, provider: Provider) -> str:
        """Return the name by which *provider* was requested; a plug-in may call itself
        something else.
        """
        for name, named in self._by_name.items():
            if named is provider:
                return name
        return provider.name

    def _find_for_role(
        self, item: str | Provider, role: Role, **options: Any
    ) -> Provider:
        """Return the provider that *item* is or names, after checking that it can do
        *role*.
        """
        if isinstance(item, str):
            self._check_name(item, role)
            provider = self._find_by_name(item, **options)
        else:
            provider = item
        check_provider(provider, self.settings)
        if not _can_all(provider, role):
            raise _unable(provider.name, role)
        return provider

    def _check_name(self, name: str, role: Role) -> None:
        if not is_known(name):
            problem = unknown_provider(name, _able(role), f"those that can {role}:")
            raise type(problem)(f"{self._place(name, role)}{problem}")
        # rather than that its key is missing
        if not can(provider_class(name), role):
            raise errors.ConfigurationError(
                f"{self._place(name, role)}{_unable(registered_name(name), role)}"
            )

    def _place(self, name: str, role: Role) -> str:
        """Return where the file or the variable is that names a provider, for messages;
        empty if an argument does.
        """
        setting = "provider" if role == "search" else "reader"
        source = self.settings.source(setting)
        if source.kind == "argument" or name not in getattr(self.settings, setting):
            return ""
        return f"{source.at()}: "

    def _find_by_name(self, name: str, **options: Any) -> Provider:
        name = registered_name(name)
        if name not in self._by_name:
            self._by_name[name] = build_provider(name, self.settings, **options)
        return self._by_name[name]


def check_provider(provider: Provider, settings: Settings) -> None:
    """Raise `ConfigurationError` unless *provider*, and each inside it, meets its port
    and keeps its key secure.
    """
    _, origins = parse_holes(settings.internal)
    for part in parts(provider):
        check_part(part)
        check_transport(part, origins)


def search_chain(providers: Sequence[Provider], stack: Stack) -> SearchProvider:
    """Compose *providers* and the layers of *stack*."""
    chain = stack.chain(providers, "search", combine=Fallback())
    return cast("SearchProvider", chain)


def read_chain(
    readers: Sequence[Provider], is_automatic: bool, stack: Stack
) -> PageReader:
    """Compose *readers* in the same way. A miss in the local index adds no note unless
    the index was requested.
    """
    combine = Fallback(silent_errors=(errors.PageNotFound,) if is_automatic else ())
    return cast("PageReader", stack.chain(readers, "read", combine=combine))


def make_stack(
    settings: Settings,
    layers: Sequence[Layer] | None,
    arguments: Collection[str] = (),
) -> Stack:
    """Return the layers of one `WebSearch`: the defaults, adjusted by the settings, and
    then by arguments.

    Those of the *arguments* go around providers that have layers of their own, too.
    """
    chosen: dict[str, Layer] = {}
    own: dict[str, Layer] = {}
    for name in CONCERNS:
        layer = getattr(settings, name)
        if layer is None or layer is False:
            continue
        chosen[name] = layer
        if name in arguments:
            own[name] = layer
    if own and layers is None:
        raise errors.ConfigurationError(
            f"{min(own)}: not with layers=None, which removes all layers"
        )
    if isinstance(layers, list | tuple):
        for layer in layers:
            check_home(layer)
        layers = [*layers, *own.values()]
    defaults = _make_defaults(settings) | chosen
    for name in settings.layers:
        defaults[name] = settings.find_layer(name)
    chain_layers: list[Layer] = [Breaker()]
    if any(layer.rank == Rank.BREAKER for layer in defaults.values()):
        chain_layers = []
    return Stack(layers, list(defaults.values()), chain_layers)


def _make_defaults(settings: Settings) -> dict[str, Layer]:
    defaults: dict[str, Layer] = {
        "relax": Relax(unsupported="raise"),
        "single_flight": SingleFlight(),
    }
    if settings.retry is not False:
        defaults["retry"] = Retry()
    if settings.throttle is not False:
        defaults["throttle"] = Throttle()
    return defaults


def check_search_options(options: Mapping[str, Any], provider: SearchProvider) -> None:
    """Raise `UnsupportedOption` if *provider* lacks one of *options*, unless they say
    that a note is enough.
    """
    if options.get("extra"):
        address(SearchQuery.of("any", extra=options["extra"]), provider)
    if not options:
        return
    unsupported = options.get("unsupported") or _find_default(provider)
    if unsupported == "note":
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


def _find_default(provider: Provider) -> str:
    """Return what the chain does about options that a provider does not support."""
    for part in parts(provider):
        layer = getattr(part, "layer", None)
        if isinstance(layer, Relax):
            return layer.unsupported
    return "raise"


def find_cache(settings: Settings) -> CacheBackend:
    """Return where the cache of these settings is, whether it is switched on or not."""
    layer = settings.cache or settings.find_layer("cache")
    return cast("Cache", layer).backend


def _as_list(choice: Choice | None) -> list[str | Provider]:
    if choice is None:
        return []
    choice = split_list(choice)
    if not isinstance(choice, list | tuple):
        return [cast("Provider", choice)]
    if not choice:
        raise errors.ConfigurationError("the list of providers is empty")
    return list(choice)


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
    cls = provider_class(name)
    own = registered_name(name)
    switch = settings.switched_off(own)
    if switch:
        raise errors.ConfigurationError(
            f"{own} is switched off: {switch.at()} is false"
        )
    return build(cls, collect_options(cls, settings.options(own), explicit), own)


def check_transport(provider: Any, allowed: Collection[Origin]) -> None:
    """Refuse to send a provider's key over plain http, except within this machine, or
    to an *allowed* origin.
    """
    if getattr(provider, "api_key", None) is None:
        return
    for name, url in destinations(provider).items():
        parts = urlsplit(url)
        if parts.scheme == "https" or _is_near(url, allowed):
            continue
        raise errors.ConfigurationError(
            f"{provider.name}: {name} would send the key unencrypted; use https, or "
            f"allow the origin by internal=['http://{parts.netloc}']"
        )


def _is_near(url: str, allowed: Collection[Origin]) -> bool:
    """Return whether a URL leads to this machine or to an *allowed* origin."""
    origin = find_origin(url)
    if not origin:
        return False
    return is_this_machine(origin[1]) or origin in allowed


def _find_problem(reader: Provider) -> str | None:
    """Return why a reader cannot work here; None if it can, or does not say."""
    find: Any = getattr(reader, "problem", None)
    if not callable(find):
        return None
    return cast("str | None", find())


class Rendering:
    """Reads one page where nobody chose a reader, and renders it if it needs its
    scripts.

    It does so only if a browser is installed, and the run is not that of a tenant.

    The reader ``browser`` is made when it is first needed: its modules take a while to
    import.
    """

    def __init__(self, reader: PageReader, make: Callable[[], PageReader]) -> None:
        self.name: str = reader.name
        self._reader = reader
        self._make = make
        self._browser: PageReader | None = None

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*."""
        turn: Turn[Page] = Turn(self._reader)
        try:
            return (yield from self._reader.read(url))
        except errors.ServiceError as error:
            last = getattr(error, "exceptions", (error,))[-1]
            is_tenant = bool(current_call().account.tenant)
            if is_tenant or not isinstance(last, errors.NeedsBrowser):
                raise
            failure = error
        turn.end = failure
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
        trail = Trail[Page](())
        turn = Turn[Page](browser)
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
            problem = _find_problem(leaf)
            if problem:
                raise errors.ConfigurationError(problem)
        return self._browser


def find_network_problem(settings: Settings) -> str | None:
    """Return what is wrong with the certificates and the proxies that the settings and
    the environment name; None if nothing is.
    """
    from .._net.certificates import find_problem

    return find_problem(settings.http.library, settings.http.certificates)
