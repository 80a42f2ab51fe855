"""The parent's side of a reader process."""

from __future__ import annotations
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from math import inf
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from ..._runtime.deadline import time_left
from ..._runtime.forks import Restartable
from ...errors import (
    BadResponse,
    ConfigurationError,
    InvalidOption,
    TimedOut,
    TooLarge,
    Unavailable,
    UnsupportedContent,
    WebSearchError,
)
from .messages import (
    MAX_BODY,
    MAX_HEAD,
    MAX_SECONDS,
    pack,
    receive,
    send,
)

T = TypeVar("T")
Functions: TypeAlias = dict[str, Callable[[list[str]], Any]]  # of the parent

_START_TIMEOUT = 20.0  # seconds until a new process must be ready
_WATCH_KEPT = 60.0  # seconds that its thread waits for something to watch
_CRASHED = "the page crashed the reader"
_PIPE_SIZE = 2**20  # bytes: what Linux allows to all users
# `child.serve` turns the garbage collector on again: imports leave no garbage
_PROGRAM = (
    "import gc, json, sys; gc.disable(); sys.path[:] = json.loads(sys.argv[1]); "
    "from {0} import serve; serve()"
)
# plug-ins of pydantic watch an application, and to look for some takes a while
_ENVIRONMENT = {"PYDANTIC_DISABLE_PLUGINS": "__all__"}
_ERRORS = {
    error.code: error
    for error in (ConfigurationError, InvalidOption, TooLarge, UnsupportedContent)
}


class Worker:
    """A process that reads one page at a time; making one raises `OSError` if it cannot
    be started.
    """

    def __init__(self) -> None:
        self.is_ready = False
        self.was_late = False  # it was not ready in time: the machine is busy
        self.resting_since = 0.0
        self.process = subprocess.Popen(  # noqa: S603 - no part of the command comes from outside
            [
                _interpreter(),
                "-P",
                "-c",
                _PROGRAM.format(f"{__package__}.child"),
                json.dumps(sys.path),
            ],
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # else a fork of this process would inherit, and write, what is left in the
            # buffer
            bufsize=0,
        )
        self._pipes = (
            cast("FileIO", self.process.stdin),
            cast("FileIO", self.process.stdout),
        )
        _enlarge(self._pipes[0])

    def get_ready(self) -> None:
        """Wait until the process is ready; if that fails, the process is killed."""
        try:
            self._ask(None, _START_TIMEOUT, MAX_BODY, {})
        except TimedOut:
            self.was_late = True
        except WebSearchError:
            return
        else:
            self.is_ready = True

    def ask(
        self,
        task: str,
        data: bytes,
        decode: Callable[[dict[str, Any], bytearray], T],
        *,
        max_body: int = MAX_BODY,
        functions: Functions | None = None,
        **question: Any,
    ) -> T:
        """Have a task of `tasks` done. The process may be dead afterwards.

        Args:
            task: Its name.
            data: The bytes that it is about.
            decode: Makes the result of the head and the body of the answer.
            max_body: Most bytes that the body may have.
            functions: What the process may have called with texts, by name.
            question: The other arguments of the task, for JSON.

        Raises:
            WebSearchError: What the task raises.
            BadResponse: The process crashed or lied.
            TimedOut: It was killed at the deadline, or after a minute.
        """
        seconds = min(time_left(), MAX_SECONDS)
        question |= {"task": task, "seconds": seconds}
        if functions is not None:
            question["functions"] = list(functions)
        message = (pack(question), data)
        answer, body = self._ask(message, seconds, max_body, functions or {})
        try:
            if "error" not in answer:
                return decode(answer, body)
            error = _ERRORS.get(answer["error"], BadResponse)(str(answer["message"]))
        except (AttributeError, KeyError, TypeError, ValueError) as lie:
            self.end()
            raise BadResponse(_CRASHED) from lie
        raise error

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        """Kill the process and close its pipes. Idempotent."""
        self.process.kill()
        self.process.wait()
        for pipe in self._pipes:
            pipe.close()

    def disown(self) -> None:
        """Let go of the process after a fork: it belongs to the parent."""
        self.process.returncode = 0  # this process must not wait for it
        # else its input would stay open as long as this process lives
        for pipe in self._pipes:
            pipe.close()

    def _ask(
        self,
        question: tuple[bytes, bytes] | None,
        seconds: float,
        max_body: int,
        functions: Functions,
    ) -> tuple[dict[str, Any], bytearray]:
        """Ask, call the *functions* that the process asks for, and return its
        answer.
        """
        try:
            ends = _watch.begin(self.process, seconds)
        except RuntimeError as error:
            self.end()
            raise Unavailable("this system has no thread to watch a process") from error
        try:
            head, body = self._exchange(question, ends, max_body)
            while str(head.get("call")) in functions:
                function = functions[str(head["call"])]
                value = function(_read_texts(body))
                reply = (pack({"value": value}), b"")
                head, body = self._exchange(reply, ends, max_body)
        except BaseException:
            # such as Ctrl-C: this answer must not be taken for that to the next
            # question
            self.end()
            raise
        finally:
            if not _watch.end(self.process):
                self.end()
        return head, body

    def _exchange(
        self, question: tuple[bytes, bytes] | None, ends: float, max_body: int
    ) -> tuple[dict[str, Any], bytearray]:
        into, out = self._pipes
        try:
            if question is not None:
                send(into, *question)
            return receive(out, MAX_HEAD, max_body)
        except (OSError, EOFError, ValueError) as error:
            if time.monotonic() >= ends:
                raise TimedOut(
                    "the page was not read within the time allowed"
                ) from error
            raise BadResponse("the page crashed the reader") from error


