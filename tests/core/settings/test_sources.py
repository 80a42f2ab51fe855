"""Which settings files are read, and what a project file may set."""

from __future__ import annotations
import json
import logging
import os
from pathlib import Path
from typing import Annotated, ClassVar

import pytest
import typer.testing
from pydantic import SecretStr

from tests.server import Server, http
from websearch_core import SearchQuery, WebSearch, WebSearchError
from websearch_core._cli.app import app
from websearch_core.client._selection import build_provider
from websearch_core.errors import ConfigurationError
from websearch_core.provider._declare import (
    BaseUrl,
    Key,
    ProjectFile,
    environment,
    field_notes,
    provider,
)
from websearch_core.providers import known, provider_class
from websearch_core.settings import Settings
from websearch_core.settings._sources import user_file
from websearch_core.settings._values import SETTINGS, find_setting

KEY = "SECRET-of-the-victim"
HIT = {"results": [{"title": "Kelp", "url": "https://sea.example/", "content": "Alga"}]}


def write(text: str, path: str | Path = "websearch.toml") -> Path:
    path = Path(path).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def stranger():
    """A server that gives everybody a result and a page."""
    with Server([http({**HIT, "web": HIT, "data": {"content": "text"}})]) as server:
        yield server


def command(*words):
    def run():
        done = typer.testing.CliRunner().invoke(app, list(words))
        assert done.exit_code in {1, 2}
        raise ConfigurationError(done.stdout + done.stderr)

    return run


def deep(make):
    """Run two folders below the file."""

    def run():
        Path("a/b").mkdir(parents=True)
        os.chdir("a/b")
        make()

    return run


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("tavily", lambda: WebSearch().search("kelp")),
        ("tavily", lambda: WebSearch("tavily").search("kelp")),
        ("tavily", lambda: WebSearch("tavily", api_key=KEY).search("kelp")),
        (
            "tavily",
            lambda: WebSearch(
                "tavily", settings=Settings.load(providers={"tavily": {"api_key": KEY}})
            ).search("kelp"),
        ),
        (
            "tavily",
            lambda: WebSearch("duckduckgo", reader="tavily").read(
                "https://sea.example/"
            ),
        ),
        ("brave", lambda: WebSearch("brave").search("kelp")),
        (
            "jina",
            lambda: WebSearch("duckduckgo", reader="jina").read("https://sea.example/"),
        ),
        ("searxng", lambda: WebSearch("searxng").search("kelp")),
        ("tavily", deep(lambda: WebSearch().search("kelp"))),
        ("tavily", command("search", "kelp")),
        ("jina", command("read", "https://sea.example/", "-r", "jina")),
        ("tavily", command("doctor", "tavily")),
        ("brave", command("doctor")),
    ],
)
@pytest.mark.parametrize("place", ["websearch.toml", "pyproject.toml"])
def test_a_project_file_never_sends_a_key_that_came_from_elsewhere(
    stranger, monkeypatch, name, use, place
):
    monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)
    table = "" if place == "websearch.toml" else "tool.websearch."
    write(f'[{table}providers.{name}]\nbase_url = "{stranger.url}"\n', place)

    with pytest.raises(
        ConfigurationError, match=f"{place}.*providers.{name}.base_url"
    ) as caught:
        use()
    assert KEY not in str(caught.value)
    assert KEY not in str(stranger.requests)


