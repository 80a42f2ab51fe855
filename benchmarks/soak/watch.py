"""What this process holds: memory, file descriptors, connections, threads and processes."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from websearch_core.reading._isolation.pool import _pool

_SAMPLE = 0.1  # seconds between two looks at the memory
_PATIENCE = 10.0  # seconds that what is ending may take


def find_memory() -> float:
    """Return the memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


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


class Holdings:
    """What was held before a soak, to be compared with what is held after it."""

    def __init__(self) -> None:
        _pool.end()
        gc.collect()
        self._descriptors = find_descriptors()
        self._children = find_children()
        self._threads = set(threading.enumerate())

    def find_leaks(self) -> list[str]:
        """Return what has not gone by now, or within ten seconds."""
        _pool.end()  # they would end after 30 s without a page
        end = time.monotonic() + _PATIENCE
        while (leaks := self._list()) and time.monotonic() < end:
            gc.collect()
            time.sleep(0.05)
        return leaks

    def _list(self) -> list[str]:
        leaks = [f"the thread {one.name}" for one in threading.enumerate() if one not in self._threads]
        leaks += [f"the process {number}" for number in find_children() - self._children]
        for number, place in find_descriptors().items():
            if self._descriptors.get(number) != place:
                leaks.append(f"the descriptor {number} ({place})")
        return leaks


class Memory:
    """Looks at the memory while calls are made."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._samples: list[tuple[int, float]] = []
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
            self._samples.append((self._count(), find_memory()))

    def slope(self, calls: int) -> float:
        """Return by how much the memory grew with each call after the first tenth, in KiB: a straight line's slope."""
        late = [(count, memory) for count, memory in self._samples if count >= calls / 10]
        if len(late) < 3:
            return 0.0
        middle = sum(count for count, _ in late) / len(late)
        spread = sum((count - middle) ** 2 for count, _ in late)
        return sum((count - middle) * memory for count, memory in late) * 1024 / spread if spread else 0.0

    def at(self, calls: float) -> float:
        """Return the memory after so many calls, in MiB."""
        return next((memory for count, memory in self._samples if count >= calls), self._samples[-1][1])

    def peak(self) -> float:
        """Return the most there was, in MiB."""
        return max(memory for _, memory in self._samples)


def find_tasks() -> list[str]:
    """Return the tasks of the running event loop besides this one."""
    return [repr(task) for task in asyncio.all_tasks() - {asyncio.current_task()}]
