"""The pairs of old and new code, as blocks for programs and people."""

from __future__ import annotations

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
        code = "\n\n".join(_block(pair) for pair in pairs)
        parts.append(f"### {heading}\n\n```text\n{code}\n```")
    return {"pairs": "\n\n".join(parts)}


def _block(pair: Pair) -> str:
    note = f"  # {pair.differs}" if pair.differs else ""
    return f"# before\n{pair.before}\n# now{note}\n{pair.now}"