def test_a_key_of_the_file_that_another_overrules_does_not_open_the_way(monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    write('[providers.brave]\napi_key = "own-key"\nbase_url = "https://evil.example"\n')

    with pytest.raises(
        ConfigurationError, match=r"brave\.base_url: may not be set here for a key"
    ):
        WebSearch("brave")


@pytest.mark.enable_socket
def test_a_file_that_brings_key_and_base_url_may_set_both(stranger):
    write(f'[providers.brave]\napi_key = "own-key"\nbase_url = "{stranger.url}"\n')

    assert WebSearch("brave").search("kelp", limit=1).results
    assert "own-key" in str(stranger.requests[0])


@pytest.mark.enable_socket
def test_a_service_without_key_on_this_machine_may_be_named(stranger):
    write(f'provider = "searxng"\n[providers.searxng]\nbase_url = "{stranger.url}"\n')

    assert WebSearch().search("kelp", limit=1).results


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ('internal = ["127.0.0.0/8"]', "internal"),
        ('internal = ["http://evil.example"]', "internal"),
        ("internal = []", "internal"),
        ('http.library = "httpx2"', "http.library"),
        ("timeout = 121", "timeout"),
        ('timeout = "99999"', "timeout"),
        ("timeout = inf", "timeout"),
        ("retry = 6", "retry"),
        ("retry.extra_share = 1.0", "retry.extra_share"),
        ('combine = "fuse"', "combine"),
        ("combine.fuse.k = 1", "combine.fuse"),
        ("robots = false", "robots"),
        ("throttle = 1", "throttle"),
        ("cache.max_age = 5", "cache.max_age"),
        ("cache = true", "cache"),
        ("budget = false", "budget"),
        ("budget.usage_file = 'x'", "budget.usage_file"),
        ('search_options.extra = {"a" = 1}', "search_options.extra"),
        ("search_options.max_snippet_chars = 1001", "search_options.max_snippet_chars"),
        ("read_options.max_length = 100001", "read_options.max_length"),
        ("max_page_length = 100001", "max_page_length"),
        ("read_options.max_tokens = 25001", "read_options.max_tokens"),
        ('[providers.local]\npath = "/tmp/index.db"', "providers.local.path"),
        (
            "[providers.direct]\nallow_downgrade = true",
            "providers.direct.allow_downgrade",
        ),
        ('[providers.direct]\nuser_agent = "x"', "providers.direct.user_agent"),
        ("[providers.direct]\nisolate = false", "providers.direct.isolate"),
        ("[providers.direct]\nlinks = 'keep'", "providers.direct.links"),
        ("read_options.links = 'keep'", "read_options.links"),
        ("[providers.direct]\nmax_bytes = 10485761", "providers.direct.max_bytes"),
        ("[providers.direct]\nmax_redirects = 11", "providers.direct.max_redirects"),
        (
            '[providers.tavily]\nsearch_depth = "advanced"',
            "providers.tavily.search_depth",
        ),
        ("[providers.ddg]\npause = 0", "providers.duckduckgo.pause"),
        ('[providers.brave]\napi_key = "keyring:a/b"', "providers.brave.api_key"),
        ('[providers.brave]\napi_key = " keyring:a/b"', "providers.brave.api_key"),
        (
            '[providers.searxng]\nbase_url = "http://sea.example"',
            "providers.searxng.base_url",
        ),
        (
            '[providers.searxng]\nbase_url = "http://localhost.sea.example"',
            "providers.searxng.base_url",
        ),
        (
            '[providers.searxng]\nbase_url = "https://10.0.0.1"',
            "providers.searxng.base_url",
        ),
        (
            '[providers.searxng]\nbase_url = "https://169.254.169.254"',
            "providers.searxng.base_url",
        ),
        (
            '[providers.searxng]\nbase_url = "https://wiki.internal"',
            "providers.searxng.base_url",
        ),
        (
            '[providers.searxng]\nbase_url = "https://2130706433"',
            "providers.searxng.base_url",
        ),
        (
            '[providers.searxng]\nbase_url = "https://sea.example:22"',
            "providers.searxng.base_url",
        ),
        (
            '[providers.searxng]\nbase_url = "http://localhost:25"',
            "providers.searxng.base_url",
        ),
    ],
)
def test_what_a_project_file_may_not_set_is_refused_with_where_to_put_it(
    monkeypatch, entry, key
):
    path = write(entry)

    def use():
        build_provider(
            key.split(".")[1] if key.startswith("providers.") else "direct",
            Settings.load(),
        )

    with pytest.raises(ConfigurationError) as caught:
        use()
    for part in (
        f"{path}, line ",
        f": {key}: ",
        str(user_file()),
        "WEB_SEARCH_CONFIG",
        "argument",
    ):
        assert part in str(caught.value)
    for trusted in (path.with_name("named.toml"), user_file()):
        write(entry, trusted)
        path.unlink(missing_ok=True)
        monkeypatch.setenv(
            "WEB_SEARCH_CONFIG", str(trusted) if trusted.name == "named.toml" else ""
        )
        monkeypatch.setenv("TAVILY_API_KEY", KEY)
        if "brave" not in key:  # which needs a keyring
            use()
        assert Settings.load().files[0].name == str(trusted)


