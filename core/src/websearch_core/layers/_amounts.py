"""Amounts of calls, credits and dollars, and the limits that a budget sets for them."""

from __future__ import annotations
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, TypeAlias, cast

from .._text.lists import split_texts
from ..errors import ConfigurationError

Unit: TypeAlias = Literal["calls", "credits", "usd"]
Period: TypeAlias = Literal["run", "day", "month"]

MILLION = 1_000_000  # amounts are whole millionths: sums of floats drift
_UNITS: dict[str, Unit] = {
    "call": "calls",
    "calls": "calls",
    "credit": "credits",
    "credits": "credits",
    "usd": "usd",
}
_LARGEST = 10**9
_AMOUNT = r"(?P<amount>\d[\d_]*(?:\.\d+)?)\s*(?P<unit>[A-Za-z]+)"
_PRICE = re.compile(_AMOUNT)
_LIMIT = re.compile(
    rf"{_AMOUNT}(?:\s*/\s*(?P<period>day|month))?(?P<tenant>\s+per\s+tenant)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Amount:
    """What was or will be used, in millionths of a call, a credit and a US dollar."""

    calls: int = 0
    credits: int = 0
    usd: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.calls + other.calls, self.credits + other.credits, self.usd + other.usd
        )

    def __sub__(self, other: Amount) -> Amount:
        return Amount(
            self.calls - other.calls, self.credits - other.credits, self.usd - other.usd
        )

    def of(self, unit: Unit) -> int:
        """Return the amount in one unit."""
        value: int = getattr(self, unit)
        return value


@dataclass(frozen=True)
class Limit:
    """The most that may be used in a period."""

    amount: int  # in millionths of the unit
    # credits are counted for each provider: those of two services are different things
    unit: Unit
    period: Period = "run"  # a day or a month is one of the calendar, in UTC
    # whether each tenant has this limit, instead of all together
    per_tenant: bool = False

    def __str__(self) -> str:
        text = format_amount(self.amount, self.unit)
        if self.period != "run":
            text += f"/{self.period}"
        if self.per_tenant:
            text += " per tenant"
        return text

    def days(self, day: date) -> tuple[date, date]:
        """Return the first day of the period that *day* is in, and the first after
        it.
        """
        if self.period == "day":
            return day, day + timedelta(days=1)
        first = day.replace(day=1)
        return first, (first + timedelta(days=32)).replace(day=1)


def parse_limits(limits: str | Iterable[str] | None) -> tuple[Limit, ...]:
    """Return the limits in a text with commas between them, or in several texts; an
    error says which is wrong.
    """
    texts = split_texts(limits)
    if len(texts) == 1:
        return (_parse_limit(texts[0], ""),)
    return tuple(
        _parse_limit(text, f"limit {number}: ") for number, text in enumerate(texts, 1)
    )


def parse_price(text: str) -> tuple[Unit, float]:
    """Return the unit and the number of ``"0.005 USD"`` or ``"2 credits"``."""
    price = _PRICE.fullmatch(text)
    unit = price and _UNITS.get(price["unit"].lower())
    if not price or unit not in {"credits", "usd"}:
        raise ConfigurationError("not a price such as '0.005 USD' or '2 credits'")
    return cast("Unit", unit), float(price["amount"])


def format_amount(amount: int, unit: Unit) -> str:
    """Return an amount with its unit, as ``0.005 USD``."""
    number = f"{Decimal(amount) / MILLION:,f}"
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    if unit == "usd":
        return f"{number} USD"
    if amount == MILLION:
        return f"{number} {unit.removesuffix('s')}"
    return f"{number} {unit}"


def in_millionths(number: float | None) -> int | None:
    """Return *number* in millionths; None for one that cannot be an amount."""
    if number is None or not 0 <= number <= _LARGEST:
        return None
    return round(number * MILLION)


def _parse_limit(text: str, where: str) -> Limit:
    limit = _LIMIT.fullmatch(text)
    unit = limit and _UNITS.get(limit["unit"].lower())
    if not limit or not unit:
        raise ConfigurationError(
            f"{where}not a budget such as '1 USD/day', '500 credits/month', '20 calls' "
            f"or '0.5 USD/day per tenant'"
        )
    amount = Decimal(limit["amount"].replace("_", ""))
    if amount > _LARGEST:
        raise ConfigurationError(f"{where}a budget is at most {_LARGEST:,}")
    if limit["tenant"] and not limit["period"]:
        raise ConfigurationError(
            f"{where}a budget per tenant is for a day or a month: '0.5 USD/day per "
            f"tenant'"
        )
    word = limit["period"] or "run"
    period = cast("Period", word.lower())
    return Limit(int(amount * MILLION), unit, period, per_tenant=bool(limit["tenant"]))
