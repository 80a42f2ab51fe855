"""The boxes of frameworks for consent, by their names."""

from __future__ import annotations

from websearch_core._text.consent import (
    CONSENT,
    asks_consent,
    is_box_id,
    names_box,
)


def test_each_framework_has_a_box_that_is_known_by_its_name():
    for name, boxes, decline, _ in CONSENT["frameworks"]:
        assert name
        assert decline
        ids = [box[1:] for box in boxes.split(",") if box.startswith("#")]
        assert all(is_box_id(identity) for identity in ids if " " not in identity)


def test_a_box_is_known_by_an_id_or_a_class():
    assert is_box_id("CybotCookiebotDialog")
    assert is_box_id("sp_message_container_12")
    assert names_box("bottom cky-consent-container open")


def test_other_names_are_no_box():
    assert not is_box_id("")
    assert not is_box_id("cookie-recipes")
    assert not names_box("")
    assert not names_box("window")


def test_a_text_asks_for_consent_in_many_languages():
    assert asks_consent("We use cookies.")
    assert asks_consent("Hinweise zum Datenschutz")
    assert not asks_consent("We use butter.")
