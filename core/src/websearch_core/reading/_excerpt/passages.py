"""Pick the passages of a page that answer a question.

Sentences are packed into passages of about 600 characters within a section and ranked
by BM25 over the terms of `websearch_core._text.terms`. A passage also counts the words
of the headings above it, and of the header of its table. The best passages that fit are
shown in the order of the page; a part of the room is for those outside the main text.
An amount of money, a time or a number counts as a word of a question that asks for one,
and so do an address, the number of a telephone, an e-mail address and opening hours, in
the languages of the tests: Arabic, Chinese, English, German, Greek, Hindi, Romanian,
Russian, Spanish, Thai, Turkish and Vietnamese. There is no model and no network;
``benchmarks/reading/passages.py`` measures how often the answer is kept, and
``benchmarks/facts`` how often a fact is.
"""

from __future__ import annotations
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import Any

from ..._text.bm25 import Question, score_counts
from ..._text.money import has_amount
from ..._text.terms import fold, list_terms, query_terms
from ...models import Page
from .compose import Composer, quote
from .pieces import TARGET, Span
from .window import beyond, cut_window

_LENGTH = 600  # characters of a passage
_ENOUGH = 0.25  # of _LENGTH: a paragraph this long is a passage by itself
# characters: outside the main text, a paragraph has all that stands together
_ENOUGH_BESIDE = 40
_ASKS = 0.5  # of a word, for one that only says what is asked for
# of an excerpt: what passages outside the main text get before those in it
_BESIDE = 0.4
_MAX_BESIDE = 2_400  # characters of them, however large the excerpt is
_MIN_WORDS = 4  # of a question or a title that stands on a page as it was asked
_FAINT = 0.2  # of the best score: a passage below it is not an answer
# Words as `fold` returns them, most of them only their beginning; then those of scripts
# without spaces, anywhere.
_ASKING: Any = json.loads(
    files(__package__ or "").joinpath("asking.json").read_text("utf-8")
)
# Words without a space between them, mostly names in elements of their own:
# "EmberLamp", "SKFBearing".
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# is in all of the following; quicker
_SEAM = re.compile(r"[A-Z](?:(?<=[a-z][A-Z])|(?<=[A-Z]{2})(?=[a-z]))")
_GLUED = re.compile(
    r"(?<![^\W_])(?:[a-z]+|[A-Z](?:[A-Z]+(?=[A-Z][a-z])|[a-z]+))[A-Z][^\W_]+"
)
# "5 Main Street", "Hafenstraße 5", "ул. Садовая, 5"
_STREETS = (
    r"\b(?i:street|st\.|road|rd\.|avenue|ave\.|lane|square|strasse|platz|allee)",
    r"\b(?i:calle|avda|plaza|strada|bulevardul)|(?i:stra[sß]s?e|str\.|gasse\b)",
    r"(?i:οδος|οδός|\bул(?:\.|иц)|\bпросп|cadde|sokak|mah\.|\bđường)",  # noqa: RUF001
    r"شارع|मार्ग|ถนน|[路街]\d",
)
# "EC1A 1BB", "10115 Berlin"
_POSTCODES = (
    r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b",
    r"(?<![\d.,])\d{5}(?:-\d{3,4})? [A-ZÀ-Þ][a-zß-ÿ]",
)
# seven digits or more, grouped as people write them, or after a plus or a zero
_DIGITS = r"[ /.\u00a0-]\(?\d{2,5}\)?"
_PHONES = (
    rf"(?<![\w/.,])(?:\+|00)?\(?\d{{1,5}}\)?(?:{_DIGITS}){{2,5}}(?![\w/.,]\d)",
    r"\+\d{8,15}\b|\b0\d{8,11}\b",
)
# from one time of day to another
_HOUR = r"\d{1,2}(?:[:.]\d\d)? ?(?:[ap]\.?m\.?|h|uhr)?"
_TO = "(?:[-–—~至到]|to|bis|until|до|až)"  # noqa: RUF001 - as pages have it
_END_HOUR = r"\d{1,2}(?:[:.]\d\d\b| ?(?:[ap]\.?m\b|uhr|h\b))"
_STATING: dict[str, Callable[[str], object]] = {
    "money": has_amount,
    "time": re.compile(
        r"(?<!\d)(?:1\d|20)\d\d(?!\d)|(?<!\d)\d{1,2}(?::\d{2}|[./]\d{1,2}[./]\d{2})"
        r"|\d{1,2}(?:st|nd|rd|th|\.|º)? [^\W\d_]{3}|[^\W\d_]{3,12}\.? "
        r"\d{1,2}(?!\d)|\d[年月日]|\d ?[ap]\.?m\b"
    ).search,
    "number": re.compile(r"\d").search,
    "address": re.compile("|".join([*_STREETS, *_POSTCODES])).search,
    "phone": re.compile("|".join(_PHONES)).search,
    "email": re.compile(r"[\w+-]@[\w-]+\.[^\W\d_]").search,
    "hours": re.compile(rf"{_HOUR} ?{_TO} ?(?:{_END_HOUR})", re.IGNORECASE).search,
}


