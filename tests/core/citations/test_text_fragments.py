"""Links to a sentence of a page: URL text fragments."""

from __future__ import annotations
from urllib.parse import unquote

import pytest

from websearch_core.citations import link_to_text
from websearch_core.models import Page
from websearch_core.reading import Excerpt

URL = "https://sea.example/kelp"


def counting(page):
    return lambda words: page.casefold().count(words.casefold())


def directive(text, page=None, **context):
    link = link_to_text(URL, text, counting(page or text), **context)
    return link and link.removeprefix(f"{URL}#:~:text=")


def test_a_short_sentence_is_quoted_in_full():
    assert directive("Kelp grows fast.") == "Kelp%20grows%20fast"


def test_what_has_a_meaning_in_a_directive_is_encoded():
    assert (
        directive("Half-dried, salt & sweet #1")
        == "Half%2Ddried%2C%20salt%20%26%20sweet%20%231"
    )
    assert directive("größer als Ähren") == "gr%C3%B6%C3%9Fer%20als%20%C3%84hren"


LONG = "Giant kelp is among the fastest growing organisms of all and can grow by half a metre in a single summer day."


def test_of_a_long_sentence_the_beginning_and_the_end_are_quoted():
    assert (
        directive(LONG)
        == "Giant%20kelp%20is%20among%20the,in%20a%20single%20summer%20day"
    )


def test_words_that_occur_twice_are_told_apart_by_what_stands_around_them():
    page = "In spring it grows fast. It is red. In autumn it grows fast. It is brown."

    assert (
        directive("it grows fast", page, before="In autumn")
        == "In%20autumn-,it%20grows%20fast"
    )
    # "fast . It" is nowhere
    assert directive("it grows fast.", page, after=". It is brown.") is None
    assert (
        directive(
            "it grows fast", "it grows fast today, it grows fast now", after="now"
        )
        == "it%20grows%20fast,-now"
    )


def test_there_is_no_link_to_words_that_occur_twice_or_never():
    assert directive("it grows", "it grows and it grows") is None
    assert directive("it grows", "nothing") is None
    assert directive(" . ") is None


def test_a_script_without_spaces_is_cut_between_clauses():
    text = "海带是一种生长在寒冷海水中的大型褐藻，它的叶片可以长到很多米长而且非常柔软，人们在很多国家都把它当作食物来食用并且晒干保存，也用来制作肥料和药品以及其他各种有用的东西"
    first, last = map(unquote, directive(text).split(","))

    assert text.startswith(first)
    assert text.endswith(last)
    assert len(text) > 80


def test_a_fragment_of_the_url_stays_before_the_directive():
    assert (
        link_to_text(f"{URL}#growth", "Kelp grows.", lambda _: 1)
        == f"{URL}#growth:~:text=Kelp%20grows"
    )


FILLER = "Nothing here tells of the matter at hand, and it goes on for a while. " * 12
PAGE = Page(
    url=URL,
    final_url=URL,
    media_type="text/html",
    content=(
        f"# Kelp\n\n{FILLER}\n\n## Growth\n\nIt is brown. **Giant kelp** grows [half a metre](https://a.example/) a day. "
        f"It is eaten.\n\n{FILLER}\n\n## Food\n\n- Dulse is eaten dried.\n- See https://b.example/ on food\n\n{FILLER}"
    ),
)


@pytest.mark.parametrize(
    "how", [{"query": "how fast does giant kelp grow"}, {"find": "giant kelp"}]
)
def test_a_passage_links_to_its_most_relevant_sentence(how):
    passages = Excerpt(max_length=300, **how).of(PAGE).passages

    assert f"{URL}#:~:text=Giant%20kelp%20grows%20half%20a%20metre%20a%20day" in [
        passage.link for passage in passages
    ]


def test_a_list_item_is_linked_without_its_marker():
    (passage, *_) = Excerpt(max_length=300, query="dulse dried").of(PAGE).passages

    assert passage.link == f"{URL}#:~:text=Dulse%20is%20eaten%20dried"


@pytest.mark.parametrize(
    "change",
    [
        {"media_type": "application/pdf"},
        {"final_url": "file:///notes/kelp.md"},
        {
            "content": PAGE.content
            + "\n\nIt is brown. Giant kelp grows half a metre a day. It is eaten."
        },
        {"content": PAGE.content.replace("grows", "\\[grows\\] <b>")},
    ],
)
def test_there_is_no_link_to_what_a_browser_may_not_find(change):
    part = Excerpt(max_length=300, find="half a metre").of(
        PAGE.model_copy(update=change)
    )

    assert part.passages
    assert [
        passage for passage in part.passages if passage.link and "metre" in passage.link
    ] == []


def test_a_window_and_a_whole_page_have_no_passage_links():
    assert Excerpt(max_length=300).of(PAGE).passages == ()
    assert [one.link for one in Excerpt(query="kelp").of(PAGE).passages] == [None]
