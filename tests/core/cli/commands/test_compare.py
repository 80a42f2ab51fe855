"""``websearch compare``."""

from __future__ import annotations
import json
import os

import pytest
import typer.testing

from websearch_core._cli import comparison
from websearch_core._cli.app import app
from websearch_core._cli.comparison import Question, difference, wilson
from websearch_core.errors import RateLimited
from websearch_core.models import SearchResponse, SearchResult
from websearch_core.testing import FakeWeb
from websearch_core.tools import WebTools

QUESTIONS = [
    {"question": "how tall is kelp", "answer": "45 metres"},
    {
        "question": "what is dulse",
        "pattern": "red +alga",
        "url": "https://sea.example/dulse",
    },
    {"question": "where does nori grow", "answer": ["Japan", "Korea"]},
]


def find(snippet, url="https://sea.example/kelp"):
    return [{"title": "Sea", "url": url, "snippet": snippet}]


@pytest.fixture
def webs():
    page = {
        "https://sea.example/kelp": "# Kelp\n\nKelp grows up to **45** metres in a year, in cold seas."
    }
    found = {
        "how tall*": find("Tall."),
        "what is*": find("A red alga."),
        "where*": find("In Korea."),
    }
    poor = {
        "what is*": find("Dull.", "https://sea.example/dulse"),
        "where*": find("In Koreatown."),
    }
    return {
        "brave": FakeWeb(found, page, name="brave"),
        "tavily": FakeWeb(
            poor, {}, errors={"how*": RateLimited("slow down")}, name="tavily"
        ),
    }


@pytest.fixture
def compare(monkeypatch, tmp_path, webs):
    def open_tools(*, provider, reader, **options):
        return WebTools(
            provider=webs[provider],
            reader=webs[reader] if reader else None,
            retry=False,
            **options,
        )

    monkeypatch.setattr(comparison, "WebTools", open_tools)
    monkeypatch.setenv("COLUMNS", "120")
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, QUESTIONS)) + "\n\n", "utf-8")

    def call(*words, file=questions):
        return typer.testing.CliRunner().invoke(
            app, ["compare", *map(str, [file, *words])]
        )

    call.rows = tmp_path / "rows.jsonl"
    call.questions = questions
    return call


def test_each_provider_and_reader_has_a_row(compare):
    result = compare("-p", "brave,tavily", "-r", "brave", "--max-tokens", "500")

    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == [
        "found",
        "share",
        "(95",
        "%)",
        "difference",
        "failed",
        "tokens",
        "seconds",
    ]
    assert [line[:25].split("  ")[0] for line in lines[1:]] == [
        "brave",
        "brave + brave",
        "tavily",
        "tavily + brave",
    ]
    assert "2 of 3  66.7% [20.8%, 93.9%]" in lines[1]
    assert "1 of 3" in lines[2]
    assert "-33.3%" in lines[2]
    assert "1 rate_limited" in lines[3]


def test_figures_are_data(compare):
    first, second = json.loads(compare("-p", "brave,tavily", "-f", "json").stdout)

    assert first["share"] == [0.667, 0.208, 0.939]
    assert first["difference"][0] == 0
    assert second["found"] == 1  # the URL is an answer; Koreatown is not Korea
    assert second["difference"] == difference(0, 1, 3)
    assert second["failed"] == {"rate_limited": 1}
    assert first["tokens"] > 20
    assert first["seconds"] >= 0


def test_a_second_run_asks_only_what_is_new_and_says_the_same(compare, webs):
    words = ["-p", "brave", "-o", compare.rows, "-f", "json"]
    before = compare(*words).stdout
    asked = list(webs["brave"].queries)
    half = compare.rows.read_bytes()[:-20]
    assert compare(*words).stdout == before
    assert webs["brave"].queries == asked

    compare.rows.write_bytes(half)  # as an interrupt leaves it
    assert compare(*words).exit_code == 0
    assert webs["brave"].queries == [*asked, "where does nori grow"]
    assert len(compare.rows.read_text().splitlines()) == 3

    # another question to the service
    compare("-p", "brave", "-o", compare.rows, "--limit", "2")
    assert len(webs["brave"].queries) == 7


@pytest.mark.parametrize("reader", [[], ["-r", "brave"]])
def test_the_cache_gives_the_same_bytes_without_times_and_asks_nothing(
    compare, webs, monkeypatch, tmp_path, reader
):
    monkeypatch.setenv("WEB_SEARCH_CACHE", str(tmp_path / "cache.db"))
    words = ["-p", "brave", *reader, "-f", "json"]
    first, asked = (
        json.loads(compare(*words).stdout),
        (len(webs["brave"].queries), len(webs["brave"].urls)),
    )
    again, and_again = (
        compare(*words, "-o", compare.rows).stdout,
        compare(*words).stdout,
    )

    assert first[0]["seconds"] is not None
    assert json.loads(again) == [{**variant, "seconds": None} for variant in first]
    assert and_again == again
    assert (len(webs["brave"].queries), len(webs["brave"].urls)) == asked


