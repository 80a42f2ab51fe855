"""The memory of processes (Linux). Needs the standard library only: peers run it in
their own environment.
"""

from __future__ import annotations
import contextlib
from pathlib import Path


def proportional(root: int) -> int:
    """Return the bytes of what *root* has started, shared pages counted in parts (PSS),
    without *root* itself.
    """
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            parents[int(entry.name)] = int(
                (entry / "stat").read_text().rpartition(")")[2].split()[1]
            )
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    total = 0
    for pid in found - {root}:
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += int(text.partition("\nPss:")[2].split()[0]) * 1024
    return total
