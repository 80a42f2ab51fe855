"""Decode the bytes of a page as browsers do.

Tried in this order: a byte order mark, the charset of the HTTP header, the charset that the page declares in its first
4096 bytes, UTF-8 if the bytes are valid UTF-8, windows-1252. Labels are looked up in the table of the Encoding standard
(https://encoding.spec.whatwg.org/#names-and-labels), not in Python's codecs: ``punycode`` takes minutes.
"""

from __future__ import annotations
import codecs
import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

# Python's codec, then the labels that select it. Python's codec of the same name is often too narrow: pages labelled
# Shift_JIS are cp932, and those labelled GB2312 may use all of GB18030.
_CODECS_AND_LABELS = """
utf-8: unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
cp866: 866 cp866 csibm866 ibm866
iso8859-2: csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso8859-3: csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso8859-4: csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso8859-5: csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso8859-6: arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i
iso8859-6: iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso8859-7: csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7
iso8859-7: iso_8859-7:1987 sun_eu_greek
iso8859-8: csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8
iso8859-8: iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical
iso8859-10: csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso8859-13: iso-8859-13 iso8859-13 iso885913
iso8859-14: iso-8859-14 iso8859-14 iso885914
iso8859-15: csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
iso8859-16: iso-8859-16
koi8-r: cskoi8r koi koi8 koi8-r koi8_r
koi8-u: koi8-ru koi8-u
mac-roman: csmacintosh mac macintosh x-mac-roman
cp874: dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
cp1250: cp1250 windows-1250 x-cp1250
cp1251: cp1251 windows-1251 x-cp1251
cp1252: ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1
cp1252: iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
cp1252: x-user-defined
cp1253: cp1253 windows-1253 x-cp1253
cp1254: cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254
cp1254: x-cp1254
cp1255: cp1255 windows-1255 x-cp1255
cp1256: cp1256 windows-1256 x-cp1256
cp1257: cp1257 windows-1257 x-cp1257
cp1258: cp1258 windows-1258 x-cp1258
mac-cyrillic: x-mac-cyrillic x-mac-ukrainian
gb18030: chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030
big5hkscs: big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc_jp: cseucpkdfmtjapanese euc-jp x-euc-jp
iso2022_jp_ext: csiso2022jp iso-2022-jp
cp932: csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
cp949: cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
replacement: csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement
utf-16-be: unicodefffe utf-16be
utf-16-le: csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le
"""
CODECS: dict[str, str] = {
    label: codec
    for codec, labels in (line.split(": ") for line in _CODECS_AND_LABELS.strip().splitlines())
    for label in labels.split()
}

# What the standard's tables have and Python's codecs lack: runs of characters, each after the bytes of the first one.
_MISSING_CHARACTERS = {
    "big5hkscs": """
877a㡵𡵓𣚞𦀡㻬 87a1𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌
87b9篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮 87d1𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋 8e69箸 8e6f簆 8e7e糎
8eab緒 8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦覩 8ffe起 906d都 907a銹 90dc靜 90f1響 91bf鼖 9244蔃
92af兙兛兝兞 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 9644靝 96ed瀞 96fc嬨 9b76爁 9b78矗 9b7b纇 9bc6駖 9bde釔 9bec惞
9bf6澶 9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 9c77菏 9cbc尐秣 9cd0婧 9d57輋 9d5a筑 9dc4拐 9ea9恢 9eef痹 9efd汊
9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 a0d5瑨 a0df煢 a0e4牐 a3c0␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗ a3d8␘␙␚␛␜␝␞␟␡€
c6cf廴 c6d3无 c6d5癶 c6d7隶 c6de〃仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘
fc6c悤 fcb9撐 fce2晴 fcf1杞 fdb7沜渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉
""",
    "cp1255": "ca\u05ba",
    "gb18030": "80€",
}
# Characters that Python's codecs give where the standard has others, in pairs.
_SWAPS = {
    "big5hkscs": "•‧､﹑‾¯∼～♁⊕☉⊙¥￥¢￠£￡",  # noqa: RUF001
    "euc_jp": "〜～‖∥−－¢￠£￡¬￢",  # noqa: RUF001
    "gb18030": "\ue5e5\u3000\ue78d︐\ue78e︒\ue78f︑\ue790︓\ue791︔\ue792︕\ue793︖\ue794︗\ue795︘\ue796︙"
    "\ue7c7ḿ\ue81e龴\ue826龵\ue82b龶\ue82c龷\ue832龸\ue843龹\ue854龺\ue864龻",
    "koi8-u": "╝ў╬Ў",
}
_SWAPS["iso2022_jp_ext"] = _SWAPS["euc_jp"]

