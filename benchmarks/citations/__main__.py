"""Measure how well `check_citations` separates right citations from wrong ones, and
write ``benchmarks/results/citations.md``.

    python -m benchmarks.citations

The claims come from XQuAD (1,190 questions about 48 articles in twelve languages, CC
BY-SA 4.0), which is expected beside the repository, in ``../shared/corpora/ir/xquad``.
"""

from __future__ import annotations
import statistics
import sys
import time
from pathlib import Path

from benchmarks.citations.alterations import KINDS as ALTERATIONS
from benchmarks.citations.alterations import alter
from benchmarks.citations.claims import (
    Claims,
    load_articles,
    make_claims,
    make_statements,
)
from benchmarks.reading.passages import CORPUS, LANGUAGES
from benchmarks.report import Goal, Section, Table, store
from websearch_core.citations import check_citations

_PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "citations.md"
_KINDS = ("another passage", "figure altered", "name altered")
_HEAD = """<!-- Written by `make bench-citations`. Do not edit. -->

# Checking citations

How well `check_citations` tells a citation that supports a claim from one that does not. It compares words, figures,
names and quotations, without a model. [Citations](../../docs/citations.md) says how to use it.
"""


def main() -> int:
    """Write the page, or say why not."""
    if not CORPUS.is_dir():
        print(
            "skipped: the corpus XQuAD is not in ../shared/corpora/ir/xquad",
            file=sys.stderr,
        )
        return 0
    started = time.process_time()
    measured = {name: _measure(code) for code, name in LANGUAGES.items()}
    seconds = time.process_time() - started
    checks = sum(
        len(scores.right) + len(scores.others) + len(scores.altered)
        for scores in measured.values()
    )
    stated = {name: _measure_statements(code) for code, name in LANGUAGES.items()}
    sections = f"{_section(measured)}\n\n{_verdicts(measured)}\n\n{_statements(stated)}"
    store(_PAGE, f"{_HEAD}\n{sections}\n\n{_time(seconds, checks)}\n")
    return 0


class Scores:
    """The checks of one language: of right citations, of other passages, and of altered
    claims with their originals.
    """

    def __init__(self) -> None:
        self.right: list[tuple[float, str]] = []
        self.others: list[tuple[float, str]] = []
        self.altered: list[tuple[str, tuple[float, str], tuple[float, str]]] = []

    def pairs(self, kind: str) -> tuple[list[float], list[float]]:
        """Return the scores of right citations and those of one kind of wrong ones."""
        if kind == _KINDS[0]:
            return [score for score, _ in self.right], [
                score for score, _ in self.others
            ]
        chosen = [(right, wrong) for name, right, wrong in self.altered if name == kind]
        return [right[0] for right, _ in chosen], [wrong[0] for _, wrong in chosen]

    def verdicts(self, kind: str) -> list[str]:
        """Return the verdicts on the citations of one kind."""
        if kind == "right":
            return [verdict for _, verdict in self.right]
        if kind == _KINDS[0]:
            return [verdict for _, verdict in self.others]
        return [wrong[1] for name, _, wrong in self.altered if name == kind]


def _measure(code: str) -> Scores:
    """Check the claims about the half of the articles that no constant was chosen
    on.
    """
    scores = Scores()
    for article in load_articles(code)[1::2]:
        sources = [
            {"id": n, "text": text} for n, text in enumerate(article.passages, 1)
        ]
        claims = list(make_claims(article))
        results = iter(
            check_citations("\n".join(_cited(claims, len(sources))), sources)
        )
        for claim in claims:
            right = next(results)
            scores.right.append((right.score, right.verdict))
            for _ in range(len(sources) - 1):
                other = next(results)
                scores.others.append((other.score, other.verdict))
            if claim.altered:
                wrong = next(results)
                scores.altered.append(
                    (claim.kind, scores.right[-1], (wrong.score, wrong.verdict))
                )
    return scores


def _measure_statements(code: str) -> dict[str, list[tuple[float, str]]]:
    """Check sentences of the passages and their alterations; return score and verdict,
    for each kind and "right".
    """
    scores: dict[str, list[tuple[float, str]]] = {
        kind: [] for kind in ("right", *ALTERATIONS)
    }
    for article in load_articles(code)[1::2]:
        sources = [
            {"id": n, "text": text} for n, text in enumerate(article.passages, 1)
        ]
        lines = [
            (kind, f"{text} [{n}]")
            for statement, n in make_statements(article)
            for kind, text in [("right", statement), *alter(statement, code)]
        ]
        results = check_citations("\n".join(line for _, line in lines), sources)
        for (kind, _), result in zip(lines, results, strict=True):
            scores[kind].append((result.score, result.verdict))
    return scores


def _cited(claims: list[Claims], sources: int) -> list[str]:
    """Return a line for each check: the claim with the right number, with all others,
    and altered.
    """
    lines = []
    for claim in claims:
        numbers = [
            claim.passage,
            *(n for n in range(1, sources + 1) if n != claim.passage),
        ]
        lines += [f"{claim.text} [{number}]" for number in numbers]
        lines += [f"{claim.altered} [{claim.passage}]"] if claim.altered else []
    return lines


