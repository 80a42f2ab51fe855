"""Read what the data of a page states about what a thing costs."""

from __future__ import annotations
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import NamedTuple

from ..._text.money import parse_number
from .._types import NAME_LENGTH
from .grid import inert
from .jsonld import JsonLd, Thing

MAX_OFFERS = 100
_FORMER_PRICES = re.compile(r"list|strike|srp|msrp|regular", re.IGNORECASE)
_MAX_OFFER_DEPTH = 3
_AVAILABILITIES = {
    "instock": "in stock",
    "outofstock": "out of stock",
    "oos": "out of stock",
    "soldout": "sold out",
}
_MAX_PRICE = Decimal(10) ** 12
_MIN_PRICE = Decimal(10) ** -9
_MAX_NUMBER_LENGTH = 40  # characters
# Where a price is, as a selector or a place of a template; not what it is.
_NO_AMOUNT = re.compile(r"[{}#<>\[\]_=:()]|^\.[A-Za-z]|[A-Za-z]{6}")
_NO_CURRENCY = re.compile(r"[{}<>\[\]#.]")
NO_WORDS = re.compile(r"[{}<>\[\]]|^[.#]")


class Offer(NamedTuple):
    """What a thing costs, as stated."""

    prices: list[Decimal]
    list_price: Decimal | None = None
    currency: str = ""
    availability: str = ""


def read_offer(data: JsonLd, thing: Thing) -> Offer:
    """Return what is stated about the price of a thing.

    That is of all of its offers and variants, as far as they have one currency.
    """
    prices: list[Decimal] = []
    list_price: Decimal | None = None
    currency = ""
    availabilities: dict[str, None] = {}  # in order, each once
    for offer in islice(_offers(data, thing), MAX_OFFERS):
        own_currency = data.text(offer, "priceCurrency")
        if _NO_CURRENCY.search(own_currency):
            own_currency = ""
        currency = currency or own_currency
        availabilities.setdefault(_read_availability(data, offer))
        is_former = _FORMER_PRICES.search(data.text(offer, "priceType"))
        for key in ("price", "lowPrice", "highPrice"):
            price = _first_amount(data, offer, key)
            if is_former:
                list_price = list_price or price
            elif price and own_currency in ("", currency):
                prices.append(price)
    availability = ", ".join(filter(None, availabilities))
    return Offer(
        prices, list_price, inert(currency, 10), inert(availability, NAME_LENGTH)
    )


def _offers(data: JsonLd, thing: Thing) -> Iterator[Thing]:
    """Yield a thing with its offers and their prices, then the same of its variants."""
    queue: list[tuple[int, Thing]] = [(0, thing)]
    for depth, offer in queue:  # grows during the loop
        yield offer
        if depth >= _MAX_OFFER_DEPTH or len(queue) >= MAX_OFFERS:
            continue
        for key in ("offers", "priceSpecification", "hasVariant"):
            for inner in data.inner(offer, key):
                if "referenceQuantity" not in inner:  # that of 100 g, or of a litre
                    queue.append((depth + 1, inner))


def _read_availability(data: JsonLd, offer: Thing) -> str:
    """Return the words of ``https://schema.org/InStock`` and its like."""
    url = data.text(offer, "availability").rstrip("/")
    words = split_words(url.rsplit("/", 1)[-1])
    if NO_WORDS.search(words):
        return ""
    letters = "".join(filter(str.isalpha, words))
    return _AVAILABILITIES.get(letters, words)


def read_amount(written: str) -> Decimal | None:
    """Return a stated price; None if it is not a positive number."""
    digits = written.strip()[:_MAX_NUMBER_LENGTH]
    if _NO_AMOUNT.search(digits):
        return None
    number: Decimal | None
    try:
        number = Decimal(digits)
    except InvalidOperation:
        number = parse_number(digits)
    if number is None or not number.is_finite():
        return None
    if not _MIN_PRICE < number < _MAX_PRICE:
        return None
    return number


def _first_amount(data: JsonLd, offer: Thing, key: str) -> Decimal | None:
    for value in data.values(offer, key):
        amount = read_amount(data.read(value))
        if amount is not None:
            return amount
    return None


def write_price(price: Decimal, *, cents: bool = False) -> str:
    exact = price.normalize()
    has_one_or_two_digits = exact == round(exact, 2) != round(exact, 0)
    if cents or has_one_or_two_digits:
        return f"{exact:.2f}"
    return f"{exact:f}"


def split_words(name: str) -> str:
    """``InStock`` -> ``in stock``, ``FULL_TIME`` -> ``full time``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()
