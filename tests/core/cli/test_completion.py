"""Completion, as the shells ask for it."""

from __future__ import annotations
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from websearch_core._cli import completion
from websearch_core._cli.app import app
from websearch_core.provider._ports import can
from websearch_core.providers import known, provider_class

PROGRAM = [
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'websearch'; from websearch_core._cli import main; main()",
]


def ask_bash(*words):
    """Return what bash would offer to complete the last of *words*."""
    asked = {
        "_WEBSEARCH_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = CliRunner().invoke(app, env=asked, prog_name="websearch")
    assert done.stderr == ""
    return done.stdout.split()


def able(role):
    return [name for name in known() if can(provider_class(name), role)]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["search", "-p", "duck"], ["duckduckgo"]),
        (["search", "-p", "brave,duck"], ["brave,duckduckgo"]),
        (["search", "--topic", "n"], ["news"]),
        (["search", "--safe-search", "s"], ["strict"]),
        (["search", "--time-range", ""], ["hour", "day", "week", "month", "year"]),
        (["search", "--format", ""], ["text", "markdown", "json"]),
        (["providers", "--format", ""], ["text", "json"]),
        (["search", "--option", "tavily.search_d"], ["tavily.search_depth="]),
        (["search", "--option", "nope."], []),
        (["doctor", "searx"], ["searxng"]),
        (["rea"], ["read"]),
        (["search", "--time-r"], ["--time-range"]),
    ],
)
def test_bash_is_offered(words, offered):
    assert ask_bash("websearch", *words) == offered


@pytest.mark.parametrize(
    ("shell", "script"),
    [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete ")],
)
def test_each_shell_gets_a_script(shell, script):
    done = CliRunner().invoke(
        app, env={"_WEBSEARCH_COMPLETE": f"source_{shell}"}, prog_name="websearch"
    )

    assert script in done.stdout
    assert "_WEBSEARCH_COMPLETE" in done.stdout


def test_the_program_answers_a_shell():
    words = {"COMP_WORDS": "websearch search -p duck", "COMP_CWORD": "3"}
    asked = {**os.environ, "_WEBSEARCH_COMPLETE": "complete_bash", **words}
    done = subprocess.run(
        PROGRAM, env=asked, capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("duckduckgo\n", "")


def test_only_providers_that_can_do_it_are_offered():
    assert completion.complete_provider("") == able("search")
    assert completion.complete_reader("") == ["auto", *able("read")]
    assert completion.complete_name("") == known()


def test_offering_providers_imports_none():
    program = (
        "import sys; from websearch_core._cli import completion; completion.complete_provider(''); "
        "completion.complete_reader(''); print('pydantic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"


def test_a_chain_is_not_offered_a_provider_twice():
    assert "brave,brave" not in completion.complete_provider("brave,")


def test_no_key_is_offered_as_an_option():
    assert not [
        one for one in completion.complete_option("tavily.") if "api_key" in one
    ]


def test_a_broken_plug_in_does_no_harm(monkeypatch):
    monkeypatch.setattr(
        "websearch_core._registry._plugged_in",
        lambda: {"broken": "no_such_module:Broken"},
    )

    assert "broken" in completion.complete_provider("")  # only importing it would tell
    assert completion.complete_option("broken.") == []
