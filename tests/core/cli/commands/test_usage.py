"""``websearch usage``."""

from __future__ import annotations
import json
from datetime import date

import pytest
import typer.testing

from websearch_core._cli.app import app
from websearch_core.layers._amounts import MILLION, Amount
from websearch_core.layers._usage import UsageFile


@pytest.fixture
def usage(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "120")

    def call(*words):
        return typer.testing.CliRunner().invoke(app, ["usage", *map(str, words)])

    return call


def fill(file):
    file.add(
        date(2026, 11, 21), "acme", "tavily", Amount(3 * MILLION, 4 * MILLION, 32_000)
    )
    file.add(date(2026, 11, 22), "acme", "brave", Amount(2 * MILLION, 0, 10_000))
    file.add(date(2026, 11, 22), "globex", "brave", Amount(MILLION, 0, 5_000))


def test_nothing_is_counted_at_first(usage, tmp_path):
    result = usage()

    assert result.exit_code == 0
    assert "WEB_SEARCH_BUDGET" in result.stdout
    assert not (tmp_path / "data").exists()


def test_each_day_provider_and_tenant_has_a_row(usage):
    fill(UsageFile.at(None))

    assert usage().stdout.splitlines() == [
        "day         provider  tenant  calls  credits  USD",
        "2026-11-21  tavily    acme    3      4        0.032",
        "2026-11-22  brave     acme    2      0        0.01",
        "2026-11-22  brave     globex  1      0        0.005",
        "total                         6      4        0.047",
    ]


def test_rows_can_be_added_up_and_left_out(usage):
    fill(UsageFile.at(None))

    assert usage("--by", "provider", "--since", "2026-11-22").stdout.splitlines() == [
        "provider  calls  credits  USD",
        "brave     3      0        0.015",
        "total     3      0        0.015",
    ]
    assert "brave" not in usage("tavily").stdout


def test_programs_get_json(usage, tmp_path):
    path = tmp_path / "spent.db"
    fill(UsageFile(path))

    assert json.loads(
        usage("--by", "tenant", "--path", path, "--format", "json").stdout
    ) == {
        "path": str(path),
        "usage": [
            {"tenant": "acme", "calls": 5, "credits": 4.0, "usd": 0.042},
            {"tenant": "globex", "calls": 1, "credits": 0.0, "usd": 0.005},
        ],
        "total": {"calls": 6, "credits": 4.0, "usd": 0.047},
    }


def test_the_settings_name_the_file(usage, monkeypatch, tmp_path):
    path = tmp_path / "spent.db"
    fill(UsageFile(path))
    monkeypatch.setenv("WEB_SEARCH_BUDGET", json.dumps({"usage_file": str(path)}))

    assert "tavily" in usage().stdout


def test_without_tenants_there_is_no_column_for_them(usage):
    UsageFile.at(None).add(date(2026, 11, 22), "", "brave", Amount(MILLION))

    assert usage("--by", "tenant").stdout.splitlines()[-1].split() == [
        "total",
        "1",
        "0",
        "0",
    ]
    assert "tenant" not in usage().stdout


def test_a_tenant_cannot_draw_on_the_terminal(usage):
    UsageFile.at(None).add(
        date(2026, 11, 22), "ac\x1b[2Jme\n2026-11-23", "brave", Amount(MILLION)
    )

    assert "\x1b" not in usage().stdout
    assert len(usage().stdout.splitlines()) == 3


def test_a_wrong_day_is_wrong_usage(usage):
    result = usage("--since", "yesterday", "--format", "json")

    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "invalid_option"
