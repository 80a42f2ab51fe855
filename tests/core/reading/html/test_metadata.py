"""Metadata, one table per kind: the head of a page on the left, what is read from it on
the right.
"""

from __future__ import annotations
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from websearch_core.models import Page
from websearch_core.reading import read_html
from websearch_core.reading._html.byline import person
from websearch_core.reading._html.metadata import read_metadata
from websearch_core.reading._html.parse import parse
from websearch_core.reading._html.titles import Stated, title_of

URL = "https://www.seanews.example/2026/kelp-forests"
PROSE = (
    "<p>"
    + "The quick brown fox jumps over the lazy dog, and then it does so again. " * 6
    + "</p>"
)
DAY = datetime(2026, 5, 4, tzinfo=UTC)


def read(
    head: str = "", body: str = PROSE, url: str = URL, attributes: str = ""
) -> Page:
    return read_html(
        f"<!doctype html><html {attributes}><head>{head}</head><body>{body}</body></html>".encode(),
        url,
    )


def meta(**content: str) -> str:
    return "".join(
        f'<meta name="{name.replace("__", ":")}" content="{value}">'
        for name, value in content.items()
    )


def linked(*things: Any) -> str:
    """Return the scripts with *things* as JSON-LD."""
    return "".join(
        f'<script type="application/ld+json">{json.dumps(thing)}</script>'
        for thing in things
    )


ARTICLE = {
    "@type": "Article",
    "headline": "Kelp forests",
    "author": {"@type": "Person", "name": "Ada"},
}


@pytest.mark.parametrize(
    ("stated", "headlines", "site", "expected"),
    [
        (["Kelp forests - Sea News"], [], None, "Kelp forests"),  # known from the host
        (["Sea News | Kelp forests"], [], None, "Kelp forests"),
        (["海藻の森が育つ｜海新聞"], [], "海新聞", "海藻の森が育つ"),
        (
            ["海藻の森は育つか：専門家に聞く"],
            ["海藻の森が育つか 専門家に聞いた"],
            None,
            "海藻の森が育つか 専門家に聞いた",
        ),
        (
            ["海藻の森は育つか：専門家に聞く"],
            ["今日の天気と交通の情報です"],
            None,
            "海藻の森は育つか：専門家に聞く",
        ),
        (["غابات عشب البحر - Sea News"], ["غابات عشب البحر"], None, "غابات عشب البحر"),
        (
            ["Kelp forests » Reports » Seanews.example"],
            [],
            None,
            "Kelp forests » Reports",
        ),
        (["Kelp forests – The Ocean Report"], [], "The Ocean Report", "Kelp forests"),
        (
            ["Kelp forests – The Ocean Report"],
            [],
            None,
            "Kelp forests – The Ocean Report",
        ),
        (["Kelp - Forests | Sea News"], [], None, "Kelp - Forests"),
        (["Sea News"], ["Sea News"], None, "Sea News"),  # there is no other title
        (["KELP FORESTS"], [], None, "KELP FORESTS"),
        (
            ["Kelp forests: what they are - Sea News"],
            ["Kelp forests: what they are"],
            None,
            "Kelp forests: what they are",
        ),
        (
            ["Best Kelp Forests 2026"],
            ["The best kelp forests of 2026"],
            None,
            "The best kelp forests of 2026",
        ),
        (["Kelp forests"], ["Sea News", "Kelp forests"], None, "Kelp forests"),
        (["Kelp forests - Manual"], ["Manual", "Kelp forests"], None, "Kelp forests"),
        # half of it agrees
        (
            ["Kelp forests in 2026"],
            ["Kelp forests to see"],
            None,
            "Kelp forests to see",
        ),
        (["Kelp forests"], ["ReportKelp forests"], None, "Kelp forests"),
        # styles part the words
        (["Report Kelp forests"], ["ReportKelp forests"], None, "Report Kelp forests"),
        (["Kelp forests"], ["We love the sea"], None, "Kelp forests"),  # a slogan
        (["Residential kelp coupons"], ["Coupons"], None, "Residential kelp coupons"),
        (["Kelp forests"], ["Kelp forests ¶"], None, "Kelp forests"),
        ([], ["Kelp forests"], None, "Kelp forests"),
        ([], ["Sea News"], None, "Sea News"),
        ([], [], None, ""),
    ],
)
def test_the_title_is_the_headline_without_the_name_of_the_site(
    stated: list[str], headlines: list[str], site: str | None, expected: str
) -> None:
    assert title_of(Stated("", stated, ""), headlines, site, URL) == expected


@pytest.mark.parametrize(
    ("name", "shared", "window", "headline", "expected"),
    [
        # The headline of the page has the name of a section before it.
        (
            "",
            "Kelp forests grow back",
            "Kelp",
            "Nature: Kelp forests grow back",
            "Kelp forests grow back",
        ),
        (
            "",
            "Kelp forests grow back",
            "Kelp",
            "Nature Kelp forests grow back",
            "Kelp forests grow back",
        ),
        (
            "",
            "back",
            "Kelp forests grow back - Sea",
            "Kelp forests grow back",
            "Kelp forests grow back",
        ),  # too short to be the title
        # JSON-LD and Open Graph agree on more than the headline has.
        (
            "Coast: Growing back",
            "Coast: Growing back",
            "Growing back",
            "Growing back",
            "Coast: Growing back",
        ),
        # Here all of them are made for search engines.
        (
            "Coast: Growing back",
            "Coast: Growing back",
            "Coast: Growing back",
            "Growing back",
            "Growing back",
        ),
        (
            "Growing back in May",
            "Growing back in May",
            "Back",
            "Growing back",
            "Growing back",
        ),
        ("", "Coast: Growing back", "Growing back", "Growing back", "Growing back"),
    ],
)
def test_a_stated_title_may_be_better_than_the_headline(
    name: str, shared: str, window: str, headline: str, expected: str
) -> None:
    assert title_of(Stated(name, [shared], window), [headline], None, URL) == expected


@pytest.mark.parametrize(
    ("url", "title", "expected"),
    [
        ("https://redfishtech.com/x", "Recruiters - Redfish Technology", "Recruiters"),
        ("https://uwkc.org/x", "Tax help | United Way of King County", "Tax help"),
        ("https://docs.python.org/3/", "json - Python documentation", "json"),
        (
            "https://nintendo.com/x",
            "Nintendo Switch – OLED Model",
            "Nintendo Switch – OLED Model",
        ),
        # the home of the site
        ("https://nintendo.com/", "Nintendo | Games", "Nintendo | Games"),
    ],
)
def test_the_name_of_a_site_is_known_by_its_host(
    url: str, title: str, expected: str
) -> None:
    assert title_of(Stated("", [title], ""), [], None, url) == expected


@pytest.mark.parametrize(
    ("path", "title", "headline", "expected"),
    [
        (
            "/c/monitor-arms",
            "Up to 79% more weight for your screens",
            "Monitor arms",
            "Monitor arms",
        ),
        (
            "/monitor-arms/",
            "Up to 79% more weight for your screens",
            "Monitor Arms",
            "Monitor Arms",
        ),
        (
            "/monitor_arms.html",
            "Up to 79% more weight for your screens",
            "Monitor arms",
            "Monitor arms",
        ),
        (
            "/%E6%B5%B7-%E8%97%BB",
            "A site about the sea and all that grows",
            "海 藻",
            "海 藻",
        ),
        (
            "/c/arms",
            "Arms for your screens and for heavy cameras",
            "Arms",
            "Arms for your screens and for heavy cameras",
        ),
        (
            "/how-to-choose-monitor-arms-for-you",
            "Choose well and rest",
            "Monitor arms",
            "Choose well and rest",
        ),
        (
            "/monitor-arms/42",
            "Up to 79% more weight for your screens",
            "Monitor arms",
            "Up to 79% more weight for your screens",
        ),
    ],
)
def test_a_headline_is_the_title_if_the_url_names_the_page_by_it(
    path: str, title: str, headline: str, expected: str
) -> None:
    assert (
        title_of(
            Stated("", [title], title), [headline], None, f"https://sea.example{path}"
        )
        == expected
    )


