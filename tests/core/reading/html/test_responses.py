"""What readers and buyers wrote about a page: comments and reviews, dropped or kept."""

from __future__ import annotations
import json

import pytest

from websearch_core.reading import Excerpt, read_bytes, read_html

URL = "https://news.example/2026/lights"
STORY = "".join(
    f"<p>Paragraph {n} of a long report on the lights of the north and those who keep them, told by one who knew.</p>"
    for n in range(8)
)
SAYINGS = [
    "I kept the light for thirty winters, and this report has the wick trimmed the wrong way round.",
    "My grandmother rowed the oil out every second week, whatever the weather, and nobody thanked her.",
    "Could you say which of the lamps were electric by 1911? The table leaves that out, as they always do.",
    "It is a pity that the museum closes at five, since the lamp is lit only after that.",
]
REPLY = "<button>Reply</button><span>Report</span>"


def entries(start="<li><p>", end="</p></li>"):
    return "".join(f"{start}{said}{end}{REPLY}" for said in SAYINGS)


THREADS = {
    "a class": f'<section class="comments"><h2>What you say</h2><ul>{entries()}</ul></section>',
    "an id": f"<div id=comments-section><ul>{entries()}</ul></div>",
    "a class of one entry": entries("<div class='post-comment'><p>", "</p></div>"),
    "schema.org": entries(
        '<div itemprop="comment" itemscope itemtype="https://schema.org/Comment"><p>',
        "</p></div>",
    ),
    "a heading": f"<div><h3>Comments (4)</h3>{entries('<p>', '</p>')}</div>",
    "a German heading": f"<div><h2>4 Kommentare</h2>{entries('<p>', '</p>')}</div>",
    "a Japanese heading": f"<div><h2>コメント 4</h2>{entries('<p>', '</p>')}</div>",
    "Disqus": f"<div id=disqus_thread><ul>{entries()}</ul></div>",
}
REVIEWS = {
    "a class": f"<section class='customer-reviews'>{entries('<p>', '</p>')}</section>",
    "schema.org": entries(
        '<div itemprop="review" itemtype="http://schema.org/Review"><p>', "</p></div>"
    ),
    "a heading": f"<div><h2>Customer reviews</h2>{entries('<p>', '</p>')}</div>",
}


def source(after="", data=None, story=STORY, title="The lights of the north"):
    script = (
        f'<script type="application/ld+json">{json.dumps(data)}</script>'
        if data
        else ""
    )
    body = f"<main><article><h1>{title}</h1>{story}</article>{after}</main>"
    return f"<html><head><title>{title}</title>{script}</head><body>{body}</body></html>".encode()


def said(page):
    return sum(saying in page.content for saying in SAYINGS)


ARTICLE = {"@type": "NewsArticle", "headline": "The lights of the north"}


@pytest.mark.parametrize("thread", THREADS)
def test_comments_are_dropped_or_kept(thread):
    page = source(THREADS[thread])

    assert said(read_html(page, URL, comments="drop")) == 0
    assert said(read_html(page, URL, comments="keep")) == 4
    assert "Paragraph 7" in read_html(page, URL, comments="drop").content


@pytest.mark.parametrize("thread", THREADS)
def test_an_article_drops_them_unless_told_otherwise(thread):
    page = source(THREADS[thread], ARTICLE)

    assert (
        said(read_html(page, URL)),
        said(read_html(page, URL, comments="keep")),
    ) == (0, 4)


@pytest.mark.parametrize("form", REVIEWS)
def test_reviews_are_dropped_or_kept_apart_from_comments(form):
    page = source(
        REVIEWS[form],
        {"@type": "Product", "name": "The lights of the north", "offers": {"price": 3}},
    )

    assert said(read_html(page, URL, reviews="drop")) == 0
    assert said(read_html(page, URL, reviews="keep")) == 4
    assert said(read_html(page, URL, reviews="keep", comments="drop")) == 4


def test_what_every_entry_repeats_is_not_kept():
    content = read_html(source(THREADS["a class"]), URL, comments="keep").content

    assert "Reply" not in content
    assert "Report" not in content


