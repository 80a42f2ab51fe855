"""Let clients take turns on an event loop, too.

A loop calls whatever is ready, one after the other: fifty answers that arrive at the same time are fifty steps before
it comes back to somebody else. Here, each client does one step of all its calls in one round of the loop, or a few if
no other client does any: a round costs about as much as half a step.
"""

from __future__ import annotations
import asyncio
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from .._runtime.scope import current_client

_ALONE = 8  # steps of a client in a round without others; they take some milliseconds


@dataclass(eq=False)
class _Line:
    """The steps of one client: how many it may still do in this round, and those that wait for the next."""

    left: int
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


class Steps:
    """The steps of all clients on one event loop."""

    @classmethod
    def here(cls) -> Steps:
        """Return those of the running event loop, whichever `WebSearch` asks."""
        loop = asyncio.get_running_loop()
        steps = _steps.get(loop)
        if steps is None:
            for other in [reference() for reference in _steps.keyrefs()]:  # a copy: each thread may have a loop
                if other is not None and other.is_closed():
                    _steps.pop(other, None)  # what still waits there would keep it
            steps = _steps[loop] = cls()
        return steps

    def __init__(self) -> None:
        self._lines: dict[Hashable, _Line] = {}  # of each client that did a step in this round

    async def next(self) -> None:
        """Wait until this client may do another step in this round of the loop."""
        client, loop = current_client(), asyncio.get_running_loop()
        line = self._lines.get(client)
        if line is None:
            line = self._lines[client] = _Line(1 if self._lines else _ALONE)
            loop.call_soon(self._go_on, loop, client)
        if line.left:
            line.left -= 1
            return
        turn: asyncio.Future[None] = loop.create_future()
        line.waiting.append(turn)
        await turn

    def _go_on(self, loop: asyncio.AbstractEventLoop, client: Hashable) -> None:
        """Begin the next round of a client; forget it if it has nothing to do."""
        line = self._lines[client]
        line.left = allowed = 1 if len(self._lines) > 1 else _ALONE
        while line.waiting and line.left:
            turn = line.waiting.popleft()
            if not turn.done():  # else its call was cancelled
                turn.set_result(None)
                line.left -= 1
        if line.left < allowed:
            loop.call_soon(self._go_on, loop, client)
        else:
            del self._lines[client]


_steps: WeakKeyDictionary[asyncio.AbstractEventLoop, Steps] = WeakKeyDictionary()
