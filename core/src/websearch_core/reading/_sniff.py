"""Detect the media type of a body from its first kilobyte, since headers can be wrong
or missing.

A subset of the rules that browsers follow: https://mimesniff.spec.whatwg.org/
"""

from __future__ import annotations
import codecs
import json
import re
from importlib.resources import files

from .._text.media_types import HTML, MARKDOWN, parse_media_type
from . import _types
from ._charset import guess_utf16
from ._types import DOCX, EPUB, PPTX, XLSX, is_text

_SAMPLE_SIZE = 1024  # bytes
_MAX_LENGTH = 255  # characters of a media type (RFC 6838, 4.2)

# How the bytes of files begin that have no text for us.
_MAGIC = (
    (rb"RIFF....WAVE", "audio/wave"),
    (rb"....ftypM4A", "audio/mp4"),
    (rb"....ftyp", "video/mp4"),
    (rb"\x1a\x45\xdf\xa3", "video/webm"),
    (rb"OggS\x00", "application/ogg"),
    (rb"ID3", "audio/mpeg"),
    (rb"fLaC", "audio/flac"),
    (rb"PK\x03\x04", "application/zip"),
    (rb"\x1f\x8b\x08", "application/gzip"),
    (rb"Rar!\x1a\x07", "application/x-rar-compressed"),
    (rb"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (rb"wOF[F2]", "font/woff"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (rb"\x7fELF", "application/x-executable"),
    (
        rb"MZ.{58}.{4}.{0,960}PE\x00\x00",
        "application/vnd.microsoft.portable-executable",
    ),
    (rb"\x00asm\x01\x00\x00\x00", "application/wasm"),
    (rb"BZh[1-9]1AY&SY", "application/x-bzip2"),
    (rb"\xfd7zXZ\x00", "application/x-xz"),
    (rb"\x28\xb5\x2f\xfd", "application/zstd"),
    (rb"OTTO\x00|\x00\x01\x00\x00\x00[\x04-\x30]", "font/sfnt"),
    (rb"SQLite format 3\x00", "application/vnd.sqlite3"),
)
_UNREADABLE = tuple(
    (re.compile(pattern, re.DOTALL), media_type) for pattern, media_type in _MAGIC
)
_HTML = re.compile(
    rb"\s*(?:<!--(?:(?!-->).)*+-->\s*|<\?xml[^>]*>\s*)*"
    rb"<(?:!doctype\s+html|(?:html|head|body|script|style|title|meta|link|iframe|main|article|section|div|table|font|"
    rb"h1|br|p|a|b)(?=[\s/>]))",
    re.IGNORECASE | re.DOTALL,
)
_DOCUMENT = re.compile(
    rb"\s*(?:<!--(?:(?!-->).)*+-->\s*)*+<(?:!doctype\s+html|html|head)(?=[\s/>])",
    re.IGNORECASE | re.DOTALL,
)
_ROOT = re.compile(
    rb"(?:\s|<\?[^>]*>|<!--(?:(?!-->).)*+-->|<!doctype\s++(?!html)[^<>\[]*+>)*+"
    rb"<(?:[a-z]{1,20}:)?(rss|feed|rdf|urlset|sitemapindex|svg)(?=[\s>/])",
    re.IGNORECASE | re.DOTALL,
)
# a sitemap, also after what a program printed before it
_LIST_ROOT = re.compile(rb"<(?:[a-z]{1,20}:)?(?:urlset|sitemapindex)[\s>]")
_ROOTS = {
    b"rss": "application/rss+xml",
    b"feed": "application/atom+xml",
    b"rdf": "application/rdf+xml",
    b"svg": "image/svg+xml",
}
_JSON_FEED = re.compile(
    rb"\s*\{.{0,900}\"https:\\?/\\?/jsonfeed\.org\\?/version\\?/", re.DOTALL
)
# Kinds of archive, recognized by how they begin, or by a part that only this kind has.
_MIMETYPE = re.compile(
    rb"PK\x03\x04.{26}mimetype(application/(?:epub\+zip|vnd\.oasis\.opendocument(?:\.text)?))",
    re.DOTALL,
)
_PART = re.compile(
    rb"(?:word/(document)|xl/(workbook)|ppt/(presentation))\d{0,3}\.xml|META-INF/(container)\.xml"
)
_PART_HEADER = re.compile(rb"PK\x03\x04.{26}(?:" + _PART.pattern + rb")", re.DOTALL)
_PART_KINDS = {
    b"document": DOCX,
    b"workbook": XLSX,
    b"presentation": PPTX,
    b"container": EPUB,
}
# The same for OLE files, which store the names of their parts in UTF-16.
_STREAMS = (
    ("EncryptedPackage", "application/x-ole-storage (an encrypted Office file)"),
    ("WordDocument", "application/msword"),
    ("Workbook", "application/vnd.ms-excel"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
)
_NAMES: list[str] = json.loads(
    files(__package__ or "").joinpath("media_types.json").read_text("utf-8")
)
_STANDARD = {
    *HTML,
    *_NAMES,
    *(media_type for _, media_type in (*_MAGIC, *_STREAMS)),
    *_ROOTS.values(),
}
_KINDS = {
    "audio": "audio",
    "font": "a font",
    "image": "an image",
    "text": "text",
    "video": "video",
}
_ESSENCE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# If a server declares one of these for a text, it is right, even if the text begins
# with a tag.
_TRUSTED = frozenset({"text/plain", "text/css", "text/javascript"}) | MARKDOWN


def declared(content_type: str | None) -> str | None:
    """Return the media type that a header names, in lower case; None if it names
    none.
    """
    essence = parse_media_type(content_type)
    if len(essence) > _MAX_LENGTH or not _ESSENCE.fullmatch(essence):
        return None
    return essence


def named(media_type: str) -> str:
    """Return *media_type* if it is a known one, else its kind, for errors and notes.

    A server can put whole sentences into a media type that it invents.
    """
    if media_type in _STANDARD or _types.is_declared(media_type):
        return media_type
    kind = media_type.partition("/")[0]
    if kind in _KINDS:
        return f"{_KINDS[kind]} of an unknown type"
    return "an unknown type"


def media_type(data: bytes, content_type: str | None = None) -> str:
    """Detect the media type of *data*.

    The header counts only where the bytes do not contradict it.
    """
    declaration = declared(content_type) or ""
    head = data[:_SAMPLE_SIZE]
    kind = _match_signature(head)
    if kind is not None:
        return _look_inside(data, kind, declaration)
    narrow = _to_ascii(head)
    is_binary = _BINARY.search(narrow) is not None
    if declaration in _TRUSTED and not is_binary:
        is_page = declaration in MARKDOWN and _DOCUMENT.match(narrow)
        return "text/html" if is_page else declaration
    root = _ROOT.match(narrow)
    if root:
        return _ROOTS.get(root[1].lower()) or _name_xml(declaration)
    if _JSON_FEED.match(narrow):
        return "application/feed+json"
    if _looks_like_html(narrow, declaration):
        return declaration if declaration in HTML else "text/html"
    is_textual = is_text(declaration) or declaration in HTML
    if is_binary:
        is_foreign = declaration and not is_textual
        return declaration if is_foreign else "application/octet-stream"
    if declaration and not data:
        return declaration
    return declaration if is_textual else _guess(narrow, data)


def lists_pages(data: bytes) -> bool:
    """Return whether a body is a sitemap, wherever in its beginning that begins."""
    head = _to_ascii(data[: 4 * _SAMPLE_SIZE])
    if _DOCUMENT.match(head):
        return False
    return _LIST_ROOT.search(head) is not None


def _match_signature(head: bytes) -> str | None:
    """Return the media type that the first bytes reveal."""
    for kind in _types.TYPES:
        for signature, media_type in kind.magic.items():
            if signature.match(head):
                return media_type
    for signature, media_type in _UNREADABLE:
        if signature.match(head):
            return media_type
    return None


def _look_inside(data: bytes, kind: str, declaration: str) -> str:
    """Return the media type of a file of a *kind* that holds others, such as a ZIP."""
    if kind == "application/x-ole-storage":
        for name, media_type in _STREAMS:
            if name.encode("utf-16-le") in data:
                return media_type
    if kind != "application/zip":
        return kind
    # many formats are archives
    inner = _look_into_archive(data)
    if inner is None and not is_text(declaration):
        inner = declaration
    return inner or kind


def _name_xml(declaration: str) -> str:
    if declaration.endswith("xml") and declaration not in HTML:
        return declaration
    return "application/xml"


def _looks_like_html(head: bytes, declaration: str) -> bool:
    """Return whether a body is HTML by how it begins.

    A tag may begin a template, a table or a script that is declared as such. XML and
    JSON are known by how they begin.
    """
    is_markup = declaration.endswith(("html", "json", "xml"))
    if is_text(declaration) and not is_markup:
        return _DOCUMENT.match(head) is not None
    return _HTML.match(head) is not None


def _look_into_archive(data: bytes) -> str | None:
    """Return the kind of an archive by the names in its directory.

    An archive inside it, which may be stored unpacked, does not count. Only if the
    directory is missing, as that of a file that was cut, the first part that any header
    names decides.
    """
    mimetype = _MIMETYPE.match(data)
    if mimetype:
        return mimetype[1].decode()
    names = _list_names(data)
    if names:
        part = next(filter(None, map(_PART.fullmatch, names)), None)
    else:
        part = _PART_HEADER.search(data)
    return _PART_KINDS[part[part.lastindex or 0]] if part else None


def _list_names(data: bytes) -> list[bytes]:
    """Return the names in the directory of an archive.

    None if it has no directory that fits its first byte.
    """
    end = data.rfind(b"PK\x05\x06")
    size = _read_number(data, end + 12, 4)
    offset = _read_number(data, end + 16, 4)
    names: list[bytes] = []
    if end < 0 or end != size + offset:
        return names
    while data.startswith(b"PK\x01\x02", offset):
        # those of the name, of extra fields, and of a comment
        lengths = [_read_number(data, offset + at, 2) for at in (28, 30, 32)]
        names.append(data[offset + 46 : offset + 46 + lengths[0]])
        offset += 46 + sum(lengths)
    return names


def _read_number(data: bytes, begin: int, size: int) -> int:
    return int.from_bytes(data[begin : begin + size], "little")


def _to_ascii(head: bytes) -> bytes:
    """Convert UTF-16 to ASCII, so that a tag looks like a tag and not like binary
    data.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "ignore").encode("ascii", "replace")
    codec = guess_utf16(head)
    if codec:
        return head[codec == "utf-16-be" :: 2]
    return head.removeprefix(codecs.BOM_UTF8)


def _guess(head: bytes, data: bytes) -> str:
    head = head.lstrip()
    last = data[-64:].rstrip(b"\x00 \t\r\n")[-1:]
    if head[:1] + last in {b"{}", b"[]"}:
        return "application/json"
    return "application/xml" if head.startswith(b"<?xml") else "text/plain"
