"""Pages in the cache keep to what HTTP says: how long they hold, and how to ask whether
they have changed.
"""

from __future__ import annotations
import asyncio
import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from email.utils import formatdate
from importlib import import_module
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core import WebSearch
from websearch_core.errors import PageNotFound, Unavailable, UnsafeURL
from websearch_core.events import CacheHit
from websearch_core.flow import Request, Response, run
from websearch_core.flow._intercept import AuxiliaryRequest
from websearch_core.layers import Cache, Fallback, Retry, max_age
from websearch_core.layers._caching.entries import decode
from websearch_core.layers._caching.http import Lifetime, Validators, Watch
from websearch_core.models import Page
from websearch_core.providers.direct import Direct
from websearch_core.testing import reply, stop_clock

URL = "https://sea.example/kelp"
MODIFIED = "Sun, 06 Nov 1994 08:49:37 GMT"
NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
HOUR = 3600


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.db"


@pytest.fixture
def clock(monkeypatch):
    """Let time pass for the cache: ``clock.now += 3600``."""

    class Clock:
        now = time.time()

        def time(self):
            return self.now

    clock = Clock()
    for module in ("entries", "sqlite", "backend", "http"):
        monkeypatch.setattr(
            import_module(f"websearch_core.layers._caching.{module}"), "time", clock
        )
    return clock


class Site:
    """A site of one page, which keeps to HTTP; ``requests`` has the headers of each
    request.
    """

    def __init__(self, text="Kelp is an alga of cold seas. " * 5, **headers):
        self.text, self.headers, self.requests = text, headers, []
        self.redirects, self.status = {}, 200

    def __call__(self, request):
        assert isinstance(request, Request)
        asked = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append((request.url, asked))
        if there := self.redirects.get(request.url):
            return reply(status=302, location=there)
        if self.status >= 400:
            return reply(status=self.status, **self.headers)
        known = asked.get("if-none-match"), asked.get("if-modified-since")
        mine = self.headers.get("etag"), self.headers.get("last_modified")
        if any(known) and (known[0] == mine[0] if known[0] else known[1] == mine[1]):
            return reply(status=304, **self.headers)
        return reply(
            self.text, self.status, **{"content_type": "text/plain", **self.headers}
        )

    @property
    def conditional(self):
        return [
            bool({"if-none-match", "if-modified-since"} & set(asked))
            for _, asked in self.requests
        ]


def make(path, **options):
    return Cache(location=path, **options)(Direct())


def read(layer, site, url=URL):
    return run(layer.read(url), site)


# Asking whether a page has changed


@pytest.mark.parametrize(
    ("headers", "asked"),
    [
        ({"etag": '"a"'}, {"if-none-match": '"a"'}),
        ({"etag": 'W/"a"'}, {"if-none-match": 'W/"a"'}),
        ({"last_modified": MODIFIED}, {"if-modified-since": MODIFIED}),
        (
            {"etag": '"a"', "last_modified": MODIFIED},
            {"if-none-match": '"a"', "if-modified-since": MODIFIED},
        ),
    ],
)
def test_an_expired_page_that_has_not_changed_is_fresh_again(
    path, clock, headers, asked, monkeypatch
):
    site, layer = Site(**headers), make(path)
    first = read(layer, site)
    clock.now += HOUR + 1
    monkeypatch.setattr(Direct, "_parse", None)  # nothing is parsed again
    with stop_clock(NOW):
        again = read(layer, site)

    assert again.content == first.content
    assert (first.fetched_at, again.fetched_at, again.status) == (None, NOW, 200)
    assert {
        name: value
        for name, value in site.requests[1][1].items()
        if name.startswith("if-")
    } == asked
    clock.now += HOUR - 1
    read(layer, site)
    assert len(site.requests) == 2
    clock.now += 2
    read(layer, site)
    assert site.conditional == [False, True, True]


def test_a_page_that_has_changed_is_fetched_again(path, clock):
    site, layer = Site(etag='"a"'), make(path)
    read(layer, site)
    clock.now += HOUR + 1
    site.text, site.headers = "Kelp has been harvested. " * 5, {"etag": '"b"'}

    assert "harvested" in read(layer, site).content
    clock.now += HOUR + 1
    read(layer, site)
    assert site.requests[-1][1]["if-none-match"] == '"b"'


