"""What a budget allows, what it counts, and what it does when it cannot count."""

from __future__ import annotations
import asyncio
import copy
import logging
import pickle
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.waiting import await_until, wait_until
from websearch_core import Timeout, WebSearch
from websearch_core._registry import provider_class
from websearch_core.errors import (
    AllProvidersFailed,
    BudgetExceeded,
    ConfigurationError,
    RateLimited,
    Unavailable,
    UnsafeURL,
    UnsupportedOption,
)
from websearch_core.events import Charge, Wait, listen
from websearch_core.flow import Gather, Request, Sleep
from websearch_core.layers import Budget, Cache, Retry, Throttle, charge_to, leaves
from websearch_core.layers._amounts import (
    MILLION,
    Amount,
    Limit,
    format_amount,
    parse_limits,
)
from websearch_core.layers._layer import parts
from websearch_core.layers._prices import find_price
from websearch_core.layers._usage import UsageFile
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.provider import FREE, Price, Service
from websearch_core.providers import (
    Brave,
    Direct,
    Jina,
    Keenable,
    Linkup,
    Marginalia,
    Parallel,
    Tavily,
    You,
    known,
)
from websearch_core.settings import Settings
from websearch_core.testing import SECRET, reply

KELP = SearchQuery.of("kelp")
URL = "https://sea.example/kelp"


LISTED = (Price(usd=0.25, credits=2),)


class Sea:
    """Costs what the test says, and reports it if the test says so."""

    options = frozenset()

    def __init__(self, name="sea", prices=LISTED, cost=None, usage=None, requests=1):
        self.name, self.about = (
            name,
            Service(prices=prices, price="25 cents", as_of="2026-11"),
        )
        self.cost, self.usage, self.requests = cost, usage or {}, requests

    def search(self, query, /):
        if query.requested():
            raise UnsupportedOption(
                "sea has no options", options=sorted(query.requested())
            )
        for number in range(self.requests):
            yield Request(url=f"https://api.example/{number}")
        return SearchResponse(
            query=query.text, provider=self.name, cost=self.cost, usage=self.usage
        )

    def read(self, url, /):
        yield Request(url="https://api.example/read")
        return Page(url=url, provider=self.name, cost=self.cost, usage=self.usage)


class Fleet(Sea):
    """Sends its requests at the same time."""

    def search(self, query, /):
        def one(number):
            return (yield Request(url=f"https://api.example/{number}"))

        answers = yield Gather([one(number) for number in range(self.requests)])
        if failed := [answer for answer in answers if isinstance(answer, Exception)]:
            raise failed[0]
        return SearchResponse(query=query.text, provider=self.name)


@pytest.fixture(autouse=True)
def sent(monkeypatch, tmp_path):
    """The requests that were sent; each gets an empty answer. The default usage file is
    in a folder of the test.
    """
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    requests = []

    def send(_, request):
        requests.append(request)
        return reply({})

    async def asend(_, request):
        return send(_, request)

    monkeypatch.setattr("websearch_core._net.sender.Sender.send", send)
    monkeypatch.setattr("websearch_core._net.sender.Sender.asend", asend)
    return requests


@pytest.fixture(params=["blocking", "async"])
def search(request):
    def call(web, *words, **options):
        if request.param == "blocking":
            return web.search(*words, **options)
        return asyncio.run(web.asearch(*words, **options))

    return call


@pytest.fixture
def file(tmp_path):
    return UsageFile(tmp_path / "usage.db")


def spent(file, **where):
    rows = [
        row
        for row in file.read()
        if all(getattr(row, name) == value for name, value in where.items())
    ]
    return sum((row.amount for row in rows), Amount())


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("20 calls", Limit(20 * MILLION, "calls")),
        ("1 call", Limit(MILLION, "calls")),
        ("500 credits/month", Limit(500 * MILLION, "credits", "month")),
        ("1 USD/day", Limit(MILLION, "usd", "day")),
        ("0.005 usd / day per tenant", Limit(5_000, "usd", "day", per_tenant=True)),
        ("10_000 calls/day", Limit(10_000 * MILLION, "calls", "day")),
    ],
)
def test_a_limit_is_written_in_words(text, limit):
    assert parse_limits(text) == (limit,)
    assert parse_limits(str(limit).replace(",", "_")) == (limit,)
    assert (
        parse_limits(f"{text}, {text}") == parse_limits([text, text]) == (limit, limit)
    )


