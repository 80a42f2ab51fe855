"""Decompress a body up to a limit: 1 MB of gzip can become a gigabyte."""

from __future__ import annotations
import time
import zlib
from collections.abc import Iterator

from .._text.markup import ends_html
from ..errors import BadResponse

_STEP = 2**18  # bytes inflated at a time, which takes about a millisecond
# A body may have so many parts, one more for so many bytes of the limit, and so many
# more in each second: parts cost time, unless they come slowly.
_FREE_PARTS = 10_000
_PART = 32
_PARTS_PER_SECOND = 2_000
# the encodings we accept
OFFERED = "gzip, deflate"
_WINDOWS = {
    "gzip": zlib.MAX_WBITS | 16,
    "x-gzip": zlib.MAX_WBITS | 16,
    "deflate": zlib.MAX_WBITS,
}
# The other encodings that exist. Any other word says nothing: many sites let their
# authors write one there, and browsers ignore it.
_REFUSED = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})
_GZIP = b"\x1f\x8b"  # how it begins


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
        # the connection has ended before the body, or brings nothing more
        self.is_cut_off = False

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
        if self.is_full:
            return True
        if self._inflate is None or not self._arrived:
            return self.is_cut_off
        return not self._inflate.complete

    @property
    def seems_complete(self) -> bool:
        """True if what arrived ends as a whole page does, whatever the server says."""
        if self._inflate is not None and self._inflate.complete:
            return True
        return ends_html(self.content)

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


class _TwiceInflater:
    """Decompresses what *outer* decompresses with *inner*. Where that does not begin
    with *magic*, the server has stated one encoding twice.
    """

    def __init__(self, outer: _Inflater, inner: _Inflater, magic: bytes) -> None:
        self._magic = magic
        self._outer = outer
        self._inner: _Inflater | None = inner
        self._arrived = b""  # for the outer one, while the inner one is busy
        self._has_begun = False
        self.waiting = False

    @property
    def complete(self) -> bool:
        is_inner_complete = self._inner is None or self._inner.complete
        return is_inner_complete and self._outer.complete

    def feed(self, data: bytes, room: int) -> bytes:
        self._arrived += data
        if self._inner is not None and self._inner.waiting:
            return self._inner.feed(b"", room)
        piece = self._outer.feed(self._arrived, room)
        self._arrived = b""
        self.waiting = bool(self._outer.waiting) or len(piece) >= room
        if piece and not self._has_begun:
            self._has_begun = True
            if not self._magic.startswith(piece[: len(self._magic)]):
                self._inner = None
        if self._inner is None:
            return piece
        out = self._inner.feed(piece, room)
        self.waiting = self.waiting or bool(self._inner.waiting) or len(out) >= room
        return out


def _make_inflater(encoding: str) -> _Inflater | _TwiceInflater | None:
    names = [name.strip().lower() for name in encoding.split(",")]
    refused = [name for name in names if name in _REFUSED]
    if refused:
        listing = ", ".join(refused[:3])
        raise BadResponse(f"the body is encoded as {listing}, which was not asked for")
    encodings = [name for name in names if name in _WINDOWS]
    inflaters = [_Inflater(_WINDOWS[name]) for name in encodings]
    match inflaters:
        case []:
            return None
        case [inflater]:
            return inflater
        case [inner, outer]:
            magic = _GZIP if encodings[0].endswith("gzip") else b""
            return _TwiceInflater(outer, inner, magic)
    raise BadResponse("the body is encoded more than twice")
