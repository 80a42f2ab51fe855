"""Both frameworks show a model the same text, and give programs the same metadata, for
the same answer.
"""

from __future__ import annotations
import asyncio
import re
from contextlib import suppress
from types import SimpleNamespace

import pytest
from llama_index.core.tools.calling import acall_tool

from langchain_websearch import (
    OpenPageTool,
    WebPageLoader,
    WebSearchRetriever,
    WebSearchTool,
)
from llamaindex_websearch import WebPageReader, WebSearchToolSpec
from llamaindex_websearch import WebSearchRetriever as LlamaIndexRetriever
from tests.cassettes import player
from tests.cassettes import tape as tapes
from websearch_core import WebSearch
from websearch_core.errors import NeedsBrowser, WebSearchError
from websearch_core.mcp import make_server
from websearch_core.providers import Browser, Direct
from websearch_core.testing import FakeWeb
from websearch_core.tools import WebTools

URL = "https://sea.example/kelp"
PAGE = (
    "<html lang=en><title>Kelp</title><meta name=author content=Ada><meta property=og:type content=article><h1>Kelp</h1><p>Kelp is a brown alga. "
    * 3
)


def unmarked(text):
    return re.sub(r"\b[a-z]{16}\b", "BOUNDARY", text)


@pytest.fixture(params=player.find_searchers())
def tape(request):
    return tapes.find(request.param, "search")


@pytest.fixture
def arguments(tape):
    """How a tool gets the responses of the tape, at once: some services want seconds
    between requests.
    """
    return {**player.arguments(tape), "throttle": False}


@pytest.mark.parametrize("form", ["text", "markdown"])
async def test_a_model_reads_the_same_text_in_both(tape, arguments, form):
    query, options, _ = player.query(tape)
    shared = {"search_options": options, "output_format": form}
    texts = set()
    tool = WebSearchTool(**arguments, **shared)
    texts |= {
        unmarked(tool.invoke({"query": query})),
        unmarked(await tool.ainvoke({"query": query})),
    }
    search, _ = WebSearchToolSpec(**arguments, **shared).to_tool_list()
    texts |= {
        unmarked(search.call(query=query).content),
        unmarked((await search.acall(query=query)).content),
    }

    assert len({re.sub(r"\n?Note: .*", "", text) for text in texts}) == 1
    assert [
        result["url"]
        for result in tape["expect"]["results"][:1]
        if result["url"] not in texts.pop()
    ] == []


def test_json_is_what_the_schema_of_the_tool_says(tape, arguments):
    query, options, _ = player.query(tape)
    tool = WebSearchTool(**arguments, search_options=options, output_format="json")
    search = tool.get_output_schema().model_validate_json(tool.invoke(query)).root

    assert search.status == "success"
    assert tool.get_output_jsonschema()["anyOf"]


def test_the_documents_of_a_search_have_the_same_metadata(tape, arguments):
    query, options, limit = player.query(tape)
    documents = WebSearchRetriever(**arguments, k=limit, search_options=options).invoke(
        query
    )
    nodes = LlamaIndexRetriever(**arguments, k=limit, search_options=options).retrieve(
        query
    )

    assert [document.metadata for document in documents] == [
        node.metadata for node in nodes
    ]
    assert [document.page_content for document in documents] == [
        node.text for node in nodes
    ]
    assert [
        document.metadata["source"]
        for document in documents
        if document.metadata["source"] != document.id
    ] == []


@pytest.mark.parametrize("content", ["snippet", "passages", "page"])
def test_the_documents_of_pages_have_the_same_metadata_and_text(content):
    web = WebSearch(
        FakeWeb(
            results=[
                {"title": "Kelp", "url": URL},
                {"url": "https://sea.example/lost"},
            ],
            pages={URL: PAGE},
        )
    )
    documents = WebSearchRetriever(web=web, content=content).invoke("kelp")
    nodes = LlamaIndexRetriever(web=web, content=content).retrieve("kelp")

    assert [document.metadata for document in documents] == [
        node.metadata for node in nodes
    ]
    assert [document.page_content for document in documents] == [
        node.text for node in nodes
    ]
    assert documents[1].metadata.get("read_error") == (
        None if content == "snippet" else "page_not_found"
    )


def test_what_the_loader_and_the_reader_return_is_the_same():
    web = WebSearch(FakeWeb(pages={URL: PAGE}))
    (document,) = WebPageLoader(URL, web=web).load()
    (other,) = WebPageReader(web=web).load_data(URL)

    assert (document.id, document.page_content, document.metadata) == (
        other.id_,
        other.text,
        other.metadata,
    )
    assert document.metadata["author"] == "Ada"


def test_a_page_is_shown_to_a_model_in_the_same_way():
    web = WebSearch(FakeWeb(pages={URL: PAGE}))
    _, read = WebSearchToolSpec(web=web).to_tool_list()

    assert unmarked(OpenPageTool(web=web).invoke({"url": URL})) == unmarked(
        read.call(url=URL).content
    )


