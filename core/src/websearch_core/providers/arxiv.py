"""arXiv: preprints in physics, mathematics, computer science and neighbouring fields.

Finds papers that contain every word of the query. A query with a field in it, such as
``ti:"tidal bores" AND au:Ellersund``, is sent unchanged. arXiv asks for three seconds
between requests, so pages are requested that far apart. Dates are those of a paper's
first version.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from datetime import date
from io import BytesIO
from typing import Any, ClassVar, TypeAlias

from websearch_core import provider as kit
from websearch_core.errors import BadRequest, TooLarge, Unavailable
from websearch_core.flow import Call, Sleep

# Its entries, and how many papers there are in all.
_Feed: TypeAlias = tuple[list[dict[str, Any]], int]

_FIELDED = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all|submittedDate):")
_WORD = re.compile(r'"[^"]+"|[^\s"():]+')
_FIRST_DAY = date(1991, 1, 1)  # arXiv began in 1991
_LAST_DAY = date(2100, 1, 1)


@kit.provider
class ArXiv:
    """Searches arXiv.

    Args:
        base_url: Where the API is.
        pause: Seconds between one page of results and the next.
    """

    name = "arxiv"
    label = "arXiv"
    options: ClassVar[frozenset[str]] = frozenset(
        {"topic", "time_range", "after", "before", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})  # sent as dates
    topics: ClassVar[frozenset[str]] = frozenset({"academic"})
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100, results=30_000, requests_per_second=1 / 3, concurrent=1
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://info.arxiv.org/help/api/user-manual.html",),
        free_allowance="keyless: a request every three seconds",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of its API, 2026-11",
        terms="Metadata may be kept and shown (CC0); papers have licences of their "
        "own.",
    )

    base_url: kit.BaseUrl = "https://export.arxiv.org/api"
    pause: float = 3.0

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        kit.check_options(query, self)
        requests = 0

        def fetch(number: int, size: int) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
            nonlocal requests
            if requests:
                yield Sleep(self.pause)
            requests += 1
            return (yield from self._fetch(query, number * size, size))

        return (yield from kit.collect_pages(query, self, fetch))

    def _fetch(
        self, query: kit.SearchQuery, start: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Return a page of papers, and whether there is another."""
        params = {
            "search_query": _write_query(query),
            "start": start or None,
            "max_results": size,
        }
        response = yield kit.get_json(self, "query", params, query)
        entries, total = yield from self._parse(response)
        if not entries and total > start:
            raise Unavailable(
                "arxiv search failed: it reported results but returned none",
                provider=self.name,
            )
        page = kit.parse_search(
            self,
            query,
            response.content.decode("utf-8", "replace"),
            entries,
            url="link",
            snippet="summary",
            author="authors",
        )
        return page, start + size < total

    def _parse(self, response: kit.Response) -> kit.Flow[_Feed]:
        """Return the entries of the feed and how many there are in all, or raise the
        error that it reports.
        """
        if response.truncated:
            raise TooLarge(
                "arxiv search failed: the response is too large", provider=self.name
            )
        feed: _Feed | None = yield Call(_parse_feed, response.content)
        problem = None
        if feed is not None:
            entries, _ = feed
            problem = next(filter(_is_error, entries), {}).get("summary")
        if response.status != 200:
            raise kit.error_for(response, self, detail=problem)
        if problem is not None:
            raise kit.error_for(
                response,
                self,
                detail=problem,
                hint="it rejects the query",
                kind=BadRequest,
            )
        if feed is None:
            raise kit.unexpected_format(self.name)
        return feed


def _write_query(query: kit.SearchQuery) -> str:
    """Return the query in arXiv's language: every word somewhere in the paper,
    submitted within the period.
    """
    text = query.text
    if not _FIELDED.search(text):
        words = _WORD.findall(text) or [f'"{text}"']
        text = " AND ".join(f"all:{word}" for word in words)
    first, last = kit.date_range(query)
    if not (first or last):
        return text
    begin = first or _FIRST_DAY
    end = last or _LAST_DAY
    return f"({text}) AND submittedDate:[{begin:%Y%m%d}0000 TO {end:%Y%m%d}2359]"


def _parse_feed(content: bytes) -> _Feed | None:
    """Parse Atom; None if it is something else. The parser is imported here: it is slow
    to load.
    """
    import feedparser

    if b"<!ENTITY" in content:  # could grow without end, and is not part of a feed
        return None
    headers = {"content-type": "application/atom+xml"}
    try:
        parsed = feedparser.parse(
            BytesIO(content), response_headers=headers, sanitize_html=False
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # raised for some broken feeds
        return None
    if not parsed.get("version", "").startswith("atom"):
        return None
    entries = [_convert_entry(entry) for entry in parsed.entries]
    return entries, _find_total(parsed.feed)


def _find_total(feed: Mapping[str, Any]) -> int:
    """Return how many papers there are in all.

    The name begins with the prefix of OpenSearch's namespace, which is up to arXiv.
    """
    for name, value in feed.items():
        if name.endswith("totalresults"):
            total = str(value)
            return int(total) if total.isdecimal() else 0
    return 0


def _convert_entry(entry: Any) -> dict[str, Any]:
    """Return the parts of an entry of the feed that a paper has."""
    texts = {
        name: " ".join(str(entry.get(name) or "").split())
        for name in ("id", "title", "summary")
    }
    authors = [author.get("name") for author in entry.get("authors", ())]
    links = [
        link.get("href")
        for link in entry.get("links", ())
        if link.get("title") == "pdf"
    ]
    facts = {
        name: entry.get(f"arxiv_{name}") for name in ("doi", "journal_ref", "comment")
    }
    return {
        **texts,
        "link": entry.get("link") or texts["id"],
        "authors": [name for name in authors if name],
        # the `get` of an entry takes `updated` instead
        "published": dict.get(entry, "published"),
        "updated": dict.get(entry, "updated"),
        "categories": [tag.get("term") for tag in entry.get("tags", ())],
        "pdf": next(iter(links), None),
        **kit.drop_none(facts),
    }


def _is_error(entry: Mapping[str, Any]) -> bool:
    return "/api/errors" in entry["id"] or (
        entry["title"] == "Error" and not entry["authors"]
    )