def test_a_page_without_validators_is_fetched_again(path, clock):
    site, layer = Site(), make(path)
    read(layer, site)
    clock.now += HOUR + 1
    read(layer, site)

    assert site.conditional == [False, False]


def test_every_redirect_is_followed_again_and_only_the_page_is_asked_with_validators(
    path, clock
):
    site, layer = Site(etag='"a"'), make(path)
    site.redirects = {
        URL: "https://sea.example/moved",
        "https://sea.example/moved": "https://www.sea.example/here",
    }
    page = read(layer, site)
    clock.now += HOUR + 1
    again = read(layer, site)

    assert again.final_url == page.final_url == "https://www.sea.example/here"
    assert [url for url, _ in site.requests[3:]] == [
        url for url, _ in site.requests[:3]
    ]
    assert site.conditional == [False, False, False, False, False, True]
    site.redirects = {URL: "https://other.example/"}
    clock.now += HOUR + 1
    assert read(layer, site).final_url == "https://other.example/"
    assert site.conditional[6:] == [False, False]


@pytest.mark.enable_socket
@pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])
def test_the_guard_judges_every_hop_again(path, clock, server, http, concurrent):
    """What a page redirects to when it is asked again is as strange as the first
    time.
    """
    server.answers["/kelp"] = http(
        "Kelp. " * 20, "200 OK", "Content-Type: text/plain", 'ETag: "a"'
    )
    web = WebSearch(
        "duckduckgo", cache=str(path), internal=[server.url], retry=Retry(attempts=1)
    )

    def fetch():
        return (
            asyncio.run(web.aread(f"{server.url}/kelp"))
            if concurrent
            else web.read(f"{server.url}/kelp")
        )

    fetch()
    clock.now += HOUR + 1
    server.answers["/kelp"] = http("", "304 Not Modified")
    assert fetch().content
    assert server.requests[-1][1]["if-none-match"] == '"a"'
    clock.now += HOUR + 1
    server.answers["/kelp"] = http(
        "", "302 Found", "Location: http://169.254.169.254/latest/"
    )
    with pytest.raises(UnsafeURL):
        fetch()


def test_a_hook_hears_that_it_was_asked(path, clock):
    site, heard = Site(etag='"a"'), []
    web = WebSearch("duckduckgo", cache=str(path), on_event=heard.append)
    web._send = site
    web.read(URL)
    clock.now += HOUR + 1
    page = web.read(URL)

    (hit,) = [event for event in heard if isinstance(event, CacheHit)]
    assert (hit.validated, hit.stale, round(hit.age)) == (True, False, HOUR + 1)
    assert (page.cost, page.notes) == (0, ())
    assert [(one.provider, one.status) for one in page.outcomes] == [("direct", "ok")]


def test_a_stale_page_replaces_a_failure_of_asking(path, clock):
    site, layer = Site(etag='"a"'), make(path)
    read(layer, site)
    clock.now += HOUR + 1
    site.status = 503

    assert read(layer, site).notes == (
        "direct failed (unavailable); from the cache, 1 hour old",
    )


def test_a_fresh_answer_that_is_insisted_on_is_not_asked_with_validators(path, clock):
    site, layer = Site(etag='"a"'), make(path)
    read(layer, site)
    clock.now += HOUR + 1
    with max_age(0):
        read(layer, site)

    assert site.conditional == [False, False]


def test_pages_of_a_batch_are_asked_one_by_one(path, clock):
    site, layer = Site(etag='"a"'), make(path)
    urls = [f"https://sea.example/{n}" for n in range(3)]
    for _ in range(2):
        pages = run(Fallback()(layer, Direct()).read_many(urls), site)
        assert [page.url for page in pages] == urls
        clock.now += HOUR + 1

    assert sorted(site.conditional) == [False] * 3 + [True] * 3


def test_validators_are_for_those_who_get_the_page(path, clock):
    site = Site(etag='"of-ann"')
    read(make(path, tenant="ann"), site)
    clock.now += HOUR + 1
    read(make(path, tenant="bob"), site)
    read(Cache(location=path, tenant="ann")(Direct(max_bytes=1000)), site)

    assert site.conditional == [False, False, False]


