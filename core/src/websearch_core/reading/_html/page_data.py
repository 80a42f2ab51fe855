"""Read what a page states about its thing, and the grid that it shows, into `PageData`.

Data is written for machines, and may be out of date or wrong: a stated price is taken
if it is shown too, or if no amount is shown. Every text is one line that nothing acts
on.
"""

from __future__ import annotations
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import Any

from ..._text.money import AMOUNT, NUMBER, may_be_in, parse_number
from ..._text.vocabulary import Kind
from ...models._data import Item, PageData
from .._element import HEADINGS, Attributes
from .._links import absolute
from .._types import NAME_LENGTH, TITLE_LENGTH
from .grid import MAX_ITEMS, SAVING, Elements, Price, find_items, find_prices, inert
from .jsonld import TYPES, JsonLd, Thing, is_event, types
from .metadata import Metadata
from .offers import (
    MAX_OFFERS,
    NO_WORDS,
    Offer,
    read_amount,
    read_offer,
    split_words,
    write_price,
)
from .phrases import PHRASES
from .structured_data import ANSWERS, place_of, read_item, read_text
from .templates import PLACE
from .text_blocks import TextBlocks
from .titles import agree

_KINDS_WITHOUT_GRIDS = frozenset({"article", "documentation", "forum", "product"})
_MIN_GRID = 6  # prices of a grid on a page that does not say that it is one
_MIN_NAMES_SHARE = 0.4  # of the items of a grid
_NO_NAME = re.compile(r"\d[.,]\d\b.{0,25}\b(?:5|10)\b|https?:")
_MAX_CONTRADICTING = 3  # amounts beside one that they contradict
_MAX_ANSWERS = 5
_ANSWER_LENGTH = 500  # characters
_BEST_RATING = Decimal(5)  # unless the page says another one
_COUNT = re.compile(rf"(?<![\d.,])(\d[\d.,]{{0,9}}) (?:{PHRASES['things in lists']})\b")
# amounts of a text, and of a page
_MAX_TEXT_AMOUNTS = 1_000
_MAX_AMOUNTS = 5_000
_SHORT = 60  # characters of a text that may be hardly more than a number
_NEXT = re.compile(r"(?:^|[\s_-])next(?:$|[\s_-]page)", re.IGNORECASE)
_NEXT_ATTRIBUTES = ("rel", "class", "aria-label", "title")
_CENTS = re.compile(r"[.,]\d\d\b")
# An auction begins at a price at which nobody can buy.
_START = re.compile(PHRASES["starting prices"], re.IGNORECASE)
_STARTING_PRICE = re.compile(
    rf"(?:{_START.pattern})\W{{0,5}}({AMOUNT.pattern})", re.IGNORECASE
)
_BIDS = re.compile(PHRASES["bids"], re.IGNORECASE)
_RANGE_SIGN = re.compile(r"[-–—~]|to|bis|au?|à|до")  # noqa: RUF001 - as pages have them
_PERCENTAGE = re.compile(r"\d[\d.,]{0,9} ?%")
_MAX_LOW = 24  # characters of the first amount of a range, and its sign
_HEADLINES = frozenset({"h1", "h2"})
_MAX_TITLE_BEGIN = 40  # characters of a title that tell where it stands
_MAX_WORDS = 6  # beside a price that says what it is
_MAX_BETWEEN = 80  # characters between a price and the one before a reduction

# The limits of `PageData.raw`.
_MAX_RAW = 4_000  # characters
_MAX_RAW_NODES = 200
_MAX_RAW_DEPTH = 5
_MAX_RAW_TEXT = 300
_MAX_RAW_LIST = 50
_MAX_NUMBER = 10**15
_MAX_KEYS = 100  # of one thing, and characters of one
_ADDRESS = re.compile(r"\w*:?//|/\S*$|data:")
_EMPTY: tuple[Any, ...] = (None, "", {}, [])


