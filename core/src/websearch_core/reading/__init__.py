"""Convert bytes to a `Page`: its text as Markdown.

`read_bytes` detects the type of the bytes and reads them. `Excerpt` takes a part of a
long page: a window, the passages for a query, or the places of a phrase. Nothing here
uses the network, and only the errors of this library are raised, whatever the bytes.
"""

from __future__ import annotations
from collections.abc import Callable, Mapping

from .._text.vocabulary import Responses
from ..errors import TooLarge, UnsupportedContent
from ..models import Page
from ._documents.image import read_pictures
from ._documents.transcript import find_transcripts as find_transcripts
from ._excerpt.find import Folded as Folded
from ._excerpt.spec import Excerpt, ReadOptions
from ._formats import ReadingOptions, convert
from ._html.page import read_html
from ._html.parse import drop_unfollowed as drop_unfollowed
from ._html.parse import find_markdown_alternate as find_markdown_alternate
from ._html.parse import find_refresh as find_refresh
from ._links import Links
from ._markdown.sanitizer import is_safe as is_safe
from ._markdown.sanitizer import sanitize as sanitize
from ._sniff import media_type, named
from ._types import find_media_type as find_media_type
from ._types import find_type

__all__ = ["Excerpt", "Links", "ReadOptions", "read_bytes", "read_html"]


def read_bytes(
    data: bytes,
    url: str,
    content_type: str | None = None,
    *,
    links: Links = "keep",
    comments: Responses | None = None,
    reviews: Responses | None = None,
    isolate: bool | None = False,
    processes: int | None = None,
    cut: str = "",
    ocr: Callable[[bytes, str], str] | None = None,
) -> Page:
    """Read a whole page of any type.

    Args:
        data: The bytes of the page.
        url: The URL of the page, which relative links are resolved against.
        content_type: The value of the HTTP header, if there is one. Bytes that are
            clearly something else override it.
        links: What to do with links, as in `read_html`.
        comments: What to do with readers' comments on an HTML page, as in `read_html`.
        reviews: What to do with reviews, as in `read_html`.
        isolate: Where to read: ``False`` for this process, ``True`` for another one.
            None means another one if one is free, if the page is large, a PDF, an
            Office file, a feed or other XML, or once reading several at a time has cost
            as much as starting one.
        processes: Maximum number of such processes; by default one for each core, and
            never more than 8.
        cut: Why *data* is incomplete, such as ``larger than 10 MiB``; empty if it is
            complete.
        ocr: Returns the text of an image from its bytes and media type, for scans and
            images; called in this process.

    Returns:
        The page with all of its text, for `Excerpt` to take a part of.

    Raises:
        UnsupportedContent: The bytes are not text, such as a video, or are encrypted or
            damaged, or need an extra that is not installed. The message names the type.
        TooLarge: The page was *cut*, and its type cannot be read without its end: a PDF
            or an Office file.
        BadResponse: The other process crashed on this page, or had too little memory
            for it.
        TimedOut: The page was not read within the time allowed.
        ConfigurationError: *isolate* is ``True``, and no other process can be started.
    """

    def read(texts: Mapping[str, str] | None) -> Page:
        options: ReadingOptions = {
            "links": links,
            "comments": comments,
            "reviews": reviews,
            "texts": texts,
        }
        if isolate is False:
            return convert(data, url, content_type, **options)
        # starts no process yet, but registers the cleanup
        from ._isolation.pool import read_isolated

        return read_isolated(
            data, url, content_type, isolate=isolate, processes=processes, **options
        )

    try:
        return read(None) if ocr is None else read_pictures(read, ocr)
    except UnsupportedContent as error:
        kind = media_type(data, content_type)
        if not cut or (found := find_type(kind, url)) is None or not found.needs_end:
            raise
        raise TooLarge(f"{named(kind)}, {cut}") from error
