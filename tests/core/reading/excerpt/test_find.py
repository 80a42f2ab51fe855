from __future__ import annotations
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.corpora import CORPORA, needs
from websearch_core.errors import InvalidOption
from websearch_core.models import Page
from websearch_core.reading import Excerpt, read_html
from websearch_core.reading._excerpt.find import Folded, by_phrase, occurrences

CORPUS = CORPORA / "reading" / "wcxb" / "dev" / "html"

FILLER = "Nothing here tells of the matter at hand, and it goes on for a while. " * 12
TEXT = "\n\n".join(
    f"## Part {n}\n\n{FILLER}\n\nThe grace period of part {n} is {n} days.\n\n{FILLER}"
    for n in range(9)
)


def find_phrase(page: Page, phrase: str, max_length: int, offset: int = 0) -> Page:
    return Excerpt(find=phrase, max_length=max_length, offset=offset).of(page)


def whole(text: str) -> Page:
    return Page(
        url="https://example.org/",
        content=text,
        content_length=len(text),
        original_length=len(text),
    )


def counted(part: Page) -> tuple[int, int]:
    """How many places there are, and how many are shown, as the note has it."""
    note = part.notes[-1]
    there = int(re.match(r"(\d+) place|the page does not contain", note)[1] or 0)
    first = re.search(r"the first (\d+) of them shown", note)
    return there, int(first[1]) if first else there


PIECES = st.sampled_from(
    [
        "kelp ",
        "Kélp ",
        "the sea. ",
        "\n\n",
        "## Kelp\n\n",
        "| kelp | a |\n",
        "- kelp\n",
        "x " * 200,
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(PIECES, max_size=60).map("".join),
    st.integers(100, 3000),
    st.integers(0, 300),
)
def test_every_place_that_is_said_to_be_shown_is_shown(
    text: str, max_length: int, offset: int
) -> None:
    part = find_phrase(whole(text), "KELP", max_length, offset)
    there, shown = counted(part)
    places = [
        match.start()
        for match in re.finditer("k[eé]lp", text, re.IGNORECASE)
        if match.start() >= offset
    ]

    assert there == len(places)
    assert part.content_length == len(part.content) <= max_length
    for place in places[:shown]:
        assert any(
            one.offset <= place < one.offset + one.length for one in part.passages
        )
    assert part.next_offset == (places[shown] if shown < there else None)
    assert bool(part.content) == bool(places)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join), st.integers(60, 600))
def test_following_the_next_offset_shows_every_place_once(
    text: str, max_length: int
) -> None:
    page, offset, seen = whole(text), 0, 0
    total, _ = counted(find_phrase(page, "kelp", 10**6))
    while True:
        part = find_phrase(page, "kelp", max_length, offset)
        _, shown = counted(part)
        seen += shown
        if part.next_offset is None:
            break
        assert part.next_offset > offset
        offset = part.next_offset
    assert total == seen


def test_places_come_with_their_headings_and_the_text_around_them() -> None:
    part = find_phrase(whole(TEXT), "grace period", 20_000)

    assert len(part.passages) == 9
    assert {one.headings for one in part.passages} == {(f"Part {n}",) for n in range(9)}
    assert [
        n
        for n in range(9)
        if f"The grace period of part {n} is {n} days." not in part.content
    ] == []
    assert part.notes == ("9 places with 'grace period'",)
    assert part.truncated
    assert len(part.content) < len(TEXT) / 2


def test_places_that_do_not_fit_are_counted_and_found_from_the_next_offset() -> None:
    page = whole(TEXT)
    part = find_phrase(page, "grace period", 1_500)
    there, shown = counted(part)

    assert (there, 0 < shown < 9) == (9, True)
    assert TEXT[part.next_offset :].startswith("grace period")
    rest = find_phrase(page, "grace period", 20_000, part.next_offset)
    assert rest.notes == (
        f"{9 - shown} places with 'grace period' from offset {part.next_offset} on",
    )


def test_places_that_are_near_are_shown_together() -> None:
    part = find_phrase(
        whole(f"{FILLER}\n\nKelp here. Kelp there.\n\n{FILLER}"), "kelp", 2_000
    )

    assert part.notes == ("2 places with 'kelp'",)
    assert len(part.passages) == 1


