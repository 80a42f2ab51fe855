"""What benchmarks/results says is what the program does, and names the commit that it was
measured at.
"""

from __future__ import annotations
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.calls.asked import KEY, QUERY
from benchmarks.calls.server import Server
from benchmarks.report import store
from langchain_websearch import WebSearchTool
from websearch_core import Timeout

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "results"
# Names of faults in benchmarks/results/benchmarks.md, and the path at which the server has
# them.
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
    short = {"timeout": 0.2} if fault == "no answer" else {}
    tool = WebSearchTool(
        provider="tavily",
        api_key=KEY,
        base_url=f"{server.url}/{FAULTS[fault]}",
        **short,
    )
    message = tool.invoke(
        {"name": tool.name, "args": {"query": QUERY}, "id": "1", "type": "tool_call"}
    )
    page = (FOLDER / "benchmarks.md").read_text("utf-8")
    row = rf"^\| {re.escape(fault)} \| `WebSearchTool` .* \| ([\d.]+) s \| `(ERROR.*)` \|$"
    measured = [
        (float(after), quoted) for after, quoted in re.findall(row, page, re.MULTILINE)
    ]

    assert len(measured) == 2, "run python -m benchmarks.calls failures --write"
    assert {quoted for _, quoted in measured} == {message.text}
    limit = Timeout().search
    for after, _ in measured:
        assert limit <= after < limit + 2 if fault == "no answer" else after < limit


@pytest.mark.parametrize(
    "page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem
)
def test_each_page_says_which_commit_it_measured(page):
    last = page.read_text("utf-8").rstrip().rpartition("\n")[2]

    assert re.fullmatch(
        r"Last measured at commit `[0-9a-f]{7}`( and changes)?\.|A test compares .* every commit\.",
        last,
    )


def git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def history():
    if (
        shutil.which("git") is None
        or git("rev-parse", "--is-shallow-repository").stdout.strip() != "false"
    ):
        pytest.skip("the history of git is not here, or not all of it")


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    "page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem
)
def test_the_commits_that_a_page_measured_are_in_the_history(page):
    named = re.findall(r"\bcommit `([0-9a-f]{7,40})`", page.read_text("utf-8"))
    missing = [
        commit
        for commit in named
        if git("merge-base", "--is-ancestor", commit, "HEAD").returncode != 0
    ]

    assert not missing, "measure it again, from a commit that stays"


def test_a_page_that_is_stored_again_names_the_later_commit(tmp_path):
    page = tmp_path / "page.md"
    store(page, "# Page\n\nLast measured at commit `0000000`.\n")

    assert re.fullmatch(
        r"# Page\n\nLast measured at commit `[0-9a-f]{7}`( and changes)?\.\n",
        page.read_text("utf-8"),
    )
