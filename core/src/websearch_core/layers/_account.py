"""What each run has used."""

from __future__ import annotations
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from .._runtime.scope import Account
from ..errors import BudgetExceeded
from ._amounts import MILLION, Amount, Limit, format_amount

_MAX_RUNS = 10_000  # with names, counted at the same time; the one that was used least recently is forgotten


class Runs:
    """What each run has used, in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_name: dict[Any, dict[str, Amount]] = {}
        self._by_object: weakref.WeakKeyDictionary[Any, dict[str, Amount]] = weakref.WeakKeyDictionary()

    def add(self, account: Account, provider: str, amount: Amount, limits: Sequence[Limit] = ()) -> None:
        """Add *amount* to what a run has used; if that would pass a limit, raise `BudgetExceeded` instead."""
        with self._lock:
            used = self._find(account.run)
            for limit in limits:
                more = amount.of(limit.unit)
                mine = [used.get(provider, Amount())] if limit.unit == "credits" else used.values()
                spent = sum(one.of(limit.unit) for one in mine)
                if more > 0 and spent + more > limit.amount:
                    raise exceeded(limit, spent, provider)
            used[provider] = used.get(provider, Amount()) + amount

    def _find(self, run: object) -> dict[str, Amount]:
        try:
            weakref.ref(run)
        except TypeError:  # a name
            self._by_name[run] = used = self._by_name.pop(run, {})
            while len(self._by_name) > _MAX_RUNS:
                del self._by_name[next(name for name in self._by_name if name is not None)]
            return used
        return self._by_object.setdefault(run, {})


def exceeded(limit: Limit, spent: int, provider: str, again: str = "") -> BudgetExceeded:
    """Make the error for a call that would pass *limit*; *again* is the day on which the next period begins."""
    what = f" of {provider}" if limit.unit == "credits" else ""
    each = " (one call may have sent several requests)" if limit.unit == "calls" else ""
    then = f"it begins again on {again} (UTC)" if again else "answer with what has been found so far"
    return BudgetExceeded(
        f"the budget of {limit}{what} does not allow this call to {provider}: {format_amount(spent, limit.unit)} "
        f"{'is' if spent == MILLION else 'are'} used up{each}; {then}"
    )