@pytest.mark.parametrize(
    "entry",
    [
        'provider = ["duckduckgo", "tavily"]',
        'reader = "jina"',
        "timeout = 120",
        "read_options.max_tokens = 4000",
        "retry = 5",
        "retry.wait_initial = 1",
        "search_options.max_snippet_chars = 500",
        "timeout.connect = 60",
        "read_options.max_length = 100000",
        "[providers.direct]\nmax_bytes = 1000",
        '[providers.searxng]\nbase_url = "https://searx.example"\nengines = ["bing"]',
        '[providers.searxng]\nbase_url = "http://[::1]:8888/searx"',
        "[providers.tavily]\ninclude_answer = true",
    ],
)
def test_a_project_file_may_choose_providers_limits_and_formats(monkeypatch, entry):
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    path = write(entry)
    settings = Settings.load()

    for name in settings.providers:
        assert build_provider(name, settings).name == name
    assert {str(option.source) for option in settings._chosen.values()} == {str(path)}


def test_a_project_file_does_not_raise_what_the_user_has_set(monkeypatch):
    write("timeout = 5\nread_options.max_length = 800", user_file())
    write("timeout = 4")
    assert (
        Settings.load().timeout.read,
        Settings.load().read_options["max_length"],
    ) == (4, 800)

    write("timeout = 6")
    with pytest.raises(ConfigurationError, match="timeout: may not be more than 5"):
        Settings.load()
    assert Settings.load(timeout=60).timeout.read == 60, (
        "what does not count does not matter"
    )
    write("read_options.max_tokens = 10")
    with pytest.raises(
        ConfigurationError,
        match="read_options.max_tokens: may not take the place of max_length",
    ):
        Settings.load()
    monkeypatch.setenv("WEB_SEARCH_MAX_TOKENS", "20")
    assert Settings.load().read_options["max_tokens"] == 20

    write("[providers.direct]\nmax_bytes = 1000", user_file())
    write("[providers.direct]\nmax_bytes = 1001")
    with pytest.raises(
        ConfigurationError, match="max_bytes: may not be more than 1000"
    ):
        WebSearch("duckduckgo")


def test_the_users_own_limit_may_be_higher_than_that_of_a_project_file():
    write("timeout = 600", user_file())
    assert Settings.load().timeout.read == 600
    write("timeout = 500")
    assert Settings.load().timeout.read == 500


def test_options_of_plug_ins_need_the_note_that_they_are_harmless(monkeypatch):
    @provider
    class Mine:
        name: ClassVar[str] = "mine"
        proxy: str = ""
        colour: Annotated[str, ProjectFile()] = "blue"
        token: SecretStr | None = None
        api_key: Key | None = None
        base_url: BaseUrl = "https://mine.example"

    class Plain:
        name = "plain"

        def __init__(self, **options):
            self.options = options

    monkeypatch.setattr(
        "websearch_core._registry._registered", {"mine": Mine, "plain": Plain}
    )
    write('[providers.mine]\ncolour = "red"')
    assert build_provider("mine", Settings.load()).colour == "red"
    for entry, key in (
        ('[providers.mine]\nproxy = "http://evil.example"', "providers.mine.proxy"),
        ('[providers.mine]\ntoken = "x"', "providers.mine.token"),
        ('[providers.plain]\nanything = "x"', "providers.plain.anything"),
    ):
        path = write(entry)
        with pytest.raises(ConfigurationError, match=f"{key}: may not be set here"):
            Settings.load()
    path.unlink()
    write('[providers.plain]\nanything = "x"', user_file())
    settings = Settings.load()
    assert build_provider("plain", settings).options == {"anything": "x"}
    assert "'x'" not in repr(settings.model_dump())
    monkeypatch.setenv("MINE_BASE_URL", "https://gateway.example")
    assert build_provider("mine", settings).base_url == "https://gateway.example"

    write('[providers.mine]\nbase_url = "https://evil.example"')
    monkeypatch.delenv("MINE_BASE_URL")
    settings = Settings.load()
    with pytest.raises(
        ConfigurationError, match=r"mine\.base_url: may not be set here for a key"
    ):
        build_provider("mine", settings, token="x")


