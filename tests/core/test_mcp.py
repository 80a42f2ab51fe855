"""The MCP server, through the clients of the SDK that is installed: `make test-mcp` has
the other line of it.
"""

from __future__ import annotations
import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, RateLimited
from websearch_core.events import Charge, listen
from websearch_core.settings import Http
from websearch_core.testing import FakeWeb
from websearch_core.tools import DESCRIPTIONS, Run, WebTools

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import mcp as sdk

from tests.core.client.test_crawl import SEA, SITE, Sites
from tests.core.net.test_guard_corpus import CORPUS, AsyncWire, Names, rows
from tests.waiting import await_until
from websearch_core.mcp import make_server

# 2.x also speaks the stateless specification
ERAS = ["legacy", "auto"] if hasattr(sdk, "Client") else ["legacy"]
KELP = {"title": "Kelp", "url": "https://sea.example/kelp", "snippet": "A brown alga."}
TIDES = {"title": "Tides", "url": "https://sea.example/tides", "snippet": "High water."}
PAGES = {
    "https://sea.example/kelp": "# Kelp\n\nKelp is a brown alga.",
    "https://else.example/": "Else.",
}
LITERALS = [
    "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "0.0.0.0", "[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "localhost", "localhost.", "metadata.google.internal", "127。0。0。1",
]  # fmt: skip


def web(**options):
    return FakeWeb(**{"results": [KELP, TIDES], "pages": dict(PAGES), **options})


def serve(provider=None, *, structured=True, site_tools=False, **options):
    tools = WebTools(provider=provider or web(), **options)
    return make_server(tools, structured=structured, site_tools=site_tools)


@asynccontextmanager
async def wire(server):
    from mcp.shared.memory import create_client_server_memory_streams

    async with create_client_server_memory_streams() as (ours, its):
        task = asyncio.create_task(
            server.run(*its, server.create_initialization_options())
        )
        yield ours
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def connect(server, era="legacy"):
    if hasattr(sdk, "Client"):
        # without the wire, it speaks no JSON-RPC
        async with sdk.Client(wire(server), mode=era) as client:
            yield client
    else:
        from mcp.shared.memory import create_connected_server_and_client_session

        async with create_connected_server_and_client_session(server) as session:
            yield session


async def call(client, name, /, **arguments):
    progress = arguments.pop("progress", None)
    result = await client.call_tool(
        name, arguments, **({"progress_callback": progress} if progress else {})
    )
    return result.model_dump(by_alias=True, mode="json")


def texts(result):
    return [part["text"] for part in result["content"]]


def without_mark(text):
    """Leave out the random mark of the fence, which differs in each text."""
    return re.sub(r"\b[a-z]{16}\b", "MARK", text)


@pytest.mark.parametrize("era", ERAS)
async def test_the_tools_are_listed_with_schemas_and_hints(era):
    async with connect(serve(limit=3), era) as client:
        listed = (await client.list_tools()).model_dump(by_alias=True, mode="json")
    search, page = listed["tools"]

    assert [search["name"], page["name"]] == ["web_search", "open_page"]
    for tool in (search, page):
        assert tool["description"] == DESCRIPTIONS[tool["name"]]
    assert search["inputSchema"]["required"] == ["query"]
    assert "1 to 3" in search["inputSchema"]["properties"]["limit"]["description"]
    for tool in (search, page):
        assert "conversation" in tool["inputSchema"]["properties"]
        assert tool["outputSchema"]["required"] == ["status", "sources"]
        hints = tool["annotations"]
        assert hints["readOnlyHint"]
        assert hints["idempotentHint"]
        assert hints["openWorldHint"]
        assert hints["destructiveHint"] is False
    if era == "auto":
        assert (listed["ttlMs"], listed["cacheScope"]) == (86_400_000, "public")


@pytest.mark.parametrize("era", ERAS)
async def test_the_pages_of_a_site_are_listed_if_the_host_may_and_open_by_number(era):
    sites = Sites(SITE)
    server = make_server(WebTools(sites.open()), site_tools=True)

    async with connect(server, era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        listed = texts(await call(client, "list_pages", url=SEA, contains="b"))
        handle = re.search("conversation ([0-9a-f]+)", listed[1])[1]
        opened = await call(client, "open_page", url="[1]", conversation=handle)
    refused = await calls_of(serve())("list_pages", {"url": SEA})

    assert names == ["web_search", "open_page", "list_pages"]
    assert f"1. b — {SEA}/b" in listed[0]
    assert f"URL: {SEA}/b" in texts(opened)[0]
    assert "there is no such tool" in texts(refused)[0]


@pytest.mark.parametrize("era", ERAS)
async def test_a_model_is_shown_what_the_tools_show_everywhere(era):
    plain = WebTools(provider=web())
    searched = plain.search({"query": "kelp"}, Run(conversation="1"))
    opened = plain.open_page({"url": "[1]", "find": "alga"}, Run(conversation="1"))

    async with connect(serve(), era) as client:
        result = await call(client, "web_search", query="kelp")
        text, begun = texts(result)
        handle = result["structuredContent"]["conversation"]
        page = await call(
            client, "open_page", url="[1]", find="alga", conversation=handle
        )

    assert without_mark(text) == without_mark(searched.content)
    assert handle in begun
    assert not result["isError"]
    assert "text" not in result["structuredContent"]
    assert result["structuredContent"]["sources"] == searched.artifact["sources"]
    assert [without_mark(each) for each in texts(page)] == [
        without_mark(opened.content)
    ]
    assert page["structuredContent"]["sources"][0]["id"] == 1


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("era", ERAS)
async def test_the_text_of_a_page_is_sent_once(era, structured):
    words = "Kelp is a brown alga that sways."
    server = serve(web(pages={KELP["url"]: words}), structured=structured)
    async with connect(server, era) as client:
        listed = (await client.list_tools()).model_dump(by_alias=True, mode="json")
        page = await call(client, "open_page", url=KELP["url"])

    assert json.dumps(page).count(words) == 1
    assert (page.get("structuredContent") is not None) is structured
    for tool in listed["tools"]:
        assert (tool.get("outputSchema") is not None) is structured


@pytest.mark.parametrize(
    ("name", "sent"), [("web_search", {}), ("open_page", {"url": "x", "depth": 1})]
)
async def test_an_error_names_the_conversation_among_the_arguments(name, sent):
    failed = await calls_of(serve())(name, sent)

    (text,) = texts(failed)
    assert failed["isError"]
    assert text.endswith(", conversation.")


@pytest.mark.parametrize("wrap", [dict, lambda sent: {"input": sent}, json.dumps])
async def test_a_conversation_is_found_beside_what_a_model_wraps(wrap):
    calls = calls_of(serve())
    found = await calls("web_search", {"query": "kelp"})
    handle = found["structuredContent"]["conversation"]
    sent = wrap({"url": "[1]", "conversation": handle})
    page = await calls("open_page", sent if isinstance(sent, dict) else {"url": sent})

    assert not page["isError"]
    assert len(texts(page)) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_host_reads_what_the_tools_are_for_and_what_a_conversation_is(era):
    server = serve()
    options = server.create_initialization_options()

    assert "`conversation`" in options.instructions
    if hasattr(sdk, "Client"):
        async with connect(server, era) as client:
            assert client.instructions == options.instructions


async def test_a_server_that_ends_answers_the_calls_under_way_and_those_that_come():
    provider = web(delay=600)
    server = serve(provider, timeout=900)
    calls = calls_of(server)
    task = asyncio.create_task(calls("web_search", {"query": "kelp"}))
    await await_until(lambda: provider.queries)
    server.end_calls()

    for answer in (await task, await calls("web_search", {"query": "tides"})):
        assert answer["isError"]
        assert texts(answer)[0].startswith("ERROR [unavailable] the server is ending")
    assert provider.queries == ["kelp"]


async def test_numbers_continue_with_the_handle_and_start_again_without_it():
    provider = web(results={"kelp": [KELP], "tides": [TIDES]})
    async with connect(serve(provider)) as client:
        first = (await call(client, "web_search", query="kelp"))["structuredContent"]
        second = await call(
            client, "web_search", query="tides", conversation=first["conversation"]
        )
        other = (await call(client, "web_search", query="tides"))["structuredContent"]

    assert [source["id"] for source in second["structuredContent"]["sources"]] == [2]
    assert len(second["content"]) == 1  # the handle is named once
    assert [source["id"] for source in other["sources"]] == [1]
    assert other["conversation"] != first["conversation"]


async def test_with_provenance_only_pages_of_the_conversation_open():
    async with connect(serve(provenance="seen")) as client:
        handle = (await call(client, "web_search", query="kelp"))["structuredContent"][
            "conversation"
        ]
        seen = await call(client, "open_page", url=KELP["url"], conversation=handle)
        elsewhere = await call(client, "open_page", url=KELP["url"])
        unseen = await call(
            client, "open_page", url="https://else.example/", conversation=handle
        )

    assert not seen["isError"]
    for refused in (elsewhere, unseen):
        assert refused["isError"]
        assert refused["structuredContent"]["code"] == "unsafe_url"


UNKNOWN = ["1", "0" * 28, "x" * 100_000, "\ud800", "é" * 28, ["a"], {"a": 1}, 7, True]


@pytest.mark.parametrize("handle", UNKNOWN)
async def test_a_handle_that_nobody_got_begins_another_conversation_with_a_note(handle):
    calls = calls_of(serve())
    answer = await calls("web_search", {"query": "kelp", "conversation": handle})
    text, note = texts(answer)
    begun = answer["structuredContent"]["conversation"]

    assert not answer["isError"]
    assert "Kelp" in text
    assert note.startswith("Note: the conversation that you passed is not known here")
    assert begun in note
    assert begun != handle
    again = await calls("open_page", {"url": KELP["url"], "conversation": begun})
    assert (again["isError"], len(texts(again))) == (False, 1)


@pytest.mark.parametrize("nothing", [None, "", "null", "None", " none "])
async def test_words_for_no_conversation_begin_one_as_if_it_was_left_out(nothing):
    calls = calls_of(serve())
    answer = await calls("web_search", {"query": "kelp", "conversation": nothing})

    assert texts(answer)[1].startswith("This is conversation ")


async def test_after_restarts_no_number_stands_for_another_page():
    web_of = {"kelp": [KELP], "tides": [TIDES]}
    handle, numbers = None, {}
    for query in ("kelp", "tides", "tides", "kelp") * 4:
        calls = calls_of(serve(web(results=web_of)))  # as clients that start one a call
        answer = await calls("web_search", {"query": query, "conversation": handle})
        handle = answer["structuredContent"]["conversation"]
        (source,) = answer["structuredContent"]["sources"]
        assert numbers.setdefault(source["id"], source["url"]) == source["url"]

    failed = await calls("open_page", {"url": "[1]", "conversation": handle})
    assert "no page of this conversation has the number 1 " in texts(failed)[0]
    assert len(numbers) == 16


@pytest.mark.parametrize("url", ["[1]", KELP["url"]])
async def test_an_error_for_want_of_a_conversation_says_so(url):
    calls = calls_of(serve(provenance="seen"))
    handle = (await calls("web_search", {"query": "kelp"}))["structuredContent"][
        "conversation"
    ]
    failed = await calls("open_page", {"url": url})
    unknown = await calls("open_page", {"url": url, "conversation": "0" * 28})
    opened = await calls("open_page", {"url": url, "conversation": handle})

    assert failed["isError"]
    assert "pass it as `conversation`" in texts(failed)[1]
    assert unknown["isError"]
    assert "is not known here" in texts(unknown)[1]
    assert not opened["isError"]


def calls_of(server, user=None, session=None, token=None):
    """Return a function that answers calls of a user, as the transport has
    authenticated them.
    """
    login = user and SimpleNamespace(
        access_token=SimpleNamespace(**{"claims": None, "subject": None, **user})
    )
    request = login and SimpleNamespace(scope={"user": login})
    meta = token and SimpleNamespace(progressToken=token)
    context = SimpleNamespace(meta=meta, request=request, session=session, request_id=1)

    async def answer(name, arguments):
        if hasattr(server, "request_handlers"):  # 1.x
            from mcp.server.lowlevel.server import request_ctx
            from mcp.types import CallToolRequest, CallToolRequestParams

            request_ctx.set(context)
            params = CallToolRequestParams.model_construct(
                name=name, arguments=arguments
            )
            asked = CallToolRequest.model_construct(method="tools/call", params=params)
            result = (await server.request_handlers[CallToolRequest](asked)).root
        else:
            handler = server.get_request_handler("tools/call").handler
            result = await handler(
                context, SimpleNamespace(name=name, arguments=arguments)
            )
        return result.model_dump(by_alias=True, mode="json")

    return answer


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"client_id": "ann"}, {"client_id": "bob"}),
        (
            {"client_id": "app", "subject": "ann"},
            {"client_id": "app", "subject": "bob"},
        ),
        (
            {"client_id": "app", "claims": {"iss": "a"}},
            {"client_id": "app", "claims": {"iss": "b"}},
        ),
        ({"client_id": "ann"}, None),
    ],
)
async def test_nobody_continues_the_conversation_of_another_user(one, other):
    server = serve(provenance="seen")
    ann, bob = calls_of(server, one), calls_of(server, other)
    handle = (await ann("web_search", {"query": "kelp"}))["structuredContent"][
        "conversation"
    ]
    mine = await ann("open_page", {"url": "[1]", "conversation": handle})
    stolen = await bob("open_page", {"url": "[1]", "conversation": handle})

    assert not mine["isError"]
    assert stolen["structuredContent"]["code"] == "invalid_option"


