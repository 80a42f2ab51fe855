"""Hold responses and pages to what was asked, whoever answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ._text.escaping import escape_text, escape_url
from ._text.invisible import removal_note, strip_invisible
from ._urls import canonicalize, is_web_url
from .errors import WebSearchError
from .models import Page, SearchQuery, SearchResponse, SearchResult
from .provider._results import in_domains

_FACTS = ("title", "author", "description", "site_name", "language")  # plain text, in the words of the page


def enforce_query(response: SearchResponse, query: SearchQuery) -> SearchResponse:
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
        return settled.with_notes(f"{strangers} result{'s' * (strangers > 1)} outside the domain filter left out")
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


def attach_content(response: SearchResponse, pages: Sequence[Page | WebSearchError]) -> SearchResponse:
    """Put into the first results what their *pages* say to the query; notes say of which there is nothing, and why."""
    results, notes = list(response.results), []
    for n, (result, page) in enumerate(zip(results, pages, strict=False)):
        if isinstance(page, WebSearchError):
            notes.append(f"result {result.citation_id} could not be read ({page.code}): only its snippet is known")
        elif page.passages:
            results[n] = result.model_copy(update={"content": _closed(page.content)})
        else:
            notes.append(f"the page of result {result.citation_id} holds no word of the query: its snippet stands")
    return response.model_copy(update={"results": tuple(results)}).with_notes(*notes)


def _closed(content: str) -> str:
    """End a block of code that was cut: it would go on in the results after it."""
    if "```" not in content and "~~~" not in content:
        return content
    from .reading import sanitize

    return sanitize(content).text


def enforce_page(page: Page) -> Page:
    """
    Hold a whole page to what readers promise, whoever read it.

    Nothing in it that a person would not see, and nothing that a front end would fetch or run.
    """
    from .reading import is_safe, sanitize  # brings the parser, which a search does not need

    content, count = strip_invisible(page.content)
    there = canonicalize(page.final_url) if is_web_url(page.final_url) else page.url
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
    return tidy.with_notes(*removal_note(count))


def without_links(page: Page, links: Literal["text", "drop"]) -> Page:
    """Return a whole page whose links are their ``text`` alone, or dropped with it."""
    from .reading import sanitize

    content = sanitize(page.content, page.final_url, links).text
    return page.model_copy(update={"content": content, "links": ()})
