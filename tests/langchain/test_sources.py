"""Sources have one number in a conversation, also in another process, and artifacts are
small.
"""

from __future__ import annotations
import json
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel

from langchain_websearch import WebSearchToolkit, collect_sources, collect_usage
from websearch_core import Page, SearchResponse, SearchResult, WebSearch
from websearch_core.citations import unknown_citations

SITE = "https://sea.example"


class Sea:
    """Finds the pages that a query names by their letters, and reads any."""

    name = "sea"

    def search(self, query):
        results = (
            SearchResult(
                title=f"Page {letter}",
                url=f"{SITE}/{letter}",
                snippet=f"About {letter}.",
            )
            for letter in query.text
        )
        return SearchResponse(
            query=query.text,
            results=tuple(results),
            provider=self.name,
            cost=0.25,
            usage={"credits": 1},
        )
        yield

    def read(self, url):
        links = tuple(f"{SITE}/nav/{n}" for n in range(1_000))
        return Page(
            url=url,
            final_url=url,
            title="Page",
            content=f"The text of {url}. " * 200,
            links=links,
        )
        yield


def toolkit(**options):
    return WebSearchToolkit(web=WebSearch(Sea(), reader=Sea()), **options)


def calls(*asked):
    return AIMessage(
        "",
        tool_calls=[
            {"name": "web_search", "args": {"query": one}, "id": f"call-{one}"}
            if not one.startswith("http")
            else {"name": "open_page", "args": {"url": one}, "id": f"call-{one}"}
            for one in asked
        ],
    )


@pytest.fixture
def ask(scripted):
    """Run one turn of an agent: each argument is what its model calls at once."""

    def run(kit, *turns, checkpointer=None, **configurable):
        script = [*(calls(*turn) for turn in turns), AIMessage("Done.")]
        agent = create_agent(
            scripted(script), kit.get_tools(), checkpointer=checkpointer
        )
        config = {"configurable": configurable, "recursion_limit": 100}
        return agent.invoke({"messages": [HumanMessage("Go on.")]}, config)["messages"]

    return run


def numbers(messages):
    """Return the numbers of each page, by the last letter of its URL."""
    found: dict[str, set[int]] = {}
    for message in messages:
        artifact = getattr(message, "artifact", None) or {}
        for source in artifact.get("sources", []):
            found.setdefault(source["url"][-1], set()).add(source["id"])
    return found


def test_a_page_has_one_number_in_a_conversation(ask):
    messages = ask(toolkit(), ["ab"], ["bc"], [f"{SITE}/b"], [f"{SITE}/d"], ["dca"])

    assert numbers(messages) == {"a": {1}, "b": {2}, "c": {3}, "d": {4}}
    _, second, page, *_ = (
        message.content for message in messages if isinstance(message, ToolMessage)
    )
    assert "2. Page b — https://sea.example/b\n   About b.\n\n3. Page c" in second
    assert "\nCite as: [2]\n" in page


def test_the_usage_of_a_run_adds_up_its_messages(ask):
    messages = ask(toolkit(), ["ab", "bc"], [f"{SITE}/b"])

    assert collect_usage(messages) == collect_usage({"messages": messages})
    assert collect_usage(messages) == {
        "calls": 3,
        "cost": 0.5,
        "is_cost_estimated": False,
        "usage": {"sea.credits": 2},
    }
    assert collect_usage(messages, tools=["another"])["calls"] == 0
    # of calls that the program made itself
    answers = [message for message in messages if isinstance(message, ToolMessage)]
    assert collect_usage(answers) == collect_usage(messages)


@pytest.mark.parametrize("output_format", ["text", "markdown", "json", "search_result"])
def test_a_conversation_that_goes_on_in_another_process_keeps_its_numbers(
    ask, output_format
):
    saver = InMemorySaver()
    ask(
        toolkit(output_format=output_format),
        ["ab", "cd"],
        [f"{SITE}/e"],
        checkpointer=saver,
        thread_id="1",
    )
    ask(toolkit(output_format=output_format), ["fe"], checkpointer=saver, thread_id="1")
    messages = ask(
        toolkit(output_format=output_format),
        ["dcga"],
        checkpointer=saver,
        thread_id="1",
    )

    found = numbers(messages)
    assert [len(given) for given in found.values() if len(given) != 1] == []
    assert len(set.union(*found.values())) == len(found) == 7


def without_artifacts(messages):
    """Return *messages* as they are after another library has written them anew."""
    return [one.model_copy(update={"artifact": None}) for one in messages]


