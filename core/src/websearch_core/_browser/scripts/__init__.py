"""The scripts that are run inside a page, in a world of their own.

They see the page's elements, and nothing that its own scripts replace. They are
installed on first use, and again after the page has moved on to another document.
"""

from __future__ import annotations
import json
from functools import cache
from importlib.resources import files
from typing import Any

from ..tab import Tab

# each uses those before it
_FILES = ("dom.js", "probe.js", "snapshot.js", "scroll.js", "open.js", "consent.js")


@cache
def _source() -> str:
    # imported here: it reads a file
    from ..._text.consent import CONSENT

    *first, consent = (
        files(__name__).joinpath(name).read_text("utf-8") for name in _FILES
    )
    data = f"websearch.consent = {json.dumps(CONSENT)};"
    return "\n".join((*first, data, consent))


async def call(
    tab: Tab, function: str, *arguments: object, timeout: float = 2.0
) -> Any:
    """Return what a function of these scripts returns in the page, as JSON; raise what
    `Tab.evaluate` raises.
    """
    query = f"[websearch.{function}({', '.join(map(json.dumps, arguments))})]"
    # A page can name an element "websearch", which is then a property of the global
    # object, but not its own.
    answer = await tab.evaluate(
        f"Object.hasOwn(globalThis, 'websearch') ? {query} : null", timeout=timeout
    )
    if answer is None:
        answer = await tab.evaluate(f"{_source()}\n{query}", timeout=timeout)
    return answer[0]