@pytest.mark.parametrize(
    "text",
    ["1", "USD", "1 EUR/day", "-1 USD", "1 USD/week", "1e9 USD", "nan USD", "1 USD per tenant", "1 USD/day x", "$1",
     "9999999999 calls", "sk-secret"],
)  # fmt: skip
def test_anything_else_is_refused_without_repeating_it(text):
    with pytest.raises(ConfigurationError) as caught:
        WebSearch(Sea(), budget=text)
    assert "sk-secret" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="must be text"):
        Budget(limit=[5])


def test_the_call_that_would_pass_a_limit_is_not_made(search, sent):
    web = WebSearch(Sea(), budget="0.6 USD")
    search(web, "kelp")
    search(web, "dulse")

    with pytest.raises(
        BudgetExceeded,
        match=r"0\.6 USD does not allow this call to sea: 0\.5 USD are used up",
    ):
        search(web, "laver")
    assert len(sent) == 2


def test_calls_are_counted_for_search_and_reading_together(sent):
    web = WebSearch(Sea(), budget="2 calls")
    web.search("kelp")
    web.read(URL)

    with pytest.raises(BudgetExceeded):
        web.read(URL)
    assert len(sent) == 2


def test_the_service_knows_better_what_a_call_cost(file, search):
    web = WebSearch(
        Sea(cost=0.01, usage={"credits": 1}),
        budget=Budget(limit="0.3 USD/day", usage_file=file.path),
    )
    for number in range(5):
        search(web, f"kelp {number}")

    assert spent(file) == Amount(5 * MILLION, 5 * MILLION, 50_000)


def test_dollars_follow_the_credits_that_a_service_reports(file):
    web = WebSearch(Sea(usage={"credits": 1}), budget=Budget(usage_file=file.path))
    web.search("kelp")

    assert spent(file).usd == 125_000  # two credits are listed at 0.25 USD


@pytest.mark.parametrize("nonsense", [float("nan"), float("inf"), -1.0])
def test_a_service_cannot_talk_a_budget_down(file, nonsense):
    web = WebSearch(
        Sea(cost=nonsense, usage={"credits": nonsense}),
        budget=Budget(usage_file=file.path),
    )
    web.search("kelp")

    assert spent(file) == Amount(MILLION, 2 * MILLION, 250_000)


@pytest.mark.parametrize("times", [1, 100, 101, 10**9])
def test_what_a_service_says_is_believed_up_to_a_hundred_times_the_estimate(
    file, caplog, times
):
    cost, credits_used = 0.25 * times, 2 * times
    sea = Sea(cost=cost, usage={"credits": credits_used})
    WebSearch(sea, budget=Budget(usage_file=file.path)).search("kelp")

    believed = times if times <= 100 else 1
    assert spent(file) == Amount(MILLION, 2 * MILLION * believed, 250_000 * believed)
    assert ("not believed" in caplog.text) is (times > 100)


def test_without_an_estimate_no_more_is_believed_than_ten_dollars_and_a_thousand_credits(
    file,
):
    for cost, credits_used in [(10, 1000), (10.1, 1001), (10**9, 10**9)]:
        web = WebSearch(
            Sea(prices=(), cost=cost, usage={"credits": credits_used}),
            budget=Budget(usage_file=file.path),
        )
        web.search("kelp")

    assert spent(file) == Amount(3 * MILLION, 1000 * MILLION, 10 * MILLION)


def test_true_is_not_a_cost(file):
    response = SearchResponse(
        query="kelp", cost=True, usage={"credits": True, "tokens": 7}
    )
    page = Page(url=URL, cost=False, usage={"credits": False})

    assert (response.cost, response.usage) == (None, {"tokens": 7.0})
    assert (page.cost, page.usage) == (None, {})
    WebSearch(
        Sea(cost=True, usage={"credits": True}), budget=Budget(usage_file=file.path)
    ).search("kelp")
    assert spent(file) == Amount(MILLION, 2 * MILLION, 250_000)


def test_a_budget_of_calls_says_that_a_call_may_send_several_requests(sent):
    web = WebSearch(Sea(requests=3), budget="1 call")
    web.search("kelp")

    assert len(sent) == 3
    with pytest.raises(
        BudgetExceeded,
        match=r"1 call is used up \(one call may have sent several requests\)",
    ):
        web.search("dulse")


