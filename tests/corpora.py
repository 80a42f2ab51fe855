"""Public pages and texts that some tests read, and that are not in the repository.

'Data from elsewhere' in CONTRIBUTING.md says what they are and where they come from.
"""

from __future__ import annotations
import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpora"
# The folder with all of them: beside the repository, or where the variable says.
CORPORA = Path(os.environ.get("WEBSEARCH_CORPORA") or _BESIDE)


def needs(folder: Path) -> pytest.MarkDecorator:
    """Skip a test where *folder* of the corpora is missing, and say so."""
    return pytest.mark.skipif(
        not folder.is_dir(),
        reason=f"no {folder}: 'Data from elsewhere' in CONTRIBUTING.md",
    )
