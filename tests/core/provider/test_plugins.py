"""Providers of other packages: plain classes, functions, layers with names of their
own.
"""

from __future__ import annotations
import asyncio
import functools
import json
import pickle
import threading
from pathlib import Path
from typing import Annotated

import pytest
import typer.testing
from pydantic import SecretStr

from websearch_core import SearchResult, WebSearch, register
from websearch_core._cli.app import app
from websearch_core.client._selection import build_provider
from websearch_core.errors import (
    BadResponse,
    ConfigurationError,
    MissingKey,
    PageNotFound,
    ServiceError,
    TimedOut,
    Unavailable,
    UnsafeURL,
    UnsupportedOption,
)
from websearch_core.flow import Call, Sleep
from websearch_core.layers import Fallback, leaves
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.provider._declare import (
    Env,
    construct,
    environment,
)
from websearch_core.provider._function import from_function
from websearch_core.provider._http import check_options, redact
from websearch_core.provider._ports import check_port
from websearch_core.providers import known, provider_class
from websearch_core.providers.brave import Brave
from websearch_core.providers.tavily import Tavily
from websearch_core.settings import Settings
from websearch_core.testing import SECRET, FakeWeb, play, reply

KELP = SearchQuery.of("kelp")


class Harbour:
    """
    Searches the harbour.

    Args:
        api_key: From the harbour master.
        tide: High or low.

    """

    api_key: Annotated[str, Env("HARBOUR_KEY")]

    def __init__(self, api_key: str, tide: str = "high") -> None:
        if tide not in {"high", "low"}:
            raise ValueError(f"no tide {tide}, whatever {api_key} is for")
        self.api_key, self.tide = api_key, tide

    @property
    def name(self) -> str:
        """Only instances know it."""
        return "harbour"

    @property
    def options(self) -> frozenset[str]:
        """Only instances know them."""
        return frozenset({"page"})

    def search(self, query, /):
        """Search."""
        check_options(query, self)
        return (
            yield Call(lambda: SearchResponse(query=query.text, provider=self.name))
        )


@pytest.fixture
def harbour(monkeypatch):
    monkeypatch.setattr("websearch_core._registry._registered", {})
    register("harbour", Harbour)


@pytest.fixture
def websearch(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words):
        return typer.testing.CliRunner().invoke(app, words)

    return call


def listed(websearch, name):
    return {
        one["name"]: one
        for one in json.loads(websearch("providers", "-f", "json").stdout)
    }[name]


# A plain class


def test_a_plain_class_is_chosen_by_name_and_gets_its_options(harbour, monkeypatch):
    web = WebSearch(
        "harbour",
        api_key="key",
        settings=Settings.load(providers={"harbour": {"tide": "low"}}),
    )
    (leaf,) = leaves(web.provider)

    assert web.search("kelp").provider == "harbour"
    assert (leaf.api_key, leaf.tide) == ("key", "low")
    monkeypatch.setenv("HARBOUR_KEY", "from-environment")
    Path("mine.toml").write_text('[providers.harbour]\ntide = "low"\n')
    monkeypatch.setenv("WEB_SEARCH_CONFIG", "mine.toml")
    (leaf,) = leaves(WebSearch("harbour").provider)
    assert (leaf.api_key, leaf.tide) == ("from-environment", "low")
    Path("mine.toml").rename("websearch.toml")
    monkeypatch.delenv("WEB_SEARCH_CONFIG")
    with pytest.raises(
        ConfigurationError, match=r"providers\.Harbour\.tide: may not be set here"
    ):
        WebSearch("harbour")


def test_a_plain_class_without_its_key_says_what_is_missing(harbour):
    with pytest.raises(
        MissingKey, match="harbour has no api_key: set HARBOUR_KEY"
    ) as caught:
        WebSearch("harbour")
    assert caught.value.variables == ("HARBOUR_KEY",)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"tied": "low"}, "harbour: TypeError: .*tied"),
        ({"tide": "no"}, "harbour: ValueError"),
    ],
)
def test_a_plain_class_with_a_wrong_option_is_a_configuration_error_without_the_key(
    harbour, options, complaint
):
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        WebSearch(
            "harbour",
            api_key="SECRET",
            settings=Settings.load(providers={"harbour": options}),
        )
    assert "SECRET" not in str(caught.value)