def test_a_phrase_that_is_nowhere_is_no_error() -> None:
    part = find_phrase(whole(TEXT), "zebra crossing", 1_000)

    assert (part.content, part.passages, part.next_offset) == ("", (), None)
    assert part.notes == ("the page does not contain 'zebra crossing'",)


@pytest.mark.parametrize("phrase", ["", "  ", "**"])
def test_a_phrase_with_nothing_in_it_is_refused(phrase: str) -> None:
    with pytest.raises(InvalidOption, match="nothing to search for"):
        by_phrase(whole("text"), phrase, 0, 100)


@pytest.mark.parametrize(
    ("text", "phrase", "read"),
    [
        ("Der Größte", "GRÖSSTE", "Größte"),
        ("Le CAFÉ du coin", "cafe du", "CAFÉ du"),
        ("un cafe\u0301 noir", "café noir", "cafe\u0301 noir"),
        ("ﬁne", "fine", "ﬁne"),
        ("１２３ ＡＢＣ", "123 abc", "１２３ ＡＢＣ"),
        ("wide  open\n\nspace", "wide open space", "wide  open\n\nspace"),
        ("no\u00a0break", "no break", "no\u00a0break"),
        ("a **bold** word", "a bold word", "a **bold** word"),
        (r"max\_length of", "max_length", r"max\_length"),
        (
            "see [the guide](https://a.example/x) for more",
            "the guide for more",
            "the guide](https://a.example/x) for more",
        ),
        (
            "see [the guide](https://a.example/x)",
            "https://a.example/x",
            "https://a.example/x",
        ),
        ("wait… what", "wait... what", "wait… what"),
        ("كِتَاب", "كتاب", "كِتَاب"),
        ("İstanbul", "istanbul", "İstanbul"),
        ("한국어", "한국", "한국"),
        ("がぎ", "ぎ", "ぎ"),
        ("か\u3099ぎ", "が", "か\u3099"),
        ("\u1100\u1161\u11a8도", "각", "\u1100\u1161\u11a8"),
        ("각도", "\u1100\u1161\u11a8도", "각도"),
        (
            "Kelp’s growth doesn’t stop",
            "kelp's growth doesn't stop",
            "Kelp’s growth doesn’t stop",
        ),
        (
            "in 2019–2024, a co‑operative",
            "2019-2024, a co-operative",
            "2019–2024, a co‑operative",
        ),
        ("a “forest”", '"forest"', "“forest”"),
        ("ein «Wald»", '"wald"', "«Wald»"),
        ('a "forest"', "“forest”", '"forest"'),
        ("п’ять", "пʼять", "п’ять"),
        ("5′ 3″ at −4 °C, ½", "5' 3\" at -4 °C, 1/2", "5′ 3″ at −4 °C, ½"),
        ("co\u00adoperate", "cooperate", "co\u00adoperate"),
        ("a List&lt;int> of it", "list<int>", "List&lt;int>"),
        ("Marks &amp; Spencer", "marks & spencer", "Marks &amp; Spencer"),
        ("if a&lt;", "a<", "a&lt;"),
        (r"\[1] and \*args", "[1] and *args", r"[1] and \*args"),
        ("> first\n> second", "first second", "first\n> second"),
        ("𝐊elp", "kelp", "𝐊elp"),
    ],
)
def test_a_phrase_is_found_as_a_person_would_find_it(
    text: str, phrase: str, read: str
) -> None:
    around = f"Before it. {text} After it."
    assert [read] == [around[start:end] for start, end in occurrences(around, phrase)]


def test_a_kana_with_its_mark_is_another_letter() -> None:
    assert (
        len(occurrences("か", "が"))
        == len(occurrences("が", "か"))
        == len(occurrences("각도", "가"))
        == 0
    )


