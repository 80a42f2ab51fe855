"""Lists at a shell: one row for each line, whatever ends the program."""

from __future__ import annotations
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from zlib import crc32

import pytest
import typer.testing

from tests.server import Server, http
from tests.waiting import PATIENCE, wait_until
from websearch_core import SearchResponse
from websearch_core._cli.app import app
from websearch_core.errors import AuthenticationError, PageNotFound

pytestmark = pytest.mark.enable_socket
KILLS = int(os.environ.get("WEBSEARCH_KILLS", "2"))  # `make kills` tries 50
TEXT = "Brown algae of the northern seas grow on rocks. " * 10


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Sea(Server):
    """Pages that are told apart by their tags.

    Attributes:
        unchanged: The paths that were asked for with the right tag.
        texts: What a page says, by its path.
        statuses: The status of a path, or of all (``*``).
    """

    def __init__(self):
        super().__init__(reply=self._make_page)
        self.unchanged = []
        self.texts = {}
        self.statuses = {}

    def _make_page(self, request):
        path, headers, _ = request
        if path.endswith(".xml"):
            kind = "application/xml"
            text = self.texts.get(path, "")
        else:
            kind = "text/html"
            words = self.texts.get(path, TEXT)
            text = f"<title>Page {path}</title><main><p>{words}</p></main>"
        tag = f'"{crc32(text.encode())}"'
        status = self.statuses.get(path) or self.statuses.get("*")
        if headers.get("if-none-match") == tag and not status:
            self.unchanged.append(path)
            return http("", "304 Not Modified", f"ETag: {tag}")
        if status is None:
            status = 404 if path.startswith("/gone") else 200
        return http(
            text,
            f"{status} Status",
            "Location: /a",  # of a redirect
            f"Content-Type: {kind}",
            f"ETag: {tag}",
            "Cache-Control: no-cache",
        )


@pytest.fixture
def sea():
    """A site that counts the requests for its pages; those in /gone/ do not exist.
    Texts and statuses can change.
    """

    with Sea() as site:
        yield site


@pytest.fixture
def websearch(sea, monkeypatch):
    # a busy machine takes its time
    monkeypatch.setenv("WEB_SEARCH_READ_TIMEOUT", "120")
    monkeypatch.setenv("WEB_SEARCH_CONNECT_TIMEOUT", "60")

    def call(*words, **options):
        words = [*map(str, words), "--internal", sea.url]
        return typer.testing.CliRunner().invoke(app, words, **options)

    return call


def rows_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_each_line_gets_a_row_and_the_exit_code_tells_of_the_first_error(
    websearch, sea, home
):
    urls = [f"{sea.url}/{n}" for n in range(20)]
    (home / "urls.txt").write_text(
        "\n".join(["# our pages", "", *urls, f"{sea.url}/gone/1", f"{sea.url}/0"])
    )
    done = websearch("read", "-i", "urls.txt", "-o", "pages.jsonl")
    rows = rows_of(home / "pages.jsonl")

    assert done.exit_code == 1
    assert done.stdout == ""
    assert "pages.jsonl: 22 rows after" in done.stderr
    assert "21 new, 1 page_not_found" in done.stderr
    assert sorted(row["url"] for row in rows) == sorted(
        [*urls, f"{sea.url}/gone/1", f"{sea.url}/0"]
    )
    assert [row["error"]["code"] for row in rows if row["error"]] == ["page_not_found"]
    assert sorted(sea.paths) == sorted([f"/{n}" for n in range(20)] + ["/gone/1"])

    again = websearch("read", "-i", "urls.txt", "-o", "pages.jsonl")
    assert again.exit_code == 1  # as before: one of the rows is an error
    assert "22 there already" in again.stderr
    assert len(sea.paths) == 21


