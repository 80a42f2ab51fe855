"""Threads for what would block an event loop: parsing, reading files, importing, a vendor's SDK."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TypeVar

T = TypeVar("T")

_MAX_THREADS = 32  # most of them wait for a process that parses


async def in_thread(work: Callable[[], T]) -> T:
    """Run blocking *work* in a thread, with the context variables of the caller, and await its result."""
    return await asyncio.wrap_future(_get_threads().submit(copy_context().run, work))


@cache
def _get_threads() -> ThreadPoolExecutor:
    """Return a separate pool: parsing must not hold up the application's `asyncio.to_thread`."""
    return ThreadPoolExecutor(_MAX_THREADS, "websearch-work")


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(after_in_child=_get_threads.cache_clear)  # a forked child does not have its parent's threads
