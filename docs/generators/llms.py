"""The file ``llms.txt``: the pages of the documentation, for programs that read it."""

from __future__ import annotations
import re
from pathlib import Path

_FIRST = "for-coding-agents.md"
_ABOUT = (
    "Web search and page reading for LangChain, LlamaIndex, MCP, a shell and plain "
    "Python: one interface to many "
    "search services, pages from public addresses only, typed errors, numbered sources."
)


def write_page(docs: Path) -> str:
    """Return the file: the page for coding agents, then the lists of the index under
    their headings.

    Args:
        docs: The folder of the documentation.
    """
    parts = [
        "# websearch",
        f"> {_ABOUT}",
        f"## To move a project\n\n{_describe(docs, _FIRST)}",
    ]
    start = "\n".join(
        _describe(docs, path.relative_to(docs).as_posix())
        for path in sorted(docs.glob("start/*.md"))
    )
    if start:
        parts.append(f"## Start in five minutes\n\n{start}")
    section = "Pages"
    items: dict[str, list[str]] = {}
    for line in (docs / "index.md").read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"## (.+)|(\w[^\[]*):", line):
            section = heading[1] or heading[2]
        elif (link := re.match(r"- \[[^]]+\]\(([^)#]+\.md)\)", line)) and not link[
            1
        ].startswith(("../", _FIRST)):
            items.setdefault(section, []).append(line)
    parts += [f"## {name}\n\n" + "\n".join(lines) for name, lines in items.items()]
    return "\n\n".join(parts) + "\n"


def _describe(docs: Path, page: str) -> str:
    """Return the item of a *page*: its title, and the sentence that it begins with."""
    title, text = re.findall(
        r"^# (.+)\n+((?:.+\n)+)", (docs / page).read_text("utf-8")
    )[0]
    sentence = " ".join(text.split()).partition(". ")[0].rstrip(".")
    return f"- [{title}]({page}): {sentence}."
