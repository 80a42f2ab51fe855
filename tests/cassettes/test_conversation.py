"""What is said of models that talk with the tools, against a server that plays them."""

from __future__ import annotations
import json

import pytest

from tests import models
from tests.cassettes import conversation
from tests.cassettes.allowance import MODEL_USD, Allowance
from tests.cassettes.conversation import (
    FRAMEWORKS,
    Choice,
    choose,
    find_reason,
    meet_models,
)
from tests.models import VENDORS
from tests.vendors import LEAVES_SOCKETS, Reply, serve_models

KEY = "sk-of-a-test-that-must-not-show"
pytestmark = LEAVES_SOCKETS
SEARCH = ("web_search", {"query": "lock gate Ellersund"})
CITED = "The lock gate of the harbour of Ellersund closes at 21:47 today [1]."
SORRY = "The search failed, so I cannot say when the gate closes."
FINDINGS = {
    "it chooses the tool",
    "its arguments are valid",
    "it cites",
    "it understands ERROR [...]",
}


def play(first=(SEARCH,), found=CITED, failed=SORRY):
    """Return a model that makes the *first* calls, and then answers what it was told."""

    def decide(request):
        text = json.dumps(request)
        if "ERROR [quota_exhausted]" in text:
            return Reply(failed) if isinstance(failed, str) else failed
        if "Data from the web" in text or "no such" in text or "ERROR [" in text:
            return Reply(found)
        return Reply("", first) if first else Reply("I do not know.")

    return decide


def meet(monkeypatch, vendor, decide, allowance=None):
    monkeypatch.setenv(VENDORS[vendor].variables[0], KEY)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    with serve_models(decide) as (url, requests):
        monkeypatch.setitem(conversation.PLACES, vendor, url)
        choice = Choice(vendor, VENDORS[vendor].model)
        reports = list(meet_models([choice], allowance or Allowance()))
    if any(report.verdict == "not asked" for report in reports):
        pytest.skip("the packages of models come with: make test-models")
    return reports, requests


@pytest.mark.enable_socket
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_model_that_uses_the_tools_well_does_so_in_both_frameworks(
    monkeypatch, vendor
):
    allowance = Allowance()
    reports, requests = meet(monkeypatch, vendor, play(), allowance)

    assert [report.framework for report in reports] == list(FRAMEWORKS)
    for report in reports:
        assert report.verdict == "as documented", (report.reason, report.findings)
        assert report.findings == dict.fromkeys(FINDINGS, True)
    assert len(requests) == allowance.sent == 8
    assert allowance.describe().startswith(f"{8 * MODEL_USD:g} USD")


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("played", "finding"),
    [
        ({"first": ()}, "it chooses the tool"),
        ({"first": (("web_search", {"query": "x", "limit": "many"}),)}, "its arguments are valid"),
        ({"first": (("search", {"query": "x"}),)}, "its arguments are valid"),
        ({"found": "The gate closes at 21:47 today."}, "it cites"),
        ({"found": "The gate closes at 20:15 today [1]."}, "it cites"),
        ({"failed": "It closes at 20:15 [1]."}, "it understands ERROR [...]"),
        ({"failed": Reply("", (SEARCH,))}, "it understands ERROR [...]"),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_model_does_not_do_is_said(monkeypatch, played, finding):
    reports, _ = meet(monkeypatch, "openai", play(**played))

    for report in reports:
        assert report.verdict == "differs"
        assert f"  not so: {finding}" in list(report.describe())


@pytest.mark.enable_socket
@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("status", "text", "reason"),
    [
        (401, f"Incorrect API key provided: {KEY}", "wrong key"),
        (404, "There is no such model", "no such model"),
        (429, "You exceeded your current quota: check your billing", "quota"),
        (429, "Slow down", "too fast"),
        (503, "Overloaded", "down (503)"),
    ],
)
def test_refusals_are_told_apart_and_nothing_is_asked_twice(
    monkeypatch, vendor, status, text, reason
):
    allowance = Allowance()
    decide = lambda _: Reply(text, status=status)  # noqa: E731
    reports, requests = meet(monkeypatch, vendor, decide, allowance)

    rows = [row for report in reports for row in report.describe()]
    assert [(report.verdict, report.reason) for report in reports] == [
        ("refused", reason)
    ] * 2
    assert KEY not in "".join(rows)
    assert len(requests) == allowance.sent == 2


@pytest.mark.enable_socket
def test_a_vendor_that_is_slow_and_one_that_is_not_there_are_told_apart(monkeypatch):
    from tests.server import Server, say_nothing

    monkeypatch.setattr(models, "TIMEOUT", 0.3)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    choice = Choice("openai", "gpt-5-mini")
    with Server(others=[say_nothing]) as server:
        monkeypatch.setitem(conversation.PLACES, "openai", server.url)
        slow = list(meet_models([choice], Allowance()))
    gone = list(meet_models([choice], Allowance()))
    if slow[0].verdict == "not asked":
        pytest.skip("the packages of models come with: make test-models")

    assert {report.reason for report in slow} == {"slow"}
    assert {report.reason for report in gone} == {"unreachable"}


@pytest.mark.enable_socket
@pytest.mark.parametrize("limits", [{"usd": 0}, {"requests": 0}, {"usd": 0.03}])
def test_a_limit_is_enforced_before_a_model_is_asked(monkeypatch, limits):
    reports, requests = meet(monkeypatch, "openai", play(), Allowance(**limits))

    assert {report.reason for report in reports} == {"the limit"}
    assert len(requests) == (1 if limits == {"usd": 0.03} else 0)


def test_models_are_those_that_are_named_or_have_a_key(monkeypatch):
    for vendor in VENDORS.values():
        for variable in vendor.variables:
            monkeypatch.delenv(variable, raising=False)
    assert choose([], only=False) == []
    monkeypatch.setenv("GROQ_API_KEY", KEY)

    assert choose([], only=False) == [Choice("groq", VENDORS["groq"].model)]
    assert choose([], only=True) == []
    assert choose(["openai=gpt-6"], only=False) == [Choice("openai", "gpt-6")]
    with pytest.raises(ValueError, match="'cohere' is none of openai, "):
        choose(["cohere"], only=False)


def test_an_error_of_no_status_is_named_by_its_class():
    assert find_reason(KeyError(KEY)) == "KeyError"
