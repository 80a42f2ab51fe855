"""What the files at the root promise to each other."""

from __future__ import annotations
import ast
import os
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from itertools import chain
from pathlib import Path

import pytest
import yaml
from tools import lock, release

ROOT = Path(__file__).resolve().parents[1]
WORKSPACE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = [ROOT / member for member in WORKSPACE["tool"]["uv"]["workspace"]["members"]]
PROJECTS = [
    tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    for package in PACKAGES
]
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text("utf-8"))
    for path in (ROOT / ".github/workflows").glob("*.yml")
}


def pythons(project):
    return [
        each.rpartition(" ")[2]
        for each in project["classifiers"]
        if re.search(r":: 3\.\d+$", each)
    ]


def test_ci_runs_the_pythons_that_every_package_claims():
    matrix = WORKFLOWS["ci"]["jobs"]["tests"]["strategy"]["matrix"]

    assert [pythons(project) for project in PROJECTS] == [matrix["python"]] * 3
    assert matrix == {
        "python": matrix["python"],
        "dependencies": ["pinned", "lowest", "highest"],
    }


def test_the_weekly_run_tries_every_python_and_opens_an_issue_for_every_job():
    jobs = WORKFLOWS["weekly"]["jobs"]

    assert jobs["dependencies"]["strategy"]["matrix"]["python"] == pythons(PROJECTS[0])
    assert sorted(jobs["report"]["needs"]) == sorted(jobs.keys() - {"report"})
    assert "failure()" in jobs["report"]["if"]
    assert all(
        "secrets." not in str(step.get("run")) for step in jobs["drift"]["steps"]
    )


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_has_no_permission_but_to_read_unless_it_publishes_and_pins_what_it_uses(
    name,
):
    assert WORKFLOWS[name]["permissions"] == {}
    for key, job in WORKFLOWS[name]["jobs"].items():
        assert job["permissions"] == {
            ("release", "publish"): {"attestations": "write", "id-token": "write"},
            ("weekly", "report"): {"issues": "write"},
        }.get((name, key), {"contents": "read"})
        for step in job.get("steps", ()):
            assert re.fullmatch(
                r"[\w/-]+@[0-9a-f]{40}", step.get("uses", "a@" + "0" * 40)
            )


def test_a_release_uploads_each_package_after_the_tests_and_its_own_dependencies():
    jobs = WORKFLOWS["release"]["jobs"]

    # YAML 1.1 reads "on" as true
    assert WORKFLOWS["release"][True] == {"push": {"tags": ["v*"]}}
    assert jobs["tests"]["uses"] == "./.github/workflows/ci.yml"
    assert jobs["publish"]["needs"] == ["tests", "build"]
    assert jobs["publish"]["strategy"] == {
        "max-parallel": 1,
        "matrix": {"package": [project["name"] for project in PROJECTS]},
    }
    assert PROJECTS[0]["name"] == "websearch-core"
    assert jobs["publish"]["environment"] == "pypi-${{ matrix.package }}"
    assert "secrets." not in str(jobs)


