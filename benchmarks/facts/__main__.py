"""Measure how many facts that a person sees on a page reach a model, and write
``benchmarks/results/facts.md``.

    python -m benchmarks.facts --peers build/peers/bin/python

``facts.jsonl`` has questions with their answers, chosen from the pages before any
reader was run on them (``README.md``). The pages are expected beside the repository, in
``../shared/corpora``: those that our model is trained on, recipes and products.
"""

from __future__ import annotations
import argparse
import gzip
import html
import json
import re
import sys
import zlib
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import compress
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from benchmarks.reading.candidates import CANDIDATES, OURS
from benchmarks.reading.process import Absent, Reader
from benchmarks.report import Goal, Section, Table, store
from training.corpus import CONTENT_TYPE, ROOT, load
from websearch_core._text.money import may_be_in, parse_number
from websearch_core.models import Page
from websearch_core.reading import Excerpt, read_html
from websearch_core.reading._charset import to_utf8
from websearch_core.reading._excerpt.window import without_targets
from websearch_core.tools._outputs import page_output

FACTS = Path(__file__).parent / "facts.jsonl"
MAX_TOKENS = 500
# What a model gets of a page, and the share of the facts set aside that is the goal.
WAYS = {
    OURS.name: (0.92, Excerpt(max_tokens=MAX_TOKENS)),
    f"{OURS.name}, 1,500 tokens": (0.97, Excerpt(max_tokens=1_500)),
    f"{OURS.name}, no query": (0.85, Excerpt(max_length=15_000)),
}
_PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "facts.md"
_FOLDERS = ("wcxb", "wcxb_more", "news")
_SHOPS = {"products": "url", "recipes": "canonical_url"}  # the name of the URL
_PEERS = (
    "trafilatura",
    "readability-lxml + markdownify",
    "resiliparse + markdownify",
    "html-to-markdown",
)
_Z = 1.96  # of an interval of 95 %
_PRICED = {"price", "money"}
_HEAD = """<!-- Written by `make bench-facts`. Do not edit. -->

# Facts that reach a model

How many of the facts that a person sees on a page are in what `query` returns. [Reading](../../docs/reading.md#parts-of-a-page)
says how it chooses.
"""


class Fact(NamedTuple):
    """A question that a page answers.

    Args:
        page: The folder and the name of the page.
        kind: Where the answer stands, or what is asked for, as in ``README.md``.
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
    bare = html.unescape(without_targets(markdown))
    return " ".join(re.sub(r"\\(?=[!-/:-@\[-`{-~])|\*\*|`", "", bare).split())


def interval(count: int, total: int) -> tuple[float, float]:
    """Return Wilson's interval of 95 % for a share."""
    share, spread = count / total, _Z**2 / total
    middle = share + spread / 2
    width = _Z * sqrt(share * (1 - share) / total + spread / (4 * total))
    return (middle - width) / (1 + spread), (middle + width) / (1 + spread)


def load_pages(names: Container[str]) -> dict[str, tuple[bytes, str]]:
    """Return the bytes and the URL of each page with one of *names*."""
    pages: dict[str, tuple[bytes, str]] = {}
    for folder in _FOLDERS:
        for page in load(ROOT / folder):
            if f"{folder}/{page.name}" in names:
                pages[f"{folder}/{page.name}"] = (page.data, page.url)
    for folder, name_of_url in _SHOPS.items():
        truth = (ROOT.parent / folder / "truth.jsonl").read_text("utf-8")
        for line in truth.splitlines():
            known = json.loads(line)
            path = ROOT.parent / folder / known["page"]
            name = f"{folder}/{path.name.removesuffix('.html.gz')}"
            url = known.get(name_of_url) or path.name.removesuffix(".html.gz")
            if "://" not in url:
                url = f"https://{url}/"
            if name in names:
                source = gzip.decompress(path.read_bytes())
                data = to_utf8(source, None, limit=len(source))[0]
                pages[name] = (data, url)
    return pages