def read_data(
    facts: Metadata, kind: Kind | None, blocks: TextBlocks
) -> tuple[PageData | None, list[str]]:
    """Return the data of a page, None if there is none, and notes on it.

    *facts* are what it says about itself, *blocks* the text that it shows.
    """
    raw = tuple(_bound_things(facts))
    data, notes = _find_data(facts, kind, blocks)
    if data is None and raw:
        data = PageData()
    if data is not None:
        data = data.model_copy(update={"raw": raw})
    return data, notes


def _find_data(
    facts: Metadata, kind: Kind | None, blocks: TextBlocks
) -> tuple[PageData | None, list[str]]:
    linked = facts.linked
    marked = JsonLd(facts.marked, effort=linked.effort)
    subjects = (facts.about, marked.main(facts.base))
    question = _find_question(linked, subjects)
    if question is not None:
        return question, []
    things = _find_things(facts, kind, subjects)
    if things:
        return _read_thing(facts, things, Elements(blocks))
    return _find_list(facts, kind, blocks), []


def _find_list(
    facts: Metadata, kind: Kind | None, blocks: TextBlocks
) -> PageData | None:
    """Return the things that a page lists, in a grid or in its data."""
    linked = facts.linked
    may_have_grid = kind not in _KINDS_WITHOUT_GRIDS
    marked_lists = facts.marked if may_have_grid else []
    lists = list(_find_lists(linked, marked_lists))
    if not lists and not may_have_grid:  # finding prices takes a while
        return None
    elements = Elements(blocks)
    prices = find_prices(elements)
    items: list[Item] = []
    if may_have_grid:
        items = find_items(elements, prices, facts.base)
    minimum = _MIN_GRID
    if kind == "collection":
        minimum = 1
    elif items:
        amounts = ShownAmounts(elements, prices, facts.title)
        if 0 < len(amounts.beside_title()) < len(items):
            return None  # these are beside what the page is about
        if not _have_names(items):
            items = []
    if len(items) < minimum:
        items = list(_read_list(linked, lists, prices, facts.base))
    if not items:
        return None
    return PageData(
        kind="list",
        name=inert(facts.title, TITLE_LENGTH),
        items=tuple(items),
        count=_count(linked, lists, blocks, len(items)),
        next_url=_find_next(facts, blocks),
    )


def _have_names(items: Sequence[Item]) -> bool:
    """Return whether most items have a name of their own, rather than a badge, the
    stars that others gave, or an address.
    """
    names = {item.name for item in items if not _NO_NAME.match(item.name)}
    return len(names) >= _MIN_NAMES_SHARE * len(items)


def _find_things(
    facts: Metadata, kind: Kind | None, subjects: Sequence[Thing]
) -> list[Thing]:
    """Return the statements about the product or the event that the page is about."""
    products: list[Thing] = []
    if kind != "article":  # which is not about what it offers
        products = _find_products(facts)
    priced = [thing for thing in products if read_offer(facts.linked, thing).prices]
    offered = [thing for thing in products if "offers" in thing]
    events = [thing for thing in subjects if _is_event(thing)]
    return priced or offered or events[:1]


def _find_products(facts: Metadata) -> list[Thing]:
    """Return the statements about the one product that the page is about.

    They come from JSON-LD, microdata and meta tags.
    """
    data = facts.linked
    statements: list[Thing] = []
    for things in ((facts.about,), data.things, facts.marked):
        products = [thing for thing in things if TYPES["products"] & types(thing)]
        names = [facts.title]
        if len(products) > 1:  # the others are what it recommends
            products = [
                product
                for product in products
                if agree(data.text(product, "name"), names)
            ][:1]
        if not statements:
            statements = products
            continue
        names.append(data.text(statements[0], "name"))
        statements += [
            product
            for product in products
            if _is_same_product(data, product, statements, names)
        ]
    return statements


def _is_same_product(
    data: JsonLd, product: Thing, statements: Sequence[Thing], names: Sequence[str]
) -> bool:
    """Return whether *product* says more about the one that *statements* are about."""
    if product in statements:
        return False
    name = data.text(product, "name")
    return not name or agree(name, names)


