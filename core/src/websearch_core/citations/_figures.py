"""Read the quantities in a text, however they are written: figures, number words,
percentages, units, dates.

``1,234``, ``1.234``, ``1 234`` and ``١٢٣٤`` are the same number; so are ``1.2 million``
and ``1,200,000``, and ``25`` and ``fünfundzwanzig``. A text can be read in two ways
(``1.234`` is 1234 or one and a bit), so it is a set of values.
"""

from __future__ import annotations
import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import NamedTuple

from .._text.terms import MARKS, UNSPACED
from ._days import find_days
from ._notation import Notation, find_notation
from ._tables import TABLES, list_words

# units that a source has to state
PERCENT, MONTH, DAY = "%", "month of a year", "day of a month"

_DIGITS = re.compile(
    r"\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?(?!\d)|(?<![\w.])\.\d+"
    r"|\d{1,3}(?:[.,'’\u066c "  # noqa: RUF001
    r"\u00a0\u2009\u202f]\d{3}){1,9}(?:[.,\u066b]\d+)?(?!\d)|\d+(?:[.,\u066b]\d+)?"
)
_PERCENT = re.compile(
    rf"\s{{0,2}}(?:{'|'.join(list_words(TABLES['percent']))})(?!age point)",
    re.IGNORECASE,
)
_BEFORE_PERCENT = tuple(list_words(TABLES["before percent"]))
_SCALE_OF = {
    word: 10 ** int(power)
    for power, words in TABLES["scales"].items()
    for word in words.split()
}
# What is short begins other words, too: "5 binders" are not 5,000, which is "5 bin" in
# Turkish.
_SHORT_SCALES, _LONG_SCALES = (
    "|".join(
        sorted(
            (word for word in _SCALE_OF if (word.isascii() and len(word) < 5) is short),
            key=len,
            reverse=True,
        )
    )
    for short in (True, False)
)
_SCALE = re.compile(
    rf"[\s\u00a0-]?({_LONG_SCALES}|(?:{_SHORT_SCALES})(?![^\W\d_]))", re.IGNORECASE
)
_SCALE_OF_MONEY = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_MONEY_SCALE = re.compile(r" ?([kmbt])(?![^\W_])", re.IGNORECASE)
UNITS = {  # a name that ends with "*" begins words
    name: (kind, factor)
    for kind, units in TABLES["units"].items()
    for factor, names in units.items()
    for name in list_words(names)
} | dict.fromkeys(list_words(TABLES["month numbers"]), (MONTH, ""))
_LONGEST = max(map(len, UNITS))
_GAP = re.compile(r"[ \t\u00a0\u2009\u202f-]{0,2}(?:de )?")
# a word, after the name of a unit
_GOES_ON = re.compile(rf"[^\W\d_{UNSPACED}](?:[^\W_]|[{MARKS}])")
_MINUS = re.compile(
    rf"(?<!\w)(?<!\d\s)[-−–]$|(?:{'|'.join(list_words(TABLES['minus']))})\s?$"  # noqa: RUF001
)
_SYMBOL = re.compile(r"([$€£¥₹₽])\s?$")
_RANGE = re.compile(
    rf"\s{{0,2}}(?:{'|'.join(list_words(TABLES['ranges']))})\s{{0,2}}[$€£¥₹₽]?\s?",
    re.IGNORECASE,
)
_MAX_DIGITS = 16
_TOLERANCE = 0.05  # of a value in another unit: people round it
# Of numbers in words.
_MAX_NUMERAL = 12  # characters or words of a number that is written without spaces
# The value of a word: a number, or "x100" if it multiplies the number before it.
_VALUES = {
    word.rstrip("?"): value
    for value, words in TABLES["numbers"].items()
    for word in words.split()
}
_DOUBTFUL = frozenset(
    word[:-1]
    for word in " ".join(TABLES["numbers"].values()).split()
    if word.endswith("?")
)  # other words too: Turkish "on"
_HAN: dict[str, str] = TABLES["han"]
_THAI = re.compile(TABLES["thai"])
_GERMAN = re.compile(
    "|".join(sorted(TABLES["german"].split("|"), key=len, reverse=True))
)
_COMPOUND = re.compile(rf"(?:{_GERMAN.pattern})(?:(?:und)?(?:{_GERMAN.pattern}))+")
_WORD = re.compile(
    rf"(?P<percent>分之)?(?P<han>[{''.join(_HAN)}]{{1,{_MAX_NUMERAL}}})"
    rf"(?P<counted>(?=[{TABLES['han counts']}]))?"
    rf"|(?P<thai>(?:{TABLES['thai']}){{1,{_MAX_NUMERAL}}})"
    rf"|(?:(?![{UNSPACED}])[^\W\d_]|[{MARKS}])+"
)
_MAX_COMPOUND = 60  # characters: the longest below a million has 57
_NUMERAL_GAP = re.compile(
    rf"[ -](?:(?:{TABLES['joints'].replace(' ', '|')}) )?", re.IGNORECASE
)
_AND = "و"  # Arabic joins it to the word after it


