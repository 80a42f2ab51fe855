"""Read what a page states about its thing, and what it shows as a grid, into
`PageData`.

Data is written for machines, and may be out of date or wrong: a stated price is taken
if it is shown too, or if no amount is shown. Every text is one line that nothing acts
on.
"""

from __future__ import annotations
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from itertools import chain, islice
from typing import Any, NamedTuple

from ..._text.money import AMOUNT, NUMBER, may_be_in, parse_number
from ..._text.vocabulary import Kind
from ...models._data import Item, PageData
from .._links import absolute
from .._types import NAME_LENGTH, TITLE_LENGTH
from .blocks import TextBlocks
from .grid import MAX_ITEMS, SAVING, Elements, Price, find_items, find_prices, inert
from .jsonld import TYPES, JsonLd, Thing, text, types
from .metadata import Metadata
from .phrases import PHRASES
from .structured_data import place_of, read_item, split_words
from .titles import agree

_FORMER_PRICES = re.compile(r"list|strike|srp|msrp|regular", re.IGNORECASE)
_NO_GRIDS = frozenset({"article", "documentation", "forum", "product"})
_MANY = 6  # prices of a grid on a page that does not say that it is one
_MAX_OFFERS = 100
_MAX_SHOWN = 3  # amounts beside one that contradicts them
_MAX_ANSWERS = 5
_ANSWER_LENGTH = 500  # characters
_AVAILABILITIES = {
    "instock": "in stock",
    "outofstock": "out of stock",
    "oos": "out of stock",
    "soldout": "sold out",
}
_MAX_PRICE = Decimal(10) ** 12
_MIN_PRICE = Decimal(10) ** -9
_COUNT = re.compile(rf"(?<![\d.,])(\d[\d.,]{{0,9}}) (?:{PHRASES['things in lists']})\b")
_COUNTING = 60  # characters of a text that says how many there are
_NEXT = re.compile(r"(?:^|[\s_-])next(?:$|[\s_-]page)", re.IGNORECASE)
# Of `PageData.raw`.
_MAX_RAW = 4_000  # characters
_MAX_RAW_NODES = 200
_MAX_RAW_DEPTH = 5
_MAX_RAW_TEXT = 300
_MAX_NUMBER = 10**15
_MAX_KEYS = 100  # of one thing, and characters of one
_ADDRESS = re.compile(r"\w*:?//|/\S*$|data:")


class Offer(NamedTuple):
    """What a thing costs, as stated."""

    prices: list[Decimal]
    list_price: Decimal | None = None
    currency: str = ""
    availability: str = ""


def read_data(
    facts: Metadata, kind: Kind | None, blocks: TextBlocks, base: str
) -> tuple[PageData | None, list[str]]:
    """Return the data of a page, None if there is none, and notes on it.

    *facts* are what it says about itself, *blocks* the text that it shows; links are
    resolved against *base*.
    """
    linked = facts.linked
    raw = tuple(_bound_things(facts))
    abouts = facts.about, JsonLd(facts.marked).main(base)
    asked = (
        _read_question(linked, one)
        for one in abouts
        if {"Question", "QAPage"} & types(one)
    )
    if question := next(filter(None, asked), None):
        return question.model_copy(update={"raw": raw}), []
    found = _find_products(facts)
    products = [one for one in found if read_offer(linked, one).prices] or [
        one for one in found if "offers" in one
    ]
    things = products or list(filter(_is_event, abouts))[:1]
    lists = list(_lists(linked, [] if kind in _NO_GRIDS else facts.marked))
    if not (things or lists) and kind in _NO_GRIDS:
        return PageData(raw=raw) if raw else None, []
    elements = Elements(blocks)
    prices = find_prices(elements)
    if things:
        data, notes = _read_thing(facts, things, elements, prices)
        return data.model_copy(update={"raw": raw}), notes
    grid = find_items(elements, prices, base) if kind not in _NO_GRIDS else []
    is_grid = len(grid) >= _MANY or (grid and kind == "collection")
    if items := grid if is_grid else list(_read_list(linked, lists, prices, base)):
        following = _find_next(facts, blocks, base)
        name, total = (
            inert(facts.title, TITLE_LENGTH),
            _count(linked, lists, blocks, len(items)),
        )
        return PageData(
            kind="list",
            name=name,
            items=tuple(items),
            count=total,
            next_url=following,
            raw=raw,
        ), []
    return PageData(raw=raw) if raw else None, []


