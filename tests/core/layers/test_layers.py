"""Providers made of providers, run without a network."""

from __future__ import annotations
import ast
import copy
import pickle
import sys
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel, Field

from websearch_core import WebSearch, layers
from websearch_core import provider as kit
from websearch_core._runtime.deadline import time_left, time_limit
from websearch_core.errors import (
    AllProvidersFailed,
    AuthenticationError,
    Blocked,
    ConfigurationError,
    InvalidOption,
    NeedsBrowser,
    QuotaExhausted,
    RateLimited,
    Unavailable,
    UnsafeURL,
    UnsupportedOption,
    WebSearchError,
)
from websearch_core.flow import Request
from websearch_core.layers import (
    Breaker,
    Budget,
    Fallback,
    Fuse,
    Layer,
    ProviderWrapper,
    Rank,
    Relax,
    Rerank,
    Retry,
    Robots,
    SingleFlight,
    Throttle,
    layer_class,
    leaves,
)
from websearch_core.layers._layer import parts
from websearch_core.models import Page, SearchQuery, SearchResponse, SearchResult
from websearch_core.providers.brave import Brave
from websearch_core.providers.direct import Direct
from websearch_core.providers.local import Local
from websearch_core.settings._sources import user_file
from websearch_core.testing import play, reply

KELP = SearchQuery.of("kelp")


class Stub:
    """A provider whose flow makes one request and finds nothing; errors thrown into it
    come out again.
    """

    def __init__(self, name="stub", options=frozenset()):
        self.name, self.options = name, options

    def search(self, query):
        if unknown := sorted(query.requested() - self.options):
            raise UnsupportedOption(f"{self.name} cannot", options=unknown)
        yield Request(url=f"https://{self.name}.example/")
        return SearchResponse(query=query.text, provider=self.name)

    def read(self, url):
        yield Request(url=url, guarded=True)
        return Page(url=url, provider=self.name)


def test_a_temporary_failure_is_tried_again_and_a_lasting_one_is_not():
    outcome = play(
        Retry()(Stub()).search(KELP), Unavailable("down"), Unavailable("down"), reply()
    )

    assert len(outcome.requests) == 3
    with pytest.raises(AuthenticationError):
        play(Retry()(Stub()).search(KELP), AuthenticationError("wrong key"))


def test_reading_is_tried_again_as_well():
    assert (
        len(
            play(
                Retry()(Stub()).read("https://a.example"), Unavailable("down"), reply()
            ).requests
        )
        == 2
    )


def test_the_last_failure_is_raised():
    with pytest.raises(Unavailable, match="third"):
        play(
            Retry(attempts=3)(Stub()).search(KELP),
            *(Unavailable(which) for which in ("first", "second", "third")),
        )


def test_the_pause_is_the_one_that_the_service_asks_for():
    assert play(
        Retry()(Stub()).search(KELP), RateLimited("slow down", retry_after=2), reply()
    ).pauses == [2]


@pytest.mark.parametrize("wait", [11, 99_999_999_999])
def test_a_pause_that_is_too_long_ends_the_attempts(wait):
    with pytest.raises(RateLimited) as caught:
        play(Retry()(Stub()).search(KELP), RateLimited("slow down", retry_after=wait))
    assert caught.value.retry_after == wait


def test_a_wait_that_the_first_service_states_is_spent_with_the_next():
    chain = Fallback()(Retry()(Stub("a")), Retry()(Stub("b")))
    wait = RateLimited("slow down", retry_after=2)
    outcome = play(chain.search(KELP), wait, reply())

    assert outcome.result.provider == "b"
    assert len(outcome.requests) == 2
    assert outcome.pauses == []
    # the last one is waited for
    outcome = play(chain.search(KELP), wait, RateLimited("", retry_after=3), reply())
    assert outcome.result.provider == "b"
    assert outcome.pauses == [3]


def test_a_reader_that_only_helps_elsewhere_is_no_reason_to_give_up_a_page():
    class Renders(Stub):
        helps_after = (NeedsBrowser,)

    chain = Fallback()(Retry()(Stub("a")), Renders("b"))
    wait = RateLimited("slow down", retry_after=2)
    outcome = play(chain.read("https://a.example/"), wait, reply())

    assert outcome.result.provider == "a"
    assert outcome.pauses == [2]


def test_a_wait_beyond_the_deadline_ends_the_attempts():
    with time_limit(1), pytest.raises(RateLimited):
        play(Retry()(Stub()).search(KELP), RateLimited("slow down", retry_after=5))


def test_pauses_double_at_random_up_to_a_bound():
    layer = Retry(attempts=8, wait_initial=1, wait_max=4, extra_share=None)(Stub())
    pauses = [
        play(layer.search(KELP), *[Unavailable("down")] * 7, reply()).pauses
        for _ in range(50)
    ]

    for turn, most in enumerate([1, 2, 4, 4, 4, 4, 4]):
        assert [each[turn] for each in pauses if not 0 <= each[turn] <= most] == []
    assert len({each[0] for each in pauses}) > 40


