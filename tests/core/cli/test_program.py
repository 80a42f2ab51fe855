"""The program itself: how it starts, what it says about wrong usage, and how it
ends.
"""

from __future__ import annotations
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.testing

from websearch_core import WebSearch, __version__
from websearch_core._cli import commands
from websearch_core._cli.app import app
from websearch_core.models import Page
from websearch_core.providers.local import Local

SECRET = "tvly-s3cr3t-k3y"
PROGRAM = [sys.executable, "-m", "websearch_core"]


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def websearch():
    def call(*words, **options):
        return typer.testing.CliRunner().invoke(
            app, [str(word) for word in words], **options
        )

    return call


@pytest.fixture
def local():
    local = Local()
    url = "https://sea.example/kelp"
    local.index.add(
        Page(url=url, final_url=url, title="Kelp", content="kelp is an alga. " * 30)
    )
    return local


# How it starts


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["search", "--help"]])
def test_help_and_version_load_nothing_that_searches_or_reads(words):
    heavy = [
        "websearch_core.client",
        "websearch_core.models",
        "websearch_core.settings",
        "httpx",
        "rich",
        "selectolax",
    ]
    program = f"""
import sys
sys.argv = ["websearch", *{words}]
from websearch_core._cli import main
try:
    main()
except SystemExit:
    pass
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_the_version_alone_needs_no_typer():
    program = "import sys; sys.argv = ['websearch', '--version']; sys.modules['typer'] = None; "
    program += "from websearch_core._cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"websearch-core {__version__}\n"


def test_it_runs_as_a_module():
    done = subprocess.run(
        [*PROGRAM, "--version", "--help"], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"websearch-core {__version__}\n"


# Wrong usage


def test_without_words_it_shows_its_commands(websearch):
    done = websearch()

    assert done.exit_code == 2
    assert "Search the web." in done.output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["search"], "Missing argument"),
        (["search", "kelp", "--limit", "many"], "--limit"),
        (
            ["search", "kelp", "--topic", "sports"],
            "'general', 'news', 'finance', 'academic', 'code'",
        ),
        (["read", "https://a.example/", "--nonsense"], "--nonsense"),
    ],
)
@pytest.mark.parametrize(
    "form", [["--format", "json"], ["-f", "json"], ["--format=json"], ["-fjson"]]
)
def test_wrong_usage_is_json_for_programs(websearch, words, says, form):
    done = websearch(*words, *form)

    assert (done.exit_code, done.stderr) == (2, "")
    answer = json.loads(done.stdout)
    assert (answer["status"], answer["error"]["code"]) == ("error", "invalid_option")
    assert says in answer["error"]["message"]


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (["search", "kelp", "--max-results", "3"], "--limit"),
        (["search", "kelp", "--max-results=3"], "--limit"),
        (["search", "kelp", "--include-domains", "a.example"], "--allow-domain"),
        (["search", "kelp", "--exclude-domains", "a.example"], "--block-domain"),
        (["search", "kelp", "--region", "us"], "--country"),
    ],
    ids=str,
)
def test_an_option_of_another_name_is_answered_with_ours(websearch, words, ours):
    done = websearch(*words)

    assert done.exit_code == 2
    assert done.stderr.rstrip().endswith(
        f"No such option: {words[2].partition('=')[0]}; write {ours}"
    )
    assert "Possible options" not in done.stderr
    assert ours in websearch(words[0], "--help").stdout


def test_an_option_that_nothing_calls_so_is_suggested_as_usual(websearch):
    said = websearch("search", "kelp", "--limt", "3").stderr

    assert "No such option: --limt" in said
    assert "--limit" in said


def test_an_unknown_command_suggests_the_nearest(websearch):
    done = websearch("serach", "kelp")

    assert done.exit_code == 2
    assert "search" in done.stderr.replace("serach", "")


@pytest.mark.parametrize("query", [[""], ["  ", ""]])
def test_an_empty_query_says_so_in_our_words(websearch, query):
    done = websearch("search", *query, "-p", "local")

    assert done.exit_code == 2
    assert (
        done.stderr
        == "ERROR [invalid_option] query: it is empty; give the words to search for.\n"
    )


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_wrong_choice_is_reported_in_our_words(websearch, form):
    done = websearch("search", "kelp", "--topic", "sport", "--format", form)

    assert "'sport' is not one of 'general', 'news'" in done.output
    assert "Value error" not in done.output


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (
            "example.com",
            "there is no file 'example.com', and this is not an absolute http(s) URL; did you mean https://example.com?",
        ),
        ("//example.com/a", "did you mean https://example.com/a?"),
        (
            "docs.example.com:8080/a?b=c",
            "did you mean http://docs.example.com:8080/a?b=c?",
        ),
        ("localhost:8000", "did you mean http://localhost:8000?"),
        ("kelp", "there is no file 'kelp', and this is not an absolute http(s) URL"),
        ("mailto:a@b.example", "not an absolute http(s) URL"),
    ],
)
def test_a_url_without_its_scheme_is_wrong_usage(websearch, url, says):
    done = websearch("read", url)

    assert done.exit_code == 2
    assert done.stderr.startswith("ERROR [invalid_option] url: ")
    assert says in done.stderr


def test_a_site_without_its_scheme_is_not_a_missing_folder(websearch):
    done = websearch("index", "docs.example.com/a")

    assert done.exit_code == 2
    assert (
        "no such file or folder; did you mean https://docs.example.com/a?"
        in done.stderr
    )


# Options of providers


def test_an_option_of_a_provider_reaches_it(websearch, local, home):
    done = websearch(
        "search", "kelp", "-p", "local", "--option", f"local.path={home / 'other.db'}"
    )

    assert done.exit_code == 2
    assert "other.db" in done.stderr


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("advanced", "advanced"),
        ('"3"', "3"),
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ('["a", "b"]', ["a", "b"]),
        ("2026-01-01", "2026-01-01"),
        ("a = b", "a = b"),
        ("", ""),
        ("3\nallow = true", "3\nallow = true"),
    ],
)
def test_a_value_is_read_as_toml_or_as_text(text, value):
    from websearch_core._cli.arguments import parse_options

    assert parse_options([f"tavily.search_depth={text}"]) == {
        "tavily": {"search_depth": value}
    }


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("search_depth=advanced", "--option: write PROVIDER.OPTION=VALUE"),
        ("tavily.search_depth", "--option: write PROVIDER.OPTION=VALUE"),
        (".x=1", "--option: write PROVIDER.OPTION=VALUE"),
        ("tavly.search_depth=advanced", "unknown provider 'tavly'"),
        ("tavily.search_dept=advanced", "search_dept"),
        ("tavily.search_depth=deep", "search_depth"),
        ("brave.base_url=https://b.example", "brave is not used here"),
    ],
)
def test_a_wrong_option_of_a_provider_is_a_clear_error(
    websearch, monkeypatch, option, says
):
    monkeypatch.setenv("TAVILY_API_KEY", SECRET)
    monkeypatch.setenv("BRAVE_API_KEY", SECRET)

    done = websearch("search", "kelp", "-p", "tavily", "--option", option)

    assert done.exit_code == 2
    assert says in done.stderr


def test_a_key_on_the_command_line_is_refused_and_not_repeated(websearch):
    done = websearch(
        "search", "kelp", "-p", "tavily", "--option", f"tavily.api_key={SECRET}"
    )

    assert done.exit_code == 2
    assert "set TAVILY_API_KEY instead" in done.stderr
    assert SECRET not in done.output


# One word for one thing


def test_a_reader_without_pages_to_read_is_wrong_usage(websearch, local):
    assert (
        websearch("search", "kelp", "-p", "local", "--reader", "local").exit_code == 2
    )


# How it ends


def test_an_interrupt_is_exit_code_130(websearch, local, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(WebSearch, "search", interrupt)

    done = websearch("search", "kelp", "-p", "local")

    assert done.exit_code == 130
    assert done.stdout == ""


def search_into(output, home, **environment):
    return subprocess.run(
        [*PROGRAM, "search", "-p", "local", "kelp"],
        env={**os.environ, "XDG_DATA_HOME": str(home / "data"), **environment},
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end differently there")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_of_its_output_may_go_away(unbuffered, local, home):
    reading, writing = os.pipe()
    os.close(reading)
    done = search_into(writing, home, PYTHONUNBUFFERED=unbuffered)
    os.close(writing)

    assert done.stderr == ""
    assert done.returncode == 1


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a device that is always full"
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_line(unbuffered, local, home):
    with Path("/dev/full").open("w") as full:
        done = search_into(full, home, PYTHONUNBUFFERED=unbuffered)

    assert done.stderr == "websearch: [Errno 28] No space left on device\n"
    assert done.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("arguments", ["search -p local kelp", "--version"])
def test_its_output_may_be_closed(local, home, arguments):
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m websearch_core {arguments} >&-"],
        env={**os.environ, "XDG_DATA_HOME": str(home / "data")},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_its_input_may_be_closed(home):
    words = [*PROGRAM, "read", "-i", "-", "-o", str(home / "pages.jsonl")]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *words],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "0 rows" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("given", ["<&-", "</dev/null"])
def test_a_document_from_an_input_that_is_closed_or_empty_is_an_error(home, given):
    words = [*PROGRAM, "read", "-"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {given}', "sh", *words],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "ERROR [invalid_option] -: standard input is closed, or has no text.\n"
    )


def test_an_error_that_names_the_browser_is_not_logged_as_well():
    program = """
import logging, sys
sys.argv = ["websearch", "--help"]
from websearch_core._cli import main
try:
    main()
except SystemExit:
    from websearch_core.client import _selection
    print(_selection._log.isEnabledFor(logging.WARNING), _selection._log.isEnabledFor(logging.ERROR))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "False True"


def test_every_module_of_commands_is_a_command():
    modules = {module.name for module in pkgutil.iter_modules(commands.__path__)}

    assert {command.callback.__name__ for command in app.registered_commands} == modules
