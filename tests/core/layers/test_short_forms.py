"""Layers as they are written: with their main option first, by a short form, and around
a provider by hand.
"""

import pytest

from websearch_core.errors import ConfigurationError
from websearch_core.layers import Budget, Cache, Fallback, Fuse, Retry, Robots, Throttle
from websearch_core.layers._stack import find_combination


class Limiter:
    def acquire(self):
        return True


LIMITER = Limiter()


@pytest.mark.parametrize(
    ("kind", "short", "layer"),
    [
        (Retry, 5, Retry(attempts=5)),
        (Retry, Retry(wait_initial=0), Retry(wait_initial=0)),
        (Cache, True, Cache()),
        (Cache, 600, Cache(max_age=600)),
        (Cache, "a.db", Cache(location="a.db")),
        (Cache, "redis://localhost", Cache(location="redis://localhost")),
        (Budget, "1 USD/day", Budget(limit="1 USD/day")),
        (Budget, ["1 USD/day", "5 calls"], Budget(limit=["1 USD/day", "5 calls"])),
        (Throttle, 0.5, Throttle(requests_per_second=0.5)),
        (Throttle, "redis://localhost", Throttle(shared="redis://localhost")),
        (Throttle, LIMITER, Throttle(rate_limiter=LIMITER)),
        (Robots, True, Robots()),
        (Robots, "AcmeBot", Robots(user_agent="AcmeBot")),
    ],
)
def test_each_layer_understands_its_short_forms(kind, short, layer):
    assert kind.of(short) == layer


def test_the_main_option_of_a_layer_comes_first():
    assert Retry(5) == Retry(attempts=5)
    assert Cache("a.db") == Cache(location="a.db")
    assert Budget("1 USD/day") == Budget(limit="1 USD/day")
    assert Throttle(0.5) == Throttle(requests_per_second=0.5)


def test_a_word_says_how_providers_are_combined():
    assert find_combination("first") == Fallback()
    assert find_combination("until_results") == Fallback(on_empty=True)
    assert find_combination("fuse") == Fuse()
    assert find_combination(mine := Fuse(k=60)) is mine


@pytest.mark.parametrize("wrong", ["best", "", Retry(5), None])
def test_another_word_is_answered_with_the_known_ones(wrong):
    with pytest.raises(
        ConfigurationError,
        match="must be first, until_results, fuse, or a layer such as",
    ):
        find_combination(wrong)


@pytest.mark.parametrize(
    ("kind", "short", "complaint"),
    [
        (Retry, True, "attempts: must be a whole number"),
        (Cache, -1, "max_age: must be a number"),
        (Cache, [], "location: must be a path"),
        (Throttle, object(), "rate_limiter: must be an object with a method acquire"),
        (Robots, 1, "user_agent: must be a product token"),
    ],
)
def test_a_wrong_short_form_is_refused_as_the_option_that_it_is(kind, short, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        kind.of(short)
