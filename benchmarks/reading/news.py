"""Measure how well news articles are read, by language and by publisher, and how well
their metadata is.
"""

from __future__ import annotations
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from benchmarks.reading.candidates import METADATA, OURS, TRAFILATURA, Candidate
from benchmarks.reading.metrics import interval, mean
from benchmarks.reading.process import Absent, Reader
from benchmarks.reading.quality import UNSEEN, Scores
from benchmarks.report import Goal, Section, Table
from training.corpus import CONTENT_TYPE, Page
from training.words import words
from websearch_core.reading import read_html

_MIN_F1, _MIN_F1_OF_A_LANGUAGE, _MIN_PAGES = 0.96, 0.93, 5
_MIN_TITLES, _MIN_AUTHORS, _MIN_DATES = 0.85, 0.90, 0.98
_WORST = 10  # publishers
_OTHER = "other"


@dataclass(frozen=True)
class Facts:
    """The shares of the pages whose title, authors and date were read correctly."""

    title: float
    an_author: float
    all_authors: float
    date: float


def languages(pages: Sequence[Page]) -> list[str]:
    """Return the language that each page states, or ``other`` if fewer than five pages
    state it.
    """
    stated = [
        (read_html(page.data, page.url, CONTENT_TYPE).language or "").partition("-")[0]
        for page in pages
    ]
    number = Counter(stated)
    return [
        language if language and number[language] >= _MIN_PAGES else _OTHER
        for language in stated
    ]


def read_facts(python: str, pages: Sequence[Page]) -> dict[str, Facts]:
    """Let the readers that give metadata read all *pages*."""
    return {
        candidate.name: _judge_facts(found, pages)
        for candidate in METADATA
        if (found := _read(candidate, python, pages)) is not None
    }


def _read(
    candidate: Candidate, python: str, pages: Sequence[Page]
) -> list[dict[str, str]] | None:
    import sys

    try:
        with Reader(candidate, sys.executable if candidate.ours else python) as reader:
            answers = [
                reader.read(page.data, page.url, CONTENT_TYPE)["markdown"]
                for page in pages
            ]
    except Absent:
        return None
    return [json.loads(answer or "{}") for answer in answers]


def _judge_facts(found: Sequence[Mapping[str, str]], pages: Sequence[Page]) -> Facts:
    pairs = list(zip(found, pages, strict=True))
    signed = [
        (_names(one.get("author", "").split(",")), _names(page.authors))
        for one, page in pairs
        if page.authors
    ]
    return Facts(
        title=mean(
            _words(one.get("title", "")) == _words(page.title)
            for one, page in pairs
            if page.title
        ),
        an_author=mean(bool(names & true) for names, true in signed),
        all_authors=mean(names == true for names, true in signed),
        date=mean(
            _same_day(one.get("date", ""), page.published)
            for one, page in pairs
            if page.published
        ),
    )


def _words(title: str) -> list[str]:
    """Return the words of a title, whether or not it says where they may be
    hyphenated.
    """
    return words(title.replace("\xad", ""))


def _names(names: Iterable[str]) -> set[tuple[str, ...]]:
    return {tuple(split) for name in names if (split := words(name))}


def _same_day(date: str, true: str) -> bool:
    """Return whether two dates are the same moment, or name the same day."""
    try:
        one, other = datetime.fromisoformat(date), datetime.fromisoformat(true)
    except ValueError:
        return False
    return one.date() == other.date() or (
        None not in (one.tzinfo, other.tzinfo) and one == other
    )


