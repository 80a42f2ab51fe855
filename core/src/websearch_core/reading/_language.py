"""Tell in which language a text is: by its script, or by its small words.

Templates state a language that nobody has changed, and many pages state none. What a
text says of itself is nearly always right where there is enough of it.
"""

from __future__ import annotations
import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

_TABLES: Any = json.loads(
    files(__package__ or "").joinpath("languages.json").read_text("utf-8")
)
_SMALL_WORDS = {
    language: frozenset(words.split()) for language, words in _TABLES["words"].items()
}
_WORDS: dict[str, list[str]] = {}  # the languages of each small word
for _language, _words in _TABLES["words"].items():
    for _word in _words.split():
        _WORDS.setdefault(_word, []).append(_language)
_SCRIPTS = {
    language: re.compile(f"[{ranges}]")
    for language, ranges in _TABLES["scripts"].items()
}
# What this module can tell apart; a page in another language is believed.
_LANGUAGES = frozenset(_SMALL_WORDS) | frozenset(_SCRIPTS)
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0900-\u097f])*")
_ADDRESS = re.compile(r"https?://\S+")
_OTHER_SCRIPT = re.compile("[^\x00-\u02ff\u1e00-\u206f]")  # than the Latin one
_SAMPLE = 3_000  # characters
_BEGINNING = 800  # characters that show that a tag is right
_MIN_LETTERS = 40
_MIN_WORDS = 40
_MIN_SCRIPT_SHARE = 0.4  # of the letters
_MIN_KANA_SHARE = 0.05  # Japanese has mostly Han, too
_MIN_WORDS_SHARE = 0.12  # small words of all words
_MIN_LEAD = 1.25  # times the small words of the next language
_MIN_SMALL_WORDS = 6  # different ones, of two letters or more
# A stated language stays if its small words have this share of all words: a part of the
# page is in it, or it is close to the best one, as Danish is to Norwegian.
_MAX_STATED_SHARE = 0.03
_MAX_COMMON_SHARE = 0.15  # of those of the best one: "in" and "will" are German, too
# Other tags of languages that the tables have under one.
_ALIASES = {"nb": "no", "nn": "no", "bs": "hr", "iw": "he", "in": "id", "ms": "id"}


def correct_language(tag: str | None, text: str) -> str | None:
    """Return the language of a page: its *tag*, unless the *text* contradicts it.

    A page without a tag has the language of its text, if there is enough of it.
    """
    if tag is not None:
        primary = tag.split("-")[0].lower()
        primary = _ALIASES.get(primary, primary)
        if primary not in _LANGUAGES or _is_in(primary, text[:_BEGINNING]):
            return tag
    else:
        primary = ""
    sample = _ADDRESS.sub(" ", text[:_SAMPLE])
    language = _find_by_script(sample)
    if language is not None:
        if language == primary:
            return tag
        return language
    language = _find_by_words(sample, primary)
    if language is None or language == primary:
        return tag
    return language


def _is_in(language: str, beginning: str) -> bool:
    """Return whether the beginning of a text is clearly in a language, as most are."""
    words = [word.casefold() for word in _WORD.findall(beginning)]
    small_words = _SMALL_WORDS.get(language, frozenset[str]())
    count = sum(map(small_words.__contains__, words))
    return count >= max(_MIN_SMALL_WORDS, _MIN_WORDS_SHARE * len(words))


def _find_by_script(text: str) -> str | None:
    """Return the language of a text whose script only one language has."""
    letters = sum(map(str.isalpha, text))
    if letters < _MIN_LETTERS:
        return None
    if len(_OTHER_SCRIPT.findall(text)) < _MIN_SCRIPT_SHARE * letters:
        return None
    counts = {
        language: len(script.findall(text)) for language, script in _SCRIPTS.items()
    }
    if counts["ja"] >= _MIN_KANA_SHARE * letters:
        counts["ja"] += counts["zh"]
    language: str = max(counts, key=counts.__getitem__)
    if counts[language] < _MIN_SCRIPT_SHARE * letters:
        return None
    return language


def _find_by_words(text: str, primary: str) -> str | None:
    """Return the language that has most of the small words of a text; None if another,
    or the stated *primary* one, has nearly as many.
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    if len(words) < _MIN_WORDS:
        return None
    counts: Counter[str] = Counter()
    for word in words:
        counts.update(_WORDS.get(word, ()))
    (language, count), *others = [*counts.most_common(2), ("", 0)]
    if count < _MIN_WORDS_SHARE * len(words):
        return None
    small_words = {word for word in words if language in _WORDS.get(word, ())}
    if not primary or counts[primary]:
        small_words = {word for word in small_words if len(word) > 1}
    if len(small_words) < _MIN_SMALL_WORDS:
        return None
    if not primary:
        if count < _MIN_LEAD * others[0][1]:
            return None
        return language
    minimum = max(_MAX_STATED_SHARE * len(words), _MAX_COMMON_SHARE * count)
    is_stated = counts[primary] > minimum
    if is_stated:
        return None
    return language
