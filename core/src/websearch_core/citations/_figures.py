"""
Read the figures in a text, however they are written.

``1,234``, ``1.234``, ``1 234`` and ``١٢٣٤`` are the same number; so are ``1.2 million`` and ``1,200,000``. A text can
be read in two ways (``1.234`` is 1234 or one and a bit), so a figure is a set of values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_DIGITS = re.compile(
    r"\d{1,3}(?:[.,'’\u066c \u00a0\u2009\u202f]\d{3})+(?:[.,\u066b]\d+)?(?!\d)|\d+(?:[.,\u066b]\d+)?"  # noqa: RUF001 - also an Arabic comma
)
_PERCENT = re.compile(
    r"\s{0,2}(?:[%\uff05\u066a]|percent|per cent|prozent|por ciento|pour cent|la sută|процент|τοις εκατό|phần trăm|"
    r"เปอร์เซ็นต์|प्रतिशत|بالمئة|في المئة|パーセント)",
    re.IGNORECASE,
)
_SCALES = {
    3: "thousand tausend mil mii тысяч тыс χιλιάδες bin ألف हज़ार हजार nghìn ngàn พัน 千",
    4: "万 萬 หมื่น",
    5: "lakh लाख แสน",
    6: (
        "million millionen mio millón millones milioane milion миллион млн εκατομμύρια εκατομμύριο milyon مليون triệu "
        "ล้าน"
    ),
    7: "crore करोड़",
    8: "亿 億",
    9: "billion milliarde milliarden mrd miliarde миллиард млрд δισεκατομμύρια milyar مليار tỷ tỉ",
}
_SCALE_OF = {word: 10**power for power, words in _SCALES.items() for word in words.split()}
_SCALE = re.compile(rf"[\s\u00a0-]?({'|'.join(sorted(_SCALE_OF, key=len, reverse=True))})", re.IGNORECASE)


class Figure(NamedTuple):
    """
    A number in a text.

    Args:
        text: As it is written.
        values: What it may mean, in lowest terms: ``{"1234", "1.234"}``.
        percent: True if it is a percentage.
        start: Where it begins in the text.
        end: Where it ends.

    """

    text: str
    values: frozenset[str]
    percent: bool
    start: int
    end: int


def find_figures(text: str) -> Iterator[Figure]:
    """Yield the figures in *text*, in order."""
    for found in _DIGITS.finditer(text):
        written = "".join(str(int(one)) if one.isdecimal() else one for one in found[0])
        values = set(_read(written))
        if scale := _SCALE.match(text, found.end()):
            factor = _SCALE_OF[scale[1].lower()]
            values |= {_normalize(str(round(float(value) * factor, 6))) for value in values if len(value) < 16}
        percent = _PERCENT.match(text, found.end()) is not None
        yield Figure(found[0], frozenset(values), percent, found.start(), found.end())


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
