"""Structured data as text: the data on the left, the Markdown that it becomes on the
right.
"""

from __future__ import annotations
import json
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.harden import harden
from websearch_core.reading._html.metadata import read_metadata
from websearch_core.reading._html.structured_data import lacks_article, markup_from_data
from websearch_core.reading._html.tree import build_tree
from websearch_core.reading._markdown.writer import to_markdown

URL = "https://sea.example/kelp"


def encode(thing: Any) -> str:
    return json.dumps(thing).replace("</", "<\\/")  # or it would end the script


def markdown_of(*things: Any, head: str = "<title>Kelp</title>") -> str:
    """Return the Markdown of a page that has only data."""
    scripts = "".join(
        f'<script type="application/ld+json">{encode(thing)}</script>'
        for thing in things
    )
    source = markup_from_data(
        read_metadata(
            LexborHTMLParser(f"<head>{head}{scripts}</head><body><div id=root></div>"),
            URL,
        )
    )
    body = build_tree(
        find_blocks(LexborHTMLParser(harden(source.encode()).source).body)
    ).body
    links = {
        element.get("href"): element.get("href")
        for element in body.elements()
        if element.get("href")
    }
    return to_markdown(body, links).strip()


OFFER = {
    "@type": "Offer",
    "price": 12.5,
    "priceCurrency": "EUR",
    "availability": "https://schema.org/InStock",
}


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (
            {"@type": "Article", "headline": "Kelp", "articleBody": "One.\n\nTwo."},
            "# Kelp\n\nOne.\n\nTwo.",
        ),
        (
            {"@type": "NewsArticle", "articleBody": "<p>One</p><ul><li>Two"},
            "# Kelp\n\nOne\n\n- Two",
        ),
        (
            {"@type": "WebPage", "description": "All about kelp."},
            "# Kelp\n\nAll about kelp.",
        ),
        (
            {
                "@type": "Product",
                "name": "Kelp",
                "description": "Salty.",
                "offers": OFFER,
                "sku": "K1",
                "brand": {"name": "Sea"},
            },
            "# Kelp\n\n- Price: 12.50 EUR\n- Availability: in stock\n- Brand: Sea\n- SKU: K1\n\nSalty.",
        ),
        (
            {
                "@type": "Product",
                "name": "Kelp",
                "offers": {"lowPrice": "1", "highPrice": "2", "priceCurrency": "USD"},
            },
            "# Kelp\n\n- Price: from 1 to 2 USD",
        ),
        (
            {
                "@type": "Product",
                "name": "Kelp",
                "offers": [
                    {"priceSpecification": {"price": "3", "priceCurrency": "NOK"}},
                    "x",
                ],
            },
            "# Kelp\n\n- Price: 3 NOK",
        ),
        (
            {
                "@type": "FAQPage",
                "mainEntity": [
                    {
                        "@type": "Question",
                        "name": "Why?",
                        "acceptedAnswer": {"text": "<b>So</b>."},
                    }
                ],
            },
            "# Kelp\n\n## Why?\n\n**So**.",
        ),
        (
            {
                "@type": "QAPage",
                "mainEntity": {
                    "@type": "Question",
                    "name": "Kelp",
                    "text": "What is it?",
                    "acceptedAnswer": {"text": "Algae.", "author": {"name": "Ada"}},
                    "suggestedAnswer": [{"text": "A plant."}],
                },
            },
            "# Kelp\n\nWhat is it?\n\n**Ada**:\n\nAlgae.\n\nA plant.",
        ),
        (
            {
                "@type": "DiscussionForumPosting",
                "headline": "Kelp",
                "text": "Hi.",
                "comment": [{"text": "Ho.", "author": "Bob"}],
            },
            "# Kelp\n\nHi.\n\n**Bob**:\n\nHo.",
        ),
        (
            {
                "@type": "Recipe",
                "name": "Kelp",
                "recipeYield": 2,
                "recipeIngredient": ["1 kelp", "salt &amp; pepper"],
                "recipeInstructions": [
                    {
                        "@type": "HowToSection",
                        "itemListElement": [
                            {"@type": "HowToStep", "text": "<p>Boil.</p>"}
                        ],
                    },
                    "Eat.",
                ],
            },
            "# Kelp\n\n- Yield: 2\n\n## Ingredients\n\n- 1 kelp\n- salt & pepper\n\n## Steps\n\n1. Boil.\n2. Eat.",
        ),
        (
            {
                "@type": "ItemList",
                "itemListElement": [
                    {
                        "@type": "ListItem",
                        "item": {
                            "name": "Dulse",
                            "url": "https://sea.example/d",
                            "offers": OFFER,
                        },
                    },
                    {
                        "@type": "ListItem",
                        "name": "Nori",
                        "url": "https://sea.example/n",
                    },
                    "Wakame",
                ],
            },
            "# Kelp\n\n- [Dulse](https://sea.example/d): 12.50 EUR\n- [Nori](https://sea.example/n)\n- Wakame",
        ),
        (
            {
                "@type": "Event",
                "name": "Kelp",
                "startDate": "2026-05-04",
                "endDate": "2026-05-05",
                "location": {
                    "name": "Pier",
                    "address": {"addressLocality": "Oslo", "addressCountry": "NO"},
                },
            },
            "# Kelp\n\n- When: 2026-05-04 to 2026-05-05\n- Where: Pier, Oslo, NO",
        ),
        (
            {
                "@type": "JobPosting",
                "title": "Kelp",
                "hiringOrganization": {"name": "Sea"},
                "jobLocation": {"address": "Oslo"},
                "employmentType": ["FULL_TIME"],
                "description": "&lt;p&gt;Dive.&lt;/p&gt;",
            },
            "# Kelp\n\n- Company: Sea\n- Location: Oslo\n- Employment: full time\n\nDive.",
        ),
        ({"@type": "Organization", "name": "Sea", "description": "A company."}, ""),
        ({"@type": "Article", "headline": "Kelp"}, ""),
    ],
)
def test_data_becomes_text(thing: dict[str, Any], expected: str) -> None:
    assert markdown_of(thing) == expected


