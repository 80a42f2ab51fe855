"""Rows of a list: what is there counts, a half-written line does not."""

from __future__ import annotations
import json
import os

import pytest

from websearch_core import Page, SearchResponse, SearchResult
from websearch_core._cli.rows import Rows
from websearch_core.errors import ConfigurationError, TimedOut

SEA = "https://sea.example/kelp"


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
        assert [rows.skip(f"https://sea.example/{n}") for n in range(3)] == [True, False, False]


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
                    rows.add(f"https://sea.example/{n}", page_of(content="Red algae." if n == 1 else "Brown algae."))
                if n == 2 and not ends:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refresh(ends=False)
    assert path.read_bytes() == before
    assert len(lines_of(tmp_path / "pages.jsonl.part")) == 3
    refresh()

    assert [row["changed"] for row in lines_of(path)] == ["same", "changed", "same", "new", "new"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pages.jsonl"]


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
    assert sorted(file.name for file in folder.iterdir()) == sorted(["index.jsonl", first["file"]])


def test_answers_of_searches_are_rows_too(tmp_path):
    path = tmp_path / "answers.jsonl"
    response = SearchResponse(query="kelp", results=[SearchResult(title="Kelp", url=SEA)], elapsed=1.0)
    with Rows(str(path), "query") as rows:
        rows.add("kelp", response)
    with Rows(str(path), "query", refresh=True) as rows:
        again = rows.add("kelp", response.model_copy(update={"elapsed": 2.0}))

    assert again["changed"] == "same"
    assert next(iter(lines_of(path)[0].items())) == ("query", "kelp")
