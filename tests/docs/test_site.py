"""The site: the navigation, the pictures, and the links of the pages that `make
docs-site` gives to its tool.
"""

from __future__ import annotations
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from types import SimpleNamespace

import pytest

from docs import generate
from docs.site import check, markup, names, pages
from websearch_core.models import SearchQuery
from websearch_core.provider import Limits

NAMED = list(pages.walk(pages.load_settings()["nav"]))
PICTURES = sorted((pages.DOCS / "pictures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def published():
    return pages.find_pages()


def test_the_navigation_has_each_page_once(published):
    folders = tuple(one for one in NAMED if one.endswith("/"))
    expected = {
        name
        for name in published
        if name.endswith(".md") and not name.startswith(folders)
    } | {pages.NAMES}
    cure = "In docs/site/mkdocs.yml, write a line below nav for a page that is missing there, or name it in exclude_docs"

    assert expected - set(NAMED) == set(), cure
    assert set(NAMED) - expected - set(folders) == set(), (
        "The navigation names pages that do not exist"
    )
    assert [name for name, count in Counter(NAMED).items() if count > 1] == []


def test_a_page_that_is_excluded_exists_and_is_not_published(monkeypatch):
    settings = pages.load_settings()
    assert [
        name
        for name in settings["exclude_docs"].split()
        if not (pages.DOCS / name).exists()
    ] == []

    monkeypatch.setattr(
        pages, "load_settings", lambda: {**settings, "exclude_docs": "arguments.md\n"}
    )
    assert "arguments.md" not in pages.find_pages()


def test_only_documentation_is_published(published):
    assert {path.suffix for path in published.values()} <= {".md", ".svg", ".txt"}
    assert not [name for name in published if name.startswith(("site/", "generators/"))]
    assert {
        "index.md",
        "decisions/0001-a-provider-is-a-conversation.md",
        "langchain.md",
    } <= published.keys()


def test_the_tool_gets_every_page_with_links_that_it_can_follow(
    published, tmp_path, monkeypatch
):
    monkeypatch.setattr(pages, "BUILT", tmp_path / "site")
    pages.prepare("https://code.example/blob/HEAD/")
    root = tmp_path / "site" / "pages"
    written = {
        str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file()
    }

    assert published.keys() <= written.keys()
    for name, path in written.items():
        text = path.read_text("utf-8") if name.endswith(".md") else ""
        text = re.sub(
            r"^ *```.*?^ *```|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL
        )
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text):
            assert (path.parent / target).is_file(), f"{name} links to {target}"
    assert (
        "](https://code.example/blob/HEAD/CONTRIBUTING.md#adding-a-provider)"
        in (root / "extending.md").read_text()
    )
    assert "](decisions/index.md)" in (root / "index.md").read_text()
    assert "[`WebSearch(" in (root / "api.md").read_text()
    edit = "](https://code.example/edit/HEAD/langchain_websearch/README.md)"
    assert f"[Edit this page{edit}" in (root / "langchain.md").read_text()
    for entry in pages.walk(
        pages.yaml.safe_load((tmp_path / "site" / "mkdocs.yml").read_text())["nav"]
    ):
        assert entry in written


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "DOCS", tmp_path / "docs")
    (tmp_path / "docs" / "measured").mkdir(parents=True)
    (tmp_path / "docs" / "measured" / "time.md").touch()
    (tmp_path / "LICENSE").touch()
    page = tmp_path / "docs" / "page.md"
    page.touch()
    return page


@pytest.mark.parametrize(
    ("written", "repository", "expected"),
    [
        ("[a](measured/time.md#b)", "https://c/", "[a](measured/time.md#b)"),
        ("[a](measured)", "https://c/", "[a](measured/index.md)"),
        ("[a](../LICENSE#b)", "https://c/", "[a](https://c/LICENSE#b)"),
        ("[the `a[0]`](../LICENSE)", "", "the `a[0]`"),
        ("[a](#b) [c](https://d/e)", "", "[a](#b) [c](https://d/e)"),
        (
            "```\n[a](../LICENSE)\n```\n[a](../LICENSE)\n",
            "",
            "```\n[a](../LICENSE)\n```\na\n",
        ),
    ],
)
def test_a_link_that_leaves_the_site_leads_to_the_repository(
    source, written, repository, expected
):
    published = {
        "page.md": source,
        "measured/time.md": source.parent / "measured" / "time.md",
    }

    assert pages.move_links(written, source, published, repository) == expected


