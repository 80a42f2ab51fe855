"""Write the parts of the documentation that the code knows best: ``make docs``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from docs.generators import classes, commands, providers, reference, settings
from docs.generators.markdown import replace_part

ROOT = Path(__file__).resolve().parents[1]
PROVIDERS = ROOT / "core" / "src" / "websearch_core" / "providers" / "__init__.py"


def render() -> dict[Path, str]:
    """Return what each file with generated parts should say."""
    docs = ROOT / "docs"
    return {
        PROVIDERS: classes.write_module(PROVIDERS),
        docs / "providers.md": providers.write_page(),
        docs / "api.md": reference.write_page(),
        ROOT / "README.md": _fill(ROOT / "README.md", {"providers": providers.write_table()}),
        docs / "settings.md": _fill(docs / "settings.md", {"settings": settings.write_table()}),
        docs / "cli.md": _fill(docs / "cli.md", commands.write_tables()),
    }


def _fill(page: Path, parts: dict[str, str]) -> str:
    text = page.read_text("utf-8")
    for name, content in parts.items():
        text = replace_part(text, name, content)
    return text


def main() -> None:
    """Write what is out of date."""
    text = classes.write_module(PROVIDERS)
    if text != PROVIDERS.read_text("utf-8"):
        PROVIDERS.write_text(text, "utf-8")
        subprocess.run(
            [sys.executable, "-m", "docs.generate"], cwd=ROOT, check=True
        )  # the reference imports the module
        return
    for path, page in render().items():
        path.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
