"""What readers share: pages made of what a service or a site answers, and the errors
if it answers none.
"""

from __future__ import annotations
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

from .. import errors
from .._runtime.scope import current_call
from .._runtime.threads import submit
from .._text.dates import parse_date
from .._text.urls import find_page, identify, is_web_url
from ..flow import Flow, Response
from ..models import Page
from ._http import as_number, as_objects, as_text, error_for, redact, unexpected_format
from ._obstacles import asks_for_login, find_challenge, find_challenge_text
from ._ports import BatchReader, PageReader
from ._results import plain_text

_NO_PAGES = {204, 205}
_CHOICES = {300, 301, 302, 303, 307, 308}  # pages if they lead nowhere
_STATUSES: Mapping[type[errors.ServiceError], tuple[int, ...]] = {
    errors.PageNotFound: (404, 410),
    errors.AccessDenied: (401, 402, 407, 451),
    errors.Blocked: (403, 418, 429, 430, 999),  # Shopify's, LinkedIn's
    errors.TimedOut: (408, 504, 522, 524),
}
_KINDS: dict[int, type[errors.ServiceError]] = {}
for _kind, _statuses in _STATUSES.items():
    _KINDS |= dict.fromkeys(_statuses, _kind)
_HINTS = {
    401: "it needs a login",
    402: "it needs payment",
    403: "its site refuses programs, or everyone",
    407: "it needs a login",
    418: "its site refuses programs",
    430: "its site refuses programs",
    451: "it is withheld for legal reasons",
    999: "its site refuses programs",
}
_CAUSES: Mapping[type[errors.ServiceError], str] = {
    errors.PageNotFound: "the page does not exist",
    errors.Blocked: "the page refuses to be read",
    errors.TimedOut: "the page did not answer in time",
    errors.TooLarge: "the page is too large",
    errors.UnsupportedContent: "the service cannot turn this kind of page into text",
}
_MAX_TITLE = 300
_MAX_DESCRIPTION = 1000
_is_loaded = threading.Event()  # set once `websearch_core.reading` is imported


def page_error(
    reader: PageReader,
    *,
    status: Any = None,
    kind: type[errors.ServiceError] | None = None,
    detail: Any = None,
) -> errors.ServiceError:
    """Make the error for a page that a service could not read. The service's own
    answer may be a success.

    Args:
        reader: The reader.
        status: The HTTP status that the site answered, if the service states it. What
            is not the status of a failure is ignored.
        kind: The class of the error, if the caller knows it better than the status
            does. By default `Unavailable`.
        detail: The service's own message; ignored if it is not a string.
    """
    status = _as_failure(status)
    kind = kind or _KINDS.get(status or 0, errors.Unavailable)
    cause = _CAUSES.get(kind, "it could not read the page")
    if status is not None:
        cause = f"the page answered {status}"
    if status in _HINTS:
        cause += f": {_HINTS[status]}"
    error = kind(
        f"{reader.name} read failed: {cause}",
        provider=reader.name,
        status=status,
        detail=redact(detail, reader) if isinstance(detail, str) else None,
    )
    is_server_error = kind is errors.Unavailable and (status or 0) >= 500
    error.temporary = kind is errors.TimedOut or is_server_error
    error.concerns_page = True
    return error


def _as_failure(status: Any) -> int | None:
    """Return *status* as a number if it is that of a failure."""
    number = as_number(status)
    if number is None or not 400 <= number < 1000:
        return None
    return int(number)


def as_links(value: Any) -> tuple[str, ...]:
    """Return the absolute http(s) URLs in *value* if it is a list, else none."""
    if not isinstance(value, list):
        return ()
    texts = [item for item in value if isinstance(item, str)]
    return tuple(filter(is_web_url, texts))


def check_response(
    response: Response,
    reader: PageReader,
    text: str | None = None,
    start_url: str = "",
) -> None:
    """Check that a site answered with its page, for readers that open pages themselves.

    Args:
        response: The site's response, after redirects.
        reader: The reader.
        text: The text of the page, once it is parsed. It shows what a status of success
            hides: many challenges, and pages that ask for a login.
        start_url: The URL of the page, before redirects.

    Raises:
        Blocked: It is a challenge against robots, or the site refuses programs.
        AccessDenied: It needs a login or payment.
        PageNotFound: The page does not exist.
        ServiceError: Its status means something else, see `error_for`.
    """
    is_failure = not _has_page(response)
    if text is None and not is_failure:
        return
    vendor = find_challenge(response, text)
    if vendor:
        raise error_for(
            response,
            reader,
            verb="read",
            kind=errors.Blocked,
            hint=f"a challenge against robots by {vendor}",
        )
    if is_failure:
        raise _make_failure(response, reader)
    if text is not None and asks_for_login(
        text, response.content, response.url, start_url
    ):
        raise error_for(
            response,
            reader,
            verb="read",
            kind=errors.AccessDenied,
            hint="the page asks for a login",
        )


