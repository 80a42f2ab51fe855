"""The shapes in which settings are written, in TOML, JSON, YAML and a mapping."""

from __future__ import annotations
import builtins
import json
import logging
import pickle
from pathlib import Path

import pytest
import yaml

from websearch_core import Page, SearchResponse, SearchResult, Timeout, WebSearch
from websearch_core._runtime.deadline import time_left
from websearch_core.errors import ConfigurationError, UnknownProvider
from websearch_core.layers import Retry, leaves
from websearch_core.providers import get_configured, get_default
from websearch_core.providers.brave import Brave
from websearch_core.settings import Settings
from websearch_core.settings._merge import _warn_once
from websearch_core.settings._sources import user_file
from websearch_core.settings._values import CONCERNS

KEY = "SECRET-of-the-user"
SEARXNG = {
    "enabled": True,
    "provider": "searxng",
    "url": "http://localhost:8888",
    "api_key": KEY,
}
CAMEL = {"webSearch": {"provider": "tavily", "tavily": {"apiKey": KEY}}}


def write(name, data):
    path = user_file().with_name(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".json":
            path.write_text(json.dumps(data, indent=1))
        case ".yaml" | ".yml":
            path.write_text(yaml.safe_dump(data, sort_keys=False))
        case _:
            path.write_text(as_toml(data))
    path.chmod(0o600)
    return path


def as_toml(data, prefix=""):
    plain = [
        f"{name} = {json.dumps(value)}"
        for name, value in data.items()
        if not isinstance(value, dict)
    ]
    tables = [
        f"[{prefix}{name}]\n{as_toml(value, f'{prefix}{name}.')}"
        for name, value in data.items()
        if isinstance(value, dict)
    ]
    return "\n".join(plain + tables) + "\n"


def from_mapping(data):
    return Settings.from_mapping(data)


def from_own_file(name):
    def load(data):
        write(name, data)
        return Settings.load()

    load.__name__ = name
    return load


EVERYWHERE = [
    from_mapping,
    *map(
        from_own_file,
        ["websearch.toml", "websearch.json", "websearch.yaml", "websearch.yml"],
    ),
]


def key_of(settings, name=None):
    (leaf,) = leaves(WebSearch(name, settings=settings).provider)
    return (
        leaf.name,
        leaf.base_url,
        leaf.api_key.get_secret_value() if leaf.api_key else None,
    )


@pytest.mark.parametrize("load", EVERYWHERE)
def test_enabled_provider_url_and_api_key(load):
    assert key_of(load(SEARXNG)) == ("searxng", "http://localhost:8888", KEY)


@pytest.mark.parametrize("load", EVERYWHERE)
@pytest.mark.parametrize("wrapper", ["web_search", "webSearch"])
def test_they_may_be_in_a_table_of_their_own(load, wrapper):
    assert key_of(load({wrapper: SEARXNG})) == ("searxng", "http://localhost:8888", KEY)


@pytest.mark.parametrize("load", EVERYWHERE)
def test_camel_case_names_in_a_table_for_each_provider(load):
    settings = load(CAMEL)

    assert key_of(settings)[::2] == ("tavily", KEY)
    assert key_of(
        load({"webSearch": {"provider": "tavily", "tavily": {"api_key": KEY}}})
    )[::2] == ("tavily", KEY)


@pytest.mark.parametrize("load", [EVERYWHERE[0], *EVERYWHERE[2:]])
def test_names_with_dots(load):
    settings = load(
        {
            "webSearch.provider": "tavily",
            "webSearch.tavily.apiKey": KEY,
            "webSearch.readOptions.maxLength": 9,
        }
    )

    assert key_of(settings)[::2] == ("tavily", KEY)
    assert settings.read_options["max_length"] == 9


@pytest.mark.parametrize("load", EVERYWHERE)
def test_search_provider_read_provider_and_max_page_length(load):
    settings = load(
        {"search_provider": "duckduckgo", "read_provider": "jina", "max_page_length": 9}
    )

    assert (
        settings.provider,
        settings.reader,
        settings.read_options["max_length"],
    ) == (("duckduckgo",), ("jina",), 9)


@pytest.mark.parametrize("load", EVERYWHERE)
def test_our_own_names(load):
    settings = load(
        {
            "provider": ["ddg"],
            "providers": {"ddg": {"pause": 0}},
            "layers": {"relax": {"unsupported": "note"}},
        }
    )

    assert leaves(WebSearch(settings=settings).provider)[0].pause == 0
    assert settings.layers == {"relax": {"unsupported": "note"}}


def test_a_key_may_be_a_function_in_a_mapping():
    assert key_of(Settings.from_mapping({"provider": "brave", "api_key": lambda: KEY}))[
        ::2
    ] == ("brave", KEY)


def test_another_programs_file_may_be_named_if_it_has_our_table(monkeypatch):
    path = Path("term.json").absolute()
    path.write_text(
        json.dumps({"provider": "openai", "agent": {"model": "x"}, **CAMEL})
    )
    path.chmod(0o600)
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(path))
    assert key_of(Settings.load())[::2] == ("tavily", KEY)

    path.write_text(json.dumps({"provider": "duckduckgo", "agent": {"model": "x"}}))
    with pytest.raises(
        ConfigurationError, match=f"{path}, line 1: agent: not an option; known are"
    ):
        Settings.load()


