"""Convert bytes to a `Page`: its text as Markdown.

`read_bytes` detects the type of the bytes and reads them. `Excerpt` takes a part of a
long page: a window, the passages for a query, or the places of a phrase. Nothing here
uses the network, and only the errors of this library are raised, whatever the bytes.
"""

from __future__ import annotations
import typing
from collections.abc import Callable

from .._runtime.lazy import importer
from .._runtime.scope import Isolation, Parsing
from .._text.vocabulary import Responses
from ..models import Page
from ._excerpt.spec import Excerpt, ReadOptions
from ._links import Links

if typing.TYPE_CHECKING:
    from ._choice import choose as choose
    from ._choice import make_safe as make_safe
    from ._choice import make_text_safe as make_text_safe
    from ._excerpt.find import Folded as Folded
    from ._html.page import read_html
    from ._isolation.pool import find_problem as find_problem
    from ._isolation.pool import prepare as prepare
    from ._markdown.sanitizer import is_safe as is_safe
    from ._markdown.sanitizer import sanitize as sanitize
    from ._types import ReadingOptions
    from ._types import find_media_type as find_media_type
    from ._where import choose_part as choose_part
    from ._where import find_frames as find_frames
    from ._where import find_markdown_alternate as find_markdown_alternate
    from ._where import find_refresh as find_refresh
    from ._where import find_transcripts as find_transcripts
    from ._where import read_page as read_page

__all__ = ["Excerpt", "Links", "ReadOptions", "read_bytes", "read_html"]

# What parses, which this process needs only if it parses itself, and what has another
# process parse, which that one does not need.
_HOMES = {
    "Folded": "_excerpt.find",
    "choose": "_choice",
    "choose_part": "_where",
    "find_frames": "_where",
    "find_markdown_alternate": "_where",
    "find_media_type": "_types",
    "find_problem": "_isolation.pool",
    "find_refresh": "_where",
    "find_transcripts": "_where",
    "is_safe": "_markdown.sanitizer",
    "make_safe": "_choice",
    "make_text_safe": "_choice",
    "prepare": "_isolation.pool",
    "read_html": "_html.page",
    "read_page": "_where",
    "sanitize": "_markdown.sanitizer",
}

# type checkers see the imports above; with this function, they would accept any name
if not typing.TYPE_CHECKING:
    __getattr__ = importer(__name__, _HOMES)


def read_bytes(
    data: bytes,
    url: str,
    content_type: str | None = None,
    *,
    links: Links = "keep",
    comments: Responses | None = None,
    reviews: Responses | None = None,
    isolate: Isolation = False,
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
        isolate: Where to read: ``False`` for this process, which no deadline ends;
            ``True`` for another one, which is killed at the deadline. Where none can be
            started, ``True`` reads the first 512 KiB here, and ``require`` is an error.
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
        ConfigurationError: *isolate* is ``require``, and no process can be started.
    """
    from ._where import read_page

    options: ReadingOptions = {"links": links, "comments": comments, "reviews": reviews}
    parsing = Parsing(isolate, processes)
    return read_page(
        data, url, content_type, parsing=parsing, cut=cut, ocr=ocr, **options
    )
