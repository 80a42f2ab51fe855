"""The `WebSearch` behind every part of this package, and what it is asked for many pages at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

from websearch_core import Page, WebSearch, WebSearchError
from websearch_core.client import Choice
from websearch_core.errors import ConfigurationError

_AT_ONCE = 8


class WebSearchArguments(TypedDict, total=False):
    """The arguments of `WebSearch`, for those who would rather not make one themselves."""

    provider: Choice | None
    reader: Choice | None
    api_key: Any
    base_url: str | None
    provider_options: Mapping[str, Mapping[str, Any]] | None
    allow: Sequence[str] | None
    timeout: float | None
    connect_timeout: float | None
    attempts: int | None
    http_client: Any
    http_async_client: Any
    verify: Any
    http_library: str | None


def chosen(web: WebSearch | None, arguments: WebSearchArguments) -> WebSearch:
    """
    Return *web*, or one made of *arguments*.

    Raises:
        ConfigurationError: Both were given, or the arguments are wrong.

    """
    if web is None:
        return WebSearch(**arguments)
    if arguments:
        raise ConfigurationError(f"give web=WebSearch(...) or its arguments, not both: {', '.join(arguments)}")
    return web


def read_all(web: WebSearch, urls: Sequence[str], max_length: int | None = None) -> list[Page | WebSearchError]:
    """Read pages side by side; each is a page or what went wrong with it, in the order of *urls*."""

    def read(url: str) -> Page | WebSearchError:
        try:
            return web.read(url, max_length=max_length)
        except WebSearchError as error:
            return error

    if not urls:
        return []
    with ThreadPoolExecutor(min(_AT_ONCE, len(urls)), thread_name_prefix="websearch-read") as threads:
        return list(threads.map(read, urls))


async def aread_all(web: WebSearch, urls: Sequence[str], max_length: int | None = None) -> list[Page | WebSearchError]:
    """Do as `read_all` does, on the running event loop and without threads."""
    places = asyncio.Semaphore(1)

    async def read(url: str) -> Page | WebSearchError:
        async with places:
            try:
                return await web.aread(url, max_length=max_length)
            except WebSearchError as error:
                return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(read(url)) for url in urls]
    return [task.result() for task in tasks]