def read_offer(data: JsonLd, thing: Thing) -> Offer:
    """Return what is stated about the price of a thing: of all of its offers and
    variants.
    """
    prices: list[Decimal] = []
    before: Decimal | None = None
    currency = ""
    states: dict[str, None] = {}
    for one in islice(_offers(data, thing), _MAX_OFFERS):
        own = data.text(one, "priceCurrency")
        currency = currency or own
        states.setdefault(
            split_words(data.text(one, "availability").rstrip("/").rsplit("/", 1)[-1])
        )
        former = _FORMER_PRICES.search(data.text(one, "priceType"))
        for key in ("price", "lowPrice", "highPrice"):
            value = next(filter(None, map(_amount, data.values(one, key))), None)
            if former:
                before = before or value
            elif value and own in ("", currency):
                prices.append(value)
    words = ", ".join(
        _AVAILABILITIES.get("".join(filter(str.isalpha, one)), one)
        for one in states
        if one
    )
    return Offer(prices, before, inert(currency, 10), inert(words, NAME_LENGTH))


def _offers(data: JsonLd, thing: Thing) -> Iterator[Thing]:
    """Yield a thing with its offers and their price specifications, then the same of
    its variants.
    """
    waiting: list[tuple[int, Thing]] = [(0, thing)]
    for depth, one in waiting:  # grows during the loop
        yield one
        if depth < 3 and len(waiting) < _MAX_OFFERS:
            inner = (
                value
                for key in ("offers", "priceSpecification", "hasVariant")
                for value in data.values(one, key)
            )
            waiting += [
                (depth + 1, value)
                for value in inner
                if isinstance(value, dict) and "referenceQuantity" not in value
            ]


def _amount(value: Any) -> Decimal | None:
    """Return a stated price; None if it is not a positive number."""
    written = text(value).strip()
    try:
        number = Decimal(written)
    except InvalidOperation:
        number = parse_number(written[:40]) or Decimal(0)
    return number if number.is_finite() and _MIN_PRICE < number < _MAX_PRICE else None


def _find_products(facts: Metadata) -> list[Thing]:
    """Return the statements about the one product that the page is about: JSON-LD,
    microdata, meta tags.
    """
    found: list[Thing] = []
    for things in ((facts.about,), facts.linked.things, facts.marked):
        products = [thing for thing in things if TYPES["products"] & types(thing)]
        if len(products) > 1:
            products = [
                one
                for one in products
                if agree(facts.linked.text(one, "name"), [facts.title])
            ][:1]
        names = [facts.title, *(facts.linked.text(one, "name") for one in found[:1])]
        found += [
            one
            for one in products
            if one not in found
            and (
                not found
                or not (name := facts.linked.text(one, "name"))
                or agree(name, names)
            )
        ]
    return found


def _read_thing(
    facts: Metadata,
    things: Sequence[Thing],
    elements: Elements,
    prices: Sequence[Price],
) -> tuple[PageData, list[str]]:
    """Return the data of a product or an event, from several statements about it, the
    best first.
    """
    linked = facts.linked
    shown = Shown(elements, prices, facts.title)
    offers = [read_offer(linked, thing) for thing in things]
    offer = next(filter(shown.prices_of, offers), offers[0])

    def first(*keys: str) -> str | None:
        return (
            inert(
                next(filter(None, (linked.text(thing, *keys) for thing in things)), ""),
                NAME_LENGTH,
            )
            or None
        )

    values: dict[str, Any] = {
        "kind": "event" if _is_event(things[0]) else "product",
        "name": first("name") or inert(facts.title, TITLE_LENGTH),
        "currency": offer.currency
        or next((one.currency for one in offers if one.currency), None),
    }
    if values["kind"] == "event":
        place = inert(place_of(linked, things[0], "location"), NAME_LENGTH) or None
        values |= {"start": first("startDate"), "end": first("endDate"), "place": place}
        status = split_words(
            (first("eventStatus") or "").rpartition("/")[2]
        ).removeprefix("event ")
        values["availability"] = None if status in {"", "scheduled"} else status
    else:
        availability = next(
            (one.availability for one in offers if one.availability), None
        )
        values |= {
            "availability": availability,
            "brand": first("brand", "manufacturer"),
            **_read_rating(linked, things),
        }
    notes: list[str] = []
    costs = shown.prices_of(offer)
    if offer.prices and not costs and (others := shown.first()):
        stated, seen = (
            " ".join(filter(None, [_write(min(offer.prices)), values["currency"]])),
            ", ".join(others),
        )
        values["unclear_prices"] = (stated, *others)
        notes.append(
            f"the page's data states the price {stated}, but it shows {seen}: either "
            f"may be right"
        )
    elif costs := costs or offer.prices:
        low, high = min(costs), max(costs)
        values["price"] = shown.write(low)
        values["high_price"] = shown.write(high) if high > low else None
        before = shown.before(low, offer.list_price)
        values["list_price"] = shown.write(before) if before and before > high else None
    return PageData(**values), notes


