"""Write what type checkers see in ``websearch_core/providers/__init__.py``: an import
and a name for each provider.
"""

from __future__ import annotations
import ast
import re
import textwrap
from pathlib import Path

from websearch_core._registry import built_in

_IMPORTS = re.compile(
    r"(?<=^if TYPE_CHECKING:\n)(?:    from \.\w+ import \w+\n)+", re.MULTILINE
)
_NAMES = re.compile(r"^__all__ = \[.*?^\]  # fmt: skip\n", re.MULTILINE | re.DOTALL)


def write_module(path: Path) -> str:
    """Return the module at *path* with the imports and the ``__all__`` that the table
    of providers calls for.
    """
    text = path.read_text("utf-8")
    imports = "".join(
        f"    from .{name} import {cls}\n"
        for cls, name in sorted(built_in().items(), key=lambda one: one[1])
    )
    tree = ast.parse(text)
    own = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module in {"_registry", "_info"}
        for alias in node.names
    }
    listed = " ".join(f'"{name}",' for name in sorted({*own, *built_in()}))
    names = textwrap.fill(listed, 88, initial_indent="    ", subsequent_indent="    ")
    return _NAMES.sub(
        lambda _: f"__all__ = [\n{names}\n]  # fmt: skip\n",
        _IMPORTS.sub(lambda _: imports, text),
    )
