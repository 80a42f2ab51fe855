"""What readers share: the error for a page that a service could not read, the title of a text, the links of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .._text.urls import find_page, identify, is_web_url
from ..errors import (
    AccessDenied,
    Blocked,
    PageNotFound,
    ServiceError,
    TimedOut,
    TooLarge,
    Unavailable,
    UnsupportedContent,
    WebSearchError,
)
from ..flow import Flow, Response
from ..models import Page
from ._http import as_number, as_objects, error_for, redact
from ._obstacles import asks_for_login, find_challenge, find_challenge_text
from ._ports import BatchReader, PageReader
from ._results import plain_text

_SUCCESSES = {200, 203, 206}  # of a page: 204 and 205 have none
_STATUSES: Mapping[type[ServiceError], tuple[int, ...]] = {
    PageNotFound: (404, 410),
    AccessDenied: (401, 402, 407, 451),
    Blocked: (403, 418, 429, 999),  # 999 is LinkedIn's
    TimedOut: (408, 504, 522, 524),
}
_KINDS = {status: kind for kind, statuses in _STATUSES.items() for status in statuses}
_HINTS: Mapping[int, str] = MappingProxyType(
    {
        401: "it needs a login",
        402: "it needs payment",
        403: "its site refuses programs, or everybody",
        407: "it needs a login",
        418: "its site refuses programs",
        451: "it is withheld for legal reasons",
        999: "its site refuses programs",
    }
)
_CAUSES: Mapping[type[ServiceError], str] = MappingProxyType(
    {
        PageNotFound: "the page does not exist",
        Blocked: "the page refuses to be read",
        TimedOut: "the page did not answer in time",
        TooLarge: "the page is too large",
        UnsupportedContent: "the page is of a kind that it cannot turn into text",
    }
)
_MAX_TITLE = 300


def page_error(
    reader: PageReader, *, status: Any = None, kind: type[ServiceError] | None = None, detail: Any = None
) -> ServiceError:
    """
    Make the error for a page that a service could not read, even if the service's own answer is a success.

    Args:
        reader: The reader.
        status: The HTTP status that the page answered, if the service states it; anything but that is ignored.
        kind: The class of the error, if the caller knows it better than the status does. By default `Unavailable`.
        detail: The service's own message; ignored if it is not a string.

    """
    number = as_number(status) or 0
    status = int(number) if 400 <= number < 1000 else None
    kind = kind or (_KINDS.get(status) if status else None) or Unavailable
    cause = f"the page answered {status}" if status else _CAUSES.get(kind, "it could not read the page")
    cause += f": {_HINTS[status]}" if status in _HINTS else ""
    words = redact(detail, reader) if isinstance(detail, str) else None
    error = kind(f"{reader.name} read failed: {cause}", provider=reader.name, status=status, detail=words)
    error.temporary = kind is TimedOut or (kind is Unavailable and (status or 0) >= 500)
    error.concerns_page = True
    return error


def as_links(value: Any) -> tuple[str, ...]:
    """Return the absolute http(s) URLs in *value* if it is a list, else none."""
    return (
        tuple(link for link in value if isinstance(link, str) and is_web_url(link)) if isinstance(value, list) else ()
    )


def check_response(response: Response, reader: PageReader, text: str | None = None, asked: str = "") -> None:
    """
    Check that a site answered with its page, for readers that open pages themselves.

    Args:
        response: The site's response, after redirects.
        reader: The reader.
        text: The text of the page, once it was parsed: many challenges and requests for a login come with a success.
        asked: The URL that was asked for, before redirects.

    Raises:
        Blocked: It is a challenge against robots, or the site refuses programs.
        AccessDenied: It needs a login or payment.
        PageNotFound: The page does not exist.
        ServiceError: Whatever else its status means, as `error_for` has it.

    """
    failed = response.status not in _SUCCESSES
    if not failed and text is None:
        return
    if who := find_challenge(response, text):
        raise error_for(response, reader, verb="read", kind=Blocked, hint=f"a challenge against robots by {who}")
    if failed:
        kind = _KINDS.get(response.status)
        if response.status == 429 or kind is TimedOut:  # the same as from a service
            kind = None
        raise error_for(response, reader, verb="read", kind=kind, hint=_HINTS.get(response.status, ""))
    if text is not None and asks_for_login(text, response.content, response.url, asked):
        raise error_for(response, reader, verb="read", kind=AccessDenied, hint="the page asks for a login")


def check_text(reader: PageReader, title: str, text: str) -> None:
    """
    Check that what a service returned as a page is one.

    Raises:
        Blocked: It is a challenge against robots.
        UnsupportedContent: It is empty.

    """
    if who := find_challenge_text(title, text):
        message = f"{reader.name} read failed: a challenge against robots by {who}"
        raise Blocked(message, provider=reader.name)
    if not text.strip():
        raise UnsupportedContent(f"{reader.name} read failed: the page has no text", provider=reader.name)


def find_records(urls: Sequence[str], records: Any, *, key: str = "url") -> list[dict[str, Any] | None]:
    """
    Return the record of each of *urls*, or None: services answer in any order, and spell URLs differently.

    Args:
        urls: The URLs, as they were sent.
        records: The decoded list; if one URL was sent, its first record belongs to it.
        key: Where the URL is in a record.

    """
    found: dict[str, dict[str, Any]] = {}
    items = as_objects(records)
    for item in items:
        if isinstance(url := item.get(key), str):
            found.setdefault(identify(url), item)
            found.setdefault(find_page(url), item)
    known = [found.get(identify(url)) or found.get(find_page(url)) for url in urls]
    if len(urls) == 1:
        return [known[0] or next(iter(items), None)]
    return known


def read_alone(reader: BatchReader, url: str) -> Flow[Page]:
    """Read one page with a reader of many, for its method ``read``; raises its error."""
    (page,) = yield from reader.read_many([url])
    if isinstance(page, WebSearchError):
        raise page
    return page


def check_pages(
    reader: PageReader,
    pages: Iterable[Page | ServiceError],
    *,
    cost: float | None = None,
    usage: Mapping[str, float] = MappingProxyType({}),
) -> list[Page | WebSearchError]:
    """
    Return *pages*, with an error for each that `check_text` refuses; the first page has the cost of all.

    Args:
        reader: The reader.
        pages: The pages that a service returned for one request, and errors.
        cost: The cost of the request, in US dollars.
        usage: What it consumed, by unit.

    """
    checked: list[Page | WebSearchError] = []
    charge: dict[str, Any] = {"cost": cost, "usage": dict(usage)}
    for page in pages:
        if isinstance(page, Page):
            try:
                check_text(reader, page.title, page.content)
            except ServiceError as error:
                checked.append(error)
                continue
            checked.append(page.model_copy(update=charge))
            charge = {}
        else:
            checked.append(page)
    return checked


def first_heading(markdown: str) -> str:
    """Return the text of the first heading in *markdown*, for services that return no title; empty if it has none."""
    heading = re.search(r"^#{1,6} ++(.+)$", markdown, re.MULTILINE)
    return plain_text(heading[1].rstrip(" #"))[:_MAX_TITLE] if heading else ""
