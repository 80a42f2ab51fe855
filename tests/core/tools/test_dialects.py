"""What models send is understood if it has one meaning; if not, they read which
arguments there are.
"""

from __future__ import annotations
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from websearch_core.models import describe_problems
from websearch_core.tools import PageArguments, SearchArguments
from websearch_core.tools._fixed import FixedOptions

SEVERAL = FixedOptions.of().arguments(multi_query=True)
URL = "https://sea.example/kelp"
SEARCH_NAMES = "the arguments are query, limit, allowed_domains, time_range"
PAGE_NAMES = "the arguments are url, max_length, offset, query, find, outline"


def refusal(arguments, sent):
    with pytest.raises(ValidationError) as caught:
        arguments.model_validate(sent)
    return describe_problems(caught.value)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"q": "kelp"}, {"query": "kelp"}),
        ({"searchQuery": "kelp"}, {"query": "kelp"}),
        ({"input": "kelp", "k": 3}, {"query": "kelp", "limit": 3}),
        ({"queries": ["kelp"]}, {"query": "kelp"}),
        ({"Query": "kelp", "Num-Results": 3}, {"query": "kelp", "limit": 3}),
        (
            {"query": "kelp", "includeDomains": ["sea.example"]},
            {"query": "kelp", "allowed_domains": ["sea.example"]},
        ),
        (
            {"query": "kelp", "site": "sea.example"},
            {"query": "kelp", "allowed_domains": ["sea.example"]},
        ),
        (
            {"query": "kelp", "excludeDomains": ["sea.example"]},
            {"query": "kelp", "blocked_domains": ["sea.example"]},
        ),
        (
            {"query": "kelp", "freshness": "pd"},
            {"query": "kelp", "time_range": "day"},
        ),
        ({"query": "kelp", "days": 7}, {"query": "kelp", "time_range": "week"}),
        ({"query": "kelp", "limit": 2, "n": 9}, {"query": "kelp", "limit": 2}),
        ({"n": 9, "query": "kelp", "limit": 2}, {"query": "kelp", "limit": 2}),
    ],
    ids=str,
)
def test_other_names_are_understood(sent, meant):
    assert SearchArguments.model_validate(sent) == SearchArguments(**meant)


@pytest.mark.parametrize("name", ["urls", "link", "href", "pageUrl", "id", "input"])
def test_other_names_of_a_url_are_understood(name):
    assert PageArguments.model_validate({name: URL}).url == URL
    assert PageArguments.model_validate({name: [URL]}).url == URL


@pytest.mark.parametrize(
    "sent",
    [
        {"input": {"query": "kelp", "limit": 2}},
        {"arguments": {"q": "kelp", "max_results": 2}},
        {"tool_input": '{"query": "kelp", "limit": "2"}'},
        {"query": {"query": "kelp", "limit": 2}},
        {"query": '{"query": "kelp"}', "limit": 2},
        {"query": '{"parameters": {"query": "kelp", "limit": 2}}'},
        '{"query": "kelp", "limit": 2}',
        {"query": [{"value": "kelp"}], "limit": [2]},
        {"query": {"description": "kelp", "type": "string"}, "limit": {"value": 2}},
    ],
    ids=str,
)
def test_what_is_wrapped_is_understood(sent):
    assert SearchArguments.model_validate(sent) == SearchArguments(
        query="kelp", limit=2
    )


@pytest.mark.parametrize(
    "query",
    ['{"match": {"a": 1}}', '{"limit": 5}', "{broken", "{}", "[kelp]", "site: kelp"],
)
def test_a_query_that_only_looks_like_arguments_is_searched_for(query):
    assert SearchArguments(query=query).query == query


@pytest.mark.parametrize(
    ("sent", "limit"), [(0, 5), (-1, 5), (10**40, 10**40), ("10 results", 10), (2.9, 2)]
)
def test_a_limit_outside_the_bounds_is_no_error(sent, limit):
    arguments = SearchArguments(query="kelp", limit=sent)

    assert arguments.limit == limit
    assert [note.split(":")[0] for note in arguments.notes] == ["limit"] * (
        limit != sent and limit == 5
    )


