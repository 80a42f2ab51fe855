"""A budget in a real Redis on this machine, which stops."""

from __future__ import annotations
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date

import pytest

from websearch_core import WebSearch
from websearch_core._cli.app import app
from websearch_core.errors import BudgetExceeded, ConfigurationError, Unavailable
from websearch_core.flow import Request
from websearch_core.layers import Budget, charge_to
from websearch_core.layers._amounts import MILLION, Amount, parse_limits
from websearch_core.layers._shared_usage import SharedUsage
from websearch_core.models import SearchResponse
from websearch_core.testing import reply

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]
DAY = date(2026, 11, 30)
CALL = Amount(calls=MILLION, credits=2 * MILLION)


class Sea:
    name = "sea"

    def search(self, query, /):
        yield Request(url="https://sea.example/")
        return SearchResponse(query=query.text, provider=self.name)


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Wait longer for a Redis that runs: this machine may be busy."""
    monkeypatch.setattr("websearch_core.layers._caching.redis._TIMEOUT", 30)
    monkeypatch.setattr(
        "websearch_core._net.sender.Sender.send", lambda self, request: reply({})
    )


@pytest.fixture
def url(start_redis, port):
    with start_redis(port):
        yield f"redis://127.0.0.1:{port}/0"


def test_calls_that_run_at_once_cannot_pass_a_limit_together(url):
    budget = Budget("5 calls/day", shared=url)
    webs = [WebSearch(Sea(), budget=budget) for _ in range(3)]  # as machines

    def search(number):
        with suppress(BudgetExceeded):
            return webs[number % 3].search(f"kelp {number}")
        return None

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(search, range(24)))
    assert sum(answer is not None for answer in answers) == 5
    (entry,) = SharedUsage(url).read()
    assert (entry.provider, entry.amount.calls) == ("sea", 5 * MILLION)


@pytest.mark.parametrize(
    ("limit", "admitted"),
    [
        ("3 calls/day", 3),
        ("3 calls/month", 3),
        ("2 calls/day per tenant", 4),
        ("4 credits/month", 4),  # of each provider
        ("4 credits/day per tenant", 8),
    ],
)
def test_a_limit_counts_its_period_its_tenant_and_its_provider(url, limit, admitted):
    usage = SharedUsage(url)
    count = 0
    for _ in range(3):
        for tenant in ("a", "b"):
            for provider in ("sea", "lake"):
                with suppress(BudgetExceeded):
                    usage.add(DAY, tenant, provider, CALL, parse_limits(limit))
                    count += 1
    assert count == admitted


def test_what_is_given_back_may_be_used_again_and_other_days_count_apart(url):
    usage = SharedUsage(url)
    limits = parse_limits("1 call/day, 2 calls/month")
    usage.add(DAY, "", "sea", CALL, limits)
    with pytest.raises(BudgetExceeded, match="begins again on 2026-12-01"):
        usage.add(DAY, "", "sea", CALL, limits)
    usage.add(DAY, "", "sea", Amount() - CALL)
    usage.add(DAY, "", "sea", CALL, limits)
    usage.add(date(2026, 11, 29), "", "sea", CALL, limits)
    with pytest.raises(BudgetExceeded, match="2 calls/month"):
        usage.add(date(2026, 11, 28), "", "sea", CALL, limits)


def test_without_an_answer_nothing_is_spent_and_no_password_is_shown(
    start_redis, port, caplog
):
    budget = Budget("1 call/day", shared=f"redis://:hush@127.0.0.1:{port}/0")
    web = WebSearch(Sea(), budget=budget)
    with pytest.raises(Unavailable, match="the budget cannot be checked") as caught:
        web.search("kelp")
    lenient = Budget("1 call/day", shared=budget.shared, on_file_error="ignore")

    assert WebSearch(Sea(), budget=lenient).search("kelp").provider == "sea"
    assert "hush" not in f"{budget!r} {caught.value!r} {caplog.text}"
    with pytest.raises(ConfigurationError, match="not both"):
        Budget(shared=budget.shared, usage_file="usage.db")


def test_the_command_shows_it(url, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    with charge_to("acme"):
        WebSearch(Sea(), budget=Budget(shared=url)).search("kelp")
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "settings.toml"
    settings.write_text(f'[budget]\nshared = "{url}"\n')
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(settings))
    done = CliRunner().invoke(app, ["usage", "--format", "json"])

    data = json.loads(done.stdout)
    assert data["path"] == url
    assert (data["usage"][0]["tenant"], data["usage"][0]["calls"]) == ("acme", 1)
