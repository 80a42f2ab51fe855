"""`make release` writes the version and the changelog; `make publish` publishes nothing
without its version.
"""

from __future__ import annotations
import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from tools import release
from tools.release import ReleaseError, bound_for, cut, publish, read_version

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = """\
# Changelog

For people.

## Unreleased

### Added

- A door.

### Fixed

- A leak.

## 0.1.0 - 2026-10-01

The first version.
"""


@pytest.fixture
def tree(tmp_path):
    for package in ("core", "langchain_websearch", "llamaindex_websearch"):
        (tmp_path / package).mkdir()
        shutil.copy(ROOT / package / "pyproject.toml", tmp_path / package)
    (tmp_path / "examples/mcp").mkdir(parents=True)
    shutil.copy(ROOT / "examples/mcp/server.json", tmp_path / "examples/mcp")
    write(
        tmp_path / "core/pyproject.toml",
        'name = "websearch-core"\nversion = "0.1.0"  # here\n',
    )
    write(tmp_path / "CHANGELOG.md", CHANGELOG)
    return tmp_path


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")


def read(path):
    return path.read_text("utf-8")


def git(tree, *arguments):
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=tree,
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | alone,
    )
    return done.stdout


def test_a_release_writes_one_version_and_dates_the_changes(tree):
    cut(tree, "0.2.0", "2026-11-23")

    assert read_version(tree) == "0.2.0"
    assert read(tree / "core/pyproject.toml").endswith('version = "0.2.0"  # here\n')
    for wrapper in ("langchain_websearch", "llamaindex_websearch"):
        assert '"websearch-core>=0.2,<0.3"' in read(tree / wrapper / "pyproject.toml")
    assert read(tree / "CHANGELOG.md") == CHANGELOG.replace(
        "## Unreleased", "## 0.2.0 - 2026-11-23"
    )


def test_the_first_release_has_the_version_that_the_packages_have(tree):
    first = CHANGELOG.partition("## 0.1.0")[0]
    write(tree / "CHANGELOG.md", first)
    cut(tree, "0.1.0", "2026-11-23")
    assert read(tree / "CHANGELOG.md").rstrip() == (
        first.replace("## Unreleased", "## 0.1.0 - 2026-11-23").rstrip()
    )


def test_a_candidate_becomes_the_next_one_and_then_the_release(tree):
    cut(tree, "0.2.0rc1", "2026-11-23")
    assert read_version(tree) == "0.2.0rc1"
    assert '"websearch-core>=0.2.0rc1,<0.3"' in read(
        tree / "langchain_websearch" / "pyproject.toml"
    )
    first = CHANGELOG.replace("## Unreleased", "## 0.2.0rc1 - 2026-11-23")
    assert read(tree / "CHANGELOG.md") == first

    more = first.replace("## 0.2.0rc1", "## Unreleased\n\n- A lock.\n\n## 0.2.0rc1")
    write(tree / "CHANGELOG.md", more)
    cut(tree, "0.2.0rc2", "2026-11-25")
    second = first.replace(
        "## 0.2.0rc1 - 2026-11-23", "## 0.2.0rc2 - 2026-11-25\n\n- A lock."
    )
    assert read(tree / "CHANGELOG.md") == second

    cut(tree, "0.2.0", "2026-11-30")
    last = second.replace("0.2.0rc2 - 2026-11-25", "0.2.0 - 2026-11-30")
    assert read(tree / "CHANGELOG.md") == last
    assert '"websearch-core>=0.2,<0.3"' in read(
        tree / "langchain_websearch" / "pyproject.toml"
    )


@pytest.mark.parametrize("version", ["0.2.0rc1", "0.2.0rc2", "0.1.9"])
def test_a_candidate_of_what_is_released_is_refused(tree, version):
    cut(tree, "0.2.0", "2026-11-23")
    write(
        tree / "CHANGELOG.md",
        CHANGELOG.replace("## 0.1.0", "## 0.2.0 - 2026-11-23\n\nText.\n\n## 0.1.0"),
    )
    with pytest.raises(ReleaseError, match="not later"):
        cut(tree, version, "2026-11-30")


def test_a_first_candidate_has_the_version_that_the_packages_have(tree):
    write(tree / "CHANGELOG.md", CHANGELOG.partition("## 0.1.0")[0])
    cut(tree, "0.1.0rc1", "2026-11-23")
    assert read_version(tree) == "0.1.0rc1"


@pytest.mark.parametrize(
    ("version", "bound"),
    [
        ("0.2.0", ">=0.2,<0.3"),
        ("0.2.7", ">=0.2,<0.3"),
        ("1.0.0", ">=1.0,<2"),
        ("2.3.1", ">=2.3,<3"),
        ("0.2.0rc1", ">=0.2.0rc1,<0.3"),
        ("1.0.0rc2", ">=1.0.0rc2,<2"),
    ],
)
def test_a_wrapper_takes_the_cores_that_do_not_break_it(version, bound):
    assert bound_for(version) == bound


