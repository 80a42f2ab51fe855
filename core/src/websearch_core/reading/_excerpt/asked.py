"""What a question asks for, and what a text states: an amount of money, a time, a
number, an address, the number of a telephone, an e-mail address, opening hours, code.

The words of questions are those of the languages of the tests (Arabic, Chinese,
English, German, Greek, Hindi, Romanian, Russian, Spanish, Thai, Turkish and Vietnamese)
and the most common ones of other languages with many pages.
"""

from __future__ import annotations
import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from ..._text.money import has_amount
from ..._text.terms import fold, query_terms


def _load(name: str) -> Any:
    return json.loads(files(__package__ or "").joinpath(name).read_text("utf-8"))


# Words as `fold` returns them, most of them only their beginning; then those of scripts
# without spaces, anywhere.
_ASKING = _load("asking.json")
# "5 Main Street", "Hafenstraße 5", "ул. Садовая, 5"
_STREETS = (
    r"\b(?i:street|st\.|road|rd\.|avenue|ave\.|lane|square|strasse|platz|allee)",
    r"\b(?i:calle|avda|plaza|strada|bulevardul)\b|(?i:stra[sß]s?e|str\.|gasse\b)",
    r"(?i:οδος|οδός|\bул(?:\.|иц)|\bпросп|cadde|sokak|mah\.|\bđường)",  # noqa: RUF001
    r"شارع|मार्ग|ถนน|[路街]\d",
)
# "5 Old Mill Rd"
_ROADS = r"\b\d{1,5}(?: [A-Z][\w.]{0,20}){1,3} (?:St|Rd|Ave|Blvd|Drive|Dr|Ln|Hwy|Way)\b"
# "EC1A 1BB", "10115 Berlin", "Boston, MA 02108"
_POSTCODES = (
    r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b",
    r"(?<![\d.,])\d{5}(?:-\d{3,4})? [A-ZÀ-Þ][a-zß-ÿ]",
    r", (?:[A-Z]{2}|[A-Z][a-z]{3,12}) \d{5}\b",
)
# seven digits or more, grouped as people write them, or after a plus or a zero; no date
_DATE = r"(?!\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b|\d{4}-\d\d-\d\d)"
_DIGITS = r"[ /.\u00a0-]\(?\d{2,5}\)?"
_PHONES = (
    rf"(?<![\w/.,-]){_DATE}(?:\+|00)?\(?\d{{1,5}}\)?(?:{_DIGITS}){{2,5}}(?![\w/.,]\d)",
    r"\+\d{8,15}\b|\b0\d{8,11}\b|\+\d{1,3}[ -]\d{6,12}\b",
    r"(?<![\w/.,-])\(?0\d{1,4}\)?[ /-]{1,2}\d{5,8}\b(?![/.,]\d)",
)
# from one time of day to another
_HOUR = r"\d{1,2}(?:[:.]\d\d)? ?(?:[ap]\.?m\.?|h|uhr)?"
_TO = "(?:[-–—~至到]|to|bis|until|до|až)"  # noqa: RUF001 - as pages have it
_END_HOUR = r"\d{1,2}(?:[:.]\d\d\b| ?(?:[ap]\.?m\b|uhr|h\b))"
# Begins with a digit, which is quick to find; what stands before it is looked for then:
# a year, "9:30" or "1.5.24", "3rd May", "May 3", "3 p.m."
_TIME = re.compile(
    r"\d(?:(?<!\d\d)(?:(?<=1)\d|(?<=2)0)\d\d(?!\d)"
    r"|(?<!\d\d)\d?(?::\d{2}|[./]\d{1,2}[./]\d{2})"
    r"|\d?(?:st|nd|rd|th|\.|º)? [^\W\d_]{3}"
    r"|(?:(?<=[^\W\d_]{3} \d)|(?<=[^\W\d_]{3}\. \d))\d?(?!\d)"
    r"|[年月日]| ?[ap]\.?m\b)"
)
_STATING: dict[str, Callable[[str], object]] = {
    "money": has_amount,
    "time": _TIME.search,
    "number": re.compile(r"\d").search,
    "address": re.compile("|".join([*_STREETS, _ROADS, *_POSTCODES])).search,
    "phone": re.compile("|".join(_PHONES)).search,
    "email": re.compile(r"[\w+-]@[\w-]+\.[^\W\d_]").search,
    "hours": re.compile(rf"{_HOUR} ?{_TO} ?(?:{_END_HOUR})", re.IGNORECASE).search,
    "code": re.compile("```|~~~").search,
}


def kinds_asked(query: str) -> list[str]:
    """Return what *query* asks for: ``money``, ``time``, ``number``, ``address``,
    ``phone``, ``email``, ``hours``, ``code``; or nothing of these.
    """
    folded = fold(query)
    return [kind for kind, pattern in _patterns().items() if pattern.search(folded)]


def words_aside(query: str) -> frozenset[str]:
    """Return the terms that say little about what *query* is about: those that only say
    what it asks for, such as ``much``, and function words, such as ``the``.
    """
    folded = fold(query)
    words: list[str] = []
    for pattern in _patterns().values():
        for match in pattern.finditer(folded):
            words.append(match[0])
    return _find_function_words(query).union(query_terms(" ".join(words)))


def kinds_stated(text: str, kinds: list[str]) -> list[str]:
    """Return those of *kinds* that *text* states."""
    return [kind for kind in kinds if _STATING[kind](text)]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    patterns: dict[str, re.Pattern[str]] = {}
    for kind, forms in _ASKING.items():
        spaced, unspaced = map("|".join, forms)
        patterns[kind] = re.compile(rf"(?<![^\W\d_])(?:{spaced})|{unspaced}")
    return patterns


def _find_function_words(query: str) -> frozenset[str]:
    """Return the function words of *query*: on a page of many short texts they are
    rare, and would outweigh what the question is about.

    Its language is the one that has most of them: "comment" is one in French only.
    """
    terms = frozenset(query_terms(query))
    matches = [*map(terms.intersection, _list_function_words())]
    count = max(map(len, matches))
    return frozenset().union(*(match for match in matches if len(match) == count))


@cache
def _list_function_words() -> list[frozenset[str]]:
    """Return the terms of the function words of each language with spaces."""
    languages = _load("function_words.json")
    return [frozenset(query_terms(words)) for words in languages.values()]
