"""What the developer decides: fixed options, limits of a run, and another key or policy
for each tenant.
"""

from __future__ import annotations
import asyncio
import copy
import inspect
import json
import pickle
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import TypedDict

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime
from pydantic import BaseModel, SecretStr

from langchain_websearch import (
    OpenPageTool,
    WebSearchRetriever,
    WebSearchTool,
    WebSearchToolkit,
)
from langchain_websearch.conversations import find_run
from websearch_core import Http, Page, SearchQuery, SearchResponse, WebSearch
from websearch_core.errors import BudgetExceeded, ConfigurationError, InvalidOption
from websearch_core.layers import Budget
from websearch_core.layers._usage import UsageFile
from websearch_core.testing import SECRET


class Echo:
    """Finds nothing, reads tide tables, and records the queries."""

    name = "echo"
    options = frozenset(SearchQuery.model_fields)

    def __init__(self):
        self.queries = []

    def search(self, query):
        self.queries.append(query)
        return SearchResponse(query=query.text, provider=self.name)
        yield

    def read(self, url):
        filler = "Nothing of interest. " * 20
        text = "\n\n".join(
            [filler] * 6 + ["## Growth\n\nGiant kelp grows fast."] + [filler] * 6
        )
        return Page(
            url=url, final_url=url, title="Kelp", content=text, provider=self.name
        )
        yield


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture(params=["invoke", "ainvoke"])
def call(request):
    """Call a tool as an agent does, in each colour; returns the message."""

    def one(tool, config=None, **arguments):
        made = {"type": "tool_call", "name": tool.name, "id": "1", "args": arguments}
        called = getattr(tool, request.param)(made, config)
        return asyncio.run(called) if inspect.isawaitable(called) else called

    return one


def shown(tool):
    return convert_to_openai_tool(tool)["function"]["parameters"]["properties"]


@pytest.mark.parametrize(
    "make",
    [WebSearchTool, lambda **options: WebSearchToolkit(**options).get_tools()[0]],
)
def test_fixed_options_reach_the_provider_and_leave_the_schema(echo, call, make):
    options = {
        "topic": "news",
        "time_range": "week",
        "safe_search": "strict",
        "extra": {"depth": "deep"},
    }
    tool = make(provider=echo, limit=3, search_options=options)

    assert list(shown(tool)) == ["query", "limit", "allowed_domains"]
    assert list(tool.args_schema.model_json_schema()["properties"]) == [
        "query",
        "limit",
        "allowed_domains",
    ]
    message = call(tool, query="tides", topic="general", time_range="day", limit=9)

    (query,) = echo.queries
    assert (query.topic, query.time_range, query.safe_search, query.limit) == (
        "news",
        "week",
        "strict",
        3,
    )
    assert query.extra == {"depth": "deep"}
    assert message.status == "success"
    assert (
        "Note: topic, time_range: fixed by the developer, so what you sent was ignored."
        in message.content
    )
    assert "Note: limit: 3 is the maximum here." in message.content


@pytest.mark.parametrize(
    "asked", ["tides", {"query": "tides"}], ids=["text", "arguments"]
)
@pytest.mark.parametrize("limit", [3, 7])
async def test_the_limit_is_the_number_of_results_of_a_query_alone(echo, asked, limit):
    tool = WebSearchTool(provider=echo, limit=limit)
    texts = [tool.invoke(asked), tool.run(asked), await tool.ainvoke(asked)]

    assert [query.limit for query in echo.queries] == [limit] * 3
    assert [text for text in texts if "Note: limit" in text] == []


def test_each_tool_has_a_schema_of_its_own(echo):
    fixed = WebSearchTool(provider=echo, search_options={"time_range": "week"})

    assert "time_range" in shown(WebSearchTool(provider=echo))
    assert "time_range" not in shown(fixed)
    for twin in (
        copy.deepcopy(fixed),
        pickle.loads(pickle.dumps(fixed)),
        fixed.model_copy(),
    ):
        assert shown(twin) == shown(fixed)
        assert twin.args_schema is fixed.args_schema


