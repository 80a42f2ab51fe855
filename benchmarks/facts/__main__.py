"""Measure how many facts that a person sees on a page reach a model, and write
``benchmarks/results/facts.md``.

    python -m benchmarks.facts --peers build/peers/bin/python

``facts.jsonl`` has questions with their answers, chosen from the pages before any
reader was run on them. The pages are those that our model is trained on, expected
beside the repository, in ``../shared/corpora/reading``.
"""

from __future__ import annotations
import argparse
import html
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from benchmarks.reading.candidates import CANDIDATES, OURS
from benchmarks.reading.process import Absent, Reader
from benchmarks.report import Goal, Section, Table, store
from training.corpus import CONTENT_TYPE, ROOT, load
from training.corpus import Page as KnownPage
from websearch_core.models import Page
from websearch_core.reading import Excerpt, read_html

FACTS = Path(__file__).parent / "facts.jsonl"
MAX_TOKENS = 500
GOAL = 0.85
_PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "facts.md"
_FOLDERS = ("wcxb", "wcxb_more", "news")
_PEERS = (
    "trafilatura",
    "readability-lxml + markdownify",
    "resiliparse + markdownify",
    "html-to-markdown",
)
_Z = 1.96  # of an interval of 95 %
_LINK_TARGET = re.compile(r"\]\([^()\n]*\)")
_HEAD = """<!-- Written by `make bench-facts`. Do not edit. -->

# Facts that reach a model

How many of the facts that a person sees on a page are in what `query` returns. [Reading](../../docs/reading.md#parts-of-a-page)
says how it chooses.
"""


class Fact(NamedTuple):
    """A question that a page answers.

    Args:
        page: The folder and the name of the page.
        kind: Where the answer stands: ``price``, ``table``, ``list``, ``card``,
            ``footer``, ``code``, ``form``, ``caption``.
        question: The question.
        answer: The answer, as the page has it.
    """

    page: str
    kind: str
    question: str
    answer: str

    @property
    def is_aside(self) -> bool:
        """Whether it was set aside: no constant was chosen by looking at it alone."""
        return zlib.crc32(self.page.encode()) % 2 == 1


def load_facts() -> list[Fact]:
    """Return all facts, in the order of the file."""
    return [Fact(**json.loads(line)) for line in FACTS.read_text("utf-8").splitlines()]


def is_alive(answer: str, text: str) -> bool:
    """Return whether the Markdown *text* has the *answer*, and not only as a part of a
    longer word or number.
    """
    pattern = rf"(?<!\w)(?<!\d[.,]){re.escape(_plain(answer))}(?!\w|[.,]\d)"
    return re.search(pattern, _plain(text)) is not None


def _plain(markdown: str) -> str:
    bare = html.unescape(_LINK_TARGET.sub("]", markdown))
    return " ".join(re.sub(r"\\(?=[!-/:-@\[-`{-~])|\*\*|`", "", bare).split())


def interval(count: int, total: int) -> tuple[float, float]:
    """Return Wilson's interval of 95 % for a share."""
    share, spread = count / total, _Z**2 / total
    middle = share + spread / 2
    width = _Z * sqrt(share * (1 - share) / total + spread / (4 * total))
    return (middle - width) / (1 + spread), (middle + width) / (1 + spread)


def ask(page: Page, fact: Fact) -> bool:
    """Return whether the passages of *page* for the question of *fact* have the
    answer.
    """
    return is_alive(
        fact.answer,
        Excerpt(query=fact.question, max_tokens=MAX_TOKENS).of(page).content,
    )


def measure(facts: Sequence[Fact], read: Callable[[str], Page]) -> list[bool]:
    """Return for each fact whether it is alive; *read* returns a page by name."""
    pages: dict[str, Page] = {}
    for fact in facts:
        if fact.page not in pages:
            pages[fact.page] = read(fact.page)
    return [ask(pages[fact.page], fact) for fact in facts]


