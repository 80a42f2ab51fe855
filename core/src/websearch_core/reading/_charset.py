"""Decode the bytes of a page as browsers do.

Tried in this order: a byte order mark, the charset of the HTTP header, the charset that
the page declares in its first 4096 bytes, UTF-8 if the bytes are valid UTF-8, and else
what they look like. Labels are looked up in the table of the Encoding standard
(https://encoding.spec.whatwg.org/#names-and-labels), not in Python's codecs:
``punycode`` takes minutes.
"""

from __future__ import annotations
import codecs
import json
import re
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from typing import NamedTuple

from ._guess import DEFAULT, guess_codec

# ``labels`` are those that select each of Python's codecs. That of the same name is
# often too narrow: pages labelled Shift_JIS are cp932, and those labelled GB2312 may
# use all of GB18030. ``missing`` is what the standard's tables have and Python's codecs
# lack: runs of characters, each after the bytes of the first one. ``swaps`` are pairs:
# a character that a codec gives, and the one that the standard has instead.
_TABLES: dict[str, dict[str, str]] = json.loads(
    files(__package__ or "").joinpath("encodings.json").read_text("utf-8")
)
CODECS: dict[str, str] = {}
for _codec, _labels in _TABLES["labels"].items():
    CODECS |= dict.fromkeys(_labels.split(), _codec)
_SWAPS = _TABLES["swaps"]
_JIS_BITS = {"euc_jp": 0x80, "iso2022_jp_ext": 0}  # added to the bytes of JIS X 0208

_PRESCAN_SIZE = 4096  # bytes: the standard asks for 1024, but many pages need more
_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
}
_SPACE = " \t\n\r\f"
_CHARSET = re.compile(
    r"""charset[ \t\n\r\f]*=[ \t\n\r\f]*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""",
    re.IGNORECASE,
)
_XML = re.compile(rb"""<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([^"'>]*)["']""")
_TAG = re.compile(rb"</?([a-zA-Z][^\s/>]*+)")
_ATTRIBUTE = re.compile(
    rb"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)(?:"|\Z)|'([^']*+)(?:'|\Z)|([^\s>"'][^\s>]*+)))?"""
)


# bytes decoded at a time: a single emoji makes every character of a Python string four
# bytes wide
_CHUNK_SIZE = 2**16


class Decoded(NamedTuple):
    """The text, and a note if the page could not be decoded."""

    text: str
    note: str | None = None


class Transcoded(NamedTuple):
    """The page in UTF-8, a note if it could not be decoded, and whether its end was cut
    off.
    """

    data: bytes
    note: str | None = None
    cut: bool = False


def decode(
    data: bytes,
    content_type: str | None = None,
    *,
    markup: bool = True,
    limit: int | None = None,
) -> Decoded:
    """Decode at most *limit* characters of a page, which may end in the middle of one.

    Never raises, and takes linear time. If it is *markup*, a ``<meta charset>`` or an
    XML declaration counts too.
    """
    detected = _detect_codec(data, content_type, markup=markup)
    pieces: list[str] = []
    length = 0
    for piece in _decode_chunks(data, detected.codec, detected.begin):
        pieces.append(piece)
        length += len(piece)
        if limit is not None and length > limit:
            pieces[-1] = piece[: limit - length]
            break
    return Decoded("".join(pieces), detected.note)


def to_utf8(data: bytes, content_type: str | None = None, *, limit: int) -> Transcoded:
    """Convert a page to at most *limit* bytes of UTF-8.

    Without a copy if it is that already; else as `decode` does.
    """
    detected = _detect_codec(data, content_type, markup=True)
    may_stay = detected.codec == "utf-8" and len(data) <= limit
    if may_stay and _is_utf8(data):
        return Transcoded(trim_partial(data[detected.begin :]))
    out = bytearray()
    for piece in _decode_chunks(data, detected.codec, detected.begin):
        out += piece.encode("utf-8", "replace")
        if len(out) > limit:
            whole = trim_partial(bytes(out[:limit]))
            return Transcoded(whole, detected.note, cut=True)
    return Transcoded(bytes(out), detected.note)


def trim_partial(data: bytes) -> bytes:
    """Remove an incomplete character from the end of UTF-8 bytes."""
    for length in range(1, min(4, len(data) + 1)):
        byte = data[-length]
        if byte >= 0xC0:
            is_partial = length < _count_bytes(byte)
            if is_partial:
                return data[:-length]
            return data
        if byte < 0x80:
            break
    return data


def _count_bytes(first: int) -> int:
    """Return the length of a character that begins with the byte *first*."""
    if first < 0xE0:
        return 2
    if first < 0xF0:
        return 3
    return 4


class _Detected(NamedTuple):
    """Python's name of the codec, where the text begins, and a note on it."""

    codec: str
    begin: int = 0
    note: str | None = None


