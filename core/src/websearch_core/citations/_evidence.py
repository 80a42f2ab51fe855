"""Measure how much of a claim stands in what was shown of a source. Words are compared,
not meanings.

A claim is split into terms (see `websearch_core._text.terms`, which needs no language),
figures, names and quotations. The evidence of a source is the run of up to three
sentences that covers the claim best, with terms that are rare in all sources counting
more. The constants were chosen on one half of XQuAD, and
``benchmarks/results/citations.md`` reports the other.
"""

from __future__ import annotations
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import islice
from typing import NamedTuple

from .._text.terms import Term, split_terms
from ._claims import Words, join_sentences
from ._days import find_days
from ._figures import DAY, MONTH, PERCENT, UNITS, Figure, find_figures, is_same
from ._negations import Negations
from ._notation import Notation, find_notation

_RUN = 3  # sentences that may support a claim together
_LONGER = 0.15  # share of a claim that another sentence has to add
_NEAR = 0.75  # weight of the best run; the rest is that of the whole text
_SHORT = 3  # letters of a word that is likely to be a preposition or an article
_SHORT_WEIGHT = 0.5
_PREFIX_WEIGHT = 0.8  # of a term that only begins alike, as an inflected one does
_NAME_WEIGHT = 2.0
_ELSEWHERE = 0.5  # factor for a figure that no sentence with any of the words has
_MISSING_FIGURE = 0.05
_MISSING_NAME = 0.6
_MISSING_NOUN = 0.75  # in a language that capitalizes all nouns
_MISSING_QUOTE = 0.5
_MIN_QUOTE = 3  # words
_NOWHERE = -1.0
_ONLY_WITH_UNIT = {PERCENT, MONTH, DAY}  # a number alone says nothing of it
_SCALED = "~"  # after a value that a scale follows in the source

# characters: what is shorter, such as "A. B! C?", is one with what follows
_MIN_SENTENCE = 40
# characters of a source that are searched; a claim has at most _MAX_CLAIM
MAX_LENGTH = 200_000
_MAX_CLAIM = 2_000

# a mark of an excerpt
_LEFT_OUT = re.compile(r"^[ \t]*\[\.\.\. .{0,200} \.\.\.\][ \t]*$", re.MULTILINE)
_BLANK = re.compile(r"\n{3,}")
_QUOTE = re.compile(r"[\"“„«»「『]([^\"“”„«»「」『』\n]{8,300})[\"”“»«」』]")
# within a sentence
_CAPITALIZED = re.compile(r"(?<![.!?] )(?<!^)\b([^\W\d_])[^\W\d_]+", re.MULTILINE)
# share of capitalized words above which they are not names: German writes all nouns so
_USUAL_CAPITALS = 0.25


class Claim:
    """What a sentence says: its terms, figures, names and quotations."""

    def __init__(self, text: str, notation: Notation | None = None) -> None:
        text = text[:_MAX_CLAIM]
        self.notation = notation or find_notation(text)
        self.figures = find_figures(text, self.notation)
        inside: set[int] = set()  # the positions of figures
        for figure in self.figures:
            inside.update(range(figure.start, figure.end))
        terms = split_terms(text)
        words = [term for term in terms if term.start not in inside]
        self.names: dict[str, str] = {}
        for word in words[1:]:
            name = text[word.start : word.end]
            if word.start == words[0].start:
                continue
            if name[:1].isupper() and not _is_unit(text, word):
                self.names[word.form] = name
        self.terms = dict.fromkeys(word.form for word in words)
        self.negations = Negations(text)
        self.quotes: list[str] = []
        for match in _QUOTE.finditer(text):
            quote = match[1].strip()
            if _is_long_enough(quote):
                self.quotes.append(quote)


def _is_unit(text: str, word: Term) -> bool:
    """Return whether a word with a capital is a unit: "°C", "MW"."""
    if text[word.start - 1] == "°":
        return True
    name = text[word.start : word.end]
    return name.lower() in UNITS


def _is_long_enough(quote: str) -> bool:
    words = islice(split_terms(quote), _MIN_QUOTE)
    return len(list(words)) == _MIN_QUOTE


class Support(NamedTuple):
    """How well a text supports a claim."""

    score: float  # from 0 to 1
    passage: str  # the sentences that support it best
    # the figures, names and quotations that are not in the text, as the claim has them
    missing: tuple[str, ...]
    share: float  # how much of the words and names is in the text
    near: Found  # what the passage has of the claim
    quoted: frozenset[str]  # the quotations that are in the text
    # for each figure, how well its best sentence fits, compared with any; `_NOWHERE` if
    # none
    fits: list[float]
    negation: str = ""  # a word for it that only one of the claim and the passage has


