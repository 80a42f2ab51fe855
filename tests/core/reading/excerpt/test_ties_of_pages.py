"""On pages of the web, a question that stands there is shown with what follows it, and a title with its own price."""

from __future__ import annotations
import gzip
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from websearch_core.models import Page
from websearch_core.reading import Excerpt, read_html

PAGES = Path(__file__).parents[5] / "shared" / "corpora" / "reading" / "wcxb" / "dev" / "html"
ONE_OF = 6  # pages
BUDGET = 1_000  # characters
ITEM = re.compile(r"^(?:[-*]|\d+\.) +(.+(?:\n(?: .*)?)*)", re.MULTILINE)
PRICE = re.compile(r"[$€£] ?\d[\d.,]*\d")


def pick_passages(page: Page, query: str, max_length: int, offset: int = 0) -> Page:
    return Excerpt(query=query, max_length=max_length, offset=offset).of(page)


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    if not PAGES.is_dir():
        pytest.skip("the corpus WCXB is not in ../shared/corpora/reading")
    files = sorted(PAGES.glob("*.html.gz"))[::ONE_OF]
    read = (read_html(gzip.decompress(file.read_bytes()), "https://a.example/b") for file in files)
    return [page for page in read if page.content_length > 2 * BUDGET]


def questions(page: Page, *, headings: bool) -> Iterator[tuple[str, str]]:
    """Yield each block that asks something once, and how the block after it begins."""
    blocks = page.content.split("\n\n")
    for block, following in pairwise(blocks):
        is_heading = block.startswith("#")
        asks = block.endswith("?") and 15 < len(block) < 200 and "\n" not in block and "](" not in block
        is_text = is_heading or re.match(r"\w", block)
        if asks and is_text and is_heading == headings and blocks.count(block) == 1 and not following.startswith("#"):
            yield block.lstrip("# "), following[:40]


def prices(page: Page) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the title of each item of a list that has its only price in a later block, the price, and all others."""
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


@pytest.mark.parametrize(("headings", "least", "floor"), [(True, 50, 0.97), (False, 15, 0.95)])
def test_a_question_is_shown_with_what_follows_it(pages: list[Page], headings: bool, least: int, floor: float) -> None:
    tried = [(page, asked, answer) for page in pages for asked, answer in questions(page, headings=headings)]
    lost = [asked for page, asked, answer in tried if answer not in pick_passages(page, asked, BUDGET).content]

    assert len(tried) >= least
    assert len(lost) <= (1 - floor) * len(tried), (len(tried), lost)


def test_an_item_is_shown_with_its_own_price_and_not_with_that_of_another(pages: list[Page]) -> None:
    tried = [(page, *one) for page in pages for one in prices(page)]
    own = other = 0
    for page, title, price, others in tried:
        shown = pick_passages(page, f"What does {title} cost?", BUDGET).content
        near = shown[shown.find(title) :] if title in shown else ""
        nearest = PRICE.search(near)
        own += price in shown
        other += bool(nearest and nearest[0] in others)

    assert len(tried) >= 2
    assert own >= 0.9 * len(tried)
    assert other <= 0.02 * len(tried)