def test_a_link_to_nothing_names_its_page(source):
    with pytest.raises(FileNotFoundError, match=r"docs/page\.md links to gone\.md"):
        pages.move_links("[a](gone.md)", source, {"page.md": source}, "")


@pytest.mark.parametrize(
    ("given", "remote", "expected"),
    [
        ("https://code.example/one/", "", "https://code.example/one/blob/HEAD/"),
        ("", "git@code.example:one/two.git", "https://code.example/one/two/blob/HEAD/"),
        (
            "",
            "ssh://git@code.example/one/two",
            "https://code.example/one/two/blob/HEAD/",
        ),
        ("", "/srv/one", ""),
        ("", "", ""),
    ],
)
def test_the_repository_is_the_one_given_or_the_remote(
    given, remote, expected, monkeypatch
):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.setattr(
        pages.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=f"{remote}\n")
    )

    assert pages.find_repository(given) == expected


def test_the_repository_is_the_one_that_ci_names(monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "one/two")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://code.example")

    assert pages.find_repository() == "https://code.example/one/two/blob/HEAD/"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_shown_described_small_and_readable_in_the_dark(picture):
    text = picture.read_text("utf-8")
    root = ET.fromstring(text)
    shown = [
        page
        for page in pages.DOCS.glob("*.md")
        if f"](pictures/{picture.name})" in page.read_text("utf-8")
    ]

    assert shown
    assert root.find(f"{SVG}title").text
    assert len(root.find(f"{SVG}desc").text) > 60
    assert "prefers-color-scheme: dark" in text
    assert len(text) < 10_000
    assert not re.search(r"<script|<image|href=|url\((?!#)|@import|\bon\w+=", text)
    assert set(re.findall(r"var\((--\w+)\)", text)) <= set(
        re.findall(r"(--\w+): #", text)
    )


def test_there_is_a_picture_of_a_call_of_the_layers_and_of_the_guard():
    assert [picture.stem for picture in PICTURES] == ["call", "guard", "layers"]


def test_every_picture_on_a_page_has_a_text():
    for page in pages.DOCS.rglob("*.md"):
        assert "![](" not in page.read_text("utf-8"), page


@pytest.fixture(scope="module")
def classes():
    return pages.find_facts()["classes"]


def find(classes, cls, name):
    return next(
        one[1:]
        for one in classes[f"{cls.__module__}.{cls.__qualname__}"]
        if one[0] == name
    )


def test_the_reference_has_the_arguments_that_a_decorator_or_a_framework_makes(classes):
    from langchain_websearch import WebSearchTool
    from llamaindex_websearch import WebPagePostprocessor
    from websearch_core import WebSearch
    from websearch_core.errors import WebSearchError
    from websearch_core.providers import Tavily
    from websearch_core.tools import WebTools

    assert find(classes, SearchQuery, "time_range") == (
        "KEYWORD_ONLY",
        "TimeRange | None",
        "None",
    )
    assert find(classes, Tavily, "api_key") == ("KEYWORD_ONLY", "Key | None", "None")
    assert find(classes, WebSearch, "timeout") == (
        "KEYWORD_ONLY",
        "float | Timeout | None",
        "None",
    )
    assert find(classes, Limits, "results") == ("KEYWORD_ONLY", "int", "...")
    assert find(classes, WebSearchTool, "limit")[1] == "int | None"
    # said once for all arguments of a `WebSearch`
    assert find(classes, WebTools, "arguments") == ("VAR_KEYWORD", "Any", None)
    # LangChain's, but we document it
    assert find(classes, WebSearchTool, "handle_tool_error")[2] == "True"
    assert "tags" not in [
        one[0] for one in classes["langchain_websearch.tools.WebSearchTool"]
    ]
    assert find(classes, WebPagePostprocessor, "provider") == (
        "KEYWORD_ONLY",
        "Choice | None",
        "None",
    )
    assert f"{WebSearchError.__module__}.WebSearchError" in classes


def test_the_reference_has_each_public_name_on_one_page():
    written = pages.write_reference()
    entries = [
        (name, one)
        for name, page in written.items()
        for one in re.search(r"members: (.*)", page)[1][1:-1].split(", ")
    ]

    core = [one for name, one in entries if "websearch_core" in name]
    assert len(core) == len(set(core)) > 200
    assert "Also here: " in written["reference/websearch_core.client.md"]
    assert "show_bases: true" in written["reference/websearch_core.errors.md"]


