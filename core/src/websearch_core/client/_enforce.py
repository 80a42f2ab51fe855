"""Enforce the query and the promises of readers on every response and page, for all
providers.
"""

from __future__ import annotations
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from .._text.escaping import escape_text, escape_url, escape_urls
from .._text.quantity import quantity
from .._text.urls import find_page, is_web_url, serialize
from ..errors import WebSearchError
from ..models import Image, Page, PageData, SearchQuery, SearchResponse, SearchResult
from ..models._domains import Domains

if TYPE_CHECKING:
    from ..reading import Excerpt

_M = TypeVar("_M", bound=BaseModel)
# plain text, written by the page
_FACTS = ("title", "author", "description", "site_name", "language")


def enforce_query(
    response: SearchResponse, query: SearchQuery, max_snippet_chars: int | None = None
) -> SearchResponse:
    """Enforce *query* on a response, whatever the service returned.

    No page twice, none outside the domain filter, at most ``limit`` results, ranked and
    numbered from 1. ``notes`` counts the results outside the filter. Texts are escaped,
    so that they contain neither Markdown nor HTML.
    """
    response = _with(
        response,
        results=tuple(map(_escape_result, response.results)),
        answer=escape_text(response.answer) if response.answer else response.answer,
        images=tuple(
            _escape_image(image) for image in response.images if is_web_url(image.url)
        ),
        suggestions=tuple(map(escape_text, response.suggestions)),
        notes=tuple(map(escape_text, response.notes)),
    )
    if max_snippet_chars is not None:
        cut = tuple(
            _cut_snippet(result, max_snippet_chars) for result in response.results
        )
        response = _with(response, results=cut)
    inside: Sequence[SearchResult] = response.results
    if query.allowed_domains or query.blocked_domains:
        wanted = Domains(query.allowed_domains, query.blocked_domains)
        images = tuple(
            image
            for image in response.images
            if wanted.permits(image.page_url or image.url)
        )
        response = _with(response, images=images)
        inside = [result for result in inside if wanted.permits(result.url)]
    outside = len(response.results) - len(inside)
    kept: dict[str, SearchResult] = {}
    for result in inside:
        kept.setdefault(find_page(result.url), result)
    shown = list(kept.values())[: query.limit]
    numbered = tuple(
        _with(result, rank=n, citation_id=n) for n, result in enumerate(shown, 1)
    )
    whole = _with(response, results=numbered)
    return (
        whole.with_notes(
            f"{quantity(outside, 'result')} outside the domain filter left out"
        )
        if outside
        else whole
    )


def _escape_result(result: SearchResult) -> SearchResult:
    return _with(
        result,
        title=" ".join(escape_text(result.title).split()),
        snippet=escape_text(result.snippet),
        url=escape_url(result.url),
        author=result.author and " ".join(escape_text(result.author).split()),
        content=_make_safe(result),
        published_text=result.published_text
        and " ".join(escape_text(result.published_text).split()),
    )


def _make_safe(result: SearchResult) -> str | None:
    if not result.content:
        return result.content
    # imports the parser, which most searches do not need
    from ..reading import make_text_safe

    return make_text_safe(result.content, result.url)


def _escape_image(image: Image) -> Image:
    page = image.page_url
    return _with(
        image,
        url=escape_url(image.url),
        description=escape_text(image.description),
        page_url=escape_url(page) if page and is_web_url(page) else None,
    )


def _with(value: _M, **fields: Any) -> _M:
    """Return *value* with these *fields*; itself if it has them already, as most do."""
    changed = {name: new for name, new in fields.items() if new != getattr(value, name)}
    return value.model_copy(update=changed) if changed else value


def _cut_snippet(result: SearchResult, most: int) -> SearchResult:
    if len(result.snippet) <= most:
        return result
    # a backslash without its character would escape the ellipsis
    kept = result.snippet[: most - 1].rstrip(" \\")
    return result.model_copy(update={"snippet": f"{kept}…"})