@pytest.mark.parametrize(
    ("sent", "used"),
    [
        ({"max_length": 10**7}, {"max_length": 100_000}),
        ({"max_length": -1}, {"max_length": 0}),
        ({"offset": -1}, {"offset": 0}),
        ({"max_length": "2,000 characters"}, {"max_length": 2000}),
    ],
)
def test_a_length_outside_the_bounds_is_the_nearest_that_is_inside(sent, used):
    arguments = PageArguments(url=URL, **sent)

    assert arguments.model_copy(update={"notes": []}) == PageArguments(url=URL, **used)
    assert len(arguments.notes) == (0 if isinstance(sent.get("max_length"), str) else 1)


@pytest.mark.parametrize(
    ("sent", "domains"),
    [
        ("sea.example;tide.example", ["sea.example", "tide.example"]),
        ("site:sea.example", ["sea.example"]),
        ("site:sea.example OR site:tide.example", ["sea.example", "tide.example"]),
        (["sea.example, tide.example"], ["sea.example", "tide.example"]),
        ("'sea.example'", ["sea.example"]),
        ('["sea.example"', ["sea.example"]),
        ("sea.example:8443", ["sea.example"]),
        ("https://sea.example:8443/", ["sea.example"]),
        (["https://www.sea.example"], ["www.sea.example"]),
        ([{"domain": "sea.example"}], ["sea.example"]),
        ("`sea.example`", ["sea.example"]),
        ("{}", []),
        ("default", []),
    ],
)
@pytest.mark.parametrize("name", ["allowed_domains", "blocked_domains"])
def test_domains_are_found_in_what_is_around_them(name, sent, domains):
    arguments = SearchArguments(query="kelp", **{name: sent})

    assert (getattr(arguments, name), arguments.notes) == (domains, [])


@pytest.mark.parametrize(
    "sent",
    [
        "sea.example/kelp",
        "ann@sea.example",
        "ftp://sea.example/",
        "sea.example:port",
        "a b:c:d",
    ],
)
def test_what_is_no_domain_is_left_for_the_error(sent):
    assert SearchArguments(query="kelp", allowed_domains=[sent]).allowed_domains


@pytest.mark.parametrize(
    ("query", "text", "domains"),
    [
        ("site:sea.example", "sea.example", ["sea.example"]),
        ("Site:sea.example", "sea.example", ["sea.example"]),
        ("site:sea.example/kelp", "site:sea.example/kelp", []),
        (
            "site:sea.example OR site:tide.example",
            "sea.example tide.example",
            ["sea.example", "tide.example"],
        ),
        ("kelp site:sea.example", "kelp site:sea.example", []),
    ],
)
def test_a_query_of_sites_alone_is_a_filter(query, text, domains):
    arguments = SearchArguments(query=query)

    assert (arguments.query, arguments.allowed_domains) == (text, domains)
    assert len(arguments.notes) == bool(domains)


@pytest.mark.parametrize(
    ("sent", "meant", "notes"),
    [
        ("past week", "week", 0),
        ("last_7_days", "week", 0),
        ("7d", "week", 0),
        ("pw", "week", 0),
        ("qdr:w", "week", 0),
        ("oneWeek", "week", 0),
        ("Past 24 hours", "day", 0),
        ("today", "day", 0),
        ("30 days", "month", 0),
        ("pastMonth", "month", 0),
        ("m6", "year", 1),
        ("past hour", "day", 1),
        ("3 days", "week", 1),
        ("all time", "all", 0),
        ("any", "all", 0),
        ("default", "all", 0),
        (["week"], "week", 0),
    ],
)
def test_words_for_a_time_are_understood(sent, meant, notes):
    arguments = SearchArguments(query="kelp", time_range=sent)

    assert (arguments.time_range, len(arguments.notes)) == (meant, notes)


@pytest.mark.parametrize(
    ("sent", "url"),
    [
        (f"<{URL}>", URL),
        (f"`{URL}`", URL),
        (f'"{URL}"', URL),
        (f"[{URL}]", URL),
        (f"[Kelp]({URL})", URL),
        (f"({URL}_(alga))", f"{URL}_(alga)"),
        (f"URL: {URL}", URL),
        (f"Kelp — {URL}.", URL),
        ("sea.example/kelp", URL),
        ("//sea.example/kelp", URL),
        ("www.sea.example", "https://www.sea.example"),
        ("sea.example:8443/kelp", "https://sea.example:8443/kelp"),
        ("bücher.example/", "https://bücher.example/"),
        (3, "3"),
        ("source 3", "[3]"),
        ("[[3]]", "[3]"),
        ("【3】", "[3]"),
    ],
)
def test_a_url_is_found_in_what_is_around_it(sent, url):
    assert PageArguments(url=sent).url == url


