"""Parse dates as services and pages write them: one lenient parser, since everyone has
their own format.
"""

from __future__ import annotations
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# Those of other languages, as they appear in a date. Only whole names: many of their
# abbreviations are other words. Without "listopada", which is November in Polish and
# October in Croatian.
_FOREIGN_NAMES = (
    ("januar januari janvier enero gennaio janeiro ocak stycznia ledna января січня"),
    (
        "februar februari février febrero febbraio fevereiro şubat lutego února "
        "февраля лютого"
    ),
    "märz maart mars marzo março mart maret marca března marts марта березня",
    "avril abril aprile nisan kwietnia dubna апреля квітня",
    "mai mayo maggio maio mei maj may\u0131s maja května мая травня",
    "juni juin junio giugno junho haziran czerwca června июня червня",
    "juli juillet julio luglio julho temmuz lipca července июля липня",
    ("augusti août agosto augustus ağustos sierpnia srpna agustus августа серпня"),
    ("septembre septiembre settembre setembro eylül września září сентября вересня"),
    ("oktober octobre octubre ottobre outubro ekim października října октября жовтня"),
    "novembre noviembre novembro kas\u0131m listopadu ноября листопада",
    (
        "dezember décembre diciembre dicembre dezembro desember aral\u0131k "
        "grudnia prosince декабря грудня"
    ),
)
_FOREIGN_MONTHS: dict[str, int] = {}
for _number, _names in enumerate(_FOREIGN_NAMES, start=1):
    _FOREIGN_MONTHS |= dict.fromkeys(_names.split(), _number)
# In hours from UTC: the names of American zones in RFC 2822, and those that the tz
# database has for one offset only. Any other name, such as IST, which is Indian, Irish
# and Israeli, leaves the day without a time.
_ZONES: dict[str, float] = {
    "": 0, "z": 0, "utc": 0, "ut": 0, "gmt": 0, "uhr": 0, "h": 0, "wet": 0, "west": 1,
    "bst": 1, "cet": 1, "cest": 2,
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8,
    "pdt": -7, "akst": -9, "akdt": -8,
    "hst": -10, "nst": -3.5, "ndt": -2.5, "eet": 2, "eest": 3, "msk": 3, "wat": 1,
    "cat": 2, "eat": 3, "sast": 2,
    "pkt": 5, "wib": 7, "wita": 8, "wit": 9, "hkt": 8, "jst": 9, "kst": 9, "awst": 8,
    "acst": 9.5, "acdt": 10.5,
    "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
}  # fmt: skip