def _is_event(thing: Thing) -> bool:
    return "startDate" in thing and any(
        kind.endswith("Event") or kind == "Festival" for kind in types(thing)
    )


def _read_rating(data: JsonLd, things: Sequence[Thing]) -> dict[str, Any]:
    for rating in (
        one for thing in things for one in data.values(thing, "aggregateRating")
    ):
        if isinstance(rating, dict) and (
            value := _amount(
                rating.get("ratingValue") or data.text(rating, "ratingValue")
            )
        ):
            best = _amount(data.text(rating, "bestRating")) or Decimal(5)
            count = _amount(data.text(rating, "ratingCount", "reviewCount"))
            if value <= best:
                return {
                    "rating": float(value),
                    "best_rating": float(best),
                    "ratings": int(count) if count else None,
                }
    return {}


class Shown:
    """The amounts that a page shows."""

    def __init__(self, elements: Elements, prices: Sequence[Price], title: str) -> None:
        texts = elements.blocks.block_texts
        # amounts as they are written
        self._texts: defaultdict[Decimal, list[str]] = defaultdict(list)
        start = next(
            (n for n, one in enumerate(texts) if title and one.startswith(title[:40])),
            0,
        )
        blocks = elements.blocks.run_blocks
        # those after the title come first
        listed = sorted(prices, key=lambda price: blocks[price.begin] < start)
        self._before = {
            found: one.text
            for one in reversed(listed)
            if one.is_former
            for found in _numbers(one.text)
        }
        self._near: list[str] = []
        now = [one.text for one in listed if not one.is_former]
        for place, written in enumerate(
            (*now, *(texts[n] for n in sorted(elements.priced)))
        ):
            for number, amount in _amounts(written):
                if place < len(now) or number not in self._before:
                    self._texts[number].append(amount)
                    self._near += [] if SAVING.search(written) else [amount]
        unpriced = (
            one
            for n, one in enumerate(texts)
            if len(one) <= _COUNTING and n not in elements.priced
        )
        for number in {*chain.from_iterable(map(_numbers, unpriced))} - {*self._before}:
            self._texts[number] += [""] if number % 1 else []

    def prices_of(self, offer: Offer) -> list[Decimal]:
        """Return the stated prices that are shown, in their currency or without one."""
        return [
            price
            for price in offer.prices
            if any(may_be_in(offer.currency, one) for one in self._texts[price])
        ]

    def first(self) -> list[str]:
        """Return the first amounts."""
        return list(
            dict.fromkeys(inert(one, NAME_LENGTH) for one in self._near if one)
        )[:_MAX_SHOWN]

    def before(self, price: Decimal, stated: Decimal | None) -> Decimal | None:
        """Return the price before a reduction: what is stated, or the first crossed-out
        one; none if they differ.
        """
        crossed = [one for one in reversed(self._before) if one > price]
        return (
            stated
            if stated in crossed or not crossed
            else None
            if stated
            else crossed[0]
        )

    def write(self, price: Decimal) -> str:
        """Write a price, with cents if it is shown with them."""
        written = next(filter(None, self._texts[price]), self._before.get(price, ""))
        return _write(price, cents=bool(re.search(r"[.,]\d\d\b", written)))


def _write(price: Decimal, *, cents: bool = False) -> str:
    exact = price.normalize()
    return (
        f"{exact:.2f}"
        if cents or exact == round(exact, 2) != round(exact, 0)
        else f"{exact:f}"
    )


def _amounts(written: str) -> Iterator[tuple[Decimal, str]]:
    """Yield the amounts in a text; then the other numbers of a short one, as in "20 to
    30 €", without their text.
    """
    yield from (
        (number, one)
        for one in AMOUNT.findall(written)
        if (number := parse_number(one))
    )
    if len(written) <= _COUNTING:
        yield from ((number, "") for number in _numbers(AMOUNT.sub(" ", written)))


def _numbers(written: str) -> Iterator[Decimal]:
    return filter(None, map(parse_number, NUMBER.findall(written)))


def _lists(data: JsonLd, marked: Sequence[Thing]) -> Iterator[Thing]:
    # lists of names alone, in microdata, are the contents of a page
    links = {"url", "item"}
    linked = (
        thing
        for thing in marked
        if any(links & {*one} for one in thing.get("itemListElement", ()))
    )
    for thing in islice(chain(data.things, linked), _MAX_OFFERS):
        for one in (thing, *data.values(thing, "mainEntity", "itemListElement")[:1]):
            if isinstance(one, dict) and {"ItemList", "OfferCatalog"} & types(one):
                yield one


