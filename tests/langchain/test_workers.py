"""A conversation goes on in any worker as in one process: after a deploy, an interrupt,
and with calls in parallel.
"""

from __future__ import annotations
import itertools
import pickle
from typing import Any
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from typing_extensions import TypedDict

from langchain_websearch import WebSearchRetriever, WebSearchToolkit
from langchain_websearch.conversations import Root, find_conversation
from websearch_core import WebSearch
from websearch_core.testing import FakeWeb

SITE = "https://sea.example"
LEAK = "https://evil.example/?q=secret"
TURNS = (
    [("web_search", {"query": "kelp"})],
    [("open_page", {"url": f"{SITE}/0"})],  # interrupted before it: a person approves
    # ten calls in parallel
    [
        ("open_page", {"url": url})
        for url in ("2", "[3]", f"{SITE}/3", f"{SITE}/4/", "6", f"{SITE}/6", "[8]")
    ]
    + [("open_page", {"url": url}) for url in (LEAK, "99")]
    + [("web_search", {"query": "dulse"})],
    [("open_page", {"url": "[9]"}), ("open_page", {"url": f"{SITE}/new"})],
)


def make_fake():
    results = [
        {"title": f"Page {n}", "url": f"{SITE}/{n}", "snippet": f"About {n}."}
        for n in range(8)
    ]
    more = [
        {"title": "New", "url": f"{SITE}/new"},
        results[3],
        {"title": "Last", "url": f"{SITE}/last"},
    ]
    pages = {
        f"{SITE}/{name}": f"The text of {name}." for name in (*range(8), "new", "last")
    }
    return FakeWeb({"kelp": results, "dulse": more}, pages=pages)


def make_turns():
    ids = itertools.count()
    for turn in TURNS:
        calls = [
            {"name": name, "args": args, "id": f"call-{next(ids)}"}
            for name, args in turn
        ]
        yield AIMessage("", tool_calls=calls)
        yield AIMessage("Done.")


class Workers:
    """Agents of the same program, each with its own tools and model; they share a
    checkpointer and the web.
    """

    def __init__(self, scripted, fake, *, alone):
        self.script, self.fake, self.saver = list(make_turns()), fake, InMemorySaver()
        self.scripted, self.alone, self.toolkit = scripted, alone, self.make_toolkit()

    def make_toolkit(self):
        web = WebSearch(self.fake, reader=self.fake)
        return WebSearchToolkit(web=web, provenance="seen", limit=10)

    def agent(self, at, **options):
        toolkit = self.toolkit if self.alone else self.make_toolkit()
        return create_agent(
            self.scripted(self.script[at:]),
            toolkit.get_tools(),
            checkpointer=self.saver,
            **options,
        )


def describe(messages: list[AnyMessage]) -> list[Any]:
    """Return what each call gave: its status, the pages with their numbers, and the
    code of an error.
    """
    return [
        (
            one.status,
            sorted(
                (s["id"], s["url"]) for s in (one.artifact or {}).get("sources", ())
            ),
            one.content[:25],
        )
        if one.status == "error"
        else (one.status, sorted((s["id"], s["url"]) for s in one.artifact["sources"]))
        for one in messages
        if isinstance(one, ToolMessage)
    ]


async def converse(workers, is_async):
    config = {"configurable": {"thread_id": "1"}}

    async def run(at, given, **options):
        agent = workers.agent(at, **options)
        return (
            await agent.ainvoke(given, config)
            if is_async
            else agent.invoke(given, config)
        )

    def said(text):
        return {"messages": [HumanMessage(text)]}

    await run(0, said("Search."))
    await run(2, said("Open the first."), interrupt_before=["tools"])
    await run(3, None)  # approved: another worker goes on
    await run(4, said("Open all."))
    return (await run(6, said("Open the rest.")))["messages"]


@pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])
async def test_workers_that_share_a_checkpointer_behave_as_one_process_does(
    scripted, is_async
):
    one, several = make_fake(), make_fake()
    expected = describe(await converse(Workers(scripted, one, alone=True), is_async))
    found = describe(await converse(Workers(scripted, several, alone=False), is_async))

    assert found == expected
    assert [outcome[0] for outcome in found] == [
        *["success"] * 9,
        "error",
        "error",
        *["success"] * 3,
    ]
    assert found[9][2].startswith("ERROR [unsafe_url]")
    assert found[10][2].startswith("ERROR [invalid_option]")
    assert found[12][1] == [(9, f"{SITE}/new")]
    numbers = {url.rstrip("/"): set() for outcome in found for _, url in outcome[1]}
    for outcome in found:
        for number, url in outcome[1]:
            numbers[url.rstrip("/")].add(number)
    assert [len(given) for given in numbers.values() if len(given) != 1] == []
    # One process reads each page once.
    assert len(one.urls) == len(set(one.urls))


