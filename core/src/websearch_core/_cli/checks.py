"""Check whether the configured providers work, with one small real call each."""

from __future__ import annotations
import os
import platform
import sqlite3
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.request import getproxies

from .._browser.find import PROVEN, find_browser, read_version
from .._registry import find_class, registered_name
from .._runtime.deadline import time_limit
from .._text.urls import without_credentials
from ..client._selection import (
    AUTO,
    AUTOMATIC,
    WITHOUT_KEY,
    build_provider,
    check_provider,
    find_network_problem,
)
from ..errors import (
    BadResponse,
    ConfigurationError,
    MissingKey,
    ServiceError,
    TimedOut,
    Unavailable,
    WebSearchError,
)
from ..flow import Flow, Gather, Request
from ..keys._environ import read_variable
from ..models import SearchQuery
from ..provider._declare import field_notes, is_secret
from ..provider._ports import can, needs_network
from ..providers import ProviderInfo, get_all
from ..settings import Settings
from ..settings._build import collect_options
from ..settings._sources import DEFAULT, Source
from ..settings._values import find_setting
from .output import show_progress

PROBE = "https://example.com/"  # reserved for such uses (RFC 2606), and run by IANA

_TIMEOUT = 15.0  # seconds for one provider
_PING_TIMEOUT = 5.0  # seconds
_REMEDIES = {
    "authentication_failed": "check the key",
    "bad_request": "check the options of the provider",
    "bad_response": "check base_url, and what external declares; if it is right, the "
    "service has changed",
    "blocked": "use a service made for programs, such as tavily or brave",
    "quota_exhausted": "top up the account, or choose another provider",
    "rate_limited": "wait, or choose another provider",
    "timed_out": "check the network and the proxy",
    "unavailable": "check the network, the proxy and base_url",
    "unsafe_url": "if it is meant to be read, add its network or origin to internal",
}


@dataclass(frozen=True)
class Check:
    """The result of trying one provider."""

    provider: str
    seconds: float  # how long it took
    # what is wrong; None if it answers in the expected shape
    error: WebSearchError | None = None
    configured: bool = True  # whether it has what it needs, such as a key
    # whether its server answers at all; None if it has none, or was not tried
    reachable: bool | None = True
    signup_url: str = ""  # where to get a key
    note: str = ""  # what is odd about an answer without results

    @property
    def remedy(self) -> str:
        """What to do about the error; empty if the error itself says so, as for a wrong
        configuration.
        """
        if isinstance(self.error, MissingKey) and self.signup_url:
            return f"get a key at {self.signup_url}"
        return _REMEDIES.get(self.error.code, "") if self.error else ""


def run_checks(
    names: list[str], settings: Settings, *, ping: bool = False
) -> Flow[list[Check]]:
    """Try the providers called *names* in parallel, with a search for one result or by
    reading one page.

    With *ping*, also find out whether the servers of providers that are not configured
    can be reached.
    """
    checked: list[Check] = yield Gather(
        [_check(name, settings, ping=ping) for name in names]
    )
    return checked


def try_alone(
    names: list[str], settings: Settings, doing: str, *, ping: bool = False
) -> list[Check]:
    """Run checks by a client of their own, which must not fail on the settings that
    they check.
    """
    from ..client import WebSearch
    from ..providers import Direct, DuckDuckGo

    alone = settings.override(enabled=True, search_options={"unsupported": "note"})
    with (
        WebSearch(DuckDuckGo(), reader=Direct(), layers=None, settings=alone) as web,
        show_progress(doing),
    ):
        return web.run(run_checks(names, settings, ping=ping))


def find_in_use(settings: Settings) -> list[str]:
    """Return the names of the providers that have settings, or that would be chosen
    now.
    """
    configured = _find_configured(settings)
    searching = _find_searchers(settings, configured)
    reading: list[str] = []
    for name in settings.reader or ("direct",):
        names = ["direct", "browser"] if name == AUTO else [name]
        reading += names
    return list(dict.fromkeys([*searching, *reading, *configured]))


