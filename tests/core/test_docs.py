"""The examples in the documentation work."""

from __future__ import annotations
import ast
import dataclasses
import json
import re
import shlex
import sys
import tomllib
import types
from pathlib import Path

import pytest
import typer.testing
from typer.testing import CliRunner

from docs import generate
from docs.generators.markdown import make_table, replace_part
from websearch_core import SearchQuery, WebSearch, _registry, errors
from websearch_core._cli.app import app
from websearch_core._net.guard import Guard
from websearch_core.client import WebSearchOptions
from websearch_core.layers import Rank, layer_class, leaves
from websearch_core.models import Image, Page, Passage, SearchResponse, SearchResult
from websearch_core.provider._function import from_function
from websearch_core.render import page_as_json, search_as_json
from websearch_core.testing import SECRET, play, reply

pytestmark = pytest.mark.repository
ROOT = Path(__file__).resolve().parents[2]
RENDERED = generate.render()
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("*/README.md"),
    *ROOT.glob("benchmarks/results/*.md"),
]


def examples(page: Path) -> list[str]:
    return re.findall(
        r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_is_python_and_imports_what_exists(page):
    for example in examples(page):
        compile(
            example,
            str(page),
            "exec",
            flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            dont_inherit=True,
        )
        for statement in re.findall(
            r"^from (?:websearch_core|langchain_websearch|llamaindex_websearch)[\w.]* import (?:\([^)]*\)|.*)",
            example,
            re.MULTILINE,
        ):
            # the example that `make provider` writes
            if ".lighthouse" not in statement:
                exec(statement, {})


def test_every_example_of_a_settings_file_is_toml():
    for page in PAGES:
        for example in re.findall(
            r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
        ):
            try:
                tomllib.loads(example)
            except tomllib.TOMLDecodeError as error:
                pytest.fail(f"{page.relative_to(ROOT)}: {error}:\n{example}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_between_pages_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of *page*."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    headings = [
        re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", one)
        for one in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    ]
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_into_a_page_leads_to_one_of_its_headings(page):
    for target, anchor in re.findall(
        r"\]\((?!https?://)([^)#\s]*)#([^)\s]+)\)", page.read_text("utf-8")
    ):
        other = page.parent / target if target else page
        assert other.suffix != ".md" or anchor in anchors(other), f"{target}#{anchor}"


def recipe():
    """The provider that CONTRIBUTING.md shows: its first Python block with a class."""
    return next(
        example
        for example in examples(ROOT / "CONTRIBUTING.md")
        if re.search("^class ", example, re.MULTILINE)
    )


def in_package_of_its_own(folder, monkeypatch):
    """Install the recipe, word for word, as the package websearch_lighthouse that
    registers it by an entry point.
    """
    (folder / "websearch_lighthouse").mkdir()
    (folder / "websearch_lighthouse" / "__init__.py").write_text(recipe())
    info = folder / "websearch_lighthouse-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: websearch-lighthouse\nVersion: 1\n"
    )
    group = re.search(
        r"```toml\n(\[project.entry-points.*?)```",
        (ROOT / "CONTRIBUTING.md").read_text(),
        re.DOTALL,
    )
    (points,) = tomllib.loads(group[1])["project"]["entry-points"].items()
    lines = [f"{name} = {place}" for name, place in points[1].items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{points[0]}]", *lines, ""]))
    monkeypatch.syspath_prepend(str(folder))


@pytest.fixture
def plugged_in(tmp_path, monkeypatch):
    in_package_of_its_own(tmp_path, monkeypatch)
    _registry._plugged_in.cache_clear()
    yield
    sys.modules.pop("websearch_lighthouse", None)
    monkeypatch.undo()
    _registry._plugged_in.cache_clear()


def test_the_recipe_imports_what_it_needs_from_one_place():
    modules = [
        node
        for node in ast.walk(ast.parse(recipe()))
        if isinstance(node, ast.ImportFrom)
    ]

    assert {node.module for node in modules} == {
        "__future__",
        "typing",
        "websearch_core",
    }


def test_the_recipe_works_in_a_package_of_your_own(plugged_in):
    web = WebSearch("lighthouse", api_key=SECRET)
    (leaf,) = leaves(web.provider)

    assert type(leaf).__module__ == "websearch_lighthouse"
    assert "lighthouse" in _registry.known()


def test_the_test_of_the_recipe_passes_in_a_package_of_your_own(plugged_in):
    source = next(
        example
        for example in examples(ROOT / "CONTRIBUTING.md")
        if "search_checks" in example
    )
    module: dict[str, object] = {}
    exec(source, module)

    assert len(module["CHECKS"]) > 30
    for check in module["CHECKS"]:
        module["test_lighthouse_keeps_its_promises"](check)


def test_the_recipe_can_be_registered_for_one_process(monkeypatch):
    module = types.ModuleType("websearch_lighthouse")
    monkeypatch.setitem(sys.modules, "websearch_lighthouse", module)
    monkeypatch.setattr(_registry, "_registered", {})
    exec(recipe(), module.__dict__)
    _registry.register("lighthouse", module.Lighthouse)

    assert WebSearch("lighthouse", api_key=SECRET).search


@pytest.fixture
def offline(monkeypatch):
    """Instead of the web: one DuckDuckGo, one service of JSON, and one page for every
    other address.
    """
    link = '<div class="web-result"><a class="result__a" href="https://docs.python.org/3/">Python</a></div>'
    hit = {"title": "Kelp", "url": "https://sea.example/kelp"}

    def send(self, request):
        if request.url.startswith("https://html.duckduckgo.com/"):
            return reply(link)
        if request.url.startswith("https://api.example/"):
            return reply({"results": [hit]})
        return reply(
            "<title>Keys</title><h1>Keys</h1><p>To rotate a key, make a new one. Mind the grace period."
        )

    async def asend(self, request):
        return send(self, request)

    monkeypatch.setattr("websearch_core._net.sender.Sender.send", send)
    monkeypatch.setattr("websearch_core._net.sender.Sender.asend", asend)


def run_examples(page, such_as):
    made = {}
    for example in examples(page):
        if such_as in example:
            exec(compile(example, str(page), "exec"), made)
    return made


def test_the_calls_that_the_readme_shows_work(offline):
    made = run_examples(ROOT / "README.md", "from websearch_core import WebSearch\n")

    assert made["response"].results[0].url == "https://docs.python.org/3/"
    assert "grace period" in made["page"].content


@pytest.mark.parametrize("page", ["README.md", "docs/extending.md"])
async def test_the_provider_that_a_page_shows_works_blocking_and_async(offline, page):
    web = WebSearch(run_examples(ROOT / page, "class Harbour")["Harbour"]())

    for found in (web.search("tides"), await web.asearch("tides")):
        assert [result.url for result in found.results] == ["https://sea.example/kelp"]
    with pytest.raises(errors.UnsupportedOption):
        web.search("tides", time_range="week")


def test_the_readme_begins_with_the_idea():
    page = (ROOT / "README.md").read_text("utf-8")
    first_screen = "".join(page.splitlines(keepends=True)[:43])

    for shown in (
        "pip install",
        "create_agent(",
        "The answer has links to its sources.",
        "ERROR [rate_limited]",
        "docs/migration.md",
        "make demo",
        "make test",
        "TavilySearch",
    ):
        assert shown in first_screen
    assert (
        page.index("\n## Services")
        < page.index("\n## Write a provider")
        < page.index("A **provider** is")
    )


@pytest.mark.parametrize("package", ["langchain_websearch", "llamaindex_websearch"])
def test_the_page_of_a_package_names_every_service_and_installs_the_command(package):
    page = (ROOT / package / "README.md").read_text("utf-8")

    assert [name for name in _registry.known() if f"`{name}`" not in page] == []
    assert "websearch-core[cli]" in re.search(r"^pip install .*", page, re.MULTILINE)[0]


def test_the_checks_of_a_new_installation_end_as_the_page_says(monkeypatch):
    page, asked = (ROOT / "docs" / "checklist.md").read_text("utf-8"), []
    link = '<div class="web-result"><a class="result__a" href="https://docs.python.org/3/">Python</a></div>'

    def send(self, request):
        if request.guarded:
            Guard().check(request.url)
        asked.append(request.url)
        if "tavily" in request.url:
            return reply({"detail": "no"}, 401)
        return reply(
            link
            if "duckduckgo" in request.url
            else "<title>Keys</title><p>To rotate a key, make a new one."
        )

    monkeypatch.setattr("websearch_core._net.sender.Sender.send", send)
    done = []
    for command in re.findall(
        r"^```console\n(.*?)\n```", page, re.MULTILINE | re.DOTALL
    ):
        *variables, _, words = re.split(r"(?:^| )(websearch) ", command)
        env = dict([variables[0].split("=")]) if variables[0] else {}
        done.append(typer.testing.CliRunner().invoke(app, shlex.split(words), env=env))

    search, read, refuse, fall_back, _ = done
    assert [
        search.exit_code,
        read.exit_code,
        refuse.exit_code,
        fall_back.exit_code,
    ] == [0, 0, 3, 0]
    assert "https://docs.python.org/3/" in search.stdout
    assert "make a new one" in read.stdout
    assert "ERROR [unsafe_url] the address is not a public one." in refuse.stderr
    assert (
        "tavily failed (authentication_failed); answered by duckduckgo"
        in fall_back.stdout
    )
    assert "wikipedia.org" in asked[-1]
    assert not [url for url in asked if "169.254" in url]


def test_the_examples_of_extending_work(monkeypatch, capsys):
    made = {}
    for example in examples(ROOT / "docs" / "extending.md"):
        module = types.ModuleType("extending")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(example, "extending.md", "exec"), module.__dict__)
        made |= vars(module)

    assert capsys.readouterr().out == "https://ships.example/fram\n"
    hit = {"title": "Kelp", "url": "https://sea.example/kelp"}
    outcome = play(
        made["Harbour"]().search(SearchQuery.of("kelp")), reply({"results": [hit]})
    )
    assert outcome.result.results[0].url == hit["url"]

    limit = made["CallLimit"](most=2)
    web, other = (
        WebSearch(
            from_function("ships", search=made["search"], read=str), layers=[limit]
        )
        for _ in range(2)
    )
    web.search("Fram")
    web.search("Gjøa")
    with pytest.raises(errors.BudgetExceeded, match="2 calls have been made"):
        web.search("Fram")
    assert other.search("Fram").results


