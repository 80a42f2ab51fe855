"""Both tools without a framework: what an integration is built on."""

from __future__ import annotations
import ast
import copy
import pickle
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from websearch_core import WebSearch
from websearch_core.errors import (
    BadResponse,
    BudgetExceeded,
    ConfigurationError,
    InvalidOption,
    MissingKey,
    RateLimited,
    UnsafeURL,
    UnsupportedOption,
)
from websearch_core.events import Wait
from websearch_core.models import SearchResponse
from websearch_core.provenance import Ledger
from websearch_core.provider import check_options
from websearch_core.render import find_error_code
from websearch_core.testing import FakeWeb, stop_clock
from websearch_core.tokens import estimate_tokens
from websearch_core.tools import (
    DESCRIPTIONS,
    Output,
    Passages,
    Retrieval,
    Run,
    WebTools,
    as_error,
    split_arguments,
)
from websearch_core.tools._fixed import check_search_options

ROOT = Path(__file__).resolve().parents[3]
KELP = "https://sea.example/kelp"
BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])


@pytest.fixture
def fake():
    results = [
        {"title": name, "url": f"https://sea.example/{name}"}
        for name in ("kelp", "dulse")
    ]
    return FakeWeb(results, pages={KELP: "Giant kelp grows fast."})


async def search(tools, is_async, arguments, *run):
    return (
        await tools.asearch(arguments, *run)
        if is_async
        else tools.search(arguments, *run)
    )


async def open_page(tools, is_async, arguments, *run):
    return (
        await tools.aopen_page(arguments, *run)
        if is_async
        else tools.open_page(arguments, *run)
    )


def test_a_model_is_offered_the_filters_that_a_provider_of_the_chain_supports(fake):
    class Plain:
        name = "plain"

        def search(self, query):
            check_options(query, self)
            return SearchResponse(query=query.text, provider=self.name)
            yield

    def offered(**options):
        schema = WebTools(reader=fake, **options).search_arguments()
        return set(schema.model_json_schema()["properties"]) - {"query", "limit"}

    assert offered(provider=Plain()) == set()
    assert offered(provider="arxiv") == {"time_range"}
    assert offered(provider=[Plain(), "arxiv"]) == {"time_range"}
    # a run may choose another
    assert len(offered(provider=Plain(), configurable={"provider": ["arxiv"]})) == 2
    # one that was not offered is still understood
    sent = {"query": "kelp", "time_range": "week"}
    response = WebTools(provider=Plain(), reader=fake).search(sent)
    assert "plain does not support time_range: ignored" in response.content


@BOTH
async def test_a_source_keeps_its_number_through_a_conversation(fake, is_async):
    tools, run = WebTools(provider=fake, reader=fake, limit=2), Run(conversation="1")
    found = await search(tools, is_async, {"query": "kelp"}, run)
    page = await open_page(tools, is_async, {"url": KELP}, run)

    assert page.artifact["sources"][0]["id"] in {
        source["id"] for source in found.artifact["sources"]
    }
    assert "Giant kelp grows fast." in page.content
    assert [
        document.metadata["read"] for document in (*found.documents, *page.documents)
    ][-1] is True


@BOTH
async def test_arguments_of_a_model_are_validated_in_words_for_it(fake, is_async):
    tools = WebTools(provider=fake, reader=fake)
    with pytest.raises(
        InvalidOption,
        match=r"limit: .*; the arguments are query, limit, allowed_domains, time_range",
    ):
        await search(tools, is_async, {"query": "kelp", "limit": "few"})
    with pytest.raises(
        InvalidOption, match=r"the arguments are url, max_length, offset, query, find"
    ):
        await open_page(tools, is_async, {"page": KELP})


@BOTH
async def test_calls_of_a_run_are_counted_together_and_what_it_sets_is_used(
    fake, is_async
):
    tools = WebTools(
        provider=fake,
        reader=fake,
        max_uses=2,
        configurable=["search_options", "read_options"],
    )
    run = Run(
        name="run",
        options={"search_options": {"limit": 1}, "read_options": {"max_length": 5}},
    )

    assert len((await search(tools, is_async, {"query": "sea"}, run)).documents) == 1
    assert (
        len((await open_page(tools, is_async, {"url": KELP}, run)).documents[0].text)
        <= 5
    )
    with pytest.raises(BudgetExceeded, match="answer with what you have found so far"):
        await search(tools, is_async, {"query": "sea"}, run)
    await search(tools, is_async, {"query": "sea"}, Run(name="another"))


