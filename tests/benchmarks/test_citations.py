"""What the benchmark of the citation check computes."""

from __future__ import annotations

import pytest

from benchmarks.citations.__main__ import find_area


@pytest.mark.parametrize(
    ("right", "wrong", "area"),
    [([2, 3], [0, 1], 1.0), ([0], [1], 0.0), ([1, 1], [1], 0.5), ([2, 0], [1], 0.5)],
)
def test_the_area_under_the_curve(right, wrong, area):
    assert find_area(right, wrong) == area
