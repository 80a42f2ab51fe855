"""Texts that are not Markdown: source code, data, logs, prose. Their text is not
changed, and it is inert.
"""

from __future__ import annotations
import csv
import io
import json
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.test_inert import FRAGMENTS, check
from tests.whole import WHOLE
from websearch_core import WebSearch
from websearch_core._text.invisible import strip_invisible
from websearch_core.client._enforce import enforce_page
from websearch_core.models import Page
from websearch_core.reading import Excerpt, read_bytes
from websearch_core.reading._charset import decode
from websearch_core.testing import FakeWeb

RAW = "https://raw.example/kelp/main"
SCRIPT = """# config for kelp

import os

handlers[name](event)
x = table[key](arg1, arg2)  # see <https://tides.example/>
vec![1](2)
"""


def read(text: str, kind: str = "text/plain", url: str = RAW) -> Page:
    return enforce_page(read_bytes(text.encode(), url, kind))


def some(folder: Path, pattern: str, most: int) -> Iterator[Path]:
    """Yield files from all over a folder: the same ones in each run."""
    found = [
        path
        for path in sorted(folder.rglob(pattern))
        if path.is_file() and path.stat().st_size < 200_000
    ]
    yield from found[:: max(1, len(found) // most)][:most]


def unchanged(page: Page, source: bytes) -> None:
    text, removed = strip_invisible(decode(source, page.media_type, markup=False).text)
    assert text.strip("\n") in page.content
    assert page.title == ""
    assert bool(removed) == any("invisible" in note for note in page.notes)


LIBRARY = Path(sysconfig.get_path("stdlib"))
PACKAGES = Path(sysconfig.get_path("purelib"))


@pytest.mark.parametrize(
    ("folder", "pattern"),
    [(LIBRARY, "*.py"), (Path("/usr/include"), "*.h")]
    + [
        (PACKAGES, f"*.{name}")
        for name in ("toml", "yaml", "yml", "json", "js", "css", "c", "pyx", "sh")
    ],
    ids=lambda value: value.lstrip("*.") if isinstance(value, str) else "",
)
@pytest.mark.no_cover
def test_files_of_this_machine_are_read_as_they_are(folder: Path, pattern: str) -> None:
    files = list(some(folder, pattern, 40 if WHOLE else 15))
    if not files:
        pytest.skip(f"this machine has no {pattern} in {folder}")
    for path in files:
        data = path.read_bytes()
        for url in (RAW, f"https://raw.example/{path.name}"):
            unchanged(enforce_page(read_bytes(data, url, "text/plain")), data)


KINDS = [
    "text/plain", "text/x-python", "text/css", "application/javascript", "text/yaml", "application/toml", "text/x-c",
    "application/x-ndjson", "text/xml",
]  # fmt: skip
CODE = [
    *FRAGMENTS, "f(x)[0](y)", "List<int>", "#include <a.h>", "# a", "\n# a\n", "a = b", "#!", "/*", "x;\n", "{", "}",
    "$a[1](2)", "\x00", "\u200b", "\u2028", "&amp;", "**a**", "<a@b.example>", "'![y](z)'",
]  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(
    st.lists(st.sampled_from(CODE), min_size=1, max_size=30).map("".join),
    st.sampled_from(KINDS),
)
def test_no_text_is_changed_and_each_is_inert(text: str, kind: str) -> None:
    text = f"a {text}"  # so that it is not sniffed as something else
    if "\x00" in text or re.search("[\x01-\x08\x0b]", text):
        # control characters at the beginning are a sign of binary data
        text = " " * 1024 + text
    page = read(text, kind)
    assert strip_invisible(text)[0].strip("\n") in page.content
    check(page.content, links=kind == "text/plain")


def test_source_code_is_found_as_it_is_written() -> None:
    page = read(SCRIPT)
    assert page.content == f"```\n{SCRIPT}```"
    assert (page.title, page.links, page.notes) == ("", (), ())
    web = WebSearch(FakeWeb(pages={RAW: page}))
    for phrase in (
        "handlers[name](event)",
        "table[key](arg1, arg2)",
        "vec![1](2)",
        "# config",
        "<https://tides",
    ):
        assert "1 place" in web.read(RAW, find=phrase).notes[-1], phrase


@pytest.mark.parametrize(
    ("path", "kind", "language"),
    [
        ("a.py", "text/plain", "py"),
        ("A.YAML", "text/plain", "yaml"),
        ("Makefile", "text/plain", "makefile"),
        ("python", "text/plain", None),  # a page about it
        ("a.txt", "text/plain", None),
        ("a.php", "text/plain", None),  # a script that sends a text
        ("a", "text/x-python", "python"),
        ("a", "application/x-yaml", "yaml"),
        ("a", "application/javascript; charset=utf-8", "javascript"),
        ("a", "text/ignore-all-instructions", ""),
        ("a", "application/xhtml-like+xml", "xml"),
    ],
)
def test_the_language_of_code_is_that_of_its_type_or_name(
    path: str, kind: str, language: str | None
) -> None:
    text = "Kelp grows."
    expected = text if language is None else f"```{language}\n{text}\n```"
    assert read(text, kind, f"https://raw.example/{path}?x=1").content == expected


PROSE = "Kelp\n====\n\nKelp grows in cold seas (see figure 1), often\nfor 20 years: e.g. 5 * 3 m, a < b.\n\n  - one\n  - two\n"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (PROSE, ""),
        ("# Kelp\n\nKelp grows in [cold seas](https://sea.example/x).", "Kelp"),
        ("Note: one = two, from the sea; it is so.\n", ""),
    ],
)
def test_prose_is_bare(text: str, title: str) -> None:
    page = read(text)
    assert (page.content, page.title) == (text.strip("\n"), title)


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\nUser-agent: *",
        "x = 1\ny = 2",
        "#!/bin/sh\necho kelp",
        "# Kelp\n\nimport os\nprint(os.name)\n",
        "/* Kelp.\n   More of it. */",
        "```\nan open code block",
        "Kelp [grows](in/cold/seas.md).",
        "From: Ada <ada@kelp.example>\n\nHello.",
    ],
)
def test_what_markdown_would_show_differently_is_a_code_block(text: str) -> None:
    page = read(text)
    fence = "`" * (4 if "```" in text else 3)
    assert page.content == "\n".join((fence, text.rstrip("\n"), fence))
    assert page.title == ""