@pytest.mark.parametrize(
    "title",
    ["NASA: Mission to Mars", "Mission to Mars - NASA", "NASA - Mission to Mars"],
)
@pytest.mark.parametrize("shared", [True, False])
def test_a_headline_that_the_page_does_not_state_is_not_its_title(
    title: str, shared: bool
) -> None:
    stated = Stated("", [title] if shared else [], title)
    assert (
        title_of(
            stated, ["Latest updates"], None, "https://www.nasa.gov/mission-to-mars/"
        )
        == "Mission to Mars"
    )


TRAIL = "<nav><ol><li><a href=/nature>Nature</a><li><h1>Kelp: what to know in 2026</h1></ol></nav>"


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        (
            meta(og__title="Forests of the sea grow back"),
            "<h2>Forests of the sea grow back</h2>",
            "Forests of the sea grow back",
        ),
        (
            linked(ARTICLE | {"headline": "Forests grow back"}),
            "<h2>Forests grow back</h2>",
            "Forests grow back",
        ),
        # The page shows a line before it, and states the signs between them.
        (
            meta(og__title="Coast: Forests grow back"),
            "<h2><b>Coast</b> Forests grow back</h2>",
            "Coast: Forests grow back",
        ),
        (
            meta(og__title="Forests grow back"),
            "<h2><b>Opinion</b> Forests grow back</h2>",
            "Forests grow back",
        ),
        (
            meta(og__title="Forests grow back | Seanews"),
            "<h2>Forests grow back</h2>",
            "Forests grow back",
        ),
        # No other heading shows what the page states.
        (
            meta(og__title="Forests grow back"),
            "<h2>More about kelp</h2>",
            "Kelp: what to know in 2026",
        ),
        (
            meta(og__title="Kelp: what to know in 2026"),
            "<h2>What to know</h2>",
            "Kelp: what to know in 2026",
        ),
        ("", "<h2>Kelp</h2><h2></h2>", "Kelp: what to know in 2026"),
    ],
)
def test_the_last_step_of_a_breadcrumb_trail_is_not_the_headline(
    head: str, body: str, expected: str
) -> None:
    title = "<title>Kelp: what to know in 2026 - Seanews</title>"
    assert read(title + head, TRAIL + body + PROSE).title == expected


def test_authors_are_looked_for_around_the_headline_below_a_breadcrumb_trail() -> None:
    body = f"{TRAIL}{'<p>word</p>' * 100}<div><h2>Forests grow back</h2><p>By Ada</p></div>{PROSE}"
    assert (
        read(
            "<title>Kelp: what to know in 2026</title>"
            + meta(og__title="Forests grow back"),
            body,
        ).author
        == "Ada"
    )


def test_a_headline_beside_a_breadcrumb_trail_stays_the_title() -> None:
    body = "<div class=breadcrumbs><a href=/nature>Nature</a></div><h1>Kelp grows back</h1><h2>Forests grow back</h2>"
    head = "<title>Kelp grows back</title>" + meta(og__title="Forests grow back")
    assert read(head, body + PROSE).title == "Kelp grows back"


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        # The headline is the name of a book, and the title of the chapter is a lesser
        # heading.
        (
            "<title>Tides - The Ocean Book</title>",
            "<h1>The Ocean Book</h1><h2>Tides</h2>",
            "Tides",
        ),
        (
            "<title>Tides — Oceans 2.0 manual</title>",
            "<h1>Oceans 2.0 manual</h1><h1>Tides¶</h1>",
            "Tides",
        ),
        (
            "<title>Nature - Kelp grows back</title>",
            "<h1>Kelp grows back</h1><h2>Why</h2>",
            "Kelp grows back",
        ),
        (
            "<title>Nature - Kelp grows back</title>"
            + meta(og__title="Kelp grows back"),
            "<h1>Kelp grows back</h1><h2>Nature</h2>",
            "Kelp grows back",
        ),
        # All pages of the site have the same title.
        (
            "<title>Seanews - The heart of the sea</title>",
            "<h1>Kelp grows back</h1>",
            "Kelp grows back",
        ),
        (
            "<title>Kelp forests - Seanews</title>",
            "<h1>We love the sea</h1>",
            "Kelp forests",
        ),
    ],
)
def test_the_title_of_a_book_or_a_site_is_not_that_of_its_pages(
    head: str, body: str, expected: str
) -> None:
    assert read(head, body + PROSE).title == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<title>From title</title>", "From title"),
        ("<title>x</title>" + meta(og__title="From graph"), "From graph"),
        ("<title>x</title>" + meta(twitter__title="From Twitter"), "From Twitter"),
        ("<title>x</title>" + meta(citation_title="From a journal"), "From a journal"),
        ("<title>Kelp forests</title>" + linked(ARTICLE), "Kelp forests"),
        ("<title>Salt &amp;amp; pepper</title>", "Salt & pepper"),  # escaped twice
        (
            "<title>Salt</title>"
            + linked(ARTICLE | {"headline": "<em>Salt</em> &#38; pepper"}),
            "Salt & pepper",
        ),
        # a film on a page about something else
        (
            "<title>Kelp forests</title>"
            + linked({"@type": "VideoObject", "name": "Live from Oslo"}),
            "Kelp forests",
        ),
    ],
)
def test_the_title_is_read_from_many_sources(head: str, expected: str) -> None:
    assert read(head).title == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (meta(author="Ada Lovelace"), "Ada Lovelace"),
        (meta(author="By Ada Lovelace | May 4, 2026"), "Ada Lovelace"),
        (meta(author="Ada Lovelace and Mary Shelley"), "Ada Lovelace, Mary Shelley"),
        (
            meta(author="Ada Lovelace und Jörg Müller, dpa"),
            "Ada Lovelace, Jörg Müller, dpa",
        ),
        (meta(author="Smith and Sons"), "Smith and Sons"),
        (meta(author="Ada Lovelace (al)"), "Ada Lovelace"),
        (meta(article__author="Ada Lovelace"), "Ada Lovelace"),
        # with a separator that others write differently
        (meta(citation__author="Ada Lovelace"), "Ada Lovelace"),
        (meta(**{"twitter:misc:Written by": "Ada Lovelace"}), "Ada Lovelace"),
        (meta(author="https://facebook.com/ada"), None),
        (meta(author="admin"), None),
        (meta(dc__creator="Ada"), "Ada"),
        (
            meta(citation_author="Lovelace, Ada") + meta(citation_author="Babbage, C."),
            "Lovelace, Ada, Babbage, C.",
        ),
        (
            meta(
                twitter__label1="Written by",
                twitter__data1="Ada",
                twitter__label2="Reading time",
            ),
            "Ada",
        ),
        (meta(parsely_author="x") + meta(**{"parsely-author": "Ada"}), "Ada"),
        (linked(ARTICLE), "Ada"),
        (linked([ARTICLE]), "Ada"),
        (
            linked(
                {
                    "@graph": [
                        {"@type": "Person", "@id": "#ada", "name": "Ada"},
                        ARTICLE | {"author": {"@id": "#ada"}},
                    ]
                }
            ),
            "Ada",
        ),
        (
            linked(
                ARTICLE
                | {
                    "author": [
                        {"name": "Ada"},
                        {"name": ["Bob", "Rob"]},
                        {"name": "Ada"},
                    ]
                }
            ),
            "Ada, Bob",
        ),
        (linked(ARTICLE | {"author": "Ada"}), "Ada"),
        (linked(ARTICLE | {"author": "https://sea.example/ada"}), None),
        (linked(ARTICLE | {"author": {"@id": "#nobody"}}), None),
        (
            linked(ARTICLE | {"@type": ["https://schema.org/NewsArticle", "Thing"]}),
            "Ada",
        ),
        (linked({"@type": "WebPage", "mainEntity": ARTICLE}), "Ada"),
        (
            linked(ARTICLE)
            .replace("{", "<![CDATA[{", 1)
            .replace("</script>", "]]></script>"),
            "Ada",
        ),
        # a raw line end in a string
        (linked(ARTICLE | {"description": "a\nb"}).replace("\\n", "\n"), "Ada"),
        # not the author of a comment, a review or a picture
        (
            linked(
                {"@type": "Comment", "author": "Troll"},
                {"@type": "ImageObject", "author": "Photographer"},
            ),
            None,
        ),
        (
            linked(
                {
                    "@type": "Product",
                    "name": "Kelp",
                    "review": {"@type": "Review", "author": "Buyer"},
                }
            ),
            None,
        ),
        # of many articles the one with this URL, else none
        (
            linked(
                *[ARTICLE | {"author": f"Writer {n}", "url": f"/{n}"} for n in range(3)]
            ),
            None,
        ),
        # of a few things the one with this URL
        (
            linked(
                {"@type": "MobileApplication", "name": "Kelp"},
                ARTICLE | {"mainEntityOfPage": URL},
            ),
            "Ada",
        ),
        # an older headline is that of this page if it gives this URL, else perhaps that
        # of another page
        (linked(ARTICLE | {"headline": "Algae thrive", "url": URL}), "Ada"),
        (linked(ARTICLE | {"headline": "Algae thrive", "url": "/2026/algae"}), None),
        (
            linked(
                *[
                    ARTICLE | {"author": f"Writer {n}", "url": f"/2026/{n}"}
                    for n in range(3)
                ],
                ARTICLE | {"url": URL},
            ),
            "Ada",
        ),
        # a person rather than the site
        (
            linked(ARTICLE | {"author": {"name": "Sea News"}}) + meta(author="Ada"),
            "Ada",
        ),
        (linked(ARTICLE | {"author": {"name": "Sea News"}}), None),
    ],
)
def test_the_authors_are_read_from_many_sources(
    head: str, expected: str | None
) -> None:
    article = meta(og__type="article")
    assert read(f"<title>Kelp forests</title>{article}{head}").author == expected