async def test_each_user_is_charged_as_a_tenant():
    server, charged = serve(budget="100 calls/day"), []
    with listen(charged.append):
        await calls_of(server, {"client_id": "ann"})("web_search", {"query": "kelp"})
        await calls_of(server, {"client_id": "app", "subject": "bob"})(
            "web_search", {"query": "kelp"}
        )
        await calls_of(server)("web_search", {"query": "kelp"})
    assert [event.tenant for event in charged if isinstance(event, Charge)] == [
        "ann",
        "['app', None, 'bob']",
        "",
    ]


@pytest.mark.parametrize("era", ERAS)
async def test_an_error_is_a_result_with_our_text(era):
    provider = web(errors={"storm": RateLimited("too fast", retry_after=7)})
    async with connect(serve(provider, retry=False), era) as client:
        failed = await call(client, "web_search", query="storm")
        wrong = await call(client, "web_search", query="kelp", limit="many")
        unknown = await call(client, "rm", path="/")
        refused = await call(client, "open_page", url="http://169.254.169.254/latest")

    assert failed["isError"]
    assert texts(failed)[0].startswith("ERROR [rate_limited]")
    assert failed["structuredContent"]["retry_after"] == 7
    assert len(failed["content"]) == 1
    assert texts(wrong)[0].startswith("ERROR [invalid_option] limit:")
    assert unknown["isError"]
    assert "web_search and open_page" in texts(unknown)[0]
    assert refused["isError"]


