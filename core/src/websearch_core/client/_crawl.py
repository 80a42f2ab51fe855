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
from fnmatch import fnmatchcase
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast, get_args
from urllib.parse import quote, urljoin

from .._runtime.bugs import contain_bugs
from .._runtime.deadline import time_limit
from .._runtime.scope import WantedContent, current_call, scope
from .._text.media_types import HTML
from .._text.suggestion import check_names
from .._text.urls import (
    are_of_one_site,
    find_page,
    is_list,
    is_web_url,
    move,
    serialize,
    split_url,
)
from .._text.vocabulary import LINKS_LEFT_OUT, Scope
from ..errors import (
    InvalidOption,
    PageNotFound,
    ServiceError,
    TimedOut,
    Unavailable,
    UnsafeURL,
    WebSearchError,
)
from ..flow import Flow, Gather
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
        "include": (),
        "exclude": (),
        "concurrency": 32,
        "links": "keep",
    }
)
_MAP = MappingProxyType({**_CRAWL, "limit": 5_000, "depth": 1})
_OTHER_NAMES = MappingProxyType(
    {
        "max_depth": "depth",
        "max_pages": "limit",
        "include_paths": "include",
        "exclude_paths": "exclude",
    }
)
_MAX_LENGTH = 1_000  # characters of a URL
_MAX_REPEATS = 3  # of one part of a path: /a/b/a/b/... never ends
_MAX_QUERIES = 500  # of one path: a calendar has a page for every day
_MAX_LISTS = 100  # sitemaps of one site
# where a sitemap usually is: the next one is asked for if one is missing
_PLACES = ("/sitemap.xml", "/sitemap_index.xml", "/wp-sitemap.xml")
_IN_PATTERNS = "/*?[]!$%&'()+,:;=@#"
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
        if not are_of_one_site(url, self.site.url):
            return False
        if is_list or self.site.scope == "host":
            return True
        path = parts[3].partition("?")[0].rstrip("/")
        return f"{path}/".startswith(self.site.folder)

    def begin(self, url: str) -> None:
        """Begin at *url*, to which the start has led."""
        if self.holds(url):  # it is spelled otherwise, at the most
            url = move(self.site.url, url)
        self.site = self.site._replace(url=url)

    def spell(self, url: str) -> str:
        """Return *url* with the scheme and host of the start, if they are of one site:
        otherwise each page may cost a redirect.
        """
        if not is_web_url(url) or not is_web_url(self.site.url):
            return url
        if not are_of_one_site(url, self.site.url):
            return url
        return move(url, self.site.url)

    def wants(self, url: str) -> bool:
        """Return whether to read a page: it is in the scope, and no trap."""
        path, mark = split_url(url).rest.partition("?")[:2]
        self._queries[path] += bool(mark)
        if self._queries[path] > _MAX_QUERIES or len(url) > _MAX_LENGTH:
            return False
        repeats = Counter(filter(None, path.split("/")))
        if max(repeats.values(), default=0) > _MAX_REPEATS:
            return False
        return self.admits(url)

    def admits(self, url: str) -> bool:
        """Return whether a page is in the scope, and has a path that is wanted."""
        if not self.holds(url):
            return False
        address = split_url(url).rest
        if self.site.include and not _fits(address, self.site.include):
            return False
        return not _fits(address, self.site.exclude)


