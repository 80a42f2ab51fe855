"""Load the certificates to trust once, for all clients: they take 25 ms and 0.8 MB, and a service has many tenants."""

from __future__ import annotations
import importlib
import os
import ssl
from functools import lru_cache
from pathlib import Path
from typing import Any

_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # what the HTTP libraries read


def trusted(library: str, *, trust_env: bool) -> ssl.SSLContext:
    """Return the certificates that *library* trusts: the same context, until they change.

    With *trust_env*, variables of the environment may name others. A context has no connections and no sessions.
    """
    named = [os.environ.get(name, "") for name in _VARIABLES] if trust_env else []
    paths = (*named, ssl.get_default_verify_paths().openssl_cafile)
    return _load(library, trust_env, (os.environ.get("SSLKEYLOGFILE"), *map(_describe, paths)))


@lru_cache(maxsize=8)
def _load(library: str, trust_env: bool, _state: tuple[Any, ...]) -> ssl.SSLContext:
    context: ssl.SSLContext = importlib.import_module(library).create_ssl_context(trust_env=trust_env)
    return context


def _describe(path: str) -> tuple[str, int, int]:
    """Return the *path* and when it changed, so that renewed certificates are read again."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return path, 0, 0
    return path, found.st_mtime_ns, found.st_ino
