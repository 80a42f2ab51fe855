"""What calls share, by who makes them: each cell of the table in docs/tenants.md, in
the worst case that can be built.
"""

from __future__ import annotations
import asyncio
import re
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.waiting import await_until, wait_until
from websearch_core import Credentials, Http, WebSearch
from websearch_core._net.sender import Sender
from websearch_core._runtime.scope import current_call
from websearch_core.errors import (
    AllProvidersFailed,
    BudgetExceeded,
    DomainNotAllowed,
    RateLimited,
    Unavailable,
    UnsafeURL,
)
from websearch_core.flow import Request, Response, Sleep, arun
from websearch_core.flow._flights import Flights
from websearch_core.layers import (
    Budget,
    Cache,
    Robots,
    SingleFlight,
    Throttle,
    charge_to,
)
from websearch_core.layers._identity import _locate
from websearch_core.layers._layer import parts
from websearch_core.models import Page
from websearch_core.provider import Key, provider
from websearch_core.testing import FakeWeb

pytestmark = pytest.mark.repository
DOCS = Path(__file__).parents[2] / "docs" / "tenants.md"
SITE = "https://sea.example"
URL = f"{SITE}/kelp"
key: ContextVar[str] = ContextVar("key", default="ann")


@provider
class Sea:
    """A reader whose options are declared; it fetches pages as `direct` does."""

    name = "sea"

    api_key: Key
    depth: str = "fast"

    def read(self, url, /):
        response = yield Request(
            url=url,
            headers={"Authorization": self.api_key.get_secret_value()},
            guarded=True,
        )
        return Page(url=url, content=response.content.decode(), provider=self.name)


def sea(**options):
    return Sea(api_key=key.get, **options)  # which is called for each request


def make_sea(secret):
    """Make a provider that keeps something where nobody can see it."""

    @provider
    class Sea:
        name = "sea"

        def read(self, url, /):
            yield Request(url=url, guarded=True)
            return Page(url=url, content=secret)

    return Sea()


class Web:
    """Instead of the network: answers wait while it is held."""

    def __init__(self):
        self.asked, self.is_open = [], asyncio.Event()

    async def asend(self, request):
        self.asked.append(request.url)
        if not request.url.endswith("robots.txt"):
            await self.is_open.wait()
        return Response(status=200, content=b"User-agent: *\nAllow: /")

    def count(self, ending):
        return sum(url.endswith(ending) for url in self.asked)


@pytest.fixture
def net(monkeypatch):
    web = Web()
    monkeypatch.setattr(Sender, "asend", lambda _, request: web.asend(request))
    return web


@dataclass
class Case:
    """
    Two callers.

    Args:
        mine: The arguments of the WebSearch of the first.
        other: Those of the second; None if they use the same one.
        context: Makes the block in which the second one calls.
        cache: Options of the cache of both.
        other_cache: Those of the second, where they differ.
        budget: Whether each has a budget.
        readers: Makes the reader of each.

    """

    mine: dict[str, Any] = field(default_factory=dict)
    other: dict[str, Any] | None = None
    context: Any = nullcontext
    cache: dict[str, Any] = field(default_factory=dict)
    other_cache: dict[str, Any] = field(default_factory=dict)
    budget: bool = False
    readers: tuple[Any, Any] = (sea, sea)


class another_key:  # noqa: N801 - a block
    def __enter__(self):
        self.token = key.set("bob")

    def __exit__(self, *_):
        key.reset(self.token)


def own_client():
    return httpx.AsyncClient(headers={"Authorization": "Bearer bob"})


CASES = {
    "of one `WebSearch`": Case,
    "of one, with different keys": lambda: Case(context=another_key),
    "of two tenants of one (`charge_to`)": lambda: Case(
        context=lambda: charge_to("bob")
    ),
    "of two tenants of one, where a budget counts": lambda: Case(
        context=lambda: charge_to("bob"), budget=True
    ),
    "of two that are alike": lambda: Case(other={}),
    "with another `internal`": lambda: Case(other={"internal": ["10.0.0.0/8"]}),
    "with another domain policy": lambda: Case(
        other={"blocked_domains": ["land.example"]}
    ),
    "with `robots=True` and without": lambda: Case(
        other={}, readers=(sea, lambda: Robots()(sea()))
    ),
    "with other `credentials`": lambda: Case(
        other={"http": Http(credentials={SITE: Credentials(bearer="bob's")})}
    ),
    "with its own `verify`": lambda: Case(
        other={"http": Http(verify=ssl.create_default_context())}
    ),
    "with its own HTTP client": lambda: Case(
        other={"http": Http(async_client=own_client())}
    ),
    "with its own HTTP client, and both with the same `tenant` of the cache": lambda: (
        Case(
            mine={"http": Http(async_client=own_client())},
            other={"http": Http(async_client=own_client())},
            cache={"tenant": "ann"},
        )
    ),
    "with another `tenant` of the cache": lambda: Case(
        other={}, other_cache={"tenant": "bob"}
    ),
    "with other options of the provider": lambda: Case(
        other={}, readers=(sea, lambda: sea(depth="deep"))
    ),
    "with a provider whose class a function made": lambda: Case(
        other={}, readers=(lambda: make_sea("ann's"), lambda: make_sea("bob's"))
    ),
}


