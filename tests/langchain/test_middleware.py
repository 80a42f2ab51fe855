"""Sources outlive messages: summaries, sub-agents, reviewers, other processes, and any
order of middlewares.
"""

from __future__ import annotations
import json
import operator
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, Send

from langchain_websearch import WebSearchMiddleware, WebSearchToolkit, collect_sources
from langchain_websearch.middleware import WebSearchState
from tests.langchain.gardens import (
    MAKERS,
    PLANTS,
    Gardener,
    make_agent,
    make_toolkit,
    review,
    take_turn,
    url_of,
)
from tests.whole import WHOLE
from websearch_core.errors import ConfigurationError
from websearch_core.tools import add_sources

CONFIG: Any = {"configurable": {"thread_id": "1"}}
APPROVE = {"decisions": [{"type": "approve"}]}
EDIT = {
    "decisions": [
        {
            "type": "edit",
            "edited_action": {"name": "web_search", "args": {"query": "ivy"}},
        }
    ]
}
LEAK = "https://evil.example/?q=secret"


def make_middleware(**options):
    check = options.pop("check", False)
    user_urls = options.pop("user_urls", True)
    return WebSearchMiddleware(
        make_toolkit(**options), check=check, user_urls=user_urls
    )


def skip_without(kind):
    if kind == "create_deep_agent":
        pytest.importorskip("deepagents", reason="needs deepagents: make test-models")


def check_everything_said(last, answers):
    """Check that each claim of a conversation links to the page of its plant."""
    claims = re.findall(r"(\w+) grows (\d+) centimetres a day \[(\d+)\]", answers)
    assert len(claims) >= 6
    for plant, growth, number in claims:
        link = f"[{number}]({url_of(plant.lower())})"
        claim = f"{plant} grows {growth} centimetres a day {link}."
        assert claim in last["linked"]
    assert set(last["verdicts"]) == {"supported"}
    numbers = [number for number, _ in last["sources"]]
    assert len(set(numbers)) == len(numbers)


def converse(worker_a, worker_b, start_worker):
    """Hold the conversation of all kinds of trouble; *start_worker* starts another."""
    answers = []

    def take(worker, **turn):
        outcome = worker(turn)
        answers.append(outcome["answer"])
        return outcome

    assert take(worker_a, say="search kelp")["interrupted"]
    take(worker_a, resume=APPROVE)
    take(worker_b, say="ask inside: search moss\nask outside: search reed")
    assert take(worker_a, say="search fern")["interrupted"]
    # a person edits the call, and a worker that was started meanwhile goes on
    worker_c = start_worker()
    assert "Ivy grows" in take(worker_c, resume=EDIT)["answer"]
    take(worker_b, say=f"open {url_of('flax')}")
    take(worker_a, say="ask outside: search oats")
    said = " ".join(answers)
    last = "repeat " + said
    for worker in (worker_a, worker_b, worker_c, start_worker()):
        outcome = worker({"say": last})
        check_everything_said(outcome, said)
    return outcome


@pytest.mark.parametrize("kind", MAKERS)
def test_every_citation_of_a_long_conversation_is_of_the_right_page(kind):
    skip_without(kind)
    saver = InMemorySaver()

    def start_worker():
        web = make_middleware(provenance="seen")
        agent = MAKERS[kind](web, saver, before=review())
        return lambda turn: take_turn(agent, turn, CONFIG)

    last = converse(start_worker(), start_worker(), start_worker)

    if kind == "create_agent":
        assert last["messages"] < 8  # the others are in a summary


