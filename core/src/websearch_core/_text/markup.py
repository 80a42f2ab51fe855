"""Markup that careless sources leave in what should be plain text."""

from __future__ import annotations

import html
import re

_INLINE = "a|b|code|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr"
_BLOCK = "article|blockquote|br|div|h[1-6]|li|ol|p|pre|section|table|ul"
MARKUP = re.compile(rf"</?(?:({_INLINE})|{_BLOCK})\b[^<>]*>", re.IGNORECASE)


def strip_markup(text: str) -> str:
    """Return *text* without tags and surrounding blanks, its entities unescaped once. Tags of no known name stay."""
    if "<" in text:
        text = MARKUP.sub(lambda tag: "" if tag[1] else " ", text)
    return (html.unescape(text) if "&" in text else text).strip()
