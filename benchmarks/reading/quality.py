"""How well pages are read: ours and the peers on pages of seven kinds, and on pages whose structure is known."""

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

_F1, _F1_OF_A_KIND, _MUST_NOT = 0.90, 0.75, 0.05
_AT_ONCE = 4  # processes
_NOT_COMPARED = (
    "Not compared are rs-trafilatura, which has no wheels, and crawl4ai, which brings a browser; "
    "`python -m benchmarks.reading --also` takes any other candidate."
)
UNSEEN = f"{OURS.name}, unseen"


@dataclass(frozen=True)
class Scores:
    """What a candidate reached, page by page, of which *kind* each is, and the exceptions it raised."""

    kind: Sequence[str]
    scores: Sequence[Score]
    errors: Mapping[str, int]

    def f1(self, kind: str = "") -> float:
        """Return the mean over the pages, or over those of a *kind*."""
        return mean(one.f1 for its, one in zip(self.kind, self.scores, strict=True) if kind in ("", its))

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
        """Return how many pages came out empty although they say something."""
        return sum(one.empty for one in self.scores)

    def must(self) -> float:
        """Return the share of the passages that must be there that are."""
        return share(one.must for one in self.scores)

    def must_not(self) -> float:
        """Return the share of those that must not be there that are."""
        return share(one.must_not for one in self.scores)

    def part(self, part: str) -> float:
        """Return the mean F1 of a part of the structure, over the pages that have it."""
        return mean(one.parts[part] for one in self.scores if part in one.parts)

    def structure(self) -> float:
        """Return the mean over the parts."""
        return mean(self.part(part) for part in PARTS)


def measure(candidate: Candidate, python: str, pages: Sequence[Page]) -> Scores:
    """Let *candidate* read all *pages*, in four processes."""
    hands = [pages[hand::_AT_ONCE] for hand in range(_AT_ONCE)]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        read = list(threads.map(lambda hand: _read(candidate, python, hand), hands))
    errors = Counter(error for _, error in (answer for hand in read for answer in hand.values()) if error)
    markdown = {name: text for hand in read for name, (text, _) in hand.items()}
    with ProcessPoolExecutor(_AT_ONCE) as processes:
        scores = list(processes.map(score, pages, [markdown[page.name] for page in pages], chunksize=8))
    return Scores([page.kind for page in pages], scores, errors)


def _read(candidate: Candidate, python: str, pages: Iterable[Page]) -> dict[str, tuple[str, str]]:
    with Reader(candidate, python) as reader:
        answers = {page.name: reader.read(page.data, page.url, CONTENT_TYPE) for page in pages}
    return {name: (answer["markdown"], answer["error"]) for name, answer in answers.items()}


