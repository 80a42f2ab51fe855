from __future__ import annotations
import codecs
import html
import json
import subprocess
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from websearch_core._browser.find import find_browser
from websearch_core.errors import ConfigurationError
from websearch_core.reading import read_bytes
from websearch_core.reading._charset import CODECS, decode

CHINESE, JAPANESE, KOREAN, RUSSIAN, HEBREW = (
    "中文网页",
    "日本語のページ",
    "한국어",
    "Страница",
    "עברית",
)


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
def test_the_encoding_is_found_in_the_header_or_in_the_page(
    text: str, codec: str, label: str
) -> None:
    by_header = decode(page(text).encode(codec), f"text/html; charset={label}").text
    by_meta = decode(
        page(text, f'<meta charset="{label}">').encode(codec), "text/html"
    ).text
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
    ids=[
        "utf-16-le BOM",
        "utf-16-be BOM",
        "utf-8 BOM",
        "utf-16-le",
        "utf-16-be",
        "utf-8",
    ],
)
def test_unicode_is_found_without_a_label(data: bytes) -> None:
    assert RUSSIAN in decode(data).text
    assert RUSSIAN in read_bytes(data, "https://example.org/").content


def test_the_mark_wins_over_the_header_and_the_header_over_the_page() -> None:
    marked = codecs.BOM_UTF8 + page(RUSSIAN).encode()
    assert RUSSIAN in decode(marked, "text/html; charset=koi8-r").text
    assert (
        RUSSIAN
        in decode(
            page(RUSSIAN, "<meta charset=utf-8>").encode("koi8_r"),
            "text/html; charset=koi8-r",
        ).text
    )


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
    late = page("façade", "x" * 4096 + "<meta charset=windows-1251>").encode("cp1252")
    assert "façade" in decode(late).text


def test_the_declaration_of_xml_counts() -> None:
    data = f'<?xml version="1.0" encoding="windows-1251"?><p>{RUSSIAN}</p>'.encode(
        "cp1251"
    )
    assert RUSSIAN in decode(data).text


@pytest.mark.parametrize(
    ("label", "data", "text"),
    [
        ("euc-jp", "fce2 b6b6 a1c1 ada1 8fb0a1 8eb1", "髙橋～①丂ｱ"),
        ("iso-2022-jp", "1b2442 2d21 7c62 2141 1b2842 41", "①髙～A"),
        ("big5", "87be 87ca 91bf a3e1 a145 fedd", "㓦𧭥鼖€‧砉"),
        ("gbk", "80 a6d9 fe59 80 d6d0", "€︐龴€中"),
        ("koi8-u", "ae be c1", "ўЎа"),
        ("windows-1255", "ca e0 81", "\u05baא\x81"),
        ("windows-1252", "81 9d 80", "\x81\x9d€"),
        ("shift_jis", "81 20 fc4b", "\ufffd 黑"),
    ],
)
def test_characters_that_pythons_codecs_lack_are_those_of_the_standard(
    label: str, data: str, text: str
) -> None:
    assert (
        decode(bytes.fromhex(data), f"text/html; charset={label}", markup=False).text
        == text
    )
    # the chunks are parted inside a character
    split = b" " * (2**16 - 1) + bytes.fromhex(data)
    assert (
        decode(split, f"text/html; charset={label}", markup=False).text.lstrip(" ")
        == text
    )


def test_missing_pairs_do_not_swallow_what_follows() -> None:
    for codec in set(CODECS.values()) - {"replacement", "utf-16-le", "utf-16-be"}:
        label = next(label for label, name in CODECS.items() if name == codec)
        for lead in range(0x80, 0x100):
            for sign in '"<>&':
                data = bytes([lead]) + sign.encode() * 4
                assert (
                    sign * 3
                    in decode(data, f"text/html; charset={label}", markup=False).text
                )