def find_missing() -> list[str]:
    """Return the folders of pages that are not there."""
    folders = [ROOT / folder for folder in _FOLDERS]
    folders += [ROOT.parent / folder for folder in _SHOPS]
    return [str(folder) for folder in folders if not folder.is_dir()]


def ask(page: Page, fact: Fact, limit: Excerpt) -> bool:
    """Return whether what a tool shows a model of *page* for the question of *fact* has
    the answer: the passages, or the beginning if the limit is one of characters.
    """
    excerpt = limit
    if limit.max_tokens is not None:
        excerpt = replace(limit, query=fact.question)
    part = excerpt.of(page)
    text = str(page_output(part, "text", max_length=limit.max_length).content)
    return is_alive(fact.answer, text) or _is_stated(fact, page)


def _is_stated(fact: Fact, page: Page) -> bool:
    """Return whether the answer is the price in the line about the data of *page*,
    which has it as a number and a code: ``28.99 EUR``.
    """
    data = page.data
    if fact.kind not in _PRICED or data is None or data.price is None:
        return False
    is_same = parse_number(fact.answer) == parse_number(data.price)
    return is_same and may_be_in(data.currency or "", fact.answer)


def measure(
    facts: Sequence[Fact],
    read: Callable[[str], Page],
    limit: Excerpt | None = None,
) -> list[bool]:
    """Return for each fact whether it is alive; *read* returns a page by name."""
    read = cache(read)
    limit = limit or Excerpt(max_tokens=MAX_TOKENS)
    return [ask(read(fact.page), fact, limit) for fact in facts]


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
    goals: list[Goal] = []
    for name, (goal, _) in WAYS.items():
        if name not in alive:
            continue
        kept = sum(compress(alive[name], aside))
        goals.append(
            Goal(
                f"{name}: at least {goal:.0%} of the facts set aside are alive",
                f"{kept / sum(aside):.1%}",
                kept >= goal * sum(aside),
            )
        )
    return Section(
        title="Facts alive",
        method=(
            f"{len(facts)} facts of {len({fact.page for fact in facts})} pages, chosen "
            f"from their HTML before any "
            f"reader was run on them; each was asked with `query` and "
            f"`max_tokens={MAX_TOKENS}`. A fact is alive if "
            "the text that the tool shows a model has the answer as the page writes it: "
            "title, dates, the line about the data, the excerpt, and after it the things "
            "of a grid and what the page states beside its main text; a price, too, as "
            "the number that the line about "
            "the data has. Without a query, the "
            "excerpt is the first 15,000 characters. The other readers' "
            "Markdown went through our own picker "
            "with the same limit, so that the columns differ in what a reader keeps. "
            "Half of the pages, by a hash "
            "of their names, was set aside: rules and constants were chosen by the "
            "other half, and by the total of "
            "this one and its failures counted by cause. All pages but the recipes and "
            "products are among those that "
            "our model of the main content is trained on. In brackets, intervals of 95 "
            "% (Wilson)."
        ),
        tables=[
            Table(("", "set aside", "the other half"), halves, numbers=False),
            Table(("all facts, by place", *alive), by_kind),
        ],
        goals=goals,
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
    missing = find_missing()
    if missing:
        print(f"skipped: there is no {', '.join(missing)}", file=sys.stderr)
        return 0
    facts = load_facts()
    pages = load_pages({fact.page for fact in facts})

    @cache
    def read(name: str) -> Page:
        data, url = pages[name]
        return read_html(data, url, CONTENT_TYPE)

    alive = {name: measure(facts, read, limit) for name, (_, limit) in WAYS.items()}
    alive["main content only"] = measure(
        facts, lambda name: read(name).model_copy(update={"rest": "", "data": None})
    )
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
                    data, url = pages[name]
                    markdown = reader.read(data, url, CONTENT_TYPE)["markdown"]
                    return Page(url=url, content=markdown)

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
