"""The browsers of this Python process: one for each way to start it, usually one.

They live on an event loop in a thread of its own, so that blocking callers and any
number of event loops share them. A browser is started for the first page, ended after a
while without one, at exit, and when it no longer answers; one that crashed is replaced
for the next page. A forked child has none of its parent's.
"""

from __future__ import annotations
import asyncio
import atexit
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from .._net.credentials import OriginCredentials
from .._net.gate import Gate, Limits, find_own_address
from .._net.guard import Guard
from .._net.lookup import FOR_PAGES, Line
from .._net.proxy import Proxies
from .._net.system import holds_socket
from .._runtime.forks import Restartable
from .._runtime.threads import start_thread
from ..errors import BadResponse, TooLarge, Unavailable, WebSearchError
from .launch import Launch, Process
from .login import Login
from .memory import (  # noqa: F401 - for those who look at the host's processes
    MemoryWatch,
    find_descendants,
    is_renderer,
    resident,
)
from .pipe import CommandFailed, Connection, Gone
from .tab import Tab

T = TypeVar("T")

_MAX_IDLE = 60.0  # seconds without a page, after which a browser is ended
_MAX_IDLE_FULL = 0.5  # the same, if pages have filled its memory
_START = 30.0  # seconds for a browser to start
_CLOSE = 5.0  # seconds for a page to close: a browser that needs more is ended
_POLL = 0.05  # seconds between looks at the memory of its processes