def test_a_constructor_that_fails_in_a_way_of_its_own_is_a_configuration_error():
    def broken(**options):
        raise KeyError("DISPLAY")

    with pytest.raises(ConfigurationError, match="broken: KeyError: 'DISPLAY'"):
        construct(broken, "broken", {"api_key": None})


def test_a_plain_class_is_listed_and_tried_like_any_other(
    harbour, websearch, monkeypatch
):
    lacking = listed(websearch, "harbour")
    assert (lacking["search"], lacking["read"], lacking["configured"]) == (
        True,
        False,
        False,
    )
    assert lacking["missing"] == lacking["variables"] == ["HARBOUR_KEY"]
    assert websearch("doctor", "harbour").stdout.startswith(
        "BROKEN  harbour: ERROR [missing_key]"
    )

    monkeypatch.setenv("HARBOUR_KEY", "key")
    ready = listed(websearch, "harbour")
    assert (ready["configured"], ready["problem"], ready["options"]) == (
        True,
        None,
        ["page"],
    )
    done = websearch("doctor", "harbour")
    assert (done.exit_code, done.stdout.split()[:2]) == (0, ["ok", "harbour"])
    assert "harbour" in websearch("providers").stdout


@pytest.mark.repository
def test_a_plain_class_has_its_section_on_the_page_of_providers(harbour):
    from docs.generators import providers as generate_providers

    page = generate_providers.write_page()

    assert "## harbour\n\n" in page
    assert (
        "\n\n- `api_key` (required, `HARBOUR_KEY`): From the harbour master.\n"
        "- `tide` = `high`: High or low."
    ) in page


def test_a_plug_in_says_what_keeps_it_from_being_used(websearch, monkeypatch):
    class Ebb(Harbour):
        def __init__(self):
            super().__init__("key")

        def problem(self):
            return "the tide is out"

    monkeypatch.setattr("websearch_core._registry._registered", {"ebb": Ebb})
    assert listed(websearch, "ebb")["problem"] == "the tide is out"


@pytest.mark.parametrize("around", [" {}", "{} ", "\t{}/\n", "\u00a0{}\u2003"])
def test_white_space_around_a_base_url_is_left_out(around, monkeypatch):
    given = around.format("http://localhost:8888/searx")

    (leaf,) = leaves(WebSearch("searxng", base_url=given).provider)
    monkeypatch.setenv("SEARXNG_URL", given)
    (same,) = leaves(WebSearch("searxng").provider)

    assert leaf.base_url == same.base_url == "http://localhost:8888/searx"


@pytest.mark.parametrize(
    "url",
    [
        "http://local host:8888",
        "http://localhost:8888/my searx",
        "http://localhost\t:8888",
        "http://a\n.example",
    ],
)
def test_white_space_in_a_base_url_is_refused_and_named(url):
    with pytest.raises(
        ConfigurationError, match="base_url: must be an absolute .* without white space"
    ):
        WebSearch("searxng", base_url=url)


BY_VARIABLE = [
    (name, field, variable)
    for name in sorted(set(known()) - {"crawl4ai"})
    for field, variables in environment(provider_class(name)).items()
    for variable in variables
]


def value_of(field):
    return "http://127.0.0.1:9/gate" if field.endswith("url") else f"{SECRET}-{field}"


@pytest.mark.parametrize(("name", "field", "variable"), BY_VARIABLE)
def test_an_object_reads_the_variables_that_a_name_reads(
    name, field, variable, monkeypatch
):
    cls = provider_class(name)
    for other, (first, *_) in environment(cls).items():
        monkeypatch.setenv(variable if other == field else first, value_of(other))
    value = getattr(cls(), field)

    assert value == getattr(build_provider(name, Settings()), field)
    shown = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    assert shown.endswith(value_of(field))


