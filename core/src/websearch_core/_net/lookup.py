"""
Look names up in daemon threads, few enough that one caller cannot starve another.

``getaddrinfo`` cannot be cancelled and takes no timeout, so a name whose server is silent blocks its thread for as long
as the system waits. A page chooses the names it links to. So each `websearch_core._net.sender.Sender` has one line for
pages and another for services. A waiting look-up uses no thread, and all lines share a bounded number of threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeAlias

from .._forks import start_over_after_fork
from ..errors import Unavailable

Ask: TypeAlias = Callable[[], Sequence[str]]

MAX_RUNNING = 16  # look-ups of one line
MAX_WAITING = 256  # look-ups of one line
MAX_THREADS = 256  # for pages, shared by all their lines, and as many again for services


class Threads:
    """
    A limit on the number of threads, shared by several lines.

    Args:
        most: Maximum number of threads at a time.

    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.start_over()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Reset: no thread is in use."""
        self._lock = threading.Lock()
        self._taken = 0

    def take(self, running: int) -> bool:
        """
        Reserve a thread for a line that has *running* ones; return False if none is left for it.

        Half of them are for lines that have none, so that a few tenants whose names hang do not use up all.
        """
        with self._lock:
            is_free = self._taken < (self._most // 2 if running else self._most)
            self._taken += is_free
        return is_free

    def give_back(self) -> None:
        """Release a reserved thread."""
        with self._lock:
            self._taken -= 1


FOR_PAGES, FOR_SERVICES = Threads(MAX_THREADS), Threads(MAX_THREADS)


class Line:
    """
    A queue of look-ups, of which a few run at a time.

    Args:
        threads: The limit that this line shares with others.

    """

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self.start_over()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Reset: no look-up is waiting or running."""
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Future[Sequence[str]], Ask]] = deque()
        self._running = 0

    def look_up(self, ask: Ask) -> Future[Sequence[str]]:
        """
        Start a look-up, or queue it. A caller that stops waiting for the answer cancels it.

        Args:
            ask: Makes the look-up, and blocks until the system has answered.

        Raises:
            Unavailable: Too many look-ups are waiting already.

        """
        found: Future[Sequence[str]] = Future()
        with self._lock:
            if len(self._waiting) >= MAX_WAITING:
                self._waiting = deque(one for one in self._waiting if not one[0].cancelled())
            if len(self._waiting) >= MAX_WAITING:
                raise _make_busy_error()
            self._waiting.append((found, ask))
            if self._running < MAX_RUNNING:
                self._start()
            if not self._running:  # no thread would ever do it
                self._waiting.clear()
                raise _make_busy_error()
        return found

    def _start(self) -> None:
        """Start a thread, if the limit allows one more."""
        if not self._threads.take(self._running):
            return
        try:
            threading.Thread(target=self._work, name="websearch-dns", daemon=True).start()
        except RuntimeError:  # the system has no more
            self._threads.give_back()
        else:
            self._running += 1

    def _work(self) -> None:
        while (job := self._take_next()) is not None:
            found, ask = job
            try:
                answer = ask()
            except (OSError, UnicodeError) as error:
                failure = Unavailable("the host name does not resolve")
                failure.temporary = False
                failure.__cause__ = error
                found.set_exception(failure)
            except BaseException as error:  # noqa: BLE001 - raised again by the waiting caller
                found.set_exception(error)
            else:
                found.set_result(answer)

    def _take_next(self) -> tuple[Future[Sequence[str]], Ask] | None:
        with self._lock:
            while self._waiting:
                found, ask = self._waiting.popleft()
                if found.set_running_or_notify_cancel():
                    return found, ask
            self._running -= 1
            self._threads.give_back()
            return None


def _make_busy_error() -> Unavailable:
    return Unavailable("too many host names are being looked up")
