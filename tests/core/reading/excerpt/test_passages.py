from __future__ import annotations
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from websearch_core.errors import InvalidOption
from websearch_core.models import Page
from websearch_core.reading import Excerpt
from websearch_core.reading._excerpt.pieces import pieces
from websearch_core.reading._excerpt.window import LINK
from websearch_core.reading._markdown.fences import find_fences
from websearch_core.reading._markdown.sanitizer import opening_of

MARK = re.compile(
    r"\[\.\.\. ([\d,]+) characters left out(?:; offset (\d+)(?:: (.*))?)? \.\.\.\]"
)
FILLER = "Nothing here tells of the matter at hand, and it goes on for a while. " * 12
MANUAL = f"""# Manual

{FILLER}

## Installing

{FILLER}

### Linux

Add the repository, then install the package with your package manager.

### Windows

Run the installer. {FILLER}

## Keys

| name | lifetime | note |
| --- | --- | --- |
{"".join(f"| key {n} | {n} days | nothing to say about it, as so often |{chr(10)}" for n in range(40))}| rotation | forever | the grace period of a rotation is a week |

{FILLER}
"""

WORDS = st.sampled_from(
    ["kelp", "sea", "Brown algae.", "grows. It", "日本語の文。", "ไทย", "é", "a" * 700]
)
BLOCKS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=30).map(" ".join),
    st.sampled_from(
        [
            "# Title",
            "## Kelp *forests*",
            "### [Deep](https://a.example/) sea",
            "- item one\n- item of kelp\n  and its second line",
            "| a | b |\n| --- | --- |\n| kelp | 1 |\n| sea | 2 |",
            "| kelp | sea |",
            "```python\nkelp = 1\n\nsea = 2\n```",
            "~~~\n" + "kelp line\n" * 200 + "~~~",
            "> ```\n> kelp\n> ```",
            "Look [at kelp. And more of it](https://a.example/kelp) there. Sea.",
            "[kelp " + "sea " * 200 + "](https://a.example/)",
            "",
        ]
    ),
)
MARKDOWN = st.lists(BLOCKS, max_size=25).map("\n\n".join)
BUDGETS = st.integers(1, 3000)


def pick_passages(page: Page, query: str, max_length: int, offset: int = 0) -> Page:
    return Excerpt(query=query, max_length=max_length, offset=offset).of(page)


def find_phrase(page: Page, phrase: str, max_length: int, offset: int = 0) -> Page:
    return Excerpt(find=phrase, max_length=max_length, offset=offset).of(page)


def whole(text: str) -> Page:
    return Page(
        url="https://example.org/",
        content=text,
        content_length=len(text),
        original_length=len(text),
    )


def shown(page: Page, part: Page) -> list[str]:
    return [page.content[one.offset : one.offset + one.length] for one in part.passages]


@settings(max_examples=200, deadline=None)
@given(MARKDOWN)
def test_pieces_are_the_whole_text_and_divide_no_link_row_or_short_code(
    text: str,
) -> None:
    found = pieces(text)

    assert not text.strip() or text == "".join(
        text[piece.start : piece.end] for piece in found
    )
    cuts = [piece.end for piece in found]
    for begin, end in [
        *(link.span() for link in LINK.finditer(text)),
        *(row.span() for row in re.finditer(r"^\|.*$", text, re.MULTILINE)),
        *((begin, end) for begin, end in find_fences(text) if end - begin <= 600),
    ]:
        assert not [cut for cut in cuts if begin < cut < end]


@settings(max_examples=200, deadline=None)
@given(
    MARKDOWN,
    BUDGETS,
    st.integers(0, 2000),
    st.sampled_from(["kelp", "brown algae", "日本", "ไท", "e", "?"]),
)
def test_passages_are_parts_of_the_page_in_its_order_and_within_the_budget(
    text: str, max_length: int, offset: int, query: str
) -> None:
    page = whole(text)
    part = pick_passages(page, query, max_length, offset)
    # written again where a part begins in code
    fence = "" if part.passages else opening_of(text, part.offset)

    assert (
        part.content_length
        == len(part.content)
        <= max(max_length, len(f"{fence}\nk") if fence else 0)
    )
    assert len(text) == part.original_length
    assert part.next_offset is None or not part.passages
    end = offset
    for passage, said in zip(part.passages, shown(page, part), strict=True):
        assert end <= passage.offset
        end = passage.offset + passage.length
        assert said in part.content
    if not part.truncated:
        assert part.content == (f"{fence}\n" if fence else "") + text[offset:]


