"""Print the files of tests that a change asks for: those of the modules that differ from
the main branch, and files of tests that differ themselves.

    python -m tests.changed
"""

from __future__ import annotations
import subprocess
from collections.abc import Iterable

from tests.core.test_mirror import HOMES, OTHERS, PACKAGES, REPOSITORY, TESTS

MAIN = ("origin/main", "main")  # branches; the first that exists


def find_files_of_tests(paths: Iterable[str]) -> list[str]:
    """Return the files of tests for *paths*, both relative to the repository."""
    wanted: set[str] = set()
    for path in paths:
        if path.startswith("tests/") and path.rpartition("/")[2].startswith("test_"):
            wanted.add(path)
            continue
        for folder, package in PACKAGES.items():
            root = package.relative_to(REPOSITORY).as_posix()
            if path.startswith(f"{root}/"):
                module = path.removeprefix(f"{root}/").removesuffix(".py")
                wanted |= _find_homes(folder, module)
    return sorted(path for path in wanted if (REPOSITORY / path).exists())


def _find_homes(folder: str, module: str) -> set[str]:
    homes = {
        file
        for file, modules in OTHERS.items()
        if module in modules.split() and _folder_of(file) == folder
    }
    home = HOMES.get((folder, module))
    if home is not None:
        homes.add(home)
    return {f"{TESTS.name}/{file}.py" for file in homes}


def _folder_of(file: str) -> str:
    """Return the package that a line of the table is about."""
    folder = file.partition("/")[0]
    return folder if folder in PACKAGES else "core"


def find_changes() -> list[str]:
    """Return the paths of what differs from the main branch, or is new."""
    base = "HEAD"
    for branch in MAIN:
        common = _git("merge-base", "HEAD", branch)
        if common:
            base = common[0]
            break
    return [
        *_git("diff", "--name-only", base),
        *_git("ls-files", "--others", "--exclude-standard"),
    ]


def _git(*words: str) -> list[str]:
    """Return the lines that git prints; none if it fails."""
    done = subprocess.run(
        ["git", "-C", str(REPOSITORY), *words],
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines() if done.returncode == 0 else []


if __name__ == "__main__":
    print("\n".join(find_files_of_tests(find_changes())))
