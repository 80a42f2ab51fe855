"""Candidates, each in its own process: a crash or a hang costs one page, and memory is
measured separately.
"""

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
    """A candidate that is running and warmed up.

    Args:
        candidate: The candidate.
        python: The Python that has its libraries.
        timeout: Seconds of wall time for one page. Then the process is killed; the next
            page starts another one.

    Raises:
        Absent: The candidate is not installed there, or cannot read anything.
    """

    def __init__(
        self, candidate: Candidate, python: str, *, timeout: float = 60
    ) -> None:
        self._command = [
            python,
            "-m",
            "benchmarks.reading.candidates",
            candidate.function,
            *candidate.distributions,
        ]
        self._timeout = timeout
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._end()

    def read(self, data: bytes, url: str, content_type: str | None) -> Answer:
        """Read one page; ``error`` is ``Crashed`` if the process died and ``TooSlow``
        if it was killed.
        """
        if self._process.poll() is not None:
            self._start()
        timed_out = threading.Event()

        def end() -> None:
            timed_out.set()
            self._process.kill()

        timer = threading.Timer(self._timeout, end)
        timer.start()
        try:
            answer: Answer = self._ask((data, url, content_type))
        except (EOFError, OSError):
            self._end()
            return Answer(
                markdown="",
                error="TooSlow" if timed_out.is_set() else "Crashed",
                seconds=self._timeout,
            )
        finally:
            timer.cancel()
        return answer

    def memory(self) -> float:
        """Return the peak memory of the process, in MiB; NaN if it died on its last
        page.
        """
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
            hello = self._receive()
        except EOFError:
            hello = ImportError("the process does not start")
        if isinstance(hello, ImportError):
            self._end()
            raise Absent(str(hello))
        self.versions: dict[str, str] = hello

    def _ask(self, message: object) -> Any:
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()
        return self._receive()

    def _receive(self) -> Any:
        assert self._process.stdout is not None
        return pickle.load(self._process.stdout)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:  # the process died before it had read everything
                continue
