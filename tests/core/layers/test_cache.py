"""Answers and pages that are kept: when and to which calls they are given again, and
what happens when keeping fails.
"""

from __future__ import annotations
import asyncio
import copy
import pickle
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers import drive
from websearch_core import WebSearch
from websearch_core.errors import (
    AuthenticationError,
    BadRequest,
    ConfigurationError,
    DomainNotAllowed,
    InvalidOption,
    PageNotFound,
    TimedOut,
    Unavailable,
)
from websearch_core.events import CacheHit
from websearch_core.layers import Cache, CacheStats, max_age
from websearch_core.layers import _cache as store
from websearch_core.layers._caching.backend import MemoryBackend
from websearch_core.layers._caching.entries import Entry, decode, encode
from websearch_core.models import Page, SearchQuery, SearchResponse, SearchResult
from websearch_core.provider import Key, Request, from_function, provider
from websearch_core.settings._sources import user_file
from websearch_core.testing import SECRET, FakeWeb, reply, stop_clock

URL = "https://sea.example/kelp"
TEXT = "# Kelp\n\n" + "An alga of cold seas. " * 50
KELP = SearchQuery.of("kelp")


@provider
class Sea:
    """A service whose options are declared, so that its answers may be kept in a
    file.
    """

    name = "sea"
    options = frozenset({"topic", "allowed_domains"})
    topics = frozenset({"news"})

    api_key: Key | None = None
    depth: str = "fast"

    def search(self, query, /):
        key = {"Authorization": self.api_key.get_secret_value()} if self.api_key else {}
        response = yield Request(
            url="https://sea.example/search", params={"q": query.text}, headers=key
        )
        return SearchResponse(
            query=query.text,
            provider="sea",
            cost=0.01,
            usage={"credits": 1},
            **response.json(),
        )

    def read(self, url, /):
        response = yield Request(url=url, guarded=True)
        if response.status in {404, 410, 422}:
            raise PageNotFound(
                "sea read failed: no such page", provider="sea", status=response.status
            )
        return Page(
            url=url,
            final_url=url,
            content=response.content.decode(),
            provider="sea",
            cost=0.02,
        )


@provider
class Closed:
    name = "closed"
    terms_forbid_recording = "its terms do not allow it"

    def search(self, query):
        response = yield Request(url="https://closed.example")
        return SearchResponse(query=query.text, **response.json())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "answers.db"


@pytest.fixture
def clock(monkeypatch):
    """Let time pass for the cache: ``clock.now += 3600``."""

    class Clock:
        def __init__(self):
            self.now = time.time()

        def time(self):
            return self.now

    clock = Clock()
    for module in ("entries", "sqlite", "backend"):
        monkeypatch.setattr(
            import_module(f"websearch_core.layers._caching.{module}"), "time", clock
        )
    return clock


def answer(text="Kelp grows."):
    return reply({"answer": text})


def search(layer, *answers, query=KELP):
    """Search through *layer*, with the answers that the service gives; none means that
    nothing may be sent.
    """
    return drive(layer.search(query), *answers)[0]


def read(layer, *answers, url=URL):
    return drive(layer.read(url), *answers)[0]


# Again


def test_an_answer_is_given_again_and_costs_nothing(path):
    layer = Cache(location=path)(Sea())
    first = search(layer, answer())
    again = search(layer)

    assert first.cost == 0.01
    assert (again.cost, again.usage) == (0.0, {})
    assert again.answer == "Kelp grows."


def test_a_page_is_given_again_and_reading_on_is_one_fetch(path):
    fake = FakeWeb(pages={URL: TEXT})
    web = WebSearch(fake, cache=str(path))
    parts = [
        web.read(URL, max_length=100),
        web.read(URL, offset=100),
        web.read(URL, find="cold"),
        web.read(f"{URL}#x"),
    ]

    assert fake.urls == [URL]
    assert [part.url for part in parts] == [URL, URL, URL, f"{URL}#x"]
    assert parts[2].passages


