"""Measure which encodings are read correctly, however a page declares them."""


# this module

from __future__ import annotations
import codecs
from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.reading.candidates import OURS, Candidate
from benchmarks.reading.process import Reader
from benchmarks.report import Goal, Section, Table

_MAX_SECONDS = 2.0

_CHINESE = (
    "他们说这本书写的是一座古老的城市，那里的人们每天清晨都在河边喝茶，谈论天气和收成。"
)
_TAIWANESE = (
    "他們說這本書寫的是一座古老的城市，那裡的人們每天清晨都在河邊喝茶，談論天氣和收成。"
)
_JAPANESE = "この本は古い町について書かれたもので、そこに住む人々は毎朝川のほとりでお茶を飲みます。"
_KOREAN = (
    "이 책은 오래된 도시에 관한 것이며 그곳 사람들은 매일 아침 강가에서 차를 마십니다."
)
_RUSSIAN = (
    "Эта книга рассказывает о старом городе, где люди каждое утро пьют чай на берегу "
    "реки."
)
_HEBREW = "הספר הזה מספר על עיר עתיקה שבה אנשים שותים תה בכל בוקר על שפת הנהר."
_TURKISH = (
    "Bu kitap, insanların her sabah nehir kıyısında çay içtiği “eski şehri” anlatıyor."
)
_FRENCH = (
    "Ce livre raconte une cité très âgée – “à côté du fleuve” – où le thé coûte 3 €."
)
_ENGLISH = (
    "This book tells of an old town where people drink tea by the river every morning."
)


class Case(NamedTuple):
    """A page in an encoding.

    Args:
        what: A short description.
        data: The bytes.
        expected: Text that must be in the result.
        content_type: The value of the HTTP header.
        forbidden: Text that must not be in the result.
    """

    what: str
    data: bytes
    expected: str
    content_type: str | None = "text/html"
    forbidden: str = "\ufffd"


def make_cases() -> list[Case]:
    """Return every case."""
    declared = [
        ("GBK", "gbk", "gbk", _CHINESE),
        (
            "GB2312 (which means GB18030)",
            "gb2312",
            "gb18030",
            _CHINESE.replace("古", "㐀"),
        ),
        ("Big5", "big5", "big5", _TAIWANESE),
        (
            "Shift_JIS (which means Windows-31J)",
            "shift_jis",
            "cp932",
            _JAPANESE.replace("この", "①この"),
        ),
        ("EUC-JP", "euc-jp", "euc_jp", _JAPANESE),
        ("ISO-2022-JP", "iso-2022-jp", "iso2022_jp", _JAPANESE),
        (
            "KS_C_5601 (which means Windows-949)",
            "ks_c_5601-1987",
            "cp949",
            _KOREAN.replace("차를", "뷁을"),
        ),
        (
            "EUC-KR (which means Windows-949)",
            "euc-kr",
            "cp949",
            _KOREAN.replace("차를", "뷁을"),
        ),
        ("KOI8-R", "koi8-r", "koi8_r", _RUSSIAN),
        ("windows-1251", "windows-1251", "cp1251", _RUSSIAN),
        ("ISO-8859-8-I", "iso-8859-8-i", "iso8859_8", _HEBREW),
        ("ISO-8859-9 (which means windows-1254)", "iso-8859-9", "cp1254", _TURKISH),
        ("ISO-8859-1 (which means windows-1252)", "iso-8859-1", "cp1252", _FRENCH),
        ("ASCII (which means windows-1252)", "us-ascii", "cp1252", _FRENCH),
    ]
    pragma = '<meta http-equiv="Content-Type" content="text/html; charset={}">'
    late = "<!-- " + "x" * 2000 + " -->"
    return [
        *(
            Case(
                f"{what}, in `<meta>`", _make_page(text, _make_meta(label), codec), text
            )
            for what, label, codec, text in declared
        ),
        *(
            Case(
                f"{what}, in the header",
                _make_page(text, "", codec),
                text,
                f"text/html; charset={label}",
            )
            for what, label, codec, text in declared
        ),
        Case(
            "windows-1251, in `http-equiv`",
            _make_page(_RUSSIAN, pragma.format("windows-1251"), "cp1251"),
            _RUSSIAN,
        ),
        Case(
            "windows-1251, in `<meta>` after 2,000 bytes",
            _make_page(_RUSSIAN, late + _make_meta("windows-1251"), "cp1251"),
            _RUSSIAN,
        ),
        Case("UTF-8, not declared", _make_page(_RUSSIAN), _RUSSIAN),
        Case(
            "UTF-8 with a byte order mark",
            codecs.BOM_UTF8 + _make_page(_RUSSIAN),
            _RUSSIAN,
        ),
        Case(
            "UTF-8, in `<meta>` as UTF-16",
            _make_page(_RUSSIAN, _make_meta("utf-16")),
            _RUSSIAN,
        ),
        Case(
            "UTF-16LE with a byte order mark",
            codecs.BOM_UTF16_LE + _make_page(_RUSSIAN, "", "utf-16-le"),
            _RUSSIAN,
        ),
        Case(
            "UTF-16BE with a byte order mark",
            codecs.BOM_UTF16_BE + _make_page(_RUSSIAN, "", "utf-16-be"),
            _RUSSIAN,
        ),
        Case(
            "UTF-16LE, in the header",
            _make_page(_RUSSIAN, "", "utf-16-le"),
            _RUSSIAN,
            "text/html; charset=utf-16le",
        ),
        Case("UTF-16LE, not declared", _make_page(_RUSSIAN, "", "utf-16-le"), _RUSSIAN),
        Case("UTF-16BE, not declared", _make_page(_RUSSIAN, "", "utf-16-be"), _RUSSIAN),
        Case(
            "windows-1252, not declared",
            _make_page(_FRENCH, "", "cp1252"),
            _FRENCH,
            None,
        ),
        Case(
            "the header contradicts `<meta>`: the header wins",
            _make_page(_RUSSIAN, _make_meta("utf-8"), "koi8_r"),
            _RUSSIAN,
            "text/html; charset=koi8-r",
        ),
        Case(
            "a byte order mark contradicts the header: the mark wins",
            codecs.BOM_UTF8 + _make_page(_RUSSIAN),
            _RUSSIAN,
            "text/html; charset=koi8-r",
        ),
        Case(
            "windows-1252 declared as UTF-8: the rest is read",
            _make_page(_FRENCH, _make_meta("utf-8"), "cp1252"),
            "Ce livre raconte une",
            forbidden="",
        ),
        Case(
            "x-user-defined, in `<meta>` (which means windows-1252)",
            _make_page(_FRENCH, _make_meta("x-user-defined"), "cp1252"),
            _FRENCH,
        ),
        Case(
            "UTF-8, cut within a character",
            _make_page(_CHINESE, cut=True)[:-1],
            _CHINESE,
            forbidden="",
        ),
        Case(
            "GB18030, cut within a character",
            _make_page(_CHINESE, _make_meta("gb18030"), "gb18030", cut=True)[:-1],
            _CHINESE,
            forbidden="",
        ),
        Case(
            "NUL within words",
            _make_page(_ENGLISH.replace("morning", "mor\x00ning")),
            _ENGLISH,
            forbidden="\x00",
        ),
        Case(
            "an unknown label", _make_page(_RUSSIAN, _make_meta("nonsense")), _RUSSIAN
        ),
        Case(
            "a label that only Python knows and decodes slowly: punycode",
            _make_page(_ENGLISH + " a-b" * 100_000, _make_meta("punycode")),
            _ENGLISH,
        ),
        Case(
            "hz-gb-2312, which hides markup: refused",
            _make_page("~{VPND~} " * 20, _make_meta("hz-gb-2312")),
            "",
            forbidden="VPND",
        ),
    ]