def test_a_key_that_the_class_finds_by_itself_counts(monkeypatch):
    from dataclasses import field

    @provider
    class Mine:
        name: ClassVar[str] = "mine"
        api_key: Key = field(default_factory=lambda: KEY)
        base_url: BaseUrl = "https://mine.example"

    monkeypatch.setattr("websearch_core._registry._registered", {"mine": Mine})
    write('[providers.mine]\nbase_url = "https://evil.example"')

    with pytest.raises(ConfigurationError, match=r"mine\.base_url"):
        build_provider("mine", Settings.load())


@pytest.mark.repository
def test_the_documentation_says_what_a_project_file_may_set():
    page = (Path(__file__).parents[3] / "docs" / "settings.md").read_text("utf-8")
    parts = {
        (name, part): row.notes
        for name, setting in SETTINGS.items()
        for part, row in setting.parts.items()
        if row.variable
    }
    whole = {
        (name,): field.metadata
        for name, field in Settings.model_fields.items()
        if not find_setting(name).parts
    }
    for name, notes in (parts | whole).items():
        # a table for each, with notes of their own
        if name[0] in {"providers", "layers", "retry"}:
            continue
        variable = f"`{find_setting(*name).variable}`"
        (row,) = [
            line.split(" | ")
            for line in page.splitlines()
            if line.startswith("|") and variable in line
        ]
        note = next((note for note in notes if isinstance(note, ProjectFile)), None)
        stated = (
            "nothing"
            if note is None
            else "`false`"
            if isinstance(note.at_most, bool)
            else "any"
            if note.at_most is None
            else f"up to {note.at_most:,}"
        )
        assert row[-2].strip().partition(", ")[0] == stated, name


# Which files


def test_a_named_file_is_read_instead_of_a_found_one(monkeypatch, tmp_path):
    write("timeout = 3\nretry = 1", user_file())
    write("[timeout]\nsearch = 2\nread = 2\nconnect = 4")
    assert (Settings.load().timeout.read, Settings.load().retry.attempts) == (2, 1)

    monkeypatch.setenv(
        "WEB_SEARCH_CONFIG", str(write("timeout = 5", tmp_path / "mine.toml"))
    )
    settings = Settings.load()
    assert (
        settings.timeout.read,
        settings.retry.attempts,
        settings.timeout.connect,
    ) == (5, 1, 5)
    assert [str(settings.source(*path)) for path in (("timeout", "read"), ("retry",), ("timeout", "connect"))] == [
        str(tmp_path / "mine.toml"), str(user_file()), "default",
    ]  # fmt: skip

    monkeypatch.setenv("WEB_SEARCH_CONFIG", os.devnull)
    assert Settings.load().timeout.read == 3
    monkeypatch.setenv(
        "WEB_SEARCH_CONFIG",
        str(write("[tool.websearch]\ntimeout = 6", tmp_path / "pyproject.toml")),
    )
    assert Settings.load().timeout.read == 6
    for broken in (
        "nowhere.toml",
        str(write("[tool]", tmp_path / "other" / "pyproject.toml")),
        str(tmp_path),
    ):
        monkeypatch.setenv("WEB_SEARCH_CONFIG", broken)
        with pytest.raises(ConfigurationError, match="WEB_SEARCH_CONFIG"):
            Settings.load()