def _find_configured(settings: Settings) -> list[str]:
    return [info.name for info in get_all(settings) if _has_settings(info, settings)]


def _find_searchers(settings: Settings, configured: list[str]) -> list[str]:
    """Return the names of the providers that a search asks if it names none."""
    if settings.provider:
        return list(settings.provider)
    for name in AUTOMATIC:
        if name in configured:
            return [name]
    return [name for name in WITHOUT_KEY if not settings.switched_off(name)]


def _has_settings(info: ProviderInfo, settings: Settings) -> bool:
    if settings.providers.get(info.name):
        return True
    return any(map(read_variable, info.variables))


def is_offline(checked: list[Check]) -> bool:
    """Return whether all failures look like a missing network rather than a broken
    service.
    """
    return bool(checked) and all(
        isinstance(check.error, Unavailable | TimedOut) for check in checked
    )


@dataclass(frozen=True)
class Setting:
    """One setting and its current value."""

    name: str  # as in a settings file: ``timeout``, ``providers.brave.base_url``
    value: Any  # ready for JSON; a key is replaced by asterisks
    source: str  # ``environment BRAVE_API_KEY``, the path of a file, or ``default``
    trusted: bool  # False if it comes from a file that was merely found


def list_settings(names: list[str], settings: Settings) -> list[Setting]:
    """Return every setting, and every option of the providers called *names*, with its
    source.
    """
    entries: list[Setting] = []
    for name in Settings.model_fields:
        entries += _list_entries(name, settings)
    for name in names:
        entries += _list_options(name, settings)
    return entries


def _list_entries(name: str, settings: Settings) -> Iterator[Setting]:
    value = getattr(settings, name)
    if find_setting(name).parts:
        parts = value if isinstance(value, Mapping) else vars(value)
        for part, entry in parts.items():
            yield _setting(f"{name}.{part}", entry, settings.source(name, part))
    elif name == "layers":
        for layer, table in value.items():
            for option, entry in table.items():
                source = settings.source("layers", layer, option)
                yield _setting(f"layers.{layer}.{option}", entry, source)
    elif find_setting(name).layers:
        kind = settings.chosen_layer(name)
        yield _setting(name, kind, settings.source(name))
        for option, entry in settings.layer_options(str(kind)).items():
            yield _setting(f"{name}.{option}", entry.value, entry.source)
    elif name != "providers":
        yield _setting(name, value, settings.source(name))


def describe_environment(settings: Settings) -> dict[str, Any]:
    """Return what else may matter: versions, the settings files, proxies and TLS,
    without credentials.
    """
    return {
        "versions": {
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            **{name: _version(name) for name in ("websearch-core", "httpx", "httpx2")},
        },
        "settings_file": settings.files[0].name if settings.files else None,
        "settings_files": [
            {"path": file.name, "trusted": file.trusted} for file in settings.files
        ],
        "browser": _describe_browser(settings),
        "parsing": _describe_parsing(settings),
        "proxies": {
            scheme: without_credentials(url) for scheme, url in getproxies().items()
        },
        "tls": {
            "library": ssl.OPENSSL_VERSION,
            **{
                name: os.environ[name]
                for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")
                if name in os.environ
            },
            "problem": find_network_problem(settings),
        },
    }


def _describe_parsing(settings: Settings) -> dict[str, Any]:
    """Return whether pages are parsed in another process, as far as the reader
    ``direct`` says, and why none can be started.
    """
    from ..reading import find_problem

    try:
        isolate = getattr(build_provider("direct", settings), "isolate", True)
    except ConfigurationError as error:
        return {"isolate": None, "problem": str(error)}
    problem = find_problem() if isolate else ""
    return {"isolate": isolate, "problem": problem or None}


def _describe_browser(settings: Settings) -> dict[str, Any]:
    """Return which browser the reader ``browser`` would start, and whether its version
    passed the suite of attacks.
    """
    path: Path | None = None
    problem: str | None = None
    try:
        reader = build_provider("browser", settings)
        path = find_browser(getattr(reader, "browser_path", None))
    except ConfigurationError as error:
        problem = str(error)
    return {
        "path": str(path) if path else None,
        "version": read_version(path) if path else None,
        "proven": list(PROVEN),
        "problem": problem,
    }


