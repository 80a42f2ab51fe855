"""What a process that reads pages can be asked to do; `fence` asks for it.

What converts a page is imported when the process starts, and the rest when it is
needed: somebody waits for the first page.
"""

from __future__ import annotations
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from ...models import Page
from .._formats import convert
from .._html.parse import find_frames, find_markdown_alternate, find_refresh
from .._types import ReadingOptions
from .messages import PART, cut_page

if TYPE_CHECKING:
    from .._documents.transcript import Transcript

Answer: TypeAlias = tuple[dict[str, Any], bytes]

# bytes that the text of a page may take in the process that gets it: 16 million letters
# of English, or 4 million if one sign is an emoji
_MAX_TEXT = 2**24


def read_page(
    data: bytes,
    url: str,
    content_type: str | None,
    **options: Unpack[ReadingOptions],
) -> Answer:
    """Convert the bytes of a page: the answer is all of it, with its text behind it."""
    page = _cut(convert(data, url, content_type, **options))
    texts = (page.content, page.rest)
    encoded = [text.encode(errors="replace") for text in texts]
    head = {
        "page": page.model_dump(mode="json", exclude={"content", "rest", "files"}),
        "sizes": [len(text) for text in encoded],
        "files": {name: len(file) for name, file in page.files.items()},
    }
    return head, b"".join([*encoded, *page.files.values()])


def choose_part(
    data: bytes,
    page: dict[str, Any],
    size: int,
    part: dict[str, Any],
    links: Any,
    call: Callable[..., Any],
    functions: Sequence[str],
) -> Answer:
    """Choose a part of a whole page, whose content has so many bytes of *data*.

    *call* has the parent call one of its *functions*.
    """
    from .._choice import choose
    from .._excerpt.spec import Excerpt

    if "count" in functions:
        part["count"] = partial(call, "count")
    if "passages_by" in functions:
        part["passages_by"] = lambda query, texts: call("passages_by", query, *texts)
    whole = Page(content=data[:size].decode(), rest=data[size:].decode(), **page)
    chosen = _cut(choose(whole, Excerpt(**part), links))
    facts = chosen.model_dump(mode="json", include=set(PART))
    return {"page": facts}, chosen.content.encode(errors="replace")


def look(data: bytes, name: str, **arguments: Any) -> Answer:
    """Look something up in the source of a page."""
    return {"found": LOOKS[name](data, **arguments)}, b""


def find_transcripts(data: bytes, **arguments: Any) -> list[Transcript]:
    """Return the transcripts that a page names: named tuples, which become lists."""
    from .._documents import transcript

    return transcript.find_transcripts(data, **arguments)


TASKS: dict[str, Callable[..., Answer]] = {
    "read": read_page,
    "choose": choose_part,
    "look": look,
}


LOOKS: dict[str, Callable[..., Any]] = {
    "frames": find_frames,
    "refresh": find_refresh,
    "alternate": find_markdown_alternate,
    "transcripts": find_transcripts,
}


def _cut(page: Page) -> Page:
    """Return *page* without what its text has beyond `_MAX_TEXT` bytes."""
    sizes = sys.getsizeof(page.content) + sys.getsizeof(page.rest)
    if sizes <= _MAX_TEXT:
        return page
    width = max(
        -(-sys.getsizeof(text) // (len(text) + 1)) for text in (page.content, page.rest)
    )
    part = cut_page(page, _MAX_TEXT // width)
    size = part.content_length
    return part.with_notes(f"only the first {size:,} characters of the text were read")