def test_in_a_file_of_ours_what_is_beside_the_table_counts_too():
    write("websearch.json", {"timeout": 3, **CAMEL})
    assert (Settings.load().timeout.read, Settings.load().provider) == (3, ("tavily",))
    write("websearch.json", {"provider": "brave", **CAMEL})
    with pytest.raises(
        ConfigurationError, match=r"webSearch\.provider and provider: keep one of them"
    ):
        Settings.load()


def test_one_file_is_enough():
    write("websearch.toml", {"timeout": 3})
    write("websearch.json", {"timeout": 4})
    with pytest.raises(
        ConfigurationError, match="keep one of websearch.toml and websearch.json"
    ):
        Settings.load()


MANIFEST = {
    "id": "web-tools",
    "name": "Web tools",
    "version": "1.2.0",
    "entrypoint": "web_tools:setup",
    "description": "Search the web and read pages.",
    "enabled": True,
    "config": {
        "search_provider": "duckduckgo",
        "read_provider": "jina",
        "max_page_length": 9_000,
    },
}


@pytest.mark.parametrize("load", EVERYWHERE)
def test_a_manifest_as_it_stands(load):
    settings = load(MANIFEST)
    assert settings.enabled
    assert (settings.provider, settings.reader) == (("duckduckgo",), ("jina",))
    assert settings.read_options["max_length"] == 9_000


@pytest.mark.parametrize("load", EVERYWHERE)
def test_a_manifest_that_is_not_enabled_switches_everything_off(load):
    with pytest.raises(ConfigurationError, match="web search is switched off"):
        WebSearch(settings=load({**MANIFEST, "enabled": False}))


@pytest.mark.parametrize("name", ["plugin.yaml", "plugin.toml", "plugin.json"])
def test_a_named_manifest_may_have_more_at_its_top_and_its_switch_counts(
    monkeypatch, name
):
    path = write(name, {**MANIFEST, "enabled": False, "author": "Ada"})
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(path))
    assert Settings.load().enabled is False
    assert Settings.load().provider == ("duckduckgo",)


def test_a_mistake_in_json_is_answered_with_its_line_in_any_script():
    path = write("websearch.json", {})
    path.write_text('{\n  "größe": 5\n}', "utf-8")

    with pytest.raises(
        ConfigurationError, match=f"{path}, line 2: größe: not an option"
    ):
        Settings.load()


def test_a_mistake_in_a_manifest_is_answered_with_its_line():
    path = write(
        "websearch.yaml", {**MANIFEST, "config": {"serch_provider": "duckduckgo"}}
    )
    with pytest.raises(
        ConfigurationError,
        match=f"{path}, line 8: config.serch_provider: .* mean search_provider?",
    ):
        Settings.load()
    path.unlink()
    write("websearch.toml", {**MANIFEST, "auther": "Ada"})
    with pytest.raises(ConfigurationError, match="auther: not an option"):
        Settings.load()


