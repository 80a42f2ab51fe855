"""Candidates, each in a process of its own: what crashes or hangs costs one page, and memory is its own."""

from __future__ import annotations

import os
import pickle
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.reading.candidates import Answer, Candidate

_ROOT = Path(__file__).resolve().parents[2]


class Absent(Exception):
    """The candidate is not installed, or cannot read anything."""


class Reader:
    """
    A candidate, started and warm.

    Args:
        candidate: Who reads.
        python: The interpreter that has its libraries.
        patience: Seconds by the clock for one page; then the process is ended, and another is started for the next.

    Raises:
        Absent: The candidate is not installed there, or cannot read anything.

    """

    def __init__(self, candidate: Candidate, python: str, *, patience: float = 60) -> None:
        self._command = [python, "-m", "benchmarks.reading.candidates", candidate.function, *candidate.distributions]
        self._patience = patience
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def read(self, data: bytes, url: str, content_type: str | None) -> Answer:
        """Read one page; ``error`` says ``Crashed`` where the process died and ``TooSlow`` where it was ended."""
        if self._process.poll() is not None:
            self._start()
        overdue = threading.Event()

        def end() -> None:
            overdue.set()
            self._process.kill()

        timer = threading.Timer(self._patience, end)
        timer.start()
        try:
            answer: Answer = self._ask((data, url, content_type))
        except (EOFError, OSError):
            self._end()
            return Answer(markdown="", error="TooSlow" if overdue.is_set() else "Crashed", seconds=self._patience)
        finally:
            timer.cancel()
        return answer

    def memory(self) -> float:
        """Return the most memory that the process ever had, in MiB; not a number if it died over its last page."""
        return float(self._ask(None)) if self._process.poll() is None else float("nan")

    def _start(self) -> None:
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
        )
        try:
            hello = self._hear()
        except EOFError:
            hello = ImportError("it does not start")
        if isinstance(hello, ImportError):
            self._end()
            raise Absent(str(hello))
        self.versions: dict[str, str] = hello

    def _ask(self, something: object) -> Any:
        assert self._process.stdin is not None
        pickle.dump(something, self._process.stdin)
        self._process.stdin.flush()
        return self._hear()

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        return pickle.load(self._process.stdout)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:  # something was still to be written
                continue