def read_table():
    """Return the cells of the table in the docs: for two callers and a kind of thing,
    what it says.
    """
    (table,) = re.findall(
        r"\| Two calls for the same thing.*?\n\n", DOCS.read_text(), re.DOTALL
    )
    head, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.strip().splitlines()
    ]
    return {
        (row[0], kind): said
        for row in rows
        for kind, said in zip(head[1:], row[1:], strict=True)
    }


def make_webs(case, wrap, *shared):
    """Return the WebSearch of both callers.

    Args:
        case: The callers.
        wrap: Puts the layer of interest around what reads, for the first caller (0) or
            the second (1).
        shared: The fields of that layer which both are given: as if one could hold the
            readers of both.

    """
    readers = [
        wrap(Budget(limit="9 calls")(make()) if case.budget else make(), at)
        for at, make in enumerate(case.readers)
    ]
    for name in shared:
        setattr(readers[1], name, getattr(readers[0], name))
    mine = WebSearch(FakeWeb(), reader=readers[0], **case.mine)
    return mine, mine if case.other is None else WebSearch(
        FakeWeb(), reader=readers[1], **case.other
    )


async def shares_a_request(case, net, path):
    mine, other = make_webs(case, lambda inner, _: SingleFlight()(inner), "_flights")
    (flights,) = [
        part._flights
        for part in parts(mine.reader)
        if isinstance(getattr(part, "layer", None), SingleFlight)
    ]
    first = asyncio.create_task(mine.aread(URL))
    await await_until(lambda: net.count("kelp") == 1)
    with case.context():
        second = asyncio.create_task(other.aread(URL))
    under_way = flights._get_flights_here()
    await await_until(
        lambda: (
            net.count("kelp") == 2
            or any(len(one.waiting) == 2 for one in under_way.values())
        )
    )
    net.is_open.set()
    await asyncio.gather(first, second)
    return net.count("kelp") == 1


async def shares_the_cache(case, net, path):
    def wrap(inner, at):
        return Cache(location=path, **case.cache, **case.other_cache if at else {})(
            inner
        )

    net.is_open.set()
    mine, other = make_webs(case, wrap)
    await mine.aread(URL)
    with case.context():
        await other.aread(URL)
    return net.count("kelp") == 1


async def shares_robots_files(case, net, path):
    net.is_open.set()
    mine, other = make_webs(case, lambda inner, _: Robots()(inner), "files")
    await mine.aread(URL)
    asked = net.count("robots.txt")
    with case.context():
        await other.aread(URL)
    return net.count("robots.txt") == asked == 1


KINDS = {
    "a request in flight": shares_a_request,
    "the file of a cache, or its Redis": shares_the_cache,
    "the `robots.txt` of a site": shares_robots_files,
}
TABLE = read_table()


def test_the_table_in_the_docs_has_a_row_for_each_case_and_says_yes_or_no():
    assert set(TABLE) == {(callers, kind) for callers in CASES for kind in KINDS}
    assert set(TABLE.values()) == {"yes", "no"}


@pytest.mark.parametrize(
    ("callers", "kind"), [(callers, kind) for callers in CASES for kind in KINDS]
)
async def test_calls_share_what_the_table_in_the_docs_says(
    callers, kind, net, tmp_path
):
    shares = await KINDS[kind](CASES[callers](), net, tmp_path / "answers.db")

    assert ("yes" if shares else "no") == TABLE[callers, kind]


# Errors about the caller


def make_late():
    error = RateLimited("the wait is longer than the time left")
    error.concerns_caller = True
    return error


ABOUT_CALLERS = [
    lambda: BudgetExceeded("used up"),
    lambda: UnsafeURL("not from here"),
    lambda: DomainNotAllowed("outside the policy"),
    make_late,
    lambda: AllProvidersFailed(
        "all failed", [Unavailable("down"), BudgetExceeded("used up")]
    ),
]


