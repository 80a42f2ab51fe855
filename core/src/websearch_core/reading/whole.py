"""What every kind of page is made of in the end: its text, with true lengths."""

from __future__ import annotations

import re
from typing import Any

from ..models import Page

_BACKTICKS = re.compile("`+")


def whole(url: str, media_type: str, content: str, **facts: Any) -> Page:
    """
    Make the page that has all of its text.

    Args:
        url: Where it was found.
        media_type: What it is.
        content: Markdown.
        facts: Other fields of `Page`.

    """
    content = content.strip("\n")
    size = len(content)
    known = {"content": content, "content_length": size, "original_length": size, "media_type": media_type}
    return Page(url=url, final_url=url, **known, **facts)


def fenced(code: str, language: str) -> str:
    """Return *code* as a block of code that it cannot end by itself; nothing for nothing."""
    ticks = fence(code)
    return f"{ticks}{language}\n{code}\n{ticks}" if code else ""


def fence(code: str, least: int = 3) -> str:
    """Return as many backticks as *code* needs around it: more than stand together in it, and *least* of them."""
    return "`" * max(least, 1 + max(map(len, _BACKTICKS.findall(code)), default=0))
