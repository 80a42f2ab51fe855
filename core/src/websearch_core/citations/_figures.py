"""
Read the figures in a text, however they are written.

``1,234``, ``1.234``, ``1 234`` and ``١٢٣٤`` are the same number; so are ``1.2 million`` and ``1,200,000``. A text can
be read in two ways (``1.234`` is 1234 or one and a bit), so a figure is a set of values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

_DIGITS = re.compile(
    r"\d{1,3}(?:[.,'’\u066c \u00a0\u2009\u202f]\d{3}){1,9}(?:[.,\u066b]\d+)?(?!\d)|\d+(?:[.,\u066b]\d+)?"  # noqa: RUF001 - also an Arabic comma
)
_PERCENT = re.compile(
    r"\s{0,2}(?:[%\uff05\u066a]|percent|per cent|prozent|por ciento|pour cent|la sută|процент|τοις εκατό|phần trăm|"
    r"เปอร์เซ็นต์|प्रतिशत|بالمئة|في المئة|パーセント)",
    re.IGNORECASE,
)
_SCALES = {
    3: "thousand tausend mil mille mila mii тысяч тыс χιλιάδες bin ألف हज़ार हजार nghìn ngàn พัน 千",
    4: "万 萬 หมื่น",
    5: "lakh लाख แสน",
    6: (
        "million mio millón millones milioane milion milhões milhão миллион млн εκατομμύρι εκατομμυρί milyon مليون "
        "triệu ล้าน"
    ),
    7: "crore करोड़",
    8: "亿 億",
    9: (
        "billion bn milliard mrd mld miliard bilhões bilhão миллиард млрд δισεκατομμύρι δισεκατομμυρί milyar مليار "
        "tỷ tỉ"
    ),
    12: "trillion billón billones trilhões трлн триллион τρισεκατομμύρι trilyon 兆",
}
_SCALE_OF = {word: 10**power for power, words in _SCALES.items() for word in words.split()}
# What is short begins other words, too: "5 binders" are not 5,000, which is "5 bin" in Turkish.
_SHORT_SCALES, _LONG_SCALES = (
    "|".join(sorted((word for word in _SCALE_OF if (word.isascii() and len(word) < 5) is short), key=len, reverse=True))
    for short in (True, False)
)
_SCALE = re.compile(rf"[\s\u00a0-]?({_LONG_SCALES}|(?:{_SHORT_SCALES})(?![^\W\d_]))", re.IGNORECASE)


class Figure(NamedTuple):
    """A number in a text."""

    text: str  # as it is written
    # What it may mean, in lowest terms: ``{"1234", "1.234"}``; after a scale such as "million" is applied.
    values: frozenset[str]
    unscaled: frozenset[str]  # what it may mean without its scale; empty if it has none
    percent: bool  # true if it is a percentage
    start: int  # where it begins in the text
    end: int  # where it ends


def find_figures(text: str) -> Iterator[Figure]:
    """Yield the figures in *text*, in order."""
    for found in _DIGITS.finditer(text):
        written = "".join(str(int(one)) if one.isdecimal() else one for one in found[0])
        values, unscaled = frozenset(_read(written)), frozenset[str]()
        scale = _SCALE.match(text, found.end())
        if scale and all(len(value) < 16 for value in values):
            factor, unscaled = _SCALE_OF[scale[1].lower()], values
            values = frozenset(_normalize(str(Decimal(value) * factor)) for value in values)
        percent = _PERCENT.match(text, found.end()) is not None
        yield Figure(found[0], values, unscaled, percent, found.start(), found.end())


def _read(written: str) -> Iterator[str]:
    """Yield the values of digits with separators, as any locale would read them."""
    separators = [one for one in written if not one.isdigit()]
    if not separators:
        yield _normalize(written)
        return
    digits = re.split(r"\D", written)
    last = separators[-1]
    grouped = all(len(group) == 3 for group in digits[1:]) and len(set(separators)) == 1
    if grouped:
        yield _normalize("".join(digits))
        if last == " ":  # perhaps just two numbers
            yield from map(_normalize, digits)
    if last in ".,\u066b" and (len(separators) == 1 or not grouped):
        yield _normalize(f"{''.join(digits[:-1])}.{digits[-1]}")


def _normalize(number: str) -> str:
    whole, _, rest = number.partition(".")
    rest = rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")
