"""https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list"""

from __future__ import annotations

import pytest

from websearch_core.errors import MissingKey, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.google import Google
from websearch_core.testing import SECRET, play, reply

GOOGLE = Google(api_key=SECRET, cx="engine")


def request_of(**options):
    return next(GOOGLE.search(SearchQuery.of("tides", **options)))


def test_the_key_is_in_a_header_and_not_in_the_url():
    request = request_of()

    assert request.headers == {"X-Goog-Api-Key": SECRET}
    assert request.secret_params == {}


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"time_range": "week"}, {"dateRestrict": "w1"}),
        ({"after": "2026-01-02"}, {"sort": "date:r:20260102:"}),
        ({"before": "2026-01-02"}, {"sort": "date:r::20260102"}),
        ({"country": "GB"}, {"gl": "gb"}),
        ({"language": "zh-TW"}, {"lr": "lang_zh-TW"}),
        ({"language": "nb"}, {"lr": "lang_no"}),
        ({"safe_search": "off"}, {"safe": "off"}),
        ({"safe_search": "moderate"}, {"safe": "active"}),
        ({"allowed_domains": ["a.example", "b.example"]}, {"q": "tides (site:a.example OR site:b.example)"}),
        ({"limit": 10, "page": 10}, {"num": 10, "start": 91}),
    ],
)
def test_each_option_has_googles_own_word(options, sent):
    assert sent.items() <= request_of(**options).params.items()


@pytest.mark.parametrize("options", [{"limit": 10, "page": 11}, {"language": "cy"}, {"topic": "news"}])
def test_what_google_does_not_have_is_refused(options):
    with pytest.raises(UnsupportedOption):
        request_of(**options)


def test_a_limit_takes_pages_of_ten_up_to_a_hundred():
    def page(n):
        items = [{"title": "T", "link": f"https://harbour.example/{n}-{m}"} for m in range(10)]
        return reply({"queries": {"nextPage": [{"startIndex": 1}]}, "items": items})

    outcome = play(GOOGLE.search(SearchQuery.of("tides", limit=120)), *map(page, range(10)))

    assert [request.params.get("start") for request in outcome.requests] == [None, *range(11, 92, 10)]
    assert len(outcome.result.results) == 100
    assert any("2027-01-01" in note for note in outcome.result.notes)
    assert any("at most 100 results" in note for note in outcome.result.notes)


def test_it_needs_the_engine_and_the_key(monkeypatch):
    with pytest.raises(MissingKey, match="GOOGLE_CSE_ID"):
        Google(api_key=SECRET)
    with pytest.raises(MissingKey, match="GOOGLE_API_KEY"):
        Google(cx="engine")
