from __future__ import annotations
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from websearch_core._text.dates import (
    _ZONES,
    count_back,
    find_date,
    find_words,
    parse_date,
)

MORNING = datetime(2026, 5, 4, 9, 8, 7, tzinfo=UTC)
MIDNIGHT = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-04T09:08:07Z",
        "2026-05-04T09:08:07",
        "2026-05-04 09:08:07",
        "2026-05-04 09:08:07 UTC",
        "20260504T090807Z",
        "2026-05-04T11:08:07+02:00",
        "2026-05-04T11:08:07+0200",
        "2026-05-04 04:08:07 -05",
        " 2026-05-04T09:08:07.000Z ",
        "Mon, 04 May 2026 09:08:07 GMT",
        "Mon, 4 May 2026 04:08:07 EST",
        "4 May 2026 11:08:07 +0200 (CEST)",
        "May 4, 2026, 9:08:07 AM",
        "Mon May  4 09:08:07 2026",
        "Mon May 04 09:08:07 UTC 2026",
        "1777885687",
        "1777885687000",
        1777885687,
        1777885687000,
        1777885687.0,
    ],
)
def test_dates_with_a_time_in_any_format(text: object) -> None:
    assert parse_date(text) == MORNING


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-04",
        "2026/05/04",
        "20260504",
        "2026-5-4",
        "2026/5/4",
        "2026.05.04",
        "2026. 5. 4.",
        "4.5.2026",
        "04.05.2026",
        "2026年5月4日",
        "2026年05月04日",
        "May 4, 2026",
        "May 4th, 2026",
        "may 04 2026",
        "4 May 2026",
        "Monday, 4 May 2026",
        "04-May-2026",
        "May 4, 2026 at 12:00 a.m.",
    ],
)
def test_a_day_is_read_as_its_midnight(text: str) -> None:
    assert parse_date(text) == MIDNIGHT


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("3 March 2026", 3),
        ("Sept. 3, 2026", 9),
        ("3 dec 2026", 12),
        ("3 JUNE 2026", 6),
        ("3. März 2026", 3),
        ("3 décembre 2026", 12),
        ("3 de mayo de 2026", 5),
        ("3 AĞUSTOS 2026", 8),
        ("3 сентября 2026", 9),
        ("3. listopadu 2026", 11),
    ],
)
def test_months_have_long_and_short_names(text: str, month: int) -> None:
    assert datetime(2026, month, 3, tzinfo=UTC) == parse_date(text)


@pytest.mark.parametrize(
    "line",
    ["Am 3. Mai 2026 um 15:44 Uhr", "le 3 mai 2026", "Publicado el 3 de mayo de 2026."],
)
def test_a_date_in_a_line_may_be_in_another_language(line: str) -> None:
    assert find_date(line) == datetime(2026, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["9/25/2026", "25/9/2026", "Fri, 09/25/2026 - 00:00", "Friday 25/09/2026"]
)
def test_a_day_after_the_twelfth_decides_the_order(text: str) -> None:
    assert parse_date(text) == datetime(2026, 9, 25, tzinfo=UTC)


def test_a_day_and_a_month_of_one_number_need_no_order() -> None:
    assert parse_date("5/5/2026") == datetime(2026, 5, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        "les 3 des 2026 divers",
        "3 bateaux 2026",
        "3 out 2026",
        "3. listopada 2026",
        "on 4/5/2026",
        "25/25/2026",
    ],
)
def test_other_words_and_ambiguous_dates_are_not_found_in_a_line(line: str) -> None:
    assert find_date(line) is None


@pytest.mark.parametrize(
    ("fraction", "microsecond"),
    [(".1", 100_000), (".123", 123_000), (".123456789", 123_456), (",5", 500_000)],
)
def test_a_fraction_may_have_any_number_of_digits(
    fraction: str, microsecond: int
) -> None:
    assert MORNING.replace(microsecond=microsecond) == parse_date(
        f"2026-05-04T09:08:07{fraction}Z"
    )


def test_the_zone_is_kept() -> None:
    date = parse_date("2026-05-04T09:08:07-03:30")
    assert date is not None
    assert timedelta(hours=-3, minutes=-30) == date.utcoffset()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "3 days ago",
        "2026",
        "2026-05",
        "2026-02-31",
        "2026-05-04T25:00:00Z",
        "2026-05-04T09:08:07+99:00",
        "May 4, 2026 15:00 pm",
        "4 Mayday 2026",
        "04/05/2026",  # ambiguous: 4 May or 5 April
        "0001-01-01T00:00:00Z",
        "٢٠٢٦-٠٥-٠٤",
        "2026-05-04" + " " * 1_000_000,
        10**400,
        -(10**400),
        float("nan"),
        float("inf"),
        True,
        None,
        b"2026-05-04",
        ["2026-05-04"],
        {"date": "2026-05-04"},
    ],
)
def test_other_values_are_none(text: object) -> None:
    assert parse_date(text) is None


