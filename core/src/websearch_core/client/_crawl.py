"""Crawl sites: what to read next, and the stream of pages that it feeds."""

from __future__ import annotations
import logging
import re
from collections import Counter, deque
from collections.abc import (
    AsyncGenerator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast, get_args
from urllib.parse import urljoin

from .._runtime.bugs import contain_bugs
from .._runtime.deadline import time_limit
from .._runtime.scope import WantedContent, scope
from .._text.suggestion import check_names
from .._text.urls import find_page, is_web_url, serialize, split_url
from .._text.vocabulary import Scope
from ..errors import InvalidOption, UnsafeURL, WebSearchError
from ..flow import Flow
from ..layers import Robots
from ..layers._budget import BudgetProvider
from ..layers._layer import Rank, Started, inner_of, leaves, parts, rank_of
from ..layers._robots import RobotsProvider
from ..models import Page
from ..provider._ports import Provider, Site
from ._arguments import check_number, check_placed, check_urls, strip_fragment
from ._stream import NOT_NOW, Stream, aiterate, iterate

if TYPE_CHECKING:
    from . import WebSearch

Answer: TypeAlias = Page | WebSearchError

_log = logging.getLogger(__name__)
_MAP_TIMEOUT = 300.0  # seconds for a service to map a site
_CRAWL: Mapping[str, Any] = MappingProxyType(
    {
        "limit": 200,
        "depth": 10,
        "scope": "path",
        "sitemaps": True,
        "concurrency": 32,
        "links": "keep",
    }
)
_MAP = MappingProxyType({**_CRAWL, "limit": 5_000, "depth": 1})
_OTHER_NAMES = MappingProxyType({"max_depth": "depth", "max_pages": "limit"})
_MAX_LENGTH = 1_000  # characters of a URL
_MAX_REPEATS = 3  # of one part of a path: /a/b/a/b/... never ends
_MAX_QUERIES = 500  # of one path: a calendar has a page for every day
_MAX_LISTS = 100  # sitemaps of one site
_LIST = re.compile(r"(?:\.xml(?:\.gz)?|/llms\.txt|/sitemap[^/]*)$", re.IGNORECASE)
_SESSION = re.compile(
    r";jsessionid=[^/?#;]*|"
    r"(?<=[?&])(?:phpsessid|jsessionid|aspsessionid\w*|session_?id|sid)=[^&#]*&?",
    re.IGNORECASE,
)


class _Area:
    """What a crawl may read from one start, and how much of it there is so far."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.pages = 0
        self.lists = 0
        self._queries: Counter[str] = Counter()  # of each path

    def holds(self, url: str, *, is_list: bool = False) -> bool:
        """Return whether *url* is in the scope; a list may be anywhere on its host."""
        if not is_web_url(url) or not is_web_url(self.site.url):
            return False
        parts = split_url(url)
        start = split_url(self.site.url)
        if self.site.scope == "domain":
            domain = start[1].removeprefix("www.")
            return f".{parts[1]}".endswith(f".{domain}")
        if parts[:3] != start[:3]:
            return False
        if is_list or self.site.scope == "host":
            return True
        path = parts[3].partition("?")[0].rstrip("/")
        return f"{path}/".startswith(self.site.folder)

    def wants(self, url: str) -> bool:
        """Return whether to read a page: it is in the scope, and no trap."""
        path, mark = split_url(url)[3].partition("?")[:2]
        self._queries[path] += bool(mark)
        if self._queries[path] > _MAX_QUERIES or len(url) > _MAX_LENGTH:
            return False
        repeats = Counter(filter(None, path.split("/")))
        if max(repeats.values(), default=0) > _MAX_REPEATS:
            return False
        return self.holds(url)


class _Item(NamedTuple):
    """A page, or a list of pages, to read."""

    area: _Area
    url: str
    is_list: bool


class Crawl:
    """A crawl, or a map, which *only* lists *URLs*, with the options of
    `WebSearch.crawl`.

    Of a page that *look_up* returns, other than a start, the links are followed, and it
    is not read again.
    """

    def __init__(
        self,
        web: WebSearch,
        starts: str | Iterable[str],
        options: Mapping[str, Any],
        *,
        only_urls: bool = False,
        look_up: Callable[[str], Page | None] = lambda _: None,
    ) -> None:
        defaults = _MAP if only_urls else _CRAWL
        part = _complete(options, defaults)
        extent: Any = {}
        for name in ("limit", "depth", "scope", "sitemaps"):
            extent[name] = part.pop(name)
        urls = [starts] if isinstance(starts, str) else check_urls(starts)
        self._sites = [Site(_normalize(strip_fragment(url)), **extent) for url in urls]
        self._web = web
        self._concurrency: int = part.pop("concurrency")
        self._part: Any = part
        self._only_urls = only_urls
        self._look_up = look_up
        self._reader: Any = _put_robots(web.reader, Started(Robots()))
        self.urls: list[str] = []  # of pages, in the order that links lead to them
        self.left = 0  # pages beyond the limit
        # starts and lists with a temporary error, which may have led to more
        self.failed = 0
        self._waiting: deque[_Item] = deque()
        self._under_way: dict[str, _Item] = {}  # by URL
        # by what identifies a page: the fewest links from its start so far; None for a
        # list
        self._depths: dict[str, int | None] = {}
        # the links of what was read, which are followed again on a shorter way
        self._links: dict[str, tuple[_Area, list[str]]] = {}
        self._shorter: deque[str] = deque()  # pages to which there is such a way
        self._listed: set[str] = set()  # pages that a map names, and does not read
        self._read: set[int] = set()  # pages, by what identifies them

    def rows(self) -> Generator[tuple[str, Answer]]:
        """Yield each page, or its error, when it was read. Closing the generator ends
        what is under way.
        """
        with closing(iterate(self._web, self._pull(), self._start)) as answers:
            for url, answer in answers:
                row = self._take_in(url, answer)
                if row is not None:
                    yield url, row

    async def arows(self) -> AsyncGenerator[tuple[str, Answer]]:
        """Do the same as `rows` on the running event loop."""
        async with aclosing(aiterate(self._web, self._pull(), self._start)) as answers:
            async for url, answer in answers:
                row = self._take_in(url, answer)
                if row is not None:
                    yield url, row

    def list_urls(self, rows: Iterable[tuple[str, Answer]]) -> list[str]:
        """Return the URLs of a map, after its *rows*; raise the first if all are
        errors.
        """
        answers = [answer for _, answer in rows]
        if answers and not any(isinstance(answer, Page) for answer in answers):
            raise cast("WebSearchError", answers[0])
        return self.urls

    def _start(self) -> Flow[Stream[Any]]:
        for site in self._sites:
            yield from self._enter(site)
        calls = self._web._calls.with_reader(self._reader)  # noqa: SLF001 - part of it
        with scope(content=WantedContent(menus=True)):
            return (
                yield from calls.stream_reads(
                    self._part, self._concurrency, in_order=False, give_up_after=3
                )
            )

    def _enter(self, site: Site) -> Flow[None]:
        """Begin with the start of a site, and with what a service lists of it."""
        area = _Area(site)
        links: Sequence[str] = ()
        if site.sitemaps and site.depth:
            for service in leaves(self._reader):
                if hasattr(service, "map"):
                    area.site = site._replace(sitemaps=False)  # the service knows them
                    links = yield from self._map(service, site)
                    break
        depth = 0
        if links and self._only_urls:  # a map need not read what its service has read
            depth = 1
        self._add(area, site.url, depth)
        for url in filter(is_web_url, links):
            self._add(area, _normalize(url), 1)

    def _map(self, service: Any, site: Site) -> Flow[Sequence[str]]:
        """Return the URLs that a service lists."""
        self._web.settings.domains.check(site.url)
        ask: Any = partial(service.map, site)
        for part in parts(self._reader):
            if isinstance(part, BudgetProvider):
                ask = partial(part.charge, "read", 1, ask, lambda page: [page])
        with time_limit(_MAP_TIMEOUT):
            page: Page = yield from contain_bugs(ask, service.name)
        return page.links

    def _pull(self) -> Iterator[Any]:
        while self._waiting or self._under_way:
            if not self._waiting:
                yield NOT_NOW
                continue
            item = self._waiting.popleft()
            # it would only add to what is too much
            if item.is_list and item.area.pages >= item.area.site.limit:
                continue
            self._under_way[item.url] = item
            page: Page | None = None
            if self._depths.get(identify_crawled(item.url)):  # neither start nor list
                page = self._look_up(item.url)
            if page is None:
                yield item.url
            else:
                self._take_in(item.url, page)

    def _take_in(self, url: str, answer: Answer) -> Answer | None:
        """Follow the links of an answer; return the row that it makes, if any."""
        item = self._under_way.pop(url)
        area = item.area
        key = identify_crawled(url)
        depth = self._depths.get(key) or 0  # also that of a list
        if isinstance(answer, WebSearchError):
            if not depth and getattr(answer, "temporary", False):
                self.failed += 1
                _log.warning("pages may be missing: %s", answer)
            return None if item.is_list else answer
        final_url = _normalize(answer.final_url or url)
        links = [_normalize(link) for link in answer.links if is_web_url(link)]
        if item.is_list:
            self._follow(area, links, depth)
            return None
        if not area.holds(final_url):
            if depth:
                return UnsafeURL("the page redirects to something outside of the crawl")
            area.site = area.site._replace(url=final_url)
        final_key = identify_crawled(final_url)
        self._depths.setdefault(final_key, depth)
        is_double = self._was_read(answer, final_url)
        if is_double:  # only for a shorter way to what is there
            links = [link for link in links if identify_crawled(link) in self._depths]
        self._links[key] = area, links
        self._links[final_key] = area, links
        self._follow(area, links, depth)
        if is_double:
            return None
        if depth == 0:
            self._add_lists(area, final_url)
        return answer

    def _was_read(self, page: Page, final_url: str) -> bool:
        """Return whether the same page was read under another URL, and note this one.

        Many sites declare one canonical URL for all pages, so the beginning counts,
        too.
        """
        beginning = page.content[:500]
        identities: set[int] = set()
        for url in (final_url, page.canonical_url or final_url):
            identities.add(hash((identify_crawled(url), page.title, beginning)))
        was_read = not identities.isdisjoint(self._read)
        self._read |= identities
        return was_read

    def _follow(self, area: _Area, links: Sequence[str], depth: int) -> None:
        for link in links:
            self._add(area, link, depth + 1)
        while self._shorter:
            key = self._shorter.popleft()
            area, links = self._links[key]
            depth = self._depths[key] or 0
            for link in links:
                self._add(area, link, depth + 1)

    def _add(self, area: _Area, url: str, depth: int) -> None:
        """Let a page wait for its turn, unless the crawl leaves it out."""
        if depth <= 1 and _LIST.search(url.partition("?")[0]):
            self._add_list(area, url)
            return
        if depth > area.site.depth:
            return
        key = identify_crawled(url)
        if key in self._depths:
            self._shorten(area, url, depth)
            return
        if depth and not area.wants(url):
            return
        self._depths[key] = depth
        if area.pages >= area.site.limit:
            self.left += 1
            return
        area.pages += 1
        self.urls.append(url)
        if self._only_urls and depth >= area.site.depth:
            self._listed.add(key)
        else:
            self._waiting.append(_Item(area, url, is_list=False))

    def _add_lists(self, area: _Area, start: str) -> None:
        """Add the sitemaps and lists of a site, whose first page *start* is."""
        if not area.site.sitemaps or not area.site.depth:
            return
        paths: list[str] = []
        for part in parts(self._reader):
            if isinstance(part, RobotsProvider):
                paths += part.files.find_sitemaps(start)
        if not paths:
            paths.append("/sitemap.xml")
        folder = area.site._replace(url=start).folder
        for path in (*paths, "/llms.txt", f"{folder}llms.txt"):
            self._add_list(area, urljoin(start, path))

    def _add_list(self, area: _Area, url: str) -> None:
        """Let a list of pages wait for its turn."""
        key = identify_crawled(url)
        if key in self._depths or not area.holds(url, is_list=True):
            return
        self._depths[key] = None
        if area.lists < _MAX_LISTS:
            area.lists += 1
            self._waiting.append(_Item(area, url, is_list=True))

    def _shorten(self, area: _Area, url: str, depth: int) -> None:
        """Note a shorter way to a page, if it is one: which way is there first depends
        on which page answers first.
        """
        key = identify_crawled(url)
        before = self._depths[key]
        if before is None or depth >= before:
            return
        self._depths[key] = depth
        if key in self._links:
            self._shorter.append(key)
        elif key in self._listed and depth < area.site.depth:
            self._listed.discard(key)
            self._waiting.append(_Item(area, url, is_list=False))


def _complete(
    options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the *options* of a crawl with its *defaults*, after checking them."""
    from ..reading import ReadOptions

    names = {**defaults, **ReadOptions.__annotations__}
    check_placed(options, names)
    check_names(options, names, InvalidOption, _OTHER_NAMES)
    complete = dict(defaults)
    for name, value in options.items():
        if value is not None:
            complete[name] = value
    for name, minimum in (("limit", 1), ("depth", 0), ("concurrency", 1)):
        check_number(name, complete[name], minimum, InvalidOption)
    # a crawl follows the links
    if complete["scope"] not in get_args(Scope) or complete["links"] != "keep":
        scopes = ", ".join(get_args(Scope))
        raise InvalidOption(
            f"scope: must be one of {scopes}; links: a crawl keeps them"
        )
    return complete


def _normalize(url: str) -> str:
    return serialize(url).partition("#")[0] if is_web_url(url) else url


def identify_crawled(url: str) -> str:
    """Return what URLs of one page have in common, whatever their session."""
    if not is_web_url(url):
        return f"{url} is not a URL"
    return find_page(_SESSION.sub("", url))


def _put_robots(provider: Provider, robots: Started) -> Provider:
    """Put the layer directly around each reader, under the layers that are there, which
    keep their state.
    """
    if rank_of(provider) == Rank.ROBOTS:
        return provider
    inside = inner_of(provider)
    started = getattr(provider, "_started", None)
    if not inside or started is None:
        return robots.put_around(provider)
    wrapped: Provider = started.put_around(
        *(_put_robots(part, robots) for part in inside)
    )
    return wrapped
