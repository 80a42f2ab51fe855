"""What holds for the calls of a block: the policy that pages are read under, and whether kept answers will do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_policy: ContextVar[str] = ContextVar("websearch_policy", default="")
_fresh: ContextVar[bool] = ContextVar("websearch_fresh", default=False)


@contextmanager
def policy_scope(policy: str) -> Iterator[None]:
    """Say in this block under which *policy* pages are read: what may be opened, as text."""
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


@contextmanager
def no_cache() -> Iterator[None]:
    """
    Ask the services in this block, whatever the cache holds; their answers are kept for later calls.

    It holds for everything that is called in the block, including tools and agents::

        with no_cache():
            web.search("weather in Oslo")
    """
    token = _fresh.set(True)
    try:
        yield
    finally:
        _fresh.reset(token)


def current_policy() -> str:
    """Return the policy of this call."""
    return _policy.get()


def wants_fresh() -> bool:
    """Return whether this call is made inside `no_cache`."""
    return _fresh.get()