def test_a_network_failure_gets_the_name_of_its_provider():
    with pytest.raises(Unavailable) as caught:
        play(
            Retry(attempts=1)(Stub("brave")).search(KELP), Unavailable("cannot connect")
        )
    assert caught.value.provider == "brave"


def test_the_next_provider_is_asked_when_one_fails_and_the_answer_says_so():
    chain = Fallback()(Stub("a"), Stub("b"), Stub("c"))
    outcome = play(
        chain.search(KELP), QuotaExhausted("empty"), Blocked("robot"), reply()
    )

    assert outcome.result.provider == "c"
    assert outcome.result.notes == (
        "a failed (quota_exhausted); b failed (blocked); answered by c",
    )


def test_an_answer_of_the_first_provider_has_no_note():
    assert (
        play(Fallback()(Stub("a"), Stub("b")).search(KELP), reply()).result.notes == ()
    )


def test_when_all_fail_every_cause_is_kept():
    with pytest.raises(AllProvidersFailed, match="a: wrong key; b: down") as caught:
        play(
            Fallback()(Stub("a"), Stub("b")).search(KELP),
            AuthenticationError("wrong key"),
            Unavailable("down"),
        )
    first, second = caught.value.exceptions
    assert (type(first), type(second)) == (AuthenticationError, Unavailable)
    assert caught.value.temporary
    assert isinstance(caught.value, WebSearchError)


def test_all_failed_knows_the_shortest_wait():
    with pytest.raises(AllProvidersFailed) as caught:
        play(
            Fallback()(Stub("a"), Stub("b")).search(KELP),
            RateLimited("slow", retry_after=30),
            RateLimited("slow", retry_after=3),
        )
    assert caught.value.retry_after == 3


def test_a_provider_that_does_not_support_an_option_is_skipped():
    chain = Fallback()(Stub("a"), Stub("b", options={"time_range"}))
    outcome = play(chain.search(SearchQuery.of("kelp", time_range="week")), reply())

    assert outcome.result.provider == "b"
    assert "a failed (unsupported_option)" in outcome.result.notes[0]


def test_only_the_failures_in_after_ask_the_next_provider():
    chain = Fallback(on=(Blocked,))(Stub("a"), Stub("b"))

    assert play(chain.search(KELP), Blocked("robot"), reply()).result.provider == "b"
    with pytest.raises(Unavailable):
        play(chain.search(KELP), Unavailable("down"))


def test_an_unsafe_url_is_unsafe_for_every_reader():
    with pytest.raises(UnsafeURL):
        play(
            Fallback()(Stub("a"), Stub("b")).read("https://a.example"), UnsafeURL("no")
        )


@pytest.mark.parametrize("what", ["search", "read", "read_many"])
def test_each_provider_gets_a_fair_share_of_the_time(what):
    shares = []

    class Timed(Stub):
        def search(self, query):
            shares.append(time_left())
            return (yield from super().search(query))

        def read(self, url):
            shares.append(time_left())
            return (yield from super().read(url))

        def read_many(self, urls):
            (url,) = urls
            return [(yield from self.read(url))]

    chain = Fallback()(Timed("a"), Timed("b"), Timed("c"))
    asked = {
        "search": KELP,
        "read": "https://a.example",
        "read_many": ["https://a.example"],
    }[what]
    with time_limit(30):
        play(getattr(chain, what)(asked), Unavailable(""), Unavailable(""), reply())
    assert [round(share) for share in shares] == [10, 15, 30]


def test_unsupported_options_are_left_out_with_a_note():
    query = SearchQuery.of("kelp", time_range="week", country="GB", language="en")
    response = play(Relax()(Stub(options={"language"})).search(query), reply()).result

    assert response.notes == ("stub does not support country, time_range: ignored",)


def test_a_domain_filter_that_the_service_lacks_is_applied_here_to_more_results():
    seen = []

    class Site(Stub):
        limits = kit.Limits(results_per_request=20)

        def search(self, query):
            kit.check_options(query, self)
            seen.append(query.limit)
            results = [
                SearchResult(title="T", url=f"https://{host}/{n}")
                for n in range(query.limit)
                for host in ("sea.example", "land.example")
            ]
            return SearchResponse(query=query.text, results=tuple(results))
            yield

    web = WebSearch(Site("site"))
    response = web.search(
        "kelp",
        limit=3,
        allowed_domains=["sea.example"],
        time_range="week",
        unsupported="note",
    )

    assert seen == [20]
    assert [result.url[:19] for result in response.results] == [
        "https://sea.example"
    ] * 3
    assert response.notes == (
        "site does not support allowed_domains: results outside are left out here",
        "site does not support time_range: ignored",
        "20 results outside the domain filter left out",
    )