PLACES = {
    "WebSearch": "websearch_core.WebSearch",
    "websearch_core.errors": "websearch_core.errors.md",
}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Make a `WebSearch`.", "Make a [`WebSearch`][websearch_core.WebSearch]."),
        (
            "`WebSearch()` or ``WebSearch``",
            "[`WebSearch()`][websearch_core.WebSearch] or ``WebSearch``",
        ),
        (
            "See `websearch_core.errors`, `else`",
            "See [`websearch_core.errors`](websearch_core.errors.md), `else`",
        ),
        (
            "One.\n\n::\n\n    x = `1`\n\n    y = 2\n\nTwo.",
            "One.\n\n```text\nx = `1`\n\ny = 2\n```\n\nTwo.",
        ),
        ("So::\n\n    await a()\n", "So:\n\n```python\nawait a()\n```\n"),
        (
            "A:\n    Such as::\n\n        x = 1\n",
            "A:\n    Such as:\n\n    ```python\n    x = 1\n    ```\n",
        ),
        ("::\n\n    `WebSearch`\n", "```text\n`WebSearch`\n```\n"),
    ],
)
def test_a_docstring_becomes_markdown(written, expected):
    assert markup.to_markdown(written, PLACES.get) == expected


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<a href="two/#there">', None),
        ('<a href="two/index.html">', None),
        ('<a href="#here"><p id="here">', None),
        ('<a href="https://else.example/">', None),
        ('<img src="two/index.html" alt="two">', None),
        ('<a href="three/">', "index.html links to three/, which does not exist"),
        (
            '<a href="../outside.html">',
            "index.html links to ../outside.html, which does not exist",
        ),
        (
            '<a href="two/#gone">',
            "index.html links to two/#gone, which has no such section",
        ),
        ('<a href="#gone">', "index.html links to #gone, which has no such section"),
        (
            '<img src="two/index.html">',
            "index.html has a picture without a text that says what it shows",
        ),
    ],
)
def test_a_link_of_the_site_that_leads_nowhere_is_a_problem(page, problem, tmp_path):
    site = tmp_path / "html"
    (site / "two").mkdir(parents=True)
    (tmp_path / "outside.html").touch()
    (site / "two" / "index.html").write_text('<h2 id="there">')
    (site / "index.html").write_text(page)

    assert check.find_problems(site) == ([problem] if problem else [])


@pytest.mark.parametrize(
    "name", ["max_uses", "WEB_SEARCH_TIMEOUT", "TAVILY_API_KEY", "time_range", "find"]
)
def test_the_search_has_a_heading_for_each_name(name):
    found = [one for one in names.list_headings() if f"`{name}`" in one]
    assert len(found) == 1, found


def test_each_setting_and_variable_has_a_heading():
    headings = "".join(names.list_headings())
    variables = set(re.findall(r"`(WEB_SEARCH_\w+)`", generate.settings.write_table()))

    assert variables
    assert [one for one in variables if f"`{one}`" not in headings] == []


def test_a_heading_that_the_search_lacks_is_a_problem(tmp_path):
    index = tmp_path / "search.json"
    index.write_text('{"items": [{"title": "<code>kelp</code>, <code>K</code>"}]}')

    assert check.find_missing(index, ["`kelp`, `K`"]) == []
    assert check.find_missing(index, ["`tide`"]) == ["the search does not find tide"]


def test_without_a_repository_no_page_can_be_edited():
    assert pages.link_source(pages.DOCS / "index.md", "") == ""


def test_llms_txt_links_to_markdown_that_is_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "BUILT", tmp_path)
    monkeypatch.setattr(
        pages,
        "find_pages",
        lambda: {"one.md": None, "start/two.md": None, "llms.txt": None},
    )
    for folder in ("pages/start", "html/start"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("one.md", "start/two.md"):
        (tmp_path / "pages" / name).write_text(name)
    (tmp_path / "html" / "llms.txt").write_text(
        "[1](one.md#a) [2](start/two.md) [3](three.md) [4](https://else.example/)"
    )
    pages.publish_markdown()

    assert (tmp_path / "html" / "start" / "two.md").read_text() == "start/two.md"
    assert check.find_problems(tmp_path / "html") == [
        "llms.txt links to three.md, which does not exist"
    ]


def test_the_command_says_what_it_needs():
    done = subprocess.run(
        [sys.executable, "-m", "docs.site"],
        cwd=pages.ROOT,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 2
    assert "--tools" in done.stderr