def test_the_config_of_another_program_is_not_taken_for_ours(monkeypatch):
    path = write(
        "app.json",
        {"config": {"theme": "dark"}, "web_search": {"provider": "duckduckgo"}},
    )
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(path))
    assert Settings.load().provider == ("duckduckgo",)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        (
            "tavily.search_dept",
            "fast",
            "search_dept: not an option; did you mean search_depth",
        ),
        (
            "tavily.search_depth",
            "fastest",
            r"websearch.toml, line \d: providers.tavily.search_depth: must be 'basic', 'advanced'",
        ),
        (
            "searxng.base_url",
            "localhost:8888",
            r"searxng.base_url: .*did you mean http://localhost:8888\?",
        ),
        ("searxng.base_url", "user:hunter2@host", "credentials, query or fragment$"),
    ],
)
def test_the_options_of_providers_that_are_not_in_use_are_checked_too(
    option, value, says
):
    provider, _, name = option.partition(".")
    write(
        "websearch.toml",
        {"provider": "duckduckgo", "providers": {provider: {name: value}}},
    )
    with pytest.raises(ConfigurationError, match=says) as caught:
        Settings.load()
    assert "hunter2" not in str(caught.value)


def test_a_wrong_url_in_the_environment_is_answered_with_the_variable(monkeypatch):
    monkeypatch.setenv("SEARXNG_URL", "searx.example.org")
    with pytest.raises(
        ConfigurationError,
        match="environment SEARXNG_URL: base_url: .* mean https://searx.example.org",
    ):
        WebSearch("searxng")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("websearch.json", '{"webSearch": {\n "tavily": {\n  "apiKy": "SECRET"}}}'),
        ("websearch.yaml", "webSearch:\n  tavily:\n    apiKy: SECRET\n"),
        ("websearch.toml", "[webSearch]\n[webSearch.tavily]\napiKy = 'SECRET'"),
        ("websearch.toml", "a = '''\ntimeout = 1\n'''\ntimout = 2"),
        ("websearch.toml", "internal = [\n  '10.0.0.0/8',\n]\ntimout = 2"),
        ("websearch.toml", "providers.brave.api_key = 'x'\n# timout = 2\n\ntimout = 2"),
    ],
)
def test_a_mistake_is_answered_with_its_line(name, content):
    path = write(name, {})
    path.write_text(content)

    with pytest.raises(ConfigurationError) as caught:
        WebSearch("duckduckgo", settings=Settings.load(providers={}), reader="tavily")
    line = (
        content[
            : content.index("apiKy" if "apiKy" in content else "\ntimout") + 1
        ].count("\n")
        + 1
    )
    said = str(caught.value)
    if "a = '''" in content:
        assert said.startswith(f"{path}, line 1: a: not an option")
    elif "timout" in content:
        assert said.startswith(
            f"{path}, line {line}: timout: not an option; did you mean timeout?"
        )
    else:
        assert "apiKy: not an option; did you mean api_key?" in said
    assert "SECRET" not in said


def test_a_line_that_is_not_certain_is_left_out():
    path = write("websearch.json", {"layers": {"other": {"timeout": 1}}, "timeout": -1})

    with pytest.raises(
        ConfigurationError, match=f"^{path}: timeout: must be greater than 0"
    ):
        Settings.load()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("websearch.json", '{"provider": ', "not JSON: Expecting value"),
        ("websearch.json", "[1]", "not a table of settings"),
        ("websearch.yaml", "provider: [", r"not YAML: .*\(at line 1, column 12\)"),
        (
            "websearch.yaml",
            "!!python/object/apply:os.system [true]",
            "not YAML: could not determine a constructor",
        ),
        ("websearch.json", "[" * 100_000, "not JSON: "),
        ("websearch.yaml", "[" * 100_000, "not YAML: "),
    ],
)
def test_a_broken_file_is_an_error_that_says_which(name, content, says):
    write(name, {}).write_text(content)
    with pytest.raises(ConfigurationError, match=f"{name}: {says}"):
        Settings.load()


@pytest.mark.parametrize("content", ["", "# nothing\n", "\ufeff"])
@pytest.mark.parametrize("name", ["websearch.toml", "websearch.yaml"])
def test_an_empty_file_sets_nothing(name, content):
    write(name, {}).write_text(content, "utf-8")
    assert Settings.load().model_fields_set == set()


def test_yaml_without_pyyaml_says_what_to_install(monkeypatch):
    write("websearch.yaml", {"timeout": 3})
    real = builtins.__import__

    def without_yaml(name, *rest):
        if name == "yaml":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_yaml)
    with pytest.raises(
        ConfigurationError,
        match=r"websearch.yaml: YAML needs .*pip install 'websearch-core\[yaml\]'",
    ):
        Settings.load()


