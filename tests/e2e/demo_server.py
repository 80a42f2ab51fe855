"""``websearch mcp`` with an invented web, for clients: ``python demo_server.py
[OPTION]...``.
"""

from __future__ import annotations
import sys

from websearch_core import _cli
from websearch_core.testing import FakeWeb

KELP = {"title": "Kelp", "url": "https://sea.example/kelp", "snippet": "A brown alga."}

if __name__ == "__main__":
    sys.argv = ["websearch", "mcp", "--provider", "tavily", *sys.argv[1:]]
    with FakeWeb(
        results=[KELP], pages={KELP["url"]: "# Kelp\n\nKelp is a brown alga."}
    ).replace_providers():
        _cli.main()
