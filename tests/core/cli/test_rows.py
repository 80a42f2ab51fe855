"""Rows of a list: what is there counts, a half-written line does not."""

from __future__ import annotations
import json
import os
from datetime import datetime

import pytest

from websearch_core import Page, SearchResponse, SearchResult
from websearch_core._cli.rows import Rows
from websearch_core._runtime.clock import now
from websearch_core._text.urls import find_page
from websearch_core.errors import (
    ConfigurationError,
    PageNotFound,
    TimedOut,
    Unavailable,
)

needs_links = pytest.mark.skipif(os.name != "posix", reason="makes links and pipes")
SEA = "https://sea.example/kelp"
LATE = "https://sea.example/late"


def page_of(url=SEA, content="Brown algae.", **facts):
    return Page(url=url, content=content, **facts)


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_each_row_has_its_input_and_a_page_or_an_error(tmp_path):
    path = tmp_path / "pages.jsonl"
    with Rows(str(path)) as rows:
        rows.add(SEA, page_of(title="Kelp \ud800\x9b"))
        rows.add("https://sea.example/late", TimedOut("no answer"))
    page, error = lines_of(path)

    assert (page["url"], page["status"], page["error"], page["content"], page["changed"]) == (
        SEA, "success", None, "Brown algae.", "new",
    )  # fmt: skip
    assert (error["url"], error["status"], error["error"]["code"]) == (
        "https://sea.example/late", "error", "timed_out",
    )  # fmt: skip


def test_the_row_of_an_error_says_when_it_failed_as_that_of_a_page_does(tmp_path):
    path = tmp_path / "pages.jsonl"
    with Rows(str(path)) as rows:
        rows.add(SEA, page_of(fetched_at=now()))
        rows.add(LATE, TimedOut("no answer"))
    with Rows(str(path), refresh=True) as rows:
        rows.add(SEA, Unavailable("503"))
        rows.add(LATE, TimedOut("no answer"))
    page, error = lines_of(path)

    times = [page["fetched_at"], page["refresh_error"]["fetched_at"]]
    assert page["refresh_error"]["code"] == "unavailable"
    assert sorted(times) == times
    for time in [*times, error["fetched_at"]]:
        assert time.endswith("Z")
        assert datetime.fromisoformat(time).date() == now().date()


