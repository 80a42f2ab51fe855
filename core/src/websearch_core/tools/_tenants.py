"""Another key, provider or policy for each run: one `WebSearch` for each tenant, and
never one for two keys.
"""

from __future__ import annotations
import logging
import threading
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack
from weakref import WeakValueDictionary

from .._registry import provider_class, registered_name
from .._text.suggestion import suggest_name
from ..client import CommonArguments, WebSearch
from ..client._selection import AUTO
from ..errors import ConfigurationError, MissingKey
from ..keys import Credentials
from ..keys._keys import ApiKey, is_in_keyring, reveal
from ..models import SearchQuery
from ..provider._declare import field_notes, is_secret
from ..provider._ports import needs_network
from ..settings import Settings
from ..settings._build import collect_options
from ..settings._sources import ARGUMENT
from ..settings._values import Http, PerRun, make_credentials
from ._constructors import make_web
from ._fixed import find_home

_TOOL_ARGUMENTS = ("search_options", "read_options")
# The arguments of `WebTools` besides those of a `WebSearch`.
OWN_ARGUMENTS = (
    *_TOOL_ARGUMENTS,
    "limit",
    "output_format",
    "full_artifact",
    "multi_query",
    "max_uses",
    "configurable",
    "require",
    "provenance",
)
_MARKED = [
    name
    for name, field in Settings.model_fields.items()
    if PerRun in map(type, field.metadata)
]
_WEB_ARGUMENTS = (
    "api_key",
    "credentials",
    *(name for name in _MARKED if name not in _TOOL_ARGUMENTS),
)
CONFIGURABLE = ("api_key", "credentials", *_MARKED)
_ROLES = ("provider", "reader")
_TENANT = "tenant_id"
# each takes some 40 KiB, and may hold connections; the one used least recently is
# forgotten
_MAX_TENANTS = 1_024
_HOW = ", as in configurable={'provider': ('tavily', 'brave')}"
_log = logging.getLogger(__name__)

Configurable: TypeAlias = Sequence[str] | Mapping[str, str | Collection[str]]