def test_the_exit_code_is_that_of_the_first_error_in_the_output(websearch, sea, home):
    (home / "urls.txt").write_text(f"nonsense\n{sea.url}/1\n")
    assert websearch("read", "-i", "urls.txt", "-o", "pages.jsonl").exit_code == 3
    (home / "urls.txt").write_text(f"nonsense\n{sea.url}/1\n{sea.url}/gone/1\n")

    assert [
        websearch("read", "-i", "urls.txt", "-o", "pages.jsonl").exit_code
        for _ in range(2)
    ] == [3, 3]


def test_what_cannot_be_a_list_is_answered_before_anything_is_written(
    websearch, sea, home
):
    (home / "urls.txt").write_text(f"{sea.url}/1")
    for words, answer in (
        (["urls.txt"], "did you mean --input urls.txt?"),
        (["-"], "did you mean --input -?"),
        (["-i", "nope.txt"], "there is no file 'nope.txt'"),
        (["-i", "."], "there is no file '.'"),
        (["-i", "urls.txt", "--reader", "nobody"], "unknown provider 'nobody'"),
    ):
        done = websearch("read", *words, "-o", "pages.jsonl")
        assert done.exit_code == 2, words
        assert answer in " ".join(done.stderr.split()), words
    assert not (home / "pages.jsonl").exists()
    assert sea.paths == []


def test_a_length_of_zero_is_not_the_whole_page(websearch, sea, home):
    (home / "urls.txt").write_text(f"{sea.url}/1")
    done = websearch("read", "-i", "urls.txt", "-o", "pages.jsonl", "--max-length", 0)

    assert done.exit_code == 2
    assert "max_length: must be at least 1" in done.stderr
    assert sea.paths == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_list_may_be_a_named_pipe(websearch, sea, home):
    os.mkfifo(home / "urls")
    writer = threading.Thread(
        target=(home / "urls").write_text,
        args=(f"{sea.url}/1\n{sea.url}/2\n",),
        daemon=True,
    )
    writer.start()
    websearch("read", "-i", "urls", "-o", "pages.jsonl")

    assert sorted(row["url"] for row in rows_of(home / "pages.jsonl")) == [
        f"{sea.url}/1",
        f"{sea.url}/2",
    ]


@pytest.mark.parametrize("place", ["-", "urls.txt"])
def test_a_refresh_with_an_empty_list_leaves_the_output_alone(
    websearch, sea, home, place
):
    websearch("read", f"{sea.url}/1", "-o", "pages.jsonl")
    before = (home / "pages.jsonl").read_bytes()
    (home / "urls.txt").write_text("# none\n")
    done = websearch("read", "-i", place, "-o", "pages.jsonl", "--refresh", input="")

    assert done.exit_code == 2
    assert "the list is empty" in done.stderr
    assert (home / "pages.jsonl").read_bytes() == before


def test_a_list_may_come_from_a_pipe_and_go_to_one(websearch, sea):
    done = websearch(
        "read",
        "-i",
        "-",
        "-o",
        "-",
        input=f"{sea.url}/1\n{sea.url}/%28\nnonsense\n{sea.url}/2\n",
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]

    assert {row["url"]: row["status"] for row in rows} == {
        f"{sea.url}/1": "success", f"{sea.url}/2": "success", f"{sea.url}/%28": "success", "nonsense": "error",
    }  # fmt: skip
    assert done.exit_code == 3


@pytest.mark.parametrize("place", ["-", "urls.txt"])
def test_a_list_may_come_from_windows(websearch, sea, home, place):
    lines = b"\xef\xbb\xbf%s/1\r\n# a comment\r\nnonsense\r\n%s/2" % (
        sea.url.encode(),
        sea.url.encode(),
    )
    (home / "urls.txt").write_bytes(lines)
    done = websearch("read", "-i", place, "-o", "pages.jsonl", input=lines)
    rows = {row["url"]: row["status"] for row in rows_of(home / "pages.jsonl")}

    assert done.exit_code == 3
    assert rows == {
        f"{sea.url}/1": "success",
        f"{sea.url}/2": "success",
        "nonsense": "error",
    }


