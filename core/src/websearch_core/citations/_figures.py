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
from ._tables import TABLES, alternate, key_words, list_words

# units that a source has to state
PERCENT = "%"
MONTH = "month of a year"
DAY = "day of a month"

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
_POWER_OF = key_words(TABLES["scales"].items())
_SCALE_OF = {word: 10 ** int(power) for word, power in _POWER_OF.items()}
# What is short begins other words, too: "5 binders" are not 5,000, which is "5 bin" in
# Turkish.
_SHORT = {word for word in filter(str.isascii, _SCALE_OF) if len(word) < 5}
_SHORT_SCALES = alternate(word for word in _SCALE_OF if word in _SHORT)
_LONG_SCALES = alternate(word for word in _SCALE_OF if word not in _SHORT)
_SCALE = re.compile(
    rf"[\s\u00a0-]?({_LONG_SCALES}|(?:{_SHORT_SCALES})(?![^\W\d_]))", re.IGNORECASE
)
_SCALE_OF_MONEY = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_MONEY_SCALE = re.compile(r" ?([kmbt])(?![^\W_])", re.IGNORECASE)
UNITS: dict[str, tuple[str, str]] = {}  # a name that ends with "*" begins words
for _kind, _units in TABLES["units"].items():
    UNITS |= key_words(((_kind, factor), names) for factor, names in _units.items())
UNITS |= dict.fromkeys(list_words(TABLES["month numbers"]), (MONTH, ""))
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
_VALUE_OF = key_words(TABLES["numbers"].items())
_VALUES = {word.rstrip("?"): value for word, value in _VALUE_OF.items()}
# other words too: Turkish "on"
_DOUBTFUL = frozenset(word[:-1] for word in _VALUE_OF if word.endswith("?"))
_HAN: dict[str, str] = TABLES["han"]
_THAI = re.compile(TABLES["thai"])
_GERMAN = re.compile(alternate(TABLES["german"].split("|")))
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
        values: set[str] = set()
        for value in self.unscaled:
            number = Decimal(value) * self.scale
            values.add(_normalize(str(number)))
        return frozenset(values)

    @property
    def unit(self) -> str:
        """Its unit in one spelling; empty if it has none."""
        return f"{self.kind} {self.factor}".strip()

    @property
    def is_physical(self) -> bool:
        """Whether it has a unit that others can be converted to: not one of money."""
        units = TABLES["units"].get(self.kind, ())
        return len(units) > 1

    @property
    def is_count(self) -> bool:
        """Whether it is a number of things, in words."""
        if self.kind or self.scale != 1:
            return False
        return not self.text[-1].isdecimal()

    @property
    def digits(self) -> str:
        """Its digits alone, to see whether two figures are written with the same."""
        digits = filter(str.isdecimal, self.text)
        return "".join(map(_to_ascii, digits))

    def amounts(self, decimal: str = "") -> list[float]:
        """Return the values in the base unit of their kind, to compare them with those
        in other units.

        *decimal* is the mark before fractions in the text, if that is clear.
        """
        if not self.factor:
            return []
        numbers: list[float] = []
        for value in self._choose_readings(decimal):
            if len(value) < _MAX_DIGITS:
                numbers.append(float(value) * self.scale)
        if self.kind != "temperature":
            factor = float(self.factor)
            return [number * factor for number in numbers]
        if self.factor == "F":
            return [(number - 32) / 1.8 for number in numbers]
        return numbers

    def _choose_readings(self, decimal: str) -> frozenset[str]:
        """Return what it may mean as one number, if *decimal* is the mark before
        fractions.
        """
        if len(self.unscaled) == 1:
            return self.unscaled
        marks = {mark for mark in self.text if not mark.isdecimal()}
        whole = self._grouped
        grouped: set[str] = set()
        fractions: set[str] = set()
        for value in self.unscaled:
            if value.lstrip("-") == whole:
                grouped.add(value)
            if "." in value:
                fractions.add(value)
        if not marks & {".", ","}:
            return frozenset(grouped)
        if not decimal:
            return frozenset(grouped | fractions)
        if decimal in marks:
            return frozenset(fractions)
        return frozenset(grouped)

    @property
    def _grouped(self) -> str:
        return _normalize(self.digits)


def is_same(amount: float, other: float, kind: str) -> bool:
    """Return whether two amounts in different units are the same, as far as people
    round.
    """
    tolerance = _TOLERANCE * max(amount, other)
    if kind == "temperature":
        tolerance = 1.0
    difference = abs(amount - other)
    return difference <= tolerance