def _read_thing(
    facts: Metadata, things: Sequence[Thing], elements: Elements
) -> tuple[PageData, list[str]]:
    """Return the data of a product or an event, and notes on it.

    *things* are several statements about it, the best first.
    """
    linked = facts.linked
    amounts = ShownAmounts(elements, find_prices(elements), facts.title)
    offers = [read_offer(linked, thing) for thing in things]
    offer = amounts.choose(offers)
    currencies = filter(None, [offer.currency, *(other.currency for other in offers)])
    currency = next(currencies, None)
    values: dict[str, Any] = {
        "name": _first_text(linked, things, "name") or inert(facts.title, TITLE_LENGTH),
        "currency": currency,
    }
    if _is_event(things[0]):
        values.update(_read_event(linked, things))
    else:
        values.update(_read_product(linked, things, offers))
    price_values, notes = _read_prices(offer, currency, amounts)
    return PageData(**values, **price_values), notes


def _first_text(data: JsonLd, things: Sequence[Thing], *keys: str) -> str | None:
    for thing in things:
        value = data.text(thing, *keys)
        if value and not PLACE.search(value):
            return inert(value, NAME_LENGTH) or None
    return None


def _read_day(data: JsonLd, things: Sequence[Thing], key: str) -> str | None:
    day = _first_text(data, things, key)
    if day is None or NO_WORDS.search(day):
        return None
    return day


def _read_event(data: JsonLd, things: Sequence[Thing]) -> dict[str, Any]:
    status_url = _first_text(data, things, "eventStatus") or ""
    status = split_words(status_url.rpartition("/")[2]).removeprefix("event ")
    if status == "scheduled":  # which says nothing new
        status = ""
    place = inert(place_of(data, things[0], "location"), NAME_LENGTH)
    return {
        "kind": "event",
        "start": _read_day(data, things, "startDate"),
        "end": _read_day(data, things, "endDate"),
        "place": place or None,
        "availability": status or None,
    }


def _read_product(
    data: JsonLd, things: Sequence[Thing], offers: Sequence[Offer]
) -> dict[str, Any]:
    availabilities = filter(None, (offer.availability for offer in offers))
    return {
        "kind": "product",
        "availability": next(availabilities, None),
        "brand": _first_text(data, things, "brand", "manufacturer"),
        **_read_rating(data, things),
    }


def _read_prices(
    offer: Offer, currency: str | None, amounts: ShownAmounts
) -> tuple[dict[str, Any], list[str]]:
    """Return the prices of an offer, and a note if the page shows other ones."""
    prices = amounts.prices_of(offer)
    if offer.prices and not prices:
        others = amounts.first()
        if others:
            amount = write_price(min(offer.prices))
            if currency:
                amount = f"{amount} {currency}"
            note = (
                f"the page's data states the price {amount}, "
                f"but it shows {', '.join(others)}: either may be right"
            )
            return {"unclear_prices": (amount, *others)}, [note]
        prices = offer.prices
    if not prices:
        return {}, []
    low = min(prices)
    high = max(prices)
    values = {"price": amounts.write(low)}
    if high > low:
        values["high_price"] = amounts.write(high)
    list_price = amounts.before(low, offer)
    if list_price and list_price > high:
        values["list_price"] = amounts.write(list_price)
    return values, []


def _is_event(thing: Thing) -> bool:
    return "startDate" in thing and is_event(thing)


def _read_rating(data: JsonLd, things: Sequence[Thing]) -> dict[str, Any]:
    ratings = (data.inner(thing, "aggregateRating") for thing in things)
    for rating in chain.from_iterable(ratings):
        value = read_amount(data.text(rating, "ratingValue"))
        best = read_amount(data.text(rating, "bestRating")) or _BEST_RATING
        if value is None or value > best:
            continue
        count = read_amount(data.text(rating, "ratingCount", "reviewCount"))
        return {
            "rating": float(value),
            "best_rating": float(best),
            "ratings": int(count) if count else None,
        }
    return {}


