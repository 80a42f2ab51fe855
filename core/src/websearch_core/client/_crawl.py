"""Crawl sites: the frontier, which says what to read next and does no I/O, and what has it read."""

from __future__ import annotations
import re
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import aclosing, closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args
from urllib.parse import urljoin

from .._runtime.bugs import contain_bugs
from .._runtime.deadline import time_limit
from .._runtime.scope import Choices, scope
from .._text.urls import find_page, is_web_url, serialize, split_url
from ..errors import InvalidOption, UnsafeURL, WebSearchError
from ..flow import Flow
from ..layers import Robots
from ..layers._layer import Rank, Started, held, leaves, parts, rank_of
from ..models import Page
from ..provider._ports import Provider, Scope, Site
from ._arguments import check_number, check_urls, strip_fragment
from ._stream import NOT_NOW, Stream, aiterate, iterate

if TYPE_CHECKING:
    from ..reading import ReadOptions
    from . import WebSearch

    class CrawlOptions(ReadOptions, total=False):
        """The options of `WebSearch.crawl`."""

        limit: int
        depth: int
        scope: Scope
        sitemaps: bool
        concurrency: int


Answer: TypeAlias = Page | WebSearchError

_LONGEST = 7_200.0  # seconds for what a service does with a site
_MAX_LENGTH = 1_000  # characters of a URL
_MAX_REPEATS = 3  # of one part of a path: /a/b/a/b/... never ends
_MAX_QUERIES = 500  # of one path: a calendar has a page for every day
_MAX_LISTS = 100  # sitemaps of one site
_LIST = re.compile(r"(?:\.xml(?:\.gz)?|/llms\.txt|/sitemap[^/]*)$", re.IGNORECASE)
_SESSION = re.compile(
    r";jsessionid=[^/?#;]*|(?<=[?&])(?:phpsessid|jsessionid|aspsessionid\w*|session_?id|sid)=[^&#]*&?", re.IGNORECASE
)


