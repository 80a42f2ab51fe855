"""What kind of page a page says it is."""

from __future__ import annotations
import json

import pytest

from websearch_core.reading import read_html

TEXT = "<main><h1>Lights</h1><p>The north light burns with a range of nineteen miles.</p></main>"


def kind(head="", url="https://site.example/a/lights", body=TEXT, **data):
    script = (
        f'<script type="application/ld+json">{json.dumps(data)}</script>'
        if data
        else ""
    )
    return read_html(f"<title>Lights</title>{head}{script}{body}".encode(), url).kind


def thing(name, **facts):
    return {"@type": name, "name": "Lights", **facts}


def meta(name, content):
    return f'<meta property="{name}" content="{content}">'


PUBLISHED = meta("article:published_time", "2026-05-04")


@pytest.mark.parametrize(
    "name", ["NewsArticle", "BlogPosting", "Article", "https://schema.org/Report"]
)
def test_an_article_says_so(name):
    assert kind(**thing(name)) == "article"


def test_og_article_counts_with_a_date():
    article = meta("og:type", "article")

    assert kind(article + PUBLISHED) == "article"
    assert kind(article) is None
    assert kind(article + PUBLISHED, url="https://site.example/") is None
    assert kind(article + PUBLISHED, **thing("WebPage")) is None
    assert (
        kind(
            article + PUBLISHED + '<meta name="author" content="Ada Byron">',
            **thing("WebPage"),
        )
        == "article"
    )


@pytest.mark.parametrize(
    "page",
    [
        {**thing("DiscussionForumPosting"), "text": "x"},
        thing("QAPage", mainEntity=thing("Question")),
        {"head": '<meta name="generator" content="Discourse 3.2">'},
        {"url": "https://forum.example/topic/1"},
        {"url": "https://site.example/threads/lights.1/"},
        {"body": f'<div itemscope itemtype="https://schema.org/QAPage">{TEXT}</div>'},
    ],
)
def test_a_forum_says_so(page):
    assert kind(**page) == "forum"


def test_a_product_is_for_sale():
    assert kind(**thing("Product", offers={"price": 3})) == "product"
    assert kind(**thing("Product")) is None
    assert kind(meta("og:type", "product")) == "product"
    assert kind(meta("og:type", "article"), **thing("Product", offers={})) is None
    assert kind(meta("og:type", "product.group")) == "collection"


@pytest.mark.parametrize(
    "page",
    [
        thing("APIReference"),
        {"head": '<meta name="generator" content="Docusaurus v3.5">'},
        {"url": "https://docs.site.example/lights"},
        {"url": "https://site.example/docs/lights/"},
        {"url": "https://lights.readthedocs.io/en/latest/"},
    ],
)
def test_a_manual_says_so(page):
    assert kind(**page) == "documentation"


@pytest.mark.parametrize(
    "page",
    [{}, thing("WebPage"), thing("Organization"), {"head": meta("og:type", "website")}],
)
def test_what_a_page_does_not_say_is_not_guessed(page):
    assert kind(**page) is None
