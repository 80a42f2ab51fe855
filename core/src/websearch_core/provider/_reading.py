"""What readers share: the error for a page that a service could not read, the title of a text, the links of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .._urls import is_web_url
from ..errors import Blocked, PageNotFound, ServiceError, TimedOut, TooLarge, Unavailable, UnsupportedContent
from ._http import redact
from ._ports import PageReader
from ._results import plain_text

_KINDS: Mapping[int, type[ServiceError]] = MappingProxyType(
    dict.fromkeys((404, 410), PageNotFound)
    | dict.fromkeys((401, 403, 407, 429, 451), Blocked)
    | dict.fromkeys((408, 504, 522, 524), TimedOut)
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
    status = status if isinstance(status, int) and 400 <= status < 600 else None
    kind = kind or (_KINDS.get(status) if status else None) or Unavailable
    cause = f"the page answered {status}" if status else _CAUSES.get(kind, "it could not read the page")
    words = redact(detail, reader) if isinstance(detail, str) else None
    error = kind(f"{reader.name} read failed: {cause}", provider=reader.name, status=status, detail=words)
    error.temporary = kind is TimedOut or (status or 0) >= 500
    return error


def as_links(value: Any) -> tuple[str, ...]:
    """Return the absolute http(s) URLs in *value* if it is a list, else none."""
    return (
        tuple(link for link in value if isinstance(link, str) and is_web_url(link)) if isinstance(value, list) else ()
    )


def first_heading(markdown: str) -> str:
    """Return the text of the first heading in *markdown*, for services that return no title; empty if it has none."""
    heading = re.search(r"^#{1,6} +(.+?) *#*$", markdown, re.MULTILINE)
    return plain_text(heading[1])[:_MAX_TITLE] if heading else ""
