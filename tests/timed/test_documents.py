"""What hostile documents cost."""

from __future__ import annotations

import pytest

from tests.core.reading.documents.test_feed import ENTITIES
from tests.core.reading.documents.test_office import save, workbook
from tests.core.reading.documents.test_pdf import HOSTILE
from tests.timed.cost import check_cost
from tests.whole import WHOLE
from websearch_core.errors import UnsupportedContent
from websearch_core.reading import read_bytes
from websearch_core.reading._documents import feed
from websearch_core.reading._sniff import media_type

URL = "https://sea.example/kelp"


def read_feed(data):
    return read_bytes(data, URL, "application/rss+xml", isolate=False)


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE rss [<!ENTITY a 'ha'>%b]><rss><channel><title>&m;</title></channel></rss>"
        % ENTITIES,
        b"<!DOCTYPE rss [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><rss><channel><title>&a;</title></channel></rss>",
        b"<rss><channel><item "
        + b" ".join(b"a%d='x'" % n for n in range(80_000))
        + b"/></channel></rss>",
        b"<rss><channel><item><description>" + b"<a>" * (100_000 if WHOLE else 25_000),
        b"<rss><channel>" + b"<item><title>x</title></item>" * 150_000,
        b"<rss><channel><title>" + b"&a" * 500_000,
        b"<rss><channel><item><description><![CDATA["
        + b"<table><tr><td>" * 100_000
        + b"]]>",
    ],
    ids=["laughs", "a file", "attributes", "nested", "entries", "ampersands", "tables"],
)
def test_a_hostile_feed_costs_little(data, monkeypatch):
    if not WHOLE:
        monkeypatch.setattr(feed, "_MAX_CHARACTERS", 2**18)  # a quarter of the time
    page = check_cost(lambda: read_feed(data), 60 if WHOLE else 15)

    assert "root:" not in page.content
    assert len(page.content) < 2_100_000


def test_many_names_that_are_not_too_long_cost_little_together():
    item = f"<item><title>Kelp</title><author>{'1' * 150}</author><author>{'ab.' * 300}</author></item>"
    source = (
        f'<rss version="2.0"><channel><title>Algae</title>{item * 800}</channel></rss>'
    )
    assert check_cost(lambda: read_feed(source.encode()), 10).title == "Algae"


@pytest.mark.parametrize(
    "text",
    [
        "<!--" * 50_000,
        "<div hidden>" * 20_000,
        "<details " * 20_000,
        "<summary>" + " " * 200_000 + "\n</details>",
        "[^" * 100_000,
        "<div hidden>\n\n" * 20_000,
        "".join(f"<x{n} hidden>\n\n" for n in range(15_000)),
        "".join("`" * n + " " for n in range(1, 600)),
        "<a " * 60_000,
        "---\na: [" + "'x" * 9_000 + "\n---\n",
        "---\n" + "a:\n - b\n" * 2_000 + "---\n",
        "# t\n" + "- [" * 60_000,
        "# t\n- " + "[[a]" * 40_000,
        "# t\n" + "\n> [a](" * 20_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_markdown_takes_linear_time(text):
    check_cost(
        lambda: read_bytes(text.encode(), URL, "text/markdown", isolate=False), 30
    )


def test_a_directory_of_many_parts_costs_little():
    entry = b"PK\x01\x02" + bytes(42)
    size = 200_000 * len(entry)
    head = b"PK\x03\x04" + bytes(26)
    end = (
        b"PK\x05\x06"
        + bytes(8)
        + size.to_bytes(4, "little")
        + len(head).to_bytes(4, "little")
        + bytes(2)
    )
    data = head + entry * 200_000 + end

    assert check_cost(lambda: media_type(data), 20) == "application/zip"


def test_a_cell_in_the_last_corner_costs_little():
    book = workbook(["near"])
    book.active["XFD1048576"] = "far"
    page = check_cost(lambda: read_bytes(save(book), URL, isolate=False), 60)

    assert page.content == "## Algae\n\n| near | |\n| --- | --- |\n| | far |"


def read_pdf(data):
    """Return the page, or None if it cannot be read."""
    try:
        return read_bytes(data, URL, isolate=False)
    except UnsupportedContent:
        return None


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_pdf_costs_little(data):
    page = check_cost(lambda: read_pdf(data), 40)

    assert page is None or len(page.content) < 100_000