class Evidence:
    """What was shown of one source."""

    def __init__(self, text: str) -> None:
        text = _LEFT_OUT.sub("", text[:MAX_LENGTH])
        self.text = _BLANK.sub("\n\n", text)
        words = _CAPITALIZED.finditer(self.text)
        self.capitals = Counter(word[1].isupper() for word in words)
        self.notation = find_notation(self.text)
        short_words = Words([self.text])
        self.spans = list(join_sentences(self.text, short_words))
        if len(self.spans) * _MIN_SENTENCE > len(self.text):
            self.spans = list(_join_short(self.spans))
        self.sentences_with: dict[str, list[int]] = {}
        self._beginning: dict[str, list[int]] = {}
        self._stating: dict[str, list[int]] = {}
        self._counting: set[int] = set()  # sentences with a number in words
        self._measured: dict[str, list[tuple[Figure, float, int]]] = {}
        for n, (start, end) in enumerate(self.spans):
            sentence = self.text[start:end]
            self._add_terms(n, sentence)
            self._add_figures(n, sentence)

    def _add_terms(self, n: int, sentence: str) -> None:
        """Note which terms the sentence with the number *n* has."""
        forms = {term.form for term in split_terms(sentence)}
        stems: set[str] = set()
        for form in forms:
            self.sentences_with.setdefault(form, []).append(n)
            if len(form) > _SHORT:
                stems.add(_find_stem(form))
        for stem in stems:
            self._beginning.setdefault(stem, []).append(n)

    def _add_figures(self, n: int, sentence: str) -> None:
        """Note which figures it has."""
        figures = find_figures(sentence, self.notation)
        for value in _list_stated(figures, sentence):
            self._stating.setdefault(value, []).append(n)
        for figure in figures:
            if figure.is_count:
                self._counting.add(n)
            measured = self._measured.setdefault(figure.kind, [])
            for amount in figure.amounts(self.notation.decimal):
                measured.append((figure, amount, n))

    @cached_property
    def folded(self) -> str:
        """The terms of the whole text, to look up quotations."""
        return f" {_fold(self.text)} "

    def support(self, claim: Claim, weights: Weights) -> Support:
        """Return how well this text supports *claim*."""
        values = _Values(claim, weights)
        by_sentence = self._find(claim)
        run = self._find_run(by_sentence, values)
        passage = ""
        if run:
            begin = self.spans[run[0]][0]
            end = self.spans[run[-1]][1]
            passage = self.text[begin:end].strip()
        near = _join(by_sentence.get(n, Found()) for n in run)
        quoted = frozenset(filter(self._quotes, claim.quotes))
        counts = not self._counting.isdisjoint(run)
        fits = _rate_figures(claim, values, by_sentence, counts=counts)
        everything = _join(by_sentence.values())
        support = _judge(claim, values, near, everything, quoted=quoted, fits=fits)
        negation = claim.negations.differ(Negations(passage))
        return support._replace(passage=passage, negation=negation)

    def _quotes(self, quote: str) -> bool:
        """Return whether the text has a quotation, word for word."""
        return f" {_fold(quote)} " in self.folded

    # Measured: for each sentence that has something of the claim, the runs of one to
    # three sentences that begin with it. One with nothing of the claim begins no run:
    # it would only make it longer.
    def _find_run(self, by_sentence: Mapping[int, Found], values: _Values) -> range:
        """Return the numbers of the sentences that cover the claim best."""
        best = -1.0
        run = range(0)
        if not self.spans:
            return run
        price = _LONGER * values.total
        for first in (0, *sorted(by_sentence)):
            here = Found()
            last = min(first + _RUN, len(self.spans))
            for after in range(first + 1, last + 1):
                here = here.join(by_sentence.get(after - 1, Found()))
                gain = values.of(here)
                gain += here.figures.bit_count() * 2
                gain -= price * (after - first)
                if gain > best:
                    best = gain
                    run = range(first, after)
        return run

    # Measured: for each sentence the bits of the terms that it has, of those that only
    # begin alike, and of the figures.
    def _find(self, claim: Claim) -> dict[int, Found]:
        """Return what each sentence has of *claim*, for those that have any of it."""
        exact: dict[int, int] = {}
        alike: dict[int, int] = {}
        figures: dict[int, int] = {}
        for n, form in enumerate(claim.terms):
            bit = 1 << n
            for sentence in self.sentences_with.get(form, ()):
                exact[sentence] = exact.get(sentence, 0) | bit
            if len(form) <= _SHORT:
                continue
            for sentence in self._beginning.get(_find_stem(form), ()):
                alike[sentence] = alike.get(sentence, 0) | bit
        for n, figure in enumerate(claim.figures):
            bit = 1 << n
            sentences = self._find_stating(figure, claim.notation)
            for sentence in sentences:
                figures[sentence] = figures.get(sentence, 0) | bit
        by_sentence: dict[int, Found] = {}
        for n in {*exact, *alike, *figures}:
            by_sentence[n] = Found(
                exact=exact.get(n, 0),
                alike=alike.get(n, 0),
                figures=figures.get(n, 0),
            )
        return by_sentence

    def _find_stating(self, figure: Figure, notation: Notation) -> Iterator[int]:
        """Yield the sentences that state what a figure states, in any unit."""
        for value in self._list_wanted(figure):
            yield from self._stating.get(value, ())
        yield from self._find_converted(figure, notation)

    def _list_wanted(self, figure: Figure) -> Iterable[str]:
        """Return what a source must state one of, for a figure of a claim.

        If its month is nowhere here, that is missing, and not the day beside it.
        """
        if figure.kind != DAY:
            return _list_wanted(figure)
        statements: list[str] = []
        for value in figure.values:
            month = value.partition("-")[0]
            day = value.partition("-")[2]
            if f"{month} {MONTH}" in self._stating:
                day = value
            statements.append(f"{day} {DAY}")
        return statements

    def _find_converted(self, figure: Figure, notation: Notation) -> Iterator[int]:
        """Yield the sentences that state what a figure states, in another unit.

        *notation* is that of the claim. Where nothing tells how a text writes
        fractions, two figures with the same digits are the same number, which cannot be
        the same in two units.
        """
        decimal = notation.decimal or self.notation.decimal
        is_clear = bool(self.notation.decimal)
        amounts = figure.amounts(decimal)
        if not amounts:
            return
        same_unit: set[int] = set()  # sentences: "340 miles (547 km)" is not 343 miles
        converted: list[int] = []
        for other, amount, sentence in self._measured.get(figure.kind, ()):
            is_number = bool(other.digits) and other.digits == figure.digits
            if is_number and not is_clear:
                continue
            if not _is_among(amount, amounts, figure.kind):
                continue
            if other.factor == figure.factor:
                same_unit.add(sentence)
            else:
                converted.append(sentence)
        for sentence in converted:
            if sentence not in same_unit:
                yield sentence


