"""Limit what calls may use: a number of calls, credits or dollars."""

from __future__ import annotations
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
)

from .._runtime.scope import Account, current_call
from ..errors import ConfigurationError, Unavailable, WebSearchError
from ..events import Charge, emit
from ..flow import Call, Flow, Request
from ..flow._intercept import Auxiliary, AuxiliaryCall, hold, intercept, is_held
from ..flow._targets import was_refused
from ..models import Page, SearchQuery, SearchResponse
from ..provider._declare import ProjectFile
from ..provider._ports import Provider, Role, can
from ._amounts import MILLION, Amount, Limit, parse_limits
from ._layer import Layer, ProviderWrapper, Rank, leaves
from ._prices import (
    Estimate,
    Prices,
    check_prices,
    correct,
    estimate,
    find_price,
    unknown_price,
)
from ._single_flight import is_free
from ._usage import Runs, UsageFile

if TYPE_CHECKING:
    from ._shared_usage import SharedUsage

T = TypeVar("T")
_Answers: TypeAlias = Sequence[SearchResponse | Page]
OnFileError: TypeAlias = Literal["raise", "ignore"]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Budget(Layer):
    """Raise `BudgetExceeded` before a call that would pass a limit; count what is used.

    ::

        WebSearch(budget="1 USD/day")
        WebSearch(budget=["10 USD/day", "1 USD/day per tenant", "20 calls"])

    Every attempt counts, also one that fails, since a service may bill it. It is one
    call, however many requests it sends, such as for several pages of results. An
    answer from a cache is free. What a call will cost is estimated by the list of
    prices in ``about`` of the provider, or by *prices*, and corrected by what the
    service says it charged, unless that is more than 100 times the estimate. A limit
    can be passed by as much as a call costs more than that, and no more.

    Args:
        limit: One limit or several: ``"20 calls"`` in a run, ``"500 credits/month"``,
            ``"1 USD/day"``, and ``"0.1 USD/day per tenant"``. Days and months are those
            of UTC. A run is what `charge_to` names, as tools do; without it, all calls
            of one `WebSearch`. Credits are counted for each provider. None only counts.
        prices: What a request costs, where it is not known or differs from the list:
            ``{"exa": "0.007 USD"}``, or ``{"exa.read": "0.001 USD"}`` for each page.
        usage_file: The file that counts what is used, for all programs that name it; by
            default, ``usage.db`` in the user's data folder. Limits for a run need no
            file; without others, nothing is written unless it is named.
        on_file_error: What to do if the file, or Redis, cannot be used: ``raise``, so
            that nothing is spent unseen, or ``ignore`` the limits for days and months,
            with a warning in the log.
        shared: A URL of Redis (``redis://localhost:6379/0``) that counts instead of the
            file, for all machines that name it.

    Raises:
        ConfigurationError: A limit or a price is wrong; or it is not known what the
            provider charges.
    """

    rank: ClassVar[int] = Rank.BUDGET

    limit: Annotated[str | Sequence[str] | None, ProjectFile(narrows=True)] = None
    prices: Prices = field(default_factory=dict)
    usage_file: Path | str | None = None
    on_file_error: OnFileError = "raise"
    shared: str | None = field(default=None, repr=False)  # it may have a password

    def __post_init__(self) -> None:
        check_prices(self.prices)
        if self.on_file_error not in get_args(OnFileError):
            raise ConfigurationError(
                f"Budget: on_file_error: must be one of "
                f"{', '.join(get_args(OnFileError))}"
            )
        self._check_file()
        parse_limits(self.limit)
        self.find_store()

    def find_store(self) -> UsageFile | SharedUsage:
        """Return what counts days and months."""
        if self.shared is None:
            return UsageFile.at(self.usage_file)
        if self.usage_file is not None:
            raise ConfigurationError("Budget: give usage_file or shared, not both")
        from ._shared_usage import SharedUsage

        return SharedUsage(self.shared)

    def _check_file(self) -> None:
        if self.usage_file is None:
            return
        is_path = isinstance(self.usage_file, Path | str)
        if not is_path or not str(self.usage_file):
            raise ConfigurationError("Budget: usage_file: must be a path")

    def start(self) -> Callable[[Provider], Provider]:
        """Return a function that puts this around a provider; runs are counted
        together.
        """
        return partial(BudgetProvider, self, Runs())