# A key or a URL that the provider has no use for


@pytest.mark.parametrize(
    "make",
    [
        lambda: WebSearch("duckduckgo", api_key=KEY),
        lambda: WebSearch(
            "ddg", settings=Settings.load(providers={"ddg": {"api_key": KEY}})
        ),
        lambda: WebSearch(
            settings=Settings.from_mapping({"provider": "ddg", "api_key": KEY})
        ),
        lambda: WebSearch(
            settings=Settings(
                providers={"duckduckgo": {"api_key": KEY}}, provider="ddg"
            )
        ),
    ],
)
def test_a_key_for_a_provider_that_needs_none_is_ignored_with_a_warning(make, caplog):
    with caplog.at_level(logging.WARNING):
        assert leaves(make().provider)[0].name == "duckduckgo"
    assert "api_key: ignored, since duckduckgo needs no key" in caplog.text
    assert KEY not in caplog.text


def test_a_url_belongs_to_a_provider_whose_server_is_the_users_own(caplog):
    settings = Settings.from_mapping(
        {"provider": "brave", "url": "http://localhost:8888", "api_key": KEY}
    )

    assert key_of(settings) == ("brave", "https://api.search.brave.com/res/v1", KEY)
    assert "url: ignored, since brave has a server of its own" in caplog.text
    with pytest.raises(ConfigurationError, match="brave has no api_key"):
        WebSearch(
            settings=Settings.from_mapping(
                {"enabled": True, "provider": "brave", "api_key": "", "url": ""}
            )
        )


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"provider": ["brave", "tavily"]},
        {"provider": "brave, tavily"},
        {"provider": ""},
    ],
)
def test_a_key_needs_the_one_provider_that_it_is_for(choice):
    with pytest.raises(
        ConfigurationError, match="^api_key: name the provider it is for"
    ):
        Settings.from_mapping({"api_key": KEY, **choice})


# Switching off


@pytest.mark.parametrize("load", EVERYWHERE)
def test_enabled_false_switches_everything_off(load):
    settings = load({**SEARXNG, "enabled": False})

    with pytest.raises(
        ConfigurationError, match="web search is switched off: (.*: )?enabled is false"
    ) as caught:
        WebSearch("duckduckgo", settings=settings)
    if load is not from_mapping:
        assert f"{settings.files[0]}, line " in str(caught.value)
    assert WebSearch("duckduckgo", settings=settings.override(enabled=True))


