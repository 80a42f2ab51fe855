"""Amounts of money, as pages write them: ``$1,299.00``, ``1.299,00 €``, ``CHF 49.-``,
``5 199 kr``.
"""

from __future__ import annotations
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal
from importlib.resources import files
from itertools import accumulate
from typing import Any

# The words after a number are not spoons ("2 TL" in German), years in Ukrainian, times
# a day, or "the 2024 Euros".
_TABLES: Any = json.loads(
    files(__package__ or "").joinpath("currencies.json").read_text("utf-8")
)
_FIRST = "".join(_TABLES["signs before"])
_LAST = "".join(_TABLES["signs after"])
_SIGNS = _FIRST + _LAST
_UNSPACED = _TABLES["unspaced"]
_CODES = dict.fromkeys(map(re.escape, _TABLES["codes"].split()))
_CODE = "|".join(_CODES)
_WORDS = "|".join([_CODE, *_TABLES["words"]])
_END = "|".join(dict.fromkeys(code[-2:] for code in _CODES))  # of a code
_END_LETTER = f"[{''.join(sorted({code[-1] for code in _CODES}))}]"
_LETTER = r"[^\W\d_]"
_GAP = "[ \u00a0\u202f]"
_NUMBER = (
    rf"\d(?:(?<!\d\d)\d{{0,2}}(?:{_GAP}\d{{3}}){{1,4}}(?!\d)(?:[.,]\d\d?(?!\d))?"
    r"|(?:[\d.,'’]{0,20}\d)?)"  # noqa: RUF001
)
# "EUR219.99", but neither the form "EUR1" nor the name "RON95B"
_GLUED_NUMBER = rf"(?=\d[\d.,]{{1,20}}+(?!{_LETTER}))"
AMOUNT = re.compile(
    rf"(?:[{_SIGNS}]|(?<![^\W_])(?:{_CODE})(?:\b\.?|{_GLUED_NUMBER})){_GAP}{{0,2}}{_NUMBER}"
    rf"|{_NUMBER}{_GAP}{{0,2}}(?:[{_LAST}]|[{_FIRST}](?!\d)|{_UNSPACED}|(?:{_WORDS})(?![^\W_]))"
)
NUMBER = re.compile(_NUMBER)
# It is quicker than an amount: it looks for a sign or letter in the right place before
# a hundred words.
_HINT = re.compile(
    rf"\d(?:(?<={_END_LETTER}\d)(?<=(?:{_END})\d)(?=[\d.,])"
    rf"|(?<=[{_SIGNS}. \u00a0\u202f]\d)(?:(?<=[{_SIGNS}]\d)|(?<=[{_SIGNS}]{_GAP}\d)"
    rf"|(?<={_END_LETTER}[. \u00a0\u202f]\d)(?<=(?:{_END}).\d)|(?<={_END_LETTER}\. "
    rf"\d)(?<=(?:{_END})\. \d))"
    rf"|(?![\d\n.,:]){_GAP}?(?:[{_SIGNS}]|(?={_LETTER})(?:{_UNSPACED}|{_WORDS})))"
)
_CURRENCY = re.compile(rf"[{_SIGNS}]|(?!RMB)[A-Z]{{3}}")
_CURRENCIES: dict[str, str] = (
    _TABLES["signs before"] | _TABLES["signs after"] | {"RUR": "RUB"}
)
_SEPARATORS = re.compile(r"[^\d.,]|[.,](?!\d\d?$)")


def has_amount(text: str) -> bool:
    """Return whether *text*, which has no two spaces in a row, has an amount of money.

    A hint saves most texts the search.
    """
    return bool(_HINT.search(text) and AMOUNT.search(text))


def find_amounts(lines: Sequence[str]) -> Iterator[int]:
    """Yield the places of the *lines* of a text that have an amount of money; one
    search finds the hints of all.
    """
    together = "\n".join(lines)
    ends = [*accumulate(len(line) + 1 for line in lines)]
    hint = _HINT.search(together)
    while hint is not None:
        place = bisect_right(ends, hint.start())
        if AMOUNT.search(lines[place]):
            yield place
        hint = _HINT.search(together, ends[place])


def parse_number(text: str) -> Decimal | None:
    """Return the first number in *text*; its last separator is a decimal one if one or
    two digits follow it.
    """
    match = NUMBER.search(text)
    if match is None:
        return None
    return Decimal(_SEPARATORS.sub("", match[0]).replace(",", "."))


def may_be_in(currency: str, amount: str) -> bool:
    """Return whether an amount may be in the currency with a code: "$" is one of many,
    and no sign may be any.
    """
    sign = _CURRENCY.search(amount)
    code = _CURRENCIES.get(currency, currency)
    if sign is None or not _CURRENCY.fullmatch(code):
        return True
    code_of_sign = _CURRENCIES.get(sign[0], sign[0])
    if not code_of_sign:  # such as "$"
        return code not in _CURRENCIES.values()
    return code_of_sign == code
