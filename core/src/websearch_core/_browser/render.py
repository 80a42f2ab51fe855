"""Render a page: a `websearch_core.flow.Request` in, a response with what the browser
shows out, and captures of it.
"""

from __future__ import annotations
import asyncio
import base64
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .._net.credentials import OriginCredentials
from .._net.guard import Guard
from .._net.lookup import Line
from .._net.proxy import Proxies
from .._runtime.deadline import time_left, time_limit
from .._text.media_types import HTML
from ..errors import TimedOut
from ..flow import Request, Response
from ..flow._redaction import SecretRequest, redact_response, without_keys
from .launch import Launch
from .pipe import CommandFailed
from .snapshot import show
from .tab import Document, ScriptError, Tab

_MAX_SECONDS = 60.0  # for a page without a deadline
Capture: TypeAlias = Literal["dom.html", "screenshot.png", "page.pdf"]

_TIMEOUT = 10.0  # seconds for each
_HIGHEST = 16_000  # pixels of a screenshot: a larger one is cut
_COMMANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "screenshot.png": (
        "Page.captureScreenshot",
        {"format": "png", "captureBeyondViewport": True},
    ),
    "page.pdf": ("Page.printToPDF", {"printBackground": True}),
}


@dataclass(frozen=True, kw_only=True)
class Rendered(Response):
    """A page as the browser shows it: ``content`` is the final DOM as HTML.

    ``notes`` are sentences about what was refused and what was done; ``files`` has what
    was asked for besides, by name.
    """

    notes: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


async def capture(
    tab: Tab, captures: Sequence[Capture], max_size: int
) -> dict[str, bytes]:
    """Return the *captures* by file name, the DOM up to *max_size* characters; a note
    says what is missing.
    """
    files: dict[str, bytes] = {}
    for name in captures:
        try:
            files[name] = await _take(tab, name, max_size)
        except (TimeoutError, CommandFailed, ScriptError):
            tab.note(f"{name} could not be made")
    return files


async def _take(tab: Tab, name: Capture, max_size: int) -> bytes:
    if name == "dom.html":
        html = await tab.evaluate(
            f"document.documentElement.outerHTML.slice(0, {max_size})", timeout=_TIMEOUT
        )
        return f"<!doctype html>{html}".encode("utf-8", "replace")
    method, options = _COMMANDS[name]
    if name == "screenshot.png":
        size = (await tab.send("Page.getLayoutMetrics", timeout=_TIMEOUT))[
            "cssContentSize"
        ]
        clip = {
            "x": 0,
            "y": 0,
            "width": size["width"],
            "height": min(size["height"], _HIGHEST),
            "scale": 1,
        }
        options = options | {"clip": clip}
    return base64.b64decode((await tab.send(method, options, timeout=_TIMEOUT))["data"])


@dataclass(frozen=True, kw_only=True)
class Renderer:
    """Renders pages; the value of `Request.transport`."""

    launch: Launch = field(default_factory=Launch)
    max_requests: int = 500  # of one page
    # bytes that all of them may bring, as they come over the wire
    max_traffic: int = 20 * 2**20
    captures: tuple[Capture, ...] = ()  # what to take besides the text

    def __call__(
        self,
        request: Request,
        guard: Guard,
        line: Line,
        proxies: Proxies | None = None,
        credentials: OriginCredentials | None = None,
        certificates: Path | None = None,
    ) -> Future[Response]:
        from .host import host

        launch = self.launch
        if certificates is not None:
            launch = replace(launch, certificates=certificates)
        return host.submit(
            lambda: self._render(request, guard, line, launch, proxies, credentials)
        )

    async def _render(
        self,
        request: Request,
        guard: Guard,
        line: Line,
        launch: Launch,
        proxies: Proxies | None,
        credentials: OriginCredentials | None,
    ) -> Response:
        from .._net.gate import Limits
        from .host import host

        limits = Limits(received=self.max_traffic, requests=self.max_requests)
        try:
            with time_limit(_MAX_SECONDS):
                async with asyncio.timeout(time_left()):
                    browser = host.get_browser(launch)
                    async with browser.open_tab(
                        guard,
                        line,
                        limits,
                        request.max_bytes,
                        proxies=proxies,
                        credentials=credentials,
                    ) as tab:
                        return await self._read(tab, guard, request)
        except TimeoutError as error:
            raise TimedOut("the page did not render within the time allowed") from error

    async def _read(self, tab: Tab, guard: Guard, request: Request) -> Response:
        answer = await self._show(tab, guard, request)
        secrets = tuple(tab.secrets)
        if not secrets:
            return answer
        files = dict(answer.files)
        for name, data in answer.files.items():
            if name.endswith(".html"):
                files[name] = without_keys(data.decode(), secrets).encode()
        return redact_response(
            replace(answer, files=files),
            SecretRequest(url=request.url, secrets=secrets),
        )

    async def _show(self, tab: Tab, guard: Guard, request: Request) -> Rendered:
        document = await tab.goto(request.url)
        if document.media_type not in HTML:
            return _answer(document)
        snapshot = await show(tab, document, request.max_bytes)
        html = snapshot.html.encode("utf-8", "replace")
        here = guard.check(snapshot.url)
        files = await capture(tab, self.captures, request.max_bytes)
        refused = tab.gate.traffic.refused
        if refused:
            requests = "requests were" if refused > 1 else "request was"
            tab.note(f"{refused} {requests} refused")
        return replace(
            _answer(snapshot.document),
            url=here,
            content=html,
            truncated=snapshot.cut or tab.truncated,
            notes=tuple(tab.notes),
            files=files,
        )


def _answer(document: Document) -> Rendered:
    headers = document.headers | {"content-type": document.media_type}
    return Rendered(
        status=document.status, url=document.url, headers=headers, content=b""
    )
