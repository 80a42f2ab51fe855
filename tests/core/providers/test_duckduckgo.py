"""The shapes are those of https://html.duckduckgo.com/html/; the pages are invented."""

from __future__ import annotations
import re
from datetime import UTC, datetime

import pytest

from websearch_core.errors import BadResponse, Blocked, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.duckduckgo import DuckDuckGo
from websearch_core.testing import play, reply

DDG = DuckDuckGo()
NEXT = """
<div class="nav-link"><form action="/html/" method="post">
  <input type="submit" value="Next"><input type="hidden" name="q" value="kelp"><input type="hidden" name="s" value="10">
  <input type="hidden" name="dc" value="11"><input type="hidden" name="vqd" value="4-123">
  <input type="hidden" name="kl" value="wt-wt">
</form></div>"""
PREVIOUS = '<div class="nav-link"><form><input type="submit" value="Previous"><input type="hidden" name="s" value="0"></form></div>'


def row(
    href,
    title="Kelp",
    snippet="Brown <b>algae</b> &amp; more",
    kind="web-result",
    extra="",
):
    return f"""
    <div class="result results_links results_links_deep {kind} "><div class="links_main result__body">
      <h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
      <div class="result__extras"><div class="result__extras__url">sea.example {extra}</div></div>
      <a class="result__snippet" href="{href}">{snippet}</a>
    </div></div>"""


def page(*rows, end=""):
    return reply(
        f'<div class="serp__results"><div id="links" class="results">{"".join(rows)}{end}</div></div>'
    )


def found(*answers, **options):
    return play(DDG.search(SearchQuery.of("kelp", **options)), *answers)


def form_of(text="kelp", **options):
    return next(DDG.search(SearchQuery.of(text, **options))).form


@pytest.mark.parametrize(
    ("href", "url"),
    [
        (
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fsea.example%2Fa%3Fb%3Dc%26d%3De&amp;rut=0123",
            "https://sea.example/a?b=c&d=e",
        ),
        (
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fsea.example%2F100%2525&amp;rut=0",
            "https://sea.example/100%25",
        ),
        ("https://sea.example/direct", "https://sea.example/direct"),
    ],
)
def test_the_page_behind_the_redirect_is_decoded_once(href, url):
    assert [url] == [
        result.url for result in found(page(row(href)), limit=1).result.results
    ]


@pytest.mark.parametrize(
    "advertisement",
    [
        row(
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dshop.example"
        ),
        row("https://duckduckgo.com/y.js?ad_domain=shop.example"),
        row("https://shop.example/", kind="result--ad"),
        row("https://shop.example/", kind="web-result result--ad"),
    ],
)
def test_advertisements_are_dropped(advertisement):
    results = found(
        page(advertisement, row("https://sea.example/")), limit=1
    ).result.results

    assert [result.url for result in results] == ["https://sea.example/"]


