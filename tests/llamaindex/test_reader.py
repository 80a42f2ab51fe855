from __future__ import annotations
import asyncio
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.readers.base import ReaderConfig
from llama_index.core.schema import Document

from llamaindex_websearch import WebPageReader, to_document
from tests.server import Server, http
from websearch_core import Page, WebSearch
from websearch_core.errors import (
    ConfigurationError,
    InvalidOption,
    PageNotFound,
    UnsafeURL,
)
from websearch_core.flow import Flow
from websearch_core.testing import FakeWeb

Sea = Callable[..., WebSearch]

KELP, DULSE, LOST = (
    "https://sea.example/kelp",
    "https://sea.example/dulse",
    "https://sea.example/lost",
)


async def every_way(
    reader: WebPageReader, urls: str | list[str]
) -> list[list[Document]]:
    return [
        await asyncio.to_thread(reader.load_data, urls),
        await asyncio.to_thread(lambda: list(reader.lazy_load_data(urls))),
        await reader.aload_data(urls),
        list(await reader.alazy_load_data(urls)),
    ]


async def test_documents_are_pages_in_order(sea: Sea) -> None:
    for documents in await every_way(WebPageReader(web=sea()), [DULSE, KELP]):
        dulse, kelp = documents
        assert (dulse.id_, dulse.text) == (
            f"{DULSE}/",
            "# Dulse\n\nDulse is eaten dried.",
        )
        assert kelp.metadata == {
            "source": f"{KELP}/", "url": f"{KELP}/", "requested_url": KELP, "title": "Kelp",
            "media_type": "text/html", "truncated": False,
        }  # fmt: skip


async def test_a_single_url_does_not_need_a_list(sea: Sea) -> None:
    for documents in await every_way(WebPageReader(web=sea()), KELP):
        assert [document.id_ for document in documents] == [f"{KELP}/"]


async def test_a_page_is_whole_unless_a_length_is_given(sea: Sea) -> None:
    long = "kelp " * 10_000 + "end"
    for documents in await every_way(WebPageReader(web=sea(pages={KELP: long})), KELP):
        assert [long] == [document.text for document in documents]
    for documents in await every_way(
        WebPageReader(web=sea(), read_options={"max_length": 6}), KELP
    ):
        assert [document.text for document in documents] == ["# Kelp"]


async def test_a_page_that_cannot_be_read_does_not_lose_the_others(
    sea: Sea, caplog: pytest.LogCaptureFixture
) -> None:
    for documents in await every_way(WebPageReader(web=sea()), [KELP, LOST, DULSE]):
        assert [document.id_ for document in documents] == [f"{KELP}/", f"{DULSE}/"]

    assert len(caplog.messages) == 4
    assert [
        message
        for message in caplog.messages
        if not (message.startswith("left out a page: ") and LOST in message)
    ] == []


async def test_an_unreadable_page_is_an_error_if_that_is_wanted(sea: Sea) -> None:
    reader = WebPageReader(web=sea(), on_error="raise")
    with pytest.raises(PageNotFound):
        reader.load_data([KELP, LOST])
    with pytest.raises(PageNotFound):
        await reader.aload_data([KELP, LOST])
    lazily = reader.lazy_load_data([KELP, LOST])
    assert next(lazily).id_ == f"{KELP}/"
    with pytest.raises(PageNotFound):
        next(lazily)


def test_pages_are_read_when_they_are_requested(sea: Sea) -> None:
    web = FakeWeb(pages={f"{KELP}/{n}": "Kelp." for n in range(40)})
    documents = WebPageReader(provider=web).lazy_load_data(list(web.pages))
    assert web.urls == []
    next(documents)
    assert web.urls
    assert len(list(documents)) == 39


def test_a_pipeline_takes_a_reader(sea: Sea) -> None:
    reader = ReaderConfig(reader=WebPageReader(web=sea()), reader_args=[[KELP, LOST]])
    nodes = IngestionPipeline(readers=[reader], transformations=[]).run()

    assert [node.id_ for node in nodes] == [f"{KELP}/"]
    assert WebPageReader(web=sea()).to_dict() == {
        "is_remote": True, "crawl": False, "read_options": None, "on_error": "skip", "class_name": "WebPageReader",
    }  # fmt: skip


