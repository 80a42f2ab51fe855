"""Every service has a cassette for each thing that it may answer."""

from __future__ import annotations

import pytest

from tests.cassettes import tape as tapes
from websearch_core.provider._declare import field_notes, is_secret
from websearch_core.provider._ports import can
from websearch_core.providers import known, provider_class

# What a service does not do, and why.
NEVER = {
    "wrong_key": {
        "searxng": "it has no accounts: a proxy in front of it may ask for a key"
    },
    "quota": {
        "crawl4ai": "it sells nothing: you run it",
        "crossref": "it sells nothing",
        "github": "it sells nothing",
        "marginalia": "it sells nothing",
        "ollama": "its pages name no error for it",
        "searxng": "it sells nothing",
        "semanticscholar": "it sells nothing",
    },
    "rate_limited": {"duckduckgo": "it answers with a challenge instead"},
}
SERVICES = [
    name
    for name in known()
    if hasattr(cls := provider_class(name), "base_url")
    or any(field == "base_url" for field in field_notes(cls))
]


def scenarios(name):
    cls = provider_class(name)
    yield "malformed"
    yield "rate_limited"
    if can(cls, "search"):
        yield from ("search", "nothing")
        if "page" in cls.options:
            yield "page_2"
    if can(cls, "read"):
        yield from ("read", "read_failed")
    if any(is_secret(notes) for notes in field_notes(cls).values()):
        yield from ("wrong_key", "quota")


@pytest.mark.parametrize(
    ("name", "scenario"),
    [(name, scenario) for name in SERVICES for scenario in scenarios(name)],
)
def test_a_service_has_a_cassette_of(name, scenario):
    exists = (tapes.FOLDER / name / f"{scenario}.yaml").exists()

    assert exists is (name not in NEVER.get(scenario, {})), NEVER.get(scenario, {}).get(
        name, "write it"
    )