def test_an_entry_has_nothing_but_validators_of_a_response(path):
    site = Site(
        etag='"a"', set_cookie="session=SECRET", x_token="SECRET", vary="Accept"
    )
    layer = make(path)
    read(layer, site)

    with closing(sqlite3.connect(path)) as db:
        (value,) = db.execute("SELECT value FROM entries").fetchone()
    assert b"SECRET" not in value
    assert decode(value).validators.etag == '"a"'


# Vary


def test_a_response_that_varies_is_asked_about_only_with_the_same_headers(path, clock):
    site = Site(etag='"a"', vary="Accept, User-Agent")
    read(make(path), site)
    clock.now += HOUR + 1
    read(make(path), site)
    assert site.conditional == [False, True]

    known = Validators(url=URL, etag='"a"', vary={"accept": "text/markdown"})
    assert known.add_to(Request(url=URL, headers={"Accept": "text/html"})) is None
    assert (
        known.add_to(Request(url=URL, headers={"accept": "text/markdown"})) is not None
    )
    assert (
        known.add_to(
            Request(url="https://other.example/", headers={"accept": "text/markdown"})
        )
        is None
    )


@pytest.mark.parametrize(
    "headers",
    [{"If-None-Match": '"b"'}, {"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}],
)
def test_a_request_that_asks_already_whether_a_page_has_changed_is_left_as_it_is(
    headers,
):
    known = Validators(url=URL, etag='"a"')
    assert known.add_to(Request(url=URL, headers=headers)) is None


@pytest.mark.parametrize("vary", ["Cookie", "Accept, Authorization", "X-Anything"])
def test_headers_that_may_be_secret_are_not_kept(path, clock, vary):
    site, layer = Site(etag='"a"', vary=vary), make(path)
    read(layer, site)
    clock.now += HOUR + 1
    read(layer, site)

    assert site.conditional == [False, False]


def test_a_response_that_varies_with_everything_is_for_one_request(path, clock):
    site, layer = Site(etag='"a"', vary="*"), make(path)
    for _ in range(2):
        read(layer, site)

    assert site.conditional == [False, False]


def test_a_page_made_of_several_responses_has_no_validators():
    class Twice:
        name = "twice"

        def read(self, url):
            yield Request(url=url, guarded=True)
            yield Request(url=f"{url}.md", guarded=True)
            return Page(url=url)

    watch = Watch()
    run(watch.watch(Twice().read(URL)), Site(etag='"a"'))

    assert watch.validators is None


def test_other_requests_are_left_alone():
    """Those of services, those of a browser, and those that a layer makes for
    itself.
    """
    requests = [
        Request(url=URL),
        Request(url=URL, guarded=True, method="POST"),
        Request(url=URL, guarded=True, transport=print),
        AuxiliaryRequest(url=URL, guarded=True),
    ]

    def flow():
        for request in requests:  # noqa: UP028 - a list takes no answers
            yield request

    seen = []
    watch = Watch(Validators(url=URL, etag='"a"'))
    run(
        watch.watch(flow()),
        lambda request: (
            seen.append(request) or Response(status=200, headers={"etag": '"x"'})
        ),
    )

    assert seen == requests
    assert watch.validators is None


# For how long


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"cache_control": "max-age=60"}, 60),
        ({"cache_control": "private, max-age=60"}, 60),
        ({"cache_control": "max-age=60", "age": "50"}, 10),
        ({"cache_control": "max-age=999999"}, HOUR),  # no longer than ours
        ({"cache_control": "s-maxage=1, public"}, HOUR),  # for shared caches
        ({"cache_control": "max-age=60", "expires": "0"}, 60),
        ({"cache_control": "private"}, HOUR),
        ({"cache_control": 'no-cache="Set-Cookie"'}, HOUR),
    ],
)
def test_a_site_may_shorten_the_time_but_not_extend_it(path, clock, headers, seconds):
    site, layer = Site(**headers), make(path)
    read(layer, site)
    clock.now += seconds - 1
    read(layer, site)
    assert len(site.requests) == 1
    clock.now += 2
    read(layer, site)
    assert len(site.requests) == 2


@pytest.mark.parametrize(
    "headers",
    [{"cache_control": "no-cache"}, {"cache_control": "max-age=0"}, {"expires": "0"}, {"expires": MODIFIED},
     {"cache_control": "MAX-AGE=soon"}, {"cache_control": "max-age=-1"}],
)  # fmt: skip
def test_a_page_that_may_not_be_given_unasked_is_asked_about(path, clock, headers):
    site, layer = Site(etag='"a"', **headers), make(path)
    for _ in range(3):
        read(layer, site)

    assert site.conditional == [False, True, True]