def test_a_page_says_when_it_was_fetched(path, clock):
    web = WebSearch(FakeWeb(pages={URL: TEXT}), cache=str(path))
    clock.now = datetime(2026, 5, 4, 9, tzinfo=UTC).timestamp()
    with stop_clock(datetime(2026, 5, 4, 9, tzinfo=UTC)):
        first = web.read(URL)
    clock.now += 1800

    assert (
        first.fetched_at
        == web.read(URL).fetched_at
        == datetime(2026, 5, 4, 9, tzinfo=UTC)
    )


def test_a_page_that_was_kept_before_it_had_a_status_can_be_read(path, clock):
    entry = decode(
        b'{"stored": %d, "page": {"url": "%s", "content": "Kelp."}}'
        % (int(clock.now), URL.encode())
    )
    assert (entry.answer.content, entry.answer.status) == ("Kelp.", None)
    assert entry.answer.fetched_at.timestamp() == int(clock.now)


def test_a_page_is_kept_once_however_its_url_is_spelled(path):
    fake = FakeWeb(pages={URL: TEXT})
    web = WebSearch(fake, cache=str(path))
    for url in (URL, "https://Sea.example/x/../%6Belp", f"{URL}#x"):
        assert web.read(url).url == url

    assert fake.urls == [URL]


def test_another_process_or_object_finds_it(path):
    search(Cache(location=path)(Sea()), answer())

    assert search(Cache(location=str(path))(Sea())).answer == "Kelp grows."


def test_a_spelling_of_the_query_or_the_url_gets_its_own_back(path):
    layer = Cache(location=path)(Sea())
    search(layer, answer(), query=SearchQuery.of("kelp forest"))
    read(layer, reply(TEXT))

    assert search(layer, query=SearchQuery.of("kelp   forest")).query == "kelp   forest"
    assert (
        read(layer, url="https://SEA.example:443/kelp").url
        == "https://SEA.example:443/kelp"
    )


def test_a_hook_hears_of_it_with_its_age(path, clock):
    events = []
    web = WebSearch(FakeWeb(pages={URL: TEXT}), cache=str(path), on_event=events.append)
    web.read(URL)
    clock.now += 120
    page = web.read(URL)

    (hit,) = [event for event in events if isinstance(event, CacheHit)]
    assert (hit.provider, round(hit.age), hit.stale) == ("fake", 120, False)
    assert page.notes == ()


def test_it_is_asked_again_when_it_is_too_old(path, clock):
    layer = Cache(location=path, max_age=60)(Sea())
    search(layer, answer("old"))
    clock.now += 59
    assert search(layer).answer == "old"
    clock.now += 2

    assert search(layer, answer("new")).answer == "new"
    assert search(layer).answer == "new"


def test_a_call_may_insist_on_a_fresh_answer_which_is_then_kept(path):
    layer = Cache(location=path)(Sea())
    search(layer, answer("old"))
    with max_age(0):
        assert search(layer, answer("new")).answer == "new"
    assert search(layer).answer == "new"


def test_a_call_may_say_how_old_an_answer_may_be(path, clock):
    layer = Cache(location=path, max_age=100, stale_if_error=1_000)(Sea())
    search(layer, answer("first"))
    clock.now += 30
    with max_age(60):
        assert search(layer).answer == "first"
    with max_age(30):
        assert search(layer, answer("second")).answer == "second"
    clock.now += 120
    with max_age(60), pytest.raises(Unavailable):
        search(layer, Unavailable("down"))

    assert search(layer, Unavailable("down")).answer == "second"


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1 hour", True, None])
def test_an_age_is_a_number_of_seconds(seconds):
    with pytest.raises(InvalidOption, match="max_age"), max_age(seconds):
        pass


async def test_no_cache_reaches_the_layer_through_a_web_search(path):
    fake = FakeWeb(pages={URL: TEXT})
    web = WebSearch(fake, cache=str(path))
    await web.aread(URL)
    with max_age(0):
        await web.aread(URL)
        web.read(URL)
    await web.aread(URL)

    assert len(fake.urls) == 3


def test_many_identical_calls_look_and_ask_once(path):
    fake = FakeWeb(pages={URL: TEXT}, delay=0.1)
    web = WebSearch(fake, cache=str(path))

    async def ask():
        return await asyncio.gather(*(web.aread(URL) for _ in range(50)))

    assert len(asyncio.run(ask())) == 50
    assert fake.urls == [URL]


