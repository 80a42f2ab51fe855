"""https://info.arxiv.org/help/api/user-manual.html"""

from __future__ import annotations

import pytest

from websearch_core.errors import BadResponse, UnsupportedOption
from websearch_core.flow import Call, Sleep
from websearch_core.models import SearchQuery
from websearch_core.providers.arxiv import ArXiv
from websearch_core.testing import play, reply

FEED = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/">
<o:totalResults>{total}</o:totalResults>{entries}</feed>"""
ENTRY = "<entry><id>http://arxiv.org/abs/2603.{n:05}v1</id><title>Tides {n}</title><summary>Up.</summary></entry>"


def feed(*numbers, total):
    return FEED.format(total=total, entries="".join(ENTRY.format(n=n) for n in numbers))


def words_of(text, **options):
    return next(ArXiv().search(SearchQuery.of(text, **options))).params["search_query"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tides", "all:tides"),
        ("spring tides", "all:spring AND all:tides"),
        ('"spring tides" pier', 'all:"spring tides" AND all:pier'),
        # what arXiv would take for its own language
        ("f(x): a tide", "all:f AND all:x AND all:a AND all:tide"),
        ('ti:"spring tides" ANDNOT au:Ferry', 'ti:"spring tides" ANDNOT au:Ferry'),
        ("()", 'all:"()"'),
    ],
)
def test_a_paper_contains_all_words_and_fields_are_sent_as_they_are(text, words):
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("options", "dates"),
    [
        ({"after": "2026-01-02"}, "[202601020000 TO 210001012359]"),
        ({"before": "2026-01-02"}, "[199101010000 TO 202601022359]"),
        (
            {"after": "2026-01-02", "before": "2026-02-03"},
            "[202601020000 TO 202602032359]",
        ),
    ],
)
def test_dates_are_part_of_the_query(options, dates):
    assert words_of("tides", **options) == f"(all:tides) AND submittedDate:{dates}"


def test_pages_are_three_seconds_apart():
    pages = [feed(*range(100), total=130), feed(*range(100, 130), total=130)]
    pauses = []

    def answers(effect):
        """Return the answer to an effect, as the driver would."""
        if isinstance(effect, Sleep):
            return pauses.append(effect.seconds)
        return effect() if isinstance(effect, Call) else reply(pages.pop(0))

    flow = ArXiv().search(SearchQuery.of("tides", limit=150))
    found = drive(flow, answers)

    assert pauses == [3.0]
    assert len(found.results) == 130


def drive(flow, answers):
    try:
        effect = next(flow)
        while True:
            effect = flow.send(answers(effect))
    except StopIteration as stop:
        return stop.value


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><feed xmlns="http://www.w3.org/2005/Atom">&b;</feed>',
        "<rss><channel><title>Tides</title></channel></rss>",
        "<feed",
    ],
)
def test_what_is_no_feed_of_theirs_is_not_read(body):
    with pytest.raises(BadResponse):
        play(ArXiv().search(SearchQuery.of("tides")), reply(body))


def test_an_entry_may_lack_nearly_everything():
    (result,) = play(
        ArXiv().search(SearchQuery.of("tides", limit=1)), reply(feed(1, total=1))
    ).result.results

    assert (result.url, result.author, result.published) == (
        "http://arxiv.org/abs/2603.00001v1",
        None,
        None,
    )
    assert result.raw["title"] == "Tides 1"


def test_it_has_papers_only():
    with pytest.raises(UnsupportedOption):
        words_of("tides", topic="news")