def test_a_page_becomes_the_document_that_a_reader_makes(sea: Sea) -> None:
    web = sea()
    assert to_document(web.read(KELP)) == WebPageReader(web=web).load_data(KELP)[0]


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("html_to_text", "a document is always Markdown"),
        ("fail_on_error", 'write on_error="raise"'),
        ("continue_on_failure", 'write on_error="skip"'),
        ("urls", "write WebPageReader..\\.load_data"),
        ("url", "write WebPageReader..\\.load_data"),
        ("web_path", "write WebPageReader..\\.load_data"),
        ("proxies", "write http=Http.proxy="),
        ("limit", ""),
    ],
)
def test_an_argument_of_another_reader_is_answered_with_what_to_write(
    argument: str, line: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^{argument}: .*{line}"):
        WebPageReader(**{argument: True})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"url": KELP},
            'url: write WebPageReader().load_data(["https://docs.python.org/3/"]), or one URL',
        ),
        (
            {"sitemap_url": KELP},
            'sitemap_url: write WebPageReader(crawl={"depth": 1}).load_data([url])',
        ),
        ({"query": "kelp"}, "query: write WebSearchRetriever(k=5).retrieve(query)"),
        (
            {"pages": ["Kelp"]},
            'pages: write WebPageReader().load_data(urls), or WebSearchRetriever(provider="wikipedia")',
        ),
        (
            {"urls": KELP, "html_to_text": True},
            "html_to_text: leave it out: a document is always Markdown",
        ),
        (
            {"urls": KELP, "anything": True},
            "anything: write WebPageReader().load_data([",
        ),
        (
            {},
            "urls: must be a URL or a list of URLs, not None: write WebPageReader().load_data([",
        ),
    ],
)
async def test_what_another_reader_is_called_with_is_answered_with_what_to_write(
    sea: Sea, arguments: dict[str, Any], says: str
) -> None:
    reader: Any = WebPageReader(web=sea())
    for call in (
        reader.load_data,
        lambda **given: list(reader.lazy_load_data(**given)),
    ):
        with pytest.raises(InvalidOption) as caught:
            call(**arguments)
        assert str(caught.value).startswith(says)
    for acall in (reader.aload_data, reader.alazy_load_data):
        with pytest.raises(InvalidOption) as caught:
            await acall(**arguments)
        assert str(caught.value).startswith(says)


def test_reading_in_threads_is_parallel_too(sea: Sea) -> None:
    meeting = threading.Barrier(2)
    reader = WebPageReader(web=sea(meeting=lambda: meeting.wait(timeout=60)))
    assert [document.id_ for document in reader.load_data([KELP, DULSE])] == [
        f"{KELP}/",
        f"{DULSE}/",
    ]


async def test_async_reading_is_parallel(sea: Sea) -> None:
    meeting = threading.Barrier(2)
    reader = WebPageReader(web=sea(meeting=lambda: meeting.wait(timeout=60)))
    assert [document.id_ for document in await reader.aload_data([KELP, DULSE])] == [
        f"{KELP}/",
        f"{DULSE}/",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
    ],
)
async def test_non_public_addresses_are_not_read(url: str) -> None:
    assert WebPageReader(provider="duckduckgo").load_data(url) == []
    reader = WebPageReader(provider="duckduckgo", on_error="raise")
    with pytest.raises(UnsafeURL):
        reader.load_data(url)
    with pytest.raises(UnsafeURL):
        await reader.aload_data(url)


def test_a_web_search_and_arguments_for_one_exclude_each_other(sea: Sea) -> None:
    with pytest.raises(ConfigurationError, match="not both: internal"):
        WebPageReader(web=sea(), internal=["10.0.0.0/8"])


def test_it_survives_pickling() -> None:
    copy = pickle.loads(
        pickle.dumps(
            WebPageReader(
                provider="brave",
                api_key="SECRET-of-a-test",
                read_options={"max_length": 9},
            )
        )
    )
    assert (repr(copy.web), copy.read_options) == (
        "WebSearch('brave', reader='direct')",
        {"max_length": 9},
    )


@pytest.mark.enable_socket
async def test_an_allowed_address_is_read() -> None:
    page = "<title>Wiki</title><main><h1>Kelp</h1><p>Giant kelp grows half a metre a day, or so they say.</p></main>"
    with Server([http(page, "200 OK", "Content-Type: text/html")]) as server:
        async with WebSearch("duckduckgo", internal=[server.url], timeout=60) as web:
            ways = await every_way(WebPageReader(web=web), f"{server.url}/kelp")
    for (document,) in ways:
        assert "Giant kelp grows half a metre a day" in document.text
        assert document.metadata["title"] == "Wiki"
        assert "<p>" not in document.text


def test_what_is_not_a_list_of_urls_says_so():
    with pytest.raises(InvalidOption, match="urls: must be a list of URLs, not int"):
        WebPageReader().load_data(7)


async def test_a_site_is_read_from_its_start() -> None:
    class Shore:
        name = "shore"
        needs_network = False

        def read(self, url: str, /) -> Flow[Page]:
            yield from ()
            return Page(
                url=url, content="Kelp.", links=(f"{KELP}/1",) if url == KELP else ()
            )

    web = WebSearch("duckduckgo", reader=Shore())
    for documents in await every_way(
        WebPageReader(web=web, crawl={"sitemaps": False}), KELP
    ):
        assert [document.id_ for document in documents] == [KELP, f"{KELP}/1"]


@pytest.mark.parametrize("name", ["max_results", "time_range"])
def test_an_option_of_searches_is_unknown_to_what_only_reads(name):
    with pytest.raises(
        ConfigurationError, match=f"^unknown argument: {name}; known are reader, "
    ):
        WebPageReader(**{name: 3})