# Whose


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"depth": "deep"}),
        ({"api_key": "key-a"}, {"api_key": "key-b"}),
        ({"api_key": "key-a"}, {}),
    ],
)
def test_other_options_and_keys_of_the_provider_have_answers_of_their_own(
    path, one, other
):
    search(Cache(location=path)(Sea(**one)), answer("one"))

    assert search(Cache(location=path)(Sea(**other)), answer("other")).answer == "other"
    assert search(Cache(location=path)(Sea(**one))).answer == "one"


@pytest.mark.parametrize(
    "options",
    [{"topic": "news"}, {"limit": 3}, {"extra": {"a": 1}}, {"unsupported": "note"}],
)
def test_other_options_of_the_query_have_answers_of_their_own(path, options):
    layer = Cache(location=path)(Sea())
    search(layer, answer("plain"))

    assert (
        search(layer, answer("other"), query=SearchQuery.of("kelp", **options)).answer
        == "other"
    )


def test_tenants_do_not_see_each_other(path):
    search(Cache(location=path, tenant="ann")(Sea()), answer("for ann"))

    assert (
        search(Cache(location=path, tenant="bob")(Sea()), answer("for bob")).answer
        == "for bob"
    )
    assert search(Cache(location=path, tenant="ann")(Sea())).answer == "for ann"


def test_a_key_that_a_function_returns_separates_tenants(path):
    tenant = ContextVar("tenant")
    layer = Cache(location=path)(Sea(api_key=tenant.get))
    for who in ("ann", "bob"):
        tenant.set(who)
        search(layer, answer(f"for {who}"))
    tenant.set("ann")

    assert search(layer).answer == "for ann"


@pytest.mark.enable_socket
def test_a_page_that_was_read_through_a_hole_in_the_guard_is_only_for_those_who_have_it(
    path, server, http
):
    server.answers["/secret"] = http(
        "<p>The inner wiki.", "200 OK", "Content-Type: text/html"
    )
    inside = WebSearch("duckduckgo", cache=str(path), internal=["127.0.0.1/32"])
    assert "inner wiki" in inside.read(f"{server.url}/secret").content
    assert "inner wiki" in inside.read(f"{server.url}/secret").content
    assert len(server.requests) == 1

    with pytest.raises(ValueError, match=r"public|not be"):
        WebSearch("duckduckgo", cache=str(path)).read(f"{server.url}/secret")


def test_the_domain_policy_is_judged_on_every_hit(path):
    fake = FakeWeb(pages={URL: TEXT})
    WebSearch(fake, cache=str(path)).read(URL)

    with pytest.raises(DomainNotAllowed):
        WebSearch(fake, cache=str(path), blocked_domains=["sea.example"]).read(URL)


def test_no_key_and_no_query_is_in_the_key_of_an_entry(path):
    kept = {}

    class Kept(MemoryBackend):
        def set(self, key, value, ttl):
            kept[key] = value

    layer = Cache(location=Kept(10**6))(Sea(api_key=SECRET))
    search(layer, answer())
    read(layer, reply(TEXT))

    assert len(kept) == 2
    assert [
        key
        for key in kept
        if not (len(key) == 64 and set(key) <= set("0123456789abcdef"))
    ] == []
    assert SECRET not in repr(kept)


def test_no_key_is_in_the_file(path):
    layer = Cache(location=path)(Sea(api_key=SECRET))
    search(layer, answer())
    read(layer, reply(TEXT))

    written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"Kelp grows." in written
    assert SECRET.encode() not in written


# What is not kept


@pytest.mark.parametrize(
    "failure",
    [
        Unavailable("down"),
        BadRequest("no"),
        AuthenticationError("no"),
        TimedOut("late"),
    ],
)
def test_failures_are_not_kept(path, failure):
    layer = Cache(location=path)(Sea())
    with pytest.raises(type(failure)):
        search(layer, failure)

    assert search(layer, answer()).answer


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_does_not_exist_is_remembered_briefly(path, clock, status):
    layer = Cache(location=path)(Sea())
    with pytest.raises(PageNotFound):
        read(layer, reply(status=status))
    with pytest.raises(PageNotFound, match="no such page") as caught:
        read(layer)
    assert (caught.value.status, caught.value.provider) == (status, "sea")
    clock.now += 61

    assert read(layer, reply(TEXT)).content == TEXT


