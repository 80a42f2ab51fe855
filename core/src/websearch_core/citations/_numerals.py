"""Read numbers in words, such as "twenty-five", "fünfundzwanzig" and "二十五", in twelve languages."""

from __future__ import annotations
import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from .._text.terms import MARKS, UNSPACED

TABLES: dict[str, Any] = json.loads(files(__package__ or "").joinpath("quantities.json").read_text("utf-8"))


def list_words(words: str) -> list[str]:
    """Split words of a table, in which an underscore is a space."""
    return [word.replace("_", " ") for word in words.split()]


_MAX_HAN = 12  # characters of a number
# The value of a word: a number, or "x100" if it multiplies the number before it.
_VALUES = {word.rstrip("?"): value for value, words in TABLES["numbers"].items() for word in words.split()}
_DOUBTFUL = frozenset(
    word[:-1] for word in " ".join(TABLES["numbers"].values()).split() if word.endswith("?")
)  # other words too: Turkish "on"
_HAN: dict[str, str] = TABLES["han"]
_THAI = re.compile(TABLES["thai"])
_GERMAN = re.compile("|".join(sorted(TABLES["german"].split("|"), key=len, reverse=True)))
_COMPOUND = re.compile(rf"(?:{_GERMAN.pattern})(?:(?:und)?(?:{_GERMAN.pattern}))+")
_WORD = re.compile(
    rf"(?P<percent>分之)?(?P<han>[{''.join(_HAN)}]{{1,{_MAX_HAN}}})(?P<counted>(?=[{TABLES['han counts']}]))?"
    rf"|(?P<thai>(?:{TABLES['thai']})+)|(?:(?![{UNSPACED}])[^\W\d_]|[{MARKS}])+"
)
_GAP = re.compile(rf"[ -](?:(?:{TABLES['joints'].replace(' ', '|')}) )?", re.IGNORECASE)
_AND = "و"  # Arabic joins it to the word after it
_LEAST = 2  # "one" is an article or a pronoun


def find_numerals(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each number in words begins and ends, and its value; not 0 or 1, and not "hundreds"."""
    number, begin, end, is_clear = _Number(), 0, 0, False
    for word in _WORD.finditer(text):
        start, stop = word.span("han") if word["han"] else word.span()
        follows = _GAP.fullmatch(text, end, start) is not None
        for place, value in enumerate(_split(word)):
            if (follows or place) and number.take(value, glued=place > 0 or word[0][0] == _AND):
                is_clear = True
            else:
                if is_clear and number.value >= _LEAST:
                    yield begin, end, number.value
                number, begin, is_clear = _Number(), start, word[0].lower() not in _DOUBTFUL
                number.take(value)
            end = stop
    if is_clear and number.value >= _LEAST:
        yield begin, end, number.value


def _split(word: re.Match[str]) -> Sequence[str]:
    """Return the values of the numbers that a word is made of; none if it is not a number."""
    if run := word["han"]:
        values = [_HAN[one] for one in run]
        if len(run) > 1 and all(value.isdecimal() for value in values):
            return ["".join(values)]  # 一九九八
        is_part = len(run) == 1 and word["percent"] is None and word["counted"] is None  # of another word, perhaps
        return [] if is_part else values
    if word["thai"]:
        return [_VALUES[one] for one in _THAI.findall(word["thai"])]
    return _split_word(word[0].lower())


@lru_cache(maxsize=10_000)
def _split_word(word: str) -> tuple[str, ...]:
    if value := _VALUES.get(word) or _VALUES.get(word.removeprefix(_AND)):
        return (value,)
    return tuple(_VALUES[part] for part in _GERMAN.findall(word)) if _COMPOUND.fullmatch(word) else ()


class _Number:
    """A number that grows word by word."""

    def __init__(self) -> None:
        self._thousands = self._hundreds = self._last = 0
        self._below = math.inf  # what may follow

    @property
    def value(self) -> int:
        """The number so far."""
        return self._thousands + self._hundreds + self._last

    def take(self, value: str, *, glued: bool = False) -> bool:
        """Add the value of a word, if it can follow; one that is *glued* to the word before may be the larger."""
        last = self._last
        if value[0] != "x":
            added = int(value)
            fits = self._follows(added) or (0 < last < 10 <= added < 100 and (glued or added == 10))  # fünfundzwanzig
            self._last += added if fits else 0
            return fits
        factor, several = int(value[1:]), self._hundreds + last
        if factor >= 1000 and self.value:
            is_larger = factor > self._thousands  # 三千万: both multiply
            self._thousands = (self._thousands + several) * factor if is_larger else self._thousands + several * factor
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
        return value < (100 if self._last % 100 == 0 else 10 if self._last % 10 == 0 else 0)
