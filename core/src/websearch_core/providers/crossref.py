"""Crossref: the registry of DOIs, with the titles, authors and many abstracts of
scholarly works.

Works without a key. Set an email address as the ``contact`` of `Http`, or
``WEB_SEARCH_HTTP_CONTACT``: Crossref then serves you from its faster "polite" pool, and
can contact you before it blocks you. ``api_key`` is the token of subscribers of
Metadata Plus. Results are works of all kinds, from papers to data sets; the URL is the
DOI.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit
from websearch_core.provider._results import take_results

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
        key = (
            {"Crossref-Plus-API-Token": f"Bearer {self.api_key.get_secret_value()}"}
            if self.api_key
            else {}
        )
        sent = kit.with_extra(params, query, join=",")
        response = yield kit.Request(
            url=f"{self.base_url}/works", params=sent, headers=key
        )
        body = kit.decode(response, self)
        items, notes = take_results(body, self.name, "message.items")
        message = kit.as_object(body.get("message"))
        page = kit.parse_search(
            self, query, message, items, title=_title, url=_url, snippet=_snippet,
            published=_published,
            author=_authors, markup="html", notes=notes,
        )  # fmt: skip
        total = message.get("total-results")
        return page, isinstance(total, int) and (number + 1) * size < total


def _first(value: Any) -> str | None:
    """Return the first text: titles of works and journals are lists."""
    return next(
        filter(None, map(kit.as_text, value if isinstance(value, list) else [value])),
        None,
    )


def _title(item: Mapping[str, Any]) -> str | None:
    title = _first(item.get("title"))
    return _MARKUP.sub("", title) if title else _first(item.get("container-title"))


def _url(item: Mapping[str, Any]) -> Any:
    doi = kit.as_text(item.get("DOI"))
    return f"https://doi.org/{doi}" if doi else item.get("URL")


def _snippet(item: Mapping[str, Any]) -> str:
    """Return the abstract, without its JATS markup, or where and by whom the work was
    published.
    """
    abstract = kit.as_text(item.get("abstract"))
    if abstract:
        return " ".join(_MARKUP.sub(" ", _HEADING.sub("", abstract)).split())
    facts = [_first(item.get("container-title")), kit.as_text(item.get("publisher"))]
    return ", ".join(filter(None, facts))


def _published(item: Mapping[str, Any]) -> str | None:
    """Return the date of publication, whose month and day may be missing:
    ``{"date-parts": [[2026, 3]]}``.
    """
    parts = kit.as_object(item.get("issued")).get("date-parts")
    day = (
        parts[0]
        if isinstance(parts, list) and parts and isinstance(parts[0], list)
        else []
    )
    return "-".join(f"{part:02}" for part in day[:3] if isinstance(part, int)) or None


def _authors(item: Mapping[str, Any]) -> list[str]:
    """Return the names of the authors: people have a given and a family name,
    organizations a name.
    """
    return [
        " ".join(
            filter(
                None, (kit.as_text(one.get("given")), kit.as_text(one.get("family")))
            )
        )
        or kit.as_text(one.get("name"))
        or ""
        for one in kit.as_objects(item.get("author"))
    ]
