"""Wait until a page has shown its content.

The time of the page is virtual: the browser runs its timers one after the other without
waiting for them, and stops its clock while something loads. So seconds of the page's
time take milliseconds of real time, and text that a timer brings after 1.5 s is there
as soon as any other. Only what loads, and what workers compute, takes real time.

``setVirtualTimePolicy`` in
https://chromedevtools.github.io/devtools-protocol/tot/Emulation/
"""

from __future__ import annotations
import asyncio
from dataclasses import dataclass
from typing import Any

from .pipe import CommandFailed
from .scripts import call
from .tab import ScriptError, Tab

_SLICE = 500  # milliseconds of the page's time between two looks at it
_QUIET = 3_000  # milliseconds of the page's time without new text
# the same while it says next to nothing, or shows that it loads
_QUIET_WAITING = 10_000
# milliseconds of its time after which text that only changes, such as a ticker, is not
# new
_GROWING = 5_000
_FRAME = 0.02  # seconds for the browser to lay out the page and to tell its observers
_ANSWER = 0.5  # seconds for the browser to take a command
# seconds to wait for the end of a slice, before looking at what is loading
_GRANT = 0.25
# seconds in which a page must say how far it is; the second time that it does not, its
# scripts are ended
_BUSY = 1.5
# seconds without new text, after which requests that do not end are not waited for
_STILL = 2.0
# the same while the page says next to nothing, or shows that it loads
_STILL_WAITING = 5.0
_PATIENT = 1.0  # seconds to wait for workers of such a page


@dataclass
class Clock:
    """The time of a page, and the real time until which it may go on."""

    tab: Tab
    ends: float  # of the event loop's clock
    passes: bool = False  # whether it runs although something loads

    @property
    def left(self) -> float:
        """Seconds of real time that are left."""
        return self.ends - asyncio.get_running_loop().time()

    async def advance(self, milliseconds: int) -> bool:
        """Let the page's time go on; return whether all of *milliseconds* passed, or
        something loads.
        """
        policy = "advance" if self.passes else "pauseIfNetworkFetchesPending"
        grant = {
            "policy": policy,
            "budget": milliseconds,
            "maxVirtualTimeTaskStarvationCount": 1_000,
        }
        self.tab.time_passed.clear()
        try:
            await self.tab.send(
                "Emulation.setVirtualTimePolicy", grant, timeout=_ANSWER
            )
            async with asyncio.timeout(_GRANT):
                await self.tab.time_passed.wait()
        except (TimeoutError, CommandFailed):
            return False
        return True


async def settle(clock: Clock, quiet: int = _QUIET) -> bool:
    """Wait until the page says nothing new; return False if there was no end to it.

    A page that has its text is done after *quiet* milliseconds of its own time; one
    that says next to nothing, or shows a spinner, gets more. Clocks that tick, tickers,
    and requests that never end do not hold it up.
    """
    tab = clock.tab
    loop = asyncio.get_running_loop()
    page = _Progress(loop.time())
    silent = 0
    while clock.left > 0:
        passed = _SLICE if await clock.advance(_SLICE) else 0
        await asyncio.sleep(_FRAME)
        try:
            probe: dict[str, Any] = await call(tab, "probe", timeout=_BUSY)
        except (TimeoutError, ScriptError):
            # it is too busy to say how far it is, or moving on
            silent += 1
            if silent == 2 and not tab.stopped:  # scripts that never end
                await tab.stop_scripts()
            elif silent > 3:
                return False
            continue
        silent = 0
        waits = probe["waits"]
        page.take(probe, passed, loop.time())
        still = loop.time() - page.changed
        patience = _STILL_WAITING if waits else _STILL
        may_bring_more = tab.loading and still < patience
        if probe["state"] == "loading" or may_bring_more:
            continue
        if tab.stopped:
            return True
        if waits and still < _PATIENT:
            continue
        enough = _QUIET_WAITING if waits else quiet
        if page.calm >= enough:
            return True
        # nothing worth waiting for is loading, but the clock has stopped
        clock.passes = not passed
    return False


@dataclass
class _Progress:
    """What a page has said so far."""

    changed: float  # when it last said something new, by the event loop's clock
    passed: int = 0  # milliseconds of its time
    calm: int = 0  # of these, since it said something new
    longest: int = 0  # characters
    content: tuple[str, int] = ("", 0)  # its URL, and a hash of its text

    def take(self, probe: dict[str, Any], passed: int, now: float) -> None:
        """Compare what it says now, after *passed* milliseconds of its time, with what
        it said before.
        """
        content = (probe["url"], probe["hash"])
        grows = probe["length"] > self.longest * 1.01
        has_moved = content[0] != self.content[0]
        may_be_new = self.passed < _GROWING or grows or has_moved
        is_new = may_be_new and content != self.content
        self.passed += passed
        self.calm = 0 if is_new else self.calm + passed
        self.changed = now if is_new else self.changed
        self.content = content
        self.longest = max(self.longest, probe["length"])