def find_figures(text: str, notation: Notation | None = None) -> list[Figure]:
    """Return the figures in *text*, in order, and the months beside them.

    *notation* is that of the whole that it is a part of.
    """
    if notation is None:
        notation = find_notation(text)
    numbers: list[tuple[int, int, frozenset[str]]] = []
    for number in _DIGITS.finditer(text):
        values = frozenset(_read(number[0]))
        numbers.append((number.start(), number.end(), values))
    for start, end, value in find_numerals(text):
        values = frozenset([str(value)])
        numbers.append((start, end, values))
    numbers.sort(reverse=True, key=itemgetter(0))
    figures: list[Figure] = []
    in_list = False  # whether the figure before has the unit of one after it
    for start, end, values in numbers:
        figure = _measure(text, start, end, values, notation)
        after = figure
        if figures:
            after = figures[-1]
        if figure.kind or figure.scale != 1:
            in_list = False
        else:
            is_listed = in_list and _is_listed(text, figure, after)
            in_list = is_listed or _is_ranged(text, figure, after)
        if in_list:  # "5 to 10 million km", "5, 7 and 10 percent"
            figure = figure._replace(
                scale=after.scale, kind=after.kind, factor=after.factor
            )
        figures.append(figure)
    named = _name_days(text, figures)
    return sorted(named, key=attrgetter("start"))


def _is_listed(text: str, figure: Figure, after: Figure) -> bool:
    """Return whether *figure* stands before the one *after* it in a list."""
    comma = text[figure.end : after.start].strip()
    if comma != ",":
        return False
    is_year = len(figure.digits) == 4 and figure.digits == figure.text
    return not is_year


def _is_ranged(text: str, figure: Figure, after: Figure) -> bool:
    """Return whether *figure* has the unit of the one *after* it."""
    if after.start <= figure.end:
        return False
    joint = _RANGE.fullmatch(text, figure.end, after.start)
    return joint is not None


def _name_days(text: str, figures: Sequence[Figure]) -> list[Figure]:
    """Return *figures* with the months of *text*, and with those that are days as days
    of these.
    """
    days = find_days(text)
    inside: set[int] = set()
    extra: list[Figure] = []
    for day in days:
        if day.days and day.is_certain:
            start = day.start
            end = day.end
            inside.update(range(start, end))
            extra.append(Figure(text[start:end], day.days, 1, DAY, "", start, end))
        if day.months:
            start, end = day.month_span
            inside.update(range(start, end))
            extra.append(Figure(text[start:end], day.months, 1, MONTH, "", start, end))
    outside: list[Figure] = []
    for figure in figures:
        places = range(figure.start, figure.end)
        if inside.isdisjoint(places):
            outside.append(figure)
    return [*outside, *extra]


def _measure(
    text: str, start: int, end: int, values: frozenset[str], notation: Notation
) -> Figure:
    """Read the scale and the unit of a number."""
    number = text[start:end]
    begin = max(0, start - 8)
    before = text[begin:start].lower()
    symbol = _SYMBOL.search(before)
    scale = 1
    if max(map(len, values)) < _MAX_DIGITS:
        scale, end = _read_scale(text, end, notation)
    if symbol and scale == 1:
        letter = _MONEY_SCALE.match(text, end)
        if letter:
            scale = _SCALE_OF_MONEY[letter[1].lower()]  # "$3.5M"
            end = letter.end()
    if _PERCENT.match(text, end) or before.endswith(_BEFORE_PERCENT):
        kind = PERCENT
        factor = ""
    elif symbol:
        kind, factor = UNITS[symbol[1]]
    else:
        kind, factor = _find_unit(text, end)
    # "-10" of "-10 to -5 °C" may be a temperature
    if kind in {"", "temperature"} and _MINUS.search(before):
        number = f"-{number}"
        negative = frozenset(f"-{value}" for value in values)
        if not kind:
            negative |= values
        values = negative
    return Figure(number, values, scale, kind, factor, start, end)


def _read_scale(text: str, end: int, notation: Notation) -> tuple[int, int]:
    """Return the scale of the number that ends at *end*, and where the scale ends."""
    factor = 1
    scale = _SCALE.match(text, end)
    while scale and factor < 10**9:
        if _is_unit(text, scale, notation):
            break
        factor *= _SCALE_OF[scale[1].lower()]  # "3.5 mil millones", "3.5万亿"
        end = scale.end()
        scale = _SCALE.match(text, end)
    return factor, end


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
    if gap:
        place = gap.end()
    end = place + _measure_unit(text, place)
    name = text[place:end].lower()
    unit = UNITS.get(f"{name}*")
    if unit is None:
        unit = UNITS.get(name, ("", ""))
    return unit


def _measure_unit(text: str, place: int) -> int:
    """Return the length of the name of a unit that begins at *place*; 0 for none."""
    after = text[place : place + _LONGEST + 1].lower()
    longest = min(len(after), _LONGEST)
    for length in range(longest, 0, -1):
        name = after[:length]
        if f"{name}*" in UNITS:
            return length
        if name in UNITS and not _GOES_ON.match(after, length - 1):
            return length
    return 0


def _to_ascii(character: str) -> str:
    """Return a digit of any script as one of 0 to 9, and anything else as it is."""
    if character.isdecimal():
        return str(int(character))
    return character


