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
        source = parts.get(name, b"").decode("utf-8", "replace")
        if limit <= 0:
            break
        text, targets_of_chapter = read_fragment(
            _EMPTY.sub(_close, source), "", links=links, limit=limit
        )
        limit -= len(source)
        targets += targets_of_chapter
        texts.append(text.strip())
    return "\n\n".join(filter(None, texts)), targets


def _list_chapters(parts: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the name of the part of each chapter."""
    root = next(_read_elements(parts[_CONTAINER], "rootfile"), {})
    package = root.get("full-path", "")
    if package not in parts:
        raise ValueError("a book without a package")
    files = {
        item.get("id"): item.get("href", "")
        for item in _read_elements(parts[package], "item")
    }
    for item in _read_elements(parts[package], "itemref"):
        href = files.get(item.get("idref"))
        if href:
            yield _resolve(href, posixpath.dirname(package), parts)


def _read_elements(content: bytes, name: str) -> Iterator[dict[str, str]]:
    """Yield the attributes of each element of a *name*."""
    for element in _ELEMENT.finditer(content.decode("utf-8", "replace")):
        if element[1] == name:
            yield {
                match[1]: unescape(match[2] or match[3] or "")
                for match in _ATTRIBUTE.finditer(element[2])
            }


def _resolve(href: str, folder: str, parts: Mapping[str, bytes]) -> str:
    """Return the name of the part that a package refers to, quoted or not."""
    names = [posixpath.normpath(posixpath.join(folder, unquote(href)))]
    names.append(posixpath.normpath(posixpath.join(folder, href)))
    return next((name for name in names if name in parts), names[0])


def _close(element: re.Match[str]) -> str:
    if element[1].lower() in _VOID:
        return element[0]
    return f"<{element[1]}{element[2]}></{element[1]}>"
