"""What a run may spend: dollars and requests, of all services and models together.

Both limits are checked before anything is sent. Dollars are counted by the lists of
prices of the services, and corrected by what they say they charged. Where there is no
list, a request counts `WORST_USD`, the most that a search costs on any list.
"""

from __future__ import annotations
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from websearch_core import Page, SearchResponse, WebSearchError
from websearch_core._runtime.scope import Account
from websearch_core.errors import BudgetExceeded
from websearch_core.flow import Call, Flow, Request
from websearch_core.flow._intercept import intercept
from websearch_core.layers import (
    Budget,
    Layer,
    ProviderWrapper,
    Rank,
    charge_to,
    leaves,
)
from websearch_core.layers._amounts import (
    MILLION,
    Amount,
    format_amount,
    parse_limits,
)
from websearch_core.layers._budget import BudgetProvider
from websearch_core.layers._prices import find_price
from websearch_core.layers._usage import Runs
from websearch_core.models import SearchQuery
from websearch_core.provider import Service
from websearch_core.provider._ports import Provider, Role, can
from websearch_core.providers import known, provider_class

WORST_USD = 0.05
# A request to one of the small models of this test, of at most 6,000 tokens and an
# answer of 1,000: the dearest of them costs USD 1 and 5 a million.
MODEL_USD = 0.02
_RUN = "first contact"


@dataclass(frozen=True)
class SharedBudget(Budget):
    """A budget that several `WebSearch` share."""

    runs: Runs = field(default_factory=Runs, compare=False)

    def start(self) -> Any:
        """Return a function that puts the budget around a provider."""
        return self._put_around

    def _put_around(self, inner: Provider) -> BudgetProvider:
        prices = {**find_missing_prices(leaves(inner)), **self.prices}
        return BudgetProvider(replace(self, prices=prices), self.runs, inner)


@dataclass(frozen=True)
class RequestLimit(Layer):
    """Raise `BudgetExceeded` before a request that would be one too many."""

    rank: ClassVar[int] = Rank.BUDGET - 1

    allowance: Allowance


class RequestLimitProvider(ProviderWrapper[RequestLimit]):
    """Counts each request of a provider before it is sent."""

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, and count the requests."""
        return intercept(super().search(query), self._count)

    def read(self, url: str, /) -> Flow[Page]:
        """Read, and count the requests."""
        return intercept(super().read(url), self._count)

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages, and count the requests."""
        return intercept(super().read_many(urls), self._count)

    def _count(self, effect: Request | Call) -> Flow[Any]:
        self.layer.allowance.count_request()
        return (yield effect)


class Allowance:
    """What may be spent, and what was.

    Args:
        usd: Dollars.
        requests: Requests to services and models.
    """

    def __init__(self, usd: float = 2.0, requests: int = 200) -> None:
        self.usd = usd
        self.requests = requests
        self.sent = 0
        self._lock = threading.Lock()
        self._runs = Runs()

    def arguments(self, *, is_free: bool = False) -> dict[str, Any]:
        """Return the arguments that keep a `WebSearch` within the limits; *is_free* if
        nobody can be charged, since its key is wrong.
        """
        prices: dict[str, str] = {}
        if is_free:
            prices = dict.fromkeys(known(), "0 USD")
        budget = SharedBudget(self._limit, prices=prices, runs=self._runs)
        return {"budget": budget, "layers": [RequestLimit(self)]}

    def charge(self) -> AbstractContextManager[None]:
        """Charge the calls in a block to this allowance."""
        return charge_to(run=_RUN)

    @property
    def _limit(self) -> str:
        return f"{self.usd:f} USD"

    def count_request(self) -> None:
        """Count a request that is about to be sent.

        Raises:
            BudgetExceeded: It would be one too many.
        """
        with self._lock:
            if self.sent >= self.requests:
                raise BudgetExceeded(
                    f"the limit of {self.requests} requests is used up"
                )
            self.sent += 1

    def charge_model(self, name: str) -> None:
        """Charge a request to a model that is about to be sent.

        Raises:
            BudgetExceeded: A limit does not allow it.
        """
        amount = Amount(usd=round(MODEL_USD * MILLION))
        account = Account(run=_RUN)
        self._runs.add(account, name, amount, parse_limits(self._limit))
        try:
            self.count_request()
        except BudgetExceeded:
            self._runs.add(account, name, Amount() - amount)
            raise

    def describe(self) -> str:
        """Return what was spent, for a person."""
        amounts = self._runs.used.find(_RUN).values()
        spent = format_amount(sum(amount.usd for amount in amounts), "usd")
        limit = f"of {self.usd:g} USD and {self.requests} requests"
        return f"{spent} by the lists of prices, {self.sent} requests; {limit}"


def find_missing_prices(providers: Iterable[Provider]) -> dict[str, str]:
    """Return the worst case for each call that has no price in dollars."""
    prices: dict[str, str] = {}
    roles: tuple[Role, ...] = ("search", "read")
    for provider in providers:
        for role in roles:
            if can(provider, role) and find_price(provider, role, {}).usd is None:
                prices[f"{provider.name}.{role}"] = f"{WORST_USD} USD"
    return prices


def find_dearest_search() -> float:
    """Return the most that a search costs on any list."""
    prices: list[float] = []
    for name in known():
        about = getattr(provider_class(name), "about", Service())
        prices += [price.usd for price in about.prices if price.usd]
    return max(prices)
