"""Measure how well pages are read: pages of seven kinds, and pages whose structure is
known.
"""

from __future__ import annotations
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.reading.candidates import OURS, Candidate
from benchmarks.reading.metrics import PARTS, Score, interval, mean, score, share
from benchmarks.reading.process import Reader
from benchmarks.report import Goal, Section, Table
from training.corpus import CONTENT_TYPE, Page

_MIN_F1, _MIN_F1_OF_A_KIND, _MAX_MUST_NOT, _MIN_STRUCTURE = 0.90, 0.75, 0.05, 0.82
_AT_ONCE = 4  # processes
_NOT_COMPARED = (
    "Two readers are not compared: rs-trafilatura, which has no wheels, and crawl4ai, "
    "which needs a browser. "
    "`python -m benchmarks.reading --also` adds any other candidate."
)
UNSEEN = f"{OURS.name}, unseen"


@dataclass(frozen=True)
class Scores:
    """The scores of a candidate for each page, the *kind* of each page, and the
    exceptions raised.
    """

    kind: Sequence[str]
    scores: Sequence[Score]
    errors: Mapping[str, int]

    def f1(self, kind: str = "") -> float:
        """Return the mean F1 over the pages, or over those of a *kind*."""
        return mean(
            one.f1
            for its, one in zip(self.kind, self.scores, strict=True)
            if kind in ("", its)
        )

    def kinds(self) -> dict[str, float]:
        """Return the mean F1 of each kind, the most frequent kind first."""
        return {kind: self.f1(kind) for kind, _ in Counter(self.kind).most_common()}

    def precision(self) -> float:
        """Return the mean precision."""
        return mean(one.precision for one in self.scores)

    def recall(self) -> float:
        """Return the mean recall."""
        return mean(one.recall for one in self.scores)

    def empty(self) -> int:
        """Return how many pages came out empty although the truth has text."""
        return sum(one.empty for one in self.scores)

    def must(self) -> float:
        """Return the share of the required passages that were found."""
        return share(one.must for one in self.scores)

    def must_not(self) -> float:
        """Return the share of the forbidden passages that were found."""
        return share(one.must_not for one in self.scores)

    def part(self, part: str) -> float:
        """Return the mean F1 of a part of the structure over the pages that have it."""
        return mean(one.parts[part] for one in self.scores if part in one.parts)

    def structure(self) -> float:
        """Return the mean F1 over all parts of the structure."""
        return mean(self.part(part) for part in PARTS)


def measure(candidate: Candidate, python: str, pages: Sequence[Page]) -> Scores:
    """Let *candidate* read all *pages*, in four processes."""
    shares = [pages[first::_AT_ONCE] for first in range(_AT_ONCE)]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        read = list(threads.map(lambda share: _read(candidate, python, share), shares))
    errors = Counter(
        error
        for _, error in (answer for share in read for answer in share.values())
        if error
    )
    markdown = {name: text for share in read for name, (text, _) in share.items()}
    with ProcessPoolExecutor(_AT_ONCE) as processes:
        scores = list(
            processes.map(
                score, pages, [markdown[page.name] for page in pages], chunksize=8
            )
        )
    return Scores([page.kind for page in pages], scores, errors)


def _read(
    candidate: Candidate, python: str, pages: Iterable[Page]
) -> dict[str, tuple[str, str]]:
    with Reader(candidate, python) as reader:
        answers = {
            page.name: reader.read(page.data, page.url, CONTENT_TYPE) for page in pages
        }
    return {
        name: (answer["markdown"], answer["error"]) for name, answer in answers.items()
    }


def section(
    found: Mapping[str, Scores],
    structure: Mapping[str, Scores],
    absent: Sequence[str],
    *,
    seen: str,
    measured: str,
) -> Section:
    """Report the scores.

    Args:
        found: The scores of each candidate on the pages of seven kinds.
        structure: The same on the pages whose truth is HTML.
        absent: The candidates that are not installed.
        seen: A sentence that says whether our model was trained on the pages.
        measured: A sentence that says when and with which versions.
    """
    peers = {name: one for name, one in found.items() if not name.startswith(OURS.name)}
    ours = found.get(UNSEEN) or found[OURS.name]
    kinds = ours.kinds()
    best = max(peers, key=lambda name: peers[name].f1(), default="")
    numbers = Counter(ours.kind)
    blank = ("-",) * 7
    tables = [
        Table(
            ("", "F1", "mean of kinds", "precision", "recall", "must be there", "must not be there", "empty", "errors"),
            [
                *(
                    (
                        name, _round(one.f1()), _round(mean(one.kinds().values())),
                        _round(one.precision()),
                        _round(one.recall()), _round(one.must()),
                        _round(one.must_not()), str(one.empty()),
                        str(sum(one.errors.values())),
                    )
                    for name, one in found.items()
                ),
                *((name, "not installed", *blank) for name in absent),
            ],
        ),
        Table(
            ("F1 by kind", *(f"{kind} ({numbers[kind]})" for kind in kinds)),
            [(name, *(_round(one.f1(kind)) for kind in kinds)) for name, one in found.items()],
        ),
        Table(
            ("structure", "F1 of the text", "mean of parts", *PARTS),
            [
                (name, _round(one.f1()), _round(one.structure()), *(_round(one.part(part)) for part in PARTS))
                for name, one in structure.items()
            ],
        ),
    ]  # fmt: skip
    return Section(
        title="Reading pages: quality",
        plot="plots/reading-kinds.svg",
        method=(
            f"{len(ours.scores)} pages of {len(kinds)} kinds from "
            "[WCXB](https://github.com/Murrough-Foley/web-content-extraction-benchmark) (CC BY 4.0), and in the third "
            f"table {len(next(iter(structure.values())).scores) if structure else 'no'} test pages of Mozilla's "
            "Readability (Apache 2.0), whose truth is HTML. Every reader gets the same "
            "pages, correctly decoded "
            "(encodings have their own table), and answers with Markdown. F1 compares "
            "the bags of words of the truth "
            "and of the *rendered* Markdown, so that syntax and link targets neither "
            "help nor harm; it is the mean "
            "over the pages. Every Chinese or Japanese character is a word. The "
            "authors of the corpus name passages "
            "that must and must not be there; the columns give the shares that are. A "
            "page counts as empty if fewer "
            "than 25 characters were read although the truth has more. Structure is "
            "compared in the same way: "
            "headings, table cells and list items by their words, links by words and "
            "target, code by its text. For all "
            "readers alike, punctuation, the levels of headings and the nesting of "
            "lists do not count, and neither do "
            f"links without words, such as ¶ beside a heading or ^ back from a "
            f"footnote. {seen} {measured}"
        ),
        tables=[*tables],
        goals=_judge(ours, peers, structure, best),
        remark=_make_remark(ours, peers, best, structure),
    )


