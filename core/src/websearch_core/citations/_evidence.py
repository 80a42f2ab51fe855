"""
Measure how much of a claim stands in what was shown of a source. Words are compared, not meanings.

A claim is split into terms (see `websearch_core._text.terms`, which needs no language), figures, names and quotations.
The evidence of a source is the run of up to three sentences that covers the claim best, with terms that are rare in all
sources counting more. The constants were chosen on one half of XQuAD; ``docs/measured/citations.md`` reports the other.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from .._text.dates import find_dates
from .._text.sentences import split_sentences
from .._text.terms import split_terms
from ._figures import Figure, find_figures

_RUN = 3  # sentences that may support a claim together
_LONGER = 0.15  # share of a claim that another sentence has to add
_NEAR = 0.75  # weight of the best run; the rest is that of the whole text
_SHORT = 3  # letters of a word that is likely to be a preposition or an article
_SHORT_WEIGHT = 0.5
_PREFIX_WEIGHT = 0.8  # of a term that only begins alike, as an inflected one does
_NAME_WEIGHT = 2.0
_ELSEWHERE = 0.85  # factor for a figure that is in the text, but not near
_MISSING_FIGURE = 0.3
_MISSING_NAME = 0.6
_MISSING_NOUN = 0.75  # in a language that capitalizes all nouns
_MISSING_QUOTE = 0.5
_MIN_QUOTE = 3  # words

_LEFT_OUT = re.compile(r"^\s*\[\.\.\. .{0,200} \.\.\.\]\s*$", re.MULTILINE)  # a mark of an excerpt
_BLANK = re.compile(r"\n{3,}")
_QUOTE = re.compile(r"[\"“„«»「『]([^\"“”„«»「」『』\n]{8,300})[\"”“»«」』]")
_CAPITALIZED = re.compile(r"(?<![.!?] )(?<!^)\b([^\W\d_])[^\W\d_]+", re.MULTILINE)  # within a sentence
_USUAL_CAPITALS = 0.25  # share of capitalized words above which they are not names: German writes all nouns so


class Claim:
    """What a sentence says: its terms, figures, names and quotations."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.figures = list(find_figures(text))
        inside = [(figure.start, figure.end) for figure in self.figures]
        words = [term for term in split_terms(text) if not any(a <= term.start < b for a, b in inside)]
        first = words[0].start if words else -1
        self.names = {
            term.form: text[term.start : term.end]
            for term in words
            if term.start != first and text[term.start : term.end][:1].isupper()
        }
        self.terms = dict.fromkeys(term.form for term in words)
        self.quotes = [quote[1].strip() for quote in _QUOTE.finditer(text) if _is_long(quote[1])]


class Support(NamedTuple):
    """
    How well a text supports a claim.

    Args:
        score: From 0 to 1.
        passage: The sentences that support it best.
        missing: The figures, names and quotations that are not in the text, as the claim has them.

    """

    score: float
    passage: str
    missing: tuple[str, ...]