async def test_a_bug_is_logged_and_never_shown(caplog):
    class Broken:
        name = "broken"

        def search(self, query, /):
            raise RuntimeError("SEKRET-0123456789")
            yield

    async with connect(serve(Broken())) as client:
        result = await call(client, "web_search", query="kelp")
    assert result["isError"]
    assert "SEKRET" not in json.dumps(result)
    assert "RuntimeError" in caplog.text


@pytest.mark.parametrize("era", ERAS)
async def test_progress_is_sent_in_order_if_it_is_asked_for(era):
    received = []

    async def progress(done, total, message):
        received.append((done, message))

    async with connect(serve(), era) as client:
        await call(client, "web_search", query="kelp", progress=progress)
        await await_until(lambda: len(received) == 2)
        await call(client, "web_search", query="kelp")
    assert received == [(1.0, "fake: search start"), (2.0, "fake: search end")]


async def test_the_progress_of_a_call_that_fails_comes_before_its_result():
    received = []

    async def progress(done, total, message):
        received.append(message)

    provider = web(errors={"storm": RateLimited("too fast", retry_after=7)})
    async with connect(serve(provider, retry=False)) as client:
        result = await call(client, "web_search", query="storm", progress=progress)
        before = len(received)
    assert result["isError"]
    assert (before, received) == (2, ["fake: search start", "fake: search end"])