@pytest.mark.parametrize(
    "version", ["0.1.0", "0.0.9", "0.2", "v0.2.0", "0.2.0rc0", "0.2.0a1", "0.02.0", ""]
)
def test_a_version_that_is_not_a_later_one_is_refused(tree, version):
    with pytest.raises(ReleaseError):
        cut(tree, version, "2026-11-23")
    assert read(tree / "CHANGELOG.md") == CHANGELOG


def test_nothing_to_release_is_refused(tree):
    cut(tree, "0.2.0", "2026-11-23")
    after = read(tree / "CHANGELOG.md")
    with pytest.raises(ReleaseError, match="nothing stands under"):
        cut(tree, "0.3.0", "2026-11-23")
    write(tree / "CHANGELOG.md", after.replace("## 0.2.0", "## Unreleased\n\n## 0.2.0"))
    with pytest.raises(ReleaseError, match="nothing stands under"):
        cut(tree, "0.3.0", "2026-11-23")
    assert read_version(tree) == "0.2.0"


@pytest.fixture
def repository(tree, tmp_path_factory):
    origin = tmp_path_factory.mktemp("origin")
    git(origin, "init", "--quiet", "--bare")
    git(tree, "init", "--quiet", "--initial-branch", "main")
    git(tree, "config", "user.name", "Ada")
    git(tree, "config", "user.email", "ada@example.org")
    git(tree, "config", "tag.gpgSign", "false")
    git(tree, "remote", "add", "origin", str(origin))
    cut(tree, "0.2.0", "2026-11-23")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--no-gpg-sign", "--message", "Release 0.2.0")
    return tree, origin


def test_publishing_is_dry_unless_the_version_is_confirmed(repository, capsys):
    tree, origin = repository

    assert release.main(["publish"], tree) == 0
    assert "git push --atomic origin main v0.2.0" in capsys.readouterr().out
    assert git(tree, "tag") == git(origin, "for-each-ref") == ""

    assert release.main(["publish", "0.3.0"], tree) == 1
    assert git(tree, "tag") == git(origin, "for-each-ref") == ""

    assert release.main(["publish", "0.2.0"], tree) == 0
    assert git(origin, "tag") == "v0.2.0\n"
    assert git(origin, "rev-parse", "main") == git(tree, "rev-parse", "v0.2.0^{commit}")
    with pytest.raises(ReleaseError, match="already"):
        publish(tree, "0.2.0")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tree: write(tree / "core/more.py", ""), "not committed"),
        (
            lambda tree: git(tree, "switch", "--quiet", "--create", "idea"),
            "releases come from main",
        ),
        (lambda tree: write(tree / "CHANGELOG.md", CHANGELOG), "not released"),
        (
            lambda tree: write(tree / "core/pyproject.toml", 'version = "0.3.0"\n'),
            "no section for 0.3.0",
        ),
    ],
)
def test_a_tree_that_is_not_that_of_a_release_is_not_published(
    repository, change, words
):
    tree, origin = repository
    change(tree)

    with pytest.raises(ReleaseError, match=words):
        publish(tree, "0.2.0")
    assert git(origin, "for-each-ref") == ""


def test_the_workflow_checks_that_the_tag_is_that_of_the_version(repository):
    tree, _ = repository
    assert release.main(["check", "v0.2.0"], tree) == 0
    assert release.main(["check", "v0.2.1"], tree) == 1


def test_the_entry_for_the_registry_of_mcp_servers_gets_the_version(tree):
    cut(tree, "0.2.0", "2026-11-01")
    server = json.loads(read(tree / "examples/mcp/server.json"))
    (package,) = server["packages"]

    assert (server["version"], package["version"]) == ("0.2.0", "0.2.0")
    assert package["runtimeArguments"][0]["value"] == "websearch-core[mcp]==0.2.0"


def test_an_entry_with_another_version_is_not_published(tree):
    cut(tree, "0.2.0", "2026-11-01")
    path = tree / "examples/mcp/server.json"
    write(path, read(path).replace("==0.2.0", "==0.1.0"))
    with pytest.raises(
        ReleaseError, match=r"server\.json has 0\.1\.0, 0\.2\.0 instead of 0\.2\.0"
    ):
        release.check(tree)


def test_the_entry_is_what_the_registry_takes():
    """What the schema of 2025-12-11 demands, as far as it concerns us."""
    server = json.loads(read(ROOT / "examples/mcp/server.json"))
    (package,) = server["packages"]
    project = tomllib.loads(read(ROOT / "core/pyproject.toml"))["project"]

    assert set(server) <= {
        "$schema",
        "name",
        "title",
        "description",
        "version",
        "packages",
        "repository",
        "websiteUrl",
    }
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 1 <= len(server["title"]) <= 100
    assert 1 <= len(server["description"]) <= 100
    assert server["version"] == package["version"] == project["version"]
    assert (package["registryType"], package["identifier"]) == ("pypi", project["name"])
    assert package["transport"] == {"type": "stdio"}
    assert [set(one) for one in package["runtimeArguments"]] == [
        {"type", "name", "value"}
    ]
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]
    assert [
        set(one)
        for one in package["environmentVariables"]
        if not {"name", "description"}
        <= set(one)
        <= {"name", "description", "isSecret"}
    ] == []
    # uvx --from PACKAGE IDENTIFIER mcp
    assert package["identifier"] in project["scripts"]