def _read(number: str) -> Iterator[str]:
    """Yield the values of digits with separators, as any locale would read them."""
    number = "".join(map(_to_ascii, number))
    if number[0] == ".":
        number = f"0{number}"
    separators = [character for character in number if not character.isdigit()]
    if not separators:
        yield _normalize(number)
        return
    digits = re.split(r"\D", number)
    last = separators[-1]
    # "1,50,000", as India groups them
    if separators[:2] == [",", ","] and len(digits[1]) == 2:
        yield _normalize(number.replace(",", ""))
        return
    lengths = set(map(len, digits[1:]))
    is_grouped = len(set(separators)) == 1 and lengths == {3}
    if is_grouped:
        yield _normalize("".join(digits))
        if last == " ":  # perhaps just two numbers
            yield from map(_normalize, digits)
    may_be_fraction = len(separators) == 1 or not is_grouped
    if may_be_fraction and last in ".,\u066b":
        whole = "".join(digits[:-1])
        yield _normalize(f"{whole}.{digits[-1]}")


def _normalize(number: str) -> str:
    """Return *number* without zeros that say nothing."""
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    number = number.lstrip("0")
    if not number or number[0] == ".":
        return f"0{number}"
    return number


def find_numerals(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each number in words begins and ends, and its value; not 0, "one" or
    "hundreds".
    """
    number = _Number()
    begin = 0
    end = 0
    is_clear = False
    for word in _WORD.finditer(text):
        start, stop = word.span()
        if word["han"]:
            start, stop = word.span("han")
        follows = _NUMERAL_GAP.fullmatch(text, end, start) is not None
        for place, value in enumerate(_split(word)):
            is_glued = place > 0 or word[0][0] == _AND
            may_follow = place > 0 or follows
            if may_follow and number.take(value, glued=is_glued):
                is_clear = True
                end = stop
                continue
            if is_clear and number.is_meant(text, end):
                yield begin, end, number.value
            number = _Number()
            number.take(value)
            begin = start
            end = stop
            is_clear = word[0].lower() not in _DOUBTFUL
    if is_clear and number.is_meant(text, end):
        yield begin, end, number.value


def _split(word: re.Match[str]) -> Sequence[str]:
    """Return the values of the numbers that a word is made of; none if it is not a
    number.
    """
    if word["han"]:
        return _split_han(word)
    if word["thai"]:
        parts = _THAI.findall(word["thai"])
        return [_VALUES[part] for part in parts]
    return _split_word(word[0].lower())


def _split_han(word: re.Match[str]) -> Sequence[str]:
    values = [_HAN[character] for character in word["han"]]
    if len(values) == 1:
        # of another word, perhaps
        is_number = word["percent"] is not None or word["counted"] is not None
        if not is_number:
            return []
        return values
    if all(value.isdecimal() for value in values):
        return ["".join(values)]  # 一九九八
    return values


@lru_cache(maxsize=10_000)
def _split_word(word: str) -> tuple[str, ...]:
    value = _VALUES.get(word) or _VALUES.get(word.removeprefix(_AND))
    if value:
        return (value,)
    if len(word) > _MAX_COMPOUND:
        return ()
    if not _COMPOUND.fullmatch(word):
        return ()
    parts = _GERMAN.findall(word)
    return tuple(_VALUES[part] for part in parts)


class _Number:
    """A number that grows word by word."""

    def __init__(self) -> None:
        self._thousands = 0
        self._hundreds = 0
        self._last = 0
        self._below = math.inf  # what may follow

    @property
    def value(self) -> int:
        """The number so far."""
        return self._thousands + self._hundreds + self._last

    def is_meant(self, text: str, end: int) -> bool:
        """Return whether it counts, where it *end*s in a text: "one" is an article,
        except in "one million".
        """
        if self.value == 1:
            return _SCALE.match(text, end) is not None
        return self.value > 1

    def take(self, value: str, *, glued: bool = False) -> bool:
        """Add the value of a word, if it can follow; one that is *glued* to the word
        before may be the larger.
        """
        if value[0] == "x":
            return self._multiply(int(value[1:]))
        return self._add(int(value), glued=glued)

    def _add(self, value: int, *, glued: bool) -> bool:
        is_larger = False
        if glued or value == 10:
            is_larger = 0 < self._last < 10 <= value < 100  # fünfundzwanzig
        if not is_larger and not self._follows(value):
            return False
        self._last += value
        return True

    def _multiply(self, factor: int) -> bool:
        last = self._last
        may_count = last > 0 or factor == 10
        if factor >= 1000 and self.value:
            below = self._hundreds + last
            if factor > self._thousands:  # 三千万: both multiply
                self._thousands = (self._thousands + below) * factor
            else:
                self._thousands += below * factor
            self._hundreds = 0
        elif may_count and factor < self._below:
            number = max(last, 1)
            self._hundreds += number * factor
        else:
            return False
        self._last = 0
        self._below = factor
        return True

    def _follows(self, value: int) -> bool:
        """Return whether a number can be added: to nothing, to hundreds, or to tens."""
        if self._last == 0:
            return value < self._below
        if self._last < 20:
            return False
        if self._last % 100 == 0:
            return value < 100
        return self._last % 10 == 0 and value < 10
