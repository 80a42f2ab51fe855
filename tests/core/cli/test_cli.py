"""The command line: what it prints where, and the exit codes that docs/cli.md
documents.
"""

from __future__ import annotations
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer.testing

from tests.server import Server, http
from websearch_core._cli import main, output
from websearch_core._cli.app import app
from websearch_core._cli.output import exit_code
from websearch_core.errors import RateLimited, UnsafeURL, UnsupportedOption
from websearch_core.models import Page
from websearch_core.provider import BaseUrl, Env, Key, Service, provider
from websearch_core.providers import known
from websearch_core.providers.local import Local
from websearch_core.render import page_as_json, search_as_json

ROOT = Path(__file__).parents[3]
SECRET = "tvly-s3cr3t-k3y"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """Hide the index of the user who runs the tests, and fix the width."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def websearch():
    def call(*words):
        return typer.testing.CliRunner().invoke(app, [str(word) for word in words])

    return call


@pytest.fixture
def local():
    local = Local()
    for name in ("kelp", "dulse"):
        url = f"https://sea.example/{name}"
        local.index.add(
            Page(
                url=url,
                final_url=url,
                title=name.title(),
                content=f"{name} is an alga. " * 30,
            )
        )
    return local


@pytest.fixture(scope="module")
def site():
    """The example site, on a port of its own."""
    spec = importlib.util.spec_from_file_location(
        "serve", ROOT / "examples" / "serve.py"
    )
    serve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(serve)
    with serve.Site() as site:
        yield site


@pytest.fixture
def searx():
    """A server that answers as SearXNG does: with one result, or with the status that
    is set.
    """

    hit = {"title": "Kelp\x1b[31m", "url": "https://sea.example/", "content": "Alga"}

    def reply(request):
        return http({"results": [hit]}, f"{server.status} Status")

    with Server(reply=reply) as server:
        server.status = 200
        yield server


# search


def test_search_prints_numbered_results(websearch, local):
    done = websearch("search", "--provider", "local", "kelp", "alga", "--limit", 1)

    assert done.exit_code == 0
    assert done.stdout.startswith(
        "1. Kelp — https://sea.example/kelp\n   kelp is an alga."
    )
    assert done.stderr == ""


def test_search_prints_raw_markdown_without_a_terminal(websearch, local):
    done = websearch("search", "-p", "local", "kelp", "-f", "markdown")

    assert done.stdout.startswith(
        "## Search Results\n\n### 1. Kelp\n\n**URL:** https://sea.example/kelp"
    )


def test_search_in_json_is_the_documented_schema(websearch, local):
    done = websearch("search", "--search-provider", "local", "kelp", "--format", "json")

    answer, expected = json.loads(done.stdout), search_as_json(_response(local, "kelp"))
    times = {"elapsed": None, "outcomes": [{**answer["outcomes"][0], "seconds": None}]}
    assert {**answer, **times} == {
        **expected,
        "outcomes": [{**expected["outcomes"][0], "seconds": None}],
    }


def _response(local, text):
    from websearch_core import WebSearch

    return WebSearch(local).search(text).model_copy(update={"elapsed": None})


def test_finding_nothing_is_not_a_failure(websearch, local):
    done = websearch("search", "-p", "local", "zeppelin")

    assert (done.exit_code, done.stdout) == (0, "No results found for: zeppelin\n")


@pytest.mark.enable_socket
def test_every_option_reaches_the_query(websearch, searx):
    done = websearch(
        "search", "kelp", "-p", "searxng", "--base-url", searx.url, "--allow-domain", "sea.example",
        "--allow-domain", "b.example", "--block-domain", "c.example", "--time-range", "week", "--language", "de", "--country", "AT", "--safe-search", "strict",
        "--topic", "news", "--page", 2, "-n", 1,
    )  # fmt: skip

    assert done.exit_code == 0
    path = searx.paths[-1]
    for part in (
        "q=kelp+%28site%3Asea.example+OR+site%3Ab.example%29+-site%3Ac.example",
        "time_range=week",
        "language=de-AT",
        "safesearch=2",
        "categories=news",
        "pageno=2",
    ):
        assert part in path


def test_dates_reach_the_query(websearch, local):
    done = websearch(
        "search",
        "kelp",
        "-p",
        "local",
        "--after",
        "2026-01-01",
        "--before",
        "2026-02-01",
    )

    assert done.stdout.endswith("Note: left out 1 matching page without a date.\n")


@pytest.mark.enable_socket
def test_nothing_from_the_web_controls_the_terminal(websearch, searx):
    done = websearch("search", "kelp", "-p", "searxng", "--base-url", searx.url)

    assert "\x1b" not in done.stdout
    assert "Kelp" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["kelp", "-p", "nope"], 2, "ERROR [unknown_provider] unknown provider 'nope'"),
        (["kelp", "-p", "brave"], 2, "BRAVE_API_KEY"),
        (["kelp", "-p", "local"], 2, "websearch index PATH_OR_URL"),
        (["kelp", "--limit", "0"], 2, "ERROR [invalid_option] limit"),
        (["kelp", "--time-range", "decade"], 2, "ERROR [invalid_option] time_range"),
        (
            ["kelp", "-p", "local", "--country", "US"],
            2,
            "ERROR [unsupported_option] local does not support country",
        ),
        (["kelp", "--base-url", "http://x.example"], 2, "ERROR [configuration]"),
        (["kelp", "--allow-domain", "a b"], 2, "ERROR [invalid_option]"),
        ([], 2, "Missing argument"),
        (["kelp", "--format", "xml"], 2, "xml"),
        (["kelp", "--nonsense"], 2, "--nonsense"),
    ],
)
def test_wrong_usage_and_configuration_are_reported_on_stderr(
    websearch, words, code, says
):
    done = websearch("search", *words)

    assert done.exit_code == code
    assert says in done.stderr
    assert done.stdout == ""


@pytest.mark.enable_socket
def test_a_service_that_fails_is_exit_code_one(websearch, searx):
    searx.status = 400

    done = websearch("search", "kelp", "-p", "searxng", "--base-url", searx.url)

    assert done.exit_code == 1
    assert done.stderr.startswith(
        "ERROR [bad_request] searxng search failed: 400 Bad Request"
    )


def test_an_error_in_json_is_on_stdout(websearch):
    done = websearch("search", "kelp", "-p", "brave", "-f", "json")

    assert done.exit_code == 2
    assert json.loads(done.stdout)["status"] == "error"
    assert json.loads(done.stdout)["error"]["code"] == "missing_key"
    assert done.stderr == ""


def test_each_kind_of_error_has_its_exit_code():
    assert (
        exit_code(RateLimited),
        exit_code(UnsupportedOption),
        exit_code(UnsafeURL),
    ) == (1, 2, 3)


# read


@pytest.mark.enable_socket
def test_read_prints_a_window_of_the_page(websearch, site):
    url = f"{site.url}/docs/rotation/"

    done = websearch("read", url, "--internal", "127.0.0.0/8", "--max-length", 300)

    assert done.exit_code == 0
    assert done.stdout.startswith("Title: Rotate a key without downtime")
    assert "read on with offset=" in done.stdout


@pytest.mark.parametrize(
    ("option", "value", "shown"),
    [
        ("--query", "which alga is red?", "Palmaria is a red alga."),
        ("--find", "RED  alga", "Note: 1 place with 'RED alga'."),
        ("--max-tokens", "20", "read on with offset="),
    ],
)
def test_read_prints_the_requested_part_of_the_page(
    websearch, local, option, value, shown
):
    text = f"{'Stones and sand. ' * 50}\n\nPalmaria is a red alga.\n\n{'Stones and sand. ' * 50}"
    local.index.add(
        Page(
            url="https://sea.example/red",
            final_url="https://sea.example/red",
            content=text,
        )
    )

    done = websearch(
        "read",
        "https://sea.example/red",
        "-r",
        "local",
        "--max-length",
        300,
        option,
        value,
    )

    assert done.exit_code == 0
    assert shown in done.stdout
    assert len(done.stdout) < 600


def test_search_shows_what_the_first_pages_say(websearch, local):
    done = websearch("search", "-p", "local", "dulse", "--limit", 1, "--read-top", 1)

    assert "1. Dulse — https://sea.example/dulse\n\n   dulse is an alga." in done.stdout


@pytest.mark.enable_socket
def test_read_in_json_is_the_documented_schema(websearch, site):
    url = f"{site.url}/docs/rotation/"

    answer = json.loads(
        websearch(
            "read", url, "--internal", site.url, "-f", "json", "--offset", 100
        ).stdout
    )

    assert set(answer) == set(page_as_json(Page(url=url)))
    assert (answer["status"], answer["offset"], answer["url"]) == ("success", 100, url)


@pytest.mark.enable_socket
def test_read_refuses_addresses_that_are_not_public_unless_allowed(websearch, site):
    done = websearch("read", site.url)

    assert done.exit_code == 3
    assert done.stderr.startswith("ERROR [unsafe_url]")


@pytest.mark.enable_socket
def test_reading_a_missing_page_is_exit_code_one(websearch, site):
    done = websearch("read", f"{site.url}/nowhere", "--internal", site.url)

    assert done.exit_code == 1
    assert done.stderr.startswith("ERROR [page_not_found]")


def test_read_takes_a_page_from_the_index(websearch, local):
    done = websearch(
        "read",
        "https://sea.example/kelp",
        "--reader",
        "local",
        "-f",
        "markdown",
        "--max-length",
        40,
    )

    assert "kelp is an alga." in done.stdout


@pytest.mark.enable_socket
def test_robots_txt_is_obeyed_by_option_only(websearch, site):
    closed = f"{site.url}/staff/rota.txt"
    read = websearch("read", closed, "--internal", site.url)
    refused = websearch("read", closed, "--internal", site.url, "--robots")

    assert read.exit_code == 0
    assert refused.exit_code == 3
    assert refused.stderr.startswith("ERROR [disallowed_by_robots]")
    assert (
        websearch("read", site.url, "--internal", site.url, "--robots").exit_code == 0
    )


def test_robots_txt_concerns_no_search(websearch):
    done = websearch("search", "kelp", "--robots")

    assert done.exit_code == 2
    assert "--read-top" in done.stderr


# crawl


@pytest.mark.enable_socket
def test_a_crawl_goes_on_where_it_ended(websearch, site, home):
    command = (
        "crawl",
        f"{site.url}/docs/",
        "--internal",
        site.url,
        "-o",
        home / "pages.jsonl",
    )

    first = websearch(*command, "--limit", 3)
    rows = [
        json.loads(line)["url"]
        for line in (home / "pages.jsonl").read_text().splitlines()
    ]
    websearch(*command, "--limit", 5)
    more = [
        json.loads(line)["url"]
        for line in (home / "pages.jsonl").read_text().splitlines()
    ]

    assert "more pages were found: raise --limit" in first.stderr
    assert len(rows) == 3
    assert more[:3] == rows
    assert len(more) == len(set(more)) == 5


@pytest.mark.enable_socket
def test_the_urls_of_a_site_are_listed(websearch, site):
    done = websearch("crawl", f"{site.url}/docs/", "--internal", site.url, "--list")

    assert done.exit_code == 0
    assert f"{site.url}/docs/" in done.stdout.splitlines()
    assert len(done.stdout.splitlines()) > 3


def test_a_start_without_a_scheme_is_refused_as_by_read(websearch, home):
    crawled = websearch("crawl", "sea.example")
    page = websearch("read", "sea.example ")

    assert (crawled.exit_code, page.exit_code) == (2, 2)
    assert "did you mean https://sea.example?" in crawled.stderr
    assert "did you mean https://sea.example?" in page.stderr


def test_a_shell_cannot_be_chosen_for_its_completion(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["websearch", "--show-completion", "fish"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "takes no shell" in capsys.readouterr().err


def test_a_column_needs_an_input(websearch, home):
    assert "also name the --input" in websearch("read", "x", "--column", "y").stderr


# index


@pytest.mark.enable_socket
def test_files_that_are_skipped_for_one_reason_are_one_line(websearch, home):
    (home / "sea").mkdir()
    for number in range(9):
        (home / "sea" / f".{number}").write_text("kelp")
    done = websearch("index", home / "sea")

    assert done.exit_code == 1  # nothing of it could be read
    assert "and 8 others: hidden" in done.stdout
    assert done.stdout.count("  skipped ") == 1


@pytest.mark.enable_socket
def test_a_site_and_a_folder_are_indexed_and_found(websearch, site, home):
    (home / "notes").mkdir()
    (home / "notes" / "kelp.md").write_text("# Kelp\n\nKelp grows in cold water.")

    done = websearch(
        "index", site.url, home / "notes", "--internal", site.url, "-f", "json"
    )

    assert done.exit_code == 0
    report = json.loads(done.stdout)
    crawled, folder = report["places"]
    assert report["path"] == str(home / "data" / "websearch" / "index.db")
    assert crawled["added"] > 10
    assert (folder["added"], folder["removed"], folder["left"]) == (1, 0, 0)
    assert f"{site.url}/staff/rota.txt" not in Local().index.urls()
    question = "How do I rotate a key without downtime?"
    assert (
        f"1. Rotate a key without downtime — {site.url}/docs/rotation/"
        in websearch("search", question, "-p", "local").stdout
    )
    assert (
        "Kelp grows in cold water." in websearch("search", "kelp", "-p", "local").stdout
    )


@pytest.mark.enable_socket
def test_the_number_of_pages_is_bounded(websearch, site, home):
    done = websearch(
        "index",
        site.url,
        "--internal",
        site.url,
        "--max-pages",
        3,
        "--path",
        home / "own.db",
    )

    assert done.stdout.startswith(
        f"{site.url}: 3 pages added, 0 unchanged, 0 removed, 0 skipped, in {home / 'own.db'}\n"
    )
    assert "more links not followed: raise --max-pages" in done.stdout


@pytest.mark.parametrize(
    ("place", "code", "says"),
    [
        ("/no/such/folder", 2, "no such file or folder"),
        ("http://127.0.0.1/", 3, "ERROR [unsafe_url]"),
    ],
)
def test_what_cannot_be_indexed_is_an_error(websearch, place, code, says):
    done = websearch("index", place)

    assert done.exit_code == code
    assert says in done.stderr


def test_indexing_again_tells_what_is_new_from_what_is_unchanged(websearch, home):
    (home / "notes").mkdir()
    for name in ("kelp", "dulse"):
        (home / "notes" / f"{name}.md").write_text(f"{name} is an alga")
    (home / "notes" / "empty.md").write_text("")
    assert (
        "2 pages added, 0 unchanged, 0 removed, 1 skipped"
        in websearch("index", home / "notes").stdout
    )
    (home / "notes" / "kelp.md").write_text("kelp is brown")
    again = websearch("index", home / "notes").stdout
    assert "1 page added, 1 unchanged, 0 removed, 1 skipped" in again
    assert f"  skipped {home / 'notes' / 'empty.md'}: there is no text in it" in again
    (place,) = json.loads(websearch("index", home / "notes", "-f", "json").stdout)[
        "places"
    ]
    assert (place["added"], place["unchanged"]) == (0, 2)


def test_read_opens_what_a_search_of_the_index_prints(websearch, home):
    (home / "kelp.md").write_text("# Kelp\n\nKelp is brown.")
    websearch("index", home / "kelp.md")
    url = json.loads(websearch("search", "-p", "local", "kelp", "-f", "json").stdout)[
        "results"
    ][0]["url"]
    assert url.startswith("file:///")
    for words in (
        [url],
        [home / "kelp.md"],
        ["-r", "local", url],
        ["-r", "local", home / "kelp.md"],
    ):
        assert "Kelp is brown." in websearch("read", *words).stdout


def test_read_takes_one_document_from_standard_input():
    runner = typer.testing.CliRunner()
    page = b"<html><title>Kelp</title><main><p>Kelp is brown. <p>Dulse is red and grows on rocks.</main>"
    assert "Kelp is brown." in runner.invoke(app, ["read", "-"], input=page).stdout
    found = json.loads(
        runner.invoke(
            app, ["read", "-", "--find", "dulse", "-f", "json"], input=page
        ).stdout
    )
    assert [found["url"], found["title"]] == ["file:///dev/stdin", "Kelp"]
    assert len(found["passages"]) == 1


@pytest.mark.enable_socket
def test_read_takes_several_pages_and_the_failure_of_one_is_its_own(
    websearch, site, home
):
    (home / "kelp.md").write_text("Kelp is brown.")
    there, gone = f"{site.url}/docs/", f"{site.url}/nowhere"
    done = websearch("read", home / "kelp.md", gone, there, "--internal", site.url)
    assert done.exit_code == 1
    assert done.stdout.index("Kelp is brown.") < done.stdout.index("\n\nTitle: ")
    assert (
        f"ERROR [page_not_found] direct read failed: 404 Not Found. ({gone})"
        in done.stderr
    )
    answers = json.loads(
        websearch("read", gone, there, "--internal", site.url, "-f", "json").stdout
    )
    assert [one["status"] for one in answers] == ["error", "success"]


def test_a_file_that_is_not_there_is_an_error(websearch, home):
    done = websearch("read", (home / "nothing.md").as_uri())
    assert done.exit_code == 1
    assert done.stderr == "ERROR [page_not_found] file: not a regular file.\n"


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://localhost:8888/a", "http://localhost:8888"),
        ("https://wiki/", "https://wiki"),
        ("http://[::1]:9000/", "http://[::1]:9000"),
    ],
)
def test_a_refused_address_says_to_a_person_how_to_allow_it(websearch, url, allowed):
    done = websearch("read", url)
    assert done.exit_code == 3
    first, second = done.stderr.splitlines()
    assert first.startswith("ERROR [unsafe_url] the ")
    assert allowed not in first
    assert second.endswith(f"--internal {allowed}")


def test_nothing_is_cut_from_the_help_at_eighty_columns(websearch, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "..." not in websearch("--help").stdout.partition("Commands:")[2]


def test_doctor_shows_the_settings_that_differ_from_the_defaults(
    websearch, local, monkeypatch
):
    monkeypatch.setenv("WEB_SEARCH_TIMEOUT", "7")
    shown = websearch("doctor", "local").stdout
    assert re.search(r"timeout.read +7.0, from environment WEB_SEARCH_TIMEOUT", shown)
    assert "providers.direct" not in shown
    assert "timeout.connect" not in shown
    assert "--format json lists them" in shown


@pytest.mark.parametrize(
    ("isolate", "problem", "said"),
    [
        ("true", "", "parsed in another process, which ends at the deadline"),
        (
            "true",
            "not enough memory",
            "parsed in this process, their first 512 KiB: .*: not enough memory",
        ),
        ("require", "not enough memory", "refused: .*: not enough memory"),
        ("false", "not asked", "parsed in this process .*: no deadline ends a hostile"),
    ],
)
def test_doctor_says_where_pages_are_parsed(
    websearch, local, monkeypatch, isolate, problem, said
):
    monkeypatch.setattr("websearch_core.reading.find_problem", lambda: problem)
    Path("websearch.toml").write_text(
        f"[providers.direct]\nisolate = {isolate if isolate != 'require' else repr(isolate)}\n"
    )
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(Path("websearch.toml").resolve()))

    shown = websearch("doctor", "local").stdout
    answer = json.loads(websearch("doctor", "local", "-f", "json").stdout)

    assert re.search(rf"pages +{said}", " ".join(shown.split()))
    assert str(answer["parsing"]["isolate"]).lower() == isolate
    assert answer["parsing"]["problem"] == (
        problem if isolate != "false" and problem else None
    )


def test_long_work_shows_its_progress_on_stderr(websearch, home):
    (home / "notes").mkdir()
    for n in range(100):
        (home / "notes" / f"{n}.txt").write_text(f"kelp {n}")

    done = websearch("index", home / "notes")

    assert done.stderr.startswith(f"Indexing {home / 'notes'}: 100, file:")
    assert "100 pages added, 0 unchanged, 0 removed" in done.stdout


# providers and doctor


def test_providers_lists_what_each_can_do_and_what_it_lacks(websearch, monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", SECRET)

    table = websearch("providers").stdout
    found = {
        one["name"]: one
        for one in json.loads(websearch("providers", "--format", "json").stdout)
    }

    assert list(found) == known()
    assert (found["brave"]["configured"], found["brave"]["missing"]) == (
        False,
        ["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"],
    )
    assert found["searxng"]["missing"] == [
        "SEARXNG_URL",
        "SEARXNG_BASE_URL",
        "SEARX_HOST",
    ]
    assert (
        found["tavily"]["configured"],
        found["tavily"]["search"],
        found["tavily"]["read"],
    ) == (True, True, True)
    assert (found["direct"]["search"], found["direct"]["read"]) == (False, True)
    assert "time_range" in found["tavily"]["options"]
    assert "websearch index" in found["local"]["problem"]
    for name in known():
        assert name in table
    assert "set BRAVE_API_KEY or BRAVE_SEARCH_API_KEY" in table
    assert SECRET not in table + json.dumps(found)


def test_providers_shows_all_that_is_known_about_one(websearch):
    shown = websearch("providers", "ddg", "tavily").stdout

    assert shown.startswith("duckduckgo  DuckDuckGo: searches\nstate       ready\n")
    assert (
        "\n\ntavily     Tavily: searches and reads pages\nstate      set TAVILY_API_KEY\n"
        in shown
    )
    assert "--allow-domain, --before, --block-domain" in shown
    assert "tavily.search_depth: How thoroughly to search" in shown
    assert "api_key" not in shown
    assert [
        one["name"]
        for one in json.loads(websearch("providers", "tavily", "-f", "json").stdout)
    ] == ["tavily"]
    assert websearch("providers", "nope").exit_code == 2


def test_a_plug_in_that_cannot_be_loaded_is_listed_and_does_no_harm(
    websearch, monkeypatch
):
    monkeypatch.setattr(
        "websearch_core._registry._plugged_in",
        lambda: {"broken": "no_such_module:Broken"},
    )

    found = {
        one["name"]: one
        for one in json.loads(websearch("providers", "-f", "json").stdout)
    }

    assert (
        found["broken"]["problem"]
        == "cannot be loaded: No module named 'no_such_module'"
    )
    assert found["direct"]["configured"]
    assert (
        "BROKEN  broken: ERROR [configuration] broken cannot be loaded"
        in websearch("doctor", "broken").stdout
    )


@pytest.mark.enable_socket
def test_doctor_tries_what_is_configured(websearch, searx, site, monkeypatch):
    monkeypatch.setenv("SEARXNG_URL", searx.url)
    monkeypatch.setenv("WEB_SEARCH_INTERNAL", site.url)
    monkeypatch.setattr("websearch_core._cli.checks.PROBE", f"{site.url}/docs/")

    done = websearch("doctor", "--format", "json")

    answer = json.loads(done.stdout)
    assert done.exit_code == 0
    assert answer["status"] == "success"
    assert [(one["provider"], one["error"]) for one in answer["checks"]] == [
        ("searxng", None),
        ("direct", None),
    ]
    assert answer["versions"]["python"]
    assert len(searx.paths) == 1


@pytest.mark.enable_socket
def test_doctor_tries_nothing_if_everything_is_switched_off(
    websearch, searx, monkeypatch
):
    monkeypatch.setenv("SEARXNG_URL", searx.url)
    monkeypatch.setenv("WEB_SEARCH_ENABLED", "false")
    done = websearch("doctor")
    assert (done.exit_code, searx.paths) == (2, [])
    assert "web search is switched off: environment WEB_SEARCH_ENABLED" in done.stderr


@pytest.mark.parametrize("option", ["cache", "throttle"])
def test_doctor_shows_no_password_of_a_redis(websearch, monkeypatch, option):
    monkeypatch.setenv(
        f"WEB_SEARCH_{option.upper()}", "redis://me:letmein@cache.corp:6379/0"
    )
    for form in ("text", "json"):
        done = websearch("doctor", "local", "-f", form)
        assert "redis://cache.corp:6379/0" in done.stdout
        assert "letmein" not in done.stdout + done.stderr


@pytest.mark.enable_socket
def test_doctor_says_what_is_broken_and_what_to_do(
    websearch, searx, local, monkeypatch
):
    monkeypatch.setenv("SEARXNG_URL", searx.url)
    searx.status = 401

    done = websearch("doctor", "searxng", "brave", "local", "nope")

    assert done.exit_code == 1
    assert (
        "BROKEN  searxng: ERROR [authentication_failed] searxng search failed: 401 Unauthorized."
        in done.stdout
    )
    assert "        check the key" in done.stdout
    assert "BROKEN  brave: ERROR [missing_key]" in done.stdout
    assert "BROKEN  nope: ERROR [unknown_provider]" in done.stdout
    assert "ok      local" in done.stdout
    assert "no network" not in done.stdout


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("declared", "standing", "line"),
    [
        ({"snippet": "content"}, "ok      external (", "settings file"),
        ({"results": "items"}, "ok      external (", "        external's answer has no list at items: is it elsewhere?"),
        ({"url": "link"}, "BROKEN  external: ERROR [bad_response] external search failed: no result has a URL at link.",
         "        check base_url, and what external declares; if it is right, the service has changed"),
        ({"parameters": {"query": "q", "lang": "hl"}}, "BROKEN  external: ERROR [configuration]", "belongs in constants"),
    ],
)  # fmt: skip
def test_doctor_tries_a_declared_service_and_says_what_does_not_fit(
    websearch, searx, monkeypatch, tmp_path, declared, standing, line
):
    file = tmp_path / "mine.json"
    file.write_text(
        json.dumps({"providers": {"external": {"base_url": searx.url, **declared}}}),
        "utf-8",
    )
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(file))
    done = websearch("doctor", "external")

    assert standing in done.stdout
    assert line in done.stdout
    assert (done.exit_code == 1) == standing.startswith("BROKEN")


@pytest.mark.enable_socket
def test_doctor_without_a_network_says_so(websearch, searx, monkeypatch):
    searx.close()
    monkeypatch.setenv("SEARXNG_URL", searx.url)

    done = websearch("doctor", "searxng")

    assert done.exit_code == 1
    assert "this machine may have no network" in done.stdout


@pytest.mark.enable_socket
def test_doctor_live_tells_configured_reachable_and_answering_apart(
    websearch, searx, local, monkeypatch
):
    @provider
    class Keyed:
        name = "keyed"
        about = Service(signup_url="https://keyed.example/keys")
        api_key: Annotated[Key, Env("KEYED_API_KEY")]
        base_url: BaseUrl = searx.url

    @provider
    class Gone:
        name = "gone"
        api_key: Annotated[Key, Env("GONE_API_KEY")]
        base_url: BaseUrl = "http://127.0.0.1:9"

    monkeypatch.setattr(
        "websearch_core._registry._registered", {"keyed": Keyed, "gone": Gone}
    )
    monkeypatch.setenv("SEARXNG_URL", searx.url)
    searx.status = 429
    names = ["searxng", "keyed", "gone", "local"]

    done = websearch("doctor", "--live", *names)
    answer = json.loads(websearch("doctor", "--live", "-f", "json", *names).stdout)

    assert done.exit_code == 1  # searxng is configured, and fails
    assert [
        (one["provider"], one["configured"], one["reachable"])
        for one in answer["checks"]
    ] == [
        ("searxng", True, True),
        ("keyed", False, True),
        ("gone", False, False),
        ("local", True, None),
    ]
    assert "wait, or choose another provider" in done.stdout
    assert "get a key at https://keyed.example/keys" in done.stdout
    assert "set GONE_API_KEY" in done.stdout
    # what is not configured does not fail
    assert websearch("doctor", "--live", "keyed", "local").exit_code == 0


def test_doctor_shows_the_settings_file_and_no_credentials(
    websearch, local, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "websearch.toml").write_text('provider = "local"\nreader = "local"\n')
    monkeypatch.setenv("HTTPS_PROXY", "http://user:password@proxy.example:3128")

    done = websearch("doctor")

    assert done.exit_code == 0
    assert f"settings file  {tmp_path / 'websearch.toml'}" in done.stdout
    assert "proxies        https http://proxy.example:3128" in done.stdout
    assert "password" not in done.stdout


def test_a_settings_file_that_is_wrong_is_exit_code_two(
    websearch, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "websearch.toml").write_text("provider = [")

    for command in (["providers"], ["doctor"], ["search", "kelp"], ["index", "."]):
        assert websearch(*command).exit_code == 2


# The program


@pytest.mark.parametrize("command", [[], ["search"], ["read"], ["index"]])
def test_help_documents_the_exit_codes(websearch, command):
    text = " ".join(websearch(*command, "--help").stdout.split())

    assert (
        "0 done (even if nothing was found); 1 a service or the network failed" in text
    )
    assert "2 wrong usage or configuration; 3 the URL may not be opened" in text


def test_help_names_arguments_without_the_types_of_python(websearch):
    for command in app.registered_commands:
        text = websearch(command.callback.__name__, "--help").stdout
        assert not re.search(r"<(?:list|str|path)\b", text), text

    assert "  PAGE  One or more URLs" in websearch("read", "--help").stdout


@pytest.mark.repository
def test_the_usage_of_each_command_is_the_one_in_the_documentation(websearch):
    page = (ROOT / "docs" / "cli.md").read_text()

    for command, arguments in {
        "search": "[QUERY]...",
        "read": "[PAGE]...",
        "index": "PATH_OR_URL...",
        "doctor": "[PROVIDER]...",
    }.items():
        usage = re.sub(
            r"[{}]|\.\.\.", "", websearch(command, "--help").stdout.splitlines()[0]
        )  # typer's versions differ
        assert usage.endswith(
            f"websearch {command} [OPTIONS] {arguments.removesuffix('...')}"
        )
        assert f"`websearch {command} {arguments}`" in page


@pytest.mark.repository
def test_the_documentation_names_every_command_and_option(websearch):
    written = (ROOT / "docs" / "cli.md").read_text()

    for command in app.registered_commands:
        name = command.callback.__name__
        assert f"## websearch {name}" in written
        for line in websearch(name, "--help").stdout.splitlines():
            for word in line.replace(",", " ").split():
                if (
                    line.startswith("  -")
                    and word.startswith("--")
                    and word != "--help"
                ):
                    assert f"`{word}" in written, f"{word} of {name} is not documented"


def test_the_core_is_imported_without_typer():
    code = "import sys, websearch_core, websearch_core._cli; sys.exit('typer' in sys.modules or 'rich' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_typer_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    for name in [
        name for name in sys.modules if name.startswith("websearch_core._cli.")
    ]:
        monkeypatch.delitem(sys.modules, name)

    with pytest.raises(SystemExit) as caught:
        main()

    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        "websearch: the command line needs typer; install it with: pip install 'websearch-core[cli]'\n"
    )


def test_the_installed_program_writes_what_its_terminal_cannot_show(local, tmp_path):
    local.index.add(Page(url="https://sea.example/ja", title="昆布", content="昆布"))

    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from websearch_core._cli import main; main()",
            "search",
            "-p",
            "local",
            "昆布",
        ],
        env={
            "PYTHONIOENCODING": "latin-1",
            "XDG_DATA_HOME": str(tmp_path / "data"),
            "PYTHONUTF8": "1",
        },
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"1. \\u6606\\u5e03 \\u2014 https://sea.example/ja")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_live_progress(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with output.show_progress("Indexing [red]docs") as tell:
        tell("file:///a\x1b[31m.md")

    assert "Indexing [red]docs" in terminal.getvalue()
    assert "\x1b[31m.md" not in terminal.getvalue()


def test_a_terminal_gets_drawn_tables_and_rendered_markdown(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    output.print_table(("provider",), [("kelp[red]\x1b",)])
    output.print_markdown("# Kelp\n\n**brown** alga\x1b[31m")

    assert "kelp[red]\\x1b" in terminal.getvalue()
    assert "**" not in terminal.getvalue()
    assert "\x1b[31m" not in terminal.getvalue()


def test_a_base_url_of_a_reader_needs_its_name(websearch):
    assert (
        websearch(
            "read", "https://a.example/", "--base-url", "https://b.example"
        ).exit_code
        == 2
    )


@pytest.mark.skipif(
    sys.platform == "win32", reason="file names cannot hold these characters"
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_name_cannot_forge_a_line(websearch, tmp_path, form):
    folder = tmp_path / "sea"
    folder.mkdir()
    names = [
        b".a\n99 pages indexed",
        b".b\r\xe2\x80\xaegpj",
        b".c\xe2\x80\xa8\x1b[2J\x9b",
        b".d\xff",
        b".e\xe2\x81\xa6",
    ]
    for name in names:
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(b"")

    result = websearch("index", folder, "--format", form)

    assert result.exit_code == 1  # all are hidden
    assert not set(result.stdout) & set("\r\x1b\x9b\u202e\u2066\udcff")
    if form == "text":
        assert len(result.stdout.splitlines()) == 1 + len(names)
        assert (
            f"  skipped {folder}/.a\\n99 pages indexed: hidden"
            in result.stdout.splitlines()
        )
    else:
        skipped = {
            one["what"].removeprefix(f"{folder}/")
            for one in json.loads(result.stdout)["places"][0]["skipped"]
        }
        # as the index lists them: a byte that is no UTF-8 is no character
        assert skipped == {name.decode("utf-8", "replace") for name in names}