@BOTH
async def test_a_run_that_lacks_what_is_required_gets_nothing_of_the_developer(
    fake, is_async
):
    tools = WebTools(
        provider=fake,
        reader=fake,
        configurable=["allowed_domains"],
        require=["allowed_domains", "tenant_id"],
    )
    options = {"allowed_domains": ["sea.example"]}
    for run in (Run(), Run(options=options), Run(tenant="acme")):
        with pytest.raises(MissingKey, match="this run sets no "):
            await search(tools, is_async, {"query": "sea"}, run)
        with pytest.raises(MissingKey, match="which each run must set"):
            await open_page(tools, is_async, {"url": KELP}, run)
    complete = Run(options=options, tenant="acme")
    assert (await search(tools, is_async, {"query": "sea"}, complete)).documents
    assert fake.urls == []
    assert copy.deepcopy(tools).require == ["allowed_domains", "tenant_id"]


def test_what_is_required_has_to_be_configurable(fake):
    with pytest.raises(ConfigurationError, match="require: api_key: not in `config"):
        WebTools(provider=fake, configurable=["timeout"], require=["api_key"])


@BOTH
async def test_what_was_found_elsewhere_may_be_opened_only_if_the_run_shares_it(
    fake, is_async
):
    ledger = Ledger("seen")
    tools = WebTools(provider=fake, reader=fake, provenance=ledger)
    ledger.allow_text(f"Read {KELP}.")

    await open_page(tools, is_async, {"url": KELP}, Run(conversation="1", shares=True))
    with pytest.raises(UnsafeURL, match="search for the page first"):
        await open_page(tools, is_async, {"url": KELP}, Run(conversation="2"))


@BOTH
async def test_options_of_the_web_search_are_those_of_the_tools_unless_they_have_their_own(
    fake, is_async
):
    web = WebSearch(
        fake, reader=fake, search_options={"limit": 1, "time_range": "week"}
    )
    usual, own = (
        WebTools(web),
        WebTools(web, limit=2, search_options={"time_range": "day"}),
    )

    assert usual.search_arguments()(query="kelp").limit == 1
    assert usual.search_arguments().fixed == {"time_range"}
    assert (
        len((await search(usual, is_async, {"query": "sea", "limit": 5})).documents)
        == 1
    )
    assert len((await search(own, is_async, {"query": "sea"})).documents) == 2
    assert not own.search_arguments().model_json_schema()["properties"].keys() & {
        "time_range"
    }


@BOTH
@pytest.mark.parametrize("by_run", [False, True], ids=["tools", "run"])
async def test_options_of_a_page_hold_for_the_pages_that_a_search_reads_too(
    is_async, by_run
):
    fake = FakeWeb(
        [{"title": "kelp", "url": KELP}],
        pages={KELP: "Giant [kelp](https://sea.example/a) grows fast."},
    )
    options = {"links": "text"}
    tools = WebTools(
        WebSearch(fake, reader=fake),
        search_options={"read_top": 1},
        read_options=None if by_run else options,
        configurable=["read_options"],
    )
    run = Run(options={"read_options": options} if by_run else {})

    assert (
        "Giant kelp grows fast."
        in (await search(tools, is_async, {"query": "kelp"}, run)).content
    )
    assert (
        "Giant kelp grows fast."
        in (await open_page(tools, is_async, {"url": KELP}, run)).content
    )


def test_options_of_a_run_are_checked_before_it_begins(fake):
    tools = WebTools(provider=fake, configurable=["search_options"])

    tools.check_run_options({"search_options": {"topic": "news"}})
    with pytest.raises(ConfigurationError, match="api_key: not in `configurable`"):
        tools.check_run_options({"api_key": "k"})
    with pytest.raises(InvalidOption, match="did you mean topic"):
        tools.check_run_options({"search_options": {"topc": "news"}})


