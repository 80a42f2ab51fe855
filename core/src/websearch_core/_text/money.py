"""Amounts of money, as pages write them: ``$1,299.00``, ``1.299,00 €``, ``CHF 49.-``."""

from __future__ import annotations
import re
from decimal import Decimal

_CODES = "USD|EUR|GBP|CHF|CAD|AUD|NZD|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|TRY|kr|zł|Kč|Ft|lei|Rs"
AMOUNT = re.compile(
    rf"(?:[$€£¥₹₩₽₺₴]|(?<![^\W_])(?:{_CODES})\b\.?) {{0,2}}\d[\d.,' ]{{0,20}}"
    rf"|\d[\d.,']{{0,20}} {{0,2}}(?:[€£¥₹₩₽₺₴$円元]|(?:{_CODES})\b)"
)
NUMBER = re.compile(r"\d(?:[\d.,'’\u00a0\u202f ]{0,20}\d)?")  # noqa: RUF001 - separates thousands
_CURRENCY = re.compile(rf"[$€£¥₹₩₽₺₴円元]|(?:{_CODES})")
_FRACTION = re.compile(r"[.,](\d\d?)$")


def has_amount(text: str) -> bool:
    """Return whether *text* has an amount of money; quick checks save most texts the search."""
    return bool(NUMBER.search(text) and _CURRENCY.search(text) and AMOUNT.search(text))


def parse_number(text: str) -> Decimal | None:
    """Return the first number in *text*; its last separator is a decimal one if one or two digits follow it."""
    found = NUMBER.search(text)
    if found is None:
        return None
    fraction = _FRACTION.search(found[0])
    whole = re.sub(r"\D", "", found[0][: fraction.start()] if fraction else found[0])
    return Decimal(f"{whole or 0}.{fraction[1] if fraction else 0}")
