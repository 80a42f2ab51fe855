"""Answers of invented values have the shapes of captured ones, and what adapters make
of them is judged right.
"""

from __future__ import annotations
import json
import re

import pytest

from benchmarks.adapters import __main__ as page
from benchmarks.adapters import play as playing
from benchmarks.adapters.cases import CASES, CHAINS, Case, Facts, find_case
from benchmarks.adapters.play import (
    find_problems,
    make_tape,
    mutate,
    mutate_failure,
    play,
    play_headers,
)
from benchmarks.adapters.shapes import Captured, Inventor, fields, find_shapes, marks
from tests.cassettes import tape as tapes
from tests.cassettes.shape import shape_of
from websearch_core.providers import known

SHAPES = find_shapes()
SHAPED = sorted(tapes.FOLDER.glob("*/shaped_*.yaml"))
CHAINED = [
    tapes.FOLDER / "wayback" / f"shaped_{chain.cassette}.yaml" for chain in CHAINS
]
SHAPE = {
    "query": "text<=20",
    "answer": "null",
    "count": "int",
    "response_time": "float",
    "none": {"[0]": []},
    "tags": {"[2]": ["text<=20"]},
    "results": {
        "[10]": [
            {
                "title": "text<=100+tags",
                "url": "url",
                "content": "text<=500+entities+lines",
                "day": "date",
                "odd": {},
            },
            {
                "title": "text<=20",
                "url": "url",
                "content": "text<=0",
                "day": "date-time",
                "is": "bool",
                "id": "id",
            },
            {
                "title": "text<=20",
                "url": "url",
                "content": "text<=20+relative-date",
                "day": "null",
                "all": {"[3]": ["int"]},
            },
        ]
    },
}
CASE = Case("tavily/*", facts=Facts("results", text="content"))
BODY = {
    "results": [
        {"title": "Kelp", "url": "https://a.example/", "content": "Tall"},
        {"title": "Tide", "url": "https://b.example/"},
    ]
}

needs_shapes = pytest.mark.skipif(
    not SHAPES, reason="the shapes are not in ../shared/recordings/shapes"
)


def as_ours(shape):
    found = {}
    for path, kind in fields(shape):
        found.setdefault(path, set()).add(kind)
    return found


@pytest.mark.parametrize("whole", [True, False])
def test_an_invented_answer_has_the_shape(whole):
    body = Inventor(whole=whole).make(SHAPE)

    assert shape_of(json.dumps(body)) == as_ours(SHAPE)
    assert (len(body["results"]), len(body["tags"])) == ((10, 2) if whole else (3, 1))
    first, second, third = body["results"][:3]
    assert list(first) == ["title", "url", "content", "day", "odd"]
    assert (
        20 < len(first["title"]) <= 100,
        100 < len(first["content"]) <= 500,
        second["content"],
    ) == (True, True, "")
    assert "<strong>" in first["title"]
    assert "&amp;" in first["content"]
    assert "\n" in first["content"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", first["day"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", second["day"])
    assert re.fullmatch(r"[0-9a-f]{32}", second["id"])
    assert re.fullmatch(r"\d+ days ago", third["content"])
    assert len({one["url"] for one in body["results"]}) == len(body["results"])
    assert Inventor(whole=whole).make(SHAPE) == body


def test_an_invented_text_can_be_shorter_and_given():
    body = Inventor(
        {"results[].title": "No. {n}", "count": 3}, longest=120, tag="<em>{}</em>"
    ).make(SHAPE)

    assert body["count"] == 3
    assert len({one["title"] for one in body["results"]}) == 10
    assert 100 < len(body["results"][0]["content"]) < 200


def test_marks_are_found():
    assert set(marks(SHAPE)) == {
        ("results[].title", "tags"),
        ("results[].content", "entities"),
        ("results[].content", "lines"),
        ("results[].content", "relative-date"),
    }


