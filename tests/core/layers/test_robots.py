"""robots.txt, after RFC 9309: what it allows, how it is fetched and kept, and who obeys
it.
"""

from __future__ import annotations
import asyncio
import copy
import pickle
import time

import pytest

from websearch_core import WebSearch
from websearch_core.errors import (
    BadResponse,
    ConfigurationError,
    DisallowedByRobots,
    RateLimited,
    TimedOut,
    Unavailable,
    UnsafeURL,
)
from websearch_core.events import Charge, listen
from websearch_core.flow import Request, Response, arun, run
from websearch_core.layers import Budget, Cache, Fallback, Robots, Throttle
from websearch_core.layers import _robots as robots_module
from websearch_core.layers._layer import parts
from websearch_core.layers._robots import Rules
from websearch_core.models import Page
from websearch_core.provider import Limits
from websearch_core.providers.direct import Direct
from websearch_core.testing import FakeWeb

ROBOTS = "https://sea.example/robots.txt"
OPEN, STAFF = "https://sea.example/kelp", "https://sea.example/staff/rota"
CLOSED_STAFF = "User-agent: *\nDisallow: /staff/"
HTML = "<title>Kelp</title><main><p>Kelp is a brown alga of cold seas, and this page says so at length.</p></main>"


class Web:
    """A web in memory: a path has a body, a status, an error, a response or a redirect;
    any other page is HTML.
    """

    def __init__(self, pages):
        self.pages, self.asked, self.requests = pages, [], []

    def send(self, request: Request) -> Response:
        self.asked.append(request.url)
        self.requests.append(request)
        answer = self.pages.get(
            request.url, 404 if request.url.endswith("robots.txt") else HTML
        )
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Response):
            return answer
        if isinstance(answer, int):
            return Response(status=answer, url=request.url)
        if answer.startswith("-> "):
            return Response(
                status=301, url=request.url, headers={"location": answer[3:]}
            )
        return Response(
            status=200,
            url=request.url,
            headers={"content-type": "text/html"},
            content=answer.encode(),
        )


@pytest.fixture
def now(monkeypatch):
    """A clock that a test moves."""

    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(robots_module.time, "monotonic", clock.monotonic)
    return clock


def read(layer, web, url=OPEN):
    return run(layer.read(url), web.send)


# Rules


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow: /staff/", "/staff/rota", False),
        ("User-agent: *\nDisallow: /staff/", "/staffing", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),
        ("User-agent: *\nDisallow: /*?tag=", "/blog/?tag=x", False),
        ("User-agent: *\nDisallow: /*?tag=", "/blog/", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf?x", True),
        ("User-agent: *\nDisallow: /exact$", "/exact", False),
        ("User-agent: *\nDisallow: /exact$", "/exactly", True),
        ("user-agent: other\nDisallow: /", "/a", True),
        (
            "User-agent: *\nDisallow: /\n\nUser-agent: WebSearch-Core\nDisallow: /b",
            "/a",
            True,
        ),
        ("User-agent: x\nUser-agent: *\nDisallow: /a # why", "/a", False),
        ("\ufeffUser-agent: *\r\nDisallow: /%7ejoe", "/~joe", False),
        ("User-agent: *\nDisallow: /ä", "/%C3%A4/", False),
        ("User-agent: *\nDisallow: /staff/", "/open/../staff/rota", False),
        ("User-agent: *\nDisallow: /staff/", "/./staff/rota?a=/../b", False),
        ("User-agent: *\nDisallow: /staff/", "/staff/../open", True),
        ("User-agent: *\nDisallow: /staff/", "/open/%2e%2e/staff/rota", False),
        ("User-agent: *\nDisallow: /staff/", "/open/.%2E/%2e/staff/rota", False),
        ("User-agent: *\nDisallow: /staff/", "/.staff/", True),
        ("User-agent: *\nDisallow: /staff/", "/%73taff/rota", False),
        ("Disallow: /", "/a", True),
        ("<html>not here</html>", "/a", True),
    ],
)
def test_robots_txt_is_obeyed(text, path, allowed):
    assert Rules(text).allows(f"https://sea.example{path}") is allowed


