"""Measure how many script-rendered pages each reader reads right: the pages of
tests/browser/site.
"""

from __future__ import annotations
import asyncio
import json
import re
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Table
from tests.browser.site.cases import CASES, Case
from tests.browser.site.server import serve
from websearch_core import WebSearch
from websearch_core.errors import WebSearchError

LEAST = 0.9  # word F1
OURS = {
    "`direct`": "direct",
    "`browser`": "browser",
    "`direct,browser`": "direct,browser",
}
PEERS = {
    "LangChain's `PlaywrightURLLoader`": "langchain",
    "Crawl4AI": "crawl4ai",
    "Crawl4AI that waits, scrolls, enters frames and removes overlays": "crawl4ai-thorough",
}
METHOD = """{count} pages, built with React, Vue, Svelte and plain scripts, are served on loopback. A page counts as
read right if word F1 of its text against what a person came for is at least {least}, so that menus and banners count
against a reader too; one page shows nothing, and only an error is right there. Each reader gets one page at a time.
`direct` runs no scripts, and says so with `NeedsBrowser` for {needed} pages that it cannot read: there the chain goes
on. Peers run with their defaults, unless stated. Seconds are medians on a shared machine with two cores."""


class Outcome(NamedTuple):
    """What a reader made of a page: its text, None for an error, the code of our error,
    and the seconds it took.
    """

    text: str | None
    seconds: float
    code: str = ""


def read_ours(reader: str, urls: Sequence[str]) -> list[Outcome]:
    """Read pages with one of our readers."""

    async def read_all() -> list[Outcome]:
        web, outcomes = WebSearch(reader=reader, internal=["127.0.0.0/8"], retry=1), []
        for url in urls:
            began = time.monotonic()
            try:
                page = await web.aread(url, max_length=200_000)
                outcomes.append(Outcome(page.content, time.monotonic() - began))
            except WebSearchError as error:
                outcomes.append(Outcome(None, time.monotonic() - began, error.code))
        return outcomes

    return asyncio.run(read_all())


def read_theirs(
    python: str, name: str, executable: Path, urls: Sequence[str]
) -> list[Outcome]:
    """Read pages with a reader in another environment; the pages that it does not come
    to are errors.
    """
    command = [
        python,
        str(Path(__file__).with_name("readers.py")),
        name,
        str(executable),
    ]
    done = subprocess.run(
        command, input=json.dumps(urls), stdout=subprocess.PIPE, text=True, check=False
    )
    found = [
        Outcome(**json.loads(line))
        for line in done.stdout.splitlines()
        if line.startswith('{"text"')
    ]
    if not found:
        raise RuntimeError(f"{name} does not run: {' '.join(command)}")
    return found + [Outcome(None, 0.0)] * (len(urls) - len(found))


def is_right(case: Case, outcome: Outcome) -> bool:
    """Return whether a page was read right."""
    if case.truth is None or outcome.text is None:
        return case.truth is None and outcome.text is None
    return measure(outcome.text, case.truth) >= LEAST


def measure(said: str, truth: str) -> float:
    """Return the word F1, without the targets of links."""
    found = Counter(re.findall(r"\w+", re.sub(r"\]\([^)\s]*\)", "]", said)))
    wanted = Counter(re.findall(r"\w+", truth))
    return 2 * (found & wanted).total() / max(found.total() + wanted.total(), 1)


def measure_pages(path: Path, peers: dict[str, str]) -> str:
    """Return the section of the report.

    Args:
        path: The browser that the peers use.
        peers: The Python of the environment of each peer; those that are missing are
            left out.
    """
    runs: dict[str, Callable[[Sequence[str]], list[Outcome]]] = {
        label: partial(read_ours, name) for label, name in OURS.items()
    }
    for label, name in PEERS.items():
        if peers.get(name):
            runs[label] = partial(read_theirs, peers[name], name, path)
    outcomes: dict[str, list[Outcome]] = {}
    for label, run in runs.items():
        with serve() as origin:
            outcomes[label] = run([origin + case.path for case in CASES])
    right = {
        label: [is_right(*pair) for pair in zip(CASES, some, strict=True)]
        for label, some in outcomes.items()
    }
    rows = [
        [
            label,
            f"{sum(right[label])} of {len(CASES)}",
            f"{statistics.median(one.seconds for one in outcomes[label]):.1f}",
        ]
        for label in runs
    ]
    wrong = [
        [
            case.name,
            case.way,
            *("yes" if right[label][number] else "no" for label in runs),
        ]
        for number, case in enumerate(CASES)
    ]
    unread = [
        outcome
        for outcome, is_read in zip(
            outcomes["`direct`"], right["`direct`"], strict=True
        )
        if not is_read
    ]
    method = METHOD.format(
        count=len(CASES),
        least=LEAST,
        needed=f"{sum(outcome.code == 'needs_browser' for outcome in unread)} of the "
        f"{len(unread)}",
    )
    return "\n\n".join((
        method,
        str(Table(("reader", "read right", "s a page"), rows)),
        str(Table(("page", "how it can be misread", *runs), wrong, numbers=False)),
    ))  # fmt: skip


if __name__ == "__main__":
    import sys

    from websearch_core._browser.find import find_browser

    print(measure_pages(find_browser(), dict(one.split("=") for one in sys.argv[1:])))