TYPED = str.maketrans("’‘“”„«»–—‑−\u00a0", '\'\'"""""---- ', "\u00ad")
MARKDOWN = MarkdownIt("commonmark").enable("table")
READ = """<article><h1>Kelp’s “forests” — 2019–2024</h1>
<p>It doesn’t stop: a co‑operative of “divers”, in Provence «plongeurs», counts 4 – 5 m at −2 °C<br>each day&nbsp;or two.</p>
<p>The type List&lt;int&gt; &amp; its <em>cousin</em> Map&lt;K, V&gt; use <code>a &lt; b</code>, f(*args), snake_case and [0].</p>
<ul><li>Ulti<b>mate</b>ly, <a href="/a_(b)">L’été n’est</a> pas fini</li><li>co&shy;operative hyphen&shy;ation test</li></ul>
<blockquote><p>“One line,<br>two lines,<br>three lines’ end.”</p></blockquote>
<table><tr><th>What it’s</th><th>Size | width</th></tr><tr><td>Women’s 200 m</td><td>5′ 3″ or so</td></tr></table>
<pre><code>if (a &lt; b &amp;&amp; c) { print("it’s"); }</code></pre>
<p>각도를 재는 방법 がぎぐ の 種類 и пʼять слів тут</p></article>"""


def blocks(markdown: str) -> Iterator[str]:
    """Yield the text of each block as a person sees it."""
    for token in MARKDOWN.parse(markdown):
        if token.type in {"fence", "code_block"}:
            yield token.content
        elif token.type == "inline":
            shown = [child for child in token.children or [] if child.type != "image"]
            yield "".join(
                " " if child.type in {"softbreak", "hardbreak"} else child.content
                for child in shown
            )


def not_found(content: str) -> list[str]:
    """Return the runs of three words in a block that are not found as people type
    them.
    """
    forms = [Folded(content, seen=True).form, Folded(content).form]
    words = [block.translate(TYPED).split() for block in blocks(content)]
    runs = {
        " ".join(block[n : n + 3]) for block in words for n in range(len(block) - 2)
    }
    return [
        run
        for run in runs
        if not any(Folded(run).form.strip() in form for form in forms)
    ]


def test_every_run_of_three_words_is_found_as_people_type_it() -> None:
    content = read_html(READ.encode() * 3, "https://sea.example/").content

    assert sum(len(block.split()) for block in blocks(content)) > 80
    assert not_found(content) == []


@needs(CORPUS)
@pytest.mark.parametrize(
    "file", sorted(CORPUS.glob("*.gz"))[::60], ids=lambda file: file.name
)
def test_every_run_of_three_words_of_a_page_is_found_as_people_type_it(
    file: Path,
) -> None:
    assert (
        not_found(
            read_html(
                gzip.decompress(file.read_bytes()), "https://sea.example/"
            ).content
        )
        == []
    )


def test_a_place_deep_in_a_row_that_is_too_long_is_shown_all_the_same() -> None:
    row = f"| {'cell ' * 2_000}needle {'cell ' * 2_000}|\n"
    part = find_phrase(whole(row), "needle", 300)

    assert "needle" in part.content
    assert len(part.content) <= 300
    assert part.notes == ("1 place with 'needle'",)


def test_code_that_looks_like_a_link_is_searched_as_it_is_written():
    code = "```python\nhandlers[name](event)\n```"
    text = f"An [event](https://sea.example/kelp).\n\n{code}\n\nSee [kelp](https://sea.example/event)."

    assert [text[start:end] for start, end in occurrences(text, "event")] == [
        "event",
        "event",
    ]
    assert [text[start:end] for start, end in occurrences(text, "[name](event)")] == [
        "[name](event)"
    ]
    assert [text[start:end] for start, end in occurrences(text, "see kelp")] == [
        "See [kelp"
    ]


def test_a_phrase_is_found_outside_the_main_text_after_all_places_in_it():
    page = Page(
        url="https://lamps.example/",
        content="Kelp grows. " * 40,
        rest="Kelp salad\n$9.50\n\nTea\n$2",
    )
    every = Excerpt(find="kelp", max_length=3_000).of(page)
    begun = Excerpt(find="kelp", max_length=450).of(page)

    assert "outside the main text of the page" in every.content
    assert every.content.endswith("Kelp salad\n$9.50")
    assert every.notes == ("41 places with 'kelp'",)
    while begun.next_offset is not None:
        begun = Excerpt(find="kelp", max_length=450, offset=begun.next_offset).of(page)
    assert begun.content.endswith("Kelp salad\n$9.50")