def _section(measured: dict[str, Scores]) -> Section:
    rows = []
    areas: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    for name, scores in measured.items():
        row = [name, f"{len(scores.right):,}"]
        for kind in _KINDS:
            right, wrong = scores.pairs(kind)
            areas[kind].append(find_area(right, wrong))
            row.append(f"{areas[kind][-1]:.3f} ({len(wrong):,})")
        rows.append(tuple(row))
    rows.append(
        ("mean", "", *(f"{statistics.mean(areas[kind]):.3f}" for kind in _KINDS))
    )
    return Section(
        title="Area under the ROC curve",
        method=(
            "The probability that a right citation gets a higher score than a wrong "
            "one: 1 is perfect, 0.5 is a coin. "
            "A claim is a question of XQuAD without its question mark, followed by the "
            "answer: not a sentence of the "
            "passage, but not natural either, since no passage has its question words. "
            "People who saw the passage "
            "wrote the questions, which favours matching words. A right citation is "
            "that of the passage with the "
            "answer. The wrong ones are: every other passage of the same article; the "
            "right passage, with the last "
            "figure of the answer raised by 3; and the right passage, with an answer "
            "that is a name (one that English "
            "begins with a capital) replaced by the name of most similar length from "
            "another passage of the article. "
            "The number of wrong ones is in brackets. All passages of the article are "
            "among the sources. The "
            "constants were chosen on the articles with even numbers; these are the "
            "others."
        ),
        tables=[Table(("", "claims", *_KINDS), rows)],
        goals=[],
        remark=(
            "An altered name is hardest to see where the script has no capital "
            "letters: Arabic, Hindi, Thai, Chinese."
        ),
    )


def _verdicts(measured: dict[str, Scores]) -> Section:
    rows = []
    for kind in ("right", *_KINDS):
        verdicts = [
            verdict for scores in measured.values() for verdict in scores.verdicts(kind)
        ]
        shares = [
            verdicts.count(verdict) / len(verdicts)
            for verdict in ("supported", "partial", "unsupported")
        ]
        rows.append((kind, f"{len(verdicts):,}", *(f"{share:.1%}" for share in shares)))
    return Section(
        title="Verdicts",
        method=(
            "The same checks in all languages together, as the verdicts that a program "
            "gets. The question words of "
            "these claims make `supported` rarer than it is for statements."
        ),
        tables=[
            Table(
                ("citation", "checks", "`supported`", "`partial`", "`unsupported`"),
                rows,
            )
        ],
        goals=[],
    )


def _statements(stated: dict[str, dict[str, list[tuple[float, str]]]]) -> Section:
    def join(kind: str) -> list[tuple[float, str]]:
        return [one for scores in stated.values() for one in scores[kind]]

    def caught(scores: list[tuple[float, str]]) -> str:
        return f"{_share_caught(scores):.1%} ({len(scores):,})" if scores else "none"

    figures, negations = ALTERATIONS[:4], ALTERATIONS[4:]
    areas = {
        name: find_area(
            [one for one, _ in scores["right"]],
            [one for kind in figures for one, _ in scores[kind]],
        )
        for name, scores in stated.items()
    }
    rows = [
        (
            name,
            f"{len(scores['right']):,}",
            f"{areas[name]:.3f}",
            *(caught(scores[kind]) for kind in ALTERATIONS),
        )
        for name, scores in stated.items()
    ]
    area = statistics.mean(areas.values())
    rows.append(
        (
            "all",
            f"{len(join('right')):,}",
            f"{area:.3f}",
            *(caught(join(kind)) for kind in ALTERATIONS),
        )
    )
    denied = _share_caught([one for kind in negations for one in join(kind)])
    right = 1 - _share_caught(join("right"))
    return Section(
        title="Statements",
        method=(
            "The claims are the first three sentences of each passage, word for word, "
            "and the same sentences with one "
            "thing altered: the last figure, raised by 3; the scale after a figure, "
            "such as million to billion; the "
            "unit after a figure, such as km to miles; a number in words, such as two "
            "to five; and a verb, denied (in "
            "sentences without a negation) or no longer denied. The columns give the "
            "area under the curve for all "
            "altered quantities together, and for each alteration the share that is "
            "not `supported`, with the number "
            "of them in brackets. What is not caught mostly stands elsewhere in the "
            "same passage. "
        ).strip(),
        tables=[
            Table(("", "statements", "quantities altered, area", *ALTERATIONS), rows)
        ],
        goals=[
            Goal(
                "the area for altered quantities is at least .97",
                f"{area:.3f}",
                area >= 0.97,
            ),
            Goal(
                "at least 80% of negations are caught", f"{denied:.1%}", denied >= 0.8
            ),
            Goal(
                "at least 82% of the sentences as they are have the verdict "
                "`supported`",
                f"{right:.1%}",
                right >= 0.82,
            ),
        ],
    )


def _share_caught(scores: list[tuple[float, str]]) -> float:
    return sum(verdict != "supported" for _, verdict in scores) / len(scores)


def _time(seconds: float, checks: int) -> str:
    return (
        f"A check took {seconds / checks * 1000:.2f} ms of CPU time, {checks:,} of "
        f"them in all."
    )


def find_area(right: list[float], wrong: list[float]) -> float:
    """Return the area under the ROC curve: how often a right one scores higher, ties
    counting half.
    """
    ordered = sorted(
        [(score, True) for score in right] + [(score, False) for score in wrong]
    )
    total, position = 0.0, 0
    while position < len(ordered):
        after = position
        while after < len(ordered) and ordered[after][0] == ordered[position][0]:
            after += 1
        rank = (position + after + 1) / 2
        total += rank * sum(is_right for _, is_right in ordered[position:after])
        position = after
    return (total - len(right) * (len(right) + 1) / 2) / (len(right) * len(wrong))


if __name__ == "__main__":
    sys.exit(main())
