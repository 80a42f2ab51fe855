"""Find the days and months in a text: ``14 May``, ``May 4-6, 2026``, ``2026-05-14``,
``14.5.2026``, ``5月14日``, ``14 tháng 5``.
"""

from __future__ import annotations
import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from .._text.dates import find_dates
from ._tables import TABLES, alternate, key_words, list_words

_MONTHS = key_words(enumerate(TABLES["months"], 1))
_SHORT_MONTHS = key_words(enumerate(TABLES["short months"], 1))
_LONG = alternate(_MONTHS)
_SHORT = alternate(_SHORT_MONTHS)
_NAME = rf"(?P<name>(?:{_LONG})(?!o?s(?!\w))|(?:{_SHORT})(?![^\W\d_]))"
_OF = r"\s?(?:de\s|of\s)?"
_ORDINAL = r"(?:\.|st|nd|rd|th|º)?"
_MONTH = re.compile(  # beside a figure
    rf"(?P<before>\d{_ORDINAL}{_OF})?{_NAME}(?(before)|(?=\.?\s?(?:de\s)?\d))",
    re.IGNORECASE,
)
_JOINT = rf"\s?(?:,|/|{'|'.join(list_words(TABLES['ranges']))})\s?"
_DAY_BEFORE = re.compile(rf"(?<![\d.,:])(\d{{1,2}}){_ORDINAL}{_OF}\Z", re.IGNORECASE)
_LIST_BEFORE = re.compile(
    rf"(?<![\d.,:])(\d{{1,2}}){_ORDINAL}{_JOINT}\Z", re.IGNORECASE
)
_DAY_AFTER = re.compile(rf"\.?\s?(\d{{1,2}}){_ORDINAL}(?![\d:%]|[.,]\d)", re.IGNORECASE)
_LIST_AFTER = re.compile(
    rf"{_JOINT}(\d{{1,2}}){_ORDINAL}(?![\d:%]|[.,]\d)", re.IGNORECASE
)
# "In May 12 people died": not the 12th
_WORD_FOLLOWS = re.compile(rf"\s(?!{_JOINT.replace(',|/|', '')})[^\W\d_]")
_IN_DIGITS = re.compile(
    r"(?<![\d/.-])(?:"
    r"(?P<year>[12]\d{3})(?:[-/.]|年)\s?(?P<month>\d{1,2})(?:[-/.]|月)\s?(?P<day>\d{1,2})"
    r"|(?P<one>\d{1,2})(?P<mark>[./-])\s?(?P<other>\d{1,2})(?P=mark)\s?(?P<last>[12]\d{3})"
    r"|(?P<chinese_month>\d{1,2})月\s?(?P<chinese_day>\d{1,2})(?=[日号號])"
    r"|(?P<vietnamese_day>\d{1,2})\stháng\s(?P<vietnamese_month>\d{1,2})(?!\d|\stháng)"
    r")(?!\d)",
    re.IGNORECASE,
)
_KINDS = ("", "chinese_", "vietnamese_")  # of groups of this pattern
_VIETNAMESE_MONTH = re.compile(r"(?<!\d )tháng (\d{1,2})(?!\d|\stháng)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_NUMBER = re.compile(r"\d{1,2}")
_LONGEST = 24  # characters of a day with a list before it, such as "4th, 6th and"
_MOST_IN_LIST = 6  # days of one month
_WINDOW = 300  # characters in which dates are looked for
_STEP = 200


class Day(NamedTuple):
    """A day of a month, or a month, in a text."""

    days: frozenset[str]  # ``{"5-14"}``; more if it can be read in two ways; or none
    months: frozenset[str]  # ``{"5"}``; empty beside another day of the same month
    start: int  # of the number of the day, or of the month
    end: int
    month_span: tuple[int, int]
    is_certain: bool = True  # or it may be another number


def find_days(text: str) -> list[Day]:
    """Return the days and the months of *text*, each place once."""
    days: list[Day] = []
    covered: set[int] = set()  # the positions of what was found
    for finder in (_find_in_digits, _find_named, _find_dates):
        for day in finder(text):
            places = {day.start}
            if day.months:
                places.add(day.month_span[0])
            if covered.isdisjoint(places):
                days.append(day)
                covered.update(range(day.start, day.end))
                covered.update(range(*day.month_span))
    return days


def _find_in_digits(text: str) -> Iterator[Day]:
    for date in _IN_DIGITS.finditer(text):
        if date["one"]:
            yield from _find_ambiguous(date)
            continue
        kind = next(kind for kind in _KINDS if date[f"{kind}month"])
        month = date[f"{kind}month"]
        day = date[f"{kind}day"]
        if _is_date(month, day):
            number = int(month)
            days = frozenset([f"{number}-{int(day)}"])
            months = frozenset([str(number)])
            start, end = date.span(f"{kind}day")
            month_span = date.span(f"{kind}month")
            yield Day(days, months, start, end, month_span)
    for date in _VIETNAMESE_MONTH.finditer(text):
        number = int(date[1])
        if 1 <= number <= 12:
            months = frozenset([str(number)])
            start, end = date.span(1)
            yield Day(frozenset(), months, start, end, (start, end))


def _find_ambiguous(date: re.Match[str]) -> Iterator[Day]:
    """Yield the day of ``14.5.2026`` or ``5/14/2026``; ``4/5/2026`` may be two."""
    first = int(date["one"])
    second = int(date["other"])
    days: set[str] = set()
    months: set[str] = set()
    if _is_date(date["other"], date["one"]):
        days.add(f"{second}-{first}")
        months.add(str(second))
    has_points = date["mark"] == "."
    if not has_points and _is_date(date["one"], date["other"]):
        days.add(f"{first}-{second}")
        months.add(str(first))
    if not days:
        return
    start, end = date.span("one")
    month_span = date.span("other")
    yield Day(frozenset(days), frozenset(months), start, end, month_span)


def _is_date(month: str, day: str) -> bool:
    if not 1 <= int(month) <= 12:
        return False
    return 1 <= int(day) <= 31


def _find_named(text: str) -> Iterator[Day]:
    """Yield the days beside the name of a month; the month alone if it has none."""
    for month in _MONTH.finditer(text):
        name = month["name"].lower()
        number = _MONTHS.get(name)
        if number is None:
            number = _SHORT_MONTHS[name]
        months = frozenset([str(number)])
        span = month.span("name")
        begin, after = span
        is_certain = True
        places = list(_list_before(text, begin))
        if not places:
            places = list(_list_after(text, after))
            if places:
                last = places[-1][1]
                is_certain = not _WORD_FOLLOWS.match(text, last)
        if not places:
            yield Day(frozenset(), months, begin, after, span)
        for start, end in places:
            days = frozenset([f"{number}-{int(text[start:end])}"])
            yield Day(days, months, start, end, span, is_certain)
            months = frozenset()


def _list_before(text: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield where the days before the name of a month are: in ``4, 6 and 14 May``."""
    pattern = _DAY_BEFORE
    for _ in range(_MOST_IN_LIST):
        begin = max(0, place - _LONGEST)
        day = pattern.search(text[begin:place])
        if day is None:
            return
        if not 1 <= int(day[1]) <= 31:
            return
        end = begin + day.end(1)
        place = begin + day.start(1)
        yield place, end
        pattern = _LIST_BEFORE


def _list_after(text: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield where the days after the name of a month are: in ``May 4, 6 and 14``."""
    pattern = _DAY_AFTER
    for _ in range(_MOST_IN_LIST):
        day = pattern.match(text, place)
        if day is None:
            return
        if not 1 <= int(day[1]) <= 31:
            return
        yield day.span(1)
        place = day.end()
        pattern = _LIST_AFTER


def _find_dates(text: str) -> Iterator[Day]:
    """Yield the dates whose month has another name, in any of fifteen languages."""
    for begin in range(0, len(text), _STEP):
        window = text[begin : begin + _WINDOW]
        for date, start, end in find_dates(window):
            yield from _locate(text, date, begin + start, begin + end)


def _locate(text: str, date: datetime, start: int, end: int) -> Iterator[Day]:
    month = _LETTERS.search(text, start, end)
    if month is None:
        return
    days = frozenset([f"{date.month}-{date.day}"])
    months = frozenset([str(date.month)])
    for number in _NUMBER.finditer(text, start, end):
        if int(number[0]) == date.day:
            begin, stop = number.span()
            yield Day(days, months, begin, stop, month.span())
            return
