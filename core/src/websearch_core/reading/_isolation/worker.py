"""One process that runs `worker`, as seen by who started it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from io import FileIO
from pathlib import Path
from typing import Any, cast

from ..._deadline import time_left
from ...errors import (
    BadResponse,
    ConfigurationError,
    TimedOut,
    TooLarge,
    UnsupportedContent,
    WebSearchError,
)
from ...models import Page
from .child import LONGEST, receive, send

_TIMEOUT = 20.0  # seconds for it to be ready
_MAX_ANSWER_SIZE = 2**26  # bytes: far more than any page has, for a process that was taken over
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {0} import serve; serve()"
_ERRORS = {error.code: error for error in (ConfigurationError, TooLarge, UnsupportedContent)}


class Worker:
    """
    A process that reads one page at a time.

    Raises:
        OSError: It cannot be started.

    """

    def __init__(self) -> None:
        self.is_ready = False
        self.resting_since = 0.0
        self.process = subprocess.Popen(  # noqa: S603 - nothing of it comes from outside
            [_interpreter(), "-P", "-c", _PROGRAM.format(f"{__package__}.child"), json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,  # a process that is forked must not write the rest of a buffer of ours
        )
        self._pipes = cast("FileIO", self.process.stdin), cast("FileIO", self.process.stdout)

    def get_ready(self) -> None:
        """Wait until it is; it is dead if it does not become so."""
        try:
            self._answer(None, _TIMEOUT)
        except WebSearchError:
            return
        self.is_ready = True

    def read(self, data: bytes, **question: Any) -> Page:
        """Have a page read; `read_aside` says what that may raise. Afterwards the process may be dead."""
        answer, content = self._answer((question, data), min(time_left(), LONGEST))
        try:
            if "error" not in answer:
                return Page.model_validate({**answer["page"], "content": str(content, "utf-8")})
            error = _ERRORS.get(answer["error"], BadResponse)(str(answer["message"]))
        except (KeyError, TypeError, ValueError) as lie:
            self.end()
            raise BadResponse("the page crashed the reader") from lie
        raise error

    def is_alive(self) -> bool:
        """Tell whether it can be given a page."""
        return self.process.poll() is None

    def end(self) -> None:
        """End it, and leave nothing of it. Twice is once."""
        self.process.kill()
        self.process.wait()
        for pipe in self._pipes:
            pipe.close()

    def disown(self) -> None:
        """Forget it after a fork: it is the parent's."""
        self.process.returncode = 0  # nobody here will wait for it
        for pipe in self._pipes:  # or it would not see its input end before this process does
            pipe.close()

    def _answer(
        self, question: tuple[dict[str, Any], bytes] | None, seconds: float
    ) -> tuple[dict[str, Any], bytearray]:
        overdue = threading.Event()

        def give_up() -> None:
            overdue.set()
            self.process.kill()

        clock = threading.Timer(seconds, give_up)
        clock.daemon = True
        clock.start()
        into, out = self._pipes
        try:
            if question:
                send(into, *question)
            return receive(out, _MAX_ANSWER_SIZE)
        except (OSError, EOFError, ValueError) as error:
            self.end()
            if overdue.is_set():
                raise TimedOut("the page was not read within the time allowed") from error
            raise BadResponse("the page crashed the reader") from error
        except BaseException:  # such as Ctrl-C: the answer must not be taken for that to the next question
            self.end()
            raise
        finally:
            clock.cancel()
            clock.join()  # from here on it does not strike
            if overdue.is_set():
                self.end()


def _interpreter() -> str:
    """Return what runs this, if it is Python itself: an application started again would do who knows what."""
    executable = sys.executable or ""
    if getattr(sys, "frozen", False) or not Path(executable).name.lower().startswith(("python", "pypy")):
        raise OSError(f"{executable or 'this application'} is no Python interpreter")
    return executable
