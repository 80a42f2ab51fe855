"""Cut a release, and publish it.

    make release VERSION=0.2.0   # write the version and the changelog; then review
    make publish                 # build, check, and show what would be done
    make publish CONFIRM=0.2.0   # push the tag, upon which release.yml uploads

What is new stands under ``## Unreleased`` in the changelog. A candidate, 0.2.0rc1, is a
release, too: its section becomes that of the next candidate, or of the release.
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
_FORM = re.compile(
    r"(?P<release>(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2})(?:rc(?P<candidate>[1-9]\d*))?"
)
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
    1.0, a minor release may break. A candidate is older than its release.
    """
    major, minor = map(int, version.split(".")[:2])
    first = version if "rc" in version else f"{major}.{minor}"
    if major == 0:
        return f">={first},<0.{minor + 1}"
    return f">={first},<{major + 1}"


def cut(root: Path, version: str, day: str) -> None:
    """Write *version* into the packages, and date what is unreleased to *day*.

    Raises:
        ReleaseError: *version* is not a later one, or nothing is unreleased.
    """
    if not _FORM.fullmatch(version):
        raise ReleaseError(
            f"{version!r} is not a version such as 0.2.0 or 0.2.0rc1: make release "
            f"VERSION=0.2.0"
        )
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    before = read_version(root)
    is_released = has_section(text, before)
    # The first release has the version that the packages have already.
    is_later = _as_numbers(version) > _as_numbers(before)
    is_same = _as_numbers(version)[:3] == _as_numbers(before)[:3]
    if not is_later and (is_released or not is_same):
        raise ReleaseError(f"{version} is not later than {before}")
    head, changes, older = _take_changes(text, version)
    if not changes:
        raise ReleaseError("CHANGELOG.md: nothing stands under '## Unreleased'")
    section = f"## {version} - {day}\n\n{changes}\n"
    changelog.write_text(f"{head}{section}{older}", "utf-8")
    _replace(root / "core/pyproject.toml", _VERSION, f'version = "{version}"')
    for wrapper in _WRAPPERS:
        _replace(root / wrapper / "pyproject.toml", _BOUND, bound_for(version))
    server = root / _SERVER
    server.write_text(
        _SERVER_VERSION.sub(rf"\g<before>{version}", server.read_text("utf-8")), "utf-8"
    )


def _take_changes(changelog: str, version: str) -> tuple[str, str, str]:
    """Return a changelog in three parts: what is before the changes of *version*, these
    changes, and what is older. Those of its candidates are among them.
    """
    head, mark, rest = changelog.partition(_UNRELEASED)
    if not mark:
        head, mark, rest = changelog.partition("\n## ")
        head += "\n"
        rest = mark.lstrip() + rest
    parts = re.split(r"^(?=## )", rest, flags=re.MULTILINE)
    changes = [parts.pop(0).strip()]
    release = version.partition("rc")[0]
    while parts and parts[0].startswith(f"## {release}rc"):
        _, _, body = parts.pop(0).partition("\n")
        changes.append(body.strip())
    older = "".join(parts)
    return head, "\n\n".join(filter(None, changes)), f"\n{older}" if older else ""


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
    """Return what versions are compared by: a release is later than its candidates."""
    form = _FORM.fullmatch(version)
    assert form
    candidate = form["candidate"] or "999"
    return (*map(int, form["release"].split(".")), int(candidate))


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
