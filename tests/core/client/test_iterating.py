"""Lists of any length: answers as they are ready, in little memory, and hosts that take
turns.
"""

from __future__ import annotations
import asyncio
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from weakref import WeakSet

import pytest

from tests.waiting import await_until, ended_by, wait_until
from websearch_core import Page, SearchResponse, WebSearch
from websearch_core.client import _stream
from websearch_core.client._stream import NOT_NOW
from websearch_core.errors import (
    InvalidOption,
    PageNotFound,
    TimedOut,
    Unavailable,
    WebSearchError,
)
from websearch_core.flow import Sleep
from websearch_core.flow._branches import Branch
from websearch_core.layers import Throttle
from websearch_core.provider import Limits
from websearch_core.tools import Loading


@dataclass
class Reader:
    """Reads pages itself, each after some *seconds*; what a host in *failing* is mapped
    to is raised.
    """

    name: str = "skiff"
    opens_pages: bool = True
    seconds: float = 0.0
    failing: dict = field(default_factory=dict)
    # pages in /wait are open until then
    closed: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)
    now: Counter = field(default_factory=Counter)
    most: Counter = field(default_factory=Counter)

    def read(self, url, /):
        host = url.split("/")[2]
        self.asked.append(url)
        self.now[host] += 1
        self.most[host] = max(self.most[host], self.now[host])
        try:
            yield Sleep(self.seconds)
            while "/wait" in url and not self.closed.is_set():
                yield Sleep(0.01)
            if host in self.failing:
                raise self.failing[host]
        finally:
            self.now[host] -= 1
        return Page(
            url=url, final_url=url, content="Brown algae.", provider=self.name, cost=0.5
        )

    def search(self, query, /):
        self.asked.append(query.text)
        yield Sleep(self.seconds)
        return SearchResponse(query=query.text, provider=self.name)


def web_of(reader, **options):
    return WebSearch(reader, reader=reader, retry=1, throttle=False, **options)


def give(urls):
    yield from urls


async def agive(urls):
    for url in urls:
        await asyncio.sleep(0)
        yield url


def read_all(web, urls, form, **options):
    """Return all that one of the forms gives for *urls*."""
    if form == "blocking":
        return list(web.iter_read(give(urls), **options))

    async def read():
        return [
            pair
            async for pair in web.aiter_read(
                (agive if form == "async" else give)(urls), **options
            )
        ]

    return asyncio.run(read())


FORMS = pytest.mark.parametrize("form", ["blocking", "async", "async of a list"])


def urls_of(count, hosts=10):
    return [f"https://h{n % hosts}.example/{n}" for n in range(count)]


@FORMS
def test_every_url_gets_its_page_or_its_error(form):
    reader = Reader(failing={"h3.example": PageNotFound("gone")})
    urls = [*urls_of(200), 7]
    given = read_all(web_of(reader), urls, form)

    assert Counter(url for url, _ in given) == Counter(urls)
    failed = {
        url: type(page) for url, page in given if isinstance(page, WebSearchError)
    }
    assert {kind for url, kind in failed.items() if "h3" in str(url)} == {PageNotFound}
    assert len(failed) == 20 + 1
    assert failed[urls[-1]] is InvalidOption


@FORMS
def test_pages_are_in_the_order_of_the_urls_if_wanted(form):
    urls = ["https://slow.example/wait", *urls_of(50)]
    reader = Reader()

    def give_when_read():
        yield from urls
        reader.closed.set()

    given = read_all(
        web_of(reader), give_when_read(), form, in_order=True, concurrency=4
    )

    assert [url for url, _ in given] == urls


@FORMS
def test_a_page_that_takes_long_holds_up_no_other(form):
    reader = Reader()
    urls = ["https://slow.example/wait", *urls_of(100)]
    web = web_of(reader)
    if form == "blocking":
        given = web.iter_read(give(urls))
        first = [next(given)[0] for _ in range(100)]
        reader.closed.set()
        rest = list(given)
    else:

        async def read():
            given = web.aiter_read(agive(urls))
            first = [(await anext(given))[0] for _ in range(100)]
            reader.closed.set()
            return first, [pair async for pair in given]

        first, rest = asyncio.run(read())

    assert set(first) == set(urls[1:])
    assert [url for url, _ in rest] == urls[:1]


@pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])
def test_urls_are_taken_as_they_are_needed(concurrent):
    taken = itertools.count()

    def endless():
        for n in itertools.count():
            next(taken)
            yield f"https://h{n}.example/"

    web = web_of(Reader())
    if concurrent:

        async def read():
            given = web.aiter_read(endless(), concurrency=4)
            some = [await anext(given) for _ in range(50)]
            await given.aclose()
            return some

        some = asyncio.run(read())
    else:
        given = web.iter_read(endless(), concurrency=4)
        some = list(itertools.islice(given, 50))
        given.close()

    assert len(some) == 50
    assert next(taken) <= 50 + 4 + 8 + 8


def test_many_urls_of_one_host_in_a_row_do_not_hold_up_the_others():
    reader = Reader()
    urls = [*(f"https://slow.example/wait/{n}" for n in range(400)), *urls_of(20)]
    given = web_of(reader).iter_read(urls)
    first = [next(given)[0] for _ in range(20)]

    assert set(first) == set(urls[400:])
    reader.closed.set()
    assert len(list(given)) == 400
    assert reader.most["slow.example"] == 4 or reader.most["slow.example"] == 1


@FORMS
def test_a_host_has_four_pages_at_a_time_or_as_many_as_the_throttle_says(form):
    for throttle, most in (
        (False, 4),
        (Throttle(host_concurrent=2, host_requests_per_second=1e6), 2),
    ):
        reader = Reader(seconds=0.002)
        web = WebSearch("duckduckgo", reader=reader, retry=1, throttle=throttle)
        read_all(web, urls_of(120, hosts=3), form)

        assert max(reader.most.values()) <= most


@FORMS
def test_a_host_that_does_not_answer_is_given_up_and_its_rows_say_so(form):
    reader = Reader(
        failing={
            "dead.example": TimedOut("no answer"),
            "gone.example": Unavailable("busy", status=500),
        }
    )
    urls = [
        *(f"https://dead.example/{n}" for n in range(40)),
        *(f"https://gone.example/{n}" for n in range(9)),
    ]
    given = dict(read_all(web_of(reader), [*urls, *urls_of(40)], form))
    asked = Counter(url.split("/")[2] for url in reader.asked)

    assert asked["dead.example"] == 3
    assert asked["gone.example"] == 9  # it answered
    refused = [
        page
        for page in given.values()
        if isinstance(page, Unavailable) and page.status is None
    ]
    assert len(refused) == 37
    assert (
        "not requested: the last 3 pages of dead.example got no answer (timed_out)"
        in str(refused[0])
    )
    assert refused[0].url in urls
    assert sum(isinstance(page, Page) for page in given.values()) == 40


def test_the_rule_for_giving_up_can_be_set():
    for after, asked in ((1, 1), (5, 5), (None, 20)):
        reader = Reader(failing={"dead.example": TimedOut("no answer")})
        given = list(
            web_of(reader).iter_read(
                [f"https://dead.example/{n}" for n in range(20)], give_up_after=after
            )
        )

        assert len(given) == 20
        assert len(reader.asked) == asked


def test_a_host_that_answers_again_is_not_given_up():
    class Moody(Reader):
        def read(self, url, /):
            page = yield from super().read(url)
            if int(url.rpartition("/")[2]) % 3:
                raise TimedOut("no answer")
            return page

    reader = Moody()
    given = list(
        web_of(reader).iter_read(
            [f"https://moody.example/{n}" for n in range(30)],
            concurrency=1,
            give_up_after=3,
        )
    )

    assert sum(isinstance(page, Page) for _, page in given) == 10


def test_hosts_that_hang_leave_places_to_the_others():
    reader = Reader(
        failing={f"dead{n}.example": TimedOut("no answer") for n in range(12)}
    )
    dead = [f"https://dead{n % 12}.example/wait/{n}" for n in range(240)]
    urls = [
        url for pair in zip(dead, urls_of(240, hosts=8), strict=True) for url in pair
    ]
    given = web_of(reader).iter_read(urls)
    first = [next(given)[0] for _ in range(240)]

    assert not set(first) & set(dead)  # while those hang
    reader.closed.set()
    assert len(list(given)) == 240


@pytest.mark.parametrize(
    ("error", "answered", "limit", "turn"),
    [
        # or the list would wait for it at its end
        (TimedOut("no answer"), False, 16, "bad"),
        (TimedOut("no answer"), True, 16, "good"),
        (TimedOut("no answer"), False, 3, "good"),  # too few slots
        (Unavailable("no connection"), False, 16, "good"),
    ],
)
def test_only_a_host_that_hangs_and_never_answered_has_its_turn_beside_the_others(
    error, answered, limit, turn
):
    lanes = _stream.Lanes(None, limit, 4, give_up=3)
    lanes.is_whole = True
    for answer in [*["a page"] * answered, error]:
        lanes.put("page", "bad")
        assert lanes._find_turn(0)[0] == "bad"
        lanes._leave("bad", ["page"], [answer], 0.0)
    lanes.put("page", "good")
    lanes.put("page", "bad")

    assert lanes._find_turn(0)[0] == turn


