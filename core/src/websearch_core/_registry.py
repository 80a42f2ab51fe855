"""The registry of providers: their names and classes. `websearch_core.providers` is its
public interface.
"""

from __future__ import annotations
import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import distributions, entry_points
from types import MappingProxyType
from typing import Any

from ._text.suggestion import find_close
from .errors import ConfigurationError, UnknownProvider

# The class of each provider, in the module of its name below
# `websearch_core.providers`.
_BUILT_IN: Mapping[str, str] = MappingProxyType({
    "arxiv": "ArXiv", "brave": "Brave", "browser": "Browser", "crawl4ai": "Crawl4ai",
    "crossref": "Crossref", "ddgs": "Ddgs", "direct": "Direct",
    "duckduckgo": "DuckDuckGo", "exa": "Exa", "external": "External",
    "firecrawl": "Firecrawl", "github": "GitHub", "hackernews": "HackerNews",
    "jina": "Jina", "kagi": "Kagi", "keenable": "Keenable", "linkup": "Linkup",
    "local": "Local", "marginalia": "Marginalia", "mojeek": "Mojeek",
    "ollama": "Ollama", "openalex": "OpenAlex", "parallel": "Parallel",
    "perplexity": "Perplexity", "searchapi": "SearchApi", "searxng": "SearXNG",
    "semanticscholar": "SemanticScholar", "serpapi": "SerpApi", "serper": "Serper",
    "stackexchange": "StackExchange", "tavily": "Tavily", "wayback": "Wayback",
    "wikipedia": "Wikipedia", "you": "You",
})  # fmt: skip
_ALIASES = MappingProxyType({"ddg": "duckduckgo", "searx": "searxng"})
_RETIRED = MappingProxyType(
    {
        "bing": "Microsoft ended the Bing Web Search API on 2025-08-11 without a "
        "successor that returns results; "
        "brave and mojeek have their own index, serpapi, searchapi and serper have "
        "Google's results",
        "google": "Google ends the Custom Search JSON API on 2027-01-01; for Google's "
        "results write "
        'provider="serper", "serpapi" or "searchapi", or "brave" or "mojeek" for an '
        "index of their own",
    }
)
_GROUP = "websearch_core.providers"
_LONGEST = 24  # characters of a name that an error repeats; what is longer may be a key
_registered: dict[str, type[Any]] = {}


def register(name: str, provider: type[Any]) -> None:
    """Register the class *provider* under *name* in this process.

    Raises:
        ConfigurationError: The name is taken, or differs from the ``name`` of the
            provider.
    """
    if name in known() or name in _ALIASES:
        raise _make_conflict(name)
    own = getattr(provider, "name", name)
    # it may also be a property, which only instances have
    if isinstance(own, str) and own != name:
        raise ConfigurationError(
            f"the provider is called {provider.name!r}, not {name!r}"
        )
    _registered[name] = provider


def known() -> list[str]:
    """Return the names of all providers, sorted."""
    return sorted({*_BUILT_IN, *_plugged_in(), *_registered})


def is_known(name: str) -> bool:
    """Return whether *name* is that of a provider, or an alias."""
    name = _ALIASES.get(name, name)
    # plug-ins last: finding them is slow
    return name in _BUILT_IN or name in _registered or name in _plugged_in()


def registered_name(name: str) -> str:
    """Return the name under which a provider is registered: ``duckduckgo`` for its
    alias ``ddg``.
    """
    if not is_known(name):
        raise unknown_provider(name, known(), "known are")
    return _ALIASES.get(name, name)


def unknown_provider(name: str, names: Sequence[str], what: str) -> UnknownProvider:
    """Make the error for the unknown provider *name*, with the *names* to choose from,
    and *what* these are.
    """
    if name in _RETIRED:
        return UnknownProvider(f"{name}: {_RETIRED[name]}")
    aliases = {alias: real for alias, real in _ALIASES.items() if real in names}
    choices = ", ".join(_with_aliases(real, aliases) for real in names)
    if len(name) > _LONGEST:
        return UnknownProvider(
            f"unknown provider of {len(name)} characters; if it is a key, give it as "
            f"api_key; {what} {choices}"
        )
    close = find_close(name, names, aliases)
    if close:
        what = f"did you mean {close}? {what.capitalize()}"
    return UnknownProvider(f"unknown provider {name!r}; {what} {choices}")


def _with_aliases(name: str, aliases: Mapping[str, str]) -> str:
    own = [alias for alias in aliases if aliases[alias] == name]
    return name + "".join(f" ({alias})" for alias in own)


def provider_class(name: str) -> type[Any]:
    """Return the class of the provider called *name*, which may be an alias such as
    ``ddg``.

    Raises:
        UnknownProvider: No provider has that name; the message lists the known ones.
    """
    name = registered_name(name)
    if name in _registered:
        return _registered[name]
    if name in _BUILT_IN:
        return _import_class(f"{__package__}.providers.{name}:{_BUILT_IN[name]}")
    return _import_class(_plugged_in()[name])


def _import_class(place: str) -> type[Any]:
    module = importlib.import_module(place.partition(":")[0])
    cls: type[Any] = getattr(module, place.partition(":")[2])
    return cls


def find_class(name: str) -> type[Any]:
    """Return the class of the provider called *name*; ``object`` if it is unknown, or
    its package is broken.
    """
    try:
        return provider_class(name)
    except (ImportError, AttributeError, ConfigurationError):
        return object


def built_in() -> Mapping[str, str]:
    """Return the names of the built-in providers, by the names of their classes."""
    return {cls: name for name, cls in _BUILT_IN.items()}


@cache
def _plugged_in() -> Mapping[str, str]:
    plugged: dict[str, str] = {}
    texts = (package.read_text("entry_points.txt") for package in distributions())
    # parsing those of all takes twice as long
    if not any(_GROUP in (text or "") for text in texts):
        return plugged
    for entry in entry_points(group=_GROUP):
        is_ours = entry.name in _BUILT_IN or entry.name in _ALIASES
        if is_ours or entry.name in plugged:
            raise _make_conflict(entry.name)
        plugged[entry.name] = entry.value
    return plugged


def _make_conflict(name: str) -> ConfigurationError:
    return ConfigurationError(f"Web search provider {name!r} is already registered")