def test_a_model_stays_within_the_domains_of_the_tool_and_of_the_web_search(echo, call):
    tool = WebSearchTool(
        provider=echo,
        allowed_domains=["python.org", "docs.org"],
        search_options={"allowed_domains": ["python.org"]},
    )
    call(tool, query="tides")
    call(tool, query="tides", allowed_domains="docs.python.org, evil.example")
    outside = call(
        tool,
        query="tides",
        allowed_domains=["docs.org"],
        blocked_domains=["b.python.org"],
    )

    assert [query.allowed_domains for query in echo.queries] == [
        ("python.org",),
        ("docs.python.org",),
        ("python.org",),
    ]
    assert echo.queries[2].blocked_domains == ("b.python.org",)
    assert (
        outside.status,
        "none of these may be searched here" in outside.content,
    ) == ("success", True)


def test_the_policy_holds_for_pages_and_the_error_says_so(echo, call):
    _, read = WebSearchToolkit(
        provider=echo, reader=echo, allowed_domains=["python.org"]
    ).get_tools()

    assert call(read, url="https://docs.python.org/").status == "success"
    refused = call(read, url="https://evil.example/")
    assert refused.status == "error"
    assert refused.content.startswith(
        "ERROR [domain_not_allowed] only pages of these domains may be opened here"
    )


@pytest.mark.parametrize("kind", [WebSearchTool, WebSearchToolkit, WebSearchRetriever])
def test_a_wrong_option_is_refused_at_once_with_the_nearest_name(echo, kind):
    with pytest.raises(ValueError, match="topc: not an option; did you mean topic"):
        kind(provider=echo, search_options={"topc": "news"})
    if kind is not WebSearchRetriever:
        with pytest.raises(InvalidOption, match="search_options: country: "):
            kind(provider=echo, search_options={"country": "Britain"})


@pytest.mark.parametrize(
    "nothing",
    [
        {"limit": None, "allowed_domains": None, "time_range": None},
        {"limit": "", "time_range": ""},
    ],
    ids=str,
)
def test_null_and_empty_text_are_the_defaults(echo, call, nothing):
    assert (
        call(WebSearchTool(provider=echo), query="tides", **nothing).status == "success"
    )
    assert echo.queries[0] == echo.queries[0].model_copy(
        update={"limit": 5, "time_range": None}
    )
    page = {"max_length": None, "offset": None, "query": None, "find": ""}
    assert (
        call(
            OpenPageTool(provider=echo, reader=echo), url="https://sea.example/", **page
        ).status
        == "success"
    )


def test_other_spellings_of_arguments_are_understood(echo, call):
    call(
        WebSearchTool(provider=echo),
        query="tides",
        max_results="7",
        time_range="w",
        allowed_domains="python.org",
    )

    (query,) = echo.queries
    assert (query.limit, query.time_range, query.allowed_domains) == (
        7,
        "week",
        ("python.org",),
    )


def test_null_and_empty_items_of_a_list_are_left_out(echo, call):
    call(
        WebSearchTool(provider=echo),
        query="tides",
        allowed_domains=["", None, "python.org"],
    )
    call(WebSearchTool(provider=echo), query="tides", allowed_domains='[""]')

    assert [query.allowed_domains for query in echo.queries] == [("python.org",), ()]


@pytest.mark.parametrize(
    "wrong",
    [[1] * 5_000, ["a b"] * 5_000, ["x" * 100_000]],
    ids=["numbers", "blanks", "long"],
)
def test_an_error_about_a_huge_list_is_short(echo, call, wrong):
    message = call(WebSearchTool(provider=echo), query="tides", allowed_domains=wrong)

    assert message.content.startswith("ERROR [invalid_option] allowed_domains.0: ")
    assert len(message.content) < 500


def test_an_empty_answer_says_what_to_try_below_its_first_line(echo, call):
    message = call(WebSearchTool(provider=echo), query="tides", time_range="d")

    first, *rest = message.content.splitlines()[1:-1]
    assert first == "No results found for: tides"
    assert "Note: try fewer or other words, or leave out time_range." in rest


def test_a_question_gets_the_passages_and_not_the_whole_page(echo, call):
    read = OpenPageTool(provider=echo, reader=echo)
    whole = call(read, url="https://sea.example/").content
    asked = call(
        read, url="https://sea.example/", query="How fast does giant kelp grow?"
    ).content

    assert "Giant kelp grows fast." in asked
    assert len(asked) < 2_600 < len(whole)


def test_the_length_of_a_page_is_an_argument_also_for_a_shared_web_search(echo, call):
    web = WebSearch(echo, reader=echo)
    for read in (
        OpenPageTool(web=web, read_options={"max_length": 500}),
        WebSearchToolkit(web=web, read_options={"max_length": 500}).get_tools()[1],
    ):
        assert call(read, url="https://sea.example/").artifact["content_length"] <= 500
        assert (
            call(read, url="https://sea.example/", max_length=900).artifact[
                "content_length"
            ]
            > 500
        )
    assert call(
        OpenPageTool(provider=echo, reader=echo, read_options={"max_length": 400}),
        url="https://sea.example/",
    ).artifact