@settings(max_examples=150, deadline=None)
@given(MARKDOWN, st.integers(300, 3000))
def test_no_code_is_left_open_and_no_link_is_cut(text: str, max_length: int) -> None:
    part = pick_passages(whole(text), "kelp", max_length)

    if MARK.search(part.content):  # else there was no room for whole pieces
        opened = find_fences(part.content + "\n\nend")
        assert all(end < len(part.content) + 5 for _, end in opened)
        assert part.content.count("](https://a.example/") == len(
            LINK.findall(part.content)
        )


@settings(max_examples=150, deadline=None)
@given(MARKDOWN, st.integers(200, 3000))
def test_what_the_marks_say_is_left_out_is_what_is_not_shown(
    text: str, max_length: int
) -> None:
    page = whole(text)
    part = pick_passages(page, "kelp", max_length)
    left_out, end = "", 0
    for one in part.passages:
        left_out += text[end : one.offset]
        end = one.offset + one.length
    left_out += text[end:]

    # else it is whole, or nothing matches, or there was no room for marks
    if marks := MARK.findall(part.content):
        said = sum(int(count.replace(",", "")) for count, _, _ in marks)
        assert len("".join(left_out.split())) <= said <= len(left_out)
        assert {offset for _, offset, _ in marks if offset} <= {
            str(one.offset) for one in part.passages
        }


def test_the_passage_that_answers_is_found_far_down_the_page_with_its_headings() -> (
    None
):
    part = pick_passages(whole(MANUAL), "How do I install the package on Linux?", 500)

    assert "Add the repository, then install the package" in part.content
    assert "### Linux" in part.content
    assert part.truncated
    assert part.notes == ()


def test_a_mark_says_how_much_is_left_out_where_one_is_and_under_which_headings() -> (
    None
):
    part = pick_passages(whole(MANUAL), "package manager", 200)
    start = MANUAL.index("### Linux")

    assert part.content.startswith(
        f"[... {start:,} characters left out; offset {start}: Installing ...]\n\n### Linux\n\nAdd"
    )
    assert part.content.endswith(" characters left out ...]")
    assert [one.headings for one in part.passages] == [("Installing",)]


def test_reading_on_from_the_offset_of_a_passage_begins_with_it() -> None:
    page = whole(MANUAL)
    part = pick_passages(page, "install package repository", 400)
    (offset,) = {int(mark[2]) for mark in MARK.finditer(part.content) if mark[2]}

    assert page.content[offset:].startswith("### Linux")


def test_a_row_is_shown_under_the_header_of_its_table() -> None:
    part = pick_passages(whole(MANUAL), "grace period of a rotation", 400)

    assert "| name | lifetime | note |\n| --- | --- | --- |\n" in part.content
    assert (
        "| rotation | forever | the grace period of a rotation is a week |"
        in part.content
    )
    assert part.content.count("| name |") == 1


def test_a_part_of_long_code_is_shown_as_code() -> None:
    code = "```python\n" + "".join(f"line_{n} = {n}\n" for n in range(300)) + "```"
    part = pick_passages(whole(f"{FILLER}\n\n{code}\n\n{FILLER}"), "line_150", 500)

    assert "line_150 = 150" in part.content
    ((begin, end),) = find_fences(part.content)
    assert part.content[begin:end].startswith("```python\n")
    assert part.content[begin:end].rstrip().endswith("\n```")


def test_neighbours_are_joined_and_headings_are_not_doubled() -> None:
    text = "\n\n".join(
        f"## Part {n}\n\nKelp grows in part {n}. {'Filler words. ' * 20}"
        for n in range(9)
    )
    part = pick_passages(whole(text), "kelp", 1500)

    assert [
        part.content.count(f"## Part {n}")
        for n in range(9)
        if part.content.count(f"## Part {n}") > 1
    ] == []
    assert len(part.passages) < part.content.count("## Part")


