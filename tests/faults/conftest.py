"""Each fault is met with one HTTP library in `make test`, and with the other one, too, in
`make test-apart`.
"""

from __future__ import annotations
from pathlib import Path

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if item.path.parent == HERE and params.get("library") == "httpx2":
            item.add_marker("apart")