PUBLISHER = {"publisher": {"@type": "Organization", "name": "Tidal Media"}}


@pytest.mark.parametrize(
    "head",
    [
        linked(ARTICLE | {"author": {"name": "Sea News"}}),
        linked(ARTICLE | {"author": "seanews.example"}),
        linked(ARTICLE | PUBLISHER | {"author": "Tidal Media"}),
        linked(
            ARTICLE | PUBLISHER | {"author": {"@type": "Person", "name": "Tidal Media"}}
        ),
        linked(ARTICLE | {"author": "Pageworks 3"}) + meta(generator="Pageworks 3"),
        linked(ARTICLE | {"author": "Pageworks"})
        + meta(generator="Pageworks 3 (free)"),
        meta(og__type="article", author="Sea News"),
        meta(og__type="article", author="Webmaster"),
        linked(ARTICLE | {"author": ".byline a"}),
        linked(ARTICLE | {"author": "%AUTHOR%"}),
        meta(og__type="article", author="Staff Writer"),
        # of the template, and on no article
        meta(author="Brook & Daughters, design studio"),
        meta(author="Super User"),
        meta(author="Ada Lovelace"),
    ],
)
def test_who_makes_a_page_available_is_not_its_author(head: str) -> None:
    assert read(f"<title>Kelp forests</title>{head}").author is None


@pytest.mark.parametrize("name", ["Kelp House", "Tidal Media", "海藻社"])
def test_what_the_title_ends_with_is_not_the_author(name: str) -> None:
    head = f"<title>Kelp forests | {name}</title>{linked(ARTICLE | {'author': name})}"
    byline = "<p>By Ada Lovelace</p>"

    assert read(head).author is None
    assert read(head, f"<h1>Kelp forests</h1>{byline}{PROSE}").author == "Ada Lovelace"


@pytest.mark.parametrize("name", ["Sea News", "Ada Lovelace", "Jörg Müller"])
def test_a_person_may_have_the_name_of_a_site(name: str) -> None:
    person = {"@type": "Person", "name": name}
    head = linked(ARTICLE | {"author": person}) + meta(og__site_name=name)

    assert read(f"<title>Kelp forests | {name}</title>{head}").author == name


@pytest.mark.parametrize("tag", ["p", "div", "span"])
def test_an_author_whom_the_template_and_the_page_name_is_its_own(tag: str) -> None:
    body = f"<main><h1>Kelp forests</h1><{tag}>Ada Lovelace</{tag}>{PROSE}</main>"

    assert read(meta(author="Ada Lovelace"), body).author == "Ada Lovelace"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"givenName": "Ada", "familyName": "Lovelace"}, "Ada Lovelace"),
        ({"givenName": "Ada"}, "Ada"),
        ({"name": "Ada L.", "givenName": "Ada", "familyName": "Lovelace"}, "Ada L."),
    ],
)
def test_an_author_has_a_given_and_a_family_name(
    names: dict[str, str], expected: str
) -> None:
    author = {"@type": "Person"} | names

    assert read(linked(ARTICLE | {"author": [author]})).author == expected


@pytest.mark.parametrize(
    "line",
    [
        "<p class=byline>May 4, 2026<b>3:33 PM ET</b> <a>Ada Lovelace</a> <a>Twitter</a></p>",
        "<p class=byline><a>View profile</a><a>Ada Lovelace</a> in <a>Seas</a><a>Kelp</a></p>",
        "<div class=author>Tides <b>by</b> Ada Lovelace (Author) <i>May 4, 2026</i></div>",
        "<div>Monday May 4, 2026 10:05 am PDT by Ada Lovelace</div>",
        "<div class=author>投稿者 Ada Lovelace</div>",
        "<p class=author><a>Ada Lovelace</a> <i>Editor in chief</i></p>",
        "<p>Von Ada Lovelace, Redakteurin</p>",
        "<p class=authors><span>Ada Lovelace</span> <a>Follow @ada</a> <a>E-mail</a></p>",
    ],
)
def test_a_byline_ends_where_a_date_or_a_label_begins(line: str) -> None:
    page = read("", f"<main><h1>Kelp forests</h1>{line}{PROSE}</main>")

    assert page.author == "Ada Lovelace"


@pytest.mark.parametrize("card", ["article", "li", 'div class="card"'])
def test_the_author_of_a_card_is_not_that_of_the_page(card: str) -> None:
    cards = "".join(
        f"<{card}><h3>{title}</h3><p class=byline>By {name}</p>{PROSE}</{card.split(maxsplit=1)[0]}>"
        for title, name in (("Waves", "Ada Lovelace"), ("Wind", "Mary Shelley"))
    )

    assert (
        read("", f"<main><h1>All about seas</h1><ul>{cards}</ul></main>").author is None
    )


