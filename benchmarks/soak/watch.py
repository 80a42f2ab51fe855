"""What this process holds: memory, file descriptors, connections, threads and
processes.
"""

from __future__ import annotations
import asyncio
import ctypes
import gc
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import linear_regression, median
from typing import Any, ClassVar, Self

from websearch_core._runtime.threads import _for_work, _spare
from websearch_core.reading._isolation.pool import _pool
from websearch_core.reading._isolation.worker import _watch

_SAMPLE = 0.1  # seconds between two looks at the memory
_SPARE = "websearch-work"  # threads
_PATIENCE = 10.0  # seconds that what is ending may take


def find_memory() -> float:
    """Return the memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class _Mallinfo(ctypes.Structure):
    """What glibc says about its heaps;
    https://man7.org/linux/man-pages/man3/mallinfo.3.html.
    """

    _fields_: ClassVar[Any] = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks "
        "fordblks keepcost".split()
    ]


@cache
def _load_glibc() -> Any:
    """Return the C library; None if it is another one, or older than 2.33."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        return None
    library.mallinfo2.restype = _Mallinfo
    return library


def find_free() -> float:
    """Return the memory that glibc keeps although it was freed, in MiB."""
    library = _load_glibc()
    return library.mallinfo2().fordblks / 2**20 if library else 0.0


def give_back() -> None:
    """Have glibc give free memory back to the system."""
    if library := _load_glibc():
        library.malloc_trim(0)


def find_descriptors() -> dict[int, str]:
    """Return what each open file descriptor leads to."""
    found: dict[int, str] = {}
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - a list at one moment
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115 - it need not be a path
        except OSError:  # that of the folder itself
            continue
    return found


def find_children() -> set[int]:
    """Return the processes that this one started."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(number) for one in lists for number in one.read_text("ascii").split()}


def _count_busy() -> int:
    """Return how many threads that are kept for work are at work."""
    return sum(one.name == _SPARE for one in threading.enumerate()) - len(
        _spare._waiting  # noqa: SLF001
    )


class Holdings:
    """What was held before a soak, to be compared with what is held after it."""

    def __init__(self) -> None:
        _pool.end()
        gc.collect()
        self._descriptors = find_descriptors()
        self._children = find_children()
        self._threads, self._busy = set(threading.enumerate()), _count_busy()

    def find_leaks(self) -> list[str]:
        """Return what has not gone by now, or within ten seconds."""
        _pool.end()  # they would end after 30 s without a page
        end = time.monotonic() + _PATIENCE
        while (leaks := self._list()) and time.monotonic() < end:
            gc.collect()
            time.sleep(0.05)
        return leaks

    def _list(self) -> list[str]:
        # Without work, these are kept for a minute.
        kept = {_SPARE} | (set() if _for_work._working else {_for_work._name})  # noqa: SLF001
        kept |= set() if _watch._ends else {"websearch-watch"}  # noqa: SLF001
        new = [
            one
            for one in threading.enumerate()
            if one not in self._threads and one.name not in kept
        ]
        leaks = [f"the thread {one.name}" for one in new]
        leaks += [f"the thread {_SPARE}"] * (_count_busy() - self._busy)
        leaks += [
            f"the process {number}" for number in find_children() - self._children
        ]
        for number, place in find_descriptors().items():
            if self._descriptors.get(number) != place:
                leaks.append(f"the descriptor {number} ({place})")
        return leaks


@dataclass(frozen=True)
class Use:
    """The memory of this process while calls were made, in MiB.

    Args:
        early: What was in use in the second tenth of the calls: resident, less what
            glibc keeps free; the median.
        late: The same in the last tenth.
        slope: KiB by which what is in use grew with each call after the first tenth.
        peak: The most that was resident.
        resident: What was resident at the end.
        given_back: What remained after glibc had given back what it kept.
    """

    early: float = 0.0
    late: float = 0.0
    slope: float = 0.0
    peak: float = 0.0
    resident: float = 0.0
    given_back: float = 0.0


class Memory:
    """Looks at the memory while calls are made.

    Args:
        calls: How many there will be.
        count: Returns how many there have been.
    """

    def __init__(self, calls: int, count: Callable[[], int]) -> None:
        self._calls, self._count = calls, count
        self._samples: list[tuple[int, float, float]] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._look, name="memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ends.wait(_SAMPLE):
            self._samples.append((self._count(), find_memory(), find_free()))

    def summarize(self) -> Use:
        """Return what the samples say, and have glibc give back what is free."""
        resident = find_memory()
        give_back()
        return Use(
            early=self._find_use(0.1, 0.2),
            late=self._find_use(0.9, 1.0),
            slope=self._find_slope(),
            peak=max((memory for _, memory, _ in self._samples), default=resident),
            resident=resident,
            given_back=find_memory(),
        )

    def _find_use(self, first: float, last: float) -> float:
        within = [
            m - free for n, m, free in self._samples if first <= n / self._calls <= last
        ]
        return median(within) if within else find_memory() - find_free()

    def _find_slope(self) -> float:
        """Return the slope of a straight line through what was in use, in KiB."""
        late = [
            (count, memory - free)
            for count, memory, free in self._samples
            if count >= self._calls / 10
        ]
        counts, memory = zip(*late, strict=True) if late else ((), ())
        return (
            linear_regression(counts, memory).slope * 1024
            if len(set(counts)) > 1
            else 0.0
        )


def find_tasks() -> list[str]:
    """Return the tasks of the running event loop besides this one."""
    return [repr(task) for task in asyncio.all_tasks() - {asyncio.current_task()}]