class Figure(NamedTuple):
    """A number in a text, in digits or words."""

    text: str  # as it is written, with a minus
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
        return frozenset(
            _normalize(str(Decimal(value) * self.scale)) for value in self.unscaled
        )

    @property
    def unit(self) -> str:
        """Its unit in one spelling; empty if it has none."""
        return f"{self.kind} {self.factor}".strip()

    @property
    def is_physical(self) -> bool:
        """Whether it has a unit that others can be converted to: not one of money."""
        return len(TABLES["units"].get(self.kind, ())) > 1

    @property
    def is_count(self) -> bool:
        """Whether it is a number of things, in words."""
        return not self.kind and self.scale == 1 and not self.text[-1].isdecimal()

    @property
    def digits(self) -> str:
        """Its digits alone, to see whether two figures are written with the same."""
        return "".join(str(int(one)) for one in self.text if one.isdecimal())

    def amounts(self, decimal: str = "") -> list[float]:
        """Return the values in the base unit of their kind, to compare them with those
        in other units.

        *decimal* is the mark before fractions in the text, if that is clear.
        """
        if not self.factor:
            return []
        values = self._choose_readings(decimal)
        numbers = [
            float(value) * self.scale for value in values if len(value) < _MAX_DIGITS
        ]
        if self.kind != "temperature":
            return [number * float(self.factor) for number in numbers]
        if self.factor == "F":
            return [(number - 32) / 1.8 for number in numbers]
        return numbers

    def _choose_readings(self, decimal: str) -> frozenset[str]:
        """Return what it may mean as one number, if *decimal* is the mark before
        fractions.
        """
        if len(self.unscaled) == 1:
            return self.unscaled
        marks = {one for one in self.text.lstrip("-") if not one.isdecimal()}
        grouped = frozenset(
            value for value in self.unscaled if value.lstrip("-") == self._grouped
        )
        fractions = frozenset(value for value in self.unscaled if "." in value)
        if not marks & {".", ","}:
            return grouped
        if not decimal:
            return grouped | fractions
        return fractions if decimal in marks else grouped

    @property
    def _grouped(self) -> str:
        return _normalize(self.digits)


def is_same(one: float, other: float, kind: str) -> bool:
    """Return whether two amounts in different units are the same, as far as people
    round.
    """
    return abs(one - other) <= (
        1 if kind == "temperature" else _TOLERANCE * max(one, other)
    )


def find_figures(text: str, notation: Notation | None = None) -> list[Figure]:
    """Return the figures in *text*, in order, and the months beside them.

    *notation* is that of the whole that it is a part of.
    """
    notation = notation or find_notation(text)
    numbers = [
        (*found.span(), frozenset(_read(found[0]))) for found in _DIGITS.finditer(text)
    ]
    numbers += [
        (start, end, frozenset((str(value),)))
        for start, end, value in find_numerals(text)
    ]
    figures: list[Figure] = []
    in_list = False  # whether the figure before has the unit of one after it
    for start, end, values in sorted(numbers, reverse=True, key=itemgetter(0)):
        one = _measure(text, start, end, values, notation)
        after = figures[-1] if figures else one
        if not one.kind and one.scale == 1:
            is_listed = in_list and _is_listed(text, one, after)
            in_list = is_listed or _is_ranged(text, one, after)
            if in_list:  # "5 to 10 million km", "5, 7 and 10 percent"
                one = one._replace(
                    scale=after.scale, kind=after.kind, factor=after.factor
                )
        else:
            in_list = False
        figures.append(one)
    return sorted(_name_days(text, figures), key=attrgetter("start"))


