"""Watch the memory of a browser's processes, and end those that take too much (Linux).

V8's own limit leaves out buffers, canvases, WebAssembly and the page itself, and a
limit of the system's on address space ends renderers that do nothing wrong. And much of
what a page makes does not lie in its renderer: blobs, caches, locks and states of its
history are kept by the browser's own processes, which serve all pages.
"""

from __future__ import annotations
import contextlib
import math
import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

# Bytes of the browser's own processes, together: about 75 MiB with ordinary pages.
_MAX_OWN = 320 * 2**20
_GUILT = 64 * 2**20  # bytes of them that one renderer may have made
_TOO_MANY = 4  # as many times that, and the browser has to end
_MANY = 2  # so it has if they use as many times that for longer than `_PATIENCE`
_PATIENCE = 2.0  # seconds
_MOMENT = 0.5  # seconds, in which it may be over by itself
_MORE = 1.25  # unless they use as many times that
_MEMORY_OF_WORK = 0.8  # of what a renderer worked before, from one look to the next
_PAGE = 2  # what the renderers of one page may take together, in limits of one renderer
# Seconds after a renderer was ended for what it had to be given back.
_RELEASE = 1.0
_CRASH = 3.0  # seconds in which a page learns that its renderer was ended
_MEMORY = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class _Usage:
    """What a process uses: bytes of its own, all bytes, and processor time in ticks."""

    private: int
    resident: int
    ticks: int


class MemoryWatch:
    """The memory of the browser whose first process is *pid*.

    One renderer may use *limit* bytes.
    """

    def __init__(self, pid: int, limit: int) -> None:
        self._pid = pid
        self._limit = limit
        self._own = 0  # bytes of the browser's own processes at the last look
        self._ticks: dict[int, int] = {}  # of each renderer, at the last look
        # Of what those processes grew by, the part of each renderer that ran meanwhile.
        self._shares: dict[int, float] = {}
        self._work: dict[int, float] = {}  # of each renderer, lately
        self._full_since = math.inf  # when the own processes began to use too much
        self._many_since = math.inf  # when the own processes began to use far too much
        self._ended_at = -math.inf  # when a renderer was ended last
        self._reason = ""  # for which it was

    def look(self, pages: int) -> bool:
        """End renderers that use too much, or that make the browser's own processes use
        too much, while so many *pages* are open.

        Return False if the browser itself has to end.
        """
        own, renderers = self._measure()
        total_own = sum(usage.private for usage in own.values())
        self._charge(total_own - self._own, renderers)
        self._own = total_own
        if self._has_to_end():
            return False
        for pid, usage in renderers.items():
            if usage.resident > self._limit:
                self._end(pid, f"more than {self._limit // 2**20} MiB of memory")
        if time.monotonic() - self._ended_at < _RELEASE:
            return True
        together = sum(usage.private for usage in renderers.values())
        if together > _PAGE * self._limit * max(pages, 1):
            largest = max(renderers, key=lambda pid: renderers[pid].private)
            self._end(largest, "too much memory in too many processes")
        if self._is_over_a_moment():
            self._end_who_filled_it()
        return True

    @property
    def is_full(self) -> bool:
        """Whether the browser's own processes use too much."""
        return self._own > _MAX_OWN

    def _has_to_end(self) -> bool:
        """Return whether the browser's own processes use far too much.

        Some of it is for a moment only, and goes with the renderer that is ended.
        """
        if self._own <= _MANY * _MAX_OWN:
            self._many_since = math.inf
            return False
        now = time.monotonic()
        self._many_since = min(self._many_since, now)
        is_long = now - self._many_since > _PATIENCE
        return is_long or self._own > _TOO_MANY * _MAX_OWN

    def _is_over_a_moment(self) -> bool:
        """Return whether the browser's own processes use too much for longer than a
        long message does, which gives it back by itself.

        A clock says so, and no number of looks: on a busy machine, looks are rare.
        """
        if not self.is_full:
            self._full_since = math.inf
            return False
        now = time.monotonic()
        self._full_since = min(self._full_since, now)
        is_long = now - self._full_since >= _MOMENT
        return is_long or self._own > _MORE * _MAX_OWN

    def explain(self) -> str:
        """Return why a renderer was ended that has just crashed; empty if none was."""
        if time.monotonic() - self._ended_at > _CRASH:
            return ""
        return self._reason

    def _measure(self) -> tuple[dict[int, _Usage], dict[int, _Usage]]:
        """Return what the browser's own processes use, and what its renderers do."""
        own: dict[int, _Usage] = {}
        renderers: dict[int, _Usage] = {}
        for pid in [self._pid, *find_descendants(self._pid)]:
            usage = _find_usage(pid)
            if usage is None:
                continue
            if is_renderer(pid):
                renderers[pid] = usage
            else:
                own[pid] = usage
        return own, renderers

    def _charge(self, growth: int, renderers: dict[int, _Usage]) -> None:
        """Share what the browser's own processes grew by among the renderers, by the
        processor time that each used lately.

        Nothing says for whom a byte lies there, but who makes it grow is busy.
        """
        before = self._ticks
        self._ticks = {pid: usage.ticks for pid, usage in renderers.items()}
        self._shares = {pid: self._shares.get(pid, 0.0) for pid in renderers}
        work: dict[int, float] = {}
        for pid, ticks in self._ticks.items():
            earlier = _MEMORY_OF_WORK * self._work.get(pid, 0.0)
            # what a new one took to start says nothing
            work[pid] = earlier + ticks - before.get(pid, ticks)
        self._work = work
        all_work = sum(work.values())
        if growth <= 0 or all_work <= 0:
            return
        for pid, part in work.items():
            self._shares[pid] += growth * part / all_work

    def _end_who_filled_it(self) -> None:
        if not self._shares:
            return
        pid = max(self._shares, key=lambda renderer: self._shares[renderer])
        # else it is what pages left that have gone, or nobody can say whose it is
        is_clear = self._shares[pid] > sum(self._shares.values()) / 2
        if is_clear and self._shares[pid] > _GUILT:
            self._end(pid, "too much memory of the browser itself")

    def _end(self, pid: int, what: str) -> None:
        self._ended_at = time.monotonic()
        self._reason = f"the page needs {what}"
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def find_descendants(pid: int) -> list[int]:
    """Return the processes that *pid* started, directly or not (Linux)."""
    descendants: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        with contextlib.suppress(OSError):  # it has ended
            for thread in list(Path(f"/proc/{parent}/task").iterdir()):
                children = _read_children(thread)
                descendants += children
                waiting += children
    return descendants


def _read_children(thread: Path) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in (thread / "children").read_text().split()]
    return []


def resident(pid: int) -> int:
    """Return the resident bytes of a process; 0 if it has ended (Linux)."""
    usage = _find_usage(pid)
    return 0 if usage is None else usage.resident


def is_renderer(pid: int) -> bool:
    """Return whether a process of a browser is one that runs pages (Linux)."""
    with contextlib.suppress(OSError):
        return b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _find_usage(pid: int) -> _Usage | None:
    """Return what a process uses; None if it has ended."""
    place = Path(f"/proc/{pid}")
    try:
        status = (place / "status").read_text()
        pages = (place / "statm").read_text().split()
        # the name of the program, in brackets, may have spaces
        times = (place / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    private = sum(int(size) for size in _MEMORY.findall(status)) * 2**10
    resident = int(pages[1]) * os.sysconf("SC_PAGE_SIZE")
    return _Usage(private, resident, int(times[11]) + int(times[12]))
