"""
Unpacking archives of XML: an archive of a few kilobytes can hold gigabytes, and XML that takes minutes to convert.

So only what is text is unpacked, within limits, and what is beyond them is cut where the rest is still XML. Pictures,
fonts and the like stay as empty parts, so that nothing misses them.
"""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import NamedTuple

from ...errors import UnsupportedContent

_MAX_PARTS = 5_000
_MAX_SIZE = 16 * 2**20  # bytes of XML in the archive
_MAX_MAIN_SIZE = 8 * 2**20  # of the text of a document, or of one sheet, whose beginning is read if there is more
_MAX_DEPTH = 100  # elements in one another, beyond which converters take time in the square of the depth
_MAX_TAG_LENGTH = 20_000  # bytes
_TEXTS = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm", "mimetype")
_MAIN = re.compile(r"word/document\d*\.xml|xl/worksheets/[^/]+\.xml")
_TAG = re.compile(rb"<(/?)([^<>!?/\s]+)[^<>]*?(/?)>")
_LONG_TAG = re.compile(rb"<[^<>]{%d}" % _MAX_TAG_LENGTH)


class Unpacked(NamedTuple):
    """The parts of an archive by name, and whether some of them are only beginnings."""

    parts: dict[str, bytes]
    cut: bool = False

    def packed(self) -> BytesIO:
        """Return them as an archive again."""
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, content in self.parts.items():
                archive.writestr(name, content)
        stream.seek(0)
        return stream


def unpack(data: bytes, media_type: str, most_tags: int) -> Unpacked:
    """
    Unpack the parts that are text.

    Args:
        data: The archive.
        media_type: What it is, for the message if it cannot be read.
        most_tags: How many tags to leave in it.

    Raises:
        UnsupportedContent: It is damaged, encrypted or too large.

    """
    if data.count(b"PK\x01\x02") > _MAX_PARTS:
        raise UnsupportedContent(f"{media_type} with more than {_MAX_PARTS} parts")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            why_not = _why_not(archive.infolist())
            parts = {} if why_not else {part.filename: _content(archive, part) for part in archive.infolist()}
    except Exception as error:  # zipfile raises more than it says it does
        raise UnsupportedContent(f"{media_type} that is damaged: {type(error).__name__}") from error
    if why_not:
        raise UnsupportedContent(f"{media_type} {why_not}")
    cut = False
    for part in sorted(parts, key=lambda part: _MAIN.fullmatch(part) is not None):  # what can be cut comes last
        content = parts[part]
        kept, tags = _bounded(content, most_tags)
        most_tags -= tags
        if kept is not content:
            if not _MAIN.fullmatch(part):
                raise UnsupportedContent(f"{media_type} that is too large or too deeply nested to be read")
            parts[part] = kept
            cut = True
    return Unpacked(parts, cut)


def _why_not(parts: list[zipfile.ZipInfo]) -> str:
    """Tell why not to unpack them. What they declare can be relied on: zipfile reads no more of a part than that."""
    if any(part.flag_bits & 1 for part in parts):
        return "that is encrypted: it opens with a password only"
    if any(part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for part in parts):
        return "that is packed in an unusual way"
    if sum(min(part.file_size, _most(part)) for part in parts) > _MAX_SIZE:
        return f"that holds more than {_MAX_SIZE // 2**20} MiB of text"
    return ""


def _most(part: zipfile.ZipInfo) -> int:
    """How many bytes of a part are unpacked; of one whose beginning is of no use, all or, by `_why_not`, none."""
    if _MAIN.fullmatch(part.filename):
        return _MAX_MAIN_SIZE
    return part.file_size if part.filename.lower().endswith(_TEXTS) else 0


def _content(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    with archive.open(part) as stream:
        return stream.read(_most(part))


def _bounded(content: bytes, most_tags: int) -> tuple[bytes, int]:
    """
    Cut XML that is too much, or was cut already, behind a tag, and close what is open there.

    Returns:
        The same object if there is nothing to cut, and how many tags there are.

    """
    too_long = _LONG_TAG.search(content)
    stop = too_long.start() if too_long else len(content)
    opened: list[bytes] = []
    tags = end = 0
    for tag in _TAG.finditer(content, 0, stop):
        opens = not (tag[1] or tag[3])
        if tags == most_tags or (opens and len(opened) == _MAX_DEPTH):
            break
        if opens:
            opened.append(tag[2])
        elif tag[1]:
            del opened[-1:]
        tags, end = tags + 1, tag.end()
    else:
        if not too_long and len(content) < _MAX_MAIN_SIZE:
            return content, tags
    return content[:end] + b"".join(b"</%s>" % name for name in reversed(opened)), tags
