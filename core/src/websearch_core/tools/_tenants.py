"""Another key, provider or policy for each run: one `WebSearch` for each tenant, and never one for two keys."""

from __future__ import annotations

import logging
import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast
from weakref import WeakValueDictionary

from pydantic import SecretStr

from .._arguments import check_number
from .._keys import ApiKey, is_in_keyring
from .._text.suggestion import suggest_name
from ..client import CommonArguments, WebSearch
from ..errors import ConfigurationError, MissingKey
from ..models import SearchQuery

_OF_WEB = (
    "api_key", "provider", "reader", "timeout", "max_tokens", "links", "comments", "reviews", "allowed_domains",
    "blocked_domains", "max_snippet_chars",
)  # fmt: skip
_OF_TOOLS = ("search_options", "max_length", "read_top")
CONFIGURABLE = (*_OF_WEB, *_OF_TOOLS)
_LEAST = {"max_length": 1, "read_top": 0}
_MAX_TENANTS = 1_024  # each takes some 40 KiB, and may hold connections; the one used least recently is forgotten
_log = logging.getLogger(__name__)


class Tenants:
    """
    Makes the `WebSearch` of each run from what the developer lets a run configure.

    Args:
        web: The developer's `WebSearch`, or None.
        arguments: The arguments of one, instead of *web*.
        configurable: The options that a run may set: their names, or a mapping from each to the key under which it is
            found. None can redirect a key or open the guard: ``base_url`` and ``allow`` are not among them.

    Raises:
        ConfigurationError: An option may not be configured by a run, or *web* was given together with its arguments,
            or with options of the `WebSearch` that a run may set.

    """

    def __init__(
        self,
        web: WebSearch | None,
        arguments: CommonArguments,
        configurable: Sequence[str] | Mapping[str, str] = (),
    ) -> None:
        self.places = _check_places(configurable)
        of_web = sorted(set(self.places) & set(_OF_WEB))
        if web is not None and of_web:
            raise ConfigurationError(
                f"configurable: {', '.join(of_web)}: give the arguments of WebSearch instead of web=WebSearch(...)"
            )
        self.web = self._make_default(web, arguments)
        self._arguments: dict[str, Any] = _hide_keys(arguments) if of_web else {}
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, WebSearch] = {}
        self._owners: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._has_warned = False

    def __getstate__(self) -> dict[str, Any]:
        return {"places": self.places, "web": self.web, "_arguments": self._arguments}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def __repr__(self) -> str:
        return f"Tenants({', '.join(self.places)})"

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """
        Return the options that a run sets, by their names.

        Each is looked up under its key with two underscores before it, then under the key itself.

        Raises:
            ConfigurationError: The value of an option of the tools is wrong.

        """
        found: dict[str, Any] = {}
        for option, key in self.places.items():
            value = given.get(f"__{key}")
            if value is None:
                value = given.get(key)
                if option == "api_key" and isinstance(value, str):
                    self._warn(key)
            if value is not None:
                found[option] = check_number(option, value, _LEAST[option]) if option in _LEAST else value
        return found

    def find(self, options: Mapping[str, Any]) -> WebSearch:
        """
        Return the `WebSearch` for the *options* of a run: the same one for the same options, as long as it is in use.

        Raises:
            ConfigurationError: An option is wrong; the message never shows a key.

        """
        own = {name: value for name, value in options.items() if name in _OF_WEB}
        if not own:
            return self.web
        own = _check_values(own)
        key = tuple(sorted((name, _freeze(value)) for name, value in own.items()))
        with self._lock:
            web = self._made.get(key)
        web = web or self._make(own)  # without the lock, for which an event loop might wait
        with self._lock:
            web = self._made.pop(key, web)
            self._made[key] = web
            while len(self._made) > _MAX_TENANTS:  # its connections close when the last call that uses it ends
                del self._made[next(iter(self._made))]
        return web

    def _make(self, own: dict[str, Any]) -> WebSearch:
        arguments = {**self._arguments, **own}
        if "provider" in own and own["provider"] != self._arguments.get("provider"):
            for name in {"api_key", "base_url"} - set(own):  # they belong to another service
                arguments.pop(name, None)
        policy = self.web.settings.domains
        inside = policy.narrow(*_domains_of(own))
        if inside is None:
            raise ConfigurationError("allowed_domains: none of these is inside the domain policy")
        arguments |= {"allowed_domains": inside.allowed, "blocked_domains": inside.blocked}
        web = WebSearch(**arguments)
        self._share_services(web, own)
        return web

    def _share_services(self, web: WebSearch, own: Mapping[str, Any]) -> None:
        """Let tenants who ask the same service with the same key use the same connections to it."""
        owner = own.get("provider"), own.get("api_key")
        mine, ours = web._sender, self.web._sender  # noqa: SLF001 - our own
        with self._lock:
            first = self._owners.setdefault(owner, ours if owner == (None, None) else mine)
        if first is not mine:
            mine.share_services(first)

    def _make_default(self, web: WebSearch | None, arguments: CommonArguments) -> WebSearch:
        try:
            return WebSearch.resolve(web, arguments)
        except MissingKey:
            if "api_key" not in self.places:
                raise
            return WebSearch.resolve(None, cast("CommonArguments", {**arguments, "api_key": _no_key}))

    def _warn(self, key: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            _log.warning(
                "the api_key of a run is plain text: LangGraph copies it into every checkpoint. Give a "
                "pydantic.SecretStr, or call the key %r, which it leaves out",
                f"__{key}",
            )


def _check_places(configurable: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(configurable, str):
        configurable = [configurable]
    named = configurable if isinstance(configurable, Mapping) else {name: name for name in configurable}
    for name in named:
        if name not in CONFIGURABLE:
            raise ConfigurationError(
                f"configurable: {name}: not an option that a run may set{suggest_name(str(name), CONFIGURABLE)}"
            )
    return {name: str(key).removeprefix("__") for name, key in named.items()}


def _check_values(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options in forms that can be compared; a key must be one, not the name of a place that has one."""
    values = dict(own)
    for role in ("provider", "reader"):
        chosen = values.get(role)
        names = [chosen] if isinstance(chosen, str) else chosen
        if names is not None and not (isinstance(names, list | tuple) and all(isinstance(n, str) for n in names)):
            raise ConfigurationError(f"{role}: a run may only name providers")
        if isinstance(chosen, list):
            values[role] = tuple(chosen)
    if "api_key" in values:
        key = values["api_key"]
        text = key.get_secret_value() if isinstance(key, SecretStr) and not isinstance(key, ApiKey) else key
        if is_in_keyring(text):
            raise ConfigurationError("api_key: a run may not name a keyring")
        try:
            values["api_key"] = ApiKey.of(text)
        except ValueError as error:
            raise ConfigurationError(f"api_key: {error}") from None
    return values


def _domains_of(own: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    given = {name: own[name] for name in ("allowed_domains", "blocked_domains") if name in own}
    query = SearchQuery.of("any", **given)  # pyright: ignore[reportArgumentType] - whatever was given is checked
    return query.allowed_domains, query.blocked_domains


def _hide_keys(arguments: CommonArguments) -> dict[str, Any]:
    """Return *arguments* without a key in the clear, so that a pickle holds none."""
    hidden: dict[str, Any] = dict(arguments)
    if hidden.get("api_key") is not None:
        hidden["api_key"] = ApiKey.of(hidden["api_key"])
    options: Mapping[str, Mapping[str, Any]] = hidden.get("provider_options") or {}
    hidden["provider_options"] = {
        name: {o: ApiKey.of(v) if o.endswith("key") and v is not None else v for o, v in given.items()}
        for name, given in options.items()
    }
    return hidden


def _freeze(value: Any) -> Hashable:
    if isinstance(value, list | tuple):
        return tuple(map(_freeze, value))
    # What cannot be hashed is wrong in any case, and making the WebSearch says so.
    return value if isinstance(value, Hashable) else repr(value)


def _no_key() -> str:
    raise MissingKey("no api_key: the run must bring one, as configured by `configurable`")
