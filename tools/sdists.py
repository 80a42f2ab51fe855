"""Lay out what the sdists are built from, each package with its tests:

    python tools/sdists.py SOURCE TARGET

Where the sdist is unpacked, ``pip install . --group test`` and ``python -m pytest``
run them. Tests that read other files of the repository stay there: whole files that say
``pytestmark = pytest.mark.repository``, while single tests with that mark are skipped.
"""

from __future__ import annotations
import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

_HELPERS = "answers clock conftest corpora profiling server waiting whole".split()
_CASSETTES = ["cassettes", "tests/cassettes/player.py", "tests/cassettes/tape.py"]
_MODELS = ["tests/models.py", "tests/vendors.py"]
_SITES = ["tests/core/client/test_crawl.py"]  # has the sites that the wrappers crawl
# Each package, and what its sdist has besides its folder and the helpers.
TESTS = {
    "core": [
        "tests/core",
        *_CASSETTES,
        "tests/cassettes/exchange.py",
        "tests/cassettes/keys.py",
        "tests/cassettes/test_cassettes.py",
        "tests/faults/proxy.py",
        "examples/serve.py",
        "examples/site",
    ],
    "langchain_websearch": ["tests/langchain", *_CASSETTES, *_MODELS, *_SITES],
    "llamaindex_websearch": ["tests/llamaindex", *_MODELS, *_SITES],
}
_GROUPS = {"langchain_websearch": "test-langchain"}
_STAYS = re.compile(r"^pytestmark = pytest\.mark\.repository$", re.MULTILINE)
_SECTION = "tool.pytest.ini_options"


def lay_out(source: Path, target: Path) -> None:
    """Copy the packages below *source* to *target*, each with its tests."""
    for package, parts in TESTS.items():
        folder = target / package
        _copy(source / package, folder)
        shutil.copy(source / ".gitignore", folder)
        helpers = [f"tests/{name}.py" for name in _HELPERS]
        for part in [*helpers, *parts]:
            _copy(source / part, folder / part)
        with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write(_settings(source, package))


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder without what Python or a run of tests left there."""
    paths = [source]
    if source.is_dir():
        paths = [path for path in source.rglob("*") if path.is_file()]
    for path in paths:
        if "__pycache__" in path.parts or _stays(path):
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _stays(path: Path) -> bool:
    """Whether *path* is a file of tests about the whole repository."""
    if not path.name.startswith("test_") or path.suffix != ".py":
        return False
    return bool(_STAYS.search(path.read_text("utf-8")))


def _settings(source: Path, package: str) -> str:
    """Return what the root's pyproject.toml says about tests: their packages, as one
    group, and the settings of pytest, as they are written.
    """
    text = (source / "pyproject.toml").read_text("utf-8")
    core = tomllib.loads((source / "core/pyproject.toml").read_text("utf-8"))
    extras = sorted(core["project"]["optional-dependencies"])
    # These two are large, and ddgs is tested apart.
    tested = [name for name in extras if name not in {"crawl4ai", "ray", "ddgs"}]
    packages = _expand(
        tomllib.loads(text)["dependency-groups"], _GROUPS.get(package, "test")
    )
    packages.append(f"websearch-core[{','.join(tested)}]")
    lines = "".join(f"  {json.dumps(each)},\n" for each in packages)
    pytest_section = text.split(f"[{_SECTION}]\n")[1].split("\n[")[0]
    return (
        f"\n[dependency-groups]\ntest = [\n{lines}]\n\n[{_SECTION}]\n{pytest_section}"
    )


def _expand(groups: dict[str, list[str | dict[str, str]]], name: str) -> list[str]:
    """Return the packages of the group *name*, and of those that it includes."""
    packages: list[str] = []
    for entry in groups[name]:
        if isinstance(entry, str):
            packages.append(entry)
        else:
            packages += _expand(groups, entry["include-group"])
    return packages


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]), Path(sys.argv[2]))
