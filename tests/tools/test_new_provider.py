"""`make provider NAME=...` begins a provider that passes lint and the contract as it
is.
"""

from __future__ import annotations
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools import new_provider

ROOT = Path(__file__).resolve().parents[2]
NEEDED = [
    "core/src",
    "cassettes",
    "tests/core/providers",
    "tools",
    "CONTRIBUTING.md",
    "pyproject.toml",
]
TESTED = [
    "core/src",
    "core/README.md",
    "langchain_websearch/src",
    "llamaindex_websearch/src",
    "langchain_websearch/README.md",
    "llamaindex_websearch/README.md",
    "cassettes",
    "docs",
    "tests",
    "tools",
    "CONTRIBUTING.md",
    "README.md",
    "pyproject.toml",
]


@pytest.fixture(params=[NEEDED], ids=[""])
def tree(request, tmp_path):
    """A copy of what the program reads, or of what a test names, for which ``run`` runs
    Python.
    """
    for name in request.param:
        source, target = ROOT / name, tmp_path / name
        if source.is_dir():
            # compiled files too: their sources keep their times
            shutil.copytree(source, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return tmp_path


def run(tree, *words):
    environment = os.environ | {"PYTHONPATH": str(tree / "core" / "src")}
    # a generated provider is in no wheel yet
    environment.pop("WEBSEARCH_REQUIRE_WHEELS", None)
    return subprocess.run(
        [sys.executable, "-B", *words],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
    )


def check(tree, *words):
    done = run(tree, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("tree", [TESTED], ids=[""], indirect=True)
@pytest.mark.apart
def test_new_providers_pass_lint_and_the_contract_as_generated(tree):
    names, python = ["lighthouse", "zz_tide"], []
    for name in names:
        written = check(tree, "tools/new_provider.py", name).splitlines()[:-1]
        assert written == [
            f"core/src/websearch_core/providers/{name}.py",
            f"cassettes/{name}/search.yaml",
            f"cassettes/{name}/nothing.yaml",
            f"tests/core/providers/test_{name}.py",
            f"cassettes/{name}/malformed.yaml",
            f"cassettes/{name}/quota.yaml",
            f"cassettes/{name}/rate_limited.yaml",
            f"cassettes/{name}/wrong_key.yaml",
            "core/src/websearch_core/_registry.py",
        ]
        python += [path for path in written if path.endswith(".py")]
    check(tree, "-m", "docs.generate")

    check(tree, "-m", "ruff", "check", "--no-cache", *python)
    check(tree, "-m", "ruff", "format", "--check", "--no-cache", *python)
    done = check(
        tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", " or ".join([*names, "generated", "built_in", "mirror"]),
        "tests/core/test_contract.py", "tests/cassettes/test_cassettes.py", "tests/cassettes/test_scenarios.py",
        "tests/core/test_docs.py", "tests/core/test_exports.py", "tests/core/test_mirror.py",
        "tests/core/providers/test_providers.py", *(f"tests/core/providers/test_{name}.py" for name in names),
    )  # fmt: skip
    assert int(re.search(r"(\d+) passed", done)[1]) > 80
    for page in ("llamaindex_websearch/README.md", "docs/providers.md"):
        text = (tree / page).read_text("utf-8")
        assert [name for name in names if name not in text] == []


@pytest.mark.apart
def test_a_generated_provider_is_typed(tree):
    check(tree, "tools/new_provider.py", "zz_tide")

    file = "core/src/websearch_core/providers/zz_tide.py"
    check(
        tree, "-m", "mypy", "--follow-imports=silent", "--cache-dir", os.devnull, file
    )


def test_the_registry_stays_sorted(tree):
    for name in ("aa", "mm_tide", "zz"):
        check(tree, "tools/new_provider.py", name)

    registered = check(
        tree, "-c", "from websearch_core import _registry; print(*_registry._BUILT_IN)"
    ).split()
    assert registered == sorted(registered)
    assert {"aa", "mm_tide", "zz"} < set(registered)


def test_a_key_goes_to_no_host_that_somebody_may_own(tree):
    check(tree, "tools/new_provider.py", "you_com")

    text = "".join(
        path.read_text("utf-8")
        for path in tree.glob("**/*")
        if path.match("*you_com*/*.yaml")
    )
    text += (tree / "core/src/websearch_core/providers/you_com.py").read_text("utf-8")
    assert "https://you-com.example/api/v1" in text
    assert ".com/" not in text
    assert "class YouCom:" in text
    assert "YOU_COM_API_KEY" in text


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("", "not a name for a provider"),
        ("Lighthouse", "not a name for a provider"),
        ("2lighthouse", "not a name for a provider"),
        ("you.com", "not a name for a provider"),
        ("../lighthouse", "not a name for a provider"),
        ("lighthouse\n", "not a name for a provider"),
        ("_build", "not a name for a provider"),
        ("a__b", "not a name for a provider"),
        ("k" * 31, "not a name for a provider"),
        ("import", "not a name for a provider"),
        ("käse", "not a name for a provider"),
        ("brave", "it is the provider brave"),
        ("ddg", "it is the provider duckduckgo"),
        ("request", "the class would be called Request"),
        ("base_url", "the class would be called BaseUrl"),
        ("exception", "the class would be called Exception"),
    ],
)
def test_a_bad_name_is_refused(name, complaint):
    with pytest.raises(new_provider.BadName, match=complaint):
        new_provider.check_name(name)


def test_a_bad_name_ends_with_a_sentence_and_writes_nothing(tree):
    before = {
        path: path.stat().st_mtime_ns for path in tree.glob("**/*") if path.is_file()
    }
    done = run(tree, "tools/new_provider.py", "brave")

    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "'brave' is taken: it is the provider brave; `websearch providers` lists them\n"
    )
    assert {
        path: path.stat().st_mtime_ns for path in tree.glob("**/*") if path.is_file()
    } == before


def test_what_exists_is_not_overwritten(tree):
    (tree / "cassettes" / "zz_tide").mkdir()
    (tree / "cassettes" / "zz_tide" / "nothing.yaml").write_text("mine")
    done = run(tree, "tools/new_provider.py", "zz_tide")

    assert done.returncode == 2
    assert done.stderr == "'zz_tide' is taken: cassettes/zz_tide/nothing.yaml exists\n"
    assert (tree / "cassettes" / "zz_tide" / "nothing.yaml").read_text() == "mine"
    assert not (tree / "core/src/websearch_core/providers/zz_tide.py").exists()
