"""Markup that careless sources leave in what should be plain text."""

from __future__ import annotations
import html
import re

_INLINE = "a|b|code|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr"
_BLOCK = "article|blockquote|br|div|h[1-6]|li|ol|p|pre|section|table|ul"
MARKUP = re.compile(rf"</?(?:({_INLINE})|{_BLOCK})\b[^<>]*>", re.IGNORECASE)
_MAX_END = 500  # bytes
_HIGHLIGHT = re.compile(
    r"<(/?)(b|em|mark|span|strong)(?: class=[^<>]*)?>", re.IGNORECASE
)


def ends_html(source: bytes | bytearray) -> bool:
    """Return whether *source* ends as a page of HTML does; comments may follow."""
    end = source[-_MAX_END:].lower().rsplit(b"</html", 1)[1:]
    return bool(end) and end[0].rstrip().endswith(b">")


def strip_highlights(text: str) -> str:
    """Return *text* without surrounding blanks, and without the tags that mark the
    words of a query in it.

    Those stand in pairs around words. Any other tag in plain text is meant to be read:
    ``<div>``, ``<b> or <strong>``.
    """
    if "</" not in text:
        return text.strip()
    marks: list[tuple[int, int]] = []
    opened: dict[str, list[tuple[int, int]]] = {}
    for tag in _HIGHLIGHT.finditer(text):
        before = opened.setdefault(tag[2].lower(), [])
        if not tag[1]:
            before.append(tag.span())
        elif before:
            begin = before.pop()
            if begin[1] < tag.start():
                marks += [begin, tag.span()]
    marks.sort()
    parts = []
    place = 0
    for start, end in marks:
        parts.append(text[place:start])
        place = end
    return "".join([*parts, text[place:]]).strip()


def strip_markup(text: str) -> str:
    """Return *text* without tags and surrounding blanks, its entities unescaped once.
    Tags of no known name stay.
    """
    if "<" in text:
        text = MARKUP.sub(_blank, text)
    if "&" in text:
        text = html.unescape(text)
    return text.strip()


def _blank(tag: re.Match[str]) -> str:
    return "" if tag[1] else " "
