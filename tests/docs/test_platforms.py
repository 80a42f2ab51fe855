"""docs/changing/platforms.md lists each place that asks for the system."""

from __future__ import annotations
import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core" / "src" / "websearch_core"
SOURCES = [
    *CORE.rglob("*.py"),
    *(ROOT / "langchain_websearch" / "src").rglob("*.py"),
    *(ROOT / "llamaindex_websearch" / "src").rglob("*.py"),
]
# Modules of the standard library that some systems do not have.
MODULES = {"fcntl", "grp", "msvcrt", "pwd", "resource", "termios", "winreg"}


def asks(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr="platform"):
            return True
        case ast.Attribute(value=ast.Name(id="os"), attr="name"):
            return True
        case ast.Call(
            func=ast.Name(id="hasattr" | "getattr"),
            args=[ast.Name(id="os" | "signal" | "socket"), *_],
        ):
            return True
        case ast.Import(names=names):
            return any(one.name in MODULES for one in names)
        case ast.ImportFrom(module=module):
            return module in MODULES
        case ast.Constant(value=str(text)):
            return text.startswith(("/proc/", "/sys/"))
    return False


def count_places(source: str) -> int:
    """Return the number of lines that ask."""
    tree = ast.parse(source)
    return len({node.lineno for node in ast.walk(tree) if asks(node)})


def test_each_place_that_asks_for_the_system_is_listed():
    page = (ROOT / "docs" / "changing" / "platforms.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w/]+\.py)` \| (\d+) \|", page, re.MULTILINE)
    listed = {CORE / name: int(count) for name, count in rows}
    counts = {path: count_places(path.read_text("utf-8")) for path in SOURCES}
    asking = {path: count for path, count in counts.items() if count}

    assert listed == asking


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("import sys\nif sys.platform == 'win32': pass", 1),
        ("import os\nif hasattr(os, 'geteuid') or os.name == 'nt': pass", 1),
        ("def lock():\n    import fcntl\n    from pwd import getpwnam", 2),
        ("Path('/proc/self/statm')", 1),
        ("import os, signal\nos.getpid()\nhasattr(path, 'name')", 0),
    ],
)
def test_a_place_is_a_line_that_asks(source, places):
    assert count_places(source) == places