def test_a_retry_stops_at_the_budget(monkeypatch, file):
    def fail(_, request):
        raise Unavailable("down")

    monkeypatch.setattr("websearch_core._net.sender.Sender.send", fail)
    web = WebSearch(
        Sea(),
        retry=Retry(attempts=5, wait_initial=0),
        budget=Budget(limit="0.6 USD/day", usage_file=file.path),
    )

    with pytest.raises(BudgetExceeded):
        web.search("kelp")
    assert spent(file).calls == 2 * MILLION


def test_what_was_never_sent_is_not_charged(file, sent):
    web = WebSearch(Sea(), budget=Budget(limit="1 call", usage_file=file.path))
    for _ in range(3):
        with pytest.raises(UnsupportedOption):
            web.search("kelp", time_range="day")
    web.search("kelp")

    assert len(sent) == 1
    assert spent(file) == Amount(MILLION, 2 * MILLION, 250_000)


def test_each_request_is_charged_where_requests_cost(file, sent):
    price = (Price(usd=0.25, by_request=True),)
    for kind in (Sea, Fleet):
        web = WebSearch(
            kind(prices=price, requests=3), budget=Budget(usage_file=file.path)
        )
        web.search("kelp")
    assert spent(file) == Amount(2 * MILLION, 0, 1_500_000)

    web = WebSearch(Sea(prices=price, requests=9), budget="0.6 USD")
    with pytest.raises(BudgetExceeded):
        web.search("kelp")
    assert len(sent) == 8


def test_a_price_may_be_for_a_number_of_results_or_pages(file):
    budget = Budget(usage_file=file.path)
    WebSearch(Sea(prices=(Price(usd=1, size=10),)), budget=budget).search(
        "kelp", limit=21
    )

    assert spent(file).usd == 3 * MILLION


def test_a_provider_that_is_free_is_free_when_the_money_is_gone(file):
    web = WebSearch(
        [Sea(), Sea("creek", prices=FREE)],
        budget=Budget(limit="0.1 USD/day", usage_file=file.path),
    )
    with pytest.raises(BudgetExceeded):
        web.search("kelp")

    WebSearch(
        Sea("creek", prices=FREE),
        budget=Budget(limit="0.1 USD/day", usage_file=file.path),
    ).search("kelp")
    assert spent(file).usd == 0


def test_credits_are_counted_for_each_provider():
    budget = Budget("3 credits/day")
    for name in ("sea", "creek"):
        web = WebSearch(Sea(name), budget=budget)
        web.search("kelp")
        with pytest.raises(BudgetExceeded, match=f"3 credits/day of {name}"):
            web.search("dulse")


def test_an_unknown_price_is_refused_when_the_client_is_made():
    with pytest.raises(
        ConfigurationError,
        match=r"of jina costs in USD is not known.*at least 10,000.*Budget\('1 USD/day', prices=\{'jina': '\.\.\. USD'",
    ):
        WebSearch("jina", api_key=SECRET, budget="1 USD/day")
    with pytest.raises(ConfigurationError, match="in credits"):
        WebSearch("brave", api_key=SECRET, budget="100 credits/month")

    WebSearch("jina", api_key=SECRET, budget="100 calls/day")
    WebSearch(
        Jina(api_key=SECRET),
        budget=Budget(limit="1 USD/day", prices={"jina": "0.001 USD"}),
    )


@pytest.mark.parametrize(
    "name", ["brave", "exa", "linkup", "parallel", "perplexity", "tavily", "you"]
)
def test_a_budget_in_dollars_needs_no_price_of_a_service_that_lists_one(name):
    WebSearch(name, api_key=SECRET, budget="1 USD/day")


def test_a_price_of_ones_own_wins(file):
    prices = {"sea": "0.5 USD, 1 credit", "sea.read": ["0.125 USD"]}
    web = WebSearch(Sea(), budget=Budget(prices=prices, usage_file=file.path))
    web.search("kelp")
    assert spent(file) == Amount(MILLION, MILLION, 500_000)

    web.read(URL)
    assert spent(file) == Amount(2 * MILLION, MILLION, 625_000)


@pytest.mark.parametrize(
    "prices",
    [
        {"sea": "5"},
        {"sea": "5 calls"},
        {"sea": ""},
        {"sea.crawl": "1 USD"},
        {"sea": 5},
        ["sea"],
    ],
)
def test_a_wrong_price_is_refused(prices):
    with pytest.raises(ConfigurationError, match="prices"):
        Budget(prices=prices)