def test_a_bug_of_a_provider_is_one_failed_question(compare, webs, monkeypatch):
    def fail(_query):
        raise KeyError("title")
        yield

    monkeypatch.setattr(webs["brave"], "search", fail)
    (figure,) = json.loads(compare("-p", "brave", "-f", "json").stdout)

    assert figure["failed"] == {"bad_response": 3}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"question": "kelp"}', "give an answer, a pattern or a url"),
        ('{"question": "kelp", "answer": "**"}', "nothing to look for"),
        ('{"question": "kelp", "pattern": "("}', "not a regular expression"),
        ('{"question": "", "answer": "a"}', "question"),
        ('{"question": "kelp", "answers": "a"}', "answers"),
        ("kelp", "questions.jsonl:1"),
        ("", "has no question"),
    ],
)
def test_a_wrong_question_is_named(compare, line, problem):
    compare.questions.write_text(line, "utf-8")
    result = compare("-p", "brave")

    assert result.exit_code == 2
    assert problem in result.stderr


def test_files_that_cannot_be_used_are_refused(compare, tmp_path):
    assert compare("-p", "brave", file=tmp_path / "none.jsonl").exit_code == 2
    compare("-p", "brave", "-o", compare.rows)
    first = compare.rows.read_text().splitlines()[0]
    # another file, and a row without the rest
    for line in ('{"id": "x"}\n', f"{first[: first.index(',')]}}}\n"):
        compare.rows.write_text(line)
        result = compare("-p", "brave", "-o", compare.rows)
        assert result.exit_code == 2
        assert "name another" in result.stderr
        assert compare.rows.read_text() == line


def test_questions_may_begin_with_a_mark_and_have_lines_of_windows(compare):
    lines = [
        json.dumps(
            {"question": "how tall is\u2028kelp", "answer": "Tall."}, ensure_ascii=False
        ),
        "",
        "",
    ]
    compare.questions.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())

    assert json.loads(compare("-p", "brave", "-f", "json").stdout)[0]["found"] == 1


@pytest.mark.skipif(
    not os.path.exists("/dev/full"),  # noqa: PTH110
    reason="this system has no /dev/full",
)
def test_a_full_disk_ends_it(compare):
    result = compare("-p", "brave", "-o", "/dev/full")

    assert result.exit_code == 1
    assert "No space left" in str(result.exception)


def test_an_option_of_what_is_not_compared_is_refused(compare):
    result = compare("-p", "brave", "--option", "exa.type=fast")

    assert result.exit_code == 2
    assert "exa is not compared" in result.stderr


def test_notes_and_the_date_are_not_answers_but_what_a_page_calls_a_note_is(
    compare, webs
):
    page = SearchResult(
        url="https://sea.example/kelp",
        title="Kelp",
        content="Kelp.\n\nNote: it grows off Chile.",
    )
    webs["brave"].results = SearchResponse(
        query="x", answer="45 metres", notes=("of 3 algae",), results=(page,)
    )
    lines = [
        {"question": "a", "answer": ["45 metres"]},
        {"question": "b", "pattern": "of 3 algae|today is"},
        {"question": "c", "answer": "off Chile"},
    ]
    compare.questions.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    compare("-p", "brave", "-o", compare.rows)

    assert [
        json.loads(line)["found"] for line in compare.rows.read_text().splitlines()
    ] == [True, False, True]


@pytest.mark.parametrize(
    ("answer", "text", "is_there"),
    [
        ("45 metres", "grows to **45**\nMETRES a year", True),
        ("5 metres", "grows to 45 metres", False),
        ("Orleans", "in [Orléans](https://x.example/)", True),
        ("x.example", "in [Orléans](https://x.example/)", False),
        ("$1,149.95", "for $1,149.95.", True),
        ("kelp's", "the kelp\u2019s blades", True),
    ],
)
def test_answers_are_whole_words_as_people_see_them(answer, text, is_there):
    assert Question(question="x", answer=answer).is_answered(text, []) is is_there


def test_intervals_are_those_of_the_papers():
    assert wilson(0, 10) == [0, 0, 0.278]
    assert wilson(92, 108) == [0.852, 0.773, 0.907]
    assert difference(5, 5, 100)[0] == 0
    low, high = difference(12, 3, 100)[1:]
    assert (low, high) == (0.013, 0.163)
