"""Explicit argument > environment > file > default, and who is chosen."""

from __future__ import annotations
import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

import websearch_core
from websearch_core import WebSearch, register
from websearch_core.client._selection import AUTOMATIC
from websearch_core.errors import (
    ConfigurationError,
    MissingKey,
    UnknownProvider,
    WebSearchError,
)
from websearch_core.layers import Fallback, Retry, leaves
from websearch_core.provider._declare import environment
from websearch_core.providers import known, provider_class
from websearch_core.providers.brave import Brave
from websearch_core.providers.duckduckgo import DuckDuckGo
from websearch_core.providers.keenable import Keenable
from websearch_core.providers.tavily import Tavily
from websearch_core.providers.you import You
from websearch_core.settings import Settings
from websearch_core.settings._merge import _warn_of_variable
from websearch_core.settings._values import CONCERNS, SETTINGS

CORE = Path(websearch_core.__file__).parent


def searching(*args, **options):
    return leaves(WebSearch(*args, **options).provider)


def test_an_argument_beats_the_environment_and_that_beats_the_file_and_that_the_default(
    monkeypatch,
):
    assert Settings.load().timeout.read == 30
    Path("websearch.toml").write_text("timeout = 20\n")
    assert Settings.load().timeout.read == 20
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "10")
    assert Settings.load().timeout.read == 10
    assert Settings.load(timeout=5).timeout.read == 5


def test_the_options_of_a_provider_come_by_the_same_order(monkeypatch):
    def key():
        return searching("brave")[0].api_key.get_secret_value()

    Path("websearch.toml").write_text('[providers.brave]\napi_key = "from-file"\n')
    assert key() == "from-file"
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", "from-second-name")
    assert key() == "from-second-name"
    monkeypatch.setenv("BRAVE_API_KEY", "from-first-name")
    assert key() == "from-first-name"
    assert searching("brave", api_key="explicit")[0].api_key == SecretStr("explicit")


def test_the_nearest_file_counts(monkeypatch, tmp_path):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.websearch]\ntimeout = 7\n")
    monkeypatch.chdir(deep)
    assert Settings.load().timeout.read == 7
    (tmp_path / "a" / "websearch.toml").write_text("timeout = 8\n")
    assert Settings.load().timeout.read == 8


def test_names_from_other_tools_are_understood_in_the_file():
    Path("websearch.toml").write_text(
        'search_provider = "duckduckgo"\nread_provider = "jina"\nmax_page_length = 9\n'
    )
    settings = Settings.load()

    assert (
        settings.provider,
        settings.reader,
        settings.read_options["max_length"],
    ) == (("duckduckgo",), ("jina",), 9)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("timeout = ", "websearch.toml"),
        ("timeout = -1", "timeout"),
        ("tiemout = 3", "tiemout"),
        ('ALLOW = ["127.0.0.0/8"]', "ALLOW"),
        ("PROVIDERS.brave.base_url = 'https://evil.example'", "PROVIDERS"),
        ('"\\n\\u001b[2Jprovider" = "brave"', r"'\\n\\x1b\[2Jprovider'"),
        ('[providers.brvae]\napi_key = "x"', "unknown provider 'brvae'"),
        ('[providers.brave]\nkey = "SECRET"', "key: not an option"),
        ("http.library = 'requests'", "http.library"),
    ],
)
def test_a_mistake_in_the_file_is_told_without_showing_values(content, complaint):
    Path("websearch.toml").write_text(content)

    with pytest.raises(ConfigurationError, match=complaint) as caught:
        WebSearch("brave", settings=Settings.load(providers={}))
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            "timout = 5",
            "websearch.toml, line 1: timout: not an option; did you mean timeout?",
        ),
        (
            "retry = 2\n\ncolour = 5",
            "websearch.toml, line 3: colour: not an option; known are enabled, provider, ",
        ),
        ("timeout = 0", "websearch.toml, line 1: timeout: must be greater than 0"),
        (
            "[retry]\natempts = 2",
            "line 2: retry.atempts: not an option; did you mean attempts?",
        ),
        (
            "[providers.duckduckgo]\npaus = 2",
            "websearch.toml, line 2: providers.duckduckgo.paus: not an option; did you mean pause?",
        ),
    ],
)
def test_a_wrong_name_or_value_in_the_file_is_answered_with_the_file_and_the_right_name(
    content, complaint
):
    Path("websearch.toml").write_text(content)

    with pytest.raises(ConfigurationError) as caught:
        WebSearch("duckduckgo")
    assert complaint in str(caught.value)