TWO_BYTES = {
    # two characters each, which Chromium spoils
    "big5": {b"\x88\x62", b"\x88\x64", b"\x88\xa3", b"\x88\xa5"}
    | {b"\xa2\x41", b"\xa2\x42"},  # slashes, which Python has in other widths
    "euc-jp": set(),
    "euc-kr": set(),
    "gbk": set(),
    "shift_jis": set(),
}
ONE_BYTE = sorted({
    next(label for label, name in CODECS.items() if name == codec)
    for codec in CODECS.values()
    if codec.startswith(("iso8859", "koi8", "mac", "cp125", "cp8"))
})  # fmt: skip
DECODE = """<pre id=o></pre><script>
const hex = %s, out = {};
for (const label in hex)
  out[label] = new TextDecoder(label).decode(new Uint8Array(hex[label].match(/../g).map(b => parseInt(b, 16))));
document.getElementById("o").textContent = JSON.stringify(out).replace(
  /[\\u0080-\\uffff]/g, c => "\\\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
</script>"""


def test_every_character_is_that_of_a_browser(tmp_path: Path) -> None:
    try:
        browser = find_browser()
    except ConfigurationError as error:
        pytest.skip(str(error))
    pairs = [bytes(pair) for pair in product(range(0x81, 0xFF), range(0x40, 0xFF))]
    alone = [bytes([byte]) for byte in range(0x80, 0x100)]
    asked = {label: b"\n".join(alone) for label in ONE_BYTE}
    asked |= {
        label: b"\n".join(pair for pair in pairs if pair not in but)
        for label, but in TWO_BYTES.items()
    }
    path = tmp_path / "decode.html"
    path.write_text(
        DECODE % json.dumps({label: data.hex() for label, data in asked.items()})
    )
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--dump-dom",
        path.as_uri(),
    ]
    dumped = subprocess.run(
        command, capture_output=True, timeout=600, check=True
    ).stdout.decode()
    theirs = json.loads(
        html.unescape(dumped.partition('id="o">')[2].partition("</pre>")[0])
    )
    for label, data in asked.items():
        ours = decode(data, f"text/html; charset={label}", markup=False).text
        rows = zip(
            data.split(b"\n"), ours.split("\n"), theirs[label].split("\n"), strict=True
        )
        assert not [
            (one.hex(), our, their)
            for one, our, their in rows
            if our != their and "\ufffd" not in their
        ], label


@pytest.mark.parametrize(
    "label", ["utf-8", "utf-16le", "gb18030", "shift_jis", "euc-jp", "big5"]
)
def test_a_character_cut_at_the_end_costs_only_itself(label: str) -> None:
    whole = "中文日本" * 100
    assert (
        whole[:-1]
        == decode(whole.encode(label)[:-1], f"text/html; charset={label}").text
    )


def test_a_cut_utf_8_text_without_a_label_is_still_utf_8() -> None:
    assert decode("中文日本".encode()[:-1]).text == "中文日"


def test_what_is_not_utf_8_is_read_as_windows_1252() -> None:
    assert decode("café – “x”".encode("cp1252")).text == "café – “x”"


def test_bytes_that_contradict_the_label_are_replaced_and_the_rest_is_read() -> None:
    assert decode(b"caf\xe9 ok", "text/html; charset=utf-8").text == "caf\ufffd ok"


@pytest.mark.parametrize(
    "label", ["hz-gb-2312", "iso-2022-kr", "iso-2022-cn", "replacement"]
)
def test_encodings_that_hide_markup_are_refused_with_a_note(label: str) -> None:
    text, note = decode(b"~{<script>~}", f"text/html; charset={label}")
    assert text == "\ufffd"
    assert note is not None


@pytest.mark.parametrize(
    "label",
    [
        "base64",
        "idna",
        "punycode",
        "utf-7",
        "rot13",
        "zip",
        "hex",
        "unicode_escape",
        "mbcs",
        "undefined",
        "x" * 999,
    ],
)
def test_a_label_never_reaches_pythons_codecs(label: str) -> None:
    data = b"<meta charset=" + label.encode() + b">" + b"a-b" * 150_000
    text = decode(data, f"text/html; charset={label}").text
    assert data.decode("ascii") == text


@given(st.binary(max_size=300), st.sampled_from(sorted(CODECS)))
@example(b"\x1b$", "iso-2022-jp")
@example(b"<meta", "utf-8")
def test_no_bytes_raise_under_any_label(data: bytes, label: str) -> None:
    text = decode(data, f"text/html; charset={label}").text
    assert len(text) <= 2 * len(data) + 1


@given(st.binary(max_size=200).map(lambda tail: b"<meta " + tail))
def test_no_meta_raises(data: bytes) -> None:
    assert isinstance(decode(data).text, str)
