"""Errors are values that programs can rely on."""

from __future__ import annotations
import pickle

import pytest

from websearch_core import errors
from websearch_core.errors import (
    AllProvidersFailed,
    RateLimited,
    ServiceError,
    Unavailable,
    WebSearchError,
)

ALL = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, WebSearchError)
]
SINGLE = [kind for kind in ALL if kind is not AllProvidersFailed]


def test_every_error_has_a_code_of_its_own():
    codes = [kind.code for kind in ALL]

    assert len(set(codes)) == len(codes)
    assert [
        code for code in codes if not (code.isidentifier() and code.islower())
    ] == []


@pytest.mark.parametrize("kind", SINGLE)
def test_every_error_survives_pickling(kind):
    original = kind("what happened")
    original.provider = "brave"
    copy = pickle.loads(pickle.dumps(original))

    assert (type(copy), copy.message, copy.provider) == (kind, "what happened", "brave")


def test_a_service_error_keeps_its_facts_when_pickled():
    copy = pickle.loads(
        pickle.dumps(RateLimited("slow", provider="brave", status=429, retry_after=3))
    )

    assert (copy.provider, copy.status, copy.retry_after, copy.temporary) == (
        "brave",
        429,
        3,
        True,
    )


def test_a_group_keeps_its_causes_when_pickled_and_when_split():
    group = AllProvidersFailed(
        "all failed", [RateLimited("slow", retry_after=3), Unavailable("down")]
    )
    copy = pickle.loads(pickle.dumps(group))

    assert [str(cause) for cause in copy.exceptions] == ["slow", "down"]
    assert (str(copy), copy.retry_after, copy.temporary) == ("all failed", 3, True)
    try:
        raise group
    except* RateLimited as part:
        assert isinstance(part, AllProvidersFailed)
    except* Unavailable:
        pass


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.ConfigurationError, ValueError),
        (errors.UnknownProvider, LookupError),
        (errors.UnsafeURL, ValueError),
        (errors.AuthenticationError, PermissionError),
        (errors.Unavailable, ConnectionError),
        (errors.TimedOut, TimeoutError),
        (errors.PageNotFound, LookupError),
        (errors.AllProvidersFailed, ExceptionGroup),
    ],
)
def test_each_is_also_the_builtin_that_people_catch(kind, builtin):
    assert issubclass(kind, builtin)
    assert issubclass(kind, WebSearchError)


def test_only_what_may_recover_is_temporary():
    temporary = {
        kind for kind in ALL if issubclass(kind, ServiceError) and kind.temporary
    }

    assert temporary == {errors.RateLimited, errors.Unavailable, errors.TimedOut}