def _read_list(
    data: JsonLd, lists: Sequence[Thing], prices: Sequence[Price], base: str
) -> Iterator[Item]:
    """Yield the items of the longest list in the data."""
    longest = max(
        (data.values(thing, "itemListElement") for thing in lists), key=len, default=[]
    )
    shown = {number for price in prices for number in _numbers(price.text)}
    for element in longest[:MAX_ITEMS]:
        if not isinstance(element, dict):
            continue
        thing, stated, place = read_item(data, element)
        offer = read_offer(data, thing)
        price = min(offer.prices, default=None)
        if name := inert(stated, NAME_LENGTH):
            known = price and (not shown or price in shown)
            written = (
                f"{_write(price)} {offer.currency}".strip() if price and known else None
            )
            yield Item(name=name, price=written, url=absolute(place, base))


def _count(
    data: JsonLd, lists: Sequence[Thing], blocks: TextBlocks, least: int
) -> int | None:
    """Return how many things a list has on all of its pages."""
    stated = [_amount(data.text(thing, "numberOfItems")) for thing in lists]
    said = (_COUNT.search(one) for one in blocks.block_texts if len(one) <= _COUNTING)
    counts = [int(re.sub(r"\D", "", found[1])) for found in said if found]
    return next(
        (
            number
            for number in (*counts, *(int(one) for one in stated if one))
            if number >= least
        ),
        None,
    )


def _find_next(facts: Metadata, blocks: TextBlocks, base: str) -> str | None:
    """Return the URL of the next page of a list."""
    if following := absolute(facts.next_url, base):
        return following
    names = zip(blocks.names, blocks.attributes, strict=True)
    links = [
        (own, href)
        for name, own in names
        if name == "a" and (href := own.get("href")) and href[0] != "#"
    ]
    # the arrow of a slider may say it, too
    links.sort(key=lambda link: link[0].get("rel") != "next")
    for own, href in links:
        if any(
            _NEXT.search(own.get(key) or "")
            for key in ("rel", "class", "aria-label", "title")
        ):
            return absolute(href, base)
    return None


def _read_question(data: JsonLd, about: Thing) -> PageData | None:
    inner = [
        one
        for one in data.values(about, "mainEntity")
        if isinstance(one, dict) and "Question" in types(one)
    ]
    question = about if "Question" in types(about) else next(iter(inner), {})
    answers = [
        one
        for key in ("acceptedAnswer", "suggestedAnswer")
        for one in data.values(question, key)
    ]
    texts = [
        inert(
            data.text(one, "text", "name") if isinstance(one, dict) else text(one),
            _ANSWER_LENGTH,
        )
        for one in answers
    ]
    name = inert(data.text(question, "name", "text"), TITLE_LENGTH)
    kept = tuple(filter(None, texts))[:_MAX_ANSWERS]
    return PageData(kind="question", name=name, answers=kept) if name else None


def _bound_things(facts: Metadata) -> Iterator[dict[str, Any]]:
    """Yield the JSON-LD of what the page is about, inert and bounded."""
    room = [_MAX_RAW, _MAX_RAW_NODES]
    others = (thing for thing in facts.linked.things if thing is not facts.about)
    for thing in (facts.about, *others):
        if not types(thing) <= TYPES["chrome"] and (kept := _bound(thing, room, 0)):
            yield kept


def _bound(value: Any, room: list[int], depth: int) -> Any:
    """Return a value of JSON without addresses, empty values and what is beyond the
    limits; *room* is what is left.
    """
    room[1] -= 1
    if room[1] < 0 or room[0] <= 0 or depth > _MAX_RAW_DEPTH:
        return None
    if isinstance(value, dict):
        room[0] -= sum(map(len, islice(value, _MAX_KEYS)))
        pairs = (
            (inert(key, _MAX_KEYS), _bound(one, room, depth + 1))
            for key, one in islice(value.items(), _MAX_KEYS)
        )
        return {key: one for key, one in pairs if one not in (None, "", {}, [])}
    if isinstance(value, list):
        return [
            one
            for one in (_bound(one, room, depth + 1) for one in value[:50])
            if one not in (None, "", {}, [])
        ]
    if isinstance(value, str):
        value = (
            "" if _ADDRESS.match(value.strip()) else inert(text(value), _MAX_RAW_TEXT)
        )
        room[0] -= len(value)
        return value
    # NaN is not
    is_plain = isinstance(value, bool) or (
        isinstance(value, int | float) and abs(value) < _MAX_NUMBER
    )
    return value if is_plain else None
