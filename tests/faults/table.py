"""The matrix: all faults in order."""

from __future__ import annotations

from tests.faults import contents, ourselves, pages, services
from tests.faults.model import Case, Fault

FAULTS: tuple[Fault, ...] = (
    *services.FAULTS,
    *pages.FAULTS,
    *contents.FAULTS,
    *ourselves.FAULTS,
)
CASES: dict[str, Case] = {
    " ".join(
        filter(None, (str(fault.number), fault.name, case.where, case.name[:40]))
    ): case
    for fault in FAULTS
    for case in fault.cases
}
