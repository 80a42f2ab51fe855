"""https://www.mojeek.com/support/api/search/request_parameters.html"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    AuthenticationError,
    QuotaExhausted,
    RateLimited,
    ServiceError,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.mojeek import Mojeek
from websearch_core.testing import SECRET, play, reply

MOJEEK = Mojeek(api_key=SECRET)


def request_of(**options):
    return next(MOJEEK.search(SearchQuery.of("tides", **options)))


def test_the_key_is_in_the_url_and_nowhere_that_shows():
    request = request_of()

    assert request.secret_params == {"api_key": SECRET}
    assert SECRET not in f"{request!r}{request.url}{request.params}{MOJEEK!r}"


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"after": "2026-01-02"}, {"since": "20260102"}),
        # Mojeek leaves out the day itself
        ({"before": "2026-01-31"}, {"before": "20260201"}),
        ({"country": "GB"}, {"rb": "GB", "rbb": 10}),
        ({"language": "de-AT"}, {"lb": "DE", "lbb": 100}),
        ({"safe_search": "moderate"}, {"safe": 1}),
        ({"safe_search": "off"}, {"safe": 0}),
        ({"allowed_domains": ["a.example"]}, {"q": "tides", "site": "a.example"}),
        ({"blocked_domains": ["b.example"]}, {"q": "tides -site:b.example"}),
        ({"limit": 10, "page": 3}, {"t": 10, "s": 21}),
    ],
)
def test_each_option_has_mojeeks_own_word(options, sent):
    assert sent.items() <= request_of(**options).params.items()


def test_it_searches_one_domain_or_all():
    with pytest.raises(UnsupportedOption):
        request_of(allowed_domains=["a.example", "b.example"])


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("ERROR: Daily Limit Reached", QuotaExhausted),
        ("ERROR: Invalid API Key", AuthenticationError),
        ("ERROR: Too many requests", RateLimited),
        ("ERROR: Something else", ServiceError),
    ],
)
def test_an_error_comes_with_status_200(words, kind):
    with pytest.raises(ServiceError) as caught:
        play(
            MOJEEK.search(SearchQuery.of("tides")),
            reply({"response": {"status": words}}),
        )
    assert type(caught.value) is kind
    assert caught.value.detail == words
    assert "Something" not in str(caught.value)


@pytest.mark.parametrize(
    ("stamp", "year"),
    [
        (1772600767, 2026),
        ("1772600767", 2026),
        ("2026-03-04", 2026),
        (0, None),
        ("0", None),
        ("", None),
        (None, None),
    ],
)
def test_a_date_may_be_a_number_a_text_or_unknown(stamp, year):
    item = {"url": "https://harbour.example/", "title": "T", "pdate": stamp}
    body = {"response": {"status": "OK", "results": [item]}}
    (result,) = play(MOJEEK.search(SearchQuery.of("tides")), reply(body)).result.results

    assert (result.published and result.published.year) == year