@pytest.mark.parametrize(
    ("shape", "headers"),
    [
        (
            {"uri": "url", "headers": {"content-type": "text<=20"}, "b64": "text<=0"},
            ["content-type"],
        ),
        ({"url": "url", "status_code": "int", "body": "text<=20"}, []),
        (
            {
                "http_interactions": {
                    "[1]": [{"response": {"headers": {"Vary": "text<=20"}}}]
                }
            },
            ["vary"],
        ),
        (SHAPE, None),
        ({"[2]": ["int"]}, None),
    ],
)
def test_an_exchange_is_told_from_an_answer(tmp_path, shape, headers):
    path = tmp_path / "tavily" / "a__b.shape.json"
    path.parent.mkdir()
    path.write_text(json.dumps(shape))
    captured = Captured(path)

    assert (captured.name, captured.headers, captured.is_exchange) == (
        "tavily/a__b",
        headers,
        headers is not None,
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"title": "Kelps"}, "result 1: title is 'Kelp', not 'Kelps'"),
        (
            {"url": "https://a.example/x"},
            "result 1: url is 'https://a.example/', not 'https://a.example/x'",
        ),
        ({"content": "Small"}, "result 1: snippet is 'Tall', not 'Small'"),
    ],
)
def test_a_misreading_is_noticed(change, problem):
    first, second = BODY["results"]

    assert find_problems(CASE, BODY, play(CASE, BODY)) == []
    assert find_problems(
        CASE, {"results": [{**first, **change}, second]}, play(CASE, BODY)
    ) == [problem]


def test_a_lost_result_and_a_wrong_error_are_noticed():
    failing = Case("tavily/*", "wrong_key", status=401, error="authentication_failed")

    assert find_problems(CASE, BODY, play(CASE, {"results": BODY["results"][:1]})) == [
        "1 results, not 2"
    ]
    assert find_problems(failing, {}, play(failing, {})) == []
    assert find_problems(CASE, BODY, play(failing, {}))[0].startswith(
        "authentication_failed: "
    )
    assert find_problems(failing, {}, play(CASE, BODY)) == [
        "error: 'authentication_failed'"
    ]


def test_a_mutation_that_breaks_an_adapter_is_noticed(monkeypatch):
    class Careless:
        def __init__(self, provider):
            self._provider = provider

        def search(self, query):
            response = yield from self._provider.search(query)
            titles = [item["title"].upper() for item in response.raw["results"]]
            return (
                response if all(titles) else response.model_copy(update={"results": ()})
            )

    make = playing._make_provider
    monkeypatch.setattr(
        playing, "_make_provider", lambda name, options: Careless(make(name, options))
    )
    trial = mutate(CASE, BODY)

    assert "results.0.title missing: KeyError: 'title'" in trial.failures
    assert (
        "results.0.title is []: AttributeError: 'list' object has no attribute 'upper'"
        in trial.failures
    )
    assert "results.0.title is '': other results are lost or changed" in trial.failures
    assert trial.count == 1 + 8 * 11


def test_an_adapter_that_minds_the_order_is_noticed(monkeypatch):
    class Ordered:
        def search(self, query):
            response = yield from playing_make("tavily", {}).search(query)
            first = next(iter(response.raw["results"][0]))
            return response.model_copy(
                update={"results": response.results[: 2 if first == "title" else 1]}
            )

    playing_make = playing._make_provider
    monkeypatch.setattr(playing, "_make_provider", lambda name, options: Ordered())

    assert (
        mutate(CASE, BODY).failures[0]
        == "with its keys in another order it is another answer"
    )


@pytest.mark.parametrize(
    "name", ["brave/rate_limited", "tavily/keyless_cap", "jina/read_failed"]
)
def test_our_own_failures_are_errors_whatever_is_wrong_with_them(name):
    trial = mutate_failure(
        tapes.load(tapes.FOLDER / f"{name}.yaml"), name.partition("/")[0]
    )

    assert trial.count > 50
    assert trial.failures == []


def test_a_failure_that_breaks_an_adapter_is_noticed(monkeypatch):
    class Careless:
        def search(self, query):
            response = yield from playing_make("brave", {}).search(query)
            return response

    playing_make = playing._make_provider
    monkeypatch.setattr(playing, "_make_provider", lambda name, options: Careless())
    monkeypatch.setattr(
        "websearch_core.providers.brave._is_used_up",
        lambda meta: meta["quota_limit"] > 0,
    )
    failures = mutate_failure(tapes.find("brave", "rate_limited"), "brave").failures

    assert "error.meta.quota_limit missing: KeyError: 'quota_limit'" in failures


