"""What readers share: the error for a page that a service could not read, the title of a text, the links of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .._urls import is_web_url
from ..errors import (
    AccessDenied,
    Blocked,
    PageNotFound,
    ServiceError,
    TimedOut,
    TooLarge,
    Unavailable,
    UnsupportedContent,
)
from ._http import redact
from ._obstacles import find_challenge_text
from ._ports import PageReader
from ._results import plain_text

_KINDS: Mapping[int, type[ServiceError]] = MappingProxyType(
    dict.fromkeys((404, 410), PageNotFound)
    | dict.fromkeys((401, 402, 407, 451), AccessDenied)
    | dict.fromkeys((403, 418, 429, 999), Blocked)  # 999 is LinkedIn's
    | dict.fromkeys((408, 504, 522, 524), TimedOut)
)
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
        status: The HTTP status that the page answered, if the service states it; anything but a number is ignored.
        kind: The class of the error, if the caller knows it better than the status does. By default `Unavailable`.
        detail: The service's own message; ignored if it is not a string.

    """
    status = status if isinstance(status, int) and 400 <= status < 1000 else None
    kind = kind or (_KINDS.get(status) if status else None) or Unavailable
    cause = f"the page answered {status}" if status else _CAUSES.get(kind, "it could not read the page")
    cause += f": {_HINTS[status]}" if status in _HINTS else ""
    words = redact(detail, reader) if isinstance(detail, str) else None
    error = kind(f"{reader.name} read failed: {cause}", provider=reader.name, status=status, detail=words)
    error.temporary = kind is TimedOut or (kind is Unavailable and (status or 0) >= 500)
    return error


def as_links(value: Any) -> tuple[str, ...]:
    """Return the absolute http(s) URLs in *value* if it is a list, else none."""
    return (
        tuple(link for link in value if isinstance(link, str) and is_web_url(link)) if isinstance(value, list) else ()
    )


def page_meaning(status: int) -> tuple[type[ServiceError] | None, str]:
    """Return what a *status* of a page means, as opposed to one of a service, and a hint; None if it is the same."""
    kind = _KINDS.get(status)
    return (None if status == 429 or kind is TimedOut else kind), _HINTS.get(status, "")


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


def first_heading(markdown: str) -> str:
    """Return the text of the first heading in *markdown*, for services that return no title; empty if it has none."""
    heading = re.search(r"^#{1,6} +(.+?) *#*$", markdown, re.MULTILINE)
    return plain_text(heading[1])[:_MAX_TITLE] if heading else ""