@pytest.mark.parametrize("kind", MAKERS)
def test_the_workers_may_be_processes_with_one_file(kind, tmp_path):
    skip_without(kind)
    pytest.importorskip(
        "langgraph.checkpoint.sqlite",
        reason="needs langgraph-checkpoint-sqlite: make test-models",
    )
    command = [sys.executable, "-m", "tests.langchain.gardens", kind]
    processes = []

    def start_worker():
        process = subprocess.Popen(
            [*command, str(tmp_path / "file.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[2],
        )
        processes.append(process)

        def take(turn):
            process.stdin.write(f"{json.dumps(turn)}\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        return take

    try:
        converse(start_worker(), start_worker(), start_worker)
    finally:
        for process in processes:
            process.communicate()
    assert [process.returncode for process in processes] == [0] * 4


async def test_an_event_loop_stores_the_same():
    web = make_middleware(check=True)
    agent = make_agent(web, None)
    state = await agent.ainvoke(
        {"messages": "search kelp\nask inside: search moss\nask outside: search reed"}
    )

    urls = {source["url"] for source in collect_sources(state)}
    assert urls == {url_of("kelp"), url_of("moss"), url_of("reed")}
    assert [check["verdict"] for check in state["websearch_checks"]] == [
        "supported",
        "supported",
        "supported",
    ]


MIDDLEWARES = {
    "summary": lambda: SummarizationMiddleware(
        Gardener(), trigger=("messages", 4), keep=("messages", 1)
    ),
    "review": lambda: HumanInTheLoopMiddleware(interrupt_on={"web_search": True}),
    "redaction": lambda: PIIMiddleware("email", apply_to_tool_results=True),
    "retry": ToolRetryMiddleware,
    "limit": lambda: ToolCallLimitMiddleware(run_limit=9),
    "editing": ContextEditingMiddleware,
}


@pytest.mark.parametrize("place", range(len(MIDDLEWARES) + 1))
def test_the_order_of_middlewares_does_not_matter(place):
    web = make_middleware(check=True)
    others = [make() for make in MIDDLEWARES.values()]
    agent = create_agent(
        Gardener(),
        middleware=[*others[:place], web, *others[place:]],
        checkpointer=InMemorySaver(),
    )
    for plant in ("kelp", "moss", "reed"):
        agent.invoke({"messages": f"search {plant}"}, CONFIG)
        agent.invoke(Command(resume=APPROVE), CONFIG)
    agent.invoke({"messages": "search oats"}, CONFIG)
    state = agent.invoke(Command(resume=EDIT), CONFIG)

    plants = ("kelp", "moss", "reed", "ivy")
    assert [source["url"] for source in collect_sources(state)] == [
        url_of(plant) for plant in plants
    ]
    for plant, source in zip(plants, collect_sources(state), strict=True):
        assert f"{plant}@garden.example" in source["text"]
    assert [check["verdict"] for check in state["websearch_checks"]] == ["supported"]


def test_checks_are_plain_data_and_change_nothing():
    web = make_middleware(check=True)
    agent = create_agent(Gardener(), middleware=[web], checkpointer=InMemorySaver())
    wrong = "repeat Kelp grows 80 centimetres a day [1]. Moss is soft [2]."
    agent.invoke({"messages": "search kelp"}, CONFIG)
    state = agent.invoke({"messages": wrong}, CONFIG)
    again = agent.invoke({"messages": "hello"}, CONFIG)

    assert state["messages"][-1].text == wrong.removeprefix("repeat ")
    first, second = state["websearch_checks"]
    assert (first["verdict"], first["missing"]) == ("partial", ["80"])
    assert (second["verdict"], second["citations"]) == ("unknown", [2])
    assert json.loads(json.dumps(state["websearch_checks"])) == [first, second]
    assert again["websearch_checks"] == []
    unchecked = create_agent(Gardener(), middleware=[make_middleware()])
    assert not unchecked.invoke({"messages": "search kelp"})["websearch_checks"]


def test_checks_of_agents_that_end_at_the_same_time_are_all_there():
    graph = StateGraph(WebSearchState)
    for plant in ("kelp", "moss"):
        checks = [{"claim": plant}, {"claim": "both"}]
        graph.add_node(plant, lambda _, checks=checks: {"websearch_checks": checks})
        graph.add_edge(START, plant)
    state = graph.compile().invoke({"messages": []})

    claims = [check["claim"] for check in state["websearch_checks"]]
    assert sorted(claims) == ["both", "kelp", "moss"]


def test_a_call_without_sources_is_left_as_it_is():
    web = make_middleware()
    agent = create_agent(Gardener(), middleware=[web])
    state = agent.invoke({"messages": "open http://10.0.0.1/"})
    (message,) = (one for one in state["messages"] if isinstance(one, ToolMessage))

    assert message.status == "error"
    assert state["websearch_sources"] == []


def test_streams_of_messages_have_the_answers_of_tools():
    agent = create_agent(Gardener(), middleware=[make_middleware()])
    streamed = [
        chunk
        for chunk, _ in agent.stream(
            {"messages": "search kelp"}, stream_mode="messages"
        )
    ]

    assert [one.name for one in streamed if isinstance(one, ToolMessage)] == [
        "web_search"
    ]


def test_time_travel_keeps_numbers_and_pages_together():
    saver = InMemorySaver()

    def start():
        web = make_middleware()
        return create_agent(Gardener(), middleware=[web], checkpointer=saver)

    agent = start()
    agent.invoke({"messages": "search kelp"}, CONFIG)
    before = agent.get_state(CONFIG).config
    agent.invoke({"messages": "search moss"}, CONFIG)
    # another process goes on from there, and the first one with what that one found
    start().invoke({"messages": "search reed"}, before)
    state = agent.invoke({"messages": "search moss, kelp"}, CONFIG)

    assert [(source["id"], source["url"]) for source in collect_sources(state)] == [
        (1, url_of("kelp")),
        (2, url_of("reed")),
        (3, url_of("moss")),
    ]


def test_a_hand_over_brings_its_sources():
    web = make_middleware()

    @tool
    def inside(task: str) -> Command:
        """Find something, and hand over."""
        web.tools[0].invoke({"query": task.removeprefix("search ")})
        return Command(goto="other", graph=Command.PARENT)

    class State(MessagesState):
        websearch_sources: Annotated[list[dict[str, Any]], add_sources]

    agent = create_agent(Gardener(), [inside], middleware=[web])
    graph = StateGraph(State)
    graph.add_node("agent", agent, destinations=("other",))
    graph.add_node("other", lambda _: {"messages": [AIMessage("Kelp grows [1].")]})
    graph.add_edge(START, "agent")
    state = graph.compile().invoke(
        {"messages": [HumanMessage("ask inside: search kelp")]}
    )

    (source,) = collect_sources(state)
    assert (source["id"], source["url"]) == (1, url_of("kelp"))
    assert "kelp grows 50" in source["text"]


@pytest.mark.parametrize("update", [None, {}, {"websearch_sources": [{"id": 7}]}])
def test_a_command_of_a_tool_keeps_what_it_updates(update):
    web = make_middleware()

    @tool
    def inside(task: str, runtime: Any = None) -> Any:
        """Find something."""
        found = web.tools[0].invoke({"query": task.removeprefix("search ")})
        message = ToolMessage(found, tool_call_id=calls[0]["id"])
        return Command(update={**(update or {}), "messages": [message]})

    call = {"name": "inside", "args": {"task": "search kelp"}, "id": "1"}
    calls = [call]

    class Once(Gardener):
        def answer(self, messages):
            if isinstance(messages[-1], ToolMessage):
                return AIMessage("Done [1].")
            return AIMessage("", tool_calls=calls)

    state = create_agent(Once(), [inside], middleware=[web]).invoke({"messages": "x"})

    assert [source["url"] for source in collect_sources(state)] == [url_of("kelp")]


class Researcher(Gardener):
    """Searches, opens a page, and says what it read."""

    def answer(self, messages):
        answers = [one for one in messages if isinstance(one, ToolMessage)]
        if len(answers) == 2:
            return AIMessage(" ".join(self._claims([AIMessage(""), *answers])))
        name, args = (
            ("open_page", {"url": url_of("flax")})
            if answers
            else ("web_search", {"query": "kelp"})
        )
        call = {"name": name, "args": args, "id": f"{id(messages)}-{len(answers)}"}
        return AIMessage("", tool_calls=[call])


@pytest.mark.parametrize("kind", MAKERS)
def test_a_sub_agent_that_was_interrupted_brings_all_its_sources(kind):
    skip_without(kind)
    saver = InMemorySaver()

    def start():
        web = make_middleware()
        stop = HumanInTheLoopMiddleware(interrupt_on={"open_page": True})
        if kind == "create_deep_agent":
            from deepagents import create_deep_agent

            from tests.langchain.gardens import DeepGardener

            spec = {
                "name": "inside",
                "description": "Looks something up.",
                "system_prompt": "Look it up.",
                "model": Researcher(),
                "middleware": [stop, web],
            }
            return create_deep_agent(
                DeepGardener(), subagents=[spec], middleware=[web], checkpointer=saver
            )
        researcher = create_agent(Researcher(), middleware=[stop, web])

        @tool
        def inside(task: str) -> str:
            """Look something up."""
            return researcher.invoke({"messages": task})["messages"][-1].text

        return create_agent(Gardener(), [inside], middleware=[web], checkpointer=saver)

    start().invoke({"messages": "ask inside: look"}, CONFIG)
    # another process goes on
    state = start().invoke(Command(resume=APPROVE), CONFIG)
    sources = collect_sources(state)

    answer = state["messages"][-1].text
    assert "Kelp grows 50 centimetres a day [1]. Flax grows 6" in answer
    assert [(source["id"], source["url"]) for source in sources] == [
        (1, url_of("kelp")),
        (2, url_of("flax")),
    ]
    assert all(source["text"] for source in sources)


# Which URLs count as named by the user.


def opened(state):
    return [
        message.status
        for message in state["messages"]
        if isinstance(message, ToolMessage)
    ]


def test_what_the_user_names_may_be_opened_without_a_callback():
    saver = InMemorySaver()

    def start():
        web = make_middleware(provenance="seen")
        return create_agent(Gardener(), middleware=[web], checkpointer=saver)

    refused = start().invoke({"messages": f"repeat Sure: {LEAK}"}, CONFIG)
    agent = start()
    first = agent.invoke({"messages": f"open {url_of('kelp')}"}, CONFIG)
    agent.invoke({"messages": f"repeat {url_of('moss')}"}, CONFIG)
    # in a new process, the model opens what the user named three turns before
    second = start().invoke({"messages": [HumanMessage("open [1]")]}, CONFIG)

    assert "websearch_named" not in refused
    assert opened(first) == ["success"]
    assert opened(second) == ["success", "success"]


@pytest.mark.parametrize("user_urls", [True, False])
def test_an_interrupted_run_knows_in_another_process_what_the_user_named(user_urls):
    saver = InMemorySaver()

    def start():
        web = make_middleware(provenance="seen", user_urls=user_urls)
        stop = HumanInTheLoopMiddleware(interrupt_on={"open_page": True})
        return create_agent(Gardener(), middleware=[stop, web], checkpointer=saver)

    start().invoke({"messages": f"open {url_of('kelp')}"}, CONFIG)
    state = start().invoke(Command(resume=APPROVE), CONFIG)

    assert opened(state) == ["success" if user_urls else "error"]


def test_what_a_model_writes_to_a_sub_agent_is_not_of_the_user():
    web = make_middleware(provenance="seen")
    statuses = []

    @tool
    def inside(task: str) -> str:
        """Look something up."""
        state = create_agent(Gardener(), middleware=[web]).invoke({"messages": task})
        statuses.extend(opened(state))
        return "Done."

    class Tricked(Gardener):
        def answer(self, messages):
            if isinstance(messages[-1], ToolMessage):
                return AIMessage("Done.")
            args = {"task": f"open {url_of('kelp')}"}
            return AIMessage(
                "", tool_calls=[{"name": "inside", "args": args, "id": "1"}]
            )

    create_agent(Tricked(), [inside], middleware=[web]).invoke({"messages": "Go on."})
    graph = StateGraph(MessagesState)
    graph.add_node("agent", create_agent(Gardener(), middleware=[web]))
    graph.add_edge(START, "agent")
    state = graph.compile().invoke({"messages": [f"open {url_of('kelp')}"]})

    assert statuses == ["error"]
    assert opened(state) == ["error"]


# Graphs of one's own, and tools that a program calls itself.


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_graph_of_ones_own_keeps_sources_with_the_wrapper(is_async):
    web = make_middleware()
    model = Gardener()

    class State(MessagesState):
        websearch_sources: Annotated[list[dict[str, Any]], add_sources]

    def forget(state):
        return {"messages": [RemoveMessage(one.id) for one in state["messages"][:-1]]}

    graph = StateGraph(State)
    graph.add_node(
        "model", lambda state: {"messages": [model.answer(state["messages"])]}
    )
    graph.add_node(
        "tools",
        ToolNode(
            web.tools,
            wrap_tool_call=web.wrap_tool_call,
            awrap_tool_call=web.awrap_tool_call,
        ),
    )
    graph.add_node("forget", forget)
    graph.add_edge(START, "model")
    graph.add_conditional_edges(
        "model", tools_condition, {"tools": "tools", END: "forget"}
    )
    graph.add_edge("tools", "model")
    app = graph.compile()
    words = {"messages": [HumanMessage("search kelp, moss")]}
    state = await app.ainvoke(words) if is_async else app.invoke(words)

    assert len(state["messages"]) == 1
    assert {source["url"] for source in collect_sources(state)} == {
        url_of("kelp"),
        url_of("moss"),
    }


def test_the_sources_of_tools_that_nodes_call_themselves_are_collected():
    search, _ = make_toolkit().get_tools()

    class State(MessagesState):
        found: Annotated[list[Any], operator.add]

    def fan_out(_):
        return [Send("look", plant) for plant in PLANTS]

    def look(plant):
        call = {"name": "web_search", "args": {"query": plant}, "id": plant}
        return {"found": [search.invoke({**call, "type": "tool_call"})]}

    graph = StateGraph(State)
    graph.add_node("look", look)
    graph.add_conditional_edges(START, fan_out, ["look"])
    graph.add_edge("look", END)
    found = graph.compile().invoke({"messages": []}, CONFIG)["found"]
    sources = collect_sources(found)

    assert len(sources) == len(PLANTS)
    assert {source["title"] for source in sources} == set(PLANTS)
    for source in sources:
        assert f"{source['title']} grows" in source["text"]


def test_a_message_of_another_tool_still_counts_for_nothing():
    search, _ = make_toolkit().get_tools()
    call = {"name": "web_search", "args": {"query": "kelp"}, "id": "1"}
    message = search.invoke({**call, "type": "tool_call"})
    other = message.model_copy(update={"name": "calendar"})
    asked = AIMessage("", tool_calls=[{**call, "name": "calendar"}])

    assert collect_sources([other]) == []
    assert collect_sources([asked, message]) == []
    assert len(collect_sources([message])) == 1
    assert len(collect_sources([AIMessage("", tool_calls=[call]), message, other])) == 1


def test_the_package_does_without_langchain():
    code = """
import sys
sys.modules["langchain"] = None
import langchain_websearch
assert langchain_websearch.WebSearchToolkit and langchain_websearch.collect_sources
try:
    langchain_websearch.WebSearchMiddleware
except ModuleNotFoundError as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert run.stdout == "WebSearchMiddleware needs: pip install 'langchain>=1'\n"


# Whatever happens to messages, the numbers that they, their artifacts and the state
# have are of the same pages.

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("search"),
            st.lists(st.sampled_from(list(PLANTS)), min_size=1, max_size=2),
        ),
        st.tuples(st.just("open"), st.sampled_from(list(PLANTS))),
        st.tuples(st.just("ask"), st.sampled_from(list(PLANTS))),
        st.tuples(st.just("restart"), st.none()),
        st.tuples(st.just("delete"), st.integers(0, 20)),
        st.tuples(st.just("edit"), st.integers(0, 20)),
        st.tuples(st.just("fork"), st.integers(0, 10)),
    ),
    max_size=7,
)


END_NODE = "WebSearchMiddleware.after_agent"


class Conversation:
    """A conversation to which anything may happen."""

    def __init__(self):
        self.saver = InMemorySaver()
        self.config = CONFIG
        self.restart()

    def restart(self, _=None):
        web = make_middleware()
        self.agent = make_agent(web, self.saver)

    def say(self, words):
        self.agent.invoke({"messages": words}, self.config)
        self.config = CONFIG

    def search(self, plants):
        self.say(f"search {', '.join(plants)}")

    def open(self, plant):
        self.say(f"open {url_of(plant)}")

    def ask(self, plant):
        self.say(f"ask outside: search {plant}\nask inside: open {url_of(plant)}")

    def fork(self, place):
        history = list(self.agent.get_state_history(CONFIG))
        ends = [one for one in history if not one.next and one.values]
        if ends:
            self.config = ends[place % len(ends)].config

    def _pick(self, place):
        messages = self.agent.get_state(self.config).values.get("messages", [])
        return messages[place % len(messages)] if messages else None

    def delete(self, place):
        message = self._pick(place)
        if message is not None:
            self.change(RemoveMessage(message.id))

    def edit(self, place):
        message = self._pick(place)
        if isinstance(message, ToolMessage):
            content = f"Note [1].\n\n{message.content}".replace("grows", "is")
            self.change(message.model_copy(update={"content": content}))

    def change(self, message):
        self.agent.update_state(self.config, {"messages": [message]}, as_node=END_NODE)
        self.config = CONFIG

    def pages(self):
        """Yield each number with its page, as messages, answers and the state say."""
        state = self.agent.get_state(self.config).values
        for source in state.get("websearch_sources", []):
            yield source["id"], source["url"]
        for message in state.get("messages", []):
            for source in (getattr(message, "artifact", None) or {}).get("sources", []):
                yield source["id"], source["url"]
            claims = re.findall(
                r"(\w+) grows \d+ centimetres a day \[(\d+)\]", message.text
            )
            for plant, number in claims:
                yield int(number), url_of(plant.lower())


@given(STEPS)
@settings(max_examples=100 if WHOLE else 8, deadline=None)
def test_messages_and_state_never_disagree_about_a_number(steps):
    conversation = Conversation()
    for name, detail in [*steps, ("search", ["kelp", "moss"])]:
        getattr(conversation, name)(detail)
        pages = set(conversation.pages())
        numbers = [number for number, _ in pages]
        assert len(numbers) == len(set(numbers)), (name, sorted(pages))
        state = conversation.agent.get_state(conversation.config).values
        sources = collect_sources(state)
        assert {(one["id"], one["url"]) for one in sources} >= pages
        for source in sources:
            plants = [plant for plant in PLANTS if plant in source["text"]]
            assert [url_of(plant) for plant in plants] == [source["url"]]


# deepagents


def test_the_sub_agent_that_deepagents_adds_brings_its_sources():
    pytest.importorskip("deepagents", reason="needs deepagents: make test-models")
    from deepagents import create_deep_agent

    from tests.langchain.gardens import DeepGardener

    web = make_middleware(check=True)
    agent = create_deep_agent(DeepGardener(), web.tools, middleware=[web])
    words = "ask general-purpose: search kelp\nask general-purpose: search moss"
    state = agent.invoke({"messages": words})

    assert {source["url"] for source in collect_sources(state)} == {
        url_of("kelp"),
        url_of("moss"),
    }
    assert [check["verdict"] for check in state["websearch_checks"]] == [
        "supported",
        "supported",
    ]


def test_a_large_page_that_deepagents_moves_to_a_file_can_still_be_checked():
    pytest.importorskip("deepagents", reason="needs deepagents: make test-models")
    from deepagents import create_deep_agent

    from tests.langchain.gardens import DeepGardener
    from websearch_core.testing import FakeWeb

    text = "Kelp grows 50 centimetres a day.\n\n" + "Soil is deep. " * 10_000
    toolkit = WebSearchToolkit(
        provider=FakeWeb(pages={url_of("kelp"): text}),
        reader=FakeWeb(pages={url_of("kelp"): text}),
        read_options={"max_length": 120_000},
    )
    web = WebSearchMiddleware(toolkit)
    agent = create_deep_agent(DeepGardener(), middleware=[web])
    state = agent.invoke({"messages": f"open {url_of('kelp')}"})
    (message,) = (one for one in state["messages"] if isinstance(one, ToolMessage))

    assert len(message.text) < 20_000
    (alone,) = collect_sources(state["messages"])
    assert (alone["url"], "text" in alone) == (url_of("kelp"), False)
    (source,) = collect_sources(state)
    assert "Kelp grows 50" in source["text"]


def test_anything_but_a_toolkit_is_refused_with_the_line_to_write() -> None:
    wrong: Any = "tavily"
    with pytest.raises(
        ConfigurationError,
        match=r"not str: write WebSearchMiddleware\(WebSearchToolkit\(\.\.\.\)\)",
    ):
        WebSearchMiddleware(wrong)