def test_the_ranks_are_listed_as_they_are():
    listed = re.findall(
        r"^\| `([A-Z_]+)` \|",
        (ROOT / "docs" / "extending.md").read_text("utf-8"),
        re.MULTILINE,
    )

    assert listed == [rank.name for rank in sorted(Rank)]


def test_the_tables_of_layers_are_options_of_theirs():
    table = re.search(
        r"```toml\n(\[retry.*?)```",
        (ROOT / "docs" / "settings.md").read_text("utf-8"),
        re.DOTALL,
    )
    tables = tomllib.loads(table[1])
    for name, options in (tables | tables.pop("layers")).items():
        layer = layer_class(name)(**options)
        assert {field.name for field in dataclasses.fields(layer) if field.init} - {
            "rate_limiter"
        } == set(options)


def test_the_tree_of_errors_is_drawn_as_it_is():
    names = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    text = (ROOT / "docs" / "errors.md").read_text("utf-8")
    assert set(re.findall(r"[├└]── (\w+)", text)) | {"WebSearchError"} == names


@pytest.mark.parametrize("page", RENDERED, ids=lambda page: str(page.relative_to(ROOT)))
def test_generated_documentation_is_up_to_date(page):
    assert page.read_text("utf-8") == RENDERED[page], "run make docs"