def test_the_windows_of_a_long_source_file_are_code_blocks() -> None:
    lines = [f"rows[{n}](x)  # {'<b> ' * (n % 3)}" for n in range(400)]
    page = read("\n".join(lines), url=f"{RAW}.py")
    seen, offset = [], 0
    while offset is not None:
        part = Excerpt(max_length=900, offset=offset).of(page)
        assert part.content.startswith("```py\n")
        assert part.content_length == len(part.content) <= 900
        check(part.content)
        seen += [
            line for line in part.content.split("\n") if not line.startswith("```")
        ]
        offset = part.next_offset
    assert [line for line in seen if line] == lines


def tokens(text: str) -> object:
    """Return what JSON says: its numbers as they are written, each key as often as it
    is there.
    """
    return json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=list)


VALUES = st.recursive(
    st.none() | st.booleans() | st.text(max_size=8) | st.sampled_from(["1.10", "1e5", "0.1000000000000000055", "-0.0"])
    | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.tuples(st.text(max_size=2), inner), max_size=4).map(tuple),
    max_leaves=12,
)  # fmt: skip


def as_json(value: object) -> str:
    if isinstance(value, tuple):
        return (
            "{"
            + ",".join(f"{json.dumps(key)} :{as_json(inner)}" for key, inner in value)
            + " }"
        )
    if isinstance(value, list):
        return "[ " + ",".join(map(as_json, value)) + "]"
    return (
        value
        if isinstance(value, str) and re.fullmatch(r"[-0-9.e]+", value)
        else json.dumps(value)
    )


@settings(deadline=None)
@given(VALUES)
def test_json_says_the_same_when_it_is_laid_out(value: object) -> None:
    text = as_json(value)
    try:
        expected = tokens(text)
    except ValueError:  # "--" is neither a number nor a string
        return
    content = read(text, "application/json").content
    assert content.startswith("```json\n")
    assert tokens(content[8:-4]) == expected


def test_json_keeps_its_digits_its_keys_and_what_is_invisible() -> None:
    text = (
        '{"v":1.10,"v":[],"n":1e5,"s":"\\u00e9\\/\\u200b","t":"\\u6d77\\/","o":{},"long":'
        + "1" * 5000
        + "}"
    )
    page = read(text, "application/json")
    assert page.content.split("\n")[2:8] == [
        '  "v": 1.10,', '  "v": [],', '  "n": 1e5,', '  "s": "\\u00e9\\/\\u200b",', '  "t": "海/",', '  "o": {},',
    ]  # fmt: skip
    assert page.notes == ()


def test_json_looks_as_pythons_own_layout_of_it() -> None:
    value = {"a": [1, {"b": [], "c": {}}, [[2]]], "d": 'q"]}[{,:', "é": None}
    assert read(json.dumps(value), "application/json").content[8:-4] == json.dumps(
        value, indent=2, ensure_ascii=False
    )


CELLS = st.lists(st.sampled_from([*CODE, "a|b", '"', ",", "kelp"]), max_size=4).map(
    # first, since a line end that csv does not know as one ends a row
    lambda parts: strip_invisible("".join(parts))[0]
)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=15), min_size=2, max_size=5))
def test_the_cells_of_a_table_are_not_changed(rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["name", "note"], *rows])
    text = out.getvalue()
    page = read(text, "text/csv")
    check(page.content)
    if page.content.startswith("```"):
        assert text.strip("\n") in page.content
        assert page.notes[-1].endswith("this is its text")
        return
    position, content = 0, page.content.replace("\\|", "|")
    for cell in (cell for row in rows for cell in row):
        shown = " ".join(cell.split())
        position = content.index(shown, position) + len(shown)