@pytest.mark.parametrize(
    ("head", "published", "modified"),
    [
        (meta(article__published_time="2026-05-04"), True, False),
        (meta(article__modified_time="2026-05-04"), False, True),
        (meta(date="2026-05-04", og__updated_time="2026-05-04"), True, True),
        (
            meta(
                article__published__time="2026-05-04",
                article__modified__time="2026-05-04",
            ),
            True,
            True,
        ),
        (meta(citation_publication_date="2026/05/04"), True, False),
        (meta(date="05/04/2026"), False, False),  # ambiguous
        (meta(citation_date="4 May 2026"), True, False),
        (meta(dcterms__modified="2026-05-04"), False, True),
        (meta(date="1970-01-01"), False, False),  # Unix time 0: no date
        (meta(date="1969-12-31T16:00:00-08:00"), False, False),
        (meta(date="soon", pubdate="2026-05-04"), True, False),
        (
            meta(**{"published-date": "2026-05-04", "modified-date": "May 4, 2026"}),
            True,
            True,
        ),
        (linked(ARTICLE | {"datePublished": "2026-05-04"}), True, False),
        (linked(ARTICLE | {"dateModified": "2026-05-04"}), False, True),
        (
            linked(
                {"@type": "JobPosting", "title": "Diver", "datePosted": "2026-05-04"}
            ),
            True,
            False,
        ),
        (
            linked(
                ARTICLE
                | {"comment": {"@type": "Comment", "datePublished": "2026-05-04"}}
            ),
            False,
            False,
        ),
        (
            linked(ARTICLE | {"datePublished": ["2026-05-04", "2020-01-01"]}),
            True,
            False,
        ),
    ],
)
def test_the_dates_are_read_from_many_sources(
    head: str, published: bool, modified: bool
) -> None:
    page = read("<title>Kelp forests</title>" + head)
    assert (DAY if published else None, DAY if modified else None) == (
        page.published,
        page.modified,
    )


HEADLINE = "<h1>Kelp forests</h1>"


@pytest.mark.parametrize(
    ("body", "author", "published", "modified"),
    [
        (
            f"{HEADLINE}<p>By <a href=/ada>Ada Lovelace</a></p><p>May 4, 2026</p>",
            "Ada Lovelace",
            True,
            False,
        ),
        (
            f"{HEADLINE}<p>By Ada Lovelace on 4 May 2026</p>",
            "Ada Lovelace",
            True,
            False,
        ),
        (f"{HEADLINE}<p>By Ada Lovelace May 4, 2026</p>", None, True, False),
        (f"{HEADLINE}<p>by ada_42 2026-05-04</p>", None, True, False),
        (f"{HEADLINE}<p>Von Ada Lovelace 4. Mai 2026</p>", None, True, False),
        (f"{HEADLINE}<p>By: Ada Lovelace 4 May 2026</p>", None, True, False),
        (
            f"{HEADLINE}<p>By Ada Lovelace and Mary Shelley, May 4, 2026</p>",
            "Ada Lovelace, Mary Shelley",
            True,
            False,
        ),
        (f"{HEADLINE}<p>by the way, it is wet</p>", None, False, False),
        (f"{HEADLINE}<p>Valid from 1 April to 4 May 2026</p>", None, False, False),
        (f"{HEADLINE}<p>Open from 1 April to 4 May 2026</p>", None, False, False),
        (f"{HEADLINE}<p>Tickets until <b>4 May 2026</b></p>", None, False, False),
        (f"{HEADLINE}<p>From Ada to Grace, 4 May 2026</p>", None, False, False),
        (
            f"{HEADLINE}<p>Published 4 May 2026, updated 4 May 2026</p>",
            None,
            True,
            True,
        ),
        (
            f"{HEADLINE}<p>Monday, 4 May 2026, 8:30 am · 5 min read</p>",
            None,
            True,
            False,
        ),
        (f"{HEADLINE}<p>Veröffentlicht am 4. Mai 2026 um 15:44</p>", None, True, False),
        (
            f"{HEADLINE}<ul><li>Von: <span><a>Ada Lovelace</a>, </span><a>Grace Hopper</a></ul>",
            "Ada Lovelace",
            False,
            False,
        ),
        (
            f"{HEADLINE}<p>Von: Ada Lovelace</p><p>Stand: 04.05.2026</p>",
            "Ada Lovelace",
            False,
            True,
        ),
        (f"{HEADLINE}<p>VON: ADA LOVELACE</p>", "ADA LOVELACE", False, False),
        (
            f"{HEADLINE}<p>Par : Ada Lovelace et Mary Shelley</p>",
            "Ada Lovelace, Mary Shelley",
            False,
            False,
        ),
        (
            f"{HEADLINE}<p>Por: Ada Lovelace | 4 de mayo de 2026</p>",
            "Ada Lovelace",
            True,
            False,
        ),
        (f"{HEADLINE}<p>By: Ada Lovelace</p>", "Ada Lovelace", False, False),
        (f"{HEADLINE}<p>Autorin: Ada Lovelace</p>", "Ada Lovelace", False, False),
        (f"{HEADLINE}<p>Автор: Ада Лавлейс</p>", "Ада Лавлейс", False, False),
        (f"{HEADLINE}<p>Von Ada Lovelace</p>", "Ada Lovelace", False, False),
        (f"{HEADLINE}<p>Por José María Ñúñez</p>", "José María Ñúñez", False, False),
        (f"{HEADLINE}<p>Von: dpa</p>", None, False, False),
        (
            f"{HEADLINE}<p>Von Ada Lovelace, 4. Mai 2026</p>",
            "Ada Lovelace",
            True,
            False,
        ),
        (f"{HEADLINE}<p>Por Ada Lovelace | Mar</p>", "Ada Lovelace", False, False),
        (
            f"{HEADLINE}<p class=author><b>Ada Lovelace</b><i>Diver</i></p>",
            "Ada Lovelace",
            False,
            False,
        ),
        (f"{HEADLINE}<p>Von Hamburg</p>", None, False, False),
        (f"{HEADLINE}<p>Von Hamburg nach Kiel</p>", None, False, False),
        (f"{HEADLINE}<p>Par exemple, la mer</p>", None, False, False),
        (f"{HEADLINE}<p>Di: Geschlossen</p>", None, False, False),
        (
            f"{HEADLINE}<p>par <b>Ada Lovelace</b></p><p>4 mai 2026</p>",
            "Ada Lovelace",
            True,
            False,
        ),
        (f"{HEADLINE}<p>Stand: 04.05.2026, 18:24 Uhr</p>", None, False, True),
        (f"{HEADLINE}<p>公開日 2026年5月4日 更新日 2026年5月4日</p>", None, True, True),
        (f"{HEADLINE}<p>Опубликовано 04.05.2026</p>", None, True, False),
        (f"{HEADLINE}<p>Posted on <b>4 May 2026</b></p>", None, True, False),
        (f"{HEADLINE}<p>Conference: 4 May 2026</p>", None, False, False),
        (f"{HEADLINE}<p>Conference <b>4 May 2026</b></p>", None, False, False),
        (
            f"{HEADLINE}<p>Next show: <time datetime=2026-05-04>4 May</time></p>",
            None,
            False,
            False,
        ),
        (
            f"{HEADLINE}<p>Next show <time datetime=2026-05-04>4 May</time></p>",
            None,
            False,
            False,
        ),
        (f"{HEADLINE}<p>Established 4 May 2026</p>", None, False, False),
        (f"{HEADLINE}<p>4 May 2026 – 6 May 2026</p>", None, False, False),
        (f"{HEADLINE}<p>4 May 2026 bis 06.05.2026</p>", None, False, False),
        (f"{HEADLINE}<p>Published 4 May 2999</p>", None, False, False),
        (f"{HEADLINE}<time datetime=2999-05-04>4 May</time>", None, False, False),
        (
            f"{HEADLINE}<span class=post-author>Ada</span><time datetime=2026-05-04>today</time>",
            "Ada",
            True,
            False,
        ),
        (
            f"{HEADLINE}<ul class=metaInfoAuthorList><li>Ada</ul><p>Updated May 4, 2026</p>",
            "Ada",
            False,
            True,
        ),
        (
            f"{HEADLINE}<li class=authors__list-item>Ada</li><p>Updated May 4, 2026</p>",
            "Ada",
            False,
            True,
        ),
        (
            f"{HEADLINE}<div class=block_authorName__N6j3Y>Ada</div><p>Updated May 4, 2026</p>",
            "Ada",
            False,
            True,
        ),
        (
            f"{HEADLINE}<a rel='author nofollow'>Ada</a><p>Last modified: <b>2026-05-04</b></p>",
            "Ada",
            False,
            True,
        ),
        (
            f"<p>May 4, 2026</p><div class=byline>By Ada</div>{HEADLINE}",
            None,
            False,
            False,
        ),
        (
            f"<header><p>May 4, 2026</p><div class=byline>By Ada</div>{HEADLINE}</header>",
            "Ada",
            True,
            False,
        ),
        (
            f"{'<h3>Menu</h3>' * 40}<h3>Kelp forests</h3><p>By Ada Lovelace</p>",
            "Ada Lovelace",
            False,
            False,
        ),
        (
            "<h1>Forum</h1><h2><a>Kelp forests</a></h2><a class=username>ada_42</a>",
            "ada_42",
            False,
            False,
        ),
        # of the next page, which a heading links to
        (
            f"{HEADLINE}<h2><a href=/b>Whales</a></h2><p>By Ada</p><time datetime=2026-05-04></time>",
            None,
            False,
            False,
        ),
        (
            f"{HEADLINE}<nav><p>By Ada</p></nav><script>By Ada</script>",
            None,
            False,
            False,
        ),
        (f"{HEADLINE}{'<p>word</p>' * 100}<p>By Ada</p>", None, False, False),
        (
            "<span itemprop=author><b itemprop=name>Ada</b></span><meta itemprop=datePublished content=2026-05-04>",
            "Ada",
            True,
            False,
        ),
        (
            "<div itemprop=comment><b itemprop=author>Troll</b></div><b itemprop=author>Ada</b>",
            "Ada",
            False,
            False,
        ),
        (
            "<div itemtype=https://schema.org/Review itemscope><b itemprop=author>Buyer</b></div>",
            None,
            False,
            False,
        ),
    ],
)
def test_authors_and_dates_are_looked_for_around_the_headline(
    body: str, author: str | None, published: bool, modified: bool
) -> None:
    page = read("<title>Kelp forests</title>", body + PROSE)
    expected = (author, DAY if published else None, DAY if modified else None)
    assert expected == (page.author, page.published, page.modified)