def test_the_environment_can_switch_it_off_and_on_again(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_ENABLED", "false")
    with pytest.raises(
        ConfigurationError,
        match="switched off: environment WEB_SEARCH_ENABLED: enabled is false",
    ):
        WebSearch()
    write("websearch.toml", {"enabled": False})
    monkeypatch.setenv("WEB_SEARCH_ENABLED", "true")
    assert WebSearch()


def test_a_provider_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    path = write("websearch.toml", {"providers": {"tavily": {"enabled": False}}})

    with pytest.raises(
        ConfigurationError,
        match=f"tavily is switched off: {path}, line 3: providers.tavily.enabled",
    ):
        WebSearch("tavily")
    assert get_default().name == "brave"
    assert "tavily" not in [one.name for one in get_configured()]

    monkeypatch.delenv("BRAVE_API_KEY")
    off = {"enabled": False}
    write("websearch.toml", {"providers": {"tavily": off, "keenable": off}})
    assert [one.name for one in leaves(WebSearch().provider)] == ["you", "duckduckgo"]
    names = ("keenable", "you", "ddg", "tavily")
    write("websearch.toml", {"providers": dict.fromkeys(names, off)})
    with pytest.raises(ConfigurationError, match="are switched off: name a provider"):
        WebSearch()
    write("websearch.toml", {"providers": {"direct": {"enabled": False}}})
    with pytest.raises(ConfigurationError, match="direct is switched off"):
        WebSearch("ddg")
    write("websearch.toml", {"providers": {"direct": {"enabled": "no"}}})
    with pytest.raises(
        ConfigurationError, match="providers.direct.enabled: must be true or false"
    ):
        WebSearch("ddg")


@pytest.mark.parametrize(
    "table", [{"enabled": True}, {"providers": {"tavily": {"enabled": True}}}]
)
def test_a_project_file_does_not_switch_on_what_the_user_has_switched_off(table):
    off = (
        {"enabled": False}
        if "enabled" in table
        else {"providers": {"tavily": {"enabled": False}}}
    )
    write("websearch.toml", off)
    Path("websearch.toml").write_text(as_toml(table))
    with pytest.raises(
        ConfigurationError, match="enabled: may not be switched on here"
    ):
        Settings.load()

    Path("websearch.toml").write_text(as_toml(off))
    user_file().unlink()
    with pytest.raises(ConfigurationError, match="switched off"):
        WebSearch("tavily", api_key=KEY)


@pytest.mark.parametrize(
    ("found", "refused"),
    [
        ({"webSearch": {"internal": ["10.0.0.0/8"]}}, "internal: may not be set here"),
        (
            {"web_search": {"provider": "searxng", "url": "http://sea.example"}},
            "providers.searxng.base_url: may not be plain",
        ),
        (
            {"webSearch": {"tavily": {"searchDepth": "advanced"}}},
            "providers.tavily.search_depth: may not be set here",
        ),
        ({"webSearch": {"timeout": 121}}, "timeout: may not be more than 120"),
        (
            {"webSearch": {"tavily": {"baseUrl": "https://evil.example"}}},
            "tavily.base_url: may not be set here for a key",
        ),
    ],
)
@pytest.mark.parametrize("name", ["websearch.toml", "websearch.json", "websearch.yaml"])
def test_a_project_file_may_not_set_more_in_another_shape(
    monkeypatch, name, found, refused
):
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    write(name, found).rename(name)
    with pytest.raises(ConfigurationError, match=refused):
        WebSearch(
            reader="tavily", provider="searxng" if "web_search" in found else "tavily"
        )


# Settings given to a program


def test_settings_made_by_hand_need_no_environment_and_no_file(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "7")
    write("websearch.toml", {"retry": 1})
    settings = Settings(
        provider="brave",
        providers={"brave": {"api_key": KEY}},
        read_options={"max_length": 9},
    )
    web = WebSearch(settings=settings)

    assert leaves(web.provider) == [Brave(api_key=KEY)]
    assert (web.settings.timeout, web.settings.retry, web.settings.read_options) == (
        Timeout(),
        None,
        {"max_length": 9},
    )
    assert KEY not in repr(settings) + str(settings.model_dump()) + str(web.__dict__)
    assert KEY.encode() not in pickle.dumps(settings) + pickle.dumps(web)


def test_other_arguments_win_over_settings():
    settings = Settings(
        provider="brave", timeout=5, retry=2, providers={"brave": {"api_key": "other"}}
    )
    web = WebSearch(settings=settings, timeout=3, api_key=KEY, provider="brave")

    assert (web.settings.timeout.read, web.settings.retry) == (3, Retry(2))
    assert leaves(web.provider)[0].api_key.get_secret_value() == KEY
    assert settings.timeout.read == 5


def test_the_key_in_settings_wins_over_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", "that-of-the-server")

    assert key_of(Settings.from_mapping({"provider": "brave", "api_key": KEY}))[
        ::2
    ] == ("brave", KEY)
    assert key_of(Settings.from_mapping({"provider": "brave"}))[::2] == (
        "brave",
        "that-of-the-server",
    )
    assert key_of(Settings.load(providers={"brave": {"api_key": KEY}}), "brave")[
        ::2
    ] == ("brave", KEY)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Settings(timeout=-1), "timeout: must be greater than 0"),
        (lambda: Settings(tiemout=1), "tiemout: not an option; did you mean timeout?"),
        (lambda: Settings.from_mapping([1]), "settings: must be a mapping, not list"),
        (lambda: Settings.from_mapping({3: 1}), "3: not an option"),
        (
            lambda: Settings.from_mapping({"webSearch": {"timeout": -1}}),
            "webSearch.timeout: must",
        ),
        (
            lambda: WebSearch(settings={"provider": "brave"}),
            "settings: must be Settings",
        ),
        (
            lambda: Settings.from_mapping({"providers": {"brvae": {}}}),
            "providers.brvae: unknown provider 'brvae'; did you mean brave?",
        ),
        (
            lambda: (
                Settings.from_mapping({"layers": {"retri": {}}})
                and WebSearch(settings=Settings(layers={"retri": {}}))
            ),
            "unknown layer 'retri'",
        ),
        (
            lambda: Settings(timeout=True),
            "timeout: must be a number of seconds above 0",
        ),
        (lambda: WebSearch("ddg", retry=0), "retry: Retry: attempts: must be"),
        *(
            (
                lambda name=name: WebSearch("ddg", **{name: ""}),
                f"{name}: is empty: write false",
            )
            for name in CONCERNS
        ),
        (lambda: WebSearch("ddg", budget=[]), "budget: is empty: write false"),
        (
            lambda: WebSearch("ddg", cache="postgres://u:p@db/0"),
            "cache: Cache: location: must be a path, a URL of Redis",
        ),
        (
            lambda: WebSearch("ddg", budget=["1 USD/day", "100/hour"]),
            "budget: limit 2: not a budget such as",
        ),
        (lambda: WebSearch("ddg", budget="100/hour"), "budget: not a budget such as"),
        (
            lambda: WebSearch("ddg", search_options={"limit": "many"}),
            "search_options: limit: must be a whole number",
        ),
    ],
)
def test_a_wrong_value_is_a_configuration_error_that_begins_with_its_name(make, says):
    with pytest.raises(ConfigurationError) as caught:
        make()
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (
            {"provider": "tavly"},
            "provider: unknown provider 'tavly'; did you mean tavily?",
        ),
        ({"provider": ["brave", "direct"]}, "provider: 'direct' cannot search"),
        ({"reader": "brave"}, "reader: 'brave' cannot read"),
    ],
)
def test_a_wrong_choice_is_answered_with_the_file_and_the_line(
    monkeypatch, setting, says
):
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    path = write("websearch.toml", setting)
    with pytest.raises(ConfigurationError) as caught:
        WebSearch()
    assert str(caught.value).startswith(f"{path}, line 1: {says}")