def test_the_query_takes_precedence_over_the_layer():
    asked = {"time_range": "week"}

    assert play(
        Relax(unsupported="raise")(Stub()).search(
            SearchQuery.of("kelp", **asked, unsupported="note")
        ),
        reply(),
    )
    for layer in (Relax()(Stub()), Relax(unsupported="raise")(Stub())):
        with pytest.raises(UnsupportedOption):
            play(layer.search(SearchQuery.of("kelp", **asked, unsupported="raise")))
    with pytest.raises(UnsupportedOption):
        play(Relax(unsupported="raise")(Stub()).search(SearchQuery.of("kelp", **asked)))


def test_relax_always_passes_on_the_same_query():
    seen = []

    class Noted(Stub):
        def search(self, query):
            seen.append(query)
            return super().search(query)

    play(Relax(unsupported="raise")(Noted()).search(KELP), reply())
    play(Relax()(Noted()).search(SearchQuery.of("kelp", unsupported="note")), reply())
    assert seen == [KELP, KELP]


def test_a_provider_that_supports_all_options_is_preferred_to_leaving_some_out():
    chain = Relax()(Fallback()(Stub("a"), Stub("b", options={"time_range"})))
    response = play(
        chain.search(SearchQuery.of("kelp", time_range="week")), reply()
    ).result

    assert response.provider == "b"
    assert "ignored" not in str(response.notes)


def test_if_no_provider_supports_all_options_the_first_searches_without_some():
    first, second = Stub("a", options={"language"}), Stub("b", options={"country"})
    query = SearchQuery.of("kelp", language="en", country="GB")
    response = play(Relax()(Fallback()(first, second)).search(query), reply()).result

    assert response.provider == "a"
    assert response.notes == ("a does not support country: ignored",)


def test_if_the_first_fails_the_next_searches_without_some_options_and_notes_name_each():
    class Named(Stub):
        def search(self, query):
            if unknown := sorted(query.requested() - self.options):
                raise UnsupportedOption(
                    f"{self.name} cannot", options=unknown, provider=self.name
                )
            return super().search(query)

    chain = Relax()(
        Fallback()(Named("a", options={"language"}), Named("b", options={"country"}))
    )
    query = SearchQuery.of("kelp", language="en", country="GB")
    response = play(
        chain.search(query), Unavailable("down"), Unavailable("down"), reply()
    ).result

    assert response.provider == "b"
    assert response.notes == (
        "a failed (unavailable); answered by b",
        "a does not support country: ignored",
        "b does not support language: ignored",
    )


@pytest.mark.parametrize("options", [[], ["no_such_field"], ["topic"]], ids=str)
def test_an_error_that_fewer_options_cannot_fix_is_raised(options):
    class Stubborn(Stub):
        def search(self, query):
            raise UnsupportedOption("no", options=options)

    with pytest.raises(UnsupportedOption):
        play(Relax()(Stubborn()).search(SearchQuery.of("kelp", page=2)))
    with pytest.raises(AllProvidersFailed):
        play(
            Relax()(Fallback()(Stubborn(), Stubborn())).search(
                SearchQuery.of("kelp", page=2)
            )
        )


def test_when_all_fail_for_other_reasons_nothing_is_left_out():
    with pytest.raises(AllProvidersFailed):
        play(
            Relax()(Fallback()(Stub("a"), Stub("b"))).search(KELP),
            Unavailable("down"),
            Unavailable("down"),
        )


def test_layers_compose():
    chain = Fallback()(Retry(attempts=2)(Stub("a")), Relax()(Retry()(Stub("b"))))
    outcome = play(chain.search(SearchQuery.of("kelp", page=2)), reply())

    assert chain.name == "a|b"
    assert outcome.result.provider == "b"
    assert outcome.result.notes == (
        "b does not support page: ignored",
        "a failed (unsupported_option); answered by b",
    )


# Layers of other packages


class Cache:
    """A layer of another package, put around by hand; it knows only that it must show
    what is inside.
    """

    def __init__(self, inner):
        self.inner, self.name = inner, f"cached {inner.name}"

    def search(self, query):
        return self.inner.search(query)

    def read(self, url):
        return self.inner.read(url)

    def read_many(self, urls):
        return self.inner.read_many(urls)


class Noting(ProviderWrapper):
    """Notes what it sees in a list that all providers of one `WebSearch` share."""

    def __init__(self, layer, seen, inner):
        super().__init__(layer, inner)
        self.seen = seen

    def search(self, query):
        self.seen.append(query.text)
        return (yield from super().search(query))

    def read(self, url):
        self.seen.append(url)
        return (yield from super().read(url))

    def read_many(self, urls):
        self.seen.extend(urls)
        return (yield from super().read_many(urls))


