"""Other readers that render pages, run in an environment of their own: ``readers.py
NAME EXECUTABLE < urls.json``.

Prints for each URL, as a line of JSON, the text that the reader makes of it, or None if
it raises an error, and the seconds it took.
"""

from __future__ import annotations
import asyncio
import contextlib
import json
import sys
import time
from importlib import import_module
from typing import Any

ARGUMENTS = ["--no-sandbox"]  # the pages are ours, and this may run as root
THOROUGH = {
    "wait_until": "networkidle",
    "scan_full_page": True,
    "process_iframes": True,
    "remove_overlay_elements": True,
}


def say(text: str | None, began: float) -> None:
    print(json.dumps({"text": text, "seconds": time.monotonic() - began}), flush=True)


def use_no_model() -> None:
    """Spare `unstructured` the download of the model that sorts its paragraphs into
    kinds: the text is the same.
    """
    empty = import_module("spacy").blank("en")
    empty.add_pipe("sentencizer")
    vars(import_module("unstructured.nlp.tokenize"))["_load_spacy_model"] = lambda: (
        empty
    )


def langchain(executable: str, urls: list[str]) -> None:
    use_no_model()
    loader = import_module("langchain_community.document_loaders").PlaywrightURLLoader
    browser = import_module("playwright.sync_api").BrowserType
    launch = browser.launch
    browser.launch = lambda self, **options: launch(
        self, executable_path=executable, args=ARGUMENTS, **options
    )
    for url in urls:
        began = time.monotonic()
        try:
            (document,) = loader([url], continue_on_failure=False).load()
        except Exception as error:  # noqa: BLE001 - whatever it raises
            print(repr(error), file=sys.stderr)
            say(None, began)
        else:
            say(document.page_content, began)


async def crawl4ai(executable: str, urls: list[str], options: dict[str, Any]) -> None:
    library = import_module("crawl4ai")
    browser = import_module("playwright.async_api").BrowserType
    launch = browser.launch

    async def start(self: Any, **given: Any) -> Any:
        return await launch(
            self,
            **(
                given
                | {
                    "executable_path": executable,
                    "args": [*given.get("args", ()), *ARGUMENTS],
                }
            ),
        )

    browser.launch = start
    config = library.CrawlerRunConfig(
        cache_mode=library.CacheMode.BYPASS, verbose=False, **options
    )
    with contextlib.redirect_stdout(sys.stderr):
        crawler = await library.AsyncWebCrawler(
            config=library.BrowserConfig(headless=True, verbose=False)
        ).start()
    for url in urls:
        began = time.monotonic()
        with contextlib.redirect_stdout(sys.stderr):
            result = await crawler.arun(url, config=config)
        say(str(result.markdown) if result.success else None, began)
    await crawler.close()


if __name__ == "__main__":
    what, path = sys.argv[1:3]
    wanted = json.load(sys.stdin)
    if what == "langchain":
        langchain(path, wanted)
    else:
        asyncio.run(
            crawl4ai(path, wanted, THOROUGH if what == "crawl4ai-thorough" else {})
        )
