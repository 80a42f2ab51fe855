"""Pages of results, walked to their end: nothing is lost and nothing repeated, whatever
the providers and layers.
"""

from __future__ import annotations
import random

import pytest

from websearch_core.flow import run
from websearch_core.layers import Fuse, Rerank
from websearch_core.models import SearchQuery, SearchResponse, SearchResult
from websearch_core.provider import Limits, collect_pages
from websearch_core.provider._results import in_domains

MANY = 90


class Shelf:
    """A provider with a list of results, which it returns so many at a time, and no
    more than so many.
    """

    def __init__(self, name, pages, per_request, most):
        self.name, self.pages = name, pages
        self.limits = Limits(results_per_request=per_request) | (
            {"results": most} if most else {}
        )
        self.returned = set()

    def search(self, query):
        found = yield from collect_pages(query, self, self._page)
        self.returned |= {one.url for one in found.results}
        return found

    def _page(self, number, size):
        first = number * size
        results = tuple(
            SearchResult(
                title="x" * (sum(map(ord, page)) % 7), url=page, provider=self.name
            )
            for page in self.pages[first : first + size]
        )
        return SearchResponse(
            query="algae", results=results, provider=self.name
        ), first + size < len(self.pages)
        yield


def draw_shelf(rng, name, web):
    pages = rng.sample(web, rng.randrange(len(web)))
    per_request = rng.choice([7, 10, 20, 50])
    return Shelf(name, pages, per_request, rng.choice([None, None, 40]))


def draw_layers(rng, shelves):
    """Return one provider made of *shelves*: fused, reranked, or both in any order."""

    def rerank(inner):
        return Rerank(
            lambda _, texts: [len(text) for text in texts],
            depth=rng.choice([5, 20, 30]),
            weight=rng.choice([1, 0.3]),
        )(inner)

    inner = tuple(rerank(one) if rng.random() < 0.2 else one for one in shelves)
    fused = Fuse(results_per_provider=rng.choice([5, 20, 30]), k=rng.choice([0, 10]))(
        *inner
    )
    return rng.choice([fused, rerank(fused), rerank(shelves[0])])


def walk(provider, limit, blocked):
    """Return the pages until one is empty, each without what is outside the domain
    filter.
    """
    pages = []
    for number in range(1, 1000):
        query = SearchQuery(
            text="algae", limit=limit, page=number, blocked_domains=blocked
        )
        found = run(provider.search(query), None)
        pages.append([one.url for one in found.results if in_domains(one.url, query)])
        if not pages[-1]:
            return pages[:-1]
    raise AssertionError("it never ends")


@pytest.mark.parametrize("seed", range(24))
def test_pages_of_merged_and_reordered_results_lose_nothing_and_repeat_nothing(seed):
    rng = random.Random(seed)
    blocked = rng.choice([[], ["spam.example"]])
    web = [
        f"https://{rng.choice(['spam', 'sea', 'tide'])}.example/{n}"
        for n in range(MANY)
    ]
    shelves = [draw_shelf(rng, name, web) for name in "abc"[: rng.randint(1, 3)]]
    provider, limit = draw_layers(rng, shelves), rng.choice([3, 10, 15, 25])
    pages = walk(provider, limit, blocked)
    walked = [url for page in pages for url in page]

    assert len(walked) == len(set(walked))
    query = SearchQuery(text="algae", blocked_domains=blocked)
    there = {
        url for shelf in shelves for url in shelf.returned if in_domains(url, query)
    }
    assert set(walked) == there
    assert [len(page) for page in pages[:-1] if len(page) != limit] == []
