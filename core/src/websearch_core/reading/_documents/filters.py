"""Add the bounds that pypdf lacks: on the memory of some filters, character maps, and
streams without compression.

pypdf bounds the output of most filters (``pypdf.Configuration``), but not the memory
that they need meanwhile: joining pieces takes about 90 bytes a piece, and ASCII85,
ASCIIHex and RunLength can consist of pieces of one byte. A PDF of 10 KB took 1 GB.
pypdf offers no way to replace a filter, so this module patches its functions. Outside
of `bounded` they behave as before, so an application that uses pypdf itself is not
affected. Without one of them no PDF is read.

In the same way it adds what pypdf misses in fonts: East Asian characters that are
written as numbers, and spaces that are gaps. Those only better the text, so reading
goes on without them. tests/core/test_private_names.py says when an update of pypdf
moves one of all these functions.
"""

from __future__ import annotations
import time
from base64 import a85decode
from binascii import unhexlify
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from inspect import getattr_static
from itertools import product
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any

from pypdf import PdfReader
from pypdf.errors import LimitReachedError
from pypdf.generic import DecodedStreamObject, EncodedStreamObject, StreamObject

from .direction import turn_words
from .layout import LETTER, SPACE, Recorder

MAX_DECODED = 5_000_000  # bytes of a stream
_MAX_PAGE_SIZE = 15_000_000  # bytes of all decoded streams of a page
# bytes of a character map, each of which takes 25 bytes of memory
_MAX_MAP_SIZE = 2**20
_MAX_TEXT_SIZE = 8_000_000  # characters of ASCII85 or hexadecimal digits
_WIDTH_SIZE = 100  # bytes of memory for the width of a character
_MAX_RUNS_SIZE = 2**19  # bytes of run-length data, each of which may be a piece
_MAX_LZW_SIZE = 2**21  # bytes; Python takes a second for a MiB
_WHITE_SPACE = b"\0\t\n\f\r "
_CHUNK_SIZE = 5 * 2**14  # characters of ASCII85 at a time, in groups of five
_UNKNOWN = "\ufffd"
_ASCII = "".join(map(chr, range(32, 127)))
_YEN = _ASCII.replace("\\", "¥")
_UPRIGHT = (
    "、。￣＿ー―‐〜‖｜…‥（）〔〕［］｛｝〈〉《》「」『』【】"  # noqa: RUF001 (these are meant)
    "＝ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"  # noqa: RUF001 (these are meant)
)
_KANA = "".join(map(chr, range(0xFF61, 0xFFA0)))  # of half the width
# Adobe's collections number characters in the order of national standards. For each:
# the first number of a run, and its characters, or the encoding of the standard with
# the first and last row. The order of CNS1 does not follow a standard.
_Run = tuple[int, str] | tuple[int, str, int, int]
_COLLECTIONS: dict[str, tuple[_Run, ...]] = {
    "Japan1": (
        (1, _YEN),
        (231, _YEN),
        (327, _KANA),
        (7887, _UPRIGHT),
        (633, "euc_jp", 0xA1, 0xA7),
        (1125, "euc_jp", 0xB0, 0xF3),
    ),
    "GB1": (
        (1, _ASCII),
        (814, _ASCII[1:].replace("$", "¥")),
        (96, "gb2312", 0xA1, 0xA6),
        (940, "gb2312", 0xB0, 0xF7),
    ),
    "Korea1": (
        (1, _ASCII),
        (8094, _ASCII.replace("\\", "₩")),
        (101, "euc_kr", 0xA1, 0xA1),
        (1086, "euc_kr", 0xB0, 0xC8),
        (3436, "euc_kr", 0xCA, 0xFD),
    ),
    "CNS1": ((1, _ASCII), (13648, _ASCII)),
}
_MAX_NUMBER = 2**15
# The names of encodings that pypdf does not know, without the direction of writing at
# their end.
_ENCODINGS = {
    **dict.fromkeys(
        ("/83pv-RKSJ", "/90msp-RKSJ", "/90pv-RKSJ", "/Add-RKSJ", "/Ext-RKSJ"), "cp932"
    ),
    **dict.fromkeys(("/KSC-EUC", "/KSCms-UHC", "/KSCms-UHC-HW", "/KSCpc-EUC"), "cp949"),
    "/EUC": "euc_jp",
    "/B5pc": "big5",
    "/HKscs-B5": "big5hkscs",
}
_LIGATURES = {f"/{letters}": letters for letters in ("ff", "fi", "fl", "ffi", "ffl")}


