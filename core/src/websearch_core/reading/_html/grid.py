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
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby, islice, takewhile
from typing import NamedTuple

from ..._text.escaping import escape_text
from ..._text.invisible import one_line
from ..._text.money import AMOUNT, has_amount
from ...models._data import Item
from .._element import HEADINGS
from .._links import absolute
from .._types import NAME_LENGTH
from .blocks import TextBlocks
from .phrases import PHRASES

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


class Elements:
    """The text of each element of a page."""

    def __init__(self, blocks: TextBlocks) -> None:
        self.blocks = blocks
        # The blocks with an amount of money: most pages have none, which takes one
        # search.
        texts = blocks.block_texts if has_amount("\n".join(blocks.block_texts)) else ()
        self.priced = frozenset(n for n, text in enumerate(texts) if has_amount(text))
        if not self.priced:
            return
        # their runs of text
        self.begin, self.end = [0] * len(blocks.names), [0] * len(blocks.names)
        runs = 0
        for number in blocks.stream:
            if number < 0:
                runs = ~number + 1
                self.end[blocks.run_elements[~number]] = runs
            else:
                self.begin[number] = runs
        for element in range(len(self.end) - 1, 0, -1):
            if self.end[element] > self.end[parent := blocks.parents[element]]:
                self.end[parent] = self.end[element]
        self.depths = [0] * len(blocks.names)
        for element in range(1, len(self.depths)):
            self.depths[element] = self.depths[blocks.parents[element]] + 1
        # A run that had only invisible characters is a step, too.
        lengths = (max(1, len(text)) for text in blocks.run_texts)
        self._lengths = [0, *accumulate(lengths)]

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
        text, block = "", -1
        for run in range(self.begin[element], self.end[element]):
            piece = self.blocks.run_texts[run]
            if block not in (-1, self.blocks.run_blocks[run]):
                text += " "
            if _CENTS.fullmatch(piece) and text[-1:].isdigit():
                text += "."
            text, block = text + piece, self.blocks.run_blocks[run]
        return " ".join(_GLUED.sub(" ", text).split())

    def above(self, element: int) -> Iterator[int]:
        """Yield an element and those around it, the nearest ones, the body excepted."""
        for _ in range(_MAX_LEVELS):
            if element <= 0:
                return
            yield element
            element = self.blocks.parents[element]


def find_prices(elements: Elements) -> list[Price]:
    """Return the prices that a page shows: amounts with hardly any other text."""
    blocks, priced = elements.blocks, elements.priced
    found: list[Price] = []
    for run, own in enumerate(blocks.run_texts):
        if (
            blocks.run_blocks[run] not in priced
            or (found and run < found[-1].end)
            or not any(map(str.isdigit, own))
        ):
            continue
        inside = blocks.run_elements[run]
        best = Price(own.strip(), run, run + 1, inside) if _is_price(own) else None
        text, fits, span = "", False, (0, 0)
        for element in elements.above(inside):
            if elements.length(element) > 3 * _MAX_PRICE_LENGTH:
                break
            # else it only has what was seen
            if span != (span := (elements.begin[element], elements.end[element])):
                text = elements.text(element)
                fits = (
                    _is_price(text)
                    and _names_price(text)
                    and (not best or len(AMOUNT.findall(text)) == 1)
                )
            if fits:
                best = Price(text, *span, element)
            elif best:
                if (
                    len(text) <= _MAX_PRICE_LENGTH
                    and len(AMOUNT.findall(text)) == 1
                    and SAVING.search(text)
                ):
                    best = None
                break
        if best and found and best.begin < found[-1].end:
            continue  # what stands beside prices, such as "(-20%)"
        if best and not SAVING.search(best.text):
            found.append(best._replace(is_former=_is_former(elements, best)))
            if len(found) >= _MAX_PRICES:
                break
    return found


