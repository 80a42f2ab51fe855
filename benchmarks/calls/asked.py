"""What the contestants ask in every search."""

from __future__ import annotations

KEY = "tvly-not-a-key-of-anybody"
QUERY = "how to rotate a key"

# What WebSearch sends for QUERY; the bare clients send the same.
BODY = {"query": QUERY, "max_results": 5, "search_depth": "basic", "topic": "general"}
HEADERS = {"Authorization": f"Bearer {KEY}"}
