from __future__ import annotations
import asyncio
import copy
import json
import pickle
import threading
from datetime import UTC, datetime

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import ValidationError

from langchain_websearch import WebSearchRetriever
from websearch_core.errors import (
    InvalidOption,
    MissingKey,
    RateLimited,
    UnsupportedOption,
)
from websearch_core.keys import pickle_keys

pytestmark = pytest.mark.enable_socket


async def test_a_result_is_a_document_with_its_source(service):
    service.results = [
        {
            "title": "Kelp",
            "url": "https://example.org/kelp",
            "description": "A large <strong>brown</strong> alga.",
            "page_age": "2026-11-02T08:00:00",
        },
        {"title": "More kelp", "url": "https://example.org/more"},
    ]
    retriever = WebSearchRetriever(web=service.web())
    kelp, more = [
        Document(
            id="https://example.org/kelp",
            page_content="A large brown alga.",
            metadata={
                "source": "https://example.org/kelp",
                "url": "https://example.org/kelp",
                "title": "Kelp",
                "published": datetime(2026, 11, 2, 8, tzinfo=UTC).isoformat(),
                "provider": "brave",
            },
        ),
        Document(
            id="https://example.org/more",
            page_content="More kelp",
            metadata={
                "source": "https://example.org/more",
                "url": "https://example.org/more",
                "title": "More kelp",
                "provider": "brave",
            },
        ),
    ]

    assert retriever.invoke("kelp") == [kelp, more]
    assert await retriever.ainvoke("kelp") == [kelp, more]
    assert json.loads(json.dumps(kelp.metadata)) == kelp.metadata


async def test_k_is_honoured_in_the_constructor_and_in_the_call(service):
    retriever = WebSearchRetriever(web=service.web(), k=4)

    assert [
        len(retriever.invoke("kelp")),
        len(retriever.invoke("kelp", k=2)),
        len(await retriever.ainvoke("kelp")),
        len(await retriever.ainvoke("kelp", k=2)),
    ] == [4, 2, 4, 2]
    assert [query["count"] for query in service.queries] == ["4", "2", "4", "2"]
    assert len(WebSearchRetriever(web=service.web()).invoke("kelp")) == 5


async def test_a_k_of_zero_is_refused(service):
    with pytest.raises(ValidationError, match="k"):
        WebSearchRetriever(web=service.web(), k=0)
    retriever = WebSearchRetriever(web=service.web())
    with pytest.raises(InvalidOption, match="limit"):
        retriever.invoke("kelp", k=0)
    with pytest.raises(InvalidOption, match="limit"):
        await retriever.ainvoke("kelp", k=0)


async def test_finding_nothing_returns_no_documents(service):
    service.results = []
    retriever = WebSearchRetriever(web=service.web())

    assert retriever.invoke("kelp") == []
    assert await retriever.ainvoke("kelp") == []


@pytest.mark.parametrize("content", ["snippet", "passages", "page"])
async def test_failures_are_raised(content, service, answer):
    service.answer = answer(status=429, headers={"Retry-After": "0.2"})
    retriever = WebSearchRetriever(web=service.web(), content=content)

    with pytest.raises(RateLimited) as failure:
        retriever.invoke("kelp")
    assert failure.value.retry_after == 0.2
    with pytest.raises(RateLimited):
        await retriever.ainvoke("kelp")


def test_search_options_are_part_of_every_search(service):
    retriever = WebSearchRetriever(
        web=service.web(), search_options={"time_range": "week", "country": "us"}
    )
    retriever.invoke("kelp")

    assert (service.queries[0]["freshness"], service.queries[0]["country"]) == (
        "pw",
        "US",
    )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"timerange": "week"}, "timerange"),
        ({"time_range": "century"}, "time_range"),
        ({"limit": 3}, "limit: write k=3"),
    ],
)
def test_invalid_search_options_are_refused_at_construction(
    options, complaint, service
):
    with pytest.raises(InvalidOption, match=complaint):
        WebSearchRetriever(web=service.web(), search_options=options)


def test_an_unsupported_option_is_not_dropped_silently(service):
    with pytest.raises(UnsupportedOption, match="after"):
        WebSearchRetriever(
            provider="searxng",
            base_url=service.url,
            search_options={"after": "2026-01-01"},
        )


def on_site(service, *paths: str) -> None:
    service.results = [
        {"title": path, "url": service.url + path, "description": f"Snippet of {path}"}
        for path in paths
    ]