@pytest.mark.parametrize("root", [".git", "pyproject.toml"])
def test_the_search_ends_at_the_root_of_the_project(monkeypatch, tmp_path, root):
    write("timeout = 9", tmp_path / "websearch.toml")
    deep = tmp_path / "project" / "src"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert Settings.load().timeout.read == 9, "without a root, all the way up"

    write("", tmp_path / "project" / root)
    assert Settings.load().timeout.read == 30
    write("timeout = 8", tmp_path / "project" / "websearch.toml")
    assert Settings.load().timeout.read == 8, "the root itself counts"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_files_of_another_user_are_not_read(tmp_path, monkeypatch, caplog):
    write("timeout = 9", tmp_path / "websearch.toml")
    deep = tmp_path / "shared" / "src"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    theirs = write("timeout = 8", tmp_path / "shared" / "websearch.toml")
    os.chown(theirs, 12345, -1)
    monkeypatch.delenv("SUDO_UID", raising=False)

    assert Settings.load().timeout.read == 30, "and the search ends there"
    assert f"skipped {theirs}: it belongs to another user" in caplog.text
    monkeypatch.setenv("SUDO_UID", "12345")
    assert Settings.load().timeout.read == 8
    monkeypatch.delenv("SUDO_UID")

    theirs.unlink()
    theirs.symlink_to(tmp_path / "websearch.toml")  # their link to a file of mine
    os.chown(theirs, 12345, -1, follow_symlinks=False)
    assert Settings.load().timeout.read == 30
    theirs.unlink()
    project = write(
        "[tool.websearch]\ntimeout = 8", tmp_path / "shared" / "pyproject.toml"
    )
    os.chown(project, 12345, -1)
    assert Settings.load().timeout.read == 30


@pytest.mark.parametrize(
    "content",
    [
        b"[tool",
        b"\xff\xfe",
        b"a = " + b"[" * 100_000,
        b"a = " + b"9" * 5000,
        b"#" * (2**20 + 1),
        b"tool = 3",
    ],
    ids=["cut", "not UTF-8", "deep", "long number", "large", "no table"],
)
def test_a_broken_pyproject_is_skipped_and_a_broken_file_of_ours_is_an_error(
    content, caplog, monkeypatch
):
    with caplog.at_level(logging.WARNING):
        Path("pyproject.toml").write_bytes(b"# websearch\n" + content)
        assert WebSearch("duckduckgo")
    assert ("skipped" in caplog.text) is (content != b"tool = 3")

    Path("websearch.toml").write_bytes(content)
    with pytest.raises(ConfigurationError, match="websearch.toml|'tool': Extra"):
        WebSearch("duckduckgo")


@pytest.mark.parametrize("name", ["langchain-websearch", "websearch_core"])
def test_a_pyproject_without_our_name_is_not_parsed(name, monkeypatch):
    monkeypatch.setattr(
        "websearch_core.settings._sources._parse", lambda *_: pytest.fail("parsed")
    )
    write(f'[project]\ndependencies = ["{name}>=1"]', "pyproject.toml")
    assert Settings.load().timeout == Settings().timeout


@pytest.mark.parametrize(
    "content",
    [
        "tool.websearch.timeout = 3",
        'tool."websearch".timeout = 3',
        "tool = {websearch = {timeout = 3}}",
    ],
)
def test_our_part_of_a_pyproject_may_be_written_in_any_way(content):
    write(content, "pyproject.toml")
    assert Settings.load().timeout.search == 3


@pytest.mark.parametrize("content", ["[tool]\nwebsearch = 3", "[[tool.websearch]]"])
def test_our_part_of_a_pyproject_has_to_be_a_table(content):
    write(content, "pyproject.toml")
    with pytest.raises(ConfigurationError, match=r"tool\.websearch is not a table"):
        Settings.load()