@pytest.mark.parametrize(
    ("provider", "names", "location"),
    [
        ("crossref", ["x-rate-limit-limit"], ""),
        ("github", ["content-type", "vary"], ""),
        ("wayback", ["content-type", "location"], "text<=100"),
        ("wayback", ["location"], "url"),
    ],
)
def test_our_answers_are_read_with_the_headers_of_captured_ones(
    provider, names, location
):
    assert play_headers(provider, names, location)


def test_a_cassette_is_made_of_an_answer():
    tape = make_tape(CASE, BODY)

    assert tape["search"] == ["tides", {"limit": 2}]
    assert tape["expect"]["results"][0] == {
        "title": "Kelp",
        "url": "https://a.example/",
        "snippet": "Tall",
    }
    [exchange] = tape["interactions"]
    assert exchange["request"]["uri"] == "https://api.tavily.com/search"
    assert json.loads(exchange["request"]["body"])["query"] == "tides"
    assert json.loads(exchange["response"]["body"]["string"]) == BODY


def test_every_case_is_of_a_provider():
    assert {case.provider for case in CASES} <= set(known())


@pytest.mark.parametrize("path", SHAPED, ids=tapes.name_of)
def test_a_shaped_cassette_has_invented_values(path):
    text = path.read_text("utf-8")
    hosts = set(re.findall(r'"https?://([^/"]+)', text))

    assert all(host.endswith(".example") for host in hosts)


@needs_shapes
@pytest.mark.parametrize(
    ("chain", "path"),
    list(zip(CHAINS, CHAINED, strict=True)),
    ids=[chain.cassette for chain in CHAINS],
)
def test_a_cassette_of_a_chain_has_the_headers_of_the_exchanges_that_it_names(
    chain, path
):
    _, *made = [
        exchange["response"]["headers"] for exchange in tapes.load(path)["interactions"]
    ]
    captured = chain.find(SHAPES)

    assert path.read_text("utf-8").splitlines()[0] == f"{page.FIRST}{chain.name}"
    assert len(captured) == len(made) > 0
    for one, headers in zip(captured, made, strict=True):
        assert {name.lower() for name in headers} - {"memento-datetime"} == set(
            one.headers
        )


@needs_shapes
@pytest.mark.parametrize(
    "path", [one for one in SHAPED if one not in CHAINED], ids=tapes.name_of
)
def test_a_shaped_cassette_has_the_shape_that_it_names(path):
    name = path.read_text("utf-8").splitlines()[0].rpartition(": ")[2]
    [captured] = [one for one in SHAPES if one.name == name]
    case = find_case(captured)
    assert case
    [exchange] = tapes.load(path)["interactions"]

    assert path == tapes.FOLDER / case.provider / f"shaped_{case.cassette}.yaml"
    made, theirs = (
        shape_of(exchange["response"]["body"]["string"]),
        page.shape_as_ours(captured),
    )
    assert all(kinds <= theirs[path] for path, kinds in made.items())
    # Lists inside of items have one item.
    assert {path for path in theirs if path.count("[]") < 2} <= set(made)


@needs_shapes
@pytest.mark.parametrize(
    "captured",
    [one for one in SHAPES if (case := find_case(one)) and not case.skipped],
    ids=lambda one: one.name,
)
def test_an_answer_of_a_captured_shape_is_read_right(captured):
    case = find_case(captured)
    assert case
    body = case.invent(captured.shape, longest=300)

    assert find_problems(case, body, play(case, body)) == []


@needs_shapes
def test_the_page_counts_what_there_is():
    text = page.PAGE.read_text("utf-8")

    assert f"What {len(SHAPES)} answers" in text
    assert len(list(page.find_written())) == len(SHAPED) - len(CHAINED)
    assert f"| all | {len(SHAPES)} | " in text
    assert re.search(r"^\| all \|.* 0 \|$", text, re.MULTILINE), (
        "an adapter fails: mend it"
    )
    assert "No answer is misread." in text


def test_without_the_shapes_nothing_is_written(monkeypatch, capsys):
    monkeypatch.setattr(page, "find_shapes", list)
    monkeypatch.setattr("sys.argv", ["adapters"])
    before = page.PAGE.read_bytes()

    assert page.main() == 0
    assert "skipped: the shapes are not in" in capsys.readouterr().err
    assert page.PAGE.read_bytes() == before