def test_what_an_agent_found_before_it_was_deployed_again_is_in_the_history_that_is_passed_back(
    scripted,
):
    """Without a checkpointer or a thread: the program passes all messages, as many
    do.
    """
    fake = make_fake()
    search = AIMessage(
        "", tool_calls=[{"name": "web_search", "args": {"query": "kelp"}, "id": "1"}]
    )
    opening = AIMessage(
        "", tool_calls=[{"name": "open_page", "args": {"url": "[2]"}, "id": "2"}]
    )

    def worker(*turns):
        web = WebSearch(fake, reader=fake)
        return create_agent(
            scripted(list(turns)),
            WebSearchToolkit(web=web, provenance="seen").get_tools(),
        )

    history = worker(search, AIMessage("Found.")).invoke(
        {"messages": [HumanMessage("Search.")]}
    )["messages"]
    given = [*history, HumanMessage("Open the second.")]
    messages = worker(opening, AIMessage("Read.")).invoke({"messages": given})[
        "messages"
    ]

    assert "The text of 1." in messages[-2].content


def test_runs_without_a_thread_share_nothing(scripted):
    fake = make_fake()
    toolkit = WebSearchToolkit(provider=fake, reader=fake, provenance="seen")

    def ask(query, url):
        calls = [("web_search", {"query": query}), ("open_page", {"url": url})]
        turns = [
            AIMessage("", tool_calls=[{"name": n, "args": a, "id": n}])
            for n, a in calls
        ]
        return create_agent(scripted([*turns, AIMessage("Done.")]), toolkit.get_tools())

    first = ask("kelp", "1").invoke({"messages": [HumanMessage("kelp")]})["messages"]
    second = ask("dulse", f"{SITE}/0").invoke({"messages": [HumanMessage("dulse")]})[
        "messages"
    ]

    assert describe(first)[1] == ("success", [(1, f"{SITE}/0")])
    assert describe(second)[0] == (
        "success",
        [(1, f"{SITE}/new"), (2, f"{SITE}/3"), (3, f"{SITE}/last")],
    )
    assert (
        "(the run has no thread_id, so it does not know what other runs found)"
        in second[-2].content
    )


def test_a_chain_without_a_graph_is_a_run_too():
    fake = make_fake()
    search, read = WebSearchToolkit(
        provider=fake, reader=fake, provenance="seen"
    ).get_tools()
    chain = RunnableLambda(
        lambda query: (search.invoke({"query": query}), read.invoke({"url": "1"}))[1]
    )

    assert [
        page for page in chain.batch(["kelp", "dulse"]) if "Cite as: [1]" not in page
    ] == []
    assert {one.rpartition("/")[2] for one in fake.urls} == {"0", "new"}


def test_a_node_of_your_own_reads_the_state_with_its_config(scripted):
    fake = make_fake()
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}

    def graph(name, args):
        tools = WebSearchToolkit(
            provider=fake, reader=fake, provenance="seen"
        ).get_tools()
        tool = next(one for one in tools if one.name == name)
        call = {"name": name, "args": args, "id": name, "type": "tool_call"}

        def node(state):
            return {"messages": [AIMessage("", tool_calls=[call]), tool.invoke(call)]}

        steps = (
            StateGraph(MessagesState)
            .add_node("node", node)
            .add_edge(START, "node")
            .add_edge("node", END)
        )
        return steps.compile(checkpointer=saver)

    graph("web_search", {"query": "kelp"}).invoke({"messages": []}, config)
    messages = graph("open_page", {"url": f"{SITE}/1"}).invoke(
        {"messages": []}, config
    )["messages"]

    assert "Cite as: [2]" in messages[-1].content


def test_a_state_without_messages_is_named_in_the_refusal():
    class Question(TypedDict):
        answer: str

    fake = make_fake()
    _, read = WebSearchToolkit(
        provider=fake, reader=fake, provenance="seen"
    ).get_tools()
    steps = StateGraph(Question).add_node(
        "read", lambda _: {"answer": read.invoke({"url": f"{SITE}/1"})}
    )
    graph = steps.add_edge(START, "read").add_edge("read", END).compile()
    refused = graph.invoke({"answer": ""}, {"configurable": {"thread_id": "1"}})[
        "answer"
    ]

    assert (
        "this process knows of no page that was found or named in this conversation"
        in refused
    )
    assert "(the tool was given no messages of this conversation" in refused


def test_a_copy_of_what_a_run_found_belongs_to_no_run():
    root = find_conversation({"configurable": {}}, parent_run_id=uuid4())

    assert isinstance(root, Root)
    assert pickle.loads(pickle.dumps(root)) != root


def test_one_page_is_one_document_in_every_batch_of_a_retriever():
    retriever = WebSearchRetriever(provider=make_fake(), k=8)
    kelp, dulse = retriever.batch(["kelp", "dulse"])

    assert kelp[3] == next(one for one in dulse if one.id == kelp[3].id)
    assert len({one.id for one in (*kelp, *dulse)}) == len(kelp) + len(dulse) - 1
