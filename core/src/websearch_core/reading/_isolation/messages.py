"""What a process that reads pages and the one that started it say to each other.

A message is a JSON head and a body of bytes, each preceded by its length. Nothing is
pickled, so a process that a page has taken over can lie about that page, but do nothing
else to its parent.
"""

from __future__ import annotations
import json
import struct
from collections.abc import Mapping
from io import FileIO
from typing import Any

from ...models import Page

MAX_SECONDS = 60  # for one page, unless a deadline allows less
# bytes of the head of an answer: a sitemap has fifty thousand links
MAX_HEAD = 2**23
# bytes of the body of an answer; with pictures, which only a caller with a function for
# them asks for
MAX_BODY = 2**25
MAX_PICTURES = 2**26
# what a part of a page has that is not of the whole page, besides its text
PART = frozenset(
    {
        "content_length",
        "original_length",
        "offset",
        "truncated",
        "next_offset",
        "passages",
        "outline",
        "notes",
        "rest",
    }
)
_LENGTHS = struct.Struct(">II")


def cut_page(page: Page, room: int) -> Page:
    """Return *page* with the first *room* characters of its texts."""
    content = page.content[:room]
    size = len(content)
    update = {
        "content": content,
        "content_length": size,
        "rest": page.rest[: room - size],
        "truncated": True,
    }
    if page.original_length == len(page.content):
        update["original_length"] = size
    return page.model_copy(update=update)


def pack(head: Mapping[str, Any]) -> bytes:
    """Return the head of a message as bytes."""
    return json.dumps(head).encode()


def send(into: FileIO, head: bytes, body: bytes | bytearray) -> None:
    """Write a message, whose *head* is packed, into an unbuffered pipe; it is an
    `OSError` if its other end is closed.
    """
    for part in (_LENGTHS.pack(len(head), len(body)) + head, body):
        rest = memoryview(part)
        while rest:
            rest = rest[into.write(rest) :]


def receive(
    out: FileIO, max_head: int, max_body: int
) -> tuple[dict[str, Any], bytearray]:
    """Read a message with at most so many bytes from an unbuffered pipe.

    It is an `EOFError` if the pipe ends before, and a `ValueError` if the message is
    larger or malformed.
    """
    head_size, body_size = _LENGTHS.unpack(_read_exactly(out, _LENGTHS.size))
    if head_size > max_head or body_size > max_body:
        raise ValueError(f"a message of {head_size} and {body_size} bytes")
    head = json.loads(_read_exactly(out, head_size))
    if not isinstance(head, dict):
        raise ValueError("a message whose head is no object")  # noqa: TRY004 - of JSON
    return head, _read_exactly(out, body_size)


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