class TestMaxUses:
    def agent(self, scripted, toolkit, calls, **options):
        turns = [
            AIMessage(
                "",
                tool_calls=[
                    {"name": name, "args": args, "id": str(n)}
                    for n, (name, args) in enumerate(turn)
                ],
            )
            for turn in calls
        ]
        return create_agent(
            scripted([*turns, AIMessage("done")] * 3), toolkit.get_tools(), **options
        )

    def statuses(self, state):
        return [
            message.status
            for message in state["messages"]
            if isinstance(message, ToolMessage)
        ]

    SEARCH = ("web_search", {"query": "tides"})
    READ = ("open_page", {"url": "https://sea.example/"})

    def test_both_tools_share_the_calls_of_a_run(self, scripted, echo):
        toolkit = WebSearchToolkit(provider=echo, reader=echo, max_uses=2)
        state = self.agent(
            scripted, toolkit, [[self.SEARCH], [self.READ], [self.SEARCH]]
        ).invoke({"messages": "hi"})

        assert self.statuses(state) == ["success", "success", "error"]
        assert [m for m in state["messages"] if isinstance(m, ToolMessage)][
            -1
        ].content == (
            "ERROR [budget_exceeded] all 2 calls of the web tools that this run may make are used up; do not call them "
            "again, and answer with what you have found so far."
        )
        assert len(echo.queries) == 1

    @pytest.mark.parametrize("saver", [None, InMemorySaver()])
    async def test_each_turn_begins_again_also_in_the_same_thread(
        self, scripted, echo, saver
    ):
        toolkit = WebSearchToolkit(provider=echo, reader=echo, max_uses=1)
        agent = self.agent(
            scripted, toolkit, [[self.SEARCH], [self.SEARCH]], checkpointer=saver
        )
        config = {"configurable": {"thread_id": "1"}}

        assert self.statuses(agent.invoke({"messages": "hi"}, config)) == [
            "success",
            "error",
        ]
        assert self.statuses(await agent.ainvoke({"messages": "hi"}, config))[-2:] == [
            "success",
            "error",
        ]

    @pytest.mark.parametrize(
        "options", [{}, {"subgraphs": True}, {"stream_mode": "custom"}], ids=str
    )
    @pytest.mark.skipif(
        not any(one.name == "control" for one in fields(Runtime)),
        reason="this LangGraph has nothing that they share",
    )
    def test_a_sub_agent_shares_the_calls_of_the_run(self, scripted, echo, options):
        toolkit = WebSearchToolkit(provider=echo, reader=echo, max_uses=1)
        helper = self.agent(scripted, toolkit, [[self.SEARCH]])
        inside = []

        @tool
        def delegate(task: str) -> str:
            """Let another agent do it."""
            inside.append(helper.invoke({"messages": task}))
            return "done"

        turns = [
            AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}])
            for name, args in (self.SEARCH, ("delegate", {"task": "search"}))
        ]
        agent = create_agent(
            scripted([*turns, AIMessage("done")]), [*toolkit.get_tools(), delegate]
        )
        list(agent.stream({"messages": "hi"}, **options))

        assert self.statuses(inside[0]) == ["error"]
        assert len(echo.queries) == 1

    def test_a_run_is_found_without_a_thread_and_in_older_versions(self):
        def write():
            pass

        old = SimpleNamespace(stream_writer=write)

        assert find_run({"configurable": {"__pregel_runtime": old}}, "1") is write
        assert find_run({"configurable": {"thread_id": "1"}}, "1") == "1"
        assert find_run({}, None) is None

    def test_parallel_calls_are_counted(self, scripted, echo):
        toolkit = WebSearchToolkit(provider=echo, reader=echo, max_uses=2)
        state = self.agent(scripted, toolkit, [[self.SEARCH] * 4]).invoke(
            {"messages": "hi"}
        )

        assert sorted(self.statuses(state)) == ["error", "error", "success", "success"]

    async def test_concurrent_runs_are_counted_apart(self, scripted, echo):
        toolkit = WebSearchToolkit(provider=echo, reader=echo, max_uses=1)
        agents = [
            self.agent(scripted, toolkit, [[self.SEARCH], [self.SEARCH]])
            for _ in range(5)
        ]
        states = await asyncio.gather(
            *[agent.ainvoke({"messages": "hi"}) for agent in agents]
        )

        assert [self.statuses(state) for state in states] == [["success", "error"]] * 5

    def test_outside_a_graph_the_conversation_counts(self, echo, call):
        tool = WebSearchTool(provider=echo, max_uses=1)
        one, two = (
            {"configurable": {"thread_id": thread}} for thread in ("one", "two")
        )

        assert [
            call(tool, config, query="tides").status for config in (one, two, one)
        ] == [
            "success",
            "success",
            "error",
        ]

    def test_middleware_gets_the_typed_error(self, echo):
        tool = WebSearchTool(provider=echo, max_uses=1, handle_tool_error=False)
        tool.invoke({"query": "tides"})
        with pytest.raises(Exception, match="budget_exceeded") as raised:
            tool.invoke({"query": "tides"})
        assert isinstance(raised.value.__cause__, BudgetExceeded)

    def test_a_wrong_limit_is_refused(self, echo):
        with pytest.raises(ValueError, match="max_uses"):
            WebSearchTool(provider=echo, max_uses=0)


