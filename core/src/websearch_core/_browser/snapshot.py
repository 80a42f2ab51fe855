"""Take what a page shows, as HTML that the reader of pages reads."""

from __future__ import annotations
import asyncio
from typing import NamedTuple

from .._runtime.deadline import time_left
from ..errors import TimedOut
from .explore import decline_consent, open_all, scroll
from .scripts import call
from .settle import Clock, settle
from .tab import Document, ScriptError, Tab

_MOST = 12.0  # seconds for all of it
_ATTEMPTS = 3
_TIMEOUT = 8.0  # seconds: the largest page takes 3 on a slow machine


class Snapshot(NamedTuple):
    """What a page shows.

    The HTML has open shadow roots and frames of the same origin in their places. ``style`` says only what is shown.
    """

    document: Document  # the answer that it came with
    url: str  # where it is now
    html: str
    cut: bool  # whether it is longer than the limit


async def show(tab: Tab, document: Document, max_length: int) -> Snapshot:
    """Bring a page to where a reader has seen all of it, and return what it shows, up to *max_length* characters.

    It is waited for, consent walls are declined, it is scrolled to its end, and what is closed is opened. The notes of
    *tab* say so. Raise `TimedOut` if its scripts cannot be ended, and another error if it crashed or was led astray.
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
            tab.note("the page is large: it was not scrolled, and nothing in it was opened")
            return await _take(tab, document, max_length)
        await scroll(clock)
        if await call(tab, "canOpen"):
            before = await _take(tab, document, max_length)
            await open_all(clock)
    except (TimeoutError, ScriptError):  # it became busy, or moved on
        tab.note("the page was not opened to its end: its scripts are busy")
        if before is None:
            await tab.stop_scripts()
    shown = await _take(tab, document, max_length)
    if before and before.url.partition("#")[0] != shown.url.partition("#")[0]:  # a control led elsewhere
        return before
    return shown


async def _take(tab: Tab, document: Document, max_length: int) -> Snapshot:
    for _ in range(_ATTEMPTS):
        try:
            shown = await call(tab, "snapshot", max_length, timeout=min(_TIMEOUT, time_left() / 2))
            tab.check()
        except (TimeoutError, ScriptError):
            await tab.stop_scripts()
            continue
        if count := shown["foreignFrames"]:
            tab.note(
                f"{count} frames of other sites were left out" if count > 1 else "a frame of another site was left out"
            )
        return Snapshot(tab.document or document, shown["url"], shown["html"], shown["cut"])
    raise TimedOut("the page's scripts never end")
