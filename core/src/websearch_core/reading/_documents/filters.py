"""
What pypdf leaves without a bound: the memory of some filters, maps of characters, and streams that are not packed.

pypdf bounds what most filters make (``pypdf.Configuration``), but not what they take meanwhile: joining pieces costs
about 90 bytes a piece, and ASCII85, ASCIIHex and RunLength can consist of pieces of a byte: 10 KB of a PDF took 1 GB.
pypdf has no way to replace a filter. What is replaced here does as before outside of `bounded`, so an application that
uses pypdf itself does not notice; tests/core/test_reading_pdf.py shows that each of them is still where we expect it.
"""

from __future__ import annotations

from base64 import a85decode
from binascii import unhexlify
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from pypdf import PdfReader, _cmap, filters
from pypdf.errors import LimitReachedError
from pypdf.generic import DecodedStreamObject, EncodedStreamObject, StreamObject

MAX_DECODED = 5_000_000  # bytes of a stream
_MAX_OF_A_PAGE = 15_000_000  # bytes of all streams that a page needs
_MAX_MAP = 2**20  # bytes of a map of characters, each of which costs 25
_MAX_TEXT = 8_000_000  # characters of ASCII85 or hexadecimal digits
_MAX_RUNS = 2**19  # bytes of run lengths, each of which may be a piece
_MAX_LZW = 2**21  # bytes; Python takes a second for a MiB
_BLANKS = b"\0\t\n\f\r "
_STEP = 5 * 2**14  # characters of ASCII85 at a time; five are a group


class Budget:
    """What may still be unpacked for the page that is being read."""

    def __init__(self) -> None:
        self.left = _MAX_OF_A_PAGE
        self._packed: list[EncodedStreamObject] = []

    def keep(self, stream: EncodedStreamObject, data: bytes) -> bytes:
        """Count *data*, which *stream* keeps."""
        self._packed.append(stream)
        self.left -= len(data)
        if self.left < 0:
            raise LimitReachedError("a page whose streams are too large")
        return data

    def renew(self) -> None:
        """Begin the next page, and forget what was unpacked for the last one: pypdf would keep it."""
        for stream in self._packed:
            stream.decoded_self = None
        self._packed.clear()
        self.left = _MAX_OF_A_PAGE


_budget: ContextVar[Budget | None] = ContextVar("websearch_pdf_budget", default=None)


class BoundedReader(PdfReader):
    """A reader that keeps no large stream unless a filter, which has a bound of its own, is still to unpack it."""

    def get_object(self, indirect_reference: Any) -> Any:
        """Return the object, a picture without its data."""
        found = super().get_object(indirect_reference)
        if isinstance(found, DecodedStreamObject) and len(found.get_data()) > MAX_DECODED:
            if found.get("/Subtype") != "/Image":
                raise LimitReachedError("a stream that is too large")
            found.set_data(b"")  # pictures are not read, but a page with one is
        return found


@contextmanager
def bounded() -> Iterator[Budget]:
    """Bound what pypdf does in this block, in this thread or task."""
    budget = Budget()
    before = _budget.set(budget)
    try:
        yield budget
    finally:
        _budget.reset(before)


def _replace() -> None:
    for place, name, ours in (
        (filters.ASCII85Decode, "decode", lambda _, data: _limited(_MAX_TEXT, partial(_ascii85, data), data)),
        (filters.ASCIIHexDecode, "decode", lambda _, data: _limited(_MAX_TEXT, partial(_hexadecimal, data), data)),
        (filters.RunLengthDecode, "decode", partial(_limited, _MAX_RUNS)),
        (filters.LZWDecode, "decode", partial(_limited, _MAX_LZW)),
        (filters, "decode_stream_data", _counted),
        (_cmap, "prepare_cm", _map),
    ):
        replaced = _within(getattr(place, name), ours)
        setattr(place, name, staticmethod(replaced) if isinstance(place, type) else replaced)


def _within(theirs: Callable[..., bytes], ours: Callable[..., bytes]) -> Callable[..., bytes]:
    """Choose *ours*, which gets *theirs* as its first argument, within `bounded`."""

    def chosen(data: Any, *args: Any, **kwargs: Any) -> bytes:
        if _budget.get():
            return ours(partial(theirs, data, *args, **kwargs), data)
        return theirs(data, *args, **kwargs)

    return chosen


def _limited(most: int, decode: Callable[[], bytes], data: bytes) -> bytes:
    if len(data) > most:
        raise LimitReachedError("a stream that is too large for its filter")
    return decode()


def _counted(decode: Callable[[], bytes], stream: EncodedStreamObject) -> bytes:
    data = decode()
    budget = _budget.get()
    return budget.keep(stream, data) if budget else data


def _map(prepare: Callable[[], bytes], font: Any) -> bytes:
    """Refuse a map of characters (``/ToUnicode`` of *font*) that is larger than any script needs."""
    stream = font["/ToUnicode"]
    return _limited(_MAX_MAP, prepare, stream.get_data() if isinstance(stream, StreamObject) else b"")


def _ascii85(data: bytes) -> bytes:
    """Decode ASCII85 (ISO 32000-2, 7.4.3) piece by piece, once it is known how much it will be."""
    if 4 * data.count(b"z") > MAX_DECODED:  # a z stands for four zeros
        raise LimitReachedError("a stream of ASCII85 that is too large")
    text = data.translate(None, _BLANKS).removeprefix(b"<~").partition(b"~")[0].replace(b"z", b"!!!!!")
    if len(text) * 4 // 5 > MAX_DECODED:
        raise LimitReachedError("a stream of ASCII85 that is too large")
    out = bytearray()
    for begin in range(0, len(text), _STEP):
        out += a85decode(text[begin : begin + _STEP])
    return bytes(out)


def _hexadecimal(data: bytes) -> bytes:
    """Decode ASCIIHex (ISO 32000-2, 7.4.2)."""
    digits = data.partition(b">")[0].translate(None, _BLANKS)
    return unhexlify(digits + b"0" * (len(digits) % 2))


_replace()  # here and not when needed: an import happens once, whatever the threads
