"""What stands beside the main text is still found when the page comes from another
process, a cache or a conversation.
"""

from __future__ import annotations

import pytest

from websearch_core import Page, WebSearch
from websearch_core.layers import Cache
from websearch_core.reading import Excerpt, read_bytes
from websearch_core.testing import FakeWeb
from websearch_core.tools import Run, WebTools

URL = "https://lamps.example/ember"
STORY = (
    "<p>The Ember lamp is made in a small workshop by the sea, from brass that is cast, turned and polished by hand, "
    "and each of them takes its maker the better part of a week.</p>"
) * 12
HTML = (
    f"<!doctype html><title>Ember</title><body><main><article><h1>Ember</h1>{STORY}</article></main>"
    "<footer><p>Visit our workshop in Varra on any weekday.</p><p>Call us on +44 20 7977 7048.</p></footer>"
)
FACT = "+44 20 7977 7048"


@pytest.fixture
def fake():
    return FakeWeb(pages={URL: HTML})


def has_fact(web):
    by_query = web.read(URL, query="phone number to call", max_length=900)
    by_phrase = web.read(URL, find="call us on")
    assert FACT not in web.read(URL).content
    return FACT in by_query.content and FACT in by_phrase.content


@pytest.mark.parametrize(
    ("beside", "is_shown"),
    [("Copyright Harbour Office", False), ("Call the office about fees", True)],
)
def test_what_only_repeats_the_main_text_beside_nothing_new_is_left_out(
    beside, is_shown
):
    heading = "## The fee of the harbour"
    main = f"{heading}\n\nIt is twelve euros a night."
    page = Page(url=URL, content=main, rest=f"{heading}\n{beside}")
    excerpt = Excerpt(query="What are the fees?", max_length=900).of(page)

    assert (beside in excerpt.content) is is_shown


NOTICES = [
    "© 2019–2026 Korbel Heaters. All rights reserved.",
    "Copyright 2026 Korbel",
    "(c) Korbel heaters",
]


@pytest.mark.parametrize("notice", NOTICES)
@pytest.mark.parametrize(
    ("question", "is_shown"),
    [
        ("How long does the Korbel heater run?", False),
        ("Which heaters does Korbel make?", False),
        ("Who has the copyright, or all rights reserved, (c)?", True),
    ],
)
def test_a_copyright_notice_answers_only_who_asks_for_it(notice, question, is_shown):
    main = "# Korbel heaters\n\nA heater runs for nine hours. Korbel makes one."
    page = Page(url=URL, content=main, rest=notice)
    excerpt = Excerpt(query=question, max_length=900).of(page)

    assert (notice in excerpt.content) is is_shown


def test_what_stands_beside_a_notice_is_still_found():
    main = "# Korbel heaters\n\nA heater runs for nine hours."
    page = Page(url=URL, content=main, rest="© 2026 Korbel heaters, phone 0123 456")
    excerpt = Excerpt(query="phone of Korbel heaters", max_length=900).of(page)

    assert "0123 456" in excerpt.content


@pytest.mark.parametrize("isolate", [False, "require"])
def test_another_process_returns_it(isolate):
    page = read_bytes(HTML.encode(), URL, "text/html; charset=utf-8", isolate=isolate)

    assert FACT in page.rest
    assert FACT not in page.content
    assert (
        FACT in Excerpt(query="phone number to call", max_length=900).of(page).content
    )


def test_a_file_of_the_cache_keeps_it(fake, tmp_path):
    place = tmp_path / "answers.db"
    WebSearch(fake, cache=Cache(location=place)).read(URL, max_length=100)

    assert has_fact(WebSearch(fake, cache=Cache(location=place)))
    assert fake.urls == [URL]


class Values(dict):
    """A client of Redis without a server."""

    def set(self, key, value, px):
        self[key] = value


def test_a_value_in_redis_has_it(fake, monkeypatch):
    values = Values()
    monkeypatch.setattr(
        "websearch_core.layers._caching.redis.connect", lambda *_: values
    )
    location = "redis://127.0.0.1:1/0"
    WebSearch(fake, cache=Cache(location=location)).read(URL, max_length=100)

    assert has_fact(WebSearch(fake, cache=Cache(location=location)))
    assert len(values) == 1
    assert fake.urls == [URL]


def test_a_conversation_reads_on_in_it(fake):
    tools, run = WebTools(provider=fake, reader=fake), Run(conversation="1")
    first = tools.open_page({"url": URL, "max_length": 500}, run)
    asked = tools.open_page(
        {"url": URL, "query": "phone number to call", "max_length": 900}, run
    )
    found = tools.open_page({"url": URL, "find": "call us on"}, run)

    assert FACT not in first.answer.content
    assert FACT in asked.content
    assert FACT in found.content
    assert fake.urls == [URL]