def test_a_miss_for_another_reason_is_not_remembered(path):
    layer = Cache(location=path)(Sea())
    with pytest.raises(PageNotFound):
        read(layer, reply(status=422))

    assert read(layer, reply(TEXT)).content == TEXT


def test_what_the_terms_forbid_to_keep_stays_in_this_process(path):
    layer = Cache(location=path)(Closed())
    search(layer, answer())
    assert search(layer).answer
    assert not path.exists()
    assert search(Cache(location=path)(Closed()), answer("again")).answer == "again"

    search(Cache(location=path, ignore_terms=True)(Closed()), answer())
    assert search(Cache(location=path, ignore_terms=True)(Closed())).answer


def test_a_provider_whose_options_are_unknown_is_kept_in_this_process_for_itself_alone(
    path,
):
    asked = []

    def make(text):
        return from_function(
            "same-name",
            search=lambda query: asked.append(text) or [{"title": text, "url": URL}],
        )

    one, other = (WebSearch(make(text), cache=str(path)) for text in ("one", "other"))
    titles = [web.search("kelp").results[0].title for web in (one, other, one, other)]

    assert titles == ["one", "other", "one", "other"]
    assert asked == ["one", "other"]
    assert not path.exists()


def test_an_index_on_this_machine_is_always_asked(path):
    class Index:
        name = "index"
        needs_network = False
        asked = 0

        def search(self, query):
            self.asked += 1
            return SearchResponse(query=query.text)
            yield

        def read(self, url):
            self.asked += 1
            return Page(url=url)
            yield

    index = Index()
    layer = Cache(location=path)(index)
    for _ in range(2):
        search(layer)
        read(layer)

    assert index.asked == 4


def test_an_answer_that_is_not_json_is_not_kept(path):
    asked = []

    @provider
    class Odd:
        name = "odd"

        def search(self, query):
            asked.append(query)
            return SearchResponse(query=query.text, raw=object())
            yield

    layer = Cache(location=path)(Odd())
    search(layer)
    search(layer)
    search(layer, query=SearchQuery.of("kelp", extra={"a": object()}))

    assert len(asked) == 3


# When the service fails


@pytest.mark.parametrize("failure", [Unavailable("down"), TimedOut("late")])
def test_a_stale_answer_replaces_a_failure_and_says_so(path, clock, failure):
    layer = Cache(location=path, max_age=60, stale_if_error=7200)(Sea())
    search(layer, answer())
    clock.now += 2 * 3600
    stale = search(layer, failure)

    assert stale.answer == "Kelp grows."
    assert stale.notes == (f"sea failed ({failure.code}); from the cache, 2 hours old",)
    assert stale.cost == 0
    clock.now += 60
    with pytest.raises(type(failure)):
        search(layer, failure)


@pytest.mark.parametrize(
    "failure", [AuthenticationError("revoked"), PageNotFound("gone"), BadRequest("no")]
)
def test_an_answer_of_the_service_is_no_failure_that_a_stale_page_could_hide(
    path, clock, failure
):
    layer = Cache(location=path, max_age=60)(Sea())
    read(layer, reply(TEXT))
    clock.now += 61

    with pytest.raises(type(failure)):
        read(layer, failure)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (61, "1 minute old"),
        (90_000, "1 day old"),
        (2 * 86_400, "2 days old"),
        (59, "less than a minute old"),
    ],
)
def test_a_note_says_how_old_it_is(path, clock, seconds, said):
    layer = Cache(location=path, max_age=1, stale_if_error=1e6)(Sea())
    read(layer, reply(TEXT))
    clock.now += seconds

    assert read(layer, Unavailable("down")).notes[0].endswith(said)


# Batches


