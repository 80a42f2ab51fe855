"""On pages of the web, a question that stands there is shown with what follows it, and
a title with its own price.
"""

from __future__ import annotations
import gzip
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest

from tests.corpora import CORPORA
from websearch_core.models import Page
from websearch_core.reading import Excerpt, read_html

pytestmark = pytest.mark.apart

ONE_OF = 4  # pages
BUDGET = 1_000  # characters
ITEM = re.compile(r"^(?:[-*]|\d+\.) +(.+(?:\n(?: .*)?)*)", re.MULTILINE)
ASKING_ITEM = re.compile(
    r"^(?:[-*]|\d+\.) +([^\n?]{15,200}\?)[*_ ]*(?:\n\s*)?( +\S[^\n]*)", re.MULTILINE
)
PRICE = re.compile(r"[$€£] ?\d[\d.,]*\d")


def pick_passages(page: Page, query: str, max_length: int, offset: int = 0) -> Page:
    return Excerpt(query=query, max_length=max_length, offset=offset).of(page)


@cache  # not a fixture: what fixtures do is traced for coverage
def read_pages() -> list[Page]:
    files = sorted((CORPORA / "reading").glob("wcxb*/dev/html/*.html.gz"))[::ONE_OF]
    if not files:
        pytest.skip(f"no {CORPORA}/reading: 'Data from elsewhere' in CONTRIBUTING.md")
    read = (
        read_html(gzip.decompress(file.read_bytes()), "https://a.example/b")
        for file in files
    )
    return [page for page in read if page.content_length > 2 * BUDGET]


def questions(page: Page, kind: str) -> Iterator[tuple[str, str]]:
    """Yield what headings, paragraphs or items ask once, and how the answer after each
    begins.
    """
    blocks = page.content.split("\n\n")
    for block, following in pairwise(blocks):
        is_text = (
            block.startswith("#")
            if kind == "headings"
            else re.match(r"(?!\d+\.)\w", block)
        )
        asks = (
            block.endswith("?")
            and 15 < len(block) < 200
            and "\n" not in block
            and "](" not in block
        )
        if (
            kind != "items"
            and asks
            and is_text
            and blocks.count(block) == 1
            and not following.startswith("#")
        ):
            yield block.lstrip("# "), beginning(following)
    for item in ASKING_ITEM.finditer(page.content if kind == "items" else ""):
        asked = item[1].strip("*# ")
        if "](" not in asked and page.content.count(asked) == 1:
            yield asked, beginning(item[2].strip())


def beginning(text: str) -> str:
    """Return the first characters of a text, of its first line and sentence at most."""
    return re.split(r"(?<=[.!?]) |\n", text[:40])[0]


def prices(page: Page) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the title of each item of a list that has its only price in a later block,
    the price, and all others.
    """
    everywhere = set(PRICE.findall(page.content))
    for item in ITEM.findall(page.content):
        title, _, rest = item.partition("\n")
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).strip("#* ")
        found = PRICE.findall(rest)
        if (
            len(set(found)) == 1
            and not PRICE.search(title)
            and 10 < len(title) < 150
            and page.content.count(title) == 1
        ):
            yield title, found[0], everywhere - set(found)


@pytest.mark.parametrize(
    ("kind", "least", "floor"),
    [("headings", 300, 0.99), ("paragraphs", 75, 0.97), ("items", 40, 0.95)],
)
@pytest.mark.no_cover
def test_a_question_is_shown_with_what_follows_it(
    kind: str, least: int, floor: float
) -> None:
    tried = [
        (page, asked, answer)
        for page in read_pages()
        for asked, answer in questions(page, kind)
    ]
    lost = [
        asked
        for page, asked, answer in tried
        if answer not in pick_passages(page, asked, BUDGET).content
    ]

    assert len(tried) >= least
    assert len(lost) <= (1 - floor) * len(tried), (len(tried), lost)


@pytest.mark.no_cover
def test_an_item_is_shown_with_its_own_price_and_not_with_that_of_another() -> None:
    tried = [(page, *one) for page in read_pages() for one in prices(page)]
    own = other = 0
    for page, title, price, others in tried:
        shown = pick_passages(page, f"What does {title} cost?", BUDGET).content
        near = shown[shown.find(title) :] if title in shown else ""
        nearest = PRICE.search(near)
        own += price in shown
        other += bool(nearest and nearest[0] in others)

    assert len(tried) >= 45
    assert own >= 0.9 * len(tried)
    assert other <= 0.02 * len(tried)
