"""Lists as people have them: compressed, from Windows, as tables and as JSON."""

from __future__ import annotations
import gzip
import json

import pytest

from websearch_core._cli.lists import read_items
from websearch_core.errors import InvalidOption

A = "https://sea.example/a"
B = "https://sea.example/b?c=d,e"
LINES = f"{A}\n\n# more\n {B} \n"
TABLE = f'name;url\n"kelp; brown";{A}\ndulse;{B}\nnone;\n'
ROWS = "".join(json.dumps({"id": 1, "url": url}) + "\n" for url in (A, B))
SEARCH = json.dumps({"query": "kelp", "results": [{"url": A}, {"url": B}]})


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("urls.txt", LINES.encode()),
        ("urls.txt", LINES.replace("\n", "\r\n").encode("utf-16")),
        ("urls.txt", b"\xfe\xff" + LINES.encode("utf-16-be")),
        ("urls.txt", LINES.encode("utf-8-sig")),
        ("urls.txt.gz", gzip.compress(LINES.encode())),
        ("urls", gzip.compress(LINES.encode("utf-16"))),
        ("rows.jsonl", ROWS.encode()),
        ("rows.jsonl.gz", gzip.compress(ROWS.encode())),
        ("results.jsonl", f"{SEARCH}\n\n".encode()),
        ("urls.tsv", TABLE.replace(";", "\t").encode()),
        ("urls.csv.gz", gzip.compress(f'url,id\n{A},1\n"{B}",2\n'.encode())),
    ],
)
def test_a_list_is_read_as_people_have_it(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)

    assert list(read_items(str(tmp_path / name), "url")) == [A, B]


def test_a_column_names_what_to_take(tmp_path):
    path = tmp_path / "table"
    path.write_text(TABLE)
    assert list(read_items(str(path), "query", "name")) == [
        "kelp; brown",
        "dulse",
        "none",
    ]
    path.write_text(ROWS)
    assert list(read_items(str(path), "url", "id")) == ["1", "1"]


def test_arguments_are_a_list_too():
    assert list(read_items([A, "# not this", B], "url")) == [A, B]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("x.png", b"\x89PNG\r\n\x1a\n\0\0\0", "it is not text"),
        ("x.txt", b"caf\xe9\n", "not text in UTF-8"),
        ("x.gz", gzip.compress(b"\0\1\2\3"), "it is not text"),
        ("x.gz", gzip.compress(LINES.encode())[:-9], "its end is missing"),
        ("x.gz", b"\x1f\x8brubbish", "not compressed by gzip"),
        ("x.csv", b"name,link\na,b\n", "name a --column of name, link"),
        ("x.jsonl", b'{"id": 1}\n', "name another --column"),
        ("x.jsonl", b'{"url": "a"}\nhttps://b\n', "a line that is not"),
    ],
)
def test_what_is_no_list_is_refused_in_a_line(tmp_path, name, data, why):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(InvalidOption, match="--input: ") as caught:
        list(read_items(str(tmp_path / name), "url"))
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
