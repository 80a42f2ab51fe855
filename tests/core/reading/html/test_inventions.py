"""Every value of a page stands in the page, or in its own statement about its thing."""

from __future__ import annotations
import gzip
import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from html import unescape

import pytest

from tests.corpora import CORPORA, needs
from websearch_core import Page
from websearch_core._text.money import NUMBER, parse_number
from websearch_core.reading import read_html
from websearch_core.reading._html.titles import letters_of

URL = "https://www.lamps.example/brass/lamp-40"
PROSE = "<p>The lamp of the old lighthouse burned for a hundred years, and then it was sold to the town.</p>"
ARTICLE = {
    "@type": "NewsArticle",
    "headline": "The lamp is sold",
    "author": [{"givenName": "Ada", "familyName": "Lovelace"}, "Mary Shelley"],
    "datePublished": "2026-05-04T09:08:07Z",
    "publisher": {"@type": "Organization", "name": "Lamp News"},
}
PRODUCT = {
    "@type": "product",
    "name": "Brass lamp",
    "brand": "Norrholm",
    "offers": {"lowprice": "352.00", "highPrice": "376.45", "priceCurrency": "EUR"},
    "aggregateRating": {"ratingValue": 4.6, "reviewCount": 12},
}
EVENT = {
    "@type": "MusicEvent",
    "name": "Songs at the lamp",
    "startDate": "2026-07-01T19:00",
    "location": {"@type": "Place", "name": "Old lighthouse", "address": "Norrholm"},
    "offers": {"price": 12, "priceCurrency": "EUR"},
}
CARDS = "".join(
    f'<li><a href="/{number}">Lamp number {number}</a> <b>${number}5.00</b></li>'
    for number in range(3, 11)
)
BODIES = {
    "article": ARTICLE,
    "product": PRODUCT,
    "event": EVENT,
    "list": None,
}
SHOWN = {
    "article": "<h1>The lamp is sold</h1><p class=byline>By Ada Lovelace</p><p>May 4, 2026</p>",
    "product": "<h1>Brass lamp</h1><p>352,00 – 376,45 €</p><p>was <s>400 €</s></p>",
    "event": "<h1>Songs at the lamp</h1><p>1 July 2026, 12 €</p>",
    "list": f"<h1>Lamps</h1><ul>{CARDS}</ul>",
}


def evidence_of(source: str) -> str:
    """Return everything that a page says anywhere, with its tags and without them."""
    text = re.sub(r"\\u([0-9a-fA-F]{4})", _character, source)
    text = unescape(unescape(text))
    return f"{text}\n{re.sub('<[^<>]*>', '', text)}"


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def values_of(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the names and the texts of a page that it must state."""
    yield "title", page.title
    yield "description", page.description or ""
    yield "site name", page.site_name or ""
    for author in (page.author or "").split(", "):
        yield "author", author
    if page.data is not None:
        yield "name", page.data.name
        yield "brand", page.data.brand or ""
        for item in page.data.items:
            yield "item", item.name


def amounts_of(page: Page) -> Iterator[tuple[str, str]]:
    if page.data is None:
        return
    yield "price", page.data.price or ""
    yield "high price", page.data.high_price or ""
    yield "list price", page.data.list_price or ""


def find_inventions(source: str, page: Page) -> list[str]:
    """Return the values of a page that its source does not have."""
    evidence = evidence_of(source)
    letters = letters_of(evidence)
    inventions = []
    for name, value in values_of(page):
        # the reader writes a line on one line, and may cut a long one
        if letters_of(value.removesuffix("…"))[:60] not in letters:
            inventions.append(f"{name}: {value}")
    numbers = numbers_in(NUMBER.findall(evidence))
    for name, value in amounts_of(page):
        if value and Decimal(value) not in numbers:
            inventions.append(f"{name}: {value}")
    for name in ("published", "modified"):
        date = getattr(page, name)
        if date is None:
            continue
        is_stamp = str(int(date.timestamp())) in evidence
        if str(date.year) not in evidence and not is_stamp:
            inventions.append(f"{name}: {date}")
    return inventions


def numbers_in(texts: Iterable[str]) -> set[Decimal]:
    numbers = set()
    for text in texts:
        for number in (parse_number(text), _plain(text)):
            if number is not None:
                numbers.add(number)
    return numbers


def _plain(text: str) -> Decimal | None:
    """Return a number as data has it: 4.601 is no 4,601."""
    return Decimal(text) if re.fullmatch(r"\d{1,15}(?:\.\d{1,9})?", text) else None


@pytest.mark.parametrize("kind", BODIES)
def test_every_value_of_a_small_page_is_stated(kind):
    data = BODIES[kind]
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    source = f"<title>{kind} | Lamp News</title>{script if data else ''}<main>{SHOWN[kind]}{PROSE * 3}</main>"

    page = read_html(source.encode(), URL)

    assert find_inventions(source, page) == []
    if kind == "article":
        assert page.author == "Ada Lovelace, Mary Shelley"
    else:
        assert page.data.kind == kind


def test_an_invention_is_noticed():
    source = f"<title>A lamp</title><main><h1>A lamp</h1>{PROSE}</main>"
    page = read_html(source.encode(), URL).model_copy(update={"author": "Ada Lovelace"})

    assert find_inventions(source, page) == ["author: Ada Lovelace"]


_STEP = 15  # of the pages in a folder, one in so many
_MAX_SIZE = 400_000  # bytes
FOLDERS = ["products", "recipes", "reading/news/html", "reading/wcxb/dev/html"]


@pytest.mark.parametrize(
    "folder",
    [pytest.param(CORPORA / name, marks=needs(CORPORA / name)) for name in FOLDERS],
)
def test_every_value_of_many_pages_is_stated(folder):
    inventions = {}
    for path in sorted(folder.glob("*.html.gz"))[::_STEP]:
        data = gzip.decompress(path.read_bytes())
        if len(data) > _MAX_SIZE:
            continue
        page = read_html(data, URL)
        problems = find_inventions(data.decode("utf-8", "replace"), page)
        # else in another charset, which a header would state
        if problems and b"\xef\xbf\xbd" not in page.content.encode():
            inventions[path.name] = problems

    assert inventions == {}