class Budget:
    """The bytes that may still be decoded for the page that is being read, and the
    *seconds* for the whole file.

    What would take more is a `LimitReachedError`.
    """

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.left = _MAX_PAGE_SIZE
        self._streams: list[EncodedStreamObject] = []
        self.recorder = Recorder(LETTER)  # of the text of a page

    def keep(self, stream: EncodedStreamObject, data: bytes) -> None:
        """Count *data*, the decoded content that *stream* will cache."""
        self._streams.append(stream)
        self.spend(len(data))

    def spend(self, size: int) -> None:
        """Count bytes that the page takes."""
        self.left -= size
        if self.left < 0:
            raise LimitReachedError("a page whose streams or fonts are too large")

    def check_time(self) -> None:
        """Check that there is time to look up another object: each search of an object
        stream reads all its numbers.
        """
        if time.monotonic() > self._until:
            raise LimitReachedError("a file that takes too long")

    def renew(self) -> None:
        """Begin the next page, and drop what was decoded for the last one, which pypdf
        would keep.
        """
        for stream in self._streams:
            stream.decoded_self = None
        self._streams.clear()
        self.left = _MAX_PAGE_SIZE


_budget: ContextVar[Budget] = ContextVar("websearch_pdf_budget")


class BoundedReader(PdfReader):
    """A reader that refuses large streams without a filter, which the bounds of the
    filters miss, and ends in time.
    """

    def get_object(self, indirect_reference: Any) -> Any:
        """Return the object; a large image without its data."""
        _budget.get().check_time()
        target = super().get_object(indirect_reference)
        if not isinstance(target, DecodedStreamObject):
            return target
        if len(target.get_data()) > MAX_DECODED:
            if target.get("/Subtype") != "/Image":
                raise LimitReachedError("a stream that is too large")
            target.set_data(b"")  # images are not read, but their pages are
        return target


@contextmanager
def bounded(seconds: float) -> Iterator[Budget]:
    """Bound what pypdf does in this ``with`` block, for this thread or task only, and
    for so many seconds.
    """
    budget = Budget(seconds)
    before = _budget.set(budget)
    try:
        yield budget
    finally:
        _budget.reset(before)


def patch(functions: Mapping[str, Callable[..., Any]]) -> list[str]:
    """Replace *functions* of pypdf within `bounded`.

    Each of our functions gets the original call and its first argument. Returns the
    names of those that pypdf does not have.
    """
    return [name for name, ours in functions.items() if not _patch(name, ours)]


def _patch(path: str, ours: Callable[..., Any]) -> bool:
    place, name = path.rsplit(".", 1)
    try:
        owner = resolve_name(place)
        theirs = getattr(owner, name)
    except (ImportError, AttributeError):
        return False
    is_static = isinstance(getattr_static(owner, name), staticmethod)

    def choose(data: Any, *args: Any, **kwargs: Any) -> Any:
        if _budget.get(None):
            return ours(partial(theirs, data, *args, **kwargs), data)
        return theirs(data, *args, **kwargs)

    if is_static:
        setattr(owner, name, staticmethod(choose))
    else:
        setattr(owner, name, choose)
    return True


def _limit(size: int, decode: Callable[[], bytes], data: bytes) -> bytes:
    if len(data) > size:
        raise LimitReachedError("a stream that is too large for its filter")
    return decode()


def _count(decode: Callable[[], bytes], stream: EncodedStreamObject) -> bytes:
    data = decode()
    _budget.get().keep(stream, data)
    return data