@pytest.mark.parametrize("place", ["-", "urls.txt"])
def test_what_is_no_list_is_refused_before_anything_is_asked(
    websearch, sea, home, place
):
    lines = f"{sea.url}/1\n".encode() + b"\x89PNG\0"
    (home / "urls.txt").write_bytes(lines)
    done = websearch("read", "-i", place, "-o", "pages.jsonl", input=lines)

    assert done.exit_code == 2
    assert "--input: this is no list that can be read: it is not text" in done.stderr
    assert sea.paths == []


def test_rows_are_not_compressed(websearch, sea):
    done = websearch("read", f"{sea.url}/1", "-o", "pages.jsonl.gz")

    assert done.exit_code == 2
    assert "name pages.jsonl, and compress it at the end" in done.stderr


def test_a_list_of_nothing_has_no_rows(websearch, home):
    (home / "urls.txt").write_text("\n# none yet\n")
    done = websearch("read", "-i", "urls.txt", "-o", "pages.jsonl")

    assert done.exit_code == 0
    assert "pages.jsonl: 0 rows after" in done.stderr
    assert rows_of(home / "pages.jsonl") == []


def test_a_list_is_not_its_own_output(websearch, sea, home):
    websearch("read", f"{sea.url}/1", "-o", "pages.jsonl")
    before = (home / "pages.jsonl").read_bytes()
    done = websearch("read", "-i", "./pages.jsonl", "-o", "pages.jsonl")

    assert done.exit_code == 2
    assert "this is the list itself" in done.stderr
    assert (home / "pages.jsonl").read_bytes() == before


def test_urls_alone_are_printed_and_not_written(websearch, sea, home):
    done = websearch("crawl", sea.url, "--list", "-o", "urls.txt")

    assert done.exit_code == 2
    assert "write > FILE" in done.stderr
    assert not (home / "urls.txt").exists()


def test_arguments_may_be_the_list_and_pages_are_whole(websearch, sea, home):
    sea.texts["/1"] = "Long words of the sea. " * 2000
    done = websearch("read", f"{sea.url}/1", "-o", "pages/")
    (row,) = rows_of(home / "pages" / "index.jsonl")

    assert done.exit_code == 0
    assert len((home / "pages" / row["file"]).read_text()) > 40_000
    assert not row["truncated"]
    websearch("read", f"{sea.url}/1", "-o", "short.jsonl", "--max-length", 100)
    assert rows_of(home / "short.jsonl")[0]["content_length"] <= 100


def test_another_spelling_that_comes_later_is_copied_from_the_output(
    websearch, sea, home
):
    (home / "urls.txt").write_text(
        "\n".join(
            [f"{sea.url}/a", *(f"{sea.url}/{n}" for n in range(120)), f"{sea.url}/%61"]
        )
    )
    websearch("read", "-i", "urls.txt", "-o", "pages.jsonl")
    rows = {row["url"]: row for row in rows_of(home / "pages.jsonl")}

    assert len(rows) == 122
    assert sea.paths.count("/a") + sea.paths.count("/%61") == 1
    assert rows[f"{sea.url}/%61"]["hash"] == rows[f"{sea.url}/a"]["hash"]


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("read", "https://sea.example/"), "--refresh"),
        (("read", "https://sea.example/"), "--retry-failed"),
        (("search", "kelp"), "--refresh"),
        (("crawl", "https://sea.example/"), "--refresh"),
    ],
)
def test_options_about_an_earlier_run_need_its_output(
    websearch, home, arguments, option
):
    done = websearch(*arguments, option)

    assert done.exit_code == 2
    assert f"{option}: also name the --output of the earlier run" in done.stderr


def test_a_refresh_says_what_changed(websearch, sea, home):
    (home / "urls.txt").write_text("\n".join(f"{sea.url}/{n}" for n in range(5)))
    websearch("read", "-i", "urls.txt", "-o", "pages.jsonl")
    sea.texts["/3"] = "Red algae of the southern seas grow on sand. " * 10
    done = websearch("read", "-i", "urls.txt", "-o", "pages.jsonl", "--refresh")

    assert done.exit_code == 0
    assert "4 same, 1 changed" in done.stderr
    assert {row["url"]: row["changed"] for row in rows_of(home / "pages.jsonl")} == {
        f"{sea.url}/{n}": "changed" if n == 3 else "same" for n in range(5)
    }