def _has_page(response: Response) -> bool:
    """Return whether the status says that the content is the page, as it does to a
    browser: an unknown success is one (RFC 9110, 15).
    """
    if response.status in _CHOICES:
        return bool(response.content)
    return 200 <= response.status < 300 and response.status not in _NO_PAGES


def _make_failure(response: Response, reader: PageReader) -> errors.ServiceError:
    """Make the error for the status of a page that we opened."""
    kind = _KINDS.get(response.status)
    if response.status == 429 or kind is errors.TimedOut:
        kind = None  # the site answers us, so it means what it means from a service
    hint = _HINTS.get(response.status, "")
    return error_for(response, reader, verb="read", kind=kind, hint=hint)


def check_text(reader: PageReader, title: str, text: str) -> None:
    """Check that what a service returned as a page is one.

    Raises:
        Blocked: It is a challenge against robots.
        UnsupportedContent: It is empty.
    """
    vendor = find_challenge_text(title, text)
    if vendor:
        message = f"{reader.name} read failed: a challenge against robots by {vendor}"
        raise errors.Blocked(message, provider=reader.name)
    if not text.strip():
        raise errors.UnsupportedContent(
            f"{reader.name} read failed: the page has no text", provider=reader.name
        )


def find_records(
    urls: Sequence[str], records: Any, *, key: str = "url"
) -> list[dict[str, Any] | None]:
    """Return the record of each of *urls*, or None if it has none. Services answer in
    any order, and spell URLs differently.

    *records* is the decoded list; each has its URL at *key*. If only one URL was sent,
    the first record belongs to it, whatever its URL.
    """
    by_url: dict[str, dict[str, Any]] = {}
    items = as_objects(records)
    for item in items:
        url = item.get(key)
        if isinstance(url, str):
            by_url.setdefault(identify(url), item)
            by_url.setdefault(find_page(url), item)
    matches = [by_url.get(identify(url)) or by_url.get(find_page(url)) for url in urls]
    if len(urls) == 1:
        return [matches[0] or next(iter(items), None)]
    return matches


def read_alone(reader: BatchReader, url: str, /) -> Flow[Page]:
    """Read the page at *url* with ``read_many``.

    A reader that has this method uses this function as its method ``read``.
    """
    (page,) = yield from reader.read_many([url])
    if isinstance(page, errors.WebSearchError):
        raise page
    return page


def parse_page(  # noqa: PLR0913 - a keyword for each field
    reader: PageReader,
    url: str,
    text: Any,
    *,
    title: Any = None,
    final_url: Any = None,
    media_type: Any = None,
    author: Any = None,
    published: Any = None,
    modified: Any = None,
    description: Any = None,
    site_name: Any = None,
    **facts: Any,
) -> Page:
    """Make a page of what a service says about it. A value of the wrong type is left
    out, except for *text*.

    Args:
        reader: The reader.
        url: The URL that the caller asked for.
        text: The text of the page, as Markdown.
        title: Its title, plain or with markup; if there is none, the first heading of
            the text.
        final_url: The URL that redirects led to; *url* if that is not an absolute
            http(s) URL.
        media_type: The content type of the page.
        author: Who wrote it.
        published: When it was published, in any common form.
        modified: When it was last changed.
        description: What it says about itself.
        site_name: The name of its site.
        facts: Other fields of `Page`, unchecked.

    Raises:
        BadResponse: *text* is not a string.
        Blocked: It is a challenge against robots.
        UnsupportedContent: It is empty.
    """
    if not isinstance(text, str):
        raise unexpected_format(reader.name, "read")
    title = plain_text(title)[:_MAX_TITLE] or first_heading(text)
    check_text(reader, title, text)
    final = as_text(final_url) or url
    return Page(
        url=url,
        final_url=final if is_web_url(final) else url,
        title=title,
        content=text,
        media_type=str(media_type or "").partition(";")[0].strip(),
        author=plain_text(author) or None,
        published=parse_date(published),
        modified=parse_date(modified),
        description=plain_text(description)[:_MAX_DESCRIPTION] or None,
        site_name=plain_text(site_name) or None,
        provider=reader.name,
        **facts,
    )


