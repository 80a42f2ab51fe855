"""Find what a text denies, to compare a claim with its source: words for "not", and the words around each of them."""

from __future__ import annotations
import re
from bisect import bisect_left, bisect_right

from .._text.terms import MARKS, UNSPACED, split_terms
from ._numerals import TABLES, list_words

_ALONE = "|".join(sorted(list_words(" ".join(TABLES["negations"])), key=len, reverse=True))
_OTHERS = "|".join(list_words(TABLES["no negations"]))  # "not only", and words that begin alike
_LETTER = rf"[\w{MARKS}]"
_NEGATION = re.compile(
    rf"(?<!{_LETTER})(?:(?:{_OTHERS})|(?P<alone>{_ALONE}))(?!{_LETTER})|(?P<part>{TABLES['negating parts']})",
    re.IGNORECASE,
)
_MAX_LENGTH = 4_000  # characters
_BEFORE, _AFTER = 2, 3  # words that it may deny: verbs stand at the end in Turkish and Hindi
_PER_WORD = 3  # characters, in a script without spaces
_MIN_LETTERS = 3  # of a word in ASCII: shorter ones are articles and prepositions
_MOSTLY = 0.6  # share of the words around a negation that a claim has, if it speaks of the same


class Negations:
    """The negations of a text, each with the words around it."""

    def __init__(self, text: str) -> None:
        text = text[:_MAX_LENGTH]
        terms = [one for one in split_terms(text) if len(one.form) >= _MIN_LETTERS or not one.form.isascii()]
        starts, ends = [term.start for term in terms], [term.end for term in terms]
        self._forms = {term.form for term in terms}
        self._scopes: list[tuple[str, frozenset[str]]] = []
        for found in _NEGATION.finditer(text):
            if word := found["alone"] or found["part"]:
                size = _PER_WORD if re.match(f"[{UNSPACED}]", word) else 1
                last, first = bisect_right(ends, found.start()), bisect_left(starts, found.end())
                around = *terms[max(0, last - _BEFORE * size) : last], *terms[first : first + _AFTER * size]
                self._scopes.append((word, frozenset(term.form for term in around)))

    def differ(self, source: Negations) -> str:
        """Return a word for a negation that only one of this claim and its *source* has; empty if there is none."""
        for word, scope in self._scopes:
            if not any(scope & other for _, other in source._scopes):
                return word
        for word, scope in source._scopes:
            if len(scope & self._forms) >= _MOSTLY * len(scope) and not any(scope & other for _, other in self._scopes):
                return word
        return ""
