"""Sections of a report, and the page of the documentation that they become."""

from __future__ import annotations
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_LIBRARIES = (
    "websearch-core", "langchain-websearch", "httpx", "pydantic", "langchain-core",
    "langchain", "langchain-tavily",
    "aiohttp", "requests",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Rows under a header. The first column is text; the others are right-aligned if
    *numbers* is true.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: bool = True

    def __str__(self) -> str:
        rule = ["---", *["--:" if self.numbers else "---"] * (len(self.head) - 1)]
        return "\n".join(
            "| " + " | ".join(row) + " |" for row in (self.head, rule, *self.rows)
        )


@dataclass(frozen=True)
class Goal:
    """A claim that should hold, what was measured, and whether the claim was met."""

    claim: str
    measured: str
    met: bool

    def __str__(self) -> str:
        return (
            f"- **{'met' if self.met else 'missed'}**: {self.claim}. Measured: "
            f"{self.measured}."
        )


@dataclass(frozen=True)
class Section:
    """One measurement.

    Args:
        title: What was measured.
        method: How it was measured, in a paragraph.
        tables: The results.
        goals: The goals that the results are judged by.
        remark: A paragraph of comment.
        plot: The path of a plot, relative to the page.
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
        parts = [
            f"## {self.title}",
            self.method,
            plot,
            *map(str, self.tables),
            goals,
            self.remark,
        ]
        return "\n\n".join(filter(None, parts))


def head() -> str:
    """Return the beginning of ``benchmarks/results/benchmarks.md``: what is compared, when
    and on which machine.
    """
    introduction = (
        "What this library costs compared with doing the same by hand, and with "
        "`langchain-tavily`, which calls "
        "the same service. Everything "
        "talks to a server on the same machine, so nothing here says how fast any "
        "service is. The contestants take "
        "turns and are compared within each turn: trust the ratios, which are medians "
        "of those comparisons, more than "
        "the times. A spread runs from the first to the third quartile. The sections "
        "on reading pages compare with "
        "other readers, and each says when and with which versions it was measured."
    )
    parts = [
        "<!-- Written by `make bench` and `make bench-reading`. Do not edit. -->",
        "# Benchmarks",
        introduction,
        "**0 of 0 goals were met.**",
        str(Table(("", ""), _describe_machine(), numbers=False)),
    ]
    return "\n\n".join(parts) + "\n\n"


def put(page: str, sections: Sequence[Section], beginning: str = "") -> str:
    """Replace the sections of a page that have the titles of *sections*, and update the
    count of goals.

    Args:
        page: The present text of the page.
        sections: The new sections; those with a new title are added at the end.
        beginning: The new beginning of the page; empty keeps the present one.
    """
    old, *texts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    by_title = {text.partition("\n")[0]: text.rstrip() for text in texts}
    by_title |= {f"## {section.title}": str(section) for section in sections}
    body = "\n\n".join(by_title.values())
    met, missed = (
        len(re.findall(rf"^- \*\*{outcome}\*\*: ", body, re.MULTILINE))
        for outcome in ("met", "missed")
    )
    counted = f"**{met} of {met + missed} goals were met.**"
    return (
        re.sub(
            r"^\*\*\d+ of \d+ goals .*$", counted, beginning or old, flags=re.MULTILINE
        )
        + body
        + "\n"
    )


def store(page: Path, text: str) -> None:
    """Write a *page* of measurements, and in its last line the commit that was
    measured.
    """
    text = re.sub(r"\n\nLast measured at commit [^\n]*", "", text.rstrip())
    page.write_text(f"{text}\n\nLast measured at commit {_find_commit()}.\n", "utf-8")


def _find_commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=_ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    changes = (
        " and changes"
        if git("status", "--porcelain", "--", "core/src", "*_websearch/src")
        else ""
    )
    return f"`{git('rev-parse', '--short=7', 'HEAD')}`{changes}"


def _describe_machine() -> list[tuple[str, str]]:
    return [
        ("measured", f"{datetime.now(UTC):%Y-%m-%d}, commit {_find_commit()}"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        (
            "machine",
            f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        ),
        *((name, _find_version(name)) for name in _LIBRARIES),
    ]


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def milliseconds(seconds: float) -> str:
    """Format a time with three significant digits."""
    value = seconds * 1000
    return (
        f"{value:.0f} ms"
        if value >= 100
        else f"{value:.1f} ms"
        if value >= 10
        else f"{value:.2f} ms"
    )


def times(ratio: float) -> str:
    """Format a ratio."""
    return f"{ratio:.2f}"
