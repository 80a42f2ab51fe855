"""https://api.crossref.org/swagger-ui/index.html"""

from __future__ import annotations

import pytest

from websearch_core.models import SearchQuery
from websearch_core.providers.crossref import Crossref
from websearch_core.testing import SECRET, play, reply


def request_of(provider=None, **options):
    return next((provider or Crossref()).search(SearchQuery.of("tides", **options)))


def result_of(**item):
    body = {"message": {"total-results": 1, "items": [{"DOI": "10.5555/1", **item}]}}
    (result,) = play(
        Crossref().search(SearchQuery.of("tides")), reply(body)
    ).result.results
    return result


def test_the_token_of_members_is_sent():
    assert request_of().headers == {}
    assert request_of(Crossref(api_key=SECRET)).headers == {
        "Crossref-Plus-API-Token": f"Bearer {SECRET}"
    }


def test_dates_are_filters():
    assert request_of(after="2026-01-02", before="2026-02-03").params["filter"] == (
        "from-pub-date:2026-01-02,until-pub-date:2026-02-03"
    )


@pytest.mark.parametrize(
    ("issued", "day", "words"),
    [
        ({"date-parts": [[2026, 3, 4]]}, "2026-03-04", ""),
        ({"date-parts": [[2026, 3]]}, None, "2026-03"),
        ({"date-parts": [[2026]]}, None, "2026"),
        ({"date-parts": [[None]]}, None, ""),
        ({"date-parts": []}, None, ""),
        ({"date-parts": None}, None, ""),
        ({"date-parts": [[2026, 13, 40]]}, None, ""),
        (None, None, ""),
        ("2026", None, ""),
    ],
)
def test_a_date_may_be_incomplete_or_missing(issued, day, words):
    result = result_of(issued=issued)

    assert (result.published and str(result.published.date())) == day
    assert result.published_text == words


@pytest.mark.parametrize(
    ("author", "names"),
    [
        (
            [
                {"given": "Ada", "family": "Ferry"},
                {"family": "Ebb"},
                {"name": "Pier Group"},
                {},
            ],
            "Ada Ferry, Ebb, Pier Group",
        ),
        ([], None),
        ("Ada Ferry", None),
        ([None, 3], None),
    ],
)
def test_authors_are_people_and_organizations(author, names):
    assert result_of(author=author).author == names


def test_a_title_may_be_a_text_a_list_or_missing():
    assert result_of(title="Tides").title == "Tides"
    assert (
        result_of(title=[""], **{"container-title": ["Journal of Tides"]}).title
        == "Journal of Tides"
    )
    assert result_of(title=None).title == "https://doi.org/10.5555/1"


def test_titles_and_abstracts_keep_no_markup():
    result = result_of(
        title=[
            "Drift of <i>Laminaria</i> at <mml:math><mml:mn>3</mml:mn></mml:math> m"
        ],
        abstract="<jats:title>Abstract</jats:title><jats:sec><title>Aim</title><p>Kelp <italic>drifts</italic>.</p></jats:sec>",
    )

    assert result.title == "Drift of Laminaria at 3 m"
    assert result.snippet.split() == ["Aim", "Kelp", "drifts", "."]
