"""Read numbers in words, such as "twenty-five", "fünfundzwanzig" and "二十五", in twelve languages."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

from .._text.terms import MARKS, UNSPACED

TABLES: dict[str, Any] = json.loads(files(__package__ or "").joinpath("quantities.json").read_text("utf-8"))


def list_words(words: str) -> list[str]:
    """Split words of a table, in which an underscore is a space, and escape nothing."""
    return [word.replace("_", " ") for word in words.split()]


# The value of a word: a number, or "x100" if it multiplies the number before it.
_VALUES = {word.rstrip("?"): value for value, words in TABLES["numbers"].items() for word in words.split()}
_DOUBTFUL = frozenset(re.findall(r"(\S+)\?", " ".join(TABLES["numbers"].values())))  # other words too: Turkish "on"
_HAN: dict[str, str] = TABLES["han"]
_THAI, _GERMAN = (
    re.compile(TABLES["thai"]),
    re.compile("|".join(sorted(TABLES["german"].split("|"), key=len, reverse=True))),
)
_COMPOUND = re.compile(rf"(?:{_GERMAN.pattern})(?:(?:und)?(?:{_GERMAN.pattern}))+")
_WORD = re.compile(
    rf"(?P<percent>分之)?(?P<han>[{''.join(_HAN)}]+)(?P<counted>[{TABLES['han counts']}])?|(?P<thai>(?:{TABLES['thai']})+)"
    rf"|(?:(?![{UNSPACED}])[^\W\d_]|[{MARKS}])+"
)
_GAP = re.compile(rf"[ -](?:(?:{TABLES['joints'].replace(' ', '|')}) )?", re.IGNORECASE)
_AND = "و"  # Arabic joins it to the word after it
_LEAST = 2  # "one" is an article or a pronoun


def find_numerals(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each number in words begins and ends, and its value; not 0 or 1, and not "hundreds"."""
    number, begin, end, is_clear = _Number(), 0, 0, False
    for word in _WORD.finditer(text):
        follows = _GAP.fullmatch(text, end, word.start()) is not None
        for place, value in enumerate(_split(word)):
            if not (follows or place) or not number.take(value, glued=place > 0 or word[0][0] == _AND):
                if is_clear and number.value >= _LEAST:
                    yield begin, end, number.value
                number, begin, is_clear = (
                    _Number(),
                    word.end("percent") if word["percent"] else word.start(),
                    word[0].lower() not in _DOUBTFUL,
                )
                number.take(value)
            elif end < word.start():
                is_clear = True
            end = word.end("han") if word["han"] else word.end()
    if is_clear and number.value >= _LEAST:
        yield begin, end, number.value


def _split(word: re.Match[str]) -> list[str]:
    """Return the values of the numbers that a word is made of; none if it is no number."""
    if run := word["han"]:
        values = [_HAN[one] for one in run]
        if len(run) > 1 and all(value.isdecimal() for value in values):
            return ["".join(values)]  # 一九九八
        return values if len(run) > 1 or word["counted"] or word["percent"] else []
    if word["thai"]:
        return [_VALUES[one] for one in _THAI.findall(word["thai"])]
    return _split_word(word[0].lower())


@lru_cache(maxsize=10_000)
def _split_word(word: str) -> list[str]:
    value = _VALUES.get(word) or _VALUES.get(word.removeprefix(_AND))
    if value:
        return [value]
    return [_VALUES[part] for part in _GERMAN.findall(word)] if _COMPOUND.fullmatch(word) else []


class _Number:
    """A number that grows word by word."""

    def __init__(self) -> None:
        self._thousands = self._hundreds = self._last = 0
        self._below = math.inf  # what may follow

    @property
    def value(self) -> int:
        return self._thousands + self._hundreds + self._last

    def take(self, value: str, *, glued: bool = False) -> bool:
        """Add the value of a word, if it can follow."""
        if value[0] != "x":
            return self._add(int(value), glued)
        factor, last = int(value[1:]), self._last
        if factor >= 1000 and self.value:
            several = self._hundreds + last
            if factor > self._thousands:
                self._thousands = (self._thousands + several) * factor
            else:
                self._thousands += several * factor
            self._hundreds = 0
        elif factor < self._below and (last or factor == 10):
            self._hundreds += (last or 1) * factor
        else:
            return False
        self._last, self._below = 0, factor
        return True

    def _add(self, value: int, glued: bool) -> bool:
        last = self._last
        fits = (
            value < self._below
            if not last
            else value < 10 <= last
            and last % 10 == 0
            and last != 10
            or value < 100 < last
            and last % 100 == 0
            or last < 10 <= value < 100
            and (glued or value == 10)  # fünfundzwanzig, خمسة عشر
        )
        self._last += value if fits else 0
        return fits
