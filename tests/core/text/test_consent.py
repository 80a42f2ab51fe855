"""The boxes of frameworks for consent, by their names."""

from __future__ import annotations

import pytest

from websearch_core._text.consent import CONSENT, asks_consent, names_box


def test_each_framework_has_a_box_that_is_known_by_its_name():
    for name, boxes, decline, _ in CONSENT["frameworks"]:
        assert name
        assert decline
        ids = [box[1:] for box in boxes.split(",") if box.startswith("#")]
        assert all(
            names_box(identity=identity) for identity in ids if " " not in identity
        )


@pytest.mark.parametrize(
    "names",
    [
        {"identity": "CybotCookiebotDialog"},
        {"identity": "sp_message_container_12"},
        {"classes": "bottom cky-consent-container open"},
    ],
)
def test_a_box_is_known_by_an_id_or_a_class(names):
    assert names_box(**names)


@pytest.mark.parametrize(
    "names", [{}, {"identity": "cookie-recipes"}, {"classes": "window"}]
)
def test_other_names_are_no_box(names):
    assert not names_box(**names)


def test_a_text_asks_for_consent_in_many_languages():
    assert asks_consent("We use cookies.")
    assert asks_consent("Hinweise zum Datenschutz")
    assert not asks_consent("We use butter.")
