"""The document compressor, the splitter of the retriever, and the custom events of a
run.
"""

from __future__ import annotations
import logging

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.documents import (
    BaseDocumentCompressor,
    BaseDocumentTransformer,
    Document,
)
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langchain_websearch import (
    OpenPageTool,
    WebPageCompressor,
    WebPageLoader,
    WebSearchRetriever,
    WebSearchTool,
)
from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, RateLimited
from websearch_core.testing import FakeWeb

KELP, DULSE, LOST = (
    f"https://sea.example/{name}" for name in ("kelp", "dulse", "lost")
)
FAST = "Giant kelp grows half a metre a day."
LONG = f"# Kelp\n\n{'The sea is wide and cold here. ' * 100}\n\n{FAST}\n\n{'Ships pass by at night. ' * 100}"
QUERY = "how fast does giant kelp grow?"


@pytest.fixture
def fake():
    return FakeWeb(
        results=[
            {"title": "Kelp", "url": KELP, "snippet": "A brown alga.", "score": 0.9},
            {"title": "Dulse", "url": DULSE, "snippet": "A red alga."},
            {"title": "Lost", "url": LOST, "snippet": "Gone."},
        ],
        pages={KELP: LONG, DULSE: "# Dulse\n\nDulse is eaten dried."},
    )


async def every_way(compressor, documents):
    return [
        compressor.compress_documents(documents, QUERY),
        await compressor.acompress_documents(documents, QUERY),
    ]


async def test_passages_take_the_place_of_snippets(fake):
    documents = WebSearchRetriever(provider=fake).invoke("kelp")
    compressor = WebPageCompressor(provider=fake, read_options={"max_length": 200})

    assert isinstance(compressor, BaseDocumentCompressor)
    for kelp, dulse, lost in await every_way(compressor, documents):
        assert FAST in kelp.page_content
        assert len(kelp.page_content) <= 200
        assert (kelp.id, kelp.metadata) == (KELP, documents[0].metadata)
        assert "eaten dried" in dulse.page_content
        assert (lost.page_content, lost.metadata["read_error"]) == (
            "Gone.",
            "page_not_found",
        )
    assert "read_error" not in documents[2].metadata


async def test_documents_without_a_web_page_stay_as_they_are(fake):
    documents = [
        Document("a", metadata={"source": "/home/me/notes.txt", "url": KELP}),
        Document("b", metadata={"source": 7}),
        Document("c"),
    ]
    for first, *others in await every_way(
        WebPageCompressor(web=WebSearch(fake)), documents
    ):
        assert FAST in first.page_content
        assert others == documents[1:]
    assert fake.urls == [KELP, KELP]


async def test_a_page_without_the_words_keeps_the_snippet(fake):
    fake.pages[KELP] = "Ships pass by at night. " * 200
    for (kelp,) in await every_way(
        WebPageCompressor(provider=fake),
        [Document("A brown alga.", metadata={"url": KELP})],
    ):
        assert kelp.page_content


async def test_a_page_is_read_and_shown_once_for_all_its_chunks(fake):
    chunks = [
        Document("chunk", metadata={"source": url, "n": n})
        for n, url in enumerate([KELP, f"{KELP}#growth", LOST, DULSE, KELP, LOST])
    ]
    for documents in await every_way(WebPageCompressor(provider=fake), chunks):
        assert [document.metadata["n"] for document in documents] == [0, 2, 3, 5]
        assert FAST in documents[0].page_content
        # of the page that is lost
        assert [document.page_content for document in documents].count("chunk") == 2
    assert fake.urls.count(KELP) == 2  # blocking and async


def test_wrong_arguments_are_refused(fake):
    with pytest.raises(ConfigurationError, match="not both"):
        WebPageCompressor(web=WebSearch(fake), timeout=3)
    with pytest.raises(ValueError, match="max_lenght"):
        WebPageCompressor(provider=fake, max_lenght=3)


class Words(BaseDocumentTransformer):
    """Splits a text into sentences, as a text splitter would."""

    def transform_documents(self, documents, **_):
        return [
            Document(page_content=part.strip(), metadata=document.metadata)
            for document in documents
            for part in document.page_content.split(".")
            if part.strip()
        ]