def test_a_thread_that_is_the_page_is_kept_with_a_note():
    page = source(
        THREADS["a class"], story="<p>What do you remember of the lights?</p>"
    )
    read = read_html(page, URL, comments="drop")

    assert said(read) == 4
    assert "the page has only comments: they were kept" in read.notes


@pytest.mark.parametrize(
    "markup",
    [
        "<div class='comments-open has-comments'>{}</div>",
        "<div class=commentary>{}</div>",
        "<div class=review-of-the-year>{}</div>",
        "<div><h2>Comments on the reform</h2>{}</div>",
        "<div><h2>Reviews of the law, 1911</h2>{}</div>",
        "<div class=previews>{}</div>",
    ],
)
def test_what_only_looks_like_them_stays(markup):
    page = source(story=STORY + markup.format(entries("<p>", "</p>")))

    assert said(read_html(page, URL, comments="drop", reviews="drop")) == 4


def test_a_class_on_what_holds_the_title_means_the_page():
    page = source(data=ARTICLE).replace(
        b"<article>", b"<article class='comments reviews'>"
    )

    assert (
        "Paragraph 7" in read_html(page, URL, comments="drop", reviews="drop").content
    )


def test_a_page_that_is_a_review_is_not_dropped():
    data = {"@type": "Review", "name": "The lights of the north"}
    page = source(f"<div class=review>{entries('<p>', '</p>')}</div>", data)

    assert said(read_html(page, URL, reviews="drop")) == said(read_html(page, URL))


def test_a_section_below_the_comments_is_not_one_of_them():
    after = f"<div><h2>Comments</h2>{entries('<p>', '</p>')}<h2>Sources</h2><p>{SAYINGS[0][::-1]}</p></div>"
    content = read_html(source(story=STORY + after), URL, comments="drop").content

    assert SAYINGS[0] not in content
    assert SAYINGS[0][::-1] in content


def test_the_comments_in_the_data_of_a_page_are_dropped_too():
    data = {
        "@type": "DiscussionForumPosting",
        "headline": "Lamps",
        "text": "Which of the lamps were electric by 1911? I have read all the reports and none of them says so. "
        * 3,
        "comment": [{"@type": "Comment", "text": text} for text in SAYINGS],
    }
    page = f'<script type="application/ld+json">{json.dumps(data)}</script><div id=root></div>'.encode()

    assert said(read_html(page, URL)) == 4
    assert said(read_html(page, URL, comments="drop")) == 0


def test_other_processes_know_them():
    page = source(THREADS["a class"])

    assert [
        said(read_bytes(page, URL, comments=choice, isolate="require"))
        for choice in ("drop", "keep")
    ] == [0, 4]


def test_many_headings_take_linear_time():
    page = source(
        "<div>" + "<section><h2>Comments</h2><p>Yes.</p></section>" * 2_000 + "</div>"
    )

    assert read_html(page, URL, comments="drop").content


DISCUSSED = (
    '<html><head><script type=\'application/ld+json\'>{"@type":"NewsArticle","headline":"The tram is back"}</script></head><body><article><h1>The tram is back</h1>'
    + "<p>The tram runs again from the station to the sea, after a winter of works.</p>"
    * 6
    + "</article><section id=comments><h3>2 comments</h3><div class=comment><p>My stop near the bakery was moved by a hundred "
    "metres, which nobody announced to those who live there.</p></div><div class=comment><p>At last.</p></div></section></body></html>"
)


def test_comments_that_are_left_out_are_noted_and_can_be_found():
    page = read_bytes(DISCUSSED.encode(), "https://city.example/tram", "text/html")

    assert "bakery" not in page.content
    assert any("comments of readers are left out" in note for note in page.notes)
    assert "bakery" in Excerpt(find="bakery").of(page).content
    assert (
        "bakery"
        in Excerpt(query="stop near the bakery moved", max_tokens=200).of(page).content
    )


def test_comments_that_nobody_wants_are_not_found_either():
    page = read_bytes(
        DISCUSSED.encode(), "https://city.example/tram", "text/html", comments="drop"
    )

    assert "bakery" not in page.content + page.rest
    assert not any("comments of readers" in note for note in page.notes)
