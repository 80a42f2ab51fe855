"""
Who searches and who reads, decided once, when a `WebSearch` is made.

Explicit argument > ``WEB_SEARCH_PROVIDER`` or the settings file > the first of `AUTOMATIC` that is configured >
DuckDuckGo. A choice that was made is kept: nothing falls back from it unless several were named. Only the automatic
choice without any key goes on by itself, from a DuckDuckGo that answers with a challenge to Tavily's keyless tier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import Blocked, ConfigurationError, MissingKey, PageNotFound
from .guard import Guard
from .layers import Fallback, Relax, Retry
from .providers import known, provider_class
from .settings import Settings, by_name, check_transport, configured

AUTOMATIC = ("tavily", "brave", "searxng")
_LAYERS = (Fallback, Relax, Retry)


@dataclass
class Selection:
    """
    Makes the providers of one `WebSearch`.

    A name asked for twice is one instance, so that a service which searches and reads is one customer.

    Args:
        settings: The settings.
        options: What was given for each provider, by its name.

    """

    settings: Settings
    options: Mapping[str, Mapping[str, Any]]
    _made: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A misspelt name is told now rather than ignored."""
        self.options = by_name(self.options)
        self._guard = Guard.allowing(self.settings.allow)

    def searchers(self, choice: Any, **one: Any) -> tuple[list[Any], bool]:
        """
        Return the providers to search with, in order, and whether the choice was automatic.

        Args:
            choice: A name, a provider, several of them, or None.
            one: Options for the one provider that is named.

        """
        chosen = _several(choice) or list(self.settings.provider)
        if one and (len(chosen) != 1 or not isinstance(chosen[0], str)):
            raise ConfigurationError(
                f"{' and '.join(one)}: name the provider that this is for, or use provider_options={{name: {{...}}}}"
            )
        if chosen:
            return [self._playing(item, "search", **one) for item in chosen], False
        for name in AUTOMATIC:
            try:
                return [self._playing(name, "search")], True
            except MissingKey:
                continue
        keyless = configured("tavily", self.settings, **{**self.options.get("tavily", {}), "keyless": True})
        return [self._playing("duckduckgo", "search"), self._playing(keyless, "search")], True

    def readers(self, choice: Any, searchers: Sequence[Any]) -> tuple[list[Any], bool]:
        """Return the readers to read with, in order, and whether that was automatic; *searchers* search already."""
        chosen = _several(choice) or list(self.settings.reader)
        if chosen:
            return [self._playing(item, "read") for item in chosen], False
        local = [item for item in searchers if item.name == "local"]  # what an index holds needs no fetching
        return [self._playing(item, "read") for item in (*local, "direct")], True

    def _playing(self, item: Any, role: str, **one: Any) -> Any:
        """Return the provider that *item* is or names, if it can do what *role* says."""
        provider = self._named(item, **one) if isinstance(item, str) else item
        for leaf in _leaves(provider):
            check_transport(leaf, self._guard)
        if not all(hasattr(leaf, role) for leaf in _leaves(provider)):
            able = ", ".join(name for name in known() if hasattr(provider_class(name), role))
            raise ConfigurationError(f"{getattr(provider, 'name', provider)!r} cannot {role}; those that can: {able}")
        return provider

    def _named(self, name: str, **one: Any) -> Any:
        name = provider_class(name).name
        if name not in self._made:
            options = {**self.options.get(name, {}), **one}
            if name == "direct" and self.settings.links != "keep":  # it sees more of a page than its Markdown
                options.setdefault("links", self.settings.links)
            self._made[name] = configured(name, self.settings, **options)
        return self._made[name]


def search_chain(providers: Sequence[Any], attempts: int, *, automatic: bool, relaxed: bool) -> Any:
    """
    Compose *providers* into one that persists and falls back.

    Args:
        providers: In the order to ask them.
        attempts: How often each is asked when its failures may pass.
        automatic: They are ours to choose: go on to the next only from a challenge, since nobody asked for the next.
        relaxed: Do without options that a provider cannot express.

    """
    links = [_persistent(item, attempts) for item in providers]
    if relaxed:
        links = [Relax(link) for link in links]
    if len(links) == 1:
        return links[0]
    return Fallback(tuple(links), after=(Blocked,)) if automatic else Fallback(tuple(links))


def read_chain(readers: Sequence[Any], attempts: int, *, automatic: bool) -> Any:
    """Compose *readers* likewise. That a page is in no index is worth no remark if nobody asked for the index."""
    links = [_persistent(item, attempts) for item in readers]
    if len(links) == 1:
        return links[0]
    return Fallback(tuple(links), tacit=(PageNotFound,) if automatic else ())


def _persistent(item: Any, attempts: int) -> Any:
    return item if isinstance(item, _LAYERS) else Retry(item, attempts)


def _several(choice: Any) -> list[Any]:
    if choice is None:
        return []
    if isinstance(choice, str):
        choice = [name.strip() for name in choice.split(",") if name.strip()]
    several = list(choice) if isinstance(choice, list | tuple) else [choice]
    if not several:
        raise ConfigurationError("an empty choice of providers is none")
    return several


def _leaves(provider: Any) -> list[Any]:
    """Return what is at the bottom of layers."""
    if isinstance(provider, Fallback):
        return [leaf for each in provider.providers for leaf in _leaves(each)]
    return _leaves(provider.provider) if isinstance(provider, Relax | Retry) else [provider]
