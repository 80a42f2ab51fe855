"""A cache in Redis, which machines share."""

from __future__ import annotations
import importlib.util
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from ...errors import ConfigurationError
from .backend import CacheStats

SCHEMES = ("redis://", "rediss://", "unix://")
_PREFIX = "websearch:"
_MAX_BYTES = 16 * 2**20  # of one entry
_LONGEST = 10 * 365 * 86_400.0  # seconds; Redis knows no endless ones
_TIMEOUT = 0.25  # seconds; parameters of the URL win


class RedisBackend:
    """Keeps entries in Redis, which bounds them by its own ``maxmemory`` and by their
    age.

    The URL is what redis-py reads:
    https://redis.readthedocs.io/en/stable/connections.html#redis.Redis.from_url.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = connect(url, "a cache", "cache")

    def get(self, key: str) -> bytes | None:
        from redis.exceptions import ResponseError

        try:
            value: Any = self._client.get(_PREFIX + key)
        except ResponseError:  # somebody put something else there
            return None
        return value if isinstance(value, bytes) else None

    def set(self, key: str, value: bytes, ttl: float) -> None:
        if len(value) > _MAX_BYTES:
            self._client.unlink(_PREFIX + key)
        else:
            self._client.set(
                _PREFIX + key, value, px=max(1, int(min(ttl, _LONGEST) * 1000))
            )

    def clear(self) -> None:
        """Remove all entries of caches, and nothing else."""
        for key in self._client.scan_iter(f"{_PREFIX}*", count=1000):
            self._client.unlink(key)

    def stats(self) -> CacheStats:
        from redis.exceptions import ResponseError

        sizes = []
        for key in self._client.scan_iter(f"{_PREFIX}*", count=1000):
            sizes.append(0)
            with suppress(ResponseError):  # somebody put something else there
                sizes[-1] = int(self._client.strlen(key))
        parts = urlsplit(self._url)
        host = parts.hostname or ""
        if parts.port:
            host += f":{parts.port}"
        location = f"{parts.scheme}://{host}{parts.path}"
        return CacheStats(len(sizes), sum(sizes), location)


def connect(url: str, what: str, option: str) -> Any:
    """Return a client of the Redis at *url*, which gives up soon, without a connection
    yet.

    A `ConfigurationError` says *what* needs the package, or which *option* is not such
    a URL.
    """
    if importlib.util.find_spec("redis") is None:
        raise ConfigurationError(
            f"{what} in Redis needs pip install 'websearch-core[redis]'"
        )
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    retry = Retry(NoBackoff(), 0)
    try:
        return Redis.from_url(
            url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT, retry=retry
        )
    except ValueError:
        raise ConfigurationError(f"{option}: not a URL of Redis") from None
