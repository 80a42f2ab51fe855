"""What services that pass queries on to Google share: its languages, its parameters,
and how its answers are read.
"""

from __future__ import annotations
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import UnsupportedOption
from ..flow import Flow
from ..models import SearchQuery, SearchResponse, SearchResult
from ._codes import GOOGLE_LANGUAGES, GOOGLE_RESULT_LANGUAGES
from ._http import as_object, as_objects, as_text, check_options, drop_none, parse_usage
from ._languages import find_country, find_language
from ._paging import collect_pages
from ._ports import Provider
from ._results import parse_images, parse_search, plain_text

__all__ = [
    "GOOGLE_LANGUAGES", "GOOGLE_RESULT_LANGUAGES", "find_google", "google_answer",
    "google_authors", "google_filters",
    "google_period", "google_years", "search_google",
]  # fmt: skip


def google_filters(query: SearchQuery, provider: Provider) -> dict[str, str]:
    """Return country, language and safe search of *query* as Google's ``gl``, ``hl``
    and ``lr``, and ``safe``.
    """
    country, language = find_country(query, provider), find_language(query, provider)
    filters = {
        "gl": country.lower() if country else None,
        "hl": language,
        "lr": f"lang_{language}" if language else None,
        "safe": None
        if query.safe_search is None
        else "off"
        if query.safe_search == "off"
        else "active",
    }
    return drop_none(filters)


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
        message = f"{provider.name} filters papers by after and before, in years"
        raise UnsupportedOption(message, options=["time_range"], provider=provider.name)
    return {
        name: day.year
        for name, day in (("as_ylo", query.after), ("as_yhi", query.before))
        if day
    }


def google_answer(body: dict[str, Any]) -> str | None:
    """Return the direct answer on Google's page: that of the answer box, else the
    overview written by a model.
    """
    box = as_object(body.get("answer_box") or body.get("answerBox"))
    if found := next(
        filter(
            None,
            (plain_text(box.get(name)) for name in ("answer", "snippet", "result")),
        ),
        None,
    ):
        return found
    blocks = as_objects(as_object(body.get("ai_overview")).get("text_blocks"))
    return (
        " ".join(
            filter(
                None,
                (
                    as_text(one.get("snippet")) or as_text(one.get("answer"))
                    for one in blocks
                ),
            )
        )
        or None
    )


def google_authors(item: Mapping[str, Any]) -> Any:
    """Return the authors of a result of Google Scholar: a list of those with a profile,
    or the names in its line.

    The line is ``A Vaswani, N Shazeer - Advances in …, 2017 - publisher``.
    """
    info = as_object(item.get("publication_info"))
    line = info.get("summary") or item.get("publication") or item.get("publicationInfo")
    named = (
        line.partition(" - ")[0] if isinstance(line, str) and " - " in line else None
    )
    return info.get("authors") or item.get("authors") or named


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
    images: tuple[str, str, str],
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
        images: Where they are in the answer to a search for images, and in each of them
            its URL and that of its page.
    """
    check_options(query, provider)
    pictures = (yield from ask(query, "images", 0)) if query.images else {}

    def fetch(number: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
        body = yield from ask(query, query.topic, number)
        items, more = find_items(body, query.topic)
        related = as_objects(
            body.get("related_searches") or body.get("relatedSearches")
        )
        suggestions = [
            as_object(body.get("search_information")).get("spelling_fix"),
            *(one.get("query") for one in related),
        ]
        page = parse_search(
            provider, query, body, items, url="link",
            published=("iso_date", "published_at", "date"),
            author=google_authors, answer=google_answer(body),
            suggestions=tuple(filter(None, map(plain_text, suggestions))),
            request_id=as_text(as_object(body.get("search_metadata")).get("id")),
            usage=parse_usage(body, credits="credits"),
        )  # fmt: skip
        return page, len(page.results) >= size if more is None else more

    found = yield from collect_pages(query, provider, fetch, fixed=True)
    usage = parse_usage(pictures, credits="credits")
    total = {
        unit: found.usage.get(unit, 0) + usage.get(unit, 0)
        for unit in found.usage | usage
    }
    items, url, page_url = images
    shown = parse_images(
        pictures.get(items), url=url, description="title", page_url=page_url
    )
    return found.model_copy(update={"images": shown[: query.limit], "usage": total})
