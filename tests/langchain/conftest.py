"""A local search service and site, and a scripted chat model."""

from __future__ import annotations
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from tests import server
from websearch_core import (
    Page,
    SearchQuery,
    SearchResponse,
    SearchResult,
    Timeout,
    WebSearch,
)

KEY = "SEKRET-0123456789abcdef"


@dataclass
class Answer:
    """A response, and when it is sent: after a delay, or once enough requests wait at
    the barrier.
    """

    status: int = 200
    body: str | dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    together: threading.Barrier | None = None
    missing: int = 0  # bytes of the body that are announced but never sent


def brave_results(count: int) -> dict[str, Any]:
    """Return Brave's response with *count* results."""
    results = [
        {
            "title": f"Kelp {n}",
            "url": f"https://example.org/kelp/{n}",
            "description": f"All about kelp, part {n}.",
        }
        for n in range(1, count + 1)
    ]
    return {
        "type": "search",
        "query": {"more_results_available": False},
        "web": {"results": results},
    }


class Service:
    """A local Brave, and a site whose pages are the items of ``pages``, by path.

    Finds as many results as requested, unless ``answer`` is set; keeps connections
    alive, and counts them.
    """

    def __init__(self) -> None:
        self.answer: Answer | None = None
        self.pages: dict[str, Answer] = {}
        self.results: list[dict[str, Any]] | None = None
        self.requests: list[str] = []
        self.busiest = 0
        self._busy = 0
        self._lock = threading.Lock()
        self._server = server.Server(reply=self._send)
        self.url = self._server.url

    @property
    def connections(self) -> int:
        """How many there were."""
        return self._server.connections

    @property
    def queries(self) -> list[dict[str, str]]:
        """The parameters of each search, in order."""
        return [
            {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
            for path in self.requests
            if path.startswith("/web/search")
        ]

    def web(self, **options: Any) -> WebSearch:
        """Return a `WebSearch` that uses this service and may read this site."""
        # also for a connection: a busy machine takes its time
        timeout = Timeout(search=60, read=60, connect=60)
        options = {"retry": 1, "timeout": timeout, "internal": [self.url], **options}
        return WebSearch("brave", api_key=KEY, base_url=self.url, **options)

    def reply(self, path: str) -> Answer:
        with self._lock:
            self.requests.append(path)
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            answer = self._reply(urlsplit(path).path)
            time.sleep(answer.delay)
            if answer.together is not None:
                answer.together.wait(60)
            return answer
        finally:
            with self._lock:
                self._busy -= 1

    def close(self) -> None:
        self._server.close()

    def _send(self, request: server.Received) -> server.Answer:
        answer = self.reply(request[0])
        body = answer.body
        if not isinstance(body, str):
            body = json.dumps(body)
        headers = {"Content-Type": "application/json", **answer.headers}
        lines = [f"{name}: {value}" for name, value in headers.items()]
        status = f"{answer.status} Status"
        if not answer.missing:
            return server.http(body, status, *lines)
        length = len(body.encode()) + answer.missing
        head = server.head(status, *lines, f"Content-Length: {length}")
        return server.closing(head + body.encode())

    def _reply(self, path: str) -> Answer:
        if path != "/web/search":
            return self.pages.get(
                path, Answer(404, "<p>nothing here", {"Content-Type": "text/html"})
            )
        if self.answer is not None:
            return self.answer
        found = brave_results(int(self.queries[-1]["count"]))
        if self.results is not None:
            found["web"]["results"] = self.results
        return Answer(body=found)


class ScriptedChat(BaseChatModel):
    """Answers with the lines of its script, whatever the input."""

    script: list[AIMessage]
    _line: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> ScriptedChat:
        return self

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        self._line += 1
        return ChatResult(
            generations=[ChatGeneration(message=self.script[self._line - 1])]
        )


class Sea:
    """Finds one page whatever is asked, reads every page as the same text, and records
    which were opened.
    """

    name = "sea"

    def __init__(self, content: str = "text", links: tuple[str, ...] = ()) -> None:
        self.content = content
        self.links = links
        self.opened: list[str] = []

    def search(self, query: SearchQuery) -> Any:
        found = SearchResult(title="Kelp", url="https://sea.example/kelp")
        return SearchResponse(query=query.text, results=(found,), provider=self.name)
        yield

    def read(self, url: str) -> Any:
        self.opened.append(url)
        return Page(url=url, final_url=url, content=self.content, links=self.links)
        yield


@pytest.fixture
def make_sea() -> type[Sea]:
    return Sea


@pytest.fixture
def sea() -> Sea:
    return Sea()


@pytest.fixture
def service() -> Iterator[Service]:
    """A `Service`; tests that use it are marked ``enable_socket``."""
    running = Service()
    yield running
    running.close()


@pytest.fixture
def key() -> str:
    """The key that must never appear."""
    return KEY


@pytest.fixture
def answer() -> type[Answer]:
    return Answer


@pytest.fixture
def brave() -> Callable[[int], dict[str, Any]]:
    return brave_results


@pytest.fixture
def scripted() -> Callable[[list[AIMessage]], BaseChatModel]:
    """Make a chat model that answers with these lines."""
    return lambda script: ScriptedChat(script=script)


@pytest.fixture
def agent() -> Callable[..., Any]:
    """Make an agent that calls a tool once with these arguments and then ends; call it
    with ``messages``.
    """

    def make(tool: BaseTool, **arguments: Any) -> Any:
        call = {"name": tool.name, "args": arguments, "id": "call-1"}
        return create_agent(
            ScriptedChat(script=[AIMessage("", tool_calls=[call]), AIMessage("Done.")]),
            [tool],
        )

    return make


@pytest.fixture
def tool_message() -> Callable[[dict[str, Any]], ToolMessage]:
    """Return the tool message that the agent got, after it has ended normally."""

    def look(state: dict[str, Any]) -> ToolMessage:
        assert state["messages"][-1].content == "Done."
        (message,) = (one for one in state["messages"] if isinstance(one, ToolMessage))
        return message

    return look
