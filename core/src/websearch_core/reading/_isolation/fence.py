"""What this process has others do with the text of a page, since no page can be trusted
to end: convert it, choose a part of it, look something up in its source.

The parsers are not imported here. Where no process can be started, this one reads the
beginning of the page, in which nothing takes long.
"""

from __future__ import annotations
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from ..._runtime.scope import Parsing
from ...errors import TooLarge
from ...models import Page
from ...tokens import estimate_tokens
from .._excerpt.spec import Excerpt
from .._links import Links
from .messages import MAX_BODY, MAX_PICTURES, PART, cut_page
from .pool import run
from .worker import Functions, Worker

if TYPE_CHECKING:
    from .._types import ReadingOptions

# bytes of a page that are read here, if no process can be started: of 50 pages of the
# corpus, 46 are not longer
MAX_HERE = 2**19
# what choosing a part depends on, besides the text
_FACTS = ("url", "final_url", "title", "media_type", "truncated", "notes")
_NO_PROCESS = "no process could be started to read it"


def convert(
    data: bytes,
    url: str,
    content_type: str | None,
    parsing: Parsing,
    **options: Unpack[ReadingOptions],
) -> Page:
    """Convert a page as `websearch_core.reading.read_bytes` does."""
    if parsing.isolate is False:
        return _convert_here(data, url, content_type, **options)
    wants_pictures = options.get("texts") == {}

    def ask(worker: Worker) -> Page:
        return worker.ask(
            "read",
            data,
            _decode_page,
            max_body=MAX_PICTURES if wants_pictures else MAX_BODY,
            url=url,
            content_type=content_type,
            **options,
        )

    instead = partial(_convert_beginning, data, url, content_type, **options)
    return run(ask, instead, parsing)


def choose(page: Page, part: Excerpt, links: Links | None, parsing: Parsing) -> Page:
    """Choose a part of a whole page, as `_choice.choose` does."""
    if parsing.isolate is False:
        return _choose_here(page, part, links)
    text = page.content.encode(errors="replace")
    rest = page.rest.encode(errors="replace")
    facts = {name: getattr(page, name) for name in _FACTS}
    # functions stay here
    options = {name: value for name, value in vars(part).items() if not callable(value)}

    def ask(worker: Worker) -> Page:
        return worker.ask(
            "choose",
            text + rest,
            partial(_decode_part, page),
            functions=_functions_of(part),
            page=facts,
            size=len(text),
            part=options,
            links=links,
        )

    def instead() -> Page:
        return _choose_here(_take_beginning(page), part, links)

    chosen = run(ask, instead, parsing)
    if links is None or links == "keep":
        return chosen
    data = chosen.data and chosen.data.without_links()
    return chosen.model_copy(update={"links": (), "data": data})


def _functions_of(part: Excerpt) -> Functions:
    """Return the developer's functions that choosing *part* calls, each with a list of
    texts as its argument and a result for JSON.
    """
    functions: Functions = {}
    if part.count is not estimate_tokens:
        functions["count"] = lambda texts: int(part.count(texts[0]))
    passages_by = part.passages_by
    if passages_by is not None:

        def score(texts: list[str]) -> list[float]:
            return list(map(float, passages_by(texts[0], texts[1:])))

        functions["passages_by"] = score
    return functions


def look(name: str, data: bytes, parsing: Parsing, **arguments: Any) -> Any:
    """Look something up in the source of a page: *name* is that of a function of
    `tasks`.
    """
    if parsing.isolate is False:
        return _look_here(name, data, arguments)

    def ask(worker: Worker) -> Any:
        return worker.ask("look", data, _decode_find, name=name, **arguments)

    instead = partial(_look_here, name, data[:MAX_HERE], arguments)
    return run(ask, instead, parsing)


# The parsers are imported when they are needed here, which is rarely.


def _convert_here(
    data: bytes,
    url: str,
    content_type: str | None,
    **options: Unpack[ReadingOptions],
) -> Page:
    from .._formats import convert as convert_here

    return convert_here(data, url, content_type, **options)


def _convert_beginning(
    data: bytes,
    url: str,
    content_type: str | None,
    **options: Unpack[ReadingOptions],
) -> Page:
    """Convert as much of a page as is safe in this process."""
    if len(data) <= MAX_HERE:
        return _convert_here(data, url, content_type, **options)
    from .._sniff import media_type, named
    from .._types import find_type

    kind = media_type(data, content_type)
    document_type = find_type(kind, url)
    if document_type is not None and document_type.needs_end:
        raise TooLarge(f"{named(kind)}, larger than 512 KiB, and {_NO_PROCESS}")
    page = _convert_here(data[:MAX_HERE], url, content_type, **options)
    page = page.model_copy(update={"truncated": True})
    return page.with_notes(f"only its first 512 KiB were read: {_NO_PROCESS}")


def _choose_here(page: Page, part: Excerpt, links: Links | None) -> Page:
    from .._choice import choose as choose_here

    return choose_here(page, part, links)


def _take_beginning(page: Page) -> Page:
    """Return *page* with as much of its text as is safe to search in this process."""
    if len(page.content) + len(page.rest) <= MAX_HERE:
        return page
    part = cut_page(page, MAX_HERE)
    size = part.content_length
    return part.with_notes(
        f"only the first {size:,} characters of its text are used: {_NO_PROCESS}"
    )


def _look_here(name: str, data: bytes, arguments: dict[str, Any]) -> Any:
    from .tasks import LOOKS

    return LOOKS[name](data, **arguments)


def _decode_page(head: dict[str, Any], body: bytearray) -> Page:
    text, rest = head["sizes"]
    content = str(memoryview(body)[:text], "utf-8")
    files: dict[str, bytes] = {}
    begin = text + rest
    for name, size in head["files"].items():
        files[name] = bytes(memoryview(body)[begin : begin + size])
        begin += size
    update = {
        "content": content,
        "rest": str(memoryview(body)[text : text + rest], "utf-8"),
        "files": files,
    }
    return Page.model_validate({**head["page"], **update})


def _decode_part(page: Page, head: dict[str, Any], body: bytearray) -> Page:
    """Return *page* with what the answer says about a part of it, and nothing else."""
    facts = {name: value for name, value in head["page"].items() if name in PART}
    part = Page.model_validate(
        {"url": page.url, **facts, "content": str(body, "utf-8")}
    )
    update = {name: getattr(part, name) for name in (*facts, "content")}
    return page.model_copy(update=update)


def _decode_find(head: dict[str, Any], _: bytearray) -> Any:
    return head["found"]