def test_a_deleted_working_directory_does_no_harm(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert WebSearch("duckduckgo")
    monkeypatch.chdir(tmp_path)


def test_a_folder_that_cannot_be_looked_into_does_no_harm(monkeypatch):
    def closed(self, *_, **__):
        raise PermissionError

    monkeypatch.setattr(Path, "is_file", closed)
    assert WebSearch("duckduckgo")


def test_a_relative_config_folder_is_not_looked_for_in_the_working_directory(
    monkeypatch,
):
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    write('internal = ["127.0.0.0/8"]', "websearch/websearch.toml")

    assert Settings.load().internal == ()


def test_the_users_own_file_is_trusted_in_its_own_folder_too(monkeypatch):
    write('internal = ["127.0.0.0/8"]', user_file())
    monkeypatch.chdir(user_file().parent)

    settings = Settings.load()
    assert settings.internal == ("127.0.0.0/8",)
    assert [file.trusted for file in settings.files] == [True]


@pytest.mark.parametrize(
    "entry", ["providers = 3", "[providers]\nbrave = 'x'", "[[providers]]"]
)
def test_options_that_are_not_tables_are_reported(entry):
    write(entry)
    with pytest.raises(ConfigurationError, match="providers: not a table"):
        Settings.load()


# Values and their sources


@pytest.mark.parametrize(
    "name",
    [name for name in known() if "base_url" in field_notes(provider_class(name))],
)
def test_every_service_can_be_reached_through_a_gateway_of_the_environment(
    monkeypatch, name
):
    for option, variables in environment(provider_class(name)).items():
        if option in {"api_key", "cx", "token"}:
            monkeypatch.setenv(variables[0], KEY)
    monkeypatch.setenv(f"{name.upper()}_BASE_URL", "https://gateway.example/it/")

    made = build_provider(name, Settings.load())
    assert made.base_url == "https://gateway.example/it"
    searches = hasattr(made, "search") and not hasattr(made, "search_url")
    effect = next(
        made.search(SearchQuery.of("kelp"))
        if searches
        else made.read("https://a.example")
    )
    assert effect.url.startswith("https://gateway.example/it")


def test_doctor_says_where_every_value_comes_from(monkeypatch):
    monkeypatch.setattr(
        "websearch_core._cli.checks.run_checks", lambda *_, **__: iter(())
    )
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "7")
    found = write(
        'provider = "brave"\n[providers.searxng]\nbase_url = "http://localhost:8888"'
    )
    own = write("[retry]\nattempts = 2\nwait_initial = 1", user_file())
    monkeypatch.setattr("websearch_core.client.WebSearch.run", lambda *_: [])

    done = typer.testing.CliRunner().invoke(app, ["doctor", "--format", "json"])
    said = {one["name"]: one for one in json.loads(done.stdout)["settings"]}

    def value(name):
        return said[name]["value"], said[name]["source"], said[name]["trusted"]

    assert value("retry.wait_initial") == (1, str(own), True)

    assert value("timeout.read") == (7.0, "environment WEB_SEARCH_TIMEOUT", True)
    assert value("provider") == (["brave"], str(found), False)
    assert value("retry.attempts") == (2, str(own), True)
    assert value("read_options.max_length") == (15000, "default", True)
    assert value("providers.brave.api_key") == (
        "**********",
        "environment BRAVE_API_KEY",
        True,
    )
    assert value("providers.brave.base_url") == (
        "https://api.search.brave.com/res/v1",
        "default",
        True,
    )
    assert value("providers.searxng.base_url") == (
        "http://localhost:8888",
        str(found),
        False,
    )
    assert json.loads(done.stdout)["settings_files"] == [
        {"path": str(found), "trusted": False},
        {"path": str(own), "trusted": True},
    ]
    text = typer.testing.CliRunner().invoke(app, ["doctor"]).stdout
    assert f"{found} (not trusted)" in text
    assert f"{own}\n" in text
    assert KEY not in done.stdout + text


def test_arguments_are_a_source_of_their_own(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "7")
    settings = WebSearch("duckduckgo", timeout=3).settings

    assert (str(settings.source("timeout", "read")), settings.timeout.read) == (
        "argument",
        3,
    )
    with pytest.raises(WebSearchError):
        Settings.load(timeout=-1)