def test_a_key_of_the_environment_goes_where_the_environment_says(monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", SECRET)
    monkeypatch.setenv("BRAVE_BASE_URL", "https://gate.example/brave")
    answer = reply({"type": "search"})
    outcome = play(Brave(extra_snippets=True).search(KELP), answer)

    assert outcome.requests[0].url.startswith("https://gate.example/brave/")
    assert Brave(base_url="https://a.example").base_url == "https://a.example"


def test_a_wrong_variable_is_named(monkeypatch):
    monkeypatch.setenv("TAVILY_BASE_URL", "gate.example")
    with pytest.raises(ConfigurationError, match=r"\(set by TAVILY_BASE_URL\)"):
        Tavily(api_key=SECRET)


def test_annotations_that_cannot_be_read_do_no_harm():
    class Lazy:
        client: NotImported  # noqa: F821

    assert environment(Lazy) == {}


def test_a_layer_with_a_name_of_its_own_is_a_provider_and_hides_no_plain_http(
    websearch, monkeypatch
):
    class Gateway:
        name, options = "gateway", frozenset()

        def __init__(self, base_url="http://evil.example"):
            self.inner = Brave(api_key="key", base_url=base_url)

        def search(self, query):
            return self.inner.search(query)

    monkeypatch.setattr("websearch_core._registry._registered", {"gateway": Gateway})
    assert "unencrypted" in listed(websearch, "gateway")["problem"]
    assert "unencrypted" in websearch("doctor", "gateway").stdout
    with pytest.raises(ConfigurationError, match="unencrypted"):
        WebSearch("gateway")
    monkeypatch.setenv("WEB_SEARCH_INTERNAL", "http://evil.example")
    assert listed(websearch, "gateway")["problem"] is None


def test_a_mistake_in_one_plug_in_does_not_hide_the_others(
    websearch, monkeypatch, harbour
):
    class Broken(Harbour):
        name = "broken"

        def search(self, query):
            raise KeyError(self.api_key)
            yield

    register("broken", Broken)
    monkeypatch.setenv("HARBOUR_KEY", "SECRET")
    shown = websearch("doctor", "broken", "harbour").stdout

    assert "BROKEN  broken: ERROR [bad_response] broken failed with KeyError" in shown
    assert "ok      harbour" in shown
    assert "SECRET" not in shown


# Keys


class Slotted:
    __slots__ = ("name", "token")
    inherited = "x"

    def __init__(self):
        self.name, self.token = "slotted", SecretStr("SECRET-token")


class OneSlot(Slotted):
    __slots__ = "more"  # noqa: PLC0205 - it is allowed, and an author may do it

    def __init__(self):
        super().__init__()
        self.more = SecretStr("SECRET-token-and-more")


@pytest.mark.parametrize(
    "provider",
    [Harbour("SECRET-token"), Slotted(), OneSlot(), Brave(api_key="SECRET-token")],
    ids=lambda p: p.name,
)
def test_the_keys_of_any_class_are_kept_out_of_messages(provider):
    assert redact("wrong key SECRET-token given", provider) == "wrong key [key] given"


def test_a_key_that_is_a_part_of_another_leaves_nothing_of_it():
    assert redact("SECRET-token-and-more", OneSlot()) == "[key]"


# What is not a provider


class AsyncSearch:
    name = "mine"

    async def search(self, query):
        raise NotImplementedError


class Answers:
    """Answers at once with what it was given, as a generator or not."""

    name = "mine"

    def __init__(self, answer, *, as_generator):
        self.answer = answer
        self.as_generator = as_generator

    def search(self, query):
        return self.generate() if self.as_generator else self.answer

    read = search

    def generate(self):
        yield Sleep(0)
        return self.answer


@pytest.mark.parametrize("as_generator", [True, False])
@pytest.mark.parametrize(
    "answer", [{"results": []}, [{"url": "https://a.example/"}], None, "kelp"]
)
@pytest.mark.parametrize("layers", [(), None])
def test_an_answer_of_another_type_is_named_with_what_to_return(
    layers, answer, as_generator
):
    mine = Answers(answer, as_generator=as_generator)
    found = f"returned a value of type {type(answer).__name__}, and must be a generator"

    with (
        WebSearch(mine, layers=layers) as web,
        pytest.raises(BadResponse) as caught,
    ):
        web.search("kelp")
    assert str(caught.value) == (
        f"mine search failed: its search() {found} that returns a SearchResponse; "
        "websearch_core.provider.from_function('mine', search=function) makes a "
        "provider of a function that returns a list of results"
    )
    with (
        WebSearch(reader=mine, layers=layers) as web,
        pytest.raises(BadResponse) as caught,
    ):
        web.read("https://a.example/")
    assert f"its read() {found} that returns a Page" in str(caught.value)
    assert "from_function('mine', read=function)" in str(caught.value)


def test_the_next_provider_answers_after_one_that_returns_another_type():
    web = WebSearch([Answers([], as_generator=False), FakeWeb({"kelp": []})])

    assert web.search("kelp").provider == "fake"


class AsyncRead:
    name = "mine"

    async def read(self, url):
        yield url


@pytest.mark.parametrize(
    ("mine", "role"), [(AsyncSearch(), "search"), (AsyncRead(), "read")]
)
def test_an_async_method_is_refused_with_what_to_write_instead(
    mine, role, websearch, monkeypatch
):
    complaint = rf"mine\.{role} is an async def, .* yield Call\(fetch, .*from_function\('mine', {role}=fetch\)"
    with pytest.raises(ConfigurationError, match=complaint):
        WebSearch(**{"provider" if role == "search" else "reader": mine})
    with pytest.raises(ConfigurationError, match=complaint):
        WebSearch(Fallback()(Brave(api_key="key"), mine))

    monkeypatch.setattr("websearch_core._registry._registered", {"mine": type(mine)})
    assert "is an async def" in listed(websearch, "mine")["problem"]
    assert "is an async def" in websearch("doctor", "mine").stdout


@pytest.mark.parametrize(
    ("thing", "complaint"),
    [
        (Brave, r"Brave is a class: give an instance of it, Brave\(...\)"),
        (3, "int is not a provider: it has no name$"),
        (
            lambda query: [],
            "it has no name; to search with it, write .*from_function.*search=",
        ),
    ],
)
def test_what_is_not_a_provider_is_refused(thing, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        WebSearch(thing)


def test_a_method_that_returns_its_answer_instead_of_yielding_is_reported():
    class Plain:
        name = "plain"

        def search(self, query):
            return SearchResponse(query=query.text)

    check_port(Plain())  # it could as well return a generator
    with pytest.raises(
        BadResponse, match="a value of type SearchResponse, and must be a generator"
    ):
        WebSearch(Plain()).search("kelp")


# Functions

HIT = {"url": "https://sea.example/", "title": "Kelp", "snippet": "Brown <b>algae</b>"}


async def found_async(query):
    await asyncio.sleep(0)
    return [HIT]


class AsyncObject:
    async def __call__(self, query):
        return await found_async(query)


FUNCTIONS = {
    "blocking": lambda query: [HIT],
    "generator": lambda query: (hit for hit in [HIT]),
    "async": found_async,
    "a lambda that hides it": lambda query: found_async(query.text),
    "an async object": AsyncObject(),
    "a partial": functools.partial(found_async),
}


@pytest.mark.parametrize("search", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_searches_in_both_colours(search):
    web = WebSearch(from_function("harbour", search=search))

    for response in (web.search("kelp"), asyncio.run(web.asearch("kelp"))):
        (result,) = response.results
        assert (response.query, response.provider, result.provider) == (
            "kelp",
            "harbour",
            "harbour",
        )
        assert (result.url, result.title, result.snippet) == (
            "https://sea.example/",
            "Kelp",
            "Brown algae",
        )
        assert result.rank == result.citation_id == 1


def test_results_and_responses_are_taken_as_well():
    results = [SearchResult(title="Kelp", url="https://a.example/"), HIT]
    response = SearchResponse(query="other", results=tuple(results[:1]), answer="42")

    assert (
        len(
            play(
                from_function("harbour", search=lambda _: results).search(KELP)
            ).result.results
        )
        == 2
    )
    taken = play(
        from_function("harbour", search=lambda _: response).search(KELP)
    ).result
    assert (taken.query, taken.provider, taken.answer) == ("kelp", "harbour", "42")
    assert (
        play(from_function("harbour", search=lambda _: []).search(KELP)).result.results
        == ()
    )


def test_a_function_reads():
    texts = from_function("harbour", read=lambda url: "# Kelp")
    pages = from_function(
        "harbour", read=lambda url: Page(url="other", title="Kelp", content="Algae")
    )

    text = WebSearch("duckduckgo", reader=texts).read("https://a.example/")
    page = WebSearch("duckduckgo", reader=pages).read("https://a.example/")
    assert (text.content, text.url, text.final_url, text.provider) == (
        "# Kelp",
        *["https://a.example/"] * 2,
        "harbour",
    )
    assert (page.content, page.title, page.url) == (
        "Algae",
        "Kelp",
        "https://a.example/",
    )


def test_it_can_do_what_it_was_given_functions_for():
    searches = from_function("harbour", search=found_async)
    reads = from_function("harbour", read=str)
    both = from_function("harbour", search=found_async, read=str)

    assert [hasattr(one, "search") for one in (searches, reads, both)] == [
        True,
        False,
        True,
    ]
    assert [hasattr(one, "read") for one in (searches, reads, both)] == [
        False,
        True,
        True,
    ]
    assert repr(both) == "from_function('harbour')"
    assert WebSearch(both, reader=both).search("kelp").results
    with pytest.raises(ConfigurationError, match="'harbour' cannot read"):
        WebSearch(searches, reader=searches)


def test_a_blocking_function_does_not_block_the_event_loop():
    threads = []

    def search(query):
        threads.append(threading.get_ident())
        return []

    async def use():
        await WebSearch(from_function("harbour", search=search)).asearch("kelp")
        return threading.get_ident()

    assert asyncio.run(use()) not in threads


def test_options_that_a_function_honours_reach_it_and_others_are_refused():
    seen = []
    web = WebSearch(
        from_function(
            "harbour", search=lambda query: seen.append(query) or [], options={"page"}
        )
    )
    web.search("kelp", page=2)

    assert seen[0].page == 2
    with pytest.raises(UnsupportedOption, match="harbour does not support country"):
        web.search("kelp", country="NO")


class VendorError(Exception):
    pass


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (VendorError("SECRET"), ServiceError),
        (TimeoutError("SECRET"), TimedOut),
        (ConnectionResetError("SECRET"), Unavailable),
        (PageNotFound("not there"), PageNotFound),
    ],
)
def test_what_a_function_raises_is_an_error_of_ours_without_its_words(raised, kind):
    def fail(_):
        raise raised

    web = WebSearch(
        from_function("harbour", search=fail),
        reader=from_function("harbour", read=fail),
        retry=1,
    )
    for ask in (web.search, web.read):
        with pytest.raises(kind) as caught:
            ask("https://a.example/")
        assert type(caught.value) is kind
        assert caught.value.provider == "harbour"
        assert "SECRET" not in str(caught.value)
        assert caught.value is raised or caught.value.__cause__ is raised


@pytest.mark.parametrize(
    "answer", [None, "text", {"url": "https://a.example"}, [1], 3, b"x"], ids=repr
)
def test_an_invalid_answer_is_reported(answer):
    with pytest.raises(
        ServiceError, match="harbour search failed: the function must return"
    ):
        play(from_function("harbour", search=lambda _: answer).search(KELP))


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/",
        "http://127.0.0.1/",
        "http://a.internal/",
        "file:///etc/x",
    ],
)
def test_a_function_is_given_no_url_that_the_guard_refuses(url):
    seen = []
    web = WebSearch(
        "duckduckgo",
        reader=from_function("harbour", read=lambda url: seen.append(url) or "text"),
    )

    with pytest.raises(UnsafeURL):
        web.read(url)
    assert seen == []


def test_holes_for_a_function_are_its_own():
    reader = from_function(
        "harbour", read=lambda url: "text", internal=["http://wiki.corp"]
    )

    assert play(reader.read("http://wiki.corp/a")).result.content == "text"
    with pytest.raises(ConfigurationError):
        from_function("harbour", read=str, internal=["nonsense"])


def test_an_invalid_page_is_reported():
    with pytest.raises(
        ServiceError, match="must return a Page or a text, not NoneType"
    ):
        play(from_function("harbour", read=lambda _: None).read("https://a.example/"))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "give search, read, or both"),
        (
            {"search": print, "options": {"colour"}},
            "not a field of SearchQuery: colour",
        ),
        ({"search": [HIT]}, "search and read have to be functions"),
        ({"read": "page"}, "search and read have to be functions"),
        ({"name": "", "read": str}, "give the provider a name"),
    ],
)
def test_a_provider_of_no_function_or_of_unknown_options_is_refused(options, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        from_function(**{"name": "harbour", **options})


def test_a_function_of_a_module_can_be_pickled_with_its_web_search():
    web = pickle.loads(
        pickle.dumps(WebSearch(from_function("harbour", search=found_async)))
    )
    assert web.search("kelp").results