@pytest.fixture
def tavily():
    """A function that makes a toolkit over a Tavily that answers nothing, and the keys
    and bodies it was sent.
    """
    seen = []

    def answer(request):
        seen.append(
            (
                request.headers["authorization"].removeprefix("Bearer "),
                json.loads(request.content),
            )
        )
        return httpx.Response(200, json={"results": []})

    http = Http(
        client=httpx.Client(transport=httpx.MockTransport(answer)),
        async_client=httpx.AsyncClient(transport=httpx.MockTransport(answer)),
    )

    def make(*configurable, **options):
        options = {
            "provider": "tavily",
            "api_key": "developer",
            "http": http,
            **options,
        }
        return WebSearchToolkit(configurable=configurable, **options).get_tools()

    make.seen = seen
    return make


@dataclass
class Customer:
    api_key: object = None
    allowed_domains: tuple[str, ...] = ("docs.org",)
    tenant_id: str | None = "acme"


class CustomerModel(BaseModel):
    api_key: object = None
    allowed_domains: tuple[str, ...] = ("docs.org",)
    tenant_id: str | None = "acme"


class CustomerDict(TypedDict, total=False):
    api_key: object
    allowed_domains: tuple[str, ...]
    tenant_id: str | None


def make_dict(**given):
    return CustomerDict(allowed_domains=("docs.org",), tenant_id="acme", **given)


CONTEXTS = [
    (Customer, Customer),
    (CustomerModel, CustomerModel),
    (CustomerDict, make_dict),
]


@pytest.mark.parametrize(("schema", "make"), CONTEXTS, ids=["class", "model", "dict"])
class TestContext:
    def ask(self, scripted, tool, schema, context, config=None):
        call = {"name": tool.name, "args": {"query": "tides"}, "id": "1"}
        script = [AIMessage("", tool_calls=[call]), AIMessage("Done.")]
        agent = create_agent(scripted(script), [tool], context_schema=schema)
        state = agent.invoke({"messages": "Go on."}, config, context=context)
        (message,) = (one for one in state["messages"] if isinstance(one, ToolMessage))
        return message

    def test_a_run_sets_its_options_in_its_context(
        self, tavily, scripted, caplog, schema, make
    ):
        search, _ = tavily("api_key", "allowed_domains")
        message = self.ask(
            scripted, search, schema, make(api_key=SecretStr("acme-key"))
        )

        assert message.status == "success"
        ((key, body),) = tavily.seen
        assert (key, body["include_domains"]) == ("acme-key", ["docs.org"])
        self.ask(scripted, search, schema, make(api_key="plain-key"))
        assert tavily.seen[-1][0] == "plain-key"
        assert "checkpoint" not in caplog.text  # which a context is not stored in

    def test_what_the_config_sets_wins(self, tavily, scripted, schema, make):
        search, _ = tavily("api_key")
        config = {"configurable": {"api_key": SecretStr("config-key")}}
        self.ask(scripted, search, schema, make(api_key="k"), config)

        assert [key for key, _ in tavily.seen] == ["config-key"]

    def test_its_tenant_is_charged(self, echo, scripted, tmp_path, schema, make):
        file = UsageFile(tmp_path / "usage.db")
        budget = Budget("9 calls/day per tenant", usage_file=file.path)
        search, _ = WebSearchToolkit(provider=echo, budget=budget).get_tools()
        config = {"configurable": {"thread_id": "1"}}
        for context in (make(), None):
            message = self.ask(scripted, search, schema, context, config)
            assert message.status == "success"

        assert [row.tenant for row in file.read()] == ["", "acme"]

    def test_a_run_without_what_is_required_asks_no_service(
        self, tavily, scripted, schema, make
    ):
        required = ["api_key", "tenant_id"]
        search, _ = tavily("api_key", require=required)
        refused = [
            self.ask(scripted, search, schema, make()),
            self.ask(scripted, search, schema, None),
            self.ask(
                scripted,
                search,
                schema,
                None,
                {"configurable": {"api_keys": "k", "tenant_id": "acme"}},
            ),
        ]

        assert [one.status for one in refused] == ["error"] * 3
        assert [one.artifact["code"] for one in refused] == ["missing_key"] * 3
        assert refused[0].text.startswith(
            "ERROR [missing_key] this run sets no api_key"
        )
        assert "no tenant_id" in refused[1].text
        assert tavily.seen == []
        self.ask(scripted, search, schema, make(api_key="k"))
        assert [key for key, _ in tavily.seen] == ["k"]


