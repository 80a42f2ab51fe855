"""The pairs of old and new code, as blocks for programs and people."""

from __future__ import annotations
import re

from docs.generators.markdown import make_table
from docs.generators.pairs import OLD_IMPORTS, PAIRS, Pair

# The parts of section 8: docs/migration.md links to their headings.
_PARTS = {
    "LangChain: searching": ("langchain", "search"),
    "LangChain: pages": ("langchain", "pages"),
    "LlamaIndex: searching": ("llamaindex", "search"),
    "LlamaIndex: pages": ("llamaindex", "pages"),
    "Clients: searching": ("clients", "search"),
    "Clients: pages": ("clients", "pages"),
}


def write_blocks() -> dict[str, str]:
    """Return the parts of docs/for-coding-agents.md: where the names are, and the pairs
    as code.
    """
    parts = []
    for heading, place in _PARTS.items():
        pairs = [pair for pair in PAIRS if (pair.framework, pair.kind) == place]
        blocks = "\n\n".join(f"```text\n{_block(pair)}\n```" for pair in pairs)
        parts.append(f"### {heading}\n\n{blocks}")
    return {"old-names": _list_names(), "pairs": "\n\n".join(parts)}


def _list_names() -> str:
    """Return a row for each module of other packages, with the names from it that the
    pairs have.
    """
    code = "\n".join(pair.before for pair in PAIRS)
    by_module: dict[str, list[str]] = {}
    for name in sorted(OLD_IMPORTS):
        # what takes part in a call, but is nothing to replace
        if name != "SoupStrainer" and re.search(rf"{name}[(.]", code):
            by_module.setdefault(OLD_IMPORTS[name], []).append(f"`{name}`")
    rows = [
        (f"`{module}`", ", ".join(names)) for module, names in sorted(by_module.items())
    ]
    return make_table(("from", "old names"), rows)


def _block(pair: Pair) -> str:
    note = f"  # {pair.differs}" if pair.differs else ""
    return f"# before\n{pair.before}\n# now{note}\n{pair.now}"
