"""``websearch setup``: what it asks, and what it writes."""

from __future__ import annotations
import json
import logging
import stat
import sys
from types import ModuleType

import pytest
import typer.testing

from websearch_core import WebSearch
from websearch_core._cli.app import app
from websearch_core._cli.own_file import OwnFile
from websearch_core.errors import ConfigurationError, WebSearchError
from websearch_core.keys._keys import keyrings
from websearch_core.layers import leaves
from websearch_core.settings import Settings
from websearch_core.settings._sources import user_file

KEY = "SECRET-of-the-user"


@pytest.fixture(autouse=True)
def keyring(monkeypatch):
    """A keyring in memory; ``locked`` makes it fail."""

    class KeyringError(Exception):
        pass

    stored = {}
    fake, errors = ModuleType("keyring"), ModuleType("keyring.errors")
    fake.__spec__ = errors.__spec__ = object()
    errors.KeyringError, fake.errors, fake.locked, fake.stored = (
        KeyringError,
        errors,
        False,
        stored,
    )

    def set_password(service, name, key):
        if fake.locked:
            raise KeyringError
        stored[service, name] = key

    fake.set_password, fake.get_password = (
        set_password,
        lambda *place: stored.get(place),
    )
    monkeypatch.setitem(sys.modules, "keyring", fake)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    keyrings.start_over()
    yield fake
    keyrings.start_over()


@pytest.fixture
def setup(monkeypatch):
    """Answer the questions of setup, which thinks that it talks to a terminal."""
    monkeypatch.setattr(
        "websearch_core._cli.commands.setup.is_interactive", lambda: True
    )

    def run(*answers):
        return typer.testing.CliRunner().invoke(
            app, ["setup"], input="".join(f"{answer}\n" for answer in answers)
        )

    return run


@pytest.fixture
def checks(monkeypatch):
    """Set how the one call of a check ends."""
    from websearch_core._cli import checks

    seen = []

    def answer(error=None, note=""):
        def run_checks(names, settings, *, ping):
            yield from ()
            seen.append((names, settings))
            return [checks.Check(names[0], 0.1, error, note=note)]

        monkeypatch.setattr(checks, "run_checks", run_checks)
        return seen

    return answer


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_key_goes_into_the_keyring_and_the_choice_into_the_own_file(
    setup, checks, keyring
):
    seen = checks()
    done = setup("brave", KEY, "y")

    assert done.exit_code == 0, done.output
    assert "brave works" in done.output
    assert keyring.stored == {("websearch", "brave"): KEY}
    assert (
        user_file().read_text()
        == 'provider = "brave"\n\n[providers.brave]\napi_key = "keyring:websearch/brave"\n'
    )
    ((names, settings),) = seen
    assert (names, settings.options("brave")["api_key"].value) == (["brave"], KEY)
    (brave,) = leaves(WebSearch().provider)
    assert (brave.name, brave.api_key.get_secret_value()) == ("brave", KEY)
    assert KEY not in done.output


def test_a_declared_service_is_asked_for_its_url_and_a_key_and_what_is_odd_is_said(
    setup, checks
):
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[providers.external]\nresults = "data.items"\n')
    checks(note="external's answer has no list at data.items: is it elsewhere?")
    url = "https://search.example/api"
    done = setup("external", f"{url}?key={KEY}", url, KEY, "y")

    assert done.exit_code == 0, done.output
    assert "credentials, query or fragment" in done.output
    assert (
        "external answers, but external's answer has no list at data.items"
        in done.output
    )
    (external,) = leaves(WebSearch().provider)
    assert (external.base_url, external.results) == (url, "data.items")
    assert external.api_key.get_secret_value() == KEY


@pytest.mark.parametrize(
    ("name", "key"), [("keenable", ""), ("keenable", KEY), ("ollama", KEY)]
)
def test_setup_asks_for_a_key_where_one_is_known(name, key, setup, checks):
    checks()
    done = setup(name, key, "y")

    assert done.exit_code == 0, done.output
    assert f"{name} works" in done.output
    (provider,) = leaves(WebSearch().provider)
    assert (
        provider.name,
        provider.api_key.get_secret_value() if provider.api_key else "",
    ) == (name, key)


def test_without_a_keyring_the_key_goes_into_the_file_that_only_its_owner_can_read(
    setup, keyring, caplog
):
    keyring.locked = True
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text("timeout = 5\n")
    user_file().chmod(0o644)
    done = setup("brave", KEY, "n")

    assert done.exit_code == 0, done.output
    assert "The key is in this file" in done.output
    assert mode(user_file()) == 0o600
    assert leaves(WebSearch().provider)[0].api_key.get_secret_value() == KEY
    assert Settings.load().timeout.read == 5
    with caplog.at_level(logging.WARNING):
        Settings.load()
    assert caplog.text == ""
    assert [path.name for path in user_file().parent.iterdir()] == ["websearch.toml"], (
        "no temporary file is left"
    )


def test_a_url_that_lacks_its_scheme_is_offered_with_it(setup):
    # Enter takes the offered one, and gives no key
    done = setup("searxng", "localhost:8888", "y", "", "", "n")
    assert done.exit_code == 0
    assert "Enter for http://localhost:8888" in done.stdout
    assert (
        Settings.load().options("searxng")["base_url"].value == "http://localhost:8888"
    )


