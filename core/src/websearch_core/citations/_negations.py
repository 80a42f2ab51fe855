"""Which words of a text are denied."""

from __future__ import annotations
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .._text.terms import MARKS, UNSPACED, Term, split_terms
from ._tables import TABLES, alternate, list_words

_ALONE = alternate(list_words(" ".join(TABLES["negations"])))
# "not only", and words that begin alike
_OTHERS = "|".join(list_words(TABLES["no negations"]))
_LETTER = rf"[\w{MARKS}]"
_NEGATION = re.compile(
    rf"(?<!{_LETTER})(?:(?:{_OTHERS})|(?P<alone>{_ALONE}))(?!{_LETTER})"
    rf"|(?P<part>{TABLES['negating parts']})",
    re.IGNORECASE,
)
# What may stand between two statements: "30 metres long and does not ..."
_BOUNDARY = re.compile(
    rf"[,;:.!?…]|(?<!{_LETTER})(?:{'|'.join(list_words(TABLES['and']))})(?!{_LETTER})",
    re.IGNORECASE,
)
_AUXILIARIES = frozenset(
    term.form for term in split_terms(TABLES["auxiliaries"])
)  # "does not carry" denies "carries"
_MAX_LENGTH = 4_000  # characters
# words that it may deny: verbs stand at the end in Turkish and Hindi
_BEFORE = 2
_AFTER = 3
_PER_WORD = 3  # characters, in a script without spaces
_MIN_LETTERS = 3  # of a word in ASCII: shorter ones are articles and prepositions
_MIN_STEM = 3  # letters that words of one stem begin with
# share of the words around a negation that a claim has, if it speaks of the same
_MOSTLY = 0.6
_NEARLY_ALL = 0.8  # of the words of its own statement, compared by their stems
_FEW = 3  # words of a claim that one word may deny
_DO = frozenset(["do", "does", "did"])


class _Scope(NamedTuple):
    """A negation, and what it may deny."""

    word: str
    around: frozenset[str]  # terms on both sides of it
    # those of its own statement, without auxiliaries: "does not carry" denies "carries"
    own: frozenset[str]

    def is_among(self, scopes: Iterable[_Scope]) -> bool:
        """Return whether one of *scopes* speaks of the same."""
        return any(self.around & scope.around for scope in scopes)


class Negations:
    """The negations of a text, each with the words around it."""

    def __init__(self, text: str) -> None:
        text = text[:_MAX_LENGTH]
        terms = [term for term in split_terms(text) if _has_content(term)]
        self._forms = frozenset(term.form for term in terms)
        self._scopes: list[_Scope] = []
        for match in _NEGATION.finditer(text):
            if match.lastgroup:
                self._scopes.append(_find_scope(text, terms, match))

    def differ(self, source: Negations) -> str:
        """Return a word for a negation that only one of this claim and its *source*
        has; empty if there is none.
        """
        for scope in self._scopes:
            if not scope.is_among(source._scopes):
                return scope.word
        for scope in source._scopes:
            if self._says(scope) and not scope.is_among(self._scopes):
                return scope.word
        return ""

    def _says(self, scope: _Scope) -> bool:
        """Return whether this text says what a source denies."""
        around = scope.around - _DO
        common = around & self._forms
        if around and len(common) >= _MOSTLY * len(around):
            return True
        own = scope.own
        if not own:
            return False
        if len(own) == 1 and len(self._forms) > _FEW:
            return False
        like = sum(_has_like(form, self._forms) for form in own)
        return like >= _NEARLY_ALL * len(own)


def _has_content(term: Term) -> bool:
    return len(term.form) >= _MIN_LETTERS or not term.form.isascii()


def _find_scope(text: str, terms: Sequence[Term], match: re.Match[str]) -> _Scope:
    word = match["alone"] or match["part"]
    size = 1
    if re.match(f"[{UNSPACED}]", word):
        size = _PER_WORD
    last = bisect_right(terms, match.start(), key=_end_of)
    first = bisect_left(terms, match.end(), key=_start_of)
    earliest = max(0, last - _BEFORE * size)
    before = terms[earliest:last]
    after = terms[first : first + _AFTER * size]
    begin = 0
    if before:
        for mark in _BOUNDARY.finditer(text, before[0].start, match.start()):
            begin = mark.end()
    end = len(text)
    if after:
        mark_after = _BOUNDARY.search(text, match.end(), after[-1].start)
        if mark_after:
            end = mark_after.start()
    around = [*before, *after]
    own = [term.form for term in around if begin <= term.start < end]
    return _Scope(
        word,
        frozenset(term.form for term in around),
        frozenset(own) - _AUXILIARIES,
    )


def _end_of(term: Term) -> int:
    return term.end


def _start_of(term: Term) -> int:
    return term.start


def _has_like(form: str, forms: frozenset[str]) -> bool:
    """Return whether *forms* have *form*, or a word of its stem: "carry", "carries"."""
    if form in forms:
        return True
    return any(_is_like(form, other) for other in forms)


def _is_like(form: str, other: str) -> bool:
    shorter = min(len(form), len(other))
    if shorter < _MIN_STEM:
        return False
    stem = max(_MIN_STEM, shorter - 1)
    return form[:stem] == other[:stem]