@pytest.mark.parametrize(
    "options", [{"on_file_error": "shrug"}, {"usage_file": ""}, {"usage_file": 5}]
)
def test_a_wrong_option_is_refused(options):
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        Budget(**options)


@pytest.mark.parametrize(
    ("provider", "verb", "usd", "credits_"),
    [
        (Brave(api_key=SECRET), "search", 0.005, None),
        (Tavily(api_key=SECRET), "search", 0.008, 1),
        (Tavily(api_key=SECRET, search_depth="advanced"), "search", 0.016, 2),
        (Tavily(api_key=SECRET, extract_depth="advanced"), "read", 0.016, 2),
        (Tavily(keyless=True), "search", 0, 0),
        (Direct(), "read", 0, 0),
        (Linkup(api_key=SECRET, depth="deep"), "search", 0.05, None),
        (Linkup(api_key=SECRET, include_answer=True), "search", None, None),
        (Parallel(api_key=SECRET, mode="fast"), "search", 0.001, None),
        (You(keyless=True), "read", 0, None),
        (You(api_key=SECRET, extraction="full_page"), "search", None, None),
        (Jina(api_key=SECRET), "search", None, None),
        (Jina(), "search", None, None),
        (Jina(), "read", 0, None),
        (Jina(api_key=SECRET), "read", None, None),
        (Keenable(), "search", 0, None),
        (Keenable(), "read", 0, None),
        (Keenable(api_key=SECRET), "search", None, None),
        (Marginalia(), "search", 0, None),
        (Marginalia(api_key=SECRET), "search", None, None),
    ],
)
def test_listed_prices_depend_on_the_options(provider, verb, usd, credits_):
    price = find_price(provider, verb, {})
    assert (price.usd, price.credits) == (usd, credits_)


def test_a_chain_without_keys_takes_a_budget_in_dollars():
    with WebSearch(budget="1 USD/day") as web:
        assert [leaf.name for leaf in leaves(web.provider)] == [
            "keenable",
            "you",
            "duckduckgo",
        ]


def test_every_listed_price_has_a_date_and_real_options():
    for name in known():
        cls = provider_class(name)
        about = getattr(cls, "about", Service())
        assert not about.prices or about.prices is FREE or about.as_of, name
        for price in about.prices:
            assert [
                option
                for option in price.when
                if not (hasattr(cls, option) or option in cls.__dataclass_fields__)
            ] == [], name


def test_a_run_has_a_budget_of_its_own():
    class Run:
        """An object that lives as long as the run."""

    web = WebSearch(Sea(), budget="1 call")
    first, second = Run(), "second"
    for run in (first, second):
        with charge_to(run=run):
            web.search("kelp")
            with pytest.raises(BudgetExceeded):
                web.search("dulse")
    web.search("kelp")  # outside a run, the client is one
    with pytest.raises(BudgetExceeded):
        web.search("dulse")
    WebSearch(Sea(), budget="1 call").search("kelp")


def test_a_copy_starts_its_runs_afresh():
    web = WebSearch(Sea(), budget="1 call")
    web.search("kelp")

    for again in (copy.deepcopy(web), pickle.loads(pickle.dumps(web))):
        again.search("kelp")


def test_a_tenant_has_a_budget_besides_that_of_all(file):
    limits = ["0.5 USD/day per tenant", "0.8 USD/day"]
    web = WebSearch(Sea(), budget=Budget(limit=limits, usage_file=file.path))
    with charge_to("acme"):
        web.search("kelp")
        with charge_to(run="turn 1"):  # the tenant stays
            web.search("kelp")
        with pytest.raises(BudgetExceeded, match="per tenant"):
            web.search("kelp")
    with charge_to("globex"):
        web.search("kelp")
        with pytest.raises(BudgetExceeded, match=r"0\.8 USD/day does"):
            web.search("kelp")

    assert spent(file, tenant="acme").usd == 500_000
    assert spent(file, tenant="globex").usd == 250_000


def test_a_run_must_be_something_that_can_be_found_again():
    with pytest.raises(TypeError), charge_to(run=[]):
        raise AssertionError