def enforce_content(
    response: SearchResponse,
    query: SearchQuery,
    max_snippet_chars: int | None,
    part: Excerpt,
) -> SearchResponse:
    """Do what `enforce_query` does, and cut texts that the service returned to *part*;
    call it off the event loop.

    A text without the words of the query is cut to its beginning.
    """
    response = enforce_query(response, query, max_snippet_chars)
    return response.model_copy(
        update={
            "results": tuple(_cut_content(result, part) for result in response.results)
        }
    )


def _cut_content(result: SearchResult, part: Excerpt) -> SearchResult:
    length = len(result.content or "")
    if not result.content or part.max_length is None or length <= part.max_length:
        return result
    page = Page(
        url=result.url,
        content=result.content,
        content_length=length,
        original_length=length,
    )
    # imports the parser, which most searches do not need
    from ..reading import choose_part

    chosen = choose_part(page, part, None)
    return result.model_copy(update={"content": _close_code(chosen.content)})


def attach_content(
    response: SearchResponse, pages: Sequence[Page | WebSearchError | None]
) -> SearchResponse:
    """Put the passages of *pages* into the first results, or their beginnings; notes
    name those without, and why.

    None stands for a page that was not read, because the service returned its text.
    """
    results, notes = list(response.results), []
    for n, (result, page) in enumerate(zip(results, pages, strict=False)):
        if page is None:
            continue
        place = _ordinal(n + 1)  # not its number, which a conversation can still change
        if isinstance(page, WebSearchError):
            notes.append(
                f"the {place} result could not be read ({page.code}): only its snippet "
                f"is known"
            )
            continue
        if not page.passages:
            shown = (
                "its beginning is shown"
                if page.content
                else "only its snippet is known"
            )
            notes.append(
                f"the page of the {place} result contains no word of the query: {shown}"
            )
        if page.content:
            results[n] = result.model_copy(
                update={"content": _close_code(page.content)}
            )
    return response.model_copy(update={"results": tuple(results)}).with_notes(*notes)


def _ordinal(n: int) -> str:
    ending = (
        "th"
        if n % 100 in {11, 12, 13}
        else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    )
    return f"{n}{ending}"


def _close_code(content: str) -> str:
    """Close a code block that was cut: otherwise, it would continue into the next
    results.
    """
    if "```" not in content and "~~~" not in content:
        return content
    from ..reading import sanitize

    return sanitize(content).text


def enforce_page(page: Page) -> Page:
    """Enforce what readers promise on a whole page, for every reader.

    The page contains nothing that a person would not see, and nothing that a front end
    would fetch or run.
    """
    # imports the parser, which a search does not need
    from ..reading import make_safe

    return make_safe(enforce_facts(page))


def enforce_facts(page: Page) -> Page:
    """Do the same for everything but the text of a page."""
    web_url = serialize(page.final_url) if is_web_url(page.final_url) else page.url
    final = page.final_url if page.final_url.startswith("file:") else web_url
    facts: dict[str, Any] = {}
    for name in _FACTS:
        text = getattr(page, name)
        if text:
            facts[name] = " ".join(escape_text(text).split())
    if page.data:
        facts["data"] = PageData.model_validate(_make_inert(page.data.model_dump()))
    facts["final_url"] = final
    facts["links"] = escape_urls(page.links)
    facts["notes"] = tuple(map(escape_text, page.notes))
    return page.model_copy(update=facts)


def _make_inert(value: Any, key: str = "") -> Any:
    """Return the data of a page with its texts as plain text on one line, and its links
    as http(s) URLs.
    """
    if isinstance(value, str):
        if key in {"url", "next_url"}:
            return escape_url(value) if is_web_url(value) else None
        return (
            value
            if value.isalnum() and value.isascii()
            else " ".join(escape_text(value).split())
        )
    if isinstance(value, dict):
        return {
            _make_inert(name): one if one is None else _make_inert(one, name)
            for name, one in value.items()
        }
    return (
        [_make_inert(one) for one in value]
        if isinstance(value, list | tuple)
        else value
    )
