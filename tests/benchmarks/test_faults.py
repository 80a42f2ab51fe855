"""The page about faults agrees with the table of them."""

from __future__ import annotations

from benchmarks.faults.page import PAGE, row
from tests.faults.table import FAULTS


def test_the_page_lists_every_fault_with_what_is_expected():
    text = PAGE.read_text("utf-8")

    assert f"**{len(FAULTS)} of {len(FAULTS)} faults end as expected**" in text, (
        "run make bench-faults"
    )
    assert [
        row(fault) for fault in FAULTS if f"| {' | '.join(row(fault))} |" not in text
    ] == []
