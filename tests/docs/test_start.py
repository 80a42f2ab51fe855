"""The pages in docs/start: their commands work, and what a host is told to start is a
server.
"""

from __future__ import annotations
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from websearch_core._cli.app import app
from websearch_core.testing import reply

START = Path(__file__).resolve().parents[2] / "docs" / "start"
LINK = '<div class="web-result"><a class="result__a" href="https://docs.python.org/3/">Python</a></div>'
PAGE = "<title>Python</title><h1>Python</h1><p>What is new: keys can be rotated."


def find_blocks(page, language):
    text = (START / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_commands_of_a_shell_end_as_the_page_says(monkeypatch):
    monkeypatch.setattr(
        "websearch_core._net.sender.Sender.send",
        lambda _, request: reply(LINK if "duckduckgo" in request.url else PAGE),
    )
    commands = [
        line
        for block in find_blocks("shell.md", "console")
        for line in block.splitlines()
    ]
    done = [
        CliRunner().invoke(app, shlex.split(command.removeprefix("websearch ")))
        for command in commands
    ]

    assert [one.exit_code for one in done] == [0] * 4
    search, page, passages, data = (one.stdout for one in done)
    assert "https://docs.python.org/3/" in search
    assert "keys can be rotated" in page
    assert "keys can be rotated" in passages
    assert json.loads(data)["results"][0].keys() >= {"title", "url", "snippet"}


@pytest.mark.parametrize("language", ["json", "console"])
def test_what_a_host_starts_is_the_server(language):
    blocks = find_blocks("mcp.md", language)
    if language == "json":
        servers, env = map(json.loads, blocks)
        words = [
            servers["mcpServers"]["websearch"]["command"],
            *servers["mcpServers"]["websearch"]["args"],
        ]
        assert env["env"].keys() == {"TAVILY_API_KEY", "WEB_SEARCH_BUDGET"}
    else:
        claude, code = (shlex.split(line) for line in blocks[0].splitlines())
        words = claude[claude.index("--") + 1 :]
        added = json.loads(code[2])
        assert [added["command"], *added["args"]] == words

    assert words[:3] == ["uvx", "--from", "websearch-core[mcp]"]
    assert words[3] == "websearch"
    assert CliRunner().invoke(app, [*words[4:], "--help"]).exit_code == 0


def test_each_line_for_a_host_starts_the_same_server():
    page = (START.parent / "mcp.md").read_text("utf-8")
    claude, codex, code = (
        shlex.split(line)
        for line in re.findall(r"^\| [\w ]+ \| `(\w+ .+)` \|$", page, re.MULTILINE)
    )
    (block,) = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    listed, added = json.loads(block)["mcpServers"]["websearch"], json.loads(code[2])

    words = claude[claude.index("--") + 1 :]
    assert codex[codex.index("--") + 1 :] == words == [added["command"], *added["args"]]
    assert [listed["command"], *listed["args"]] == [*words, "--provider", "tavily"]
    assert f"{shlex.join(words)}\n" in page


@pytest.mark.parametrize(
    ("page", "package"),
    [
        ("langchain.md", "langchain_websearch"),
        ("llamaindex.md", "llamaindex_websearch"),
    ],
)
def test_a_page_installs_what_the_readme_of_its_package_installs(page, package):
    (command,) = re.findall(
        "^pip install .*", (START / page).read_text("utf-8"), re.MULTILINE
    )

    assert command in (START.parents[1] / package / "README.md").read_text("utf-8")