@pytest.mark.parametrize("make", ABOUT_CALLERS)
def test_a_thread_that_waited_begins_again_after_an_error_about_another_caller(make):
    flights, asked = Flights(), []

    def fail():
        asked.append("ann")
        wait_until(lambda: len(flights._blocking["kelp"].waiting) == 4)
        raise make()

    def succeed():
        asked.append(current_call().account.tenant)
        wait_until(lambda: len(flights._blocking["kelp"].waiting) == 3)
        return "kelp"

    def follow():
        with charge_to("bob"):
            return flights.share("kelp", succeed)

    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(flights.share, "kelp", fail)
        wait_until(lambda: asked)
        others = [threads.submit(follow) for _ in range(3)]
        assert type(first.exception()) is type(make())
        answers = [other.result() for other in others]

    # the others of the same wait joined the first of them
    assert asked == ["ann", "bob"]
    assert [answer.value for answer in answers] == ["kelp"] * 3
    assert sum(answer.is_first for answer in answers) == 1


@pytest.mark.parametrize("make", ABOUT_CALLERS)
async def test_a_task_that_waited_begins_again_after_an_error_about_another_caller(
    make,
):
    flights, asked = Flights(), []

    async def fail():
        asked.append("ann")
        raise make()

    async def succeed():
        asked.append(current_call().account.tenant)
        return "kelp"

    async def follow():
        with charge_to("bob"):
            return await flights.ashare("kelp", succeed)

    error, *answers = await asyncio.gather(
        flights.ashare("kelp", fail),
        *(follow() for _ in range(3)),
        return_exceptions=True,
    )

    assert type(error) is type(make())
    assert asked == ["ann", "bob"]
    assert [answer.value for answer in answers] == ["kelp"] * 3


async def test_many_callers_who_may_not_ask_each_hear_it_from_their_own_attempt():
    flights, asked = Flights(), []

    async def fail():
        asked.append(None)
        raise BudgetExceeded("used up")

    errors = await asyncio.gather(
        *(flights.ashare("kelp", fail) for _ in range(500)), return_exceptions=True
    )

    assert {type(error) for error in errors} == {BudgetExceeded}
    assert len(asked) == 500  # each says for itself that it may not


@pytest.mark.parametrize("is_async", [False, True])
def test_a_run_whose_budget_is_used_up_fails_no_other_run_that_asks_the_same(is_async):
    begun, service = [], FakeWeb(results=[{"title": "Kelp", "url": URL}])
    web = WebSearch(service, budget=Budget(limit="1 calls"))
    with charge_to(run="ann"):
        web.search("something else")

    def ask(run):
        begun.append(run)
        with charge_to(run=run):
            return web.search("kelp")

    async def aask(run):
        with charge_to(run=run):
            return await web.asearch("kelp")

    async def main():
        return await asyncio.gather(
            aask("ann"), aask("bob"), aask("cat"), return_exceptions=True
        )

    if is_async:
        ann, *others = asyncio.run(main())
    else:
        with ThreadPoolExecutor(3) as threads:
            calls = [threads.submit(ask, run) for run in ("ann", "bob", "cat")]
            ann, *others = [call.exception() or call.result() for call in calls]

    assert isinstance(ann, BudgetExceeded)
    assert [len(answer.results) for answer in others] == [1, 1]


async def test_a_page_of_a_batch_that_failed_because_of_another_caller_is_read_again():
    asked = []

    class Reader:
        name = "batches"

        def read_many(self, urls):
            asked.append(list(urls))
            yield Sleep(0)
            return [
                DomainNotAllowed("outside")
                if len(asked) == 1 and "b" in url
                else Page(url=url)
                for url in urls
            ]

        def read(self, url):
            raise AssertionError("not one by one")
            yield

    layer = SingleFlight()(Reader())
    urls = ["https://a.example/", "https://b.example/"]
    first, second = await asyncio.gather(
        *(arun(layer.read_many(urls), None) for _ in range(2))
    )

    assert [type(one) for one in first] == [Page, DomainNotAllowed]
    assert [type(one) for one in second] == [Page, Page]
    assert asked == [urls, urls[1:]]


def test_a_wait_that_is_longer_than_the_time_of_a_caller_is_an_error_about_that_caller():
    web = WebSearch(FakeWeb(), throttle=Throttle(requests_per_second=0.001))
    web.search("something else")

    with pytest.raises(RateLimited, match="longer than the time left") as late:
        web.search("kelp")

    assert late.value.concerns_caller
    assert not RateLimited("by the service").concerns_caller


def test_what_a_program_defines_itself_is_not_taken_for_that_of_another_program(
    monkeypatch,
):
    one = type("Sea", (), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "/one.py", raising=False)
    first = _locate(one)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "/two.py")

    assert first != _locate(one)

    monkeypatch.delattr(sys.modules["__main__"], "__file__")  # a notebook
    with pytest.raises(TypeError):
        _locate(one)
