"""The pairs of old and new code, as tables for people and as blocks for programs."""

from __future__ import annotations
from collections.abc import Sequence

from docs.generators.markdown import make_table
from docs.generators.pairs import OLD_IMPORTS, PAIRS, Pair


def write_tables() -> dict[str, str]:
    """Return the tables of docs/migration.md by the names of its parts."""
    parts = {
        "langchain-search": [
            p for p in PAIRS if (p.framework, p.kind) == ("langchain", "search")
        ],
        "langchain-pages": [
            p for p in PAIRS if (p.framework, p.kind) == ("langchain", "pages")
        ],
        "llamaindex": [p for p in PAIRS if p.framework == "llamaindex"],
        "clients": [p for p in PAIRS if p.framework == "clients"],
    }
    return {
        name: make_table(("before", "now", "what comes back"), map(_row, pairs))
        for name, pairs in parts.items()
    }


def write_blocks() -> dict[str, str]:
    """Return the parts of docs/for-coding-agents.md: where the names are, and the pairs
    as code.
    """
    used = {
        name
        for pair in PAIRS
        for name in OLD_IMPORTS
        if f"{name}(" in pair.before or f"{name}." in pair.before
    }
    names = sorted(used - {"SoupStrainer"})
    old = make_table(
        ("old name", "from"),
        ((f"`{name}`", f"`{OLD_IMPORTS[name]}`") for name in names),
    )
    blocks = []
    for pair in PAIRS:
        imports = "\n".join(pair.imports())
        note = (
            f"  # {pair.differs.replace('[browser](browser.md)', 'browser')}"
            if pair.differs
            else ""
        )
        blocks.append(f"# before\n{pair.before}\n# now{note}\n{imports}\n{pair.now}")
    return {
        "old-names": old,
        "pairs": "\n\n".join(f"```text\n{block}\n```" for block in blocks),
    }


def _row(pair: Pair) -> Sequence[str]:
    return _code(pair.before), _code(pair.now), pair.differs or "the same"


def _code(code: str) -> str:
    """Return lines of code for a cell, each between backticks."""
    return "<br>".join(f"`{line.strip()}`" for line in code.splitlines())