def test_what_is_there_is_skipped_once_for_each_row(tmp_path):
    path = tmp_path / "pages.jsonl"
    with Rows(str(path)) as rows:
        assert not rows.skip(SEA)
        rows.add(SEA, page_of())
        assert not rows.skip(SEA)  # the list has it twice
        rows.add(SEA, page_of())
    with Rows(str(path)) as rows:
        assert [rows.skip(SEA) for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("cut", [1, 5, 40, 300])
def test_a_half_written_last_line_is_cut_off(tmp_path, cut):
    path = tmp_path / "pages.jsonl"
    with Rows(str(path)) as rows:
        rows.add("https://sea.example/1", page_of())
        rows.add("https://sea.example/2", page_of(content="Ж" * 200))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with Rows(str(path)) as rows:
        assert rows.skip("https://sea.example/1")
        assert not rows.skip("https://sea.example/2")
        rows.add("https://sea.example/2", page_of(content="Ж" * 200))

    assert path.read_bytes() == whole


@pytest.mark.parametrize("broken", ['", "cont', '", "content": "Bro\0\0\0\0wn."}'])
def test_a_broken_row_is_left_out_and_asked_for_again(tmp_path, broken):
    path = tmp_path / "pages.jsonl"
    urls = [f"https://sea.example/{n}" for n in range(3)]
    with Rows(str(path)) as rows:
        for url in urls:
            rows.add(url, page_of())
    first, _, last = whole = path.read_text().splitlines(keepends=True)
    path.write_text(f'{first}{{"url": "{urls[1]}{broken}\n{last}')
    path.chmod(0o640)
    with Rows(str(path)) as rows:
        assert [rows.skip(url) for url in urls] == [True, False, True]
        assert rows.find(urls[2])["url"] == urls[2]
        rows.add(urls[1], page_of())

    assert sorted(path.read_text().splitlines(keepends=True)) == sorted(whole)
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["pages.jsonl"]


@pytest.mark.parametrize("half", ["", '{"url": "https://sea.example/2", "co'])
def test_a_tail_of_zeros_that_a_power_cut_left_is_cut_off(tmp_path, half):
    path = tmp_path / "pages.jsonl"
    with Rows(str(path)) as rows:
        rows.add(SEA, page_of())
    whole = path.read_bytes()
    path.write_bytes(whole + half.encode() + bytes(5000))
    with Rows(str(path)) as rows:
        assert rows.skip(SEA)

    assert path.read_bytes() == whole


def test_rows_that_windows_has_ended_are_whole(tmp_path):
    path = tmp_path / "pages.jsonl"
    with Rows(str(path)) as rows:
        rows.add(SEA, page_of())
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with Rows(str(path)) as rows:
        assert rows.skip(SEA)


def test_rows_that_may_succeed_now_are_left_out_if_wanted(tmp_path):
    path = tmp_path / "pages.jsonl"
    answers = {
        "1": page_of(),
        "2": TimedOut("no answer"),
        "3": PageNotFound("gone"),
        "4": page_of(),
    }
    with Rows(str(path)) as rows:
        for name, answer in answers.items():
            rows.add(f"https://sea.example/{name}", answer)
    with Rows(str(path)) as rows:
        assert [*rows.errors] == [("timed_out", True), ("page_not_found", False)]
        assert [
            name for name in answers if not rows.skip(f"https://sea.example/{name}")
        ] == []
    with Rows(str(path), retry=True) as rows:
        assert [*rows.errors] == [("page_not_found", False)]
        assert [rows.skip(f"https://sea.example/{name}") for name in answers] == [
            True,
            False,
            True,
            True,
        ]

    assert [row["url"][-1] for row in lines_of(path)] == ["1", "3", "4"]


TEXTS = [
    "my notes",
    "a\nb\n",
    '{"id": 1}\n',
    '{"url": "https://sea.example/"}\nnotes\n',
    '{"url": \n',
    '{"url": 1}\n',
    f'{{"url": {"[" * 100_000}\n',
]


def test_a_file_of_something_else_is_left_alone(tmp_path):
    for number, text in enumerate(TEXTS):
        path = tmp_path / f"{number}.txt"
        path.write_text(text)
        with pytest.raises(ConfigurationError, match="not a row of this command"):
            Rows(str(path))
        assert path.read_text() == text


def test_a_full_disk_is_an_error_and_the_next_run_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "pages.jsonl"

    class Full:
        def __init__(self, file, room):
            self.file, self.room = file, room

        def write(self, line):
            if not self.room:
                raise OSError(28, os.strerror(28))
            part = line[: self.room]
            self.room -= len(part)
            return self.file.write(part)

        def __getattr__(self, name):
            return getattr(self.file, name)

    rows = Rows(str(path))
    rows._file = Full(rows._file, 900)
    with rows, pytest.raises(OSError, match="No space"):  # noqa: PT012 - in one of them
        for n in range(3):
            rows.add(f"https://sea.example/{n}", page_of())
    with Rows(str(path)) as rows:
        assert [rows.skip(f"https://sea.example/{n}") for n in range(3)] == [
            True,
            False,
            False,
        ]


def test_another_spelling_finds_the_row(tmp_path):
    with Rows(str(tmp_path / "pages.jsonl")) as rows:
        rows.add("https://sea.example/%28a%29", page_of())
        assert rows.find("HTTPS://sea.example/(a)#top")["content"] == "Brown algae."
        assert rows.find("https://sea.example/b") is None


def test_a_refresh_says_what_changed_and_replaces_the_output_at_its_end(tmp_path):
    path = tmp_path / "pages.jsonl"
    with Rows(str(path)) as rows:
        for n in range(3):
            rows.add(f"https://sea.example/{n}", page_of())
        rows.add("https://sea.example/3", TimedOut("no answer"))
    before = path.read_bytes()

    def refresh(ends=True):
        with Rows(str(path), refresh=True) as rows:
            for n in range(5):
                if not rows.skip(f"https://sea.example/{n}"):
                    rows.add(
                        f"https://sea.example/{n}",
                        page_of(content="Red algae." if n == 1 else "Brown algae."),
                    )
                if n == 2 and not ends:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refresh(ends=False)
    assert path.read_bytes() == before
    assert len(lines_of(tmp_path / "pages.jsonl.part")) == 3
    refresh()

    assert [row["changed"] for row in lines_of(path)] == [
        "same",
        "changed",
        "same",
        "new",
        "new",
    ]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pages.jsonl"]


def test_a_refresh_keeps_a_link_and_who_may_read_the_output(tmp_path):
    target, link = tmp_path / "data" / "real.jsonl", tmp_path / "pages.jsonl"
    target.parent.mkdir()
    link.symlink_to(target)
    with Rows(str(link)) as rows:
        rows.add(SEA, page_of())
    target.chmod(0o640)
    with Rows(str(link), refresh=True) as rows:
        assert (target.parent / "real.jsonl.part").stat().st_mode & 0o777 == 0o640
        rows.add(SEA, page_of(content="Red algae."))

    assert link.is_symlink()
    assert lines_of(target)[0]["changed"] == "changed"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_refresh_of_a_folder_removes_the_files_of_pages_that_have_none_now(tmp_path):
    def refresh(**answers):
        with Rows(f"{tmp_path}/", refresh=True) as rows:
            for name, answer in answers.items():
                rows.add(f"https://sea.example/{name}", answer)
        return sorted(
            file.name.partition("-")[2][0]
            for file in tmp_path.glob("*.md")
            if file.name != "own.md"
        )

    (tmp_path / "own.md").write_text("my notes")
    assert refresh(a=page_of(), b=page_of(), c=page_of(), d=page_of()) == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert refresh(
        a=page_of(content="Red algae."), b=TimedOut("no answer"), c=PageNotFound("gone")
    ) == ["a", "b"]
    assert (tmp_path / "own.md").exists()


def test_a_folder_has_a_file_for_each_page(tmp_path):
    folder = tmp_path / "pages"
    with Rows(f"{folder}/") as rows:
        row = rows.add(SEA, page_of(title='Kelp: "the" alga'))
        rows.add("https://sea.example/late", TimedOut("no answer"))
    (first, second) = lines_of(folder / "index.jsonl")
    text = (folder / first["file"]).read_text("utf-8")

    assert "content" not in first
    assert second["error"]["code"] == "timed_out"
    assert first["file"].startswith("sea.example-kelp-")
    head = f'---\nurl: "{SEA}"\ntitle: "Kelp: \\"the\\" alga"\nfetched_at: null\nhash: "{row["hash"]}"\n---\n'
    assert text == f"{head}\nBrown algae.\n"
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        ["index.jsonl", first["file"]]
    )


