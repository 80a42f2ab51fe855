"""Pick the passages of a page that answer a question.

Sentences are packed into passages of about 600 characters within a section and ranked
by BM25 over the terms of `websearch_core._text.terms`. A passage also counts the words
of the headings above it, and of the header of its table. The best passages that fit are
shown in the order of the page; a part of the room is for those outside the main text.
What a question asks for counts as one of its words (`asked`), and its words count twice
in a short line that has this, or in a row: the list of ingredients comes before the
prose about them. Function words count half. There is no model and no network;
``benchmarks/reading/passages.py`` measures how often the answer is kept, and
``benchmarks/facts`` how often a fact is.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain, pairwise

from ..._text.bm25 import Question, score_counts
from ..._text.terms import list_terms
from ...errors import InvalidOption
from ...models import Page
from .asked import kinds_asked, kinds_stated, words_aside
from .beside import is_notice
from .compose import Composer, quote
from .pieces import TARGET, Piece, Span
from .window import Cut, beyond, cut_window

_LENGTH = 600  # characters of a passage
_ENOUGH = 0.25  # of _LENGTH: a paragraph this long is a passage by itself
# characters: outside the main text, a paragraph has all that stands together
_ENOUGH_BESIDE = 80
_ASIDE = 0.5  # of a word, for one that says little about what is asked
# of an excerpt: what passages outside the main text get before those in it
_BESIDE = 0.4
_MAX_BESIDE = 2_400  # characters of them, however large the excerpt is
_MAX_LINE_LENGTH = 120  # characters of an item, a row or another line
_LABEL = ": "  # after it, what it names
_MIN_WORDS = 4  # of a question or a title that stands on a page as it was asked
_NOT_WORDS = re.compile(r"(?:[^\w\n]|_)+")  # of a line
_FAINT = 0.2  # of the best score: a passage below it is not an answer
# Words without a space between them, mostly names in elements of their own:
# "EmberLamp", "SKFBearing".
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# is in all of the following; quicker
_SEAM = re.compile(r"[A-Z](?:(?<=[a-z][A-Z])|(?<=[A-Z]{2})(?=[a-z]))")
_GLUED = re.compile(
    r"(?<![^\W_])(?:[a-z]+|[A-Z](?:[A-Z]+(?=[A-Z][a-z])|[a-z]+))[A-Z][^\W_]+"
)


def by_query(
    page: Page,
    query: str,
    offset: int,
    about: int,
    passages_by: Callable[[str, Sequence[str]], Sequence[float]] | None = None,
    *,
    marks_offsets: bool = True,
) -> Cut:
    """Rank the passages of a whole page from *offset* on, once, when *about* so many
    characters will fit.

    Returns a function that takes the number of characters that fit, marks included, and
    returns the page with the best passages, in the order of the page. Marks between
    them say how much text is left out, at which ``offset`` the next passage begins
    (unless *marks_offsets* is false), and under which headings. The main text is shown
    whole if it fits beside the best passages outside it. If no passage has a word of
    the query, the content is the beginning of the page, and a note says so. If
    *passages_by* is given, it scores the passages, from the query and their texts.
    """
    whole = max(_LENGTH, about // 2)
    source = Composer(page, offset, whole, marks_offsets=marks_offsets)
    length = min(_LENGTH, max(1, about // 3))
    runs = list(_packed(source, length, about * 3 // 4))
    if passages_by is None:
        ranking = _Ranking(source, query).order(runs)
    else:
        texts = [source.text_of(run).strip() for run in runs]
        scores = list(passages_by(query, texts))
        if len(scores) != len(runs):
            raise InvalidOption(
                "passages_by: must return one number for each passage: there are "
                f"{len(runs)}, and it returned {len(scores)}"
            )
        ranking = _order(runs, scores)
    return _Picker(query, source, ranking).cut


def _order(runs: Sequence[Span], scores: Sequence[float]) -> list[Span]:
    """Return the runs with a score above 0, the highest first."""
    ranks = [(-score, n) for n, score in enumerate(scores) if score > 0]
    return [runs[n] for _, n in sorted(ranks)]


class _Picker:
    """Picks passages of a page, the best first, for as much room as there is."""

    def __init__(
        self,
        query: str,
        source: Composer,
        ranking: Sequence[Span],
    ) -> None:
        self._query = query
        self._source = source
        self._ranking = ranking
        self._inside = [run for run in ranking if run.first < source.beside]
        self._beside = [run for run in ranking if run.first >= source.beside]

    # Of the room, those beside the main text get a part first; then comes the main
    # text, whole or its best passages; then more of those beside it.
    def cut(self, max_length: int) -> Page:
        """Return the page with the best passages that fit."""
        source = self._source
        outside = self._fill([], self._beside, self._room_beside(max_length))
        room = max_length - self._length(outside)
        if len(source.main) <= room:
            if not outside:
                whole = source.everything(telling=bool(self._ranking))
                return self._noted(beyond(whole))
            chosen = [Span(0, source.beside), *outside]
        elif self._ranking:
            chosen = self._fill(outside, self._inside, max_length)
        else:
            return self._noted(cut_window(source.page, max_length, source.offset))
        limit = min(max_length, _MAX_BESIDE + self._length(chosen))
        chosen = self._fill(chosen, self._beside, limit)
        if chosen:
            return source.excerpt(chosen)
        best = source.pieces[self._ranking[0].first]
        return source.around(best.start, max_length)

    def _room_beside(self, max_length: int) -> int:
        """Return how many characters those outside the main text get first: enough for
        the best if it is not long.

        The best of all comes before any other, wherever it stands.
        """
        room = int(_BESIDE * max_length)
        best_beside = self._length(self._beside[:1])
        if best_beside <= max_length // 2:
            room = max(room, best_beside)
        room = min(room, _MAX_BESIDE)
        best = self._length(self._ranking[:1])
        if best > max_length:
            return room
        is_beside = self._beside[:1] == self._ranking[:1]
        if is_beside:
            return max(room, best)
        return min(room, max_length - best)

    def _fill(
        self,
        begun: Sequence[Span],
        ranking: Sequence[Span],
        max_length: int,
    ) -> list[Span]:
        """Add runs to those *begun* with, best first, as long as the excerpt fits."""
        chosen = list(begun)
        added = 0  # characters, without marks
        for run in ranking:
            if run in begun:
                continue
            text = self._source.text_of(run)
            length = len(text.strip())
            if added + length > max_length:
                continue
            if self._length([*chosen, run]) <= max_length:
                chosen.append(run)
                added += length
        return chosen

    def _length(self, runs: Sequence[Span]) -> int:
        """Return how many characters an excerpt of *runs* has."""
        return self._source.excerpt(runs).content_length

    def _noted(self, page: Page) -> Page:
        if not page.content or page.passages:
            return page
        sought = quote(self._query)
        return page.with_notes(
            f"no passage of the page contains a word of the query {sought}"
        )


def _packed(source: Composer, length: int, max_source: int) -> Iterator[Span]:
    """Yield what belongs together: a paragraph, or several short ones of a section,
    with the heading above them.
    """
    pieces = source.pieces
    cuts = source.cuts
    first = 0
    units = _units(source, min(_LENGTH, 3 * length), max_source)
    for before, unit in pairwise(units):
        start = cuts[first]
        cut = cuts[unit.first]
        enough = _ENOUGH * length
        if first >= source.beside:
            enough = _ENOUGH_BESIDE
        begins = pieces[unit.first].leads or unit.first == source.beside
        is_full = cuts[unit.after] - start > length
        ends = False
        if cut - start >= enough:
            last = source.text_of(before)
            ends = "\n\n" in last and last.endswith("\n")  # a paragraph
        if any((begins, ends, is_full)):
            yield Span(first, unit.first)
            first = unit.first
    if pieces:
        yield Span(first, len(pieces))


def _units(source: Composer, length: int, max_source: int) -> Iterator[Span]:
    """Yield each piece with those tied to it: about *length* characters, *max_source*
    with the targets of links.
    """
    first = 0
    cuts = source.cuts
    total = len(source.pieces)
    lengths: list[int] = []
    for start, end in pairwise(cuts):
        text = source.text[start:end]
        lengths.append(len(TARGET.sub("]", text)))
    begins = list(accumulate(lengths, initial=0))  # of the pieces, without targets
    max_source = max(length, max_source)
    for n in range(1, total):
        is_tied = source.pieces[n].tied and n != source.beside
        is_short = begins[n] - begins[first] <= length
        has_room = cuts[n] - cuts[first] <= max_source
        if not all((is_tied, is_short, has_room)):
            yield Span(first, n)
            first = n
    if total:
        yield Span(first, total)


class _Ranking:
    """Ranks runs of the pieces of a page by how well they answer a question."""

    def __init__(self, source: Composer, query: str) -> None:
        self._source = source
        self._question = Question(f"{query} {_names_in(query)}")
        self._kinds = kinds_asked(query)
        self._aside = words_aside(query)
        terms = list_terms(query)
        self._wording = f" {' '.join(terms)} "
        self._is_sentence = len(terms) >= _MIN_WORDS
        self._heading_terms = cache(_terms_of_headings)

    def order(self, runs: Sequence[Span]) -> list[Span]:
        """Return the runs that have a word of the question, best first: those that
        repeat all of it, then by BM25.
        """
        counts: list[dict[str, float]] = []
        lengths: list[int] = []
        repeats: list[bool] = []
        for run in runs:
            text = self._source.text_of(run)
            text = TARGET.sub("]", text)
            terms = list_terms(text)
            lengths.append(len(terms))
            repeats.append(self._is_repeated(terms))
            counts.append(self._count(run, text, terms))
        if self._is_foreign(counts):
            counts = [self._keep_kinds(count) for count in counts]
            lengths = [1] * len(runs)
        scores = score_counts(counts, lengths)
        self._drop_repetitions(runs, scores)
        best = max(scores, default=0.0)
        for n, score in enumerate(scores):
            if score <= best * _FAINT:
                scores[n] = 0.0
            elif repeats[n]:
                scores[n] += best
        return _order(runs, scores)

    def _is_foreign(self, counts: Sequence[Mapping[str, float]]) -> bool:
        """Return whether the page is in another language than the question: it has no
        word of what this is about, and few of its function words.
        """
        forms = self._question.forms
        shared = forms.intersection(chain.from_iterable(counts))
        if not forms - self._aside or shared - self._aside:
            return False
        return 2 * len(shared) < len(forms & self._aside)

    def _keep_kinds(self, count: Mapping[str, float]) -> dict[str, float]:
        return {kind: n for kind, n in count.items() if kind in self._kinds}

    def _is_repeated(self, terms: Sequence[str]) -> bool:
        """Return whether a text with *terms* has the question word by word."""
        return self._is_sentence and self._wording in f" {' '.join(terms)} "

    def _count(
        self,
        run: Span,
        text: str,
        terms: list[str],
    ) -> dict[str, float]:
        """Count the words of the question in a run, whose *text* has these *terms*, and
        in what stands above it.
        """
        last = self._source.pieces[run.after - 1]
        terms = terms + list_terms(_names_in(text))
        terms += self._heading_terms(last.headings)
        if last.frame and _is_row(last):
            terms += list_terms(last.frame.opening)
        weights: dict[str, float] = dict(self._question.count(terms))
        for form in self._aside & weights.keys():
            weights[form] *= _ASIDE
        kinds = kinds_stated(text, self._kinds)
        for kind in kinds:
            weights[kind] = 1
        if kinds or not self._kinds:
            for form in self._forms_beside(run):
                weights[f"{form} beside"] = 1
        return weights

    def _forms_beside(self, run: Span) -> set[str]:
        """Return the words of the question that stand in one short line with what it
        asks for: "2 cups flour"; if this is of no kind, in a row or after a label.
        """
        forms: set[str] = set()
        for piece in self._source.pieces[run.first : run.after]:
            is_row = _is_row(piece)
            is_opening = piece.leads and not is_row
            if is_opening or not self._is_line(piece):
                continue
            text = self._source.text[piece.start : piece.end]
            if piece.leads:
                text = text.partition("\n")[0]
            line = TARGET.sub("]", text)
            if len(line) <= _MAX_LINE_LENGTH and self._states(line, is_row):
                forms.update(self._question.count(list_terms(line)))
        return forms - self._aside

    def _states(self, line: str, is_row: bool) -> bool:
        """Return whether a line has what the question asks for; if this is of no kind,
        whether it names what it states.
        """
        if self._kinds:
            return bool(kinds_stated(line, self._kinds))
        return is_row or _LABEL in line

    def _is_line(self, piece: Piece) -> bool:
        """Return whether a piece is a whole line, not a sentence among others."""
        text = self._source.text
        if not text.endswith("\n", 0, piece.start) and piece.start:
            return False
        return piece.end == len(text) or text.endswith("\n", 0, piece.end)

    def _drop_repetitions(self, runs: Sequence[Span], scores: list[float]) -> None:
        """Set the score of a run to 0 if only what it repeats of the main text answers.

        Outside the main text, short texts of it are repeated to name what stands beside
        them. What is new there has a word of the question, or a kind of thing that it
        asks for. A copyright notice alone repeats whose page it is: only a word that
        the main text lacks is new there.
        """
        source = self._source
        main_lines = set(_bare_lines(source.main))
        for n, run in enumerate(runs):
            if run.first < source.beside or not scores[n]:
                continue
            text = source.text_of(run)
            both = zip(text.splitlines(), _bare_lines(text), strict=True)
            lines = [line for line, bare in both if bare not in main_lines]
            new = "\n".join(lines)
            terms = list_terms(new)
            if all(map(is_notice, lines)):
                new = ""
                terms = [term for term in terms if term not in self._main_terms]
            has_words = self._question.count(terms)
            if not has_words and not kinds_stated(new, self._kinds):
                scores[n] = 0.0

    @cached_property
    def _main_terms(self) -> set[str]:
        return set(list_terms(self._source.main))


def _is_row(piece: Piece) -> bool:
    """Return whether a piece is a row of a table, or its header."""
    return piece.frame is not None and not piece.frame.closing


def _terms_of_headings(headings: tuple[str, ...]) -> list[str]:
    return list_terms(" ".join(headings))


def _bare_lines(text: str) -> list[str]:
    """Return the words of each line of a text."""
    lines = text.splitlines()
    bare = _NOT_WORDS.sub(" ", "\n".join(lines)).split("\n")
    return [line.strip() for line in bare[: len(lines)]]


def _names_in(text: str) -> str:
    """Return the words that stand in *text* without a space between them."""
    if not _SEAM.search(text):
        return ""
    names = _GLUED.findall(text)
    return " ".join(_CASE.sub(" ", name) for name in names)
