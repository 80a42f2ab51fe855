"""https://docs.ollama.com/capabilities/web-search"""

from __future__ import annotations

import pytest

from websearch_core.errors import MissingKey, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.ollama import Ollama
from websearch_core.testing import SECRET, play, reply

OLLAMA = Ollama(api_key=SECRET)


def test_a_request_has_the_query_the_number_of_results_and_the_key():
    request = next(OLLAMA.search(SearchQuery.of("kelp", limit=3, extra={"more": 1})))

    assert request.json == {"query": "kelp", "max_results": 3, "more": 1}
    assert request.headers == {"Authorization": f"Bearer {SECRET}"}


@pytest.mark.parametrize(
    "options", [{"allowed_domains": ["a.org"]}, {"time_range": "week"}, {"page": 2}]
)
def test_it_has_no_filters(options):
    with pytest.raises(UnsupportedOption):
        play(OLLAMA.search(SearchQuery.of("kelp", **options)), reply({"results": []}))


def test_it_needs_a_key(monkeypatch):
    monkeypatch.delenv("OLLAMA_API_KEY", raising=False)
    with pytest.raises(MissingKey, match="OLLAMA_API_KEY"):
        Ollama()


def test_a_page_has_its_links():
    page = play(
        OLLAMA.read("https://page.example/a"),
        reply(
            {
                "title": "Kelp",
                "content": "Brown algae.",
                "links": ["https://b.example/", 7, "/c"],
            }
        ),
    ).result

    assert (page.title, page.content, page.links) == (
        "Kelp",
        "Brown algae.",
        ("https://b.example/",),
    )