@FORMS
def test_urls_with_one_canonical_form_are_read_once(form):
    reader = Reader()
    urls = [
        "https://sea.example/%28a%29",
        "https://sea.example/(a)",
        "HTTPS://SEA.example/(a)#top",
        "https://sea.example/b",
    ]
    given = read_all(web_of(reader), urls, form)

    assert len(reader.asked) == 2
    assert {page.url for _, page in given} == set(urls)
    assert sum(page.cost for _, page in given) == 1.0


@dataclass
class Batches(Reader):
    limits = Limits(pages_per_request=3)
    calls: list[int] = field(default_factory=list)
    opens_pages: bool = False

    def read_many(self, urls, /):
        self.calls.append(len(urls))
        yield Sleep(0)
        return [
            Page(url=url, final_url=url, content="Algae.", provider=self.name)
            for url in urls
        ]


@FORMS
def test_a_service_gets_several_pages_in_a_request(form):
    reader = Batches()
    given = read_all(web_of(reader), urls_of(10), form)

    assert sorted(reader.calls) == [1, 3, 3, 3]
    assert all(isinstance(page, Page) for _, page in given)


@FORMS
@pytest.mark.parametrize("in_order", [False, True])
def test_a_batch_that_nothing_more_can_fill_is_sent_as_it_is(form, in_order):
    same = read_all(
        web_of(Batches()),
        ["https://sea.example/"] * 200,
        form,
        concurrency=1,
        in_order=in_order,
    )
    fetching = Batches(opens_pages=True)
    others = read_all(
        web_of(fetching), urls_of(40, hosts=40), form, concurrency=1, in_order=in_order
    )

    assert len(same) == 200
    assert len(others) == 40


@FORMS
def test_a_source_may_wait_for_answers(form):
    known = ["https://sea.example/0"]
    seen, waits = [], []

    def follow():
        while True:
            if not known:
                waits.append(len(seen))
            yield known.pop() if known else NOT_NOW

    async def afollow():
        for url in follow():
            yield url

    def learn(url, page):
        assert isinstance(page, Page)
        seen.append(url)
        if len(seen) < 20:
            known.append(f"https://sea.example/{len(seen)}")

    web = web_of(Reader(seconds=0.05))
    if form == "blocking":
        for pair in web.iter_read(follow()):
            learn(*pair)
    else:

        async def crawl():
            async for pair in web.aiter_read(
                afollow() if form == "async" else follow()
            ):
                learn(*pair)

        asyncio.run(crawl())

    assert len(seen) == 20
    assert len(waits) < 100, waits  # it is not asked again and again meanwhile


@pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])
def test_searches_go_the_same_way(concurrent):
    service = Reader()
    queries = [*(f"q{n}" for n in range(50)), ""]
    web = web_of(service)
    if concurrent:

        async def search():
            return [
                pair async for pair in web.aiter_search(agive(queries), in_order=True)
            ]

        given = asyncio.run(search())
    else:
        given = list(web.iter_search(give(queries), in_order=True))

    assert [query for query, _ in given] == queries
    assert [getattr(answer, "query", type(answer)) for _, answer in given] == [
        *queries[:50],
        InvalidOption,
    ]


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"give_up_after": 0}, {"max_length": -1}]
)
def test_what_is_wrong_with_the_options_is_raised(wrong):
    web = web_of(Reader())
    with pytest.raises(InvalidOption):
        next(web.iter_read(["https://sea.example/"], **wrong))
    for call in (web.iter_read, web.aiter_read):
        with pytest.raises(InvalidOption, match="to read one page, use read"):
            call("https://sea.example/")
    for call in (web.iter_search, web.aiter_search):
        with pytest.raises(InvalidOption, match="to search for one, use search"):
            call("kelp")
    with pytest.raises(InvalidOption):
        next(web.iter_search(["kelp"], limit=0))


# How it ends


def test_closing_the_iterator_ends_what_is_under_way():
    reader = Reader()
    urls = [*urls_of(10), *(f"https://slow{n}.example/wait" for n in range(60))]
    given = web_of(reader).iter_read(urls)
    first = [next(given) for _ in range(10)]
    with ended_by(1):
        given.close()

    assert len(first) == 10
    wait_until(lambda: not +reader.now)


