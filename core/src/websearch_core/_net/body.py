"""Decompress a body up to a limit: 1 MB of gzip can become a gigabyte."""

from __future__ import annotations
import time
import zlib
from collections.abc import Iterator

from ..errors import BadResponse

_STEP = 2**18  # bytes inflated at a time, which takes about a millisecond
# A body may have so many parts, one more for so many bytes of the limit, and so many
# more in each second: parts cost time, unless they come slowly.
_FREE_PARTS = 10_000
_PART = 32
_PARTS_PER_SECOND = 2_000
# the encodings we accept; any other in a response is an error
OFFERED = "gzip, deflate"
# those that an error may name
_ENCODINGS = frozenset({"br", "zstd", "compress", "gzip", "deflate"})


class BoundedBody:
    """Collects a body with the ``Content-Encoding`` *encoding* as it arrives, up to
    *limit* decompressed bytes.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        self.content = bytearray()
        self._limit = limit
        self._arrived = 0
        self._parts_left = _FREE_PARTS + limit // _PART
        self._has_too_many_parts = False
        self._began = time.monotonic()
        self._inflate = _make_inflater(encoding) if encoding else None

    def add(self, raw: bytes) -> Iterator[None]:
        """Add the bytes that arrived, in steps: an event loop does something else in
        between.
        """
        self._arrived += len(raw)
        self._parts_left -= 1
        if self._parts_left < 0 and -self._parts_left > _PARTS_PER_SECOND * (
            time.monotonic() - self._began
        ):
            self._has_too_many_parts = True
        while True:
            yield
            room = self._limit + 1 - len(self.content)
            if self._inflate is None:
                self.content += raw[:room]
                return
            piece = self._inflate.feed(raw, min(room, _STEP))
            self.content += piece
            if self.is_full:
                return
            if len(piece) < _STEP and not self._inflate.waiting:
                return
            raw = b""

    @property
    def is_full(self) -> bool:
        """True if reading more is useless: enough arrived, or in too many parts. It may
        all decode to nothing.
        """
        return (
            len(self.content) > self._limit
            or self._arrived > self._limit
            or self._has_too_many_parts
        )

    @property
    def truncated(self) -> bool:
        """True if bytes are missing at the end: cut off by us, or a compressed stream
        that stops half-way.
        """
        return self.is_full or (
            self._inflate is not None
            and self._arrived > 0
            and not self._inflate.complete
        )

    def __bytes__(self) -> bytes:
        # slicing the bytearray would make another copy
        with memoryview(self.content) as content:
            return bytes(content[: self._limit])


class _Inflater:
    """Decompresses gzip or deflate, with all members."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._stream = zlib.decompressobj(window)
        self.waiting = b""  # what arrived and is not decompressed yet
        self.complete = False

    def feed(self, data: bytes, room: int) -> bytes:
        """Return the next bytes: at most *room*, and of one member, since thousands of
        them can be empty.
        """
        data = self.waiting + data
        self.waiting = b""
        if self.complete:
            data = data.lstrip(b"\0")  # padding
            if not data:  # no other member begins
                return b""
        try:
            out = self._stream.decompress(data, room)
        except zlib.error:
            if self.complete:  # after a complete member: rubbish
                return b""
            if self._window != zlib.MAX_WBITS:
                raise BadResponse("the compressed body is corrupt") from None
            self._window = -zlib.MAX_WBITS  # common: "deflate" without its zlib header
            self._stream = zlib.decompressobj(self._window)
            return self.feed(data, room)
        self.complete = self._stream.eof
        self.waiting = self._stream.unconsumed_tail
        if self.complete:
            self.waiting = self._stream.unused_data
            self._stream = zlib.decompressobj(self._window)
        return out


def _make_inflater(encoding: str) -> _Inflater | None:
    parts = [part.strip().lower() for part in encoding.split(",")]
    names = [name for name in parts if name not in {"", "identity"}]
    match names:
        case []:
            return None
        case ["gzip" | "x-gzip"]:
            return _Inflater(zlib.MAX_WBITS | 16)
        case ["deflate"]:
            return _Inflater(zlib.MAX_WBITS)
    listing = ", ".join(map(_describe_encoding, names[:3]))
    raise BadResponse(f"the body is encoded as {listing}, which was not asked for")


def _describe_encoding(name: str) -> str:
    return name if name in _ENCODINGS else "something unknown"
