"""Decompress a body up to a limit: 1 MB of gzip can become a gigabyte."""

from __future__ import annotations

import zlib

from ..errors import BadResponse

_STEP = 2**16  # bytes inflated at a time
_FREE_PARTS, _PART = 10_000, 64  # a body may have so many parts, and one more for so many bytes of the limit
OFFERED = "gzip, deflate"  # the encodings we accept; any other in a response is an error


class BoundedBody:
    """
    Collects a body as it arrives, up to *most* decompressed bytes.

    Args:
        encoding: The ``Content-Encoding`` header.
        most: Maximum number of decoded bytes to keep.

    """

    def __init__(self, encoding: str, most: int) -> None:
        self.content = bytearray()
        self._most = most
        self._arrived = 0
        self._parts_left = _FREE_PARTS + most // _PART
        self._inflate = _make_inflater(encoding)

    def add(self, raw: bytes) -> bool:
        """Add the bytes that arrived; return False if reading more is useless."""
        self._arrived += len(raw)
        self._parts_left -= 1
        room = self._most + 1 - len(self.content)
        self.content += self._inflate.feed(raw, room) if self._inflate else raw[:room]
        return not self._is_full

    @property
    def truncated(self) -> bool:
        """True if bytes are missing at the end: cut off by us, or a compressed stream that stops half-way."""
        return self._is_full or (self._inflate is not None and self._arrived > 0 and not self._inflate.complete)

    @property
    def _is_full(self) -> bool:
        # Limit the raw bytes, too: an endless stream may decode to nothing. And the parts: each takes time.
        return len(self.content) > self._most or self._arrived > self._most or self._parts_left < 0

    def __bytes__(self) -> bytes:
        with memoryview(self.content) as content:  # slicing the bytearray would make another copy
            return bytes(content[: self._most])


class _Inflater:
    """Decompresses gzip or deflate, with all members, and never more at a time than there is room for."""

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
                if self.complete:  # after a complete member: padding or rubbish
                    data = b""
                    break
                if self._window != zlib.MAX_WBITS or out:
                    raise BadResponse("the compressed body is corrupt") from None
                self._window = -zlib.MAX_WBITS  # common: "deflate" without its zlib header
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
