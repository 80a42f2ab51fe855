"""Limit how often the tools are called in one run."""

from __future__ import annotations
import threading
from collections.abc import Hashable
from typing import Any
from weakref import WeakKeyDictionary, ref

from ..errors import BudgetExceeded, ConfigurationError

_MAX_RUNS = 10_000  # counted at the same time; the one that was used least recently is forgotten


class Uses:
    """Counts the calls of each run, of one tool or of several together.

    *most* is the maximum number of calls; None allows any number.
    """

    def __init__(self, most: int | None = None) -> None:
        if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
            raise ConfigurationError(f"max_uses: must be a whole number of at least 1, or None, not {most!r}")
        self.most = most
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._by_name: dict[Hashable, int] = {}
        self._by_object: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {"most": self.most}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def count(self, run: Hashable) -> None:
        """Count a call of *run*; one that fails later counts, too. If it has no more, `BudgetExceeded` says so.

        The run is its name, or an object that lives as long as the run, and is not kept if it need not be.
        """
        if self.most is None:
            return
        with self._lock:
            counts: Any = self._by_object if _dies_with_its_run(run) else self._by_name
            used = counts.pop(run, 0)
            counts[run] = min(used + 1, self.most)  # at the end: the names used least recently come first
            while len(self._by_name) > _MAX_RUNS:
                del self._by_name[next(iter(self._by_name))]
        if used >= self.most:
            calls = "the one call" if self.most == 1 else f"all {self.most} calls"
            raise BudgetExceeded(
                f"{calls} of the web tools that this run may make are used up; do not call them again, and answer with "
                "what you have found so far"
            )


def _dies_with_its_run(run: Hashable) -> bool:
    """Return whether *run* is an object to refer to weakly, rather than a name."""
    try:
        ref(run)
    except TypeError:
        return False
    return not isinstance(run, str)
