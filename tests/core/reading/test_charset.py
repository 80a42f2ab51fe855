from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from websearch_core.reading import read_bytes
from websearch_core.reading._charset import CODECS, decode

CHINESE, JAPANESE, KOREAN, RUSSIAN, HEBREW = "中文网页", "日本語のページ", "한국어", "Страница", "עברית"


def page(text: str, label: str = "") -> str:
    return f"<!doctype html><html><head>{label}<title>t</title></head><body><p>{text}</p></body></html>"


def test_every_label_of_the_standard_has_a_codec_of_python() -> None:
    assert len(CODECS) == 228
    for codec in set(CODECS.values()) - {"replacement"}:
        assert codecs.lookup(codec)


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("iso-8859-1", "cp1252"),
        ("ascii", "cp1252"),
        ("x-user-defined", "cp1252"),
        ("gb2312", "gb18030"),
        ("shift_jis", "cp932"),
        ("ks_c_5601-1987", "cp949"),
        ("iso-8859-9", "cp1254"),
        ("iso-8859-8-i", "iso8859-8"),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label: str, codec: str) -> None:
    assert codec == CODECS[label]


@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        (CHINESE, "gbk", "gbk"),
        (CHINESE, "gb18030", "GB2312"),
        (CHINESE.replace("网页", "網頁"), "big5", "Big5"),
        (JAPANESE + "①", "cp932", "Shift_JIS"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (JAPANESE, "iso2022_jp", "ISO-2022-JP"),
        (KOREAN, "cp949", "ks_c_5601-1987"),
        (RUSSIAN, "koi8_r", "koi8-r"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (HEBREW, "iso8859_8", "ISO-8859-8-I"),
        ("“quoted” €", "cp1252", "iso-8859-1"),
    ],
)
def test_the_encoding_is_found_in_the_header_or_in_the_page(text: str, codec: str, label: str) -> None:
    by_header = decode(page(text).encode(codec), f"text/html; charset={label}").text
    by_meta = decode(page(text, f'<meta charset="{label}">').encode(codec), "text/html").text
    by_pragma = f"<META content='text/html; charset={label}' http-equiv=Content-Type>"
    assert text in by_header
    assert text in by_meta
    assert text in decode(page(text, by_pragma).encode(codec)).text


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF16_LE + page(RUSSIAN).encode("utf-16-le"),
        codecs.BOM_UTF16_BE + page(RUSSIAN).encode("utf-16-be"),
        codecs.BOM_UTF8 + page(RUSSIAN).encode(),
        page(RUSSIAN).encode("utf-16-le"),
        page(RUSSIAN).encode("utf-16-be"),
        page(RUSSIAN).encode(),
    ],
    ids=["utf-16-le BOM", "utf-16-be BOM", "utf-8 BOM", "utf-16-le", "utf-16-be", "utf-8"],
)
def test_unicode_is_found_without_a_label(data: bytes) -> None:
    assert RUSSIAN in decode(data).text
    assert RUSSIAN in read_bytes(data, "https://example.org/").content


def test_the_mark_wins_over_the_header_and_the_header_over_the_page() -> None:
    marked = codecs.BOM_UTF8 + page(RUSSIAN).encode()
    assert RUSSIAN in decode(marked, "text/html; charset=koi8-r").text
    assert RUSSIAN in decode(page(RUSSIAN, "<meta charset=utf-8>").encode("koi8_r"), "text/html; charset=koi8-r").text


@pytest.mark.parametrize(
    "label",
    [
        "<!-- <meta charset=koi8-r> --><meta charset=windows-1251>",
        '<meta name=x content="charset=koi8-r"><meta charset=windows-1251>',
        '<meta name="<meta charset=koi8-r>"><meta charset=windows-1251>',
        "<meta charset=nonsense><meta charset=windows-1251>",
        "<META/CHARSET = 'windows-1251'>",
        "x" * 3000 + "<meta charset=windows-1251>",
    ],
)
def test_the_page_is_scanned_as_browsers_do(label: str) -> None:
    assert RUSSIAN in decode(page(RUSSIAN, label).encode("cp1251")).text


def test_a_label_in_ascii_that_says_utf_16_is_not_believed() -> None:
    assert RUSSIAN in decode(page(RUSSIAN, "<meta charset=utf-16>").encode()).text


def test_a_label_beyond_the_first_4096_bytes_is_too_late() -> None:
    late = page(RUSSIAN, "x" * 4096 + "<meta charset=windows-1251>").encode("cp1251")
    assert RUSSIAN.encode("cp1251").decode("cp1252") in decode(late).text


def test_the_declaration_of_xml_counts() -> None:
    data = f'<?xml version="1.0" encoding="windows-1251"?><p>{RUSSIAN}</p>'.encode("cp1251")
    assert RUSSIAN in decode(data).text


@pytest.mark.parametrize("label", ["utf-8", "utf-16le", "gb18030", "shift_jis", "euc-jp", "big5"])
def test_a_character_cut_at_the_end_costs_only_itself(label: str) -> None:
    whole = "中文日本" * 100
    assert whole[:-1] == decode(whole.encode(label)[:-1], f"text/html; charset={label}").text


def test_a_cut_utf_8_text_without_a_label_is_still_utf_8() -> None:
    assert decode("中文日本".encode()[:-1]).text == "中文日"


def test_what_is_not_utf_8_is_read_as_windows_1252() -> None:
    assert decode("café – “x”".encode("cp1252")).text == "café – “x”"


def test_bytes_that_contradict_the_label_are_replaced_and_the_rest_is_read() -> None:
    assert decode(b"caf\xe9 ok", "text/html; charset=utf-8").text == "caf\ufffd ok"


@pytest.mark.parametrize("label", ["hz-gb-2312", "iso-2022-kr", "iso-2022-cn", "replacement"])
def test_encodings_that_hide_markup_are_refused_with_a_note(label: str) -> None:
    text, note = decode(b"~{<script>~}", f"text/html; charset={label}")
    assert text == "\ufffd"
    assert note is not None


@pytest.mark.parametrize(
    "label",
    ["base64", "idna", "punycode", "utf-7", "rot13", "zip", "hex", "unicode_escape", "mbcs", "undefined", "x" * 999],
)
def test_a_label_never_reaches_pythons_codecs(label: str) -> None:
    data = b"<meta charset=" + label.encode() + b">" + b"a-b" * 150_000
    begin = time.thread_time()
    text = decode(data, f"text/html; charset={label}").text
    assert data.decode("ascii") == text
    assert time.thread_time() - begin < 20


@given(st.binary(max_size=300), st.sampled_from(sorted(CODECS)))
@example(b"\x1b$", "iso-2022-jp")
@example(b"<meta", "utf-8")
def test_no_bytes_raise_under_any_label(data: bytes, label: str) -> None:
    text = decode(data, f"text/html; charset={label}").text
    assert len(text) <= 2 * len(data) + 1


@given(st.binary(max_size=200).map(lambda tail: b"<meta " + tail))
def test_no_meta_raises(data: bytes) -> None:
    assert isinstance(decode(data).text, str)


@pytest.mark.parametrize("piece", [b"<", b"<!--", b"<a ", b'<a x="', b"<meta charset", b"=", b"<?"])
def test_scanning_for_a_label_takes_linear_time(piece: bytes) -> None:
    begin = time.thread_time()
    decode(piece * 100_000)
    assert time.thread_time() - begin < 20
