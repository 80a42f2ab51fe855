"""
Bytes -> `Page`: what a page says, as Markdown.

`read_bytes` finds out what the bytes are and has them read as that. `Excerpt` takes what is wanted from a long page: a
`window`, the `passages` for a query, or the places that `find` finds. Nothing here touches the network, and nothing
raises but the errors of this library, whatever the bytes.
"""

from __future__ import annotations

from ..errors import TooLarge, UnsupportedContent
from ..models import Page
from ._excerpt.find import find_phrase
from ._excerpt.passages import pick_passages
from ._excerpt.spec import Excerpt, ReadOptions
from ._excerpt.window import cut_window
from ._formats import convert
from ._html.page import read_html
from ._links import Links
from ._markdown.sanitizer import is_safe as is_safe
from ._markdown.sanitizer import sanitize as sanitize
from ._sniff import OFFICE, PDF, media_type, named

__all__ = ["Excerpt", "Links", "ReadOptions", "cut_window", "find_phrase", "pick_passages", "read_bytes", "read_html"]


def read_bytes(
    data: bytes,
    url: str,
    content_type: str | None = None,
    *,
    links: Links = "keep",
    style_sheets: bool = False,
    isolate: bool | None = None,
    processes: int | None = None,
    cut: str = "",
) -> Page:
    """
    Read a whole page, whatever its kind.

    Args:
        data: The bytes of the page.
        url: Where they came from; what relative links are relative to.
        content_type: The value of the HTTP header, if there was one. Bytes that are plainly something else win.
        links: What becomes of links, as in `read_html`.
        style_sheets: Whether the style sheets in a page hide text, as in `read_html`.
        isolate: Where to read: ``True`` in another process, ``False`` in this one. By default, in another process if
            one is free, if the page is large, or once reading several at a time has cost what starting one does.
        processes: How many such processes there may be; by default one for each core, but at most 8.
        cut: Why *data* is not all of the page, such as ``larger than 10 MiB``; empty if it is.

    Returns:
        The page with all of its text: `Excerpt` takes from it.

    Raises:
        UnsupportedContent: The bytes are not text, such as a video, or are encrypted or damaged, or need an extra that
            is not installed. The message names the kind.
        TooLarge: The page was *cut*, and its kind cannot be read without its end: a PDF or an Office file.
        BadResponse: The other process crashed over this page, or had not enough memory for it.
        TimedOut: The page was not read within the time allowed.
        ConfigurationError: No other process can be started, and *isolate* asks for one.

    """
    try:
        if isolate is False:
            return convert(data, url, content_type, links=links, style_sheets=style_sheets)
        from ._isolation.pool import read_isolated  # starts nothing yet, but registers what ends the processes

        return read_isolated(
            data, url, content_type, links=links, style_sheets=style_sheets, isolate=isolate, processes=processes
        )
    except UnsupportedContent as error:
        kind = media_type(data, content_type) if cut else ""
        if kind != PDF and kind not in OFFICE:
            raise
        raise TooLarge(f"{named(kind)}, {cut}") from error
