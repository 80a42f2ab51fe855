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
    count = len(response.results)
    if query.allowed_domains or query.blocked_domains:
        domains = Domains(query.allowed_domains, query.blocked_domains)
        response = _leave_out_others(response, domains)
    outside = count - len(response.results)
    pages: dict[str, SearchResult] = {}
    for result in response.results:
        pages.setdefault(find_page(result.url), result)
    results = list(pages.values())[: query.limit]
    numbered = tuple(
        _with(result, rank=rank, citation_id=rank)
        for rank, result in enumerate(results, 1)
    )
    response = _with(response, results=numbered)
    if not outside:
        return response
    left_out = quantity(outside, "result")
    return response.with_notes(f"{left_out} outside the domain filter left out")


def _leave_out_others(response: SearchResponse, domains: Domains) -> SearchResponse:
    """Return *response* with the results and images of *domains* alone."""
    results = [result for result in response.results if domains.permits(result.url)]
    images: list[Image] = []
    for image in response.images:
        if domains.permits(image.page_url or image.url):
            images.append(image)
    return _with(response, results=tuple(results), images=tuple(images))


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
    page_url: str | None = None
    if image.page_url and is_web_url(image.page_url):
        page_url = escape_url(image.page_url)
    return _with(
        image,
        url=escape_url(image.url),
        description=escape_text(image.description),
        page_url=page_url,
    )


def _with(value: _M, **fields: Any) -> _M:
    """Return *value* with these *fields*; itself if it has them already, as most do."""
    changed = {name: new for name, new in fields.items() if new != getattr(value, name)}
    if not changed:
        return value
    return value.model_copy(update=changed)


def _cut_snippet(result: SearchResult, length: int) -> SearchResult:
    if len(result.snippet) <= length:
        return result
    # a backslash without its character would escape the ellipsis
    beginning = result.snippet[: length - 1].rstrip(" \\")
    return result.model_copy(update={"snippet": f"{beginning}…"})


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
    results = tuple(_cut_content(result, part) for result in response.results)
    return response.model_copy(update={"results": results})


def _cut_content(result: SearchResult, part: Excerpt) -> SearchResult:
    if not result.content or part.max_length is None:
        return result
    length = len(result.content)
    if length <= part.max_length:
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
    results = list(response.results)
    notes: list[str] = []
    for index, page in enumerate(pages[: len(results)]):
        if page is None:
            continue
        # not its number, which a conversation can still change
        place = _ordinal(index + 1)
        if isinstance(page, WebSearchError):
            notes.append(
                f"the {place} result could not be read ({page.code}): only its snippet "
                f"is known"
            )
            continue
        if not page.passages:
            rest = "only its snippet is known"
            if page.content:
                rest = "its beginning is shown"
            notes.append(
                f"the page of the {place} result contains no word of the query: {rest}"
            )
        if page.content:
            content = _close_code(page.content)
            results[index] = results[index].model_copy(update={"content": content})
    return response.model_copy(update={"results": tuple(results)}).with_notes(*notes)


def _ordinal(number: int) -> str:
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


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
        return _make_text_inert(value, key)
    if isinstance(value, dict):
        return {
            _make_inert(name): _make_inert(part, name) for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return list(map(_make_inert, value))
    return value


def _make_text_inert(text: str, key: str) -> str | None:
    if key in {"url", "next_url"}:
        return escape_url(text) if is_web_url(text) else None
    if text.isalnum() and text.isascii():
        return text
    return " ".join(escape_text(text).split())
