"""The data of a page as text for a model: one line about its thing, and the things of a grid that the text lacks."""

from __future__ import annotations
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from .quantity import quantity

_AFTER = 600  # characters between the name of a thing and its price, the target of its link included
_BEFORE = 200


def describe_data(data: Any) -> str:
    """Return one line about a `PageData`; empty if it is of no kind."""
    if data is None or data.kind is None:
        return ""
    facts: list[str] = []
    if data.kind == "list":
        total = f" of {data.count:,}" if data.count and data.count > len(data.items) else ""
        facts += [f"{len(data.items)}{total} items", f"next page: {data.next_url}" if data.next_url else ""]
    elif data.kind == "question":
        facts += [data.name, quantity(len(data.answers), "stated answer")]
    else:
        when = " to ".join(filter(None, [data.start, data.end]))
        rated = data.rating is not None and f"rated {data.rating:.3g} of {data.best_rating:g}"
        by = f" by {data.ratings:,}" if data.ratings else ""
        facts += [data.name, when, data.place or "", _describe_price(data), data.availability or ""]
        facts += [f"brand {data.brand}" if data.brand else "", f"{rated}{by}" if rated else ""]
    return f"{data.kind.capitalize()}: {'; '.join(filter(None, facts))}"


def _describe_price(data: Any) -> str:
    if data.unclear_prices:
        return f"price unclear: {data.unclear_prices[0]} by its data, {', '.join(data.unclear_prices[1:])} shown"
    if data.price is None:
        return ""
    currency = f" {data.currency}" if data.currency else ""
    highest = f" to {_group(data.high_price)}" if data.high_price else ""
    before = f" (list price {_group(data.list_price)}{currency})" if data.list_price else ""
    return f"{_group(data.price)}{highest}{currency}{before}"


def _group(number: str) -> str:
    """Return a number with separators between its thousands."""
    whole, point, cents = number.partition(".")
    return f"{int(whole):,}{point}{cents}" if whole.isdecimal() else number


def list_items(data: Any, content: str, fits: Callable[[str], bool]) -> str:
    """Return the things of a grid that *content* lacks, one a line: all with their links, all without, or the first.

    *fits* returns whether a text may be shown after the content.
    """
    items = [item for item in data.items if not _is_shown(item, content)] if data else []
    if not items:
        return ""
    linked = _write_items(items, len(items), linked=True)
    if fits(linked):
        return linked
    number = bisect_left(range(1, len(items) + 1), 1, key=lambda most: not fits(_write_items(items, most)))
    return _write_items(items, number) if number else ""


def _write_items(items: Sequence[Any], most: int, *, linked: bool = False) -> str:
    lines = ["Items that the page shows:"]
    for item in items[:most]:
        before = f" (was {item.list_price})" if item.list_price else ""
        price = f": {item.price}{before}" if item.price else ""
        lines.append(f"- {item.name}{price}{f' — {item.url}' if linked and item.url else ''}")
    return "\n".join([*lines, *([f"- and {len(items) - most} more"] if most < len(items) else [])])


def _is_shown(item: Any, content: str) -> bool:
    """Return whether a text has the name of a thing, and its price near it."""
    place = content.find(item.name)
    around = content[max(0, place - _BEFORE) : place + len(item.name) + _AFTER]
    return place >= 0 and (item.price or "") in around