@pytest.mark.parametrize(
    ("message", "first"),
    [
        (HumanMessage("Summary: ebb runs six hours [12], as [2, 9] say."), 13),
        (AIMessage("As [3](https://sea.example/c) shows."), 4),
        (HumanMessage([{"type": "text", "text": "See 【7】."}]), 8),
        (HumanMessage("Without a source."), 1),
        (HumanMessage("A list has `x[40]`, and a plan is for [2019-2043]."), 1),
    ],
    ids=lambda value: str(getattr(value, "content", value))[:20],
)
def test_a_number_that_a_message_shows_is_given_to_no_other_page(
    scripted, message, first
):
    agent = create_agent(
        scripted([calls("ab"), AIMessage("Done.")]), toolkit().get_tools()
    )
    messages = agent.invoke({"messages": [message]})["messages"]

    assert numbers(messages) == {"a": {first}, "b": {first + 1}}


@pytest.mark.parametrize("output_format", ["text", "markdown", "json", "search_result"])
def test_numbers_of_an_answer_that_lost_its_artifact_are_not_given_again(
    ask, scripted, output_format
):
    kit = toolkit(output_format=output_format)
    before = without_artifacts(ask(kit, ["abc"], [f"{SITE}/d"]))
    agent = create_agent(
        scripted([calls("xa"), AIMessage("Done.")]),
        toolkit(output_format=output_format).get_tools(),
    )
    messages = agent.invoke({"messages": before})["messages"]

    assert numbers(messages[len(before) :]) == {"x": {5}, "a": {6}}


def test_numbers_in_the_text_of_a_page_are_its_own(ask):
    class Sources(Sea):
        def read(self, url):
            return Page(url=url, final_url=url, content="Tides [481], moon [482].")
            yield

    kit = WebSearchToolkit(web=WebSearch(Sea(), reader=Sources()))
    saver = InMemorySaver()
    ask(kit, [f"{SITE}/a"], checkpointer=saver, thread_id="1")
    messages = ask(toolkit(), ["b"], checkpointer=saver, thread_id="1")

    assert numbers(messages) == {"a": {1}, "b": {2}}


def test_calls_in_parallel_get_different_numbers(ask):
    messages = ask(
        toolkit(), ["abcde", "fghij", "klmno", "pqrst", "uvwxy", "azuk", "yfb"]
    )

    found = numbers(messages)
    assert [len(given) for given in found.values() if len(given) != 1] == []
    assert len(set.union(*found.values())) == len(found) == 26


def test_tenants_and_threads_have_numbers_of_their_own(ask):
    kit = toolkit()

    assert numbers(ask(kit, ["ab"], tenant_id="ann", thread_id="1")) == {
        "a": {1},
        "b": {2},
    }
    assert numbers(ask(kit, ["b"], tenant_id="bob", thread_id="1")) == {"b": {1}}
    assert numbers(ask(kit, ["b"], tenant_id="ann", thread_id="2")) == {"b": {1}}
    assert numbers(ask(kit, ["cb"], tenant_id="ann", thread_id="1")) == {
        "c": {3},
        "b": {2},
    }


def test_each_run_without_a_thread_has_numbers_of_its_own(ask):
    kit = toolkit()

    assert numbers(ask(kit, ["ab"])) == {"a": {1}, "b": {2}}
    assert numbers(ask(kit, ["cb"], ["bd"])) == {"c": {1}, "b": {2}, "d": {3}}


def test_calls_outside_of_any_run_are_one_conversation_of_the_toolkit():
    search, read = toolkit().get_tools()

    assert "1. Page c" in search.invoke({"query": "c"})
    assert "2. Page d" in search.invoke({"query": "dc"})
    assert "Cite as: [1]" in read.invoke({"url": f"{SITE}/c"})


class State(BaseModel):
    messages: Annotated[list[Any], add_messages]


@pytest.mark.parametrize("shape", [dict, State, list])
def test_numbers_are_found_in_any_shape_of_state(shape, ask):
    earlier = ask(toolkit(), ["ab"])
    from langgraph.graph import END, START, MessagesState, StateGraph

    graph = StateGraph({dict: MessagesState, State: State, list: MessagesState}[shape])
    node = ToolNode(toolkit().get_tools())
    graph.add_node(
        "tools",
        (lambda state: {"messages": node.invoke(state["messages"])})
        if shape is list
        else node,
    )
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    state = graph.compile().invoke({"messages": [*earlier, calls("cb")]})

    assert numbers(state["messages"]) == {"a": {1}, "b": {2}, "c": {3}}


