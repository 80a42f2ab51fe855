"""Crossref: the registry of DOIs, with the titles, authors and many abstracts of
scholarly works.

With an email address as the ``contact`` of ``Http``, or ``WEB_SEARCH_HTTP_CONTACT``,
Crossref serves you from its faster "polite" pool. Results are works of all kinds, from
papers to data sets; the URL is the DOI.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit

_MARKUP = re.compile(
    r"</?(?:(?:jats|mml):[a-z0-9-]+|italic|bold|sc|title|sec|list|list-item)\b[^<>]*>",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"<(jats:)?title>\s*(?:abstract|summary)[.:]?\s*</(?:jats:)?title>", re.IGNORECASE
)


@kit.provider
class Crossref:
    """Searches the works that Crossref knows.

    Args:
        api_key: Token of Metadata Plus; optional.
        base_url: Where the API is.
    """

    name = "crossref"
    options: ClassVar[frozenset[str]] = frozenset(
        {"topic", "time_range", "after", "before", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})  # sent as dates
    topics: ClassVar[frozenset[str]] = frozenset({"academic"})
    limits: ClassVar[kit.Limits] = kit.Limits(results_per_request=100, results=10_000)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://api.crossref.org/swagger-ui/index.html",
            "https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/",
        ),
        free_allowance="keyless; faster with an email address",
        price="free; Metadata Plus is for members",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of its API, 2026-11",
        terms="Metadata may be kept and shown; abstracts may be under copyright.",
    )

    api_key: Annotated[kit.Key | None, kit.Env("CROSSREF_API_KEY")] = None
    base_url: kit.BaseUrl = "https://api.crossref.org"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        first, last = kit.date_range(query)
        dates = [("from-pub-date", first), ("until-pub-date", last)]
        params = {
            "query": query.text,
            "rows": size,
            "offset": number * size or None,
            "filter": [f"{name}:{day}" for name, day in dates if day] or None,
        }
        headers = {}
        if self.api_key:
            token = f"Bearer {kit.key_text(self.api_key)}"
            headers["Crossref-Plus-API-Token"] = token
        response = yield kit.Request(
            url=f"{self.base_url}/works",
            params=kit.with_extra(params, query, join=","),
            headers=headers,
        )
        body = kit.decode(response, self)
        items, notes = kit.take_results(body, self.name, "message.items")
        message = kit.as_object(body.get("message"))
        page = kit.parse_search(
            self,
            query,
            message,
            items,
            title=_find_title,
            url=_find_url,
            snippet=_find_snippet,
            published=_find_date,
            author=_find_authors,
            markup="html",
            notes=notes,
        )
        total = message.get("total-results")
        return page, isinstance(total, int) and (number + 1) * size < total


def _take_first(value: Any) -> str | None:
    """Return the first text: titles of works and journals are lists."""
    values = value if isinstance(value, list) else [value]
    return next(filter(None, map(kit.as_text, values)), None)


def _find_title(item: Mapping[str, Any]) -> str | None:
    title = _take_first(item.get("title"))
    if title is None:
        return _take_first(item.get("container-title"))
    return _MARKUP.sub("", title)


def _find_url(item: Mapping[str, Any]) -> Any:
    doi = kit.as_text(item.get("DOI"))
    return f"https://doi.org/{doi}" if doi else item.get("URL")


def _find_snippet(item: Mapping[str, Any]) -> str:
    """Return the abstract, without its JATS markup, or where and by whom the work was
    published.
    """
    abstract = kit.as_text(item.get("abstract"))
    if abstract:
        return " ".join(_MARKUP.sub(" ", _HEADING.sub("", abstract)).split())
    journal = _take_first(item.get("container-title"))
    publisher = kit.as_text(item.get("publisher"))
    return ", ".join(filter(None, [journal, publisher]))


def _find_date(item: Mapping[str, Any]) -> str | None:
    """Return the date of publication, whose month and day may be missing:
    ``{"date-parts": [[2026, 3]]}``.
    """
    dates = kit.find_value(item, "issued.date-parts")
    if not isinstance(dates, list) or not dates:
        return None
    parts = dates[0] if isinstance(dates[0], list) else []
    return "-".join(f"{part:02}" for part in parts[:3] if isinstance(part, int)) or None


def _find_authors(item: Mapping[str, Any]) -> list[str]:
    """Return the names of the authors: people have a given and a family name,
    organizations a name.
    """
    names = []
    for author in kit.as_objects(item.get("author")):
        parts = [kit.as_text(author.get("given")), kit.as_text(author.get("family"))]
        name = " ".join(filter(None, parts))
        names.append(name or kit.as_text(author.get("name")) or "")
    return names
