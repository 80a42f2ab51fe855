"""The rest of a search: `WebSearch` and the tools, which also check, run layers and write texts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.calls.contestants import our_core, our_tool, their_tool
from benchmarks.calls.transports.seam import Ask, Reply
from websearch_core._net.guard import Guard

_FOUND = Reply(200, b"{}")
_MAKERS: dict[str, Callable[[str], Any]] = {
    "WebSearch": our_core,
    "WebSearchTool": our_tool,
    "TavilySearch": their_tool,
}


def _search(made: Any, ask: Ask) -> object:
    return made.search(ask.body["query"]) if hasattr(made, "search") else made.invoke({"query": ask.body["query"]})


async def _asearch(made: Any, ask: Ask) -> object:
    query = ask.body["query"]
    found: Awaitable[object] = made.asearch(query) if hasattr(made, "asearch") else made.ainvoke({"query": query})
    return await found


class _Searching:
    """A search instead of a request; made when the URL of the service is known."""

    def __init__(self, what: str, _: Guard) -> None:
        self._what, self._made = what, None

    def _get(self, ask: Ask) -> Any:
        self._made = self._made or _MAKERS[self._what](ask.url.removesuffix("/search"))
        return self._made


class Searching(_Searching):
    """Searches from many threads."""

    def send(self, ask: Ask) -> Reply:
        _search(self._get(ask), ask)
        return _FOUND

    def close(self) -> None:
        """Leave closing to the end of the process: the tools have no method for it."""


class AsyncSearching(_Searching):
    """Searches on an event loop."""

    async def send(self, ask: Ask) -> Reply:
        await _asearch(self._get(ask), ask)
        return _FOUND

    async def close(self) -> None:
        """Leave closing to the end of the event loop: the tools have no method for it."""