@pytest.mark.parametrize(
    ("limit", "same", "later"),
    [
        ("1 call/day", date(2026, 11, 22), date(2026, 11, 23)),
        ("1 call/month", date(2026, 12, 31), date(2027, 1, 1)),
    ],
)
def test_a_period_ends_and_the_next_begins(monkeypatch, limit, same, later):
    web = WebSearch(Sea(), budget=limit)
    monkeypatch.setattr("websearch_core.layers._budget._today", lambda: same)
    web.search("kelp")
    with pytest.raises(BudgetExceeded, match=f"begins again on {later}"):
        # another client, another process: the file is the same
        WebSearch(Sea(), budget=limit).search("kelp")

    monkeypatch.setattr("websearch_core.layers._budget._today", lambda: later)
    web.search("kelp")


def test_a_budget_for_runs_writes_nothing(tmp_path):
    WebSearch(Sea(), budget="5 calls").search("kelp")

    assert not (tmp_path / "data").exists()


def test_a_hook_hears_what_is_charged():
    heard = []
    web = WebSearch(Sea(), budget="5 calls", on_event=heard.append)
    with charge_to("acme"):
        web.search("kelp")

    assert [event for event in heard if isinstance(event, Charge)] == [
        Charge(provider="sea", tenant="acme", usd=0.25, credits=2)
    ]


@pytest.mark.parametrize("content", [b"not a database, and rather long" * 100, None])
def test_a_broken_file_stops_all_spending_unless_told_otherwise(
    tmp_path, sent, caplog, content
):
    path = tmp_path / "usage.db"
    path.mkdir() if content is None else path.write_bytes(content)
    web = WebSearch(Sea(), budget=Budget(limit="1 USD/day", usage_file=path))
    with pytest.raises(ConfigurationError, match=r"usage\.db"):
        web.search("kelp")
    assert not sent

    lenient = Budget(
        limit=["1 USD/day", "2 calls"], usage_file=path, on_file_error="ignore"
    )
    web = WebSearch(Sea(), budget=lenient)
    with caplog.at_level(logging.WARNING):
        web.search("kelp")
        web.search("kelp")
    assert "budget: " in caplog.text
    with pytest.raises(BudgetExceeded):  # what is counted in memory still holds
        web.search("kelp")


def test_the_database_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()

    with pytest.raises(ConfigurationError, match="not a usage file"):
        UsageFile(path).read()
    assert path.read_bytes() == before


def test_a_busy_file_is_a_failure_that_may_pass(file, monkeypatch):
    file.add(date(2026, 11, 22), "", "sea", Amount(MILLION))
    monkeypatch.setattr("websearch_core.layers._usage._TIMEOUT", 0.05)
    with closing(sqlite3.connect(file.path, isolation_level=None)) as db, db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="busy") as caught:
            file.add(date(2026, 11, 22), "", "sea", Amount(MILLION))
        db.execute("ROLLBACK")
    assert caught.value.temporary


def test_an_answer_is_not_lost_because_its_cost_cannot_be_written(
    file, monkeypatch, caplog
):
    web = WebSearch(
        Sea(cost=0.01), budget=Budget(limit="1 USD/day", usage_file=file.path)
    )
    add = UsageFile.add

    def fail_to_correct(self, day, tenant, provider, amount, limits=()):
        if amount.calls == 0:
            raise ConfigurationError("the disk is full")
        add(self, day, tenant, provider, amount, limits)

    monkeypatch.setattr(UsageFile, "add", fail_to_correct)
    assert web.search("kelp").provider == "sea"
    assert "the disk is full" in caplog.text
    assert spent(file).usd == 250_000  # the estimate stays


def test_only_the_owner_can_read_who_spent_what(file):
    file.add(date(2026, 11, 22), "acme", "sea", Amount(MILLION))

    assert file.path.stat().st_mode & 0o077 == 0


def test_a_cancelled_call_stays_charged(file):
    asked = []

    class Slow(Sea):
        def search(self, query, /):
            asked.append(query)
            yield Request(url="https://api.example/")
            yield Sleep(30)

    web = WebSearch(Slow(), budget=Budget(usage_file=file.path))

    async def cancel():
        call = asyncio.create_task(web.asearch("kelp"))
        while not asked:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancel())
    assert spent(file) == Amount(MILLION, 2 * MILLION, 250_000)


