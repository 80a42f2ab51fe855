"""Read the quantities in a text, however they are written: figures, number words, percentages, units, dates.

``1,234``, ``1.234``, ``1 234`` and ``١٢٣٤`` are the same number; so are ``1.2 million`` and ``1,200,000``, and ``25``
and ``fünfundzwanzig``. A text can be read in two ways (``1.234`` is 1234 or one and a bit), so it is a set of values.
"""

from __future__ import annotations
import re
from collections.abc import Iterator
from decimal import Decimal
from operator import attrgetter, itemgetter
from typing import NamedTuple

from .._text.terms import MARKS, UNSPACED
from ._numerals import TABLES, find_numerals, list_words

PERCENT, MONTH = "%", "month of a year"  # units that a source has to state

_DIGITS = re.compile(
    r"\d{1,3}(?:[.,'’\u066c \u00a0\u2009\u202f]\d{3}){1,9}(?:[.,\u066b]\d+)?(?!\d)|\d+(?:[.,\u066b]\d+)?"  # noqa: RUF001 - also an Arabic comma
)
_PERCENT = re.compile(rf"\s{{0,2}}(?:{'|'.join(list_words(TABLES['percent']))})", re.IGNORECASE)
_BEFORE_PERCENT = tuple(list_words(TABLES["before percent"]))
_SCALE_OF = {word: 10 ** int(power) for power, words in TABLES["scales"].items() for word in words.split()}
# What is short begins other words, too: "5 binders" are not 5,000, which is "5 bin" in Turkish.
_SHORT_SCALES, _LONG_SCALES = (
    "|".join(sorted((word for word in _SCALE_OF if (word.isascii() and len(word) < 5) is short), key=len, reverse=True))
    for short in (True, False)
)
_SCALE = re.compile(rf"[\s\u00a0-]?({_LONG_SCALES}|(?:{_SHORT_SCALES})(?![^\W\d_]))", re.IGNORECASE)
_UNITS = {  # a name that ends with "*" begins words
    name: (kind, factor)
    for kind, units in TABLES["units"].items()
    for factor, names in units.items()
    for name in list_words(names)
} | dict.fromkeys(list_words(TABLES["month numbers"]), (MONTH, ""))
_LONGEST = max(map(len, _UNITS))
_GAP = re.compile(r"[ \t\u00a0\u2009\u202f-]{0,2}(?:de )?")
_GOES_ON = re.compile(rf"[^\W\d_{UNSPACED}](?:[^\W_]|[{MARKS}])")  # a word, after the name of a unit
_SYMBOL = re.compile(r"([$€£¥₹₽])\s?$")
_RANGE = re.compile(rf"\s{{0,2}}(?:{'|'.join(list_words(TABLES['ranges']))})\s{{0,2}}[$€£¥₹₽]?\s?", re.IGNORECASE)
_MONTHS = {name: str(n) for n, names in enumerate(TABLES["months"], 1) for name in list_words(names)}
_MONTH = re.compile(  # beside a figure
    rf"(?P<after>\d(?:\.|st|nd|rd|th|º)?\s?(?:de\s|of\s)?)?(?P<name>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
    r"(?(after)|(?=\.?\s?(?:de\s)?\d))",
    re.IGNORECASE,
)
_MAX_DIGITS = 16
_TOLERANCE = 0.05  # of a value in another unit: people round it


class Figure(NamedTuple):
    """A number in a text, in digits or words."""

    text: str  # as it is written
    unscaled: frozenset[str]  # what it may mean, in lowest terms: ``{"1234", "1.234"}``
    scale: int  # 1,000,000 of a number of millions; 1 if it has no scale
    kind: str  # what it measures: "length", `PERCENT`, `MONTH`; empty if it has no unit
    factor: str  # of its unit, or its letter; empty if that cannot be converted
    start: int  # where it begins in the text
    end: int  # where it ends

    @property
    def values(self) -> frozenset[str]:
        """What it may mean after the scale is applied."""
        if self.scale == 1:
            return self.unscaled
        return frozenset(_normalize(str(Decimal(value) * self.scale)) for value in self.unscaled)

    @property
    def unit(self) -> str:
        """Its unit in one spelling; empty if it has none."""
        return f"{self.kind} {self.factor}".strip()

    @property
    def is_count(self) -> bool:
        """Whether it is a number of things, in words."""
        return not self.kind and self.scale == 1 and not self.text[0].isdecimal()

    def amounts(self) -> list[float]:
        """Return the values in the base unit of their kind, to compare them with those in other units."""
        numbers = [float(value) for value in self.values if self.factor and len(value) < _MAX_DIGITS]
        if self.kind == "temperature":
            return [(number - 32) / 1.8 for number in numbers] if self.factor == "F" else numbers
        return [number * float(self.factor) for number in numbers]


def is_same(one: float, other: float, kind: str) -> bool:
    """Return whether two amounts in different units are the same, as far as people round."""
    return abs(one - other) <= (1 if kind == "temperature" else _TOLERANCE * max(one, other))


def find_figures(text: str) -> list[Figure]:
    """Return the figures in *text*, in order, and the months beside them."""
    numbers = [(*found.span(), frozenset(_read(found[0]))) for found in _DIGITS.finditer(text)]
    numbers += [(start, end, frozenset((str(value),))) for start, end, value in find_numerals(text)]
    figures: list[Figure] = []
    for start, end, values in sorted(numbers, reverse=True, key=itemgetter(0)):
        one = _measure(text, start, end, values)
        after = figures[-1] if figures else one
        if not one.kind and one.scale == 1 and after.start > end and _RANGE.fullmatch(text, end, after.start):
            one = one._replace(scale=after.scale, kind=after.kind, factor=after.factor)  # "5 to 10 million km"
        figures.append(one)
    for found in _MONTH.finditer(text):
        number = frozenset((_MONTHS[found["name"].lower()],))
        figures.append(Figure(found["name"], number, 1, MONTH, "", *found.span("name")))
    return sorted(figures, key=attrgetter("start"))


def _measure(text: str, start: int, end: int, values: frozenset[str]) -> Figure:
    """Read the scale and the unit of a number."""
    written, factor = text[start:end], 1
    scale = _SCALE.match(text, end)
    if scale and all(len(value) < _MAX_DIGITS for value in values):
        factor, end = _SCALE_OF[scale[1].lower()], scale.end()
    before = text[max(0, start - 8) : start].lower()
    symbol = _SYMBOL.search(before)
    if _PERCENT.match(text, end) or before.endswith(_BEFORE_PERCENT):
        unit = PERCENT, ""
    else:
        unit = _UNITS[symbol[1]] if symbol else _find_unit(text, end)
    return Figure(written, values, factor, *unit, start, end)


def _find_unit(text: str, place: int) -> tuple[str, str]:
    """Return the kind and the factor of the unit after a place, both empty if there is none."""
    gap = _GAP.match(text, place)
    place = gap.end() if gap else place
    after = text[place : place + _LONGEST + 1].lower()
    for length in range(min(len(after), _LONGEST), 0, -1):
        name = after[:length]
        unit = _UNITS.get(f"{name}*")
        if unit is None and not _GOES_ON.match(after, length - 1):
            unit = _UNITS.get(name)
        if unit:
            return unit
    return "", ""


def _read(written: str) -> Iterator[str]:
    """Yield the values of digits with separators, as any locale would read them."""
    written = "".join(str(int(one)) if one.isdecimal() else one for one in written)
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