@pytest.mark.parametrize("output", ["pages.jsonl", "pages/"])
def test_a_refresh_asks_only_whether_pages_have_changed(websearch, sea, home, output):
    urls = [f"{sea.url}/{n}" for n in range(5)]
    # the last is another spelling of /4
    (home / "urls.txt").write_text("\n".join([*urls, f"{sea.url}/%34"]))
    path = home / output / "index.jsonl" if output.endswith("/") else home / output
    read = ["read", "-i", "urls.txt", "-o", output]
    websearch(*read)
    before = {row["url"]: row for row in rows_of(path)}
    sea.texts["/3"] = "Red algae of the southern seas grow on sand. " * 10
    done = websearch(*read, "--refresh")
    after = {row["url"]: row for row in rows_of(path)}

    assert "5 same, 1 changed" in done.stderr
    assert sorted(sea.unchanged) == ["/0", "/1", "/2", "/4"]
    assert after[urls[0]] == {
        **before[urls[0]],
        "changed": "same",
        "fetched_at": after[urls[0]]["fetched_at"],
    }
    assert after[urls[0]]["fetched_at"] > before[urls[0]]["fetched_at"]
    assert after[urls[3]]["hash"] != before[urls[3]]["hash"]

    websearch(*read, "--refresh")
    # what did not change is asked for again, and /3 for the first time
    assert len(sea.unchanged) == 9


@pytest.fixture
def no_retry(home, monkeypatch):
    (home / "once.toml").write_text("retry = 1\n")
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(home / "once.toml"))


@pytest.mark.usefixtures("no_retry")
@pytest.mark.parametrize("output", ["pages.jsonl", "pages/"])
def test_a_refresh_keeps_what_cannot_be_read_for_now_and_an_index_keeps_it_too(
    websearch, sea, home, output
):
    """An index deletes what has no row with an answer, and embeds what has another
    hash.
    """

    def index():
        found = {row["url"]: row for row in rows_of(path) if row["status"] == "success"}
        return {url: (row["hash"], row["validators"]) for url, row in found.items()}

    (home / "urls.txt").write_text("\n".join(f"{sea.url}/{n}" for n in range(3)))
    path = home / output / "index.jsonl" if output.endswith("/") else home / output
    read = ["read", "-i", "urls.txt", "-o", output]
    websearch(*read)
    before, texts = (
        index(),
        {file.name: file.read_text() for file in home.glob("pages/*.md")},
    )
    sea.statuses["*"] = 503
    failed = websearch(*read, "--refresh")
    kept = rows_of(path)

    assert failed.exit_code == 1
    assert "3 rows" in failed.stderr
    assert "3 kept (unavailable)" in failed.stderr
    assert index() == before
    assert {row["changed"] for row in kept} == {"same"}
    assert {row["refresh_error"]["code"] for row in kept} == {"unavailable"}
    assert {file.name: file.read_text() for file in home.glob("pages/*.md")} == texts

    sea.statuses.clear()
    again = websearch(*read, "--refresh")

    assert again.exit_code == 0
    assert "3 same" in again.stderr
    assert len(sea.unchanged) == 3
    assert index() == before
    assert not [row for row in rows_of(path) if "refresh_error" in row]

    sea.statuses["/0"] = 404  # for good
    gone = websearch(*read, "--refresh")

    assert "2 same, 1 page_not_found" in gone.stderr
    assert len(index()) == 2
    assert [row["changed"] for row in rows_of(path) if row["error"]] == [None]