@given(
    st.one_of(
        st.text(alphabet="0123456789-:+. TZMay,()"),
        st.text(),
        st.integers(),
        st.floats(),
    )
)
@example("(" * 80)
@example("2026-05-04T09:08:07" + "." + "0" * 60)
def test_nothing_raises_and_every_date_has_a_zone(text: object) -> None:
    date = parse_date(text)
    assert date is None or date.utcoffset() is not None


@given(
    st.datetimes(datetime(1000, 1, 2), datetime(2999, 12, 30)),  # noqa: DTZ001 (Hypothesis requires naive ones)
    st.integers(min_value=-14 * 60, max_value=14 * 60),
)
def test_dates_written_by_python_are_read_back(moment: datetime, offset: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=offset)))
    assert aware == parse_date(aware.isoformat())


@pytest.mark.parametrize(
    "line",
    [
        "Updated: May 4, 2026 by Ada",
        "By Ada | 4 May 2026 | 5 min read",
        "Mon, 4th May 2026, 9:08 AM",
        "(2026-05-04)",
        "Stand: 4.5.2026",
        "2026/5/4 更新",
        "2026年5月4日",
        "99 bottles 2026 May 4, 2026",
    ],
)
def test_a_date_is_found_among_other_words(line: str) -> None:
    assert find_date(line) == MIDNIGHT


@pytest.mark.parametrize(
    "line",
    [
        "",
        "4/5/2026",
        "May 2026",
        "since 2026",
        "version 12026-05-04",
        "31.02.2026",
        "1.2.3.2026.4",
        "x" * 400,
    ],
)
def test_ambiguous_dates_are_not_found(line: str) -> None:
    assert find_date(line) is None


@pytest.mark.parametrize("number", [20190304, 20190304.0, "20190304"])
def test_a_number_may_be_a_day(number: object) -> None:
    assert parse_date(number) == datetime(2019, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    "number", [0, 7, 2019, 2019.5, 201903, 20191399, -86400, 20190304101500, 1.5e15]
)
def test_a_number_that_is_no_time_is_not_made_one(number: float) -> None:
    assert parse_date(number) is None


@pytest.mark.parametrize(
    ("zone", "hours"),
    [
        ("JST", 9),
        ("CEST", 2),
        ("BST", 1),
        ("cet", 1),
        ("EST", -5),
        ("Z", 0),
        ("ACST", 9.5),
        ("Uhr", 0),
    ],
)
def test_usual_names_of_zones_are_known(zone: str, hours: float) -> None:
    date = parse_date(f"2026-05-04 10:00 {zone}")
    assert date == datetime(2026, 5, 4, 10, tzinfo=timezone(timedelta(hours=hours)))


@pytest.mark.parametrize("zone", ["IST", "AST", "XYZ", "A", "AMT"])
def test_in_an_unknown_zone_only_the_day_is_known(zone: str) -> None:
    assert parse_date(f"2026-05-04 23:00 {zone}") == MIDNIGHT


def test_every_zone_that_we_name_has_the_same_offset_wherever_the_name_is_used() -> (
    None
):
    if not available_timezones():
        pytest.skip("there is no tz database here")
    offsets: dict[str, set[float]] = {}
    for zone in map(ZoneInfo, available_timezones()):
        for month in (1, 7):
            day = datetime(2026, month, 15, tzinfo=zone)
            offset = day.utcoffset()
            assert offset is not None
            offsets.setdefault(str(day.tzname()).lower(), set()).add(
                offset.total_seconds() / 3600
            )
    american = {"cst", "cdt", "pst", "pdt"}  # by RFC 2822
    for name in _ZONES.keys() - american:
        assert offsets.get(name, {_ZONES[name]}) == {_ZONES[name]}


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("3 days ago", 1), ("a day ago", 3), ("1 day ago", 3), ("yesterday", 3), ("2 weeks ago", -10),
        ("10 hours ago", 3), ("an hour ago", 4), ("9 hrs. ago", 4), ("5 mins ago", 4), ("30 Seconds ago", 4),
        ("1 month ago", -26), ("1 year ago", -361),
    ],
)  # fmt: skip
def test_words_count_back_from_when_they_were_said(words, day):
    assert count_back(words, MORNING) == MIDNIGHT + timedelta(day - 4)
    assert find_words(f" {words}\n") == words


@pytest.mark.parametrize(
    "words", ["about 3 days ago", "vor 3 Tagen", "hace 3 días", "3日前", "4 Mar", "4/5"]
)
def test_words_that_only_a_reader_understands_are_kept(words):
    assert count_back(words, MORNING) is None
    assert find_words(words) == (words if words != "4/5" else "")


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        ["3 days ago"],
        "",
        "n/a",
        "unknown",
        "0001-01-01T00:00:00",
        "4 May 2026",
        "4/5/2026",
        "3 " * 30,
    ],
)
def test_what_is_no_words_for_a_date_is_left_out(value):
    assert find_words(value) == ""


@given(
    st.text(max_size=90),
    st.datetimes(timezones=st.just(UTC), min_value=datetime(1000, 1, 1)),  # noqa: DTZ001
)
def test_any_words_count_back_to_a_day_or_to_none(words, at):
    assert (count_back(words, at) or at) <= at
    assert len(find_words(words)) <= 40
