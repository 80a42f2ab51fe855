"""The words for numbers, units, months and negations, by language."""

from __future__ import annotations
import json
from importlib.resources import files
from typing import Any

TABLES: dict[str, Any] = json.loads(
    files(__package__ or "").joinpath("quantities.json").read_text("utf-8")
)


def number_words(rows: list[str]) -> dict[str, int]:
    """Return the number of the row of each word of a table, from 1 on."""
    numbers: dict[str, int] = {}
    for number, words in enumerate(rows, 1):
        numbers |= dict.fromkeys(list_words(words), number)
    return numbers


def list_words(words: str) -> list[str]:
    """Split words of a table, in which an underscore is a space."""
    return [word.replace("_", " ") for word in words.split()]
