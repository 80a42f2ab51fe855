"""What a page states about its thing, as data."""

from __future__ import annotations
from typing import Any, Literal, TypeAlias

from ._value import Value

DataKind: TypeAlias = Literal["product", "event", "list", "question"]


class Item(Value):
    """One of the things that a page lists.

    Args:
        name: Plain text.
        price: As the page writes it, such as ``$48.99``; None if it has none.
        list_price: The price that is crossed out beside it.
        url: Absolute http(s) URL.
    """

    name: str
    price: str | None = None
    list_price: str | None = None
    url: str | None = None


class PageData(Value):
    """What a page states about its thing in JSON-LD, microdata or Open Graph, or shows
    as a grid of things with prices.

    Texts are plain, and fields that do not apply are None or empty.

    Args:
        kind: ``product``, ``event``, ``list`` (of items) or ``question``; None for
            anything else, which is in ``raw``.
        name: What the thing is called; of a question, its text.
        price: The price as a number, such as ``48.99``: it is shown too, or no other
            amount is shown.
        high_price: The highest price, if there are several; then ``price`` is the
            lowest.
        list_price: The price before a reduction.
        currency: An ISO 4217 code, as stated.
        unclear_prices: The stated price and the first that are shown, if it is not
            among these; ``price`` is None then.
        availability: Such as ``in stock``, as stated; of an event, ``cancelled``,
            ``postponed``, ``moved online``, ...
        brand: Who makes it.
        rating: What its buyers gave it on average, of ``best_rating``.
        best_rating: The best possible rating.
        ratings: How many rated or reviewed it.
        start: When an event begins, as stated, mostly in ISO 8601.
        end: When it ends.
        place: Where it is.
        items: The first 100 things of a list.
        count: How many things the list has on all of its pages, if it says so.
        next_url: The next page of the list.
        answers: The first answers to a question, an accepted one before others.
        raw: The JSON-LD of what the page is about, cut to a few thousand characters,
            without addresses.
    """

    kind: DataKind | None = None
    name: str = ""
    price: str | None = None
    high_price: str | None = None
    list_price: str | None = None
    currency: str | None = None
    unclear_prices: tuple[str, ...] = ()
    availability: str | None = None
    brand: str | None = None
    rating: float | None = None
    best_rating: float = 5
    ratings: int | None = None
    start: str | None = None
    end: str | None = None
    place: str | None = None
    items: tuple[Item, ...] = ()
    count: int | None = None
    next_url: str | None = None
    answers: tuple[str, ...] = ()
    raw: tuple[dict[str, Any], ...] = ()

    @property
    def links(self) -> tuple[str, ...]:
        """The URLs of the items, and of the next page."""
        urls = [item.url for item in self.items]
        urls.append(self.next_url)
        return tuple(url for url in urls if url)

    def without_links(self) -> PageData:
        """Return the same data without URLs."""
        items = tuple(item.model_copy(update={"url": None}) for item in self.items)
        return self.model_copy(update={"items": items, "next_url": None})