class Batches:
    name = "batches"

    def __init__(self):
        self.asked, self.fails = [], False

    def read_many(self, urls):
        yield Request(url="https://batches.example")
        self.asked.append(list(urls))
        return [
            PageNotFound("no", status=404)
            if "missing" in url
            else Page(url=url, content=TEXT, provider="batches")
            for url in urls
        ]

    def read(self, url):
        return (yield from self.read_many([url]))[0]


def test_of_many_pages_only_the_unknown_are_asked_for(clock):
    batches = Batches()
    layer = Cache(max_age=60)(batches)
    urls = [f"https://sea.example/{n}" for n in range(3)]

    def read_many(urls, *answers):
        return drive(layer.read_many(urls), *answers)[0]

    read_many(urls[:1], reply())
    pages = read_many([*urls, "https://sea.example/missing"], reply())
    again = read_many([*urls, "https://sea.example/missing"])

    assert batches.asked == [urls[:1], [*urls[1:], "https://sea.example/missing"]]
    assert [page.url for page in pages[:3]] == [page.url for page in again[:3]] == urls
    assert isinstance(again[3], PageNotFound)
    clock.now += 61
    stale = read_many([*urls, "https://sea.example/new"], Unavailable("down"))
    assert [bool(getattr(page, "notes", ())) for page in stale] == [
        True,
        True,
        True,
        False,
    ]
    assert isinstance(stale[3], Unavailable)


# Keeping never fails a call


class Broken:
    def get(self, key):
        raise OSError("the disk is gone")

    def set(self, key, value, ttl):
        raise OSError("the disk is gone")


def test_a_broken_backend_fails_no_call_and_is_logged_once(caplog):
    layer = Cache(location=Broken())(Sea())
    for _ in range(3):
        assert search(layer, answer()).answer

    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "the disk is gone" in caplog.text


def test_a_backend_that_failed_is_left_alone_for_a_while(monkeypatch):
    calls = []

    class Counted(Broken):
        def get(self, key):
            calls.append(key)
            raise RuntimeError(SECRET)

    clock = type("Clock", (), {"now": 0.0, "monotonic": lambda self: self.now})()
    clock.now = 100.0
    monkeypatch.setattr(store, "time", clock)
    layer = Cache(location=Counted())(Sea())
    for _ in range(3):
        search(layer, answer())
    assert len(calls) == 1
    clock.now += 11
    search(layer, answer())
    assert len(calls) == 2


def test_what_a_client_says_is_not_logged(caplog):
    class Talkative(Broken):
        def get(self, key):
            raise RuntimeError(f"redis://:{SECRET}@cache.example")

    search(Cache(location=Talkative())(Sea()), answer())
    assert SECRET not in caplog.text
    assert SECRET not in repr(Cache(location=f"redis://:{SECRET}@localhost"))


@pytest.mark.parametrize(
    "poison",
    [b"", b"{}", b"null", b"\x80\x04.", b"[" * 100_000, b'{"stored": 1e99, "version": 1}', b'{"version": 2, "stored": 1}',
     b'{"stored": 0, "page": {"url": 7}}', b'{"stored": 0, "page": {"url": "a"}, "missing": {"message": "b"}}',
     b'{"stored": "NaN", "page": {"url": "a"}}', b"cos\nsystem\n(S'true'\ntR."],
)  # fmt: skip
def test_a_poisoned_entry_is_as_good_as_none(poison):
    class Poisoned(Broken):
        def get(self, key):
            return poison

        def set(self, key, value, ttl):
            pass

    assert search(Cache(location=Poisoned())(Sea()), answer()).answer == "Kelp grows."


def test_an_entry_of_another_kind_or_from_the_future_is_as_good_as_none(clock):
    backend = MemoryBackend(10**6)
    layer = Cache(location=backend)(Sea())
    page = Entry.of(Page(url=URL))
    future = Entry.of(SearchResponse(query="x", answer="from the future")).model_copy(
        update={"stored": clock.now + 1e6}
    )
    for entry in (page, future):
        backend.get = partial(lambda data, key: data, encode(entry))
        assert search(layer, answer()).answer == "Kelp grows."