class _Watch(Restartable):
    """A thread that watches all processes. A timer for each page would be another
    thread for each page.
    """

    def start_over(self) -> None:
        """Watch nothing: in a forked process, the thread does not exist."""
        # always entered itself, not as a `Condition`: see `_runtime.interrupts`
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._ends: dict[subprocess.Popen[bytes], float] = {}
        self._is_running = False
        self._looks_at = inf  # when the thread looks again, unless it is notified

    def begin(self, process: subprocess.Popen[bytes], seconds: float) -> float:
        """Kill *process* in so many seconds, unless `end` comes before. Return when
        that is.
        """
        end = time.monotonic() + seconds
        with self._lock:
            self._ends[process] = end
            if not self._is_running:
                threading.Thread(
                    target=self._run, name="websearch-watch", daemon=True
                ).start()
                self._is_running = True
            elif end < self._looks_at:
                self._changed.notify()
        return end

    def end(self, process: subprocess.Popen[bytes]) -> bool:
        """Watch *process* no longer. Return whether it was still watched, and is not
        killed.
        """
        with self._lock:
            return self._ends.pop(process, None) is not None

    def _run(self) -> None:
        with self._lock:
            is_needed = True
            while is_needed or self._ends:
                now = time.monotonic()
                for process in [
                    process for process, end in self._ends.items() if end <= now
                ]:
                    del self._ends[process]
                    process.kill()
                self._looks_at = min(self._ends.values(), default=now + _WATCH_KEPT)
                is_needed = self._changed.wait(self._looks_at - now)
            self._is_running = False


_watch = _Watch()


def _read_texts(body: bytearray) -> list[str]:
    """Return the texts that a process wants a function called with."""
    try:
        texts: object = json.loads(body)
    except ValueError as error:
        raise BadResponse(_CRASHED) from error
    if not isinstance(texts, list) or not texts:
        raise BadResponse(_CRASHED)
    return [str(text) for text in cast("list[object]", texts)]


def _enlarge(pipe: FileIO) -> None:
    """Let a page fit into *pipe*, where the system can: otherwise it wakes both
    processes for every 64 KiB.
    """
    # not on Linux, or the user has as much in pipes as is allowed
    with suppress(ImportError, OSError):
        from fcntl import F_SETPIPE_SZ, fcntl

        fcntl(pipe, F_SETPIPE_SZ, _PIPE_SIZE)


def _interpreter() -> str:
    """Return the Python interpreter; refuse a frozen application, which would run
    itself a second time.
    """
    executable = sys.executable or ""
    if getattr(sys, "frozen", False) or not Path(executable).name.lower().startswith(
        ("python", "pypy")
    ):
        raise OSError(f"{executable or 'this application'} is not a Python interpreter")
    return executable
