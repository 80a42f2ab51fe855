"""Measure how much of what pages state and show of prices a model is shown, and write
``benchmarks/results/data.md``.

    python -m benchmarks.reading.data

The pages are those of WCXB that the model is trained on, expected in
``../shared/corpora/reading``. None of the rules that are measured was learned, but they
were made with these pages.
"""

from __future__ import annotations
import re
import sys
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Goal, Section, Table, store
from training.corpus import CONTENT_TYPE, ROOT, Page, load
from websearch_core import models
from websearch_core.client._enforce import enforce_page
from websearch_core.reading import Excerpt, read_html
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.harden import harden
from websearch_core.reading._html.parse import parse
from websearch_core.reading._html.text_blocks import TELLING_TAGS, TextBlocks
from websearch_core.tools._outputs import page_output

_PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "data.md"
_FOLDERS = ("wcxb", "wcxb_more")
_MAX_LENGTH = 15_000  # characters, as by default
_MIN_PRICES = 6  # that a category page shows
_FEW = 0.2  # of them
_MIN_PRODUCTS, _MIN_SHARE = 47 / 49, 0.9
_AMOUNT = re.compile(
    r"(?:(?:[$€£¥₹]|USD|EUR|GBP) ?\d[\d.,]*|\d[\d.,]* ?(?:€|£|USD|EUR|kr|zł))"
)
_FILTER = re.compile(  # by price: "$25 - $50", "Under $50", "$100 and up"
    rf"(?:.{{0,20}}\b(?:under|over|below|above) |{_AMOUNT.pattern} "
    rf"?(?:[-\u2013+]|to\b|and (?:up|above|over|under)))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d.,]*")
_STATED = re.compile(r'"(?:price|lowPrice)"\s*:\s*"?([\d.,]+)')
_TAGS = '[property="product:price:amount"],[property="og:price:amount"]'
_AROUND = sum(TELLING_TAGS[name] for name in ("nav", "header", "footer", "aside"))
_HEAD = """<!-- Written by `make bench-data`. Do not edit. -->

# Prices that a model is shown

Of the prices that pages state in their data and show, or show in grids, how many are in the text that `open_page`
returns for a page, with the default limit of 15,000 characters. [Reading](../../docs/reading.md#data) says where they are
found.
"""


class Shown(NamedTuple):
    """The text for a model, with what the page states and shows, and without."""

    now: str
    content: str
    page: models.Page


def main() -> int:
    """Write the page, or say why not."""
    if not all((ROOT / folder).is_dir() for folder in _FOLDERS):
        print(
            "skipped: the pages of WCXB are not in ../shared/corpora/reading",
            file=sys.stderr,
        )
        return 0
    pages = [page for folder in _FOLDERS for page in load(ROOT / folder)]
    sections = [measure_products([page for page in pages if page.kind == "product"])]
    sections.append(
        measure_grids([page for page in pages if page.kind == "collection"])
    )
    store(_PAGE, "\n\n".join([_HEAD.rstrip(), *map(str, sections)]) + "\n")
    return 0


def measure_products(pages: Sequence[Page]) -> Section:
    """Count the pages of products whose stated price is shown, and is in the text for a
    model.
    """
    found = now = before = unclear = 0
    for page in pages:
        shown = numbers(" ".join(_visible(page).block_texts))
        if not (prices := {price for price in _stated(page) if price in shown}):
            continue
        found += 1
        seen = _show(page)
        now += bool(prices & numbers(seen.now))
        before += bool(prices & numbers(seen.content))
        unclear += bool(seen.page.data and seen.page.data.unclear_prices)
    table = Table(
        ("", "pages"),
        [
            ("state a price in JSON-LD or Open Graph, and show it", str(found)),
            ("of these, the price is in the text for a model", str(now)),
            ("it is in the Markdown", str(before)),
            ("the price was called unclear", str(unclear)),
        ],
    )
    goal = Goal(
        f"{_MIN_PRODUCTS:.0%} of these prices are shown",
        f"{now} of {found}",
        now >= _MIN_PRODUCTS * found,
    )
    method = (
        f"{len(pages)} pages of products. The stated prices are all in JSON-LD, and "
        f"those in the meta tags of Open "
        "Graph. A price is shown if the visible text has the same number."
    )
    return Section("Products", method, [table], [goal])