def _count_widths(add_space: Callable[[], float], widths: Mapping[str, float]) -> float:
    """Count the widths of a font.

    Many fonts can share a list of them, and each gets its own copy.
    """
    _budget.get().spend(_WIDTH_SIZE * len(widths))
    return add_space()


def _limit_map(prepare: Callable[[], bytes], font: Any) -> bytes:
    """Refuse a character map that is larger than any script needs.

    It is the ``/ToUnicode`` of *font*.
    """
    stream = font["/ToUnicode"]
    if not isinstance(stream, StreamObject):
        return prepare()
    return _limit(_MAX_MAP_SIZE, prepare, stream.get_data())


def _bound(decode: Callable[[bytes], bytes], _: partial[bytes], data: bytes) -> bytes:
    """Decode a text with our own function."""
    return _limit(_MAX_TEXT_SIZE, partial(decode, data), data)


def _decode_ascii85(data: bytes) -> bytes:
    """Decode ASCII85 (ISO 32000-2, 7.4.3) in chunks.

    How large the result will be is checked before.
    """
    if 4 * data.count(b"z") > MAX_DECODED:  # a z stands for four zeros
        raise LimitReachedError("a stream of ASCII85 that is too large")
    text = (
        data.translate(None, _WHITE_SPACE)
        .removeprefix(b"<~")
        .partition(b"~")[0]
        .replace(b"z", b"!!!!!")
    )
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


@lru_cache(maxsize=len(_COLLECTIONS))
def _characters(collection: str) -> Mapping[str, str]:
    """Return the characters of a collection by their numbers.

    Those are characters to pypdf. All fonts share the result.
    """
    characters = dict.fromkeys(map(chr, range(1, _MAX_NUMBER)), _UNKNOWN)
    for first, text, *rows in _COLLECTIONS[collection]:
        run = text
        if rows:
            run = _list_standard(text, *rows)
        numbers = map(chr, range(first, first + len(run)))
        characters.update(zip(numbers, run, strict=True))
    return MappingProxyType(characters)


def _list_standard(encoding: str, first: int, last: int) -> str:
    """Return the characters in some rows of a standard.

    Without the copies that Unicode has for compatibility.
    """
    pairs = map(bytes, product(range(first, last + 1), range(0xA1, 0xFF)))
    characters = [pair.decode(encoding, "ignore") for pair in pairs]
    single = [character for character in characters if len(character) == 1]
    return "".join(
        character for character in single if not "\uf900" <= character <= "\ufaff"
    )


def _map_numbers(theirs: partial[Any], font: Any) -> Any:
    """Return the characters of a font that writes the numbers of a collection.

    That is one which does not map them itself.
    """
    is_identity = font.get("/Encoding") in ("/Identity-H", "/Identity-V")
    if not is_identity or "/ToUnicode" in font:
        return _name_ligatures(font, theirs())
    descendant = font["/DescendantFonts"].get_object()[0].get_object()
    collection = descendant.get("/CIDSystemInfo")
    if collection is None:
        return theirs()
    ordering = str(collection.get_object().get("/Ordering"))
    if ordering not in _COLLECTIONS:
        return theirs()
    return _characters(ordering), []


def _name_ligatures(font: Any, maps: Any) -> Any:
    """Read ligatures by the names of their glyphs: some programs map them to nothing,
    or to arrows.
    """
    characters, _ = maps
    names: Any = None
    with suppress(KeyError, TypeError):  # it has none
        names = font["/Encoding"]["/Differences"]
    if not characters or not isinstance(names, list):
        return maps
    code = 0
    for entry in names:
        if isinstance(entry, int):
            code = entry
            continue
        if entry in _LIGATURES:
            characters[chr(code)] = _LIGATURES[entry]
        code += 1
    return maps


def _name_encoding(theirs: partial[Any], font: Any) -> Any:
    name = font.get("/Encoding")
    if isinstance(name, str) and name[:-2] in _ENCODINGS:
        return _ENCODINGS[name[:-2]]
    return theirs()


