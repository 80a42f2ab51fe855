"""Write the values of cells as their number formats show them.

A format describes positive, negative and other numbers, in sections (ECMA-376, part 1,
18.8.31). Digits stay those of the file: what parts thousands depends on who opens it,
and what a format rounds away is in the file.
"""

from __future__ import annotations
import re
from datetime import date, time, timedelta
from functools import lru_cache
from typing import NamedTuple

_MAX_FORMAT = 255  # characters
_MAX_DECIMALS = 30
_MAX_MARKS = 40  # characters around a number, which each cell repeats
_TEXT = 3  # the place of the section for texts
_MAX_WHOLE = 1e15  # larger numbers are not exact
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]{0,255})"|\\(?P<escaped>.)|[_*].'
    r"|\[\$(?P<symbol>[^\]-]{0,255}+)[^\]]{0,255}+\]"
    r"|\[(?P<condition>[<>=])?[^\]]{0,255}+\]"
    r"|(?P<digits>[0#?.][0#?.,]*|General)|(?P<end>;)|(?P<mark>.)",
    re.IGNORECASE | re.DOTALL,
)
# What is quoted, escaped or in brackets does not describe the form of a date.
_LITERAL = re.compile(
    r'"[^"]{0,255}"|\\.|_.|\*.|\[(?![hms]{1,9}\])[^\]]{0,255}\]|am/pm|a/p',
    re.IGNORECASE,
)
_DURATION = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)


class _Section(NamedTuple):
    """What stands before and behind a number, and its digits, None if it has none."""

    before: str = ""
    digits: str | None = None
    after: str = ""
    is_share: bool = False  # of a hundred


def write_number(value: float, number_format: str) -> str:
    """Write a number; as it is stored if it is not known how its format shows it."""
    sections = _read_format(number_format)
    if not sections or abs(value) >= _MAX_WHOLE:
        return _write_digits(value)
    section = sections[0]
    sign = ""
    if value < 0:
        sign = "-"  # which may be shown by a colour alone
    elif value == 0 and len(sections) > 2:
        section = sections[2]
    if value < 0 and len(sections) > 1:
        section = sections[1]
        if re.search(r"[-(]", section.before + section.after):
            sign = ""
    if section.digits is None:
        return section.before.strip()
    number = _write_section(abs(value), section)
    return f"{sign}{section.before.lstrip()}{number}{section.after.rstrip()}"


def hides_text(number_format: str) -> bool:
    """Return whether a format shows nothing of a text, as ``;;;`` does."""
    sections = _read_format(number_format)
    return len(sections) > _TEXT and sections[_TEXT] == _Section()


def write_date(value: date | time, number_format: str) -> str:
    """Write a date or time with the units that its format shows."""
    form = _form_of(number_format)
    if isinstance(value, time):
        return _write_clock(value, form)
    day = _write_day(value, form)
    if "h" not in form and "s" not in form:
        return day
    clock = _write_clock(value, form)
    if "d" in form or "y" in form:
        return f"{day} {clock}"
    return clock


def _write_day(day: date, form: str) -> str:
    text = day.isoformat()[:10]
    if "d" in form or "y" not in form:
        return text
    if "m" in form:
        return text[:7]
    return text[:4]


def _write_clock(clock: date | time, form: str) -> str:
    if "s" in form:
        return clock.strftime("%H:%M:%S")
    return clock.strftime("%H:%M")


def write_duration(value: timedelta, number_format: str) -> str:
    """Write a duration with the units that its format shows: ``26:30``."""
    form = _form_of(number_format)
    unit = _DURATION.search(form)
    if unit is None:
        form = "hms"
    else:
        form = form[unit.start(1) :]
    sign = ""
    if value < timedelta():
        sign = "-"
    seconds = round(abs(value).total_seconds())
    if form[0] == "s":
        return f"{sign}{seconds}"
    minutes, rest = divmod(seconds, 60)
    text = f"{sign}{minutes}"
    if form[0] == "h":
        hours, minutes = divmod(minutes, 60)
        text = f"{sign}{hours}:{minutes:02}"
    if "s" in form:
        text += f":{rest:02}"
    return text


@lru_cache(maxsize=64)
def _form_of(number_format: str) -> str:
    """Return what a format says of positive values, without its literal text."""
    return _LITERAL.sub("", number_format[:_MAX_FORMAT].partition(";")[0]).lower()


@lru_cache(maxsize=1_024)
def _read_format(number_format: str) -> tuple[_Section, ...]:
    """Return the sections of a format, none if one is not understood."""
    if len(number_format) > _MAX_FORMAT:
        return ()
    sections = [_Section()]
    for token in _TOKEN.finditer(number_format):
        section = sections[-1]
        kind = token.lastgroup
        size = len(section.before + section.after)
        if size > _MAX_MARKS or len(sections) > _TEXT + 1:
            return ()
        if kind == "end":
            sections.append(_Section())
        elif kind == "digits" and section.digits is None:
            sections[-1] = section._replace(digits=token[0])
        elif kind in {"digits", "condition"}:
            return ()  # of fractions and exponents, or by the size of a number
        elif token[0] == "@" and len(sections) <= _TEXT:
            return ()
        elif kind:
            sections[-1] = _add_mark(section, token)
    return tuple(sections)


def _add_mark(section: _Section, token: re.Match[str]) -> _Section:
    mark = token[token.lastgroup or 0]
    if token[0] == "%":
        section = section._replace(is_share=True)
    if section.digits is None:
        return section._replace(before=section.before + mark)
    return section._replace(after=section.after + mark)


def _write_section(value: float, section: _Section) -> str:
    digits = section.digits or ""
    if not value and digits.strip("#?.,") == "":
        return ""  # these show no zero
    decimals = digits.partition(".")[2]
    if section.is_share:
        places = min(len(decimals), _MAX_DECIMALS)
        return f"{100 * value:.{places}f}"
    thousands = len(digits) - len(digits.rstrip(","))
    if thousands:
        value /= 1000**thousands
    number = _write_digits(value)
    if number.isdecimal():
        return number.zfill(digits.partition(".")[0].count("0"))
    return number


def _write_digits(value: float) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    if is_whole and abs(value) < _MAX_WHOLE:
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.15g}"  # the digits that a workbook keeps
    return str(value)
