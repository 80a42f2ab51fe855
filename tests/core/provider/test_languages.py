"""Countries and languages, in the codes of a service."""

from __future__ import annotations

import pytest

from websearch_core.errors import UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.provider import check_options, codes, find_country, find_language
from websearch_core.provider._languages import match_language


class Harbour:
    name = "harbour"
    options = frozenset({"country", "language"})
    countries = codes("DE US GB=uk TW=Taiwan+R.O.C.")
    languages = codes("de en en-gb ja=jp no=nb pt-pt pt-br zh-hans zh-hant he tl=fil")


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("de", "de"), ("DE", "de"), ("de-AT", "de"), ("de-Latn-AT-1996", "de"), ("ja", "jp"), ("ja-JP", "jp"),
        ("en", "en"), ("en-US", "en"), ("en-GB", "en-gb"), ("nb-NO", "nb"), ("no", "nb"), ("nn", None),
        ("pt", "pt-pt"), ("pt-BR", "pt-br"), ("pt-AO", "pt-pt"), ("iw", "he"), ("fil", "fil"),
        ("zh", "zh-hans"), ("zh-CN", "zh-hans"), ("zh-SG", "zh-hans"), ("zh-TW", "zh-hant"), ("zh-HK", "zh-hant"),
        ("zh-Hant-TW", "zh-hant"), ("zh-Hans-HK", "zh-hans"), ("cmn-Hant", "zh-hant"), ("zh-Latn", None),
        ("el", None), ("ja-Latn", None), ("de-Cyrl", None), ("de-u-co-phonebk", "de"),
    ],
)  # fmt: skip
def test_a_tag_finds_the_code_with_its_language_and_script(tag, code):
    assert match_language(tag, Harbour.languages) == code


@pytest.mark.parametrize("tag", ["zh-TW", "zh-Hant", "sr-Latn", "uz-Cyrl"])
def test_a_language_without_its_script_is_not_enough(tag):
    assert match_language(tag, codes("zh sr uz")) is None


def test_the_country_serves_as_the_region():
    def language(tag, country):
        return match_language(tag, Harbour.languages, country=country)

    assert language("pt", "BR") == "pt-br"
    assert language("zh", "TW") == "zh-hant"
    assert language("zh-Hans", "TW") == "zh-hans"
    assert language("pt-PT", "BR") == "pt-pt"


def test_a_query_gets_the_service_s_own_codes():
    query = SearchQuery.of("kelp", country="GB", language="en-GB")
    assert find_country(query, Harbour()) == "uk"
    assert find_language(query, Harbour()) == "en-gb"
    assert find_country(SearchQuery.of("kelp", country="UK"), Harbour()) == "uk"
    assert (
        find_country(SearchQuery.of("kelp", country="TW"), Harbour()) == "Taiwan R.O.C."
    )
    assert find_country(SearchQuery.of("kelp"), Harbour()) is None


@pytest.mark.parametrize(("option", "value"), [("country", "FR"), ("language", "fr")])
def test_what_a_service_does_not_know_is_refused_before_it_is_sent(option, value):
    with pytest.raises(
        UnsupportedOption, match=f"harbour does not know the {option} {value}"
    ) as caught:
        check_options(SearchQuery.of("kelp", **{option: value}), Harbour())

    assert caught.value.options == (option,)
