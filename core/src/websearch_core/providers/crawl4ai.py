"""Crawl4AI: renders pages with its own browser, in this process or on your own server.

With ``base_url``, it asks a Crawl4AI server, which needs its token from version 0.9 on.
The address of a page is checked here first; where its scripts then go is up to the
server.

Without ``base_url``, it uses the library (``pip install "websearch-core[crawl4ai]"``,
about 900 MB) with the browser of Playwright (``playwright install chromium``), behind
the guarded proxy of the reader ``browser``, with its sandbox. For most pages
``browser`` does the same with less; choose this for Crawl4AI's own Markdown.
"""

from __future__ import annotations
from importlib.util import find_spec
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.errors import Blocked, ConfigurationError, NeedsBrowser

from .._browser.crawler import MISSING, Crawler

_MAX_SECONDS = 60  # to render a page, where there is no deadline
_FIT = {
    "type": "DefaultMarkdownGenerator",
    "params": {"content_filter": {"type": "PruningContentFilter", "params": {}}},
}


@kit.provider
class Crawl4ai:
    """Reads pages with Crawl4AI.

    Args:
        base_url: A Crawl4AI server, such as ``http://localhost:11235``. Unset: the
            library.
        api_key: The token of the server.
        content: Crawl4AI's ``fit`` Markdown, of the main part of the page, or all of
            it, ``raw``.
        max_length: Maximum characters of the Markdown that the library may return; the
            rest is cut.
    """

    name = "crawl4ai"
    label = "Crawl4AI"
    helps_after = (NeedsBrowser, Blocked)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://docs.crawl4ai.com/core/docker-deployment/",
            "https://docs.crawl4ai.com/api/crawl-result/",
        ),
        free_allowance="free software: you run it",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of its server's API, 2026-11",
    )

    base_url: kit.BaseUrl | None = None
    api_key: Annotated[kit.Key | None, kit.Env("CRAWL4AI_API_TOKEN")] = None
    content: Literal["fit", "raw"] = "fit"
    max_length: int = 2_000_000

    @property
    def opens_pages(self) -> bool:
        """True with the library, whose failures are those of the sites."""
        return self.base_url is None

    def problem(self) -> str | None:
        """Return why it cannot be used yet: there is neither a server nor the
        library.
        """
        if self.base_url or find_spec("crawl4ai"):
            return None
        return MISSING

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the page at *url*."""
        problem = self.problem()
        if problem:
            raise ConfigurationError(problem)
        request = self._ask_server(url) if self.base_url else self._ask_library(url)
        response = yield request
        body = kit.decode(response, self, verb="read", kind={"anti-bot": Blocked})
        result = next(iter(kit.as_objects(body.get("results"))), None)
        if result is None:
            raise kit.unexpected_format(self.name, "read")
        return self._parse_page(result, url)

    def _ask_server(self, url: str) -> kit.Request:
        run = {"cache_mode": "bypass", "page_timeout": self._milliseconds()}
        if self.content == "fit":
            run["markdown_generator"] = _FIT
        payload = {
            "urls": [kit.serialize(url)],
            "crawler_config": {"type": "CrawlerRunConfig", "params": run},
        }
        return kit.post_json(self, "crawl", payload, target=url)

    def _ask_library(self, url: str) -> kit.Request:
        crawler = Crawler(
            fit=self.content == "fit",
            milliseconds=self._milliseconds(),
            max_length=self.max_length,
        )
        return kit.Request(url=url, guarded=True, transport=crawler)

    def _milliseconds(self) -> int:
        """Return how long the browser may take, in whole seconds, which is less than we
        wait.
        """
        seconds = kit.time_left()
        if not isfinite(seconds):
            return _MAX_SECONDS * 1000
        return max(1, int(seconds * 0.8)) * 1000

    def _parse_page(self, result: dict[str, Any], url: str) -> kit.Page:
        status = result.get("status_code")
        if not isinstance(status, int):
            status = None
        is_failure = status is not None and status >= 400
        if result.get("success") is not True or is_failure:
            raise kit.page_error(
                self,
                status=result.get("status_code"),
                detail=result.get("error_message"),
            )
        about = kit.as_object(result.get("metadata"))
        is_cut = result.get("truncated") is True
        note = f"crawl4ai: the page is longer than {self.max_length} characters"
        return kit.parse_page(
            self,
            url,
            self._find_text(kit.as_object(result.get("markdown"))),
            title=about.get("title") or about.get("og:title"),
            final_url=result.get("redirected_url"),
            description=about.get("description") or about.get("og:description"),
            author=about.get("author"),
            published=about.get("article:published_time"),
            modified=about.get("article:modified_time"),
            site_name=about.get("og:site_name"),
            links=_find_links(result.get("links")),
            rendered=True,
            status=status,
            truncated=is_cut,
            notes=(note,) if is_cut else (),
        )

    def _find_text(self, versions: dict[str, Any]) -> Any:
        """Return the main part of the page, if that is asked for and it has one, or all
        of it.
        """
        main_part = versions.get("fit_markdown") if self.content == "fit" else None
        return main_part or versions.get("raw_markdown")


def _find_links(groups: Any) -> tuple[str, ...]:
    links = []
    for group in ("internal", "external"):
        links += kit.as_objects(kit.find_value(groups, group))
    return kit.as_links([link.get("href") for link in links])