def test_an_answer_that_comes_at_the_last_moment_is_given_even_if_it_cannot_be_kept(
    path,
):
    layer = Cache(location=path)(Sea())
    flow = layer.search(KELP)
    next(flow)
    flow.send([None])
    flow.send(answer())
    with pytest.raises(StopIteration) as stopped:
        flow.throw(TimedOut("no time"))
    assert stopped.value.value.answer == "Kelp grows."


# Entries

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=5,
)
texts = st.text(st.characters(codec="utf-8"), max_size=50)
results = st.builds(
    SearchResult,
    title=texts,
    url=texts,
    snippet=texts,
    content=st.none() | texts,
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    published=st.none()
    | st.datetimes(timezones=st.timezones()).filter(
        lambda d: d.utcoffset().seconds % 60 == 0
    ),
    raw=json_values,
)
responses = st.builds(
    SearchResponse,
    query=texts,
    results=st.lists(results, max_size=3).map(tuple),
    answer=st.none() | texts,
    notes=st.lists(texts, max_size=2).map(tuple),
    usage=st.dictionaries(texts, st.floats(0, 1e6), max_size=2),
    raw=json_values,
)


@given(responses)
def test_what_is_written_is_what_is_read(response):
    data = encode(Entry.of(response))

    assert data is not None
    assert decode(data).answer == response


@given(st.binary(max_size=200))
def test_any_bytes_are_an_entry_or_none(data):
    assert decode(data) is None


# Backends, and the layer


def test_memory_is_bounded_and_forgets_what_was_used_least(clock):
    memory = MemoryBackend(100)
    for key in "abc":
        memory.set(key, b"x" * 40, 60)
    assert [memory.get(key) is not None for key in "abc"] == [False, True, True]
    memory.get("b")
    memory.set("d", b"x" * 40, 60)
    assert memory.get("c") is None
    assert memory.get("b")
    memory.set("big", b"x" * 101, 60)
    assert memory.stats() == CacheStats(2, 80, "memory")
    clock.now += 61
    assert memory.get("b") is None
    memory.clear()
    assert memory.stats().entries == 0


def test_copies_and_pickles_have_an_empty_memory():
    part = Cache(":memory:")(Sea())
    search(part, answer())
    for again in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert again._durable.backend.stats().entries == 0


def test_a_layer_can_be_copied_and_pickled(path):
    layer = Cache(location=path, max_age=5)
    search(layer(Sea()), answer())
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert again == layer
        assert search(again(Sea())).answer == "Kelp grows."
    for part in (copy.deepcopy(layer(Sea())), pickle.loads(pickle.dumps(layer(Sea())))):
        assert search(part).answer == "Kelp grows."


def test_searching_and_reading_share_one_connection(path):
    wrap = Cache(location=path).start()

    assert wrap(Sea())._durable.backend is wrap(Sea(depth="deep"))._durable.backend


@pytest.mark.parametrize(
    "wrong",
    [{"max_age": -1}, {"max_age": "1"}, {"stale_if_error": float("nan")}, {"not_found_max_age": True}, {"max_bytes": 0},
     {"tenant": 1}, {"location": 3}, {"location": ""}, {"location": "redis://localhost:port"}],
)  # fmt: skip
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ConfigurationError, match=r"[Cc]ache"):
        Cache(**wrong)(Sea())


# The short form


def settings_file(content):
    path = user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@pytest.fixture
def default_path(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "default_path", lambda: tmp_path / "default.db")
    return tmp_path / "default.db"


def cache_of(web):
    part = web.provider
    while part is not None and not isinstance(getattr(part, "layer", None), Cache):
        part = getattr(part, "inner", None)
    return part and part.layer


@pytest.mark.parametrize(
    ("short", "expected"),
    [
        (None, None), (False, None), ("false", None), ("off", None),
        (True, (None, 3600)), ("true", (None, 3600)), ("1", (None, 3600)), (60, (None, 60)), ("90.5", (None, 90.5)),
        ("file.db", ("file.db", 3600)), (Path("file.db"), ("file.db", 3600)),
    ],
)  # fmt: skip
def test_the_short_form_is_a_switch_an_age_or_a_place(short, expected, default_path):
    layer = cache_of(WebSearch(FakeWeb(), cache=short))

    assert (layer and (layer.location, layer.max_age)) == expected