@pytest.mark.usefixtures("no_retry")
def test_what_failed_for_now_is_asked_for_again_if_wanted(websearch, sea, home):
    urls = [f"{sea.url}/gone/1", *(f"{sea.url}/{n}" for n in range(3))]
    (home / "urls.txt").write_text("\n".join(urls))
    read = ["read", "-i", "urls.txt", "-o", "pages.jsonl"]
    sea.statuses["/1"] = 503
    websearch(*read)
    sea.statuses.clear()
    asked = len(sea.paths)
    assert "4 there already" in websearch(*read).stderr
    done = websearch(*read, "--retry-failed")

    assert done.exit_code == 1  # one is gone for good
    assert sea.paths[asked:] == ["/1"]
    assert "3 there already, 1 new" in done.stderr
    rows = rows_of(home / "pages.jsonl")
    assert sorted(row["url"] for row in rows) == sorted(urls)
    assert [row["error"]["code"] for row in rows if row["error"]] == ["page_not_found"]


def test_a_refresh_with_other_options_reads_pages_again(websearch, sea, home):
    (home / "urls.txt").write_text(f"{sea.url}/1")
    websearch("read", "-i", "urls.txt", "-o", "pages.jsonl")
    websearch(
        "read",
        "-i",
        "urls.txt",
        "-o",
        "pages.jsonl",
        "--refresh",
        "--max-length",
        "100",
    )

    assert sea.unchanged == []
    assert rows_of(home / "pages.jsonl")[0]["truncated"] is True


@pytest.mark.parametrize("edited", [5, {}, {"a": 1}])
def test_a_refresh_reads_pages_again_whose_rows_somebody_has_edited(
    websearch, sea, home, edited
):
    (home / "urls.txt").write_text(f"{sea.url}/1")
    websearch("read", "-i", "urls.txt", "-o", "pages.jsonl")
    (row,) = rows_of(home / "pages.jsonl")
    options = next(iter(row["validators"]))
    row["validators"] = {options: edited} if edited == {"a": 1} else edited
    (home / "pages.jsonl").write_text(json.dumps(row) + "\n")
    done = websearch("read", "-i", "urls.txt", "-o", "pages.jsonl", "--refresh")

    assert "1 same" in done.stderr
    assert sea.unchanged == []


def test_with_a_cache_a_refresh_only_asks_whether_pages_have_changed(
    websearch, sea, home, monkeypatch
):
    (home / "own.toml").write_text('[cache]\nlocation = "pages.db"\n')
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(home / "own.toml"))
    (home / "urls.txt").write_text("\n".join(f"{sea.url}/{n}" for n in range(5)))
    websearch("read", "-i", "urls.txt", "-o", "pages.jsonl")
    sea.texts["/3"] = "Red algae of the southern seas grow on sand. " * 10
    done = websearch("read", "-i", "urls.txt", "-o", "pages.jsonl", "--refresh")

    assert "4 same, 1 changed" in done.stderr
    assert len(sea.paths) == 10
    assert sorted(sea.unchanged) == ["/0", "/1", "/2", "/4"]


@pytest.mark.parametrize("words", [[], ["https://sea.example/", "-i", "urls.txt"]])
@pytest.mark.parametrize("command", ["read", "search"])
def test_either_arguments_or_a_list_is_needed(websearch, command, words):
    done = websearch(command, *words)

    assert done.exit_code == 2
    assert "--input" in done.stderr


def links_to(*paths):
    return f"{TEXT} of {paths}" + "".join(
        f' <a href="{path}">{path}</a>' for path in paths
    )


@pytest.fixture
def site(sea):
    """Four pages: the start, one to which another address redirects, and two that lead
    from the start to that address.
    """
    # It is found two pages after the one that it leads to, which so has its row under
    # its own address.
    sea.texts |= {
        "/": links_to("/a", "/b"),
        "/a": f"a: {TEXT}",
        "/b": links_to("/c"),
        "/c": links_to("/z"),
    }
    sea.texts |= {
        "/robots.txt": "",
        "/llms.txt": "",
        "/sitemap.xml": "<urlset></urlset>",
    }
    sea.statuses["/z"] = 301
    return sea


def row_paths(site, path):
    """Return the path of each row with its error, or else with what changed."""
    rows = rows_of(path)
    assert len({row["url"] for row in rows}) == len(rows)
    return {
        row["url"].removeprefix(site.url): row["error"]["code"]
        if row["error"]
        else row["changed"]
        for row in rows
    }


