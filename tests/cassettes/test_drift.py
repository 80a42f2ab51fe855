"""The comparison of services with their cassettes, against a server that runs."""

from __future__ import annotations
import json
import logging
import re
import sys

import pytest
import yaml

from tests.cassettes import drift, first_contact, vocabulary
from tests.cassettes import tape as tapes
from tests.cassettes.shape import compare, shape_of
from tests.server import Server, http
from websearch_core.testing import SECRET

HIT = {
    "title": "Kelp",
    "url": "https://kelp.example/",
    "content": "Brown algae",
    "score": 0.9,
}


def test_the_shape_of_json_is_its_fields_and_types():
    assert shape_of('{"hits": [{"a": 1, "b": null}, {"a": "x"}], "ok": true}') == {
        "": {"object"},
        "hits": {"list"},
        "hits[]": {"object"},
        "hits[].a": {"number", "text"},
        "hits[].b": {"null"},
        "ok": {"boolean"},
    }


def test_the_shape_of_html_is_its_elements_and_classes():
    assert shape_of('<p>x</p><a class="title big">y</a>').keys() == {
        "p",
        "a.title",
        "a.big",
    }


def test_differences_are_fields_of_another_type_missing_fields_and_new_ones():
    old, new = (
        shape_of(json.dumps(value))
        for value in ({"a": 1, "b": 2, "c": 3}, {"a": "x", "c": None, "d": []})
    )

    assert compare(old, new) == (
        ["a is text, not number"],
        ["b is missing"],
        ["d is new (list)"],
    )


@pytest.fixture
def service(monkeypatch, tmp_path):
    """Our own Tavily, a cassette of it, and what it answers from now on."""
    answers = [{"results": [HIT], "request_id": "1"}]

    def reply(request):
        answer = answers[-1]  # which need not be an object
        status = answer if isinstance(answer, int) else 200
        kind = "Content-Type: application/json"
        return http(json.dumps(answer), f"{status} Status", kind)

    server = Server(reply=reply)
    monkeypatch.setattr(tapes, "FOLDER", tmp_path)
    monkeypatch.setattr(vocabulary, "SDKS", tmp_path / "sdks")  # none was downloaded
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-of-a-test-that-must-not-show")
    monkeypatch.setenv("TAVILY_BASE_URL", server.url)
    (tmp_path / "tavily").mkdir()
    tape = {
        "web": {"provider": "tavily", "api_key": SECRET},
        "search": ["kelp", {}],
        "expect": {},
        "version": 1,
        "interactions": [],
    }
    (tmp_path / "tavily" / "search.yaml").write_text(yaml.safe_dump(tape))
    monkeypatch.setattr(sys, "argv", ["drift", "tavily"])
    monkeypatch.setattr(first_contact, "PAUSE", 0)
    yield answers
    server.close()


def record():
    try:
        end = first_contact.main(["tavily", "--folder", str(tapes.FOLDER)])
    finally:
        logging.disable(logging.NOTSET)
    assert end == 0


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("answer", "status", "line"),
    [
        ({"results": [HIT], "request_id": "2"}, 0, "tavily/search: as on the cassette"),
        ({"results": [{**HIT, "extra": 1}]}, 0, "  results[].extra is new (number)"),
        (
            {"results": [{**HIT, "score": "high"}]},
            1,
            "  results[].score is text, not number",
        ),
        ({"results": []}, 1, "  nothing is found"),
        (
            {"results": 3},
            1,
            "  the call fails: tavily search failed: the response has an unexpected format",
        ),
    ],
)
def test_drift_fails_if_a_service_answers_in_another_shape(
    service, capsys, answer, status, line
):
    record()
    service.append(answer)
    capsys.readouterr()

    assert drift.main() == status
    assert line in capsys.readouterr().out.splitlines()


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("status", "word"), [(503, "not reached"), (401, "not reached")]
)
def test_a_service_that_was_not_reached_has_not_changed(service, capsys, status, word):
    record()
    service.append(status)
    capsys.readouterr()

    assert drift.main() == 2
    shown = capsys.readouterr().out
    assert shown.startswith(f"tavily/search: {word}: ")
    assert "changed" not in shown


@pytest.mark.enable_socket
def test_a_service_that_refuses_the_call_has_changed(service, capsys):
    record()
    service.append(400)
    capsys.readouterr()

    assert drift.main() == 1
    assert "tavily/search: changed\n  the call fails: " in capsys.readouterr().out


def test_the_prices_of_services_without_a_key_grow_old_too(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["drift"])
    monkeypatch.setattr(drift, "get_configured", list)
    monkeypatch.setattr(vocabulary, "PLACES", {})

    assert drift.main() == 0
    shown = capsys.readouterr().out
    for name in ("brave", "exa", "tavily", "you"):
        assert re.search(
            rf"^{name}: its prices are of 20\d\d-\d\d, \d+ months? ago$",
            shown,
            re.MULTILINE,
        )