@pytest.mark.parametrize(
    ("body", "published"),
    [
        ("<table><tr><th>Sailed</th><td>May 4, 2026</td></tr></table>", False),
        ("<table><tr><th>Published</th><td>May 4, 2026</td></tr></table>", True),
        ("<table><tr><td>May 4, 2026</td></tr></table>", True),  # for its layout
        ("<table><tr><th>No<th>Day<tr><td>2.1<td>May 4, 2026</table>", False),
        ("<dl><dt>Founded</dt><dd>May 4, 2026</dd></dl>", False),
        ("<dl><dt>Founded</dt><dd><time datetime=2026-05-04>then</time></dd>", False),
        ("<dl><dt>Posted</dt><dd>May 4, 2026</dd></dl>", True),
        (
            "<ul><li><b>Owner</b> <i>Ada</i><li><b>Launched</b> <i>May 4, 2026</i></ul>",
            False,
        ),
        (
            "<div><p>Owner</p><p>Ada</p></div><div><p>Launched</p><p>May 4, 2026</p></div>",
            False,
        ),
        ("<div><span>Ada Lovelace</span> <span>May 4, 2026</span></div>", True),
        ("<p>The log of the <i>Kelpie</i>, May 4, 2026</p>", True),
        ("<p>It was in the log of the <i>Kelpie</i>, May 4, 2026</p>", False),
        ("<p>Posted in the log of the <i>Kelpie</i>, May 4, 2026</p>", True),
        ("<p><b>Apply by</b> May 4, 2026</p>", False),
        ("<p>Sailing date<br>4 May 2026</p>", True),
        ("<p>Closing date<br>4 May 2026</p>", False),
        ("<div><b>Next tide</b> <i>May 4, 2026</i></div>", False),
        ("<p>Einsendeschluss<br>4. Mai 2026</p>", False),
        ("<p><b>Fondée le</b> 4 mai 2026</p>", False),
        ("<p>Publié le 4 mai 2026</p>", True),
        ("<p>Monday, 4 May 2026, 10:00 – 17:30</p>", False),
        ("<p>4 May 2026, 6.30 pm - 9 pm</p>", False),
        ("<p>4 May 2026, 10:00-05:00</p>", True),  # the zone of New York
        ("<p>2 – 4 May 2026</p>", False),
        ("<p>2. bis 4. Mai 2026</p>", False),
        ("<p><time itemprop=startDate datetime=2026-05-04>soon</time></p>", False),
        ("<figure><figcaption>4 May 2026</figcaption></figure>", False),
    ],
)
def test_a_date_that_is_a_fact_is_not_that_of_the_page(
    body: str, published: bool
) -> None:
    page = read("<title>Kelp forests</title>", f"{HEADLINE}{body}{PROSE}")

    assert page.published == (DAY if published else None)


@pytest.mark.parametrize(
    "rows",
    [
        "<table><tr><td>4 May 2026<td>closed<tr><td>5 May 2026<td>open</table>",
        "<ul><li><b>May 4, 2026</b> Tide v. Wave<li><b>May 2, 2026</b> Kelp v. Crab</ul>",
        (
            "<div class=item><time datetime=2026-05-04>May 4</time> A</div>"
            "<div class=item><time datetime=2026-05-02>May 2, 2026</time> B</div>"
        ),
        "<table><tr><td>4 May 2026<td>9-12<tr><td>5 May 2026<td>2-4</table>",
        "<div><h3>4 May 2026</h3>They stand still<h3>2 May 2026</h3>They stand</div>",
        "<p class=a>4 May 2026</p><a href=/a>A</a><p class=a>2 May 2026</p><a>B</a>",
        (
            "<div class=a><div><p>4 May 2026</p><h2>A</h2></div></div>"
            "<div class=b><div><p>2 May 2026</p><h2>B</h2></div></div>"
        ),
        "<p><time datetime=2026-05-04>4</time> – <time datetime=2026-05-06>6</time></p>",
    ],
)
def test_a_row_of_a_list_does_not_date_the_page(rows: str) -> None:
    assert (
        read("", f"<main><h1>Kelp forests</h1>{rows}{PROSE}</main>").published is None
    )


@pytest.mark.parametrize(
    ("line", "is_stated"),
    [
        ("<p>4 May 1926</p>", False),
        ("<p><i>Kelp Bay</i>, 4 May 1863</p>", False),
        ("<time datetime=1889-05-04>then</time>", False),
        ("<p>Published 4 May 1926</p>", True),
    ],
)
def test_a_day_before_the_web_is_the_subject_unless_it_says_more(
    line: str, is_stated: bool
) -> None:
    page = read("", f"{HEADLINE}{line}{PROSE}")

    assert (page.published is not None) == is_stated


def test_who_sells_a_product_is_not_its_author() -> None:
    product = {"@type": "Product", "name": "Kelp forests", "offers": {"price": 9}}
    body = f"{HEADLINE}<p>by <a class=author>Ada Lovelace</a></p>{PROSE}"

    assert read(linked(product), body).author is None


def test_the_day_of_an_event_is_not_that_of_its_page():
    event = {"@type": "DanceEvent", "name": "Kelp ball", "startDate": "2026-05-04"}
    body = f"<h1>Kelp ball</h1><p>4 May 2026</p>{PROSE}"

    assert read(linked(event), body).published is None
    assert read(linked(ARTICLE), HEADLINE + "<p>4 May 2026</p>").published == DAY