def test_an_expiry_date_counts_from_the_date_of_the_response(path, clock):
    now = clock.now - 10 * HOUR  # its clock is late
    site = Site(
        date=formatdate(now, usegmt=True), expires=formatdate(now + 60, usegmt=True)
    )
    layer = make(path)
    read(layer, site)
    clock.now += 58
    read(layer, site)
    assert len(site.requests) == 1
    clock.now += 3
    read(layer, site)
    assert len(site.requests) == 2


def test_what_must_not_be_stored_is_not(path):
    site, layer = Site(cache_control="no-store", etag='"a"'), make(path)
    for _ in range(2):
        read(layer, site)

    assert site.conditional == [False, False]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM entries").fetchone() == (0,)


def test_a_page_without_its_end_is_not_stored():
    cut = {"content": b"kelp", "headers": {"content-type": "text/plain"}}
    answers = [
        Response(status=200, truncated=True, **cut),
        Response(status=200, truncated=True, **cut),
        reply("whole"),
    ]
    sent = iter(answers)
    reader = Cache()(Direct())

    pages = [run(reader.read(URL), lambda _: next(sent)) for _ in range(3)]
    assert [page.truncated for page in pages] == [True, False, False]


@pytest.mark.parametrize("changed", [True, False])
def test_what_must_not_be_stored_any_more_is_erased(path, clock, changed):
    site, layer = Site(etag='"a"'), make(path)
    read(layer, site)
    clock.now += HOUR + 1
    site.headers = {"etag": '"b"' if changed else '"a"', "cache_control": "no-store"}
    read(layer, site)
    site.status = 503

    with pytest.raises(Unavailable):
        read(layer, site)
    with closing(sqlite3.connect(path)) as db:
        assert [
            (value,)
            for (value,) in db.execute("SELECT value FROM entries")
            if value != b""
        ] == []


def test_a_redirect_that_must_not_be_stored_counts_too():
    class Moving:
        def read(self, url):
            yield Request(url=url, guarded=True)
            yield Request(url=f"{url}/there", guarded=True)
            return Page(url=url)

    replies = iter(
        [reply(status=302, cache_control="no-store"), reply("x", etag='"a"')]
    )
    watch = Watch()
    run(watch.watch(Moving().read(URL)), lambda request: next(replies))

    assert not watch.lifetime.is_storable
    assert watch.validators.url == f"{URL}/there"


def test_a_missing_page_is_remembered_no_longer_than_its_site_says(path, clock):
    site, layer = Site(cache_control="max-age=5"), make(path)
    site.status = 404
    for wait in (0, 4, 2):
        clock.now += wait
        with pytest.raises(PageNotFound):
            read(layer, site)
    assert len(site.requests) == 2

    site.headers = {"cache_control": "no-store"}
    clock.now += 61
    for _ in range(2):
        with pytest.raises(PageNotFound):
            read(layer, site)
    assert len(site.requests) == 4


@pytest.mark.parametrize(
    ("directive", "given"),
    [("max-age=60", True), ("max-age=60, must-revalidate", False), ("no-cache", False),
     ("max-age=60, stale-if-error=600", True), ("max-age=60, stale-if-error=10", False)],
)  # fmt: skip
def test_a_stale_page_is_given_only_if_its_site_lets_it(path, clock, directive, given):
    site, layer = Site(cache_control=directive), make(path)
    page = read(layer, site)
    clock.now += 120
    site.status = 503
    if given:
        assert read(layer, site).content == page.content
    else:
        with pytest.raises(Unavailable):
            read(layer, site)


def test_an_answer_that_it_has_not_changed_may_shorten_the_time(path, clock):
    site, layer = Site(etag='"a"'), make(path)
    read(layer, site)
    clock.now += HOUR + 1
    site.headers["cache_control"] = "max-age=60"
    read(layer, site)
    clock.now += 61
    read(layer, site)

    assert site.conditional == [False, True, True]