@pytest.mark.parametrize(
    "url",
    [
        f"{URL}?a=(b)",
        f"{URL} and more",
        "https://archive.example/https://sea.example/kelp",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "127.0.0.1:8000/kelp",
        "localhost/kelp",
        "[1][2]",
        "ann@sea.example",
        "the second page",
        "sea.example",
        "kelp.txt",
        f"URL:{URL}",
        f"ftp:{URL}",
        f"\x1f{URL}",
        f"{URL} <{URL}#other>",
        "https://a.example/ https://b.example/",
        r"http://sea.example\@evil.example/",
    ],
)
def test_what_is_a_url_or_none_is_left_as_it_is(url):
    assert PageArguments(url=url).url == url


@pytest.mark.parametrize(
    ("arguments", "sent", "words"),
    [
        (SearchArguments, {}, f"query: is missing; {SEARCH_NAMES}"),
        (SearchArguments, "kelp", f"must be a mapping; {SEARCH_NAMES}"),
        (
            SearchArguments,
            {"query": "kelp", "search_depth": "basic"},
            f"search_depth: not an option; {SEARCH_NAMES}",
        ),
        (
            SearchArguments,
            {"query": ["kelp", "tides"]},
            f"query: one text a call; call the tool once for each; {SEARCH_NAMES}",
        ),
        (
            SearchArguments,
            {"query": "kelp", "limit": "few"},
            f"limit: must be a whole number; {SEARCH_NAMES}",
        ),
        (
            SearchArguments,
            {"query": "kelp", "time_range": "5 years"},
            (
                "time_range: must be 'all', 'day', 'week', 'month' or 'year'; "
                f"{SEARCH_NAMES}"
            ),
        ),
        (
            PageArguments,
            {"urls": [URL, "https://sea.example/tides"]},
            f"url: one page a call; call the tool once for each; {PAGE_NAMES}",
        ),
        (
            SearchArguments,
            {"query": "kelp", "queries": ["tides"]},
            f"queries: not an argument; write query; {SEARCH_NAMES}",
        ),
        (
            PageArguments,
            {"url": URL, "format": "html"},
            f"format: not an option; {PAGE_NAMES}",
        ),
        (
            SEVERAL,
            {"queries": list("abcdef")},
            (
                "queries: must have at most 5 items, not 6; the arguments are queries, "
                "limit, allowed_domains, time_range"
            ),
        ),
    ],
    ids=str,
)
def test_what_has_no_single_meaning_is_answered_with_the_arguments(
    arguments, sent, words
):
    assert refusal(arguments, sent) == words


def test_what_is_fixed_is_recognized_by_its_other_names():
    arguments = FixedOptions.of({"country": "GB"}).arguments()

    assert len(arguments(query="kelp", region="DE").notes) == 1


def test_an_argument_of_a_framework_neither_hides_nor_comes_from_inside():
    class Injecting(SearchArguments):
        hidden = SearchArguments.hidden | {"runtime"}
        injected = frozenset({"runtime"})
        runtime: object = None

    runtime = object()
    sent = {"input": {"query": "kelp", "runtime": "of a model"}, "runtime": runtime}

    assert Injecting.model_validate(sent).query == "kelp"
    assert Injecting.model_validate(sent).runtime is runtime


def test_the_schemas_of_the_two_tools_are_short():
    schemas = [
        json.dumps(arguments.model_json_schema())
        for arguments in (SearchArguments, PageArguments)
    ]

    assert sum(map(len, schemas)) < 1_300


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=10), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(
    "query limit allowed_domains time_range url q urls offset notes x".split()
)


@given(st.dictionaries(names, anything, max_size=4))
def test_whatever_is_sent_is_understood_or_refused(sent):
    for arguments in (SearchArguments, PageArguments, SEVERAL):
        try:
            understood = arguments.model_validate(sent)
        except ValidationError as error:
            assert "; the arguments are " in describe_problems(error)
        else:
            assert getattr(understood, arguments.main)
