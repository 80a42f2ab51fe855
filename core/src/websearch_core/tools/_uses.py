"""Limit how often the tools are called in one run."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import BudgetExceeded, ConfigurationError

_MAX_RUNS = 10_000  # counted at the same time; the one that was used least recently is forgotten


class Uses:
    """
    Counts the calls of each run, of one tool or of several together.

    Args:
        most: Maximum number of calls; None for any number.

    Raises:
        ConfigurationError: *most* is not a positive whole number.

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

    def count(self, run: Hashable, *, is_name: bool = True) -> None:
        """
        Count a call of *run*; one that fails later counts, too.

        Args:
            run: The run: any value that identifies it.
            is_name: False for an object that lives as long as the run and is too large to be kept.

        Raises:
            BudgetExceeded: The run has no more calls. The message tells the model to finish.

        """
        if self.most is None:
            return
        with self._lock:
            used = self._by_name.pop(run, 0) if is_name else self._by_object.get(run, 0)
            counts: Any = self._by_name if is_name else self._by_object
            counts[run] = min(used + 1, self.most)
            while len(self._by_name) > _MAX_RUNS:
                del self._by_name[next(iter(self._by_name))]
        if used >= self.most:
            calls = "the one call" if self.most == 1 else f"all {self.most} calls"
            raise BudgetExceeded(
                f"{calls} of the web tools that this run may make are used up; do not call them again, and answer with "
                "what you have found so far"
            )
