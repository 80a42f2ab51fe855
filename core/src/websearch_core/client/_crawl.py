"""Crawl sites: what has yet to be read, which needs no I/O, and the loop that has it read."""

from __future__ import annotations
import re
from collections import Counter, deque
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, suppress
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, cast
from urllib.parse import urljoin

from .._runtime.bugs import contain_bugs
from .._runtime.deadline import time_limit
from .._runtime.scope import Choices
from .._text.urls import describe_url, find_page, is_web_url, serialize, split_url
from ..errors import InvalidOption, UnsafeURL, WebSearchError
from ..flow import Flow, Gather
from ..layers import Robots
from ..layers._layer import Rank, Started, held, leaves, parts, rank_of
from ..layers._robots_files import RobotsFiles
from ..models import Page
from ..provider._ports import PageReader, Provider, Scope, Site, SiteReader
from ..reading import ReadOptions
from ._arguments import check_urls, strip_fragment
from ._stream import NOT_NOW

if TYPE_CHECKING:
    from . import WebSearch

Answer: TypeAlias = Page | WebSearchError

_MAX_LENGTH = 1_000  # characters of a path with its query
_MAX_REPEATS = 3  # of one part of a path: /a/b/a/b/... never ends
_MAX_QUERIES = 500  # of one path: a calendar has a page for every day
_MAX_LISTS = 100  # sitemaps of one site
_LONGEST = 7_200.0  # seconds for what a service does with a site
_OF_LIST = {"concurrency", "give_up_after"}
_LIST = re.compile(r"(?:\.xml(?:\.gz)?|/llms\.txt|/sitemap[^/]*)$", re.IGNORECASE)
_SESSION = re.compile(
    r";jsessionid=[^/?#;]*|(?<=[?&])(?:phpsessid|jsessionid|aspsessionid\w*|session_?id|sid)=[^&#]*&?", re.IGNORECASE
)


class SiteOptions(TypedDict, total=False):
    """How far to go, as `WebSearch.crawl` and `WebSearch.map` take it."""

    limit: int
    depth: int
    scope: Scope
    include: Sequence[str]
    exclude: Sequence[str]
    sitemaps: bool


class CrawlOptions(SiteOptions, ReadOptions, total=False):
    """The options of `WebSearch.crawl`: how far to go, how many pages to read at a time, and which part of each."""

    concurrency: int
    give_up_after: int | None