class TestTenants:
    def test_each_run_has_its_own_key_and_options(self, tavily, call):
        search, _ = tavily(
            "api_key", "search_options", search_options={"topic": "news"}
        )
        for name in ("ann", "bob"):
            own = {
                "api_key": SecretStr(f"{name}-key"),
                "search_options": {"time_range": "day" if name == "ann" else "week"},
            }
            call(search, {"configurable": own}, query="tides")
        call(search, query="tides")

        assert [key for key, _ in tavily.seen] == ["ann-key", "bob-key", "developer"]
        assert [body.get("time_range") for _, body in tavily.seen] == [
            "day",
            "week",
            None,
        ]
        assert {body["topic"] for _, body in tavily.seen} == {"news"}

    def test_what_the_developer_did_not_list_has_no_effect(self, tavily, call):
        search, _ = tavily("search_options")
        own = {
            "api_key": "stolen",
            "base_url": "https://evil.example",
            "provider": "brave",
            "internal": ["0.0.0.0/0"],
        }
        call(search, {"configurable": own}, query="tides")

        assert [key for key, _ in tavily.seen] == ["developer"]

    def test_a_tenant_can_narrow_the_policy_of_both_tools(self, tavily, call):
        search, read = tavily(
            "allowed_domains", allowed_domains=["python.org", "docs.org"]
        )
        config = {"configurable": {"allowed_domains": ["docs.org", "evil.example"]}}
        call(search, config, query="tides")

        assert tavily.seen[0][1]["include_domains"] == ["docs.org"]
        assert (
            "[domain_not_allowed]"
            in call(read, config, url="https://python.org/").content
        )
        assert (
            "[domain_not_allowed]"
            in call(read, config, url="https://evil.example/").content
        )

    @pytest.mark.parametrize(
        "own",
        [
            {"api_key": "keyring:bank/key"},
            {"search_options": {"topc": 1}},
            {"allowed_domains": ["evil.example"]},
            {"search_options": {"read_top": "many"}},
            {"read_options": {"max_length": 0}},
        ],
        ids=str,
    )
    def test_a_wrong_configuration_is_an_error_message_and_no_search(
        self, tavily, call, own
    ):
        search, _ = tavily(
            "api_key",
            "search_options",
            "allowed_domains",
            "read_options",
            allowed_domains=["python.org"],
        )
        message = call(search, {"configurable": own}, query="tides")

        assert message.status == "error"
        assert message.content.startswith(
            ("ERROR [configuration]", "ERROR [invalid_option]")
        )
        assert tavily.seen == []

    def test_a_base_url_is_never_configurable(self, tavily):
        with pytest.raises(
            ConfigurationError, match="base_url: not an option that a run may set"
        ):
            tavily("api_key", "base_url")

    @pytest.mark.parametrize(
        "key",
        [{"api_key": SecretStr(SECRET)}, {"__api_key": SECRET}],
        ids=["SecretStr", "__"],
    )
    def test_a_key_reaches_the_service_and_neither_checkpoints_nor_traces(
        self, tavily, scripted, key
    ):
        events = []

        class Handler(BaseCallbackHandler):
            def on_tool_start(self, *args, **kwargs):
                events.append((args, kwargs))

            def on_tool_end(self, *args, **kwargs):
                events.append((args, kwargs))

            def on_chain_start(self, *args, **kwargs):
                events.append((args, kwargs))

        saver = InMemorySaver()
        turn = AIMessage(
            "",
            tool_calls=[{"name": "web_search", "args": {"query": "tides"}, "id": "1"}],
        )
        agent = create_agent(
            scripted([turn, AIMessage("done")]), tavily("api_key"), checkpointer=saver
        )
        config = {"configurable": {"thread_id": "1", **key}, "callbacks": [Handler()]}
        agent.invoke({"messages": "hi"}, config)

        assert [key for key, _ in tavily.seen] == [SECRET]
        assert events
        assert SECRET not in repr(events)
        stored = [*saver.list({"configurable": {"thread_id": "1"}})]
        assert stored
        assert SECRET not in repr(
            [(one.checkpoint, one.metadata, one.pending_writes) for one in stored]
        )

    def test_no_key_shows_in_a_repr_or_a_pickle_of_the_tools(self):
        made = WebSearchToolkit(
            provider="tavily", api_key=SECRET, configurable=["api_key"]
        )
        for one in (made, *made.get_tools()):
            assert SECRET not in repr(one) + repr(one.model_dump())
            assert SECRET.encode() not in pickle.dumps(one)


