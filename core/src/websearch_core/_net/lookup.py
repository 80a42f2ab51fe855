"""
Looking names up: in threads that nobody has to wait for, few enough that one caller cannot starve another.

``getaddrinfo`` can neither be cancelled nor be given a timeout, so a name whose server is silent holds its thread for
as long as the system likes. A page chooses the names it links to. So each `websearch_core._net.sender.Sender` has one
line for pages and another for services; whoever waits in line holds no thread; and all lines together hold a bounded
number of threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeAlias
from weakref import WeakSet

from ..errors import Unavailable

Ask: TypeAlias = Callable[[], Sequence[str]]

AT_ONCE = 16  # look-ups of one line
MAX_WAITING = 256  # look-ups of one line
MAX_THREADS = 256  # of all lines for pages together, and again of all lines for services


class Threads:
    """
    A number of threads that lines share.

    Args:
        most: How many there may be at a time.

    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.forget()

    def forget(self) -> None:
        """Begin with none in use."""
        self._free = threading.BoundedSemaphore(self._most)

    def take(self) -> bool:
        """Take one, if there is one."""
        return self._free.acquire(blocking=False)

    def give_back(self) -> None:
        """Let others have it."""
        self._free.release()


FOR_PAGES, FOR_SERVICES = Threads(MAX_THREADS), Threads(MAX_THREADS)


class Line:
    """
    Look-ups, done in the order they come, a few at a time.

    Args:
        threads: What this line shares with others.

    """

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self.forget()
        _lines.add(self)

    def forget(self) -> None:
        """Begin with no look-up."""
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Future[Sequence[str]], Ask]] = deque()
        self._running = 0

    def look_up(self, ask: Ask) -> Future[Sequence[str]]:
        """
        Begin a look-up, or put it in line. Whoever no longer waits for the answer cancels it.

        Args:
            ask: Blocks until the system has answered.

        Raises:
            Unavailable: Too many look-ups are waiting already.

        """
        found: Future[Sequence[str]] = Future()
        with self._lock:
            if len(self._waiting) >= MAX_WAITING:
                self._waiting = deque(one for one in self._waiting if not one[0].cancelled())
            if len(self._waiting) >= MAX_WAITING:
                raise _busy()
            self._waiting.append((found, ask))
            if self._running < AT_ONCE:
                self._start()
            if not self._running:  # nobody would ever come to it
                self._waiting.clear()
                raise _busy()
        return found

    def _start(self) -> None:
        """Start a thread, if there may be one more."""
        if not self._threads.take():
            return
        try:
            threading.Thread(target=self._work, name="websearch-dns", daemon=True).start()
        except RuntimeError:  # the system has no more
            self._threads.give_back()
        else:
            self._running += 1

    def _work(self) -> None:
        while (job := self._next()) is not None:
            found, ask = job
            try:
                answer = ask()
            except (OSError, UnicodeError) as error:
                failure = Unavailable("the host name does not resolve")
                failure.temporary = False
                failure.__cause__ = error
                found.set_exception(failure)
            except BaseException as error:  # noqa: BLE001 - it is raised again by whoever waits
                found.set_exception(error)
            else:
                found.set_result(answer)

    def _next(self) -> tuple[Future[Sequence[str]], Ask] | None:
        with self._lock:
            while self._waiting:
                found, ask = self._waiting.popleft()
                if found.set_running_or_notify_cancel():
                    return found, ask
            self._running -= 1
            self._threads.give_back()
            return None


def _busy() -> Unavailable:
    return Unavailable("too many host names are being looked up")


def _forget() -> None:
    """Begin again after a fork, which copies the numbers but not the threads."""
    for threads in (FOR_PAGES, FOR_SERVICES):
        threads.forget()
    for line in _lines:
        line.forget()


_lines: WeakSet[Line] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