def test_titles_and_snippets_are_plain_text_and_the_date_is_read():
    dated = row(
        "https://sea.example/",
        title="<b>Kelp</b>",
        extra="<span>&nbsp; 2026-02-28T12:30:00.0000000</span>",
    )
    (result,) = found(page(dated), limit=1).result.results

    assert (result.title, result.snippet) == ("Kelp", "Brown algae & more")
    assert result.published == datetime(2026, 2, 28, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize("status", [200, 202, 403, 429])
@pytest.mark.parametrize(
    "marker",
    [
        '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&cc=botnet">',
        '<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>',
    ],
)
def test_a_challenge_is_blocked_whatever_the_status(status, marker):
    with pytest.raises(Blocked, match="challenge"):
        found(reply(f"<title>DuckDuckGo</title>{marker}", status))


@pytest.mark.parametrize("status", [202, 303, 403, 418])
def test_odd_statuses_are_blocked_too(status):
    with pytest.raises(Blocked):
        found(reply("", status))


def test_no_results_differ_from_a_changed_page():
    assert (
        found(reply('<div class="no-results">No  results.</div>')).result.results == ()
    )
    with pytest.raises(BadResponse, match="unexpected format"):
        found(reply("<title>DuckDuckGo</title><p>Welcome to our new design"))
    with pytest.raises(BadResponse, match="unexpected format"):
        found(
            reply(
                '<div class="result results_links web-result"><h2><a href="https://sea.example/">Kelp</a></h2></div>'
            )
        )


def test_the_row_that_says_that_there_are_no_results_is_none():
    nothing = """
    <div class="result results_links results_links_deep web-result result--no-result">
      <div class="links_main result__body"><div class="no-results__container result__title"><span class='no-results'>
        <div class="no-results__message"><h1>No results found for <strong>&quot;kelp&quot;</strong></h1></div>
      </span></div></div>
    </div>"""
    assert found(page(nothing)).result.results == ()
    assert (
        found(
            page(
                row("https://duckduckgo.com/y.js?ad_domain=a", kind="result--ad"),
                nothing,
            )
        ).result.results
        == ()
    )


def test_the_next_page_is_reached_through_the_form_of_the_last_after_a_pause():
    outcome = found(
        page(row("https://a.example/"), end=NEXT),
        page(row("https://b.example/"), end=PREVIOUS),
        limit=5,
    )

    assert outcome.requests[1].form == {
        "q": "kelp",
        "s": "10",
        "dc": "11",
        "vqd": "4-123",
        "kl": "wt-wt",
    }
    assert outcome.pauses == [1.0]
    assert [result.url for result in outcome.result.results] == [
        "https://a.example/",
        "https://b.example/",
    ]


def test_a_later_page_of_results_is_cut_out_of_the_pages_before_it():
    rows = [row(f"https://sea.example/{n}") for n in range(6)]

    results = found(page(*rows, end=NEXT), limit=3, page=2).result.results

    assert [r.url for r in results] == [
        "https://sea.example/3",
        "https://sea.example/4",
        "https://sea.example/5",
    ]


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ({}, "kl", "wt-wt"),
        ({"country": "GB"}, "kl", "uk-en"),
        ({"country": "JP", "language": "ja"}, "kl", "jp-jp"),
        ({"country": "CH", "language": "fr"}, "kl", "ch-fr"),
        ({"country": "TW", "language": "zh-TW"}, "kl", "tw-tzh"),
        ({"language": "en"}, "kl", "us-en"),
        ({"language": "sv-SE"}, "kl", "se-sv"),
        ({"country": "IS"}, "kl", "is-is"),
        ({"language": "pt-BR"}, "kl", "br-pt"),
        ({"language": "pt"}, "kl", "pt-pt"),
        ({"language": "zh-TW"}, "kl", "tw-tzh"),
        ({"language": "zh-HK"}, "kl", "hk-tzh"),
        ({"language": "zh-Hant"}, "kl", "tw-tzh"),
        ({"language": "zh"}, "kl", "cn-zh"),
        ({"language": "en-GB"}, "kl", "uk-en"),
        ({"language": "en-ZZ"}, "kl", "us-en"),
        ({"language": "es-MX"}, "kl", "mx-es"),
        ({"language": "nb"}, "kl", "no-no"),
        ({"language": "zh", "country": "TW"}, "kl", "tw-tzh"),
        ({"country": "BE"}, "kl", "be-fr"),
        ({"country": "US", "language": "es"}, "kl", "us-es"),
        ({"time_range": "month"}, "df", "m"),
        (
            {"after": "2026-01-01", "before": "2026-02-01"},
            "df",
            "2026-01-01..2026-02-01",
        ),
        ({"safe_search": "strict"}, "kp", "1"),
        ({"allowed_domains": ["a.org"]}, "q", "kelp site:a.org"),
    ],
)
def test_each_option_has_duckduckgos_own_word(options, field, value):
    assert form_of(**options)[field] == value


def test_a_region_it_does_not_have_is_refused():
    with pytest.raises(UnsupportedOption) as caught:
        form_of(country="JP", language="fr")
    assert caught.value.options == ("country", "language")


@pytest.mark.parametrize(
    "options",
    [{"language": "zh-Hans", "country": "TW"}, {"language": "sr"}, {"country": "RS"}],
)
def test_no_other_script_or_place_stands_in(options):
    with pytest.raises(UnsupportedOption) as caught:
        form_of(**options)
    assert set(caught.value.options) == set(options)