class ShownAmounts:
    """The amounts that a page shows."""

    def __init__(self, elements: Elements, prices: Sequence[Price], title: str) -> None:
        # How each amount is written, each way once. A number without a currency is
        # written as "".
        self._texts: defaultdict[Decimal, dict[str, None]] = defaultdict(dict)
        self._room = _MAX_AMOUNTS
        # Crossed-out prices, the first one last.
        self._former: dict[Decimal, str] = {}
        # Amounts in the order of the page, except savings.
        self._in_order: list[str] = []
        # Prices at which auctions begin.
        self._starting: set[Decimal] = set()

        texts = elements.blocks.block_texts
        ordered = _sort_from_title(prices, elements.blocks, title)
        self._elements = elements
        self._prices = prices
        self._begins = [price.begin for price in prices]
        self._ordered = ordered
        self._title = title
        for price in reversed(ordered):
            if price.is_former:
                self._former.update(dict.fromkeys(_numbers(price.text), price.text))
        for price in ordered:
            if not price.is_former:
                self._add_amounts(price.text)
        for block in sorted(elements.priced):
            self._add_amounts(texts[block], ignored=self._former)
        self._has_bids = bool(self._starting) and any(map(_says_bid, texts))
        self._add_numbers_with_cents(
            text for block, text in enumerate(texts) if block not in elements.priced
        )

    def _add_numbers_with_cents(self, texts: Iterable[str]) -> None:
        """Add the numbers of short texts that may be prices without a currency."""
        lines = "\n".join(text for text in texts if len(text) <= _SHORT)
        for written in set(NUMBER.findall(lines)):
            number = parse_number(written) if _CENTS.search(written) else None
            if number and number not in self._former:
                self._texts[number][""] = None

    def _add_amounts(self, written: str, ignored: Collection[Decimal] = ()) -> None:
        if _START.search(written):
            for match in islice(_STARTING_PRICE.finditer(written), _MAX_TEXT_AMOUNTS):
                self._starting.update(_numbers(match[1]))
            written = _STARTING_PRICE.sub(" ", written)
        is_saving = SAVING.search(written) is not None
        for number, amount in islice(_amounts(written), self._room):
            self._room -= 1
            if number in ignored:
                continue
            self._texts[number][amount] = None
            if not is_saving:
                self._in_order.append(amount)

    def choose(self, offers: Sequence[Offer]) -> Offer:
        """Return the first offer whose price is shown; the first one if none is."""
        with_price = filter(self._find_prices, offers)
        starting = filter(self.prices_of, offers)
        return next(chain(with_price, starting, offers))

    def prices_of(self, offer: Offer) -> list[Decimal]:
        """Return the stated prices that are shown, in their currency or without one.

        The price at which an auction begins is none once somebody has made a bid.
        """
        prices = self._find_prices(offer)
        if prices or self._has_bids:
            return prices
        return [price for price in offer.prices if price in self._starting]

    def _find_prices(self, offer: Offer) -> list[Decimal]:
        prices = dict.fromkeys(offer.prices)
        return [price for price in prices if self._shows(price, offer.currency)]

    def _shows(self, price: Decimal, currency: str) -> bool:
        if price in self._starting:
            return False
        return any(may_be_in(currency, amount) for amount in self._texts[price])

    def first(self) -> list[str]:
        """Return the first amounts: those beside the headline, if they are few."""
        beside = [price.text for price in self.beside_title() if not price.is_former]
        if len(set(beside)) > _MAX_CONTRADICTING:
            beside = []
        amounts = beside or filter(None, self._in_order)
        lines = (inert(amount, NAME_LENGTH) for amount in amounts)
        return list(dict.fromkeys(lines))[:_MAX_CONTRADICTING]

    def before(self, price: Decimal, offer: Offer) -> Decimal | None:
        """Return the price before a reduction.

        That is what is stated, or what is crossed out beside the price; none if they
        differ.
        """
        former = self._find_former(price, offer.currency)
        if former is None:
            return offer.list_price
        if offer.list_price is None:
            return former
        if former != offer.list_price:
            return None
        return former

    def _find_former(self, price: Decimal, currency: str) -> Decimal | None:
        """Return the higher amount that is crossed out beside *price*.

        It counts only in the smallest element around the first place of the price that
        has such an amount, and nothing of another thing: no other price, no heading, no
        link.
        """
        places = (place for place in self._ordered if price in _priced(place))
        first = next(places, None)
        if first is None:
            return None
        if first.is_former:  # as in "was $9, now $7", which is one text
            others = _priced(first) - {price}
            return self._single(others, price)
        for element in self._elements.above(first.element):
            inside = self._prices_in(element)
            formers = [other for other in inside if other.is_former]
            amounts = set[Decimal]().union(*map(_amounts_of, formers))
            former = self._single(amounts, price)
            if any(_is_other(other, price, former) for other in inside):
                return None
            if formers:
                if all(self._may_be_of(first, other, currency) for other in formers):
                    return former
                return None
        return None

    def _may_be_of(self, price: Price, former: Price, currency: str) -> bool:
        """Return whether a crossed-out amount may be the one before a price."""
        if _is_sentence(former.text) or not may_be_in(currency, former.text):
            return False
        return self._is_beside(price, former)

    @staticmethod
    def _single(amounts: Collection[Decimal], price: Decimal) -> Decimal | None:
        """Return the only one of *amounts*, if it is higher than a price."""
        if len(amounts) != 1:
            return None
        amount = next(iter(amounts))
        if amount <= price:
            return None
        return amount

    def _prices_in(self, element: int) -> Sequence[Price]:
        elements = self._elements
        begin = bisect_left(self._begins, elements.begin[element])
        end = bisect_left(self._begins, elements.end[element])
        return self._prices[begin:end]

    def _is_beside(self, price: Price, other: Price) -> bool:
        """Return whether nothing stands between two prices that may name another
        thing.
        """
        blocks = self._elements.blocks
        begin = min(price.end, other.end)
        end = max(price.begin, other.begin)
        length = 0
        for run in range(begin, end):
            element = blocks.run_elements[run]
            text = blocks.run_texts[run].strip()
            length += 1 + len(text)
            if length > _MAX_BETWEEN:
                return False
            if not text:
                continue
            if blocks.is_linked(element):
                return False
            if any(blocks.names[n] in HEADINGS for n in self._elements.above(element)):
                return False
        return True

    def beside_title(self) -> list[Price]:
        """Return the prices in the smallest element around the headline that has
        some.
        """
        headline = self._find_headline()
        if headline is None:
            return []
        own_prices = self._prices_in(headline)  # as in "Lamps under $50"
        for element in self._elements.above(headline):
            prices = self._prices_in(element)
            beside = [price for price in prices if price not in own_prices]
            if beside:
                return beside
        return []

    def _find_headline(self) -> int | None:
        """Return the first heading that is the title."""
        begin = self._title[:_MAX_TITLE_BEGIN]
        if not begin or not self._prices:
            return None
        for element, name in enumerate(self._elements.blocks.names):
            if name in _HEADLINES and self._elements.text(element).startswith(begin):
                return element
        return None

    def write(self, price: Decimal) -> str:
        """Write a price, with cents if it is shown with them."""
        former = self._former.get(price, "")
        written = next(filter(None, self._texts[price]), former)
        return write_price(price, cents=_CENTS.search(written) is not None)


