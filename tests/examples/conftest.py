"""The scripts in examples/, imported as they find each other when they run."""

from __future__ import annotations
import importlib
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def load_example(monkeypatch):
    """Return a function that imports a script by its name; the test runs without arguments of the command line."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "argv", ["example"])
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    known = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(known)
