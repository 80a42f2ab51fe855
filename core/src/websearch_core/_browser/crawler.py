"""Read a page with the library Crawl4AI, whose browser goes through our gate."""

from __future__ import annotations
import asyncio
import json
import os
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from .._net.gate import Gate, find_own_address
from .._net.guard import Guard
from .._net.lookup import Line
from .._net.proxy import Proxies
from .._runtime.deadline import time_left, time_limit
from ..errors import ConfigurationError, TimedOut, Unavailable
from ..flow import Request, Response
from .launch import NETWORK_FLAGS, find_own_user

MISSING = (
    "crawl4ai needs the base_url of a server, or its package: pip install "
    "'websearch-core[crawl4ai]'"
)
_MAX_SECONDS = 90.0  # for a page without a deadline, with the start of its browser


@dataclass(frozen=True, kw_only=True)
class Crawler:
    """Reads one page in a browser that starts and ends with it; the value of
    `Request.transport`.

    With *fit*, the Markdown of the main part is made, too; each Markdown has at most
    *max_length* characters.
    """

    fit: bool
    milliseconds: int
    max_length: int

    def __call__(
        self,
        request: Request,
        guard: Guard,
        line: Line,
        proxies: Proxies | None = None,
        _credentials: Any = None,
        _certificates: Any = None,
    ) -> Future[Response]:
        """It gets neither credentials nor certificates: the library has nowhere to put
        them.
        """
        from .host import host

        return host.submit(lambda: self._crawl(request.url, guard, line, proxies))

    async def _crawl(
        self, url: str, guard: Guard, line: Line, proxies: Proxies | None
    ) -> Response:
        try:
            import crawl4ai  # type: ignore[import-not-found,unused-ignore]
        except ImportError as error:
            raise ConfigurationError(MISSING) from error
        # The library has no other switch for this. Those who cannot use the sandbox
        # have set it already.
        os.environ.setdefault("CRAWL4AI_CHROMIUM_SANDBOX", "true")
        try:
            with time_limit(_MAX_SECONDS):
                async with asyncio.timeout(time_left()):
                    address = await find_own_address()
                    async with Gate(
                        guard,
                        line,
                        address=address,
                        proxies=proxies,
                        user=find_own_user(),
                    ) as gate:
                        browser = crawl4ai.BrowserConfig(
                            **_browser_options(gate.url, address)
                        )
                        result = await _run(
                            crawl4ai, browser, url, self._page_options(crawl4ai)
                        )
                        refused = gate.find_error(url) or gate.find_error(
                            str(result.redirected_url or url)
                        )
        except TimeoutError as late:
            raise TimedOut("the page did not render within the time allowed") from late
        if refused is not None:
            raise refused
        final = guard.check(str(result.redirected_url or url))
        content = json.dumps({"results": [self._describe(result, final)]}).encode()
        return Response(
            status=200,
            url=final,
            headers={"content-type": "application/json"},
            content=content,
        )

    def _page_options(self, library: Any) -> Any:
        filtering = (
            {"content_filter": library.PruningContentFilter()} if self.fit else {}
        )
        return library.CrawlerRunConfig(
            cache_mode=library.CacheMode.BYPASS,
            page_timeout=self.milliseconds,
            markdown_generator=library.DefaultMarkdownGenerator(**filtering),
            verbose=False,
        )

    def _describe(self, result: Any, final: str) -> dict[str, Any]:
        """Return what the server says of a page, with at most `max_length` characters
        of text.
        """
        versions = {}
        for name in ("raw_markdown", "fit_markdown"):
            text = getattr(result.markdown, name, None)
            if text:
                versions[name] = text[: self.max_length]
        longest = max(
            (len(getattr(result.markdown, name) or "") for name in versions), default=0
        )
        return {
            "success": bool(result.success),
            "status_code": result.redirected_status_code or result.status_code,
            "error_message": result.error_message,
            "redirected_url": final,
            "metadata": {
                name: text
                for name, text in (result.metadata or {}).items()
                if isinstance(text, str)
            },
            "links": result.links,
            "markdown": versions,
            "truncated": longest > self.max_length,
        }


def _browser_options(proxy: str, address: str) -> dict[str, Any]:
    """Return the options of the library's browser: all through the proxy, certificates
    checked, nothing kept.
    """
    return {
        "headless": True,
        "verbose": False,
        "ignore_https_errors": False,
        "accept_downloads": False,
        "proxy_config": {"server": proxy},
        "extra_args": [
            *NETWORK_FLAGS,
            f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {address}",
        ],
    }


async def _run(library: Any, browser: Any, url: str, page: Any) -> Any:
    try:
        async with library.AsyncWebCrawler(config=browser) as crawler:
            return await crawler.arun(url, config=page)
    except TimeoutError:
        raise
    except Exception as error:
        # whatever Playwright raises when it cannot start a browser
        if "playwright install" in str(error):
            raise ConfigurationError(
                "crawl4ai needs Playwright's browser: playwright install chromium"
            ) from error
        raise Unavailable("crawl4ai could not start its browser, or lost it") from error
