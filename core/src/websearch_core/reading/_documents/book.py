"""Read e-books: the chapters of an EPUB, in the order of reading."""

from __future__ import annotations
import posixpath
import re
from collections.abc import Iterator, Mapping
from html import unescape
from urllib.parse import unquote

from .._html.fragment import read_fragment
from .._links import Links

_CONTAINER = "META-INF/container.xml"
_ELEMENT = re.compile(r"<(?:\w{1,20}:)?(rootfile|item|itemref)(?=[\s/>])([^<>]*)>")
_ATTRIBUTE = re.compile(r"([\w:-]{1,50})\s{0,9}=\s{0,9}(?:\"([^\"]*+)\"|'([^']*+)')")
# An empty element of XML, which HTML would leave open.
_EMPTY = re.compile(r"<([a-zA-Z][\w:-]{0,50}+)((?:\s[^<>]*)?)(?<=[\w\s\"'])/>")
_VOID = frozenset(
    "area base br col embed hr img input link meta source track wbr".split()
)


def read_book(
    parts: Mapping[str, bytes], links: Links, limit: int
) -> tuple[str, list[str]]:
    """Return the Markdown of a book and the addresses of its links.

    Read about *limit* characters of HTML. Links within the book lead nowhere: they are
    text. It is a `ValueError` if the book does not say what its chapters are.
    """
    texts: list[str] = []
    targets: list[str] = []
    for name in dict.fromkeys(_list_chapters(parts)):
        if limit <= 0:
            break
        content = parts.get(name, b"")
        source = content.decode("utf-8", "replace")
        html = _EMPTY.sub(_close, source)
        chapter = read_fragment(html, "", links=links, limit=limit)
        limit -= len(source)
        texts.append(chapter[0].strip())
        targets += chapter[1]
    return "\n\n".join(filter(None, texts)), targets


def _list_chapters(parts: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the name of the part of each chapter."""
    root = next(_read_elements(parts[_CONTAINER], "rootfile"), {})
    package = root.get("full-path", "")
    if package not in parts:
        raise ValueError("a book without a package")
    files: dict[str | None, str] = {}
    for item in _read_elements(parts[package], "item"):
        files[item.get("id")] = item.get("href", "")
    folder = posixpath.dirname(package)
    for item in _read_elements(parts[package], "itemref"):
        href = files.get(item.get("idref"))
        if href:
            yield _resolve(href, folder, parts)


def _read_elements(content: bytes, name: str) -> Iterator[dict[str, str]]:
    """Yield the attributes of each element of a *name*."""
    source = content.decode("utf-8", "replace")
    for element in _ELEMENT.finditer(source):
        if element[1] != name:
            continue
        attributes: dict[str, str] = {}
        for attribute in _ATTRIBUTE.finditer(element[2]):
            value = attribute[2] or attribute[3] or ""
            attributes[attribute[1]] = unescape(value)
        yield attributes


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
    if element[1].lower() in _VOID:
        return element[0]
    return f"<{element[1]}{element[2]}></{element[1]}>"