@dataclass(frozen=True)
class Around(Layer):
    """A layer for the list."""

    label: str = ""
    at: object = Rank.OUTERMOST
    make: object = Noting

    @property
    def rank(self):
        return self.at

    def start(self):
        return partial(self.make, self, [])


@dataclass(frozen=True)
class SearchOnly(Layer):
    def start(self):
        return partial(_SearchOnly, self)


class _SearchOnly(ProviderWrapper):
    def search(self, query):
        return super().search(query)


def shape(provider):
    """Return the layers from the outside in, down to one provider: ``Relax Retry
    stub``; without those of no effect.
    """
    layer = getattr(provider, "layer", provider)
    if isinstance(layer, Breaker | SingleFlight | Throttle):
        return shape(provider.inner)
    kind = getattr(layer, "label", "") or type(layer).__name__
    inner = getattr(provider, "inner", None)
    if inner is None:
        return provider.name
    return (
        f"{kind}({', '.join(map(shape, inner))})"
        if isinstance(inner, tuple)
        else f"{kind} {shape(inner)}"
    )


def retries_of(web):
    return [
        part.layer
        for part in parts(web.provider)
        if isinstance(getattr(part, "layer", None), Retry)
    ]


def retry_of(web):
    (retry,) = retries_of(web)
    return retry


def test_a_foreign_layer_does_not_hide_a_key_sent_over_plain_http():
    brave = Brave(api_key="key", base_url="http://evil.example/")
    for provider in (
        brave,
        Cache(brave),
        Retry()(Cache(brave)),
        Cache(Fallback()(Stub(), brave)),
        [Stub(), Cache(brave)],
    ):
        with pytest.raises(ConfigurationError, match="unencrypted"):
            WebSearch(provider)


def test_a_foreign_layer_can_do_only_what_the_provider_inside_can():
    with pytest.raises(ConfigurationError, match="'cached brave' cannot read"):
        WebSearch(Stub(), reader=Cache(Brave(api_key="key")))
    with pytest.raises(ConfigurationError, match="cannot search"):
        WebSearch(Cache(Direct()))
    with pytest.raises(ConfigurationError, match="cannot read"):
        WebSearch(Stub(), reader=Fuse()(Stub(), Stub("other")))


def test_a_foreign_layer_is_not_wrapped_in_the_default_retry():
    assert shape(WebSearch(Cache(Stub())).provider) == "Relax Cache stub"
    assert shape(WebSearch(Stub()).provider) == "Relax Retry stub"
    assert (
        shape(WebSearch(Cache(Stub()), retry=Retry(attempts=2)).provider)
        == "Relax Retry Cache stub"
    )


def test_an_index_inside_a_layer_is_read_before_the_web(tmp_path):
    web = WebSearch(Cache(Local(path=tmp_path / "i.db")))

    assert shape(web.reader) == "Fallback(Cache local, Retry direct)"
    assert shape(WebSearch("duckduckgo").reader) == "Retry direct"


def test_a_layer_that_contains_itself_is_refused():
    loop = Cache(Stub())
    loop.inner = loop
    with pytest.raises(ConfigurationError, match="a Cache contains itself"):
        WebSearch(loop)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Retry()(3), "Retry: goes around a provider, not int"),
        (lambda: Retry()("brave"), "Retry: goes around a provider, not str"),
        (lambda: Retry()(Retry()), "Retry: goes around a provider, not Retry"),
        (
            lambda: Fallback()(Stub(), "brave"),
            "Fallback: goes around a provider, not str",
        ),
        (
            Fallback(),
            r"Fallback has no provider inside: write Fallback\(...\)\(provider, provider\)",
        ),
        (Retry(5), r"Retry has no provider inside: write Retry\(...\)\(provider\)$"),
        (
            lambda: Retry(5)(Stub(), Stub()),
            r"Retry has 2 providers inside: write Retry\(...\)\(provider\)$",
        ),
        (
            lambda: Retry(Stub()),
            r"Retry: a provider is not an option: write Retry\(...\)\(provider\)",
        ),
        (lambda: Retry(attempts=5, inner=Stub()), r"write Retry\(...\)\(provider\)"),
        (
            lambda: Fuse((Stub(), Stub())),
            r"Fuse: a provider is not an option: write Fuse\(...\)\(provider, provider\)",
        ),
        (
            lambda: Budget(Stub()),
            r"Budget: a provider is not an option: write Budget\(...\)\(provider\)",
        ),
        (lambda: SingleFlight(Stub()), r"write SingleFlight\(...\)\(provider\)"),
    ],
)
def test_what_a_layer_goes_around_is_a_provider_and_its_options_are_not(
    make, complaint
):
    with pytest.raises(ConfigurationError, match=complaint):
        make()


@dataclass(frozen=True)
class Inert(Layer):
    """One that forgot its running part."""


@dataclass(frozen=True)
class Idle(Layer):
    """One whose running part changes nothing."""