async def test_pages_are_read_and_one_that_fails_keeps_its_snippet(service, answer):
    text = {"Content-Type": "text/plain"}
    stones = "Stones and more stones.\n\n" * 20
    service.pages["/long"] = answer(
        body=f"{stones}Giant kelp grows fast.\n\n{stones}", headers=text
    )
    service.pages["/short"] = answer(body="Kelp.", headers=text)
    on_site(service, "/long", "/missing", "/short")
    retriever = WebSearchRetriever(
        web=service.web(), content="passages", read_options={"max_length": 150}
    )

    documents = retriever.invoke("kelp")
    long, missing, short = documents

    assert await retriever.ainvoke("kelp") == documents
    assert "Giant kelp grows fast." in long.page_content
    assert len(long.page_content) <= 150
    assert long.metadata["truncated"] is True
    assert missing.page_content == "Snippet of /missing"
    assert missing.metadata["read_error"] == "page_not_found"
    assert short.page_content.strip() == "Kelp."
    assert short.metadata["truncated"] is False
    assert "read_error" not in short.metadata
    assert [document.id for document in documents] == [
        service.url + path for path in ("/long", "/missing", "/short")
    ]


@pytest.mark.parametrize("colour", ["blocking", "async"])
async def test_pages_are_read_in_parallel_up_to_a_limit(colour, service, answer):
    paths, four = [f"/{n}" for n in range(17)], threading.Barrier(4)
    for path in paths:  # from the first answer on, a host has four places
        together = four if path != "/0" else None
        service.pages[path] = answer(
            body=path, headers={"Content-Type": "text/plain"}, together=together
        )
    on_site(service, *paths)
    retriever = WebSearchRetriever(web=service.web(), k=17, content="passages")

    documents = await (
        retriever.ainvoke("kelp")
        if colour == "async"
        else asyncio.to_thread(retriever.invoke, "kelp")
    )

    assert [document.page_content.strip() for document in documents] == paths
    assert service.busiest == 4


@pytest.mark.parametrize("content", ["snippet", "passages", "page"])
def test_indexing_the_same_results_again_does_nothing(content, service, answer):
    service.pages["/kelp"] = answer(
        body="Kelp.", headers={"Content-Type": "text/plain"}
    )
    on_site(service, "/kelp", "/missing")
    retriever = WebSearchRetriever(web=service.web(), content=content)
    records = InMemoryRecordManager(namespace="kelp")
    records.create_schema()
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))

    def indexed() -> dict[str, int]:
        documents = retriever.invoke("kelp")
        return index(
            documents,
            records,
            store,
            cleanup="incremental",
            source_id_key="source",
            key_encoder="sha256",
        )

    assert indexed() == {
        "num_added": 2,
        "num_updated": 0,
        "num_skipped": 0,
        "num_deleted": 0,
    }
    assert indexed() == {
        "num_added": 0,
        "num_updated": 0,
        "num_skipped": 2,
        "num_deleted": 0,
    }


def through_a_pickle_with_its_key(one):
    with pickle_keys():
        return pickle.loads(pickle.dumps(one))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, through_a_pickle_with_its_key])
def test_a_copy_retrieves_like_the_original(duplicate, service):
    original = WebSearchRetriever(web=service.web(), k=2)
    documents = original.invoke("kelp")

    assert duplicate(original).invoke("kelp") == documents


def test_a_pickle_does_not_contain_the_key_and_the_error_says_so(service):
    data = pickle.dumps(
        WebSearchRetriever(provider="brave", api_key="SECRET-of-a-test")
    )
    assert b"SECRET-of-a-test" not in data

    with pytest.raises(
        MissingKey, match="brave has no api_key: a pickle does not hold keys"
    ):
        pickle.loads(data).invoke("kelp")


async def test_batches_work_blocking_and_async(service):
    retriever = WebSearchRetriever(web=service.web(), k=1)

    blocking = retriever.batch(["kelp", "dulse"])
    assert blocking == await retriever.abatch(["kelp", "dulse"])
    assert [len(documents) for documents in blocking] == [1, 1]


@pytest.mark.parametrize("name", ["limit", "max_results"])
async def test_an_unknown_argument_of_a_call_is_answered_with_the_known_one(name):
    retriever = WebSearchRetriever(provider="duckduckgo")
    with pytest.raises(InvalidOption, match=f"unknown argument: {name}; write k="):
        retriever.invoke("kelp", **{name: 2})
    with pytest.raises(InvalidOption, match=f"unknown argument: {name}; write k="):
        await retriever.ainvoke("kelp", **{name: 2})
