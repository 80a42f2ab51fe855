"""Parse and choose where the call says: in another process, unless the caller has
chosen this one. For the readers of this package, and for who calls them.
"""

from __future__ import annotations
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Unpack

from .._runtime.scope import Parsing, current_call
from ..errors import TooLarge, UnsupportedContent
from ..models import Page
from ._excerpt.spec import Excerpt
from ._isolation import fence
from ._links import Links

if TYPE_CHECKING:
    from ._documents.transcript import Transcript
    from ._types import ReadingOptions


def read_page(
    data: bytes,
    url: str,
    content_type: str | None = None,
    *,
    parsing: Parsing | None = None,
    cut: str = "",
    ocr: Callable[[bytes, str], str] | None = None,
    **options: Unpack[ReadingOptions],
) -> Page:
    """Do what `read_bytes` does, where the call says, unless *parsing* does."""
    where = current_call().parsing if parsing is None else parsing

    def read(texts: Mapping[str, str] | None) -> Page:
        chosen: ReadingOptions = {**options, "texts": texts}
        return fence.convert(data, url, content_type, where, **chosen)

    try:
        if ocr is None:
            return read(None)
        from ._documents.image import read_pictures

        return read_pictures(read, ocr)
    except UnsupportedContent as error:
        if not cut:
            raise
        from ._sniff import media_type, named
        from ._types import find_type

        kind = media_type(data, content_type)
        document_type = find_type(kind, url)
        if document_type is None or not document_type.needs_end:
            raise
        raise TooLarge(f"{named(kind)}, {cut}") from error


def choose_part(page: Page, part: Excerpt, links: Links | None) -> Page:
    """Choose a part of a whole page, made safe, where the call says."""
    return fence.choose(page, part, links, current_call().parsing)


def find_refresh(data: bytes, url: str, content_type: str | None) -> str | None:
    """Return where a page sends its visitors within five seconds, or None."""
    return _look("refresh", data, url=url, content_type=content_type)


def find_frames(data: bytes, url: str, content_type: str | None) -> list[str]:
    """Return the URLs of the frames of a page that consists of them."""
    where = current_call().parsing
    urls = fence.look("frames", data, where, url=url, content_type=content_type)
    return list(map(str, urls))


def find_markdown_alternate(
    data: bytes, url: str, content_type: str | None, header: str
) -> str | None:
    """Return the URL of the Markdown that a page, or its *header* ``Link``, names."""
    return _look("alternate", data, url=url, content_type=content_type, header=header)


def find_transcripts(
    data: bytes, url: str, content_type: str | None, *, is_feed: bool
) -> list[Transcript]:
    """Return one transcript of each video, episode or page that has some."""
    from ._documents.transcript import Transcript

    rows: list[list[str]] = fence.look(
        "transcripts",
        data,
        current_call().parsing,
        url=url,
        content_type=content_type,
        is_feed=is_feed,
    )
    return [Transcript(*row) for row in rows]


def _look(name: str, data: bytes, **arguments: str | None) -> str | None:
    url: object = fence.look(name, data, current_call().parsing, **arguments)
    if not isinstance(url, str):
        return None
    return url
