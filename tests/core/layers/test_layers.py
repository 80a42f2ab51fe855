"""Providers made of providers, played without a network."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel, Field

from websearch_core import WebSearch, layers
from websearch_core._deadline import time_limit
from websearch_core._sources import user_file
from websearch_core.errors import (
    AllProvidersFailed,
    AuthenticationError,
    Blocked,
    ConfigurationError,
    InvalidOption,
    QuotaExhausted,
    RateLimited,
    Unavailable,
    UnsafeURL,
    UnsupportedOption,
    WebSearchError,
)
from websearch_core.flow import Request
from websearch_core.layers import Fallback, Layer, Rank, Relax, Retry, layer_class, leaves
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.providers.brave import Brave
from websearch_core.providers.direct import Direct
from websearch_core.providers.local import Local
from websearch_core.testing import play, reply

KELP = SearchQuery.of("kelp")


class Stub:
    """A provider whose flow makes one request and finds nothing; what is thrown at it comes out again."""

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
    outcome = play(Retry(Stub()).search(KELP), Unavailable("down"), Unavailable("down"), reply())

    assert len(outcome.requests) == 3
    with pytest.raises(AuthenticationError):
        play(Retry(Stub()).search(KELP), AuthenticationError("wrong key"))


def test_reading_is_tried_again_as_well():
    assert len(play(Retry(Stub()).read("https://a.example"), Unavailable("down"), reply()).requests) == 2


def test_the_last_failure_stands():
    with pytest.raises(Unavailable, match="third"):
        play(Retry(Stub(), attempts=3).search(KELP), *(Unavailable(which) for which in ("first", "second", "third")))


def test_a_service_that_says_when_to_come_back_is_taken_at_its_word():
    assert play(Retry(Stub()).search(KELP), RateLimited("slow down", retry_after=2), reply()).pauses == [2]


@pytest.mark.parametrize("wait", [11, 99_999_999_999])
def test_a_wait_that_is_not_worth_it_ends_the_attempts(wait):
    with pytest.raises(RateLimited) as caught:
        play(Retry(Stub()).search(KELP), RateLimited("slow down", retry_after=wait))
    assert caught.value.retry_after == wait


def test_a_wait_beyond_the_deadline_ends_the_attempts():
    with time_limit(1), pytest.raises(RateLimited):
        play(Retry(Stub()).search(KELP), RateLimited("slow down", retry_after=5))


def test_pauses_double_at_random_up_to_a_bound():
    layer = Retry(Stub(), attempts=8, pause=1, longest=4)
    pauses = [play(layer.search(KELP), *[Unavailable("down")] * 7, reply()).pauses for _ in range(50)]

    for turn, most in enumerate([1, 2, 4, 4, 4, 4, 4]):
        assert all(0 <= each[turn] <= most for each in pauses)
    assert len({each[0] for each in pauses}) > 40


def test_a_failure_on_the_way_learns_whose_it_was():
    with pytest.raises(Unavailable) as caught:
        play(Retry(Stub("brave"), attempts=1).search(KELP), Unavailable("cannot connect"))
    assert caught.value.provider == "brave"


def test_the_next_provider_is_asked_when_one_fails_and_the_answer_says_so():
    chain = Fallback((Stub("a"), Stub("b"), Stub("c")))
    outcome = play(chain.search(KELP), QuotaExhausted("empty"), Blocked("robot"), reply())

    assert outcome.result.provider == "c"
    assert outcome.result.notes == ("a failed (quota_exhausted); b failed (blocked); answered by c",)


def test_a_first_answer_needs_no_remark():
    assert play(Fallback((Stub("a"), Stub("b"))).search(KELP), reply()).result.notes == ()


def test_when_all_fail_every_cause_is_kept():
    with pytest.raises(AllProvidersFailed, match="wrong key; down") as caught:
        play(Fallback((Stub("a"), Stub("b"))).search(KELP), AuthenticationError("wrong key"), Unavailable("down"))
    first, second = caught.value.exceptions
    assert (type(first), type(second)) == (AuthenticationError, Unavailable)
    assert caught.value.temporary
    assert isinstance(caught.value, WebSearchError)


def test_all_failed_knows_the_shortest_wait():
    with pytest.raises(AllProvidersFailed) as caught:
        play(
            Fallback((Stub("a"), Stub("b"))).search(KELP),
            RateLimited("slow", retry_after=30),
            RateLimited("slow", retry_after=3),
        )
    assert caught.value.retry_after == 3


def test_a_provider_that_cannot_express_the_question_is_passed_over():
    chain = Fallback((Stub("a"), Stub("b", options={"time_range"})))
    outcome = play(chain.search(SearchQuery.of("kelp", time_range="week")), reply())

    assert outcome.result.provider == "b"
    assert "a failed (unsupported_option)" in outcome.result.notes[0]


def test_only_the_failures_named_lead_on():
    chain = Fallback((Stub("a"), Stub("b")), after=(Blocked,))

    assert play(chain.search(KELP), Blocked("robot"), reply()).result.provider == "b"
    with pytest.raises(Unavailable):
        play(chain.search(KELP), Unavailable("down"))


def test_an_unsafe_url_is_unsafe_for_every_reader():
    with pytest.raises(UnsafeURL):
        play(Fallback((Stub("a"), Stub("b"))).read("https://a.example"), UnsafeURL("no"))


def test_each_provider_gets_a_fair_share_of_the_time():
    shares = []

    class Timed(Stub):
        def search(self, query):
            from websearch_core._deadline import time_left

            shares.append(time_left())
            return (yield from super().search(query))

    with time_limit(30):
        play(Fallback((Timed("a"), Timed("b"), Timed("c"))).search(KELP), Unavailable(""), Unavailable(""), reply())
    assert [round(share) for share in shares] == [10, 15, 30]


def test_what_cannot_be_expressed_is_left_out_and_noted():
    query = SearchQuery.of("kelp", time_range="week", country="GB", language="en")
    response = play(Relax(Stub(options={"language"})).search(query), reply()).result

    assert response.notes == ("stub does not support country, time_range: ignored",)


def test_what_the_question_says_of_unsupported_options_comes_first():
    asked = {"time_range": "week"}

    assert play(Relax(Stub(), unsupported="raise").search(SearchQuery.of("kelp", **asked, unsupported="note")), reply())
    for layer in (Relax(Stub()), Relax(Stub(), unsupported="raise")):
        with pytest.raises(UnsupportedOption):
            play(layer.search(SearchQuery.of("kelp", **asked, unsupported="raise")))
    with pytest.raises(UnsupportedOption):
        play(Relax(Stub(), unsupported="raise").search(SearchQuery.of("kelp", **asked)))


def test_inside_of_relax_the_question_is_the_same_whoever_asks():
    seen = []

    class Noted(Stub):
        def search(self, query):
            seen.append(query)
            return super().search(query)

    play(Relax(Noted(), unsupported="raise").search(KELP), reply())
    play(Relax(Noted()).search(SearchQuery.of("kelp", unsupported="note")), reply())
    assert seen == [KELP, KELP]


def test_of_several_providers_one_that_supports_all_is_preferred_to_leaving_options_out():
    chain = Relax(Fallback((Stub("a"), Stub("b", options={"time_range"}))))
    response = play(chain.search(SearchQuery.of("kelp", time_range="week")), reply()).result

    assert response.provider == "b"
    assert "ignored" not in str(response.notes)


def test_when_none_of_several_supports_all_the_first_leaves_out_what_it_must():
    first, second = Stub("a", options={"language"}), Stub("b", options={"country"})
    query = SearchQuery.of("kelp", language="en", country="GB")
    response = play(Relax(Fallback((first, second))).search(query), reply()).result

    assert response.provider == "a"
    assert response.notes == ("a|b does not support country: ignored",)


def test_if_the_first_fails_the_next_leaves_out_what_it_must_and_each_is_named():
    class Named(Stub):
        def search(self, query):
            if unknown := sorted(query.requested() - self.options):
                raise UnsupportedOption(f"{self.name} cannot", options=unknown, provider=self.name)
            return super().search(query)

    chain = Relax(Fallback((Named("a", options={"language"}), Named("b", options={"country"}))))
    query = SearchQuery.of("kelp", language="en", country="GB")
    response = play(chain.search(query), Unavailable("down"), Unavailable("down"), reply()).result

    assert response.provider == "b"
    assert response.notes == (
        "a failed (unavailable); answered by b",
        "a does not support country: ignored",
        "b does not support language: ignored",
    )


@pytest.mark.parametrize("options", [[], ["no_such_field"], ["topic"]], ids=str)
def test_an_error_that_leaving_options_out_does_not_help_stands(options):
    class Stubborn(Stub):
        def search(self, query):
            raise UnsupportedOption("no", options=options)

    with pytest.raises(UnsupportedOption):
        play(Relax(Stubborn()).search(SearchQuery.of("kelp", page=2)))
    with pytest.raises(AllProvidersFailed):
        play(Relax(Fallback((Stubborn(), Stubborn()))).search(SearchQuery.of("kelp", page=2)))


def test_when_all_fail_for_other_reasons_nothing_is_left_out():
    with pytest.raises(AllProvidersFailed):
        play(Relax(Fallback((Stub("a"), Stub("b")))).search(KELP), Unavailable("down"), Unavailable("down"))


def test_layers_compose():
    chain = Fallback((Retry(Stub("a"), attempts=2), Relax(Retry(Stub("b")))))
    outcome = play(chain.search(SearchQuery.of("kelp", page=2)), reply())

    assert chain.name == "a|b"
    assert outcome.result.provider == "b"
    assert outcome.result.notes == (
        "b does not support page: ignored",
        "a failed (unsupported_option); answered by b",
    )


# Layers of anybody


class Cache:
    """A layer that somebody else wrote, knowing only that it shows what is inside."""

    def __init__(self, inner):
        self.inner, self.name = inner, f"cached {inner.name}"

    def search(self, query):
        return self.inner.search(query)

    def read(self, url):
        return self.inner.read(url)


class Around:
    """A layer for the list; *kept* is state that all providers of one `WebSearch` share."""

    def __init__(self, label="", rank=None, inner=None, kept=None):
        self.label, self.inner, self.kept = label, inner, [] if kept is None else kept
        if rank is not None:
            self.rank = rank

    @property
    def name(self):
        return self.inner.name

    def wrap(self, inner):
        return type(self)(self.label, getattr(self, "rank", None), inner, self.kept)

    def search(self, query):
        self.kept.append(query.text)
        return (yield from self.inner.search(query))

    def read(self, url):
        self.kept.append(url)
        return (yield from self.inner.read(url))


class SearchOnly:
    def __init__(self, inner=None):
        self.inner, self.name = inner, getattr(inner, "name", "")

    def wrap(self, inner):
        return SearchOnly(inner)

    def search(self, query):
        return self.inner.search(query)


def shape(provider):
    """The layers from outside in, down to one provider: ``Relax Retry stub``."""
    kind = getattr(provider, "label", "") or type(provider).__name__
    inner = getattr(provider, "inner", None)
    if inner is None:
        return provider.name
    return f"{kind}({', '.join(map(shape, inner))})" if isinstance(inner, tuple) else f"{kind} {shape(inner)}"


def test_a_layer_of_anybodys_hides_no_key_sent_over_plain_http():
    brave = Brave(api_key="key", base_url="http://evil.example/")
    for provider in (
        brave,
        Cache(brave),
        Retry(Cache(brave)),
        Cache(Fallback((Stub(), brave))),
        [Stub(), Cache(brave)],
    ):
        with pytest.raises(ConfigurationError, match="unencrypted"):
            WebSearch(provider)


def test_a_layer_of_anybodys_can_do_no_more_than_what_is_inside():
    with pytest.raises(ConfigurationError, match="'cached brave' cannot read"):
        WebSearch(Stub(), reader=Cache(Brave(api_key="key")))
    with pytest.raises(ConfigurationError, match="cannot search"):
        WebSearch(Cache(Direct()))
    with pytest.raises(ConfigurationError, match="cannot read"):
        WebSearch(Stub(), reader=SearchOnly(Stub()))


def test_a_layer_of_anybodys_is_not_wrapped_in_a_retry_that_nobody_asked_for():
    assert shape(WebSearch(Cache(Stub())).provider) == "Relax Cache stub"
    assert shape(WebSearch(Stub()).provider) == "Relax Retry stub"
    assert shape(WebSearch(Cache(Stub()), layers=[Retry(attempts=2)]).provider) == "Relax Retry Cache stub"


def test_an_index_inside_of_a_layer_is_read_before_the_web(tmp_path):
    web = WebSearch(Cache(Local(path=tmp_path / "i.db")))

    assert shape(web.reader) == "Relax Fallback(Cache local, Retry direct)"
    assert shape(WebSearch(Stub()).reader) == "Relax Retry direct"


def test_a_layer_that_holds_itself_is_refused():
    loop = Cache(Stub())
    loop.inner = loop
    with pytest.raises(ConfigurationError, match="a Cache holds itself"):
        WebSearch(loop)


@pytest.mark.parametrize("layer", [Retry("brave"), Fallback((Stub(), "brave"))], ids=lambda layer: type(layer).__name__)
def test_a_layer_holds_providers_and_not_their_names(layer):
    with pytest.raises(ConfigurationError, match=f"{type(layer).__name__} holds the name 'brave'"):
        WebSearch(layer)


def test_the_leaves_are_what_is_at_the_bottom():
    a, b = Stub("a"), Stub("b")

    assert leaves(Relax(Fallback((Retry(a), Cache(b))))) == [a, b]
    assert leaves(a) == [a]


def test_layers_tell_what_is_inside():
    a, b = Stub("a", options={"page"}), Stub("b", options={"topic"})
    chain = Relax(Fallback((Retry(a), b)))

    assert (chain.name, chain.options) == ("a|b", {"page", "topic"})
    assert chain.provider.providers == (chain.provider.providers[0], b)
    assert chain.provider.providers[0].provider is a
    assert Retry(Direct()).options == frozenset()


@pytest.mark.parametrize("layer", [Retry(), Relax(), Fallback()], ids=lambda layer: type(layer).__name__)
def test_a_layer_without_a_provider_says_what_to_write(layer):
    kind = type(layer).__name__
    with pytest.raises(ConfigurationError, match=rf"{kind} holds no provider: .*WebSearch\(layers=\[{kind}\(\)\]\)"):
        WebSearch(layer)
    for ask in (layer.search, layer.read):
        with pytest.raises(ConfigurationError, match="holds no provider"):
            play(ask(KELP))


def test_asking_a_layer_for_what_the_provider_inside_cannot_is_told():
    with pytest.raises(ConfigurationError, match="direct cannot search"):
        play(Fallback((Direct(),)).search(KELP))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Retry(attempts=0), "Retry: attempts: must be a whole number of at least 1"),
        (lambda: Retry(attempts=1.5), "attempts"),
        (lambda: Retry(attempts=True), "attempts"),
        (lambda: Retry(longest=-1), "Retry: longest: must be a number of at least 0"),
        (lambda: Retry(Stub(), pause=-1), "pause"),
        (lambda: Retry(Stub(), pause=float("nan")), "pause"),
        (lambda: Retry(attempts="many"), "attempts"),
        (lambda: Relax(unsupported="ignore"), "unsupported"),
        (lambda: Fallback(after=(KeyError,)), "after"),
        (lambda: Fallback(after=Blocked), "after"),
        (lambda: Fallback(tacit=("blocked",)), "tacit"),
    ],
)
def test_a_layer_that_makes_no_sense_is_refused(make, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        make()


# The list


def test_the_rank_decides_where_a_layer_stands_and_not_its_place_in_the_list():
    ranks = {"cache": Rank.CACHE, "throttle": Rank.THROTTLE, "budget": Rank.BUDGET, "rerank": Rank.RERANK,
             "breaker": Rank.BREAKER, "flight": Rank.SINGLE_FLIGHT, "policy": Rank.POLICY}  # fmt: skip
    around = [Around(label, rank) for label, rank in ranks.items()]
    expected = "policy Relax rerank cache flight breaker Retry budget throttle stub"

    for listed in (around, around[::-1], sorted(around, key=lambda layer: layer.label)):
        web = WebSearch(Stub(), reader=Stub(), layers=listed)
        assert shape(web.provider) == shape(web.reader) == expected


def test_a_layer_without_rank_is_the_outermost_of_its_provider_and_the_first_named_of_several():
    web = WebSearch([Stub("a"), Stub("b")], layers=[Around("one"), Around("two"), Around("cache", Rank.CACHE)])

    assert shape(web.provider) == "Relax Fallback(one two cache Retry a, one two cache Retry b)"


def test_a_rank_may_be_any_number():
    web = WebSearch(Stub(), layers=[Around("inside", Rank.RETRY - 1), Around("outside", Rank.RETRY + 1)])

    assert shape(web.provider) == "Relax outside Retry inside stub"


def test_a_layer_takes_the_place_of_a_default_of_its_rank():
    web = WebSearch([Stub("a"), Stub("b")], layers=[Retry(attempts=7), Relax(), Fallback(after=(Blocked,))])

    assert shape(web.provider) == "Relax Fallback(Retry a, Retry b)"
    assert web.provider.unsupported == "note"
    assert web.provider.inner.after == (Blocked,)
    assert {retry.attempts for retry in web.provider.inner.inner} == {7}
    other = WebSearch([Stub("a"), Stub("b")], layers=[Around("again", Rank.RETRY)])
    assert shape(other.provider) == "Relax Fallback(again a, again b)"


def test_none_removes_all_layers_but_what_makes_one_of_several():
    stub = Stub()
    web = WebSearch(stub, layers=None)

    assert web.provider is stub
    assert shape(web.reader) == "direct"
    assert shape(WebSearch([Stub("a"), Stub("b")], layers=None).provider) == "Fallback(a, b)"


def test_what_searches_and_reads_has_one_layer_for_both():
    stub = Stub()
    web = WebSearch(stub, reader=stub, layers=[Around()])

    assert shape(web.provider) == "Relax Around Retry stub"
    assert web.provider is web.reader


def test_a_layer_that_cannot_read_stands_aside_when_pages_are_read():
    stub = Stub()
    web = WebSearch(stub, reader=stub, layers=[SearchOnly()])

    assert shape(web.provider) == "Relax SearchOnly Retry stub"
    assert shape(web.reader) == "Relax Retry stub"
    assert web.provider.inner.inner is web.reader.inner


def test_a_layer_has_one_state_for_all_providers_of_a_web_search_and_none_for_two():
    layer = Around()
    one, other = (WebSearch([Stub("a"), Stub("b")], reader=Direct(), layers=[layer]) for _ in range(2))
    a, b = one.provider.inner.inner
    play(a.search(KELP), reply())

    assert a.kept == b.kept == one.reader.inner.kept == ["kelp"]
    assert other.provider.inner.inner[0].kept == layer.kept == []


def test_a_copy_of_a_web_search_has_a_state_of_its_own():
    web = WebSearch(Stub(), layers=[Around()])
    twins = [copy.deepcopy(web), pickle.loads(pickle.dumps(web))]
    play(web.provider.search(KELP), reply())

    assert web.provider.inner.kept == ["kelp"]
    assert [twin.provider.inner.kept for twin in twins] == [[], []]


class Locked(Around):
    def __init__(self, *args):
        super().__init__(*args)
        self.lock = threading.Lock()


class ReturnsItself(Around):
    def wrap(self, inner):
        self.inner = inner
        return self


class Hides(Around):
    def wrap(self, inner):
        return Stub()


class NoName(Around):
    name = None


class Coroutine(Around):
    async def search(self, query):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["retry"], "str has no method wrap"),
        ([Retry], r"Retry is a class: write Retry\(\)"),
        ([Retry(Stub())], "Retry holds a provider already"),
        (Retry(), "give a list of layers, not Retry"),
        ("retry", "give a list of layers, not str"),
        ([Fallback(), Around("fuse", Rank.COMBINE)], "only one can make one provider of several"),
        ([Around("x", "high")], "the rank of Around is not a number"),
        ([Locked()], "Locked cannot be copied .*lock.* __deepcopy__"),
        ([ReturnsItself()], r"ReturnsItself\.wrap\(inner\) must return a new layer"),
        ([Hides()], r"Hides\.wrap\(inner\) must return a new layer"),
        ([NoName()], "has no name"),
        ([Coroutine()], "stub.search is an async def"),
    ],
)
def test_what_is_not_a_layer_is_refused(given, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        WebSearch(Stub(), layers=given)


def test_attempts_are_those_of_the_default_retry():
    assert WebSearch(Stub(), attempts=5).provider.inner.attempts == 5
    assert WebSearch(Stub(), attempts=5, layers=[Around()]).provider.inner.inner.attempts == 5
    for given in ([Retry(attempts=2)], None):
        with pytest.raises(ConfigurationError, match="attempts: is for the default Retry"):
            WebSearch(Stub(), attempts=5, layers=given)


# The question, and the one chain


def test_a_program_and_a_tool_ask_through_the_same_chain():
    web = WebSearch(Stub(), layers=[Around()])
    for unsupported in ("raise", "note", None):
        play(web.provider.search(SearchQuery.of("kelp", unsupported=unsupported)), reply())

    assert web.provider.inner.kept == ["kelp"] * 3
    assert "_relaxed" not in vars(web)


class Instant(Stub):
    def search(self, query):
        if unknown := sorted(query.requested()):
            raise UnsupportedOption("no", options=unknown)
        return SearchResponse(query=query.text, provider=self.name)
        yield


def test_the_argument_beats_the_question_and_the_question_the_layers():
    web, noting = WebSearch(Instant()), WebSearch(Instant(), layers=[Relax()])
    said = {choice: SearchQuery.of("kelp", page=2, unsupported=choice) for choice in ("raise", "note", None)}

    assert web.search(said["note"]).notes
    assert web.search(said["raise"], unsupported="note").notes
    assert web.search("kelp", page=2, unsupported="note").notes
    assert noting.search("kelp", page=2).notes
    assert noting.search(said[None]).notes
    for refused in (
        lambda: web.search("kelp", page=2),
        lambda: web.search(said["note"], unsupported="raise"),
        lambda: noting.search("kelp", page=2, unsupported="raise"),
        lambda: noting.search(said["raise"]),
        lambda: WebSearch(Instant(), layers=None).search(said["note"]),
    ):
        with pytest.raises(UnsupportedOption):
            refused()
    for wrong in (lambda: web.search("kelp", unsupported="ignore"), lambda: web.search(KELP, unsupported="ignore")):
        with pytest.raises(InvalidOption, match="unsupported"):
            wrong()


def test_what_to_do_about_unsupported_options_is_not_an_option_of_the_service():
    assert SearchQuery.of("kelp", unsupported="note").requested() == frozenset()
    assert SearchQuery.of("kelp", page=2, unsupported="note").without("page").unsupported == "note"


# The settings file


def settings_file(content):
    """Write the settings file of the user, which is trusted."""
    path = user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_the_settings_file_has_a_table_for_each_layer(monkeypatch):
    settings_file("[layers.retry]\nattempts = 5\npause = 0.1\n[layers.relax]\n")
    web = WebSearch(Stub())

    assert (web.provider.inner.attempts, web.provider.inner.pause, web.provider.unsupported) == (5, 0.1, "note")
    assert WebSearch(Stub(), layers=[Retry()]).provider.inner.attempts == 3
    assert shape(WebSearch(Stub(), layers=None).provider) == "stub"
    assert WebSearch(Stub(), attempts=2).provider.inner.attempts == 2
    assert WebSearch(Stub(), attempts=2).provider.inner.pause == 0.1
    monkeypatch.setenv("WEB_SEARCH_ATTEMPTS", "4")
    assert WebSearch(Stub()).provider.inner.attempts == 4
    monkeypatch.setenv("WEB_SEARCH_LAYERS", '{"retry": {"pause": 0.2}}')
    assert WebSearch(Stub()).provider.inner.pause == 0.2


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[layers.retry]\nattempts = 0", "layers.retry: Retry: attempts"),
        ("[layers.retry]\nattemps = 2", "layers.retry: .*attemps"),
        ("[layers.rerty]\nattempts = 2", "unknown layer 'rerty'; known are fallback, relax, retry"),
        ('[layers.retry]\ninner = "brave"', "layers.retry: inner is not an option"),
        ("layers = 3", "layers"),
    ],
)
@pytest.mark.parametrize("given", [(), None], ids=str)
def test_a_mistake_in_the_table_of_a_layer_is_told(content, complaint, given):
    settings_file(content)
    with pytest.raises(ConfigurationError, match=complaint):
        WebSearch(Stub(), layers=given)


def test_a_file_that_was_merely_found_sets_no_more_than_it_may(plugged):
    plugged([("around", "Around")], Around=Around)
    found = Path("websearch.toml")
    found.write_text('[layers.retry]\nattempts = 5\n[layers.relax]\nunsupported = "note"')
    web = WebSearch(Stub())
    assert (web.provider.inner.attempts, web.provider.unsupported) == (5, "note")

    settings_file("[layers.retry]\nattempts = 2\npause = 0.1")
    found.write_text("[layers.retry]\nlongest = 1")
    retry = WebSearch(Stub()).provider.inner
    assert (retry.attempts, retry.pause, retry.longest) == (2, 0.1, 1)
    for refused, complaint in {
        "[layers.retry]\nattempts = 3": "layers.retry.attempts: may not be more than 2 here",
        "[layers.retry]\nlongest = 61": "layers.retry.longest: may not be more than 60 here",
        "[layers.retry]\ninner = 3": "layers.retry.inner: may not be set here",
        "[layers.fallback]": "layers.fallback: may not be set here",
        "[layers.around]": "layers.around: may not be set here",
        "[layers]\nretry = 3": "layers: not a table for each layer",
    }.items():
        found.write_text(refused)
        with pytest.raises(ConfigurationError, match=complaint):
            WebSearch(Stub())


@pytest.fixture
def plugged(monkeypatch):
    """Make entry points of layers, whose module has *contents*."""
    module = ModuleType("layers_of_somebody")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def plug(names, **contents):
        vars(module).update(contents)
        points = [EntryPoint(name, f"layers_of_somebody:{kind}", "websearch_core.layers") for name, kind in names]
        monkeypatch.setattr(layers, "entry_points", lambda group: points)
        layers._plugged_in.cache_clear()

    yield plug
    layers._plugged_in.cache_clear()


def test_layers_plug_in_by_entry_points(plugged):
    @dataclass(frozen=True)
    class Shout:
        inner: object = None
        times: int = 1
        kept: list = field(default_factory=list)

        @property
        def name(self):
            return self.inner.name

        def wrap(self, inner):
            if self.times > 9:
                raise ValueError("too loud")
            return replace(self, inner=inner)

        def search(self, query):
            return self.inner.search(query)

    def strict(times):
        raise ValueError("times: too many")

    class Checked(BaseModel):
        pin: int = Field(le=9)

    contents = {"Shout": Shout, "strict": strict, "Checked": Checked}
    plugged([("shout", "Shout"), ("strict", "strict"), ("checked", "Checked"), ("gone", "Gone")], **contents)
    settings_file("[layers.shout]\ntimes = 3\n")
    assert layer_class("shout") is Shout
    assert shape(WebSearch(Stub()).provider) == "Relax Shout Retry stub"
    assert WebSearch(Stub()).provider.inner.times == 3
    assert shape(WebSearch(Stub(), layers=[Around()]).provider) == "Relax Around Shout Retry stub"
    assert WebSearch(Stub(), layers=[Shout(times=4)]).provider.inner.times == 4
    for wrong, complaint in {
        "[layers.shout]\ntime = 3": "layers.shout: .*time",
        "[layers.strict]\ntimes = 3": "layers.strict: times: too many",
        "[layers.checked]\npin = 4321": "layers.checked: pin: Input should be less than or equal to 9",
        "[layers.gone]": "layer 'gone' cannot be loaded",
        "[layers.rerty]": "known are checked, fallback, gone, relax, retry, shout, strict",
    }.items():
        settings_file(wrong)
        with pytest.raises(ConfigurationError, match=complaint) as caught:
            WebSearch(Stub())
        assert "4321" not in str(caught.value)


@pytest.mark.parametrize("names", [["retry"], ["shout", "shout"]], ids=str)
def test_two_layers_of_one_name_are_refused(plugged, names):
    plugged([(name, "Shout") for name in names])
    settings_file("[layers.shout]\n")
    with pytest.raises(ConfigurationError, match=f"layer '{names[0]}' is already registered"):
        WebSearch(Stub())


def test_the_layers_of_the_package_meet_the_port():
    for name in ("fallback", "relax", "retry"):
        layer: Layer = layer_class(name)()
        assert callable(layer.wrap)
        assert isinstance(layer.rank, Rank)


def test_relaxing_leaves_reading_as_it_is():
    assert play(Relax(Stub()).read("https://a.example"), reply()).result.url == "https://a.example"


def test_an_unsupported_option_without_a_name_cannot_be_left_out():
    class Vague(Stub):
        def search(self, query):
            yield from ()
            raise UnsupportedOption("something is not supported")

    with pytest.raises(UnsupportedOption, match="something"):
        play(Relax(Vague()).search(KELP))


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
