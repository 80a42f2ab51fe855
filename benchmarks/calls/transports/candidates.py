"""The transports that are compared, and where their code is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Literal

from websearch_core._net.guard import Guard


@dataclass(frozen=True)
class Candidate:
    """
    A transport.

    Args:
        title: How the table calls it.
        module: The module beside this one that has its class.
        kind: The name of the class.
        way: Whether it blocks a thread.
        argument: The first argument of the class, if it takes another than the guard.
        needs: The package that has to be installed.
        is_seam: Whether it is a transport, whose promises can be checked, and not the rest of a search.
        own_environment: Whether its package would change others, so that it needs its own environment.

    """

    title: str
    module: str
    kind: str
    way: Literal["blocking", "async"]
    argument: str = ""
    needs: str = ""
    is_seam: bool = True
    own_environment: bool = False

    def make(self, guard: Guard) -> Any:
        """Make it, on the event loop that it is for."""
        kind: Any = getattr(import_module(f"benchmarks.calls.transports.{self.module}"), self.kind)
        return (partial(kind, self.argument) if self.argument else kind)(guard)


BARE = {"async": "bare `httpx.AsyncClient`", "blocking": "bare `httpx.Client`"}
DEFAULT = "`Sender`, our pool over httpx (the default)"
CORE = {"async": "`WebSearch.asearch`", "blocking": "`WebSearch.search`"}
TOOL = {"async": "`WebSearchTool.ainvoke`", "blocking": "`WebSearchTool.invoke`"}
THEIRS = {"async": "`TavilySearch.ainvoke`", "blocking": "`TavilySearch.invoke`"}


def _over_httpx(way: Literal["blocking", "async"]) -> list[Candidate]:
    prefix, client = ("Async", "AsyncClient") if way == "async" else ("", "Client")
    return [
        Candidate(BARE[way], "over_httpx", f"{prefix}Bare", way, "httpx"),
        Candidate(f"bare `httpx2.{client}`", "over_httpx", f"{prefix}Bare", way, "httpx2", "httpx2"),
        Candidate("httpx, its own pool", "over_httpx", f"{prefix}Guarded", way, "httpx"),
        Candidate("httpx2, its own pool", "over_httpx", f"{prefix}Guarded", way, "httpx2", "httpx2"),
        Candidate(DEFAULT, "over_httpx", f"{prefix}Sending", way, "httpx"),
        Candidate("`Sender`, our pool over httpx2", "over_httpx", f"{prefix}Sending", way, "httpx2", "httpx2"),
    ]


def _searches(way: Literal["blocking", "async"]) -> list[Candidate]:
    kind = "AsyncSearching" if way == "async" else "Searching"
    return [
        Candidate(CORE[way], "over_tools", kind, way, "WebSearch", is_seam=False),
        Candidate(TOOL[way], "over_tools", kind, way, "WebSearchTool", is_seam=False),
        Candidate(THEIRS[way], "over_tools", kind, way, "TavilySearch", "langchain_tavily", is_seam=False),
    ]


CANDIDATES = [
    *_over_httpx("async"),
    Candidate("httpx over aiohttp (httpx-aiohttp)", "over_aiohttp", "AsyncBelowHttpx", "async", needs="httpx_aiohttp"),
    Candidate("aiohttp", "over_aiohttp", "AsyncAiohttp", "async", needs="aiohttp"),
    Candidate("niquests", "over_niquests", "AsyncNiquests", "async", needs="niquests", own_environment=True),
    Candidate("pyreqwest", "over_pyreqwest", "AsyncPyreqwest", "async", needs="pyreqwest"),
    Candidate("curl_cffi", "over_curl", "AsyncCurl", "async", needs="curl_cffi"),
    *_searches("async"),
    *_over_httpx("blocking"),
    Candidate("urllib3", "over_urllib3", "BlockingUrllib3", "blocking", needs="urllib3"),
    Candidate("niquests", "over_niquests", "BlockingNiquests", "blocking", needs="niquests", own_environment=True),
    Candidate("pyreqwest", "over_pyreqwest", "BlockingPyreqwest", "blocking", needs="pyreqwest"),
    Candidate("curl_cffi", "over_curl", "BlockingCurl", "blocking", needs="curl_cffi"),
    *_searches("blocking"),
]
