"""
Let clients take turns on an event loop, too.

A loop calls whatever is ready, one after the other: fifty answers that arrive at the same time are fifty steps before
it comes back to somebody else. Here, each client does one step of all its calls in one round of the loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable

from .._turns import current_client


class Steps:
    """The steps of one event loop."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}  # of each client that did a step in this round

    async def next(self) -> None:
        """Wait until this client has done no other step in this round of the loop."""
        client, loop = current_client(), asyncio.get_running_loop()
        waiting = self._waiting.get(client)
        if waiting is None:
            self._waiting[client] = deque()
            loop.call_soon(self._go_on, loop, client)
            return
        turn: asyncio.Future[None] = loop.create_future()
        waiting.append(turn)
        await turn

    def _go_on(self, loop: asyncio.AbstractEventLoop, client: Hashable) -> None:
        waiting = self._waiting[client]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():  # else its call was cancelled
                turn.set_result(None)
                loop.call_soon(self._go_on, loop, client)
                return
        del self._waiting[client]
