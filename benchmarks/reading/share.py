"""Measure how much of a page the reader takes away, which a model would otherwise pay
for.
"""

from __future__ import annotations
import statistics
from collections.abc import Mapping, Sequence

from benchmarks.report import Goal, Section, Table
from training.corpus import CONTENT_TYPE, Page
from websearch_core.errors import WebSearchError
from websearch_core.reading import read_bytes
from websearch_core.tokens import estimate_tokens

_GOAL = 0.8  # of a page in the middle
_ALL = "all"

# bytes of HTML and of Markdown, and the tokens of both
Sizes = tuple[int, int, int, int]


def measure(pages: Sequence[Page]) -> dict[str, list[Sizes]]:
    """Return for each kind of page the sizes before and after reading; pages that
    cannot be read are left out.
    """
    found: dict[str, list[Sizes]] = {_ALL: []}
    for page in pages:
        try:
            text = read_bytes(page.data, page.url, CONTENT_TYPE).content
        except WebSearchError:
            continue
        html = page.data.decode("utf-8", "replace")
        sizes = (
            len(page.data),
            len(text.encode()),
            estimate_tokens(html),
            estimate_tokens(text),
        )
        for kind in (page.kind, _ALL):
            found.setdefault(kind, []).append(sizes)
    return found


def section(found: Mapping[str, Sequence[Sizes]], measured: str) -> Section:
    """Report what was *found*; *measured* is a sentence that says when and with which
    versions.
    """
    median = statistics.median(map(_share, found[_ALL]))
    return Section(
        title="Reading pages: what is taken away",
        method=(
            f"The {len(found[_ALL])} pages of WCXB, as bytes of HTML and as bytes of "
            f"the whole Markdown that the "
            "reader returns, before any limit on its length. Scripts, styles, "
            "navigation, advertisements and markup "
            "are what is missing; how much of the content is kept is measured "
            "[above](#reading-pages-quality). Half "
            "of the pages are between the quartiles. *In all* is the share of all "
            "bytes together, in which large "
            f"pages count more. Tokens are those of "
            f"`websearch_core.tokens.estimate_tokens`. {measured}"
        ),
        tables=[
            Table(
                (
                    "kind",
                    "pages",
                    "taken away, median",
                    "quartiles",
                    "in all",
                    "tokens of HTML",
                    "tokens of Markdown",
                ),
                [
                    _row(kind, sizes)
                    for kind, sizes in sorted(
                        found.items(), key=lambda item: (item[0] == _ALL, item)
                    )
                ],
            )
        ],
        goals=[
            Goal(
                f"a page in the middle loses at least {_GOAL:.0%} of its bytes",
                f"{median:.0%}",
                median >= _GOAL,
            ),
        ],
    )


def _share(sizes: Sizes) -> float:
    return 1 - sizes[1] / sizes[0]


def _row(kind: str, sizes: Sequence[Sizes]) -> tuple[str, ...]:
    shares = [_share(one) for one in sizes]
    low, _, high = statistics.quantiles(shares, n=4)
    before, after = (sum(one[place] for one in sizes) for place in (0, 1))
    tokens = [
        f"{statistics.median(one[place] for one in sizes):,.0f}" for place in (2, 3)
    ]
    return (
        kind,
        str(len(sizes)),
        f"{statistics.median(shares):.0%}",
        f"{low:.0%} to {high:.0%}",
        f"{1 - after / before:.0%}",
        *tokens,
    )