def test_a_url_that_is_none_is_asked_for_again(setup):
    done = setup("searxng", "somewhere?x=1", "https://searx.example/", "", "n")
    assert done.exit_code == 0
    assert (
        Settings.load().options("searxng")["base_url"].value == "https://searx.example"
    )


def test_an_unknown_provider_is_answered_with_those_that_search(setup):
    done = setup("duckduckgoo", "wayback2", "duckduckgo", "n")
    assert "did you mean duckduckgo?" in done.stdout
    said = next(
        line
        for line in done.stdout.splitlines()
        if "wayback2" in line and "those that can search" in line
    )
    assert "brave" in said
    assert "browser" not in said


def test_comments_and_other_settings_stay(setup):
    before = """# mine
timeout = 5  # seconds
provider = "tavily" # for now

[providers.tavily]
search_depth = "advanced"  # dear

[providers.brave] # with a comment
enabled = false
base_url = "https://brave.example"

[retry]
wait_initial = 1
"""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(before)
    user_file().chmod(0o640)
    assert setup("brave", KEY, "n").exit_code == 0

    after = user_file().read_text()
    expected = before.replace('"tavily" #', '"brave" #').replace(
        "enabled = false\n", ""
    )
    expected = expected.replace(
        'brave.example"\n', 'brave.example"\napi_key = "keyring:websearch/brave"\n'
    )
    assert after == expected
    assert mode(user_file()) == 0o640, "there is no key in it"


@pytest.mark.parametrize(
    "before",
    [
        '[webSearch]\nprovider = "tavily"\n[webSearch.brave]\napiKey = "old"\n',
        'search_provider = "tavily"\n',
        '[web_search]\nsearch_provider = "tavily"\ntimeout = 3\n',
        'providers.tavily.search_depth = "basic"\n',
        'providers = {tavily = {search_depth = "basic"}}\n',
    ],
)
def test_other_shapes_keep_their_shape_or_are_left_alone(setup, before):
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(before)
    done = setup("brave", KEY, "n")

    if done.exit_code == 0:
        assert leaves(WebSearch().provider)[0].api_key.get_secret_value() == KEY
        assert "tavily" not in Settings.load().provider
    else:
        assert "was not changed" in done.output
        assert user_file().read_text() == before


def test_a_wrong_answer_is_asked_for_again(setup):
    done = setup("brvae", "direct", "ddg", "n")

    assert done.exit_code == 0, done.output
    assert "did you mean brave?" in done.output
    assert "direct cannot search" in done.output
    assert user_file().read_text() == 'provider = "duckduckgo"\n'


def test_an_invalid_key_is_asked_for_again(setup, keyring):
    done = setup("brave", "", "two words", KEY, "n")

    assert "the key is empty" in done.output
    assert "a key is printable ASCII without spaces" in done.output
    assert keyring.stored == {("websearch", "brave"): KEY}


def test_a_server_of_ones_own_is_asked_for(setup):
    assert setup("searxng", "http://localhost:8888", "", "n").exit_code == 0
    assert (
        Settings.load().options("searxng")["base_url"].value == "http://localhost:8888"
    )
    assert leaves(WebSearch().provider)[0].api_key is None


def test_a_key_of_the_environment_needs_no_other(setup, monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    done = setup("brave", "", "n")

    assert "BRAVE_API_KEY is set" in done.output
    assert user_file().read_text() == 'provider = "brave"\n'


def test_what_does_not_work_is_written_only_if_that_is_wanted(setup, checks):
    from websearch_core.errors import AuthenticationError

    checks(AuthenticationError("brave: 401"))
    done = setup("brave", KEY, "y", "n")
    assert (done.exit_code, user_file().exists()) == (1, False)
    assert "ERROR [authentication_failed]" in done.output
    assert "check the key" in done.output
    assert setup("brave", KEY, "y", "y").exit_code == 0
    assert user_file().exists()


def test_what_wins_over_the_file_is_named(setup, monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_PROVIDER", "tavily")
    assert (
        "environment WEB_SEARCH_PROVIDER sets provider too, and wins"
        in setup("ddg", "n").output
    )


def test_without_a_terminal_it_says_what_to_do_instead():
    done = typer.testing.CliRunner().invoke(app, ["setup"], input="brave\n")

    assert done.exit_code == 2
    assert "needs a terminal" in done.stderr
    assert "WEB_SEARCH_PROVIDER" in done.stderr


def test_a_file_of_another_format_or_a_broken_one_is_left_alone(setup):
    other = user_file().with_name("websearch.json")
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text(json.dumps({"timeout": 3}))
    assert "setup changes only TOML" in setup("ddg", "n").output
    other.unlink()

    user_file().write_text("timeout = ")
    done = setup("ddg", "n")
    assert (done.exit_code, "not TOML" in done.output) == (2, True)


def test_a_link_stays_a_link(setup, tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("timeout = 3\n")
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().symlink_to(real)
    assert setup("ddg", "n").exit_code == 0

    assert user_file().is_symlink()
    assert real.read_text() == 'timeout = 3\nprovider = "duckduckgo"\n'


def test_a_folder_that_cannot_be_written_is_an_error(monkeypatch):
    file = OwnFile.read(user_file())
    file.set_provider("duckduckgo", {})

    def fail(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", fail)
    with pytest.raises(
        ConfigurationError, match="websearch.toml: Permission denied"
    ) as caught:
        file.write()
    assert isinstance(caught.value, WebSearchError)
