"""Decline consent walls, and never accept one."""

from __future__ import annotations
from typing import TYPE_CHECKING

from .scripts import call
from .settle import settle

if TYPE_CHECKING:
    from .settle import Clock

_MAX_STEPS = 4  # a wall, its settings, and one more of the kind


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
