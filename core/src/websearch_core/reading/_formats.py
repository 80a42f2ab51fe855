"""Convert bytes with the reader of their type."""

from __future__ import annotations
import re
from typing import Unpack

from .._text.media_types import HTML
from .._text.vocabulary import LINKS_LEFT_OUT
from ..errors import UnsupportedContent
from ..models import Page
from ._html.page import read_html
from ._html.parse import find_followed
from ._links import MAX_LINKS, Links
from ._markdown.sanitizer import sanitize
from ._sniff import declared, lists_pages, media_type, named
from ._types import Document, ReadingOptions, find_type

_MAX_FOLLOWED = 50_000  # links of a page that is crawled: as many as a sitemap has
_MAY_CHANGE_LINKS = re.compile(rb"nofollow|<area|<frame", re.IGNORECASE)
# Headers that are correct but vague: they fit any type that ends like this.
_VAGUE = {
    "application/octet-stream": "",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/json": "json",
}


def convert(
    data: bytes,
    url: str,
    content_type: str | None = None,
    **options: Unpack[ReadingOptions],
) -> Page:
    """Read a whole page in this process, with the arguments and errors of
    `websearch_core.reading.read_bytes`.
    """
    links = options.get("links", "keep")
    rendered = options.get("rendered", False)
    kind = "text/html" if rendered else media_type(data, content_type)
    if options.get("followed") and lists_pages(data):
        kind = "application/xml"  # whatever its server declares
    if kind in HTML:
        page = read_html(
            data,
            url,
            content_type,
            links=links,
            comments=options.get("comments"),
            reviews=options.get("reviews"),
            rendered=rendered,
        )
        if options.get("followed"):
            page = _follow(page, data, content_type)
    else:  # our own writer produces safe Markdown already
        document = Document(
            data=data,
            url=url,
            media_type=kind,
            content_type=content_type,
            links=links,
            texts=options.get("texts"),
        )
        page = _sanitize_page(_read(document), links)
    if links != "keep":
        page = page.model_copy(update={"links": ()})
    declared_type = declared(content_type)
    if not declared_type or _agree(declared_type, page.media_type):
        return page
    return page.with_notes(
        f"declared as {named(declared_type)}, but it is {named(page.media_type)}"
    )


def _follow(page: Page, data: bytes, content_type: str | None) -> Page:
    """Return *page* with the links that a crawl may follow."""
    is_simple = _MAY_CHANGE_LINKS.search(data) is None
    if is_simple and len(page.links) < MAX_LINKS:
        return page
    links = find_followed(page.links, data, page.url, content_type)
    if len(links) <= _MAX_FOLLOWED:
        return page.model_copy(update={"links": links})
    page = page.model_copy(update={"links": links[:_MAX_FOLLOWED]})
    return page.with_notes(LINKS_LEFT_OUT)


def _sanitize_page(page: Page, links: Links) -> Page:
    text, targets = sanitize(page.content, page.url, links)
    text = text.strip("\n")
    outgoing = page.links or tuple(dict.fromkeys(targets))[:MAX_LINKS]
    size = len(text)
    return page.model_copy(
        update={
            "content": text,
            "content_length": size,
            "original_length": size,
            "links": outgoing,
        }
    )


def _agree(declared_type: str, kind: str) -> bool:
    if declared_type == kind or {declared_type, kind} <= HTML:
        return True
    return declared_type in _VAGUE and kind.endswith(_VAGUE[declared_type])


def _read(document: Document) -> Page:
    kind = document.media_type
    document_type = find_type(kind, document.url)
    if document_type is None:
        unnamed = kind[:200] if named(kind) != kind else None
        raise UnsupportedContent(
            f"{named(kind)} has no text that can be read", detail=unnamed
        )
    try:
        return document_type.load_reader()(document)
    except ImportError as error:
        extra = document_type.extra
        if not extra:
            raise
        message = (
            f'{named(kind)} needs the extra "{extra}": pip install '
            f'"websearch-core[{extra}]"'
        )
        raise UnsupportedContent(message) from error