def _check(name: str, settings: Settings, *, ping: bool) -> Flow[Check]:
    started = time.monotonic()
    signup_url = str(
        getattr(getattr(find_class(name), "about", None), "signup_url", "")
    )

    def check(
        error: WebSearchError | None = None,
        *,
        configured: bool = True,
        reachable: bool | None = True,
        note: str = "",
    ) -> Check:
        return Check(
            name,
            time.monotonic() - started,
            error,
            configured,
            reachable,
            signup_url,
            note,
        )

    try:
        provider = _build(name, settings)
        check_provider(provider, settings)
    except ConfigurationError as error:
        return check(
            error,
            configured=False,
            reachable=(yield from _ping(name)) if ping else None,
        )
    except (ImportError, AttributeError) as error:  # a plug-in whose package is broken
        broken = ConfigurationError(f"{name} cannot be loaded: {error}")
        return check(broken, configured=False, reachable=None)
    online = needs_network(provider)
    note = ""
    try:
        with time_limit(_TIMEOUT):
            if can(provider, "search"):
                query = SearchQuery(text="test", limit=1)
                response = yield from provider.search(query)
                note = "" if response.results else "; ".join(response.notes)
            else:
                yield from provider.read(PROBE)
    except WebSearchError as error:
        return check(error, reachable=_is_answer(error) if online else None)
    # a mistake in a plug-in must not hide what is wrong with the others
    except Exception as error:  # noqa: BLE001
        return check(BadResponse(f"{name} failed with {type(error).__name__}"))
    return check(reachable=True if online else None, note=note)


def _build(name: str, settings: Settings) -> Any:
    """Construct a provider: without a key if a search that names none would do so."""
    try:
        return build_provider(name, settings)
    except MissingKey:
        options = WITHOUT_KEY.get(name)
        if not options or settings.provider:
            raise
        if _find_configured(settings):
            raise
        return build_provider(name, settings, **options)


def _ping(name: str) -> Flow[bool | None]:
    """Return whether the server of a provider answers, with whatever status; None if it
    has no known server.
    """
    url = getattr(find_class(name), "base_url", None)
    if not isinstance(url, str):
        return None
    try:
        with time_limit(_PING_TIMEOUT):
            yield Request(url=url, max_bytes=1_000)
    except ServiceError as error:
        return _is_answer(error)
    return True


def _is_answer(error: WebSearchError) -> bool:
    """Return whether an error is the server's answer, rather than the lack of one."""
    return (
        not isinstance(error, TimedOut | Unavailable)
        or getattr(error, "status", None) is not None
    )


def _list_options(name: str, settings: Settings) -> list[Setting]:
    cls = find_class(name)
    fields = field_notes(cls)
    if not fields:
        return []
    options = collect_options(cls, settings.options(registered_name(name)), {})
    try:
        provider = build_provider(name, settings)
    except ConfigurationError:
        # rejected values are not shown: one may be a key in the wrong place
        provider = None
    settings_of_provider = []
    for option, notes in fields.items():
        if provider is None and option not in options:
            continue
        source = options[option].source if option in options else DEFAULT
        value = getattr(provider, option, None)
        has_value = value is not None or option in options
        if is_secret(notes) and has_value:
            value = "**********"
        full_name = f"providers.{registered_name(name)}.{option}"
        settings_of_provider.append(_setting(full_name, value, source))
    return settings_of_provider


def _setting(name: str, value: Any, source: Source) -> Setting:
    plain: Any = value if isinstance(value, str | int | float | None) else str(value)
    if isinstance(value, list | tuple):
        plain = list(map(_as_plain, value))
    if isinstance(plain, str):  # it may be the URL of a Redis
        plain = without_credentials(plain)
    return Setting(name, plain, str(source), source.trusted)


def _as_plain(value: Any) -> str | float:
    return value if isinstance(value, str | int | float) else str(value)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
