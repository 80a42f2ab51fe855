"""A clock that pauses move, for what waits between requests because a service asks for
it.
"""

from __future__ import annotations
import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from websearch_core import flow
from websearch_core.layers import _pace


class _Instead:
    """A module with another ``sleep``."""

    def __init__(self, module: Any, sleep: Any) -> None:
        self._module = module
        self.sleep = sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@contextmanager
def skip_pauses() -> Iterator[list[float]]:
    """Let each pause of a flow take no time in this block, and move the clock of paces
    by as much; the value is a list of the pauses, in seconds.

    The time limits of calls go on: they are about what really takes time.
    """
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def sleep_async(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    with (
        patch.object(flow, "time", _Instead(time, sleep)),
        patch.object(flow, "asyncio", _Instead(asyncio, sleep_async)),
        patch.object(_pace, "monotonic", lambda: time.monotonic() + sum(pauses)),
    ):
        yield pauses