def test_leaving_an_async_loop_ends_what_is_under_way():
    reader = Reader()

    async def read():
        given = web_of(reader).aiter_read(
            [*urls_of(10), *(f"https://slow{n}.example/wait" for n in range(60))]
        )
        async for _ in given:
            break
        await given.aclose()
        assert not +reader.now

    asyncio.run(read())


def test_cancelling_the_task_ends_what_is_under_way():
    reader = Reader()

    async def read():
        async for _ in web_of(reader).aiter_read(
            f"https://slow{n}.example/wait" for n in range(60)
        ):
            pass

    async def cancel():
        task = asyncio.create_task(read())
        await await_until(lambda: reader.now.total() >= 32)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not +reader.now

    asyncio.run(cancel())


@FORMS
def test_what_the_source_raises_is_raised(form):
    def broken():
        yield from urls_of(3)
        raise KeyError("the source")

    async def abroken():
        for url in broken():
            yield url

    web = web_of(Reader())
    with pytest.raises(KeyError, match="the source"):  # noqa: PT012 - in either
        if form == "blocking":
            list(web.iter_read(broken()))
        else:

            async def read():
                async for _ in web.aiter_read(
                    abroken() if form == "async" else broken()
                ):
                    pass

            asyncio.run(read())


class StopNow(BaseException):
    pass


@FORMS
def test_what_ends_a_worker_ends_the_list(form):
    class Broken(Reader):
        def read(self, url, /):
            yield Sleep(0)
            raise StopNow

    with pytest.raises(StopNow):
        read_all(web_of(Broken()), urls_of(5), form)


def test_a_consumer_that_does_not_come_back_stops_the_reading():
    reader = Reader()
    given = web_of(reader).iter_read(urls_of(1000, hosts=1000), concurrency=4)
    next(given)
    wait_until(lambda: not +reader.now)
    asked = len(reader.asked)
    time.sleep(0.05)

    assert len(reader.asked) == asked <= 30
    given.close()


def test_threads_that_have_ended_are_not_kept_until_the_consumer_waits(monkeypatch):
    kept = WeakSet()

    class Counted(Branch):
        def __init__(self, work):
            super().__init__(work)
            kept.add(self)

    monkeypatch.setattr(_stream, "Branch", Counted)
    given = web_of(Reader()).iter_read(urls_of(60, hosts=60), concurrency=2)
    for _ in itertools.islice(given, 50):
        wait_until(lambda: all(branch.done.done() for branch in [*kept]))
    gc.collect()

    assert len(kept) <= 4
    given.close()


PROGRAM = """
import sys, time
from websearch_core import Page, WebSearch
from websearch_core.flow import Sleep
from websearch_core.flow._branches import Branch

class Slow:
    name, opens_pages = "slow", True
    def read(self, url, /):
        if "/wait" in url:
            sys.stdout.write("waits\\n")  # one write: those of print mix with another thread's
            sys.stdout.flush()
            yield Sleep(1000)
        yield Sleep(0)
        return Page(url=url, content="x")

urls = ["https://a.example/1", *(f"https://h{n}.example/wait" for n in range(40))]
try:
    for url, page in WebSearch("duckduckgo", reader=Slow(), timeout=900).iter_read(urls):
        sys.stdout.write(f"{url}\\n")
        sys.stdout.flush()
except KeyboardInterrupt:
    sys.stdout.write("interrupted\\n")
    sys.stdout.flush()
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a child process")
def test_ctrl_c_ends_the_loop_soon_and_keeps_what_was_given():
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True
    ) as child:
        lines = []
        while lines.count("waits\n") < 30 or "https://a.example/1\n" not in lines:
            line = child.stdout.readline()
            assert line, lines
            lines.append(line)
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=60)

    assert "interrupted\n" in rest  # beside a page that began just then
    assert child.returncode == 0


# Loaders


def test_a_loader_reads_ahead_and_keeps_the_order():
    reader = Reader()
    documents = Loading(web_of(reader)).load(urls_of(40))
    next(documents)

    assert len(reader.asked) < 100
    assert [document.metadata["url"] for document in documents] == urls_of(40)[1:]


def test_memory_stays_flat():
    """Numbers of objects, since memory depends on the machine: nothing is kept for what
    was given.
    """
    import gc

    def count():
        gc.collect()
        # isinstance would make lazy objects import
        pages = [one for one in gc.get_objects() if type(one) is Page]
        # other tests keep pages too
        return sum(".flat.example" in page.url for page in pages)

    given = web_of(Reader()).iter_read(
        (f"https://h{n}.flat.example/" for n in range(700)), concurrency=8
    )
    assert len(list(itertools.islice(given, 650))) == 650

    assert count() <= 100
    given.close()