_PRESCAN_SIZE = 4096  # bytes: the standard asks for 1024, but many pages need more
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF16_LE: "utf-16-le"}
_SPACE = " \t\n\r\f"
_CHARSET = re.compile(r"""charset[ \t\n\r\f]*=[ \t\n\r\f]*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([^"'>]*)["']""")
_TAG = re.compile(rb"</?([a-zA-Z][^\s/>]*+)")
_ATTRIBUTE = re.compile(
    rb"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)(?:"|\Z)|'([^']*+)(?:'|\Z)|([^\s>"'][^\s>]*+)))?"""
)


_CHUNK_SIZE = 2**16  # bytes decoded at a time: a single emoji makes every character of a Python string four bytes wide


class Decoded(NamedTuple):
    """The text, and a note if the page could not be decoded."""

    text: str
    note: str | None = None


class Transcoded(NamedTuple):
    """The page in UTF-8, a note if it could not be decoded, and whether its end was cut off."""

    data: bytes
    note: str | None = None
    cut: bool = False


def decode(data: bytes, content_type: str | None = None, *, markup: bool = True, most: int | None = None) -> Decoded:
    """Decode at most *most* characters of a page, which may end in the middle of one. Never raises, and takes linear
    time.

    If it is *markup*, a ``<meta charset>`` or an XML declaration counts too.
    """
    codec, begin = _detect_codec(data, content_type, markup=markup)
    pieces: list[str] = []
    length = 0
    for piece in _decode_chunks(data, codec, begin):
        pieces.append(piece)
        length += len(piece)
        if most is not None and length > most:
            pieces[-1] = piece[: most - length]
            break
    return Decoded("".join(pieces), _note(codec))


def to_utf8(data: bytes, content_type: str | None = None, *, most: int) -> Transcoded:
    """Convert a page to at most *most* bytes of UTF-8, without a copy if it is that already; else as `decode` does."""
    codec, begin = _detect_codec(data, content_type, markup=True)
    if codec == "utf-8" and len(data) <= most and _is_utf8(data):
        return Transcoded(trim_partial(data[begin:]))
    out = bytearray()
    for piece in _decode_chunks(data, codec, begin):
        out += piece.encode("utf-8", "replace")
        if len(out) > most:
            return Transcoded(trim_partial(bytes(out[:most])), _note(codec), cut=True)
    return Transcoded(bytes(out), _note(codec))


def trim_partial(data: bytes) -> bytes:
    """Remove an incomplete character from the end of UTF-8 bytes."""
    for length in range(1, min(4, len(data) + 1)):
        byte = data[-length]
        if byte >= 0xC0:  # the first byte of a character gives its length
            return data[:-length] if length < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else data
        if byte < 0x80:
            break
    return data


def _detect_codec(data: bytes, content_type: str | None, *, markup: bool) -> tuple[str, int]:
    """Return Python's name of the codec, and where the text begins."""
    for bom, codec in _BOMS.items():
        if data.startswith(bom):
            return codec, len(bom)
    stated = _find_codec(_find_charset(content_type or "")) or (markup and _codec_from_page(data[:_PRESCAN_SIZE]))
    return stated or guess_utf16(data) or ("utf-8" if _is_utf8(data) else "cp1252"), 0


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
        yield "\ufffd" if data else ""
        return
    decoder = codecs.getincrementaldecoder(codec)(f"websearch-{codec}")
    swaps = _SWAPS.get(codec, "")
    for place in range(begin, len(data), _CHUNK_SIZE):
        text = decoder.decode(data[place : place + _CHUNK_SIZE])
        for wrong, right in zip(swaps[::2], swaps[1::2], strict=True):
            text = text.replace(wrong, right)
        yield text


