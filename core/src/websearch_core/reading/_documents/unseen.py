"""Leave out what Markdown hides from its readers: comments, and elements hidden by an attribute or an inline style."""

from __future__ import annotations
import re
from html import unescape

from .._html.css.look import PLAIN, judge_inline_style
from .._html.hidden import MAY_HIDE, hiding
from .._markdown.fences import outside_fences

_MAX_SPAN = 2_000  # characters of a code span
_TOKEN = re.compile(r"(`+)|<!--|<([a-z][a-z0-9-]{0,30})((?:[\s/][^<>]{0,2000})?)>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9-]{0,30})(?:[\s/][^<>]{0,2000})?>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([^\s\"'=/>]{1,50})(?:\s{0,5}=\s{0,5}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_BLANK_LINE = re.compile(r"\n[ \t]*\n|\Z")
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


def remove_unseen(text: str) -> tuple[str, int]:
    """Return Markdown without what its readers do not see, and the number of hidden elements that were left out."""
    if "<" not in text:
        return text, 0
    count = 0

    def clean(part: str) -> str:
        nonlocal count
        part, hidden = _clean(part)
        count += hidden
        return part

    return outside_fences(text, clean), count


def _clean(text: str) -> tuple[str, int]:
    kept: list[str] = []
    ends: dict[int, int] | None = None
    begin = position = count = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        if token[1]:
            position = _end_of_span(text, token)
            continue
        hides = token[2] is not None and _hides(token[2].lower(), token[3])
        if token[2] is not None and not hides:
            continue
        if hides and ends is None:
            ends = _find_ends(text)
        end = (ends or {}).get(position) or _end_of_block(text, position) if hides else _end_of_comment(text, token)
        if end > position:
            kept.append(text[begin : token.start()])
            begin = position = end
            count += hides
    return "".join([*kept, text[begin:]]), count


def _end_of_span(text: str, ticks: re.Match[str]) -> int:
    """Return the end of the code span that begins with *ticks*, or their own end if there is no such span."""
    most = min(ticks.end() + _MAX_SPAN, len(text))
    closing = re.compile(rf"(?<!`)`{{{len(ticks[1])}}}(?!`)").search(text, ticks.end(), most)
    return closing.end() if closing else ticks.end()


def _end_of_comment(text: str, opening: re.Match[str]) -> int:
    """Return the end of a comment. One that never ends hides the rest of the text, if it begins a line."""
    end = text.find("-->", opening.end())
    if end >= 0:
        return end + 3
    before = text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()]
    return opening.end() if before.strip() else len(text)


def _hides(name: str, source: str) -> bool:
    found = _ATTRIBUTE.finditer(source)
    attributes = {one[1].lower(): unescape(one[2] or one[3] or one[4] or "") for one in found}
    if name in _VOID or (name != "dialog" and MAY_HIDE.isdisjoint(attributes)):
        return False
    style = attributes.get("style")
    return hiding(name, attributes, judge_inline_style(style) if style else PLAIN) > 0


def _find_ends(text: str) -> dict[int, int]:
    """Map the end of the opening tag of each element to the end of its closing tag."""
    opened: dict[str, list[int]] = {}
    ends: dict[int, int] = {}
    for tag in _TAG.finditer(text):
        places = opened.setdefault(tag[2].lower(), [])
        if not tag[1]:
            places.append(tag.end())
        elif places:
            ends[places.pop()] = tag.end()
    return ends


def _end_of_block(text: str, begin: int) -> int:
    """Return where an element that is never closed ends: at the next blank line."""
    over = _BLANK_LINE.search(text, begin)
    return over.start() if over else len(text)
