"""Take a screenshot, a PDF and the DOM of a page."""

from __future__ import annotations
import base64
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from .pipe import CommandFailed
from .tab import ScriptError, Tab

Capture: TypeAlias = Literal["dom.html", "screenshot.png", "page.pdf"]

_TIMEOUT = 10.0  # seconds for each
_HIGHEST = 16_000  # pixels of a screenshot: a larger one is cut
_COMMANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "screenshot.png": ("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True}),
    "page.pdf": ("Page.printToPDF", {"printBackground": True}),
}


async def capture(tab: Tab, wanted: Sequence[Capture], max_size: int) -> dict[str, bytes]:
    """Return what is *wanted* by file name, the DOM up to *max_size* characters; a note says what is missing."""
    files: dict[str, bytes] = {}
    for name in wanted:
        try:
            files[name] = await _take(tab, name, max_size)
        except (TimeoutError, CommandFailed, ScriptError):
            tab.note(f"{name} could not be made")
    return files


async def _take(tab: Tab, name: Capture, max_size: int) -> bytes:
    if name == "dom.html":
        html = await tab.evaluate(f"document.documentElement.outerHTML.slice(0, {max_size})", timeout=_TIMEOUT)
        return f"<!doctype html>{html}".encode("utf-8", "replace")
    method, options = _COMMANDS[name]
    if name == "screenshot.png":
        size = (await tab.send("Page.getLayoutMetrics", timeout=_TIMEOUT))["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], _HIGHEST), "scale": 1}
        options = options | {"clip": clip}
    return base64.b64decode((await tab.send(method, options, timeout=_TIMEOUT))["data"])
