"""https://about.marginalia-search.com/article/api/"""

from __future__ import annotations

import pytest

from websearch_core.errors import UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.marginalia import Marginalia
from websearch_core.testing import SECRET, play, reply


def request_of(provider=None, **options):
    return next((provider or Marginalia()).search(SearchQuery.of("tides", **options)))


def test_without_a_key_it_uses_the_one_that_all_share():
    assert request_of().headers == {"API-Key": "public"}
    assert request_of(Marginalia(api_key=SECRET)).headers == {"API-Key": SECRET}


@pytest.mark.parametrize(("safe", "nsfw"), [("off", 0), ("moderate", 1), ("strict", 1)])
def test_safe_search_is_a_number(safe, nsfw):
    assert request_of(safe_search=safe).params["nsfw"] == nsfw


def test_it_searches_one_domain_or_all():
    assert (
        request_of(allowed_domains=["a.example"]).params["query"]
        == "tides site:a.example"
    )
    with pytest.raises(UnsupportedOption) as caught:
        request_of(allowed_domains=["a.example", "b.example"])
    assert caught.value.options == ("allowed_domains",)


def test_answers_without_a_count_of_pages_end_with_a_short_one():
    hits = [{"url": f"https://harbour.example/{n}", "title": "T"} for n in range(103)]
    pages = [reply({"results": hits[:100]}), reply({"results": hits[100:]})]
    outcome = play(Marginalia().search(SearchQuery.of("tides", limit=200)), *pages)

    assert len(outcome.result.results) == 103