def describe(facts: Sequence[Fact], alive: dict[str, list[bool]]) -> Section:
    """Make the section with the tables: those set aside by reader, and by kind, and
    ours on the other half.
    """
    aside = [fact.is_aside for fact in facts]
    kinds = list(dict.fromkeys(fact.kind for fact in facts))

    def share(name: str, choose: Callable[[Fact], bool]) -> str:
        chosen = [
            one for one, fact in zip(alive[name], facts, strict=True) if choose(fact)
        ]
        if not chosen:
            return ""
        low, high = interval(sum(chosen), len(chosen))
        return (
            f"{sum(chosen)} of {len(chosen)}, {sum(chosen) / len(chosen):.0%} "
            f"({low:.0%} to {high:.0%})"
        )

    halves = [
        (
            name,
            share(name, lambda fact: fact.is_aside),
            share(name, lambda fact: not fact.is_aside),
        )
        for name in alive
    ]
    by_kind = [
        (
            kind,
            *(
                _count(alive[name], [fact.kind == kind for fact in facts])
                for name in alive
            ),
        )
        for kind in kinds
    ]
    kept = sum(
        one for one, is_aside in zip(alive[OURS.name], aside, strict=True) if is_aside
    )
    return Section(
        title="Facts alive",
        method=(
            f"{len(facts)} facts of {len({fact.page for fact in facts})} pages, chosen "
            f"from their HTML before any "
            f"reader was run on them; each was asked with `query` and "
            f"`max_tokens={MAX_TOKENS}`. A fact is alive if "
            "the excerpt has the answer as the page writes it. The other readers' "
            "Markdown went through our own picker "
            "with the same limit, so that the columns differ in what a reader keeps. "
            "Half of the pages, by a hash "
            "of their names, was set aside: rules and constants were chosen by the "
            "other half, and by the total of "
            "this one and its failures counted by cause. All pages are among those "
            "that "
            "our model of the main content is trained on. In brackets, intervals of 95 "
            "% (Wilson)."
        ),
        tables=[
            Table(("", "set aside", "the other half"), halves, numbers=False),
            Table(("all facts, by place", *alive), by_kind),
        ],
        goals=[
            Goal(
                f"at least {GOAL:.0%} of the facts set aside are alive",
                f"{kept / sum(aside):.1%}",
                kept >= GOAL * sum(aside),
            )
        ],
    )


def _count(alive: Iterable[bool], counts: Iterable[bool]) -> str:
    chosen = [one for one, is_counted in zip(alive, counts, strict=True) if is_counted]
    return f"{sum(chosen)} of {len(chosen)}"


def main() -> int:
    """Write the page, or say why not."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.facts")
    arguments.add_argument(
        "--peers",
        default=sys.executable,
        metavar="PYTHON",
        help="the Python that has the peers",
    )
    python = arguments.parse_args().peers
    if missing := [folder for folder in _FOLDERS if not (ROOT / folder).is_dir()]:
        print(
            f"skipped: {', '.join(missing)} not in ../shared/corpora/reading",
            file=sys.stderr,
        )
        return 0
    facts = load_facts()
    names = {fact.page for fact in facts}
    known = {
        f"{folder}/{page.name}": page
        for folder in _FOLDERS
        for page in load(ROOT / folder)
    }
    pages: dict[str, KnownPage] = {name: known[name] for name in names}
    del known

    def read(name: str) -> Page:
        return read_html(pages[name].data, pages[name].url, CONTENT_TYPE)

    alive = {
        OURS.name: measure(facts, read),
        "main content only": measure(
            facts, lambda name: read(name).model_copy(update={"rest": ""})
        ),
    }
    versions: dict[str, str] = {}
    for candidate in CANDIDATES:
        if not candidate.name.startswith(_PEERS) or candidate.name.startswith(
            "trafilatura,"
        ):
            continue
        try:
            with Reader(candidate, python) as reader:
                versions |= reader.versions

                def read_peer(name: str, reader: Reader = reader) -> Page:
                    page = pages[name]
                    return Page(
                        url=page.url,
                        content=reader.read(page.data, page.url, CONTENT_TYPE)[
                            "markdown"
                        ],
                    )

                alive[candidate.name] = measure(facts, read_peer)
        except Absent as error:
            print(f"skipped: {candidate.name}: {error}", file=sys.stderr)
    with_versions = ", ".join(
        f"{name} {version}" for name, version in sorted(versions.items())
    )
    store(
        _PAGE, f"{_HEAD}\n{describe(facts, alive)}\n\nMeasured with {with_versions}.\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
