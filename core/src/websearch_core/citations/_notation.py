"""How a text writes its numbers, as far as its words and other numbers tell.

``1.234 km`` is one and a bit in English and 1,234 in German; ``408 mil`` are miles in
Turkish and 408,000 in Spanish.
"""

from __future__ import annotations
import re
from collections import Counter
from typing import NamedTuple

from ._tables import TABLES, alternate, key_words, list_words

_MAX_LENGTH = 20_000  # characters that are looked at
_MARK_OF = key_words([(".", TABLES["decimal point"]), (",", TABLES["decimal comma"])])
_WORD = re.compile(rf"(?<!\w)(?:{alternate(_MARK_OF)})(?!\w)", re.IGNORECASE)
_POINT_LETTERS = re.compile(r"[\u0900-\u0dff\u0e00-\u0e7f\u3400-\u9fff]")
_COMMA_LETTERS = re.compile(r"[\u0370-\u03ff\u0400-\u04ff]")
_PER_WORD = 4  # letters of a script
_CLEAR = 2  # times as many words
# "3.5", "0.25": three digits may be a group
_FRACTION = re.compile(r"(?<![\d.,])\d{1,4}([.,])(?:\d{1,2}|\d{4,})(?![\d.,]|[^\W\d_])")
_TURKISH = re.compile(
    rf"(?-i:[ığİĞ])|(?<!\w)(?:{'|'.join(list_words(TABLES['turkish']))})(?!\w)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_TURKISH_SHARE = 0.015  # of the letters: a tenth of what Turkish has


class Notation(NamedTuple):
    """How a text writes numbers."""

    decimal: str = ""  # the mark before a fraction; empty if that is not clear
    is_turkish: bool = False


def find_notation(text: str) -> Notation:
    """Return how *text* writes numbers."""
    text = text[:_MAX_LENGTH]
    letters = len(_LETTER.findall(text))
    turkish = len(_TURKISH.findall(text))
    is_turkish = turkish > 0 and turkish >= _TURKISH_SHARE * letters
    return Notation(_find_decimal_mark(text), is_turkish)


def _find_decimal_mark(text: str) -> str:
    words = Counter(_MARK_OF[word.lower()] for word in _WORD.findall(text))
    point_letters = len(_POINT_LETTERS.findall(text))
    comma_letters = len(_COMMA_LETTERS.findall(text))
    point = words["."] + point_letters / _PER_WORD
    comma = words[","] + comma_letters / _PER_WORD
    is_clear = max(point, comma) >= _CLEAR * min(point, comma)
    if point == comma or not is_clear:
        fractions = Counter(_FRACTION.findall(text))
        point = fractions["."]
        comma = fractions[","]
    if point == comma:
        return ""
    if point > comma:
        return "."
    return ","