class Evidence:
    """What was shown of one source."""

    def __init__(self, text: str) -> None:
        self.text = _BLANK.sub("\n\n", _LEFT_OUT.sub("", text))
        self.capitals = Counter(found[1].isupper() for found in _CAPITALIZED.finditer(self.text))
        self.spans = list(split_sentences(self.text))
        sentences = [self.text[start:end] for start, end in self.spans]
        self.forms = [{term.form for term in split_terms(sentence)} for sentence in sentences]
        self.figures = list(map(_values, sentences))

    @cached_property
    def folded(self) -> str:
        """The terms of the whole text, to look up quotations."""
        return f" {' '.join(term.form for term in split_terms(self.text))} "

    def support(self, claim: Claim, weights: Weights) -> Support:
        """Return how well this text supports *claim*."""
        wanted = {form: weights.of(form, name=form in claim.names) for form in claim.terms}
        total = sum(wanted.values())
        everything = _found(wanted, set().union(*self.forms))
        best, best_run = -1.0, (0, 0)
        credit = [_found(wanted, forms) for forms in self.forms]
        for first in range(len(self.spans)):
            run: dict[str, float] = {}
            for after in range(first + 1, min(first + _RUN, len(self.spans)) + 1):
                for form, share in credit[after - 1].items():
                    run[form] = max(run.get(form, 0.0), share)
                figures = set().union(*self.figures[first:after])
                here = _sum(run, wanted) + sum(_has(figure, figures) for figure in claim.figures) * 2
                here -= _LONGER * total * (after - first)
                if here > best:
                    best, best_run = here, (first, after)
        first, after = best_run
        passage = self.text[self.spans[first][0] : self.spans[after - 1][1]].strip() if after else ""
        near = _sum(_found(wanted, set().union(*self.forms[slice(*best_run)])), wanted)
        score = (_NEAR * near + (1 - _NEAR) * _sum(everything, wanted)) / total if total else 1.0
        factor, missing = self._check_facts(claim, weights, everything, set().union(*self.figures[slice(*best_run)]))
        return Support(score * factor, passage, missing)

    def _check_facts(
        self, claim: Claim, weights: Weights, found: Mapping[str, float], near: set[str]
    ) -> tuple[float, tuple[str, ...]]:
        factor, missing = 1.0, []
        everywhere = set().union(*self.figures)
        for figure in claim.figures:
            if not _has(figure, everywhere):
                factor *= _MISSING_FIGURE
                missing.append(figure.text)
            elif not _has(figure, near):
                factor *= _ELSEWHERE
        for form, name in claim.names.items():
            if form not in found:
                factor *= _MISSING_NAME if weights.capitals_are_names else _MISSING_NOUN
                missing += [name] if weights.capitals_are_names else []
        for quote in claim.quotes:
            if f" {' '.join(term.form for term in split_terms(quote))} " not in self.folded:
                factor *= _MISSING_QUOTE
                missing.append(quote)
        return factor, tuple(dict.fromkeys(missing))


class Weights:
    """How much each term says, by how many sentences of all sources have it."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        evidence = list(evidence)
        capitals = sum((one.capitals for one in evidence), Counter[bool]())
        self.capitals_are_names = capitals[True] <= _USUAL_CAPITALS * capitals.total()
        sentences = [forms for one in evidence for forms in one.forms]
        self._count = len(sentences)
        self._having = Counter(form for forms in sentences for form in forms)

    def of(self, form: str, *, name: bool) -> float:
        """Return the weight of a term."""
        having = self._having.get(form, 0)
        rarity = math.log(1 + (self._count + 1) / (having + 0.5))
        short = form.isascii() and len(form) <= _SHORT
        return rarity * (_NAME_WEIGHT if name else _SHORT_WEIGHT if short else 1.0)


def _values(sentence: str) -> set[str]:
    figures = {value for figure in find_figures(sentence) for value in _marked(figure)}
    for date, _, _ in find_dates(sentence):
        figures |= {str(date.year), str(date.month), str(date.day)}
    return figures


def _marked(figure: Figure) -> Iterable[str]:
    """Return the values of a figure in a source: of a percentage also with the sign."""
    return [*figure.values, *(f"{value}%" for value in figure.values if figure.percent)]


def _has(figure: Figure, values: set[str]) -> bool:
    """Return whether *values* have a figure of a claim; a percentage must be one."""
    return any((f"{value}%" if figure.percent else value) in values for value in figure.values)


def _found(wanted: Mapping[str, float], forms: set[str]) -> dict[str, float]:
    """Return which terms are among *forms*, each with its share: 1, or less if it only begins alike."""
    found = {form: 1.0 for form in wanted if form in forms}
    beginnings = {form[: _stem_length(form)] for form in forms if len(form) > _SHORT}
    for form in wanted:
        if form not in found and len(form) > _SHORT and form[: _stem_length(form)] in beginnings:
            found[form] = _PREFIX_WEIGHT
    return found


def _stem_length(form: str) -> int:
    return max(_SHORT, len(form) - 2)


def _sum(found: Mapping[str, float], wanted: Mapping[str, float]) -> float:
    return sum(wanted[form] * share for form, share in found.items())


def _is_long(quote: str) -> bool:
    return sum(1 for _ in zip(split_terms(quote), range(_MIN_QUOTE), strict=False)) == _MIN_QUOTE