def test_what_is_shorter_than_a_mark_is_not_left_out() -> None:
    text = f"{FILLER}\n\nKelp is an alga. {'Of the kind that is brown. ' * 8}\n\nSee below.\n\nAlgae of kelp: {'brown. ' * 40}"
    part = pick_passages(whole(f"{text}\n\n{FILLER}"), "kelp alga", 900)

    assert "\n\nSee below.\n\nAlgae of kelp" in part.content
    assert len(part.passages) == 1


def test_the_targets_of_links_say_nothing_of_the_page() -> None:
    link = "[Home](https://a.example/how-to-rotate-a-key)"
    part = pick_passages(
        whole(f"{link}\n\n{FILLER}\n\nTurn the key once.\n\n{FILLER}"),
        "rotate a key",
        200,
    )

    assert "Turn the key once." in part.content
    assert "Home" not in part.content


def test_a_page_that_fits_is_whole_and_has_no_marks() -> None:
    part = pick_passages(whole("Kelp is brown.\n\nThe sea is blue."), "sea", 100)

    assert part.content == "Kelp is brown.\n\nThe sea is blue."
    assert (part.truncated, part.next_offset, part.notes) == (False, None, ())
    assert [(one.offset, one.length) for one in part.passages] == [(0, 32)]


@pytest.mark.parametrize("max_length", [200, 100_000])
def test_if_nothing_matches_it_is_the_beginning_and_a_note_says_so(
    max_length: int,
) -> None:
    part = pick_passages(whole(MANUAL), "zebra", max_length)

    assert part.content.startswith("# Manual")
    assert part.passages == ()
    assert part.notes == (
        "no passage of the page contains a word of the query 'zebra'",
    )
    assert (part.next_offset is None) == (max_length > len(MANUAL))


def test_passages_are_chosen_from_the_offset_on() -> None:
    text = f"The answer is kelp.\n\n{FILLER}\n\nAnother answer is algae.\n\n{FILLER}"
    part = pick_passages(whole(text), "answer", 200, offset=30)

    assert "Another answer is algae." in part.content
    assert "The answer is kelp." not in part.content
    assert part.offset == 30


def test_there_is_always_something_to_show_however_small_the_budget() -> None:
    part = pick_passages(whole(MANUAL), "repository", 20)

    assert part.content
    assert part.content in MANUAL
    assert MANUAL[part.passages[0].offset :].startswith(part.content)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("海藻は何色ですか", "海藻は茶色です。"),
        ("สาหร่ายสีอะไร", "สาหร่ายสีน้ำตาล"),
        ("Was wird konfiguriert?", "Die Konfigurationen stehen hier."),
        ("какого цвета водоросль", "Водоросли бурого цвета."),
    ],
)
def test_words_are_found_in_other_forms_and_in_scripts_without_spaces(
    query: str, answer: str
) -> None:
    others = "\n\n".join(
        [
            "Die Stadt liegt am Fluss.",
            "東京は大きな町です。",
            "เมืองใหญ่",
            "Город стоит на реке.",
        ]
        * 20
    )
    part = pick_passages(whole(f"{others}\n\n{answer}\n\n{others}"), query, 200)

    assert answer in part.content


@pytest.mark.parametrize(("max_length", "offset"), [(0, 0), (-1, 0), (1, -1)])
@pytest.mark.parametrize("choose", [pick_passages, find_phrase])
def test_senseless_parts_are_refused(choose, max_length: int, offset: int) -> None:
    with pytest.raises(InvalidOption):
        choose(whole("text"), "text", max_length, offset)


SHOP = Page(
    url="https://lamps.example/",
    content=f"The Ember lamp is cast in brass.\n\n{FILLER}\n\n## Care of the Ember lamp\n\n{FILLER}",
    rest="Ember lamp\n$48.99\n\nVarra lamp\n$59.00\n\n## Contact\n\nCall +44 20 7977 7048",
)
OUTSIDE = "[... outside the main text of the page; offset "


def test_a_query_also_finds_what_stands_outside_the_main_text_and_marks_it():
    part = Excerpt(query="How much is the Ember lamp?", max_length=900).of(SHOP)
    main, mark, outside = part.content.partition(OUTSIDE)

    assert "Ember lamp is cast in brass" in main
    assert mark
    assert "Ember lamp\n$48.99" in outside
    assert "Care of" not in outside
    assert part.content_length <= 900
    assert part.rest == ""
    assert part.original_length == len(SHOP.content)