def _is_listed(text: str, figure: Figure, after: Figure) -> bool:
    """Return whether *figure* stands before the one *after* it in a list."""
    is_year = len(figure.digits) == 4 and figure.digits == figure.text
    comma = text[figure.end : after.start].strip()
    return comma == "," and not is_year


def _is_ranged(text: str, figure: Figure, after: Figure) -> bool:
    """Return whether *figure* has the unit of the one *after* it."""
    return after.start > figure.end and bool(
        _RANGE.fullmatch(text, figure.end, after.start)
    )


def _name_days(text: str, figures: Sequence[Figure]) -> list[Figure]:
    """Return *figures* with the months of *text*, and with those that are days as days
    of these.
    """
    days = find_days(text)
    inside: set[int] = set()
    extra: list[Figure] = []
    for day in days:
        if day.days and day.is_certain:
            inside.update(range(day.start, day.end))
            written = text[day.start : day.end]
            extra.append(Figure(written, day.days, 1, DAY, "", day.start, day.end))
        if day.months:
            start, end = day.month_span
            inside.update(range(start, end))
            extra.append(Figure(text[start:end], day.months, 1, MONTH, "", start, end))
    others = [
        figure
        for figure in figures
        if figure.kind != MONTH
        if inside.isdisjoint(range(figure.start, figure.end))
    ]
    alone = [
        figure
        for figure in figures
        if figure.kind == MONTH
        if inside.isdisjoint(range(figure.start, figure.end))
    ]
    return [*others, *alone, *extra]


def _measure(
    text: str, start: int, end: int, values: frozenset[str], notation: Notation
) -> Figure:
    """Read the scale and the unit of a number."""
    written, factor = text[start:end], 1
    before = text[max(0, start - 8) : start].lower()
    symbol = _SYMBOL.search(before)
    can_grow = all(len(value) < _MAX_DIGITS for value in values)
    scale = _SCALE.match(text, end)
    while scale and can_grow and factor < 10**9:
        if _is_unit(text, scale, notation):
            break
        factor *= _SCALE_OF[scale[1].lower()]  # "3.5 mil millones", "3.5万亿"
        end = scale.end()
        scale = _SCALE.match(text, end)
    if symbol and factor == 1 and (short := _MONEY_SCALE.match(text, end)):
        factor, end = _SCALE_OF_MONEY[short[1].lower()], short.end()  # "$3.5M"
    if _PERCENT.match(text, end) or before.endswith(_BEFORE_PERCENT):
        unit = PERCENT, ""
    else:
        unit = UNITS[symbol[1]] if symbol else _find_unit(text, end)
    # "-10" of "-10 to -5 °C" may be a temperature
    if unit[0] in {"", "temperature"} and _MINUS.search(before):
        written, values = (
            f"-{written}",
            frozenset(f"-{value}" for value in values).union(() if unit[0] else values),
        )
    return Figure(written, values, factor, *unit, start, end)


def _is_unit(text: str, scale: re.Match[str], notation: Notation) -> bool:
    """Return whether what may be a scale is a unit, or the beginning of one: "千瓦" is
    a kilowatt, and "mil" a mile in Turkish.
    """
    length = _measure_unit(text, scale.start(1))
    if length == len(scale[1]):
        return notation.is_turkish
    return length > len(scale[1])


def _find_unit(text: str, place: int) -> tuple[str, str]:
    """Return the kind and the factor of the unit after a place, both empty if there is
    none.
    """
    gap = _GAP.match(text, place)
    place = gap.end() if gap else place
    name = text[place : place + _measure_unit(text, place)].lower()
    return UNITS.get(f"{name}*") or UNITS.get(name) or ("", "")


def _measure_unit(text: str, place: int) -> int:
    """Return the length of the name of a unit that begins at *place*; 0 for none."""
    after = text[place : place + _LONGEST + 1].lower()
    for length in range(min(len(after), _LONGEST), 0, -1):
        name = after[:length]
        if f"{name}*" in UNITS:
            return length
        if name in UNITS and not _GOES_ON.match(after, length - 1):
            return length
    return 0