class Browser:
    """A browser process, for the event loop of `Host`."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.version = ""
        self._slots = asyncio.Semaphore(launch.pages_at_once)
        self._tabs: dict[str, Tab] = {}
        self._pages = 0  # that are open, or being opened or closed
        self._started = asyncio.ensure_future(self._start())
        self._started.add_done_callback(
            lambda task: task.cancelled() or task.exception()
        )
        self._watching: asyncio.Task[None] | None = None
        self._idling: asyncio.TimerHandle | None = None
        self._process: Process | None = None
        self._user: int | None = None
        self._network = 0  # the process that opens connections, once it has opened one
        self._is_broken = False
        self._memory: MemoryWatch | None = None

    @property
    def is_usable(self) -> bool:
        """False if it has ended, cannot be started or no longer answers."""
        failed = self._started.done() and (
            self._started.cancelled() or self._started.exception() is not None
        )
        return not (failed or self._is_broken)

    @asynccontextmanager
    async def open_tab(
        self,
        guard: Guard,
        line: Line,
        limits: Limits,
        max_size: int,
        *,
        proxies: Proxies | None = None,
        credentials: OriginCredentials | None = None,
    ) -> AsyncIterator[Tab]:
        """Open an empty page, once one of the slots for pages is free, and drop it with
        all it had at the end.

        Its main document has at most *max_size* bytes, decompressed. Where no browser
        can be started, that is a `ConfigurationError`; where the browser failed,
        `Unavailable`.
        """
        async with self._slots:
            await asyncio.shield(self._started)
            self._pages += 1
            self._wake()
            try:
                async with Gate(
                    guard,
                    line,
                    limits,
                    address=self._address,
                    proxies=proxies,
                    user=self._user,
                    holds=self._holds,
                ) as gate:
                    tab = await self._make_tab(gate)
                    try:
                        await tab.set_up(max_size)
                        if credentials:
                            await Login(tab, credentials).begin()
                        yield tab
                    finally:
                        gate.shut()
                        await self._drop(tab)
            except (Gone, CommandFailed) as error:
                raise Unavailable("the browser ended while it read the page") from error
            finally:
                self._pages -= 1
                if not self._pages:
                    self._idle()

    def disown(self) -> None:
        """Let go of the process in a forked child, without touching it."""
        if self._process:
            self._connection.disown()

    async def end(self) -> None:
        """End the process, and remove its files."""
        self._is_broken = True
        for handle in (self._idling, self._watching):
            if handle:
                handle.cancel()
        # it would be lost if it were cancelled half-way
        await asyncio.wait({self._started}, timeout=_CLOSE)
        for tab in self._tabs.values():
            tab.fail(Unavailable("the browser was closed"))
        process = self._process
        if process:
            self._process = None
            self._memory = None
            self._connection.close()
            await _in_thread(process.end)
            await self._own_gate.__aexit__()

    async def _start(self) -> None:
        self._address = await find_own_address()
        # What belongs to no page, the browser itself, meets a gate that is shut.
        self._own_gate = await Gate(
            Guard(), Line(FOR_PAGES), address=self._address
        ).__aenter__()
        self._own_gate.shut()
        try:
            await self._connect()
        except BaseException:
            self._is_broken = True
            await self._own_gate.__aexit__()
            raise

    async def _connect(self) -> None:
        self._process = await _in_thread(
            lambda: Process(self.launch, self._own_gate.url, self._address)
        )
        self._user = self._process.user
        if sys.platform == "linux":
            self._memory = MemoryWatch(self._process.popen.pid, self.launch.memory)
        self._connection = Connection(self._process.read_fd, self._process.write_fd)
        self._connection.listen("", self._hear)
        self._connection.ended.add_done_callback(lambda _: self._lose_all())
        try:
            async with asyncio.timeout(_START):
                self.version = str(
                    (await self._connection.send("Browser.getVersion"))["product"]
                )
                await self._connection.send(
                    "Target.setDiscoverTargets", {"discover": True}
                )
        except (Gone, TimeoutError) as error:
            process = self._process
            self._process = None
            await _in_thread(process.end)
            raise process.explain() from error

    async def _make_tab(self, gate: Gate) -> Tab:
        send = self._connection.send
        proxy = {
            "disposeOnDetach": True,
            "proxyServer": gate.url,
            "proxyBypassList": "<-loopback>",
        }
        context = str(
            (await send("Target.createBrowserContext", proxy))["browserContextId"]
        )
        mine: dict[str, Any] = {"browserContextId": context}
        answers = await asyncio.gather(
            send(
                "Browser.setDownloadBehavior",
                {"behavior": "deny", "eventsEnabled": True, **mine},
            ),
            # and so reject all others
            send("Browser.grantPermissions", {"permissions": [], **mine}),
            send("Target.createTarget", {"url": "about:blank", **mine}),
        )
        target = str(answers[-1]["targetId"])
        attached = await send(
            "Target.attachToTarget", {"targetId": target, "flatten": True}
        )
        tab = Tab(
            self._connection,
            attached["sessionId"],
            gate,
            context,
            target,
            explain_crash=self._explain_crash,
        )
        self._tabs[context] = tab
        return tab

    async def _drop(self, tab: Tab) -> None:
        """Close a page. A browser that cannot do that in time is ended, and so are the
        other pages in it.
        """
        self._tabs.pop(tab.context, None)
        closing = asyncio.ensure_future(self._close(tab))
        await asyncio.shield(closing)

    async def _close(self, tab: Tab) -> None:
        try:
            async with asyncio.timeout(_CLOSE):
                await tab.close()
        except (Gone, CommandFailed):
            return
        except TimeoutError:
            await self.end()

    def _hear(self, event: str, params: dict[str, Any]) -> None:
        if event in ("Target.targetCreated", "Target.targetInfoChanged"):
            info = params["targetInfo"]
            tab = self._tabs.get(info.get("browserContextId", ""))
            if event.endswith("Created") and tab:
                tab.hear_of_target(info["targetId"], info["type"])
        elif event == "Browser.downloadWillBegin":
            for tab in self._tabs.values():
                if tab.target == params.get("frameId"):
                    tab.hear_of_download()

    def _lose_all(self, why: str = "the browser ended while it read the page") -> None:
        """Give up all pages: the process has ended, or has to."""
        if self._is_broken:
            return
        for tab in self._tabs.values():
            tab.fail(Unavailable(why))
        self._start_ending()

    def _start_ending(self) -> None:
        if not self._is_broken:
            self._is_broken = True
            task = asyncio.ensure_future(self.end())
            _ending.add(task)
            task.add_done_callback(_ending.discard)

    def _holds(self, socket: int) -> bool:
        """Return whether a process of this browser has a socket open, or the system
        does not let us look.
        """
        if self._process is None:
            return False
        main = self._process.popen.pid
        # usually it is the one that did the last time
        for pid in (self._network, main, *find_descendants(main)):
            if pid and holds_socket(pid, socket) is not False:
                self._network = pid
                return True
        return False

    def _wake(self) -> None:
        if self._idling:
            self._idling.cancel()
            self._idling = None
        if self._watching is None and self._memory is not None:
            self._watching = asyncio.ensure_future(self._watch_memory(self._memory))

    def _idle(self) -> None:
        """Without a page, stop watching, and end after a while."""
        if self._watching:
            self._watching.cancel()
            self._watching = None
        if self._idling is None:
            is_full = self._memory is not None and self._memory.is_full
            seconds = _MAX_IDLE_FULL if is_full else _MAX_IDLE
            self._idling = asyncio.get_running_loop().call_later(
                seconds, self._start_ending
            )

    async def _watch_memory(self, memory: MemoryWatch) -> None:
        """End what grows too large. The page of a renderer learns of a crash."""
        while True:
            if not memory.look(self._pages):
                break
            await asyncio.sleep(_POLL)
        self._lose_all("the browser needs too much memory")

    def _explain_crash(self) -> WebSearchError:
        reason = self._memory.explain() if self._memory is not None else ""
        if reason:
            return TooLarge(reason)
        return BadResponse("the page crashed the browser's process for it")


class Host(Restartable):
    """The thread with the event loop of all browsers."""

    def __init__(self) -> None:
        self._browsers: dict[Launch, Browser] = {}
        super().__init__()

    def start_over(self) -> None:
        """Begin without a thread and browsers: in a forked process, those that exist
        belong to the parent.
        """
        for browser in self._browsers.values():
            browser.disown()
            _inherited.append(browser)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._browsers = {}

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start *work* on the loop, in the context of the caller; cancelling the future
        cancels it.
        """
        with self._lock:
            loop = self._loop or self._make_loop()
            return asyncio.run_coroutine_threadsafe(work(), loop)

    def get_browser(self, launch: Launch) -> Browser:
        """Return the browser to open a page in. Call it on the loop."""
        browser = self._browsers.get(launch)
        if browser is None or not browser.is_usable:
            browser = Browser(launch)
            self._browsers[launch] = browser
        return browser

    def end(self) -> None:
        """End all browsers and the thread. The next page starts over."""
        with self._lock:
            loop = self._loop
            browsers = self._browsers
            self._loop = None
            self._browsers = {}
        if loop is None:
            return
        asyncio.run_coroutine_threadsafe(_end(browsers), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()

    def _make_loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()

        def serve() -> None:
            loop.run_forever()
            loop.close()

        self._thread = threading.Thread(
            target=serve, name="websearch-browser", daemon=True
        )
        self._thread.start()
        self._loop = loop
        return loop


async def _end(browsers: dict[Launch, Browser]) -> None:
    await asyncio.gather(
        *(browser.end() for browser in browsers.values()),
        *_ending,
        return_exceptions=True,
    )
    me = asyncio.current_task()
    left = [task for task in asyncio.all_tasks() if task is not me]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


async def _in_thread(work: Callable[[], T]) -> T:
    """Run blocking *work* in a thread of its own: at exit, pools of threads take no
    more.
    """
    return await asyncio.wrap_future(start_thread(work))


# by a forked child: the collector of garbage would close what is the parent's
_inherited: list[Browser] = []
_ending: set[asyncio.Task[None]] = set()  # asyncio keeps only weak references to tasks
host = Host()
atexit.register(host.end)
