"""The sdists have the tests that need nothing else of the repository."""

from __future__ import annotations
import ast
import tomllib
from pathlib import Path

import pytest
from tools import sdists

ROOT = Path(__file__).resolve().parents[2]
OF_THE_REPOSITORY = {"benchmarks", "docs", "tests", "tools", "training"}


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("laid_out")
    sdists.lay_out(ROOT, folder)
    return folder


def modules_of(path):
    """Return the modules of the repository that the file at *path* imports when it is
    imported itself.
    """
    modules = set()
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Import):
            modules |= {name.name for name in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            of = statement.module
            modules |= {of, *(f"{of}.{name.name}" for name in statement.names)}
    return {one for one in modules if one.split(".")[0] in OF_THE_REPOSITORY}


@pytest.mark.parametrize("package", sdists.TESTS)
def test_what_its_tests_import_is_there(laid_out, package):
    folder = laid_out / package
    missing = {
        (path.relative_to(folder).as_posix(), module)
        for path in folder.glob("tests/**/*.py")
        for module in modules_of(path)
        if (ROOT / module.replace(".", "/")).with_suffix(".py").exists()
        and not (folder / module.replace(".", "/")).with_suffix(".py").exists()
    }

    assert missing == set()
    assert len(list(folder.glob("tests/**/test_*.py"))) > 15


@pytest.mark.parametrize("package", sdists.TESTS)
def test_it_names_what_runs_them(laid_out, package):
    project = tomllib.loads((laid_out / package / "pyproject.toml").read_text("utf-8"))
    here = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    own = tomllib.loads((ROOT / package / "pyproject.toml").read_text("utf-8"))

    assert project["tool"].pop("pytest") == here["tool"]["pytest"]
    assert {"pytest>=9,<10", "hypothesis[codemods]>=6.140"} <= set(
        project.pop("dependency-groups")["test"]
    )
    assert project == own


def test_what_is_about_the_repository_stays_there(laid_out):
    names = {path.name for path in laid_out.glob("*/tests/**/test_*.py")}

    assert "test_tools.py" in names
    assert not {"test_style.py", "test_docs.py", "test_exports.py"} & names