class TestOptionsThatTheProviderLacks:
    @pytest.mark.parametrize(
        "made",
        [
            WebTools,
            lambda provider, **options: Retrieval(WebSearch(provider), **options),
        ],
    )
    def test_are_an_error_when_the_tools_or_a_retriever_are_made(self, made):
        with pytest.raises(
            UnsupportedOption, match="duckduckgo does not support topic"
        ):
            made(provider="duckduckgo", search_options={"topic": "news"})
        made(
            provider="duckduckgo",
            search_options={"topic": "news", "unsupported": "note"},
        )

    @pytest.mark.parametrize(
        ("provider", "options"),
        [
            (["duckduckgo", "tavily"], {"topic": "news"}),
            ("duckduckgo", {"time_range": "week"}),
            ("duckduckgo", {"read_top": 3}),
            (None, {}),
        ],
        ids=str,
    )
    def test_are_not_those_that_one_of_several_supports(
        self, monkeypatch, provider, options
    ):
        monkeypatch.setenv("TAVILY_API_KEY", "k")
        assert (
            WebTools(provider=provider, search_options=options).search_options
            == options
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"output_format": "yaml"},
            "output_format: 'yaml' is not one of text, markdown, json, search_result",
        ),
        ({"limit": 0}, "^limit: must be a whole number of at least 1"),
        ({"search_options": {"limit": 3}}, "limit: write limit=3"),
        ({"read_options": {"offset": 3}}, "read_options: offset: each call chooses it"),
        ({"max_uses": 0}, "max_uses"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_when_the_tools_are_made(fake, arguments, words):
    with pytest.raises(ValueError, match=words):
        WebTools(provider=fake, **arguments)


def test_a_copy_has_the_same_options():
    twin = pickle.loads(
        pickle.dumps(
            WebTools(provider="duckduckgo", limit=3, search_options={"country": "GB"})
        )
    )

    assert (twin.limit, twin.search_options) == (3, {"country": "GB"})
    assert twin.search_arguments().fixed == {"country"}


def test_an_error_stays_itself_and_a_bug_becomes_one_that_quotes_nothing(caplog):
    wrong, bug = InvalidOption("limit: no"), RuntimeError("SECRET")

    assert as_error(wrong, "web_search") is wrong
    failure = as_error(bug, "web_search")
    assert isinstance(failure, BadResponse)
    assert failure.__cause__ is bug
    assert "SECRET" not in str(failure) + caplog.text


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("k", "write limit=..."),
        ("max_results", "write limit=..."),
        ("time_range", 'write search_options={"time_range": ...}'),
        ("region", 'write search_options={"country": ...}'),
        ("read_top", 'write search_options={"read_top": ...}'),
        ("max_length", 'write read_options={"max_length": ...}'),
        (
            "headers",
            'write http=Http(credentials={"https://wiki.corp": Credentials(headers={"X-Key": "env:KEY"})})',
        ),
        ("searx_host", 'write provider=SearXNG(base_url="http://localhost:8888")'),
    ],
)
def test_an_option_of_a_call_is_answered_with_the_line_to_write(name, line):
    with pytest.raises(ConfigurationError) as raised:
        split_arguments({name: "SECRET"}, ["limit", "search_options", "read_options"])
    assert str(raised.value).rstrip(".") == f"{name}: {line}".rstrip(".")


@pytest.mark.parametrize("name", ["limit", "k", "max_results"])
def test_a_limit_of_a_tool_that_opens_pages_is_answered_with_where_it_belongs(name):
    with pytest.raises(
        ConfigurationError,
        match=f"^{name}: give it to the tool that searches; this one opens pages",
    ):
        split_arguments({name: 3}, ["search_options", "read_options"])


