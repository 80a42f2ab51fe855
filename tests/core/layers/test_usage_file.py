"""The usage file, shared by processes of which some die."""

from __future__ import annotations
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import date

import pytest

from websearch_core.errors import BudgetExceeded, ConfigurationError
from websearch_core.layers._amounts import MILLION, Amount, Limit
from websearch_core.layers._usage import UsageFile

DAY = date(2026, 11, 22)
_ADD = """
import sys
from datetime import date
from pathlib import Path
from websearch_core.errors import BudgetExceeded
from websearch_core.layers._amounts import Amount, Limit
from websearch_core.layers._usage import UsageFile

file, most, limit = UsageFile(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
for number in range(most):
    try:
        file.add(date(2026, 11, 22), "acme", "sea", Amount(1_000_000), [Limit(limit * 1_000_000, "calls", "day")])
    except BudgetExceeded:
        break
    print(number, flush=True)
"""


@pytest.fixture
def file(tmp_path):
    return UsageFile(tmp_path / "folder" / "usage.db")


def start(file, most, limit):
    words = [sys.executable, "-c", _ADD, str(file.path), str(most), str(limit)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_processes_share_a_limit(file):
    processes = [start(file, 100, 50) for _ in range(3)]
    outputs = [process.communicate(timeout=200)[0] for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sum(len(output.splitlines()) for output in outputs) == 50
    assert [row.amount for row in file.read()] == [Amount(50 * MILLION)]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_process_loses_at_most_the_call_in_flight(file):
    counted = 0
    for _ in range(2):
        with start(file, 10**6, 10**6) as process:
            for _ in range(20):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            counted += 20 + len(process.stdout.read().splitlines())

    (row,) = file.read()
    assert counted <= row.amount.calls // MILLION <= counted + 2


def test_what_was_used_can_be_asked_by_day_and_provider(file):
    assert file.read() == []
    for day in (date(2026, 10, 31), date(2026, 11, 1), DAY):
        for provider in ("sea", "creek"):
            file.add(day, "", provider, Amount(MILLION, 2, 3))

    assert len(file.read()) == 6
    assert {row.day for row in file.read(date(2026, 11, 1))} == {
        "2026-11-01",
        "2026-11-22",
    }
    assert {row.provider for row in file.read(None, "sea")} == {"sea"}


@pytest.mark.parametrize(("period", "allowed"), [("day", 3), ("month", 2)])
def test_a_limit_looks_at_its_period(file, period, allowed):
    limit = [Limit(3 * MILLION, "calls", period)]
    file.add(date(2026, 11, 1), "", "sea", Amount(MILLION))
    file.add(date(2026, 10, 31), "", "sea", Amount(9 * MILLION))
    file.add(date(2026, 12, 1), "", "sea", Amount(9 * MILLION))

    file.add(DAY, "", "sea", Amount(allowed * MILLION), limit)
    with pytest.raises(BudgetExceeded, match=f"3 calls/{period}"):
        file.add(DAY, "", "sea", Amount(MILLION), limit)


def test_a_path_may_begin_with_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    UsageFile.at("~/spent.db").add(DAY, "", "sea", Amount(MILLION))

    assert (tmp_path / "spent.db").exists()


def test_a_folder_that_cannot_be_made_is_a_configuration_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot be created"):
        UsageFile(tmp_path / "file" / "usage.db").add(DAY, "", "sea", Amount(MILLION))


@pytest.mark.parametrize("change", ["calls = 'many'", "tenant = x'00'", "usd = 1.5"])
def test_a_row_that_is_none_is_said_to_be_so(file, change):
    file.add(DAY, "acme", "sea", Amount(MILLION))
    with closing(sqlite3.connect(file.path, isolation_level=None)) as db:
        db.execute(f"UPDATE usage SET {change}")

    with pytest.raises(ConfigurationError, match="has a row that is none"):
        file.read()


def test_a_file_that_does_more_than_count_is_no_usage_file(file):
    file.add(DAY, "acme", "sea", Amount(MILLION))
    with closing(sqlite3.connect(file.path, isolation_level=None)) as db:
        db.execute(
            "CREATE TRIGGER free AFTER UPDATE ON usage BEGIN UPDATE usage SET calls = "
            "0; END"
        )

    with pytest.raises(ConfigurationError, match="is not a usage file"):
        file.add(DAY, "acme", "sea", Amount(MILLION))
