"""The words for numbers, units, months and negations, by language."""

from __future__ import annotations
import json
from importlib.resources import files
from typing import Any

TABLES: dict[str, Any] = json.loads(
    files(__package__ or "").joinpath("quantities.json").read_text("utf-8")
)


def list_words(words: str) -> list[str]:
    """Split words of a table, in which an underscore is a space."""
    return [word.replace("_", " ") for word in words.split()]
