"""A second article, and banners for other countries, are left out; whatever belongs to
a page stays.
"""

from __future__ import annotations

import pytest

from tests.core.reading.html.test_page import PARAGRAPHS, STORY, TITLE, read
from websearch_core.models import Page

OTHER = (
    "<p>"
    + "Goats climb better than sheep, which nobody on the rock had known before. " * 12
    + "</p>"
)
HEAD = f'<title>{TITLE}</title><meta property="og:type" content="article"><meta property="og:title" content="{TITLE}">'
FIRST = f"<article class=post><h1>{TITLE}</h1>{PARAGRAPHS}</article>"


def page(body: str, head: str = HEAD) -> Page:
    return read(f"<main>{body}</main>", head)


def test_an_article_that_follows_the_first_is_left_out_and_a_note_names_it() -> None:
    read_page = page(
        f"{FIRST}<article class=post><h1>Why goats climb</h1>{OTHER}</article><article class=post><h1>Hens</h1>{OTHER}</article>"
    )

    assert [
        paragraph for paragraph in STORY if paragraph not in read_page.content
    ] == []
    assert "Goats climb" not in read_page.content
    assert (
        "another article below this one was left out: Why goats climb"
        in read_page.notes
    )


@pytest.mark.parametrize("mark", ["post", "'article full'", "blog-post"])
def test_an_article_is_one_by_its_class_too(mark: str) -> None:
    read_page = page(
        f"<div class={mark}><h1>{TITLE}</h1>{PARAGRAPHS}</div><div class={mark}><h1>Goats</h1>{OTHER}</div>"
    )

    assert [
        paragraph for paragraph in STORY if paragraph not in read_page.content
    ] == []
    assert "Goats climb" not in read_page.content


@pytest.mark.parametrize(
    "body",
    [
        f"<div class=part><h1>{TITLE}</h1>{PARAGRAPHS}</div><div class=part><h1>Why goats climb</h1>{OTHER}</div>",
        f"<div class=post><h1>{TITLE}</h1>{PARAGRAPHS}</div><div class=post><h2>Why goats climb</h2>{OTHER}</div>",
        f"{FIRST}<article class=post data-url=/goats><h2>Why goats climb</h2>{OTHER}</article>",
        f"<article class=post><h1>{TITLE}</h1>{PARAGRAPHS}<h2>Goats</h2>{OTHER}</article>",
        f"<article class=post><h1>{TITLE}</h1>{PARAGRAPHS}<article class=note><h1>Goats</h1>{OTHER}</article></article>",
        f"<article class=post><h1>{TITLE}</h1>{PARAGRAPHS}</article><article class=post><h1>{TITLE}, part two</h1>{OTHER}</article>",
        f"<article class=post><h1>Why goats climb</h1>{OTHER}</article>{FIRST}",
    ],
)
def test_parts_of_an_article_stay(body: str) -> None:
    assert "Goats climb better" in page(body).content


def test_a_page_that_is_no_article_keeps_all_of_its_own() -> None:
    body = f"{FIRST}<article class=post><h1>Why goats climb</h1>{OTHER}</article>"

    assert "Goats climb better" in page(body, f"<title>{TITLE}</title>").content


@pytest.mark.parametrize(
    "attribute", ["data-country={}", "data-geo={}", "class='bar geo-{}'"]
)
def test_banners_for_countries_before_the_page_are_left_out(attribute: str) -> None:
    bars = "".join(
        f"<p {attribute.format(code)}>Free shipping to {code}</p>"
        for code in ("de", "fr", "se")
    )

    assert "Free shipping" not in page(f"<div>{bars}</div>{FIRST}").content


def test_a_list_of_countries_in_the_text_stays() -> None:
    offices = "".join(
        f"<li data-country={code}>The office in {code} is open on Mondays, and answers letters</li>"
        for code in ("de", "fr")
    )

    assert (
        "The office in fr"
        in page(
            f"<article><h1>{TITLE}</h1>{PARAGRAPHS}<ul>{offices}</ul></article>"
        ).content
    )