_TIME = (
    r"(?P<hour>\d{1,2}):?(?P<minute>\d{2})"
    r"(?::?(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?)?"
    r"\s*(?P<zone>[+-]\d{2}(?::?\d{2})?|[a-z]{1,5})?"
)
_YEAR = r"(?P<year>[12]\d{3})"  # services write the year 1 for "never"
_ORDINAL = r"(?:st|nd|rd|th|er|º|\.)?"
_LETTERS = "[a-z\u00c0-\u024f\u0400-\u04ff]{3,12}"  # also in a pattern for ASCII
_DAY = rf"(?P<day>\d{{1,2}}){_ORDINAL}"
_MONTH = rf"(?P<month>{_LETTERS})\.?,?"
# day and month, in whichever order is possible
_SLASHED = r"(?P<left>\d{1,2})/(?P<right>\d{1,2})/"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_CLOCK = rf"(?:,?\s+(?:at\s+)?{_TIME})?"
_FORMATS = tuple(
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}(?P<month>\d{{2}})(?P<day>\d{{2}})(?:(?:t|\s+){_TIME})?",
        (
            rf"{_YEAR}(?P<between>[-/.])\s?(?P<month>\d{{1,2}})(?P=between)\s?"
            rf"(?P<day>\d{{1,2}})\.?(?:(?:t|,?\s+){_TIME})?"
        ),
        rf"{_YEAR}年\s?(?P<month>\d{{1,2}})月\s?(?P<day>\d{{1,2}})日?",
        rf"(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}(?:,?\s+{_TIME})?",
        rf"{_WEEKDAY}{_SLASHED}{_YEAR}(?:,?\s+(?:-\s+)?{_TIME})?",
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY}\s+{_TIME}\s+{_YEAR}",
        rf"{_WEEKDAY}{_DAY}[\s-]+(?:de\s+)?{_MONTH}[\s-]+(?:de\s+)?{_YEAR}{_CLOCK}",
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY},?\s+{_YEAR}{_CLOCK}",
    )
)
# A date among other words, recognized by its four-digit year.
_IN_TEXT = re.compile(
    r"(?<![\d/.-])(?:"
    r"(?P<year>[12]\d{3})(?:[-/.年]\s?)(?P<month>\d{1,2})(?:[-/.月]\s?)(?P<day>\d{1,2})"
    r"|(?P<last_day>\d{1,2})\.\s?(?P<last_month>\d{1,2})\.\s?(?P<last_year>[12]\d{3})"
    rf"|\d{{1,2}}{_ORDINAL}[\s-]+(?:de\s+)?{_LETTERS}\.?,?[\s-]+(?:de\s+)?[12]\d{{3}}"
    r"|[a-z]{3,9}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+[12]\d{3}"
    r"|\d{1,2}/\d{1,2}/[12]\d{3}"
    r"|[a-z]{3}\s+\d{1,2}\s+\d\d:\d\d:\d\d\s+(?:[a-z]{1,5}\s+)?[12]\d{3}"
    r")(?!\d)",
    re.IGNORECASE,
)
# seconds or milliseconds since 1970, from 2001 on
_STAMP = re.compile(r"[1-9]\d{9}(?:\d{3})?", re.ASCII)
# From 1973 to 2286.
_SECONDS = (1e8, 1e10)
_MILLISECONDS = (1e11, 1e13)
_AGO = re.compile(
    r"(\d{1,3}|an?) ?(sec|min|hour|hr|day|week|month|year)[a-z]*\.? ago|yesterday",
    re.IGNORECASE,
)
_HOURS = {
    "sec": 0,
    "min": 1 / 60,
    "hour": 1,
    "hr": 1,
    "day": 24,
    "week": 168,
    "month": 720,
    "year": 8760,
}
_ROUGH = re.compile(
    rf"(?:{_LETTERS}\.?,? )?[12]\d{{3}}|[12]\d{{3}}[-/.](?:0?[1-9]|1[0-2])",
    re.ASCII | re.IGNORECASE,
)
# 3 days ago, vor 3 Tagen, 4 Mar
_WORDS = re.compile(r"(?=.*\d)(?=.*[^\W\d_])(?!.*\d{4}).{2,40}")
# characters: no date is longer, and longer text would cost the patterns time
_MAX_LENGTH = 80


def parse_date(text: object) -> datetime | None:
    """Parse a date from a service or a page, a value of any type: an aware datetime, or
    None if it is none or ambiguous.

    Supports ISO 8601 (with any number of fractional digits, or only the date), RFC 1123
    and 2822, C's ``asctime``, ``May 4, 2026``, ``3 March 2026``, ``3. März 2026``, ``3
    de mayo de 2026`` and the like in fifteen languages, ``2026/5/4``, ``4.5.2026``,
    ``5/14/2026``, ``2026年5月4日``, and numbers as seconds or milliseconds since 1970,
    or as 20260504. ``4/5/2026`` is ambiguous, and ``2 days ago`` is not a date: see
    `count_back`. Dates without a zone are taken as UTC; of one whose zone is unknown,
    or shares its name with another, such as IST, only the day is returned.
    """
    try:
        if isinstance(text, int | float) and not isinstance(text, bool):
            return _from_number(text)
        if isinstance(text, str) and len(text) <= _MAX_LENGTH:
            return _parse(re.sub(r"\([^()]*\)$", "", text.strip()).rstrip())
    except (ValueError, OverflowError, OSError):
        # 31 February, the year 0, a number out of range
        return None
    return None


def find_words(value: object) -> str:
    """Return the words where a date should be, if a reader understands them: ``3 days
    ago``, ``vor 3 Tagen``.

    A date without a day is such words: ``2026`` and ``May 2026`` are not the first day
    of it.
    """
    if not isinstance(value, str) or len(value) > _MAX_LENGTH:
        return ""
    text = " ".join(value.split())
    are_clear = any(pattern.fullmatch(text) for pattern in (_AGO, _ROUGH, _WORDS))
    return text if are_clear else ""