def _is_sentence(text: str) -> bool:
    """Return whether a price is mentioned in a sentence, such as one about last
    year.
    """
    return len(AMOUNT.sub(" ", text).split()) > _MAX_WORDS


def _is_other(shown_price: Price, price: Decimal, former: Decimal | None) -> bool:
    """Return whether a page shows the price of another thing: neither *price* nor what
    *former* saves.
    """
    if shown_price.is_former:
        return False
    numbers = _priced(shown_price)
    if price in numbers:
        return False
    return former is None or numbers != {former - price}


def _priced(price: Price) -> set[Decimal]:
    """Return the numbers of a price, but no percentages."""
    return set(_numbers(_PERCENTAGE.sub(" ", price.text)))


def _amounts_of(price: Price) -> set[Decimal]:
    """Return the amounts of money of a price: not the days until which it holds."""
    return set(filter(None, map(parse_number, AMOUNT.findall(price.text))))


def _sort_from_title(
    prices: Sequence[Price], blocks: TextBlocks, title: str
) -> list[Price]:
    """Return *prices* with those after the title first: others are of other things."""
    begin = title[:_MAX_TITLE_BEGIN]
    blocks_from_title = (
        block
        for block, written in enumerate(blocks.block_texts)
        if written.startswith(begin)
    )
    start = next(blocks_from_title, 0)
    return sorted(prices, key=lambda price: blocks.run_blocks[price.begin] < start)