class _Place:
    """A site of a crawl, and how much of it was found: pages, lists, and queries of each path."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.counts: Counter[str] = Counter()

    def holds(self, url: str, *, whole: bool = False) -> bool:
        """Return whether *url* is in the scope; or, for lists, on the *whole* host."""
        if not is_web_url(url) or not is_web_url(self.site.url):
            return False
        (scheme, host, port, rest), start = split_url(url), split_url(self.site.url)
        if self.site.scope == "domain":
            return f".{host}".endswith(f".{start[1].removeprefix('www.')}")
        is_below = f"{rest.partition('?')[0].rstrip('/')}/".startswith(self.site.folder)
        return (scheme, host, port) == start[:3] and (whole or self.site.scope == "host" or is_below)

    def wants(self, url: str) -> bool:
        """Return whether to read the page at *url*: not if it looks like one of a trap without end."""
        path, mark, _ = split_url(url)[3].partition("?")
        self.counts[path] += bool(mark)
        repeats = max(Counter(filter(None, path.split("/"))).values(), default=0)
        is_trap = repeats > _MAX_REPEATS or self.counts[path] > _MAX_QUERIES or len(url) > _MAX_LENGTH
        return not is_trap and self.holds(url)


class Frontier:
    """What a crawl has yet to read, breadth first.

    *find_known* returns the page at a URL if it was read before: then only its links are followed. For a map, pages are
    not read that are *only_urls*: those that are as far away as may be.
    """

    def __init__(self, find_known: Callable[[str], Page | None], *, only_urls: bool) -> None:
        self.found: list[str] = []
        self.left = 0  # pages that were found, and are beyond the limit
        self._find_known, self._only_urls = find_known, only_urls
        self._waiting: deque[tuple[_Place, str, int | None]] = deque()  # with the links from the start; None for lists
        self._under_way: dict[str, tuple[_Place, int | None]] = {}
        self._seen: set[str] = set()
        self._read: dict[str, int] = {}  # by what identifies a page: a hash of it

    def add(self, site: Site, mapped: Iterable[str] = ()) -> None:
        """Add a site, and what a service has *mapped* of it."""
        place = _Place(site)
        self._add(place, site.url, 0)
        for url in filter(is_web_url, mapped):
            self._add(place, _normalize(url), 1)

    def pull(self) -> Iterator[Any]:
        """Yield each URL to read, or `NOT_NOW` while that depends on answers which have yet to come."""
        while (url := self._take()) is not None or self._under_way:
            yield url or NOT_NOW

    def is_start(self, url: str) -> bool:
        """Return whether *url*, which is under way, is where a site begins."""
        return self._under_way[url][1] == 0

    def settle(self, url: str, answer: Answer, sitemaps: Iterable[str] = ()) -> Answer | None:
        """Follow the links of what was read, and the *sitemaps* of a start; return what to report, if anything."""
        place, depth = self._under_way.pop(url)
        if isinstance(answer, WebSearchError):
            return None if depth is None else answer
        if depth is not None:
            there = _normalize(answer.final_url or url)
            if depth and not place.holds(there):
                return UnsafeURL("the page redirects to something outside of the crawl")
            if not place.holds(there):
                place.site = place.site._replace(url=there)
            names = {_identify(there), _identify(answer.canonical_url or there)}
            page = hash((answer.title, answer.content[:500]))  # many sites declare one canonical URL for all pages
            self._seen.add(_identify(there))
            if any(self._read.get(name) == page for name in names):
                return None
            self._read.update(dict.fromkeys(names, page))
        for link in filter(is_web_url, answer.links):
            self._add(place, _normalize(link), (depth or 0) + 1)
        if depth == 0 and place.site.sitemaps and place.site.depth:
            folder = place.site._replace(url=there).folder
            for one in (*(sitemaps or ["/sitemap.xml"]), "/llms.txt", f"{folder}llms.txt"):
                self._add_list(place, urljoin(there, one))
        return None if depth is None else answer

    def _take(self) -> str | None:
        """Return the next URL to read; None if there is none now."""
        while self._waiting:
            place, url, depth = self._waiting.popleft()
            if depth is None and place.counts["pages"] >= place.site.limit:  # it would only add to what is too much
                continue
            self._under_way[url] = place, depth
            if not depth or (page := self._find_known(url)) is None:
                return url
            self.settle(url, page)
        return None

    def _add(self, place: _Place, url: str, depth: int) -> None:
        key = _identify(url)
        if depth > place.site.depth or key in self._seen:
            return
        if depth <= 1 and _LIST.search(url.partition("?")[0]):
            self._add_list(place, url)
        elif not depth or place.wants(url):
            self._seen.add(key)
            if place.counts["pages"] >= place.site.limit:
                self.left += 1
                return
            place.counts["pages"] += 1
            self.found.append(url)
            if not self._only_urls or depth < place.site.depth:
                self._waiting.append((place, url, depth))

    def _add_list(self, place: _Place, url: str) -> None:
        key = f"a list at {url}"
        if key not in self._seen and place.counts["lists"] < _MAX_LISTS and place.holds(url, whole=True):
            self._seen.add(key)
            place.counts["lists"] += 1
            self._waiting.append((place, url, None))


def _normalize(url: str) -> str:
    """Return *url* as it is sent, without its fragment; itself if it is not a URL, which is the error of its row."""
    return serialize(url).partition("#")[0] if is_web_url(url) else url


def _identify(url: str) -> str:
    """Return what is the same for all URLs of a page, as far as that can be known without reading it."""
    return find_page(_SESSION.sub("", url))


class Crawl:
    """A crawl, or a map, with the options of `WebSearch.crawl`; *find_known* is as for `Frontier`; starts are new."""

    def __init__(
        self,
        web: WebSearch,
        starts: str | Iterable[str],
        options: Mapping[str, Any],
        *,
        only_urls: bool = False,
        find_known: Callable[[str], Page | None] = lambda _: None,
    ) -> None:
        usual = {"limit": 5_000, "depth": 1} if only_urls else {"limit": 200, "depth": 10}
        part = {**usual, "scope": "path", "sitemaps": True, "concurrency": 32, "links": "keep"}
        part |= {name: value for name, value in options.items() if value is not None}
        for name, least in (("limit", 1), ("depth", 0), ("concurrency", 1)):
            check_number(name, part[name], least, InvalidOption)
        for name, words in (("scope", get_args(Scope)), ("links", ("keep",))):  # a crawl follows links
            if part[name] not in words:
                raise InvalidOption(f"{name}: must be {' or '.join(words)} for a crawl, not {part[name]!r}")
        far: dict[str, Any] = {name: part.pop(name) for name in ("limit", "depth", "scope", "sitemaps")}
        urls: list[str] = [starts] if isinstance(starts, str) else list(check_urls(starts))
        self._web, self._concurrency, self._part = web, part.pop("concurrency"), part
        self._sites = [Site(_normalize(strip_fragment(url)), **far) for url in urls]
        self._reader: Any = _put_robots(web.reader, Started(Robots()))
        self.frontier = Frontier(find_known, only_urls=only_urls)

    def rows(self) -> Generator[tuple[str, Answer]]:
        """Yield each page, or its error, when it was read. Closing the generator ends what is under way."""
        with closing(iterate(self._web, self.frontier.pull(), self._start)) as answers:
            for url, answer in answers:
                if (row := self._web.run(self._settle(url, answer))) is not None:
                    yield url, row

    async def arows(self) -> AsyncGenerator[tuple[str, Answer]]:
        """Do the same as `rows` on the running event loop."""
        async with aclosing(aiterate(self._web, self.frontier.pull(), self._start)) as answers:
            async for url, answer in answers:
                if (row := await self._web.arun(self._settle(url, answer))) is not None:
                    yield url, row

    def list_urls(self, rows: Iterable[tuple[str, Answer]]) -> list[str]:
        """Return the URLs of a map, whose *rows* are what was read for it; raise an error if that was nothing."""
        answers = [answer for _, answer in rows]
        errors = [answer for answer in answers if isinstance(answer, WebSearchError)]
        if errors and len(errors) == len(answers):
            raise errors[0]
        return self.frontier.found

    def _start(self) -> Flow[Stream[Page]]:
        service: Any = next(iter(readers)) if len(readers := leaves(self._reader)) == 1 else None
        for site in self._sites:
            mapped: tuple[str, ...] = ()
            if hasattr(service, "map") and site.depth and site.sitemaps:
                mapped, site = (yield from self._map(service, site)), site._replace(sitemaps=False)
            self.frontier.add(site, mapped)
        calls, part = self._web._calls, cast("Any", self._part)  # noqa: SLF001 - part of it
        calls = replace(calls, reader=self._reader, page_reader=self._reader)
        with scope(choices=Choices(menus=True)):
            return (yield from calls.stream_reads(part, self._concurrency, in_order=False, give_up_after=3))

    def _map(self, service: Any, site: Site) -> Flow[tuple[str, ...]]:
        """Have a service list the pages of a site, within the budget."""
        self._web.settings.domains.check(site.url)
        do: Any = partial(service.map, site)
        for budget in [one for one in parts(self._reader) if hasattr(one, "charge")]:
            do = partial(budget.charge, "read", 1, do, lambda page: [page])
        with time_limit(_LONGEST):
            page: Page = yield from contain_bugs(do, service.name)
        return page.links

    def _settle(self, url: str, answer: Answer) -> Flow[Answer | None]:
        sitemaps: tuple[str, ...] = ()
        robots: Any = next((part for part in parts(self._reader) if rank_of(part) == Rank.ROBOTS), None)
        if isinstance(answer, Page) and self.frontier.is_start(url) and hasattr(robots, "files"):
            with suppress(WebSearchError):
                sitemaps = (yield from robots.files.find(answer.final_url or url)).sitemaps
        return self.frontier.settle(url, answer, sitemaps)

    def _have_crawled(self, service: Any, site: Site) -> Flow[list[str]]:
        """Have a service read a site, within the budget, and return the URLs of what it found."""
        crawl: Any = partial(service.crawl, site)
        for budget in [one for one in parts(self._web.reader) if hasattr(one, "charge")]:
            crawl = partial(budget.charge, "read", 1 if site.only_urls else site.limit, crawl, _list_pages)
        try:
            self._web.settings.domains.check(site.url)
            with time_limit(_LONGEST):
                found: dict[str, Answer] = yield from contain_bugs(crawl, service.name)
        except WebSearchError as error:
            found = {site.url: error}
        self._found |= {_normalize(url): answer for url, answer in found.items()}
        return list(found)


def _put_robots(provider: Provider, robots: Started) -> Provider:
    """Put the layer directly around each reader, under the layers that are there, which keep their state."""
    inside, started = held(provider), getattr(provider, "_started", None)
    if rank_of(provider) == Rank.ROBOTS:
        return provider
    if not inside or started is None:
        return robots.put_around(provider)
    wrapped: Provider = started.put_around(*(_put_robots(one, robots) for one in inside))
    return wrapped