def _judge(
    ours: Scores,
    peers: Mapping[str, Scores],
    structure: Mapping[str, Scores],
    best: str,
) -> list[Goal]:
    kinds = ours.kinds()
    worst = min(kinds, key=lambda kind: kinds[kind])
    beside = f", {peers[best].f1():.3f} for {best}, the best peer" if peers else ""
    goals = [
        Goal(
            f"word F1 is at least {_MIN_F1:.2f}",
            f"{ours.f1():.3f}{beside}",
            ours.f1() >= _MIN_F1,
        ),
        Goal(
            f"no kind of page is below {_MIN_F1_OF_A_KIND:.2f}",
            f"{kinds[worst]:.3f} for {worst}",
            kinds[worst] >= _MIN_F1_OF_A_KIND,
        ),
        Goal(
            f"less than {_MAX_MUST_NOT:.0%} of the passages that must not be there are",
            f"{ours.must_not():.1%}",
            ours.must_not() < _MAX_MUST_NOT,
        ),
        *_judge_kinds(ours, peers),
        Goal(
            "no page that has text comes out empty",
            f"{ours.empty()} of {len(ours.scores)}",
            ours.empty() == 0,
        ),
    ]
    first_of_ours = UNSEEN if UNSEEN in structure else OURS.name
    if first_of_ours in structure:
        others = {
            name: one.structure()
            for name, one in structure.items()
            if not name.startswith(OURS.name)
        }
        first = max(others, key=lambda name: others[name], default="")
        reached = structure[first_of_ours].structure()
        goals += [
            Goal(
                f"the structure is kept to at least {_MIN_STRUCTURE:.2f}",
                f"{reached:.3f}",
                reached >= _MIN_STRUCTURE,
            ),
            Goal(
                "it keeps the structure better than any peer",
                f"{reached:.3f}"
                + (f", {others[first]:.3f} for {first}" if first else ""),
                reached > others.get(first, 0),
            ),
        ]
    return goals


def _judge_kinds(ours: Scores, peers: Mapping[str, Scores]) -> list[Goal]:
    """Judge whether any peer reads a kind of page better."""
    best = (
        {
            kind: max((one.f1(kind), name) for name, one in peers.items())
            for kind in ours.kinds()
        }
        if peers
        else {}
    )
    behind = [
        f"{kind}, {ours.f1(kind):.3f}, {f1:.3f} for {name}"
        for kind, (f1, name) in best.items()
        if f1 > ours.f1(kind)
    ]
    claim = "no kind of page is read better by any peer"
    return (
        [Goal(claim, "; ".join(behind) or f"ahead on all {len(best)}", not behind)]
        if best
        else []
    )


def _make_remark(
    ours: Scores,
    peers: Mapping[str, Scores],
    best: str,
    structure: Mapping[str, Scores],
) -> str:
    sentences = []
    if peers:
        differences = [
            one.f1 - other.f1
            for one, other in zip(ours.scores, peers[best].scores, strict=True)
        ]
        low, high = interval(differences)
        sentences.append(
            f"The mean difference from {best} is {statistics.fmean(differences):+.3f}, "
            f"with a 95 % confidence interval "
            f"from {low:+.3f} to {high:+.3f} (bootstrap over the pages)."
        )
    failures = {
        name: one.errors
        for found in (structure, {**peers, OURS.name: ours})
        for name, one in found.items()
    }
    sentences += [
        f"{name} raised {', '.join(errors)}."
        for name, errors in failures.items()
        if errors
    ]
    return " ".join([*sentences, _NOT_COMPARED])


def _round(number: float) -> str:
    return "-" if number != number else f"{number:.3f}"  # noqa: PLR0124 - only NaN differs from itself
