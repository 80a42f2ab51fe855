"""Add the bounds that pypdf lacks: on the memory of some filters, character maps, and streams without compression.

pypdf bounds the output of most filters (``pypdf.Configuration``), but not the memory that they need meanwhile: joining
pieces takes about 90 bytes a piece, and ASCII85, ASCIIHex and RunLength can consist of pieces of one byte. A PDF of
10 KB took 1 GB. pypdf offers no way to replace a filter, so this module patches its functions. Outside of `bounded`
they behave as before, so an application that uses pypdf itself is not affected;
tests/core/reading/documents/test_pdf.py fails if an update of pypdf moves one of them.
"""

from __future__ import annotations
import time
from base64 import a85decode
from binascii import unhexlify
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from pypdf import PdfReader, _cmap, filters
from pypdf.errors import LimitReachedError
from pypdf.generic import DecodedStreamObject, EncodedStreamObject, StreamObject, _font

MAX_DECODED = 5_000_000  # bytes of a stream
_MAX_PAGE_SIZE = 15_000_000  # bytes of all decoded streams of a page
_MAX_MAP_SIZE = 2**20  # bytes of a character map, each of which takes 25 bytes of memory
_MAX_TEXT_SIZE = 8_000_000  # characters of ASCII85 or hexadecimal digits
_WIDTH_SIZE = 100  # bytes of memory for the width of a character
_MAX_RUNS_SIZE = 2**19  # bytes of run-length data, each of which may be a piece
_MAX_LZW_SIZE = 2**21  # bytes; Python takes a second for a MiB
_WHITE_SPACE = b"\0\t\n\f\r "
_CHUNK_SIZE = 5 * 2**14  # characters of ASCII85 at a time, in groups of five


class Budget:
    """The bytes that may still be decoded for the page that is being read, and the time for the whole file.

    Args:
        seconds: How long objects of the file may be looked up.
    """

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.left = _MAX_PAGE_SIZE
        self._streams: list[EncodedStreamObject] = []

    def keep(self, stream: EncodedStreamObject, data: bytes) -> bytes:
        """Count *data*, the decoded content that *stream* will cache."""
        self._streams.append(stream)
        self.spend(len(data))
        return data

    def spend(self, size: int) -> None:
        """Count bytes that the page takes.

        Raises:
            LimitReachedError: They are more than a page may take.
        """
        self.left -= size
        if self.left < 0:
            raise LimitReachedError("a page whose streams or fonts are too large")

    def check_time(self) -> None:
        """Check that there is time to look up another object: each search of an object stream reads all its numbers.

        Raises:
            LimitReachedError: The time is over.
        """
        if time.monotonic() > self._until:
            raise LimitReachedError("a file that takes too long")

    def renew(self) -> None:
        """Begin the next page, and drop what was decoded for the last one, which pypdf would keep."""
        for stream in self._streams:
            stream.decoded_self = None
        self._streams.clear()
        self.left = _MAX_PAGE_SIZE


_budget: ContextVar[Budget | None] = ContextVar("websearch_pdf_budget", default=None)


class BoundedReader(PdfReader):
    """A reader that refuses large streams without a filter, which the bounds of the filters miss, and ends in time."""

    def get_object(self, indirect_reference: Any) -> Any:
        """Return the object; a large image without its data."""
        if budget := _budget.get():
            budget.check_time()
        found = super().get_object(indirect_reference)
        if isinstance(found, DecodedStreamObject) and len(found.get_data()) > MAX_DECODED:
            if found.get("/Subtype") != "/Image":
                raise LimitReachedError("a stream that is too large")
            found.set_data(b"")  # images are not read, but their pages are
        return found


@contextmanager
def bounded(seconds: float) -> Iterator[Budget]:
    """Bound what pypdf does in this ``with`` block, for this thread or task only, and for so many seconds."""
    budget = Budget(seconds)
    before = _budget.set(budget)
    try:
        yield budget
    finally:
        _budget.reset(before)


def patch(place: Any, name: str, ours: Callable[..., Any]) -> None:
    """Replace a function of pypdf within `bounded` by *ours*, which gets a call of theirs, and its first argument."""
    theirs = getattr(place, name)

    def chosen(data: Any, *args: Any, **kwargs: Any) -> Any:
        if _budget.get():
            return ours(partial(theirs, data, *args, **kwargs), data)
        return theirs(data, *args, **kwargs)

    setattr(place, name, staticmethod(chosen) if isinstance(place, type) else chosen)


def _limit(most: int, decode: Callable[[], bytes], data: bytes) -> bytes:
    if len(data) > most:
        raise LimitReachedError("a stream that is too large for its filter")
    return decode()


def _count(decode: Callable[[], bytes], stream: EncodedStreamObject) -> bytes:
    data = decode()
    budget = _budget.get()
    return budget.keep(stream, data) if budget else data


def _count_widths(add_space: Callable[[], float], widths: Mapping[str, float]) -> float:
    """Count the widths of a font: many fonts can share a list of them, and each gets its own copy."""
    if budget := _budget.get():
        budget.spend(_WIDTH_SIZE * len(widths))
    return add_space()


def _limit_map(prepare: Callable[[], bytes], font: Any) -> bytes:
    """Refuse a character map (``/ToUnicode`` of *font*) that is larger than any script needs."""
    stream = font["/ToUnicode"]
    return _limit(_MAX_MAP_SIZE, prepare, stream.get_data() if isinstance(stream, StreamObject) else b"")


def _decode_ascii85(data: bytes) -> bytes:
    """Decode ASCII85 (ISO 32000-2, 7.4.3) in chunks, after checking how large the result will be."""
    if 4 * data.count(b"z") > MAX_DECODED:  # a z stands for four zeros
        raise LimitReachedError("a stream of ASCII85 that is too large")
    text = data.translate(None, _WHITE_SPACE).removeprefix(b"<~").partition(b"~")[0].replace(b"z", b"!!!!!")
    if len(text) * 4 // 5 > MAX_DECODED:
        raise LimitReachedError("a stream of ASCII85 that is too large")
    out = bytearray()
    for begin in range(0, len(text), _CHUNK_SIZE):
        out += a85decode(text[begin : begin + _CHUNK_SIZE])
    return bytes(out)


def _decode_hex(data: bytes) -> bytes:
    """Decode ASCIIHex (ISO 32000-2, 7.4.2)."""
    digits = data.partition(b">")[0].translate(None, _WHITE_SPACE)
    return unhexlify(digits + b"0" * (len(digits) % 2))


# On import, which happens once, however many threads there are.
patch(filters.ASCII85Decode, "decode", lambda _, data: _limit(_MAX_TEXT_SIZE, partial(_decode_ascii85, data), data))
patch(filters.ASCIIHexDecode, "decode", lambda _, data: _limit(_MAX_TEXT_SIZE, partial(_decode_hex, data), data))
patch(filters.RunLengthDecode, "decode", partial(_limit, _MAX_RUNS_SIZE))
patch(filters.LZWDecode, "decode", partial(_limit, _MAX_LZW_SIZE))
patch(filters, "decode_stream_data", _count)
patch(_cmap, "prepare_cm", _limit_map)
patch(_font.Font, "_add_space_width", _count_widths)