def section(
    found: Mapping[str, Scores],
    facts: Mapping[str, Facts],
    pages: Sequence[Page],
    language: Sequence[str],
    *,
    measured: str,
) -> Section:
    """Report the scores.

    Args:
        found: The scores of each candidate.
        facts: How well each candidate that reads metadata does so.
        pages: The pages.
        language: The language of each.
        measured: A sentence that says when and with which versions.
    """
    numbers = Counter(language)
    order = sorted(numbers, key=lambda one: (one == _OTHER, -numbers[one]))
    by_language = {name: _means(scores, language) for name, scores in found.items()}
    publishers = [page.publisher or page.name for page in pages]
    by_publisher = {name: _means(scores, publishers) for name, scores in found.items()}
    first = UNSEEN if UNSEEN in found else OURS.name
    peers = [name for name in found if not name.startswith(OURS.name)]
    rival = next(
        (
            name
            for name in (f"{TRAFILATURA.name}, no comments", TRAFILATURA.name)
            if name in found
        ),
        "",
    )
    worst = sorted(by_publisher[first], key=by_publisher[first].__getitem__)[:_WORST]
    shown = [first, *([rival] if rival else [])]
    return Section(
        title="Reading pages: news",
        method=(
            f"{len(pages)} news articles of {len(set(publishers))} publishers in many "
            f"languages, from the test data of "
            "Fundus; the truth is the body of the article. It leaves out headlines, "
            "captions, lists of links and "
            "readers' comments. F1 is as above. The language is the one that the page "
            "states. Intervals are 95 %, by a "
            "bootstrap over the differences of the pages, and over those of the "
            "publishers. The row websearch-core, "
            "unseen is the one that the goals are judged by: there a model reads a "
            "page that was trained without the "
            "pages of its site. A title is right if it has the same words, without "
            "soft hyphens; the authors are "
            f"right if one of them, or all, are named; a date if it is the same day. "
            f"{measured}"
        ),
        tables=[
            Table(
                (
                    "",
                    "F1",
                    "precision",
                    "recall",
                    "mean of publishers",
                    "difference",
                    "by pages",
                    "by publishers",
                ),
                [
                    (
                        name,
                        *map(
                            _round, (scores.f1(), scores.precision(), scores.recall())
                        ),
                        _round(mean(by_publisher[name].values())),
                        *_compare(found[first], scores, publishers, same=name == first),
                    )
                    for name, scores in found.items()
                ],
            ),
            Table(
                ("F1 by language", *(f"{one} ({numbers[one]})" for one in order)),
                [
                    (name, *(_round(means[one]) for one in order))
                    for name, means in by_language.items()
                ],
            ),
            Table(
                (f"the {len(worst)} publishers that are read worst", *shown),
                [
                    (one, *(_round(by_publisher[name][one]) for name in shown))
                    for one in worst
                ],
            ),
            Table(
                ("metadata", "title", "one of the authors", "all authors", "date"),
                [
                    (
                        name,
                        *map(
                            _round,
                            (one.title, one.an_author, one.all_authors, one.date),
                        ),
                    )
                    for name, one in facts.items()
                ],
            ),
        ],
        goals=[
            *_judge(found[first], found.get(rival), rival, by_language[first]),
            *(_judge_metadata(facts[OURS.name]) if OURS.name in facts else []),
        ],
        remark="" if peers else "No peer is installed.",
    )


def _means(scores: Scores, groups: Sequence[str]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for group, one in zip(groups, scores.scores, strict=True):
        values[group].append(one.f1)
    return {group: statistics.fmean(some) for group, some in values.items()}


def _compare(
    ours: Scores, theirs: Scores, publishers: Sequence[str], *, same: bool
) -> tuple[str, str, str]:
    """Return the mean difference between two readers, and its intervals over pages and
    over publishers.
    """
    if same:
        return "", "", ""
    differences = [
        one.f1 - other.f1 for one, other in zip(ours.scores, theirs.scores, strict=True)
    ]
    groups: dict[str, list[float]] = defaultdict(list)
    for publisher, difference in zip(publishers, differences, strict=True):
        groups[publisher].append(difference)
    spans = (interval(differences), interval([*map(statistics.fmean, groups.values())]))
    texts = [f"{low:+.3f} to {high:+.3f}" for low, high in spans]
    return f"{statistics.fmean(differences):+.3f}", texts[0], texts[1]


def _judge(
    ours: Scores, theirs: Scores | None, rival: str, by_language: Mapping[str, float]
) -> list[Goal]:
    known = {language: f1 for language, f1 in by_language.items() if language != _OTHER}
    worst = min(known, key=known.__getitem__)
    goals = [
        Goal(
            f"word F1 on news is at least {_MIN_F1:.2f}",
            f"{ours.f1():.3f}",
            ours.f1() >= _MIN_F1,
        ),
        Goal(
            f"no language of {_MIN_PAGES} pages or more is below "
            f"{_MIN_F1_OF_A_LANGUAGE:.2f}",
            f"{known[worst]:.3f} for {worst}",
            known[worst] >= _MIN_F1_OF_A_LANGUAGE,
        ),
    ]
    if theirs:
        low, high = interval(
            [
                one.f1 - other.f1
                for one, other in zip(ours.scores, theirs.scores, strict=True)
            ]
        )
        goals.append(
            Goal(
                f"news is read better than by {rival}",
                f"{low:+.3f} to {high:+.3f}",
                low > 0,
            )
        )
    return goals


def _judge_metadata(facts: Facts) -> list[Goal]:
    claims: list[tuple[str, Callable[[Facts], float], float]] = [
        ("titles", lambda one: one.title, _MIN_TITLES),
        ("authors", lambda one: one.an_author, _MIN_AUTHORS),
        ("dates", lambda one: one.date, _MIN_DATES),
    ]
    return [
        Goal(
            f"at least {least:.0%} of the {what} are right",
            f"{get(facts):.1%}",
            get(facts) >= least,
        )
        for what, get, least in claims
    ]


def _round(number: float) -> str:
    return "-" if number != number else f"{number:.3f}"  # noqa: PLR0124 - only NaN differs from itself
