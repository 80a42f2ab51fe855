"""What the files at the root promise to each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKSPACE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = [ROOT / member for member in WORKSPACE["tool"]["uv"]["workspace"]["members"]]
PROJECTS = [tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"] for package in PACKAGES]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))


def pythons(project):
    return [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]


def test_ci_runs_the_pythons_that_every_package_claims():
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]

    assert [pythons(project) for project in PROJECTS] == [matrix["python"]] * 3
    assert {each["dependencies"]: each["python"] for each in matrix["include"]} == {
        "lowest": matrix["python"][0],
        "highest": matrix["python"][-1],
    }


def test_ci_has_no_permission_but_to_read_and_pins_what_it_uses():
    assert WORKFLOW["permissions"] == {}
    for job in WORKFLOW["jobs"].values():
        assert job["permissions"] == {"contents": "read"}
        for step in job["steps"]:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", "a@" + "0" * 40))


REQUIREMENTS = [
    "requirements.txt",
    ".ci/requirements.txt",
    "benchmarks/requirements.txt",
    "benchmarks/reading/requirements.txt",
    "examples/requirements.txt",
    "examples/service/requirements.txt",
    "tests/core/providers/requirements.txt",
    "tests/langchain/requirements.txt",
]


@pytest.mark.parametrize("path", REQUIREMENTS)
def test_requirements_are_pinned_by_hash_and_name_no_host(path):
    text = (ROOT / path).read_text("utf-8")
    entries = re.split(r"\n(?! )", text.strip())

    assert all(re.match(r"\S+==\S+ .*--hash=sha256:", entry, re.DOTALL) for entry in entries)
    assert not re.search(r"://|^-|file:", text, re.MULTILINE)


def test_the_packages_share_one_version_and_one_author():
    assert len({(project["version"], str(project["authors"]), project["requires-python"]) for project in PROJECTS}) == 1


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_readme_of_a_package_links_to_nothing_that_only_exists_in_the_repository(package):
    targets = re.findall(r"\]\(([^)\s]+)", (package / "README.md").read_text("utf-8"))

    assert all(target.startswith(("https://", "#")) for target in targets)
    assert "pip install" in (package / "README.md").read_text("utf-8")


def test_every_hook_runs_a_tool_of_the_environment():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]

    assert local["repo"] == "local"
    assert all(hook["entry"].startswith(".venv/bin/") for hook in local["hooks"])


def test_every_exception_of_the_linter_has_its_reason():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    table = text.partition("[tool.ruff.lint]\n")[2].partition("[tool.ruff.lint.isort]")[0]
    exceptions = [line for line in table.splitlines() if re.match(r'^(  "|".*\[".*"\])', line)]

    assert len(exceptions) > 40
    assert [line for line in exceptions if not re.search(r"  # \w", line)] == []