class Tenants:
    """Makes the `WebSearch` of each run from what the developer lets a run configure.

    *configurable* are the options that a run may set: their names, or a mapping from
    each to the key under which it is found, or of ``provider`` and ``reader`` to those
    that it may choose among; by default, the ones that *arguments*, those of the
    developer's `WebSearch`, name. None can redirect a key or open the guard:
    ``base_url`` and ``internal`` are not among them. *require* names those without
    which a run is refused, and ``tenant_id``.
    """

    def __init__(
        self,
        web: WebSearch | None,
        configurable: Configurable = (),
        require: Sequence[str] = (),
        **arguments: Unpack[CommonArguments],
    ) -> None:
        self.keys = _check_keys(configurable)
        self._required = _check_required(require, self.keys)
        web_names = sorted(set(self.keys) & set(_WEB_ARGUMENTS))
        if web is not None and web_names:
            raise ConfigurationError(
                f"configurable: {', '.join(web_names)}: give the arguments of "
                f"WebSearch instead of web=WebSearch(...)"
            )
        self._choices = {
            role: _list_choices(role, configurable, arguments)
            for role in _ROLES
            if role in self.keys
        }
        self.web = self._make_default(web, **arguments)
        self._arguments: dict[str, Any] = {**arguments} if web_names else {}
        key = self._arguments.get("api_key")
        if key is not None:
            # so that a pickle has none in the clear
            self._arguments["api_key"] = ApiKey.of(key)
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, WebSearch] = {}
        self._owners: WeakValueDictionary[Hashable, WebSearch] = WeakValueDictionary()
        self._has_warned = False

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in ("keys", "_choices", "_required", "web", "_arguments")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def __repr__(self) -> str:
        return f"Tenants({', '.join(self.keys)})"

    def check_names(self, options: Mapping[str, Any]) -> None:
        """Raise `ConfigurationError` if a run may not set one of these *options*."""
        unknown = sorted(set(options) - set(self.keys))
        if unknown:
            hint = suggest_name(unknown[0], self.keys)
            raise ConfigurationError(f"{unknown[0]}: not in `configurable`{hint}")

    def check_required(self, options: Mapping[str, Any], tenant: str | None) -> None:
        """Raise `MissingKey` if a run lacks what each run must set: it would get the
        developer's key or policy instead.
        """
        values = {**options, _TENANT: tenant}
        missing = [name for name in self._required if values.get(name) is None]
        if missing:
            raise MissingKey(
                f"this run sets no {' and no '.join(missing)}, which each run must set"
            )

    def read(self, config: Mapping[str, Any], context: object = None) -> dict[str, Any]:
        """Return the options that a run sets, by their names.

        Each is looked up in *config* under its key with two underscores before it, then
        under the key itself; then as an item or an attribute of *context*.
        """
        options: dict[str, Any] = {}
        for option, key in self.keys.items():
            value = config.get(f"__{key}")
            if value is None:
                value = config.get(key)
                if option == "api_key" and isinstance(value, str):
                    self._warn(key)
            if value is None:
                value = read_field(context, key)
            if value is not None:
                options[option] = value
        return options

    def find(self, options: Mapping[str, Any]) -> WebSearch:
        """Return the `WebSearch` for the *options* of a run: the same one for the same
        options, while it is used.

        Raise `MissingKey` if the run chose a provider without a key for it, and yours
        was not lent to it, and `ConfigurationError` if an option is wrong; neither
        message shows a key.
        """
        own = {name: value for name, value in options.items() if name in _WEB_ARGUMENTS}
        if not own:
            return self.web
        own = self._check_values(own)
        key = tuple(sorted((name, _freeze(value)) for name, value in own.items()))
        with self._lock:
            web = self._made.get(key)
        # without the lock, for which an event loop might wait
        web = web or self._make(own)
        with self._lock:
            web = self._made.pop(key, web)
            self._made[key] = web
            # its connections close when the last call that uses it ends
            while len(self._made) > _MAX_TENANTS:
                del self._made[next(iter(self._made))]
        return web

    def _check_values(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options in forms that can be compared; a key must be one, not the
        name of a keyring.
        """
        values = dict(own)
        for role in _ROLES:
            if role in values:
                values[role] = self._check_choice(role, values[role])
        if "api_key" in values:
            values["api_key"] = _check_key(values["api_key"])
        if "credentials" in values:
            values["credentials"] = _check_credentials(values["credentials"])
        return values

    def _check_choice(self, role: str, choice: Any) -> str | tuple[str, ...]:
        is_list = isinstance(choice, str | list | tuple)
        if not is_list or not all(isinstance(name, str) for name in choice):
            raise ConfigurationError(f"{role}: a run may only name providers")
        names = _names(choice)
        listed = self._choices[role]
        if not names or not {*names} <= {*listed}:
            raise ConfigurationError(
                f"{role}: a run may choose among {', '.join(listed)}; the "
                f"developer lists them{_HOW}"
            )
        return names[0] if len(names) == 1 else names

    def _refuse_own_keys(self, own: Mapping[str, Any]) -> None:
        """Refuse a provider that a run chose if its key would be one that merely lies
        in the environment or a file.
        """
        names = _names_of_roles(own) - _names_of_roles(self._arguments) - {AUTO}
        if "api_key" in own:
            names.discard(own.get("provider"))
        for name in names:
            cls = provider_class(name)
            fields = field_notes(cls)
            options = collect_options(cls, self.web.settings.options(name), {})
            for option, value in options.items():
                is_key = option.endswith("key")
                if option in fields:
                    is_key = is_secret(fields[option])
                if is_key and value.source != ARGUMENT:
                    raise MissingKey(
                        f"{name}: a run that chooses it must bring its own {option}; "
                        f"to lend it yours, write "
                        f"settings=Settings.load(providers={{{name!r}: {{{option!r}: "
                        f"...}}}})"
                    )

    def _make(self, own: dict[str, Any]) -> WebSearch:
        arguments = {**self._arguments, **own}
        self._refuse_own_keys(own)
        ours = _names(self._arguments.get("provider"))
        if "provider" in own and _names(own["provider"]) != ours:
            # they belong to another service
            for name in {"api_key", "base_url"} - set(own):
                arguments.pop(name, None)
        policy = self.web.settings.domains
        inside = policy.narrow(*_domains_of(own))
        if inside is None:
            raise ConfigurationError(
                "allowed_domains: none of these is inside the domain policy"
            )
        arguments |= {
            "allowed_domains": inside.allowed,
            "blocked_domains": inside.blocked,
        }
        login = arguments.pop("credentials", None)
        if login:
            http = arguments.get("http") or Http()
            credentials = {**self.web.settings.http.credentials, **login}
            arguments["http"] = replace(http, credentials=credentials)
        web = make_web(None, (), **arguments)
        web._page_reader = web.reader  # noqa: SLF001 - our own; what a tenant asks for starts no browser
        self._share_services(web, own)
        return web

    def _share_services(self, web: WebSearch, own: Mapping[str, Any]) -> None:
        """Let tenants who ask the same service with the same key use the same
        connections to it.
        """
        owner = own.get("provider"), own.get("api_key")
        default = web
        if owner == (None, None):
            default = self.web
        with self._lock:
            first = self._owners.setdefault(owner, default)
        if first is not web:
            web._services_of = first  # noqa: SLF001 - our own

    def _make_default(
        self, web: WebSearch | None, **arguments: Unpack[CommonArguments]
    ) -> WebSearch:
        try:
            return make_web(web, OWN_ARGUMENTS, **arguments)
        except MissingKey:
            if "api_key" not in self.keys:
                raise
            arguments["api_key"] = _no_key
            return make_web(None, OWN_ARGUMENTS, **arguments)

    def _warn(self, key: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            _log.warning(
                "the api_key of a run is plain text: LangGraph copies it into every "
                "checkpoint. Give a "
                "pydantic.SecretStr, or call the key %r, which it leaves out",
                f"__{key}",
            )


def read_field(values: object, name: str) -> Any:
    """Return an item of a mapping, or an attribute of any other object; None if it has
    none.
    """
    if isinstance(values, Mapping):
        return values.get(name)
    return getattr(values, name, None)


def _check_required(require: Sequence[str], keys: Mapping[str, str]) -> tuple[str, ...]:
    names = [require] if isinstance(require, str) else require
    for name in names:
        if name not in {*keys, _TENANT}:
            hint = suggest_name(str(name), [*keys, _TENANT])
            raise ConfigurationError(f"require: {name}: not in `configurable`{hint}")
    return tuple(names)


def _check_keys(configurable: Configurable) -> dict[str, str]:
    if isinstance(configurable, str):
        configurable = [configurable]
    if not isinstance(configurable, Iterable):
        raise ConfigurationError(
            "configurable: must be the names of options, or a mapping from these to "
            "keys"
        )
    keys: Mapping[Any, Any] = {name: name for name in configurable}
    if isinstance(configurable, Mapping):
        keys = configurable
    return {name: _find_key(name, key) for name, key in keys.items()}


def _find_key(option: Any, key: Any) -> str:
    """Return the key under which a run sets an option; *key* may list the providers
    that it may choose among.
    """
    if option not in CONFIGURABLE:
        home = find_home(str(option))
        hint = f"; list {home}, which has it"
        if not home:
            hint = suggest_name(str(option), CONFIGURABLE)
        raise ConfigurationError(
            f"configurable: {option}: not an option that a run may set{hint}"
        )
    if option in _ROLES and not isinstance(key, str):
        return str(option)
    return str(key).removeprefix("__")


def _list_choices(
    role: str, configurable: Configurable, arguments: CommonArguments
) -> tuple[str, ...]:
    """Return the names of the providers that a run may choose among."""
    listed = configurable[role] if isinstance(configurable, Mapping) else role
    own = _names(arguments.get(role))
    names = own if isinstance(listed, str) else _names(listed)
    if not names:
        raise ConfigurationError(
            f"configurable: {role}: list those that a run may choose among{_HOW}"
        )
    for name in {*names} - {*own, AUTO}:
        if not needs_network(provider_class(name)):
            raise ConfigurationError(
                f"configurable: {role}: {name} reads the files of this machine: a run "
                f"may choose it only if the "
                f"argument {role} names it, too"
            )
    return names


def _names(choice: object) -> tuple[str, ...]:
    """Return the names in a choice, as they are registered. Objects have none that a
    run could choose.
    """
    items: Iterable[Any] = ()
    if isinstance(choice, str):
        items = choice.split(",")
    elif isinstance(choice, Collection):
        items = choice
    names: list[str] = []
    for item in items:
        name = item.strip() if isinstance(item, str) else ""
        if name == AUTO:
            names.append(name)
        elif name:
            names.append(registered_name(name))
    return tuple(names)


def _names_of_roles(options: Mapping[str, Any]) -> set[Any]:
    """Return the names of all providers and readers that *options* choose."""
    names: set[Any] = set()
    for role in _ROLES:
        names.update(_names(options.get(role)))
    return names


def _domains_of(own: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    filters: Any = {}
    for name in ("allowed_domains", "blocked_domains"):
        if name in own:
            filters[name] = own[name]
    query = SearchQuery.of("any", **filters)
    return query.allowed_domains, query.blocked_domains


def _check_key(key: Any) -> ApiKey:
    """Return the key of a run, which must be one and not the name of a keyring."""
    text = reveal(key)
    if is_in_keyring(text):
        raise ConfigurationError("api_key: a run may not name a keyring")
    try:
        return ApiKey.of(text)
    except ValueError as error:
        raise ConfigurationError(f"api_key: {error}") from None


def _check_credentials(credentials: Any) -> dict[str, Credentials]:
    """Return the credentials of a run, which names no secret of this machine: it could
    have it sent anywhere.
    """
    is_mapping = isinstance(credentials, Mapping)
    if not is_mapping or not all(map(_is_login, credentials.values())):
        raise ConfigurationError(
            'credentials: a run gives {"https://wiki.corp": {"bearer": ...}}'
        )
    checked: dict[str, Credentials] = {}
    for origin, login in credentials.items():
        checked[str(origin)] = make_credentials(login)
    for login in checked.values():
        if any(key.is_of_machine for _, _, key in login.list_secrets()):
            raise ConfigurationError(
                "credentials: a run may not name an environment variable or a keyring"
            )
    return checked


def _is_login(value: object) -> bool:
    return isinstance(value, Mapping | Credentials)


def _freeze(value: Any) -> Hashable:
    if isinstance(value, Mapping):
        items = ((name, _freeze(item)) for name, item in value.items())
        return tuple(sorted(items))
    if isinstance(value, list | tuple):
        return tuple(map(_freeze, value))
    # What cannot be hashed is wrong in any case, and making the WebSearch says so.
    return value if isinstance(value, Hashable) else repr(value)


def _no_key() -> str:
    raise MissingKey(
        "no api_key: the run must bring one, as configured by `configurable`"
    )