def test_answers_of_searches_are_rows_too(tmp_path):
    path = tmp_path / "answers.jsonl"
    response = SearchResponse(
        query="kelp", results=[SearchResult(title="Kelp", url=SEA)], elapsed=1.0
    )
    with Rows(str(path), "query") as rows:
        rows.add("kelp", response)
    with Rows(str(path), "query", refresh=True) as rows:
        again = rows.add("kelp", response.model_copy(update={"elapsed": 2.0}))

    assert again["changed"] == "same"
    assert next(iter(lines_of(path)[0].items())) == ("query", "kelp")


def write_page(folder, content="Brown algae."):
    with Rows(f"{folder}/", refresh=True) as rows:
        return rows.add(SEA, page_of(content=content))["file"]


@needs_links
@pytest.mark.parametrize("name", ["index.jsonl", "index.jsonl.part"])
def test_a_link_in_a_folder_is_not_followed_by_the_rows(tmp_path, name):
    folder = tmp_path / "pages"
    write_page(folder)
    target = tmp_path / "elsewhere"
    target.write_text("")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)

    for refresh in (False, True) if name == "index.jsonl" else (True,):
        with pytest.raises(ConfigurationError, match="is a symbolic link"):
            Rows(f"{folder}/", refresh=refresh)
    assert target.read_text() == ""


@needs_links
def test_links_in_a_folder_are_not_followed_by_the_texts(tmp_path):
    name = write_page(tmp_path / "first")
    folder, target = tmp_path / "pages", tmp_path / "elsewhere"
    folder.mkdir()
    target.write_text("mine")
    for link in (name, f".{name}.part", f"{name}.part", "index.jsonl.rest"):
        (folder / link).symlink_to(target)

    assert write_page(folder) == name

    assert target.read_text() == "mine"
    assert "Brown algae." in (folder / name).read_text()
    assert not (folder / name).is_symlink()


