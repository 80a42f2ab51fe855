"""The program of a process that reads pages.

It reads a question, writes the answer, and waits for the next question.
"""

from __future__ import annotations
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from ..._runtime.deadline import time_limit
from ...errors import BadResponse, WebSearchError
from .._formats import convert
from .messages import MAX_HEAD, MAX_SECONDS, pack, receive, send
from .tasks import TASKS, Answer

_GRACE_SECONDS = 10  # after those, a process ends itself: its parent may be gone
# bytes: a third more than the worst page may take (benchmarks/results/memory.md)
_MAX_MEMORY = 256 * 2**20
# bytes per byte of the page, for callers that raise the limit on the size of a page
_MEMORY_PER_BYTE = 10
# what a page can have far too much of
_LONG_FIELDS = ("links", "data", "outline", "passages")
_TOO_MUCH = "its links and its data are left out: there are far too many"


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
    gc.enable()
    send(answers, pack({}), b"")

    def call(name: str, *texts: str) -> Any:
        """Have the parent call one of its functions with *texts*."""
        send(
            answers,
            pack({"call": name}),
            json.dumps(texts, ensure_ascii=False).encode(errors="replace"),
        )
        head, _ = receive(questions, MAX_HEAD, 0)
        return head["value"]

    while True:
        try:
            head, body = receive(questions, sys.maxsize, sys.maxsize)
        except EOFError:
            return
        _end_after(MAX_SECONDS + _GRACE_SECONDS)
        with _limit_memory(len(body)):
            answer, content = _answer(bytes(body), call=call, **head)
            packed = _pack(answer)
        _end_after(0)
        send(answers, packed, content)
        del body, answer, content  # a process that waits needs no page


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
    most_bytes = pages * resource.getpagesize() + _MAX_MEMORY + _MEMORY_PER_BYTE * size
    limits = [limit for limit in before if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([most_bytes, *limits]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _end_after(seconds: int) -> None:
    """Set SIGALRM as a hard limit, which stops native code too; 0 cancels it."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _pack(answer: dict[str, Any]) -> bytes:
    """Pack the head of an answer; a page that states far too much loses that."""
    packed = pack(answer)
    if len(packed) <= MAX_HEAD:
        return packed
    page = answer["page"]
    for name in _LONG_FIELDS:
        page.pop(name, None)
    page["notes"] = [*page["notes"], _TOO_MUCH]
    return pack(answer)


def _answer(
    data: bytes,
    task: str = "read",
    seconds: float = MAX_SECONDS,
    **question: Any,
) -> Answer:
    call: Callable[..., Any] = question.pop("call")
    if "functions" in question:
        question["call"] = call
    try:
        with time_limit(seconds):  # a long PDF ends before, with what it has
            return TASKS[task](data, **question)
    except WebSearchError as error:
        return {"error": error.code, "message": error.message}, b""
    except MemoryError:
        return {
            "error": BadResponse.code,
            "message": "there is not enough memory to read the page",
        }, b""
