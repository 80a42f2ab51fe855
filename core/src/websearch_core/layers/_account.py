"""Whose budget a call is charged to: a tenant and a run, as a context variable; and what each run has used."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from .._runtime.turns import tenant_scope
from ..errors import BudgetExceeded
from ._amounts import MILLION, Amount, Limit, format_amount

_MAX_RUNS = 10_000  # with names, counted at the same time; the one that was used least recently is forgotten


@dataclass(frozen=True)
class Account:
    """
    Who is charged.

    Args:
        tenant: The name of a customer, team or user; empty if the program has only one.
        run: What identifies a run: a name, or an object that lives as long; None for all calls of a `WebSearch`.

    """

    tenant: str = ""
    run: Any = None


_account: ContextVar[Account] = ContextVar("websearch_account", default=Account())  # noqa: B039 - it is frozen


def current_account() -> Account:
    """Return who is charged for the current call."""
    return _account.get()


@contextmanager
def charge_to(tenant: str | None = None, *, run: object = None) -> Iterator[None]:
    """
    Charge the calls in this block to the budget of a tenant, or of a run.

    The tools for LangChain and LlamaIndex name their run by themselves, and LangChain's the tenant, too: the
    ``tenant_id`` of the run's config, else its ``user_id``.

    Args:
        tenant: The name of the tenant; None leaves it as it is outside the block.
        run: What identifies the run: a name, or a hashable object that lives as long as the run; None leaves it as it
            is.

    """
    hash(run)
    account = _account.get()
    if tenant is not None:
        account = replace(account, tenant=str(tenant))
    if run is not None:
        account = replace(account, run=run)
    token = _account.set(account)
    try:
        with tenant_scope(account.tenant):
            yield
    finally:
        _account.reset(token)


@dataclass(eq=False)
class Runs:
    """What each run has used, in memory. A copy or pickle of it is empty."""

    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _by_name: dict[Any, dict[str, Amount]] = field(default_factory=dict, repr=False)
    _by_object: MutableMapping[Any, dict[str, Amount]] = field(default_factory=weakref.WeakKeyDictionary, repr=False)

    def __reduce__(self) -> tuple[type[Runs], tuple[()]]:
        return Runs, ()

    def add(self, account: Account, provider: str, amount: Amount, limits: Sequence[Limit] = ()) -> None:
        """
        Add *amount*, which may be negative, to what a run has used with a provider.

        Raises:
            BudgetExceeded: The run would pass one of the limits; nothing is added then.

        """
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