def test_every_setting_and_every_argument_has_a_row_with_a_meaning():
    rows = re.findall(r"^\| (.+) \|$", generate.settings.write_table(), re.MULTILINE)[
        1:
    ]
    names = {name for row in rows for name in re.findall(r"^`(\w+)", row)}

    assert set(WebSearchOptions.__annotations__) | {"provider"} == names
    assert [row for row in rows if not row.rpartition(" | ")[2].strip()] == []


def test_every_option_of_the_command_line_has_a_meaning():
    parts = generate.commands.write_parts().values()
    rows = [row for part in parts for row in part.splitlines() if row.startswith("- `")]

    assert len(rows) > 70
    assert [row for row in rows if not row.partition(": ")[2]] == []


def test_a_page_without_its_marks_is_an_error():
    marks = "<!-- begin x: written by make docs -->\n<!-- end x -->\n"

    with pytest.raises(
        ValueError,
        match=r"cli\.md has the part 'x' 0 times: write .*\n<!-- begin x.*\n<!-- end x -->",
    ):
        replace_part("# Title", "x", "new", "docs/cli.md")
    with pytest.raises(
        ValueError, match=r"cli\.md has the part 'x' 2 times: keep one pair"
    ):
        replace_part(marks * 2, "x", "new", "docs/cli.md")