def test_a_provider_wrapped_by_hand_is_charged_for_all_inside(file):
    from websearch_core.layers import Fallback

    both = Fallback()(Sea("sea"), Sea("creek", prices=(Price(usd=1),)))
    WebSearch(Budget(usage_file=file.path)(both), layers=None).search("kelp")

    assert spent(file).usd == 1_250_000


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    limit=st.integers(0, 30),
    costs=st.lists(st.integers(0, 9), min_size=1, max_size=24),
    tenants=st.integers(1, 3),
    on_disk=st.booleans(),
)
def test_calls_at_the_same_time_never_pass_a_limit_together(
    tmp_path_factory, limit, costs, tenants, on_disk
):
    path = tmp_path_factory.mktemp("usage") / "usage.db"
    text = f"{limit} credits/day per tenant" if on_disk else f"{limit} credits"
    budget = Budget(limit=text, usage_file=path)
    web = WebSearch(Varying(), retry=Retry(attempts=1), budget=budget)
    allowed, ready = [], threading.Barrier(4)

    def work(share):
        ready.wait()
        for number in share:
            tenant = f"tenant {number % tenants}"
            with charge_to(tenant, run=None if on_disk else tenant):
                try:
                    web.search(f"{costs[number]} {number}")
                except BudgetExceeded:
                    continue
            allowed.append((tenant, costs[number]))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, [range(start, len(costs), 4) for start in range(4)]))

    for tenant in {tenant for tenant, _ in allowed}:
        assert sum(cost for who, cost in allowed if who == tenant) <= limit
    assert spent(UsageFile(path)).credits == sum(cost for _, cost in allowed) * MILLION


def limits_of(web):
    return [
        part.layer.limit
        for part in parts(web.provider)
        if isinstance(getattr(part, "layer", None), Budget)
    ]


class Varying(Sea):
    """Is listed at nine credits, and charges what the query says."""

    def __init__(self):
        super().__init__(prices=(Price(usd=0, credits=9),))

    def search(self, query, /):
        yield Request(url="https://api.example/")
        return SearchResponse(
            query=query.text,
            provider="sea",
            usage={"credits": float(query.text.split()[0])},
        )


def test_settings_have_a_budget(monkeypatch, tmp_path):
    monkeypatch.setenv("WEB_SEARCH_BUDGET", "1 USD/day, 20 calls")
    web = WebSearch(Sea())
    assert limits_of(web) == ["1 USD/day, 20 calls"]

    web = WebSearch(Sea(), settings=Settings(budget={"limit": "2 calls"}))
    assert limits_of(web) == ["2 calls"]


@pytest.mark.parametrize("layers", [None, [Budget(limit="1 call")]])
def test_one_budget_is_enough(layers):
    with pytest.raises(
        ConfigurationError,
        match="budget: not with layers=None|layers: Budget does not belong here",
    ):
        WebSearch(Sea(), budget="2 calls", layers=layers)


def test_a_project_file_may_only_lower_a_budget(monkeypatch, tmp_path):
    from websearch_core.settings._sources import user_file

    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own = user_file()
    own.parent.mkdir(parents=True)
    own.write_text('budget = "1 USD/day"\n')
    (project / "websearch.toml").write_text('budget = ["1_000 USD/day", "3 calls"]\n')

    assert Settings.load().budget.limit == ("1 USD/day", "1_000 USD/day", "3 calls")

    (project / "websearch.toml").write_text('[budget]\nlimit = "1_000 USD/day"\n')
    assert Settings.load().budget.limit == ("1 USD/day", "1_000 USD/day")
    for refused in ('[budget]\nprices = {exa = "0 USD"}\n', "budget = false\n"):
        (project / "websearch.toml").write_text(refused)
        with pytest.raises(
            ConfigurationError, match="may not be (set|switched off) here"
        ):
            Settings.load()


def test_amounts_are_shown_as_people_write_them():
    assert [
        format_amount(amount, "usd") for amount in (0, 5_000, MILLION, 1_234_560_000)
    ] == [
        "0 USD",
        "0.005 USD",
        "1 USD",
        "1,234.56 USD",
    ]
    assert [format_amount(amount, "credits") for amount in (MILLION, 200_000)] == [
        "1 credit",
        "0.2 credits",
    ]


def test_a_chain_ends_with_the_budget_and_says_so():
    web = WebSearch([Sea(), Sea("creek")], budget="1 call")
    web.search("kelp")

    with pytest.raises(BudgetExceeded):
        web.search("kelp")


def test_a_failing_chain_charges_each_provider(monkeypatch, file):
    def fail(_, request):
        raise RateLimited("slow down", retry_after=100)

    monkeypatch.setattr("websearch_core._net.sender.Sender.send", fail)
    with pytest.raises(AllProvidersFailed):
        WebSearch([Sea(), Sea("creek")], budget=Budget(usage_file=file.path)).search(
            "kelp"
        )

    assert (
        spent(file, provider="sea").calls
        == spent(file, provider="creek").calls
        == MILLION
    )