ALL = dict.fromkeys(["/", "/a", "/b", "/c"], "new")


def test_a_crawl_keeps_to_the_patterns_of_its_options(websearch, site, home):
    patterns = ["--include", "/[ac]", "--include", "/b*", "--exclude", "/c"]
    done = websearch("crawl", f"{site.url}/", "-o", "pages.jsonl", *patterns)
    wrong = websearch("crawl", f"{site.url}/", "--include", "guide/*")

    assert done.exit_code == 0
    assert row_paths(site, home / "pages.jsonl") == dict.fromkeys(
        "/ /a /b".split(), "new"
    )
    assert wrong.exit_code == 2
    assert "include: 'guide/*' is no pattern of a path" in wrong.stderr


@pytest.mark.usefixtures("no_retry")
def test_a_second_crawl_repeats_no_row_and_says_how_many_there_are(
    websearch, site, home
):
    path, output = home / "pages" / "index.jsonl", "pages/"
    first = websearch("crawl", f"{site.url}/", "-o", output)
    before, asked = path.read_bytes(), len(site.paths)
    second = websearch("crawl", f"{site.url}/", "-o", output)

    assert [first.exit_code, second.exit_code] == [0, 0]
    assert row_paths(site, path) == ALL
    assert "4 rows after" in second.stderr
    assert "4 there already" in second.stderr
    assert path.read_bytes() == before
    assert "/b" not in site.paths[asked:]
    for file in home.glob("pages/*.md"):
        file.unlink()
    assert websearch("crawl", f"{site.url}/", "-o", output).exit_code == 0


@pytest.mark.usefixtures("no_retry")
def test_a_refresh_of_a_crawl_asks_what_has_changed_and_follows_what_has_not(
    websearch, site, home
):
    path, crawl = home / "pages.jsonl", ["crawl", f"{site.url}/", "-o", "pages.jsonl"]
    websearch(*crawl)
    site.texts["/a"] = "Red algae of the southern seas grow on sand. " * 10
    site.unchanged.clear()
    done = websearch(*crawl, "--refresh")

    assert done.exit_code == 0
    assert "3 same, 1 changed" in done.stderr
    assert row_paths(site, path) == {
        "/": "same",
        "/a": "changed",
        "/b": "same",
        "/c": "same",
    }
    # the last was found by a link of one that has not changed
    assert sorted(site.unchanged) == ["/", "/b", "/c"]

    site.texts["/b"] = "No links any more. " * 20
    websearch(*crawl, "--refresh")
    assert row_paths(site, path) == {"/": "same", "/a": "same", "/b": "changed"}


@pytest.mark.usefixtures("no_retry")
@pytest.mark.parametrize("failing", ["/", "/b", "/robots.txt", "/sitemap.xml"])
def test_a_refresh_of_a_crawl_keeps_what_it_cannot_reach_for_now(
    websearch, site, home, failing
):
    if failing == "/sitemap.xml":  # has what nothing else leads to
        site.texts["/sitemap.xml"], site.texts["/b"] = (
            f"<urlset><url><loc>{site.url}/c</loc></url></urlset>",
            "b",
        )
    crawl = ["crawl", f"{site.url}/", "-o", "pages.jsonl"]
    websearch(*crawl)
    before = {row["url"]: row["hash"] for row in rows_of(home / "pages.jsonl")}
    site.statuses[failing] = 503
    done = websearch(*crawl, "--refresh")

    assert done.exit_code == 1
    assert "kept (unavailable)" in done.stderr
    assert row_paths(site, home / "pages.jsonl") == dict.fromkeys(ALL, "same")
    assert {row["url"]: row["hash"] for row in rows_of(home / "pages.jsonl")} == before
    websearch(*crawl)  # without asking again, they stay as they are
    assert {row["url"]: row["hash"] for row in rows_of(home / "pages.jsonl")} == before
    del site.statuses[failing]
    assert websearch(*crawl, "--refresh").exit_code == 0
    assert not [row for row in rows_of(home / "pages.jsonl") if "refresh_error" in row]