async def test_the_retriever_returns_snippets_passages_or_pages(fake):
    texts, short = {}, {"max_length": 200}
    for content in ("snippet", "passages", "page"):
        retriever = WebSearchRetriever(
            provider=fake,
            content=content,
            read_options=None if content == "page" else short,
        )
        blocking, waiting = retriever.invoke(QUERY), await retriever.ainvoke(QUERY)
        assert blocking == waiting
        texts[content] = [document.page_content for document in blocking]
        assert [document.metadata.get("truncated") for document in blocking] == {
            "snippet": [None] * 3, "passages": [True, False, None], "page": [False, False, None],
        }[content]  # fmt: skip

    assert texts["snippet"] == ["A brown alga.", "A red alga.", "Gone."]
    assert FAST in texts["passages"][0]
    assert len(texts["passages"][0]) <= 200
    assert texts["page"][0] == LONG
    assert texts["page"][2] == "Gone."


async def test_the_marks_of_a_document_name_no_offset(fake):
    limit = {"max_length": 200}
    retriever = WebSearchRetriever(
        provider=fake, content="passages", read_options=limit
    )
    compressor = WebPageCompressor(provider=fake, read_options=limit)
    documents = [Document("Kelp", metadata={"source": KELP})]
    texts = [
        retriever.invoke(QUERY)[0].page_content,
        (await retriever.ainvoke(QUERY))[0].page_content,
        *(found[0].page_content for found in await every_way(compressor, documents)),
    ]
    excerpt = WebSearch(fake).read(KELP, query=QUERY, max_length=200).content

    assert "characters left out; offset " in excerpt
    for text in texts:
        assert FAST in text
        assert "characters left out ...]" in text
        assert "offset" not in text


async def test_a_text_splitter_splits_what_the_retriever_returns(fake):
    retriever = WebSearchRetriever(provider=fake, content="page", text_splitter=Words())
    parts = retriever.invoke("kelp")

    assert parts == await retriever.ainvoke("kelp")
    assert len({part.id for part in parts}) == len(parts) > 100
    assert parts[0].id == f"{KELP}#1"
    assert parts[0].metadata["source"] == KELP


@pytest.mark.parametrize("make", ["retriever", "loader"])
def test_what_is_indexed_twice_is_not_indexed_again(make, fake):
    class Length:
        def embed_documents(self, texts):
            return [[float(len(text)), 1.0] for text in texts]

    def documents():
        if make == "loader":
            return WebPageLoader([KELP, DULSE], provider=fake).load()
        return WebSearchRetriever(provider=fake, content="page").invoke("kelp")

    records = InMemoryRecordManager("sea")
    records.create_schema()
    store = InMemoryVectorStore(Length())
    options = {
        "cleanup": "incremental",
        "source_id_key": "source",
        "key_encoder": "sha256",
    }
    first = index(documents(), records, store, **options)
    again = index(documents(), records, store, **options)

    assert first["num_added"] == len(documents())
    assert (again["num_added"], again["num_deleted"], again["num_updated"]) == (0, 0, 0)


class Watch(BaseCallbackHandler):
    def __init__(self):
        self.heard = []

    def on_custom_event(self, name, data, **_):
        self.heard.append((name, data))


class AsyncWatch(AsyncCallbackHandler):
    def __init__(self):
        self.heard = []

    async def on_custom_event(self, name, data, **_):
        self.heard.append((name, data))


EVENTS = ["websearch.search_start", "websearch.wait", "websearch.search_end"]


async def test_a_run_gets_progress_and_retries_as_custom_events(fake):
    for handler in (Watch(), AsyncWatch()):
        for run in (WebSearchTool(provider=fake), WebSearchRetriever(provider=fake)):
            given = "kelp" if isinstance(run, WebSearchRetriever) else {"query": "kelp"}
            fake.errors["kelp"] = [
                RateLimited("fake search failed: 429", retry_after=0.01),
                None,
            ]
            handler.heard.clear()
            await run.ainvoke(given, config={"callbacks": [handler]})
            assert [name for name, _ in handler.heard] == EVENTS
            assert handler.heard[1][1] == {
                "provider": "fake", "seconds": 0.01, "reason": "retry", "attempt": 1, "error": "rate_limited",
            }  # fmt: skip
            assert handler.heard[2][1]["results"] == 3

    watch = Watch()
    fake.errors["kelp"] = [
        RateLimited("fake search failed: 429", retry_after=0.01),
        None,
    ]
    WebSearchTool(provider=fake).invoke(
        {"query": "kelp"}, config={"callbacks": [watch]}
    )
    assert [name for name, _ in watch.heard] == EVENTS


