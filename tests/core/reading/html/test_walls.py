"""Pages that say that they are not free to read."""

from __future__ import annotations
import json

import pytest

from websearch_core.reading import read_html
from websearch_core.reading._html.walls import NOT_FREE, NOT_SENT, OFFERED, SIGN_IN

URL = "https://news.example/2026/lights"
STORY = "".join(
    f"<p>Paragraph {n} of a long report on the lights of the north and those who keep them.</p>"
    for n in range(8)
)


def page(data=None, head="", body="", title="The lights of the north"):
    script = (
        f'<script type="application/ld+json">{json.dumps(data)}</script>'
        if data is not None
        else ""
    )
    main = f"<main><article><h1>{title}</h1>{STORY}{body}</article></main>"
    source = f"<html><head><title>{title}</title>{head}{script}</head><body>{main}</body></html>"
    return read_html(source.encode(), URL)


def article(free, **facts):
    return {
        "@type": "NewsArticle",
        "headline": "The lights of the north",
        "isAccessibleForFree": free,
        **facts,
    }


def part(selector, free=False):
    return {
        "@type": "WebPageElement",
        "isAccessibleForFree": free,
        "cssSelector": selector,
    }


@pytest.mark.parametrize(
    "false",
    [False, "False", "false", "http://schema.org/False", "https://schema.org/False"],
)
def test_an_article_that_is_not_free_is_named_and_what_is_there_is_read(false):
    read = page(article(false))

    assert read.notes == (NOT_FREE,)
    assert "Paragraph 7" in read.content


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        article(True),
        article("True"),
        article(None),
        article({"@value": False}),
        {"@type": "NewsArticle", "headline": "The lights of the north"},
        [
            article(True),
            {"@type": "Product", "name": "Lamp", "isAccessibleForFree": False},
        ],
        {"@type": "ItemList", "itemListElement": [article(False), article(False)]},
        {"@type": "WebSite", "name": "News", "isAccessibleForFree": False},
    ],
)
def test_a_page_that_is_free_or_says_nothing_or_lists_others_has_no_note(data):
    assert page(data).notes == ()


def test_the_page_around_an_article_can_say_so_too():
    graph = {
        "@graph": [
            {"@type": "WebPage", "isAccessibleForFree": False},
            {"@type": "WebSite", "name": "News"},
        ]
    }

    assert page(graph).notes == (NOT_FREE,)


@pytest.mark.parametrize(
    "selector", [".paid", "#paid-1", [".other", ".paid"], ".other, .paid"]
)
def test_a_part_that_was_not_sent_is_missing(selector):
    assert page(
        article(False, hasPart=part(selector)), body="<div class=paid id=paid-1></div>"
    ).notes == (NOT_SENT,)


def test_an_offer_in_place_of_the_text_is_no_content():
    offer = "<div class='box paid'><h3>Lights plus</h3><p>Cancel at any time.</p></div>"
    read = page(article(False, hasPart=part(".paid")), body=offer)

    assert read.notes == (NOT_SENT,)
    assert "Cancel" not in read.content


@pytest.mark.parametrize(
    ("has", "body"),
    [
        (part(".paid"), f"<div class=paid>{STORY}</div>"),
        (part(".paid"), ""),  # many pages name elements that they do not have
        ([part(".free", True), part(".paid")], "<div class=free></div>"),
        (part("div:has(*) > :nth-child(2n+1)"), "<div></div>"),
        (part("["), ""),
        (part(7), ""),
        ("text", ""),
        ([[part(".paid")]], "<div class=paid></div>"),
    ],
)
def test_what_cannot_be_known_is_not_claimed(has, body):
    assert page(article(False, hasPart=has), body=body).notes == (NOT_FREE,)


@pytest.mark.parametrize(
    "name", ['property="article:content_tier"', 'name="article_content_tier"']
)
@pytest.mark.parametrize(
    ("tier", "notes"),
    [("locked", (NOT_FREE,)), ("Metered", (NOT_FREE,)), ("free", ()), ("x", ())],
)
def test_a_meta_tag_names_the_tier(name, tier, notes):
    assert page(head=f'<meta {name} content="{tier}">').notes == notes


OFFER = "<h2>Keep reading</h2><p>Subscribe for 1 EUR a week, or sign in.</p><a href=/subscribe>Subscribe</a>"


@pytest.mark.parametrize(
    "mark",
    [
        "class=paywall",
        "class='c-paywall c-offer'",
        "id=subscriber-only",
        "class=RegWall",
    ],
)
def test_an_offer_where_the_text_ends_is_named(mark):
    read = page(body=f"<div {mark}>{OFFER}</div>")

    assert read.notes == (OFFERED,)
    assert "Paragraph 7" in read.content


@pytest.mark.parametrize(
    "body",
    [
        f"<div class=paywall hidden>{OFFER}</div>",
        "<div class=paywall></div>",
        "<div class=paywall-enabled><p>A page whose class says that its paywall is on, with <a href=/>links</a>.</div>",
        f"<div class='paywall-overlay modal'>{OFFER}</div>",
        f"<header><div class=paywall>{OFFER}</div></header>",
        f"<div class=drywall-guide>{OFFER}</div>",
        f"<div class=paywall>{STORY * 5}<a href=/>more</a></div>",
        "<p>A report on paywalls and subscribers-only pages.",
    ],
)
def test_what_only_looks_like_an_offer_is_none(body):
    assert page(body=body).notes in {(), ("1 hidden passage left out",)}


LOGIN = "<form><label>E-mail <input name=m></label><input type=password name=p><button>Go</button></form>"


@pytest.mark.parametrize(
    "title",
    ["Sign in", "Log in to Harbour News", "Anmelden - Hafen", "Connexion", "ログイン"],
)
def test_a_page_that_only_asks_to_sign_in_says_so(title):
    source = f"<title>{title}</title><main><h1>{title}</h1><p>Welcome back. Use your account.</p>{LOGIN}</main>"

    assert SIGN_IN in read_html(source.encode(), URL).notes


def test_a_page_with_a_login_beside_its_content_does_not():
    assert page(title="Login pages that work", body=LOGIN).notes == ()
    assert page(body=LOGIN).notes == ()