def test_the_offset_of_a_passage_outside_the_main_text_leads_to_it():
    part = Excerpt(query="What is the number to call?", max_length=700).of(SHOP)
    offset = part.passages[-1].offset
    there = Excerpt(offset=offset, max_length=300).of(SHOP)

    assert offset > len(SHOP.content)
    assert there.content.startswith(part.content.rpartition("...]")[2].strip()[:10])
    assert "this is outside the main text of the page" in there.notes
    assert Excerpt(offset=0).of(SHOP).content == SHOP.content


def test_a_main_text_that_fits_is_whole_beside_what_was_found_outside():
    page = Page(
        url="https://lamps.example/",
        content="Brass lamps, made by hand.",
        rest="Ember lamp\n$48.99",
    )
    part = Excerpt(query="price of the Ember lamp", max_length=500).of(page)

    assert part.content.startswith(page.content)
    assert part.content.endswith("Ember lamp\n$48.99")
    assert not part.truncated


def test_without_a_word_of_the_query_nothing_is_shown_from_outside_the_main_text():
    part = Excerpt(query="xylophone", max_length=500).of(SHOP)

    assert OUTSIDE not in part.content
    assert not part.passages


def test_an_amount_counts_as_a_word_of_a_question_that_asks_for_one():
    cards = "\n\n".join(
        f"Lamp of the {place} has a story of its own"
        for place in ("sea", "hill", "town", "wood")
    )
    page = Page(
        url="https://lamps.example/",
        content=FILLER,
        rest=f"{cards}\n\nYours for €39.90 today",
    )
    part = Excerpt(query="How much does the lamp cost?", max_length=400).of(page)

    assert "€39.90" in part.content


def test_a_row_is_found_by_a_word_of_the_header_of_its_table():
    part = Excerpt(query="lifetime of key 31", max_length=600).of(
        Page(url="https://keys.example/", content=MANUAL)
    )

    assert "| key 31 | 31 days |" in part.content


def test_a_name_is_found_that_a_page_writes_without_a_space_after_the_maker():
    cards = "\n\n".join(
        f"Varra{place} lamp with a linen shade\nfor ${n}1.00"
        for n, place in enumerate("ABCDEFGH", 1)
    )
    page = Page(
        url="https://lamps.example/",
        content=FILLER,
        rest=f"{cards}\n\nVarraEmber lamp\nfor $48.99\n\n{cards}",
    )
    part = Excerpt(query="price of the Ember lamp", max_length=300).of(page)

    assert "$48.99" in part.content


def test_cards_outside_the_main_text_are_passages_by_themselves():
    names = ["Amber", "Birch", "Ember", "Fjord"]
    cards = [
        f"{name} lamp with a shade\n${n}1.00\nMore options"
        for n, name in enumerate(names, 1)
    ]
    page = Page(url="https://lamps.example/", content=FILLER, rest="\n\n".join(cards))
    part = Excerpt(query="price of the Birch", max_length=160).of(page)

    assert "$21.00" in part.content
    assert "$11.00" not in part.content


@pytest.mark.parametrize("outside", [False, True])
def test_the_best_passage_of_all_is_shown_wherever_it_stands(outside):
    best = (
        "Care of the Ember lamp: "
        + "wipe the brass of the lamp with a dry cloth, and never with sand. " * 7
    )
    others = "\n\n".join(
        f"Ember lamp {n}\n{'with a shade of linen ' * 3}" for n in range(9)
    )
    content, rest = (
        (f"{FILLER}\n\n{others}", best) if outside else (f"{FILLER}\n\n{best}", others)
    )
    page = Page(url="https://lamps.example/", content=content, rest=rest)
    part = Excerpt(query="care of the Ember lamp", max_length=640).of(page)

    assert "Care of the Ember lamp" in part.content


