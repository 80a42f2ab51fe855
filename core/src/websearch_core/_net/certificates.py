"""Which certificates are trusted: the usual ones, those of a company, and for services
what the environment names.

What the environment says is checked here, so that a mistake in it is an error that
names the variable, and not one of the HTTP library.
"""

from __future__ import annotations
import importlib
import os
import ssl
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import getproxies

from .._text.urls import PORTS
from ..errors import ConfigurationError

_FILE = "SSL_CERT_FILE"
_FOLDER = "SSL_CERT_DIR"
_VARIABLES = (_FILE, _FOLDER)  # what the HTTP libraries read
_SETTING = "http.certificates"


def trusted(
    library: str, *, trust_env: bool, certificates: Path | None = None
) -> ssl.SSLContext:
    """Return the certificates that *library* trusts: the same context, until they
    change.

    With *trust_env*, variables of the environment may name others. Those of a
    company, in the file *certificates*, are trusted besides. A context has no
    connections and no sessions. Raise `ConfigurationError` if a file cannot be used.
    """
    named = [os.environ.get(name, "") for name in _VARIABLES] if trust_env else []
    paths = [*named, ssl.get_default_verify_paths().openssl_cafile]
    if certificates is not None:
        paths.append(str(certificates))
    state = (os.environ.get("SSLKEYLOGFILE"), *map(_describe, paths))
    return _load(library, trust_env, certificates, state)


@lru_cache(maxsize=8)
def _load(
    library: str, trust_env: bool, certificates: Path | None, _state: tuple[Any, ...]
) -> ssl.SSLContext:
    if trust_env:
        check_variables()
    make_context = importlib.import_module(library).create_ssl_context
    context: ssl.SSLContext = make_context(trust_env=trust_env)
    if certificates is not None:
        _add(context, str(certificates), _SETTING)
    return context


def _describe(path: str) -> tuple[str, int, int]:
    """Return the *path* and when it changed, so that renewed certificates are read
    again.
    """
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return path, 0, 0
    return path, status.st_mtime_ns, status.st_ino


def check_variables() -> None:
    """Raise `ConfigurationError` if the environment names certificates that cannot be
    used.
    """
    file, folder = (os.environ.get(name, "") for name in _VARIABLES)
    if file:
        _add(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), file, _FILE)
    elif folder and not Path(folder).is_dir():
        raise ConfigurationError(f"{_FOLDER}: {folder} is not a folder: unset it")


def parse_certificates(value: str | Path | None) -> Path | None:
    """Return the file that the setting ``http.certificates`` names; raise
    `ConfigurationError` if it has no certificates.
    """
    if value is None:
        return None
    path = Path(value).expanduser().absolute()
    _add(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), str(path), _SETTING)
    return path


def _add(context: ssl.SSLContext, file: str, name: str) -> None:
    """Add the certificates of a *file* to a context; *name* is who names the file."""
    try:
        context.load_verify_locations(cafile=file)
    except ssl.SSLError:
        raise ConfigurationError(
            f"{name}: {file} has no certificates in PEM format"
        ) from None
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise ConfigurationError(f"{name}: {file} cannot be read: {reason}") from None


def find_problem(library: str, certificates: str | Path | None) -> str | None:
    """Return what is wrong with the certificates and proxies that the settings and the
    environment name; None if nothing is.
    """
    try:
        parse_certificates(certificates)
        check_variables()
        find_proxies(importlib.import_module(library))
    except ConfigurationError as error:
        return str(error)
    return None


def find_proxies(library: Any) -> dict[str, Any]:
    """Return the proxies of the environment, of the class of *library*, by the scheme
    of a URL.

    Raise `ConfigurationError` that names the variable if one cannot be used. It does
    not show its value, which may have a password.
    """
    variables = getproxies()
    proxies: dict[str, Any] = {}
    for scheme in PORTS:
        source = scheme if variables.get(scheme) else "all"
        url = variables.get(source)
        if url:
            name = _find_name(f"{source.upper()}_PROXY")
            proxies[scheme] = _make_proxy(library, url, name)
    return proxies


def _make_proxy(library: Any, url: str, name: str) -> Any:
    if "://" not in url:
        url = f"http://{url}"
    try:
        proxy = library.Proxy(url)
    except (ValueError, library.InvalidURL) as error:
        raise ConfigurationError(
            f"{name}: must be the URL of a proxy, such as "
            f"'http://user:password@proxy.corp:3128'"
        ) from error
    if is_socks(proxy) and find_spec("socksio") is None:
        raise ConfigurationError(
            f"{name}: a SOCKS proxy needs a package: pip install "
            f"'{library.__name__}[socks]'"
        )
    return proxy


def is_socks(proxy: Any) -> bool:
    """Return whether a proxy of an HTTP library speaks SOCKS."""
    return bool(proxy.url.scheme.startswith("socks"))


def _find_name(name: str) -> str:
    """Return the spelling of a variable that counts: the lower case one, if it is
    set.
    """
    return name.lower() if os.environ.get(name.lower()) else name