def _detect_codec(data: bytes, content_type: str | None, *, markup: bool) -> _Detected:
    for bom, codec in _BOMS.items():
        if data.startswith(bom):
            return _Detected(codec, len(bom))
    codec_name = _find_codec(_find_charset(content_type or ""))
    if codec_name is None and markup:
        codec_name = _codec_from_page(data[:_PRESCAN_SIZE])
    if codec_name:
        return _Detected(codec_name, note=_note(codec_name))
    codec_name = guess_utf16(data)
    if codec_name:
        return _Detected(codec_name)
    return _guess(data)


def _guess(data: bytes) -> _Detected:
    """Return the codec of a page that names none."""
    is_utf8 = _is_utf8(data)
    if is_utf8 and b"\x1b$" not in data:
        return _Detected("utf-8")
    codec = guess_codec(data)
    if is_utf8 and codec == DEFAULT:
        return _Detected("utf-8")
    if codec == DEFAULT:
        return _Detected(codec)
    label = next(label for label, name in CODECS.items() if name == codec)
    note = f"the page does not say its encoding: read as {label}, as it looks"
    return _Detected(codec, note=note)


def _is_utf8(data: bytes) -> bool:
    """Return whether *data* is UTF-8; its last character may be incomplete."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        for begin in range(0, len(data), _CHUNK_SIZE):
            decoder.decode(data[begin : begin + _CHUNK_SIZE])
    except UnicodeDecodeError:
        return False
    return True


def _decode_chunks(data: bytes, codec: str, begin: int) -> Iterator[str]:
    if codec == "replacement":
        yield "\ufffd"[: len(data)]
        return
    decoder = codecs.getincrementaldecoder(codec)(f"websearch-{codec}")
    swaps = _SWAPS.get(codec, "")
    for place in range(begin, len(data), _CHUNK_SIZE):
        text = decoder.decode(data[place : place + _CHUNK_SIZE])
        for wrong, right in zip(swaps[::2], swaps[1::2], strict=True):
            text = text.replace(wrong, right)
        yield text


def _find_missing(
    codec: str, table: dict[bytes, str], error: UnicodeError
) -> tuple[str, int]:
    """Handle the errors of *codec*: return the character that it lacks, else U+FFFD.

    Returns where to go on as well.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    for length in (1, 2):
        missing = table.get(error.object[error.start : error.start + length])
        if missing:
            return missing, error.start + length
    pair = error.object[error.start : error.start + 2].ljust(2, b"\0")
    # a control character, which Microsoft's tables leave out
    if codec.startswith(("cp125", "cp874")) and pair[0] < 0xA0:
        return chr(pair[0]), error.start + 1
    if codec in _JIS_BITS:
        character = _find_japanese(pair, _JIS_BITS[codec])
        if character:
            return character, error.start + 2
    return "\ufffd", error.end