def test_after_a_day_means_until_today():
    assert (
        form_of(after="2026-01-01")["df"] == f"2026-01-01..{datetime.now(UTC).date()}"
    )


CHALLENGE = reply(
    '<form id="challenge-form" action="//duckduckgo.com/anomaly.js">', 202
)


def test_a_challenge_on_a_later_page_keeps_the_results_so_far():
    outcome = found(page(row("https://a.example/"), end=NEXT), CHALLENGE, limit=20)

    assert [result.url for result in outcome.result.results] == ["https://a.example/"]
    assert outcome.result.notes == ("duckduckgo failed on a later page (blocked)",)


def test_the_limit_counts_results_inside_the_domains():
    pages = [
        page(
            *(row(f"https://{host}.org/{n}{m}") for host in "ab" for m in range(3)),
            end=NEXT,
        )
        for n in range(3)
    ]
    outcome = found(*pages[:2], limit=5, allowed_domains=["a.org"])

    assert len([one for one in outcome.result.results if "//a.org" in one.url]) == 5


def test_ac1_3_rows_of_the_plain_class_are_read_too():
    advertisement = row("https://shop.example/", kind="result--ad")
    plain = row("https://sea.example/", kind="")
    results = found(page(advertisement, plain), limit=1).result.results

    assert [result.url for result in results] == ["https://sea.example/"]


def test_the_abstract_above_the_results_is_the_answer_and_a_result_with_its_link():
    box = """<div class="zci"><h1 class="zci__heading"><a href="https://en.wikipedia.org/wiki/Kelp">Kelp</a></h1>
    <div class="zci__result" id="zero_click_abstract"><a class="zci__image" href="/i"><img></a> Kelp is a
    <b>brown</b> alga. <a href="https://en.wikipedia.org/wiki/Kelp"><q>More at Wikipedia</q></a></div></div>"""
    response = found(page(box, row("https://sea.example/")), limit=1).result

    assert " ".join(response.answer.split()) == "Kelp is a brown alga."
    (first,) = response.results
    assert (first.title, first.url) == ("Kelp", "https://en.wikipedia.org/wiki/Kelp")
    assert " ".join(first.snippet.split()) == "Kelp is a brown alga."
    again = row("https://en.wikipedia.org/wiki/Kelp")
    both = found(page(box, again, row("https://sea.example/")), limit=5).result.results
    assert [one.url for one in both] == [first.url, "https://sea.example/"]
    assert both[0].snippet != first.snippet
    unlinked = box.replace("zci__heading", "other")
    (other,) = found(
        page(unlinked, row("https://sea.example/")), limit=1
    ).result.results
    assert other.url == "https://sea.example/"
    about_us = '<div id="zero_click_abstract">Your IP address is 192.0.2.1</div>'
    assert (
        found(page(about_us, row("https://sea.example/")), limit=1).result.answer
        is None
    )


def test_corrections_are_suggestions():
    box = '<div id="did_you_mean">Including results for <a href="/html/?q=kelp+soup">kelp <b>soup</b></a></div>'

    assert found(
        page(box, row("https://sea.example/")), limit=1
    ).result.suggestions == ("kelp soup",)


def test_a_query_with_its_domains_may_be_too_long():
    with pytest.raises(UnsupportedOption, match="at most 499 characters"):
        form_of("kelp", blocked_domains=[f"domain-{n}.example" for n in range(40)])


def test_a_bang_is_quoted_because_it_would_redirect():
    assert form_of("!w kelp !")["q"] == '"!w" kelp "!"'


def test_every_region_is_spelt_country_first():
    from websearch_core.providers.duckduckgo import _REGIONS

    assert [
        region
        for region in _REGIONS.values()
        if not re.fullmatch("[a-z]{2}-[a-z]{2,3}", region)
    ] == []


@pytest.mark.parametrize(
    "href",
    [
        "//[",
        "http://[",
        "//duckduckgo.com/l/?uddg=http%3A%2F%2F%5B",
        "//\u2100.example",
    ],
)
def test_an_invalid_link_drops_only_its_result(href):
    response = found(page(row(href), row("https://sea.example/kelp"))).result

    assert [result.url for result in response.results] == ["https://sea.example/kelp"]