def test_what_is_no_variable_is_answered_with_the_one_or_the_settings_file(
    monkeypatch, caplog
):
    _warn_of_variable.cache_clear()
    monkeypatch.setenv("WEB_SEARCH_SEARCH_OPTIONS", '{"limit": 3}')
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", '{"search": 5}')
    monkeypatch.setenv("WEB_SEARCH_PROXY", "http://proxy.example")
    assert Settings.load().timeout.search == 5
    assert caplog.messages == [
        (
            "environment WEB_SEARCH_PROXY: not a setting; write WEB_SEARCH_HTTP_PROXY=http://proxy.corp:3128 and "
            "WEB_SEARCH_HTTP_RESOLVE=here"
        ),
        "environment WEB_SEARCH_SEARCH_OPTIONS: not a setting; write search_options = ... in a settings file",
    ]


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("WEB_SEARCH_TIMEOUT", "soon", "environment WEB_SEARCH_TIMEOUT: timeout: "),
        ("WEB_SEARCH_LAYERS", "{retry", "environment WEB_SEARCH_LAYERS: not JSON"),
    ],
)
def test_a_wrong_value_in_the_environment_is_answered_with_the_variable(
    monkeypatch, variable, value, complaint
):
    monkeypatch.setenv(variable, value)

    with pytest.raises(ConfigurationError) as caught:
        WebSearch("duckduckgo")
    assert str(caught.value).startswith(complaint)
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (
            lambda: WebSearch("duckduckgo").search("kelp", time_rang="day"),
            "time_rang: not an option; did you mean time_range?",
        ),
        (
            lambda: WebSearch("duckduckgo", base_ur="x"),
            "unknown argument: base_ur; did you mean base_url?",
        ),
        (
            lambda: WebSearch("duckduckgo", read_options={"token_counter": 5}),
            "token_counter: must be callable",
        ),
        (lambda: WebSearch([]), "the list of providers is empty"),
        (
            lambda: WebSearch(provder="brave"),
            "unknown argument: provder; did you mean provider?",
        ),
    ],
)
def test_a_wrong_argument_is_answered_with_what_is_right(call, hint):
    with pytest.raises(WebSearchError) as caught:
        call()
    assert hint in str(caught.value)


