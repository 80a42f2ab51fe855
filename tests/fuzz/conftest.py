"""Run every test that takes a ``target`` with each target of `targets.py`."""

from __future__ import annotations
import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "fuzz_targets", Path(__file__).with_name("targets.py")
)
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _module
_spec.loader.exec_module(_module)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "target" in metafunc.fixturenames:
        metafunc.parametrize(
            "target", _module.TARGETS.values(), ids=list(_module.TARGETS)
        )


@pytest.fixture
def targets():
    return _module.TARGETS