@pytest.mark.parametrize(
    ("provider", "line"),
    [
        ("tavily", "provider=Tavily(include_answer=...)"),
        ("brave,linkup", "provider=Linkup(include_answer=...)"),
        (["brave", "tavily"], "provider=Tavily(include_answer=...)"),
        (
            None,
            "provider=Linkup(include_answer=...), or provider=Tavily(include_answer=...)",
        ),
    ],
    ids=str,
)
def test_an_option_of_a_provider_is_answered_with_the_one_that_was_asked(
    provider, line
):
    said = f"include_answer: write {re.escape(line)}$"
    with pytest.raises(ConfigurationError, match=said):
        split_arguments({"provider": provider, "include_answer": "SECRET"}, ["limit"])
    with pytest.raises(ConfigurationError, match=said):
        WebSearch(provider, include_answer=True)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("search_depth", r"provider=Tavily\(search_depth=\.\.\.\)"),
        ("timeout", r"timeout=\.\.\."),
    ],
)
def test_what_is_no_option_of_a_search_is_answered_with_its_place(name, line):
    with pytest.raises(
        InvalidOption,
        match=f"search_options: {name}: not an option; write {line}, beside search_options",
    ):
        check_search_options({name: 3})


def test_arguments_are_split_and_own_ones_win():
    arguments, own = split_arguments(
        {"provider": "brave", "timeout": 3, "limit": 5}, ["limit", "timeout"]
    )

    assert (arguments, own) == ({"provider": "brave"}, {"timeout": 3, "limit": 5})


@pytest.mark.parametrize("package", ["langchain_websearch", "llamaindex_websearch"])
@pytest.mark.repository
def test_a_wrapper_imports_nothing_private_of_the_core(package):
    """So every import of a wrapper is open to a third integration."""
    modules = list((ROOT / package / "src").rglob("*.py"))
    imported = [
        (path.name, part)
        for path in modules
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _imported(node)
        if name.startswith("websearch_core")
        for part in name.split(".")
    ]

    assert len(imported) > 20
    assert [
        (name, part)
        for name, part in imported
        if part.startswith("_") and not part.startswith("__")
    ] == []


def _imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


@BOTH
@pytest.mark.parametrize(
    ("asked", "waits"),
    [([0.3], []), ([0.001, 0.3], [0.001]), ([0.05], [0.05]), ([0.05, 0.05], [0.05])],
    ids=["too long", "then too long", "short", "together too long"],
)
async def test_a_tool_waits_only_so_long_for_a_service_that_says_when_to_come_back(
    asked, waits, fake, is_async, monkeypatch
):
    monkeypatch.setattr("websearch_core.tools._web_tools._PATIENCE", 0.06)
    heard = []
    fake.errors["kelp"] = [
        *(RateLimited("too fast", retry_after=one) for one in asked),
        None,
    ]
    tools = WebTools(provider=fake, timeout=60, on_event=heard.append)
    if sum(asked) <= 0.06:
        await search(tools, is_async, {"query": "kelp"})
    else:
        with pytest.raises(RateLimited) as caught:
            await search(tools, is_async, {"query": "kelp"})
        assert caught.value.retry_after == asked[-1]
    assert [event.seconds for event in heard if isinstance(event, Wait)] == waits


@BOTH
async def test_more_than_five_seconds_are_not_waited_for_by_a_tool_or_before_the_next_call(
    fake, is_async
):
    fake.errors["kelp"] = [RateLimited("too fast", retry_after=5.1), None]
    tools = WebTools(provider=fake, timeout=60)
    with pytest.raises(RateLimited):
        await search(tools, is_async, {"query": "kelp"})
    assert len(fake.searches) == 1


async def test_a_limit_above_the_maximum_is_that_maximum_with_a_note(fake):
    output = WebTools(provider=fake).search({"query": "kelp", "limit": 500})
    assert fake.searches[0].limit == 20
    assert "Note: limit: 20 is the maximum here." in output.content


@pytest.mark.parametrize("form", ["text", "markdown", "json", "search_result"])
async def test_every_answer_has_the_date_and_no_description_has_it(fake, form):
    tools = WebTools(provider=fake, output_format=form)
    with stop_clock(datetime(2026, 5, 4, 23, 59, tzinfo=UTC)):
        outputs = [tools.search({"query": "kelp"}), tools.open_page({"url": KELP})]
        if form == "text":
            assert (
                outputs[0]
                .content.split("\n")[0]
                .endswith(". Today is 2026-05-04 (UTC)]")
            )
        assert [
            output
            for output in outputs
            if "Today is 2026-05-04 (UTC)" not in str(output.content)
        ] == []
        assert [text for text in DESCRIPTIONS.values() if "2026" in text] == []
        assert "2026" not in str(tools.search_arguments().model_json_schema())
    assert "2026-05-04" not in str(tools.search({"query": "kelp"}).content)


