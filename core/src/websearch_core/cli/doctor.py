"""Whether what is configured works: one small real call for each provider."""

from __future__ import annotations

import os
import platform
import sqlite3
import ssl
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from ..deadline import time_limit
from ..errors import BadResponse, ConfigurationError, TimedOut, Unavailable, WebSearchError
from ..flow import Flow, Gather
from ..guard import Guard
from ..models import SearchQuery
from ..ports import can
from ..selection import AUTOMATIC, check_provider
from ..settings import Settings, configured, find_file
from .standing import standings

PROBE = "https://example.com/"  # reserved for such purposes (RFC 2606), and kept up by IANA

_PATIENCE = 15.0  # seconds for one provider
_REMEDIES = {
    "authentication_failed": "check the key",
    "bad_request": "check the options of the provider",
    "bad_response": "check base_url; if it is right, the service has changed",
    "blocked": "take a service that wants to be used by programs, such as tavily or brave",
    "quota_exhausted": "top up the account, or choose another provider",
    "rate_limited": "wait, or choose another provider",
    "timed_out": "check the network and the proxy",
    "unavailable": "check the network, the proxy and base_url",
    "unsafe_url": "if it is meant to be read, open a hole with allow",
}


@dataclass(frozen=True)
class Check:
    """What came of asking one provider; *error* is None if it works."""

    provider: str
    seconds: float
    error: WebSearchError | None = None

    @property
    def remedy(self) -> str:
        """What to do about it; of a wrong configuration the error itself says it."""
        return _REMEDIES.get(self.error.code, "") if self.error else ""


def checks(names: list[str], settings: Settings) -> Flow[list[Check]]:
    """Try the providers called *names*, side by side, with a search for one result or by reading one page."""
    checked: list[Check] = yield Gather([_check(name, settings) for name in names])
    return checked


def in_use(settings: Settings) -> list[str]:
    """Return the names of the providers that something is set for, or that would be chosen as things are."""
    told = [
        one.name
        for one in standings(settings)
        if settings.providers.get(one.name) or any(os.environ.get(name) for name in one.variables)
    ]
    searching = list(settings.provider) or [name for name in AUTOMATIC if name in told][:1] or ["duckduckgo"]
    reading = list(settings.reader) or ["direct"]
    return list(dict.fromkeys([*searching, *reading, *told]))


def offline(checked: list[Check]) -> bool:
    """Tell whether it looks as if there were no network at all, rather than something wrong with a service."""
    return bool(checked) and all(isinstance(check.error, Unavailable | TimedOut) for check in checked)


def surroundings() -> dict[str, Any]:
    """Return what else may matter: versions, the settings file, proxies, TLS. No credentials."""
    return {
        "versions": {
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            **{name: _version(name) for name in ("websearch-core", "httpx", "httpx2")},
        },
        "settings_file": str(file) if (file := find_file(Path.cwd())) else None,
        "proxies": {scheme: _without_credentials(url) for scheme, url in getproxies().items()},
        "tls": {
            "library": ssl.OPENSSL_VERSION,
            **{name: os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ},
        },
    }


def _check(name: str, settings: Settings) -> Flow[Check]:
    started = time.monotonic()
    try:
        provider = configured(name, settings)
        check_provider(provider, Guard.allowing(settings.allow))
        with time_limit(_PATIENCE):
            if can(provider, "search"):
                yield from provider.search(SearchQuery(text="test", limit=1))
            else:
                yield from provider.read(PROBE)
    except WebSearchError as error:
        return Check(name, time.monotonic() - started, error)
    except (ImportError, AttributeError) as error:  # a plug-in whose package is broken
        return Check(name, time.monotonic() - started, ConfigurationError(f"{name} cannot be loaded: {error}"))
    except Exception as error:  # noqa: BLE001 - a mistake in a plug-in must not hide what is wrong with the others
        return Check(name, time.monotonic() - started, BadResponse(f"{name} failed with {type(error).__name__}"))
    return Check(name, time.monotonic() - started)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