def measure_grids(pages: Sequence[Page]) -> Section:
    """Measure which share of the prices of category pages is in the text for a
    model.
    """
    now, before, items = [], [], 0
    seconds = 0.0
    for page in pages:
        blocks = _visible(page)
        texts = (
            text
            for text, element in zip(
                blocks.block_texts, blocks.block_elements, strict=True
            )
            if not blocks.around[element] & _AROUND
        )
        amounts = [
            amount
            for text in texts
            if not _FILTER.match(text)
            for amount in _AMOUNT.findall(text)
        ]
        if len(amounts) < _MIN_PRICES:
            continue
        begun = time.process_time()
        seen = _show(page)
        seconds += time.process_time() - begun
        now.append(_share(amounts, seen.now))
        before.append(_share(amounts, seen.content))
        items += len(seen.page.data.items) if seen.page.data else 0
    mean_now, mean_before = (
        sum(shares) / max(1, len(shares)) for shares in (now, before)
    )
    table = Table(
        ("", "text for a model", "Markdown"),
        [
            (
                "share of the prices, mean of the pages",
                f"{mean_now:.3f}",
                f"{mean_before:.3f}",
            ),
            (
                f"pages with less than {_FEW:.0%} of them",
                *(str(sum(s < _FEW for s in shares)) for shares in (now, before)),
            ),
        ],
    )
    goal = Goal(
        f"{_MIN_SHARE:.0%} of the prices are shown",
        f"{mean_now:.1%}",
        mean_now >= _MIN_SHARE,
    )
    method = (
        f"{len(now)} category pages that show at least {_MIN_PRICES} amounts of money "
        f"outside of navigation, headers, "
        f"footers, asides and filters by price; vouchers and savings count too. "
        f"{items:,} things were found in "
        "their grids."
    )
    return Section("Grids", method, [table], [goal])


def numbers(text: str) -> set[Decimal]:
    """Return the numbers in a text, with and without two last digits as cents."""
    found = set[Decimal]()
    for number in _NUMBER.findall(text):
        digits = re.sub(r"\D", "", number)
        found |= (
            {Decimal(digits), Decimal(digits) / 100}
            if re.search(r"[.,]\d\d[.,]?$", number)
            else {Decimal(digits)}
        )
        if re.search(r"[.,]\d[.,]?$", number):
            found.add(Decimal(digits) / 10)
    return found


def _share(amounts: Sequence[str], text: str) -> float:
    flat = re.sub(r"[., ]", "", text)
    return sum(re.sub(r"[., ]", "", amount) in flat for amount in amounts) / len(
        amounts
    )


def _show(page: Page) -> Shown:
    whole = enforce_page(read_html(page.data, page.url, CONTENT_TYPE))
    part = Excerpt(max_length=_MAX_LENGTH).of(whole)
    return Shown(
        str(page_output(part, "text", max_length=_MAX_LENGTH).content),
        part.content,
        part,
    )


def _visible(page: Page) -> TextBlocks:
    return find_blocks(parse(harden(page.data.replace(b"\x00", b"")).source).body)


def _stated(page: Page) -> Iterator[Decimal]:
    document = parse(page.data)
    scripts = (node.text() for node in document.css('script[type*="ld+json"]'))
    texts = [price for script in scripts for price in _STATED.findall(script)]
    texts += [node.attributes.get("content") or "" for node in document.css(_TAGS)]
    for text in texts:
        try:
            if price := Decimal(text.replace(",", "")):
                yield price
        except ArithmeticError:
            continue


if __name__ == "__main__":
    sys.exit(main())