@pytest.mark.usefixtures("no_retry")
@pytest.mark.parametrize(
    ("failing", "first"),
    [
        ("/robots.txt", {"/": "unavailable"}),
        ("/", {"/": "unavailable"}),
        ("/b", {"/": "new", "/a": "new", "/b": "unavailable"}),
    ],
)
def test_what_failed_for_now_is_tried_again_by_the_next_crawl(
    websearch, site, home, failing, first
):
    crawl = ["crawl", f"{site.url}/", "-o", "pages.jsonl"]
    site.statuses[failing] = 503
    failed = websearch(*crawl)
    assert failed.exit_code == 1
    assert row_paths(site, home / "pages.jsonl") == first

    del site.statuses[failing]
    assert websearch(*crawl).exit_code == 0
    assert row_paths(site, home / "pages.jsonl") == ALL

    site.statuses["/"] = 503  # the start has its row, but leads nowhere
    assert websearch(*crawl).exit_code == 1


@pytest.mark.usefixtures("no_retry")
@pytest.mark.parametrize("words", [["-o", "pages.jsonl"], ["--list"]])
def test_a_sitemap_that_fails_for_now_is_said(websearch, site, home, caplog, words):
    assert websearch("crawl", f"{site.url}/", "--list").exit_code == 0
    site.statuses |= {"/sitemap.xml": 404, "/llms.txt": 404}
    assert websearch("crawl", f"{site.url}/", *words).exit_code == 0
    assert caplog.messages == []
    site.statuses["/sitemap.xml"] = 503
    done = websearch("crawl", f"{site.url}/", *words)

    assert done.exit_code == 1
    (said,) = caplog.messages
    assert said.startswith("pages may be missing: ")
    assert "/sitemap.xml" in said
    assert not done.stdout or f"{site.url}/b" in done.stdout


class Service:
    name = "skiff"

    def search(self, query, /):
        yield from ()
        if query.text == "gone":
            raise PageNotFound("nothing there")
        if query.text == "wrong key":
            raise AuthenticationError("the key is wrong")
        return SearchResponse(query=query.text, provider=self.name)


def test_queries_are_lines_too_and_what_concerns_all_ends_the_list(
    websearch, home, monkeypatch
):
    monkeypatch.setattr(
        "websearch_core.client._selection.Selection.searchers",
        lambda *_, **__: [Service()],
    )
    (home / "queries.txt").write_text("kelp\ngone\nrotate a key\n")
    done = websearch("search", "-i", "queries.txt", "-o", "answers.jsonl")

    assert done.exit_code == 1
    assert sorted(row["query"] for row in rows_of(home / "answers.jsonl")) == [
        "gone",
        "kelp",
        "rotate a key",
    ]
    (home / "queries.txt").write_text("kelp\ngone\nrotate a key\nwrong key\n")
    done = websearch("search", "-i", "queries.txt", "-o", "answers.jsonl")

    assert done.exit_code == 1
    assert "the key is wrong" in done.stderr
    assert len(rows_of(home / "answers.jsonl")) == 3


@pytest.mark.skipif(
    not os.path.exists("/dev/full"),  # noqa: PTH110
    reason="this system has no /dev/full",
)
def test_a_full_disk_ends_it_with_a_message(websearch, sea):
    done = websearch("read", f"{sea.url}/1", "-o", "/dev/full")

    assert done.exit_code == 1
    assert "No space left" in str(done.exception)


LIST, JOBS = ("read", "-i", "urls.txt"), ["a list", "a site"]
PAGES = 30 * KILLS  # so that something is left to do at each
# for a program to start, and read, on a machine that has more to do
LONGEST = 4 * PATIENCE


def start(sea, *words, most_bytes=-1):
    """Run the command in a process of its own, which can write no file of more than
    *most_bytes*.
    """
    program = (
        f"import resource, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, ({most_bytes}, {most_bytes})); "
        "runpy.run_module('websearch_core', run_name='__main__')"
    )
    command = [
        sys.executable,
        "-c",
        program,
        *words,
        "-o",
        "pages.jsonl",
        "--internal",
        sea.url,
        "--timeout",
        "100",
    ]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.fixture(params=JOBS)
