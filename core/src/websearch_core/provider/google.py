"""What services that pass queries on to Google share: its languages, its parameters,
and how its answers are read.
"""

from __future__ import annotations
from collections.abc import Callable, Mapping
from typing import Any

from .._text.urls import is_web_url
from ..errors import UnsupportedOption
from ..flow import Flow
from ..models import SearchQuery, SearchResponse, SearchResult
from ._codes import GOOGLE_LANGUAGES, GOOGLE_RESULT_LANGUAGES
from ._http import (
    as_object,
    as_objects,
    as_text,
    check_options,
    find_value,
    parse_usage,
)
from ._languages import find_country, find_language
from ._paging import collect_pages
from ._ports import Provider
from ._results import in_domains, parse_images, parse_search, plain_text

__all__ = [
    "GOOGLE_LANGUAGES", "GOOGLE_RESULT_LANGUAGES", "find_google", "google_answer",
    "google_authors", "google_boxes", "google_filters",
    "google_period", "google_years", "search_google",
]  # fmt: skip


def google_filters(query: SearchQuery, provider: Provider) -> dict[str, str]:
    """Return country, language and safe search of *query* as Google's ``gl``, ``hl``
    and ``lr``, and ``safe``.
    """
    country = find_country(query, provider)
    language = find_language(query, provider)
    filters = {}
    if country:
        filters["gl"] = country.lower()
    if language:
        filters["hl"] = language
        filters["lr"] = f"lang_{language}"
    if query.safe_search:
        filters["safe"] = "off" if query.safe_search == "off" else "active"
    return filters


def google_period(query: SearchQuery) -> list[str] | None:
    """Return the period of *query* as parts of Google's ``tbs``, which commas join."""
    if query.time_range:
        return [f"qdr:{query.time_range[0]}"]
    ends = {"cd_min": query.after, "cd_max": query.before}
    parts = [f"{name}:{day:%m/%d/%Y}" for name, day in ends.items() if day]
    return ["cdr:1", *parts] if parts else None


def google_years(query: SearchQuery, provider: Provider) -> dict[str, int]:
    """Return the period of *query* as Google Scholar's ``as_ylo`` and ``as_yhi``: it
    knows years only.

    Raises:
        UnsupportedOption: The query has a ``time_range``.
    """
    if query.time_range:
        why = "filters papers by after and before, in years"
        raise UnsupportedOption.by(provider, why, "time_range")
    return {
        name: day.year
        for name, day in (("as_ylo", query.after), ("as_yhi", query.before))
        if day
    }


def google_answer(body: dict[str, Any]) -> str | None:
    """Return the direct answer on Google's page: that of the answer box, else the
    overview written by a model.
    """
    answer = _read_box(_find_box(body))
    if answer:
        return answer
    blocks = as_objects(find_value(body, "ai_overview.text_blocks"))
    texts = [
        as_text(block.get("snippet")) or as_text(block.get("answer"))
        for block in blocks
    ]
    return " ".join(filter(None, texts)) or None


def google_boxes(
    body: dict[str, Any], items: list[Any], query: SearchQuery
) -> list[dict[str, Any]]:
    """Return the answer box and the knowledge panel in the form of results.

    One without a text or a page is left out, one whose page is among the *items*, and
    one that *query* excludes.
    """
    links = [item.get("link") for item in as_objects(items)]
    box = _find_box(body)
    panel = as_object(body.get("knowledge_graph") or body.get("knowledgeGraph"))
    source = as_object(panel.get("source"))
    link = panel.get("descriptionLink") or source.get("link") or panel.get("website")
    candidates: list[dict[str, Any]] = [
        {**box, "snippet": _read_box(box)},
        {**panel, "link": link, "snippet": plain_text(panel.get("description"))},
    ]
    boxes: list[dict[str, Any]] = []
    for candidate in candidates:
        address = as_text(candidate.get("link"))
        if address is None or not is_web_url(address):
            continue
        is_new = address not in links and in_domains(address, query)
        if candidate["snippet"] and is_new:
            boxes.append(candidate)
    return boxes


def _find_box(body: dict[str, Any]) -> dict[str, Any]:
    return as_object(body.get("answer_box") or body.get("answerBox"))


def _read_box(box: dict[str, Any]) -> str:
    for name in ("answer", "snippet", "result"):
        answer = plain_text(box.get(name))
        if answer:
            return answer
    return ""


def google_authors(item: Mapping[str, Any]) -> Any:
    """Return the authors of a result of Google Scholar: a list of those with a profile,
    or the names in its line.

    The line is ``A Vaswani, N Shazeer - Advances in …, 2017 - publisher``.
    """
    info = as_object(item.get("publication_info"))
    authors = info.get("authors") or item.get("authors")
    if authors:
        return authors
    line = info.get("summary") or item.get("publication") or item.get("publicationInfo")
    if not isinstance(line, str) or " - " not in line:
        return None
    return line.partition(" - ")[0]


def find_google(_: Provider, _result: SearchResult, /) -> tuple[str, ...]:
    """Return the search engine behind a result: the method ``find_engines`` of a
    service that has only Google's.
    """
    return ("google",)


def search_google(
    query: SearchQuery,
    provider: Provider,
    ask: Callable[[SearchQuery, str, int], Flow[dict[str, Any]]],
    find_items: Callable[[dict[str, Any], str], tuple[Any, bool | None]],
    images: Mapping[str, str],
) -> Flow[SearchResponse]:
    """Search Google, page by page until the limit is reached; if the query wants
    images, they are a search of their own.

    Args:
        query: The query.
        provider: The provider; its ``limits`` say how many results a page has.
        ask: Takes the query, its topic or ``images``, and the number of a page, from 0;
            returns the service's answer.
        find_items: Takes an answer and the topic; returns the list of results in it,
            and whether there is another page. None: if the page is full.
        images: Where the ``items`` are in the answer to a search for images, and in
            each of them its ``url`` and its ``page_url``.
    """
    check_options(query, provider)
    pictures: dict[str, Any] = {}
    if query.images:
        pictures = yield from ask(query, "images", 0)

    def fetch(number: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
        body = yield from ask(query, query.topic, number)
        items, has_next = find_items(body, query.topic)
        if has_next is None:
            has_next = len(as_objects(items)) >= size
        is_first = number == 0 and query.topic == "general"
        if is_first and isinstance(items, list):
            items = [*google_boxes(body, items, query), *items]
        return _parse_page(query, provider, body, items), has_next

    response = yield from collect_pages(query, provider, fetch, fixed=True)
    usage = dict(response.usage)
    for unit, amount in parse_usage(pictures, credits="credits").items():
        usage[unit] = usage.get(unit, 0) + amount
    parsed = parse_images(
        pictures.get(images["items"]),
        url=images["url"],
        description="title",
        page_url=images["page_url"],
    )
    update = {"images": parsed[: query.limit], "usage": usage}
    return response.model_copy(update=update)


def _parse_page(
    query: SearchQuery, provider: Provider, body: dict[str, Any], items: Any
) -> SearchResponse:
    related = as_objects(body.get("related_searches") or body.get("relatedSearches"))
    spelling = find_value(body, "search_information.spelling_fix")
    suggestions = [spelling, *(search.get("query") for search in related)]
    return parse_search(
        provider,
        query,
        body,
        items,
        url="link",
        published=("iso_date", "published_at", "date"),
        author=google_authors,
        answer=google_answer(body),
        suggestions=tuple(filter(None, map(plain_text, suggestions))),
        request_id=as_text(find_value(body, "search_metadata.id")),
        usage=parse_usage(body, credits="credits"),
    )
