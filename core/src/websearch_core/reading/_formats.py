"""Convert bytes with the module for their media type."""

from __future__ import annotations

from .._text.choices import Responses
from .._text.media_types import HTML
from ..errors import UnsupportedContent
from ..models import Page
from ._documents.markdown import is_markdown, read_markdown
from ._documents.text import read_text
from ._html.page import read_html
from ._links import MAX_LINKS, Links
from ._markdown.sanitizer import sanitize
from ._sniff import FEEDS, OFFICE, PDF, declared, is_text, media_type, named

# Headers that are correct but vague: they fit any type that ends like this.
_VAGUE = {"application/octet-stream": "", "application/xml": "xml", "text/xml": "xml", "application/json": "json"}


def convert(
    data: bytes,
    url: str,
    content_type: str | None = None,
    *,
    links: Links = "keep",
    comments: Responses | None = None,
    reviews: Responses | None = None,
) -> Page:
    """
    Read a whole page in this process, with the arguments and errors of `websearch_core.reading.read_bytes`.

    Raises:
        UnsupportedContent: The bytes are not text.

    """
    kind = media_type(data, content_type)
    if kind in HTML:
        page = read_html(data, url, content_type, links=links, comments=comments, reviews=reviews)
    else:  # our own writer produces safe Markdown already
        page = _sanitize_page(_read(data, url, kind, content_type, links), links)
    if links != "keep":
        page = page.model_copy(update={"links": ()})
    stated = declared(content_type)
    if stated and stated != page.media_type and not _agree(stated, page.media_type):
        return page.with_notes(f"declared as {named(stated)}, but it is {named(page.media_type)}")
    return page


def _sanitize_page(page: Page, links: Links) -> Page:
    text, targets = sanitize(page.content, page.url, links)
    text = text.strip("\n")
    found = page.links or tuple(dict.fromkeys(targets))[:MAX_LINKS]
    size = len(text)
    return page.model_copy(update={"content": text, "content_length": size, "original_length": size, "links": found})


def _agree(stated: str, kind: str) -> bool:
    return {stated, kind} <= HTML or (stated in _VAGUE and kind.endswith(_VAGUE[stated]))


def _read(data: bytes, url: str, kind: str, content_type: str | None, links: Links) -> Page:
    if kind == PDF:
        from ._documents.pdf import read_pdf

        return read_pdf(data, url)
    if kind in OFFICE:
        from ._documents.office import read_office

        return read_office(data, url, kind)
    if kind in FEEDS:
        from ._documents.feed import read_feed

        return read_feed(data, url, kind, content_type, links=links)
    if kind.startswith("image/"):
        from ._documents.image import read_image

        return read_image(data, url, kind)
    if kind.endswith("xml"):
        from ._documents.sitemap import read_sitemap

        return read_sitemap(data, url, kind, content_type) or read_text(data, url, kind, content_type)
    if is_markdown(kind, url):
        return read_markdown(data, url, kind, content_type)
    if is_text(kind):
        return read_text(data, url, kind, content_type)
    unnamed = kind[:200] if named(kind) != kind else None
    raise UnsupportedContent(f"{named(kind)} has no text that can be read", detail=unnamed)
