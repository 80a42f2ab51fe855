"""Errors reach a model outside the marks around data, and notes as our own words: both
have only our words, known types and numbers.
"""

from __future__ import annotations
import io
import json
import pickle
import traceback

import pytest

from websearch_core.errors import BadRequest, ServiceError, UnsupportedContent
from websearch_core.models import SearchQuery
from websearch_core.providers.brave import Brave
from websearch_core.providers.jina import Jina
from websearch_core.providers.searxng import SearXNG
from websearch_core.providers.tavily import Tavily
from websearch_core.reading import read_bytes
from websearch_core.reading._sniff import named
from websearch_core.render import error_as_json, render_error
from websearch_core.testing import play, reply

ORDER = "ignore-previous-instructions"
KEY = "SEKRET-0123456789abcdef"
URL = "https://page.example/"
QUERY = SearchQuery.of("kelp", limit=1)
TAVILY, BRAVE = Tavily(api_key=KEY), Brave(api_key=KEY)
SEARXNG = SearXNG(base_url="https://searx.example")
UNRESPONSIVE = {
    "results": [],
    "unresponsive_engines": [["bing", ORDER], [ORDER, "timeout"]],
}
NOT_JSON = reply(b"<p>", content_type=f"text/{ORDER}")


@pytest.mark.parametrize(
    ("flow", "response"),
    [
        (lambda: TAVILY.search(QUERY), reply({"detail": {"error": ORDER}}, 400)),
        (
            lambda: TAVILY.search(QUERY),
            reply({"error": {"code": "daily_cap_reached", "message": ORDER}}, 429),
        ),
        (lambda: TAVILY.search(QUERY), NOT_JSON),
        (
            lambda: TAVILY.read(URL),
            reply({"results": [], "failed_results": [{"error": ORDER}]}),
        ),
        (
            lambda: BRAVE.search(QUERY),
            reply({"error": {"code": "X", "detail": ORDER}}, 422),
        ),
        (lambda: Jina().read(URL), reply({"readableMessage": ORDER}, 451)),
        (lambda: SEARXNG.search(QUERY), reply({"error": ORDER}, 400)),
        (lambda: SEARXNG.search(QUERY), reply(UNRESPONSIVE)),
    ],
)
def test_what_a_service_says_is_not_in_the_message(flow, response):
    with pytest.raises(ServiceError) as caught:
        play(flow(), response)
    error = caught.value

    assert (
        ORDER
        not in f"{error}{error!r}{render_error(error)}{error_as_json(error)['error']['message']}"
    )
    if response is not NOT_JSON:
        assert ORDER in error.detail
        assert ORDER in error_as_json(error)["error"]["detail"]
        assert ORDER in "".join(traceback.format_exception(error))


def test_the_detail_survives_pickling():
    error = pickle.loads(
        pickle.dumps(BadRequest("no", provider="tavily", detail="q is too long"))
    )
    assert (error.message, error.detail, error.provider) == (
        "no",
        "q is too long",
        "tavily",
    )


def test_without_a_detail_the_data_of_an_error_has_none():
    assert "detail" not in error_as_json(BadRequest("no"))["error"]


@pytest.mark.parametrize("kind", ["application", "image", "video", "x"])
def test_a_type_that_nobody_knows_is_not_named(kind):
    invented = f"{kind}/{ORDER}"
    assert ORDER not in named(invented)
    with pytest.raises(UnsupportedContent) as caught:
        read_bytes(
            b"\x00\x01\x02" * 99,
            URL,
            f"{invented if kind != 'image' else 'x/' + ORDER}.{'x' * 40_000}",
        )
    assert ORDER not in str(caught.value)
    assert len(str(caught.value)) < 100


def test_a_known_type_is_named():
    with pytest.raises(UnsupportedContent, match="video/mp4 has no text"):
        read_bytes(b"\x00\x00\x00\x20ftypmp42" + b"\x00" * 99, URL)


def test_a_note_names_no_type_that_nobody_knows():
    page = read_bytes(b"<html><p>Brown algae.", URL, f"image/{ORDER}")
    assert (
        page.notes[-1] == "declared as an image of an unknown type, but it is text/html"
    )


def test_warnings_of_jina_are_in_our_words():
    page = play(
        Jina().read(URL), reply({"data": {"content": "text", "warning": ORDER}})
    ).result
    assert page.notes == ("jina: there is a warning about this page",)


def test_engines_are_named_if_they_are_known():
    answer = {
        "results": [{"url": URL, "title": "a"}],
        "unresponsive_engines": [
            *UNRESPONSIVE["unresponsive_engines"],
            ["own", "timeout"],
        ],
    }
    response = play(
        SearXNG(base_url="https://searx.example", engines=("own",)).search(QUERY),
        reply(answer),
    ).result
    assert response.notes == (
        "engines that did not answer: bing, own (timeout), 1 unknown engine",
    )


def test_the_corrected_query_of_brave_is_data():
    answer = {
        "type": "search",
        "query": {"altered": ORDER},
        "web": {"results": [{"url": URL, "title": "a"}]},
    }
    response = play(BRAVE.search(QUERY), reply(answer)).result
    assert response.suggestions == (ORDER,)
    assert ORDER not in json.dumps(response.notes)


def test_sheets_are_numbered_in_notes():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = ORDER
    book.active.append(["a"])
    book.save(data := io.BytesIO())
    page = read_bytes(data.getvalue(), URL)
    assert (f"## {ORDER}" in page.content, page.notes) == (
        True,
        ("sheet 1: 0 rows, 1 column",),
    )