def test_help_shows_what_a_contributor_needs_first():
    shown = subprocess.run(
        ["awk", "-f", ROOT / ".ci/help.awk", ROOT / "Makefile"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    first, build, measure = (
        [line.split()[0] for line in group.splitlines()[1:]]
        for group in shown.split("\n\n")
    )
    described = re.findall(
        r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )

    assert first == ["install", "check", "test", "lint", "docs"]
    assert {"lock", "release", "provider"} <= set(build)
    assert {"test-mcp", "bench", "matrix"} <= set(measure)
    assert sorted(first + build + measure) == sorted(described)


def test_requirements_are_pinned_by_hash():
    text = (ROOT / "requirements.txt").read_text("utf-8")
    entries = [
        entry
        for entry in re.split(r"\n(?! )", text.strip())
        if not entry.startswith(("# ", "--no-binary "))
    ]

    assert len(entries) > 150
    assert [
        entry
        for entry in entries
        if not re.match(r"\S+==\S+ .*--hash=sha256:", entry, re.DOTALL)
    ] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout")
def test_no_file_names_the_host_of_a_package_index():
    names = [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
    ]
    hosts = [".".join(name).encode() for name in names]
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.split(b"\0")
    paths = [ROOT / os.fsdecode(name) for name in files if name]
    found = [
        (path, host)
        for path in paths
        if path.is_file()
        for host in hosts
        if host in path.read_bytes()
    ]

    assert len(paths) > 1000
    assert found == []


def test_a_part_of_the_requirements_is_what_the_demo_needs_or_one_package():
    demo, uv = (
        subprocess.run(
            [ROOT / ".ci/locked", part], capture_output=True, text=True, check=True
        ).stdout
        for part in ("demo", "uv")
    )

    packages = {line.partition("==")[0] for line in lock.split(demo)}
    assert {"langchain", "llama-index-core", "typer", "hatchling"} <= packages
    assert packages.isdisjoint({"mypy", "pytest", "uv"})
    assert [line.partition("==")[0] for line in lock.split(uv)] == ["uv"]
    assert "--hash=sha256:" in uv


def test_installing_says_that_it_needs_a_package_index_if_neither_uv_nor_pip_can(
    tmp_path,
):
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    python = tmp_path / "new/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho $* >> calls\nexit 1\n")
    python.chmod(0o755)
    done = subprocess.run(
        [tmp_path / ".ci/install", tmp_path / "new", "--requirement", "some.txt"],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert (tmp_path / "calls").read_text("utf-8").splitlines() == [
        "-m venv build/uv",
        "-m pip install --quiet --only-binary :all: --requirement some.txt",
    ]
    assert "Trying pip" in done.stderr
    assert "needs a package index, once: check that the network is" in done.stderr


def test_nothing_that_pip_downloads_runs_while_it_is_installed():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    commands = [line for line in makefile.splitlines() if "pip install" in line]
    of_others = [command for command in commands if not command.endswith(".whl")]

    assert len(of_others) >= 2
    assert [
        command for command in of_others if "--only-binary :all:" not in command
    ] == []


def test_the_packages_share_one_version_and_one_author():
    core, *wrappers = PROJECTS
    assert "version" in core
    for package, wrapper in zip(PACKAGES[1:], wrappers, strict=True):
        hatch = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["tool"][
            "hatch"
        ]
        text = (package / hatch["version"]["path"]).read_text("utf-8")
        assert wrapper["dynamic"] == ["version"]
        assert re.findall(hatch["version"]["pattern"], text, re.MULTILINE) == [
            core["version"]
        ]
        assert (
            f"websearch-core{release.bound_for(core['version'])}"
            in wrapper["dependencies"]
        )
        assert (wrapper["authors"], wrapper["requires-python"]) == (
            core["authors"],
            core["requires-python"],
        )


def test_the_notice_has_the_licence_of_every_dependency():
    notice = (ROOT / "core/NOTICE").read_text("utf-8")
    listed = dict(re.findall(r"^  (\S+) +(\S+)$", notice, re.MULTILINE))
    needed = [
        re.match(r"[\w-]+", each)[0]
        for project in PROJECTS
        for each in chain(
            project["dependencies"], *project.get("optional-dependencies", {}).values()
        )
    ]

    assert list(listed) == sorted(set(needed) - {"websearch-core"})
    for name, licence in listed.items():
        try:
            found = metadata(name)
        except PackageNotFoundError:
            continue  # an extra that the tests do without
        stated = found.get("License-Expression") or found.get("License") or ""
        assert stated in ("", licence), name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_readme_of_a_package_links_to_nothing_that_only_exists_in_the_repository(
    package,
):
    targets = re.findall(r"\]\(([^)\s]+)", (package / "README.md").read_text("utf-8"))

    assert [
        target for target in targets if not target.startswith(("https://", "#"))
    ] == []
    assert "pip install" in (package / "README.md").read_text("utf-8")


def test_every_hook_runs_a_tool_of_the_environment():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))[
        "repos"
    ]

    assert local["repo"] == "local"
    assert [
        hook for hook in local["hooks"] if not hook["entry"].startswith(".venv/bin/")
    ] == []


def test_every_exception_of_the_linter_has_its_reason():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    table = text.partition("[tool.ruff.lint]\n")[2].partition("[tool.ruff.lint.isort]")[
        0
    ]
    exceptions = [
        line for line in table.splitlines() if re.match(r'^(  "|".*\[".*"\])', line)
    ]

    assert len(exceptions) > 40
    # a room that is not unpacked yet has its reason above the list
    listed = [line for line in exceptions if not line.endswith('"PLR1702"]')]
    assert [line for line in listed if not re.search(r"  # \w", line)] == []


RUN_TOGETHER = re.compile(r"[.;] - \S|\w +python (-m \S|\S+\.py)")
FOLDERS = (
    *(".ci", "benchmarks", "core/src", "docs", "examples", "tests", "tools"),
    *("langchain_websearch/src", "llamaindex_websearch/src", "training"),
)


def list_docstrings(source):
    """Yield the docstring of a module, and those of what it has."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds):
            yield ast.get_docstring(node) or ""


@pytest.mark.parametrize(
    ("line", "is_run_together"),
    [
        ("one thing. - another", True),
        ("    python -m a  # first python -m b", True),
        ("    of the site python a.py b", True),
        ("- one thing. Another", False),
        ("    python -m a  # first", False),
    ],
)
def test_items_and_commands_that_run_together_are_seen(line, is_run_together):
    assert bool(RUN_TOGETHER.search(line)) is is_run_together


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_item_and_command_of_a_docstring_has_a_line_of_its_own(folder):
    wrong = []
    for path in (ROOT / folder).rglob("*.py"):
        for text in list_docstrings(path.read_text("utf-8")):
            wrong += [line for line in text.splitlines() if RUN_TOGETHER.search(line)]

    assert wrong == []


def test_the_gate_runs_what_make_test_leaves_to_other_targets():
    gate = (ROOT / ".ci/run").read_text("utf-8")

    assert [
        name for name in ("apart", "timed") if f"make test-{name}" not in gate
    ] == []