def _amounts(written: str) -> Iterator[tuple[Decimal, str]]:
    """Yield the amounts in a text.

    "20 to 30 €" are two. Then the other numbers of a short text, without their text.
    """
    end = 0
    for match in islice(AMOUNT.finditer(written), _MAX_TEXT_AMOUNTS):
        amount = match[0]
        low = _find_low(written[max(end, match.start() - _MAX_LOW) : match.start()])
        end = match.end()
        if low:
            yield low, amount
        number = parse_number(amount)
        if number:
            yield number, amount
    if len(written) <= _SHORT:
        for number in _numbers(AMOUNT.sub(" ", written)):
            yield number, ""


def _says_bid(written: str) -> bool:
    """Return whether a short text is about a bid, not about the first one to make."""
    if len(written) > _SHORT:
        return False
    return _BIDS.search(_STARTING_PRICE.sub(" ", written)) is not None


def _find_low(before: str) -> Decimal | None:
    """Return the first amount of a range, which ends before its second one."""
    numbers = list(NUMBER.finditer(before))
    if not numbers:
        return None
    last = numbers[-1]
    if not _RANGE_SIGN.fullmatch(before[last.end() :].strip()):
        return None
    return parse_number(last[0])


def _numbers(written: str) -> Iterator[Decimal]:
    """Yield the numbers in a text, except 0."""
    return filter(None, map(parse_number, NUMBER.findall(written)))


def _find_lists(data: JsonLd, marked: Sequence[Thing]) -> Iterator[Thing]:
    with_links = filter(_has_links, marked)
    for thing in islice(chain(data.things, with_links), MAX_OFFERS):
        inner = data.inner(thing, "mainEntity", "itemListElement")[:1]
        for candidate in (thing, *inner):
            if {"ItemList", "OfferCatalog"} & types(candidate):
                yield candidate


def _has_links(thing: Thing) -> bool:
    """Return whether a list of microdata has links: else it is a table of contents."""
    elements = thing.get("itemListElement", ())
    return any("url" in element or "item" in element for element in elements)


def _read_list(
    data: JsonLd, lists: Sequence[Thing], prices: Sequence[Price], base: str
) -> Iterator[Item]:
    """Yield the items of the longest list in the data."""
    element_lists = [data.values(thing, "itemListElement") for thing in lists]
    elements = max(element_lists, key=len, default=[])
    texts = (price.text for price in prices)
    page_numbers = set(chain.from_iterable(map(_numbers, texts)))
    for element in elements[:MAX_ITEMS]:
        if not isinstance(element, dict):
            continue
        listed = read_item(data, element)
        name = inert(listed.name, NAME_LENGTH)
        if not name or "SiteNavigationElement" in types(listed.thing):
            continue
        offer = read_offer(data, listed.thing)
        written = None
        if offer.prices:
            price = min(offer.prices)
            if not page_numbers or price in page_numbers:
                written = f"{write_price(price)} {offer.currency}".strip()
        yield Item(name=name, price=written, url=absolute(listed.url, base))


def _count(
    data: JsonLd, lists: Sequence[Thing], blocks: TextBlocks, minimum: int
) -> int | None:
    """Return how many things a list has on all of its pages.

    What the page shows comes before what its data states.
    """
    counts: list[int] = []
    for written in blocks.block_texts:
        if len(written) <= _SHORT:
            match = _COUNT.search(written)
            if match:
                counts.append(int(re.sub(r"\D", "", match[1])))
    for thing in lists:
        number = read_amount(data.text(thing, "numberOfItems"))
        if number:
            counts.append(int(number))
    return next((count for count in counts if count >= minimum), None)


