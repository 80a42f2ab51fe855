"""What the developer decides: fixed options, limits of a run, and another key or policy
for each tenant.
"""

import asyncio
import json
import pickle

import httpx
import pytest
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.tools.calling import acall_tool, call_tool
from llama_index.core.workflow import Context
from pydantic import SecretStr

from llamaindex_websearch import (
    ToolError,
    WebPagePostprocessor,
    WebSearchRetriever,
    WebSearchToolSpec,
)
from llamaindex_websearch.conversations import find_conversation
from websearch_core import Http
from websearch_core.errors import (
    BudgetExceeded,
    ConfigurationError,
    InvalidOption,
    WebSearchError,
)
from websearch_core.layers import leaves
from websearch_core.testing import SECRET

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")  # caused by LlamaIndex itself
    for warning in (
        ".* attribute .*is deprecated:pydantic.warnings.PydanticDeprecationWarning",
        "Skipping serialization of known unserializable key. memory",
        "is_running called from within a step:DeprecationWarning",
    )
]

SEARCH_ON = ("web_search", {"query": "more about it"})
SEARCH = ("web_search", {"query": "kelp"})
READ = ("open_page", {"url": "https://sea.example/kelp"})


async def both(tool, arguments):
    """Call *tool* both blocking and async."""
    return [
        await asyncio.to_thread(call_tool, tool, arguments),
        await acall_tool(tool, arguments),
    ]


def shown(tool):
    return tool.metadata.get_parameters_dict()["properties"]


async def test_fixed_options_reach_the_provider_and_leave_the_schema(sea):
    web = sea()
    options = {"topic": "news", "time_range": "week", "extra": {"depth": "deep"}}
    search, _ = WebSearchToolSpec(
        web=web, limit=2, search_options=options
    ).to_tool_list()

    assert list(shown(search)) == ["query", "limit", "allowed_domains"]
    for output in await both(
        search, {"query": "kelp", "topic": "general", "time_range": "day", "limit": 9}
    ):
        assert not output.is_error
        assert len(output.raw_output) == 2
        assert (
            "Note: time_range, topic: fixed by the developer, so what you sent was ignored."
            in output.content
        )
        assert "Note: limit: 2 is the maximum here." in output.content
    for query in leaves(web.provider)[0].asked:
        assert (query.topic, query.time_range, query.limit, query.extra) == (
            "news",
            "week",
            2,
            {"depth": "deep"},
        )


def test_each_spec_has_a_schema_of_its_own_which_can_be_pickled(sea):
    spec = WebSearchToolSpec(
        provider="duckduckgo", search_options={"time_range": "week"}
    )

    assert "time_range" in shown(
        WebSearchToolSpec(provider="duckduckgo").to_tool_list()[0]
    )
    for twin in (spec, pickle.loads(pickle.dumps(spec))):
        assert "time_range" not in shown(twin.to_tool_list()[0])
    assert "time_range" not in shown(pickle.loads(pickle.dumps(spec.to_tool_list()))[0])


async def test_a_model_stays_within_the_domains_and_can_only_block_more(sea):
    web = sea()
    options = {
        "allowed_domains": ["sea.example", "docs.example"],
        "blocked_domains": ["old.sea.example"],
    }
    search, _ = WebSearchToolSpec(web=web, search_options=options).to_tool_list()
    asked = {
        "query": "kelp",
        "allowed_domains": "evil.example",
        "blocked_domains": ["new.sea.example"],
    }

    for output in await both(search, asked):
        assert not output.is_error
        assert "none of these may be searched here" in output.content
    for query in leaves(web.provider)[0].asked:
        assert query.allowed_domains == ("sea.example", "docs.example")
        assert query.blocked_domains == ("old.sea.example", "new.sea.example")


async def test_the_policy_holds_for_pages_and_the_error_says_so():
    _, read = WebSearchToolSpec(
        provider="duckduckgo", allowed_domains=["python.org"]
    ).to_tool_list()
    for output in await both(read, {"url": "https://evil.example/"}):
        assert output.is_error
        assert (
            "ERROR [domain_not_allowed] only pages of these domains may be opened here: python.org."
            in output.content
        )


@pytest.mark.parametrize("kind", [WebSearchToolSpec, WebSearchRetriever])
def test_a_wrong_option_is_refused_at_once_with_the_nearest_name(kind):
    with pytest.raises(InvalidOption, match="topc: not an option; did you mean topic"):
        kind(provider="duckduckgo", search_options={"topc": "news"})