def count_back(words: str, at: datetime) -> datetime | None:
    """Return the day, in UTC, that words such as ``3 days ago`` or ``yesterday`` meant
    at a time; None for others.
    """
    match = _AGO.fullmatch(words)
    if match is None:
        return None
    unit = (match[2] or "day").lower()
    number = 1  # also for "an hour ago" and "yesterday"
    if match[1] and match[1].isdigit():
        number = int(match[1])
    then = at - timedelta(hours=_HOURS[unit] * number)
    return then.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def find_date(text: str) -> datetime | None:
    """Find the first date in 300 characters of a line such as ``Updated: May 4, 2026 by
    Ada``, without the time.

    Besides the formats of `parse_date`, it supports ``4.5.2026`` and ``2026年5月4日``;
    ``4/5/2026`` is ambiguous.
    """
    return next((date for date, _, _ in find_dates(text)), None)


def find_dates(text: str) -> Iterator[tuple[datetime, int, int]]:
    """Yield all dates in a line, as `find_date` finds them, each with its first and its
    last position.
    """
    for match in _IN_TEXT.finditer(text[:300]):
        words = match[0]
        for prefix in ("", "last_"):
            year = match[f"{prefix}year"]
            if year:
                month = match[f"{prefix}month"]
                words = f"{year}-{month:0>2}-{match[f'{prefix}day']:0>2}"
        date = parse_date(words)
        if date:
            yield date, match.start(), match.end()


def _from_number(number: float) -> datetime | None:
    """Return the time that is so many seconds or milliseconds after 1970, or the day
    that its eight digits name.
    """
    for (first, end), unit in ((_SECONDS, 1), (_MILLISECONDS, 1000)):
        if first <= number < end:
            return datetime.fromtimestamp(number / unit, UTC)
    if 0 < number < 1e8 and number == int(number):
        return _parse(f"{number:.0f}")
    return None


def _parse(text: str) -> datetime | None:
    if _STAMP.fullmatch(text):
        return _from_number(int(text))
    for pattern in _FORMATS:
        match = pattern.fullmatch(text)
        if match:
            return _make_date(defaultdict(str, match.groupdict(default="")))
    return None


def _make_date(parts: Mapping[str, str]) -> datetime:
    """Return the date that the groups of a pattern are, those that it lacks empty."""
    month = parts["month"]
    day = parts["day"]
    if parts["left"]:
        month, day = _order(parts["left"], parts["right"])
    zone = _zone(parts["zone"])
    date = datetime(
        int(parts["year"]),
        _month(month),
        int(day),
        _hour(int(parts["hour"] or 0), parts["half"]),
        int(parts["minute"] or 0),
        int(parts["second"] or 0),
        int(parts["fraction"].ljust(6, "0")[:6]),
        zone or UTC,
    )
    if zone is None:
        return datetime(date.year, date.month, date.day, tzinfo=UTC)
    return date


def _order(left: str, right: str) -> tuple[str, str]:
    """Return the month and the day of ``25/9`` or ``9/25``; raises ValueError if both
    orders are possible.
    """
    if int(left) > 12:
        return right, left
    if int(right) <= 12 and int(left) != int(right):
        raise ValueError(f"{left}/{right} is ambiguous")
    return left, right


def _month(name: str) -> int:
    """Return the number of ``05``, ``May``, ``Sept`` or ``mayo``; raises ValueError for
    any other word.
    """
    if name.isdigit():
        return int(name)
    for number, month in enumerate(_MONTHS, start=1):
        if month.startswith(name.lower()):
            return number
    if name.casefold() in _FOREIGN_MONTHS:
        return _FOREIGN_MONTHS[name.casefold()]
    raise ValueError(f"{name!r} is not a month")


def _hour(hour: int, half: str) -> int:
    """Return the hour of a day: 15 for ``3 p``; raises ValueError for ``15 p``."""
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(f"{hour} {half}m is not an hour")
    return hour % 12 + 12 if half in "pP" else hour % 12


def _zone(name: str) -> timezone | None:
    """Return the zone with this offset or name; None if the name does not say which it
    is.
    """
    name = name.lower()
    if name in _ZONES:
        return timezone(timedelta(hours=_ZONES[name]))
    if not name.startswith(("+", "-")):
        return None
    digits = name[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    if name[0] == "-":
        offset = -offset
    return timezone(offset)
