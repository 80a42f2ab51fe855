"""Decline consent walls, and never accept one; scroll through a page, and open what a reader would open."""

from __future__ import annotations
import asyncio

from .scripts import call
from .settle import Clock, settle

_MAX_SCREENS = 40
_MAX_SECONDS = 5.0  # for scrolling
_MAX_GROWTHS = 10  # times that a page became longer because it was scrolled
_MAX_ROUNDS = 4  # of opening: what was opened may hold more to open
_MAX_TABS = 12
_HEIGHT = 720  # pixels of an ordinary screen, for pages that are not longer than ours
_STEP = 300  # milliseconds of the page's time for each screen
_FRAME = 0.02  # seconds for the browser to tell the page's observers
_MAX_STEPS = 4  # a wall, its settings, and one more of the kind


async def scroll(clock: Clock) -> None:
    """Scroll to the end of the page, or as far as the limits allow; what comes by that is waited for.

    A list that loads more when it is scrolled may be no longer than our tall screen, which is made lower then.
    """
    height = await call(clock.tab, "measure")
    if not await _scroll(clock) and height > _HEIGHT:
        await clock.tab.set_height(_HEIGHT)
        await _scroll(clock)
        await clock.tab.set_height()


async def _scroll(clock: Clock) -> bool:
    """Return whether there was anything to scroll."""
    tab, screens, growths = clock.tab, 0, 0
    ends = min(clock.ends, asyncio.get_running_loop().time() + _MAX_SECONDS)
    height = await call(tab, "measure")
    while True:
        moved = await call(tab, "scroll")
        if not moved and not screens:
            return False
        screens += moved
        await asyncio.sleep(_FRAME)
        await clock.advance(_STEP)
        if not moved or tab.loading:
            await settle(clock, quiet=500)
        grown = await call(tab, "measure")
        if grown > height:
            growths += 1
        elif not moved:
            break
        height = grown
        if screens >= _MAX_SCREENS or growths >= _MAX_GROWTHS or asyncio.get_running_loop().time() > ends:
            if growths:
                tab.note("the page goes on: it was not scrolled to its end")
            break
    if growths:
        tab.note("the page was scrolled to load more of it")
    await call(tab, "scrollBack")
    await clock.advance(_STEP)
    if await call(tab, "countGone"):
        tab.note("the page shows only some rows of a list at a time: those seen while scrolling are included")
    return True


async def open_all(clock: Clock) -> None:
    """Open details, accordions and tabs, and press what shows more of the text."""
    for _ in range(_MAX_ROUNDS):
        if clock.left <= 0 or not await call(clock.tab, "open"):
            break
        await settle(clock, quiet=1_000)
    for _ in range(_MAX_TABS):
        if clock.left <= 0 or not await call(clock.tab, "nextTab"):
            break
        await settle(clock, quiet=500)
    await call(clock.tab, "keepTabs")


async def decline_consent(clock: Clock) -> None:
    """Decline the consent walls of the page, as far as they offer that, and remove the others.

    The notes of the page say what was done. Behind one that is only removed, what an answer loads is missing.
    """
    for _ in range(_MAX_STEPS):
        done = await call(clock.tab, "decline")
        if not done:
            return
        name = f" ({done['name']})" if done["name"] else ""
        if done["did"] == "declined":
            clock.tab.note(f"a consent wall was declined{name}")
        elif done["did"] == "removed":
            clock.tab.note(f"a consent wall was removed without an answer{name}")
        elif done["did"] == "stopped":
            clock.tab.note("the page asks for consent and offers no way to decline: it was not answered")
            return
        await settle(clock, quiet=1_000)