def parse_pages(
    parse: Callable[..., Page],
    *columns: Iterable[Any],
    cost: float | None = None,
    usage: Mapping[str, float] = MappingProxyType({}),
) -> list[Page | errors.WebSearchError]:
    """Return, for each page of one request, what *parse* makes of it, or its error.

    Args:
        parse: Makes a page, such as with `parse_page`, of one item of each column.
        columns: The URLs, and what the service returned for each.
        cost: The cost of the request in US dollars. The first page that is not an
            error carries it, so that the sum is right.
        usage: What the request consumed, by unit. The same page carries it.
    """
    pages: list[Page | errors.WebSearchError] = []
    charge: dict[str, Any] = {"cost": cost, "usage": dict(usage)}
    for items in zip(*columns, strict=True):
        try:
            pages.append(parse(*items).model_copy(update=charge))
            charge = {}  # only once
        except errors.ServiceError as error:
            pages.append(error)
    return pages


def prepare_parser() -> None:
    """Start what parses pages while the request is under way; for readers that open
    pages themselves. It returns at once.

    There is nothing to start if pages are parsed in this process.
    """
    if current_call().parsing.isolate is False:
        return
    if not _is_loaded.is_set():
        submit(_load_reading)
        return
    from .. import reading

    reading.prepare()


def _load_reading() -> None:
    from .. import reading  # slow to import, and searches do not need it

    reading.prepare()
    # It cuts a part of a short page in this process, once the page is parsed.
    import_module("websearch_core.reading._choice")
    _is_loaded.set()


def parse_response(
    reader: PageReader,
    response: Response,
    url: str,
    final_url: str,
    max_bytes: int,
    **options: Any,
) -> Page:
    """Parse a page of any type, as its site sent it; for readers that open pages
    themselves. It takes time, so it belongs in a `Call`.

    Args:
        reader: The reader.
        response: The site's response.
        url: The URL of the page.
        final_url: The URL that redirects led to.
        max_bytes: The limit that the request set for the response.
        options: Those of `websearch_core.reading.read_page`.

    Raises:
        TooLarge: The response was cut, and only a whole one of its format can be read.
    """
    from ..reading import read_page  # slow to import, and searches do not need it

    cut = ""
    if response.truncated and len(response.content) >= max_bytes:
        cut = f"larger than {max_bytes / 2**20:.4g} MiB"
    elif response.truncated:
        cut = "not all of it arrived"
    try:
        page = read_page(
            response.content,
            final_url,
            response.headers.get("content-type"),
            cut=cut,
            ocr=current_call().content.ocr,
            **options,
        )
    except errors.TooLarge as error:
        raise errors.TooLarge(
            f"{reader.name} read failed: {error}", provider=reader.name
        ) from error
    return complete_page(reader, page, response, url, final_url)


def complete_page(
    reader: PageReader, page: Page, response: Response, url: str, final_url: str
) -> Page:
    """Return *page*, which was parsed from *response*, with its URLs, reader and
    status, and a note if it is not the whole page.
    """
    update = {
        "url": url,
        "final_url": final_url,
        "provider": reader.name,
        "status": response.status,
    }
    page = page.model_copy(update=update)
    if not response.truncated and response.status != 206:
        return page
    page = page.model_copy(update={"truncated": True})
    return page.with_notes(
        f"the page is longer than the {len(response.content)} bytes that were read"
    )


def with_text(page: Page, text: str, **facts: Any) -> Page:
    """Return *page* with another text, all of which it is, and *facts*: other fields of
    it.
    """
    size = len(text)
    update = {"content": text, "content_length": size, "original_length": size}
    return page.model_copy(update=update | facts)


def first_heading(markdown: str) -> str:
    """Return the text of the first heading in *markdown*, or an empty text.

    It stands in for the title that a service does not return.
    """
    heading = re.search(r"^#{1,6} ++(.+)$", markdown, re.MULTILINE)
    if heading is None:
        return ""
    return plain_text(heading[1].rstrip(" #"))[:_MAX_TITLE]
