"""What was used by runs, in memory, and on days in a file: a row of one SQLite table
for each day, tenant and provider.

Every call opens and closes its own connection, like `websearch_core.index`, so a
`UsageFile` is a plain value: threads, forks and other processes may share the file.
What a call will cost is added before it is made, in the transaction that checks the
limits, and corrected afterwards. So calls that run at the same time cannot pass a limit
together, and after a crash the file holds the estimates of the calls that were in
flight.
"""

from __future__ import annotations
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from .._runtime.scope import Account, ByRun
from .._runtime.sqlite import ForeignFile, write_tables
from ..errors import BudgetExceeded, ConfigurationError, Unavailable
from ._amounts import MILLION, Amount, Limit, format_amount

# in the header of the file: "wsus", and the version of the table
_STAMP = 0x77737573, 1
_SCHEMA = (
    """CREATE TABLE usage (
        day TEXT, tenant TEXT, provider TEXT,
        calls INTEGER NOT NULL, credits INTEGER NOT NULL, usd INTEGER NOT NULL,
        PRIMARY KEY (day, tenant, provider)
    ) WITHOUT ROWID""",
)
_ADD = (
    "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
    "calls = calls + excluded.calls, credits = credits + excluded.credits, usd = usd + "
    "excluded.usd"
)
_TIMEOUT = 5.0  # seconds to wait while another process writes


@dataclass(frozen=True)
class Usage:
    """What a tenant used of a provider on a day."""

    day: str
    tenant: str
    provider: str
    amount: Amount


@dataclass(frozen=True)
class UsageFile:
    """Counts what was used.

    Every method raises `ConfigurationError` if the file cannot be used, and
    `Unavailable` if it is busy for too long.
    """

    path: Path

    @classmethod
    def at(cls, path: Path | str | None) -> UsageFile:
        """Return the file at *path*, or the one in the user's data folder."""
        if path is not None:
            return cls(Path(path).expanduser())
        import platformdirs

        return cls(
            platformdirs.user_data_path("websearch", appauthor=False) / "usage.db"
        )

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
        with self._open() as db:
            for limit in limits:
                more = amount.of(limit.unit)
                if more <= 0:
                    continue
                spent = _sum(db, limit, day, tenant, provider)
                if spent + more > limit.amount:
                    raise exceeded(limit, spent, provider, str(limit.days(day)[1]))
            db.execute(
                _ADD,
                (str(day), tenant, provider, amount.calls, amount.credits, amount.usd),
            )

    def read(
        self, since: date | None = None, provider: str | None = None
    ) -> list[Usage]:
        """Return what was used, by day, provider and tenant; nothing if there is no
        file yet.
        """
        if not self.path.exists():
            return []
        with self._open() as db:
            rows = db.execute(
                "SELECT day, tenant, provider, calls, credits, usd FROM usage "
                "WHERE day >= ? AND (? IS NULL OR provider = ?) ORDER BY day, "
                "provider, tenant",
                (str(since or ""), provider, provider),
            ).fetchall()
        return [self._read_row(row) for row in rows]

    def _read_row(self, row: tuple[Any, ...]) -> Usage:
        amounts = row[3:]
        has_names = all(isinstance(name, str) for name in row[:3])
        has_amounts = all(isinstance(amount, int) for amount in amounts)
        if not has_names or not has_amounts:
            raise ConfigurationError(
                f"the usage file {self.path} has a row that is none: remove the file"
            )
        return Usage(
            day=row[0], tenant=row[1], provider=row[2], amount=Amount(*amounts)
        )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for one transaction; create the file if necessary. Tenants
        are nobody else's business.
        """
        path = self.path.absolute()
        with (
            _translate_errors(path),
            write_tables(path, "the usage file", _TIMEOUT, _SCHEMA, _STAMP) as db,
        ):
            yield db


class Runs:
    """What each run has used, in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.used: ByRun[dict[str, Amount]] = ByRun(dict)

    def add(
        self,
        account: Account,
        provider: str,
        amount: Amount,
        limits: Sequence[Limit] = (),
    ) -> None:
        """Add *amount* to what a run has used; if that would pass a limit, raise
        `BudgetExceeded` instead.
        """
        with self._lock:
            used = self.used.find(account.run)
            for limit in limits:
                more = amount.of(limit.unit)
                amounts = list(used.values())
                if limit.unit == "credits":  # those of two services differ
                    amounts = [used.get(provider, Amount())]
                spent = sum(part.of(limit.unit) for part in amounts)
                if more > 0 and spent + more > limit.amount:
                    raise exceeded(limit, spent, provider)
            used[provider] = used.get(provider, Amount()) + amount


def exceeded(
    limit: Limit, spent: int, provider: str, again: str = ""
) -> BudgetExceeded:
    """Make the error for a call that would pass *limit*; *again* is the day on which
    the next period begins.
    """
    what = f" of {provider}" if limit.unit == "credits" else ""
    each = " (one call may have sent several requests)" if limit.unit == "calls" else ""
    then = (
        f"it begins again on {again} (UTC)"
        if again
        else "answer with what has been found so far"
    )
    verb = "is" if spent == MILLION else "are"
    return BudgetExceeded(
        f"the budget of {limit}{what} does not allow this call to {provider}: "
        f"{format_amount(spent, limit.unit)} {verb} used up{each}; {then}"
    )


def _sum(
    db: sqlite3.Connection, limit: Limit, day: date, tenant: str, provider: str
) -> int:
    first, after = limit.days(day)
    (spent,) = db.execute(
        # the unit is one of three columns
        f"SELECT coalesce(sum({limit.unit}), 0) FROM usage "  # noqa: S608
        "WHERE day >= ? AND day < ? AND (? OR tenant = ?) AND (? OR provider = ?)",
        (
            str(first),
            str(after),
            not limit.per_tenant,
            tenant,
            limit.unit != "credits",
            provider,
        ),
    ).fetchone()
    return int(spent)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, ForeignFile) as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise Unavailable(
                f"the budget cannot be checked: the usage file {path} is busy"
            ) from error
        if isinstance(error, ForeignFile) or code == sqlite3.SQLITE_NOTADB:
            raise ConfigurationError(
                f"{path} is not a usage file of this version of websearch: remove it, "
                f"or name another as usage_file of "
                "Budget"
            ) from error
        raise ConfigurationError(
            f"the usage file {path} cannot be used: {error}"
        ) from error