def by_query(page: Page, query: str, offset: int, about: int) -> Callable[[int], Page]:
    """Rank the passages of a whole page from *offset* on, once, when *about* so many
    characters will fit.

    Returns a function that takes the number of characters that fit, marks included, and
    returns the page with the best passages, in the order of the page. Marks between
    them say how much text is left out, at which ``offset`` the next passage begins, and
    under which headings. The main text is shown whole if it fits beside the best
    passages outside it. If no passage has a word of the query, the content is the
    beginning of the page, and a note says so.
    """
    source = Composer(page, offset, whole=max(_LENGTH, about // 2))
    runs = list(_packed(source, min(_LENGTH, max(1, about // 3)), about * 3 // 4))
    ranking = _ranking(source, runs, query)
    beside = [run for run in ranking if run.first >= source.beside]
    ranked = [run for run in ranking if run.first < source.beside]

    def room_beside(max_length: int) -> int:
        """Return how many characters those outside the main text get first: enough for
        the best if it is not long.

        The best of all comes before any other, wherever it stands.
        """
        room = int(_BESIDE * max_length)
        best = source.excerpt(beside[:1]).content_length
        if best <= max_length // 2:
            room = max(room, best)
        room = min(room, _MAX_BESIDE)
        first = source.excerpt(ranking[:1]).content_length
        if first > max_length:
            return room
        if beside[:1] == ranking[:1]:
            return max(room, first)
        return min(room, max_length - first)

    def cut(max_length: int) -> Page:
        outside = _filled(source, [], beside, room_beside(max_length))
        room = max_length - source.excerpt(outside).content_length
        if len(source.main) <= room and not outside:
            return _noted(beyond(source.everything(telling=bool(ranking))), query)
        if len(source.main) <= room:
            chosen = [Span(0, source.beside), *outside]
        elif not ranking:
            return _noted(cut_window(page, max_length, offset), query)
        else:
            chosen = _filled(source, outside, ranked, max_length)
        chosen = _filled(
            source,
            chosen,
            beside,
            min(max_length, _MAX_BESIDE + source.excerpt(chosen).content_length),
        )
        if not chosen:
            return source.around(source.pieces[ranking[0].first].start, max_length)
        return source.excerpt(chosen)

    return cut


def _packed(source: Composer, length: int, max_source: int) -> Iterator[Span]:
    """Yield what belongs together: a paragraph, or several short ones of a section,
    with the heading above them.
    """
    pieces = source.pieces
    first = 0
    units = _units(source, min(_LENGTH, 3 * length), max_source)
    for before, unit in pairwise(units):
        start = pieces[first].start
        cut = pieces[unit.first].start
        enough = _ENOUGH * length if first < source.beside else _ENOUGH_BESIDE
        ends = cut - start >= enough and _is_paragraph(
            source.text[pieces[before.first].start : cut]
        )
        begins = pieces[unit.first].leads or unit.first == source.beside
        is_full = pieces[unit.after - 1].end - start > length
        if any((begins, ends, is_full)):
            yield Span(first, unit.first)
            first = unit.first
    if pieces:
        yield Span(first, len(pieces))


def _is_paragraph(text: str) -> bool:
    return "\n\n" in text and text.endswith("\n")


def _units(source: Composer, length: int, max_source: int) -> Iterator[Span]:
    """Yield each piece with those tied to it: about *length* characters, *max_source*
    with the targets of links.
    """
    first = 0
    cuts = source.cuts
    lengths = (
        len(TARGET.sub("]", source.text[start:end])) for start, end in pairwise(cuts)
    )
    begins = [*accumulate(lengths, initial=0)]  # of the pieces, without targets
    max_source = max(length, max_source)
    for n, piece in enumerate(source.pieces):
        if n == 0:
            continue
        is_tied = piece.tied and n != source.beside
        is_short = begins[n] - begins[first] <= length
        has_room = cuts[n] - cuts[first] <= max_source
        if not all((is_tied, is_short, has_room)):
            yield Span(first, n)
            first = n
    if source.pieces:
        yield Span(first, len(source.pieces))


def _ranking(source: Composer, runs: Sequence[Span], query: str) -> list[Span]:
    """Return the runs that have a word of *query*, best first: those that repeat all of
    it, then by BM25.
    """
    question = Question(f"{query} {_names_in(query)}")
    kinds = kinds_asked(query)
    asking = words_asking(query)
    wording = f" {' '.join(list_terms(query))} "
    is_sentence = wording.count(" ") > _MIN_WORDS

    @cache
    def heading_words(headings: tuple[str, ...]) -> list[str]:
        return list_terms(" ".join(headings))

    counts: list[dict[str, float]] = []
    lengths: list[int] = []
    repeats: list[bool] = []
    for run in runs:
        text = TARGET.sub("]", _text_of(source, run))
        terms = list_terms(text)
        lengths.append(len(terms))
        repeats.append(is_sentence and wording in f" {' '.join(terms)} ")
        terms += list_terms(_names_in(text))
        last = source.pieces[run.after - 1]
        terms += heading_words(last.headings)
        if last.frame and not last.frame.closing:
            terms += list_terms(last.frame.opening)
        weights: dict[str, float] = dict(question.count(terms))
        for form in asking & weights.keys():
            weights[form] *= _ASKS
        counts.append(weights | dict.fromkeys(kinds_stated(text, kinds), 1))
    scores = score_counts(counts, lengths)
    _drop_repetitions(source, runs, scores, question, kinds)
    best = max(scores, default=0.0)
    order = sorted(
        (not repeats[n], -scores[n], n)
        for n in range(len(runs))
        if scores[n] > best * _FAINT
    )
    return [runs[n] for *_, n in order]


def _drop_repetitions(
    source: Composer,
    runs: Sequence[Span],
    scores: list[float],
    question: Question,
    kinds: list[str],
) -> None:
    """Set the score of a run to 0 if only what it repeats of the main text answers.

    Outside the main text, short texts of it are repeated to name what stands beside
    them. What is new there has a word of the question, or a kind of thing that it asks
    for.
    """
    main_lines = {_bare_line(line) for line in source.main.splitlines()}
    for n, run in enumerate(runs):
        if run.first < source.beside or not scores[n]:
            continue
        lines = _text_of(source, run).splitlines()
        new = "\n".join(line for line in lines if _bare_line(line) not in main_lines)
        if not question.count(list_terms(new)) and not kinds_stated(new, kinds):
            scores[n] = 0.0


def _text_of(source: Composer, run: Span) -> str:
    start = source.pieces[run.first].start
    end = source.pieces[run.after - 1].end
    return source.text[start:end]


def _bare_line(line: str) -> str:
    return re.sub(r"[\W_]+", " ", line).strip()


def _names_in(text: str) -> str:
    """Return the words that stand in *text* without a space between them."""
    if not _SEAM.search(text):
        return ""
    return " ".join(_CASE.sub(" ", name) for name in _GLUED.findall(text))


def _filled(
    source: Composer, begun: Sequence[Span], ranking: Sequence[Span], max_length: int
) -> list[Span]:
    """Add runs to those *begun* with, best first, as long as the excerpt fits."""
    chosen = list(begun)
    taken = 0  # characters of those added, without marks
    for run in ranking:
        if run in begun:
            continue
        length = len(_text_of(source, run).strip())
        if taken + length > max_length:
            continue
        if source.excerpt([*chosen, run]).content_length <= max_length:
            chosen.append(run)
            taken += length
    return chosen


def _noted(page: Page, query: str) -> Page:
    if page.content and not page.passages:
        return page.with_notes(
            f"no passage of the page contains a word of the query {quote(query)}"
        )
    return page


def kinds_asked(query: str) -> list[str]:
    """Return what *query* asks for: ``money``, ``time``, ``number``, ``address``,
    ``phone``, ``email``, ``hours``; or nothing of these.
    """
    folded = fold(query)
    return [kind for kind, pattern in _patterns().items() if pattern.search(folded)]


def words_asking(query: str) -> frozenset[str]:
    """Return the terms of *query* that only say what it asks for: ``how``, ``much``."""
    folded = fold(query)
    words: list[str] = []
    for pattern in _patterns().values():
        words += [match[0] for match in pattern.finditer(folded)]
    return frozenset(query_terms(" ".join(words)))


def kinds_stated(text: str, kinds: list[str]) -> list[str]:
    """Return those of *kinds* that *text* states."""
    return [kind for kind in kinds if _STATING[kind](text)]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    joined = {kind: map("|".join, forms) for kind, forms in _ASKING.items()}
    return {
        kind: re.compile(rf"(?<![^\W\d_])(?:{spaced})|{unspaced}")
        for kind, (spaced, unspaced) in joined.items()
    }