class _IdleProvider(ProviderWrapper[Idle]):
    pass


@pytest.mark.parametrize(
    ("layer", "complaint"),
    [
        (
            Inert(),
            r"Inert has no running part: write class Part\(ProviderWrapper\[Inert\]\), or start",
        ),
        (
            Idle(),
            "Idle changes nothing: define search, or read and read_many, in its running part",
        ),
    ],
    ids=["no part", "nothing in it"],
)
def test_a_layer_that_can_do_nothing_says_so_by_hand_and_in_a_web_search(
    layer, complaint
):
    with pytest.raises(ConfigurationError, match=f"^{complaint}$"):
        layer(Stub())
    with pytest.raises(ConfigurationError, match=f"^{complaint}$"):
        WebSearch(Stub(), layers=[layer])


def test_a_layer_that_stands_where_it_sees_nothing_of_what_it_handles_says_so():
    with pytest.raises(
        ConfigurationError, match="Robots would do nothing here: brave cannot read"
    ):
        Robots()(Brave(api_key="key"))
    with pytest.raises(
        ConfigurationError, match="Rerank would do nothing here: direct cannot search"
    ):
        Rerank(lambda query, texts: [])(Direct())
    with pytest.raises(
        ConfigurationError,
        match=r"does not see the Crawl-delay: write Throttle\(\)\(Robots\(\)\(reader\)\)",
    ):
        Robots()(Throttle()(Direct()))


class ReadsAlone(ProviderWrapper):
    def read(self, url):
        return super().read(url)


def test_a_layer_that_forgets_pages_that_are_read_together_says_so():
    made_by_hand = type(
        "Uppercase",
        (),
        {"name": "x", "inner": Direct(), "read": lambda self, url: None},
    )()
    for make in (
        lambda: WebSearch(
            reader="direct",
            layers=[Around(make=lambda layer, _, inner: ReadsAlone(layer, inner))],
        ),
        lambda: Around(make=lambda layer, _, inner: ReadsAlone(layer, inner))(Direct()),
        lambda: WebSearch(reader=made_by_hand),
    ):
        with pytest.raises(
            ConfigurationError,
            match="(ReadsAlone|Uppercase) has read, but no read_many",
        ):
            make()


def test_the_leaves_are_the_innermost_providers():
    a, b = Stub("a"), Stub("b")

    assert leaves(Relax()(Fallback()(Retry()(a), Cache(b)))) == [a, b]
    assert leaves(a) == [a]


def test_layers_show_what_is_inside():
    a, b = Stub("a", options={"page"}), Stub("b", options={"topic"})
    chain = Relax()(Fallback()(Retry()(a), b))

    assert (chain.name, chain.options) == ("a|b", {"page", "topic"})
    assert chain.inner.inner == (chain.inner.inner[0], b)
    assert chain.inner.inner[0].inner is a
    assert Retry()(Direct()).options == frozenset()


@pytest.mark.parametrize(
    "layer", [Retry(), Relax(), Fallback()], ids=lambda layer: type(layer).__name__
)
def test_a_layer_without_a_provider_says_what_to_write(layer):
    kind = type(layer).__name__
    with pytest.raises(
        ConfigurationError,
        match=rf"{kind} has no provider inside: .*layers=\[{kind}\(...\)\]",
    ):
        WebSearch(layer)


