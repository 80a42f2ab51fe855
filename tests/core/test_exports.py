"""The public modules: their names, and the cost of importing them."""

from __future__ import annotations
import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import types
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest

import langchain_websearch
import llamaindex_websearch
import websearch_core
from tests.server import Server, http
from websearch_core import errors, provider, providers
from websearch_core.provider import google

pytestmark = pytest.mark.repository
ROOMS = (
    "citations client errors events flow index keys layers mcp models otel provenance provider providers ray reading "
    "render settings testing tokens tools".split()
)
PUBLIC = [
    "websearch_core",
    *(f"websearch_core.{room}" for room in ROOMS),
    "websearch_core.provider.google",
]
PACKAGES = [websearch_core, langchain_websearch, llamaindex_websearch]
DISTRIBUTIONS = {package: package.__name__.replace("_", "-") for package in PACKAGES}


def defined(module: types.ModuleType) -> set[str]:
    """Return the names without an underscore that the source of *module* itself
    defines.
    """
    names: set[str] = set()
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = (
                statement.targets
                if isinstance(statement, ast.Assign)
                else [statement.target]
            )
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def in_order(name: str) -> tuple[bool, bool, str]:
    """Constants, classes, functions: the order that ruff keeps."""
    return not (name.isupper() and len(name) > 1), not name[0].isupper(), name


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_lists_all_that_it_offers_and_nothing_else(name):
    module = importlib.import_module(name)
    listed = module.__all__

    assert listed == sorted(set(listed), key=in_order)
    assert not [name for name in listed if name.startswith("_")]
    assert [name for name in listed if not hasattr(module, name)] == []
    assert defined(module) - set(listed) == set()


def test_every_other_module_has_an_underscore_or_lies_behind_one():
    found = {
        one.name
        for one in pkgutil.walk_packages(websearch_core.__path__, "websearch_core.")
    }
    open_to_all = {
        name
        for name in found
        if not any(part.startswith("_") for part in name.split("."))
    }
    of_providers = {
        name for name in open_to_all if name.startswith("websearch_core.providers.")
    }

    assert open_to_all - of_providers == set(PUBLIC) - {"websearch_core"}
    assert {name.rpartition(".")[2] for name in of_providers} == set(providers.known())


def test_the_kit_of_an_author_fits_on_a_page_and_leaves_errors_to_their_module():
    assert len(provider.__all__) <= 83
    assert set(provider.__all__).isdisjoint([*errors.__all__, *google.__all__])


def test_the_page_about_extending_shows_the_whole_kit():
    page = (Path(__file__).resolve().parents[2] / "docs/extending.md").read_text(
        "utf-8"
    )
    section = page.partition("### The kit\n")[2].partition("\n#")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]

    assert sorted(names) == sorted(provider.__all__)


def test_the_kit_says_what_it_lacks():
    assert dir(provider) == sorted(provider.__all__)
    with pytest.raises(AttributeError, match="no attribute 'parse_everything'"):
        _ = provider.parse_everything


def test_the_file_of_a_provider_shows_its_class_alone():
    for cls in map(providers.provider_class, providers.known()):
        if cls.__module__.startswith("websearch_core."):
            assert defined(sys.modules[cls.__module__]) == {cls.__name__}


def test_the_public_names_are_these_and_nothing_leaks():
    for name in websearch_core.__all__:
        getattr(websearch_core, name)  # imported on first access
    public = {
        name
        for name, value in vars(websearch_core).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public == set(websearch_core.__all__)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_a_package_shows_what_is_public_and_its_version(package):
    assert dir(package) == sorted(["__version__", *package.__all__])
    assert package.__version__ == version(DISTRIBUTIONS[package])
    with pytest.raises(
        AttributeError, match=f"module '{package.__name__}' has no attribute 'nonsense'"
    ):
        _ = package.nonsense


def test_the_public_modules_are_there_after_importing_the_package():
    program = (
        f"import websearch_core, sys; print('websearch_core.reading' in sys.modules);"
        f"[getattr(websearch_core, room).__all__ for room in {ROOMS}]"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "False"


def test_every_built_in_provider_can_be_imported_from_the_registry():
    ours = {
        cls.__name__: cls
        for cls in map(providers.provider_class, providers.known())
        if "websearch_core." in repr(cls)
    }

    assert ours
    assert ours.keys() <= set(providers.__all__)
    assert {name: getattr(providers, name) for name in ours} == ours
    seen = {
        name.asname or name.name
        for part in ast.walk(ast.parse(Path(providers.__file__).read_text("utf-8")))
        if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"
        for statement in part.body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
    }
    assert seen == set(ours)  # what type checkers see
    with pytest.raises(AttributeError, match="Brvae"):
        _ = providers.Brvae


@pytest.mark.parametrize(
    "statement",
    [
        "import websearch_core",
        "from websearch_core import WebSearch; WebSearch('brave', api_key='key')",
        "import websearch_core.reading, websearch_core.render, websearch_core.layers",
        "from websearch_core.providers import Brave; Brave(api_key='key')",
    ],
)
def test_importing_loads_no_framework_no_http_library_and_no_parser(statement):
    heavy = [
        "langchain_core",
        "llama_index",
        "httpx",
        "httpx2",
        "bs4",
        "markdownify",
        "selectolax",
        "rich",
        "typer",
    ]
    program = f"{statement}; import sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


@pytest.mark.enable_socket
def test_the_first_page_of_a_process_loads_no_parser_there():
    parsers = [
        "bs4",
        "markdownify",
        "selectolax",
        "websearch_core.reading._excerpt.pieces",
        "websearch_core.reading._formats",
        "websearch_core.reading._html",
        "websearch_core.reading._types",
        "websearch_core._text.money",
    ]
    program = (
        "import sys; from websearch_core import WebSearch; url = sys.argv[1]; "
        "web = WebSearch('tavily', api_key='key', internal=[url]); "
        "print(web.read(url).content); "
        f"print([name for name in {parsers} if name in sys.modules])"
    )
    page = http("<title>Keys</title><h1>Keys</h1><p>Rotate the key.</p>")
    with closing(Server([page])) as server:
        done = subprocess.run(
            [sys.executable, "-c", program, server.url],
            capture_output=True,
            text=True,
            check=True,
        )

    assert done.stdout.splitlines() == ["# Keys", "", "Rotate the key.", "[]"]


def test_the_process_that_parses_loads_only_what_converts_a_page():
    unused = [
        "asyncio",
        "bs4",
        "httpx",
        "markdownify",
        "subprocess",
        "websearch_core.client",
        "websearch_core.flow",
        "websearch_core.reading._choice",
        "websearch_core.reading._documents",
        "websearch_core.reading._isolation.pool",
        "websearch_core.reading._isolation.worker",
    ]
    program = (
        "import sys; from websearch_core.reading._isolation.child import serve; "
        "serve(); "
        f"print([name for name in {unused} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )

    assert done.stderr.decode().strip() == "[]"
