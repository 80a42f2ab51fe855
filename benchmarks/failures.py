"""Let every provider fail in every way, in both frameworks, blocking and async, and
write benchmarks/results/failures.md.

    python -m benchmarks.failures

It needs no network: the responses are made here. A provider joins by its
``cassettes/NAME/search.yaml``.
"""

from __future__ import annotations
import asyncio
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from langchain_core.messages import ToolMessage
from llama_index.core.tools import ToolOutput
from llama_index.core.tools.calling import acall_tool, call_tool

from benchmarks.report import Table
from langchain_websearch import WebSearchTool
from llamaindex_websearch import WebSearchToolSpec
from tests.cassettes import player
from tests.cassettes import tape as tapes
from tests.clock import skip_pauses

PAGE = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "failures.md"
WAYS = (
    "LangChain `invoke`",
    "LangChain `ainvoke`",
    "LlamaIndex `call`",
    "LlamaIndex `acall`",
)

_HTML = "<!doctype html><title>Sign in</title><p>Sign in to this network."
Reply = Callable[[httpx.Request], httpx.Response]
# whether it was marked as a failure, and what the model reads
Outcome = tuple[bool, str]


def _answer(status: int, body: str = '{"error": "no"}', **headers: str) -> Reply:
    kind = "text/html" if body.startswith("<") else "application/json"
    named = {
        "content-type": kind,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return lambda _: httpx.Response(status, headers=named, content=body)


def _fail(error: type[httpx.TransportError]) -> Reply:
    def reply(request: httpx.Request) -> httpx.Response:
        raise error("failed", request=request)

    return reply


FAULTS: dict[str, Reply] = {
    "401": _answer(401),
    "402": _answer(402),
    "403": _answer(403),
    "429, Retry-After: 60": _answer(429, retry_after="60"),
    "500": _answer(500),
    "502, HTML": _answer(502, _HTML),
    "200, HTML": _answer(200, _HTML),
    "200, cut JSON": _answer(200, '{"results": [{"ti'),
    "no answer in time": _fail(httpx.ReadTimeout),
    "no connection": _fail(httpx.ConnectError),
    "broken off": _fail(httpx.RemoteProtocolError),
}


@cache  # the page and the tests of each failure ask for the same
def try_each(name: str, reply: Reply) -> list[Outcome]:
    """Return what a model reads when the service of the provider *name* gives *reply*,
    for each of `WAYS`.
    """
    tape = tapes.find(name, "search")
    query = player.query(tape)[0]
    call = {
        "type": "tool_call",
        "id": "1",
        "name": "web_search",
        "args": {"query": query},
    }
    tool = WebSearchTool(**player.arguments(tape, reply))
    search, _ = WebSearchToolSpec(**player.arguments(tape, reply)).to_tool_list()

    async def wait() -> tuple[Any, ToolOutput]:
        return await tool.ainvoke(call), await acall_tool(search, {"query": query})

    with skip_pauses():
        awaited, output = asyncio.run(wait())
        messages: list[ToolMessage] = [tool.invoke(call), awaited]
        outputs: list[ToolOutput] = [call_tool(search, {"query": query}), output]
    return [
        *((message.status == "error", str(message.content)) for message in messages),
        *((output.is_error, output.content) for output in outputs),
    ]


def code(outcome: Outcome) -> str:
    """Return the code that *outcome* begins with; ``success`` or ``crash`` if it is not
    a proper failure.
    """
    failed, text = outcome
    found = re.match(r"(?:Encountered error: )?ERROR \[(\w+)\]", text)
    if not failed:
        return "success"
    return found[1] if found else "crash"


def rows() -> Iterator[tuple[str, list[str]]]:
    """Return for each provider the codes of all faults: one for each, if all ways
    agree.
    """
    for name in player.find_searchers():
        cells = []
        for reply in FAULTS.values():
            codes = list(dict.fromkeys(map(code, try_each(name, reply))))
            cells.append(" / ".join(f"`{one}`" for one in codes))
        yield name, cells


def write_page() -> str:
    """Return the page."""
    table = Table(
        ["", *FAULTS], [[f"`{name}`", *cells] for name, cells in rows()], numbers=False
    )
    count = len(table.rows)
    return (
        "# Failing searches\n\n"
        "What a model reads when a service fails, for every provider. Written by "
        "`python -m benchmarks.failures`, "
        f"which makes each of {len(FAULTS)} responses for each of {count} providers, "
        f"and searches with `WebSearchTool` "
        "of LangChain and with the tool of `WebSearchToolSpec` for LlamaIndex, "
        "blocking and async: "
        f"{count * len(FAULTS) * len(WAYS):,} searches. A cell has the code that the "
        f"text begins with, as in "
        "`ERROR [rate_limited] ...`; it has two if not all four ways agree. Each is "
        "marked as a failure: a "
        "tool message with the status `error`, or a `ToolOutput` with `is_error`. "
        "[Errors](../../docs/errors.md) explains the "
        f"codes.\n\n{table}\n\nA test compares this page with the program of every "
        f"commit.\n"
    )


if __name__ == "__main__":
    PAGE.write_text(write_page(), "utf-8")