def _is_among(amount: float, amounts: Iterable[float], kind: str) -> bool:
    return any(is_same(amount, other, kind) for other in amounts)


def support_together(
    claim: Claim, weights: Weights, supports: Sequence[Support]
) -> Support:
    """Return how well several sources support *claim* together, if each supports a part
    of it.
    """
    near = _join(support.near for support in supports)
    values = _Values(claim, weights)
    quoted: set[str] = set()
    for support in supports:
        quoted |= support.quoted
    by_source = [support.fits for support in supports]
    by_figure = zip(*by_source, strict=True)
    fits = list(map(max, by_figure))
    return _judge(claim, values, near, near, quoted=frozenset(quoted), fits=fits)


def _rate_figures(
    claim: Claim, values: _Values, by_sentence: Mapping[int, Found], *, counts: bool
) -> list[float]:
    """Return for each figure how well the best sentence with it fits the words of the
    claim, compared with any.

    The number of things that a source only lists is nowhere in it, unless it *counts*
    other things.
    """
    worth: dict[int, float] = {}
    for n, part in by_sentence.items():
        worth[n] = values.of(part)
    best = max(worth.values(), default=0.0)
    fits: list[float] = []
    for number, figure in enumerate(claim.figures):
        bit = 1 << number
        having: list[float] = []
        for n, part in by_sentence.items():
            if part.figures & bit:
                having.append(worth[n])
        fit = 1.0
        if having and best:
            fit = max(having) / best
        is_only_listed = figure.is_count and not counts
        if not having and not is_only_listed:
            fit = _NOWHERE
        fits.append(fit)
    return fits


def _judge(
    claim: Claim,
    values: _Values,
    near: Found,
    everything: Found,
    *,
    quoted: frozenset[str],
    fits: list[float],
) -> Support:
    score = 1.0
    if values.total:
        worth = _NEAR * values.of(near)
        worth += (1 - _NEAR) * values.of(everything)
        score = worth / values.total
    doubt = 1.0
    missing = []
    for figure, fit in zip(claim.figures, fits, strict=True):
        if fit == _NOWHERE:
            doubt *= _MISSING_FIGURE
            missing.append(figure.text)
        else:
            doubt *= _ELSEWHERE + (1 - _ELSEWHERE) * fit
    bits = everything.exact | everything.alike
    here = _list_terms(claim, bits)
    for form, name in claim.names.items():
        if form in here:
            continue
        if values.capitals_are_names:
            score *= _MISSING_NAME
            missing.append(name)
        else:
            score *= _MISSING_NOUN
    for quote in claim.quotes:
        if quote not in quoted:
            score *= _MISSING_QUOTE
            missing.append(quote)
    distinct = tuple(dict.fromkeys(missing))
    return Support(
        score=score * doubt,
        passage="",
        missing=distinct,
        share=score,
        near=near,
        quoted=quoted,
        fits=fits,
    )