@pytest.mark.parametrize(
    ("own", "complaint"),
    [
        ({"timeout": "soon"}, "timeout: "),
        ({"read_options": {"links": {"a": 1}}}, "links: "),
        ({"read_options": {"max_tokens": {}}}, "max_tokens: "),
        ({"read_options": "text"}, "read_options: must be a mapping"),
        ({"allowed_domains": {"a": 1}}, "allowed_domains: "),
        ({"search_options": "week"}, "search_options: must be a mapping"),
    ],
    ids=str,
)
def test_a_run_with_an_option_of_the_wrong_type_is_told_which(
    echo, call, own, complaint
):
    search = WebSearchTool(provider=echo, configurable=list(own))

    message = call(search, {"configurable": own}, query="tides")
    assert message.status == "error"
    assert complaint in message.content
    assert "unexpected" not in message.content


def test_a_run_may_name_its_domains_in_one_text(echo, call):
    search = WebSearchTool(provider=echo, configurable=["allowed_domains"])
    call(
        search,
        {"configurable": {"allowed_domains": "python.org, djangoproject.com"}},
        query="tides",
    )

    assert echo.queries[0].allowed_domains == ("python.org", "djangoproject.com")


class TestBudget:
    def test_a_run_has_the_budget_of_a_run(self, echo, call):
        search = WebSearchTool(provider=echo, budget="1 call")
        for thread in ("one", "two"):
            config = {"configurable": {"thread_id": thread}}
            assert call(search, config, query="kelp").status == "success"
            again = call(search, config, query="dulse")
            assert again.content.startswith(
                "ERROR [budget_exceeded] the budget of 1 call does not allow this call"
            )
        assert [query.text for query in echo.queries] == ["kelp", "kelp"]

    @pytest.mark.parametrize("place", ["configurable", "metadata"])
    def test_the_tenant_of_the_run_is_charged(self, echo, call, tmp_path, place):
        file = UsageFile(tmp_path / "usage.db")
        budget = Budget("1 call/day per tenant", usage_file=file.path)
        search, read = WebSearchToolkit(
            provider=echo, reader=echo, budget=budget
        ).get_tools()
        for config in ({"tenant_id": "acme", "user_id": "ann"}, {"user_id": "bob"}, {}):
            assert (call(search, {place: config}, query="kelp")).status == "success"
            assert (
                call(read, {place: config}, url="https://sea.example/")
            ).status == "error"

        assert [row.tenant for row in file.read()] == ["", "acme", "bob"]


@pytest.mark.parametrize("name", ["results", "raw_results", "api_wrapper"])
def test_a_method_of_another_search_tool_is_answered_with_the_line_to_write(echo, name):
    tool = WebSearchTool(provider=echo)
    with pytest.raises(
        AttributeError, match=f"^'WebSearchTool' has no attribute '{name}': write "
    ) as caught:
        getattr(tool, name)
    for line in (
        str(caught.value)
        .partition(": write ")[2]
        .removesuffix(" for the text")
        .split(", or ")
    ):
        assert eval(line, {"tool": tool, "query": "kelp"}) is not None
    with pytest.raises(AttributeError, match="no attribute 'anything'$"):
        _ = tool.anything