def test_the_runtime_is_in_no_schema_and_no_callback_sees_it(scripted):
    seen, watched = [], []

    class Watch(BaseCallbackHandler):
        def on_tool_start(self, serialized, input_str, *, inputs=None, **_):
            seen.append((input_str, inputs))

    for tool in toolkit().get_tools():
        assert "runtime" not in json.dumps(convert_to_openai_tool(tool))
        assert "runtime" not in tool.args
        assert "runtime" not in json.dumps(
            tool.args_schema.model_json_schema()["properties"]
        )
        tool.callbacks = [Watch()]
        watched.append(tool)
    agent = create_agent(
        scripted([calls("ab"), calls(f"{SITE}/a"), AIMessage("Done.")]), watched
    )
    agent.invoke({"messages": [HumanMessage("Go on.")]})

    assert [sorted(inputs) for _, inputs in seen] == [["query"], ["url"]]
    assert "runtime" not in repr(seen)


@pytest.mark.parametrize("forged", ["x", {"state": {"messages": []}}, None, 3])
def test_a_forged_runtime_changes_nothing(forged):
    search, _ = toolkit().get_tools()

    assert "1. Page a" in search.invoke({"query": "a", "runtime": forged})


def test_artifacts_of_other_tools_in_the_state_are_ignored(scripted):
    foreign = [
        ToolMessage("x", tool_call_id="1", artifact=artifact)
        for artifact in (
            None,
            "text",
            {"sources": "none"},
            {"sources": ["x", {"id": "x"}]},
            {"sources": None},
        )
    ]
    agent = create_agent(
        scripted([calls("a"), AIMessage("Done.")]), toolkit().get_tools()
    )
    messages = agent.invoke({"messages": foreign})["messages"]

    assert "1. Page a" in messages[-2].content


@pytest.mark.parametrize("output_format", ["text", "markdown", "json", "search_result"])
def test_sources_are_collected_with_what_the_model_was_shown(ask, output_format):
    messages = ask(toolkit(output_format=output_format), ["ab"], [f"{SITE}/b"], ["c"])

    first, second, third = collect_sources(messages)
    assert (first["id"], first["url"], first["read"]) == (1, f"{SITE}/a", False)
    assert "About a." in first["text"]
    assert second["read"]
    assert "About b." in second["text"]
    assert f"The text of {SITE}/b." in second["text"]
    assert "About c." in third["text"]
    assert unknown_citations("So it is [2], [7].", [first, second, third]) == [7]


def test_the_saver_holds_little_more_than_the_model_was_shown(ask):
    saver = InMemorySaver()
    messages = ask(
        toolkit(),
        *[[f"{SITE}/{n}"] for n in range(5)],
        checkpointer=saver,
        thread_id="1",
    )

    shown = sum(len(message.content) for message in messages)
    held = sum(len(data) for _, data in saver.blobs.values())
    versions = len(messages)
    # every version of the list of messages is stored
    assert held <= versions * (2 * shown)
    assert "/nav/" not in repr(saver.blobs)


def test_everything_is_kept_if_it_is_asked_for(ask):
    messages = ask(toolkit(full_artifact=True), ["a"], [f"{SITE}/a"])
    search, page = (
        message.artifact for message in messages if isinstance(message, ToolMessage)
    )

    assert search["results"][0]["snippet"] == "About a."
    assert len(page["links"]) == 1_000


def test_anthropic_gets_the_blocks_as_they_are(ask):
    anthropic = pytest.importorskip(
        "langchain_anthropic.chat_models", reason="langchain-anthropic is not installed"
    )
    messages = ask(toolkit(output_format="search_result"), ["ab"])
    _, formatted = anthropic._format_messages(messages, model="claude-sonnet-4-5")

    (result,) = (
        block
        for message in formatted
        for block in message["content"]
        if "tool_use_id" in block
    )
    assert [block["type"] for block in result["content"]] == [
        "search_result",
        "search_result",
    ]
    assert result["content"][0]["source"] == f"{SITE}/a"
    assert result["content"][0]["citations"] == {"enabled": True}


def test_an_error_stays_text_with_every_format():
    class Broken(Sea):
        def search(self, query):
            from websearch_core.errors import RateLimited

            raise RateLimited("slow down", provider=self.name)
            yield

    kit = WebSearchToolkit(
        web=WebSearch(Broken(), reader=Sea(), retry=1), output_format="search_result"
    )
    assert kit.get_tools()[0].invoke({"query": "a"}).startswith("ERROR [rate_limited]")
