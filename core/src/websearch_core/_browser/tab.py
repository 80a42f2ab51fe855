"""One page in a browser: a fresh context, a gate of its own, and nothing kept
afterwards.

What holds the network is the gate. What is done here keeps a page from holding up the
reader. Dialogs are dismissed, popups closed, downloads and permissions refused, and
scripts that never end are ended. Every question to the page has a time limit, since a
busy page does not answer.
"""

from __future__ import annotations
import asyncio
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._net.gate import Gate
from .._runtime.deadline import time_left
from .._text.urls import Origin, find_origin
from ..errors import (
    BadResponse,
    TimedOut,
    TooLarge,
    Unavailable,
    UnsafeURL,
    WebSearchError,
)
from .pipe import CUT, CommandFailed, Connection, Gone

# In the page's own world: what it makes as a closed shadow root is an open one, which
# the scripts in ours can see.
_OPEN_ROOTS = """{
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = new Proxy(attach, {
    apply: (_, host, [init, ...more]) =>
      attach.call(host, init && { ...init, mode: "open" }, ...more)
  })
}"""
# pixels: much that loads on scrolling loads at once on a tall screen
_WIDTH = 1280
_HEIGHT = 2400
_MAX_DIALOGS = 3
# bytes that an origin may store: databases, caches and files, all of them in memory
_MAX_STORAGE = 16 * 2**20
# seconds until the browser has said that a navigation ended since it is a download
_DOWNLOAD = 0.2
_NAVIGATE = 15.0  # seconds until the document begins to arrive
_WORLD = "websearch"
# requests that need not end
_LONG_LIVED = frozenset({"EventSource", "WebSocket", "Ping", "Media"})
_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_UNSAFE = (
    "ERR_UNSAFE_",
    "ERR_BLOCKED_BY_",
    "ERR_DISALLOWED_URL_SCHEME",
    "ERR_UNKNOWN_URL_SCHEME",
    "ERR_INVALID_URL",
)


class ScriptError(Exception):
    """One of our scripts failed in the page."""


@dataclass(frozen=True)
class Document:
    """The answer that the main document came with: its final URL, status, headers in
    lower case, and media type.
    """

    url: str
    status: int
    headers: dict[str, str]
    media_type: str
    loader: str = ""


