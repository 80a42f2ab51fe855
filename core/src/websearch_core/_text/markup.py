"""Markup that careless sources leave in what should be plain text."""

from __future__ import annotations
import html
import re

_INLINE = "a|b|code|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr"
_BLOCK = "article|blockquote|br|div|h[1-6]|li|ol|p|pre|section|table|ul"
MARKUP = re.compile(rf"</?(?:({_INLINE})|{_BLOCK})\b[^<>]*>", re.IGNORECASE)
_HIGHLIGHT = re.compile(
    r"<(/?)(b|em|mark|span|strong)(?: class=[^<>]*)?>", re.IGNORECASE
)


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
            marks += [begin, tag.span()] if begin[1] < tag.start() else []
    marks.sort()
    begins, ends = (
        [0, *(end for _, end in marks)],
        [*(start for start, _ in marks), len(text)],
    )
    return "".join(
        text[begin:end] for begin, end in zip(begins, ends, strict=True)
    ).strip()


def strip_markup(text: str) -> str:
    """Return *text* without tags and surrounding blanks, its entities unescaped once.
    Tags of no known name stay.
    """
    if "<" in text:
        text = MARKUP.sub(lambda tag: "" if tag[1] else " ", text)
    return (html.unescape(text) if "&" in text else text).strip()