@pytest.mark.parametrize("wrong", [0, -1, float("inf"), float("nan"), "", "-5", [1]])
def test_a_wrong_short_form_is_refused(wrong):
    with pytest.raises(ConfigurationError, match="cache: "):
        WebSearch(FakeWeb(), cache=wrong)


def test_the_default_file_is_made_when_it_is_needed(default_path):
    web = WebSearch(FakeWeb(pages={URL: TEXT}), cache=True)
    assert not default_path.exists()
    web.read(URL)
    assert default_path.exists()
    assert default_path.stat().st_mode & 0o777 == 0o600


def test_settings_and_environment_switch_it_on_and_an_argument_off(monkeypatch, path):
    settings_file(f'[cache]\nmax_age = 60\nlocation = "{path}"\ntenant = "ann"')
    layer = cache_of(WebSearch(FakeWeb()))
    assert (layer.max_age, layer.location, layer.tenant) == (60, str(path), "ann")
    assert cache_of(WebSearch(FakeWeb(), cache=False)) is None
    monkeypatch.setenv("WEB_SEARCH_CACHE", "false")
    assert cache_of(WebSearch(FakeWeb())) is None
    monkeypatch.setenv("WEB_SEARCH_CACHE", "120")
    assert cache_of(WebSearch(FakeWeb())).max_age == 120


def test_a_project_file_may_switch_it_off_and_nothing_else(monkeypatch, tmp_path, path):
    settings_file(f'cache = "{path}"')
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "websearch.toml"
    found.write_text("cache = false")
    assert cache_of(WebSearch(FakeWeb())) is None
    for as_it_is in ("cache = true", "[cache]"):
        found.write_text(as_it_is)
        assert cache_of(WebSearch(FakeWeb())).location == str(path)
    for refused in ("cache = 60", 'cache = "/tmp/x"', '[cache]\nlocation = "x"'):
        found.write_text(refused)
        with pytest.raises(ConfigurationError, match="may not be"):
            WebSearch(FakeWeb())
    settings_file("cache = false")
    for refused in ("cache = true", "[cache]"):
        found.write_text(refused)
        with pytest.raises(ConfigurationError, match="may not be"):
            WebSearch(FakeWeb())


def test_the_layer_has_one_place():
    with pytest.raises(ConfigurationError, match=r"write cache=Cache"):
        WebSearch(FakeWeb(), layers=[Cache()])
    with pytest.raises(ConfigurationError, match="cache: not with layers=None"):
        WebSearch(FakeWeb(), cache=True, layers=None)
    assert cache_of(WebSearch(FakeWeb(), cache=Cache(max_age=5))).max_age == 5


def test_threads_share_a_layer(path):
    fake = FakeWeb(pages={f"{URL}/{n}": TEXT for n in range(5)})
    web = WebSearch(fake, cache=str(path))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: web.read(f"{URL}/{n % 5}"), range(100)))

    assert len(fake.urls) == 5


# Answers of which a part failed, or that cannot be kept


class Halves(Sea):
    """Says of an answer that a part of it failed, if the service does."""

    def search(self, query, /):
        response = yield Request(url="https://sea.example/search")
        found = SearchResponse(
            query=query.text, provider="sea", answer=response.json()["answer"]
        )
        return (
            found.with_notes("a part failed", partial=True)
            if response.json().get("partial")
            else found
        )


HALF = reply({"answer": "Kelp", "partial": True})


def test_half_an_answer_is_kept_only_for_a_moment(clock, path):
    layer = Cache(location=path, not_found_max_age=60)(Halves())
    assert search(layer, HALF).notes == ("a part failed",)
    clock.now += 50
    assert search(layer).answer == "Kelp"
    clock.now += 20
    assert search(layer, answer()).notes == ()
    clock.now += 600
    assert search(layer).answer == "Kelp grows."


def test_half_an_answer_does_not_stand_in_for_a_service_that_fails(clock, path):
    layer = Cache(location=path, not_found_max_age=60)(Halves())
    search(layer, HALF)
    clock.now += 61
    with pytest.raises(Unavailable):
        search(layer, Unavailable("down"))


