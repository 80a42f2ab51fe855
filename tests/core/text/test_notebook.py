"""Reprs: one line in a traceback, and in a notebook nothing that is fetched or run."""

from __future__ import annotations
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from websearch_core import Page, SearchResponse, SearchResult
from websearch_core.models import Image

EVIL = [
    "<script>alert(1)</script>",
    "<img src=https://spy.example/x onerror=alert(1)>",
    "![x](https://spy.example/x.png)",
    "[x](javascript:alert(1))",
    "[x]( javascript:alert(1) )",
    "[x](<javascript:alert(1)>)",
    "[x](data:text/html,hi)",
    "[x]\n\n[x]: javascript:alert(1)",
    "<https://spy.example/> <a@b.example>",
    '" onmouseover="alert(1)',
    "\x1b[31m\u202e",
]


def response(text="brown alga", url="https://sea.example/kelp", **fields):
    hit = SearchResult(
        title="Kelp", url=url, snippet=text, provider="local", citation_id=1, rank=1
    )
    return SearchResponse(query="kelp", results=(hit,), provider="local", **fields)


def page(content="# Kelp\n\nbrown", **fields):
    return Page(
        url="https://sea.example/kelp",
        title="Kelp",
        content=content,
        provider="direct",
        **fields,
    )


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.attributes = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.attributes += attrs


# One line


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (
            response(),
            "SearchResponse(query='kelp', results=<1 result>, provider='local')",
        ),
        (
            response(notes=("a", "b"), images=(Image(url="https://a.example/x.png"),)),
            "SearchResponse(query='kelp', results=<1 result>, provider='local', images=<1 image>, notes=<2 notes>)",
        ),
        (
            response().results[0],
            "SearchResult(title='Kelp', url='https://sea.example/kelp', provider='local')",
        ),
        (
            page(),
            "Page(url='https://sea.example/kelp', title='Kelp', content=<13 characters>, provider='direct')",
        ),
        (
            page(truncated=True, offset=100, original_length=4_000),
            "Page(url='https://sea.example/kelp', title='Kelp', content=<100-113 of 4000 characters>, provider='direct')",
        ),
        (SearchResponse(query="x\n" * 200), None),
        (
            SearchResult(
                title="\x1b[31m" * 80,
                url="https://a.example/" + "x" * 900,
                snippet="body " * 900,
            ),
            None,
        ),
        (page("body " * 9_000), None),
    ],
)
def test_a_repr_is_one_short_line_without_bodies(value, shown):
    assert len(repr(value)) < 300
    assert repr(value).isprintable()
    assert "body" not in repr(value)
    if shown:
        assert repr(value) == shown


def test_a_list_of_results_can_be_read_in_a_traceback():
    assert len(repr(response().results * 3)) < 300


# In a notebook


@pytest.mark.parametrize("evil", EVIL)
def test_html_has_no_tag_of_the_web_and_fetches_nothing(evil):
    shown = [
        response(
            evil,
            answer=evil,
            notes=(evil,),
            images=(Image(url="javascript:alert(1)", description=evil),),
        ),
        response(evil, url="javascript:alert(1)"),
        page(evil, author=evil, notes=(evil,)),
        page(evil).model_copy(update={"title": evil, "url": "javascript:alert(1)"}),
    ]

    for value in shown:
        tags = Tags(value._repr_html_())
        assert tags.found <= {"div", "p", "b", "br", "i", "small", "a", "pre"}
        assert not [
            name
            for name, _ in tags.attributes
            if name.startswith("on") or name == "src"
        ]
        assert [
            (name, target)
            for name, target in tags.attributes
            if name == "href" and not target.startswith("https://sea.example/")
        ] == []
        assert not set(value._repr_html_()) & set("\x1b\u202e")


def test_a_notebook_shows_what_was_found():
    full = response(answer="An alga.", notes=("bing did not answer",))
    full = full.model_copy(
        update={
            "results": (
                full.results[0].model_copy(
                    update={"published": datetime(2026, 2, 3, tzinfo=UTC)}
                ),
            )
        }
    )

    for part in (
        "kelp",
        "1 result from local",
        "An alga.",
        "Kelp",
        "https://sea.example/kelp",
        "brown alga",
        "bing",
    ):
        assert part in full._repr_html_()
    assert "2026-02-03" in full._repr_html_()
    assert 'rel="noopener noreferrer nofollow"' in full._repr_html_()


def test_a_notebook_shows_a_page_and_how_much_of_it():
    part = page(
        "a [link](https://sea.example/b) & <b>",
        truncated=True,
        content_length=36,
        original_length=4_000,
    )

    assert "36 of 4,000 characters" in part._repr_html_()
    assert "a [link](https://sea.example/b) &amp; &lt;b&gt;" in part._repr_html_()


def test_a_notebook_is_not_flooded():
    assert len(page("x" * 10**6)._repr_html_()) < 30_000