def find_items(elements: Elements, prices: Iterable[Price], base: str) -> list[Item]:
    """Return the things that a page shows as a grid, in its order; none if there are
    fewer than four.
    """
    blocks = elements.blocks
    counts: defaultdict[int, int] = defaultdict(int)  # prices in each element
    listed = list(prices)
    for price in listed:
        for element in elements.above(price.element):
            counts[element] += 1
    links = [
        n
        for n, name in enumerate(blocks.names)
        if name == "a" and blocks.attributes[n].get("href")
    ]
    links.append(len(blocks.names))
    linked = {
        element
        for element in counts
        if links[bisect_left(links, element)] < blocks.ends[element]
    }
    siblings: defaultdict[int, int] = defaultdict(int)
    for element in linked:
        siblings[blocks.parents[element]] += 1
    cards: defaultdict[tuple[str, int], dict[int, list[Price]]] = defaultdict(dict)
    for price in listed:
        for element in elements.above(price.element):
            if element in linked and siblings[blocks.parents[element]] > 1:
                if (
                    elements.length(element) <= _MAX_ITEM_LENGTH
                    and counts[element] <= _MAX_ITEM_PRICES
                ):
                    look = blocks.names[element], elements.depths[element]
                    cards[look].setdefault(element, []).append(price)
                break
    groups = [
        dict(islice(group.items(), 2 * MAX_ITEMS))
        for group in cards.values()
        if len(group) >= _MIN_ITEMS
    ]
    items = {
        number: item
        for group in groups
        for number, item in _describe(elements, group, base)
    }
    return (
        [items[number] for number in sorted(items)][:MAX_ITEMS]
        if len(items) >= _MIN_ITEMS
        else []
    )


def _describe(
    elements: Elements, cards: dict[int, list[Price]], base: str
) -> Iterator[tuple[int, Item]]:
    """Yield the cards that have a name, by their elements."""
    # by path and card
    texts: defaultdict[tuple[str, ...], dict[int, tuple[str, int]]] = defaultdict(dict)
    for card, prices in cards.items():
        for path, text, run in _texts(elements, card, prices):
            texts[path].setdefault(card, (text, run))

    def rate(path: tuple[str, ...]) -> float:
        """Rate names: those of the cards differ, and are linked or headings."""
        found = texts[path].values()
        linked = any(
            elements.blocks.is_linked(elements.blocks.run_elements[run])
            for _, run in found
        )
        length = max(len(text) for text, _ in found)
        weight = 1.5 if HEADINGS & {*path} else 1.3 if linked else 1.0
        return weight * len({text for text, _ in found}) / max(1.0, length / _LONG)

    best = sorted(texts, key=rate, reverse=True)
    for card, prices in cards.items():
        name, run = next(
            (texts[path][card] for path in best if card in texts[path]), ("", 0)
        )
        now = dict.fromkeys(price.text for price in prices if not price.is_former)
        before = dict.fromkeys(
            price.text for price in prices if price.is_former and price.text not in now
        )
        if name:
            yield (
                card,
                Item(
                    name=inert(name, NAME_LENGTH),
                    price=inert(", ".join(now or before), _MAX_PRICE_LENGTH),
                    list_price=inert(", ".join(before), _MAX_PRICE_LENGTH)
                    if now and before
                    else None,
                    url=absolute(_find_link(elements, card, run), base),
                ),
            )


def _texts(
    elements: Elements, card: int, prices: list[Price]
) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """Yield the texts of a card besides its prices, block by block, with their paths in
    it and their first runs.
    """
    blocks = elements.blocks
    priced = {run for price in prices for run in range(price.begin, price.end)}
    runs = [
        run
        for run in range(elements.begin[card], elements.end[card])
        if run not in priced
    ]

    def place(run: int) -> tuple[int, int]:
        """Return the block of a run, and the link that it is in."""
        above = takewhile(card.__ne__, elements.above(blocks.run_elements[run]))
        return blocks.run_blocks[run], next(
            (element for element in above if blocks.names[element] == "a"), 0
        )

    for _, group in groupby(runs, place):
        inside = list(group)
        text = " ".join(" ".join(blocks.run_texts[run] for run in inside).split())
        if sum(map(str.isalpha, text)) > 1 and not has_amount(text):
            around = takewhile(
                card.__ne__, elements.above(blocks.run_elements[inside[0]])
            )
            yield tuple(blocks.names[element] for element in around), text, inside[0]


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


def inert(text: str, most: int) -> str:
    """Return *text* as one line of at most *most* characters that nothing acts on."""
    return " ".join(escape_text(one_line(text, most)).split())


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
        if blocks.names[element] in _CROSSED_OUT or _FORMER.search(
            blocks.marks[element]
        ):
            return True
        if element == last:
            break
    return False
