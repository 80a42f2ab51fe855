"""
Crawl a web site into an index.

Breadth first, from one page along the links within its origin, as far as robots.txt allows. The crawl is a flow, so it
runs under either driver and is tested without a network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias
from urllib.parse import urljoin

from .._bugs import contain_bugs
from .._deadline import time_limit
from .._scope import Choices, choices_scope
from .._urls import find_origin, is_web_url
from ..errors import BadResponse, PageNotFound, Unavailable, UnsafeURL, WebSearchError
from ..flow import Call, Flow, Gather, Request, Response, Sleep
from ..models import Page
from ..provider._ports import PageReader
from ._report import Report, Skipped
from ._robots import Robots
from ._store import Index, address

Tell: TypeAlias = Callable[[str], None]

_MAX_ROBOTS = 500 * 1024  # bytes, as RFC 9309 requires
_MAX_HOPS = 5
_WITH_MENUS = Choices(menus=True)  # as Markdown, a page comes without them
_CONCURRENCY = 4  # pages at a time, unless the site asks for a delay between them


def crawl(
    start: str,
    index: Index,
    reader: PageReader,
    *,
    most: int = 200,
    timeout: float = 30.0,
    tell: Tell = lambda _: None,
) -> Flow[Report]:
    """
    Read the page at *start*, and the pages of its site that it links to, directly or not, into *index*.

    Args:
        start: An absolute http(s) URL. The origin that it redirects to is the site.
        index: Where to store the pages. A page that is already there is replaced, or removed if it is gone.
        reader: Reads the pages.
        most: The maximum number of pages to request.
        timeout: Seconds for one page.
        tell: Called with the URL of each page that has been read.

    Raises:
        UnsafeURL: *start* is not an allowed URL.
        ServiceError: *start* or robots.txt cannot be read. A page that fails later is skipped.

    """
    if not is_web_url(start):
        raise UnsafeURL("not an absolute http(s) URL")
    start = address(start)
    robots = yield from _fetch_robots(start, timeout)
    if not robots.allows(start):
        return Report(skipped=(_skip_forbidden(start),))
    with time_limit(timeout), choices_scope(_WITH_MENUS):
        first = yield from contain_bugs(lambda: reader.read(start), reader.name)
    home = address(first.final_url or start)
    if find_origin(home) != find_origin(start):
        robots = yield from _fetch_robots(home, timeout)
        if not robots.allows(home):
            return Report(skipped=(_skip_forbidden(home),))
    yield Call(index.add, first)
    tell(home)

    def visit(url: str) -> Flow[Page]:
        if robots.delay:
            yield Sleep(robots.delay)
        with time_limit(timeout), choices_scope(_WITH_MENUS):
            page = yield from contain_bugs(lambda: reader.read(url), reader.name)
        if find_origin(page.final_url or url) != find_origin(home):
            raise UnsafeURL("the page redirects to another site")
        yield Call(index.add, page)
        tell(url)
        return page

    seen = {start, home}
    skipped: list[Skipped] = []
    read, removed, asked = {home}, 0, 1
    waiting = list(_pick_new(first.links, home, seen))
    while waiting and asked < most:
        skipped += [_skip_forbidden(url) for url in waiting if not robots.allows(url)]
        waiting = [url for url in waiting if robots.allows(url)]
        now, waiting = waiting[: most - asked], waiting[most - asked :]
        asked += len(now)
        answers = yield Gather([visit(url) for url in now], 1 if robots.delay else _CONCURRENCY)
        for url, answer in zip(now, answers, strict=True):
            if isinstance(answer, WebSearchError):
                skipped.append(Skipped(url, str(answer)))
                if isinstance(answer, PageNotFound):
                    removed += yield Call(index.remove, url)
            else:
                there = address(answer.final_url or url)
                read.add(there)
                seen.add(there)
                waiting += _pick_new(answer.links, home, seen)
    return Report(added=len(read), removed=removed, skipped=tuple(skipped), left=len(waiting))


def _fetch_robots(url: str, timeout: float) -> Flow[Robots]:
    """Fetch the site's robots.txt. Missing: everything is allowed. Unreachable: nothing is (RFC 9309, 2.3.1)."""
    there = urljoin(url, "/robots.txt")
    with time_limit(timeout):
        for _ in range(_MAX_HOPS):
            response: Response = yield Request(url=there, max_bytes=_MAX_ROBOTS, guarded=True)
            if response.status >= 500:
                raise Unavailable(f"the site answers {response.status} for its robots.txt, so it is left alone")
            if response.status == 200:
                return Robots(response.content.decode("utf-8", "replace"))
            location = response.headers.get("location", "")
            if not 300 <= response.status < 400 or not location:
                return Robots()
            if not is_web_url(there := _join(there, location)):
                raise BadResponse("the site's robots.txt redirects to an invalid URL")
    return Robots()


def _join(base: str, location: str) -> str:
    try:
        return urljoin(base, location)
    except ValueError:
        return ""


def _pick_new(links: Iterable[str], home: str, seen: set[str]) -> Iterable[str]:
    """Yield the links that stay within the site and are not in *seen*, and add them to it."""
    for link in map(address, links):
        if link not in seen and find_origin(link) == find_origin(home):
            seen.add(link)
            yield link


def _skip_forbidden(url: str) -> Skipped:
    return Skipped(url, "robots.txt asks robots to stay away")
