"""Tables of codes that several services know."""

from __future__ import annotations
import re

from websearch_core.provider._codes import COUNTRIES, COUNTRY_NAMES, LANGUAGES
from websearch_core.provider._languages import match_language
from websearch_core.provider.google import GOOGLE_LANGUAGES


def test_there_are_all_countries_of_iso_3166():
    assert len(COUNTRIES) == 249
    assert [code for code in COUNTRIES if not re.fullmatch("[A-Z]{2}", code)] == []
    assert set(COUNTRY_NAMES) <= set(COUNTRIES)
    assert COUNTRY_NAMES["AE"] == "united arab emirates"


def test_languages_are_known_in_every_script():
    assert {
        match_language(tag, LANGUAGES)
        for tag in ("zh", "zh-TW", "zh-Hant-HK", "zh-Hans")
    } == {"zh"}
    assert {match_language(tag, LANGUAGES) for tag in ("sr", "sr-Latn")} == {"sr"}
    assert match_language("tlh", LANGUAGES) is None


def test_google_has_words_of_its_own():
    found = {
        tag: match_language(tag, GOOGLE_LANGUAGES)
        for tag in ("he", "zh-TW", "zh-CN", "pt-BR", "nb", "en-GB")
    }

    assert found == {
        "he": "iw",
        "zh-TW": "zh-tw",
        "zh-CN": "zh-cn",
        "pt-BR": "pt-br",
        "nb": "no",
        "en-GB": "en",
    }
