"""The comparison of what adapters send with what the services' SDKs accept, against
SDKs of our own.
"""

from __future__ import annotations
import re
import sys
from datetime import UTC, datetime

import pytest

from tests.cassettes import drift, vocabulary

TYPES = """
Category = Literal["company", "news", {more}]
class SearchType(str, Enum):
    AUTO = "auto"
    NEURAL = "neural"
class Exa:
    def search(self, query: str, *, num_results: int, category: Category, type: str, moderation: bool): ...
class Other:
    def search(self, text: str): ...
"""


@pytest.fixture
def sdk(tmp_path):
    """Return a function that writes the module of an SDK."""
    (tmp_path / "exa_py").mkdir()

    def write(text):
        (tmp_path / "exa_py" / "api.py").write_text(text, "utf-8")
        return tmp_path

    return write


def test_words_that_the_sdk_does_not_accept_and_words_that_are_new_are_found(sdk):
    found = vocabulary.check("exa", sdk(TYPES.replace("{more}", '"paper", "people"')))

    assert {
        "category: 'publication' is not accepted",
        "type: 'deep' is not accepted",
    } <= set(found.changed)
    assert "category: 'news' is not accepted" not in found.changed
    assert found.new == ["category: 'paper' is new, or never sent"]
    assert "includeDomains is not in the SDK" in found.missing
    assert not {"numResults is not in the SDK", "query is not in the SDK"} & set(
        found.missing
    )


def test_new_parameters_are_listed(sdk):
    text = "class Exa:\n    def search(self, query, objective): ..."
    new = vocabulary.check("exa", sdk(text)).new

    assert "objective is new, or never sent" in new


_WARNINGS = """# the type `auto` is legacy; write lite
SearchType = Literal['auto']
Category = Literal['news']
class Exa:
    category: str
    '''Will be removed. Write topic.'''
    feed: str
    '''Deprecated.'''
    def search(self, query, text=legacy_text):
        '''Search.

        type: Which. `deep` is deprecated; use lite.
        The class Index is deprecated.
        '''
"""


@pytest.mark.parametrize("version", ["", "99.1.0"])
def test_what_an_sdk_of_another_version_says_of_our_words_is_listed(sdk, version):
    folder = sdk(_WARNINGS)
    if version:
        _install(folder, version)

    assert _list_warnings(folder) == [
        "the SDK says: the type `auto` is legacy",
        "the SDK says: category: Will be removed",
        "the SDK says: `deep` is deprecated",
    ]


def test_what_the_sdk_said_when_its_adapter_was_compared_is_no_news(sdk):
    folder = sdk(_WARNINGS)
    _install(folder, vocabulary.packages()["exa"].partition(" ")[2])

    assert _list_warnings(folder) == []


def _install(folder, version):
    facts = folder / f"exa_py-{version}.dist-info" / "METADATA"
    facts.parent.mkdir()
    facts.write_text(f"Metadata-Version: 2.1\nName: exa-py\nVersion: {version}\n")


def _list_warnings(folder):
    new = vocabulary.check("exa", folder).new
    return [line for line in new if line.startswith("the SDK says:")]


def test_the_age_of_a_list_of_prices_is_said(capsys, monkeypatch):
    monkeypatch.setattr(drift, "now", lambda: datetime(2026, 11, 30, tzinfo=UTC))
    drift._print_age("tavily")
    drift._print_age("duckduckgo")

    assert capsys.readouterr().out == (
        "tavily: its prices are of 2026-06, 5 months ago\n"
    )


def test_a_place_that_an_sdk_no_longer_has_is_a_change(sdk):
    found = vocabulary.check("exa", sdk("class Exa: ..."))

    assert found.changed == [
        "type: the SDK no longer says at exa_py/api:SearchType what it accepts",
        "category: the SDK no longer says at exa_py/api:Category what it accepts",
        "the SDK has no exa_py/api:Exa.search any more",
    ]


def test_a_function_with_overloads_accepts_what_any_of_them_does(sdk):
    text = 'def f(kind: Literal["a"]): ...\ndef f(kind: Literal["b"]): ...\nWORDS = {"c", "d"}'

    assert vocabulary.accepted(sdk(text), "exa_py/api:f.kind") == {"a", "b"}
    assert vocabulary.accepted(sdk(text), "exa_py/api:WORDS") == {"c", "d"}


@pytest.mark.parametrize(
    ("name", "key", "word"),
    [
        ("tavily", "topic", "finance"),
        ("exa", "type", "lite"),
        ("you", "country", "DE"),
        ("firecrawl", "categories", "gov"),
    ],
)
def test_what_options_and_topics_send_is_found_by_sending_it(name, key, word):
    assert word in vocabulary.sent(name)[key]


def test_each_adapter_that_names_an_sdk_says_where_that_has_its_words():
    assert vocabulary.packages().keys() == vocabulary.PLACES.keys()
    assert vocabulary.packages()["exa"].startswith("exa-py ")


def test_it_is_compared_every_week():
    workflow = (
        vocabulary.SDKS.parents[1] / ".github" / "workflows" / "weekly.yml"
    ).read_text("utf-8")

    assert re.search(r'cron: "\d+ \d+ \* \* [0-6]"', workflow)
    # what is downloaded is not there for a secret to meet
    assert "- run: make sdks\n      - run: make drift\n        env:\n" in workflow


def test_an_sdk_that_was_not_downloaded_has_not_changed(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(vocabulary, "SDKS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["drift", "exa"])
    monkeypatch.setattr(drift.tapes, "FOLDER", tmp_path)

    assert drift.main() == 2
    assert capsys.readouterr().out.startswith(
        "exa: exa-py nothing (its adapter was compared with 2.28.0): "
        "not reached: its SDK was not downloaded\n"
    )


def test_make_drift_fails_if_a_word_is_gone(sdk, monkeypatch, capsys):
    folder = sdk(TYPES.replace("{more}", '"paper"'))
    (folder / "exa_py-9.0.dist-info").mkdir()
    (folder / "exa_py-9.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: exa-py\nVersion: 9.0\n"
    )
    monkeypatch.setattr(vocabulary, "SDKS", folder)
    monkeypatch.setattr(sys, "argv", ["drift", "exa"])
    monkeypatch.setattr(drift.tapes, "FOLDER", folder)  # without cassettes

    assert drift.main() == 1
    shown = capsys.readouterr().out
    assert "exa: exa-py 9.0 (its adapter was compared with 2.28.0): changed\n" in shown
    assert "  category: 'publication' is not accepted\n" in shown
