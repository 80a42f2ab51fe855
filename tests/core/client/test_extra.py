"""``extra``, the parameters that a service has beyond the fields of a query: with one
provider, and with several.
"""

from __future__ import annotations

import pytest

from websearch_core import WebSearch
from websearch_core.errors import InvalidOption
from websearch_core.layers import Fallback, Fuse
from websearch_core.models import SearchQuery, SearchResponse, SearchResult
from websearch_core.providers.brave import Brave
from websearch_core.providers.crossref import Crossref
from websearch_core.providers.exa import Exa
from websearch_core.providers.firecrawl import Firecrawl
from websearch_core.providers.hackernews import HackerNews
from websearch_core.providers.openalex import OpenAlex
from websearch_core.providers.parallel import Parallel
from websearch_core.providers.searxng import SearXNG
from websearch_core.providers.serpapi import SerpApi
from websearch_core.testing import SECRET


class Heard:
    """A provider that keeps the extra that reaches it, and finds a page unless it is
    told to find nothing.
    """

    def __init__(self, name, found=True):
        self.name, self.found, self.heard = name, found, []

    def search(self, query, /):
        self.heard.append(dict(query.extra))
        results = (
            (SearchResult(title="Kelp", url="https://kelp.example/"),)
            if self.found
            else ()
        )
        return SearchResponse(query=query.text, results=results, provider=self.name)
        yield  # a flow is a generator


@pytest.mark.parametrize("combine", [Fallback(on_empty=True), Fuse()])
def test_each_of_several_providers_gets_its_own(combine):
    tavily, exa, brave = (
        Heard("tavily", found=False),
        Heard("exa"),
        Heard("brave", found=False),
    )
    extra = {
        "tavily": {"days": 3},
        "exa": {"objective": "x"},
        "linkup": {"depth": "deep"},
    }
    with WebSearch([tavily, brave, exa], combine=combine) as web:
        web.search("kelp", extra=extra)

    assert (tavily.heard, brave.heard, exa.heard) == (
        [{"days": 3}],
        [{}],
        [{"objective": "x"}],
    )


def test_one_provider_may_be_named_and_others_are_ignored():
    exa = Heard("exa")
    with WebSearch(exa, retry=False) as web:
        web.search("kelp", extra={"objective": "x", "contents": {"a": 1}})
        web.search("dulse", extra={"exa": {"objective": "y"}, "tavily": {"days": 3}})

    assert exa.heard == [{"objective": "x", "contents": {"a": 1}}, {"objective": "y"}]


def test_parameters_for_nobody_in_particular_are_refused_with_the_line_to_write():
    line = r"exa, tavily: write extra=\{'exa': \{'days': \.\.\.\}\}"
    with (
        WebSearch([Heard("tavily"), Heard("exa")]) as web,
        pytest.raises(InvalidOption, match=line),
    ):
        web.search("kelp", extra={"days": 3})
    with pytest.raises(InvalidOption, match=line):
        WebSearch(
            [Heard("tavily"), Heard("exa")], search_options={"extra": {"days": 3}}
        )


def sent(provider, extra, **options):
    request = next(provider.search(SearchQuery.of("kelp", extra=extra, **options)))
    return request.json or request.params


def test_it_leaves_the_rest_of_an_object():
    fresh = {"advanced_settings": {"fetch_policy": {"max_age_seconds": 600}}}
    settings = sent(
        Parallel(api_key=SECRET), fresh, allowed_domains=["gov.uk"], after="2026-01-01"
    )["advanced_settings"]

    assert settings == {
        "max_results": 5,
        "source_policy": {"include_domains": ["gov.uk"], "after_date": "2026-01-01"},
        "fetch_policy": {"max_age_seconds": 600},
    }
    contents = sent(
        Exa(api_key=SECRET, text=True),
        {"contents": {"highlights": {"maxCharacters": 9}}},
    )["contents"]
    assert contents == {"highlights": {"maxCharacters": 9}, "text": True}


def test_it_adds_to_lists_and_none_changes_nothing():
    body = sent(
        Exa(api_key=SECRET),
        {"includeDomains": ["b.org"], "numResults": None},
        allowed_domains=["a.org"],
    )

    assert (body["includeDomains"], body["numResults"]) == (["a.org", "b.org"], 5)


@pytest.mark.parametrize(
    ("provider", "name", "value", "expected"),
    [
        (Crossref(), "filter", "type:book", "from-pub-date:2026-01-02,type:book"),
        (
            OpenAlex(),
            "filter",
            "is_oa:true",
            "from_publication_date:2026-01-02,is_oa:true",
        ),
        (
            HackerNews(),
            "numericFilters",
            "points>9",
            "created_at_i>=1767312000,points>9",
        ),
        (SerpApi(api_key=SECRET), "tbs", "sbd:1", "cdr:1,cd_min:01/02/2026,sbd:1"),
        (Firecrawl(api_key=SECRET), "tbs", "sbd:1", "cdr:1,cd_min:01/02/2026,sbd:1"),
    ],
)
def test_a_filter_of_the_query_stays_where_commas_join_filters(
    provider, name, value, expected
):
    assert sent(provider, {name: value}, after="2026-01-02")[name] == expected


def test_categories_replace_only_those_that_nobody_asked_for():
    searxng = SearXNG(base_url="http://127.0.0.1")

    assert sent(searxng, {"categories": "it"})["categories"] == "it"
    assert sent(searxng, {"categories": "it"}, images=True)["categories"] == "images,it"
    assert sent(searxng, {"categories": "it"}, topic="news")["categories"] == "news,it"


@pytest.mark.parametrize(
    ("own", "extra", "goggles"),
    [
        ("$boost=3,site=a.org", {}, "$discard,site=b.org\n$boost=3,site=a.org"),
        (
            "https://goggles.example/a",
            {},
            ["$discard,site=b.org", "https://goggles.example/a"],
        ),
        (
            None,
            {"goggles": "$boost=3,site=a.org"},
            "$discard,site=b.org\n$boost=3,site=a.org",
        ),
    ],
)
def test_a_goggle_joins_that_of_the_domain_filter(own, extra, goggles):
    assert (
        sent(Brave(api_key=SECRET, goggles=own), extra, blocked_domains=["b.org"])[
            "goggles"
        ]
        == goggles
    )
