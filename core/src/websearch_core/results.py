"""From what services say to results that keep our promises."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal
from urllib.parse import urlsplit

from .clean import clean, removed
from .dates import parse_date
from .errors import WebSearchError
from .escaping import escape_text, escape_url
from .guard import canonical, is_readable
from .models import Page, SearchQuery, SearchResponse, SearchResult
from .service import changed, rows

_FACTS = ("title", "author", "description", "site_name", "language")  # plain text, in the words of the page
_MARKUP = re.compile(
    r"</?(?:a|b|br|code|div|em|font|h[1-6]|i|li|mark|ol|p|q|s|small|span|strong|sub|sup|u|ul|wbr)\b[^<>]*>",
    re.IGNORECASE,
)
Pick = str | Callable[[Mapping[str, Any]], Any]


def plain(text: Any) -> str:
    """Turn a title or snippet into plain text: strip markup, then unescape entities, once; no invisible characters."""
    if not isinstance(text, str):
        return ""
    if "<" in text:
        text = _MARKUP.sub("", text)
    if "&" in text:
        text = html.unescape(text)
    return clean(text)[0].replace("\xa0", " ").strip()


def found(
    items: Any,
    provider: str,
    *,
    title: Pick = "title",
    url: Pick = "url",
    snippet: Pick = "snippet",
    score: Pick = "score",
    published: Pick = "published",
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
        raise changed(provider)
    results: list[SearchResult] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        address = _picked(item, url)
        if not isinstance(address, str) or not is_readable(address := address.strip()):
            continue
        results.append(
            SearchResult(
                title=plain(_picked(item, title)) or address,
                url=address,
                snippet=plain(_picked(item, snippet)),
                score=_score(_picked(item, score)),
                published=parse_date(_picked(item, published)),
                provider=provider,
                rank=len(results) + 1,
                citation_id=len(results) + 1,
                raw=item,
            )
        )
    if items and not results and not any(isinstance(_picked(item, url), str) for item in rows(items)):
        raise changed(provider)
    return tuple(results)


def settle(response: SearchResponse, query: SearchQuery) -> SearchResponse:
    """
    Hold a response to what was asked, whatever the service did with it.

    No URL twice, none outside the domain filter, at most ``limit``; ranked and numbered from 1. What was taken out
    because the service did not honour the filter is said in ``notes``. No text in it is Markdown or HTML.
    """
    response = _escaped(response)
    inside = [result for result in response.results if in_domains(result.url, query)]
    strangers = len(response.results) - len(inside)
    kept: dict[str, SearchResult] = {}
    for result in inside:
        kept.setdefault(result.url, result)
    numbered = tuple(_numbered(result, n) for n, result in enumerate(list(kept.values())[: query.limit], 1))
    settled = response if numbered == response.results else response.model_copy(update={"results": numbered})
    if strangers:
        return settled.noting(f"{strangers} result{'s' * (strangers > 1)} outside the domain filter left out")
    return settled


def _escaped(response: SearchResponse) -> SearchResponse:
    update = {
        "results": tuple(map(_escaped_result, response.results)),
        "answer": escape_text(response.answer) if response.answer else response.answer,
        "suggestions": tuple(map(escape_text, response.suggestions)),
        "notes": tuple(map(escape_text, response.notes)),
    }
    changed = {name: value for name, value in update.items() if value != getattr(response, name)}
    return response.model_copy(update=changed) if changed else response


def _escaped_result(result: SearchResult) -> SearchResult:
    texts = {"title": escape_text(result.title), "snippet": escape_text(result.snippet), "url": escape_url(result.url)}
    changed = {name: text for name, text in texts.items() if text != getattr(result, name)}
    return result.model_copy(update=changed) if changed else result


def _numbered(result: SearchResult, n: int) -> SearchResult:
    return result if result.rank == n == result.citation_id else result.model_copy(update={"rank": n, "citation_id": n})


def with_content(response: SearchResponse, pages: Sequence[Page | WebSearchError]) -> SearchResponse:
    """Put into the first results what their *pages* say to the query; notes say of which there is nothing, and why."""
    results, notes = list(response.results), []
    for n, (result, page) in enumerate(zip(results, pages, strict=False)):
        if isinstance(page, WebSearchError):
            notes.append(f"result {result.citation_id} could not be read ({page.code}): only its snippet is known")
        elif page.passages:
            results[n] = result.model_copy(update={"content": _closed(page.content)})
        else:
            notes.append(f"the page of result {result.citation_id} holds no word of the query: its snippet stands")
    return response.model_copy(update={"results": tuple(results)}).noting(*notes)


def _closed(content: str) -> str:
    """End a block of code that was cut: it would go on in the results after it."""
    if "```" not in content and "~~~" not in content:
        return content
    from .reading.markdown.sanitizer import sanitize

    return sanitize(content).text


def settle_page(page: Page) -> Page:
    """
    Hold a whole page to what readers promise, whoever read it.

    Nothing in it that a person would not see, and nothing that a front end would fetch or run.
    """
    from .reading.markdown.sanitizer import is_safe, sanitize  # brings the parser, which a search does not need

    content, count = clean(page.content)
    there = canonical(page.final_url) if is_readable(page.final_url) else page.url
    final = page.final_url if page.final_url.startswith("file:") else there
    if not is_safe(content):
        content = sanitize(content, final).text
    facts = {name: escape_text(text) for name in _FACTS if (text := getattr(page, name))}
    tidy = page.model_copy(
        update={
            **facts,
            "content": content,
            "final_url": final,
            "links": tuple(map(escape_url, page.links)),
            "notes": tuple(map(escape_text, page.notes)),
        }
    )
    return tidy.noting(*removed(count))


def without_links(page: Page, links: Literal["text", "drop"]) -> Page:
    """Return a whole page whose links are their ``text`` alone, or dropped with it."""
    from .reading.markdown.sanitizer import sanitize

    content = sanitize(page.content, page.final_url, links).text
    return page.model_copy(update={"content": content, "links": ()})


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


def _picked(item: Mapping[str, Any], pick: Pick) -> Any:
    return item.get(pick) if isinstance(pick, str) else pick(item)