def _make_meta(label: str) -> str:
    return f'<meta charset="{label}">'


def _make_page(
    text: str, head: str = "", codec: str = "utf-8", *, cut: bool = False
) -> bytes:
    """Make an article long enough for every reader to recognise; *cut* leaves out the
    closing tags.
    """
    html = (
        f"<!doctype "
        f"html><html><head>{head}<title>{text[:20]}</title></head><body><article><h1>{text[:20]}</h1>"
    )
    html += f"<p>{text}</p>" * 3 + f"<p>{text}"
    return (html if cut else html + "</p></article></body></html>").encode(codec)


def measure(candidates: Mapping[Candidate, str]) -> dict[str, list[bool]]:
    """Return for each candidate and case whether the result was right."""
    found = {}
    for candidate, python in candidates.items():
        with Reader(candidate, python) as reader:
            found[candidate.name] = [_is_right(reader, case) for case in make_cases()]
    return found


def _is_right(reader: Reader, case: Case) -> bool:
    answer = reader.read(case.data, "https://example.org/", case.content_type)
    text = " ".join(answer["markdown"].split())
    return (
        not answer["error"]
        and answer["seconds"] < _MAX_SECONDS
        and case.expected in text
        and not (case.forbidden and case.forbidden in text)
    )


def section(found: Mapping[str, list[bool]], measured: str) -> Section:
    """Report what was *found*; *measured* is a sentence that says when and with which
    versions.
    """
    names = [case.what for case in make_cases()]
    ours = found[OURS.name]
    wrong = [name for name, right in zip(names, ours, strict=True) if not right]
    rows = [
        (name, *("right" if right else "wrong" for right in row))
        for name, *row in zip(names, *found.values(), strict=True)
    ]
    return Section(
        title="Reading pages: encodings",
        method=(
            "An article of some paragraphs in many encodings, declared in different "
            "ways. A result is right if it has "
            f"the whole sentence without replacement characters within "
            f"{_MAX_SECONDS:.0f} s. The reference is what "
            "browsers do by the WHATWG Encoding Standard. Peers that take bytes get "
            "bytes. No peer accepts the "
            "encoding that a header names, and some take only text; in both cases they "
            "get what a careful user of an "
            "HTTP client passes: text decoded by the header with Python's codecs, or "
            "as UTF-8. "
            f"{measured}"
        ),
        tables=[
            Table(
                ("", *found),
                [
                    *rows,
                    (
                        "**right**",
                        *(
                            f"**{sum(each)} of {len(names)}**"
                            for each in found.values()
                        ),
                    ),
                ],
                numbers=False,
            )
        ],
        goals=[
            Goal(
                "every encoding is read as browsers read it",
                f"{sum(ours)} of {len(names)}"
                + (f"; wrong: {', '.join(wrong)}" if wrong else ""),
                not wrong,
            )
        ],
    )