SENTENCES = [
    f"Forest number {n} grew back in the year {1900 + n}, as divers say."
    for n in range(40)
]
STORY = " ".join(SENTENCES)


@pytest.mark.parametrize(
    ("article", "shown", "kept", "lacks"),
    [
        (STORY, ["Subscribe to read this."], 23, True),
        # the page shows it, although little was selected
        (STORY, SENTENCES, 200, False),
        (STORY, SENTENCES[:10], 2000, False),  # what was selected is nearly as long
        (STORY[:500], ["Subscribe."], 10, False),  # too short to be the article
        ("", ["Subscribe."], 10, False),
    ],
)
def test_a_page_may_lack_the_article_that_its_data_has(
    article: str, shown: list[str], kept: int, lacks: bool
) -> None:
    data = encode({"@type": "NewsArticle", "headline": "Kelp", "articleBody": article})
    page = LexborHTMLParser(
        f'<title>Kelp</title><script type="application/ld+json">{data}</script>'
    )
    assert lacks_article(shown, kept, read_metadata(page, URL)) is lacks


def test_the_main_thing_comes_first_and_nothing_twice() -> None:
    product = {"@type": "Product", "name": "Kelp", "description": "Salty."}
    questions = {
        "@type": "FAQPage",
        "name": "Ask",
        "mainEntity": [
            {"@type": "Question", "name": "Why?", "acceptedAnswer": {"text": "So."}}
        ],
    }
    assert (
        markdown_of(questions, product, questions)
        == "# Kelp\n\nSalty.\n\n## Ask\n\n## Why?\n\nSo."
    )


def test_the_description_is_used_if_there_is_no_other_text() -> None:
    head = '<title>Kelp</title><meta name="description" content="All about kelp.">'
    assert markdown_of(head=head) == "# Kelp\n\nAll about kelp."
    assert (
        markdown_of({"@type": "Article", "articleBody": "One."}, head=head)
        == "# Kelp\n\nOne."
    )


def test_a_page_without_data_has_no_markup() -> None:
    assert markdown_of() == ""


def test_markup_in_data_is_treated_like_any_page() -> None:
    body = (
        "<p>Seen\u200b.</p><p hidden>Hidden.</p><script>alert(1)</script><img src=x alt=picture onerror=x>"
        "<a href='javascript:alert(1)'>link</a><div>" + "<div>" * 3_000 + "deep"
    )
    text = markdown_of({"@type": "Article", "articleBody": body})
    assert text.startswith("# Kelp\n\nSeen.")
    assert "deep" in text
    assert not [
        word
        for word in ("Hidden", "alert(1)</", "<img", "onerror", "\u200b")
        if word in text
    ]


def test_plain_text_is_not_read_as_markdown_or_markup() -> None:
    text = markdown_of({"@type": "Article", "articleBody": "# no heading\n2 < 3 & 4"})
    assert text == "# Kelp\n\n\\# no heading\n\n2 < 3 & 4"


def test_the_size_of_the_text_is_bounded() -> None:
    things = [
        {
            "@type": "FAQPage",
            "mainEntity": [
                {
                    "@type": "Question",
                    "name": f"{n}",
                    "acceptedAnswer": {"text": "x" * 90_000},
                }
            ],
        }
        for n in range(9)
    ]
    assert 200_000 < len(markdown_of(*things)) < 320_000


def test_circular_references_end() -> None:
    posting = {
        "@type": "DiscussionForumPosting",
        "@id": "#a",
        "headline": "Kelp",
        "text": "Hi.",
        "comment": {"@id": "#a"},
    }
    assert markdown_of(posting) == "# Kelp\n\nHi.\n\nHi."