@pytest.mark.parametrize(
    ("line", "seconds"),
    [("2", 2.0), ("0.5", 0.5), ("86400", 30.0), ("9999", 30.0), ("soon", 0.0)],
)
def test_the_crawl_delay_is_bounded(line, seconds):
    assert Rules(f"User-agent: *\nCrawl-delay: {line}").crawl_delay == seconds


# Fetching


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 451])
def test_without_a_file_everything_is_allowed(status):
    web = Web({ROBOTS: status})

    assert read(Robots()(Direct()), web).title == "Kelp"
    assert web.asked == [ROBOTS, OPEN]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (500, Unavailable),
        (503, Unavailable),
        (Unavailable("no connection"), Unavailable),
        (TimedOut("late"), TimedOut),
        (RateLimited("too fast", retry_after=30), RateLimited),
        ("-> http://[", BadResponse),
        ("-> ftp://sea.example/robots.txt", BadResponse),
    ],
)
def test_without_an_answer_nothing_is_allowed_and_the_error_names_the_file(
    answer, error
):
    web = Web({ROBOTS: answer})

    with pytest.raises(error) as failed:
        read(Robots()(Direct()), web)

    assert web.asked == [ROBOTS]
    assert "robots.txt" in str(failed.value) or error is RateLimited
    assert failed.value.temporary is (error is not BadResponse)


def test_a_file_that_cannot_be_fetched_is_asked_for_again():
    web, layer = Web({ROBOTS: 503}), Robots()(Direct())
    with pytest.raises(Unavailable):
        read(layer, web)
    web.pages[ROBOTS] = CLOSED_STAFF

    assert read(layer, web).title == "Kelp"


def test_five_redirects_are_followed_and_more_count_as_no_file():
    hops = [f"https://sea.example/{number}.txt" for number in range(1, 6)]
    chain = dict(zip([ROBOTS, *hops], [f"-> {hop}" for hop in hops], strict=False))
    closed, endless = (
        Web({**chain, hops[-1]: CLOSED_STAFF}),
        Web({ROBOTS: f"-> {ROBOTS}"}),
    )

    with pytest.raises(DisallowedByRobots):
        read(Robots()(Direct()), closed, STAFF)
    assert closed.asked == [ROBOTS, *hops]
    assert read(Robots()(Direct()), endless, STAFF).title == "Kelp"
    assert endless.asked == [ROBOTS] * 6 + [STAFF]


def test_a_file_that_redirects_to_a_forbidden_place_cannot_be_had():
    web = Web(
        {
            ROBOTS: "-> http://10.0.0.1/robots.txt",
            "http://10.0.0.1/robots.txt": UnsafeURL("not public"),
        }
    )

    with pytest.raises(
        BadResponse, match=r"robots\.txt redirects to a URL that must not be opened"
    ):
        read(Robots()(Direct()), web)


def test_a_site_that_must_not_be_opened_is_unsafe_itself():
    with pytest.raises(UnsafeURL, match="not public"):
        read(Robots()(Direct()), Web({ROBOTS: UnsafeURL("not public")}))


def test_it_is_fetched_like_a_page_and_only_its_first_500_kib_count():
    body = b"\xef\xbb\xbfUser-agent: *\nDisallow: /staff/\nDisallow: /"
    web = Web({ROBOTS: Response(status=200, content=body, truncated=True)})

    # the cut line was `Disallow: /cellar`
    assert read(Robots()(Direct(user_agent="AcmeBot/2.0")), web).title == "Kelp"
    fetched = web.requests[0]
    assert (fetched.guarded, fetched.max_bytes) == (True, 500 * 1024)
    with pytest.raises(DisallowedByRobots):
        read(Robots()(Direct()), web, STAFF)
    assert web.requests[1].headers["User-Agent"] == "AcmeBot/2.0"


def test_the_page_asks_for_robots_txt_in_its_own_name():
    web = Web(
        {
            "https://away.example/robots.txt": CLOSED_STAFF,
            OPEN: "-> https://away.example/",
        }
    )

    read(Robots()(Direct(user_agent="AcmeBot/2.0")), web)

    away = next(
        one for one in web.requests if one.url == "https://away.example/robots.txt"
    )
    assert away.headers == {"User-Agent": "AcmeBot/2.0"}


