"""The Dockerfile of the MCP server, as far as it can be checked without building it."""

from __future__ import annotations
import json
import re
import tomllib
from pathlib import Path

from typer.testing import CliRunner

from websearch_core._cli.app import app

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "examples/mcp/Dockerfile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "core/pyproject.toml").read_text("utf-8"))["project"]


def test_it_installs_an_extra_that_exists_on_a_python_that_is_supported_and_copies_nothing():
    (python,) = re.findall(r"^FROM python:([\d.]+)-slim$", DOCKERFILE, re.MULTILINE)
    ((package, extra),) = re.findall(
        r"pip install --no-cache-dir '([\w-]+)\[(\w+)\]'", DOCKERFILE
    )

    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]
    assert package == PROJECT["name"]
    assert extra in PROJECT["optional-dependencies"]
    assert not re.search(r"^(COPY|ADD)\b", DOCKERFILE, re.MULTILINE)
    assert "USER websearch" in DOCKERFILE.splitlines()


def test_it_starts_a_command_that_exists_with_the_options_that_it_names():
    (entry,) = re.findall(r"^ENTRYPOINT (.+)$", DOCKERFILE, re.MULTILINE)
    program, *words = json.loads(entry)
    named = set(
        re.findall(r"websearch-mcp.* (--[a-z]+)(?= |$)", DOCKERFILE, re.MULTILINE)
    ) - {"--tag"}
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"})

    assert program in PROJECT["scripts"]
    assert shown.exit_code == 0
    assert named == {"--insecure"}
    assert {"--http", "--insecure"} <= set(re.findall(r"--[a-z]+", shown.output))