def _find_missing(codec: str, table: dict[bytes, str], error: UnicodeError) -> tuple[str, int]:
    """Return the character that *codec* lacks, else U+FFFD, and where to go on: the handler of errors for *codec*."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    for length in (1, 2):
        if found := table.get(error.object[error.start : error.start + length]):
            return found, error.start + length
    first, second = (*error.object[error.start : error.start + 2], 0, 0)[:2]
    if codec.startswith(("cp125", "cp874")) and first < 0xA0:  # a control character, which Microsoft's tables leave out
        return chr(first), error.start + 1
    bit = 0x80 if codec == "euc_jp" else 0
    if codec in {"euc_jp", "iso2022_jp_ext"} and bit + 0x21 <= min(first, second) <= max(first, second) <= bit + 0x7E:
        row, cell = first - bit - 0x21, second - bit - 0x21  # cp932 has all characters of JIS X 0208, as pairs of rows
        lead, trail = row // 2 + (0x81 if row < 62 else 0xC1), cell + (0x9F if row % 2 else 0x40 + (cell >= 63))
        return bytes((lead, trail)).decode("cp932", "replace")[:1], error.start + 2
    return "\ufffd", error.end


def _read_table(source: str) -> dict[bytes, str]:
    table: dict[bytes, str] = {}
    for code, characters in re.findall(r"((?:[0-9a-f]{2})+)(\S+)", source):
        first = int(code, 16)
        table |= {(first + n).to_bytes(len(code) // 2, "big"): character for n, character in enumerate(characters)}
    return table


for _codec in set(CODECS.values()):
    codecs.register_error(
        f"websearch-{_codec}", partial(_find_missing, _codec, _read_table(_MISSING_CHARACTERS.get(_codec, "")))
    )


def _note(codec: str) -> str | None:
    if codec == "replacement":
        return "The page is in an encoding that browsers refuse to read, because it can hide markup."
    return None


def _codec_from_page(head: bytes) -> str | None:
    """Return the codec that the page declares. A label in ASCII that says UTF-16 means UTF-8."""
    label = _find_meta_label(head)
    if label is None and (xml := _XML.match(head)):
        label = xml[1].decode("latin-1")
    codec = _find_codec(label)
    return "utf-8" if codec in {"utf-16-le", "utf-16-be"} else codec


def _find_codec(label: str | None) -> str | None:
    return CODECS.get(label.strip(_SPACE).lower()) if label else None


def _find_charset(value: str) -> str | None:
    found = _CHARSET.search(value)
    return next(filter(None, found.groups()), None) if found else None


def _find_meta_label(head: bytes) -> str | None:
    """Find the label of the first ``<meta>`` that names a known encoding, skipping comments and other tags."""
    position = 0
    while (position := head.find(b"<", position)) >= 0:
        if head.startswith(b"<!--", position):
            position = head.find(b"-->", position + 2)
            if position < 0:
                return None
        elif tag := _TAG.match(head, position):
            attributes, position = _parse_attributes(head, tag.end())
            if tag[1].lower() == b"meta" and (label := _label(attributes)) and _find_codec(label):
                return label
        elif head[position + 1 : position + 2] in {b"!", b"/", b"?"}:
            position = max(head.find(b">", position), position + 1)
        else:
            position += 1
    return None


def _parse_attributes(head: bytes, position: int) -> tuple[dict[str, str], int]:
    attributes: dict[str, str] = {}
    while found := _ATTRIBUTE.match(head, position):
        name, *values = ((group or b"").decode("latin-1") for group in found.groups())
        attributes.setdefault(name.lower(), next(filter(None, values), ""))
        position = found.end()
    return attributes, position


def _label(attributes: dict[str, str]) -> str | None:
    if "charset" in attributes:
        return attributes["charset"]
    if attributes.get("http-equiv", "").lower() == "content-type":
        return _find_charset(attributes.get("content", ""))
    return None


def guess_utf16(data: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: each Latin letter has a NUL, always on the same side."""
    head = data[:64]
    if len(head) >= 4 and not any(head[1::2]) and all(head[0::2]):
        return "utf-16-le"
    if len(head) >= 4 and not any(head[0::2]) and all(head[1::2]):
        return "utf-16-be"
    return None
