"""Amounts of money, as pages write them: ``$1,299.00``, ``1.299,00 €``, ``CHF 49.-``,
``5 199 kr``.
"""

from __future__ import annotations
import json
import re
from decimal import Decimal
from importlib.resources import files
from typing import Any

# The words after a number are not spoons ("2 TL" in German), years in Ukrainian, times
# a day, or "the 2024 Euros".
_TABLES: Any = json.loads(
    files(__package__ or "").joinpath("currencies.json").read_text("utf-8")
)
_FIRST, _LAST, _UNSPACED = (
    "".join(_TABLES["signs before"]),
    "".join(_TABLES["signs after"]),
    _TABLES["unspaced"],
)
_SIGNS = _FIRST + _LAST
_CODES = dict.fromkeys(map(re.escape, _TABLES["codes"].split()))
_CODE, _END = "|".join(_CODES), "|".join(dict.fromkeys(code[-2:] for code in _CODES))
_WORDS, _GAP = "|".join([_CODE, *_TABLES["words"]]), "[ \u00a0\u202f]"
_LETTER, _END_LETTER = (
    r"[^\W\d_]",
    f"[{''.join(sorted({code[-1] for code in _CODES}))}]",
)
_NUMBER = rf"\d(?:(?<!\d\d)\d{{0,2}}(?:{_GAP}\d{{3}}){{1,4}}(?!\d)(?:[.,]\d\d?(?!\d))?|(?:[\d.,'’]{{0,20}}\d)?)"  # noqa: RUF001
AMOUNT = re.compile(
    rf"(?:[{_SIGNS}]|(?<![^\W_])(?:{_CODE})\b\.?){_GAP}{{0,2}}{_NUMBER}"
    rf"|{_NUMBER}{_GAP}{{0,2}}(?:[{_LAST}]|[{_FIRST}](?!\d)|{_UNSPACED}|(?:{_WORDS})(?![^\W_]))"
)
NUMBER = re.compile(_NUMBER)
# quicker than an amount: a sign or letter in the right place is looked for before a
# hundred words
_HINT = re.compile(
    rf"\d(?:(?<=[{_SIGNS}. \u00a0\u202f]\d)(?:(?<=[{_SIGNS}]\d)|(?<=[{_SIGNS}]{_GAP}\d)"
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
    """Return whether *text* has an amount of money, without two spaces in it; a hint
    saves most texts the search.
    """
    return bool(_HINT.search(text) and AMOUNT.search(text))


def parse_number(text: str) -> Decimal | None:
    """Return the first number in *text*; its last separator is a decimal one if one or
    two digits follow it.
    """
    found = NUMBER.search(text)
    return Decimal(_SEPARATORS.sub("", found[0]).replace(",", ".")) if found else None


def may_be_in(currency: str, amount: str) -> bool:
    """Return whether an amount may be in the currency with a code: "$" is one of many,
    and no sign may be any.
    """
    written, code = _CURRENCY.search(amount), _CURRENCIES.get(currency, currency)
    if not (written and _CURRENCY.fullmatch(code)):
        return True
    meant = _CURRENCIES.get(written[0], written[0])
    return meant == code if meant else code not in _CURRENCIES.values()