def test_reading_on_gets_the_page_that_it_began_with(path, clock):
    site = Site("Kelp is an alga. " * 100, etag='"a"', cache_control="no-cache")
    web = WebSearch("duckduckgo", cache=str(path))
    web._send = site
    first = web.read(URL, max_length=100)
    site.text, site.headers = "Something else. " * 100, {"etag": '"b"'}
    rest = web.read(URL, offset=first.next_offset)

    assert len(site.requests) == 1
    assert (first.content + rest.content).replace("\n", "").count("Kelp") == 100
    assert "Something else" in web.read(URL).content


def test_a_failed_attempt_before_it_does_not_matter(path, clock):
    site = Site(etag='"a"')
    replies = iter([reply(status=503, cache_control="no-store")])
    layer = Cache(location=path)(Retry(wait_initial=0)(Direct()))
    run(layer.read(URL), lambda request: next(replies, None) or site(request))
    clock.now += HOUR + 1
    run(layer.read(URL), site)

    assert site.conditional == [False, True]


# Hostile headers


@pytest.mark.parametrize(
    "etag",
    [
        '"' + "x" * 600 + '"',
        "no quotes",
        '"a"\r\nX: y',
        '"\x00"',
        '"é"',
        'w/"a"',
        '"a", "b"',
        "",
    ],
)
def test_an_etag_that_is_none_is_not_kept(etag):
    assert (
        Validators.of(Request(url=URL), Response(status=200, headers={"etag": etag}))
        is None
    )


@given(
    st.text(max_size=200),
    st.text(max_size=40),
    st.text(max_size=40),
    st.text(max_size=40),
)
def test_any_headers_give_a_lifetime(control, age, expires, vary):
    headers = {
        "cache-control": control,
        "age": age,
        "expires": expires,
        "vary": vary,
        "date": age,
    }
    lifetime = Lifetime.of(headers)

    assert 0 <= lifetime.fresh <= inf
    assert 0 <= lifetime.stale <= inf


@pytest.mark.parametrize(
    "validators",
    [
        {"url": URL, "etag": "x\r\nHost: evil"},
        {"url": URL, "last_modified": "a\r\nb"},
        {"etag": '"a"'},
        {"url": URL, "x": 1},
    ],
)
def test_a_poisoned_entry_adds_no_header(validators):
    data = json.dumps(
        {"version": 1, "stored": 0, "page": {"url": URL}, "validators": validators}
    )
    assert decode(data.encode()) is None


@pytest.mark.parametrize(
    "expires",
    [
        "Sat, 18 Aug 2056 02:01:18 UTC", "Sat, 18 Aug 2056 02:01:18 AEST", "Sat, 18 Aug 56 02:01:18 GMT",
        "Sat 18 Aug 2056 02:01:18 GMT", "Sat, 18-Aug-2056 02:01:18 GMT", "Sat, 18 Aug 2056 02.01.18 GMT",
        "Sat, 18 Aug 2056 02:01 GMT", "Fri, 1 Jan 1999 00:00:00 GMT, Sat, 18 Aug 2056 02:01:18 GMT", "0", "2056-08-18", "",
    ],
)  # fmt: skip
def test_an_expiry_that_is_no_date_of_http_is_over(expires):
    assert Lifetime.of({"expires": expires}).fresh == 0


@pytest.mark.parametrize(
    "expires",
    [
        "Fri, 18 Aug 2056 02:01:18 GMT",
        "Friday, 18-Aug-56 02:01:18 GMT",
        "Fri Aug 18 02:01:18 2056",
    ],
)
def test_dates_of_http_have_three_forms(expires):
    headers = {"expires": expires, "date": "Fri, 18 Aug 2056 02:00:18 GMT"}
    assert Lifetime.of(headers).fresh == 60


@pytest.mark.parametrize(
    ("age", "fresh"),
    [("3000, 0", 600), ("0, 3000", 3600), ("x, 3000", 3600), ("-1", 3600)],
)
def test_of_a_list_of_ages_the_first_counts(age, fresh):
    assert Lifetime.of({"cache-control": "max-age=3600", "age": age}).fresh == fresh


def test_a_fresh_page_that_may_not_be_kept_replaces_the_old_one(path):
    site, layer = Site("old" * 50), make(path)
    read(layer, site)
    site.text, site.headers["cache_control"] = "new" * 50, "no-store"
    with max_age(0):
        read(layer, site)
    site.text = "newer" * 50

    assert "newer" in read(layer, site).content
