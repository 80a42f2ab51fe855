"""What a measurement reports, and how that becomes a page of the documentation."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

_LIBRARIES = (
    "websearch-core", "langchain-websearch", "httpx", "pydantic", "langchain-core", "langchain", "langchain-tavily",
    "aiohttp", "requests",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Rows under a head. The first column is text; the others are *numbers*, aligned to the right, or text as well."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: bool = True

    def __str__(self) -> str:
        rule = ["---", *["--:" if self.numbers else "---"] * (len(self.head) - 1)]
        return "\n".join("| " + " | ".join(row) + " |" for row in (self.head, rule, *self.rows))


@dataclass(frozen=True)
class Goal:
    """Something we want to be true, what was measured, and whether it was true this time."""

    wish: str
    measured: str
    met: bool

    def __str__(self) -> str:
        return f"- **{'met' if self.met else 'missed'}**: {self.wish}. Measured: {self.measured}."


@dataclass(frozen=True)
class Section:
    """
    One measurement.

    Args:
        title: What was measured.
        method: How, in a paragraph.
        tables: What came out.
        goals: Which of our goals that meets.
        remark: What to make of it, in a paragraph.
        plot: A file that shows it, as seen from the page.

    """

    title: str
    method: str
    tables: Sequence[Table]
    goals: Sequence[Goal]
    remark: str = ""
    plot: str = ""

    def __str__(self) -> str:
        plot = f"![{self.title}]({self.plot})" if self.plot else ""
        goals = "\n".join(map(str, self.goals))
        parts = [f"## {self.title}", self.method, plot, *map(str, self.tables), goals, self.remark]
        return "\n\n".join(filter(None, parts))


def head() -> str:
    """Return how ``docs/measured/benchmarks.md`` begins: what is compared there, when and on what it was measured."""
    introduction = (
        "What this costs beside the same thing done by hand, and beside "
        "[langchain-tavily](https://pypi.org/project/langchain-tavily/), which asks the same service. Everything talks "
        "to a server on the same machine, so nothing here says how fast any service is. The contestants take turns and "
        "are compared within each turn; trust the ratios, which are medians of those comparisons, more than the times. "
        "A spread is the first to the third quartile. The sections on reading pages compare with other readers, and "
        "say for themselves when and with what they were measured."
    )
    parts = [
        "<!-- Written by `make bench` and `make bench-reading`. Do not edit. -->",
        "# Benchmarks",
        introduction,
        "**0 of 0 goals were met.**",
        str(Table(("", ""), _machine(), numbers=False)),
    ]
    return "\n\n".join(parts) + "\n\n"


def put(page: str, sections: Sequence[Section], beginning: str = "") -> str:
    """
    Put *sections* into ``docs/measured/benchmarks.md``, where they replace those with the same titles, and recount the
    goals.

    Args:
        page: What is there.
        sections: Those that were measured.
        beginning: What the page shall begin with; as it does, if empty.

    """
    old, *texts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    by_title = {text.partition("\n")[0]: text.rstrip() for text in texts}
    by_title |= {f"## {section.title}": str(section) for section in sections}
    body = "\n\n".join(by_title.values())
    met, missed = (len(re.findall(rf"^- \*\*{outcome}\*\*: ", body, re.MULTILINE)) for outcome in ("met", "missed"))
    counted = f"**{met} of {met + missed} goals were met.**"
    return re.sub(r"^\*\*\d+ of \d+ goals .*$", counted, beginning or old, flags=re.MULTILINE) + body + "\n"


def _machine() -> list[tuple[str, str]]:
    return [
        ("measured", f"{datetime.now(UTC):%Y-%m-%d}"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("machine", f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores"),
        *((name, _version(name)) for name in _LIBRARIES),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def milliseconds(seconds: float) -> str:
    """Write a time with three digits that mean something."""
    value = seconds * 1000
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms"


def times(ratio: float) -> str:
    """Write a ratio."""
    return f"{ratio:.2f}"