def test_a_large_file_is_parsed_off_the_event_loop_and_still_counts():
    text = (
        "User-agent: *\n"
        + "".join(f"Disallow: /{number}\n" for number in range(3000))
        + "Disallow: /staff/"
    )
    web, layer = Web({ROBOTS: text}), Robots()(Direct())

    assert read(layer, web).title == "Kelp"
    with pytest.raises(DisallowedByRobots):
        read(layer, web, STAFF)


# Keeping


def test_a_file_is_fetched_once_for_all_pages_of_its_site():
    web, layer = Web({ROBOTS: CLOSED_STAFF}), Robots()(Direct())
    for number in range(5):
        read(layer, web, f"https://sea.example/{number}")
    read(layer, web, "http://sea.example/")
    read(layer, web, "https://sea.example:8443/")

    assert web.asked.count(ROBOTS) == 1
    assert {url for url in web.asked if url.endswith("robots.txt")} == {
        ROBOTS,
        "http://sea.example/robots.txt",
        "https://sea.example:8443/robots.txt",
    }


async def test_concurrent_pages_fetch_it_once():
    web, layer = Web({ROBOTS: CLOSED_STAFF}), Robots()(Direct())

    async def send(request):
        await asyncio.sleep(0.01)
        return web.send(request)

    await asyncio.gather(
        *(
            arun(layer.read(f"https://sea.example/{number}"), send)
            for number in range(50)
        )
    )

    assert web.asked.count(ROBOTS) == 1
    assert len(web.asked) == 51


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ({}, 86_400),
        ({"cache-control": "max-age=600"}, 600),
        ({"cache-control": "public, MAX-AGE=600, immutable"}, 600),
        ({"cache-control": "s-maxage=5"}, 86_400),
        ({"cache-control": "max-age=0"}, 60),
        ({"cache-control": "max-age=999999999"}, 86_400),
        ({"cache-control": "max-age=soon"}, 86_400),
    ],
)
def test_it_is_kept_as_long_as_the_site_says_and_for_a_day_at_most(
    now, header, seconds
):
    web, layer = Web({ROBOTS: Response(status=200, headers=header)}), Robots()(Direct())
    read(layer, web)
    now.now += seconds - 1
    read(layer, web)
    assert web.asked.count(ROBOTS) == 1
    now.now += 2
    read(layer, web)
    assert web.asked.count(ROBOTS) == 2


def test_a_file_that_has_expired_is_used_while_no_new_one_can_be_had(now):
    web, layer = Web({ROBOTS: CLOSED_STAFF}), Robots(max_age=100)(Direct())
    read(layer, web)
    now.now += 1000
    web.pages[ROBOTS] = 503

    assert read(layer, web).title == "Kelp"
    with pytest.raises(DisallowedByRobots):
        read(layer, web, STAFF)


def test_what_is_kept_has_a_bound(monkeypatch):
    monkeypatch.setattr(robots_module, "_MAX_MEMORY", 20_000)
    web, layer = (
        Web(
            {
                f"https://{n}.example/robots.txt": CLOSED_STAFF + "#" * 4000
                for n in range(20)
            }
        ),
        Robots()(Direct()),
    )
    for number in range(20):
        read(layer, web, f"https://{number}.example/")
    files = layer.files

    assert 1 < len(files._entries) < 5
    assert files._size == sum(1000 + rules.size for rules, _ in files._entries.values())


def test_copies_and_pickles_keep_nothing():
    layer = Robots(user_agent="AcmeBot")(Direct())
    read(layer, Web({}))
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        web = Web({ROBOTS: "User-agent: acmebot\nDisallow: /"})
        with pytest.raises(DisallowedByRobots):
            read(copied, web)


# Obeying


def test_a_closed_page_is_an_error_and_is_not_fetched():
    web = Web({ROBOTS: CLOSED_STAFF})

    with pytest.raises(
        DisallowedByRobots, match="asks programs not to read this page"
    ) as refused:
        read(Robots()(Direct()), web, STAFF)

    assert web.asked == [ROBOTS]
    assert isinstance(refused.value, PermissionError)
    assert "sea.example" not in str(refused.value)


