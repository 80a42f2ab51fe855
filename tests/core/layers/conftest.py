"""Layers that limit, on a clock that nobody waits for."""

from __future__ import annotations

import pytest

from tests.core.layers.simulation import Simulation


@pytest.fixture
def simulate(monkeypatch):
    """Make a `Simulation` whose clock is the one that paces are kept by."""

    def make(**how):
        simulation = Simulation(**how)
        monkeypatch.setattr(
            "websearch_core.layers._pace.monotonic", simulation.monotonic
        )
        return simulation

    return make
