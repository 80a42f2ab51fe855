"""https://www.mediawiki.org/wiki/API:Search"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    BadRequest,
    Blocked,
    RateLimited,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.wikipedia import Wikipedia
from websearch_core.testing import play, reply


def request_of(provider=None, **options):
    return next((provider or Wikipedia()).search(SearchQuery.of("tides", **options)))


@pytest.mark.parametrize(
    ("language", "wiki"),
    [
        ("de", "de"),
        ("de-CH", "de"),
        ("nb", "no"),
        ("nn", "nn"),
        ("zh-Hant-TW", "zh"),
        ("zh-CN", "zh"),
        ("sr-Latn", "sr"),
    ],
)
def test_the_language_chooses_the_wikipedia(language, wiki):
    assert (
        request_of(language=language).url == f"https://{wiki}.wikipedia.org/w/api.php"
    )


def test_a_language_without_a_wikipedia_is_refused():
    with pytest.raises(UnsupportedOption):
        request_of(language="tlh")


def test_another_wiki_has_one_language():
    harbour = Wikipedia(base_url="https://wiki.harbour.example")

    assert request_of(harbour).url == "https://wiki.harbour.example/w/api.php"
    with pytest.raises(UnsupportedOption):
        request_of(harbour, language="de")


def test_a_refusal_names_the_contact():
    with pytest.raises(Blocked, match=r"who runs them: WebSearch\(http=Http\(contact="):
        play(
            Wikipedia().search(SearchQuery.of("tides")),
            reply("Please set a user-agent", 403),
        )


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ratelimited", RateLimited),
        ("maxlag", Unavailable),
        ("missingparam", BadRequest),
        (None, BadRequest),
    ],
)
def test_errors_come_with_status_200(code, kind):
    with pytest.raises(kind):
        play(
            Wikipedia().search(SearchQuery.of("tides")),
            reply({"error": {"code": code, "info": "no"}}),
        )


def test_old_and_partial_answers_are_understood():
    hit = {"ns": 0, "title": "Tide", "snippet": None}
    body = {"batchcomplete": "", "query": {"search": [hit]}}
    (result,) = play(
        Wikipedia().search(SearchQuery.of("tides")), reply(body)
    ).result.results

    assert (result.url, result.snippet, result.published) == (
        "https://en.wikipedia.org/wiki/Tide",
        "",
        None,
    )