def test_a_layer_says_what_the_provider_inside_cannot_do():
    with pytest.raises(ConfigurationError, match="direct cannot search"):
        play(Fallback()(Direct(), Stub()).search(KELP))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (
            lambda: Retry(attempts=0),
            "Retry: attempts: must be a whole number of at least 1",
        ),
        (lambda: Retry(attempts=1.5), "attempts"),
        (lambda: Retry(attempts=True), "attempts"),
        (lambda: Retry(wait_max=-1), "Retry: wait_max: must be a number of at least 0"),
        (lambda: Retry(wait_initial=-1)(Stub()), "wait_initial"),
        (lambda: Retry(wait_initial=float("nan"))(Stub()), "wait_initial"),
        (lambda: Retry(attempts="many"), "attempts"),
        (lambda: Relax(unsupported="ignore"), "unsupported"),
        (lambda: Fallback(on=(KeyError,)), "on: must be a tuple"),
        (lambda: Fallback(on=Blocked), "on: must be a tuple"),
        (lambda: Fallback(silent_errors=("blocked",)), "silent_errors"),
    ],
)
def test_invalid_values_are_refused(make, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        make()


# The list


def test_the_rank_decides_the_position_of_a_layer_and_not_its_place_in_the_list():
    ranks = {"cache": Rank.CACHE, "throttle": Rank.THROTTLE, "budget": Rank.BUDGET, "rerank": Rank.RERANK,
             "breaker": Rank.BREAKER, "flight": Rank.SINGLE_FLIGHT, "policy": Rank.POLICY}  # fmt: skip
    around = [Around(label, rank) for label, rank in ranks.items()]
    expected = "policy Relax rerank flight cache breaker Retry budget throttle stub"

    for listed in (around, around[::-1], sorted(around, key=lambda layer: layer.label)):
        web = WebSearch(Stub(), reader=Stub(), layers=listed)
        assert shape(web.provider) == expected
        assert shape(web.reader) == expected.replace("Relax ", "")


def test_layers_without_rank_are_outermost_around_each_provider_the_last_one_farthest_out():
    web = WebSearch(
        [Stub("a"), Stub("b")],
        layers=[Around("one"), Around("two"), Around("cache", Rank.CACHE)],
    )

    assert (
        shape(web.provider)
        == "Relax Fallback(two one cache Retry a, two one cache Retry b)"
    )


def test_a_rank_may_be_any_number():
    web = WebSearch(
        Stub(),
        layers=[Around("inside", Rank.RETRY - 1), Around("outside", Rank.RETRY + 1)],
    )

    assert shape(web.provider) == "Relax outside Retry inside stub"


def test_a_layer_replaces_the_default_of_its_rank():
    web = WebSearch(
        [Stub("a"), Stub("b")],
        retry=Retry(attempts=7),
        combine=Fallback(on=(Blocked,)),
        layers=[Relax()],
    )

    assert shape(web.provider) == "Relax Fallback(Retry a, Retry b)"
    assert web.provider.layer.unsupported == "note"
    assert web.provider.inner.layer.on == (Blocked,)
    assert retries_of(web) == [Retry(7), Retry(7)]
    other = WebSearch([Stub("a"), Stub("b")], layers=[Around("again", Rank.RETRY)])
    assert shape(other.provider) == "Relax Fallback(again a, again b)"


def test_none_removes_all_layers_except_the_one_that_combines_providers():
    stub = Stub()
    web = WebSearch(stub, reader="direct", layers=None)

    assert web.provider is stub
    assert shape(web.reader) == "direct"
    assert (
        shape(WebSearch([Stub("a"), Stub("b")], layers=None).provider)
        == "Fallback(a, b)"
    )


def test_a_provider_that_searches_and_reads_has_one_layer_for_both():
    stub = Stub()
    web = WebSearch(stub, reader=stub, layers=[Around()])

    assert shape(web.provider) == "Relax Around Retry stub"
    assert web.provider.inner is web.reader


def test_a_layer_that_cannot_read_is_skipped_when_pages_are_read():
    stub = Stub()
    web = WebSearch(stub, reader=stub, layers=[SearchOnly()])

    assert shape(web.provider) == "Relax SearchOnly Retry stub"
    assert shape(web.reader) == "Retry stub"
    assert web.provider.inner.inner is web.reader


def test_the_providers_of_one_web_search_share_the_state_of_a_layer_and_two_web_searches_do_not():
    layer = Around()
    one, other = (
        WebSearch([Stub("a"), Stub("b")], reader=Direct(), layers=[layer])
        for _ in range(2)
    )
    a, b = one.provider.inner.inner
    play(a.search(KELP), reply())

    assert a.seen == b.seen == one.reader.seen == ["kelp"]
    assert other.provider.inner.inner[0].seen == []


def test_a_copy_of_a_web_search_has_its_own_state():
    web = WebSearch(Stub(), layers=[Around()])
    twins = [copy.deepcopy(web), pickle.loads(pickle.dumps(web))]
    play(web.provider.search(KELP), reply())

    assert web.provider.inner.seen == ["kelp"]
    assert [twin.provider.inner.seen for twin in twins] == [[], []]


class NoName(ProviderWrapper):
    name = None


class Coroutine(ProviderWrapper):
    async def search(self, query):
        raise NotImplementedError


def around(kind):
    return [Around(make=lambda layer, _, inner: kind(layer, inner))]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["retry"], "str is not a layer: its base class must be"),
        ([Retry], r"Retry is a class: write Retry\(\)"),
        ([Retry()(Stub())], "_RetryProvider already holds a provider"),
        (Retry(), "give a list of layers, not Retry"),
        ("retry", "give a list of layers, not str"),
        (
            [Around("one", Rank.COMBINE), Around("fuse", Rank.COMBINE)],
            "only one layer may combine several providers",
        ),
        ([Around("x", "high")], "the rank of Around is not a number"),
        (
            around(lambda layer, inner: Stub()),
            r"Around: start\(\) must return a function",
        ),
        (
            around(lambda layer, inner: inner),
            r"Around: start\(\) must return a function",
        ),
        (around(NoName), "has no name"),
        (around(Coroutine), "stub.search is an async def"),
    ],
)
def test_anything_but_a_layer_is_refused(given, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        WebSearch(Stub(), layers=given)


def test_attempts_configure_the_default_retry():
    assert retry_of(WebSearch(Stub(), retry=5)).attempts == 5
    assert retry_of(WebSearch(Stub(), retry=5, layers=[Around()])).attempts == 5
    for given in ([Retry(attempts=2)], None):
        with pytest.raises(
            ConfigurationError,
            match="retry: not with layers=None|layers: Retry does not belong here",
        ):
            WebSearch(Stub(), retry=5, layers=given)


# The query, and the one chain


def test_programs_and_tools_use_the_same_chain():
    web = WebSearch(Stub(), layers=[Around()])
    for unsupported in ("raise", "note", None):
        play(
            web.provider.search(SearchQuery.of("kelp", unsupported=unsupported)),
            reply(),
        )

    assert web.provider.inner.seen == ["kelp"] * 3
    assert "_relaxed" not in vars(web)


class Instant(Stub):
    def search(self, query):
        if unknown := sorted(query.requested()):
            raise UnsupportedOption("no", options=unknown)
        return SearchResponse(query=query.text, provider=self.name)
        yield


def test_the_argument_beats_the_query_and_the_query_the_layers():
    web, noting = WebSearch(Instant()), WebSearch(Instant(), layers=[Relax()])
    queries = {
        choice: SearchQuery.of("kelp", page=2, unsupported=choice)
        for choice in ("raise", "note", None)
    }

    assert web.search(queries["note"]).notes
    assert web.search(queries["raise"], unsupported="note").notes
    assert web.search("kelp", page=2, unsupported="note").notes
    assert noting.search("kelp", page=2).notes
    assert noting.search(queries[None]).notes
    for refused in (
        lambda: web.search("kelp", page=2),
        lambda: web.search(queries["note"], unsupported="raise"),
        lambda: noting.search("kelp", page=2, unsupported="raise"),
        lambda: noting.search(queries["raise"]),
        lambda: WebSearch(Instant(), layers=None).search(queries["note"]),
    ):
        with pytest.raises(UnsupportedOption):
            refused()
    for wrong in (
        lambda: web.search("kelp", unsupported="ignore"),
        lambda: web.search(KELP, unsupported="ignore"),
    ):
        with pytest.raises(InvalidOption, match="unsupported"):
            wrong()


def test_unsupported_is_not_an_option_of_the_service():
    assert SearchQuery.of("kelp", unsupported="note").requested() == frozenset()
    assert (
        SearchQuery.of("kelp", page=2, unsupported="note").without("page").unsupported
        == "note"
    )


# The settings file


def settings_file(content):
    """Write the settings file of the user, which is trusted."""
    path = user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_the_settings_file_has_a_table_for_each_layer(monkeypatch):
    settings_file("[retry]\nattempts = 5\nwait_initial = 0.1\n[layers.relax]\n")
    web = WebSearch(Stub())

    assert (
        retry_of(web).attempts,
        retry_of(web).wait_initial,
        web.provider.layer.unsupported,
    ) == (5, 0.1, "note")
    assert retry_of(WebSearch(Stub(), retry=Retry())).attempts == 3
    assert shape(WebSearch(Stub(), layers=None).provider) == "stub"
    assert retry_of(WebSearch(Stub(), retry=2)).attempts == 2
    assert retry_of(WebSearch(Stub(), retry=2)).wait_initial == 0.1
    monkeypatch.setenv("WEB_SEARCH_RETRY", "4")
    assert retry_of(WebSearch(Stub())).attempts == 4
    monkeypatch.setenv("WEB_SEARCH_RETRY", '{"wait_initial": 0.2}')
    assert retry_of(WebSearch(Stub())).wait_initial == 0.2


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[retry]\nattempts = 0", "retry.attempts: Retry: attempts"),
        ("[retry]\nattemps = 2", "retry.attemps: not an option; did you mean attempts"),
        ("[layers.rerty]\nattempts = 2", "unknown layer 'rerty'; known are breaker, "),
        ('[retry]\ninner = "brave"', "retry.inner: not an option"),
        (
            "[layers.retry]\nattempts = 5",
            r"layers.retry: this is a setting: write \[retry\]",
        ),
        ("layers = 3", "layers"),
    ],
)
@pytest.mark.parametrize("given", [(), None], ids=str)
def test_a_mistake_in_the_table_of_a_layer_is_reported(content, complaint, given):
    settings_file(content)
    with pytest.raises(ConfigurationError, match=complaint):
        WebSearch(Stub(), layers=given)