async def test_a_client_that_cannot_be_reached_fails_no_call(caplog):
    async def send(*_, **__):
        raise ConnectionError("gone")

    session = SimpleNamespace(send_progress_notification=send)
    result = await calls_of(serve(), session=session, token=1)(
        "web_search", {"query": "kelp"}
    )
    assert not result["isError"]
    assert not caplog.records


@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_call_is_cancelled_at_the_service(era):
    ends = []
    provider = web(delay=600)
    tools = WebTools(
        WebSearch(
            provider,
            timeout=900,
            on_event=lambda event: ends.append(getattr(event, "error", None)),
        )
    )
    async with connect(make_server(tools), era) as client:
        task = asyncio.create_task(call(client, "web_search", query="kelp"))
        await await_until(lambda: provider.queries)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # the client of 1.x leaves it to its user
        if not any(ends) and not hasattr(sdk, "Client"):
            await cancel_first(client)
        await await_until(
            lambda: any(
                isinstance(error, GeneratorExit | asyncio.CancelledError)
                for error in ends
            )
        )


async def cancel_first(session):
    from mcp.types import (
        CancelledNotification,
        CancelledNotificationParams,
        ClientNotification,
    )

    number = session._request_id - 1
    params = CancelledNotificationParams(requestId=number, reason="test")
    await session.send_notification(
        ClientNotification(
            CancelledNotification(method="notifications/cancelled", params=params)
        )
    )