async def test_null_and_other_spellings_are_understood(sea):
    web = sea()
    search, read = WebSearchToolSpec(web=web).to_tool_list()
    nothing = {"limit": None, "allowed_domains": None, "time_range": ""}
    spelled = {"max_results": "2", "allowed_domains": "sea.example", "time_range": "d"}

    for arguments in (nothing, spelled):
        for output in await both(search, {"query": "kelp", **arguments}):
            assert not output.is_error
    first, _, last, _ = leaves(web.provider)[0].asked
    assert (first.limit, first.time_range, first.allowed_domains) == (5, None, ())
    assert (last.limit, last.time_range, last.allowed_domains) == (
        2,
        "day",
        ("sea.example",),
    )
    page = {
        "url": "https://sea.example/kelp",
        "max_length": None,
        "offset": None,
        "query": None,
        "find": "",
    }
    for output in await both(read, page):
        assert "half a metre" in output.content


async def test_an_empty_answer_says_what_to_try(sea):
    search, _ = WebSearchToolSpec(web=sea(results=())).to_tool_list()
    for output in await both(
        search, {"query": "kelp", "allowed_domains": ["sea.example"]}
    ):
        assert output.content.splitlines()[1] == "No results found for: kelp"
        assert (
            "Note: try fewer or other words, or leave out allowed_domains."
            in output.content
        )


async def test_the_length_of_a_page_and_of_the_passages_for_a_question(sea):
    filler = "Nothing of interest here. " * 20
    text = "\n\n".join(
        ["# Kelp", *[filler] * 6, "## Growth\n\nGiant kelp grows fast.", *[filler] * 6]
    )
    web = sea(pages={"https://sea.example/kelp": text})
    for output in await both(
        WebSearchToolSpec(web=web).to_tool_list()[1], {**READ[1], "query": "giant kelp"}
    ):
        assert "Giant kelp grows fast." in output.content
        assert len(output.raw_output[0].text) <= 2_000 < len(text)
    for output in await both(
        WebSearchToolSpec(web=web, read_options={"max_length": 300}).to_tool_list()[1],
        READ[1],
    ):
        assert len(output.raw_output[0].text) <= 300
    with pytest.raises(InvalidOption, match="read_options: max_length"):
        WebSearchToolSpec(web=web, read_options={"max_length": 0})


@pytest.fixture
def agent(scripted):
    def make(spec, *turns):
        return FunctionAgent(
            tools=spec.to_tool_list(), llm=scripted(*turns), streaming=False
        )

    return make


async def run(agent, ctx=None):
    """Run an agent, and return the outputs of its tools."""
    running = agent.run("How fast does kelp grow?", ctx=ctx)
    outputs = [
        event.tool_output
        async for event in running.stream_events()
        if isinstance(event, ToolCallResult)
    ]
    await running
    return outputs


async def test_both_tools_share_the_calls_of_a_run_and_each_turn_begins_again(
    sea, agent
):
    spec = WebSearchToolSpec(web=sea(), max_uses=2)
    reader = agent(spec, *[SEARCH, READ, SEARCH, "done"] * 2)
    ctx = Context(reader)

    for _ in range(2):
        outputs = await run(reader, ctx)
        assert [output.is_error for output in outputs] == [False, False, True]
        assert "ERROR [budget_exceeded] all 2 calls" in outputs[-1].content
        assert "answer with what you have found so far" in outputs[-1].content


async def test_concurrent_runs_are_counted_apart(sea, agent):
    spec = WebSearchToolSpec(web=sea(), max_uses=1)
    runs = await asyncio.gather(
        *[run(agent(spec, SEARCH, SEARCH, "done")) for _ in range(4)]
    )

    assert [[output.is_error for output in outputs] for outputs in runs] == [
        [False, True]
    ] * 4


def test_outside_of_workflows_the_calls_of_the_spec_count(sea):
    spec = WebSearchToolSpec(web=sea(), max_uses=1)
    spec.web_search("kelp")
    with pytest.raises(ToolError) as raised:
        spec.open_page("https://sea.example/kelp")
    assert isinstance(raised.value.error, BudgetExceeded)
    with pytest.raises(ConfigurationError, match="max_uses"):
        WebSearchToolSpec(web=sea(), max_uses=0)


