"""Crawl sites: what to read next, which needs no I/O, and the stream of pages that it
feeds.
"""

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
)
from contextlib import aclosing, closing
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args
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
from ..layers._layer import Rank, Started, inner_of, leaves, parts, rank_of
from ..models import Page
from ..provider._ports import Provider, Site
from ._arguments import check_number, check_placed, check_urls, strip_fragment
from ._stream import NOT_NOW, Stream, aiterate, iterate

if TYPE_CHECKING:
    from . import WebSearch

Answer: TypeAlias = Page | WebSearchError

_log = logging.getLogger(__name__)
_LONGEST = 300.0  # seconds for a service to map a site
# of options
_OTHER_NAMES = MappingProxyType({"max_depth": "depth", "max_pages": "limit"})
_MAX_LENGTH = 1_000  # characters of a URL
_MAX_REPEATS = 3  # of one part of a path: /a/b/a/b/... never ends
_MAX_QUERIES = 500  # of one path: a calendar has a page for every day
_MAX_LISTS = 100  # sitemaps of one site
_LIST = re.compile(r"(?:\.xml(?:\.gz)?|/llms\.txt|/sitemap[^/]*)$", re.IGNORECASE)
_SESSION = re.compile(
    r";jsessionid=[^/?#;]*|(?<=[?&])(?:phpsessid|jsessionid|aspsessionid\w*|session_?id|sid)=[^&#]*&?",
    re.IGNORECASE,
)