def section(
    found: Mapping[str, Scores], structure: Mapping[str, Scores], absent: Sequence[str], *, seen: str, measured: str
) -> Section:
    """
    Report.

    Args:
        found: The scores of each candidate on the pages of seven kinds.
        structure: The same on those with the truth in HTML.
        absent: Who is not installed.
        seen: What our model knows of the pages, in a sentence.
        measured: When and with what, in a sentence.

    """
    peers = {name: one for name, one in found.items() if not name.startswith(OURS.name)}
    ours = found.get(UNSEEN) or found[OURS.name]
    kinds = ours.kinds()
    best = max(peers, key=lambda name: peers[name].f1(), default="")
    numbers = Counter(ours.kind)
    nobody = ("-",) * 7
    tables = [
        Table(
            ("", "F1", "mean of kinds", "precision", "recall", "must be there", "must not", "empty", "errors"),
            [
                *(
                    (
                        name, _three(one.f1()), _three(mean(one.kinds().values())), _three(one.precision()),
                        _three(one.recall()), _three(one.must()), _three(one.must_not()), str(one.empty()),
                        str(sum(one.errors.values())),
                    )
                    for name, one in found.items()
                ),
                *((name, "not installed", *nobody) for name in absent),
            ],
        ),
        Table(
            ("F1 by kind", *(f"{kind} ({numbers[kind]})" for kind in kinds)),
            [(name, *(_three(one.f1(kind)) for kind in kinds)) for name, one in found.items()],
        ),
        Table(
            ("structure", "F1 of the text", "mean of parts", *PARTS),
            [
                (name, _three(one.f1()), _three(one.structure()), *(_three(one.part(part)) for part in PARTS))
                for name, one in structure.items()
            ],
        ),
    ]  # fmt: skip
    return Section(
        title="Reading pages: quality",
        plot="plots/reading-kinds.svg",
        method=(
            f"{len(ours.scores)} pages of {len(kinds)} kinds from "
            "[WCXB](https://github.com/Murrough-Foley/web-content-extraction-benchmark) (CC BY 4.0) and "
            f"{len(next(iter(structure.values())).scores) if structure else 'no'} test pages of Mozilla's Readability "
            "(Apache 2.0), whose truth is HTML: the third table. Everybody gets the same pages, decoded rightly "
            "(encodings have their own table), and answers with Markdown. F1 is that of the bags of words of the page "
            "and of the *rendered* Markdown, so that marks and targets of links neither help nor harm, in the mean "
            "over the pages; every Chinese or Japanese character is a word. What must and must not be there are the "
            "shares of passages, named by those who made the corpus, that are. Empty are pages with less than 25 "
            "characters although the truth has more. Structure is compared in the same way: headings with their text, "
            f"links with text and target, code, cells of tables, items of lists. {seen} {measured}"
        ),
        tables=[*tables],
        goals=_goals(ours, peers, structure, best),
        remark=_remark(ours, peers, best, structure),
    )


def _goals(ours: Scores, peers: Mapping[str, Scores], structure: Mapping[str, Scores], best: str) -> list[Goal]:
    kinds = ours.kinds()
    worst = min(kinds, key=lambda kind: kinds[kind])
    beside = f", {peers[best].f1():.3f} for {best}, the best peer" if peers else ""
    goals = [
        Goal(f"word F1 is at least {_F1:.2f}", f"{ours.f1():.3f}{beside}", ours.f1() >= _F1),
        Goal(
            f"no kind of page is under {_F1_OF_A_KIND:.2f}",
            f"{kinds[worst]:.3f} for {worst}",
            kinds[worst] >= _F1_OF_A_KIND,
        ),
        Goal(
            f"of the passages that must not be there, less than {_MUST_NOT:.0%} are",
            f"{ours.must_not():.1%}",
            ours.must_not() < _MUST_NOT,
        ),
        Goal("no page comes out empty that has text", f"{ours.empty()} of {len(ours.scores)}", ours.empty() == 0),
    ]
    if OURS.name in structure:
        others = {name: one.structure() for name, one in structure.items() if not name.startswith(OURS.name)}
        first = max(others, key=lambda name: others[name], default="")
        reached = structure[OURS.name].structure()
        goals.append(
            Goal(
                "the structure is kept better than by any peer",
                f"{reached:.3f}" + (f", {others[first]:.3f} for {first}" if first else ""),
                reached > others.get(first, 0),
            )
        )
    return goals


def _remark(ours: Scores, peers: Mapping[str, Scores], best: str, structure: Mapping[str, Scores]) -> str:
    said = []
    if peers:
        differences = [one.f1 - other.f1 for one, other in zip(ours.scores, peers[best].scores, strict=True)]
        low, high = interval(differences)
        said.append(
            f"The difference to {best} is {statistics.fmean(differences):+.3f} in the mean, between {low:+.3f} and "
            f"{high:+.3f} with 95 % confidence (bootstrap over the pages)."
        )
    failures = {name: one.errors for found in (structure, {**peers, OURS.name: ours}) for name, one in found.items()}
    said += [f"{name} raised {', '.join(errors)}." for name, errors in failures.items() if errors]
    return " ".join([*said, _NOT_COMPARED])


def _three(number: float) -> str:
    return "-" if number != number else f"{number:.3f}"  # noqa: PLR0124 - not a number: there is nothing of it
