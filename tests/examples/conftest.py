"""The scripts in examples/, imported as they find each other when they run."""

from __future__ import annotations
import importlib
import sys
from pathlib import Path

import pytest
from llama_index.core.instrumentation import get_dispatcher

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def load_example(monkeypatch):
    """Return a function that imports a script by its name; the test runs without
    arguments of the command line.
    """
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "argv", ["example"])
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    known = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(known)


@pytest.fixture(autouse=True)
def _forget_handlers():
    """Take away the handlers of events that an example adds for its whole program."""
    dispatcher = get_dispatcher()
    before = [*dispatcher.event_handlers]
    yield
    dispatcher.event_handlers = before