def _find_next(facts: Metadata, blocks: TextBlocks) -> str | None:
    """Return the URL of the next page of a list."""
    url = absolute(facts.next_url, facts.base)
    if url:
        return url
    anchors = map(blocks.attributes.__getitem__, blocks.named("a"))
    links = [attributes for attributes in anchors if _leads_on(attributes)]
    # The arrow of a slider may say "next", too, but not rel=next.
    links.sort(key=lambda attributes: attributes.get("rel") != "next")
    if not links:
        return None
    return absolute(links[0]["href"], facts.base)


def _leads_on(attributes: Attributes) -> bool:
    """Return whether a link says that it leads to the next page."""
    target = attributes.get("href")
    if not target or target.startswith("#"):
        return False
    labels = [attributes.get(key) or "" for key in _NEXT_ATTRIBUTES]
    return any(map(_NEXT.search, labels))


def _find_question(data: JsonLd, subjects: Sequence[Thing]) -> PageData | None:
    asking = [
        subject for subject in subjects if {"Question", "QAPage"} & types(subject)
    ]
    questions = (_read_question(data, subject) for subject in asking)
    return next(filter(None, questions), None)


def _read_question(data: JsonLd, subject: Thing) -> PageData | None:
    question = subject
    if "Question" not in types(subject):
        entities = data.inner(subject, "mainEntity")
        questions = (entity for entity in entities if "Question" in types(entity))
        question = next(questions, {})
    name = inert(data.text(question, "name", "text"), TITLE_LENGTH)
    if not name:
        return None
    values = [data.values(question, key) for key in ANSWERS]
    texts = [read_text(data, value) for value in chain.from_iterable(values)]
    answers = [*filter(None, (inert(text, _ANSWER_LENGTH) for text in texts))]
    return PageData(kind="question", name=name, answers=tuple(answers[:_MAX_ANSWERS]))


def _bound_things(facts: Metadata) -> Iterator[dict[str, Any]]:
    """Yield the JSON-LD of what the page is about, inert and bounded."""
    copier = _BoundedCopier(facts.linked)
    others = [thing for thing in facts.linked.things if thing is not facts.about]
    for thing in (facts.about, *others):
        if types(thing) <= TYPES["chrome"]:
            continue
        copy = copier.copy(thing)
        if copy:
            yield copy


class _BoundedCopier:
    """Copies JSON without addresses, empty values and what is beyond the limits.

    The limits hold for all copies together.
    """

    def __init__(self, data: JsonLd) -> None:
        self._data = data
        self._characters = _MAX_RAW  # that are left, as are the nodes
        self._nodes = _MAX_RAW_NODES

    def copy(self, value: Any, depth: int = 0) -> Any:
        self._nodes -= 1
        is_exhausted = self._nodes < 0 or self._characters <= 0
        if is_exhausted or depth > _MAX_RAW_DEPTH:
            return None
        if isinstance(value, dict):
            return self._copy_dict(value, depth)
        if isinstance(value, list):
            copies = [self.copy(item, depth + 1) for item in value[:_MAX_RAW_LIST]]
            return [item for item in copies if item not in _EMPTY]
        if isinstance(value, str):
            return self._copy_text(value)
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float) and abs(value) < _MAX_NUMBER:  # not NaN
            return value
        return None

    def _copy_dict(self, value: dict[str, Any], depth: int) -> dict[str, Any]:
        keys = list(islice(value, _MAX_KEYS))
        self._characters -= sum(map(len, keys))
        copies: dict[str, Any] = {}
        for key in keys:
            name = inert(key, _MAX_KEYS)
            item = self.copy(value[key], depth + 1)
            if item not in _EMPTY:
                copies[name] = item
        return copies

    def _copy_text(self, value: str) -> str:
        if _ADDRESS.match(value.strip()):
            return ""
        copy = inert(self._data.read(value), _MAX_RAW_TEXT)
        self._characters -= len(copy)
        return copy
