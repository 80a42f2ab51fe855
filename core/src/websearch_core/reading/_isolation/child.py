"""The program of a reader process: it reads a question, writes the answer, and waits
for the next question.

Questions and answers have a JSON head and a body of bytes, each preceded by its length.
Nothing is pickled, so a process that a page has taken over can lie about that page, but
do nothing else to its parent.
"""

from __future__ import annotations
import gc
import json
import os
import signal
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from ..._runtime.deadline import time_limit
from ...errors import BadResponse, WebSearchError
from .._formats import convert

MAX_SECONDS = 60  # for one page, unless a deadline allows less
_GRACE_SECONDS = 10  # after those, a process ends itself: its parent may be gone
# bytes: a third more than the worst page may take (docs/measured/memory.md)
_MAX_MEMORY = 256 * 2**20
# bytes per byte of the page, for callers that raise the limit on the size of a page
_MEMORY_PER_BYTE = 10
_LENGTHS = struct.Struct(">II")


def send(into: FileIO, head: Mapping[str, Any], body: bytes) -> None:
    """Write a message of JSON and bytes into an unbuffered pipe; it is an `OSError` if
    its other end is closed.
    """
    first = json.dumps(head).encode()
    for part in (_LENGTHS.pack(len(first), len(body)) + first, body):
        rest = memoryview(part)
        while rest:
            rest = rest[into.write(rest) :]


def receive(out: FileIO, most: int) -> tuple[dict[str, Any], bytearray]:
    """Read a message, whose head and body have at most *most* bytes each, from an
    unbuffered pipe.

    It is an `EOFError` if the pipe ends before, and a `ValueError` if the message is
    larger or malformed.
    """
    lengths = _LENGTHS.unpack(_read_exactly(out, _LENGTHS.size))
    if max(lengths) > most:
        raise ValueError(f"a message of {max(lengths)} bytes")
    head, body = (_read_exactly(out, length) for length in lengths)
    return json.loads(head), body


def _read_exactly(out: FileIO, length: int) -> bytearray:
    data = bytearray(length)
    filled = 0
    with memoryview(data) as room:
        while filled < length:
            count = out.readinto(room[filled:])
            if not count:
                raise EOFError("the other process is gone")
            filled += count
    return data


def serve() -> None:
    """Report that everything is loaded, then answer the questions on standard input
    until it ends.
    """
    # Ctrl-C is for the process that started this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    questions = FileIO(os.dup(0))
    answers = FileIO(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else that is printed may be taken for an answer
    convert(
        b"<p>Run the imports that happen on first use.",
        "https://page.example/",
        "text/html",
    )
    # what is loaded stays, so the garbage collector need not look at it for each page:
    # 4 % of the time
    gc.freeze()
    send(answers, {}, b"")
    while True:
        try:
            head, body = receive(questions, sys.maxsize)
        except EOFError:
            return
        _end_after(MAX_SECONDS + _GRACE_SECONDS)
        with _limit_memory(len(body)):
            answer, content = _answer(bytes(body), **head)
        _end_after(0)
        send(answers, answer, content)


@contextmanager
def _limit_memory(size: int) -> Iterator[None]:
    """Limit the memory that a page of *size* bytes may add to what the process has:
    beyond it, MemoryError is raised.

    The system enforces the limit, so it holds for native code too. It needs ``/proc``:
    elsewhere the memory of the process is not known, or (macOS) the limit is not
    enforced.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
        before = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError, ValueError):
        yield
        return
    most = pages * resource.getpagesize() + _MAX_MEMORY + _MEMORY_PER_BYTE * size
    least = min(limit for limit in (most, *before) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (least, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _end_after(seconds: int) -> None:
    """Set SIGALRM as a hard limit, which stops native code too; 0 cancels it."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _answer(
    data: bytes, seconds: float = MAX_SECONDS, **question: Any
) -> tuple[dict[str, Any], bytes]:
    try:
        with time_limit(seconds):  # a long PDF ends before, with what it has
            page = convert(data, **question)
    except WebSearchError as error:
        return {"error": error.code, "message": error.message}, b""
    except MemoryError:
        return {
            "error": BadResponse.code,
            "message": "there is not enough memory to read the page",
        }, b""
    return {
        "page": page.model_dump(mode="json", exclude={"content"})
    }, page.content.encode(errors="replace")
