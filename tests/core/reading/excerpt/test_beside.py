"""What stands beside the main text is still found when the page comes from another
process, a cache or a conversation; and what of it states something is shown to a reader
who asked for nothing.
"""

from __future__ import annotations

import pytest

from websearch_core import Page, WebSearch
from websearch_core.layers import Cache
from websearch_core.models import Item, PageData
from websearch_core.reading import Excerpt, read_bytes
from websearch_core.reading._excerpt.beside import choose_beside
from websearch_core.testing import FakeWeb
from websearch_core.tools import Run, WebTools
from websearch_core.tools._outputs import page_output

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


HEADING = "Outside its main text, the page shows:"
MILL = "The mill stands where the brook leaves the wood, and grinds rye. "
CONTACTS = (
    "Mill Lane 5, 10115 Berlin",
    "12 Old Brook Rd",
    "+47 22 33 44 55",
    "post@mill.example",
    "Mon-Fri 9am-5pm",
)
CARD = "Rye, a sack\n$14.50\nAdd to cart"


@pytest.mark.parametrize(
    "passage",
    [
        *CONTACTS,
        CARD,
        "Flour: white, wholemeal",
        "Grain | Rye | Spelt | Oats",
        "Miller since\nOct 23, 2009",
        "Photo 3: the wheel",
        "Ground in 20 minutes",
        f"Iron: 7 mg, zinc: 3 mg, salt: {'not much, ' * 20}bran: all of it",
        "© 2026 The mill, 169 Brook Ave, New York, NY 10016",
    ],
)
def test_what_states_something_is_shown(passage):
    rest = f"Grinding with pride\n\n{passage}\n\nFollow us"

    assert choose_beside(MILL, rest, 1_500) == passage


@pytest.mark.parametrize(
    "passage",
    [
        "Follow us",
        "© 2025 The mill, number 42 081 528 010",
        "https://mill.example/rye/2024",
        "1\n2\n3",
        "Rye bread needs time, and whoever bakes it in 2 hours has not understood it. "
        * 3,
        "129\n$68.90\n103\n$109.80",
        "$1,649.00\nSave now",
        "28.99 EUR",
        "~~~\nMade in 1866",
        "Made in 1866 ![x](javascript:a)",
    ],
)
def test_menus_notices_prose_open_code_and_prices_without_names_are_not(passage):
    assert choose_beside(MILL, f"Grinding\n\n{passage}", 1_500) == ""


@pytest.mark.parametrize(
    ("content", "is_shown"),
    [
        ("Call [+47 22 33 44 55](tel:+4722334455) to hear the wheel.", False),
        ("Call **+47 22 33 44 55**", False),
        ("| Phone | +47 22 33 44 55 |", False),
        ("Call +47 22 33 44 56", True),
    ],
)
def test_what_the_main_text_has_is_not_repeated(content, is_shown):
    assert bool(choose_beside(content, "+47 22 33 44 55", 1_500)) is is_shown


def test_a_headline_that_the_main_text_has_is_no_news():
    assert choose_beside("The 100 mills", "# The 100 mills", 1_500) == ""


def test_a_passage_is_shown_once_and_whole():
    other = "Spelt, a sack\n$14.50\nAdd to cart"
    first = f"{CARD}\n\n{other}\n\nPhone: 555-010-9999"

    assert choose_beside(MILL, f"{first}\n\n{first}", 1_500) == first


def test_contacts_come_before_prices_and_these_before_others_if_the_room_is_short():
    others = [f"Miller number {n}" for n in range(1_000, 1_100)]
    rest = "\n\n".join([*others, CARD, CONTACTS[2]])

    assert choose_beside(MILL, rest, 60) == f"{CARD}\n\n{CONTACTS[2]}"
    assert choose_beside(MILL, rest, 20) == CONTACTS[2]
    chosen = choose_beside(MILL, rest, 1_500)
    assert chosen.endswith(f"{CARD}\n\n{CONTACTS[2]}")
    assert chosen.startswith(others[0])
    assert 1_400 < len(chosen) <= 1_500


def beginning_of(max_length, *passages, sentences=40):
    content = MILL * sentences
    rest = "\n\n".join(passages)
    page = Page(url=URL, title="The mill", content=content, rest=rest)
    return Excerpt(max_length=max_length).of(page)


def test_a_model_sees_it_after_the_beginning_of_a_page_and_not_after_passages():
    part = beginning_of(5_000, CARD, CONTACTS[0])
    shown = page_output(part, "text", max_length=5_000).content

    assert f"{MILL}\n\n{HEADING}\n\n{CARD}\n\n{CONTACTS[0]}\n" in shown
    data = page_output(part, "json", max_length=5_000).content
    assert '"rest": "Rye, a sack' in data

    page = Page(url=URL, content=MILL * 9, rest=CONTACTS[0])
    for asked in ({"query": "Where is the mill?"}, {"find": "brook"}, {"offset": 5}):
        part = Excerpt(max_length=300, **asked).of(page)
        assert part.rest == ""
        assert HEADING not in page_output(part, "text", max_length=300).content


@pytest.mark.parametrize(("max_length", "count"), [(2_000, 5), (240, 2), (100, 0)])
def test_it_takes_at_most_a_third_of_the_room(max_length, count):
    part = beginning_of(max_length, *CONTACTS)

    output = page_output(part, "text", max_length=max_length)

    assert [contact in output.content for contact in CONTACTS].count(True) == count
    length = len(output.answer.content)
    assert max_length // 3 < length <= max_length
    assert output.answer.next_offset == length


def test_a_grid_is_not_repeated():
    item = Item(name="Rye, a sack", price="$14.50")
    part = beginning_of(5_000, CARD, CONTACTS[0], sentences=2)
    part = part.model_copy(update={"data": PageData(kind="list", items=[item])})

    shown = page_output(part, "text", max_length=5_000).content

    assert shown.count("$14.50") == 1
    assert CONTACTS[0] in shown


def test_a_page_states_what_its_footer_shows():
    part = Excerpt(max_length=9_000).of(read_bytes(HTML.encode(), URL, "text/html"))

    assert part.rest.splitlines()[-1] == "Call us on +44 20 7977 7048."
    assert FACT not in part.content
