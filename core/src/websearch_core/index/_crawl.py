"""Crawl a web site into an index.

Breadth first, from one page along the links within its origin, as far as robots.txt allows. It is a flow.
"""

from __future__ import annotations
from collections.abc import Callable, Iterable
from typing import TypeAlias

from .._runtime.bugs import contain_bugs
from .._runtime.deadline import time_limit
from .._runtime.scope import Choices, scope
from .._text.urls import find_origin, is_web_url, serialize
from ..errors import DisallowedByRobots, PageNotFound, UnsafeURL, WebSearchError
from ..flow import Call, Flow, Gather, Sleep
from ..layers._robots_files import FORBIDDEN, RobotsFiles
from ..models import Page
from ..provider._ports import PageReader
from ._folder import Report, SkippedFile
from ._store import Index, address

Tell: TypeAlias = Callable[[str], None]

_WITH_MENUS = Choices(menus=True)  # as Markdown, a page comes without them
_CONCURRENCY = 4  # pages at a time, unless the site asks for a delay between them


def crawl(
    start: str, index: Index, reader: PageReader, *, most: int = 200, timeout: float = 30.0, tell: Tell = lambda _: None
) -> Flow[Report]:
    """Read the page at *start*, and the pages of its site that it links to, directly or not, into *index*.

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
        raise UnsafeURL("not an absolute http(s) URL such as https://example.com/")
    start, robots = serialize(start).partition("#")[0], RobotsFiles()

    def fetch(url: str) -> Flow[Page]:
        with time_limit(timeout), scope(choices=_WITH_MENUS):
            return (yield from contain_bugs(lambda: robots.read(reader, url), reader.name))

    try:
        first = yield from fetch(start)
    except DisallowedByRobots as error:
        return Report(skipped=(SkippedFile(start, error.summary),))
    home = address(first.final_url or start)
    rules = yield from robots.find(home)
    changed: int = yield Call(index.add, first)
    tell(home)

    def visit(url: str) -> Flow[Page]:
        nonlocal changed
        if rules.crawl_delay:
            yield Sleep(rules.crawl_delay)
        page = yield from fetch(url)
        if find_origin(page.final_url or url) != find_origin(home):
            raise UnsafeURL("the page redirects to another site")
        is_changed: bool = yield Call(index.add, page)
        changed += is_changed
        tell(url)
        return page

    seen = {address(start), home}
    skipped: list[SkippedFile] = []
    read, removed, asked = {home}, 0, 1
    waiting = list(_pick_new(first.links, home, seen))
    while waiting and asked < most:
        skipped += [SkippedFile(url, FORBIDDEN) for url in waiting if not rules.allows(url)]
        waiting = [url for url in waiting if rules.allows(url)]
        now, waiting = waiting[: most - asked], waiting[most - asked :]
        asked += len(now)
        answers = yield Gather([visit(url) for url in now], 1 if rules.crawl_delay else _CONCURRENCY)
        for url, answer in zip(now, answers, strict=True):
            if isinstance(answer, WebSearchError):
                skipped.append(SkippedFile(url, answer.summary))
                if isinstance(answer, PageNotFound):
                    removed += yield Call(index.remove, url)
            else:
                there = address(answer.final_url or url)
                read.add(there)
                seen.add(there)
                waiting += _pick_new(answer.links, home, seen)
    return Report(
        added=changed, unchanged=len(read) - changed, removed=removed, skipped=tuple(skipped), left=len(waiting)
    )


def _pick_new(links: Iterable[str], home: str, seen: set[str]) -> Iterable[str]:
    """Yield the links that stay within the site and are not in *seen*, as they are written, and add them to it."""
    for link in links:
        if address(link) not in seen and find_origin(link) == find_origin(home):
            seen.add(address(link))
            yield serialize(link).partition("#")[0]
