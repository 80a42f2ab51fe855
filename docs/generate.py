"""Write the parts of the documentation that the code knows best: ``make docs``."""

from __future__ import annotations

from pathlib import Path

from docs.generators import commands, providers, reference, settings
from docs.generators.markdown import replace_part

ROOT = Path(__file__).resolve().parents[1]


def render() -> dict[Path, str]:
    """Return what each page with generated parts should say."""
    docs = ROOT / "docs"
    return {
        docs / "api.md": reference.write_page(),
        docs / "providers.md": providers.write_page(),
        ROOT / "README.md": _fill(ROOT / "README.md", {"providers": providers.write_table()}),
        docs / "settings.md": _fill(docs / "settings.md", {"settings": settings.write_table()}),
        docs / "cli.md": _fill(docs / "cli.md", commands.write_tables()),
    }


def _fill(page: Path, parts: dict[str, str]) -> str:
    text = page.read_text("utf-8")
    for name, content in parts.items():
        text = replace_part(text, name, content)
    return text


if __name__ == "__main__":
    for path, text in render().items():
        path.write_text(text, "utf-8")
