"""The node postprocessor, the node parser of the retriever, and the instrumentation
events.
"""

from __future__ import annotations
import json

import pytest
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import MarkdownNodeParser
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import (
    Document,
    ImageNode,
    IndexNode,
    MetadataMode,
    NodeWithScore,
    TextNode,
)

from llamaindex_websearch import (
    WebPagePostprocessor,
    WebPageReader,
    WebSearchEvent,
    WebSearchRetriever,
    WebSearchToolSpec,
)
from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, InvalidOption, RateLimited
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
            {"title": "Kelp", "url": KELP, "snippet": "A brown alga."},
            {"title": "Dulse", "url": DULSE, "snippet": "A red alga."},
            {"title": "Lost", "url": LOST, "snippet": "Gone."},
        ],
        pages={KELP: LONG, DULSE: "# Dulse\n\nDulse is eaten dried."},
    )


async def every_way(postprocessor, nodes, query=QUERY):
    return [
        postprocessor.postprocess_nodes(nodes, query_str=query),
        await postprocessor.apostprocess_nodes(nodes, query_str=query),
    ]


async def test_passages_take_the_place_of_snippets(fake):
    nodes = WebSearchRetriever(provider=fake).retrieve("kelp")
    postprocessor = WebPagePostprocessor(
        provider=fake, read_options={"max_length": 200}
    )

    assert isinstance(postprocessor, BaseNodePostprocessor)
    assert postprocessor.to_dict() == {
        "class_name": "WebPagePostprocessor",
        "read_options": {"max_length": 200},
    }
    for kelp, dulse, lost in await every_way(postprocessor, nodes):
        assert FAST in kelp.text
        assert len(kelp.text) <= 200
        assert (kelp.node_id, kelp.metadata, kelp.score) == (
            KELP,
            nodes[0].metadata,
            nodes[0].score,
        )
        assert "eaten dried" in dulse.text
        assert (lost.text, lost.metadata["read_error"]) == ("Gone.", "page_not_found")
        assert "page_not_found" not in lost.node.get_content(MetadataMode.LLM)
    assert "read_error" not in nodes[2].metadata


async def test_nodes_without_a_web_page_or_a_query_stay_as_they_are(fake):
    nodes = [
        NodeWithScore(
            node=TextNode(
                text="a", metadata={"source": "/home/me/notes.txt", "url": KELP}
            ),
            score=0.5,
        ),
        NodeWithScore(node=TextNode(text="b", metadata={"source": 7})),
    ]
    for first, second in await every_way(
        WebPagePostprocessor(web=WebSearch(fake)), nodes
    ):
        assert FAST in first.text
        assert first.score == 0.5
        assert second is nodes[1]
    assert await every_way(WebPagePostprocessor(provider=fake), nodes, None) == [
        nodes,
        nodes,
    ]


async def test_a_page_is_read_and_shown_once_for_all_its_chunks(fake):
    chunks = [
        NodeWithScore(
            node=TextNode(text="chunk", metadata={"source": url, "n": n}),
            score=1 / (n + 1),
        )
        for n, url in enumerate([KELP, f"{KELP}#growth", LOST, DULSE, KELP, LOST])
    ]
    for nodes in await every_way(WebPagePostprocessor(provider=fake), chunks):
        assert [node.metadata["n"] for node in nodes] == [0, 2, 3, 5]
        # of the page that is lost
        assert [node.text for node in nodes].count("chunk") == 2
    assert fake.urls.count(KELP) == 2  # blocking and async


@pytest.mark.parametrize("url", [KELP, LOST])
async def test_a_node_keeps_its_type_and_its_fields(fake, url):
    facts = {
        "metadata": {"url": url}, "metadata_separator": " | ", "text_template": "{content}", "embedding": [0.5],
        "excluded_llm_metadata_keys": ["url"],
    }  # fmt: skip
    nodes = [
        ImageNode(
            text="a",
            image_url="https://sea.example/kelp.png",
            start_char_idx=7,
            **facts,
        ),
        IndexNode(text="a", index_id="seven", **facts),
        Document(text="a", **facts),
    ]
    for node in nodes:
        before = node.model_dump()
        for (scored,) in await every_way(
            WebPagePostprocessor(provider=fake), [NodeWithScore(node=node, score=0.5)]
        ):
            after = scored.node.model_dump()
            changed = {name for name in before if before[name] != after[name]}
            assert (type(scored.node), scored.score) == (type(node), 0.5)
            texts = (
                {"text", "text_resource"} if url == KELP else {"metadata", *EXCLUDED}
            )
            assert changed <= texts
            assert (FAST in scored.get_content()) is (url == KELP)
        assert node.model_dump() == before


EXCLUDED = ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys")