def _find_japanese(pair: bytes, bit: int) -> str:
    """Return the character of JIS X 0208 whose two bytes have a *bit* added.

    Empty if they are not such bytes. cp932 has all of these characters, as pairs of
    rows.
    """
    row = pair[0] - bit - 0x21
    cell = pair[1] - bit - 0x21
    if not (0 <= row <= 0x5D and 0 <= cell <= 0x5D):
        return ""
    lead = row // 2 + 0x81
    if row >= 62:
        lead += 0x40
    if row % 2:
        trail = cell + 0x9F
    else:
        trail = cell + 0x40 + (cell >= 63)
    return bytes((lead, trail)).decode("cp932", "replace")[:1]


def _read_table(source: str) -> dict[bytes, str]:
    table: dict[bytes, str] = {}
    for code, characters in re.findall(r"((?:[0-9a-f]{2})+)(\S+)", source):
        first = int(code, 16)
        table |= {
            (first + n).to_bytes(len(code) // 2, "big"): character
            for n, character in enumerate(characters)
        }
    return table


for _codec in set(CODECS.values()):
    codecs.register_error(
        f"websearch-{_codec}",
        partial(_find_missing, _codec, _read_table(_TABLES["missing"].get(_codec, ""))),
    )


def _note(codec: str) -> str | None:
    if codec == "replacement":
        return (
            "The page is in an encoding that browsers refuse to read, because it can "
            "hide markup."
        )
    return None


def _codec_from_page(head: bytes) -> str | None:
    """Return the codec that the page declares. A label in ASCII that says UTF-16 means
    UTF-8.
    """
    label = _find_meta_label(head)
    xml = _XML.match(head)
    if label is None and xml:
        label = xml[1].decode("latin-1")
    codec = _find_codec(label)
    if codec in {"utf-16-le", "utf-16-be"}:
        return "utf-8"
    return codec


def _find_codec(label: str | None) -> str | None:
    if not label:
        return None
    return CODECS.get(label.strip(_SPACE).lower())


def _find_charset(value: str) -> str | None:
    charset = _CHARSET.search(value)
    if not charset:
        return None
    return next(filter(None, charset.groups()), None)


def _find_meta_label(head: bytes) -> str | None:
    """Find the label of the first ``<meta>`` that names a known encoding, skipping
    comments and other tags.
    """
    position = head.find(b"<")
    while position >= 0:
        tag = _TAG.match(head, position)
        if tag:
            attributes, position = _parse_attributes(head, tag.end())
            label = None
            if tag[1].lower() == b"meta":
                label = _label(attributes)
            if _find_codec(label):
                return label
        else:
            position = _skip_markup(head, position)
        position = head.find(b"<", position)
    return None


def _skip_markup(head: bytes, position: int) -> int:
    """Return where a comment or declaration at *position* ends."""
    if head.startswith(b"<!--", position):
        end = head.find(b"-->", position + 2)
        if end < 0:
            return len(head)
        return end
    if head[position + 1 : position + 2] in {b"!", b"/", b"?"}:
        return max(head.find(b">", position), position + 1)
    return position + 1


def _parse_attributes(head: bytes, position: int) -> tuple[dict[str, str], int]:
    attributes: dict[str, str] = {}
    match = _ATTRIBUTE.match(head, position)
    while match:
        name, *values = ((group or b"").decode("latin-1") for group in match.groups())
        attributes.setdefault(name.lower(), next(filter(None, values), ""))
        position = match.end()
        match = _ATTRIBUTE.match(head, position)
    return attributes, position


def _label(attributes: dict[str, str]) -> str | None:
    if "charset" in attributes:
        return attributes["charset"]
    if attributes.get("http-equiv", "").lower() == "content-type":
        return _find_charset(attributes.get("content", ""))
    return None


def guess_utf16(data: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: each Latin letter has a NUL, always on
    the same side.
    """
    head = data[:64]
    if len(head) < 4:
        return None
    if not any(head[1::2]) and all(head[0::2]):
        return "utf-16-le"
    if not any(head[0::2]) and all(head[1::2]):
        return "utf-16-be"
    return None