RECIPE = f"""# Lemon cake

{FILLER}

## Why lemons

Lemons make this cake fresh, and fresh lemons are better than lemons from a bottle.

## What you need

- 2 cups flour
- 200 g butter
- 3 eggs
- 4 lemons, with their peel
- 1 pinch of salt

## Steps

1. Heat the oven to 180 °C while the lemons are washed, peeled, pressed and put aside in a bowl of their own for later.
2. Mix it all with the juice of the lemons and bake it for 50 minutes, then let it cool and pour the juice over it.

{FILLER}
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many lemons does the cake need?", "4 lemons"),
        ("How much butter?", "200 g butter"),
        ("How much flour goes into the lemon cake?", "2 cups flour"),
    ],
)
def test_an_amount_beside_the_word_comes_before_prose_about_the_word(question, answer):
    assert answer in pick_passages(whole(RECIPE), question, 300).content


@pytest.mark.parametrize(
    ("heading", "lines", "question", "answer"),
    [
        (
            "Visit",
            ["Shop: 9:00 to 19:00", "Workshop: 10:00 to 16:00", "Closed on Sundays"],
            "When is the workshop open?",
            "10:00 to 16:00",
        ),
        (
            "Data",
            ["Weight: 3 kg", "Frame: 40 mm", "Belt: 2 m"],
            "How long is the belt of the saw?",
            "2 m",
        ),
        (
            "Zutaten",
            ["200 g Mehl", "30 g Butter", "2 Eier"],
            "Wie viel Butter braucht der Teig?",
            "30 g Butter",
        ),
    ],
)
def test_a_line_with_word_and_number_comes_before_a_paragraph_of_the_words(
    heading, lines, question, answer
):
    words = question.strip("?").lower()
    prose = f"Many ask us about it: {words}, and again {words}, as people do. {FILLER}"
    rows = "".join(f"- {line}\n" for line in lines)
    page = whole(f"# Page\n\n{prose}\n\n## {heading}\n\n{rows}\n{FILLER}")

    assert answer in pick_passages(page, question, 400).content


def test_a_function_of_the_caller_chooses_the_passages():
    asked = []

    def count_stones(query, passages):
        asked.append(query)
        return [passage.count("stone") for passage in passages]

    page = whole(f"Kelp grows. {FILLER}\n\nOne stone, one stone.\n\n{FILLER} A stone.")

    part = Excerpt(query="kelp", max_length=300, passages_by=count_stones).of(page)

    assert "One stone, one stone." in part.content
    assert "Kelp" not in part.content
    assert asked == ["kelp"]


def test_a_score_of_0_or_less_or_none_at_all_is_no_answer():
    page = whole(f"Kelp grows. {FILLER}\n\n{FILLER}\n\n{FILLER}")

    part = Excerpt(
        query="kelp",
        max_length=300,
        passages_by=lambda _, passages: [-1.0, float("nan"), *[0] * len(passages)][
            : len(passages)
        ],
    ).of(page)

    assert part.passages == ()
    assert "no passage of the page" in part.notes[-1]


def test_a_function_that_does_not_score_each_passage_is_refused():
    page = whole(f"Kelp grows. {FILLER}\n\n{FILLER}")

    with pytest.raises(InvalidOption, match="one number for each passage: there are"):
        Excerpt(query="kelp", max_length=300, passages_by=lambda *_: [1.0]).of(page)


def test_a_page_in_another_language_is_asked_for_the_kind_of_fact_alone():
    sold = "\n\n".join(f"Lámpara {n}: a {n}5 €, con pie de latón." for n in range(30))
    page = whole(
        f"# Faro\n\nPeso del faro entero: 20 kg, 400 €\n\n{sold}\n\nOf a {FILLER}"
    )

    part = pick_passages(page, "how much is the weight of a lighthouse", 300)

    assert "400 €" in part.content
    assert "Nothing here" not in part.content


def test_a_row_without_a_name_is_shown_with_the_row_that_it_goes_on_from():
    names = [f"Keeper {n} of the tower by the northern sea" for n in range(10, 60)]
    rows = [f"| {name} | a |\n| | since 19{name[7:9]} |" for name in names]
    page = whole("| Name | |\n| --- | --- |\n" + "\n".join(rows))

    part = pick_passages(page, "Keeper 37", 250)

    assert "| Keeper 37 of the tower by the northern sea | a |\n| | since 1937 |" in (
        part.content
    )