def test_it_works_in_a_query_engine(fake):
    engine = RetrieverQueryEngine.from_args(
        WebSearchRetriever(provider=fake),
        llm=MockLLM(),
        node_postprocessors=[WebPagePostprocessor(provider=fake)],
    )

    assert FAST in engine.query(QUERY).source_nodes[0].text


@pytest.mark.parametrize("kind", [WebPagePostprocessor, WebPageReader])
def test_a_function_among_the_options_is_dumped_by_its_name(fake, kind):
    made = kind(provider=fake, read_options={"token_counter": len, "max_length": 9})

    for dumped in (made.model_dump_json(), made.to_json()):
        assert json.loads(dumped)["read_options"] == {
            "token_counter": "len",
            "max_length": 9,
        }
    assert kind(provider=fake).to_json()


def test_wrong_arguments_are_refused(fake):
    with pytest.raises(ConfigurationError, match="not both"):
        WebPagePostprocessor(web=WebSearch(fake), timeout=3)
    with pytest.raises(InvalidOption, match="max_length"):
        WebPagePostprocessor(provider=fake, read_options={"max_length": 0})
    with pytest.raises(
        InvalidOption, match="'pages' is not one of snippet, passages, page"
    ):
        WebSearchRetriever(provider=fake, content="pages")
    with pytest.raises(
        InvalidOption,
        match="read_options: max_length: must be greater than or equal to 1",
    ):
        WebSearchRetriever(provider=fake, read_options={"max_length": 0})


async def test_the_retriever_returns_snippets_passages_or_pages(fake):
    texts, short = {}, {"max_length": 200}
    for content in ("snippet", "passages", "page"):
        retriever = WebSearchRetriever(
            provider=fake,
            content=content,
            read_options=None if content == "page" else short,
        )
        blocking, waiting = retriever.retrieve(QUERY), await retriever.aretrieve(QUERY)
        texts[content] = [node.text for node in blocking]
        assert texts[content] == [node.text for node in waiting]

    assert texts["snippet"] == ["A brown alga.", "A red alga.", "Gone."]
    assert FAST in texts["passages"][0]
    assert len(texts["passages"][0]) <= 200
    assert texts["page"][0] == LONG


async def test_a_node_parser_splits_what_the_retriever_returns(fake):
    fake.pages[KELP] = (
        "# Kelp\n\nAn alga.\n\n## Growth\n\nIt grows.\n\n## Use\n\nIt is eaten."
    )
    retriever = WebSearchRetriever(
        provider=fake, content="page", node_parser=MarkdownNodeParser()
    )
    parts = retriever.retrieve("kelp")

    assert [part.text for part in parts] == [
        part.text for part in await retriever.aretrieve("kelp")
    ]
    assert len({part.node_id for part in parts}) == len(parts) == 5
    assert (parts[0].node_id, parts[0].score, parts[0].metadata["source"]) == (
        f"{KELP}#1",
        1.0,
        KELP,
    )


class Ears(BaseEventHandler):
    heard: list = []  # noqa: RUF012 - a field of pydantic

    @classmethod
    def class_name(cls):
        return "Ears"

    def handle(self, event, **_):
        self.heard.append(event)


@pytest.fixture
def ears():
    root = get_dispatcher()
    handler = Ears()
    handlers = list(root.event_handlers)
    root.add_event_handler(handler)
    yield handler
    root.event_handlers = handlers


def names(ears):
    return [event.name for event in ears.heard if isinstance(event, WebSearchEvent)]


async def test_calls_are_instrumentation_events_with_retries_and_waits(fake, ears):
    for call in (
        lambda: WebSearchToolSpec(provider=fake).aweb_search("kelp"),
        lambda: WebSearchRetriever(provider=fake).aretrieve("kelp"),
    ):
        fake.errors["kelp"] = [
            RateLimited("fake search failed: 429", retry_after=0.01),
            None,
        ]
        ears.heard.clear()
        await call()
        assert names(ears) == ["search_start", "wait", "search_end"]
    (wait,) = (event for event in ears.heard if getattr(event, "name", "") == "wait")
    assert (wait.data["seconds"], wait.data["error"]) == (0.01, "rate_limited")


async def test_the_retriever_emits_what_its_base_class_does(fake, ears):
    WebSearchRetriever(provider=fake).retrieve("kelp")

    assert [
        type(event) for event in ears.heard if not isinstance(event, WebSearchEvent)
    ] == [
        RetrievalStartEvent,
        RetrievalEndEvent,
    ]


async def test_the_reader_and_the_postprocessor_say_what_they_read(fake, ears):
    await WebPageReader(provider=fake).aload_data([KELP])
    WebPageReader(provider=fake).load_data(KELP)
    WebPagePostprocessor(provider=fake).postprocess_nodes(
        [NodeWithScore(node=TextNode(text="", metadata={"url": KELP}))],
        query_str="kelp",
    )

    assert names(ears) == ["read_start", "read_end"] * 3
