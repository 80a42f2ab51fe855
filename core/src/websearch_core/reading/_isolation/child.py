"""
What runs in a process that turns pages into text: a question in, an answer out, page after page.

Question and answer are a head of JSON and a body of bytes, each with its length before it. Nothing is pickled: a
process that was taken over by a page can lie about that page, and no more.
"""

from __future__ import annotations

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

from ...errors import BadResponse, WebSearchError
from .. import read_bytes

LONGEST = 60  # seconds for one page, where no deadline says less
_GRACE = 10  # seconds more, after which a process ends itself: whoever started it may be gone
_MAX_MEMORY = 256 * 2**20  # bytes: four times what the worst page takes that we know of (docs/memory.md)
_MEMORY_PER_BYTE = 10  # bytes, for pages longer than are read unless set otherwise
_LENGTHS = struct.Struct(">II")


def send(into: FileIO, head: Mapping[str, Any], body: bytes) -> None:
    """
    Write a message.

    Args:
        into: A pipe, unbuffered.
        head: What fits JSON.
        body: Anything.

    Raises:
        OSError: Nobody reads it any more.

    """
    first = json.dumps(head).encode()
    for part in (_LENGTHS.pack(len(first), len(body)) + first, body):
        rest = memoryview(part)
        while rest:
            rest = rest[into.write(rest) :]


def receive(out: FileIO, most: int) -> tuple[dict[str, Any], bytearray]:
    """
    Read a message.

    Args:
        out: A pipe, unbuffered.
        most: Bytes of its head and of its body, at most.

    Raises:
        EOFError: The pipe ended within it, or before.
        ValueError: It is larger than that, or no message.

    """
    lengths = _LENGTHS.unpack(_exactly(out, _LENGTHS.size))
    if max(lengths) > most:
        raise ValueError(f"a message of {max(lengths)} bytes")
    head, body = (_exactly(out, length) for length in lengths)
    return json.loads(head), body


def _exactly(out: FileIO, length: int) -> bytearray:
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
    """Say that everything is loaded, then answer each question on standard input, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    questions = FileIO(os.dup(0))
    answers = FileIO(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed must not pass for an answer
    read_bytes(b"<p>What is imported when it is needed is needed now.", "https://page.example/", "text/html")
    send(answers, {}, b"")
    while True:
        try:
            head, body = receive(questions, sys.maxsize)
        except EOFError:
            return
        _end_after(LONGEST + _GRACE)
        with _memory_limited(len(body)):
            answer, content = _answered(bytes(body), **head)
        _end_after(0)
        send(answers, answer, content)


@contextmanager
def _memory_limited(size: int) -> Iterator[None]:
    """
    Let a page of *size* bytes take only so much memory beyond what the process has: more is a MemoryError.

    It is a limit of the system, so native code keeps to it as well. It holds where there is ``/proc``: elsewhere, what
    the process has is not known, or (macOS) the limit is not enforced.
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
    """Let the system end this process, even in the midst of native code; 0 takes it back."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _answered(data: bytes, **question: Any) -> tuple[dict[str, Any], bytes]:
    try:
        page = read_bytes(data, **question)
    except WebSearchError as error:
        return {"error": error.code, "message": str(error)}, b""
    except MemoryError:
        return {"error": BadResponse.code, "message": "there is not enough memory to read the page"}, b""
    return {"page": page.model_dump(mode="json", exclude={"content"})}, page.content.encode(errors="replace")
