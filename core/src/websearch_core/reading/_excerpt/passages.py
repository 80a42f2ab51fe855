"""Pick the passages of a page that answer a question.

Sentences are packed into passages of about 600 characters within a section and ranked
by BM25 over the terms of `websearch_core._text.terms`. A passage also counts the words
of the headings above it, and of the header of its table. The best passages that fit are
shown in the order of the page; a part of the room is for those outside the main text.
An amount of money, a time or a number counts as a word of a question that asks for one,
in the languages of the tests: Arabic, Chinese, English, German, Greek, Hindi, Romanian,
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
_STATING: dict[str, Callable[[str], object]] = {
    "money": has_amount,
    "time": re.compile(
        r"(?<!\d)(?:1\d|20)\d\d(?!\d)|(?<!\d)\d{1,2}(?::\d{2}|[./]\d{1,2}[./]\d{2})"
        r"|\d{1,2}(?:st|nd|rd|th|\.|º)? [^\W\d_]{3}|[^\W\d_]{3,12}\.? "
        r"\d{1,2}(?!\d)|\d[年月日]|\d ?[ap]\.?m\b"
    ).search,
    "number": re.compile(r"\d").search,
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
        best = source.excerpt(beside[:1]).content_length
        room = min(
            _MAX_BESIDE,
            max(int(_BESIDE * max_length), best if best <= max_length // 2 else 0),
        )
        first = source.excerpt(ranking[:1]).content_length
        if first > max_length:
            return room
        return (
            max(room, first)
            if beside[:1] == ranking[:1]
            else min(room, max_length - first)
        )

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


def _packed(source: Composer, length: int, most: int) -> Iterator[Span]:
    """Yield what belongs together: a paragraph, or several short ones of a section,
    with the heading above them.
    """
    pieces = source.pieces
    first = 0
    for before, unit in pairwise(_units(source, min(_LENGTH, 3 * length), most)):
        start, cut = pieces[first].start, pieces[unit.first].start
        unit_text = source.text[pieces[before.first].start : cut]
        enough = _ENOUGH * length if first < source.beside else _ENOUGH_BESIDE
        ended = (
            cut - start >= enough and "\n\n" in unit_text and unit_text.endswith("\n")
        )
        begins = pieces[unit.first].leads or unit.first == source.beside
        if begins or ended or pieces[unit.after - 1].end - start > length:
            yield Span(first, unit.first)
            first = unit.first
    if pieces:
        yield Span(first, len(pieces))


def _units(source: Composer, length: int, most: int) -> Iterator[Span]:
    """Yield each piece with those tied to it: about *length* characters, *most* with
    the targets of links.
    """
    first, cuts = 0, source.cuts
    seen = [
        *accumulate(
            (
                len(TARGET.sub("]", source.text[start:end]))
                for start, end in pairwise(cuts)
            ),
            initial=0,
        )
    ]
    for n, piece in enumerate(source.pieces):
        tied = piece.tied and n != source.beside and seen[n] - seen[first] <= length
        if n and not (tied and cuts[n] - cuts[first] <= max(length, most)):
            yield Span(first, n)
            first = n
    if source.pieces:
        yield Span(first, len(source.pieces))


def _ranking(source: Composer, runs: Sequence[Span], query: str) -> list[Span]:
    """Return the runs that have a word of *query*, best first: those that repeat all of
    it, then by BM25.
    """
    question, kinds = Question(f"{query} {_names_in(query)}"), kinds_asked(query)
    asking, wording = words_asking(query), f" {' '.join(list_terms(query))} "

    @cache
    def heading_words(headings: tuple[str, ...]) -> list[str]:
        return list_terms(" ".join(headings))

    counts: list[dict[str, float]] = []
    lengths: list[int] = []
    repeats: list[bool] = []
    for run in runs:
        start, end = source.pieces[run.first].start, source.pieces[run.after - 1].end
        text = TARGET.sub("]", source.text[start:end])
        said = list_terms(text)
        lengths.append(len(said))
        repeats.append(
            wording.count(" ") > _MIN_WORDS and wording in f" {' '.join(said)} "
        )
        said += list_terms(_names_in(text))
        last = source.pieces[run.after - 1]
        header = (
            list_terms(last.frame.opening)
            if last.frame and not last.frame.closing
            else []
        )
        found = question.count(said + heading_words(last.headings) + header)
        weights = {
            form: count * (_ASKS if form in asking else 1)
            for form, count in found.items()
        }
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
        start, end = source.pieces[run.first].start, source.pieces[run.after - 1].end
        lines = source.text[start:end].splitlines()
        new = "\n".join(line for line in lines if _bare_line(line) not in main_lines)
        if not question.count(list_terms(new)) and not kinds_stated(new, kinds):
            scores[n] = 0.0


def _bare_line(line: str) -> str:
    return re.sub(r"[\W_]+", " ", line).strip()


def _names_in(text: str) -> str:
    """Return the words that stand in *text* without a space between them."""
    return (
        " ".join(_CASE.sub(" ", name) for name in _GLUED.findall(text))
        if _SEAM.search(text)
        else ""
    )


def _filled(
    source: Composer, begun: Sequence[Span], ranking: Sequence[Span], max_length: int
) -> list[Span]:
    """Add runs to those *begun* with, best first, as long as the excerpt fits."""
    chosen = list(begun)
    taken = 0  # characters of those added, without marks
    for run in ranking:
        if run in begun:
            continue
        start, end = source.pieces[run.first].start, source.pieces[run.after - 1].end
        length = len(source.text[start:end].strip())
        if (
            taken + length <= max_length
            and source.excerpt([*chosen, run]).content_length <= max_length
        ):
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
    """Return what *query* asks for: ``money``, ``time``, ``number``; or nothing of
    these.
    """
    folded = fold(query)
    return [kind for kind, pattern in _patterns().items() if pattern.search(folded)]


def words_asking(query: str) -> frozenset[str]:
    """Return the terms of *query* that only say what it asks for: ``how``, ``much``."""
    folded = fold(query)
    found = [
        found[0]
        for pattern in _patterns().values()
        for found in pattern.finditer(folded)
    ]
    return frozenset(query_terms(" ".join(found)))


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
