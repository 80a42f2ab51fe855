"""What the documentation shows works."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import re
import sys
import tomllib
import types
from pathlib import Path

import pytest

from websearch_core import SearchQuery, WebSearch, errors
from websearch_core.layers import Rank, layer_class
from websearch_core.provider._function import from_function
from websearch_core.testing import SECRET, Promise, play, reply, search_promises

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]


def examples(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_is_python_and_imports_what_exists(page):
    for example in examples(page):
        compile(example, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        for statement in re.findall(
            r"^from (?:websearch_core|langchain_websearch|llamaindex_websearch)[\w.]* import (?:\([^)]*\)|.*)",
            example,
            re.MULTILINE,
        ):
            exec(statement, {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_between_pages_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def kagi():
    """The provider that CONTRIBUTING.md has its reader write, word for word."""
    module = types.ModuleType("websearch_core.providers.kagi")
    module.__package__ = "websearch_core.providers"
    source = next(example for example in examples(ROOT / "CONTRIBUTING.md") if "class Kagi" in example)
    sys.modules[module.__name__] = module
    exec(compile(source, "kagi.py", "exec"), module.__dict__)
    return module.Kagi(api_key=SECRET)


@pytest.mark.parametrize(
    "promise",
    search_promises(
        kagi(),
        some=reply({"data": {"search": [{"title": "Kelp", "url": "https://sea.example/kelp", "snippet": "Algae"}]}}),
        none=reply({"data": {"search": []}}),
    ),
    ids=str,
)
def test_the_provider_of_the_recipe_keeps_its_promises(promise: Promise):
    promise()


def test_the_examples_of_extending_work(monkeypatch, capsys):
    made = {}
    for example in examples(ROOT / "docs" / "extending.md"):
        module = types.ModuleType("extending")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(example, "extending.md", "exec"), module.__dict__)
        made |= vars(module)

    assert capsys.readouterr().out == "https://ships.example/fram\n"
    hit = {"title": "Kelp", "url": "https://sea.example/kelp"}
    outcome = play(made["Harbour"]().search(SearchQuery.of("kelp")), reply({"results": [hit]}))
    assert outcome.result.results[0].url == hit["url"]

    limit = made["CallLimit"](most=2)
    web, other = (WebSearch(from_function("ships", search=made["search"], read=str), layers=[limit]) for _ in range(2))
    web.search("Fram")
    web.search("Gjøa")
    with pytest.raises(errors.BudgetExceeded, match="2 calls have been made"):
        web.search("Fram")
    assert other.search("Fram").results


def test_the_ranks_are_listed_as_they_stand():
    listed = re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs" / "extending.md").read_text("utf-8"), re.MULTILINE)

    assert listed == [rank.name for rank in sorted(Rank, reverse=True)]


def test_the_tables_of_layers_are_options_of_theirs():
    table = re.search(r"```toml\n(\[layers.*?)```", (ROOT / "docs" / "settings.md").read_text("utf-8"), re.DOTALL)
    for name, options in tomllib.loads(table[1])["layers"].items():
        layer = layer_class(name)(**options)
        assert {field.name for field in dataclasses.fields(layer)} - {"inner"} == set(options)


def test_the_tree_of_errors_is_drawn_as_it_is():
    names = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    for text in (errors.__doc__, (ROOT / "docs" / "errors.md").read_text("utf-8")):
        assert set(re.findall(r"[├└]── (\w+)", text)) | {"WebSearchError"} == names


def program(path: str):
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "docs" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_providers_says_what_they_say():
    generate = program("generate.py")

    assert generate.PAGE.read_text("utf-8") == generate.page(), "run make docs"


def test_the_reference_lists_what_is_public():
    text = (ROOT / "docs" / "api.md").read_text("utf-8")

    assert text == program("generators/reference.py").write_page(), "run make docs"
    assert " at 0x" not in text  # the address of an object changes from run to run


def test_every_page_can_be_found_from_the_index():
    docs = ROOT / "docs"
    pages = {str(page.relative_to(docs)) for page in [*docs.glob("*.md"), *docs.glob("measured/*.md")]} - {"index.md"}
    listed = set(re.findall(r"\]\(([\w./-]+)\)", (docs / "index.md").read_text("utf-8")))

    assert pages | {"decisions"} <= listed
