"""What other ways to render a page do, run in an environment of their own: ``peers.py
NAME EXECUTABLE < job.json``.

Prints the name of each attack after its page was open for a while, or a line of JSON
with what was measured.
"""

from __future__ import annotations
import asyncio
import contextlib
import ipaddress
import json
import os
import socket
import statistics
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.browser.memory import proportional

FLAGS = ["--allow-loopback-in-peer-connection"]
OPEN = 1.2  # seconds
RUNS = 12


def is_public(url: str) -> bool:
    """Judge as a careful user of interception would: by name, and by the addresses that
    it has now.
    """
    parts = urlsplit(url)
    if parts.scheme in {"data", "blob", "about"}:
        return True
    try:
        found = socket.getaddrinfo(
            parts.hostname or "", parts.port or 80, type=socket.SOCK_STREAM
        )
    except (OSError, ValueError, UnicodeError):
        return False
    return all(
        str(one[4][0]) == "127.0.0.2" or ipaddress.ip_address(one[4][0]).is_global
        for one in found
    )


async def intercept(context: Any) -> None:
    async def route(route: Any) -> None:
        await (route.continue_() if is_public(route.request.url) else route.abort())

    async def web_socket(route: Any) -> None:
        if is_public(route.url):
            route.connect_to_server()
        else:
            await route.close()

    await context.route("**/*", route)
    await context.route_web_socket("**", web_socket)


async def attack(executable: str, job: dict[str, Any], *, guarded: bool) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable,
            args=[*FLAGS, *job["flags"]],
            proxy={"server": job["proxy"]} if job["proxy"] else None,
        )
        slots = asyncio.Semaphore(job["at_once"])

        async def show(name: str, url: str) -> None:
            async with slots:
                context = await browser.new_context(
                    service_workers="block" if guarded else "allow"
                )
                if guarded:
                    await intercept(context)
                page = await context.new_page()
                try:
                    await page.goto(url, timeout=5000, wait_until="commit")
                except Exception as error:  # noqa: BLE001 - the page may be refused
                    print(type(error).__name__, file=sys.stderr)
                await asyncio.sleep(OPEN)
                await context.close()
                await asyncio.sleep(0.2)
                print(name, flush=True)

        await asyncio.gather(*(show(name, url) for name, url in job["pages"]))
        await browser.close()


def load(executable: str, job: dict[str, Any]) -> None:
    """Load pages as LangChain's loader does, one after the other in one browser."""
    from langchain_community.document_loaders.url_playwright import (
        PlaywrightEvaluator,
        PlaywrightURLLoader,
    )
    from playwright.sync_api import BrowserType

    launch = BrowserType.launch
    BrowserType.launch = lambda self, **options: launch(
        self, executable_path=executable, args=FLAGS, **options
    )
    names = iter(job["pages"])

    class Text(PlaywrightEvaluator):  # type: ignore[misc]
        def evaluate(self, page: Any, browser: Any, response: Any) -> str:  # noqa: ARG002
            page.wait_for_timeout(OPEN * 1000 / job["at_once"])
            return str(page.content())

        async def evaluate_async(self, page: Any, browser: Any, response: Any) -> str:  # noqa: ARG002
            raise AssertionError

    for name, url in names:
        PlaywrightURLLoader([url], evaluator=Text(), continue_on_failure=True).load()
        print(name, flush=True)


async def crawl(executable: str, job: dict[str, Any]) -> None:
    """Read pages with Crawl4AI and its defaults, one after the other in one browser."""
    library = import_module("crawl4ai")
    browser = import_module("playwright.async_api").BrowserType
    launch = browser.launch

    async def start(self: Any, **options: Any) -> Any:
        arguments = [*options.get("args", ()), *FLAGS]
        return await launch(
            self, **(options | {"executable_path": executable, "args": arguments})
        )

    browser.launch = start
    options = {
        "cache_mode": library.CacheMode.BYPASS,
        "verbose": False,
        "page_timeout": 5000,
    }
    config = library.CrawlerRunConfig(delay_before_return_html=OPEN, **options)
    # where it writes its log, while our parent reads names
    with contextlib.redirect_stdout(sys.stderr):
        crawler = await library.AsyncWebCrawler(
            config=library.BrowserConfig(headless=True, verbose=False)
        ).start()
        for name, url in job["pages"]:
            await crawler.arun(url, config=config)
            print(name, file=sys.__stdout__, flush=True)
        await crawler.close()


async def measure(executable: str, job: dict[str, Any]) -> None:
    from playwright.async_api import async_playwright

    began = time.monotonic()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable)
        times: dict[str, list[float]] = {}
        first, largest = 0.0, 0
        for path, url in job["pages"] * RUNS:
            start = time.monotonic()
            context = await browser.new_context()
            page = await context.new_page()
            await page.goto(url, wait_until="load")
            await page.content()
            first = first or time.monotonic() - began
            largest = max(largest, proportional(os.getpid()))
            await context.close()
            times.setdefault(path, []).append(time.monotonic() - start)
        await browser.close()
    medians = {path: statistics.median(some[2:]) for path, some in times.items()}
    print(json.dumps({"first": first, "memory": largest, "times": medians}), flush=True)


if __name__ == "__main__":
    what, executable = sys.argv[1:3]
    job = json.load(sys.stdin)
    if what == "langchain":
        load(executable, job)
    elif what == "crawl4ai":
        asyncio.run(crawl(executable, job))
    elif what == "measure":
        asyncio.run(measure(executable, job))
    else:
        asyncio.run(attack(executable, job, guarded=what == "interception"))