def test_a_pipe_in_a_cell_does_not_end_it():
    assert make_table(["a"], [["x | y"]]).endswith("| x \\| y |")


def test_the_reference_lists_what_is_public():
    text = (ROOT / "docs" / "api.md").read_text("utf-8")

    assert text == generate.reference.write_page(), "run make docs"
    assert " at 0x" not in text  # the address of an object changes from run to run


def names_in(value):
    """Return the names of all objects in *value*, which is JSON."""
    if isinstance(value, list):
        return set().union(*map(names_in, value))
    return (
        set(value).union(*map(names_in, value.values()))
        if isinstance(value, dict)
        else set()
    )


def test_the_json_of_the_command_line_is_shown_with_all_its_fields():
    result = SearchResult(url="https://a.example/", title="a", citation_id=1)
    found = SearchResponse(
        query="a", results=(result,), images=(Image(url="https://a.example/a.png"),)
    )
    page = Page(
        url="https://a.example/", passages=(Passage(offset=0, length=1, headings=()),)
    )
    made = {
        "search": search_as_json(found),
        "read": page_as_json(page),
        "providers": json.loads(
            CliRunner().invoke(app, ["providers", "brave", "--format", "json"]).stdout
        ),
    }

    for command, data in made.items():
        (shown,) = re.findall(
            rf"^`{command}`:\n\n```\n(.*?)^```",
            (ROOT / "docs/cli.md").read_text("utf-8"),
            re.MULTILINE | re.DOTALL,
        )
        assert names_in(json.loads(shown)) == names_in(data), command


def test_every_page_can_be_found_from_the_index():
    docs = ROOT / "docs"
    pages = {page.name for page in docs.glob("*.md")} - {"index.md"}
    listed = set(
        re.findall(r"\]\(([\w./-]+)\)", (docs / "index.md").read_text("utf-8"))
    )

    assert pages | {"decisions"} <= listed


def find_section(page, anchor):
    """Return the text below the heading that *anchor* names; of all, without one."""
    text = page.read_text("utf-8")
    if not anchor:
        return text
    sections = re.split(r"^(#+ .*)$", text, flags=re.MULTILINE)
    for heading, body in zip(sections[1::2], sections[2::2], strict=True):
        words = re.sub(r"[^\w\s-]", "", heading.lstrip("# ").lower())
        if re.sub(r"\s", "-", words) == anchor:
            return heading + body
    return ""


def find_numbers(text):
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return [number.lstrip("0") for number in re.findall(r"\d*\.?\d+", text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_number_stands_on_the_page_that_it_links_to(page):
    links = re.findall(
        r"\[([^\]]*\d[^\]]*)\]\(([^)#]*(?:measured|results/\w+)\.md)#?([^)]*)\)",
        page.read_text("utf-8"),
    )
    missing = []
    for words, target, anchor in links:
        measured = find_numbers(find_section(page.parent / target, anchor))
        missing += [
            (words, target, anchor)
            for number in find_numbers(words)
            if number not in measured
        ]

    assert missing == []


SECTIONS = re.split(
    r"^(?=## )", (ROOT / "docs" / "measured.md").read_text("utf-8"), flags=re.MULTILINE
)[1:]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda text: text.splitlines()[0][3:])
def test_each_number_that_was_measured_stands_in_the_details(section):
    targets = re.findall(r"\]\((\.\./benchmarks/results/\w+\.md)", section)
    results = "".join((ROOT / "docs" / path).read_text("utf-8") for path in targets)
    commits = re.findall(r"commit `(\w+)`", section)
    # links, dates and commits are not results
    text = re.sub(r"\]\([^)]*\)|\d{4}-\d\d-\d\d|commit `\w+`", "", section)
    measured = set(find_numbers(results))

    assert [number for number in find_numbers(text) if number not in measured] == []
    assert commits
    assert [commit for commit in commits if commit not in results] == []