class _Area:
    """What a crawl may read from one start, and how much of it was found: pages, lists,
    and queries of each path.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.counts: Counter[str] = Counter()

    def holds(self, url: str, *, whole: bool = False) -> bool:
        if not is_web_url(url) or not is_web_url(self.site.url):
            return False
        (scheme, host, port, rest), start = split_url(url), split_url(self.site.url)
        if self.site.scope == "domain":
            return f".{host}".endswith(f".{start[1].removeprefix('www.')}")
        is_below = f"{rest.partition('?')[0].rstrip('/')}/".startswith(self.site.folder)
        return (scheme, host, port) == start[:3] and (
            whole or self.site.scope == "host" or is_below
        )

    def wants(self, url: str) -> bool:
        path, mark, _ = split_url(url)[3].partition("?")
        self.counts[path] += bool(mark)
        repeats = max(Counter(filter(None, path.split("/"))).values(), default=0)
        is_trap = (
            repeats > _MAX_REPEATS
            or self.counts[path] > _MAX_QUERIES
            or len(url) > _MAX_LENGTH
        )
        return not is_trap and self.holds(url)


class Crawl:
    """A crawl, or a map, which *only* lists *URLs*, with the options of
    `WebSearch.crawl`.

    Of a page that *find_known* returns, other than a start, the links are followed, and
    it is not read again.
    """

    def __init__(
        self,
        web: WebSearch,
        starts: str | Iterable[str],
        options: Mapping[str, Any],
        *,
        only_urls: bool = False,
        find_known: Callable[[str], Page | None] = lambda _: None,
    ) -> None:
        from ..reading import ReadOptions

        usual = (
            {"limit": 5_000, "depth": 1} if only_urls else {"limit": 200, "depth": 10}
        )
        part: dict[str, Any] = {
            **usual,
            "scope": "path",
            "sitemaps": True,
            "concurrency": 32,
            "links": "keep",
        }
        known = {**part, **ReadOptions.__annotations__}
        check_placed(options, known)
        check_names(options, known, InvalidOption, _OTHER_NAMES)
        part |= {name: value for name, value in options.items() if value is not None}
        for name, least in (("limit", 1), ("depth", 0), ("concurrency", 1)):
            check_number(name, part[name], least, InvalidOption)
        # which a crawl follows
        if part["scope"] not in get_args(Scope) or part["links"] != "keep":
            raise InvalidOption(
                f"scope: must be one of {', '.join(get_args(Scope))}; links: a crawl keeps them"
            )
        far: dict[str, Any] = {
            name: part.pop(name) for name in ("limit", "depth", "scope", "sitemaps")
        }
        urls: list[str] = (
            [starts] if isinstance(starts, str) else list(check_urls(starts))
        )
        self._sites = [Site(_normalize(strip_fragment(url)), **far) for url in urls]
        self._web, self._part = web, part
        self._only_urls, self._find_known = only_urls, find_known
        self._reader: Any = _put_robots(web.reader, Started(Robots()))
        self._robots: list[Any] = [
            one for one in parts(self._reader) if hasattr(one, "files")
        ]
        self.found: list[str] = []
        self.left = 0  # pages that were found, and are beyond the limit
        # starts and lists with a temporary error, which may have led to more
        self.failed = 0
        # with whether it is a list
        self._waiting: deque[tuple[_Area, str, bool]] = deque()
        self._under_way: dict[str, tuple[_Area, bool]] = {}
        # by what identifies a page: the fewest links from its start so far; None for a
        # list
        self._depths: dict[str, int | None] = {}
        # the links of what was read, which are followed again on a shorter way
        self._links: dict[str, tuple[_Area, list[str]]] = {}
        self._shorter: deque[str] = deque()  # pages to which such a way was found
        self._listed: set[str] = set()  # pages that a map names, and does not read
        self._read: set[int] = set()  # pages, by what identifies them

    def rows(self) -> Generator[tuple[str, Answer]]:
        """Yield each page, or its error, when it was read. Closing the generator ends
        what is under way.
        """
        with closing(iterate(self._web, self._pull(), self._start)) as answers:
            for url, answer in answers:
                if (row := self._take_in(url, answer)) is not None:
                    yield url, row

    async def arows(self) -> AsyncGenerator[tuple[str, Answer]]:
        """Do the same as `rows` on the running event loop."""
        async with aclosing(aiterate(self._web, self._pull(), self._start)) as answers:
            async for url, answer in answers:
                if (row := self._take_in(url, answer)) is not None:
                    yield url, row

    def list_urls(self, rows: Iterable[tuple[str, Answer]]) -> list[str]:
        """Return what a map found, after its *rows*; raise the first if all are
        errors.
        """
        answers = [answer for _, answer in rows]
        if answers and not any(isinstance(answer, Page) for answer in answers):
            raise cast("WebSearchError", answers[0])
        return self.found

    def _start(self) -> Flow[Stream[Any]]:
        service: Any = next(
            (reader for reader in leaves(self._reader) if hasattr(reader, "map")), None
        )
        for site in self._sites:
            area, mapped = _Area(site), Page(url=site.url)
            if service and site.sitemaps and site.depth:  # it knows the sitemaps, too
                area.site = site._replace(sitemaps=False)
                self._web.settings.domains.check(site.url)
                do: Any = partial(service.map, site)
                budgets: list[Any] = [
                    one for one in parts(self._reader) if hasattr(one, "charge")
                ]
                for budget in budgets:
                    do = partial(budget.charge, "read", 1, do, lambda page: [page])
                with time_limit(_LONGEST):
                    mapped = yield from contain_bugs(do, service.name)
            self._add(area, site.url, 1 if mapped.links and self._only_urls else 0)
            for url in filter(is_web_url, mapped.links):
                self._add(area, _normalize(url), 1)
        calls = self._web._calls.with_reader(self._reader)  # noqa: SLF001 - part of it
        part: Any = {
            name: value for name, value in self._part.items() if name != "concurrency"
        }
        with scope(content=WantedContent(menus=True)):
            return (
                yield from calls.stream_reads(
                    part, self._part["concurrency"], in_order=False, give_up_after=3
                )
            )

    def _pull(self) -> Iterator[Any]:
        while self._waiting or self._under_way:
            if not self._waiting:
                yield NOT_NOW
                continue
            area, url, is_list = self._waiting.popleft()
            # it would only add to what is too much
            if is_list and area.counts["pages"] >= area.site.limit:
                continue
            self._under_way[url] = area, is_list
            may_be_known = bool(self._depths.get(identify_crawled(url)))
            page = self._find_known(url) if may_be_known else None
            if page is None:
                yield url
            else:
                self._take_in(url, page)

    def _take_in(self, url: str, answer: Answer) -> Answer | None:
        area, is_list = self._under_way.pop(url)
        key = identify_crawled(url)
        depth = None if is_list else self._depths.get(key, 0)
        if isinstance(answer, WebSearchError):
            if not depth and getattr(answer, "temporary", False):
                self.failed += 1
                _log.warning("pages may be missing: %s", answer)
            return None if depth is None else answer
        there = _normalize(answer.final_url or url)
        is_double = False
        if depth is not None:
            if depth and not area.holds(there):
                return UnsafeURL("the page redirects to something outside of the crawl")
            if not area.holds(there):
                area.site = area.site._replace(url=there)
            # many sites declare one canonical URL for all pages
            begin = answer.title, answer.content[:500]
            page = {
                hash((identify_crawled(one), *begin))
                for one in (there, answer.canonical_url or there)
            }
            self._depths.setdefault(identify_crawled(there), depth)
            is_double = bool(page & self._read)
            self._read |= page
        links = [_normalize(link) for link in answer.links if is_web_url(link)]
        if depth is not None:
            if is_double:  # only for a shorter way to what is there
                links = [
                    link for link in links if identify_crawled(link) in self._depths
                ]
            self._links[key] = area, links
            self._links[identify_crawled(there)] = area, links
        for link in links:
            self._add(area, link, (depth or 0) + 1)
        self._follow_shorter_ways()
        if is_double:
            return None
        if depth == 0 and area.site.sitemaps and area.site.depth:
            named = [
                one
                for robots in self._robots
                for one in robots.files.find_sitemaps(there)
            ]
            folder = area.site._replace(url=there).folder
            for one in (*(named or ["/sitemap.xml"]), "/llms.txt", f"{folder}llms.txt"):
                self._add(area, urljoin(there, one), None)
        return None if depth is None else answer

    def _add(self, area: _Area, url: str, depth: int | None) -> None:
        if depth is not None and depth <= 1 and _LIST.search(url.partition("?")[0]):
            depth = None
        key = identify_crawled(url)
        if (depth or 0) > area.site.depth:
            return
        if key in self._depths:
            self._shorten(area, url, depth)
            return
        if not (
            area.holds(url, whole=True)
            if depth is None
            else depth == 0 or area.wants(url)
        ):
            return
        self._depths[key] = depth
        kind, most = (
            ("lists", _MAX_LISTS) if depth is None else ("pages", area.site.limit)
        )
        if area.counts[kind] >= most:
            self.left += depth is not None
            return
        area.counts[kind] += 1
        self.found += [] if depth is None else [url]
        if depth is None or not self._only_urls or depth < area.site.depth:
            self._waiting.append((area, url, depth is None))
        else:
            self._listed.add(key)

    def _shorten(self, area: _Area, url: str, depth: int | None) -> None:
        """Note a shorter way to a page that was found before: which way is found first
        depends on which page answers first.
        """
        key = identify_crawled(url)
        before = self._depths[key]
        if depth is None or before is None or depth >= before:
            return
        self._depths[key] = depth
        if key in self._links:
            self._shorter.append(key)
        elif key in self._listed and depth < area.site.depth:
            self._listed.discard(key)
            self._waiting.append((area, url, False))

    def _follow_shorter_ways(self) -> None:
        while self._shorter:
            key = self._shorter.popleft()
            area, links = self._links[key]
            depth = self._depths[key] or 0
            for link in links:
                self._add(area, link, depth + 1)


def _normalize(url: str) -> str:
    return serialize(url).partition("#")[0] if is_web_url(url) else url


def identify_crawled(url: str) -> str:
    return (
        find_page(_SESSION.sub("", url)) if is_web_url(url) else f"{url} is not a URL"
    )


def _put_robots(provider: Provider, robots: Started) -> Provider:
    """Put the layer directly around each reader, under the layers that are there, which
    keep their state.
    """
    inside, started = inner_of(provider), getattr(provider, "_started", None)
    if rank_of(provider) == Rank.ROBOTS:
        return provider
    if not inside or started is None:
        return robots.put_around(provider)
    wrapped: Provider = started.put_around(
        *(_put_robots(one, robots) for one in inside)
    )
    return wrapped
