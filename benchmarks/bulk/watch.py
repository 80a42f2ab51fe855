"""Run a program, and print what it cost from its first line on, as JSON: it prints one
when it is ready.

    python benchmarks/bulk/watch.py COMMAND...

Seconds by the clock; processor seconds of all its processes, also of those that outlive
it, and those until it was ready; and the most memory that these had at a time, in MiB.
Pages that processes share count once.
"""

from __future__ import annotations
import ctypes
import json
import os
import resource
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

# PR_SET_CHILD_SUBREAPER: what outlives its parent becomes a child of this process
_BECOME_SUBREAPER = 36
_SAMPLE = 0.2  # seconds


def find_descendants(pid: int) -> set[int]:
    """Return what a process started, and what that started."""
    found, ahead = set[int](), [pid]
    while ahead:
        found.add(one := ahead.pop())
        with suppress(OSError):
            lists = [
                path.read_text("ascii")
                for path in Path(f"/proc/{one}/task").glob("*/children")
            ]
            ahead += [int(number) for text in lists for number in text.split()]
    return found - {pid}


def find_memory(pids: set[int]) -> float:
    """Return the memory of processes together, in MiB."""
    total = 0
    for pid in pids:
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
            total += int(
                next(line for line in lines if line.startswith("Pss:")).split()[1]
            )
    return total / 1024


def find_processor_times(pids: set[int]) -> dict[int, float]:
    """Return the processor seconds of each process."""
    found = {}
    for pid in pids:
        with suppress(OSError):
            ticks = (
                Path(f"/proc/{pid}/stat")
                .read_text("utf-8")
                .rpartition(")")[2]
                .split()[11:13]
            )
            found[pid] = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return found


def main(command: list[str]) -> None:
    """Run *command*, and print its cost."""
    ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1, 0, 0, 0)
    most, is_over = 0.0, threading.Event()
    seen: dict[int, float] = {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def look() -> None:
        nonlocal most
        while not is_over.wait(_SAMPLE):
            descendants = find_descendants(os.getpid())
            most = max(most, find_memory(descendants))
            seen.update(find_processor_times(descendants))

    assert process.stdout is not None
    process.stdout.readline()
    start = sum(find_processor_times(find_descendants(os.getpid())).values())
    began = time.monotonic()
    thread = threading.Thread(target=look)
    thread.start()
    process.stdout.read()
    code = process.wait()
    seconds = time.monotonic() - began
    with suppress(ChildProcessError):  # none is left
        while True:
            os.wait()
    is_over.set()
    thread.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Exact, but without what a descendant waited for as Ray's daemon does; or as it was
    # last seen.
    cpu = max(used.ru_utime + used.ru_stime, sum(seen.values())) - start
    cost = {
        "seconds": seconds,
        "cpu": cpu,
        "start": start,
        "memory": most,
        "code": code,
    }
    print(json.dumps(cost))


if __name__ == "__main__":
    main(sys.argv[1:])
