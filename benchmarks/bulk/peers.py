"""Read a list of URLs with other libraries, in an environment of their own: one row of
JSON for each page.

    python benchmarks/bulk/peers.py NAME LIST OUTPUT

Each as its own documentation reads lists, 32 pages at a time, four for one host where
it has a limit for that.
"""

from __future__ import annotations
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

CONCURRENCY, PER_HOST, PATIENCE = 32, 4, 30

os.environ.update(USER_AGENT="benchmark", CRAWL4AI_NO_CLOUD_NOTICE="1")


def begin() -> None:
    """Say that everything is imported, and that the processes that parse are ready."""
    print(flush=True)


def write_all(rows: AsyncIterator[tuple[str, str]], output: Path) -> None:
    """Write the rows of pages as they come."""

    async def write() -> None:
        with output.open("w", encoding="utf-8") as file:
            async for url, text in rows:
                write_row(file, url, text)

    asyncio.run(write())


def write_row(file: Any, url: str, text: str) -> None:
    """Write a row."""
    file.write(json.dumps({"url": url, "text": text}, ensure_ascii=False) + "\n")


def extract(html: str) -> str:
    """Return the main content of a page."""
    import trafilatura

    return (
        trafilatura.extract(html, output_format="markdown", include_comments=False)
        or ""
    )


def extract_in_two(
    pages: Sequence[tuple[str, Any]], extract: Callable[[Any], str], output: Path
) -> None:
    """Extract the content of files in two processes at once: each then needs more time
    for a page than alone.
    """

    def write(number: int) -> None:
        with parts[number].open("w", encoding="utf-8") as file:
            for url, data in pages[number::2]:
                write_row(file, url, extract(data))

    parts = [output.with_name(f"{output.name}{number}") for number in range(2)]
    processes = [
        get_context("fork").Process(target=write, args=(number,)) for number in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert not process.exitcode
    output.write_bytes(b"".join(part.read_bytes() for part in parts))


def read_with_httpx(urls: list[str], output: Path) -> None:
    """Fetch with httpx in one process, and extract with trafilatura in two others."""
    import httpx
    import trafilatura  # noqa: F401 - before the processes are made

    async def read(
        client: Any, pool: Any, url: str, gates: dict[str, asyncio.Semaphore]
    ) -> tuple[str, str]:
        async with gates[urlsplit(url).netloc], gates[""]:
            response = await client.get(url)
        if response.status_code != 200:
            return url, ""
        return url, await asyncio.get_running_loop().run_in_executor(
            pool, extract, response.text
        )

    async def read_all() -> AsyncIterator[tuple[str, str]]:
        gates = {urlsplit(url).netloc: asyncio.Semaphore(PER_HOST) for url in urls}
        gates[""] = asyncio.Semaphore(CONCURRENCY)
        limits = httpx.Limits(max_connections=CONCURRENCY)
        with ProcessPoolExecutor(2) as pool:
            async with httpx.AsyncClient(
                limits=limits, timeout=PATIENCE, follow_redirects=True
            ) as client:
                for done in asyncio.as_completed(
                    [read(client, pool, url, gates) for url in urls]
                ):
                    yield await done

    begin()
    write_all(read_all(), output)


def read_with_scrapy(urls: list[str], output: Path) -> None:
    """Crawl with Scrapy, and extract with trafilatura where it parses responses."""
    import scrapy
    import trafilatura  # noqa: F401 - before the time begins
    from scrapy.crawler import CrawlerProcess

    with output.open("w", encoding="utf-8") as file:

        class Pages(scrapy.Spider):  # type: ignore[misc]
            name = "pages"

            async def start(self) -> AsyncIterator[Any]:
                for url in urls:
                    yield scrapy.Request(url, dont_filter=True)

            def parse(self, response: Any, **_: Any) -> Iterator[Any]:
                write_row(file, response.url, extract(response.text))
                yield from ()

        settings = {
            "CONCURRENT_REQUESTS": CONCURRENCY,
            "CONCURRENT_REQUESTS_PER_DOMAIN": PER_HOST, "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False, "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "DOWNLOAD_TIMEOUT": PATIENCE,
        }  # fmt: skip
        process = CrawlerProcess(settings)
        process.crawl(Pages)
        begin()
        process.start()


def read_with_crawl4ai(urls: list[str], output: Path) -> None:
    """Fetch with the HTTP strategy of Crawl4AI, and take its Markdown."""
    from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig, HTTPCrawlerConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
    from crawl4ai.async_dispatcher import MemoryAdaptiveDispatcher

    async def read_all() -> AsyncIterator[tuple[str, str]]:
        config = CrawlerRunConfig(
            cache_mode=CacheMode.BYPASS, stream=True, verbose=False
        )
        strategy = AsyncHTTPCrawlerStrategy(HTTPCrawlerConfig())
        dispatcher = MemoryAdaptiveDispatcher(max_session_permit=CONCURRENCY)
        async with AsyncWebCrawler(crawler_strategy=strategy, verbose=False) as crawler:
            async for result in await crawler.arun_many(
                urls, config=config, dispatcher=dispatcher
            ):
                yield result.url, str(result.markdown or "") if result.success else ""

    begin()
    write_all(read_all(), output)


def read_with_langchain(urls: list[str], output: Path) -> None:
    """Load all pages with LangChain's WebBaseLoader, whose text is that of the whole
    page.
    """
    from langchain_community.document_loaders import WebBaseLoader

    loader = WebBaseLoader(
        urls,
        requests_per_second=CONCURRENCY,
        continue_on_failure=True,
        show_progress=False,
    )
    begin()
    documents = loader.aload()
    with output.open("w", encoding="utf-8") as file:
        for document in documents:
            write_row(file, document.metadata["source"], document.page_content)


def extract_alone(urls: list[str], output: Path) -> None:
    """Extract the main content of files in UTF-8 with trafilatura, without a
    network.
    """
    import trafilatura  # noqa: F401 - before the time begins

    pages = [(url, Path(url).read_text("utf-8", "replace")) for url in urls]
    begin()
    extract_in_two(pages, extract, output)


PEERS: dict[str, Callable[[list[str], Path], None]] = {
    "httpx, trafilatura in two processes": read_with_httpx,
    "Scrapy, trafilatura": read_with_scrapy,
    "Crawl4AI, HTTP strategy": read_with_crawl4ai,
    "WebBaseLoader.aload": read_with_langchain,
    "trafilatura alone": extract_alone,
}

if __name__ == "__main__":
    PEERS[sys.argv[1]](
        Path(sys.argv[2]).read_text("utf-8").splitlines(), Path(sys.argv[3])
    )
