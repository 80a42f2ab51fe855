"""Detect the media type of a body from its first kilobyte, since headers can be wrong
or missing.

A subset of the rules that browsers follow: https://mimesniff.spec.whatwg.org/
"""

from __future__ import annotations
import codecs
import json
import re
from importlib.resources import files
from itertools import chain

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
_KNOWN = HTML | {*_NAMES, *(kind for _, kind in (*_MAGIC, *_STREAMS)), *_ROOTS.values()}
_KINDS = {
    "audio": "audio",
    "font": "a font",
    "image": "an image",
    "text": "text",
    "video": "video",
}
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# If a server declares one of these for a text, it is right, even if the text begins
# with a tag.
_TRUSTED = frozenset({"text/plain", "text/css", "text/javascript"}) | MARKDOWN


def declared(content_type: str | None) -> str | None:
    """Return the media type that a header names, in lower case; None if it names
    none.
    """
    essence = parse_media_type(content_type)
    if len(essence) > _MAX_LENGTH:
        return None
    return (
        essence
        if re.fullmatch(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+", essence)
        else None
    )


def named(media_type: str) -> str:
    """Return *media_type* if it is a known one, else its kind, for errors and notes.

    A server can put whole sentences into a media type that it invents.
    """
    if media_type in _KNOWN or _types.is_declared(media_type):
        return media_type
    kind = media_type.partition("/")[0]
    return f"{_KINDS[kind]} of an unknown type" if kind in _KINDS else "an unknown type"


def media_type(data: bytes, content_type: str | None = None) -> str:
    """Detect the media type of *data*. The header counts only where the bytes do not
    contradict it.
    """
    head, stated = data[:_SAMPLE_SIZE], declared(content_type)
    signatures = (found for one in _types.TYPES for found in one.magic.items())
    for signature, kind in chain(signatures, _UNREADABLE):
        if signature.match(head):
            # many formats are archives
            known_better = kind == "application/zip" and stated and not is_text(stated)
            inner = _look_into_archive(data) if kind == "application/zip" else None
            if kind == "application/x-ole-storage":
                inner = next(
                    (
                        found
                        for name, found in _STREAMS
                        if name.encode("utf-16-le") in data
                    ),
                    None,
                )
            return inner or (stated if stated and known_better else kind)
    narrow = _to_ascii(head)
    if stated in _TRUSTED and not _BINARY.search(narrow):
        return "text/html" if stated in MARKDOWN and _DOCUMENT.match(narrow) else stated
    if root := _ROOT.match(narrow):
        kept = (
            stated
            if stated and stated.endswith("xml") and stated not in HTML
            else "application/xml"
        )
        return _ROOTS.get(root[1].lower(), kept)
    if _JSON_FEED.match(narrow):
        return "application/feed+json"
    # A tag may begin a template, a table or a script. XML and JSON are known by how
    # they begin.
    other_text = (
        stated and is_text(stated) and not stated.endswith(("html", "json", "xml"))
    )
    if _DOCUMENT.match(narrow) if other_text else _HTML.match(narrow):
        return stated if stated in HTML else "text/html"
    if _BINARY.search(narrow):
        return (
            stated
            if stated and not is_text(stated) and stated not in HTML
            else "application/octet-stream"
        )
    if stated and (is_text(stated) or stated in HTML or not data):
        return stated
    return _guess(narrow, data)


def _look_into_archive(data: bytes) -> str | None:
    """Return the kind of an archive by the names in its directory.

    An archive inside it, which may be stored unpacked, does not count. Only if the
    directory is missing, as that of a file that was cut, the first part that any header
    names decides.
    """
    if begins := _MIMETYPE.match(data):
        return begins[1].decode()
    names = _list_names(data)
    found = (
        next(filter(None, map(_PART.fullmatch, names)), None)
        if names
        else _PART_HEADER.search(data)
    )
    return _PART_KINDS[found[found.lastindex or 0]] if found else None


def _list_names(data: bytes) -> list[bytes]:
    """Return the names in the directory of an archive; none if it has no directory that
    fits its first byte.
    """
    end = data.rfind(b"PK\x05\x06")
    size, offset = (
        int.from_bytes(data[end + at : end + at + 4], "little") for at in (12, 16)
    )
    names: list[bytes] = []
    if end < 0 or end != size + offset:
        return names
    while data.startswith(b"PK\x01\x02", offset):
        lengths = [
            int.from_bytes(data[offset + at : offset + at + 2], "little")
            for at in (28, 30, 32)
        ]
        names.append(data[offset + 46 : offset + 46 + lengths[0]])
        offset += 46 + sum(lengths)
    return names


def _to_ascii(head: bytes) -> bytes:
    """Convert UTF-16 to ASCII, so that a tag looks like a tag and not like binary
    data.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "ignore").encode("ascii", "replace")
    if codec := guess_utf16(head):
        return head[codec == "utf-16-be" :: 2]
    return head.removeprefix(codecs.BOM_UTF8)


def _guess(head: bytes, data: bytes) -> str:
    first, last = head.lstrip()[:1], data[-64:].rstrip(b"\x00 \t\r\n")[-1:]
    if (first, last) in {(b"{", b"}"), (b"[", b"]")}:
        return "application/json"
    return "application/xml" if head.lstrip().startswith(b"<?xml") else "text/plain"