def test_the_password_of_redis_is_not_shown():
    settings = Settings(
        cache="redis://ann:SECRET@host/0", throttle="redis://ann:SECRET@host/1"
    )

    for shown in (
        repr(settings),
        str(settings.model_dump()),
        settings.model_dump_json(),
    ):
        assert "SECRET" not in shown
    assert settings.model_dump()["cache"]["location"] == "redis://host/0"


def test_an_unknown_provider_in_a_file_is_answered_with_the_line():
    path = write(
        "websearch.toml", {"timeout": 3, "providers": {"brvae": {"api_key": KEY}}}
    )
    with pytest.raises(
        UnknownProvider,
        match=f"{path}, line 3: providers.brvae: unknown provider 'brvae'; did you mean brave?",
    ):
        Settings.load()


# Time limits


def test_timeout_sets_both_limits_and_each_can_differ(monkeypatch):
    def limits(**arguments):
        settings = WebSearch("ddg", **arguments).settings
        return settings.timeout.search, settings.timeout.read, settings.timeout.connect

    assert limits() == (15, 30, 5)
    assert limits(timeout=3) == (3, 3, 5)
    assert limits(timeout=Timeout(search=3, read=9)) == (3, 9, 5)
    write("websearch.toml", {"timeout": {"search": 10, "read": 20, "connect": 1}})
    assert limits() == (10, 20, 1)
    monkeypatch.setenv("WEB_SEARCH_READ_TIMEOUT", "40")
    assert limits() == (10, 40, 1)
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "50")
    assert limits() == (50, 40, 1)
    assert limits(timeout={"search": 2}) == (2, 40, 1)
    assert (
        str(Settings.load().source("timeout", "search"))
        == "environment WEB_SEARCH_TIMEOUT"
    )