def test_each_member_of_a_fusion_is_charged_and_one_without_budget_is_left_out(file):
    budget = Budget(limit="0.25 USD/day", usage_file=file.path)
    web = WebSearch([Sea(), Sea("creek", prices=FREE)], combine="fuse", budget=budget)
    assert not web.search("kelp").notes
    assert spent(file) == Amount(2 * MILLION, 2 * MILLION, 250_000)

    assert web.search("dulse").notes == ("sea failed (budget_exceeded): left out",)


def test_callers_that_share_an_answer_are_charged_once(file):
    web = WebSearch(Slow(), budget=Budget(usage_file=file.path))

    async def ask():
        await asyncio.gather(*(web.asearch("kelp") for _ in range(5)))

    asyncio.run(ask())
    assert spent(file).calls == MILLION


class Slow(Sea):
    def search(self, query, /):
        yield Sleep(0.1)
        return (yield from Sea.search(self, query))


# What was never sent


async def cancel_all_but_one(web, waiting):
    """Make four calls, of which three wait, and cancel those."""
    calls = [asyncio.create_task(web.asearch(f"kelp {n}")) for n in range(4)]
    await await_until(lambda: len(waiting) == 3 and any(call.done() for call in calls))
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


@pytest.mark.parametrize("is_throttle_outside", [False, True])
def test_calls_that_are_cancelled_in_a_queue_cost_nothing(
    file, sent, is_throttle_outside
):
    own = {
        "budget": Budget(["5 calls", "5 calls/day"], usage_file=file.path),
        "throttle": Throttle(1 / 600),
    }
    if is_throttle_outside:
        web = WebSearch(
            own["throttle"](own["budget"](Sea())), timeout=Timeout(search=10_000)
        )
    else:
        web = WebSearch(Sea(), **own, timeout=Timeout(search=10_000))
    waiting = []
    with listen(
        lambda event: waiting.append(event) if isinstance(event, Wait) else None
    ):
        asyncio.run(cancel_all_but_one(web, waiting))

    assert len(sent) == 1
    assert spent(file).calls == MILLION
    runs = next(part.runs for part in parts(web.provider) if hasattr(part, "runs"))
    assert (
        sum(
            amount.calls
            for used in runs.used.by_name.values()
            for amount in used.values()
        )
        == MILLION
    )


def test_a_call_that_is_cancelled_while_its_cost_is_written_costs_nothing(
    file, monkeypatch
):
    began, go_on = threading.Event(), threading.Event()
    add = UsageFile.add

    def slow(self, *arguments):
        began.set()
        assert go_on.wait(60)
        add(self, *arguments)

    web = WebSearch(Sea(), budget=Budget(usage_file=file.path))

    async def cancel():
        with monkeypatch.context() as patch:
            patch.setattr(UsageFile, "add", slow)
            call = asyncio.create_task(web.asearch("kelp"))
            while not began.is_set():
                await asyncio.sleep(0.01)
            call.cancel()
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(cancel())
    wait_until(lambda: file.read() and spent(file) == Amount())


def test_what_the_guard_refuses_costs_nothing(file, monkeypatch):
    def refuse(_, request):
        raise UnsafeURL("not public")

    monkeypatch.setattr("websearch_core._net.sender.Sender.send", refuse)
    web = WebSearch(Sea(), budget=Budget(usage_file=file.path))
    with pytest.raises(UnsafeURL):
        web.search("kelp")

    assert spent(file) == Amount()


def test_an_answer_of_a_cache_inside_costs_nothing(file, sent):
    web = WebSearch(
        Budget(usage_file=file.path)(Cache(location=":memory:")(Sea(cost=0.25)))
    )
    for _ in range(3):
        web.search("kelp")

    assert len(sent) == 1
    assert spent(file).calls == MILLION


def test_what_all_calls_without_a_run_have_used_is_never_forgotten(monkeypatch):
    monkeypatch.setattr("websearch_core._runtime.scope._MAX_RUNS", 3)
    web = WebSearch(Sea(), budget=Budget(limit="1 call"))
    web.search("kelp")
    for run in range(10):
        with charge_to(run=str(run)):
            web.search("kelp")

    with pytest.raises(BudgetExceeded):
        web.search("kelp")
