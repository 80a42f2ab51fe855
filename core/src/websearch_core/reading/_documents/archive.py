"""Unpack archives of XML, such as Office documents and e-books, within limits.

A few kilobytes can unpack to gigabytes, or to XML that takes minutes to convert. So
only text is unpacked, and longer text is cut where it remains XML. Pictures, fonts and
the like stay as empty parts, so that converters do not miss them.
"""

from __future__ import annotations
import codecs
import re
import zipfile
from io import BytesIO
from typing import NamedTuple

from ...errors import UnsupportedContent

# What readers make of a file.
MAX_CHARACTERS = 1_000_000
MAX_SOURCE_LENGTH = 4_000_000  # characters of HTML
_MAX_PARTS = 5_000
_MAX_SIZE = 16 * 2**20  # bytes of XML in the archive
# bytes of text of a document or sheet; only the beginning of a longer one is read
_MAX_MAIN_SIZE = 8 * 2**20
_MAX_DEPTH = 100  # nested elements: converters take time quadratic in the depth
_MAX_TAG_LENGTH = 20_000  # bytes
_TEXTS = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm", "mimetype")
_MAIN = re.compile(r"word/document\d*\.xml|xl/worksheets/[^/]+\.xml")
_DECLARATION = re.compile(
    rb"""\s{0,100}<\?xml\s(?:[^<>]{0,500}?encoding\s{0,9}=\s{0,9}["']([\w.-]{1,40}))?[^<>]{0,500}?\?>"""
)
# encodings in which the byte of < is never a part of another character
_CONTAINS_ASCII = re.compile(
    r"utf-?8|(?:us-)?ascii|iso-8859-(?:1[013-6]|[1-9])|windows-125[0-8]|koi8-[ru]|gb2312|gbk|gb18030|big5|euc-(?:jp|kr)"
    r"|shift_jis",
    re.IGNORECASE,
)
_TAG = re.compile(rb"<(/?)([^<>!?/\s]++)[^<>]*?(/?)>")
_LONG_TAG = re.compile(rb"<[^<>]{%d}" % _MAX_TAG_LENGTH)


class Unpacked(NamedTuple):
    """The parts of an archive by name, and whether some of them were cut."""

    parts: dict[str, bytes]
    cut: bool = False

    def packed(self) -> BytesIO:
        """Return the parts as an archive."""
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, content in self.parts.items():
                archive.writestr(name, content)
        stream.seek(0)
        return stream


def unpack(data: bytes, media_type: str, max_tags: int) -> Unpacked:
    """Unpack the parts of an archive that are text.

    They have at most *max_tags* tags together. An archive that is damaged, encrypted or
    too large is an `UnsupportedContent`, which names its *media_type*.
    """
    parts = _read_parts(data, media_type)
    cut = False
    # parts that can be cut come last
    for name in sorted(parts, key=lambda name: _MAIN.fullmatch(name) is not None):
        is_main = _MAIN.fullmatch(name) is not None
        is_whole = not is_main or len(parts[name]) < _MAX_MAIN_SIZE
        content = _as_utf8(parts[name], media_type)
        parts[name], tags = _cut_xml(content, max_tags, is_whole=is_whole)
        max_tags -= tags
        if parts[name] is content:
            continue
        if not is_main:
            raise UnsupportedContent(
                f"{media_type} that is too large or too deeply nested to be read"
            )
        cut = True
    return Unpacked(parts, cut)


def _read_parts(data: bytes, media_type: str) -> dict[str, bytes]:
    if data.count(b"PK\x01\x02") > _MAX_PARTS:
        raise UnsupportedContent(f"{media_type} with more than {_MAX_PARTS} parts")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
            refusal = _find_refusal(entries)
            if not refusal:
                return {entry.filename: _read_part(archive, entry) for entry in entries}
    except MemoryError:  # says nothing about the file
        raise
    except Exception as error:  # zipfile raises more than it documents
        raise UnsupportedContent(
            f"{media_type} that is damaged: {type(error).__name__}"
        ) from error
    raise UnsupportedContent(f"{media_type} {refusal}")


def _find_refusal(parts: list[zipfile.ZipInfo]) -> str:
    """Return why not to unpack the parts, if so.

    Declared sizes are safe: zipfile reads no more of a part.
    """
    if min((part.header_offset for part in parts), default=1):
        return (
            "that is damaged: its directory is missing, or is that of a file inside it"
        )
    if any(part.flag_bits & 1 for part in parts):
        return "that is encrypted: it opens with a password only"
    if any(
        part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
        for part in parts
    ):
        return "with an unsupported compression method"
    sizes = [min(part.file_size, _max_size(part)) for part in parts]
    if sum(sizes) > _MAX_SIZE:
        return f"with more than {_MAX_SIZE // 2**20} MiB of text"
    return ""


def _max_size(part: zipfile.ZipInfo) -> int:
    """Return the most bytes of a part to unpack.

    All if its beginning alone is useless, within `_find_refusal`.
    """
    if _MAIN.fullmatch(part.filename):
        return _MAX_MAIN_SIZE
    if part.filename.lower().endswith(_TEXTS):
        return part.file_size
    return 0


def _read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    with archive.open(part) as stream:
        return stream.read(_max_size(part))


def _as_utf8(content: bytes, media_type: str) -> bytes:
    """Return XML in UTF-8 that declares no other encoding.

    Tags are counted in bytes, as the parser must see them. XML in an encoding in which
    these files do not come is `UnsupportedContent`.
    """
    wide = _find_wide(content)
    if wide:
        content = content.decode(wide, "replace").encode()
    content = content.removeprefix(codecs.BOM_UTF8)
    encoding = "utf-8"
    declaration = _DECLARATION.match(content)
    if declaration:
        content = content[declaration.end() :]
        if declaration[1] and not wide:
            encoding = declaration[1].decode()
    if not _CONTAINS_ASCII.fullmatch(encoding) or re.match(rb"\s*+<\?xml\s", content):
        raise UnsupportedContent(f"{media_type} in the encoding {encoding}")
    return content.decode(encoding, "replace").encode()


def _find_wide(content: bytes) -> str:
    """Return the form of UTF-16 that XML is in, empty if it is in none."""
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return "utf-16"
    # a sign < without a mark of the order of bytes
    if b"\0" not in content[:2]:
        return ""
    if content[:1] == b"\0":
        return "utf-16-be"
    return "utf-16-le"


def _cut_xml(content: bytes, max_tags: int, *, is_whole: bool) -> tuple[bytes, int]:
    """Cut XML that is too long, or already cut, and close the open elements.

    Returns the XML, the same object if there is nothing to cut, and its number of tags.
    """
    too_long = _LONG_TAG.search(content)
    stop = len(content)
    if too_long:
        stop = too_long.start()
    opened: list[bytes] = []
    tags = 0
    end = 0  # of the last tag that stays
    for tag in _TAG.finditer(content, 0, stop):
        opens = not (tag[1] or tag[3])
        is_deep = opens and len(opened) == _MAX_DEPTH
        if is_deep or tags == max_tags:
            break
        if opens:
            opened.append(tag[2])
        elif tag[1]:
            del opened[-1:]
        tags += 1
        end = tag.end()
    else:
        if not too_long and is_whole:
            return content, tags
    closing = b"".join(b"</%s>" % name for name in reversed(opened))
    return content[:end] + closing, tags
