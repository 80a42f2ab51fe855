"""Undo the compression of a body without letting it grow past a bound: 1 MB of gzip can be a gigabyte."""

from __future__ import annotations

import zlib

from ..errors import BadResponse

_STEP = 2**16  # bytes inflated at a time
OFFERED = "gzip, deflate"  # what we say we accept; anything else in an answer is refused


class BoundedBody:
    """
    Collects a body as it arrives, up to *most* bytes after decompression.

    Args:
        encoding: The ``Content-Encoding`` header.
        most: How many decoded bytes to keep.

    """

    def __init__(self, encoding: str, most: int) -> None:
        self.content = bytearray()
        self._most = most
        self._arrived = 0
        self._inflate = _make_inflater(encoding)

    def add(self, raw: bytes) -> bool:
        """Take in what arrived; False when there is no use in reading on."""
        self._arrived += len(raw)
        room = self._most + 1 - len(self.content)
        self.content += self._inflate.feed(raw, room) if self._inflate else raw[:room]
        return not self._is_full

    @property
    def truncated(self) -> bool:
        """True if bytes are missing at the end, cut off by us or by a compressed stream that stops half-way."""
        return self._is_full or (self._inflate is not None and self._arrived > 0 and not self._inflate.complete)

    @property
    def _is_full(self) -> bool:
        # The wire is capped too: an endless stream may decode to nothing at all.
        return len(self.content) > self._most or self._arrived > self._most

    def __bytes__(self) -> bytes:
        with memoryview(self.content) as content:  # a slice of the bytearray would be one copy more
            return bytes(content[: self._most])


class _Inflater:
    """gzip or deflate, every member of it, never more at a time than there is room for."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._stream = zlib.decompressobj(window)
        self._waiting = b""
        self.complete = False

    def feed(self, data: bytes, room: int) -> bytes:
        out = bytearray()
        data = self._waiting + data
        while data and len(out) < room:
            try:
                out += self._stream.decompress(data, min(room - len(out), _STEP))
            except zlib.error:
                if self.complete:  # what follows a whole member is padding or rubbish
                    data = b""
                    break
                if self._window != zlib.MAX_WBITS or out:
                    raise BadResponse("the compressed body is corrupt") from None
                self._window = -zlib.MAX_WBITS  # "deflate" without the header it should have: common enough
                self._stream = zlib.decompressobj(self._window)
                continue
            self.complete = self._stream.eof
            data = self._stream.unconsumed_tail
            if self.complete:
                data = self._stream.unused_data.lstrip(b"\0")
                self._stream = zlib.decompressobj(self._window)
        self._waiting = data
        return bytes(out)


def _make_inflater(encoding: str) -> _Inflater | None:
    names = [name for part in encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    match names:
        case []:
            return None
        case ["gzip" | "x-gzip"]:
            return _Inflater(zlib.MAX_WBITS | 16)
        case ["deflate"]:
            return _Inflater(zlib.MAX_WBITS)
    known = [name if name in {"br", "zstd", "compress", "gzip", "deflate"} else "something unknown" for name in names]
    raise BadResponse(f"the body is encoded as {', '.join(known[:3])}, which was not asked for")