def _list_terms(claim: Claim, bits: int) -> set[str]:
    """Return the terms of a claim that *bits* stand for."""
    terms: set[str] = set()
    for n, form in enumerate(claim.terms):
        if bits >> n & 1:
            terms.add(form)
    return terms


class Weights:
    """How much each term says, by how many sentences of all sources have it."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        capitals: Counter[bool] = Counter()
        self._count = 0  # sentences
        self._having: Counter[str] = Counter()  # of these, by term
        for source in evidence:
            capitals += source.capitals
            self._count += len(source.spans)
            for form, sentences in source.sentences_with.items():
                self._having[form] += len(sentences)
        limit = _USUAL_CAPITALS * capitals.total()
        self.capitals_are_names = capitals[True] <= limit

    def of(self, form: str, *, name: bool) -> float:
        """Return the weight of a term."""
        having = self._having.get(form, 0) + 0.5
        rarity = math.log(1 + (self._count + 1) / having)
        if name:
            return rarity * _NAME_WEIGHT
        if form.isascii() and len(form) <= _SHORT:
            return rarity * _SHORT_WEIGHT
        return rarity


def _list_stated(figures: Iterable[Figure], sentence: str) -> set[str]:
    """Return what the figures of a sentence of a source state: their values alone, and
    with the unit.
    """
    statements: set[str] = set()
    for figure in figures:
        values = set(figure.values)
        if figure.scale > 1:
            values |= {f"{value}{_SCALED}" for value in figure.unscaled}
        statements |= {f"{value} {figure.unit}" for value in values}
        if figure.kind not in _ONLY_WITH_UNIT:
            statements |= values
    for day in find_days(sentence):
        for value in day.days:
            number = value.partition("-")[2]
            statements.add(f"{value} {DAY}")
            statements.add(f"{number} {DAY}")
    return statements


def _list_wanted(figure: Figure) -> Iterable[str]:
    """Return what a source must state one of, for a figure of a claim.

    "4.2" may be "4.2 million", and the other way round, since the scale may stand in
    the head of a table; so may the unit. If both have a scale or a unit, what they say
    together must be the same.
    """
    other_scale = {f"{value}{_SCALED}" for value in figure.values}
    if figure.scale > 1:
        other_scale = set(figure.unscaled)
    if not figure.kind:
        return figure.values | other_scale
    statements = {f"{value} {figure.unit}" for value in figure.values}
    if not figure.is_physical:  # beside a unit such as km there is no such head
        statements |= {f"{value} {figure.unit}" for value in other_scale}
    if figure.kind not in _ONLY_WITH_UNIT:
        statements |= {f"{value} " for value in figure.values | other_scale}
    return statements


class Found(NamedTuple):
    """What some sentences have of a claim: its terms, terms that begin alike, and
    figures, as bits.
    """

    exact: int = 0
    alike: int = 0
    figures: int = 0

    def join(self, other: Found) -> Found:
        """Return what both have together."""
        return Found(
            self.exact | other.exact,
            self.alike | other.alike,
            self.figures | other.figures,
        )


class _Values:
    """What the terms of a claim are worth; less if they only begin alike."""

    def __init__(self, claim: Claim, weights: Weights) -> None:
        self._weights: list[float] = []
        for form in claim.terms:
            is_name = form in claim.names
            self._weights.append(weights.of(form, name=is_name))
        self._worth: dict[tuple[int, int], float] = {}
        self.total = sum(self._weights)
        self.capitals_are_names = weights.capitals_are_names

    def of(self, part: Found) -> float:
        exact = part.exact
        alike = part.alike & ~exact
        worth = self._worth.get((exact, alike))
        if worth is None:
            worth = self._sum(exact)
            worth += _PREFIX_WEIGHT * self._sum(alike)
            self._worth[exact, alike] = worth
        return worth

    def _sum(self, bits: int) -> float:
        total = 0.0
        for weight in self._weights:
            if bits & 1:
                total += weight
            bits >>= 1
        return total


def _join(parts: Iterable[Found]) -> Found:
    return reduce(Found.join, parts, Found())


def _join_short(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join each short sentence with the next ones, so that their number is bounded by
    the length of the text.
    """
    begin = -1  # of those that are not long enough yet; -1 for none
    end = 0
    for start, end in spans:
        if begin < 0:
            begin = start
        if end - begin >= _MIN_SENTENCE:
            yield begin, end
            begin = -1
    if begin >= 0:
        yield begin, end


def _fold(text: str) -> str:
    return " ".join(term.form for term in split_terms(text))


def _find_stem(form: str) -> str:
    length = max(_SHORT, len(form) - 2)
    return form[:length]
