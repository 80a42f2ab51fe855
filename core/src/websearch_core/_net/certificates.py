"""Which certificates are trusted: the usual ones, those of a company, and for services
what the environment names.

What the environment says is checked here, so that a mistake in it is an error that
names the variable, and not one of the HTTP library.
"""

from __future__ import annotations
import importlib
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError

_FILE = "SSL_CERT_FILE"
_FOLDER = "SSL_CERT_DIR"
_VARIABLES = (_FILE, _FOLDER)  # what the HTTP libraries read
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
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
    http = importlib.import_module(library)
    try:
        parse_certificates(certificates)
        check_variables()
        with explain_proxies(http):
            http.Client().close()
    except ConfigurationError as error:
        return str(error)
    return None


@contextmanager
def explain_proxies(library: Any) -> Iterator[None]:
    """Raise `ConfigurationError` that names the variable, instead of what *library*
    raises, if it cannot use a proxy of the environment.

    No message shows a value, which may have a password.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            f"{_find_socks()}: a SOCKS proxy needs a package: pip install "
            f"'{library.__name__}[socks]'"
        ) from error
    except (ValueError, library.InvalidURL) as error:
        raise ConfigurationError(_describe_mistake(library)) from error


def _find_socks() -> str:
    for name, value in _list_proxies():
        if value.lower().startswith("socks"):
            return name
    return "ALL_PROXY"


def _describe_mistake(library: Any) -> str:
    for name, value in _list_proxies():
        url = value if "://" in value else f"http://{value}"
        try:
            library.Proxy(url)
        except (ValueError, library.InvalidURL):
            return (
                f"{name}: must be the URL of a proxy, such as "
                f"'http://user:password@proxy.corp:3128'"
            )
    name = _find_name("NO_PROXY")
    return (
        f"{name}: has an entry that {library.__name__} cannot read. It takes names, "
        f"such as '.corp', and IPv4 addresses; IPv6 only as '::1', without brackets "
        f"and networks. Or name the proxy yourself: http.proxy"
    )


def _list_proxies() -> list[tuple[str, str]]:
    """Return the variables that name a proxy, with their values."""
    names = [_find_name(name) for name in _PROXIES]
    return [(name, os.environ[name]) for name in names if os.environ.get(name)]


def _find_name(name: str) -> str:
    """Return the spelling of a variable that counts: the lower case one, if it is
    set.
    """
    return name.lower() if os.environ.get(name.lower()) else name