@pytest.mark.parametrize(
    "comments",
    [
        "<ol class=comments><li><p class=author>Ada</p>4 May 2026</ol>",
        "<div id=disqus_thread><p>Posted by Ada Lovelace on 4 May 2026</p></div>",
        "<div class=related-stories><b>By Ada</b><p>4 May 2026</p></div>",
        "<p class=byline>Photos: Ada Lovelace</p>",
        "<div class='js-Reviews-list'><b>By Ada</b><p>4 May 2026</p></div>",
        "<div class='comment-list'><b>By Ada</b><time datetime=2026-05-04>now</time></div>",
    ],
)
def test_who_comments_is_not_the_author(comments: str) -> None:
    page = read("", f"{HEADLINE}<p>Kelp is back.</p>{comments}")

    assert (page.author, page.published) == (None, None)


@pytest.mark.parametrize(
    "lines",
    [
        "<ul><li>Published May 4, 2026<li>Updated May 5, 2026</ul>",
        "<ul><li>May 4, 2026<li>By Ada Lovelace</ul>",
        "<p><span>May 4, 2026</span> <span>May 5, 2026</span></p>",
        "<p>By Ada Lovelace, Staff Writer · May 4, 2026 · 5 min read</p>",
        "<p>By Ada Lovelace and Tom O'Neil | May 4, 2026</p>",
        "<p>Von Ada Lovelace und Mary Shelley, 4. Mai 2026</p>",
    ],
)
def test_a_byline_and_lines_beside_each_other_may_date_the_page(lines: str) -> None:
    assert (
        read("", f"<main><h1>Kelp forests</h1>{lines}{PROSE}</main>").published == DAY
    )


@pytest.mark.parametrize(
    ("title", "headline"),
    [
        ("Kelp | The Ocean Wiki of Everybody", "Kelp"),
        ("海藻 - みんなの海の百科事典", "海藻"),
        ("Sudo – Handbook of the Harbour Office", "Sudo"),
        (
            "Oak mast, unused - Boats for sale by owner - Harbour market",
            "Oak mast, unused",
        ),
    ],
)
def test_a_headline_that_is_a_part_of_the_title_is_the_title(
    title: str, headline: str
) -> None:
    page = read(f"<title>{title}</title>", f"<h1>{headline}</h1>{PROSE}")

    assert page.title == headline


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (
            "Slip opinions <select style='width: 9em'><option>2026</option>",
            "Slip opinions",
        ),
        ("Slip opinions <select style='wid", "Slip opinions"),
        ("Slip opinions <select><option>2026", "Slip opinions"),
        ("Slip opinions <img src=a.png alt=x> <img src=b.png>", "Slip opinions"),
        ('How <input type="date"> works', 'How <input type="date"> works'),
    ],
)
def test_elements_that_spill_into_the_title_are_cut(title: str, expected: str) -> None:
    assert read(f"<title>{title}</title>").title == expected
    assert read(meta(og__title=title.replace('"', "&quot;"))).title == expected


@pytest.mark.parametrize("kind", ["Movie", "Book", "SoftwareApplication", "Product"])
def test_what_has_a_date_of_its_own_does_not_date_the_page(kind: str) -> None:
    thing = {"@type": kind, "name": "Kelp forests", "datePublished": "1926-05-04"}
    script = f"<script type=application/ld+json>{json.dumps(thing)}</script>"

    assert read(script, HEADLINE + PROSE).published is None


@pytest.mark.parametrize(
    ("head", "links", "author"),
    [
        (
            meta(og__type="article"),
            "<a rel=author>Ada</a> <a rel='me author'>Ada</a>",
            "Ada",
        ),
        (meta(og__type="article"), "<a rel=author>Ada</a> <a rel=author>Bob</a>", None),
        (meta(og__type="website"), "<a rel=author>Ada</a>", None),  # of what it lists
    ],
)
def test_the_only_author_that_an_article_links_to_is_its_own(
    head: str, links: str, author: str | None
) -> None:
    assert (
        read(
            f"<title>Kelp forests</title>{head}", f"{HEADLINE}{PROSE * 90}{links}"
        ).author
        == author
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Ada", "Ada"),
        ("  by   Ada   Lovelace ", "Ada Lovelace"),
        ("Written by Ada Lovelace, PhD", "Ada Lovelace, PhD"),
        ("Posted by ada_42 · 3 hours ago", "ada_42"),
        ("Author: Ada", "Ada"),
        ("Ada Lovelace, updated on 4 May 2026", "Ada Lovelace"),
        ("By Ada Lovelace, 4 May 2026", "Ada Lovelace"),
        ("By Ada Lovelace, Senior Staff Writer", "Ada Lovelace"),
        ("Ada Lovelace, editor, Mary Shelley, reporter", "Ada Lovelace, Mary Shelley"),
        ("Par Ada Lovelace, publié le 4 mai 2026 à 8h30", "Ada Lovelace"),
        ("Von Ada Lovelace, 4. Mai 2026, 14:05 Uhr", "Ada Lovelace"),
        ("作者：山田 花子 2026年5月4日", "山田 花子"),
        ("By Ada Lovelace on Monday, May 4, 2026", "Ada Lovelace"),
        ("By Ada Sun, Mon May 4, 2026", "Ada Sun"),
        (
            "Von: Ada Lovelace und Mary Shelley, 4. Mai 2026",
            "Ada Lovelace, Mary Shelley",
        ),
        ("By May 4, 2026", None),
        ("By , May 4, 2026", None),
        ("Ada, May 4, 2026", None),
        ("Byron", "Byron"),
        (
            f"Ada Lovelace, professor of {'very ' * 12}wet plants, Sea News",
            "Ada Lovelace",
        ),
        (
            "Ada Byron, Grace Hopper, Mary Shelley, Alan Turing, Donald Knuth, Edsger Dijkstra and Barbara Liskov",
            "Ada Byron, Grace Hopper, Mary Shelley, Alan Turing, Donald Knuth, Edsger Dijkstra, Barbara Liskov",
        ),
        (", ".join(["Ada Lovelace"] * 20), ", ".join(["Ada Lovelace"] * 7)),
        (f"{'very ' * 12}long, and not a name", None),
        ("Иван Иванов", "Иван Иванов"),
        ("By", None),
        ("Google+", None),
        ("May 4, 2026", None),
        ("ada@example.org", None),
        ("www.example.org", None),
        ("42 comments", None),
        ("...", None),
        ("x" * 101, None),
        ("word " * 20, None),
    ],
)
def test_a_byline_is_a_name_or_none(line: str, name: str | None) -> None:
    assert person(line) == name


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/2026/05/04/kelp", DAY),
        ("/2026-05-04/kelp", DAY),
        ("/2026/05/kelp", None),
        ("/12026/05/04", None),
        ("/2026/13/04/x", None),
    ],
)
def test_a_day_in_the_url_is_the_last_resort(
    path: str, expected: datetime | None
) -> None:
    url = f"https://sea.example{path}"
    assert read(url=url).published == expected
    assert read(meta(date="2025-01-02"), url=url).published == datetime(
        2025, 1, 2, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("attributes", "head", "expected"),
    [
        ("lang=en-GB", "", "en-GB"),
        ("lang=EN_us", "", "en-US"),
        ("lang=zh-hans-cn", "", "zh-Hans-CN"),
        ("lang=english", "", None),
        ("lang=und", meta(language="de"), "de"),
        ("lang=''", '<meta http-equiv="Content-Language" content="de, en">', "de"),
        ("", meta(og__locale="pt_BR"), "pt-BR"),
        (
            "",
            linked(ARTICLE | {"inLanguage": {"@type": "Language", "name": "fr"}}),
            "fr",
        ),
        ("", "", None),
    ],
)
def test_the_language_is_a_tag_or_none(
    attributes: str, head: str, expected: str | None
) -> None:
    assert read(head, attributes=attributes).language == expected


