"""An inline style is judged by its CSS meaning, however it is spelled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.css import doubt, look
from websearch_core.reading._html.css.doubt import OUTERMOST, is_lost, read_around
from websearch_core.reading._html.css.look import PLAIN, judge_inline_style
from websearch_core.reading._html.css.syntax import parse_declarations
from websearch_core.reading._html.parse import parse

_CSS = st.text(
    st.sampled_from("abn-\\69 /*'\"(){}[]:;!,.#@%&\n") | st.characters(codec="utf-8"),
    max_size=80,
)


@given(_CSS)
def test_no_style_raises(text: str) -> None:
    judge_inline_style(text)


_PIECES = (
    "margin:0", "color:red", "COLOR:#fff", "font-size:1px", "FONT-size:20%", "--x:1",
    "width:calc(1--y)", "background:#fff", "backGround-color:white", "bac\u212aground:red",
    "background-image:url(a/b--c)", 'background-image: url("a;b")',
    "background-image:url('a')", "background-image:url('a\nb')",
    'background-image:url("a', "background-size:0", "background-repeat:no-repeat",
    "/*--*/left:0", "background-clip:text", "display:none", "opacity:0",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=4).map(";".join))
def test_a_style_that_is_not_parsed_says_nothing(style: str) -> None:
    parsed = f"\\61 :1;{style}"  # an escape may write any name

    assert judge_inline_style(style) == judge_inline_style(parsed)
    for around in (OUTERMOST, read_around(OUTERMOST, {"bgcolor": "#fff"})):
        own, same = {"style": style}, {"style": parsed}
        assert is_lost(around, own) == is_lost(around, same)
        assert read_around(around, own) == read_around(around, same)


@pytest.mark.parametrize(
    ("attributes", "most"),
    [
        ("style='background-image:url(\"/p/{0}.png\")'", 0),
        ("style='margin:0;width:{0}00px'", 0),
        ("style='letter-spacing:1px;color:#a{0}c'", 20),
        ("color=#1{0}3", 10),
        ("style='letter-spacing:2px' class=c{0}", 1),
    ],
)
def test_a_style_is_parsed_once_for_all_elements_and_only_if_it_may_hide(
    monkeypatch: pytest.MonkeyPatch, attributes: str, most: int
) -> None:
    texts: list[str] = []

    def count(text: str) -> object:
        texts.append(text)
        return parse_declarations(text)

    for module in (look, doubt):
        monkeypatch.setattr(module, "parse_declarations", count)
    elements = [f"<p {attributes.format(n % 10)}>kelp {n}</p>" for n in range(200)]

    outline = find_blocks(parse("".join(elements).encode()).body)

    assert len(outline.block_texts) == 200
    assert len(texts) <= most


@given(
    _CSS,
    st.sampled_from(["calc(", "rgb(", "polygon(", "inset(", "matrix(", "hsl(", "var("]),
    st.data(),
)
def test_no_value_raises(inside: str, function: str, data: st.DataObject) -> None:
    name = data.draw(
        st.sampled_from(
            [
                "clip-path",
                "color",
                "transform",
                "opacity",
                "width",
                "font",
                "background",
                "inset",
            ]
        )
    )
    judge_inline_style(f"overflow:hidden;position:fixed;{name}:{function}{inside})")


def _spell(letters: str, draw: st.DrawFn) -> str:
    """Write an identifier in one of the ways that CSS allows."""
    ways = {
        "plain": str,
        "capital": str.upper,
        "escape": lambda letter: f"\\{ord(letter):x} ",
        "long escape": lambda letter: f"\\{ord(letter.upper()):06X}",
        "backslash": lambda letter: letter if letter in "abcdef" else f"\\{letter}",
    }
    return "".join(
        ways[draw(st.sampled_from(sorted(ways)))](letter)
        if letter.isalpha()
        else letter
        for letter in letters
    )


@st.composite
def hiding(draw: st.DrawFn) -> str:
    """Draw a declaration that hides, in any spelling."""
    name, value = draw(
        st.sampled_from(
            [
                ("display", "none"),
                ("visibility", "hidden"),
                ("content-visibility", "hidden"),
                ("color", "transparent"),
            ]
        )
    )
    gap = st.sampled_from(["", " ", "\n\t", "/**/", "/* ; */ ", " /*}*/"])
    before = draw(
        st.sampled_from(
            [
                "",
                "color:red;",
                ";;",
                "a:'\\';';",
                "b:url(;);",
                "c{};",
                "d:(;);",
                f"{name}:nonsense;",
            ]
        )
    )
    after = draw(
        st.sampled_from(["", "!important", "! IMPORTANT", "!/**/im\\70ortant"])
    )
    end = draw(st.sampled_from(["", ";", ";x:y", f";{name}:nonsense", f";{name}:"]))
    parts = [before, _spell(name, draw), ":", _spell(value, draw), after, end]
    return "".join(part + draw(gap) for part in parts)


@given(hiding())
def test_a_hiding_declaration_is_recognized_however_it_is_spelled(style: str) -> None:
    look = judge_inline_style(style)
    assert look.closes or look.mutes, list(parse_declarations(style))


def test_a_style_that_hides_nothing_has_the_plain_look() -> None:
    assert judge_inline_style("background:url(a.png);border:0") == PLAIN


@pytest.mark.parametrize(
    ("style", "closes"),
    [
        ("--k:0;--l:var(--k);opacity:var(--l)", True),
        # one that stands in itself has no value, but what stands for it may have one
        ("--k:var(--l);--l:var(--k);opacity:var(--k)", False),
        ("--k:var(--l);--l:var(--k);opacity:var(--k,0)", True),
        ("--k:var(--k,0);opacity:var(--k)", True),
        ("opacity:var(--no,var(--none,0))", True),
    ],
)
def test_a_variable_has_one_value(style: str, closes: bool) -> None:
    assert judge_inline_style(style).closes == closes
