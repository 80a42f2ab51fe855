from __future__ import annotations
import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from websearch_core.errors import TooLarge, UnsupportedContent
from websearch_core.models import Page
from websearch_core.reading import read_bytes
from websearch_core.reading._sniff import media_type

URL = "https://example.org/file"
HTML = b"<!doctype html><title>T</title><p>Some words of a page.</p>"


@pytest.mark.parametrize(
    ("data", "declared", "kind"),
    [
        (b"%PDF-1.7 ...", "text/html", "application/pdf"),
        (b"\n%PDF-1.7", None, "application/pdf"),
        (b"\x00asm\x01\x00\x00\x00", "application/wasm", "application/wasm"),
        (b"wOF2\x00\x01", None, "font/woff"),
        (b"ID3\x04\x00", "text/html", "audio/mpeg"),
        (b"OggS\x00\x02", None, "application/ogg"),
        (b"\x7fELF\x02\x01", "text/plain", "application/x-executable"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"),
            None,
            "application/msword",
        ),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"),
            "x",
            "application/vnd.ms-excel",
        ),
        (b"PK\x03\x04\x14\x00", "text/html", "application/zip"),
        (b"PK\x03\x04\x14\x00", "application/epub+zip", "application/epub+zip"),
        (b"\x1f\x8b\x08\x00", "text/html", "application/gzip"),
        (b"\x00\x00\x00\x18ftypmp42", None, "video/mp4"),
        (b"\x00\x01\x02\x03binary", "text/html", "application/octet-stream"),
        (b"\x00\x01\x02\x03binary", "text/plain", "application/octet-stream"),
        (b"\x00\x01\x02\x03binary", "audio/x-own", "audio/x-own"),
        (b"\x00" * 5000, None, "application/octet-stream"),
    ],
)
def test_content_without_text_is_refused_under_its_true_media_type(
    data: bytes, declared: str | None, kind: str
) -> None:
    assert kind == media_type(data, declared)
    with pytest.raises(UnsupportedContent, match=kind.replace("+", r"\+")):
        read_bytes(data, URL, declared)


@pytest.mark.parametrize(
    ("data", "declared", "kind"),
    [
        (HTML, "image/png", "text/html"),
        (HTML, "application/octet-stream", "text/html"),
        (HTML, "application/json", "text/html"),
        (HTML, None, "text/html"),
        (HTML, "nonsense", "text/html"),
        (HTML, "application/xhtml+xml", "application/xhtml+xml"),
        (HTML, "text/plain", "text/plain"),  # a server that shows the source means it
        (b"<h1 align=center>Read me</h1>", "text/markdown", "text/markdown"),
        (b"<b>{{ x[1](2) }}</b>", "text/x-jinja", "text/x-jinja"),
        (b"<div>a = b[1](2)", "text/x-python", "text/x-python"),
        (b"<a>,b\n", "text/csv", "text/csv"),
        (b"<p>Not found</p>", "application/json", "text/html"),
        (b"<!doctype html><p>Not found</p>", "application/yaml", "text/html"),
        (b"<!-- a --> <!-- b -->\n<div>x</div>", None, "text/html"),
        (codecs.BOM_UTF8 + HTML, None, "text/html"),
        (HTML.decode().encode("utf-16-le"), "text/html", "text/html"),
        (codecs.BOM_UTF16_BE + HTML.decode().encode("utf-16-be"), None, "text/html"),
        (b"<p>one \x00 NUL</p>", "text/html", "text/html"),
        (b"<?xml version='1.0'?><html xmlns='x'>", None, "text/html"),
        (b"<?xml version='1.0'?><rss>", "text/html", "application/rss+xml"),
        (
            b"<?xml-stylesheet href='x'?><!-- a --><rss>",
            "text/xml",
            "application/rss+xml",
        ),
        (b"<atom:feed xmlns:atom='x'>", None, "application/atom+xml"),
        (
            b'{"version": "https://jsonfeed.org/version/1.1"}',
            "application/json",
            "application/feed+json",
        ),
        (b"<urlset>", "text/html", "application/xml"),
        (b"<feed xmlns='x'>", "application/atom+xml", "application/atom+xml"),
        (b"<?xml version='1.0'?><other/>", None, "application/xml"),
        (b"just words", None, "text/plain"),
        (b"just words", "text/html", "text/html"),
        (b"just words", "image/png", "text/plain"),
        (b'{"a": 1}', None, "application/json"),
        (b"{curly prose", None, "text/plain"),
        (b"a,b\n", "text/csv; header=present", "text/csv"),
        (b"", "text/html", "text/html"),
        (b"", None, "text/plain"),
    ],
)
def test_text_is_recognized_by_its_bytes(
    data: bytes, declared: str | None, kind: str
) -> None:
    assert kind == media_type(data, declared)
    assert kind.replace("nonsense", "") == read_bytes(data, URL, declared).media_type


def test_a_wrong_header_gives_a_note() -> None:
    page = read_bytes(HTML, URL, "image/png")
    assert page.content == "Some words of a page."
    assert "declared as image/png, but it is text/html" in page.notes
    assert read_bytes(HTML, URL, "text/html; charset=utf-8").notes == ()


def read(text: str, kind: str) -> Page:
    page = read_bytes(text.encode(), URL, kind)
    assert (len(page.content), len(page.content)) == (
        page.content_length,
        page.original_length,
    )
    assert (page.truncated, page.next_offset, page.final_url) == (False, None, URL)
    return page