@pytest.mark.parametrize(
    ("url", "href", "expected"),
    [
        (URL, "https://www.seanews.example/kelp", "https://www.seanews.example/kelp"),
        (URL, "/kelp", "https://www.seanews.example/kelp"),
        (URL, "https://seanews.example/kelp", "https://seanews.example/kelp"),
        (URL, "https://blog.seanews.example/kelp", "https://blog.seanews.example/kelp"),
        (
            "https://en.m.wikipedia.org/wiki/Kelp",
            "https://en.wikipedia.org/wiki/Kelp",
            "https://en.wikipedia.org/wiki/Kelp",
        ),
        (
            "https://amp.sea.example/k",
            "https://www.sea.example/k",
            "https://www.sea.example/k",
        ),
        (URL, "https://other.example/kelp", None),  # another site
        (URL, "https://fakeseanews.example/kelp", None),
        ("https://ada.github.io/", "https://bob.github.io/", None),
        (URL, "javascript:alert(1)", None),
        (URL, "https://user:secret@www.seanews.example/", None),
        (URL, "", None),
    ],
)
def test_the_canonical_url_is_on_the_same_site(
    url: str, href: str, expected: str | None
) -> None:
    assert (
        read(f'<link rel="canonical" href="{href}">', url=url).canonical_url == expected
    )
    assert read(meta(og__url=href), url=url).canonical_url == expected


@pytest.mark.parametrize(
    ("href", "kind"),
    [
        ("https://seanews.example/forum/kelp", "forum"),
        # a copy is of the same kind as its original
        ("https://other.example/forum/kelp", "forum"),
        ("https://seanews.example/", None),  # the front page, which is not this page
        ("javascript:alert(1)", None),
        ("", None),
    ],
)
def test_a_page_under_a_short_url_is_of_the_kind_that_its_own_url_says(
    href: str, kind: str | None
) -> None:
    page = read(
        f'<link rel="canonical" href="{href}">', url="https://go.example/8f3ka91"
    )

    assert page.kind == kind
    assert page.url == "https://go.example/8f3ka91"


def test_a_neutral_url_does_not_change_which_blocks_are_content() -> None:
    head = '<link rel="canonical" href="https://seanews.example/2026/05/kelp-grows-half-a-metre-a-day">'
    body = f"<nav><a href=/a>Tides</a> <a href=/b>Boats</a></nav><article><h1>Kelp</h1>{PROSE}</article>"

    assert (
        len(
            {
                read(head, body, url).content
                for url in (URL, "https://go.example/", "http://127.0.0.1:8000/7")
            }
        )
        == 1
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (meta(og__site_name="Sea News"), "Sea News"),
        (meta(**{"application-name": "Sea"}), "Sea"),
        (linked({"@type": "WebSite", "name": "Sea &amp; News"}), "Sea & News"),
        ("<title>Kelp - Sea News</title>", None),
    ],
)
def test_the_name_of_the_site_is_stated_or_unknown(
    head: str, expected: str | None
) -> None:
    assert read(head).site_name == expected


def test_meta_tags_are_found_after_an_element_that_ends_the_head_too_early() -> None:
    head = "<div></div>" + meta(og__title="Kelp", article__author="Ada")

    assert read(head).author == "Ada"


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        (
            "<title>Kelp forests</title>",
            "<h1><img alt='Kelp forests of the sea'></h1>",
            "Kelp forests",
        ),
        (
            "<title>Kelp forests</title>",
            "<h1></h1><h1>\u200b</h1><h1>Kelp forests</h1>",
            "Kelp forests",
        ),
        (
            "<title>Kelp\u200b forests</title>",
            "<h1>\u202eKelp fo\u00adrests\u202c</h1>",
            "Kelp forests",
        ),
        ("<title>\u2066Kelp forests\u2069 | \u200fSeanews</title>", "", "Kelp forests"),
        (
            "<title>Kelp &amp;amp; forests</title>",
            "<h1>Kelp &amp; forests</h1>",
            "Kelp & forests",
        ),
        (
            "<title>Kelp &amp;lt;b&amp;gt;forests</title>",
            "<h1>Kelp forests</h1>",
            "Kelp forests",
        ),
        (
            "<title>\u200b\u202e</title>" + meta(og__title="\u2066\u2069"),
            "<h1>Kelp forests</h1>",
            "Kelp forests",
        ),
        ("<title>🌊</title>", "<h1>🌊</h1>", "🌊"),
    ],
)
def test_signs_that_nobody_sees_do_not_change_the_title(
    head: str, body: str, expected: str
) -> None:
    assert read(head, body + PROSE).title == expected


def test_every_text_is_one_clean_line_of_bounded_length() -> None:
    nasty = "Kelp\u200b\u202e\nforest\ue000 " + "x" * 10_000
    things = ARTICLE | {
        "headline": nasty,
        "author": ["A\u200bda\nL."],
        "description": nasty,
    }
    page = read(f"<title>{nasty}</title>" + meta(og__site_name=nasty) + linked(things))
    assert [
        len(text or "") for text in (page.title, page.description, page.site_name)
    ] == [300, 1000, 200]
    assert page.author == "Ada L."
    assert (page.title + str(page.description)).isprintable()
    assert page.title.startswith("Kelp forest xxx")


@pytest.mark.parametrize(
    "script",
    [
        '{"@type": "Article", "author": {"@id": "#a"}, "@id": "#a"}',
        '{"@graph": {"@graph": {"@graph": [1, null, "x", {"@type": 7, "author": true}]}}}',
        '{"@type": {"a": 1}, "@id": ["x"], "name": {"name": {"name": "x"}}}',
        '{"@type": "Article", "datePublished": 1e999, "author": -1e999}',
        "[" * 5_000 + "]" * 5_000,
        '{"@type":"Article","author":['
        + '{"@type":"Person","name":{"@value":[]}},' * 9_000
        + "{}]}",
        '"text"',
        "",
    ],
)
def test_nonsense_in_json_ld_is_ignored(script: str) -> None:
    page = read(
        f'<title>Kelp</title><script type="application/ld+json">{script}</script>'
    )
    assert page.title == "Kelp"
    assert page.published is None


def test_the_reading_of_a_word_is_no_part_of_a_title() -> None:
    ruby = "<ruby>体罰<rp>(</rp><rt>たいばつ</rt><rp>)</rp></ruby>"
    page = read(body=f"<article><h1>子どもへの{ruby}を</h1>{PROSE}</article>")
    assert page.title == "子どもへの体罰を"


LETTER = (
    "<p>" + "The stones of the mill were dressed in spring, and grind rye again. " * 4
)


@pytest.mark.parametrize(
    "head",
    [
        "<b>Ada Ames</b> <a href='mailto:x'>ada at mill.example</a><br><i>Tue May  5 17:02:11 CEST 2026</i>",
        "<ul><li><em>From</em>: Ada Ames &lt;<a href='mailto:ada@mill.example'>ada@mill.example</a>&gt;</li><li><em>To</em>: list</li><li><em>Date</em>: Tue, 5 May 2026 17:02:11 +0200</li></ul>",
        "<address><span><dfn>From</dfn>: Ada Ames &lt;<a href='mailto:ada@mill.example'>ada@mill.example</a>&gt;</span><br><span><dfn>Date</dfn>: Tue, 5 May 2026 17:02:11 +0200</span></address>",
    ],
)  # fmt: skip
def test_the_head_of_a_letter_names_its_author_and_its_date(head):
    page = read_html(
        f"<title>Stones</title><h1>Stones</h1>{head}{LETTER}".encode(), "https://mill.example/1"
    )  # fmt: skip

    assert page.author == "Ada Ames"
    assert page.published is not None
    assert page.published.date().isoformat() == "2026-05-05"


