"""Amounts of calls, credits and dollars, and the limits that a budget sets for them."""

from __future__ import annotations
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, TypeAlias

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
        period = "" if self.period == "run" else f"/{self.period}"
        return f"{format_amount(self.amount, self.unit)}{period}{' per tenant' * self.per_tenant}"

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
    return tuple(
        _parse_limit(text, f"limit {n}: " * (len(texts) > 1))
        for n, text in enumerate(texts, 1)
    )


def parse_price(text: str) -> tuple[Unit, float]:
    """Return the unit and the number of ``"0.005 USD"`` or ``"2 credits"``."""
    found = _PRICE.fullmatch(text)
    unit = found and _UNITS.get(found["unit"].lower())
    if not found or unit in {None, "calls"}:
        raise ConfigurationError("not a price such as '0.005 USD' or '2 credits'")
    return unit or "usd", float(found["amount"])


def format_amount(amount: int, unit: Unit) -> str:
    """Return an amount with its unit, as ``0.005 USD``."""
    number = f"{Decimal(amount) / MILLION:,f}"
    number = number.rstrip("0").rstrip(".") if "." in number else number
    if unit == "usd":
        return f"{number} USD"
    return f"{number} {unit.removesuffix('s') if amount == MILLION else unit}"


def in_millionths(number: float | None) -> int | None:
    """Return *number* in millionths; None for one that cannot be an amount."""
    return (
        round(number * MILLION)
        if number is not None and 0 <= number <= _LARGEST
        else None
    )


def _parse_limit(text: str, where: str) -> Limit:
    found = _LIMIT.fullmatch(text)
    unit = found and _UNITS.get(found["unit"].lower())
    if not found or not unit:
        raise ConfigurationError(
            f"{where}not a budget such as '1 USD/day', '500 credits/month', '20 calls' "
            f"or '0.5 USD/day per tenant'"
        )
    if (amount := Decimal(found["amount"].replace("_", ""))) > _LARGEST:
        raise ConfigurationError(f"{where}a budget is at most {_LARGEST:,}")
    if found["tenant"] and not found["period"]:
        raise ConfigurationError(
            f"{where}a budget per tenant is for a day or a month: '0.5 USD/day per "
            f"tenant'"
        )
    period: Period = "run"
    if named := (found["period"] or "").lower():
        period = "day" if named == "day" else "month"
    return Limit(int(amount * MILLION), unit, period, per_tenant=bool(found["tenant"]))
