"""Crawl4AI as a library; its server is on the cassettes.

The library is large and conflicts with packages of these tests, so its place is taken
by a module whose crawler fetches through the proxy that it is given.
"""

from __future__ import annotations
import os
import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from urllib.parse import urljoin

import httpx
import pytest

from websearch_core import WebSearch
from websearch_core._browser import crawler as browser
from websearch_core._browser.host import host
from websearch_core.errors import (
    ConfigurationError,
    PageNotFound,
    TimedOut,
    Unavailable,
    UnsafeURL,
)
from websearch_core.providers import Crawl4ai

pytestmark = pytest.mark.enable_socket


class Options:
    def __init__(self, **options):
        self.__dict__.update(options)


class Crawler:
    """Answers with the text of the page, and follows one redirect as a browser
    would.
    """

    fails = None

    def __init__(self, config):
        self.config = config

    async def __aenter__(self):
        Library.started.append(self.config)
        return self

    async def __aexit__(self, *_):
        pass

    async def arun(self, url, config):
        if self.fails:
            raise self.fails
        async with httpx.AsyncClient(
            proxy=self.config.proxy_config["server"], trust_env=False
        ) as client:
            answer = await client.get(url)
            if answer.is_redirect:
                url = urljoin(url, answer.headers["location"])
                answer = await client.get(url)
        text = answer.text
        fit = (
            text.removeprefix("menu ")
            if hasattr(config.markdown_generator, "content_filter")
            else None
        )
        return SimpleNamespace(
            success=True, status_code=answer.status_code, redirected_status_code=None, error_message="",
            redirected_url=url, metadata={"title": "Kelp", "depth": 3}, links={"internal": [{"href": url}]},
            markdown=SimpleNamespace(raw_markdown=text, fit_markdown=fit),
        )  # fmt: skip


class Library(ModuleType):
    AsyncWebCrawler = Crawler
    BrowserConfig = CrawlerRunConfig = DefaultMarkdownGenerator = (
        PruningContentFilter
    ) = Options
    CacheMode = SimpleNamespace(BYPASS="bypass")
    started = []  # noqa: RUF012 - emptied by the fixture


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setitem(sys.modules, "crawl4ai", Library("crawl4ai"))
    monkeypatch.setattr(
        "websearch_core.providers.crawl4ai.find_spec", lambda name: True
    )
    monkeypatch.setenv("CRAWL4AI_CHROMIUM_SANDBOX", "true")

    async def here():
        return "127.0.0.1"  # the only address that tests connect to

    monkeypatch.setattr(browser, "find_own_address", here)
    Library.started.clear()
    yield Library
    host.end()


@pytest.fixture
def site(server, http):
    server.answers |= {
        "/kelp": http("menu Kelp grows."),
        "/moved": http("", "302 Found", "Location: /kelp"),
        "/inwards": http("", "302 Found", "Location: http://10.0.0.1/"),
    }
    return server


def web(site, **options):
    return WebSearch(reader=Crawl4ai(**options), internal=[f"{site.url}"], retry=1)


@pytest.mark.parametrize(
    ("content", "text"), [("fit", "Kelp grows."), ("raw", "menu Kelp grows.")]
)
def test_a_page_is_read_through_the_gate(library, site, content, text):
    page = web(site, content=content).read(f"{site.url}/kelp")

    assert (page.content, page.title, page.provider, page.rendered) == (
        text,
        "Kelp",
        "crawl4ai",
        True,
    )
    assert page.links == (f"{site.url}/kelp",)


async def test_it_is_read_from_a_coroutine_too(library, site):
    page = await web(site).aread(f"{site.url}/moved")

    assert (page.url, page.final_url) == (f"{site.url}/moved", f"{site.url}/kelp")


def test_what_the_library_would_leave_open_is_shut(library, site):
    web(site).read(f"{site.url}/kelp")
    (config,) = library.started

    assert config.ignore_https_errors is False
    assert config.accept_downloads is False
    assert config.verbose is False
    assert "--proxy-bypass-list=<-loopback>" in config.extra_args
    assert any(
        flag.startswith("--host-resolver-rules=MAP * ~NOTFOUND")
        for flag in config.extra_args
    )
    assert os.environ["CRAWL4AI_CHROMIUM_SANDBOX"] == "true"


def test_a_redirect_inwards_is_refused(library, site):
    with pytest.raises(UnsafeURL):
        web(site).read(f"{site.url}/inwards")


def test_an_internal_page_starts_no_browser(library, site):
    with pytest.raises(UnsafeURL):
        web(site).read("http://10.0.0.1/")

    assert not library.started


def test_a_missing_page_is_an_error(library, site):
    with pytest.raises(PageNotFound):
        web(site).read(f"{site.url}/gone")


def test_a_long_page_is_cut_with_a_note(library, site):
    page = web(site, content="raw", max_length=4).read(f"{site.url}/kelp")

    assert (page.content, page.truncated, page.notes) == (
        "menu",
        True,
        ("crawl4ai: the page is longer than 4 characters",),
    )


@pytest.mark.parametrize(
    ("failure", "kind", "words"),
    [
        (
            RuntimeError("run: playwright install"),
            ConfigurationError,
            "playwright install chromium",
        ),
        (RuntimeError("Target closed"), Unavailable, "could not start its browser"),
        (TimeoutError(), TimedOut, "did not render"),
    ],
)
def test_a_browser_that_fails_is_an_error_of_ours(
    library, site, monkeypatch, failure, kind, words
):
    monkeypatch.setattr(Crawler, "fails", failure)

    with pytest.raises(kind, match=words):
        web(site).read(f"{site.url}/kelp")


def test_without_server_and_library_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(
        "websearch_core.providers.crawl4ai.find_spec", lambda name: None
    )
    reader = Crawl4ai()

    assert "pip install 'websearch-core[crawl4ai]'" in reader.problem()
    with pytest.raises(ConfigurationError, match="base_url"):
        WebSearch(reader=reader).read("https://sea.example/")


def test_with_a_server_it_needs_no_library():
    assert Crawl4ai(base_url="http://localhost:11235").problem() is None


@pytest.mark.skipif(
    not find_spec("crawl4ai"), reason="the library crawl4ai is not installed"
)
def test_the_library_has_what_is_asked_of_it():
    import crawl4ai

    crawl4ai.BrowserConfig(
        **browser._browser_options("http://127.0.0.1:1", "127.0.0.1")
    )
    made = browser.Crawler(fit=True, milliseconds=1000, max_length=9)._page_options(
        crawl4ai
    )

    assert made.page_timeout == 1000
    assert hasattr(crawl4ai.AsyncWebCrawler, "arun")
