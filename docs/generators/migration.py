"""The pairs of old and new code, as blocks for programs and people."""

from __future__ import annotations
from collections.abc import Iterable, Sequence

from docs.generators.pairs import PAIRS, Pair

# The parts of section 7: docs/migration.md links to their headings.
_PARTS = {
    "LangChain: searching": ("langchain", "search"),
    "LangChain: pages": ("langchain", "pages"),
    "LlamaIndex: searching": ("llamaindex", "search"),
    "LlamaIndex: pages": ("llamaindex", "pages"),
    "Clients: searching": ("clients", "search"),
    "Clients: pages": ("clients", "pages"),
}


def write_blocks() -> dict[str, str]:
    """Return the part of docs/for-coding-agents.md with the pairs as code."""
    parts = []
    for heading, place in _PARTS.items():
        pairs = [pair for pair in PAIRS if (pair.framework, pair.kind) == place]
        code = "\n\n".join(write_diff(group) for group in _group(pairs))
        parts.append(f"### {heading}\n\n```diff\n{code}\n```")
    return {"pairs": "\n\n".join(parts)}


def _group(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Put together pairs of one old line each that become the same."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        is_line = "\n" not in pair.before
        key = f"{pair.differs}\n{pair.now}" if is_line else pair.name
        groups.setdefault(key, []).append(pair)
    return list(groups.values())


def write_diff(pairs: Sequence[Pair]) -> str:
    """Return pairs with the same new code as a diff, with what the values differ in."""
    lines = [_mark("-", pair.before) for pair in pairs]
    if pairs[0].differs:
        lines.append(f"# {pairs[0].differs}")
    return "\n".join([*lines, _mark("+", pairs[0].now)])


def _mark(sign: str, code: str) -> str:
    return "\n".join(f"{sign}{line}" for line in code.splitlines())