def _find_space(theirs: partial[Any], encoding: Any) -> str:
    """Return the code of the space, "" if the font has none.

    Then the width of its glyph number 32 says nothing.
    """
    code: str = theirs()
    characters = theirs.args[1]
    if isinstance(encoding, dict) or not characters:
        return code
    if characters.get(code) == " ":
        return code
    return ""


def _record(theirs: partial[Any], extraction: Any) -> Any:
    """Tell the recorder of the page where a text is shown.

    The width of what was shown since the last move is in thousandths of a point.
    """
    recorder = _budget.get().recorder
    before = str(theirs.args[1])
    matrix = _multiply(theirs.args[4], theirs.args[3])
    size = float(theirs.args[8])
    begin = float(theirs.args[11]["str_widths"])
    result = theirs()
    text = str(result[0])
    if len(text) > len(before):
        letters, gap = _space_out(
            text[len(before) :], extraction.char_spacing, recorder.kern, size
        )
        scale = extraction.char_scale / 1000
        end = float(result[2]["str_widths"]) - 1000 * gap
        is_guess = type(theirs.args[2][0]) is str  # a space, since letters go back
        if gap >= 0 or not is_guess:
            recorder.add(letters, matrix, begin * scale, end * scale, size)
    return result


def _space_out(
    letters: str, spacing: float, kern: float, size: float
) -> tuple[str, float]:
    """Return a text with the spaces that its letters have, and the gap behind it.

    The gap is one that the next letter does not keep: it goes back by *kern*.
    """
    if spacing < 0:
        return letters, spacing
    if kern * size <= 500 * spacing:
        return letters, 0.0
    if spacing > SPACE * size:
        letters = " ".join(letters)
    return letters, spacing


def _keep_order(theirs: partial[Any], text: str) -> Any:
    """Add a text as it stands on the page: the recorder finds its direction."""
    characters = theirs.args[4].character_map
    letters = [characters.get(letter, letter) for letter in theirs.args[5]]
    # what a glyph stands for is in the order of reading
    return text + "".join(map(turn_words, letters)), False, ""


def _skip_lines(theirs: partial[Any], text: str) -> Any:
    """Leave out what pypdf does to find the ends of lines: the recorder does.

    The last character stays, which says whether a gap in a text is a second space.
    """
    cm_matrix, tm_matrix = theirs.args[2]
    return text[-1:], "", cm_matrix.copy(), tm_matrix.copy(), theirs.args[12]


def _multiply(matrix: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the matrix that does what two do, as PDFs write matrices."""
    return [
        matrix[0] * other[0] + matrix[1] * other[2],
        matrix[0] * other[1] + matrix[1] * other[3],
        matrix[2] * other[0] + matrix[3] * other[2],
        matrix[2] * other[1] + matrix[3] * other[3],
        matrix[4] * other[0] + matrix[5] * other[2] + other[4],
        matrix[4] * other[1] + matrix[5] * other[3] + other[5],
    ]


# On import, which happens once, however many threads there are.
UNBOUNDED = patch(
    {
        "pypdf.filters.ASCII85Decode.decode": partial(_bound, _decode_ascii85),
        "pypdf.filters.ASCIIHexDecode.decode": partial(_bound, _decode_hex),
        "pypdf.filters.RunLengthDecode.decode": partial(_limit, _MAX_RUNS_SIZE),
        "pypdf.filters.LZWDecode.decode": partial(_limit, _MAX_LZW_SIZE),
        "pypdf.filters.decode_stream_data": _count,
        "pypdf._cmap.prepare_cm": _limit_map,
        "pypdf.generic._font.Font._add_space_width": _count_widths,
    }
)
patch(
    {
        "pypdf._cmap._parse_to_unicode": _map_numbers,
        "pypdf._cmap._parse_encoding": _name_encoding,
        "pypdf.generic._font.Font._get_space_char": _find_space,
        "pypdf._text_extraction._text_extractor.TextExtraction._handle_tj": _record,
        "pypdf._text_extraction._text_extractor.crlf_space_check": _skip_lines,
        "pypdf._text_extraction._text_extractor.get_display_str": _keep_order,
    }
)