class _Place:
    """One site of a crawl: what belongs to it, and what of it waits."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.waiting: deque[tuple[str, int | None]] = deque()  # URLs, and how many links from the start; lists have None
        self.count = self.lists = 0
        self.queries: Counter[str] = Counter()
        self.begin_at(site.url)

    def begin_at(self, url: str) -> None:
        """Begin at *url*, which decides what the site is."""
        self._origin, self._folder = None, replace(self.site, url=url).folder
        if is_web_url(url):
            self._origin = split_url(url)[:3]

    def holds(self, url: str, *, whole: bool = False) -> bool:
        """Return whether *url* is in the scope; of the *whole* site, or in the path that the crawl is for."""
        *origin, rest = split_url(url)
        if self._origin is None or (self.site.scope != "domain" and tuple(origin) != self._origin):
            return False
        if self.site.scope == "domain":
            return f".{origin[1]}".endswith(f".{self._origin[1].removeprefix('www.')}")
        path = rest.partition("?")[0].rstrip("/") + "/"
        return whole or self.site.scope == "host" or path.startswith(self._folder)

    def wants(self, url: str) -> bool:
        """Return whether to read the page at *url*."""
        rest = split_url(url)[3]
        path, mark, _ = rest.partition("?")
        if not self.holds(url) or any(re.search(pattern, rest) for pattern in self.site.exclude):
            return False
        if self.site.include and not any(re.search(pattern, rest) for pattern in self.site.include):
            return False
        self.queries[path] += bool(mark)
        repeats = max(Counter(filter(None, path.split("/"))).values(), default=0)
        return len(rest) <= _MAX_LENGTH and repeats <= _MAX_REPEATS and self.queries[path] <= _MAX_QUERIES


class Frontier:
    """What a crawl has yet to read, breadth first, its sites in turn; URLs with one canonical form are one page.

    Args:
        sites: The sites.
        maps: Only list the pages that are found: those that are farthest away are not read.
        known: What was read before, by URL: the page is not read again, and its links are followed.
    """

    def __init__(self, sites: Iterable[Site], *, maps: bool = False, known: Mapping[str, Answer] | None = None) -> None:
        self.found: list[str] = []
        self.left = 0  # pages that were found, and are too many
        self._maps, self._known = maps, dict(known or {})
        self._ready: deque[_Place] = deque()  # with something waiting
        self._under_way: dict[str, tuple[_Place, int | None]] = {}
        self._seen: set[str] = set()
        self._read: dict[str, int] = {}  # what each page was, by all that identifies it
        for site in sites:
            url, place = _normalize(site.url), _Place(site)
            if _LIST.search(url.partition("?")[0]):
                self._add_list(place, url)
            elif _identify(url) not in self._seen:
                self._add(place, url, 0)

    def pull(self) -> Iterator[Any]:
        """Yield each URL to read, or `NOT_NOW` while that depends on answers which have yet to come."""
        while (url := self._take()) is not None or self._under_way:
            yield url or NOT_NOW

    def is_start(self, url: str) -> bool:
        """Return whether *url*, which is under way, is where a site begins."""
        return self._under_way[url][1] == 0

    def settle(self, url: str, answer: Answer, sitemaps: Iterable[str] = ()) -> Answer | None:
        """Return what to report of a URL that was read, if anything, and follow its links.

        *sitemaps* are those that the robots.txt of a site names, for its start.
        """
        place, depth = self._under_way.pop(url)
        if depth is None:
            self._follow(place, answer.links if isinstance(answer, Page) else (), 1, listed=True)
            return None
        if isinstance(answer, WebSearchError):
            return None if url in self._known else answer
        there = _normalize(answer.final_url or url)
        if not is_web_url(there) or not place.holds(there):
            if depth:
                return UnsafeURL("the page redirects to something outside of the crawl")
            place.begin_at(there)
        self._seen.add(_identify(there))
        names = {_identify(there), _identify(answer.canonical_url or there)}
        page = hash((answer.title, answer.content[:500]))
        if any(self._read.get(name) == page for name in names):
            return None
        self._read.update(dict.fromkeys(names, page))
        self._follow(place, answer.links, depth + 1)
        if depth == 0 and place.site.sitemaps and place.site.depth:
            below = urljoin(there, f"{replace(place.site, url=there).folder}llms.txt")
            for one in (*(sitemaps or [urljoin(there, "/sitemap.xml")]), urljoin(there, "/llms.txt"), below):
                self._add_list(place, one)
        return None if url in self._known else answer

    def _take(self) -> str | None:
        """Return the next URL to read; None if there is none now."""
        while self._ready:
            place = self._ready.popleft()
            url, depth = place.waiting.popleft()
            if place.waiting:
                self._ready.append(place)
            if depth is None and place.count >= place.site.limit:  # it would only make more that is too much
                continue
            self._under_way[url] = place, depth
            if not depth or url not in self._known:
                return url
            self.settle(url, self._known[url])
        return None

    def _follow(self, place: _Place, links: Iterable[str], depth: int, *, listed: bool = False) -> None:
        if depth > place.site.depth:
            return
        for link in filter(is_web_url, links):
            url = _normalize(link)
            if listed and _LIST.search(url.partition("?")[0]):
                self._add_list(place, url)
            elif _identify(url) not in self._seen and place.wants(url):
                self._add(place, url, depth)

    def _add(self, place: _Place, url: str, depth: int) -> None:
        self._seen.add(_identify(url))
        if place.count >= place.site.limit:
            self.left += 1
            return
        place.count += 1
        self.found.append(url)
        if not self._maps or depth < place.site.depth:
            self._queue(place, url, depth)

    def _add_list(self, place: _Place, url: str) -> None:
        key = f"a list at {url}"
        if key not in self._seen and is_web_url(url) and place.lists < _MAX_LISTS and place.holds(url, whole=True):
            self._seen.add(key)
            place.lists += 1
            self._queue(place, url, None)

    def _queue(self, place: _Place, url: str, depth: int | None) -> None:
        place.waiting.append((url, depth))
        if len(place.waiting) == 1:
            self._ready.append(place)


def _normalize(url: str) -> str:
    """Return *url* as it is sent, without its fragment; itself if it is not a URL, which is the error of its row."""
    return serialize(url).partition("#")[0] if is_web_url(url) else url


def _identify(url: str) -> str:
    """Return what is the same for all URLs of a page, as far as that can be known without reading it."""
    return find_page(_SESSION.sub("", url))


class Crawl:
    """One crawl, or one map.

    Args:
        web: What reads. If its reader is a service that can do all of it, the service does.
        starts: One URL, or several.
        options: As for `WebSearch.crawl`.
        maps: Whether only URLs are wanted.
        known: What was read before, by URL, of a crawl that goes on.
    """

    def __init__(
        self,
        web: WebSearch,
        starts: str | Iterable[str],
        options: CrawlOptions | SiteOptions,
        *,
        maps: bool = False,
        known: Mapping[str, Answer] | None = None,
    ) -> None:
        given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if given.get("links", "keep") != "keep":
            raise InvalidOption("links: a crawl follows them, so they are kept: leave the option out")
        far: dict[str, Any] = {"limit": 5_000, "depth": 1} if maps else {}
        far |= {name: given.pop(name) for name in SiteOptions.__annotations__ if name in given}
        urls: list[str] = [starts] if isinstance(starts, str) else list(check_urls(starts))
        self._web, self._maps, self._options = web, maps, {**given, "links": "keep"}
        self._sites = [Site(url=strip_fragment(url), **far) for url in urls]
        self.frontier = Frontier(self._sites, maps=maps, known=known)
        verb, readers = "map" if maps else "crawl", leaves(web.reader)
        self._is_served = len(readers) == 1 and callable(getattr(readers[0], verb, None))

    def rows(self) -> Generator[tuple[str, Answer]]:
        """Yield each page, or its error, when it was read. Closing the generator ends what is under way."""
        if self._is_served:
            for site in self._sites:
                yield from self._web.run(self._have_crawled(site))
            return
        web = _obey_robots(self._web)
        with closing(web.iter_read(self.frontier.pull(), **self._options)) as answers:
            for url, answer in answers:
                sitemaps = web.run(_find_sitemaps(web.reader, answer)) if self.frontier.is_start(url) else ()
                if (row := self.frontier.settle(url, answer, sitemaps)) is not None:
                    yield url, row

    async def arows(self) -> AsyncGenerator[tuple[str, Answer]]:
        """Do the same as `rows` on the running event loop."""
        if self._is_served:
            for site in self._sites:
                for row in await self._web.arun(self._have_crawled(site)):
                    yield row
            return
        web = _obey_robots(self._web)
        async with aclosing(web.aiter_read(self.frontier.pull(), **self._options)) as answers:
            async for url, answer in answers:
                sitemaps = await web.arun(_find_sitemaps(web.reader, answer)) if self.frontier.is_start(url) else ()
                if (row := self.frontier.settle(url, answer, sitemaps)) is not None:
                    yield url, row

    def urls(self) -> list[str]:
        """Return the URLs of a map."""
        if self._is_served:
            return [url for site in self._sites for url in self._web.run(self._have_mapped(site))]
        return self._end([answer for _, answer in self.rows()])

    async def aurls(self) -> list[str]:
        """Do the same as `urls` on the running event loop."""
        if self._is_served:
            return [url for site in self._sites for url in await self._web.arun(self._have_mapped(site))]
        return self._end([answer async for _, answer in self.arows()])

    def _end(self, answers: Iterable[Answer]) -> list[str]:
        """Return what a map found; raise the first error if that kept it from finding anything."""
        error = next((answer for answer in answers if isinstance(answer, WebSearchError)), None)
        if error and len(self.frontier.found) <= len(self._sites):
            raise error
        return self.frontier.found

    def _have_mapped(self, site: Site) -> Flow[tuple[str, ...]]:
        self._web.settings.domains.check(site.url)
        reader = cast("SiteReader", self._web.reader)
        with time_limit(_LONGEST):
            page = yield from contain_bugs(lambda: reader.map(site), reader.name)
        return tuple(self._choose(site, page.links))

    def _have_crawled(self, site: Site) -> Flow[list[tuple[str, Answer]]]:
        """Have the service read a site, and make of its pages what `WebSearch.read` would."""
        reader, calls = cast("SiteReader", self._web.reader), self._web._calls  # noqa: SLF001 - part of it
        try:
            self._web.settings.domains.check(site.url)
            with time_limit(_LONGEST):
                found = yield from contain_bugs(lambda: reader.crawl(site), reader.name)
        except WebSearchError as error:
            error.locate(reader.name, describe_url(site.url))
            return [(site.url, error)]
        part: Any = {name: value for name, value in self._options.items() if name not in _OF_LIST}
        urls = list(self._choose(site, found))
        answers = yield Gather([calls.read(url, part, found[url]) for url in urls])
        return list(zip(urls, answers, strict=True))

    def _choose(self, site: Site, urls: Iterable[str]) -> Iterator[str]:
        """Yield the URLs that a service found, without those that were not asked for, each page once."""
        place, seen = _Place(site), set[str]()
        for url in filter(is_web_url, urls):
            key = _identify(url)
            if key not in seen and len(seen) < site.limit and (key == _identify(site.url) or place.wants(url)):
                seen.add(key)
                yield url


def _obey_robots(web: WebSearch) -> WebSearch:
    """Return what reads with the same connections and limits, only what robots.txt allows, and with the menus."""
    other = copy(web)
    other.reader = other._page_reader = cast("PageReader", _put_robots(web.reader, Started(Robots())))  # noqa: SLF001
    other._of_call = {"choices": Choices(menus=True)}  # noqa: SLF001 - of the same package
    return other


def _put_robots(provider: Provider, robots: Started) -> Provider:
    """Put the layer directly around each reader, under the layers that are there, which keep their state."""
    inside, started = held(provider), getattr(provider, "_started", None)
    if rank_of(provider) == Rank.ROBOTS:
        return provider
    if not inside or started is None:
        return robots.put_around(provider)
    rebuilt: Provider = started.put_around(*(_put_robots(one, robots) for one in inside))
    return rebuilt


def _find_sitemaps(reader: Provider, start: Answer) -> Flow[tuple[str, ...]]:
    """Return the sitemaps that the robots.txt of a site names; it was read before the *start* was."""
    for part in parts(reader) if isinstance(start, Page) else ():
        if isinstance(files := getattr(part, "files", None), RobotsFiles):
            with suppress(WebSearchError):
                return (yield from files.find(start.final_url or start.url)).sitemaps
    return ()
