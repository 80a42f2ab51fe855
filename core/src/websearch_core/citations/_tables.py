"""The words for numbers, units, months and negations, by language."""

from __future__ import annotations
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, TypeVar

K = TypeVar("K")
TABLES: dict[str, Any] = json.loads(
    files(__package__ or "").joinpath("quantities.json").read_text("utf-8")
)


def key_words(rows: Iterable[tuple[K, str]]) -> dict[str, K]:
    """Return the key of each word in *rows* of a key and its words."""
    keys: dict[str, K] = {}
    for key, words in rows:
        keys |= dict.fromkeys(list_words(words), key)
    return keys


def list_words(words: str) -> list[str]:
    """Split words of a table, in which an underscore is a space."""
    return [word.replace("_", " ") for word in words.split()]


def alternate(words: Iterable[str]) -> str:
    """Return a pattern that matches any of *words*, the longest first."""
    return "|".join(sorted(words, key=len, reverse=True))
