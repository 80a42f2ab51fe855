"""The pairs of old and new code, as tables for people and as blocks for programs."""

from __future__ import annotations
import json
from collections.abc import Sequence

from docs.generators.markdown import make_table
from docs.generators.pairs import OLD_IMPORTS, OUTCOMES, PAIRS, Pair


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


def write_measurements() -> dict[str, str]:
    """Return the parts of docs/measured/migration.md: what each old package gave of
    what was there.
    """
    recorded = json.loads(OUTCOMES.read_text("utf-8"))
    versions = ", ".join(
        f"{name} {version}" for name, version in recorded["packages"].items()
    )
    rows = []
    for pair in PAIRS:
        old = recorded["pairs"][pair.name]
        facts = [
            fact
            for fact in old["facts"]
            if pair.kind != "pages" or not fact.startswith("http://")
        ]
        menu = str(len(old["noise"])) if pair.kind == "pages" else ""
        rows.append(
            (
                _code(pair.before),
                str(len(facts)),
                menu,
                "the same" if not pair.differs else "all of them",
            )
        )
    same = sum(not pair.differs for pair in PAIRS)
    summary = (
        f"{len(PAIRS)} pairs were run. In {same}, both sides give the same value; in "
        f"the other {len(PAIRS) - same}, "
        "the new side has every title and text that the old one has, in another form."
    )
    table = make_table(
        ("old code", "titles, URLs and texts", "lines of menus", "the new code gives"),
        rows,
    )
    return {"packages": versions + ".", "outcomes": f"{summary}\n\n{table}"}


def _row(pair: Pair) -> Sequence[str]:
    return _code(pair.before), _code(pair.now), pair.differs or "the same"


def _code(code: str) -> str:
    """Return lines of code for a cell, each between backticks."""
    return "<br>".join(f"`{line.strip()}`" for line in code.splitlines())
