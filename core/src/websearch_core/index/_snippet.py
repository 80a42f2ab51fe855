"""Which few lines of a page to show for a query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from .._text.terms import Term, split_terms

_LENGTH = 300  # characters of a snippet
_LEAD = 80  # characters that a snippet begins earlier, where a sentence does

# All repetitions are bounded: what is indexed may be hostile.
_SYNTAX = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"\n]{0,200}\")?\)"  # links and pictures, down to their text
    r"|^[ \t]{0,20}(?:#{1,6}(?=[ \t])|>|[-*+](?=[ \t])|`{3,}\S{0,40}|~{3,}\S{0,40}|\|?[ \t]{0,4}:?-{3}[-:| \t]*$)"
    r"|\*\*|`|\|",
    re.MULTILINE,
)
_SENTENCE = re.compile(r"[.!?][ \n]+|\n+|[。！？]")  # noqa: RUF001 - the full stops of Chinese and Japanese


def strip_markdown(markdown: str) -> str:
    """Return *markdown* without its marks: the text alone, a line for each that says something."""
    text = _SYNTAX.sub(lambda mark: mark[1] or ("" if mark[0] in {"**", "`"} else " "), markdown)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(filter(None, lines))


def make_snippet(text: str, asked: Sequence[str]) -> str:
    """
    Return about 300 characters of *text*: those with the most of what is asked, from the start of a sentence if near.

    Args:
        text: Plain text, such as `bare` returns.
        asked: The words asked for, as `websearch_core._text.terms.wanted` returns them.

    """
    if len(text) <= _LENGTH:
        return " ".join(text.split())
    start = _beginning(text, _densest(_standing(text, asked)))
    end = min(start + _LENGTH, len(text))
    if end < len(text):
        end = _last_blank(text, start, end)
    shown = " ".join(text[start:end].split())
    return f"{'…' * (start > 0)}{shown}{'…' * (end < len(text))}"


def _standing(text: str, asked: Sequence[str]) -> list[Term]:
    """Where the words asked for stand."""
    forms = {word for word in asked if not word.endswith("*")}
    beginnings = tuple(word[:-1] for word in asked if word.endswith("*"))
    return [
        word for word in split_terms(text) if word.form in forms or (beginnings and word.form.startswith(beginnings))
    ]


def _densest(found: list[Term]) -> int:
    """Where the window begins that holds the most; a word counts once, and more the rarer it is on this page."""
    telling = {form: 1 / count for form, count in Counter(word.form for word in found).items()}
    inside: Counter[str] = Counter()
    best, best_weight, weight, first = 0, 0.0, 0.0, 0
    for word in found:
        inside[word.form] += 1
        weight += telling[word.form] * (inside[word.form] == 1)
        while word.end - found[first].start > _LENGTH - _LEAD:
            left = found[first].form
            inside[left] -= 1
            weight -= telling[left] * (inside[left] == 0)
            first += 1
        if weight > best_weight + 1e-9:
            best, best_weight = found[first].start, weight
    return best


def _beginning(text: str, place: int) -> int:
    """The start of the sentence that *place* is in, or else of a word a little before it."""
    earliest = max(0, place - _LEAD)
    if earliest == 0:
        return 0
    starts = [mark.end() for mark in _SENTENCE.finditer(text, earliest, place)]
    if starts:
        return starts[-1]
    blank = text.find(" ", place - _LEAD // 2, place)
    return blank + 1 if blank >= 0 else place


def _last_blank(text: str, start: int, end: int) -> int:
    """Where to end so that no word is cut, if there are blanks at all."""
    blank = max(text.rfind(" ", start, end + 1), text.rfind("\n", start, end + 1))
    return blank if blank > start + _LENGTH // 2 else end
