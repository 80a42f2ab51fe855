"""A process for work that may never end: each task is timed there, and a task that
takes too long costs the process.
"""

from __future__ import annotations
import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any, Self

MOST_SECONDS = 20  # of processor time, for one task; then the process is killed
_ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A process that does tasks, one after another, and is started again when a task
    has cost it its life.

    A task is the name of a function, as ``module:name``, and arguments that JSON can
    express. So is its answer.
    """

    def __init__(self, most_seconds: int = MOST_SECONDS) -> None:
        self._most_seconds = most_seconds
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Kill the process, if there is one."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def ask(self, task: str, *arguments: Any) -> Any:
        """Return the answer to a task; None if it was killed."""
        if self._process is None:
            command = [sys.executable, "-W", "ignore", "-m", __name__]
            self._process = subprocess.Popen(
                command,
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
            )
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(
            json.dumps([self._most_seconds, task, *arguments]) + "\n"
        )
        if line := self._process.stdout.readline():
            return json.loads(line)
        self.end()
        return None


def cost(task: str, *arguments: Any) -> float:
    """Return the seconds that a task answers, in a process of its own; infinity if it
    was killed.
    """
    with Worker() as worker:
        answer = worker.ask(task, *arguments)
        return inf if answer is None else float(answer)


def find_times(
    first: float | None,
    large: Callable[[], float],
    small: Callable[[], float],
    least: float,
    ratio: float,
) -> list[tuple[float, float]]:
    """Measure a task at two sizes up to three times, and return the times of all three
    if it is slow in each.

    Return nothing as soon as one of them, with *first* as the first time of the large
    size, takes no more than *least* seconds, or no more than *ratio* times as long as
    the small size.
    """
    times = []
    for number in range(3):
        long = large() if number else inf if first is None else first
        if long <= least:
            return []
        short = small()
        if short < inf and long <= ratio * max(short, 1e-3):
            return []
        times.append((long, short))
    return times


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        most_seconds, task, *arguments = json.loads(line)
        module, _, name = task.partition(":")
        function = getattr(importlib.import_module(module), name)
        used = int(time.process_time()) + 1
        resource.setrlimit(
            resource.RLIMIT_CPU, (used + most_seconds, resource.RLIM_INFINITY)
        )
        answers.write(json.dumps(function(*arguments)) + "\n")


if __name__ == "__main__":
    _serve()