class Compressing(WebSearchRetriever):
    """A retriever that compresses what it finds, as `ContextualCompressionRetriever`
    does.
    """

    def _get_relevant_documents(self, query, *, run_manager, **_):
        documents = [Document("Kelp", metadata={"source": KELP})]
        return WebPageCompressor(web=self.web).compress_documents(
            documents, query, run_manager.get_child()
        )

    async def _aget_relevant_documents(self, query, *, run_manager, **_):
        documents = [Document("Kelp", metadata={"source": KELP})]
        return await WebPageCompressor(web=self.web).acompress_documents(
            documents, query, run_manager.get_child()
        )


async def test_the_run_around_a_compressor_gets_its_events(fake):
    for handler in (Watch(), AsyncWatch()):
        await Compressing(provider=fake).ainvoke(QUERY, config={"callbacks": [handler]})
        assert [name for name, _ in handler.heard] == [
            "websearch.read_start",
            "websearch.read_end",
        ]
    watch = Watch()
    Compressing(provider=fake).invoke(QUERY, config={"callbacks": [watch]})
    assert [name for name, _ in watch.heard] == [
        "websearch.read_start",
        "websearch.read_end",
    ]
    # outside of any run
    assert WebPageCompressor(provider=fake).compress_documents(
        [Document("x")], QUERY, [watch]
    )
    assert len(watch.heard) == 2


async def test_events_can_be_streamed(fake):
    tool = OpenPageTool(provider=fake)
    names = [
        event["name"]
        async for event in tool.astream_events({"url": KELP}, version="v2")
        if event["event"] == "on_custom_event"
    ]

    assert names == ["websearch.read_start", "websearch.read_end"]


async def test_the_end_of_a_failed_call_is_an_event_too(fake):
    fake.errors["*"] = RateLimited("fake search failed: 429")
    watch = AsyncWatch()
    tool = WebSearchTool(provider=fake, retry=1, handle_tool_error=False)
    with pytest.raises(ToolException, match="rate_limited") as caught:
        await tool.ainvoke({"query": "kelp"}, config={"callbacks": [watch]})

    # for middleware that retries
    assert isinstance(caught.value.__cause__, RateLimited)
    assert watch.heard[-1][1]["error"] == "rate_limited"


async def test_a_handler_that_fails_does_not_break_the_call(fake, caplog):
    class Broken(AsyncCallbackHandler):
        raise_error = True

        async def on_custom_event(self, name, data, **_):
            raise KeyError(name)

    caplog.set_level(logging.ERROR)
    assert await WebSearchTool(provider=fake).ainvoke(
        {"query": "kelp"}, config={"callbacks": [Broken()]}
    )
    assert "websearch.search_start failed: unexpected KeyError" in caplog.text


def test_outside_a_run_nothing_is_dispatched(fake):
    text, _ = WebSearchTool(provider=fake)._run("kelp", config={})

    assert "Kelp" in text


async def test_a_graph_streams_the_progress_of_its_tools_and_retrievers(fake):
    retriever = WebSearchRetriever(provider=fake)

    def retrieve(state):
        retriever.invoke("kelp")

    async def aretrieve(state):
        await retriever.ainvoke("kelp")

    for node in (retrieve, aretrieve, ToolNode([WebSearchTool(provider=fake)])):
        builder = StateGraph(MessagesState)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        graph = builder.compile()
        call = {"name": "web_search", "args": {"query": "kelp"}, "id": "1"}
        asked = {"messages": [AIMessage("", tool_calls=[call])]}
        heard = [part async for part in graph.astream(asked, stream_mode="custom")]
        if node is not aretrieve:
            heard += graph.stream(asked, stream_mode="custom")
            assert [part["name"] for part in heard[2:]] == [
                "websearch.search_start",
                "websearch.search_end",
            ]
        assert [part["name"] for part in heard[:2]] == [
            "websearch.search_start",
            "websearch.search_end",
        ]
        assert heard[1]["data"]["results"] == 3
        await graph.ainvoke(asked)  # nobody listens