def test_a_file_that_was_merely_found_sets_only_what_it_may(plugged):
    plugged([("around", "Around")], Around=Around)
    found = Path("websearch.toml")
    found.write_text('[retry]\nattempts = 5\n[layers.relax]\nunsupported = "note"')
    web = WebSearch(Stub())
    assert (retry_of(web).attempts, web.provider.layer.unsupported) == (5, "note")

    settings_file("[retry]\nattempts = 2\nwait_initial = 0.1")
    found.write_text("[retry]\nwait_max = 1")
    retry = retry_of(WebSearch(Stub()))
    assert (retry.attempts, retry.wait_initial, retry.wait_max) == (2, 0.1, 1)
    for refused, complaint in {
        "[retry]\nattempts = 3": "retry.attempts: may not be more than 2 here",
        "[retry]\nwait_max = 61": "retry.wait_max: may not be more than 60 here",
        "[retry]\ninner = 3": "retry.inner: not an option",
        "[combine.fallback]": "combine.fallback: may not be set here",
        "[layers.around]": "layers.around: may not be set here",
        "[layers]\nrelax = 3": "layers: not a table for each layer",
    }.items():
        found.write_text(refused)
        with pytest.raises(ConfigurationError, match=complaint):
            WebSearch(Stub())


@pytest.fixture
def plugged(monkeypatch):
    """Make entry points of layers, whose module has *contents*."""
    module = ModuleType("foreign_layers")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def plug(names, **contents):
        vars(module).update(contents)
        points = [
            EntryPoint(name, f"foreign_layers:{kind}", "websearch_core.layers")
            for name, kind in names
        ]
        monkeypatch.setattr(layers, "entry_points", lambda group: points)
        layers._plugged_in.cache_clear()

    yield plug
    layers._plugged_in.cache_clear()