def job(request, sea, home):
    """The words of a command, and the URLs that it reads."""
    urls, part = [f"{sea.url}/{n}" for n in range(PAGES)], PAGES // 3
    if request.param == "a list":
        (home / "urls.txt").write_text("\n".join(urls))
        return LIST, urls
    # each page has a link to another; the last are three from the start
    for n in range(2 * part):
        sea.texts[f"/{n}"] = f'{TEXT}<a href="/{n + part}">{n + part}</a>'
    sea.texts["/"] = TEXT + "".join(f'<a href="/{n}">{n}</a> ' for n in range(part))
    return ("crawl", f"{sea.url}/", "--limit", str(2 * PAGES)), [f"{sea.url}/", *urls]


def wait_for_rows(child, path, size):
    """Wait until the output has grown, or the program has ended."""
    wait_until(
        lambda: (
            child.poll() is not None or (path.exists() and path.stat().st_size > size)
        )
    )


def check_rest(sea, path, job, kept):
    """Check that the next run leaves all rows that were *kept*, and adds those that are
    missing.
    """
    words, urls = job
    with start(sea, *words) as child:
        _, said = child.communicate(timeout=LONGEST)

    assert child.returncode == 0, said
    rows = rows_of(path)
    assert sorted(row["url"] for row in rows) == sorted(urls)
    assert not [row["error"] for row in rows if row["error"]]
    assert path.read_bytes().startswith(kept)


def whole_lines(path):
    return b"".join(
        line
        for line in path.read_bytes().splitlines(keepends=True)
        if line.endswith(b"\n")
    )


@pytest.mark.apart
def test_killed_at_any_moment_it_goes_on_without_repeating_or_losing(sea, home, job):
    path, sea.delay = home / "pages.jsonl", 0.02
    kept = b""
    for _ in range(KILLS):
        before = path.stat().st_size if path.exists() else 0
        with start(sea, *job[0]) as child:
            # else at the beginning, while it reads what is there
            if random.random() < 0.5:
                wait_for_rows(child, path, before)
            time.sleep(random.uniform(0, 0.05))
            child.kill()
        if path.exists():
            assert path.read_bytes().startswith(kept)
            kept = whole_lines(path)
    asked = len(sea.paths)
    check_rest(sea, path, job, kept)

    # the start, and lists of the site
    missing, extra = len(job[1]) - len(kept.splitlines()), 5
    # that the killed one sent, and the site takes up later
    assert len(sea.paths) - asked <= missing + extra + 4


@pytest.mark.apart
def test_ctrl_c_keeps_the_rows_says_how_many_and_the_next_run_adds_the_rest(
    sea, home, job
):
    path, sea.delay = home / "pages.jsonl", 0.2
    with start(sea, *job[0]) as child:
        wait_for_rows(child, path, 0)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=LONGEST)
    kept = path.read_bytes()

    assert child.returncode == 130, said
    assert "pages.jsonl: " in said
    assert kept.endswith(b"\n")
    assert 0 < len(kept.splitlines()) < len(job[1])
    sea.delay = 0.0
    check_rest(sea, path, job, kept)


@pytest.mark.parametrize("job", JOBS if KILLS > 2 else JOBS[:1], indirect=True)
@pytest.mark.apart
def test_a_disk_that_is_full_ends_it_and_the_next_run_adds_the_rest(sea, home, job):
    path = home / "pages.jsonl"
    most = 500 * PAGES + 1  # about half of all
    with start(sea, *job[0], most_bytes=most) as child:
        _, said = child.communicate(timeout=LONGEST)
    kept = whole_lines(path)

    assert child.returncode == 1, said
    assert "File too large" in said
    assert "Traceback" not in said
    assert path.stat().st_size == most
    assert 0 < len(kept) < most
    check_rest(sea, path, job, kept)
