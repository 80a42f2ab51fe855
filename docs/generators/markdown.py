"""Tables and marked parts of Markdown pages."""

from __future__ import annotations
import re
from collections.abc import Iterable, Sequence


def make_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], align: str = ""
) -> str:
    """Return a table.

    Args:
        head: The titles of the columns.
        rows: The cells, as Markdown; a ``|`` in them is escaped.
        align: For each column ``l`` or ``c``; all to the left if empty.
    """
    rules = [
        "-:"[kind == "c"] + "-" + "-:"[kind == "c"] for kind in align or "l" * len(head)
    ]
    lines = [" | ".join(map(_cell, row)) for row in rows]
    return "\n".join(
        [
            f"| {' | '.join(head)} |",
            f"|{'|'.join(rules)}|",
            *(f"| {line} |" for line in lines),
        ]
    )


def replace_part(page: str, name: str, content: str, file: str) -> str:
    """Put *content* between the two marks of the part *name* of a page.

    Args:
        page: The text of the page.
        name: The name of the part.
        content: What the part should say.
        file: Where the page is, for the error.

    Raises:
        ValueError: The page does not have the part exactly once.
    """
    begin, end = (
        f"<!-- begin {name}: written by make docs -->\n",
        f"<!-- end {name} -->\n",
    )
    parts = re.split(f"(?s)({re.escape(begin)}).*?({re.escape(end)})", page)
    if len(parts) != 4:
        cure = (
            "write these two lines where it belongs"
            if len(parts) == 1
            else "keep one pair of these two lines"
        )
        raise ValueError(
            f"{file} has the part {name!r} {len(parts) // 3} times: {cure}, then run "
            f"make docs\n{begin}{end.strip()}"
        )
    return f"{parts[0]}{begin}\n{content}\n\n{end}{parts[3]}"


def as_markdown(text: str) -> str:
    """Return a text of a docstring as Markdown: literals have one backtick there."""
    return " ".join(text.replace("``", "`").split())


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)