@pytest.mark.parametrize("form", ["text", "markdown", "json", "search_result"])
async def test_an_error_says_the_same_as_text_as_json_and_in_its_artifact(fake, form):
    tools = WebTools(provider=fake, output_format=form)
    output = Output.of_error(
        RateLimited("too fast", provider="sea", retry_after=7), form
    )

    assert find_error_code(output.content) == output.artifact["code"] == "rate_limited"
    assert output.artifact == {
        "status": "error", "code": "rate_limited", "retry_after": 7, "url": None, "sources": [],
    }  # fmt: skip
    assert find_error_code(tools.search({"query": "kelp"}).content) is None
    assert find_error_code(tools.open_page({"url": KELP}).content) is None


async def test_passages_of_a_page_without_a_word_of_the_query_are_its_beginning_with_a_note(
    fake,
):
    retrieval = Retrieval(WebSearch(fake, reader=fake), content="passages")
    found, other = retrieval.retrieve("zebra"), retrieval.retrieve("kelp")
    assert found[0].text == "Giant kelp grows fast."
    assert (
        found[0].metadata["read_note"]
        == "the page contains no word of the query: this is its beginning"
    )
    assert [
        document for document in (found[1], *other) if "read_note" in document.metadata
    ] == []


@BOTH
@pytest.mark.parametrize("isolate", ["require", False], ids=["process", "here"])
@pytest.mark.parametrize(
    "own",
    [
        "[... 310 characters left out; offset 75 ...]",
        "[... outside the main text of the page; offset 9120 ...]",
        "[... tide tables of the harbour; offset 12 minutes ...]",
    ],
)
async def test_a_line_of_a_page_that_looks_like_our_mark_stays(own, isolate, is_async):
    sea = "The sea is wide and cold here. " * 60
    page = f"{sea}\n\nA barnacle is a crustacean:\n\n{own}\n\n{sea}"
    results = [{"title": "Kelp", "url": KELP}]
    fake = FakeWeb(results, {KELP: page})
    fake.isolate = isolate
    web = WebSearch(fake)
    limit = {"max_length": 300}
    retrieval = Retrieval(web, content="passages", read_options=limit)
    passages = Passages(web, limit)
    metadata = [{"source": KELP}]
    query = "what is a barnacle?"
    texts = []

    def put(document, page):
        texts.append(page.content)
        return document

    if is_async:
        texts.append((await retrieval.aretrieve(query))[0].text)
        await passages.areplace(["a text"], metadata, query, put)
    else:
        texts.append(retrieval.retrieve(query)[0].text)
        passages.replace(["a text"], metadata, query, put)

    assert len(texts) == 2
    for text in texts:
        lines = text.splitlines()
        marks = [line for line in lines if "characters left out" in line]
        assert own in lines
        assert lines[0] in marks
        assert [line for line in lines if "offset" in line] == [own]
    # a caller who can ask for an offset gets it
    assert "; offset" in web.read(KELP, query=query, **limit).content.splitlines()[0]


@pytest.mark.parametrize("where", ["tools", "settings"])
def test_passages_of_pages_fit_the_room_for_a_search(where):
    """Otherwise those of the first page take more than all of it, and nothing is
    shown.
    """
    long = "Kelp grows in cold seas, and needs light. " * 100
    urls = [f"https://sea.example/{n}" for n in range(3)]
    web = FakeWeb(
        [{"title": "Sea", "url": url, "snippet": "Kelp."} for url in urls],
        dict.fromkeys(urls, long),
    )
    options = {"max_tokens": 300}
    tools = WebTools(
        WebSearch(web, read_options=options if where == "settings" else None),
        search_options={"read_top": 2},
        read_options=options if where == "tools" else None,
    )
    text = tools.search({"query": "kelp"}).content

    assert text.count("cold seas") >= 2
    assert estimate_tokens(text) <= 310  # the marks of the fence are random
