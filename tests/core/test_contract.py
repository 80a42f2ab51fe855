"""
Every built-in provider that works over HTTP keeps the promises.

What the services answer comes from the cassettes: ``search.yaml`` and ``nothing.yaml`` of a provider that searches,
``read.yaml`` of one that reads. A new provider needs no line here.
"""

from __future__ import annotations
import ast
from pathlib import Path
from statistics import mean

import pytest

from tests.cassettes import tape as tapes
from websearch_core import providers
from websearch_core.provider._declare import field_notes, is_secret
from websearch_core.provider._ports import can, needs_network
from websearch_core.providers import known, provider_class
from websearch_core.testing import SECRET, Check, read_checks, search_checks

# They send in their own way, which no cassette can replay: see tests/core/providers.
LIBRARIES = {"browser", "ddgs"}
PLAIN_TEXT = {
    "external",
    "firecrawl",
    "github",
    "jina",
    "keenable",
    "ollama",
    "parallel",
    "perplexity",
    "searchapi",
    "searxng",
    "semanticscholar",
    "serpapi",
    "serper",
    "stackexchange",
    "tavily",
}  # in their titles, <code> is a word


def built_in(role):
    for name in known():
        cls = provider_class(name)
        is_ours = cls.__module__.startswith("websearch_core.providers.") and name not in LIBRARIES
        if is_ours and needs_network(cls) and can(cls, role):
            yield name


def make(name):
    """Make the provider as its cassettes do, with a key for each field that takes one."""
    cls = provider_class(name)
    keys = {field: SECRET for field, notes in field_notes(cls).items() if is_secret(notes)}
    return cls(**{**tapes.options(tapes.find(name, "search" if can(cls, "search") else "read"), name), **keys})


def checks_of(name, role):
    try:
        replies = {scenario: tapes.responses(tapes.find(name, scenario)) for scenario in tapes.SCENARIOS[role]}
        provider = make(name)
    except tapes.MissingTape as missing:
        return [Check("has its cassettes", lambda error=missing: pytest.fail(str(error)))]
    if role == "read":
        first, *later = replies["read"]
        return read_checks(provider, some=first, later=later)
    some, none = (replies[scenario][0] for scenario in ("search", "nothing"))
    return search_checks(provider, some=some, none=none, markup=name not in PLAIN_TEXT)


@pytest.mark.parametrize(
    ("provider", "check"),
    [
        pytest.param(name, check, id=f"{name}: {check}")
        for role in ("search", "read")
        for name in built_in(role)
        for check in checks_of(name, role)
    ],
)
def test_every_provider_keeps_its_promises(provider: str, check: Check):
    check()


def test_missing_cassettes_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(tapes, "FOLDER", tmp_path)
    (check,) = checks_of("brave", "search")

    with pytest.raises(pytest.fail.Exception, match=r"write cassettes/brave/search\.yaml: .*CONTRIBUTING\.md"):
        check()


def count_code(path):
    """Return the lines of code of a file: without imports, docstrings, comments and blank lines."""
    text = path.read_text("utf-8")
    aside = set()
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
        for part in [node] if isinstance(node, ast.Import | ast.ImportFrom) else node.body[:1] if documented else []:
            aside |= set(range(part.lineno, part.end_lineno + 1))
    lines = enumerate(text.splitlines(), start=1)
    return len([line for n, line in lines if n not in aside and line.strip() and not line.strip().startswith("#")])


def test_a_provider_is_small():
    files = [path for path in Path(providers.__file__).parent.glob("*.py") if not path.name.startswith("_")]

    assert mean(map(count_code, files)) < 120
    assert max(map(count_code, files)) < 200