@pytest.mark.parametrize(
    ("redirect", "fetched"),
    [
        ("/staff/rota", [ROBOTS, OPEN]),
        (
            "https://away.example/staff/",
            [ROBOTS, OPEN, "https://away.example/robots.txt"],
        ),
    ],
)
def test_each_redirect_is_checked_before_it_is_followed(redirect, fetched):
    web = Web(
        {
            ROBOTS: CLOSED_STAFF,
            "https://away.example/robots.txt": CLOSED_STAFF,
            OPEN: f"-> {redirect}",
        }
    )

    with pytest.raises(DisallowedByRobots):
        read(Robots()(Direct()), web)

    assert web.asked == fetched


def test_the_rules_for_ones_own_name_win():
    web = Web({ROBOTS: "User-agent: *\nDisallow: /\n\nUser-agent: AcmeBot\nAllow: /"})

    with pytest.raises(DisallowedByRobots):
        read(Robots()(Direct()), web)
    assert read(Robots(user_agent="AcmeBot")(Direct()), web).title == "Kelp"


class Service:
    """A service that fetches pages for us, several at a time."""

    name, limits = "beacon", Limits(pages_per_request=5)

    def __init__(self, final_url=""):
        self.final_url = final_url

    def read(self, url):
        yield Request(url="https://beacon.example/read", target=url)
        return Page(
            url=url, final_url=self.final_url, content="Kelp", provider=self.name
        )

    def read_many(self, urls):
        yield Request(url="https://beacon.example/read_many", target=tuple(urls))
        return [Page(url=url, content="Kelp", provider=self.name) for url in urls]


def test_a_service_is_asked_only_for_what_is_allowed():
    web, layer = Web({ROBOTS: CLOSED_STAFF}), Robots()(Service())

    with pytest.raises(DisallowedByRobots):
        read(layer, web, STAFF)
    assert web.asked == [ROBOTS]
    several = run(layer.read_many([STAFF, OPEN, "https://sea.example/dulse"]), web.send)

    assert isinstance(several[0], DisallowedByRobots)
    assert [page.url for page in several[1:]] == [OPEN, "https://sea.example/dulse"]
    assert web.requests[-1].target == (OPEN, "https://sea.example/dulse")


def test_a_page_that_a_service_was_redirected_to_is_not_given():
    with pytest.raises(DisallowedByRobots):
        read(Robots()(Service(final_url=STAFF)), Web({ROBOTS: CLOSED_STAFF}))


def test_another_reader_is_no_way_around_it():
    web = Web({ROBOTS: CLOSED_STAFF})
    chain = Fallback()(Robots()(Direct()), Robots()(Service()))

    with pytest.raises(DisallowedByRobots):
        run(chain.read(STAFF), web.send)

    assert web.asked == [ROBOTS]


def test_a_page_that_was_refused_costs_nothing():
    web, budget = (
        Web({ROBOTS: CLOSED_STAFF}),
        Budget(limit="1 calls")(Robots()(Service())),
    )
    heard = []
    with listen(heard.append):
        for _ in range(3):
            with pytest.raises(DisallowedByRobots):
                read(budget, web, STAFF)
        read(budget, web)

    assert len([event for event in heard if isinstance(event, Charge)]) == 1


def test_what_is_read_without_the_network_needs_no_permission():
    class Local(FakeWeb):
        needs_network = False

    layer = Robots()(Local(pages={STAFF: "# Rota"}))

    assert run(layer.read(STAFF), Web({}).send).content.startswith("# Rota")


def test_the_crawl_delay_of_a_site_makes_the_throttle_wait():
    layer, web, times = (
        Throttle()(Robots()(Direct())),
        Web({ROBOTS: "User-agent: *\nCrawl-delay: 0.2"}),
        [],
    )

    def send(request):
        times.append(time.monotonic())
        return web.send(request)

    for number in range(3):
        run(layer.read(f"https://sea.example/{number}"), send)

    began, *pages = times  # from the beginning: the first page may be noted late
    assert all(at - began > 0.199 * number for number, at in enumerate(pages))


# Choosing it


def layers_of(web):
    return [
        part
        for part in parts(web.reader)
        if isinstance(getattr(part, "layer", None), Robots)
    ]