def test_searching_reading_and_both_have_their_own_limits():
    left = {}

    class Clock:
        name = "clock"
        options = frozenset()

        def search(self, query, /):
            yield from ()
            left["search"] = time_left()
            return SearchResponse(
                query=query.text,
                results=(SearchResult(title="t", url="https://a.example/"),),
            )

        def read(self, url, /):
            yield from ()
            left["read"] = time_left()
            return Page(url=url, content="text")

    def limits(use, **arguments):
        left.clear()
        use(WebSearch(Clock(), reader=Clock(), **arguments))
        return {name: round(seconds, -2) for name, seconds in left.items()}

    both = {"timeout": {"search": 1_000, "read": 3_000}}
    assert limits(lambda web: web.search("x"), **both) == {"search": 1_000}
    assert limits(lambda web: web.read("https://a.example/"), **both) == {"read": 3_000}
    assert limits(lambda web: web.search("x", read_top=1), **both) == {
        "search": 1_000,
        "read": 3_000,
    }
    assert limits(lambda web: web.search("x", read_top=1), timeout=2_000) == {
        "search": 2_000,
        "read": 2_000,
    }
    assert limits(
        lambda web: web.read_many(["https://a.example/"], timeout=500), **both
    ) == {"read": 500}
    longer = {"timeout": {"search": 3_000, "read": 1_000}}
    assert limits(lambda web: web.search("x", read_top=1), **longer) == {
        "search": 3_000,
        "read": 1_000,
    }


def test_the_limit_of_a_project_file_counts_for_what_it_sets():
    write("websearch.toml", {"timeout": {"search": 5}})
    Path("websearch.toml").write_text("\ntimeout = 6\n")
    with pytest.raises(
        ConfigurationError, match="line 2: timeout: may not be more than 5"
    ):
        Settings.load()
    Path("websearch.toml").write_text("timeout = 4\n")
    assert (Settings.load().timeout.search, Settings.load().timeout.read) == (4, 4)


# Keys that others can read


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_key_in_a_file_that_others_can_read_is_worth_a_warning(mode, caplog):
    path = write("websearch.toml", CAMEL)
    _warn_once.cache_clear()
    Settings.load()
    assert caplog.text == ""

    path.chmod(mode)
    Settings.load()
    Settings.load()
    assert (
        caplog.text.count(
            f"{path}, line 4: providers.tavily.api_key: other users of this machine can read"
        )
        == 1
    )
    assert f"chmod 600 {path}" in caplog.text
    assert KEY not in caplog.text


def test_a_place_in_a_keyring_and_an_option_may_be_read_by_all(caplog):
    write(
        "websearch.toml",
        {"providers": {"brave": {"api_key": "keyring:web/brave"}, "ddg": {"pause": 1}}},
    ).chmod(0o644)
    Settings.load()
    assert caplog.text == ""


# .env


def test_a_dotenv_file_is_read_only_if_it_is_named(monkeypatch):
    Path(".env").write_text(
        f"BRAVE_API_KEY='{KEY}'\nexport WEB_SEARCH_TIMEOUT=7\nWEB_SEARCH_LAYERS={{bad\nOTHER=1\n"
    )
    assert WebSearch("ddg").settings.timeout == Timeout()
    assert "brave" not in [one.name for one in get_configured()]

    monkeypatch.setenv("WEB_SEARCH_ENV_FILE", ".env")
    with pytest.raises(
        ConfigurationError, match="environment WEB_SEARCH_LAYERS in .env: not JSON"
    ):
        WebSearch("brave")
    Path(".env").write_text(
        f"BRAVE_API_KEY='{KEY}'\nexport WEB_SEARCH_TIMEOUT=7\nOTHER=1\n"
    )
    web = WebSearch("brave")
    assert (leaves(web.provider), web.settings.timeout.read) == (
        [Brave(api_key=KEY)],
        7,
    )
    assert (
        str(web.settings.source("timeout", "read"))
        == "environment WEB_SEARCH_TIMEOUT in .env"
    )
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "8")
    monkeypatch.setenv("BRAVE_API_KEY", "of-the-process")
    assert WebSearch("brave").settings.timeout.read == 8, (
        "the variables of the process win"
    )
    assert (
        leaves(WebSearch("brave").provider)[0].api_key.get_secret_value()
        == "of-the-process"
    )


@pytest.mark.parametrize(
    ("name", "says"),
    [("nowhere.env", "No such file"), ("~nobody-of-this-name/.env", "no such user")],
)
def test_a_named_dotenv_file_that_cannot_be_read_is_an_error(monkeypatch, name, says):
    monkeypatch.setenv("WEB_SEARCH_ENV_FILE", name)
    with pytest.raises(ConfigurationError, match=f"WEB_SEARCH_ENV_FILE: .*{says}"):
        WebSearch("ddg")
