"""Number the pages of one conversation, so that ``[3]`` means the same page in all of it.

A page keeps its number in every later search and when it is opened. A number is never given to another page, even after
its own was forgotten. The state is small and plain, so that a framework can keep it with the conversation.
"""

from __future__ import annotations
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from .._text.urls import find_alike, find_page, identify
from ..errors import InvalidOption
from ..models import Page, SearchResponse, SearchResult

if TYPE_CHECKING:
    from ..citations import Source

_MAX_PAGES = 1_000  # in one conversation; the one seen longest ago is forgotten first
_MAX_GAP = 10_000  # between two numbers that are adopted: of a long conversation, the first messages may be gone
_MAX_TITLE_LENGTH = 200  # characters
_MAX_URL_LENGTH = 8_192  # characters; of one that is adopted


class _Numbered(NamedTuple):
    number: int
    url: str  # as it was found
    page: str  # what `find_page` returns for it


class Numbers:
    """The numbers of one conversation. Not safe for threads on its own: `Ledger` has the lock."""

    def __init__(self) -> None:
        self._numbers: dict[str, _Numbered] = {}  # by what `identify` returns; a page that redirects has two
        self._sources: dict[int, Source] = {}
        self._last = 0
        self.is_restored: bool = False  # whether the conversation began in another process

    def restore(self, known: Iterable[Mapping[str, Any]]) -> list[str]:
        """Adopt the numbers that the conversation has already, such as those in its stored messages; return their URLs.

        They win: if one was given to another page here, that page gets a new number when it is next seen. One that is
        far above all others did not come from here, and is left out.
        """
        urls: list[str] = []
        adopted: dict[int, list[Source]] = {}
        for entry in known:
            if (source := _as_source(entry)) and not self._has(source):
                adopted.setdefault(source["id"], []).append(source)
        for number, sources in sorted(adopted.items()):
            if number > self._last + _MAX_GAP:
                break
            keys = {identify(source["url"]) for source in sources}
            given = [numbered.number for key in keys if (numbered := self._numbers.get(key))]
            if number in self._sources and number not in given:
                self._forget(number)
            for source in sources:
                self._keep(source)
                urls.append(source["url"])
        return urls

    def number_results(self, response: SearchResponse) -> SearchResponse:
        """Return *response* with the numbers of this conversation as its ``citation_id``."""
        listed = Counter(find_page(url) for url in {identify(one.url): one.url for one in response.results}.values())
        numbered = tuple(self._number_result(one, alone=listed[find_page(one.url)] == 1) for one in response.results)
        return response if numbered == response.results else response.model_copy(update={"results": numbered})

    def number_page(self, page: Page) -> Page:
        """Return *page* with its number; a redirect within a host keeps the number of the page that was requested.

        A redirect to another host does not: what a search showed of one site would be cited as a page of the other.
        """
        url = page.final_url or page.url
        known = self._find(url)
        if _find_host(page.url) == _find_host(url):
            known = known or self._find(page.url)
            number = known.number if known else self._next()
            self._numbers.setdefault(identify(page.url), _Numbered(number, page.url, find_page(page.url)))
        else:
            number = known.number if known else self._next()
        self._keep({"id": number, "title": page.title, "url": url, "read": True})
        return page.model_copy(update={"citation_id": number})

    def sources(self) -> list[Source]:
        """Return the sources, by number; of a page that redirects, only the URL where its text is."""
        return [source.copy() for _, source in sorted(self._sources.items())]

    def find_url(self, url: str) -> str | None:
        """Return the URL under which the page at *url* was found; None if it has no number."""
        known = self._find(url)
        return known.url.partition("#")[0] if known else None

    def url_of(self, number: int) -> str:
        """Return the URL of the page with this number; raise `InvalidOption` if there is none."""
        if number not in self._sources:
            last = f": they go from 1 to {self._last}" if self._last else " yet: search first, or give a URL"
            raise InvalidOption(f"url: no page of this conversation has the number {number}{last}")
        return self._sources[number]["url"]

    def _find(self, url: str) -> _Numbered | None:
        alike = find_alike(self._numbers, url)
        return alike[0] if len({one.number for one in alike}) == 1 else None

    def _number_result(self, result: SearchResult, *, alone: bool) -> SearchResult:
        known = self._find(result.url) if alone else self._numbers.get(identify(result.url))
        number = known.number if known else self._next()
        self._keep({"id": number, "title": result.title, "url": result.url, "read": result.content is not None})
        return result if result.citation_id == number else result.model_copy(update={"citation_id": number})

    def _next(self) -> int:
        return self._last + 1  # `_keep` counts

    def _has(self, source: Source) -> bool:
        ours = self._sources.get(source["id"])
        return ours is not None and ours["url"] == source["url"] and ours["read"] >= source["read"]

    def _keep(self, source: Source) -> None:
        number, url, key = source["id"], source["url"], identify(source["url"])
        before = self._sources.pop(number, None)  # what is added again is at the end: seen last
        replaced = self._numbers.pop(key, None)
        self._numbers[key] = _Numbered(number, replaced.url if replaced else url, find_page(url))
        if replaced and all(replaced.number != one.number for one in self._numbers.values()):
            self._sources.pop(replaced.number, None)
        self._sources[number] = {
            "id": number,
            "title": source["title"][:_MAX_TITLE_LENGTH] or (before["title"] if before else ""),
            "url": before["url"] if before and before["read"] and not source["read"] else source["url"],
            "read": source["read"] or bool(before and before["read"]),
        }
        self._last = max(self._last, number)
        while len(self._sources) > _MAX_PAGES:
            self._forget(next(iter(self._sources)))
        while len(self._numbers) > 2 * _MAX_PAGES:
            del self._numbers[next(iter(self._numbers))]

    def _forget(self, number: int) -> None:
        del self._sources[number]
        self._numbers = {key: given for key, given in self._numbers.items() if given.number != number}


def _find_host(url: str) -> str:
    return (urlsplit(identify(url)).hostname or "").removeprefix("www.")


def _as_source(entry: object) -> Source | None:
    """Return *entry* if it has the shape of a source: stored messages may hold anything."""
    if not isinstance(entry, Mapping):
        return None
    number, url, title, read = (entry.get(name) for name in ("id", "url", "title", "read"))
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        return None
    if not (isinstance(url, str) and isinstance(title, str) and isinstance(read, bool)) or len(url) > _MAX_URL_LENGTH:
        return None
    return {"id": number, "title": title, "url": url, "read": read}
