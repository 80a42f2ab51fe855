"""Providers made of providers, played without a network."""

from __future__ import annotations

import pytest

from websearch_core.deadline import time_limit
from websearch_core.errors import (
    AllProvidersFailed,
    AuthenticationError,
    Blocked,
    QuotaExhausted,
    RateLimited,
    Unavailable,
    UnsafeURL,
    UnsupportedOption,
    WebSearchError,
)
from websearch_core.flow import Request
from websearch_core.layers import Fallback, Relax, Retry
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.testing import play, reply

KELP = SearchQuery.of("kelp")


class Stub:
    """A provider whose flow makes one request and finds nothing; what is thrown at it comes out again."""

    def __init__(self, name="stub", options=frozenset()):
        self.name, self.options = name, options

    def search(self, query):
        if unknown := sorted(query.asked() - self.options):
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
            from websearch_core.deadline import time_left

            shares.append(time_left())
            return (yield from super().search(query))

    with time_limit(30):
        play(Fallback((Timed("a"), Timed("b"), Timed("c"))).search(KELP), Unavailable(""), Unavailable(""), reply())
    assert [round(share) for share in shares] == [10, 15, 30]


def test_what_cannot_be_expressed_is_left_out_and_noted():
    query = SearchQuery.of("kelp", time_range="week", country="GB", language="en")
    response = play(Relax(Stub(options={"language"})).search(query), reply()).result

    assert response.notes == ("stub does not support country, time_range: ignored",)


def test_layers_compose():
    chain = Fallback((Retry(Stub("a"), attempts=2), Relax(Retry(Stub("b")))))
    outcome = play(chain.search(SearchQuery.of("kelp", page=2)), reply())

    assert chain.name == "a|b"
    assert outcome.result.provider == "b"
    assert outcome.result.notes == (
        "b does not support page: ignored",
        "a failed (unsupported_option); answered by b",
    )


def test_relaxing_leaves_reading_as_it_is():
    assert play(Relax(Stub()).read("https://a.example"), reply()).result.url == "https://a.example"


def test_an_unsupported_option_without_a_name_cannot_be_left_out():
    class Vague(Stub):
        def search(self, query):
            yield from ()
            raise UnsupportedOption("something is not supported")

    with pytest.raises(UnsupportedOption, match="something"):
        play(Relax(Vague()).search(KELP))
