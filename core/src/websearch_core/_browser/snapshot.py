"""Take what a page shows, as HTML that the reader of pages reads."""

from __future__ import annotations
import asyncio
from typing import NamedTuple

from .._runtime.deadline import time_left
from ..errors import TimedOut
from .scripts import call
from .settle import Clock, settle
from .tab import Document, ScriptError, Tab

_MOST = 12.0  # seconds for all of it
_ATTEMPTS = 3
_TIMEOUT = 8.0  # seconds: the largest page takes 3 on a slow machine
_MAX_SCREENS = 40
_MAX_SECONDS = 5.0  # for scrolling
_MAX_GROWTHS = 10  # times that a page became longer because it was scrolled
_MAX_ROUNDS = 4  # of opening: what was opened may hold more to open
_MAX_TABS = 12
_HEIGHT = 720  # pixels of an ordinary screen, for pages that are not longer than ours
_STEP = 300  # milliseconds of the page's time for each screen
_FRAME = 0.02  # seconds for the browser to tell the page's observers
_MAX_STEPS = 4  # a wall, its settings, and one more of the kind


class Snapshot(NamedTuple):
    """What a page shows.

    The HTML has open shadow roots and frames of the same origin in their places.
    ``style`` says only what is shown.
    """

    document: Document  # the answer that it came with
    url: str  # where it is now
    html: str
    cut: bool  # whether it is longer than the limit


async def show(tab: Tab, document: Document, max_length: int) -> Snapshot:
    """Bring a page to where a reader has seen all of it, and return what it shows, up
    to *max_length* characters.

    It is waited for, consent walls are declined, it is scrolled to its end, and what is
    closed is opened. The notes of *tab* say so. Raise `TimedOut` if its scripts cannot
    be ended, and another error if it crashed or was led astray.
    """
    clock = Clock(tab, asyncio.get_running_loop().time() + min(_MOST, time_left() / 2))
    if not await settle(clock) and not tab.stopped:
        tab.note("the page did not settle: this is how it was then")
    tab.check()
    if tab.stopped:
        return await _take(tab, document, max_length)
    before: Snapshot | None = None
    try:
        await decline_consent(clock)
        if (await call(tab, "probe"))["isLarge"]:
            tab.note(
                "the page is large: it was not scrolled, and nothing in it was opened"
            )
            return await _take(tab, document, max_length)
        await scroll(clock)
        if await call(tab, "canOpen"):
            before = await _take(tab, document, max_length)
            await open_all(clock)
    except (TimeoutError, ScriptError):  # it became busy, or moved on
        tab.note("the page was not opened to its end: its scripts are busy")
        if before is None:
            await tab.stop_scripts()
    after = await _take(tab, document, max_length)
    # a control led elsewhere
    if before and before.url.partition("#")[0] != after.url.partition("#")[0]:
        return before
    return after


async def _take(tab: Tab, document: Document, max_length: int) -> Snapshot:
    for _ in range(_ATTEMPTS):
        try:
            page = await call(
                tab, "snapshot", max_length, timeout=min(_TIMEOUT, time_left() / 2)
            )
            tab.check()
        except (TimeoutError, ScriptError):
            await tab.stop_scripts()
            continue
        count = page["foreignFrames"]
        if count > 1:
            tab.note(f"{count} frames of other sites were left out")
        elif count:
            tab.note("a frame of another site was left out")
        return Snapshot(
            tab.document or document, page["url"], page["html"], page["cut"]
        )
    raise TimedOut("the page's scripts never end")


async def scroll(clock: Clock) -> None:
    """Scroll to the end of the page, or as far as the limits allow; what comes by that
    is waited for.

    A list that loads more when it is scrolled may be no longer than our tall screen,
    which is made lower then.
    """
    height = await call(clock.tab, "measure")
    if not await _scroll(clock) and height > _HEIGHT:
        await clock.tab.set_height(_HEIGHT)
        await _scroll(clock)
        await clock.tab.set_height()


async def _scroll(clock: Clock) -> bool:
    """Return whether there was anything to scroll."""
    tab = clock.tab
    screens = 0
    growths = 0
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
        is_long = screens >= _MAX_SCREENS or growths >= _MAX_GROWTHS
        if is_long or asyncio.get_running_loop().time() > ends:
            if growths:
                tab.note("the page goes on: it was not scrolled to its end")
            break
    await _scroll_back(clock, growths)
    return True


async def _scroll_back(clock: Clock, growths: int) -> None:
    if growths:
        clock.tab.note("the page was scrolled to load more of it")
    await call(clock.tab, "scrollBack")
    await clock.advance(_STEP)
    if await call(clock.tab, "countGone"):
        clock.tab.note(
            "the page shows only some rows of a list at a time: those seen while "
            "scrolling are included"
        )


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
    """Decline the consent walls of the page, as far as they offer that, and remove the
    others.

    The notes of the page say what was done. Behind one that is only removed, what an
    answer loads is missing.
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
            clock.tab.note(
                "the page asks for consent and offers no way to decline: it was not "
                "answered"
            )
            return
        await settle(clock, quiet=1_000)
