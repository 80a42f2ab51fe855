"""Which tests run all of what `make test` runs a part of: all sizes, combinations and pages. `make test-whole` does."""

from __future__ import annotations
import os

WHOLE = os.environ.get("WEBSEARCH_WHOLE") == "1"
