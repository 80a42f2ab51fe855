"""Choose the lines of a page to show for a query."""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Sequence

from .._text.terms import Term, split_terms

_LENGTH = 300  # characters of a snippet
_LEAD = 80  # characters that a snippet may begin earlier, at the start of a sentence

# All repetitions are bounded: pages may be hostile.
_SYNTAX = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"\n]{0,200}\")?\)"  # links and pictures, which leave their text
    r"|^[ \t]{0,20}(?:#{1,6}(?=[ \t])|>|[-*+](?=[ \t])|`{3,}\S{0,40}|~{3,}\S{0,40}|\|?[ \t]{0,4}:?-{3}[-:| \t]*$)"
    r"|\*\*|`|\|",
    re.MULTILINE,
)
_SENTENCE = re.compile(r"[.!?][ \n]+|\n+|[。！？]")  # noqa: RUF001 - the full stops of Chinese and Japanese


def strip_markdown(markdown: str) -> str:
    """Return the text of *markdown* without its syntax and empty lines."""
    text = _SYNTAX.sub(lambda mark: mark[1] or ("" if mark[0] in {"**", "`"} else " "), markdown)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(filter(None, lines))


def make_snippet(text: str, terms: Sequence[str]) -> str:
    """Return about 300 characters of plain text with the most query terms, from the start of a sentence if it is near.

    It has "…" where text is left out at its ends.
    """
    if len(text) <= _LENGTH:
        return " ".join(text.split())
    start = _find_start(text, _find_densest(_find_terms(text, terms)))
    end = min(start + _LENGTH, len(text))
    if end < len(text):
        blank = max(text.rfind(" ", start, end + 1), text.rfind("\n", start, end + 1))
        end = blank if blank > start + _LENGTH // 2 else end  # cut no word, if there is whitespace at all
    shown = " ".join(text[start:end].split())
    return f"{'…' * (start > 0)}{shown}{'…' * (end < len(text))}"


def _find_terms(text: str, terms: Sequence[str]) -> list[Term]:
    forms = {term for term in terms if not term.endswith("*")}
    prefixes = tuple(term[:-1] for term in terms if term.endswith("*"))
    return [word for word in split_terms(text) if word.form in forms or (prefixes and word.form.startswith(prefixes))]


def _find_densest(found: list[Term]) -> int:
    """Return the start of the window with the most terms; each counts once, and more if rare on this page."""
    weights = {form: 1 / count for form, count in Counter(word.form for word in found).items()}
    inside: Counter[str] = Counter()
    best, best_weight, weight, first = 0, 0.0, 0.0, 0
    for word in found:
        inside[word.form] += 1
        weight += weights[word.form] * (inside[word.form] == 1)
        while word.end - found[first].start > _LENGTH - _LEAD:
            left = found[first].form
            inside[left] -= 1
            weight -= weights[left] * (inside[left] == 0)
            first += 1
        if weight > best_weight + 1e-9:
            best, best_weight = found[first].start, weight
    return best


def _find_start(text: str, place: int) -> int:
    """Return the start of the sentence around *place*, or else of a word shortly before it."""
    earliest = max(0, place - _LEAD)
    if earliest == 0:
        return 0
    starts = [mark.end() for mark in _SENTENCE.finditer(text, earliest, place)]
    if starts:
        return starts[-1]
    blank = text.find(" ", place - _LEAD // 2, place)
    return blank + 1 if blank >= 0 else place