def test_half_an_answer_leaves_the_whole_one_for_a_service_that_fails(clock, path):
    layer = Cache(location=path, max_age=100, not_found_max_age=10)(Halves())
    search(layer, answer("whole"))
    clock.now += 101
    assert search(layer, HALF).answer == "Kelp"
    clock.now += 11
    assert search(layer, Unavailable("down")).answer == "whole"


@pytest.mark.parametrize("where", ["memory", "file"])
def test_a_fresh_answer_that_is_too_large_to_keep_replaces_the_old_one(path, where):
    layer = Cache(location=":memory:" if where == "memory" else path, max_bytes=10_000)(
        Sea()
    )
    search(layer, answer("old"))
    with max_age(0):
        search(layer, answer("new" * 10_000))

    assert search(layer, answer("newer")).answer == "newer"


def test_a_fresh_answer_that_is_not_json_replaces_the_old_one(path):
    class Odd(Sea):
        def search(self, query, /):
            response = yield Request(url="https://sea.example/search")
            text = response.json()["answer"]
            return SearchResponse(
                query=query.text,
                provider="sea",
                answer=text,
                raw=object() if text == "new" else None,
            )

    layer = Cache(location=path)(Odd())
    search(layer, answer("old"))
    with max_age(0):
        search(layer, answer("new"))

    assert search(layer, answer("newer")).answer == "newer"


class ManyAnswers:
    """What a cache should do, in a few lines: the answer of each text, when it was
    given, and whether it was whole.
    """

    def __init__(self, max_age, stale, brief):
        self.max_age, self.stale, self.brief, self.kept = max_age, stale, brief, {}

    def call(self, now, text, fresh, end):
        """Return what a call gets, None for an error, and whether the service is
        asked.
        """
        value, then, whole = self.kept.get(text, (None, -inf, True))
        age = now - then
        if not fresh and age < (self.max_age if whole else self.brief):
            return value, False
        is_kept = not fresh and whole and age < self.max_age + self.stale
        if end is None:
            return (value if is_kept else None), True
        if not (is_kept and end["partial"]):
            self.kept[text] = end["answer"], now, not end["partial"]
        return end["answer"], True


@pytest.mark.parametrize("location", [":memory:", "file"])
@pytest.mark.parametrize("seed", range(6))
def test_a_cache_gives_what_a_simple_model_of_it_gives(seed, location, clock, path):
    rng = random.Random(seed)
    ages = rng.choice([(60, 0, 30), (60, 600, 10), (600, 60, 60)])
    layer = Cache(
        location=path if location == "file" else location,
        max_age=ages[0],
        stale_if_error=ages[1],
        not_found_max_age=ages[2],
    )(Halves())
    model = ManyAnswers(*ages)
    for number in range(40):
        clock.now += rng.choice([0, 5, 25, 45, 100, 400])
        text, fresh = rng.choice(["kelp", "dulse", "nori"]), rng.random() < 0.2
        end = (
            {"answer": f"{number}", "partial": rng.random() < 0.3}
            if rng.random() < 0.7
            else None
        )
        expected, is_asked = model.call(clock.now, text, fresh, end)
        answers = [reply(end) if end else Unavailable("down")] if is_asked else []
        with max_age(0) if fresh else nullcontext():
            try:
                got = search(layer, *answers, query=SearchQuery.of(text)).answer
            except Unavailable:
                got = None
        assert got == expected


def test_half_an_answer_without_the_cache_replaces_no_whole_one():
    answers = ["whole", "half", "down"]

    class Service:
        name = "service"

        def search(self, query, /):
            yield from ()
            kind = answers.pop(0)
            if kind == "down":
                raise Unavailable("down", status=503)
            result = SearchResult(title=kind, url=f"https://a.example/{kind}")
            response = SearchResponse(query=query.text, results=(result,))
            if kind == "half":
                return response.with_notes("a part failed", partial=True)
            return response

    cache = Cache(max_age=0.0, stale_if_error=1000)
    web = WebSearch(Service(), reader=FakeWeb(), cache=cache, retry=False)
    web.search("kelp")
    with max_age(0):
        web.search("kelp")

    assert web.search("kelp").results[0].title == "whole"