def test_a_named_file_in_the_home_of_nobody_is_an_error(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_CONFIG", "~nobody-of-this-name/websearch.toml")
    with pytest.raises(ConfigurationError, match="no such user"):
        WebSearch("duckduckgo")


def test_a_mistake_in_the_environment_is_told(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "soon")
    with pytest.raises(ConfigurationError, match="timeout"):
        WebSearch("duckduckgo")


def test_without_a_choice_tavily_comes_first_then_brave_then_searxng(monkeypatch):
    monkeypatch.setenv("SEARXNG_URL", "http://localhost:8888")
    assert [leaf.name for leaf in searching()] == ["searxng"]
    monkeypatch.setenv("BRAVE_API_KEY", "key")
    assert [leaf.name for leaf in searching()] == ["brave"]
    monkeypatch.setenv("TAVILY_API_KEY", "key")
    assert [leaf.name for leaf in searching()] == ["tavily"]


@pytest.mark.parametrize(
    "name",
    [
        "exa",
        "perplexity",
        "linkup",
        "parallel",
        "you",
        "firecrawl",
        "kagi",
        "serper",
        "mojeek",
        "jina",
    ],
)
def test_without_a_choice_the_service_that_has_a_key_is_used(monkeypatch, name):
    monkeypatch.setenv(environment(provider_class(name))["api_key"][0], "key-of-a-test")

    assert [leaf.name for leaf in searching()] == [name]


@pytest.mark.repository
def test_the_automatic_order_is_documented():
    text = " ".join(
        (Path(__file__).parents[3] / "docs" / "settings.md").read_text("utf-8").split()
    )

    assert ", ".join(f"`{name}`" for name in AUTOMATIC) in text


@pytest.mark.parametrize(
    ("variable", "answer"),
    [
        ("WEB_SEARCH_PROVIDR", "not a setting; did you mean WEB_SEARCH_PROVIDER?"),
        ("WEB_SEARCH_MAXLENGTH", "not a setting; did you mean WEB_SEARCH_MAX_LENGTH?"),
        ("WEBSEARCH_TIMEOUT", "not a setting; write WEB_SEARCH_TIMEOUT=..."),
        # another program's
        ("WEB_SEARCH_RESULT_COUNT", "not a setting; it is ignored"),
    ],
)
def test_a_variable_that_is_named_like_a_setting_is_worth_one_warning_without_its_value(
    variable, answer, monkeypatch, caplog
):
    _warn_of_variable.cache_clear()
    monkeypatch.setenv(variable, "a value")
    Settings.load()
    Settings.load()
    assert caplog.messages == [f"environment {variable}: {answer}"]


def test_no_warning_for_a_variable_of_another_program_with_a_prefix_like_ours(
    monkeypatch, caplog
):
    _warn_of_variable.cache_clear()
    monkeypatch.setenv("WEBSEARCH_REQUIRE_PEERS", "1")
    Settings.load()
    assert caplog.messages == []


def test_the_file_of_variables_is_looked_through_too(monkeypatch, caplog):
    _warn_of_variable.cache_clear()
    Path("variables").write_text("WEB_SEARCH_TIMOUT=5\n")
    monkeypatch.setenv("WEB_SEARCH_ENV_FILE", "variables")
    Settings.load()
    assert caplog.messages == [
        "environment WEB_SEARCH_TIMOUT in variables: not a setting; did you mean WEB_SEARCH_TIMEOUT?"
    ]


def test_no_warning_for_the_variables_that_are_read_elsewhere(monkeypatch, caplog):
    _warn_of_variable.cache_clear()
    declared = {
        name
        for one in known()
        for names in environment(provider_class(one)).values()
        for name in names
    }
    ours = {name for name in declared if name.startswith("WEB_SEARCH_")}
    assert ours
    ours |= {"WEB_SEARCH_MCP_TOKENS"}
    for name in ours:
        monkeypatch.setenv(name, "somewhere")
    Path("variables").write_text("")
    monkeypatch.setenv("WEB_SEARCH_ENV_FILE", "variables")
    Settings.load()
    assert caplog.messages == []


def test_an_empty_variable_is_no_key(monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", " ")
    assert [leaf.name for leaf in searching()] == ["keenable", "you", "duckduckgo"]


def test_a_key_given_as_an_option_counts_for_the_automatic_choice():
    assert searching(
        settings=Settings.load(providers={"brave": {"api_key": "key"}})
    ) == [Brave(api_key="key")]


def test_without_any_key_three_services_that_need_none_are_asked_in_turn():
    chain = WebSearch().provider

    assert leaves(chain) == [Keenable(), You(keyless=True), DuckDuckGo()]
    assert chain.inner.layer == Fallback()


def test_a_choice_by_environment_is_kept(monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", "key")
    monkeypatch.setenv("WEB_SEARCH_PROVIDER", "duckduckgo")

    assert searching() == [DuckDuckGo()]


def test_an_explicit_choice_beats_the_environment(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_PROVIDER", "duckduckgo")

    assert searching("brave", api_key="key") == [Brave(api_key="key")]


@pytest.mark.parametrize("choice", ["brave", ["duckduckgo", "brave"]])
def test_a_provider_asked_for_by_name_without_its_key_fails_at_once_and_names_the_variable(
    choice,
):
    with pytest.raises(
        MissingKey,
        match="brave has no api_key: set BRAVE_API_KEY or BRAVE_SEARCH_API_KEY",
    ):
        WebSearch(choice)


def test_an_unknown_name_fails_at_once_and_lists_those_known():
    with pytest.raises(
        UnknownProvider, match=r"unknown provider 'xyzzy'; those that can search: "
    ) as caught:
        WebSearch("xyzzy")
    assert "duckduckgo (ddg), " in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, WebSearchError)


def test_several_are_a_chain_in_order_from_a_list_or_a_variable(monkeypatch):
    options = {
        "tavily": {"api_key": "key", "base_url": "https://gateway.example/tavily/"}
    }
    assert [
        Tavily(api_key="key", base_url="https://gateway.example/tavily"),
        DuckDuckGo(),
    ] == searching(["tavily", "ddg"], settings=Settings.load(providers=options))
    monkeypatch.setenv("WEB_SEARCH_PROVIDER", "ddg, tavily")
    assert [
        leaf.name for leaf in searching(settings=Settings.load(providers=options))
    ] == ["duckduckgo", "tavily"]


def test_one_instance_plays_both_roles():
    web = WebSearch("tavily", reader="tavily", api_key="key")

    assert web.provider.inner is web.reader


def test_the_key_of_one_provider_needs_one_name():
    with pytest.raises(ConfigurationError, match="api_key: name the one provider"):
        WebSearch(api_key="key")
    with pytest.raises(ConfigurationError, match="base_url: name the one provider"):
        WebSearch(["tavily", "brave"], base_url="https://gateway.example")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"provider": "direct"},
            "'direct' cannot search; those that can: arxiv, .*brave",
        ),
        (
            {"provider": "duckduckgo", "reader": "brave"},
            "'brave' cannot read|has no api_key",
        ),
        (
            {"provider": "duckduckgo", "reader": "duckduckgo"},
            "cannot read; those that can: browser, crawl4ai, direct, exa",
        ),
        ({"provider": "duckduckgo,ddgg"}, "unknown provider 'ddgg'"),
        ({"provider": "duckduckgo", "internal": ["nonsense"]}, "nonsense"),
        ({"provider": "duckduckgo", "timeout": 0}, "timeout"),
        ({"provider": "brave", "api_key": "two words"}, "spaces"),
        ({"provider": "brave", "api_key": "k", "base_url": "ftp://x"}, "base_url"),
        (
            {"provider": "brave", "api_key": "k", "base_url": "https://u:p@x"},
            "base_url",
        ),
    ],
)
def test_other_mistakes_are_told_at_once(options, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        WebSearch(**options)


def test_a_key_does_not_travel_over_plain_http_unless_allowed():
    with pytest.raises(ConfigurationError, match="unencrypted"):
        WebSearch("brave", api_key="key", base_url="http://gateway.corp/brave")
    assert searching(
        "brave",
        api_key="key",
        base_url="http://gateway.corp/brave",
        internal=["http://gateway.corp"],
    )
    assert searching("brave", api_key="key", base_url="http://127.0.0.1:9/brave")
    assert searching("brave", api_key="key", base_url="http://localhost:9/brave")
    with pytest.raises(
        ConfigurationError, match="search_url would send the key unencrypted"
    ):
        WebSearch(
            "jina",
            api_key="key",
            settings=Settings.load(
                providers={"jina": {"search_url": "http://gateway.corp/"}}
            ),
        )


def test_a_provider_of_ones_own_can_be_given_or_registered(monkeypatch):
    class Mine:
        name = "mine"
        options = frozenset()

        def search(self, query):
            raise NotImplementedError

    assert [type(leaf) for leaf in searching(Mine())] == [Mine]

    monkeypatch.setattr("websearch_core._registry._registered", {})
    register("mine", Mine)
    assert provider_class("mine") is Mine
    assert "mine" in known()
    with pytest.raises(
        ConfigurationError, match="Web search provider 'mine' is already registered"
    ):
        register("mine", Mine)
    for taken in ("brave", "ddg"):
        with pytest.raises(ConfigurationError, match="already registered"):
            register(taken, Mine)


def test_providers_plug_in_by_entry_points(monkeypatch):
    from importlib.metadata import EntryPoint
    from types import SimpleNamespace

    from websearch_core import _registry

    def points(*names):
        _registry._plugged_in.cache_clear()
        found = [
            EntryPoint(
                name, "websearch_core.providers.brave:Brave", "websearch_core.providers"
            )
            for name in names
        ]
        monkeypatch.setattr(_registry, "entry_points", lambda group: found)
        monkeypatch.setattr(
            _registry,
            "distributions",
            lambda: [SimpleNamespace(read_text=lambda _: found[0].group)],
        )

    points("harbour")
    assert provider_class("harbour") is Brave
    points("brave")
    with pytest.raises(ConfigurationError, match="already registered"):
        known()
    _registry._plugged_in.cache_clear()


def test_the_key_shows_nowhere(monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", "SECRET")
    web = WebSearch(
        "brave", settings=Settings.load(providers={"tavily": {"api_key": "SECRET"}})
    )

    for shown in (repr(web), repr(web.provider), repr(web.settings), str(web.__dict__)):
        assert "SECRET" not in shown


def test_a_key_in_the_file_shows_nowhere_either():
    Path("websearch.toml").write_text('[providers.brave]\napi_key = "SECRET"\n')
    web = WebSearch("brave")

    assert "SECRET" not in repr(web) + repr(web.settings) + repr(web.provider)


@pytest.mark.parametrize("host", ["127.evil.example", "localhost.evil.example"])
def test_a_name_that_looks_like_this_machine_is_another(host):
    with pytest.raises(ConfigurationError, match="unencrypted"):
        WebSearch("brave", api_key="key", base_url=f"http://{host}")


def test_a_provider_made_beforehand_sends_no_key_unencrypted_either():
    for provider in (
        Brave(api_key="key", base_url="http://a.example"),
        Retry()(Brave(api_key="key", base_url="http://a.example")),
    ):
        with pytest.raises(ConfigurationError, match="unencrypted"):
            WebSearch(provider)


def test_options_under_an_alias_count():
    assert (
        searching(
            "duckduckgo", settings=Settings.load(providers={"ddg": {"pause": 0}})
        )[0].pause
        == 0
    )
    with pytest.raises(ConfigurationError, match="nonsense"):
        WebSearch("ddg", settings=Settings.load(providers={"ddg": {"nonsense": 1}}))


def test_a_provider_is_registered_by_its_own_name():
    with pytest.raises(ConfigurationError, match="called 'brave', not 'other'"):
        register("other", Brave)


@pytest.mark.parametrize("choice", ["", " , ", []])
def test_an_empty_choice_is_an_error(choice):
    with pytest.raises(ConfigurationError, match="list of providers is empty"):
        WebSearch(choice)


def test_an_empty_variable_is_as_if_it_were_not_there(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "")
    assert Settings.load().timeout.read == 30


def test_a_layer_that_holds_no_searcher_cannot_search():
    from websearch_core.providers.direct import Direct

    with pytest.raises(ConfigurationError, match="cannot search"):
        WebSearch(Retry()(Direct()))


def test_keyless_on_purpose_beats_a_key_of_the_environment(monkeypatch):
    from websearch_core import SearchQuery

    monkeypatch.setenv("TAVILY_API_KEY", "key")
    (tavily,) = searching(
        "tavily", settings=Settings.load(providers={"tavily": {"keyless": True}})
    )

    assert "Authorization" not in next(tavily.search(SearchQuery.of("kelp"))).headers


@pytest.mark.parametrize("word", ["none", "None", "null", "disabled", "off"])
def test_a_word_for_nothing_switches_the_cache_off(monkeypatch, word):
    monkeypatch.setenv("WEB_SEARCH_CACHE", word)
    assert Settings.load().cache is False


@pytest.mark.parametrize("word", ["never", "memory", "redis", "answers"])
def test_a_word_is_not_taken_for_a_file_of_this_name(monkeypatch, word):
    monkeypatch.setenv("WEB_SEARCH_CACHE", word)
    with pytest.raises(ConfigurationError, match="a path such as"):
        Settings.load()


# The table


def find_lists(source: str) -> Iterator[tuple[int, set[str]]]:
    """Yield the line and the names of each list of names: the fields of a class, the
    keys of a mapping, or texts.
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ClassDef():
                targets = [
                    one.target for one in node.body if isinstance(one, ast.AnnAssign)
                ]
                yield (
                    node.lineno,
                    {one.id for one in targets if isinstance(one, ast.Name)},
                )
            case ast.Dict():
                yield (
                    node.lineno,
                    {one.value for one in node.keys if isinstance(one, ast.Constant)},
                )
            case ast.Set() | ast.Tuple() | ast.List():
                yield (
                    node.lineno,
                    {one.value for one in node.elts if isinstance(one, ast.Constant)},
                )


@pytest.mark.parametrize("group", ["concerns", "timeout", "read_options", "http"])
def test_the_options_are_listed_in_few_places(group):
    options = set(CONCERNS)
    if group != "concerns":
        parts = SETTINGS[group].parts.items()
        options = {name for name, part in parts if part.variable}
    door = [
        path
        for room in ("settings", "client", "tools")
        for path in (CORE / room).glob("*.py")
    ]
    places = [
        f"{path.name}:{line}"
        for path in [*door, CORE / "reading/_excerpt/spec.py"]
        for line, names in find_lists(path.read_text("utf-8"))
        if len(names & options) >= 3
    ]
    # its type; for an argument, also the signature of WebSearch and what that passes on
    most = 4 if group == "concerns" else 2
    assert 1 <= len(places) <= most, places


def test_a_variable_can_set_each_part_that_a_text_can_say():
    variables = {
        group: tuple(name for name, part in setting.parts.items() if part.variable)
        for group, setting in SETTINGS.items()
        if setting.parts
    }
    assert variables == {
        "timeout": ("search", "read", "connect"),
        "search_options": ("max_snippet_chars",),
        "read_options": (
            "max_length",
            "max_tokens",
            "links",
            "comments",
            "reviews",
            "transcripts",
        ),
        "http": ("certificates", "library", "proxy", "resolve", "contact"),
    }


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        {"timeout": 5, "read_options": {"max_tokens": 900}},
        {"combine": "first"},
        {"combine": "until_results"},
        {"combine": {"fuse": {"k": 20}}},
        {"retry": 4, "cache": 60, "budget": "2 USD/day", "throttle": 3},
    ],
)
def test_what_settings_return_can_be_read_again(mapping):
    written = Settings.from_mapping(mapping).model_dump()

    again = Settings.from_mapping(written)

    assert again.model_dump() == written
    assert again.model_dump_json()


@pytest.mark.parametrize(
    ("written", "path", "value"),
    [
        ({"retry": {"waitMax": 7}}, ("retry", "wait_max"), 7),
        ({"cache": {"maxAge": 9}}, ("cache", "max_age"), 9),
        ({"combine": {"fallback": {"onEmpty": True}}}, ("combine", "on_empty"), True),
    ],
)
def test_options_of_layers_may_be_written_as_other_settings_are(written, path, value):
    settings = Settings.from_mapping({"webSearch": written})

    assert getattr(getattr(settings, path[0]), path[1]) == value
