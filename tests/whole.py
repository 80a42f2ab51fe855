"""Whether tests cover every size, combination and page (`make test-whole`), or only a
part of them (`make test`).
"""

from __future__ import annotations
import os

WHOLE = os.environ.get("WEBSEARCH_WHOLE") == "1"
