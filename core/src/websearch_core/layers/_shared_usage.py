"""What was used on days and in months, in Redis, for budgets that machines share.

There is a hash for each day and each month. Its fields are sums: of a unit, for one
tenant or all of them, and for one provider or all. So a limit is one look-up, however
many tenants there are. A script checks the limits and adds, and nothing comes between.
"""

from __future__ import annotations
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import product
from typing import Any, TypeVar, get_args
from urllib.parse import urlsplit

from .._runtime.clock import now
from ..errors import ConfigurationError, Unavailable
from ._amounts import Amount, Limit, Unit
from ._caching.redis import SCHEMES, connect
from ._usage import Usage, exceeded

T = TypeVar("T")

_PREFIX = "websearch-usage:"
_DAYS_KEPT = 400
_ADD = """
local limits, sums = cjson.decode(ARGV[1]), cjson.decode(ARGV[2])
for index, limit in ipairs(limits) do
  local spent = tonumber(redis.call('HGET', KEYS[limit[1]], limit[2]) or '0')
  if spent + limit[3] > limit[4] then
    return {index, string.format('%.0f', spent)}
  end
end
for _, sum in ipairs(sums) do
  local amount = string.format('%.0f', sum[2])
  for _, key in ipairs(KEYS) do redis.call('HINCRBY', key, sum[1], amount) end
end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ARGV[3]) end
return {0, '0'}
"""


@dataclass(frozen=True)
class SharedUsage:
    """Counts what was used, as `UsageFile` does, for all who use the same Redis.

    Every method raises `Unavailable` if Redis does not answer.
    """

    url: str

    def __post_init__(self) -> None:
        if not isinstance(self.url, str) or not self.url.startswith(SCHEMES):
            raise ConfigurationError(
                "Budget: shared: must be a URL of Redis, such as "
                "redis://localhost:6379/0"
            )
        _ = self._client

    @cached_property
    def _client(self) -> Any:
        return connect(self.url, "a budget", "Budget: shared")

    @property
    def path(self) -> str:
        """Where it is, without a password."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        if parts.port:
            host += f":{parts.port}"
        return f"{parts.scheme}://{host}{parts.path}"

    def add(
        self,
        day: date,
        tenant: str,
        provider: str,
        amount: Amount,
        limits: Sequence[Limit] = (),
    ) -> None:
        """Add *amount*, which may be negative; if that would pass a limit, raise
        `BudgetExceeded` instead.
        """
        checked: list[Limit] = []
        checks: list[tuple[int, str, int, int]] = []
        for limit in limits:
            more = amount.of(limit.unit)
            if more <= 0:
                continue
            checked.append(limit)
            whose = tenant if limit.per_tenant else None
            whom = provider if limit.unit == "credits" else None
            field = _name(limit.unit, whose, whom)
            key = 1 if limit.period == "day" else 2
            checks.append((key, field, more, limit.amount))
        sums = list(_list_sums(amount, tenant, provider))
        keys = [f"{_PREFIX}{day:%Y-%m-%d}", f"{_PREFIX}{day:%Y-%m}"]
        arguments = [json.dumps(checks), json.dumps(sums), _DAYS_KEPT * 86_400]
        if not sums:
            return
        number, spent = self._ask(
            lambda: self._client.eval(_ADD, len(keys), *keys, *arguments)
        )
        if number:
            limit = checked[number - 1]
            again = str(limit.days(day)[1])
            raise exceeded(limit, int(spent), provider, again)

    def read(
        self, since: date | None = None, provider: str | None = None
    ) -> list[Usage]:
        """Return what was used, by day, provider and tenant."""
        today = now().date()
        first = today - timedelta(days=_DAYS_KEPT)
        if since is not None:
            first = max(first, since)
        entries: list[Usage] = []
        # a machine may have begun the next day
        for number in range((today - first).days + 2):
            day = f"{first + timedelta(days=number):%Y-%m-%d}"
            entries += self._read_day(day, provider)
        return entries

    def _read_day(self, day: str, provider: str | None) -> list[Usage]:
        sums = self._ask(lambda: self._client.hgetall(f"{_PREFIX}{day}"))
        amounts: dict[tuple[str, str], dict[str, int]] = {}
        for field, value in sums.items():
            unit, *names = json.loads(field)
            if None in names:
                continue
            tenant, name = names
            if provider in {None, name}:
                amounts.setdefault((name, tenant), {})[unit] = int(value)
        return [
            Usage(day=day, tenant=tenant, provider=name, amount=Amount(**units))
            for (name, tenant), units in sorted(amounts.items())
        ]

    def _ask(self, ask: Callable[[], T]) -> T:
        from redis.exceptions import RedisError

        try:
            return ask()
        except RedisError as error:
            kind = type(error).__name__  # its text may hold a password
            raise Unavailable(
                f"the budget cannot be checked: Redis does not answer ({kind})"
            ) from None


def _list_sums(amount: Amount, tenant: str, provider: str) -> Iterator[tuple[str, int]]:
    """Yield the sums that an amount belongs to, and how much is added to each."""
    for unit in get_args(Unit):
        more = amount.of(unit)
        if not more:
            continue
        for whose, whom in product((tenant, None), (provider, None)):
            yield _name(unit, whose, whom), more


def _name(unit: str, tenant: str | None, provider: str | None) -> str:
    return json.dumps([unit, tenant, provider])