class Tab:
    """A page of a browser; see `open_tab`.

    ``document`` says how the main document came, ``notes`` what was refused.
    """

    def __init__(
        self,
        connection: Connection,
        session: str,
        gate: Gate,
        context: str,
        target: str,
        *,
        explain_crash: Callable[[], WebSearchError],
    ) -> None:
        self.gate = gate
        self.context = context
        self.target = target
        self.loading: set[str] = set()  # the requests that have not ended
        self._requests = 0  # how many there have been
        self.document: Document | None = None
        self.notes: list[str] = []
        self.truncated = False  # the main document was longer than its limit
        self.stopped = False  # scripts were ended
        # set when virtual time that was granted is over
        self.time_passed = asyncio.Event()
        self._connection = connection
        self._session = session
        self._explain_crash = explain_crash
        self._asked = ""  # the URL of the main document, after redirects
        self._asking = ""  # the ID of the request for it
        # URL and error of the last navigation, if it failed
        self._failure: tuple[str, str] | None = None
        self._lost: WebSearchError | None = None
        self._downloading = False
        self._dialogs = 0
        self._size = 0  # bytes of the main document, decompressed
        self._max_size = 0
        self._max_requests = gate.limits.requests
        self._origins: set[Origin] = set()  # whose storage is bounded
        self._world = 0
        # hears every event first
        self.listener: Callable[[str, dict[str, Any]], None] | None = None
        self.secrets: set[str] = set()  # those that it was sent with
        self._tasks: set[asyncio.Task[Any]] = set()
        self._connection.listen(session, self._hear)

    async def send(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float = 10.0,
    ) -> dict[str, Any]:
        """Send a command to the page, and return its result.

        Raise `TimeoutError` if the page is too busy to answer within *timeout* seconds,
        `CommandFailed` if the browser refuses the command, and a `WebSearchError` if
        the page crashed, or the browser ended.
        """
        if self._lost:
            raise self._lost
        try:
            async with asyncio.timeout(min(timeout, time_left())):
                return await self._connection.send(method, params, self._session)
        except Gone as gone:
            raise self._lost or Unavailable(
                "the browser ended while it read the page"
            ) from gone

    async def set_up(self, max_size: int) -> None:
        """Make the page ready, with at most *max_size* bytes of a main document,
        decompressed.
        """
        self._max_size = max_size
        media = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        await asyncio.gather(
            self.send("Page.enable"),
            self.send("Inspector.enable"),
            self.send(
                "Network.enable", {"maxTotalBufferSize": 1, "maxResourceBufferSize": 1}
            ),
            self.send("Network.setBypassServiceWorker", {"bypass": True}),
            self.set_height(),
            self.send("Emulation.setEmulatedMedia", {"features": media}),
            self.send("Page.addScriptToEvaluateOnNewDocument", {"source": _OPEN_ROOTS}),
        )

    async def set_height(self, height: int = _HEIGHT) -> None:
        metrics = {
            "width": _WIDTH,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": False,
        }
        await self.send("Emulation.setDeviceMetricsOverride", metrics)

    async def goto(self, url: str) -> Document:
        """Open *url*, and return when its document begins to arrive, or turns out to be
        a download, which is refused.

        Raise `UnsafeURL` if the guard forbids it, or where a redirect leads; else a
        `ServiceError`.
        """
        self._asked = url
        try:
            answer = await self.send("Page.navigate", {"url": url}, timeout=_NAVIGATE)
        except TimeoutError as error:
            raise TimedOut("the page did not answer within the time allowed") from error
        except CommandFailed as error:
            raise UnsafeURL("the browser refuses this URL") from error
        self._check_mark()
        if "ERR_ABORTED" in str(answer.get("errorText")) and not self._downloading:
            await asyncio.sleep(_DOWNLOAD)
        if self._downloading or answer.get("isDownload"):
            return Document(self._asked, 200, {}, "application/octet-stream")
        problem = answer.get("errorText")
        if problem:
            raise self._explain(self._asked, str(problem))
        if self.document is None:
            raise BadResponse(
                "the browser shows something that did not come from the site"
            )
        return self.document

    def check(self) -> None:
        """Raise what has become of the page since: a crash, or a navigation that failed
        or that the guard forbids.
        """
        if self._lost:
            raise self._lost
        self._check_mark()
        if self._failure:
            raise self._explain(*self._failure)

    async def evaluate(self, script: str, *, timeout: float = 2.0) -> Any:
        """Return the value of *script*, a JavaScript expression, as JSON; a promise is
        awaited.

        It runs in an isolated world: it sees the page's elements, but nothing that its
        scripts have replaced. Raise `ScriptError` if it threw an exception, or its
        value is not JSON; else what `send` raises.
        """
        async with asyncio.timeout(timeout):
            for _ in range(3):
                if not self._world:
                    world = {"frameId": self.target, "worldName": _WORLD}
                    context = await self.send(
                        "Page.createIsolatedWorld", world, timeout=timeout
                    )
                    self._world = int(context["executionContextId"])
                query = {
                    "expression": script,
                    "contextId": self._world,
                    "returnByValue": True,
                    "awaitPromise": True,
                    "timeout": timeout * 1000,
                }
                try:
                    answer = await self.send("Runtime.evaluate", query, timeout=timeout)
                except CommandFailed:
                    # the page has moved on, and its old worlds have gone
                    self._world = 0
                    continue
                if "exceptionDetails" in answer:
                    raise ScriptError(
                        str(
                            answer["exceptionDetails"]
                            .get("exception", {})
                            .get("description", "")
                        )[:500]
                    )
                return answer["result"].get("value")
        raise ScriptError("the page keeps moving on")

    async def stop_scripts(self) -> None:
        """End the page's scripts, and allow no more; what they have shown so far
        stays.
        """
        self.stopped = True
        self.note("the page's scripts were ended")
        commands: tuple[tuple[str, dict[str, Any]], ...] = (
            ("Runtime.terminateExecution", {}),
            ("Emulation.setScriptExecutionDisabled", {"value": True}),
            ("Runtime.terminateExecution", {}),
            ("Network.disable", {}),  # a flood of events would hold up other pages
        )
        with contextlib.suppress(TimeoutError, CommandFailed):
            async with asyncio.timeout(1):
                await asyncio.gather(
                    *(self.send(*command) for command in commands),
                    return_exceptions=True,
                )

    def note(self, text: str) -> None:
        """Add a note for the caller, once."""
        if text not in self.notes:
            self.notes.append(text)

    async def close(self) -> None:
        """Drop the context with everything in it."""
        self.fail(Unavailable("the page was closed"))
        for task in tuple(self._tasks):
            task.cancel()
        await self._connection.send(
            "Target.disposeBrowserContext", {"browserContextId": self.context}
        )

    def fail(self, error: WebSearchError) -> None:
        """Give up on the page: what waits for it gets *error*, and so does every later
        question.
        """
        self._lost = self._lost or error
        self._connection.forget(self._session)

    def hear_of_target(self, target: str, kind: str) -> None:
        """Close a popup: another page in this context."""
        if kind == "page" and target != self.target:
            self.note("a popup was closed")
            self.start(
                self._connection.send("Target.closeTarget", {"targetId": target})
            )

    def hear_of_download(self) -> None:
        """Note a download, which the context refuses."""
        self._downloading = True
        self.note("a download was refused")

    def start(self, work: Any) -> None:
        """Do *work* beside what is being done; its failure shows elsewhere."""

        async def quietly() -> None:
            with contextlib.suppress(CommandFailed, Gone, WebSearchError, TimeoutError):
                await work

        task = asyncio.ensure_future(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hear(self, event: str, params: dict[str, Any]) -> None:  # noqa: C901 - a table of messages
        if event.startswith(CUT):
            self._hear_cut(event.removeprefix(CUT))
            return
        if self.listener is not None:
            self.listener(event, params)
        match event:
            case "Network.requestWillBeSent":
                self._begin(params)
            case "Network.responseReceived":
                self._take_document(params)
            case "Network.dataReceived":
                self._measure(params)
            case "Network.loadingFinished" | "Network.loadingFailed":
                self.loading.discard(params["requestId"])
                if event.endswith("Failed"):
                    self._take_failure(params)
            case "Page.frameNavigated" if not params["frame"].get("parentId"):
                self._world = 0
            case "Emulation.virtualTimeBudgetExpired":
                self.time_passed.set()
            case "Page.javascriptDialogOpening":
                self._dismiss()
            case "Inspector.targetCrashed":
                self.fail(self._explain_crash())
            case "Inspector.detached":
                self.fail(Unavailable("the browser closed the page"))

    def _hear_cut(self, event: str) -> None:
        """Take an event whose texts were too long, such as the URL of a request."""
        if event == "Network.requestWillBeSent":
            self._count_request()
        elif event == "Page.javascriptDialogOpening":
            self._dismiss()

    def _begin(self, params: dict[str, Any]) -> None:
        self._count_request()
        if params.get("type") == "Document":
            self._bound_storage(params["request"]["url"])
        if params.get("type") not in _LONG_LIVED:
            self.loading.add(params["requestId"])
        if params.get("type") == "Document" and params.get("frameId") == self.target:
            self._asked = params["request"]["url"]
            self._asking = params["requestId"]
            self._failure = None

    def _take_failure(self, params: dict[str, Any]) -> None:
        """Note that the main document failed, unless it had begun to arrive."""
        if params["requestId"] != self._asking:
            return
        loader = self.document.loader if self.document else None
        if params["requestId"] == loader or params.get("canceled"):
            return
        self._failure = (self._asked, str(params.get("errorText", "")))

    def _bound_storage(self, url: str) -> None:
        origin = find_origin(url)
        if origin is None or origin in self._origins:
            return
        self._origins.add(origin)
        quota = {"origin": url, "quotaSize": _MAX_STORAGE}
        self.start(self.send("Storage.overrideQuotaForOrigin", quota))

    def _count_request(self) -> None:
        self._requests += 1
        if self._requests == self._max_requests + 1 and not self.stopped:
            self.gate.spend("requests")
            self.note(
                f"the page made more than {self._max_requests} requests: the rest were "
                f"refused"
            )
            self.start(self.stop_scripts())

    def _take_document(self, params: dict[str, Any]) -> None:
        if params.get("type") != "Document" or params.get("frameId") != self.target:
            return
        answer = params["response"]
        headers = {
            name.lower(): str(value)
            for name, value in answer.get("headers", {}).items()
        }
        loader = str(params.get("loaderId", ""))
        media_type = str(answer.get("mimeType", ""))
        self.document = Document(
            str(answer["url"]), int(answer["status"]), headers, media_type, loader
        )
        self._size = 0
        self._failure = None

    def _measure(self, params: dict[str, Any]) -> None:
        """Bound the main document after decompression, which the gate does not see
        inside TLS.
        """
        if self.document is None or params.get("requestId") != self.document.loader:
            return
        self._size += int(params.get("dataLength", 0))
        if self._size > self._max_size and not self.truncated:
            self.truncated = True
            self.start(self.send("Page.stopLoading"))

    def _dismiss(self) -> None:
        self._dialogs += 1
        self.note("a dialog was dismissed")
        if self._dialogs > _MAX_DIALOGS and not self.stopped:
            self.start(self.stop_scripts())
        self.start(self.send("Page.handleJavaScriptDialog", {"accept": False}))

    def _check_mark(self) -> None:
        """Raise our own refusal of the main document, which looks like an answer of the
        site.
        """
        if self.document and self.document.headers.get("x-gate") == self.gate.mark:
            raise self.gate.find_error(self.document.url) or self._spent()

    def _explain(self, url: str, text: str) -> WebSearchError:
        match = _NET_ERROR.search(text)
        code = match[1] if match else ""
        refusal = self.gate.find_error(url)
        if refusal:
            return refusal
        if code.startswith(_UNSAFE):
            return UnsafeURL("the page leads to something that is not a web page")
        if self.gate.spent:
            return self._spent()
        if code == "ERR_ABORTED":
            return BadResponse("the page has no content")
        if code == "ERR_TOO_MANY_REDIRECTS":
            return BadResponse("the page redirects too often")
        reason = f": {code}" if code else ""
        error = Unavailable(f"the browser cannot open the page{reason}")
        error.temporary = not code.startswith(("ERR_CERT", "ERR_SSL"))
        return error

    def _spent(self) -> TooLarge:
        return TooLarge(
            f"the page has used up the {self.gate.spent or 'requests'} that it may use"
        )
