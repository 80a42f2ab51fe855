"""
Bringing a web site into an index.

Breadth first, from one page along the links within its origin, as far as robots.txt lets us. It is a flow, so it runs
under either driver and is tested without a network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from ..deadline import time_limit
from ..errors import PageNotFound, ServiceError, UnsafeURL, WebSearchError
from ..flow import Call, Flow, Gather, Request, Response, Sleep
from ..models import Page
from ..ports import PageReader
from .report import Report, Skipped
from .robots import NOBODY, Robots
from .store import Index

_MOST_ROBOTS = 500 * 1024  # bytes that RFC 9309 wants to be read
_MOST_HOPS = 5


def crawl(
    start: str,
    index: Index,
    reader: PageReader,
    *,
    most: int = 200,
    at_once: int = 4,
    timeout: float = 30.0,
    tell: Callable[[str], None] = lambda _: None,
) -> Flow[Report]:
    """
    Read *start* and the pages of its site that can be reached from it, into *index*.

    Args:
        start: Absolute http(s) URL. Where it leads by redirects decides which origin is the site.
        index: Where the pages go; a URL that is there already is replaced.
        reader: Who reads the pages.
        most: How many pages to ask for, at most.
        at_once: How many side by side; one after the other if robots.txt asks for a pause between them.
        timeout: Seconds for one page.
        tell: Called with each URL that has been read.

    Raises:
        UnsafeURL: *start* may not be opened.
        ServiceError: *start* cannot be read. What fails later is only skipped.

    """
    start = _normal(start)
    robots = yield from _robots(start)
    if not robots.allow(start):
        return Report(skipped=(_forbidden(start),))
    with time_limit(timeout):
        first = yield from reader.read(start)
    home = first.final_url or first.url
    if _origin(home) != _origin(start):
        robots = yield from _robots(home)
        if not robots.allow(home):
            return Report(skipped=(_forbidden(home),))
    tell(home)
    yield Call(index.add, first)

    seen = {start, _normal(home)}
    skipped: list[Skipped] = []
    added, removed, asked = 1, 0, 1
    level = _new(first.links, home, seen)
    while level and asked < most:
        forbidden = [url for url in level if not robots.allow(url)]
        skipped += map(_forbidden, forbidden)
        level = [url for url in level if url not in set(forbidden)]
        now, level = level[: most - asked], level[most - asked :]
        asked += len(now)
        visits = [_visit(url, home, index, reader, timeout, robots.delay, tell) for url in now]
        answers = yield Gather(visits, 1 if robots.delay else at_once)
        links: list[str] = []
        for url, answer in zip(now, answers, strict=True):
            if isinstance(answer, WebSearchError):
                skipped.append(Skipped(url, str(answer)))
                if isinstance(answer, PageNotFound):
                    removed += yield Call(index.remove, url)
            else:
                added += 1
                seen.add(_normal(answer.final_url))
                links += answer.links
        level += _new(links, home, seen)
    return Report(added=added, removed=removed, skipped=tuple(skipped), left=len(level))


def _visit(
    url: str, home: str, index: Index, reader: PageReader, timeout: float, pause: float, tell: Callable[[str], None]
) -> Flow[Page]:
    """Read one page of the site into the index."""
    if pause:
        yield Sleep(pause)
    with time_limit(timeout):
        page = yield from reader.read(url)
    if _origin(page.final_url or page.url) != _origin(home):
        raise UnsafeURL("the page redirects to another site")
    tell(url)
    yield Call(index.add, page)
    return page


def _robots(url: str) -> Flow[Robots]:
    """Fetch the rules of the site of *url*. None there: all is allowed. Out of reach: nothing is (RFC 9309, 2.3.1)."""
    there = urljoin(url, "/robots.txt")
    for _ in range(_MOST_HOPS + 1):
        try:
            response: Response = yield Request(url=there, max_bytes=_MOST_ROBOTS, guarded=True)
        except ServiceError:
            return NOBODY
        if 300 <= response.status < 400 and response.headers.get("location"):
            there = urljoin(there, response.headers["location"])
            continue
        if response.status >= 500:
            return NOBODY
        return Robots.of(response.content.decode("utf-8", "replace")) if response.status == 200 else Robots()
    return Robots()


def _new(links: Any, home: str, seen: set[str]) -> list[str]:
    """Return those of *links* within the site that nobody has been to, and remember them as seen."""
    found = []
    for link in map(_normal, links):
        if link not in seen and _origin(link) == _origin(home):
            seen.add(link)
            found.append(link)
    return found


def _normal(url: str) -> str:
    """Without the fragment, which names a place within the page; with the path that an origin alone stands for."""
    url = urldefrag(url).url
    return url if urlsplit(url).path else urljoin(url, "/")


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), port


def _forbidden(url: str) -> Skipped:
    return Skipped(url, "robots.txt asks robots to stay away")
