"""What docs/measured says is what the program does, and names the commit that it was measured at."""

from __future__ import annotations
import re
from pathlib import Path

import pytest

from benchmarks.calls.asked import KEY, QUERY
from benchmarks.calls.server import Server
from benchmarks.report import store
from langchain_websearch import WebSearchTool

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "measured"
# Names of faults in docs/measured/benchmarks.md, and the path at which the server has them.
FAULTS = {
    "401, the key is wrong": "401",
    "429, `Retry-After: 60`": "429",
    "502 with an HTML page": "502",
    "200 with an HTML page": "portal",
    "no answer": "hang",
}


@pytest.fixture(scope="module")
def server():
    with Server() as running:
        yield running


@pytest.mark.enable_socket
@pytest.mark.parametrize("fault", FAULTS)
def test_the_page_of_benchmarks_quotes_what_a_model_reads_today(server, fault):
    limit = {"timeout": 0.2} if fault == "no answer" else {}
    tool = WebSearchTool(provider="tavily", api_key=KEY, base_url=f"{server.url}/{FAULTS[fault]}", **limit)
    message = tool.invoke({"name": tool.name, "args": {"query": QUERY}, "id": "1", "type": "tool_call"})
    page = (FOLDER / "benchmarks.md").read_text("utf-8")
    quoted = re.findall(rf"^\| {re.escape(fault)} \| `WebSearchTool` .* \| `(ERROR.*)` \|$", page, re.MULTILINE)

    assert len(quoted) == 2, "run python -m benchmarks.calls failures --write"
    assert set(quoted) == {message.text}


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_each_page_says_which_commit_it_measured(page):
    last = page.read_text("utf-8").rstrip().rpartition("\n")[2]

    assert re.fullmatch(
        r"Last measured at commit `[0-9a-f]{7}`( and changes)?\.|A test compares .* every commit\.", last
    )


def test_a_page_that_is_stored_again_names_the_later_commit(tmp_path):
    page = tmp_path / "page.md"
    store(page, "# Page\n\nLast measured at commit `0000000`.\n")

    assert re.fullmatch(r"# Page\n\nLast measured at commit `[0-9a-f]{7}`( and changes)?\.\n", page.read_text("utf-8"))