@needs_links
def test_a_link_does_not_bring_its_target_into_the_output(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("---\n---\n\nmine\n")
    folder = tmp_path / "pages"
    name = write_page(folder)
    (folder / name).unlink()
    (folder / name).symlink_to(secret)

    with Rows(f"{folder}/") as rows:
        assert rows.recall(SEA).content == ""


@needs_links
def test_a_pipe_in_the_place_of_the_rows_is_refused(tmp_path):
    os.mkfifo(tmp_path / "index.jsonl")

    with pytest.raises(ConfigurationError, match="is not a regular file"):
        Rows(f"{tmp_path}/")


@needs_links
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
def test_a_link_of_another_user_does_not_choose_the_output(tmp_path):
    target, link = tmp_path / "target", tmp_path / "pages.jsonl"
    link.symlink_to(target)
    os.chown(link, 65534, 65534, follow_symlinks=False)

    with pytest.raises(ConfigurationError, match="a symbolic link of another user"):
        Rows(str(link))
    assert not target.exists()


ODD = {
    # Python 3.14 reads 50,000 levels, as many as its stack has room for.
    "nested deeply": '"x": ' + "[" * 1_000_000 + "]" * 1_000_000,
    "a list as its file": '"status": "success", "error": null, "file": ["x"]',
    "a number as its hash": '"status": "success", "error": null, "hash": 3',
    "a file above": '"status": "success", "error": null, "file": "../own.md"',
    "a file by a way around": '"status": "success", "error": null, "file": "x/../own.md"',
    "another file": '"status": "success", "error": null, "file": "own.md"',
    "an error without a code": '"status": "error", "error": {"temporary": true}',
    "a code that is a list": '"status": "error", "error": {"code": ["x"]}',
    "a status of another kind": '"status": 7, "error": null',
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("answer", [page_of(), TimedOut("no answer")])
def test_a_row_that_we_cannot_have_written_counts_for_nothing(tmp_path, odd, answer):
    folder = tmp_path / "pages"
    folder.mkdir()
    for own in (folder / "own.md", tmp_path / "own.md"):
        own.write_text("---\n---\n\nmy notes\n")
    (folder / "index.jsonl").write_text(f'{{"url": "{SEA}", {odd}}}\n')

    with Rows(f"{folder}/") as rows:
        assert rows.find(SEA) is None
        assert rows.recall(SEA).content == ""
    with Rows(f"{folder}/", refresh=True) as rows:
        row = rows.add(SEA, answer)

    assert row["changed"] in ("new", None)
    assert lines_of(folder / "index.jsonl") == [row]
    assert (folder / "own.md").exists()
    assert (tmp_path / "own.md").exists()


def test_a_row_whose_facts_have_other_kinds_recalls_an_empty_page(tmp_path):
    path = tmp_path / "pages.jsonl"
    facts = '"status": "success", "error": null, "links": 7, "title": {"a": 1}'
    path.write_text(f'{{"url": "{SEA}", {facts}}}\n')

    with Rows(str(path)) as rows:
        assert rows.recall(SEA).links == page_of().links


def refresh(path, urls, content="Red algae.", **options):
    """Refresh the rows of *urls*, as a run that is interrupted after them."""
    rows = Rows(str(path), refresh=True, **options)
    for url in urls:
        if not rows.skip(url):
            rows.add(url, page_of(url, content))
    rows._close()
    return rows


def first_run(path, count=4):
    urls = [f"{SEA}/{number}" for number in range(count)]
    with Rows(str(path)) as rows:
        for url in urls:
            rows.add(url, page_of(url))
    return urls


def test_a_refresh_that_goes_on_keeps_no_row_of_what_is_no_longer_listed(tmp_path):
    path = tmp_path / "pages.jsonl"
    urls = first_run(path)
    refresh(path, urls[:3])
    with Rows(str(path), refresh=True) as rows:
        for url in urls[1:]:
            if not rows.skip(url):
                rows.add(url, page_of(url, "Red algae."))

    assert [row["url"] for row in lines_of(path)] == urls[1:]
    assert rows.counts["there already"] == 2


def test_a_refresh_that_was_given_up_long_ago_begins_anew(tmp_path):
    path = tmp_path / "pages.jsonl"
    urls = first_run(path)
    refresh(path, urls[:3])
    part = tmp_path / "pages.jsonl.part"
    old = part.stat().st_mtime - 30 * 86_400
    os.utime(part, (old, old))

    with Rows(str(path), refresh=True) as rows:
        asked = [url for url in urls if not rows.skip(url)]
        for url in asked:
            rows.add(url, page_of(url, "Green algae."))

    assert asked == urls
    assert {row["content"] for row in lines_of(path)} == {"Green algae."}


def test_the_texts_of_a_refresh_replace_the_old_ones_with_their_rows(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    urls = first_run(folder)

    def read():
        return {
            row["url"]: (row["hash"] in (folder / row["file"]).read_text("utf-8"))
            for row in lines_of(folder / "index.jsonl")
        }

    refresh(folder, urls[:3])
    assert set(read().values()) == {True}  # both are old
    with Rows(str(folder), refresh=True) as rows:
        assert rows.recall(urls[1]).content == "Red algae."
        for url in urls[1:]:
            if not rows.skip(url):
                rows.add(url, page_of(url, "Red algae."))

    assert read() == dict.fromkeys(urls[1:], True)
    assert not list(folder.glob("*.part"))
    assert len(list(folder.glob("*.md"))) == 3
    assert "Red algae." in next(folder.glob("*.md")).read_text("utf-8")


def test_a_page_that_is_found_in_another_spelling_keeps_its_row(tmp_path):
    path = tmp_path / "site.jsonl"
    with Rows(str(path), find_key=find_page) as rows:
        rows.add(SEA, page_of())
    with Rows(str(path), find_key=find_page) as rows:
        assert rows.skip(f"{SEA}?utm_source=b")
    with Rows(str(path), refresh=True, find_key=find_page) as rows:
        row = rows.add(f"{SEA}?utm_source=b", page_of())

    assert (row["url"], row["changed"]) == (SEA, "same")
    assert [row["url"] for row in lines_of(path)] == [SEA]
