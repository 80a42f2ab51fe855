"""One call sends one request, from any loop and thread, over as few connections as
possible.
"""

from __future__ import annotations
import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from langchain_websearch import WebSearchTool, WebSearchToolkit

pytestmark = pytest.mark.enable_socket


def test_one_loop_after_another_sends_each_search_once(service):
    tool = WebSearchTool(web=service.web(retry=3))

    for n in range(4):
        assert "Kelp 1" in asyncio.run(tool.ainvoke({"query": f"kelp {n}"}))

    assert [query["q"] for query in service.queries] == [
        "kelp 0",
        "kelp 1",
        "kelp 2",
        "kelp 3",
    ]


def test_two_loops_at_once_send_each_search_once(service, answer, brave):
    service.answer = answer(body=brave(1), delay=0.05)
    tool = WebSearchTool(web=service.web(retry=3))

    async def several(name: str) -> list[str]:
        return await asyncio.gather(
            *(tool.ainvoke({"query": f"{name} {n}"}) for n in range(5))
        )

    with ThreadPoolExecutor(2) as threads:
        texts = [
            text
            for texts in threads.map(lambda name: asyncio.run(several(name)), "ab")
            for text in texts
        ]

    assert sum("Kelp 1" in text for text in texts) == 10
    assert sorted(query["q"] for query in service.queries) == [
        f"{name} {n}" for name in "ab" for n in range(5)
    ]


def test_many_threads_send_each_search_once(service):
    tool = WebSearchTool(web=service.web(retry=3))

    with ThreadPoolExecutor(8) as threads:
        texts = list(
            threads.map(lambda n: tool.invoke({"query": f"kelp {n}"}), range(16))
        )

    assert [text for text in texts if "Kelp 1" not in text] == []
    assert sorted(query["q"] for query in service.queries) == sorted(
        f"kelp {n}" for n in range(16)
    )


def test_five_searches_need_one_connection(service):
    tool = WebSearchTool(web=service.web())

    for _ in range(5):
        tool.invoke({"query": "kelp"})

    assert service.connections == 1


async def test_five_searches_on_a_loop_need_one_connection(service):
    tool = WebSearchTool(web=service.web())

    for _ in range(5):
        await tool.ainvoke({"query": "kelp"})

    assert service.connections == 1


def test_the_tools_of_a_toolkit_share_one_web_search(service):
    web = service.web()
    toolkit = WebSearchToolkit(web=web)

    assert [tool.name for tool in toolkit.get_tools()] == ["web_search", "open_page"]
    assert [
        tool
        for tool in [*toolkit.get_tools(), *toolkit.get_tools()]
        if tool.web is not web
    ] == []


async def test_forty_searches_are_under_way_at_once_without_threads(
    service, answer, brave
):
    before = set(threading.enumerate())
    service.answer = answer(body=brave(1), together=threading.Barrier(40))
    tool = WebSearchTool(web=service.web())

    texts = await asyncio.gather(
        *(tool.ainvoke({"query": f"kelp {n}"}) for n in range(40))
    )

    assert [text for text in texts if "Kelp 1" not in text] == []
    new = set(threading.enumerate()) - before
    assert not [
        thread for thread in new if thread.name.startswith(("asyncio", "ThreadPool"))
    ]


async def test_a_cancelled_search_ends_at_once_without_affecting_others(
    service, answer, brave
):
    service.answer = answer(body=brave(1), delay=30)
    tool = WebSearchTool(web=service.web())
    search = asyncio.create_task(tool.ainvoke({"query": "kelp"}))
    while not service.requests:
        await asyncio.sleep(0.01)

    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert service._busy == 1  # the service has not answered yet

    service.answer = None
    assert "Kelp 1" in await tool.ainvoke({"query": "kelp"})