@pytest.mark.parametrize(
    "line",
    [
        "<p>Ada Ames <a href='mailto:ada@mill.example'>mail</a></p>",
        "<p>Ada Ames <a href='mailto:ada@mill.example'>mail</a></p><p>Opens on 4 May 2026",
        "<p>Write to <a href='mailto:ada@mill.example'>us</a></p><p>4 May 2026",
    ],
)
def test_who_can_be_written_to_is_no_author(line):
    source = f"<title>Stones</title><h1>Stones</h1>{line}{LETTER}"

    assert read_html(source.encode(), "https://mill.example/1").author is None


@pytest.mark.parametrize(
    ("shown", "author"),
    [
        ("<p class=byline>By <a rel=author href=/ada>Ada Ames</a></p>", "Ada Ames"),
        ("<div>By Ada Ames</div>", "Ada Ames"),
        ("<span class=author-name>Ada Ames</span>", "Ada Ames"),
        ("<p>By Editorial Staff</p>", "Mill Feed"),
        ("<p>By Millstream News</p>", "Mill Feed"),
        ("<p>By Mill Feed and Ada Ames</p>", "Mill Feed"),
        ("<p>At the brook.</p>", "Mill Feed"),
    ],
)
def test_the_author_that_is_shown_counts_more_than_an_account(shown, author):
    data = {
        "@type": "NewsArticle", "headline": "Stones", "datePublished": "2026-05-05",
        "author": {"@type": "Person", "name": "Mill Feed"},
    }  # fmt: skip
    linked = f"<script type='application/ld+json'>{json.dumps(data)}</script>"
    source = f"<title>Stones</title>{linked}<h1>Stones</h1>{shown}{LETTER}"

    page = read_html(source.encode(), "https://millstream.example/1")

    assert page.author == author


@pytest.mark.parametrize(
    "tags", ["xml:lang=fr", "lang='' xml:lang=fr", "lang=fr xml:lang=en"]
)
def test_the_language_of_xhtml_is_read(tags):
    page = read_html(f"<html {tags}><title>Le moulin".encode(), "https://mill.example/")

    assert page.language == "fr"


class _Searched:
    """A parsed page that keeps what it is searched for."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self.searches: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._document, name)

    def css(self, selector: str) -> Any:
        self.searches.append(selector)
        return self._document.css(selector)


def test_a_page_is_searched_once_for_what_says_most_about_it() -> None:
    head = meta(og__title="Kelp forests") + linked(ARTICLE)
    body = f"<h1>Kelp forests</h1><p>By Ada Lovelace, 4 May 2026</p>{PROSE}"
    page = _Searched(parse(f"<head>{head}</head><body>{body}</body>".encode()))

    facts = read_metadata(page, URL)  # type: ignore[arg-type]

    assert (facts.title, facts.author) == ("Kelp forests", "Ada")
    whole = [search for search in page.searches if search != "meta"]
    assert len(whole) == 1


def test_a_base_and_a_field_for_a_password_are_found_in_any_case() -> None:
    page = parse(b"<body><BASE target=x><base HREF='/kelp/'><input type=PassWord>")

    facts = read_metadata(page, URL)

    assert facts.base == "https://www.seanews.example/kelp/"
    assert facts.has_password


@pytest.mark.parametrize(
    "title",
    ["Untitled Document", "New Page 3", "React App", "Document sans titre"],
)
def test_what_editors_write_into_a_new_page_is_no_title(title: str) -> None:
    head = f"<title>{title}</title>"

    assert read(head, f"{HEADLINE}{PROSE}").title == "Kelp forests"
    assert read(head, PROSE).title == ""


def test_the_name_of_the_site_as_the_only_h1_is_no_part_of_the_title():
    head = "<title>Kelp grows back - Tide Watchers</title>"
    body = f"<h1>Tide Watchers</h1><h2>Kelp grows back</h2>{PROSE}"

    assert read(head, body).title == "Kelp grows back"


@pytest.mark.parametrize("label", ["By", "Written by", "Author:"])
def test_a_label_right_before_a_name_is_no_part_of_it(label: str) -> None:
    line = f"<p class=byline><span>{label}</span><a href=/ada>Ada Lovelace</a></p>"

    assert read(body=f"<h1>Kelp forests</h1>{line}{PROSE}").author == "Ada Lovelace"


@pytest.mark.parametrize(
    "credit",
    [
        "<footer><p itemscope>Site by <b itemprop=creator>Tidal Ink</b></p></footer>",
        "<div itemtype=/Product><p>Question of <b itemprop=author>Tidal Ink</b></p></div>",
        "<ul class=product-reviews><li><b itemprop=author>Tidal Ink</b></li></ul>",
    ],
)
def test_who_made_the_site_or_asks_about_a_product_is_not_the_author(
    credit: str,
) -> None:
    page = read(meta(og__type="article"), f"<h1>Kelp forests</h1>{PROSE}{credit}")

    assert page.author is None


def test_the_footer_of_an_article_may_say_who_wrote_it() -> None:
    footer = "<footer>By <b itemprop=author>Ada Lovelace</b></footer>"
    page = read(body=f"<article><h1>Kelp forests</h1>{PROSE}{footer}</article>")

    assert page.author == "Ada Lovelace"


@pytest.mark.parametrize("plus", ["+", "&#x2B;", "&#43;", "&plus;"])
def test_json_ld_is_read_however_its_type_is_written(plus: str) -> None:
    script = f"<script type='application/ld{plus}json'>{json.dumps(ARTICLE)}</script>"

    assert read(script).author == "Ada"


@pytest.mark.parametrize("count", [1, 2, 8])
def test_questions_at_the_end_of_a_page_are_not_what_it_is_about(count: int) -> None:
    faq = {"@type": ["WebPage", "FAQPage"], "datePublished": "2026-05-04", "url": URL}
    questions = [
        {"@type": "Question", "name": "What are kelp forests?", "url": f"{URL}#faq-{n}"}
        for n in range(count)
    ]
    page = read("<title>Kelp forests</title>" + linked({"@graph": [faq, *questions]}))

    assert page.kind != "forum"
    assert page.published == DAY
    assert page.data is None or page.data.kind != "question"


@pytest.mark.parametrize("name", ["published_at", "published_time", "publishedDate"])
def test_more_names_of_the_day_of_a_page_are_known(name: str) -> None:
    assert read(meta(**{name: "2026-05-04"})).published == DAY


@pytest.mark.parametrize(
    "marks", ["liste-avis", "bloc_des_avis", "avis-clients", "section-avis-client"]
)
def test_reviews_in_french_do_not_date_the_page(marks: str) -> None:
    review = f"<div class={marks}><p>Publié le 4 mai 2020</p><p>Parfait</p></div>"

    assert read(body=f"<h1>Kelp</h1>{review}{PROSE}").published is None


@pytest.mark.parametrize("marks", ["avis", "avis-logo", "liste"])
def test_a_word_that_may_mean_more_is_no_class_of_reviews(marks: str) -> None:
    line = f"<div class={marks}><p>Publié le 4 mai 2020</p></div>"

    assert read(body=f"<h1>Kelp</h1>{line}{PROSE}").published is not None


@pytest.mark.parametrize("word", ["Originally", "First", "Last"])
def test_when_a_page_was_published_is_not_who_wrote_it(word: str) -> None:
    line = f"<p class=byline>{word} published May 4, 2026</p>"

    assert read(body=f"<h1>Kelp forests</h1>{line}{PROSE}").author is None
