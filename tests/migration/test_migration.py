"""What code for other packages becomes still gives what the old packages gave, which
docs/generators/outcomes.json has.
"""

from __future__ import annotations
import json
import re
from pathlib import Path

import pytest

from docs.generators.migration import write_diff
from docs.generators.pairs import NEW_IMPORTS, OLD_IMPORTS, OUTCOMES, PAIRS, Pair
from langchain_websearch import (
    OpenPageTool,
    WebPageLoader,
    WebSearchRetriever,
    WebSearchTool,
)
from llamaindex_websearch import WebPageReader, WebSearchToolSpec
from tests.migration.new import run_pair, send_here
from tests.migration.outcome import describe, judge
from tests.migration.server import FACTS, HITS, NOISE, serve
from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, InvalidOption

ROOT = Path(__file__).resolve().parents[2]
RECORDED = json.loads(OUTCOMES.read_text("utf-8"))["pairs"]
AGENTS = (ROOT / "docs" / "for-coding-agents.md").read_text("utf-8")


@pytest.fixture(scope="module")
def port():
    with serve() as (number, _):
        yield number


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("framework", "kind"), sorted({(pair.framework, pair.kind) for pair in PAIRS})
)
def test_the_new_code_gives_what_the_old_one_gave(framework, kind, port):
    with send_here(port):
        judged = {
            pair.name: judge(pair, RECORDED[pair.name], run_pair(pair))
            for pair in PAIRS
            if (pair.framework, pair.kind) == (framework, kind)
        }

    assert len(judged) > 2
    assert {name: problem for name, problem in judged.items() if problem} == {}


def test_each_pair_is_recorded_and_nothing_else():
    assert {pair.name for pair in PAIRS} == set(RECORDED), (
        "see docs/generators/pairs.py"
    )


def test_each_pair_imports_the_names_that_it_uses():
    sides = [(pair, pair.before, OLD_IMPORTS, True) for pair in PAIRS]
    sides += [
        (pair, pair.now, NEW_IMPORTS | {"WebSearchRetriever": ""}, False)
        for pair in PAIRS
    ]
    for pair, code, homes, old in sides:
        lines = pair.imports(old=old)
        named = {
            word for line in lines for word in line.partition(" import ")[2].split(", ")
        }
        capitals = set(re.findall(r"\b[A-Z]\w*[a-z]\w*(?=[(.])", code))
        assert capitals <= named | set(homes), code
        assert named <= set(re.findall(r"\w+", code))


PAIR = Pair("old()", "new()")
FULL = describe([list(hit.values()) for hit in HITS])


@pytest.mark.parametrize(
    ("pair", "old", "new", "problem"),
    [
        (PAIR, FULL, FULL, ""),
        (PAIR, {"error": "TypeError: no"}, FULL, "the old side failed: TypeError: no"),
        (PAIR, FULL, describe("less"), "the values differ"),
        (Pair("old()", "new()", "as text"), FULL, FULL, "the values agree"),
        (
            Pair("old()", "new()", "as text"),
            FULL,
            describe(HITS[0]["title"]),
            "the new side lost",
        ),
        (
            Pair("old()", "new()", "as text"),
            FULL,
            describe([*FACTS, NOISE[0]]),
            "the new side has the menu",
        ),
        (
            Pair("old()", "new()", "shorter", kind="pages"),
            describe(HITS[0]["url"]),
            describe("less"),
            "",
        ),
    ],
)
def test_a_pair_is_judged_by_its_values_and_by_what_is_lost(pair, old, new, problem):
    assert judge(pair, old, new).startswith(problem)
    assert bool(judge(pair, old, new)) == bool(problem)


def _answer(make) -> str:
    try:
        make()
    except (ConfigurationError, InvalidOption, AttributeError, ValueError) as error:
        # the last from pydantic
        return str(error)
    return ""


def _arguments() -> list[str]:
    table = AGENTS.partition("## 3. ")[2].partition("## 4. ")[0]
    rows = re.findall(r"^\| (.+?) \| .+ \|$", table, re.MULTILINE)
    return sorted(
        {word for row in rows for word in re.findall(r"`(\w+)(?:=[^`]*)?`", row)}
    )


def test_an_old_argument_is_answered_with_the_line_to_write():
    makers = (
        lambda **old: WebSearchTool(provider="wikipedia", **old),
        lambda **old: WebSearchRetriever(provider="wikipedia", **old),
        lambda **old: WebPageLoader("https://sea.example/", **old),
        WebPageReader,
        lambda **old: WebSearchToolSpec(provider="wikipedia", **old),
    )
    names = _arguments()

    assert len(names) > 40
    for name in names:
        answers = [
            _answer(lambda make=make, name=name: make(**{name: "x"})) for make in makers
        ]
        said = [
            a
            for a in answers
            if re.search(r"write |leave it out|did you mean|change the", a)
        ]
        assert said, (name, answers)
        assert [answer for answer in said if name not in answer] == []


def test_an_option_of_a_service_in_a_search_is_answered_with_the_line_to_write():
    web = WebSearch("wikipedia")

    with pytest.raises(
        InvalidOption,
        match=r"give it to WebSearch\(provider=Tavily\(search_depth=\.\.\.\)\)",
    ):
        web.search("tides", search_depth="advanced")
    with pytest.raises(InvalidOption, match=r"num_results: write limit=\.\.\."):
        web.search("tides", num_results=3)


def test_the_methods_of_other_specs_are_answered_with_the_line_to_write():
    spec = WebSearchToolSpec(provider="wikipedia")
    methods = {
        m
        for pair in PAIRS
        for m in re.findall(r"ToolSpec\([^()]*\)\.(\w+)\(", pair.before)
    }

    assert len(methods) > 8
    for name in methods:
        assert "write documents = spec." in _answer(
            lambda name=name: getattr(spec, name)
        )


def test_the_page_for_agents_names_what_can_be_imported():
    names = {}
    for module, listed in re.findall(
        r"`(\w+(?:\.\w+)*)`: ((?:`\w+`(?:, )?)+)", AGENTS.partition("## 2. ")[0]
    ):
        for name in re.findall(r"`(\w+)`", listed):
            exec(f"from {module} import {name}", names)

    assert {
        "WebSearchTool",
        "WebPagePostprocessor",
        "Timeout",
        "Firecrawl",
        "WebSearchError",
    } <= set(names)
    assert issubclass(names["OpenPageTool"], OpenPageTool)


def test_the_page_for_agents_is_complete_by_itself():
    assert not re.findall(r"\]\(", AGENTS), (
        "it is given to programs without the other pages"
    )
    lines = AGENTS.splitlines()
    for pair in PAIRS:
        assert {f"-{line}" for line in pair.before.splitlines()} <= set(lines)
        assert {f"+{line}" for line in pair.now.splitlines()} <= set(lines)


def test_old_lines_that_become_the_same_stand_above_it_once():
    new = "list(load())"
    pairs = [Pair("old()", new, "a list"), Pair("older()", new, "a list")]

    assert write_diff(pairs) == "-old()\n-older()\n# a list\n+list(load())"


def test_llms_txt_lists_the_pages_of_the_documentation():
    text = (ROOT / "docs" / "llms.txt").read_text("utf-8")
    listed = re.findall(r"^- \[[^]]+\]\(([^)]+)\)", text, re.MULTILINE)

    assert text.startswith("# ")
    assert text.splitlines()[2].startswith("> ")
    assert listed[0] == "for-coding-agents.md"
    assert [link for link in listed if not (ROOT / "docs" / link).is_file()] == []
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages <= set(listed)
