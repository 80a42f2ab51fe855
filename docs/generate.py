"""Write the parts of the documentation that the code knows best: ``make docs``."""

from __future__ import annotations
import importlib
from pathlib import Path

import websearch_core.providers
from docs.generators import (
    classes,
    commands,
    errors,
    llms,
    migration,
    providers,
    reference,
    settings,
)
from docs.generators.markdown import replace_part

ROOT = Path(__file__).resolve().parents[1]
_CLASSES = ROOT / "core" / "src" / "websearch_core" / "providers" / "__init__.py"


def render() -> dict[Path, str]:
    """Return what each file with generated parts should say."""
    docs = ROOT / "docs"
    return {
        _CLASSES: classes.write_module(_CLASSES),
        docs / "providers.md": providers.write_page(),
        docs / "api.md": reference.write_page(),
        **{
            page: _fill(page, {"services": providers.write_names()})
            for page in (
                ROOT / "langchain_websearch" / "README.md",
                ROOT / "llamaindex_websearch" / "README.md",
            )
        },
        docs / "settings.md": _fill(
            docs / "settings.md",
            {"settings": settings.write_table(), "sources": settings.write_sources()},
        ),
        docs / "errors.md": _fill(docs / "errors.md", {"codes": errors.write_table()}),
        docs / "cli.md": _fill(docs / "cli.md", commands.write_parts()),
        docs / "llms.txt": llms.write_page(docs),
        docs / "for-coding-agents.md": _fill(
            docs / "for-coding-agents.md", migration.write_blocks()
        ),
    }


def _fill(page: Path, parts: dict[str, str]) -> str:
    text = page.read_text("utf-8")
    for name, content in parts.items():
        text = replace_part(text, name, content, str(page.relative_to(ROOT)))
    return text


if __name__ == "__main__":
    _CLASSES.write_text(classes.write_module(_CLASSES), "utf-8")
    # the reference lists its names, a new provider's included
    importlib.reload(websearch_core.providers)
    for path, text in render().items():
        path.write_text(text, "utf-8")