def test_loaders_and_readers_of_pages_start_no_browser(monkeypatch):
    asked = []

    def fail(self, url):
        asked.append(self.name)
        raise NeedsBrowser("it needs its scripts", provider=self.name)
        yield

    monkeypatch.setattr(Direct, "read", fail)
    monkeypatch.setattr(Browser, "read", fail)
    monkeypatch.setattr(Browser, "problem", lambda self: None)
    loader, reader = WebPageLoader("https://app.example/"), WebPageReader()
    url = "https://app.example/"
    for load in (
        lambda: list(loader.lazy_load()),
        lambda: asyncio.run(loader.aload()),
        lambda: list(reader.lazy_load_data(url)),
        lambda: asyncio.run(reader.aload_data(url)),
    ):
        with suppress(NeedsBrowser):
            load()
    assert asked == ["direct"] * 4
    with pytest.raises(WebSearchError):
        WebSearch().read(url)
    assert asked[4:] == ["direct", "browser"]


class TestWhatModelsSend:
    """Every framework understands the same, and answers the same to what it does not
    understand.
    """

    @pytest.mark.parametrize(
        ("sent", "query", "limit"),
        [
            ({"q": "kelp", "num_results": 2}, "kelp", 2),
            ({"input": {"query": "kelp", "limit": "2"}}, "kelp", 2),
            ({"kwargs": {"query": "kelp", "limit": 2}}, "kelp", 2),
            ({"query": '{"query": "kelp", "limit": 2}'}, "kelp", 2),
            ({"query": ["kelp"], "limit": 2}, "kelp", 2),
            ({"query": "kelp", "limit": 0}, "kelp", 5),
            ({"query": "kelp", "limit": 10**9}, "kelp", 20),
        ],
        ids=str,
    )
    async def test_a_search_is_the_same(self, sent, query, limit):
        web = FakeWeb(results=[{"title": "Kelp", "url": URL}])
        outcomes = [
            outcome async for outcome in call_everywhere("web_search", sent, web)
        ]

        assert [failed for failed, _ in outcomes] == [False] * 3
        assert [(one.text, one.limit) for one in web.searches] == [(query, limit)] * 3
        assert len({text for _, text in outcomes}) == 1
        assert ("Note: limit: " in outcomes[0][1]) is (limit != 2)

    @pytest.mark.parametrize("name", ["url", "urls", "link"])
    @pytest.mark.parametrize(
        "sent", [f"<{URL}>", [URL], "sea.example/kelp", f"[Kelp]({URL})"], ids=str
    )
    async def test_a_page_is_the_same(self, name, sent):
        web = FakeWeb(pages={URL: PAGE})
        sent = {name: sent, "maxLength": -1}
        outcomes = [
            outcome async for outcome in call_everywhere("open_page", sent, web)
        ]

        assert len({text for _, text in outcomes}) == 1
        assert "brown alga" in outcomes[0][1]
        assert "Note: max_length: " in outcomes[0][1]

    @pytest.mark.parametrize(
        ("name", "sent"),
        [
            ("web_search", {}),
            ("web_search", {"query": "kelp", "depth": 2}),
            ("web_search", {"query": ["kelp", "tides"]}),
            ("open_page", {"url": URL, "limit": "few"}),
            ("open_page", {"urls": [URL, "https://sea.example/tides"]}),
        ],
        ids=str,
    )
    async def test_an_error_is_the_same_and_lists_the_arguments(self, name, sent):
        web = FakeWeb(results=[{"title": "Kelp", "url": URL}], pages={URL: PAGE})
        outcomes = [outcome async for outcome in call_everywhere(name, sent, web)]
        texts = {text.replace(", conversation.", ".") for _, text in outcomes}

        assert [failed for failed, _ in outcomes] == [True] * 3
        assert len(texts) == 1
        assert "; the arguments are " in texts.pop()

    def test_a_text_alone_may_be_all_arguments(self):
        web = FakeWeb(results=[{"title": "Kelp", "url": URL}], pages={URL: PAGE})
        WebSearchTool(provider=web).invoke('{"query": "kelp", "max_results": 2}')
        text = OpenPageTool(reader=web).invoke(f'{{"link": "<{URL}>"}}')

        assert [(one.text, one.limit) for one in web.searches] == [("kelp", 2)]
        assert "brown alga" in text


async def call_everywhere(name, sent, web):
    """Yield whether a call failed and what the model reads, for each framework."""
    call = {"type": "tool_call", "id": "1", "name": name, "args": sent}
    langchain = {
        "web_search": WebSearchTool(provider=web),
        "open_page": OpenPageTool(reader=web),
    }
    message = await langchain[name].ainvoke(call)
    yield message.status == "error", unmarked(message.text)
    spec = WebSearchToolSpec(provider=web, reader=web)
    (tool,) = spec.to_tool_list([f"a{name}"])
    output = await acall_tool(tool, sent)
    text = output.content.removeprefix("Encountered error: ").strip()
    yield output.is_error, unmarked(text)
    server = make_server(WebTools(provider=web, reader=web))
    context = SimpleNamespace(meta=None, request=None, session=None, request_id=1)
    handler = server.get_request_handler("tools/call").handler
    answer = await handler(context, SimpleNamespace(name=name, arguments=sent))
    yield answer.is_error, unmarked(answer.content[0].text)
