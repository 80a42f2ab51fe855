"""A list loses nothing: for every reader of the registry, each page of a list has its
own answer or its own error, whatever happens to the others.

The services answer as their cassettes do, with the pages that were asked for.
"""

from __future__ import annotations
import asyncio
import dataclasses
import json
import random
import socket
import threading
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from tests.cassettes import tape as tapes
from websearch_core import Http, Page, WebSearch
from websearch_core._net.sender import Sender
from websearch_core.errors import (
    DomainNotAllowed,
    RateLimited,
    TimedOut,
    Unavailable,
    UnsafeURL,
)
from websearch_core.layers import Retry
from websearch_core.providers import known, provider_class
from websearch_core.testing import FakeWeb

GATEWAY = "https://gateway.example"  # a server of the user's own: names are judged here
READERS = [
    name
    for name in known()
    if hasattr(provider_class(name), "read")
    and getattr(provider_class(name), "needs_network", True)
    and name != "browser"  # reads pages one by one, and needs a browser
]
BATCHES = [name for name in READERS if hasattr(provider_class(name), "read_many")]
# What may be wrong with a page: its URL for a number, and its error.
REFUSALS = {
    "guard": ("http://10.0.7.{}/", UnsafeURL),
    "policy": ("http://8.8.4.{}/shut", DomainNotAllowed),
    "look-up": ("http://nowhere{}.wrack.com/", Unavailable),
    "service": ("http://8.9.0.{}/", Exception),
}


class Service:
    """Answers as the cassettes of a reader do, for any page; not for those of 8.9.0.0.

    *statuses* are those of the next requests that name pages.
    """

    def __init__(self, name: str, statuses: tuple[int, ...] = ()) -> None:
        self._answers = {
            scenario: tapes.find(name, scenario)
            for scenario in ("read", "read_failed")
            if (tapes.FOLDER / name / f"{scenario}.yaml").exists()
        }
        self._is_batch = name in BATCHES
        self._statuses = list(statuses)
        self._lock = threading.Lock()
        self.expected: list[str] = []
        self.pages: list[str] = []  # for which it was asked
        self.requests = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        sent = unquote(str(request.url)) + unquote(request.content.decode())
        pages = [url for url in self.expected if url in sent]
        with self._lock:
            self.pages += pages
            self.requests += 1
            status = self._statuses.pop(0) if self._statuses and pages else 200
        if status != 200:
            return httpx.Response(status)
        if any(".wrack.com" in url for url in pages):  # read by our own reader
            raise httpx.ConnectError("no such name")
        is_lost = all("//8.9.0." in url for url in pages)
        if is_lost and not self._is_batch and "read_failed" not in self._answers:
            return httpx.Response(404)
        scenario = "read_failed" if is_lost and not self._is_batch else "read"
        return self._respond(self._answers[scenario], request, pages)

    def _respond(
        self, tape: tapes.Tape, request: httpx.Request, pages: list[str]
    ) -> httpx.Response:
        old = tape["read"][0]
        exchange = tape["interactions"][0]
        for candidate in tape["interactions"]:
            path = unquote(httpx.URL(candidate["request"]["uri"]).path)
            if path.replace(old, pages[0]) == unquote(request.url.path):
                exchange = candidate
                break
        response = exchange["response"]
        body = response["body"]["string"]
        text = body.decode() if isinstance(body, bytes) else body
        if self._is_batch:
            text = json.dumps(self._repeat(json.loads(text), old, pages))
        else:
            text = text.replace(old, pages[0])
        headers = {
            name: values[0]
            for name, values in response["headers"].items()
            if name.lower() not in {"content-encoding", "content-length"}
        }
        return httpx.Response(response["status"]["code"], headers=headers, text=text)

    def _repeat(self, value: Any, old: str, pages: list[str]) -> Any:
        """Return a decoded answer with the records of *pages* in place of that of the
        page of the cassette.
        """
        if isinstance(value, dict):
            return {name: self._repeat(one, old, pages) for name, one in value.items()}
        if not isinstance(value, list):
            return value
        records = []
        for one in value:
            text = json.dumps(one)
            if old not in text:
                records.append(one)
                continue
            records += [
                json.loads(text.replace(old, url))
                for url in pages
                if "//8.9.0." not in url
            ]
        return records


def serve(service: Service, name: str, urls: list[str], **options: Any) -> WebSearch:
    """Return a `WebSearch` that reads with *name*, whose service is *service*."""
    service.expected = list(dict.fromkeys(urls))
    kind = provider_class(name)
    fields = {field.name for field in dataclasses.fields(kind)}
    values = {"api_key": "key-of-this-test-0123456789", "base_url": GATEWAY}
    values = {field: value for field, value in values.items() if field in fields}
    transport = httpx.MockTransport(service)
    http = Http(
        client=httpx.Client(transport=transport),
        async_client=httpx.AsyncClient(transport=transport),
    )
    chain = {
        "retry": False,
        "throttle": False,
        "blocked_domains": ["8.8.4.1", "8.8.4.2", "8.8.4.3"],
    }
    chain = {"provider": FakeWeb(), "reader": kind(**values), "http": http, **chain}
    return WebSearch(**{**chain, **options})


@pytest.fixture(autouse=True)
def network(monkeypatch):
    """All requests go to the service, also those for pages; names of ``wrack.com`` do
    not resolve.
    """

    def resolve(host, port, **_):
        if host.rstrip(".").endswith(".wrack.com"):
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr("websearch_core._net.system.source_address", lambda ip: None)
    monkeypatch.setattr(Sender, "_client", lambda self, guarded: self._own_client)