def _read(written: str) -> Iterator[str]:
    """Yield the values of digits with separators, as any locale would read them."""
    written = "0" * (written[0] == ".") + "".join(
        str(int(one)) if one.isdecimal() else one for one in written
    )
    separators = [one for one in written if not one.isdigit()]
    if not separators:
        yield _normalize(written)
        return
    digits = re.split(r"\D", written)
    last = separators[-1]
    # "1,50,000", as India groups them
    if separators[:2] == [",", ","] and len(digits[1]) == 2:
        yield _normalize(written.replace(",", ""))
        return
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


def find_numerals(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each number in words begins and ends, and its value; not 0, "one" or
    "hundreds".
    """
    number, begin, end, is_clear = _Number(), 0, 0, False
    for word in _WORD.finditer(text):
        start, stop = word.span("han") if word["han"] else word.span()
        follows = _NUMERAL_GAP.fullmatch(text, end, start) is not None
        for place, value in enumerate(_split(word)):
            if (follows or place) and number.take(
                value, glued=place > 0 or word[0][0] == _AND
            ):
                is_clear = True
            else:
                if is_clear and number.is_meant(text, end):
                    yield begin, end, number.value
                number, begin, is_clear = (
                    _Number(),
                    start,
                    word[0].lower() not in _DOUBTFUL,
                )
                number.take(value)
            end = stop
    if is_clear and number.is_meant(text, end):
        yield begin, end, number.value


def _split(word: re.Match[str]) -> Sequence[str]:
    """Return the values of the numbers that a word is made of; none if it is not a
    number.
    """
    if run := word["han"]:
        values = [_HAN[one] for one in run]
        if len(run) > 1 and all(value.isdecimal() for value in values):
            return ["".join(values)]  # 一九九八
        # of another word, perhaps
        is_part = len(run) == 1 and word["percent"] is None and word["counted"] is None
        return [] if is_part else values
    if word["thai"]:
        return [_VALUES[one] for one in _THAI.findall(word["thai"])]
    return _split_word(word[0].lower())


@lru_cache(maxsize=10_000)
def _split_word(word: str) -> tuple[str, ...]:
    if value := _VALUES.get(word) or _VALUES.get(word.removeprefix(_AND)):
        return (value,)
    is_compound = len(word) <= _MAX_COMPOUND and _COMPOUND.fullmatch(word)
    return tuple(_VALUES[part] for part in _GERMAN.findall(word)) if is_compound else ()


class _Number:
    """A number that grows word by word."""

    def __init__(self) -> None:
        self._thousands = self._hundreds = self._last = 0
        self._below = math.inf  # what may follow

    @property
    def value(self) -> int:
        """The number so far."""
        return self._thousands + self._hundreds + self._last

    def is_meant(self, text: str, end: int) -> bool:
        """Return whether it counts, where it *end*s in a text: "one" is an article,
        except in "one million".
        """
        return self.value > 1 or (
            self.value == 1 and _SCALE.match(text, end) is not None
        )

    def take(self, value: str, *, glued: bool = False) -> bool:
        """Add the value of a word, if it can follow; one that is *glued* to the word
        before may be the larger.
        """
        last = self._last
        if value[0] != "x":
            added = int(value)
            # fünfundzwanzig
            fits = self._follows(added) or (
                0 < last < 10 <= added < 100 and (glued or added == 10)
            )
            self._last += added if fits else 0
            return fits
        factor, several = int(value[1:]), self._hundreds + last
        if factor >= 1000 and self.value:
            is_larger = factor > self._thousands  # 三千万: both multiply
            self._thousands = (
                (self._thousands + several) * factor
                if is_larger
                else self._thousands + several * factor
            )
            self._hundreds = 0
        elif factor < self._below and (last or factor == 10):
            self._hundreds += (last or 1) * factor
        else:
            return False
        self._last, self._below = 0, factor
        return True

    def _follows(self, value: int) -> bool:
        """Return whether a number can be added: to nothing, to hundreds, or to tens."""
        if self._last < 20:
            return not self._last and value < self._below
        return value < (
            100 if self._last % 100 == 0 else 10 if self._last % 10 == 0 else 0
        )