@pytest.fixture
def tavily():
    """A function that makes a spec over a Tavily that answers nothing, and the keys and
    bodies it was sent.
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

    def make(*configurable, **options):
        client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        options = {
            "provider": "tavily",
            "api_key": "developer",
            "http": Http(async_client=client),
            **options,
        }
        return WebSearchToolSpec(configurable=configurable, **options)

    make.seen = seen
    return make


async def test_a_conversation_without_what_is_required_asks_no_service(tavily, agent):
    spec = tavily("api_key", require=["api_key"])
    reader = agent(spec, SEARCH, "done", SEARCH, "done")
    ctx = Context(reader)
    await run(reader, ctx)
    with pytest.raises(ToolError, match=r"^ERROR \[missing_key\]"):
        await spec.aweb_search("tides")
    assert tavily.seen == []

    await spec.configure(ctx, api_key=SecretStr("acme-key"))
    await run(reader, ctx)
    assert [key for key, _ in tavily.seen] == ["acme-key"]


def test_a_context_has_no_tenant_that_could_be_required(tavily):
    with pytest.raises(
        ConfigurationError, match="require: tenant_id: a Context has no"
    ):
        tavily("api_key", require=["tenant_id"])


async def test_each_conversation_has_its_own_key_and_options(tavily, agent):
    spec = tavily("api_key", "search_options", "allowed_domains")
    for name, options in {
        "ann": {"search_options": {"time_range": "day"}},
        "bob": {"allowed_domains": ["b.org"]},
    }.items():
        reader = agent(spec, SEARCH, "done", SEARCH_ON, "done")
        ctx = Context(reader)
        await spec.configure(ctx, api_key=SecretStr(f"{name}-key"), **options)
        await run(reader, ctx)
        await run(reader, ctx)
    await run(agent(spec, SEARCH, "done"))

    assert [key for key, _ in tavily.seen] == [
        "ann-key",
        "ann-key",
        "bob-key",
        "bob-key",
        "developer",
    ]
    assert [body.get("time_range") for _, body in tavily.seen] == [
        "day",
        "day",
        None,
        None,
        None,
    ]
    assert [body.get("include_domains") for _, body in tavily.seen][2:] == [
        ["b.org"],
        ["b.org"],
        None,
    ]


async def test_the_saved_context_has_no_key_and_does_not_fall_back_to_the_key_of_the_developer(
    tavily, agent
):
    spec = tavily("api_key")
    reader = agent(spec, SEARCH, "done", SEARCH, "done")
    ctx = Context(reader)
    await spec.configure(ctx, api_key=SECRET)
    await run(reader, ctx)
    saved = json.dumps(ctx.to_dict())
    assert SECRET not in saved
    assert SECRET.encode() not in pickle.dumps(spec.conversations.options)

    elsewhere = tavily("api_key")
    reader = agent(elsewhere, SEARCH, "done", SEARCH, "done")
    restored = Context.from_dict(reader, json.loads(saved))
    (refused,) = await run(reader, restored)
    assert (
        "ERROR [configuration] the options of this conversation are not known here"
        in refused.content
    )
    await elsewhere.configure(restored, api_key="again-key")
    await run(reader, restored)
    assert [key for key, _ in tavily.seen] == [SECRET, "again-key"]


async def test_urls_that_were_allowed_before_it_was_configured_stay_allowed(
    tavily, agent
):
    spec = tavily("api_key", provenance="seen")
    ctx = Context(agent(spec, "done"))
    await spec.allow_text("Read https://sea.example/kelp, please.", ctx)
    await spec.configure(ctx, api_key="k")
    await spec.allow_text("And https://sea.example/dulse.", ctx)

    for name in ("kelp", "dulse"):
        spec.ledger.check(f"https://sea.example/{name}", await find_conversation(ctx))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base_url": "https://evil.example"}, "base_url: not in `configurable`"),
        ({"api_ky": SECRET}, "did you mean api_key"),
        ({"api_key": f"keyring:{SECRET}/key"}, "may not name a keyring"),
        ({"api_key": f"{SECRET} x"}, "printable ASCII without spaces"),
        ({"search_options": {"topc": 1}}, "did you mean topic"),
    ],
    ids=str,
)
async def test_wrong_options_are_refused_when_they_are_set(
    tavily, agent, options, words
):
    spec = tavily("api_key", "search_options")
    with pytest.raises(ValueError, match=words) as raised:
        await spec.configure(Context(agent(spec, "done")), **options)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (WebSearchToolSpec, {"output_format": "html"}),
        (WebSearchToolSpec, {"read_options": "long"}),
        (WebSearchToolSpec, {"search_options": "week"}),
        (WebSearchRetriever, {"read_options": "long"}),
        (WebSearchRetriever, {"search_options": 5}),
        (WebPagePostprocessor, {"read_options": 5}),
    ],
    ids=str,
)
def test_an_argument_of_the_wrong_type_is_named(kind, wrong):
    with pytest.raises(
        WebSearchError, match=f"^{next(iter(wrong))}: (must be|'html' is not one of)"
    ):
        kind(provider="brave", api_key="k", **wrong)


async def test_a_run_has_the_budget_of_a_run(sea, agent):
    spec = WebSearchToolSpec(provider=leaves(sea().provider)[0], budget="1 call")
    for _ in range(2):
        first, again, second = await run(agent(spec, SEARCH, SEARCH, SEARCH_ON, "done"))
        assert not first.is_error
        assert not again.is_error  # nothing was sent for it
        assert (
            "ERROR [budget_exceeded] the budget of 1 call does not allow this call"
            in second.content
        )
