"""
Reading in a process of its own, so that what crashes the parser costs one page and not the host.

One worker serves the whole process, page after page. It is started when first needed, and anew after it died, was too
slow, or this process forked; it ends when its standard input does, so it never outlives the process that started it.
Pages come back as JSON, not as pickles: a worker that was taken over can lie about a page, and no more.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import IO, cast

from ..deadline import time_left
from ..errors import BadResponse, TimedOut, UnsupportedContent
from ..models import Page
from . import Links, read_bytes

_LONGEST = 60.0  # seconds for one page, where no deadline says less
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import {0}; {0}.serve()"


def read_isolated(data: bytes, url: str, content_type: str | None = None, *, links: Links = "keep") -> Page:
    """
    Do as `websearch_core.reading.read_bytes` does, in the worker. Calls from several threads take turns.

    Args:
        data: The bytes of the page.
        url: Where they came from.
        content_type: The value of the HTTP header, where there was one.
        links: What becomes of the links.

    Raises:
        UnsupportedContent: The bytes are no text.
        BadResponse: The worker crashed over this page, or had not enough memory for it.
        TimedOut: The page was not read within the time allowed.

    """
    head = json.dumps({"length": len(data), "url": url, "content_type": content_type, "links": links}).encode()
    answer = json.loads(_worker.ask(head + b"\n", data))
    if "page" in answer:
        return Page.model_validate(answer["page"])
    raise (UnsupportedContent if answer["error"] == UnsupportedContent.code else BadResponse)(str(answer["message"]))


class _Worker:
    def __init__(self) -> None:
        self.forget()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Begin without a worker: after a fork, the one there is is the parent's."""
        if (process := getattr(self, "_process", None)) is not None:
            process.returncode = 0  # nobody here will wait for it
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, head: bytes, data: bytes) -> bytes:
        """Return the line that the worker answers with."""
        if not self._turn.acquire(timeout=min(time_left(), _LONGEST)):
            raise TimedOut("the page was not read within the time allowed")
        try:
            answered = _exchange(self._started(), head, data)
            line = answered.result(min(time_left(), _LONGEST))
        except FutureTimeout as error:
            self._end()
            raise TimedOut("the page was not read within the time allowed") from error
        except OSError as error:  # its end of a pipe is closed
            self._end()
            raise BadResponse("the page crashed the reader") from error
        except BaseException:  # such as Ctrl-C: the answer must not be taken for that to the next question
            self._end()
            raise
        finally:
            self._turn.release()
        if not line.endswith(b"\n"):
            self._end()
            raise BadResponse("the page crashed the reader")
        return line

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - nothing of it comes from outside
                [sys.executable, "-c", _PROGRAM.format(__name__), json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,  # a process that is forked must not write the rest of a buffer of ours
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                cast("IO[bytes]", pipe).close()


def _exchange(process: subprocess.Popen[bytes], head: bytes, data: bytes) -> Future[bytes]:
    """Ask in a thread that nobody has to wait for: killing the process ends it."""
    answered: Future[bytes] = Future()
    into, out = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)

    def exchange() -> None:
        try:
            for part in (head, data):
                rest = memoryview(part)
                while rest:
                    rest = rest[into.write(rest) :]
            line = bytearray()
            while not line.endswith(b"\n") and (piece := out.read(2**20)):
                line += piece
        except (OSError, ValueError) as error:  # the latter where the pipe was closed meanwhile
            answered.set_exception(error if isinstance(error, OSError) else BrokenPipeError())
        else:
            answered.set_result(bytes(line))

    threading.Thread(target=exchange, name="websearch-reading", daemon=True).start()
    return answered


def serve() -> None:
    """Be the worker: answer each question on standard input with a line, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed must not pass for an answer
    while head := sys.stdin.buffer.readline():
        asked = json.loads(head)
        data = sys.stdin.buffer.read(asked.pop("length"))
        answers.write(json.dumps(_answer(data, **asked)).encode() + b"\n")
        answers.flush()


def _answer(data: bytes, url: str, content_type: str | None, links: Links) -> dict[str, object]:
    try:
        return {"page": read_bytes(data, url, content_type, links=links).model_dump(mode="json")}
    except UnsupportedContent as error:
        return {"error": error.code, "message": str(error)}
    except MemoryError:
        return {"error": BadResponse.code, "message": "there is not enough memory to read the page"}


_worker = _Worker()