def draw_list(seed: int, kinds: list[str]) -> dict[str, str]:
    """Return the URLs of a list, and what is wrong with each: nothing, or one of
    *kinds*.
    """
    chance = random.Random(seed)
    count = chance.randint(1, 45)
    share = chance.choice([0.05, 0.3, 0.9])
    rows = {}
    numbers = dict.fromkeys(kinds, 0)
    for number in range(count):
        kind = chance.choice(kinds)
        is_refused = chance.random() < share and numbers[kind] < 3
        if is_refused:
            numbers[kind] += 1
            rows[REFUSALS[kind][0].format(numbers[kind])] = kind
        else:
            rows[f"http://8.8.0.{number}/"] = ""
    return rows


def check_answers(rows: dict[str, str], answers: list[Any]) -> None:
    assert len(answers) == len(rows)
    assert len(set(map(id, answers))) == len(rows)
    for (url, problem), answer in zip(rows.items(), answers, strict=True):
        assert "not requested" not in str(answer)
        assert answer.url == url
        if not problem:
            assert isinstance(answer, Page), (url, answer)
        else:
            assert isinstance(answer, REFUSALS[problem][1]), (url, problem, answer)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", READERS)
def test_each_page_has_its_own_answer_or_its_own_error(name, seed):
    rows = draw_list(seed, list(REFUSALS))
    service = Service(name)

    answers = serve(service, name, list(rows)).read_many(list(rows))

    check_answers(rows, answers)
    refused = [url for url, problem in rows.items() if problem in {"guard", "policy"}]
    assert not set(service.pages) & set(refused)


@pytest.mark.parametrize("name", BATCHES)
def test_tasks_get_the_same(name):
    rows = draw_list(1, list(REFUSALS))
    web = serve(Service(name), name, list(rows))

    async def read():
        async with web:
            return await web.aread_many(list(rows))

    check_answers(rows, asyncio.run(read()))


@pytest.mark.parametrize("name", BATCHES)
def test_one_refusal_of_the_service_costs_the_pages_of_one_request(name):
    urls = [f"http://8.8.0.{number}/" for number in range(200)]
    web = serve(Service(name, (200, 503)), name, urls)

    answers = web.read_many(urls, concurrency=1)

    size = provider_class(name).limits["pages_per_request"]
    assert [type(answer) for answer in answers].count(Page) == len(urls) - size
    assert "not requested" not in str(answers)
    assert [answer.url for answer in answers] == urls


@pytest.mark.parametrize("name", BATCHES)
def test_three_pages_in_a_row_that_nobody_could_read_do_not_end_a_list(name):
    good = [f"http://8.8.0.{number}/" for number in range(60)]
    lost = [f"http://8.9.0.{number}/" for number in range(3)]
    urls = [*good[:7], *lost, *good[7:]]

    answers = serve(Service(name), name, urls).read_many(urls, concurrency=1)

    assert [type(answer) for answer in answers].count(Page) == len(good)


@pytest.mark.parametrize("name", BATCHES)
def test_the_top_pages_of_a_search_are_read_beside_one_that_is_refused(name):
    urls = ["http://8.8.0.1/", "http://nowhere1.wrack.com/", "http://8.8.0.2/"]
    results = [{"title": "t", "url": url, "snippet": "s"} for url in urls]
    web = serve(Service(name), name, urls, provider=FakeWeb(results=results))

    response = web.search("kelp", read_top=3)

    assert [bool(result.content) for result in response.results] == [True, False, True]
    assert sum("could not be read" in note for note in response.notes) == 1


def test_a_site_that_is_silent_is_still_given_up():
    urls = [f"http://8.8.0.1/{number}" for number in range(9)]
    service = Service("direct", (503,) * 9)

    answers = serve(service, "direct", urls).read_many(urls, give_up_after=3)

    assert len(service.pages) == 3
    assert sum("not requested" in str(answer) for answer in answers) == 6


def test_a_service_that_is_down_is_asked_again_and_the_refused_keep_their_error():
    urls = ["http://10.0.7.1/", "http://8.8.0.1/", "http://8.8.0.2/"]
    service = Service("tavily", (503,))
    web = serve(service, "tavily", urls, retry=Retry(2, wait_initial=0))

    answers = web.read_many(urls)

    assert [type(answer) for answer in answers] == [UnsafeURL, Page, Page]
    assert service.requests == 2


def test_each_error_of_a_request_that_failed_is_one_of_its_own():
    urls = ["http://8.8.0.1/", "http://8.8.0.2/", "http://8.8.0.3/"]

    answers = serve(Service("tavily", (429,)), "tavily", urls).read_many(urls)

    assert [type(answer) for answer in answers] == [RateLimited] * 3
    assert [answer.url for answer in answers] == urls


def test_a_page_that_was_not_sent_is_not_charged():
    urls = ["http://10.0.7.1/", "http://nowhere1.wrack.com/", "http://8.8.0.1/"]
    web = serve(Service("tavily"), "tavily", urls, budget="1 calls")

    answers = web.read_many(urls[:2]) + web.read_many(urls[:1])

    assert [type(one) for one in answers] == [UnsafeURL, Unavailable, UnsafeURL]
    assert isinstance(web.read(urls[2]), Page)


def test_names_whose_servers_are_silent_cost_the_time_of_one(monkeypatch):
    ends = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: ends.wait(60) and [])
    silent = [f"http://silent{number}.wrack.com/" for number in range(12)]
    urls = [*silent, "http://8.8.0.1/"]
    service = Service("tavily")
    web = serve(service, "tavily", urls, timeout={"connect": 0.3, "read": 2.0})

    answers = web.read_many(urls)

    ends.set()
    assert [type(answer) for answer in answers] == [TimedOut] * 12 + [Page]
