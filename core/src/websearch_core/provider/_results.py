"""From what services say to results that keep our promises."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from .._text.dates import parse_date
from .._text.invisible import strip_invisible
from .._text.markup import strip_markup
from .._urls import is_web_url
from ..models import SearchQuery, SearchResult
from ._http import as_objects, unexpected_format

Getter = str | Callable[[Mapping[str, Any]], Any]


def plain_text(text: Any) -> str:
    """Turn a title or snippet into plain text: strip markup, then unescape entities, once; no invisible characters."""
    if not isinstance(text, str):
        return ""
    return strip_invisible(strip_markup(text))[0].replace("\xa0", " ").strip()


def parse_results(
    items: Any,
    provider: str,
    *,
    title: Getter = "title",
    url: Getter = "url",
    snippet: Getter = "snippet",
    score: Getter = "score",
    published: Getter = "published",
) -> tuple[SearchResult, ...]:
    """
    Read a service's list of results leniently: whatever has a usable URL is a result.

    Args:
        items: The list, as decoded.
        provider: Who found it.
        title: The key in each item, or a function of the item; likewise the others.
        url: Results whose URL is not absolute http(s), or is ambiguous, are left out.
        snippet: Plain text or markup.
        score: A number.
        published: A date in any usual form.

    Raises:
        BadResponse: It is no list at all, or none of its items is anything like a result.

    """
    if not isinstance(items, list):
        raise unexpected_format(provider)
    results: list[SearchResult] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        address = _get(item, url)
        if not isinstance(address, str) or not is_web_url(address := address.strip()):
            continue
        results.append(
            SearchResult(
                title=plain_text(_get(item, title)) or address,
                url=address,
                snippet=plain_text(_get(item, snippet)),
                score=_score(_get(item, score)),
                published=parse_date(_get(item, published)),
                provider=provider,
                rank=len(results) + 1,
                citation_id=len(results) + 1,
                raw=item,
            )
        )
    if items and not results and not any(isinstance(_get(item, url), str) for item in as_objects(items)):
        raise unexpected_format(provider)
    return tuple(results)


def in_domains(url: str, query: SearchQuery) -> bool:
    """Tell whether *url* is inside the query's domain filter; a domain stands for its subdomains too."""
    if not query.allowed_domains and not query.blocked_domains:
        return True
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    if not host.isascii():
        with suppress(UnicodeError):
            host = host.encode("idna").decode("ascii")

    def within(domain: str) -> bool:
        return host == domain or host.endswith(f".{domain}")

    if query.allowed_domains and not any(map(within, query.allowed_domains)):
        return False
    return not any(map(within, query.blocked_domains))


def _score(value: Any) -> float | None:
    """A number that can be one in JSON too."""
    try:
        score = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return None
    return score if math.isfinite(score) else None


def _get(item: Mapping[str, Any], pick: Getter) -> Any:
    return item.get(pick) if isinstance(pick, str) else pick(item)
