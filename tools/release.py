"""Cut a release, and publish it.

    make release VERSION=0.2.0   # write the version and the changelog; then review and
        commit make publish                 # build, check, and show what would be done
        make publish CONFIRM=0.2.0   # do it: push the tag, upon which
        .github/workflows/release.yml uploads the packages

Entries for the changelog are files in ``changelog.d``, so that two branches never
change the same line. A section ``## Unreleased`` may already be there: its text is
kept, and the files are added to it.
"""

from __future__ import annotations
import argparse
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_MAIN = "main"
_UNRELEASED = "## Unreleased\n"
_WRAPPERS = ("langchain_websearch", "llamaindex_websearch")
_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
_SERVER = "examples/mcp/server.json"  # for the registry of MCP servers
_SERVER_VERSION = re.compile(
    r'(?P<before>"version": "|\[mcp\]==)(?P<version>[^"]+)(?=")'
)
_BOUND = re.compile(r'(?<="websearch-core)>=[^"]*(?=")')


class ReleaseError(Exception):
    """Something must be done before the release."""


def read_version(root: Path) -> str:
    """Return the version of the three packages."""
    found = _VERSION.search((root / "core/pyproject.toml").read_text("utf-8"))
    assert found
    return found[1]


def bound_for(version: str) -> str:
    """Return the versions of the core that go with the wrappers of *version*: before
    1.0, a minor release may break.
    """
    major, minor, _ = map(int, version.split("."))
    return (
        f">={major}.{minor},<0.{minor + 1}"
        if major == 0
        else f">={major}.{minor},<{major + 1}"
    )


def cut(root: Path, version: str, day: str) -> None:
    """Write *version* into the packages, and date what is unreleased to *day*.

    Raises:
        ReleaseError: *version* is not a later one, or nothing is unreleased.
    """
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        raise ReleaseError(
            f"{version!r} is not a version such as 0.2.0: make release VERSION=0.2.0"
        )
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    before = read_version(root)
    # The first release has the version that the packages have already.
    if has_section(text, version) or _as_numbers(version) < _as_numbers(before):
        raise ReleaseError(f"{version} is not later than {before}")
    head, _, changes = text.partition(_UNRELEASED)
    if not changes.partition("\n## ")[0].strip():
        raise ReleaseError("CHANGELOG.md: nothing stands under '## Unreleased'")
    changelog.write_text(f"{head}## {version} - {day}\n{changes}", "utf-8")
    _replace(root / "core/pyproject.toml", _VERSION, f'version = "{version}"')
    for wrapper in _WRAPPERS:
        _replace(root / wrapper / "pyproject.toml", _BOUND, bound_for(version))
    server = root / _SERVER
    server.write_text(
        _SERVER_VERSION.sub(rf"\g<before>{version}", server.read_text("utf-8")), "utf-8"
    )


def has_section(changelog: str, version: str) -> bool:
    """Return whether *changelog* has the section of a release."""
    heading = rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$"
    return re.search(heading, changelog, re.MULTILINE) is not None


def check(root: Path, tag: str = "") -> str:
    """Return the version that is ready to be published.

    Raises:
        ReleaseError: The tree is not that of a release, or *tag* is another version's.
    """
    version = read_version(root)
    if tag and tag != f"v{version}":
        raise ReleaseError(f"the tag is {tag}, and the packages are {version}")
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    if _UNRELEASED in changelog:
        raise ReleaseError("some changes are not released: make release VERSION=x.y.z")
    if not has_section(changelog, version):
        raise ReleaseError(
            f"CHANGELOG.md has no section for {version}: make release VERSION={version}"
        )
    named = {
        found["version"]
        for found in _SERVER_VERSION.finditer((root / _SERVER).read_text("utf-8"))
    }
    if named != {version}:
        raise ReleaseError(
            f"{_SERVER} has {', '.join(sorted(named))} instead of {version}"
        )
    return version


def publish(root: Path, confirm: str) -> list[list[str]]:
    """Push the tag of the release, or only return the commands that do it.

    Args:
        root: The repository.
        confirm: The version to publish; empty for a dry run.

    Raises:
        ReleaseError: The tree is not ready, or *confirm* is another version.
        subprocess.CalledProcessError: git failed.
    """
    version = check(root)
    if _git(root, "status", "--porcelain"):
        raise ReleaseError("there are changes that are not committed")
    if (branch := _git(root, "branch", "--show-current")) != _MAIN:
        raise ReleaseError(
            f"releases come from {_MAIN}, and this is {branch or 'no branch'}"
        )
    if _git(root, "tag", "--list", f"v{version}"):
        raise ReleaseError(f"v{version} has been tagged already")
    if confirm not in ("", version):
        raise ReleaseError(f"this is {version}: make publish CONFIRM={version}")
    commands = [
        ["git", "tag", "--annotate", f"v{version}", "--message", f"Release {version}"],
        ["git", "push", "--atomic", "origin", _MAIN, f"v{version}"],
    ]
    for command in commands if confirm else ():
        subprocess.run(command, cwd=root, check=True)
    return commands


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _replace(path: Path, pattern: re.Pattern[str], text: str) -> None:
    changed, count = pattern.subn(text, path.read_text("utf-8"))
    assert count == 1, path
    path.write_text(changed, "utf-8")


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


def main(arguments: list[str], root: Path = _ROOT) -> int:
    """Run a command, and return the exit status."""
    parser = argparse.ArgumentParser(prog="release")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("cut").add_argument("version")
    commands.add_parser("check").add_argument("tag", nargs="?", default="")
    commands.add_parser("publish").add_argument("confirm", nargs="?", default="")
    given = parser.parse_args(arguments)
    try:
        if given.command == "cut":
            cut(root, given.version, f"{datetime.now(UTC):%Y-%m-%d}")
            print(
                f"Review and commit:\n  git commit --all --message 'Release "
                f"{given.version}'\n  make publish"
            )
        elif given.command == "check":
            print(f"{check(root, given.tag)} is ready.")
        else:
            done = publish(root, given.confirm)
            if not given.confirm:
                print("Nothing is published yet. The commands would be:")
                print(*(f"  {' '.join(command)}" for command in done), sep="\n")
                print(
                    "The workflow Release then tests, attests and uploads. To start it:"
                )
                print(f"  make publish CONFIRM={read_version(root)}")
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
