"""A rate limiter of the application's: every request waits for it, within the time of
the call.
"""

from __future__ import annotations
import asyncio
import threading

import pytest

from tests.waiting import await_until, ended_by
from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, RateLimited, TimedOut, Unavailable
from websearch_core.events import Charge, listen
from websearch_core.flow import Request, run
from websearch_core.layers import Budget, Retry, Throttle
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.provider import from_function
from websearch_core.providers.direct import Direct
from websearch_core.testing import reply

KELP = SearchQuery.of("kelp")


class Limiter:
    """Has a number of places, as in both frameworks; says who asked, and from where."""

    def __init__(self, places=100, answer=None):
        self.places, self.answer, self.asked = places, answer, []
        self.lock = threading.Lock()  # cannot be copied

    def acquire(self, num_tokens=0):
        self.asked.append("acquire")
        return self.take()

    def take(self):
        if self.places <= 0:
            threading.Event().wait(60)
        self.places -= 1
        return self.answer


class LangChainLimiter(Limiter):
    def acquire(self, *, blocking=True):
        return super().acquire()

    async def aacquire(self, *, blocking=True):
        self.asked.append("aacquire")
        if self.places <= 0:
            await asyncio.sleep(60)
        self.places -= 1
        return True


class LlamaIndexLimiter(Limiter):
    async def async_acquire(self, num_tokens=0):
        self.asked.append("async_acquire")
        self.places -= 1


class Service:
    name = "beacon"

    def search(self, query):
        response = yield Request(url="https://beacon.example/search")
        if response.status == 503:
            raise Unavailable("busy")
        return SearchResponse(query=query.text, provider=self.name)


def web_with(limiter, **options):
    return WebSearch(
        from_function("sea", search=lambda query: []), throttle=limiter, **options
    )


@pytest.mark.parametrize("kind", [Limiter, LangChainLimiter, LlamaIndexLimiter])
def test_blocking_calls_acquire(kind):
    limiter = kind()
    web_with(limiter).search("kelp")

    assert limiter.asked == ["acquire"]


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        (Limiter, "acquire"),
        (LangChainLimiter, "aacquire"),
        (LlamaIndexLimiter, "async_acquire"),
    ],
)
async def test_async_calls_await_what_the_limiter_has_for_them(kind, method):
    limiter = kind()
    await web_with(limiter).asearch("kelp")

    assert limiter.asked == [method]


def test_every_attempt_waits_for_it():
    limiter, answers = Limiter(), iter([reply(status=503), reply(status=503), reply()])
    layer = Retry(wait_initial=0)(Throttle(rate_limiter=limiter)(Service()))
    run(layer.search(KELP), lambda _: next(answers))

    assert len(limiter.asked) == 3


def test_pages_and_their_redirects_wait_too():
    limiter = Limiter()
    answers = iter(
        [
            reply(status=301, location="https://sea.example/kelp"),
            reply(b"<p>Kelp is an alga.</p>"),
        ]
    )
    run(
        Throttle(rate_limiter=limiter)(Direct()).read("https://sea.example/"),
        lambda _: next(answers),
    )

    assert len(limiter.asked) == 2


@pytest.mark.parametrize("kind", [Limiter, LangChainLimiter])
def test_the_wait_is_part_of_the_time_of_the_call(kind):
    with ended_by(0.2), pytest.raises(TimedOut):
        web_with(kind(places=0), timeout=0.2).search("kelp")


async def test_so_it_is_on_an_event_loop_and_a_cancelled_call_takes_nothing():
    limiter = LangChainLimiter(places=0)
    with pytest.raises(TimedOut):
        await web_with(limiter, timeout=0.1).asearch("kelp")
    limiter.asked.clear()
    task = asyncio.create_task(web_with(limiter).asearch("kelp"))
    await await_until(lambda: limiter.asked)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert limiter.places == 0


def test_a_limiter_that_refuses_is_an_error_and_nothing_is_sent_or_charged():
    limiter, heard = Limiter(answer=False), []
    budget = Budget(limit="5 calls")(Throttle(rate_limiter=limiter)(Service()))
    with (
        listen(heard.append),
        pytest.raises(RateLimited, match="the rate limiter does not let it through"),
    ):
        run(budget.search(KELP), lambda _: pytest.fail("sent"))

    assert not [event for event in heard if isinstance(event, Charge)]


def test_a_call_of_one_request_is_charged_once():
    heard, budget = (
        [],
        Budget(limit="5 calls")(Throttle(rate_limiter=Limiter())(Service())),
    )
    with listen(heard.append):
        run(budget.search(KELP), lambda _: reply())

    assert len([event for event in heard if isinstance(event, Charge)]) == 1


def test_one_limiter_serves_several_objects_which_do_not_copy_it():
    limiter = Limiter()
    for _ in range(2):
        web_with(limiter).search("kelp")
    WebSearch(
        from_function("sea", search=lambda query: []),
        throttle=Throttle(rate_limiter=limiter),
    ).search("kelp")

    assert len(limiter.asked) == 3


def test_a_cached_page_waits_for_nobody(tmp_path):
    limiter = Limiter()
    web = WebSearch(
        "duckduckgo",
        reader=from_function("sea", read=lambda url: Page(url=url, content="Kelp")),
        throttle=limiter,
        cache=str(tmp_path / "pages.db"),
    )
    for _ in range(2):
        web.read("https://sea.example/")

    assert len(limiter.asked) == 1


class Asynchronous:
    async def acquire(self):
        pass


@pytest.mark.parametrize("limiter", ["5/s", object(), Limiter, Asynchronous()])
def test_what_cannot_be_waited_for_is_refused(limiter):
    with pytest.raises(
        ConfigurationError, match="rate_limiter: |shared: must be a URL"
    ):
        WebSearch("duckduckgo", throttle=limiter)


def test_with_a_throttle_of_ones_own_the_short_form_is_refused():
    for layers in (None, [Throttle()]):
        with pytest.raises(
            ConfigurationError,
            match="throttle: not with layers=None|layers: Throttle does not belong here",
        ):
            WebSearch("duckduckgo", throttle=Limiter(), layers=layers)
