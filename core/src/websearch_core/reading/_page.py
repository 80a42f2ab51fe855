"""Build a `Page` from finished Markdown."""

from __future__ import annotations
import re
from collections.abc import Iterable
from typing import Any

from ..models import Page

TITLE_LENGTH = 300  # characters
DESCRIPTION_LENGTH = 1000
NAME_LENGTH = 200
_NO_LANGUAGES = frozenset({"und", "zxx", "mul"})
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")


def language_of(values: Iterable[str]) -> str | None:
    """Return the first of *values* that is a language tag, spelled as in BCP 47, or None."""
    for value in values:
        tag = value.split(",")[0].strip().replace("_", "-")
        if _LANGUAGE.fullmatch(tag) and tag.lower() not in _NO_LANGUAGES:
            first, *rest = tag.split("-")
            return "-".join([first.lower(), *map(_subtag, rest)])
    return None


def _subtag(tag: str) -> str:
    """``br`` -> ``BR``, ``hans`` -> ``Hans``."""
    return tag.upper() if len(tag) == 2 else tag.title() if len(tag) == 4 and tag.isalpha() else tag.lower()


def make_page(url: str, media_type: str, content: str, **facts: Any) -> Page:
    """Build a page from all of its Markdown, and *facts*: other fields of `Page`."""
    content = content.strip("\n")
    size = len(content)
    known = {"content": content, "content_length": size, "original_length": size, "media_type": media_type}
    return Page(url=url, final_url=url, **known, **facts)