def test_it_is_off_unless_wanted_and_stands_inside_the_throttle(monkeypatch):
    assert not layers_of(WebSearch("duckduckgo"))
    (layer,) = layers_of(WebSearch("duckduckgo", robots=True))
    assert isinstance(layer.inner, Direct)
    monkeypatch.setenv("WEB_SEARCH_ROBOTS", "true")
    assert layers_of(WebSearch("duckduckgo"))
    assert not layers_of(WebSearch("duckduckgo", robots=False))


def test_readers_of_one_chain_share_the_files():
    one, two = layers_of(
        WebSearch("duckduckgo", reader=["direct", "jina"], robots=True)
    )

    assert one.files is two.files


def test_a_table_of_the_settings_sets_its_options():
    from websearch_core.settings import Settings

    settings = Settings.from_mapping(
        {"provider": "duckduckgo", "robots": {"user_agent": "AcmeBot"}}
    )

    assert [
        layer.layer.user_agent for layer in layers_of(WebSearch(settings=settings))
    ] == ["AcmeBot"]


def test_with_a_layer_of_ones_own_the_short_form_is_refused():
    with pytest.raises(
        ConfigurationError,
        match=r"layers: Robots does not belong here: write robots=Robots",
    ):
        WebSearch("duckduckgo", robots=True, layers=[Robots(user_agent="AcmeBot")])


@pytest.mark.parametrize(
    "options",
    [
        {"user_agent": "AcmeBot/1.0"},
        {"user_agent": ""},
        {"user_agent": 3},
        {"max_age": -1},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(
        ConfigurationError, match="Robots: (user_agent|max_age): must be"
    ):
        Robots(**options)


def test_a_cached_page_is_given_without_asking_again(tmp_path):
    web, layer = Web({}), Cache(location=tmp_path / "pages.db")(Robots()(Direct()))
    read(layer, web)
    web.pages[ROBOTS] = "User-agent: *\nDisallow: /"

    assert read(layer, web).title == "Kelp"
    assert web.asked == [ROBOTS, OPEN]


@pytest.mark.parametrize(
    "path",
    ["/public/../private/x", "/public/%2e%2e/private/x", "/public/%2E./private/x", "/./private/x", "/%2e/private/x",
     "//../private/x", "/a//../../private/x", "/../private/x"],
)  # fmt: skip
def test_dots_in_a_path_do_not_lead_around_a_rule(path):
    rules = Rules("User-agent: *\nDisallow: /private/")

    assert not rules.allows(f"https://sea.example{path}")
    assert rules.allows("https://sea.example/public/..private/x")


@pytest.mark.parametrize(
    "path", ["/", "", "/x/..", "/x/.", "/x?y=/../private/", "/x#/../private/"]
)
def test_other_paths_stay_open(path):
    assert Rules("User-agent: *\nDisallow: /private/").allows(
        f"https://sea.example{path}"
    )


@pytest.mark.parametrize(
    "line",
    [
        "Foo: bar",
        "Noindex: /",
        "Clean-param: ref",
        "Sitemap: https://sea.example/map",
        "x",
    ],
)
def test_an_unknown_line_between_two_user_agents_does_not_end_the_group(line):
    rules = Rules(f"User-agent: websearch-core\n{line}\nUser-agent: other\nDisallow: /")
    assert not rules.allows(OPEN)


@pytest.mark.parametrize(
    ("agent", "counts"),
    [
        ("websearch-core", True),
        ("WebSearch-Core/1.0", True),
        ("websearch-core (like others)", True),
        ("websearch", False),
        ("w", False),
        ("", False),
        ("core", False),
        ("websearch-core-images", False),
    ],
)
def test_a_group_is_for_the_whole_product_token(agent, counts):
    closed = Rules(f"User-agent: {agent}\nDisallow: /\n")
    opened = Rules(f"User-agent: {agent}\nDisallow:\n\nUser-agent: *\nDisallow: /\n")

    assert closed.allows("https://sea.example/a") is not counts
    assert opened.allows("https://sea.example/a") is counts


def test_a_robots_txt_that_cannot_be_fetched_is_blamed_on_its_cause():
    failure = Unavailable("the host name does not resolve")
    failure.temporary = False

    with pytest.raises(Unavailable, match="the host name does not resolve") as caught:
        read(Robots()(Direct()), Web({ROBOTS: failure}))
    assert not caught.value.temporary
