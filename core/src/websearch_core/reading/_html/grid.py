"""Find what a page shows as a grid: things with a name, a price and a link, in elements
of one kind.

A price is the largest element whose text is an amount of money and hardly anything
else. Its item is the largest element around it that has siblings with a price and a
link too.
"""

from __future__ import annotations
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress, count, groupby, islice, takewhile
from typing import NamedTuple

from ..._text.escaping import escape_text
from ..._text.invisible import one_line
from ..._text.money import AMOUNT, find_amounts, has_amount
from ...models._data import Item
from .._element import HEADINGS
from .._links import absolute
from .._types import NAME_LENGTH
from .phrases import PHRASES
from .text_blocks import TextBlocks

MAX_ITEMS = 100
_MIN_ITEMS = 4
_MAX_PRICES = 5_000
_MAX_LEVELS = 24  # between a price, a name or a link and its item
_MAX_ELEMENTS = 500  # of an item, to look for a link in
_MAX_PRICE_LENGTH = 80  # characters
_MAX_LETTERS = 32  # besides the amount, in one text
_MAX_ITEM_LENGTH = 2_000  # characters
_MAX_ITEM_PRICES = 8
# Words beside an amount that say which price it is; anything else may be the name of
# what is sold.
_LABELS = frozenset(
    "price prices sale regular now was only from to at starting low our list msrp rrp "
    "uvp comp value compare original "
    "current special incl excl inc ex vat tax gst mwst inkl exkl ab statt nur each per "
    "unit your final before is best "
    "or up prix prezzo precio preis pris prijs".split()
)
_CROSSED_OUT = frozenset({"del", "s", "strike"})
_FORMER = re.compile(
    r"(?:\b|_)(?:was|old|strike(?:d|through)?|line-through|crossed|compare-?at|original|rrp|msrp|uvp|list-?price|"
    r"regular|before|comp|statt)(?:\b|_)",
    re.IGNORECASE,
)
SAVING = re.compile(PHRASES["savings and shipping"], re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_GLUED = re.compile(r"(?<=[^\W\d_])(?=[$€£]\d)|(?<=\d)(?=[^\W\d_]{3})")
_LONG = 100  # characters of a name: a longer text rather describes
_CENTS = re.compile(r"\d\d")


class Price(NamedTuple):
    """The text of a price, its runs of text and the element that they are in, and
    whether it is crossed out.
    """

    text: str
    begin: int
    end: int
    element: int
    is_former: bool = False


class _Name(NamedTuple):
    text: str
    run: int  # its first run of text


class Elements:
    """The text of each element of a page."""

    def __init__(self, blocks: TextBlocks) -> None:
        self.blocks = blocks
        # the blocks with an amount of money: most pages have none
        self.priced = frozenset(find_amounts(blocks.block_texts))
        if self.priced:
            self._measure()

    def _measure(self) -> None:
        """Find the runs of text of each element, and their lengths."""
        blocks = self.blocks
        parents = blocks.parents
        self.begin = [0] * len(parents)
        self.end = [0] * len(parents)
        runs = 0
        for number in blocks.stream:
            if number < 0:
                runs = ~number + 1
                self.end[blocks.run_elements[~number]] = runs
            else:
                self.begin[number] = runs
        for element in range(len(parents) - 1, 0, -1):
            end = self.end[element]
            if end > self.end[parents[element]]:  # noqa: PLR1730 - twice as fast
                self.end[parents[element]] = end
        # A run that had only invisible characters is a step, too.
        lengths = [len(text) or 1 for text in blocks.run_texts]
        self._lengths = [0, *accumulate(lengths)]

    @cached_property
    def depths(self) -> list[int]:
        """How many elements are around each."""
        depths = [0]
        for parent in islice(self.blocks.parents, 1, None):
            depths.append(depths[parent] + 1)
        return depths

    def length(self, element: int) -> int:
        """Return the characters of an element."""
        return (
            self._lengths[max(self.end[element], self.begin[element])]
            - self._lengths[self.begin[element]]
        )

    def text(self, element: int) -> str:
        """Return the text of a small element on one line; cents that only their size
        sets apart get a point.
        """
        text = ""
        block = -1
        for run in range(self.begin[element], self.end[element]):
            piece = self.blocks.run_texts[run]
            if block not in (-1, self.blocks.run_blocks[run]):
                text += " "
            if _CENTS.fullmatch(piece) and text[-1:].isdigit():
                text += "."
            text += piece
            block = self.blocks.run_blocks[run]
        return " ".join(_GLUED.sub(" ", text).split())

    def above(self, element: int) -> Iterator[int]:
        """Return an element and those around it, the nearest ones, but not the body."""
        return self.blocks.above(element, _MAX_LEVELS)


def find_prices(elements: Elements) -> list[Price]:
    """Return the prices that a page shows: amounts with hardly any other text."""
    return [*islice(_find_prices(elements), _MAX_PRICES)]


def _find_prices(elements: Elements) -> Iterator[Price]:
    """Yield the prices in the order of the page."""
    blocks = elements.blocks
    end = 0  # of the last one
    is_priced = map(elements.priced.__contains__, blocks.run_blocks)
    for run in compress(count(), is_priced):
        text = blocks.run_texts[run]
        if run < end or not any(map(str.isdigit, text)):
            continue
        price = _widen(elements, run, text)
        if price is None or SAVING.search(price.text):
            continue
        if price.begin >= end:  # not what stands beside prices, such as "(-20%)"
            yield price._replace(is_former=_is_former(elements, price))
            end = price.end


# Measured: asks for each number of a page, and for each of the elements around it.
def _widen(elements: Elements, run: int, own: str) -> Price | None:
    """Return the largest element around a run that is a price, or None."""
    inside = elements.blocks.run_elements[run]
    price = Price(own.strip(), run, run + 1, inside) if _is_price(own) else None
    text = ""
    fits = False
    span = (0, 0)
    for element in elements.above(inside):
        if elements.length(element) > 3 * _MAX_PRICE_LENGTH:
            break
        around = (elements.begin[element], elements.end[element])
        if span != around:  # else it only has what was seen
            span = around
            text = elements.text(element)
            fits = _is_price(text) and _names_price(text)
            fits = fits and (not price or len(AMOUNT.findall(text)) == 1)
        if fits:
            price = Price(text, *span, element)
        elif price:
            if _is_saving(text):
                return None
            return price
    return price


def find_items(elements: Elements, prices: Iterable[Price], base: str) -> list[Item]:
    """Return the things that a page shows as a grid, in its order; none if there are
    fewer than four.
    """
    items: dict[int, Item] = {}
    for cards in _find_cards(elements, list(prices)):
        if len(cards) >= _MIN_ITEMS:
            first = dict(islice(cards.items(), 2 * MAX_ITEMS))
            items.update(_describe(elements, first, base))
    if len(items) < _MIN_ITEMS:
        return []
    return [items[card] for card in sorted(items)][:MAX_ITEMS]


def _find_cards(
    elements: Elements, prices: Sequence[Price]
) -> Iterable[dict[int, list[Price]]]:
    """Return the elements with prices and a link beside others, by tag and depth."""
    blocks = elements.blocks
    counts: defaultdict[int, int] = defaultdict(int)  # prices in each element
    for price in prices:
        for element in elements.above(price.element):
            counts[element] += 1
    linked = _find_linked(blocks, counts)
    siblings: defaultdict[int, int] = defaultdict(int)
    for element in linked:
        siblings[blocks.parents[element]] += 1
    cards: defaultdict[tuple[str, int], dict[int, list[Price]]] = defaultdict(dict)
    for price in prices:
        above = filter(linked.__contains__, elements.above(price.element))
        cells = (element for element in above if siblings[blocks.parents[element]] > 1)
        card = next(cells, 0)
        if not card or elements.length(card) > _MAX_ITEM_LENGTH:
            continue
        if counts[card] <= _MAX_ITEM_PRICES:
            look = (blocks.names[card], elements.depths[card])
            cards[look].setdefault(card, []).append(price)
    return cards.values()


def _find_linked(blocks: TextBlocks, elements: Iterable[int]) -> set[int]:
    """Return those of *elements* that are or hold a link."""
    anchors = blocks.named("a")
    links = [element for element in anchors if blocks.attributes[element].get("href")]
    links.append(len(blocks.names))
    return {
        element
        for element in elements
        if links[bisect_left(links, element)] < blocks.ends[element]
    }


def _describe(
    elements: Elements, cards: dict[int, list[Price]], base: str
) -> Iterator[tuple[int, Item]]:
    """Yield the cards that have a name, by their elements."""
    # by path and card
    texts: defaultdict[tuple[str, ...], dict[int, _Name]] = defaultdict(dict)
    for card, prices in cards.items():
        for path, name in _texts(elements, card, prices):
            texts[path].setdefault(card, name)
    rates = {path: _rate(elements, path, names) for path, names in texts.items()}
    best = sorted(texts, key=rates.__getitem__, reverse=True)
    for card, prices in cards.items():
        names = [texts[path][card] for path in best if card in texts[path]]
        if not names:
            continue
        name = names[0]
        now, before = _write_prices(prices)
        list_price = None
        if now and before:
            list_price = before
        item = Item(
            name=inert(name.text, NAME_LENGTH),
            price=now or before,
            list_price=list_price,
            url=absolute(_find_link(elements, card, name.run), base),
        )
        yield card, item


def _write_prices(prices: list[Price]) -> tuple[str, str]:
    """Return the prices of a thing, and those that it had before."""
    texts = dict.fromkeys(price.text for price in prices if not price.is_former)
    former = dict.fromkeys(price.text for price in prices if price.is_former)
    others = [text for text in former if text not in texts]
    now = inert(", ".join(texts), _MAX_PRICE_LENGTH)
    return now, inert(", ".join(others), _MAX_PRICE_LENGTH)


def _rate(
    elements: Elements, path: tuple[str, ...], names: Mapping[int, _Name]
) -> float:
    """Rate names: those of the cards differ, and are linked or headings."""
    blocks = elements.blocks
    weight = 1.0
    if not HEADINGS.isdisjoint(path):
        weight = 1.5
    elif any(
        blocks.is_linked(blocks.run_elements[name.run]) for name in names.values()
    ):
        weight = 1.3
    texts = {name.text for name in names.values()}
    length = max(map(len, texts))
    return weight * len(texts) / max(1.0, length / _LONG)


def _texts(
    elements: Elements, card: int, prices: list[Price]
) -> Iterator[tuple[tuple[str, ...], _Name]]:
    """Yield the texts of a card besides its prices, block by block, with their paths in
    it.
    """
    blocks = elements.blocks
    priced: set[int] = set()
    for price in prices:
        priced.update(range(price.begin, price.end))
    runs = [
        run
        for run in range(elements.begin[card], elements.end[card])
        if run not in priced
    ]

    def above(run: int) -> Iterator[int]:
        """Yield the elements of the card around a run."""
        return takewhile(card.__ne__, elements.above(blocks.run_elements[run]))

    def place(run: int) -> tuple[int, int]:
        """Return the block of a run, and the link that it is in."""
        links = (element for element in above(run) if blocks.names[element] == "a")
        return blocks.run_blocks[run], next(links, 0)

    for _, group in groupby(runs, place):
        inside = list(group)
        text = " ".join(" ".join(blocks.run_texts[run] for run in inside).split())
        if sum(map(str.isalpha, text)) > 1 and not has_amount(text):
            path = tuple(blocks.names[element] for element in above(inside[0]))
            yield path, _Name(text, inside[0])


def _is_saving(text: str) -> bool:
    """Return whether a short text says how much an amount saves."""
    if len(text) > _MAX_PRICE_LENGTH or len(AMOUNT.findall(text)) != 1:
        return False
    return SAVING.search(text) is not None


def _find_link(elements: Elements, card: int, run: int) -> str:
    """Return the target of the link around a *run*, or else of the first link in its
    card.
    """
    blocks = elements.blocks
    inside = range(card, min(blocks.ends[card], card + _MAX_ELEMENTS))
    for element in (*elements.above(blocks.run_elements[run]), *inside):
        href = blocks.names[element] == "a" and blocks.attributes[element].get("href")
        if href and not href.startswith("#"):
            return str(href)
    return ""


def inert(text: str, length: int) -> str:
    """Return *text* as one line of at most *length* characters that nothing acts on."""
    return " ".join(escape_text(one_line(text, length)).split())


def _is_price(text: str) -> bool:
    if len(text) > _MAX_PRICE_LENGTH or not has_amount(text):
        return False
    return sum(map(str.isalpha, AMOUNT.sub("", text))) <= _MAX_LETTERS


def _names_price(text: str) -> bool:
    """Return whether the words beside an amount only say which price it is."""
    return {word.lower() for word in _WORD.findall(AMOUNT.sub("", text))} <= _LABELS


def _is_former(elements: Elements, price: Price) -> bool:
    """Return whether a price is crossed out, or said to be the one before."""
    blocks = elements.blocks
    if _FORMER.search(AMOUNT.sub("", price.text)):
        return True
    last = blocks.parents[price.element] if price.element > 0 else 0
    for element in elements.above(blocks.run_elements[price.begin]):
        if blocks.names[element] in _CROSSED_OUT:
            return True
        style = blocks.attributes[element].get("style") or ""
        if "line-through" in style or _FORMER.search(blocks.marks[element]):
            return True
        if element == last:
            break
    return False