def test_markdown_and_plain_text_are_left_as_they_are_where_they_are_safe() -> None:
    text = "# Title\n\nSome *words*, a < b, snake_case and `<b>tags</b>`.\n\n```\n![a](b)\n```"
    for kind in ("text/markdown", "text/plain"):
        assert ("Title", text) == (read(text, kind).title, read(text, kind).content)


@pytest.mark.parametrize(
    "image",
    [
        "![a](https://evil.example/?q=1)",
        "![a][ref]",
        "<img src=https://evil.example>",
        "\\\\![a](b)",
    ],
)
def test_images_in_markdown_become_text(image: str) -> None:
    content = read(f"words {image} words", "text/markdown").content
    assert "![" not in content
    assert "<img" not in content


def test_json_is_laid_out() -> None:
    assert (
        read('{"a":[1,"\\u00e9"]}', "application/json").content
        == '```json\n{\n  "a": [\n    1,\n    "é"\n  ]\n}\n```'
    )


@pytest.mark.parametrize("text", ['{"a": ', "[" * 100_000])
def test_json_that_cannot_be_parsed_is_text_with_a_note(text: str) -> None:
    page = read(text, "application/ld+json")
    assert f"```json\n{text}\n```" == page.content
    assert page.notes == ("the JSON could not be parsed: this is its text",)


def test_a_csv_is_a_table_with_its_row_count() -> None:
    page = read('name,note\nAda,"a|b\nc"\nBob\n', "text/csv")
    assert (
        page.content == "| name | note |\n| --- | --- |\n| Ada | a\\|b c |\n| Bob | |"
    )
    assert page.notes == ("2 rows, 2 columns",)
    assert (
        read("a;b\n1;2\n", "text/csv").content == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    )
    assert (
        read("a\tb\n1\t2\n", "text/tab-separated-values").content
        == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    )


def test_a_csv_that_cannot_be_parsed_is_text_with_a_note() -> None:
    text = "x" * 200_000
    page = read(text, "text/csv")
    assert f"```csv\n{text}\n```" == page.content
    assert page.notes == ("the table could not be parsed: this is its text",)


def test_other_xml_is_fenced() -> None:
    assert (
        read("<kelp>é</kelp>", "application/xml").content
        == "```xml\n<kelp>é</kelp>\n```"
    )


def test_json_of_many_lines_is_left_as_it_is() -> None:
    page = read('{"a": 1}\n{"a": 2}\n', "application/x-ndjson")
    assert (page.content, page.notes) == ('```json\n{"a": 1}\n{"a": 2}\n```', ())


def test_a_wide_table_is_a_list_of_records() -> None:
    names = [f"c{n}" for n in range(1, 14)]
    table = read(f"{','.join(names)}\n1,,x\n{','.join('abcdefghijklm')}\n", "text/csv")
    first, second = table.content.splitlines()
    assert first == "- c1: 1; c3: x"
    assert second.startswith("- c1: a; c2: b; ")
    assert second.endswith("; c13: m")
    assert table.notes == ("2 rows, 13 columns",)


def test_columns_without_a_name_have_a_number() -> None:
    assert (
        read("a" + "," * 12 + "\n" + "," * 12 + "z\n", "text/csv").content
        == "- column 13: z"
    )


def test_columns_beyond_the_limit_give_a_note() -> None:
    page = read(
        ",".join(map(str, range(1500))) + "\n" + "x," * 1499 + "x\n", "text/csv"
    )
    assert page.notes == ("1 row, of 1500 columns, the first 1000",)
    assert page.content.endswith("; 999: x")


def test_a_text_of_addresses_only_lists_them_as_links() -> None:
    page = read("https://a.example/x\n\nhttps://a.example/y\n", "text/plain")
    assert page.links == ("https://a.example/x", "https://a.example/y")
    assert read("https://a.example/x\nand words\n", "text/plain").links == ()


def test_text_beyond_the_limit_is_cut_with_a_note() -> None:
    page = read_bytes(b"word " * 1_000_000, URL, "text/plain")
    assert page.content_length == 2_000_000
    assert page.truncated
    assert page.notes == (
        "the text is too long to be read whole: this is its beginning",
    )


MEDIA = [
    "text/html",
    "text/plain",
    "text/csv",
    "application/json",
    "application/xml",
    "image/png",
    "nonsense",
    "text/html; charset=utf-16",
]
MARKUP = st.sampled_from(
    [
        b"<p>",
        b"</p>",
        b"<table><tr><td>",
        b"<pre>",
        b"<a href=",
        b"'",
        b'"',
        b"<!--",
        b"&#0;",
        b"\x00",
        b"\xff",
        b"<b>",
        b"<li>",
        b"x ",
        b"\n",
        b"<base href=//>",
    ]
)


@given(
    st.binary(max_size=200) | st.lists(MARKUP, max_size=30).map(b"".join),
    st.none() | st.sampled_from(MEDIA),
)
@example(b"<base href='http://['><a href='//['>x</a>", "text/html")
def test_no_bytes_raise_an_unexpected_error(data: bytes, declared: str | None) -> None:
    try:
        page = read_bytes(data, "https://example.org/", declared)
    except UnsupportedContent:
        return
    assert len(page.content) == page.content_length


def test_what_cannot_be_read_without_its_end_is_too_large_if_it_was_cut():
    with pytest.raises(TooLarge, match="application/pdf.*larger than 5 MiB"):
        read_bytes(
            b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\n", URL, cut="larger than 5 MiB"
        )
    with pytest.raises(UnsupportedContent, match="video/mp4"):
        read_bytes(b"\0\0\0\x20ftypisom", URL, cut="larger than 5 MiB")
    assert (
        read_bytes(b"<p>Brown al", URL, "text/html", cut="larger than 5 MiB").content
        == "Brown al"
    )
