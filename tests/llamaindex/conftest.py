"""A web of a few pages without a network, services with given responses, and scripted
models.
"""

from __future__ import annotations
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from llama_index.core.agent.workflow import ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import ToolOutput

from websearch_core import (
    Http,
    Page,
    SearchQuery,
    SearchResponse,
    SearchResult,
    WebSearch,
)
from websearch_core.errors import PageNotFound, UnsupportedOption
from websearch_core.flow import Call, Flow
from websearch_core.reading import ReadOptions
from websearch_core.testing import SECRET

KELP = (
    SearchResult(
        title="Kelp",
        url="https://sea.example/kelp",
        snippet="Kelp is a brown alga.",
        score=0.9,
    ),
    SearchResult(
        title="Dulse",
        url="https://sea.example/dulse",
        snippet="Dulse is red.",
        published=datetime(2026, 5, 4, tzinfo=UTC),
    ),
    SearchResult(
        title="Lost", url="https://sea.example/lost", snippet="This page is gone."
    ),
)
PAGES = {
    "https://sea.example/kelp": "# Kelp\n\nGiant kelp grows half a metre a day.",
    "https://sea.example/dulse": "# Dulse\n\nDulse is eaten dried.",
}


@dataclass
class Sea:
    """Searches and reads a web of three results and two pages; *meeting* is called in
    every exchange.
    """

    results: tuple[SearchResult, ...] = KELP
    pages: Mapping[str, str] = field(default_factory=lambda: PAGES)
    answer: str | None = None
    notes: tuple[str, ...] = ()
    cannot: frozenset[str] = frozenset()
    meeting: Callable[[], Any] = lambda: None
    asked: list[SearchQuery] = field(default_factory=list)
    name: str = "sea"
    options: frozenset[str] = frozenset(SearchQuery.model_fields)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        if unknown := sorted(self.cannot & query.requested()):
            raise UnsupportedOption(
                f"sea does not support {', '.join(unknown)}", options=unknown
            )
        self.asked.append(query)
        yield Call(self.meeting)
        return SearchResponse(
            query=query.text,
            results=self.results,
            provider=self.name,
            answer=self.answer,
            notes=self.notes,
        )

    def read(self, url: str, /) -> Flow[Page]:
        yield Call(self.meeting)
        if url not in self.pages:
            raise PageNotFound(
                "sea read failed: 404 Not Found", provider=self.name, status=404
            )
        text = self.pages[url]
        return Page(
            url=url,
            final_url=f"{url}/",
            title=text.split("\n")[0][2:],
            content=text,
            media_type="text/html",
        )


@pytest.fixture
def sea() -> Callable[..., WebSearch]:
    """Return a function that makes a `WebSearch` with a `Sea`, the leaf of its
    ``provider``.
    """

    def make(*, read_options: ReadOptions | None = None, **sea: Any) -> WebSearch:
        water = Sea(**sea)
        # no slow start
        return WebSearch(
            water, reader=water, retry=1, throttle=False, read_options=read_options
        )

    return make


@pytest.fixture
async def brave() -> AsyncIterator[Callable[..., WebSearch]]:
    """Return a function that makes a `WebSearch` with a Brave that always returns, or
    raises, *answer*.
    """
    clients: list[httpx.Client | httpx.AsyncClient] = []

    def make(answer: httpx.Response | Exception) -> WebSearch:
        def handle(request: httpx.Request) -> httpx.Response:
            assert request.headers["x-subscription-token"] == SECRET
            if isinstance(answer, Exception):
                raise answer
            return httpx.Response(
                answer.status_code, headers=answer.headers, content=answer.content
            )

        blocking = httpx.Client(transport=httpx.MockTransport(handle))
        awaiting = httpx.AsyncClient(transport=httpx.MockTransport(handle))
        clients.extend([blocking, awaiting])
        return WebSearch(
            "brave",
            api_key=SECRET,
            retry=1,
            http=Http(client=blocking, async_client=awaiting),
        )

    yield make
    for client in clients:
        if isinstance(client, httpx.Client):
            client.close()
        else:
            await client.aclose()


@pytest.fixture
def scripted() -> Callable[..., MockFunctionCallingLLM]:
    """Return a function that makes a model with these turns: a text, or a tool's name
    and its arguments.
    """

    def make(*turns: str | tuple[str, dict[str, Any]]) -> MockFunctionCallingLLM:
        script = iter(turns)

        def speak(messages: Any, **_: Any) -> ChatMessage:
            turn = next(script)
            if isinstance(turn, str):
                return ChatMessage(role="assistant", content=turn)
            name, arguments = turn
            block = ToolCallBlock(
                tool_call_id=f"call-{len(messages)}",
                tool_name=name,
                tool_kwargs=arguments,
            )
            return ChatMessage(role="assistant", blocks=[block])

        return MockFunctionCallingLLM(response_generator=speak, is_chat_model=True)

    return make


@pytest.fixture
def followed() -> Callable[[Any], Any]:
    """Return a function that runs an agent to its end and returns its answer and the
    outputs of its tools.
    """

    async def follow(run: Any) -> tuple[str, list[ToolOutput]]:
        outputs = [
            event.tool_output
            async for event in run.stream_events()
            if isinstance(event, ToolCallResult)
        ]
        return str(await run), outputs

    return follow


@pytest.fixture
def unmarked() -> Callable[[str], str]:
    """Return a function that replaces the random boundaries in a text, and the date, to
    make texts comparable.
    """
    return lambda text: re.sub(
        r"\b[a-z]{16}\. Today is \d{4}-\d\d-\d\d \(UTC\)|\b[a-z]{16}\b",
        "BOUNDARY",
        text,
    )