class BudgetProvider(ProviderWrapper[Budget]):
    def __init__(self, layer: Budget, runs: Runs, inner: Provider) -> None:
        super().__init__(layer, inner)
        self.runs = runs
        self.limits = parse_limits(layer.limit)
        is_for_run = [limit.period == "run" for limit in self.limits]
        only_runs = bool(self.limits) and all(is_for_run)
        self.file: UsageFile | SharedUsage | None = None
        is_named = layer.usage_file is not None or layer.shared is not None
        if is_named or not only_runs:
            self.file = layer.find_store()
        for provider in leaves(inner):
            verbs = [verb for verb in get_args(Role) if can(provider, verb)]
            self._require_price(provider, verbs)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        flow = partial(super().search, query)
        return self.charge("search", query.limit, flow, lambda answer: [answer])

    def read(self, url: str, /) -> Flow[Page]:
        flow = partial(super().read, url)
        return self.charge("read", 1, flow, lambda page: [page])

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        def pages(answers: list[Page | WebSearchError]) -> list[Page]:
            return [answer for answer in answers if isinstance(answer, Page)]

        flow = partial(super().read_many, urls)
        return self.charge("read", len(urls), flow, pages)

    def charge(
        self,
        verb: Role,
        count: int,
        start: Callable[[], Flow[T]],
        answers: Callable[[T], _Answers],
    ) -> Flow[T]:
        """Run a flow, and charge for it: *count* results or pages at first, and in the
        end what it says it cost.
        """
        estimated = self._estimate(verb, count)
        meter = _Meter(self, estimated, current_call().account, _today())
        try:
            yield from meter.add(meter.estimate.once)
            return (yield from self._watch(meter, start, answers))
        except GeneratorExit:  # the call was cancelled
            if not meter.sent:
                meter.cancel()
            raise

    def _watch(
        self,
        meter: _Meter,
        start: Callable[[], Flow[T]],
        answers: Callable[[T], _Answers],
    ) -> Flow[T]:
        try:
            answer = yield from meter.watch(start())
        except Exception:
            if meter.sent:
                meter.announce()
            else:  # such as an option that the provider does not support
                yield from meter.add(Amount() - meter.added, check=False)
            raise
        if not meter.sent and all(map(is_free, answers(answer))):  # from a cache inside
            yield from meter.add(Amount() - meter.added, check=False)
        else:
            yield from meter.correct(answers(answer))
            meter.announce()
        return answer

    def _estimate(self, verb: Role, count: int) -> Estimate:
        """Add up what all providers inside may cost: one made of several may ask
        each.
        """
        estimates: list[Estimate] = []
        for provider in leaves(self.inner):
            self._require_price(provider, [verb])
            price = find_price(provider, verb, self.layer.prices)
            estimates.append(estimate(price, count))
        if len(estimates) == 1:
            return estimates[0]
        once = sum((part.once for part in estimates), Amount())
        request = sum((part.request for part in estimates), Amount())
        return Estimate(estimates[0].price, once, request)

    def _require_price(self, provider: Provider, verbs: Sequence[Role]) -> None:
        prices = [find_price(provider, verb, self.layer.prices) for verb in verbs]
        for limit in self.limits:
            if limit.unit == "calls" or not prices:
                continue
            if all(getattr(price, limit.unit) is None for price in prices):
                raise unknown_price(provider, limit.unit, [*map(str, self.limits)])


class _Meter:
    """Counts one call: what was added for it, and whether anything was sent."""

    def __init__(
        self, budget: BudgetProvider, estimate: Estimate, account: Account, day: date
    ) -> None:
        self.added = Amount()
        self.estimate = estimate
        self._budget = budget
        self._account = account
        self._day = day
        self._lock = threading.Lock()  # a provider may send several requests at once
        self.sent = 0  # requests, and calls of a library
        self._written = Amount()
        self._is_over = False

    def add(self, amount: Amount, *, check: bool = True) -> Flow[None]:
        """Add *amount*, and check the limits; without a check, nothing is raised."""
        name = self._budget.name
        runs = self._budget.runs
        file = self._budget.file
        limits = self._budget.limits if check else ()
        run_limits = [limit for limit in limits if limit.period == "run"]
        lasting = [limit for limit in limits if limit.period != "run"]
        runs.add(self._account, name, amount, run_limits)
        with self._lock:
            self.added += amount
        if file is None:
            return
        try:
            yield AuxiliaryCall(self._write, file, amount, lasting)
        except WebSearchError as error:
            if check and not self._may_ignore(error):
                runs.add(self._account, name, Amount() - amount)
                with self._lock:
                    self.added -= amount
                raise
            _log.warning("budget: %s", error)

    def _may_ignore(self, error: WebSearchError) -> bool:
        if self._budget.layer.on_file_error != "ignore":
            return False
        return isinstance(error, ConfigurationError | Unavailable)

    def _write(
        self,
        file: UsageFile | SharedUsage,
        amount: Amount,
        limits: Sequence[Limit] = (),
    ) -> None:
        file.add(self._day, self._account.tenant, self._budget.name, amount, limits)
        with self._lock:
            self._written += amount
            is_late = self._is_over
        if is_late:  # the call was cancelled while this thread was writing
            file.add(
                self._day, self._account.tenant, self._budget.name, Amount() - amount
            )

    def cancel(self) -> None:
        """Take everything back, at once: a call that is cancelled has no more
        effects.
        """
        with self._lock:
            self._is_over = True
            written = self._written
        name = self._budget.name
        file = self._budget.file
        self._budget.runs.add(self._account, name, Amount() - self.added)
        if file is None or written == Amount():
            return
        try:
            file.add(self._day, self._account.tenant, name, Amount() - written)
        except WebSearchError as error:
            _log.warning("budget: %s", error)

    def correct(self, answers: _Answers) -> Flow[None]:
        """Correct the estimate by what the service says it charged."""
        if len(leaves(self._budget.inner)) > 1:
            return
        cost = correct(self._budget.name, self.estimate.price, self.added, answers)
        if cost != self.added:
            yield from self.add(cost - self.added, check=False)

    def announce(self) -> None:
        """Say what the call is charged."""
        emit(
            Charge(
                provider=self._budget.name,
                usd=self.added.usd / MILLION,
                credits=self.added.credits / MILLION,
            )
        )

    def watch(self, flow: Flow[T]) -> Flow[T]:
        """Run *flow*, and charge each request after the first if requests are what
        costs.
        """
        return intercept(flow, self._pass_on)

    def _pass_on(self, effect: Request | Call) -> Flow[Any]:
        if isinstance(effect, Auxiliary):
            return (yield effect)
        with self._lock:
            self.sent += 1
            is_first = self.sent == 1
        try:
            costs_more = not is_first and self.estimate.request != Amount()
            if costs_more and isinstance(effect, Request):
                yield from hold(effect, self.add(self.estimate.request))
            return (yield effect)
        except BaseException as error:
            with self._lock:
                self.sent -= is_held(effect) or was_refused(error)
            raise


def _today() -> date:
    return datetime.now(UTC).date()