def _fits(address: str, patterns: Iterable[str]) -> bool:
    """Return whether one of *patterns* fits all of a path with its query."""
    return any(fnmatchcase(address, pattern) for pattern in patterns)


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
        for name in Site._fields[1:]:
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
        # how the site itself spells the URLs that are spelled like the start
        self._spellings: dict[str, str] = {}
        # which of the usual places of a sitemap to try after this one
        self._next_places: dict[str, int] = {}

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
        has_pages = any(isinstance(answer, Page) for answer in answers)
        # although no start can be read, sitemaps may name pages
        if len(self.urls) > len(answers):
            return self.urls
        if answers and not has_pages:
            raise cast("WebSearchError", answers[0])
        return self.urls

    def _start(self) -> Flow[Stream[Any]]:
        yield from self._read_robots()
        for site in self._sites:
            yield from self._enter(site)
        calls = self._web._calls.with_reader(self._reader)  # noqa: SLF001 - part of it
        with scope(content=WantedContent(menus=True)):
            return (
                yield from calls.stream_reads(
                    self._part, self._concurrency, in_order=False, give_up_after=3
                )
            )

    def _read_robots(self) -> Flow[None]:
        """Read the robots.txt of each start that may come from a cache: it names the
        sitemaps, and would not be read for such a page.
        """
        layers = list(parts(self._reader))
        ranks = set(map(rank_of, layers))
        if Rank.CACHE not in ranks and current_call().memory is None:
            return
        flows: list[Flow[Any]] = []
        for layer in layers:
            if isinstance(layer, RobotsProvider):
                flows += map(layer.files.find_rules, self._list_starts())
        yield Gather(flows)

    def _list_starts(self) -> list[str]:
        """Return the starts that may be read, and whose sitemaps are wanted."""
        starts = [site.url for site in self._sites if site.sitemaps]
        return list(
            filter(self._web.settings.domains.permits, filter(is_web_url, starts))
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
            return self._take_in_error(item, depth, answer)
        final_url = _normalize(answer.final_url or url)
        links = [_normalize(link) for link in answer.links if is_web_url(link)]
        if LINKS_LEFT_OUT in answer.notes:
            _log.warning("pages may be missing: %s: %s", url, LINKS_LEFT_OUT)
        if item.is_list:
            self._take_in_list(item, answer, links)
            return None
        if depth and not area.admits(final_url):
            return UnsafeURL("the page redirects to something outside of the crawl")
        if not depth:
            area.begin(final_url)
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

    def _take_in_list(self, item: _Item, page: Page, links: Sequence[str]) -> None:
        """Follow the *links* of a list; try the next place if it is none."""
        is_missing = item.url in self._next_places and page.media_type in HTML
        if is_missing or not links:
            self._try_next_place(item)
        if not is_missing:
            self._follow(item.area, links, 0)

    def _take_in_error(
        self, item: _Item, depth: int, error: WebSearchError
    ) -> WebSearchError | None:
        """Go on without a page or a list; return the row that the error makes, if
        any.
        """
        spelling = self._spellings.pop(item.url, None)
        if spelling is not None and isinstance(error, PageNotFound):
            self._waiting.append(item._replace(url=spelling))
            return None
        if item.is_list:
            self._try_next_place(item)
        elif not depth and self._may_have_lists(item.url, error):
            self._add_lists(item.area, item.url)
        if not depth and getattr(error, "temporary", False):
            self.failed += 1
            _log.warning("pages may be missing: %s", error)
        return None if item.is_list else error

    def _may_have_lists(self, start: str, error: WebSearchError) -> bool:
        """Return whether the site of a start that cannot be read may be read."""
        if not isinstance(error, ServiceError):  # it may not be opened
            return False
        if error.status is not None or self._find_sitemaps(start):
            return True
        return not isinstance(error, (Unavailable, TimedOut))

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
        url = self._spell(area, url)
        if depth <= 1 and is_list(url):
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
        sitemaps = self._find_sitemaps(start)
        if not sitemaps:
            self._add_place(area, start, 0)
        folder = area.site._replace(url=start).folder
        for path in (*sitemaps, "/llms.txt", f"{folder}llms.txt"):
            self._add_list(area, urljoin(start, path))

    def _find_sitemaps(self, start: str) -> list[str]:
        """Return the sitemaps that the robots.txt of a site names, if it was read."""
        sitemaps: list[str] = []
        for part in parts(self._reader):
            if isinstance(part, RobotsProvider):
                sitemaps += part.files.find_sitemaps(start)
        return sitemaps

    def _add_place(self, area: _Area, start: str, place: int) -> None:
        """Let the sitemap wait that may be in one of the usual places of a site."""
        url = self._spell(area, urljoin(start, _PLACES[place]))
        self._next_places[url] = place + 1
        self._add_list(area, url)

    def _try_next_place(self, item: _Item) -> None:
        place = self._next_places.get(item.url, len(_PLACES))
        if place < len(_PLACES):
            self._add_place(item.area, item.url, place)

    def _spell(self, area: _Area, url: str) -> str:
        """Return *url* as the start is spelled, and note how it was."""
        spelled = area.spell(url)
        if spelled != url:
            self._spellings.setdefault(spelled, url)
        return spelled

    def _add_list(self, area: _Area, url: str) -> None:
        """Let a list of pages wait for its turn."""
        url = self._spell(area, url)
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
    for name in ("include", "exclude"):
        complete[name] = _check_patterns(name, complete[name])
    # a crawl follows the links
    if complete["scope"] not in get_args(Scope) or complete["links"] != "keep":
        scopes = ", ".join(get_args(Scope))
        raise InvalidOption(
            f"scope: must be one of {scopes}; links: a crawl keeps them"
        )
    return complete


def _check_patterns(name: str, value: Any) -> tuple[str, ...]:
    """Return the patterns of an option, written as URLs are sent."""
    patterns: Any = [value] if isinstance(value, str) else value
    if not isinstance(patterns, Iterable):
        raise InvalidOption(f"{name}: must be a list of patterns such as '/guide/*'")
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern.startswith(("/", "*")):
            raise InvalidOption(
                f"{name}: {pattern!r} is no pattern of a path with its query: write "
                "'/guide/*' or '*/print'"
            )
    return tuple(quote(pattern, safe=_IN_PATTERNS) for pattern in patterns)


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
