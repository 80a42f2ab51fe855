"""The contacts that a page shows outside its main text are data, as they are written."""

from __future__ import annotations

import pytest

from websearch_core.reading import Excerpt, read_bytes
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.contacts import find_contacts
from websearch_core.reading._html.parse import parse
from websearch_core.tools._outputs import page_output

PROSE = "<p>" + "The mill stands where the brook leaves the wood, and grinds rye. " * 6
CONTACTS = (
    "Mill Lane 5, 10115 Berlin",
    "+47 22 33 44 55",
    "post@mill.example",
    "Mon-Fri 9am-5pm",
)
HEADING = "Contacts that the page shows outside its main text:"


def page_with(body: str = "", main: str = "", kind: str = "website"):
    source = (
        f'<html><head><title>The mill</title><meta property="og:type" content="{kind}">'
        f"</head><body><main><h1>The mill</h1>{PROSE}</p>{main}{PROSE}</p></main>{body}"
        "</body></html>"
    )
    return read_bytes(source.encode(), "https://mill.example/", "text/html")


def footer(*texts: str) -> str:
    lines = "".join(f"<div>{text}</div>" for text in texts)
    return f"<footer>{lines}</footer>"


@pytest.mark.parametrize("contact", CONTACTS)
def test_a_contact_of_the_footer_is_data_and_stays_out_of_the_content(contact):
    page = page_with(footer("Grinding since 1866", contact))

    assert page.data is not None
    assert page.data.kind is None
    assert page.data.contacts == (contact,)
    assert contact not in page.content


def test_a_page_without_contacts_states_none():
    page = page_with(footer("Grinding since 1866", "Follow us", "Street view", "2026"))

    assert page.data is None


@pytest.mark.parametrize(
    "text",
    [
        "You save: $150.00 (13%)",
        "Part 000000-2760-803",
        "News of the mill (2025-09-21)",
        "On loan 20.11.2020 - 24.12.2020",
        "Thu., January 8, 2026, 2:00 p.m. - 3:00 p.m.",
        "Why the mill helps Main Street, and not just its 500 bakers",
        "10115 Magazine",
        "The miller called 9 of the last 10 winters",
        "© 2025 The mill, number 42 081 528 010",
    ],
)
def test_other_numbers_are_no_contacts(text):
    assert page_with(footer("Grinding since 1866", text)).data is None


@pytest.mark.parametrize(
    "text",
    [
        "24 hours: 916-734-2011",
        "© 2026 The mill, 169 Brook Ave, New York, NY 10016",
    ],
)
def test_a_year_or_what_looks_like_one_may_be_in_a_contact(text):
    page = page_with(footer(text))

    assert page.data is not None
    assert page.data.contacts == (text,)


def test_what_the_content_shows_is_not_repeated():
    main = f"<p>Call {CONTACTS[1]} to hear the wheel.</p>"

    assert page_with(footer(CONTACTS[1]), main=main).data is None


def test_what_visitors_wrote_is_no_contact_of_the_page():
    comments = (
        '<section class="comments"><h2>2 comments</h2>'
        '<div class="comment">Rye is best bought at 555-010-9999</div>'
        '<div class="comment">No, write to me@thief.example</div></section>'
    )
    page = page_with(comments + footer(CONTACTS[2]), kind="article")

    assert page.data is not None
    assert page.data.contacts == (CONTACTS[2],)


def test_a_long_text_is_no_contact():
    prose = "Whoever hears the wheel at night may call us at 555-010-9999. " * 3

    assert page_with(footer("Grinding since 1866", prose), main=PROSE * 9).data is None


def test_only_the_first_few_are_taken():
    lines = [f"Hall {n}: 555-010-{n}" for n in range(1000, 1040)]
    blocks = find_blocks(parse(footer(*lines).encode()).body)

    contacts = list(find_contacts(blocks, [False] * len(lines), "the mill"))

    assert contacts == lines[: len(contacts)]
    assert 300 < sum(map(len, contacts)) <= 400


def test_a_model_sees_them_after_the_beginning_of_a_page_and_not_after_passages():
    page = page_with(footer(*CONTACTS[:2]))
    beginning = Excerpt(max_length=5_000).of(page)
    passages = Excerpt(max_length=300, query="Where is the mill?").of(page)

    shown = page_output(beginning, "text", max_length=5_000).content

    assert f"{HEADING}\n- {CONTACTS[0]}\n- {CONTACTS[1]}\n" in shown
    assert HEADING not in page_output(passages, "text", max_length=300).content


@pytest.mark.parametrize(("max_length", "count"), [(2_000, 4), (400, 3), (100, 0)])
def test_they_take_at_most_a_third_of_the_room(max_length, count):
    page = page_with(footer(*CONTACTS), main=PROSE * 20)
    beginning = Excerpt(max_length=max_length).of(page)

    output = page_output(beginning, "text", max_length=max_length)

    assert [contact in output.content for contact in CONTACTS].count(True) == count
    length = len(output.answer.content)
    assert max_length // 3 < length <= max_length
    assert output.answer.next_offset == length