def test_layers_plug_in_by_entry_points(plugged):
    @dataclass(frozen=True)
    class Shout(Layer):
        times: int = 1

        def start(self):
            return partial(Noting, self, [])

    def strict(times):
        raise ValueError("times: too many")

    class Checked(BaseModel):
        pin: int = Field(le=9)

    contents = {"Shout": Shout, "strict": strict, "Checked": Checked}
    plugged(
        [
            ("shout", "Shout"),
            ("strict", "strict"),
            ("checked", "Checked"),
            ("gone", "Gone"),
        ],
        **contents,
    )
    settings_file("[layers.shout]\ntimes = 3\n")
    assert layer_class("shout") is Shout
    assert shape(WebSearch(Stub()).provider) == "Relax Shout Retry stub"
    assert WebSearch(Stub()).provider.inner.layer.times == 3
    assert (
        shape(WebSearch(Stub(), layers=[Around()]).provider)
        == "Relax Shout Around Retry stub"
    )
    assert WebSearch(Stub(), layers=[Shout(times=4)]).provider.inner.layer.times == 4
    for wrong, complaint in {
        "[layers.shout]\ntime = 3": "layers.shout.time: not an option",
        "[layers.strict]\ntimes = 3": "layers.strict.times: times: too many",
        "[layers.checked]\npin = 4321": "layers.checked.pin: pin: must be less than or equal to 9",
        "[layers.gone]": "layer 'gone' cannot be loaded",
        "[layers.rerty]": "known are breaker, .*cache, checked, fallback, ",
    }.items():
        settings_file(wrong)
        with pytest.raises(ConfigurationError, match=complaint) as caught:
            WebSearch(Stub())
        assert "4321" not in str(caught.value)


@pytest.mark.parametrize("names", [["retry"], ["shout", "shout"]], ids=str)
def test_two_layers_of_one_name_are_refused(plugged, names):
    plugged([(name, "Shout") for name in names])
    settings_file("[layers.shout]\n")
    with pytest.raises(
        ConfigurationError, match=f"layer '{names[0]}' is already registered"
    ):
        WebSearch(Stub())


def test_the_built_in_layers_fit_the_port():
    for name in ("fallback", "relax", "retry"):
        layer: Layer = layer_class(name)()
        assert callable(layer.start())
        assert isinstance(layer.rank, Rank)


def test_relax_does_not_change_reading():
    assert (
        play(Relax()(Stub()).read("https://a.example"), reply()).result.url
        == "https://a.example"
    )


def test_an_unsupported_option_without_a_name_cannot_be_left_out():
    class Vague(Stub):
        def search(self, query):
            yield from ()
            raise UnsupportedOption("something is not supported")

    with pytest.raises(UnsupportedOption, match="something"):
        play(Relax()(Vague()).search(KELP))


def test_layers_without_end_are_an_error():
    class Endless:
        name = "endless"

        @property
        def inner(self):
            return Endless()

        def search(self, query, /):
            yield

    with pytest.raises(ConfigurationError, match="more than 100 layers"):
        WebSearch(Endless())


def test_each_built_in_layer_is_in_its_file_and_in_all_three_lists():
    source = Path(layers.__file__).read_text("utf-8")
    imports = {
        (node.module, alias.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    for name, class_name in layers._BUILT_IN.items():
        assert layers.layer_class(name) is getattr(layers, class_name)
        assert class_name in layers.__all__
        assert (f"_{name}", class_name) in imports, "for type checkers"