async def test_200_calls_in_flight_all_end():
    async with connect(serve(web(delay=0.05), max_uses=1)) as client:
        results = await asyncio.gather(
            *(call(client, "web_search", query=f"kelp {n}") for n in range(200))
        )
    assert Counter(result["isError"] for result in results) == {False: 200}
    assert (
        len({result["structuredContent"]["conversation"] for result in results}) == 200
    )


async def test_huge_arguments_are_answered():
    async with connect(serve()) as client:
        for arguments in (
            {"query": "k" * 3_000_000},
            {"query": "kelp", "allowed_domains": ["a.example"] * 100_000},
        ):
            result = await call(client, "web_search", **arguments)
            assert sum(map(len, texts(result))) < 20_000
        result = await call(
            client, "open_page", url="https://sea.example/" + "k" * 3_000_000
        )
    assert result["isError"]


@pytest.mark.parametrize("host", LITERALS)
async def test_a_hostile_url_is_refused_through_the_server_too(host):
    server = make_server(WebTools(WebSearch(reader="direct")), structured=True)
    answer = await calls_of(server)("open_page", {"url": f"http://{host}/"})
    assert answer["structuredContent"]["code"] == "unsafe_url"


@pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of hostile URLs is not on this machine"
)
@pytest.mark.no_cover
async def test_no_url_of_the_corpus_leads_a_client_where_the_guard_forbids(monkeypatch):
    httpcore = pytest.importorskip("httpcore")
    monkeypatch.setattr("websearch_core._net.system.source_address", lambda ip: None)
    web = WebSearch(reader="direct", layers=None, http=Http(library="httpx"))
    names, wire = Names(), AsyncWire(httpcore.AsyncMockStream)
    object.__setattr__(web._sender.guard, "resolve", names)
    loop_client = await web._sender._get_loop_clients().client(guarded=True)
    for pool in loop_client.pools:
        pool.inner._network_backend._inner = wire
    wrong, tried = [], Counter()
    server = make_server(WebTools(web), structured=True)
    async with connect(server, ERAS[-1]) as client:
        for label in ("block", "invalid", "allow"):
            for url in rows(label):
                names.forget()
                wire.dialled.clear()
                result = await call(client, "open_page", url=url)
                code = result["structuredContent"].get("code")
                expected = (
                    "invalid_option"
                    if not url
                    else "unsafe_url"
                    if label != "allow"
                    else None
                )
                looked_up = label == "invalid" and names.asked
                tried[label] += 1
                if (
                    code != expected
                    or bool(wire.dialled) != (label == "allow")
                    or looked_up
                ):
                    wrong.append((url, code))
    await web.aclose()

    assert wrong[:5] == []
    assert min(tried.values()) > 100


def test_content_blocks_of_anthropic_are_not_a_format_of_mcp():
    with pytest.raises(ConfigurationError, match="text, markdown and json"):
        serve(output_format="search_result")


async def test_json_is_a_format():
    async with connect(serve(output_format="json")) as client:
        result = await call(client, "web_search", query="kelp")
    assert json.loads(texts(result)[0])["results"][0]["title"] == "Kelp"


def test_without_the_package_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    with pytest.raises(ConfigurationError, match=r"websearch-core\[mcp\]"):
        serve()


def test_the_core_does_not_import_the_sdk():
    code = "import sys, websearch_core.tools, websearch_core.mcp; print('mcp' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True
        ).stdout
        == "False\n"
    )


async def test_spans_are_those_of_the_call_and_nest_in_the_sdks():
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import (
        InMemorySpanExporter,
    )

    from websearch_core.otel import OpenTelemetry

    exporter, provider = InMemorySpanExporter(), trace.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    server = make_server(
        WebTools(WebSearch(web(), on_event=OpenTelemetry(tracer_provider=provider)))
    )
    with provider.get_tracer("host").start_as_current_span("tools/call"):
        await calls_of(server)("web_search", {"query": "kelp"})
    retrieval, host = exporter.get_finished_spans()
    assert (retrieval.name, host.name) == ("retrieval fake", "tools/call")
    assert retrieval.parent.span_id == host.context.span_id
