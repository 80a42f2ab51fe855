"""One tool, many event loops and threads: every call is exactly one request."""

from __future__ import annotations
import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from llamaindex_websearch import WebSearchRetriever, WebSearchToolSpec
from websearch_core import WebSearch

pytestmark = pytest.mark.enable_socket


class Counter(ThreadingHTTPServer):
    """A SearXNG that counts requests."""

    daemon_threads = True

    def __init__(self) -> None:
        self.requests = self.connections = 0
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Answer)


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Counter

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.requests += 1
        body = json.dumps(
            {
                "results": [
                    {
                        "title": "Kelp",
                        "url": "https://sea.example/kelp",
                        "content": "Brown.",
                    }
                ]
            }
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def counter() -> Iterator[Counter]:
    with Counter() as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        thread.start()
        yield server
        server.shutdown()
        thread.join(timeout=5)


@pytest.fixture
def web(counter: Counter) -> Iterator[WebSearch]:
    with WebSearch(
        "searxng",
        base_url=f"http://127.0.0.1:{counter.server_port}",
        retry=1,
        timeout=60,
    ) as web:
        yield web


def test_one_loop_after_the_other(web: WebSearch, counter: Counter) -> None:
    search, _ = WebSearchToolSpec(web=web).to_tool_list()
    for _ in range(4):
        assert "sea.example" in asyncio.run(search.acall(query="kelp", limit=1)).content
    assert counter.requests == 4


def test_two_loops_at_once(web: WebSearch, counter: Counter) -> None:
    search, _ = WebSearchToolSpec(web=web).to_tool_list()
    together = threading.Barrier(2)

    async def four() -> list[str]:
        together.wait(timeout=60)
        calls = (search.acall(query=f"kelp {n}", limit=1) for n in range(4))
        return [output.content for output in await asyncio.gather(*calls)]

    with ThreadPoolExecutor(2) as threads:
        found = [
            text
            for texts in threads.map(lambda _: asyncio.run(four()), range(2))
            for text in texts
        ]
    assert len(found) == 8
    assert all("sea.example" in text for text in found)
    assert counter.requests == 8


def test_five_calls_share_a_connection(web: WebSearch, counter: Counter) -> None:
    search, _ = WebSearchToolSpec(web=web).to_tool_list()
    for _ in range(5):
        search.call(query="kelp", limit=1)
    assert (counter.requests, counter.connections) == (5, 1)


def test_the_retriever_works_like_the_tools(web: WebSearch, counter: Counter) -> None:
    retriever = WebSearchRetriever(web=web, k=1)
    for _ in range(2):
        assert asyncio.run(retriever.aretrieve("kelp"))[0].text == "Brown."
    assert retriever.retrieve("kelp")[0].text == "Brown."
    assert counter.requests == 3
