"""Read e-books: the chapters of an EPUB, in the order of reading."""

from __future__ import annotations
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from urllib.parse import unquote

from ..._text.invisible import one_line
from ...models import Page
from .._html.fragment import read_fragment
from .._types import TITLE_LENGTH, Document
from .archive import MAX_SOURCE_LENGTH, Unpacked
from .markup import VOID, read_attributes

_CONTAINER = "META-INF/container.xml"
_ELEMENT = re.compile(r"<(?:\w{1,20}:)?(rootfile|item|itemref)(?=[\s/>])([^<>]*)>")
# An empty element of XML, which HTML would leave open.
_EMPTY = re.compile(r"<([a-zA-Z][\w:-]{0,50}+)((?:\s[^<>]*)?)(?<=[\w\s\"'])/>")
# An entry of a table of contents, of EPUB 3 and of EPUB 2.
_ENTRY = re.compile(
    r"<a\s(?>[^<>]*?href\s*+=\s*+[\"'](?P<href>[^\"'<>]{1,500})[\"'])[^<>]*+>\s*+"
    r"(?P<title>[^<>]{1,300})</a>"
    r"|<text>\s*+(?P<label>[^<>]{1,300})</text>\s*+</navLabel>\s*+"
    r"<content\s(?>[^<>]*?src\s*+=\s*+[\"'](?P<src>[^\"'<>]{1,500})[\"'])"
)
_OLD_CONTENTS = "application/x-dtbncx+xml"
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_FORMULA = re.compile(
    r"xmlns:(\w{1,20})=[\"']http://www\.w3\.org/1998/Math/MathML[\"']"
)
_PAGE_BREAK = re.compile(
    r"<(span|div)\s(?>[^<>]*?\bpagebreak\b)[^<>]*+>(?:(?<=/>)|[^<>]{0,20}</\1>)"
)
_NOTE = re.compile(r"<a\s(?>[^<>]*?\bnoteref\b)[^<>]*+>[^<>]{1,20}</a>")


def read_book(unpacked: Unpacked, document: Document) -> Page:
    """Read the chapters of a book.

    Links within the book lead nowhere: they are text. It is a `ValueError` if the book
    does not say what its chapters are.
    """
    texts: list[str] = []
    targets: list[str] = []
    parts = unpacked.parts
    limit = MAX_SOURCE_LENGTH
    chapters, contents = _read_package(parts)
    titles = _list_titles(contents, parts)
    for name in chapters:
        if limit <= 0:
            break
        content = parts.get(name, b"")
        source = content.decode("utf-8", "replace")
        text, addresses = read_fragment(
            _as_html(source), "", links=document.links, limit=limit
        )
        limit -= len(source)
        texts.append(_entitle(text.strip(), titles.get(name, "")))
        targets += addresses
    return document.to_page("\n\n".join(filter(None, texts)), links=targets)


def _read_package(parts: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """Return the names of the chapters in their order, and of the contents."""
    root = next(_read_elements(parts[_CONTAINER], "rootfile"), {})
    package = root.get("full-path", "")
    if package not in parts:
        raise ValueError("a book without a package")
    folder = posixpath.dirname(package)
    files: dict[str | None, str] = {}
    contents: dict[str, None] = {}
    for item in _read_elements(parts[package], "item"):
        name = _resolve(item.get("href", ""), folder, parts)
        files[item.get("id")] = name
        is_navigation = "nav" in item.get("properties", "").split()
        if is_navigation or item.get("media-type") == _OLD_CONTENTS:
            contents[name] = None
    chapters: dict[str, None] = {}
    for item in _read_elements(parts[package], "itemref"):
        name = files.get(item.get("idref"), "")
        if name in parts:
            chapters[name] = None
    # the headings of the chapters are its table of contents
    text = [name for name in chapters if name not in contents]
    return text or [*chapters], [*contents]


def _list_titles(contents: Iterable[str], parts: Mapping[str, bytes]) -> dict[str, str]:
    """Return the titles that the table of contents gives to chapters."""
    titles: dict[str, str] = {}
    for name in contents:
        folder = posixpath.dirname(name)
        source = parts.get(name, b"").decode("utf-8", "replace")
        for entry in _ENTRY.finditer(source):
            href = unescape(entry["href"] or entry["src"])
            title = one_line(unescape(entry["title"] or entry["label"]), TITLE_LENGTH)
            if "#" not in href:
                titles.setdefault(_resolve(href, folder, parts), title)
    return titles


def _entitle(text: str, title: str) -> str:
    """Put the title of a chapter above its text, if it has no heading."""
    if not text or not title:
        return text
    if _HEADING.search(text):
        return text
    lines = text.split("\n", maxsplit=1)
    if lines[0].strip("*_ ").casefold() == title.casefold():
        text = "".join(lines[1:]).lstrip("\n")
    return f"# {title}\n\n{text}".strip()


def _as_html(source: str) -> str:
    """Return XHTML as HTML that reads the same.

    The marks of notes are superscripts, and the numbers of pages are left out.
    """
    prefix = _FORMULA.search(source)
    if prefix:
        source = source.replace(f"<{prefix[1]}:", "<")
        source = source.replace(f"</{prefix[1]}:", "</")
    source = _PAGE_BREAK.sub("", source)
    source = _NOTE.sub(r"<sup>\g<0></sup>", source)
    return _EMPTY.sub(_close, source)


def _read_elements(content: bytes, name: str) -> Iterator[dict[str, str]]:
    """Yield the attributes of each element of a *name*."""
    source = _without_comments(content.decode("utf-8", "replace"))
    for element in _ELEMENT.finditer(source):
        if element[1] == name:
            yield read_attributes(element[2])


def _without_comments(source: str) -> str:
    first, *others = source.split("<!--")
    return first + "".join(other.partition("-->")[2] for other in others)


def _resolve(href: str, folder: str, parts: Mapping[str, bytes]) -> str:
    """Return the name of the part that a package refers to, quoted or not."""
    unquoted = _join(folder, unquote(href))
    quoted = _join(folder, href)
    if quoted in parts and unquoted not in parts:
        return quoted
    return unquoted


def _join(folder: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(folder, href))


def _close(element: re.Match[str]) -> str:
    if element[1].lower() in VOID:
        return element[0]
    return f"<{element[1]}{element[2]}></{element[1]}>"
