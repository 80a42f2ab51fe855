"""Links for citations, numbers that nobody issued, and checks of what a source says."""

from __future__ import annotations
import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core.citations import (
    _check,
    acheck_citations,
    check_citations,
    link_citations,
    merge_sources,
    unknown_citations,
)
from websearch_core.citations._figures import find_figures

SOURCES = [
    {"id": 1, "title": "Kelp [brown]", "url": "https://a.example/"},
    {"id": 2, "title": "", "url": "https://b.example/x_(y)"},
    {"id": 3, "title": "Notes", "url": "file:///notes.md"},
]
A, B = "[1](https://a.example/)", "[2](https://b.example/x_%28y%29)"


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("Kelp [1].", f"Kelp {A}."),
        ("Kelp [1][2].", f"Kelp {A}{B}."),
        ("Kelp [1, 2].", f"Kelp {A}, {B}."),
        ("Kelp [1,2; 9].", f"Kelp {A}, {B}, [9]."),
        ("Kelp [1-3].", f"Kelp {A}, {B}, [3]."),
        ("Kelp [1–2].", f"Kelp {A}, {B}."),
        ("海带【1】，红藻【2†第3行】。", f"海带{A}，红藻{B}。"),
        ("Kelp ![1].", f"Kelp ! {A}."),
        ("[1]: Kelp grows. As in [a][1].", f"{A}: Kelp grows. As in [a]{A}."),
        ("Kelp [9], [8-9], 【7】.", "Kelp [9], [8-9], 【7】."),
        ("Kelp [3].", "Kelp [3]."),
        ("In [2020-2099] and [0] and [2-1].", "In [2020-2099] and [0] and [2-1]."),
        ("Linked [1](x).", "Linked [1](x)."),
        ("[a] [1a] [] [-1] [1.2]", "[a] [1a] [] [-1] [1.2]"),
        ("`a[1]` and ``b `[1]` c``", "`a[1]` and ``b `[1]` c``"),
        ("```py\na = b[1]\n```\nKelp [1].", f"```py\na = b[1]\n```\nKelp {A}."),
        ("~~~\n[1]\n```\n[2]", "~~~\n[1]\n```\n[2]"),
        ("- item:\n  ```\n  a[1]\n  ```\n[1]", f"- item:\n  ```\n  a[1]\n  ```\n{A}"),
        (
            "a ` lone tick [1]\n\nand ` another [1]",
            f"a ` lone tick {A}\n\nand ` another {A}",
        ),
    ],
)
def test_citations_become_links_but_never_in_code(text, linked):
    assert link_citations(text, SOURCES) == linked


def test_a_footer_lists_the_sources_that_are_cited():
    assert link_citations("Kelp [2], [1], [2], [3], [9].\n", SOURCES, footer=True) == (
        f"Kelp {B}, {A}, {B}, [3], [9].\n\n**Sources**\n\n"
        "- [2] [https://b.example/x_(y)](https://b.example/x_%28y%29)\n"
        "- [1] [Kelp \\[brown\\]](https://a.example/)\n"
        "- [3] Notes"
    )
    assert link_citations("Kelp [9].", SOURCES, footer=True) == "Kelp [9]."


def test_numbers_that_nobody_issued_are_named_once_in_order():
    assert unknown_citations(
        "A [7], b [1, 9], c 【7】, d `[5]`, e [3-4].", SOURCES
    ) == [7, 9, 4]
    assert unknown_citations("A [1].", SOURCES) == []


@given(st.text(st.sampled_from("[]()`~!【】0123,-– \n>a†")))
def test_any_text_can_be_linked_and_nothing_in_it_is_lost(text):
    linked = link_citations(text, SOURCES)

    assert re.sub(r"\]\(https://[ab]\.[^)]*\)", "]", linked).replace(" ", "").count(
        "a"
    ) == text.count("a")
    assert [
        number
        for number in unknown_citations(text, SOURCES)
        if not isinstance(number, int)
    ] == []
    check_citations(text, [{"id": 1, "text": text}])


@pytest.mark.parametrize(
    "text",
    [
        "[1" + " " * 50_000,
        "`" * 50_000,
        "` " * 20_000,
        "[1-" * 20_000,
        "```\n" * 20_000,
    ],
)
def test_hostile_texts_take_no_time(text):
    assert link_citations(text, []) == text


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("1,234", "1234"), ("1.234", "1234"), ("1 234", "1234"), ("1\u202f234", "1,234"), ("1’234", "1234"),
        ("1,234.50", "1.234,5"), ("12,5", "12.5"), ("1.2 million", "1,200,000"), ("3 Milliarden", "3 billion"),
        ("5 %", "5 percent"), ("5%", "5 Prozent"), ("١٢٣٤", "1234"), ("३५", "35"), ("1.2万", "12000"), ("007", "7"),
        ("1,234,567", "1234567"), ("2.50", "2.5"), (".5", "0.5"), ("1,50,000", "150000"), ("12,34,567.50", "1234567.5"),
    ],
)  # fmt: skip
def test_a_figure_is_the_same_however_it_is_written(written, same):
    (first,), (second,) = find_figures(written), find_figures(same)

    assert first.values & second.values
    assert first.kind == second.kind


@pytest.mark.parametrize(
    ("one", "other"), [("1,234", "1235"), ("12", "123"), ("1.5", "15"), ("1998", "98")]
)
def test_different_figures_stay_different(one, other):
    (first,), (second,) = find_figures(one), find_figures(other)

    assert not first.values & second.values


KELP = {
    "id": 1,
    "title": "Giant kelp",
    "url": "https://a.example/",
    "text": (
        "Giant kelp can grow up to half a metre (18 in) a day. It was described by Carl Agardh in 1820.\n\n"
        "[... 3,999 characters left out; offset 4000: Harvest ...]\n\n"
        "About 1.2 million tonnes were harvested on 4 May 2026, 5.5% more than before."
    ),
}
DULSE = {
    "id": 2,
    "title": "",
    "url": "https://b.example/",
    "text": "Dulse is red. It is “the best food of the poor man”.",
}


def check(text, *sources):
    (one,) = check_citations(text, sources or [KELP, DULSE])
    return one


@pytest.mark.parametrize(
    "text",
    [
        "Giant kelp grows half a metre a day [1].",
        "Giant kelp grows half a metre a day. [1]",
        "**Giant kelp** grows 18 inches a day.[1]",
        "- Harvest: 1,200,000 tonnes [1]",
        "The harvest of 2026-05-04 was 5.5 percent more than before [1].",
        'Dulse is "the best food of the poor man" [2].',
        "Agardh described giant kelp in 1820 [1, 2].",
    ],
)
def test_what_a_source_says_is_supported(text):
    one = check(text)

    assert (one.verdict, one.missing) == ("supported", ())
    assert one.source in one.citations
    assert one.passage in KELP["text"] + DULSE["text"]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Giant kelp was described by Carl Agardh in 1821 [1].", ("1821",)),
        ("Giant kelp was described by Linnaeus in 1820 [1].", ("Linnaeus",)),
        ("The harvest was 5.6% more than before [1].", ("5.6",)),
        # 18 is there, but no percentage
        ("The harvest was 18% more than before [1].", ("18",)),
        # that is our mark, not the page
        ("About 3,999 tonnes of kelp were harvested [1].", ("3,999",)),
        ('Dulse is red, "the worst food of all" [2].', ("the worst food of all",)),
    ],
)
def test_what_is_altered_is_named(text, missing):
    one = check(text)

    assert one.verdict != "supported"
    assert one.missing == missing


def test_the_wrong_source_does_not_support_a_claim():
    assert (
        check("The stock market fell sharply on Monday [1].").verdict == "unsupported"
    )
    one = check("Giant kelp grows half a metre a day [2].")
    assert (one.verdict, one.passage) == ("unsupported", "")


def test_a_number_that_no_source_has_is_unknown():
    one = check("Giant kelp grows [1].", DULSE)

    assert (one.verdict, one.source, one.score) == ("unknown", None, 0.0)


@pytest.mark.parametrize(
    "kelp", [{**KELP, "text": ""}, {k: v for k, v in KELP.items() if k != "text"}]
)
def test_a_source_without_its_text_leaves_a_claim_unchecked(kelp):
    one = check("Giant kelp grows [1].", kelp)

    assert (one.verdict, one.source, one.score) == ("unchecked", None, 0.0)


def test_two_sources_can_support_a_claim_together():
    one = check(
        "Giant kelp was described by Carl Agardh and dulse is the best food of the poor man [1][2]."
    )

    assert one.verdict == "supported"
    assert one.citations == (1, 2)


def test_each_claim_has_its_own_citation():
    text = (
        "# Kelp [1]\n\nGiant kelp grows half a metre a day [1], and dulse is red [2]. Nobody cites this 12.\n"
        "According to one page [1], it was described in 1820. [2] `code [1]`\n```\nx [1].\n```\n"
    )

    assert [
        (one.claim, one.citations) for one in check_citations(text, [KELP, DULSE])
    ] == [
        ("Kelp", (1,)),
        ("Giant kelp grows half a metre a day", (1,)),
        ("and dulse is red.", (2,)),
        ("it was described in 1820.", (1, 2)),
    ]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "According to [1], the bridge is 5 km long, but according to [2] it is 7 km long.",
            [("the bridge is 5 km long, but", (1,)), ("it is 7 km long.", (2,))],
        ),
        (
            "[1] says the bridge is 5 km long, while [2] says it is 7 km long.",
            [
                ("says the bridge is 5 km long, while", (1,)),
                ("says it is 7 km long.", (2,)),
            ],
        ),
        (
            "As [1] and [2] say, the bridge is long.",
            [("say, the bridge is long.", (1, 2))],
        ),
        ("Laut [1] ist die Brücke 5 km lang.", [("ist die Brücke 5 km lang.", (1,))]),
        (
            "Selon [1], le pont mesure 5 km, mais selon [2] il en mesure 7.",
            [("le pont mesure 5 km, mais", (1,)), ("il en mesure 7.", (2,))],
        ),
        (
            "根据[1]，大桥长5公里，而根据[2]，长7公里。",
            [("大桥长5公里，而", (1,)), ("长7公里。", (2,))],
        ),
        (
            "The bridge is 5 km long [1], according to [2] it is 7, and according to [3] it is 8.",
            [
                ("The bridge is 5 km long", (1,)),
                ("it is 7, and", (2,)),
                ("it is 8.", (3,)),
            ],
        ),
        (
            "In 1998 [1] the bridge opened [2].",
            [("In 1998", (1,)), ("the bridge opened.", (2,))],
        ),
        ("The bridge [1] is 5 km long.", [("The bridge is 5 km long.", (1,))]),
        (
            "The bridge is 5 km [1] and [2] long [3].",
            [("The bridge is 5 km", (1, 2)), ("long.", (3,))],
        ),
    ],
)
def test_a_citation_that_comes_first_is_for_what_follows(text, claims):
    sources = [{"id": n, "text": f"Bridge {n}."} for n in (1, 2, 3)]

    assert [
        (one.claim, one.citations) for one in check_citations(text, sources)
    ] == claims


def test_two_sources_that_differ_each_support_what_is_said_of_them():
    sources = [
        {"id": 1, "text": "The bridge over the sound is 5 km long."},
        {"id": 2, "text": "The bridge over the sound is 7 km long."},
    ]
    answer = "According to [1], the bridge is 5 km long, but according to [2] the bridge is 7 km long."
    swapped = answer.replace("[1]", "[x]").replace("[2]", "[1]").replace("[x]", "[2]")

    assert [one.verdict for one in check_citations(answer, sources)] == [
        "supported",
        "supported",
    ]
    assert [one.missing for one in check_citations(swapped, sources)] == [
        ("5",),
        ("7",),
    ]


@pytest.mark.parametrize(
    ("source", "claim", "missing"),
    [
        ("4.2 million", "4.2 billion", ("4.2",)),
        ("4.2 million", "4.2 thousand", ("4.2",)),
        ("4.2 million", "4,200,000", ()),
        ("4.2 million", "4.2", ()),
        ("4.2", "4.2 million", ()),  # the unit may stand in the head of a table
        ("4.2 million", "4.2 million", ()),
        ("4,2 Millionen", "4,2 Milliarden", ("4,2",)),
        ("4,2 Milliarden", "4.2 billion", ()),
        ("4,2 millions", "4,2 milliards", ("4,2",)),
        ("4,2 миллиона", "4,2 миллиарда", ("4,2",)),
        ("420万", "420亿", ("420",)),
        ("4.2 lakh", "4.2 crore", ("4.2",)),
        ("4.2 million percent", "4.2 billion percent", ("4.2",)),
        ("4.2bn", "4.2 billion", ()),
        ("$3.5B", "$3.5M", ("3.5",)),
        ("$3.5 billion", "$3.5M", ("3.5",)),
        ("£900m", "£900k", ("900",)),
        ("$3.5M", "3,500,000 dollars", ()),
        ("3.5万元", "3.5万亿元", ("3.5",)),
        ("3,5 nghìn đồng", "3,5 nghìn tỷ đồng", ("3,5",)),
        ("1.5 लाख रुपये", "1.5 लाख करोड़ रुपये", ("1.5",)),
        ("3.5 พันบาท", "3.5 พันล้านบาท", ("3.5",)),
        ("3,5 mil millones de euros", "3,5 mil millones de dólares", ("3,5",)),
        ("3.500 millones de euros", "3,5 mil millones de euros", ()),
        ("one billion", "one million", ("one",)),
        ("5 million", "one million", ("one",)),
        ("one million", "1 million", ()),
        ("₹1,50,00,000", "₹1,50,000", ("1,50,000",)),
        ("1.5 lakh rupees", "₹1,50,000", ()),
        (".5 mg", "5 mg", ("5",)),
        ("500 micrograms", "500 mg", ("500",)),
        ("60 kilowatts", "60 watts", ("60",)),
        ("40 acres", "40 ha", ("40",)),
        ("20 seconds", "20 ms", ("20",)),
        ("2 percentage points", "2%", ("2",)),
        ("US$4.2 million", "4.2 million USD", ()),
        ("5 binders", "5 birds", ()),
    ],
)
def test_of_two_figures_with_a_scale_only_the_scaled_values_count(
    source, claim, missing
):
    sources = [{"id": 1, "text": f"The harvest of the coast was {source} in all."}]
    (check,) = check_citations(
        f"The harvest of the coast was {claim} in all [1].", sources
    )

    assert check.missing == missing


@pytest.mark.parametrize(
    "right",
    [
        "The bridge cost 12 million dollars to build, said Dr. Smith.",
        "The bridge carried 12 ships to the U.S. Navy base.",
        "Mr. J. K. Rowling paid 12 euros at Mt. Fuji.",
        "Die Brücke kostete 12 Mio. Euro im Jahr.",
        "Die Brücke mit 12 Bögen wurde am 5. Mai eröffnet.",
        "Мост длиной 12 м построил А. С. Петров.",
    ],
)
def test_an_abbreviation_or_an_ordinal_ends_no_claim(right):
    sources = [{"id": 1, "text": right}]
    altered = right.replace("12", "99")

    assert [one.verdict for one in check_citations(f"{right[:-1]} [1].", sources)] == [
        "supported"
    ]
    assert [
        (one.verdict, one.missing)
        for one in check_citations(f"{altered[:-1]} [1].", sources)
    ] == [("partial", ("99",))]


@pytest.mark.parametrize(
    "text",
    [
        "[[1]](https://x.example/)", "[Tides](https://a.example/x[1].html)", "<https://a.example/?q[1]=2>",
        "see https://a.example/x[1] now", "[ref][1]\n\n[1]: https://a.example/", "Kelp [1].\n\n[1]: https://a.example/",
        "![alt [1]](https://a.example/)", "a\n\n    code [1]\n    more [1]\n", "- item\n\n        code [1]\n",
        "<code>[1]</code>", "<PRE>\n[1]\n\n[2]</PRE>", '<a title="[1]">', "a[1] = 2", "a[1][2] += 3", "a[1](2)",
        "a[1].b", "$a[1]$", "$$\na [1]\n$$", r"\(x [1]\)", r"\[x [1]\]",
    ],
)  # fmt: skip
def test_links_urls_code_and_formulas_stay_as_they_are(text):
    assert link_citations(text, SOURCES) == text


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("Kelp[1].", f"Kelp{A}."),
        ("Kelp[1][2]. Then", f"Kelp{A}{B}. Then"),
        ("[note][1]", f"[note]{A}"),
        ("[1] (see there)", f"{A} (see there)"),
        ("It costs $5 [1], and $6 [2].", f"It costs $5 {A}, and $6 {B}."),
        ("1. item\n\n    more [1]", f"1. item\n\n    more {A}"),
        ("https://a.example/ [1]", f"https://a.example/ {A}"),
        ("[Tides](https://a.example/) [1]", f"[Tides](https://a.example/) {A}"),
        ("海带[1]。", f"海带{A}。"),
    ],
)
def test_a_citation_beside_them_is_linked(text, linked):
    assert link_citations(text, SOURCES) == linked


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[0]", [0]),
        ("[5-1]", [5]),
        ("[1-30]", [30]),
        ("[[9]](https://x.example/)", [9]),
        ("a[9] = 2 `[9]`", []),
    ],
)
def test_a_number_that_cannot_be_of_a_source_is_named(text, numbers):
    assert unknown_citations(text, SOURCES) == numbers


WORDS = "giant kelp forest grows along cold coasts where divers count urchins and otters each summer since 1998".split()
PROSE = " ".join(
    " ".join(WORDS[n % 5 : n % 11 + 6]).capitalize() + "." for n in range(400)
)
ANSWER = "\n".join(
    f"{' '.join(WORDS[n % 7 : n % 7 + 9]).capitalize()} [1]." for n in range(30)
)


def test_when_the_time_is_over_the_checks_say_so(monkeypatch):
    monkeypatch.setattr(_check, "_MAX_SECONDS", 0.0)
    (check,) = check_citations("Kelp is brown [1].", [KELP])

    assert (check.verdict, check.note) == (
        "unchecked",
        "not checked: the answer and its sources are too long",
    )


def test_a_source_that_is_too_long_is_searched_from_its_beginning():
    text = f"Kelp is brown. {PROSE * 20} Dulse is red."
    first, second = check_citations(
        "Kelp is brown [1]. Dulse is red [1].", [{"id": 1, "text": text}]
    )

    assert first.verdict == "supported"
    assert second.verdict != "supported"
    assert second.note == "only the first 200,000 characters of [1] were searched"


async def test_the_event_loop_goes_on_while_citations_are_checked(monkeypatch):
    threads = []
    monkeypatch.setattr(
        _check,
        "split_claims",
        lambda *_: threads.append(threading.get_ident()) or iter(()),
    )

    assert await acheck_citations("Kelp [1].", iter([KELP])) == []
    assert threads != [threading.get_ident()]


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        (
            "巨藻每天可以生长半米。它于1820年被描述。",
            "巨藻每天能生长半米【1】。",
            "股票市场在星期一大幅下跌【1】。",
        ),
        ("สาหร่ายเคลป์โตได้วันละครึ่งเมตร", "สาหร่ายเคลป์โตวันละครึ่งเมตร [1]", "ตลาดหุ้นตกลงอย่างรวดเร็ว [1]"),
        ("Гигантская водоросль растёт на полметра в день.", "Гигантские водоросли растут на полметра в день [1].", "Биржа упала в понедельник [1]."),
        ("ينمو عشب البحر نصف متر في اليوم.", "ينمو عشب البحر نصف متر كل يوم [1].", "انخفضت سوق الأسهم [1]."),
    ],
)  # fmt: skip
def test_claims_are_checked_in_any_language(source, right, wrong):
    shown = {"id": 1, "title": "", "url": "https://a.example/", "text": source}

    assert check(right, shown).verdict == "supported"
    assert check(wrong, shown).verdict == "unsupported"


def test_in_a_language_that_capitalizes_nouns_they_are_no_names():
    text = "Der Riesentang wächst am Tag einen halben Meter. Die Ernte der Fischer brachte viele Tonnen Tang an Land."
    one = check(
        "Der Riesentang wächst jeden Tag um einen halben Meter an Länge [1].",
        {**DULSE, "id": 1, "text": text},
    )

    assert (one.verdict, one.missing) == ("supported", ())


def test_entries_about_one_source_are_merged():
    snippet = {
        "id": 2,
        "title": "Found",
        "url": "https://a.example/",
        "read": False,
        "text": "one",
        "score": 0.5,
    }
    page = {
        "id": 2,
        "title": "Page",
        "url": "https://a.example/b",
        "read": True,
        "text": "two",
        "span": [0, 3],
    }
    other = {"id": 1, "title": "Other", "url": "https://b.example/", "read": False}

    assert merge_sources([snippet, page, snippet, other, {"id": "x"}, {"id": 3}]) == [
        other,
        {
            "id": 2,
            "title": "Page",
            "url": "https://a.example/b",
            "read": True,
            "score": 0.5,
            "text": "one\n\ntwo\n\none",
        },
    ]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("twenty-five", 25), ("one hundred and seven", 107), ("two hundred fifty", 250), ("fünfundzwanzig", 25),
        ("dreitausendvierhundert", 3400), ("treinta y cinco", 35), ("doscientos mil", 200_000),
        ("douăzeci și cinci", 25), ("τριάντα πέντε", 35), ("двести пятьдесят", 250), ("otuz beş", 35),
        ("خمسة عشر", 15), ("خمسة وثلاثون", 35), ("पच्चीस", 25), ("hai mươi lăm", 25), ("ba mươi", 30), ("สามสิบห้า", 35),
        ("二十五", 25), ("三千万", 30_000_000), ("一九九八", 1998), ("三个", 3), ("百分之五", 5), ("two hundred and five thousand", 205_000),
    ],
)  # fmt: skip
def test_a_number_in_words_is_a_figure_in_twelve_languages(words, value):
    (figure,) = find_figures(f"{words}.")

    assert figure.values == {str(value)}


@pytest.mark.parametrize(
    "words",
    ["one", "hundreds of them", "on", "năm", "三明治", "สามารถ", "Zweifel", "万" * 50],
)
def test_what_only_looks_like_a_number_is_none(words):
    assert find_figures(words) == []


CONFUSED = [
    "100 square kilometres|100 square miles", "100 square metres|100 square feet", "100 sq km|100 sq mi",
    "100 sq. m|100 sq. ft", "100 Quadratmeter|100 Quadratfuß", "100 metros cuadrados|100 pies cuadrados",
    "100 de kilometri pătrați|100 de mile pătrate", "100 τετραγωνικά χιλιόμετρα|100 τετραγωνικά μίλια",
    "100 квадратных километров|100 квадратных миль", "100 кв.м|100 кв.км", "100 metrekare|100 kilometrekare",
    "100 متر مربع|100 قدم مربع", "100 वर्ग मीटर|100 वर्ग फुट", "100 mét vuông|100 km vuông", "100 ตารางเมตร|100 ตารางฟุต",
    "100 平方米|100 平方英尺", "500 kWh|500 MWh", "500 kilowatt hours|500 kilowatts", "500 кВт·ч|500 МВт·ч",
    "500 千瓦时|500 兆瓦时", "30 bar|30 psi", "30 бар|30 кПа", "5 lei|5 euro",
    "5 lira|5 dolar", "49 TL|49 dolar", "5 ريال|5 دولار", "5 đồng|5 đô la", "5 บาท|5 ดอลลาร์", "5 руб.|5 долларов",
    "5 zł|5 €", "third|fourth", "dritter|vierter", "tercera|cuarta", "al treilea|al patrulea", "τρίτος|τέταρτος",
    "третье|четвёртое", "üçüncü|dördüncü", "الثالث|الرابع", "तीसरे|चौथे",
]  # fmt: skip


@pytest.mark.parametrize("pair", CONFUSED)
def test_quantities_that_are_easily_confused_are_told_apart(pair):
    one, other = pair.split("|")
    for source, claim in ((one, other), (other, one)):
        (check,) = check_citations(
            f"It was {claim} there, they say [1].",
            [{"id": 1, "text": f"It was {source} there."}],
        )
        assert check.missing
        (check,) = check_citations(
            f"It was {claim} there [1].", [{"id": 1, "text": f"It was {claim} there."}]
        )
        assert check.verdict == "supported"


def test_two_numbers_in_a_row_are_not_one():
    assert [
        figure.values for figure in find_figures("between two and three, five twenty")
    ] == [
        {"2"},
        {"3"},
        {"5"},
        {"20"},
    ]


@pytest.mark.parametrize(
    ("source", "claim", "missing"),
    [
        ("5 km", "5,000 metres", ()),
        ("5 km", "3.1 miles", ()),
        ("5 km", "5 miles", ("5",)),
        ("5 km", "five kilometres", ()),
        ("five kilometres", "5 km", ()),
        ("five kilometres", "six kilometres", ("six",)),
        # nearly 547 km, but it says how many miles
        ("340 miles (547 km)", "343 miles", ("343",)),
        ("12 months", "one year", ()),
        ("20 °C", "68 °F", ()),
        ("20 °C", "20 °F", ("20",)),
        ("$5 million", "5 million dollars", ()),
        ("$5 million", "€5 million", ("5",)),
        ("5 to 10 million km", "5 million km", ()),
        ("5 to 10 km", "5 miles", ("5",)),
        ("5–10 %", "5 percent", ()),
        ("5", "5 km", ()),  # the unit may stand in the head of a table
        ("%5", "5 percent", ()),
        ("百分之五", "5%", ()),
        ("5公里", "5000米", ()),
        ("5公里", "5英里", ("5",)),
        ("fünf Millionen Euro", "5 Milliarden Euro", ("5",)),
        ("4 May 2026", "4 June 2026", ("June",)),
        ("2026-05-04", "4 May 2026", ()),
        ("4 мая 2026 года", "4 июня 2026 года", ("июня",)),
        ("2026年5月4日", "2026年6月4日", ("6",)),
        ("-5 °C", "5 °C", ("5",)),
        ("5 °C", "−5 °C", ("-5",)),
        ("minus 5 °C", "-5 °C", ()),
        ("-5 °C", "23 °F", ()),
        ("-10 to -5 °C", "-10 °C", ()),
        ("2-5 °C", "5 °C", ()),
        ("-5", "-5 °C", ()),
        ("100 km²", "39 square miles", ()),
        ("500 kWh", "0.5 megawatt hours", ()),
        ("2 bar", "29 psi", ()),
        ("a dozen", "twelve", ()),
        ("a dozen", "twenty", ("twenty",)),
        ("in third place", "in third place", ()),
        ("in third place", "in 3rd place", ()),
        ("in third place", "in fourth place", ("fourth",)),
        ("the twenty-third of them", "the twenty-fourth of them", ("twenty-fourth",)),
        ("red, brown and green", "three", ()),  # it lists them
        ("red, brown and green in two parts", "three", ("three",)),
    ],
)
def test_quantities_are_compared_with_their_units(source, claim, missing):
    sources = [{"id": 1, "text": f"The kelp along the coast was {source} in all."}]
    (check,) = check_citations(
        f"The kelp along the coast was {claim} in all [1].", sources
    )

    assert check.missing == missing
    assert (check.verdict == "supported") == (not missing)


@pytest.mark.parametrize(
    ("plain", "denied"),
    [
        (
            "The old harbour was open to fishing boats.",
            "The old harbour was not open to fishing boats.",
        ),
        (
            "The harbour wasn't open to fishing boats.",
            "The harbour was open to fishing boats.",
        ),
        ("Der Hafen war für Fischer offen.", "Der Hafen war nicht für Fischer offen."),
        (
            "El puerto fue abierto a los pescadores.",
            "El puerto no fue abierto a los pescadores.",
        ),
        (
            "Portul este deschis pentru pescari.",
            "Portul nu este deschis pentru pescari.",
        ),
        (
            "Το λιμάνι ήταν ανοιχτό για ψαράδες.",
            "Το λιμάνι δεν ήταν ανοιχτό για ψαράδες.",
        ),
        ("Порт был открыт для рыбаков.", "Порт не был открыт для рыбаков."),
        ("Liman balıkçılara açık oldu.", "Liman balıkçılara açık olmadı."),
        ("كان الميناء مفتوحا للصيادين.", "لم يكن الميناء مفتوحا للصيادين."),
        ("बंदरगाह मछुआरों के लिए खुला था।", "बंदरगाह मछुआरों के लिए खुला नहीं था।"),
        ("Cảng được mở cho ngư dân.", "Cảng không được mở cho ngư dân."),
        ("ท่าเรือเปิดให้ชาวประมงใช้", "ท่าเรือไม่เปิดให้ชาวประมงใช้"),
        ("港口对渔民开放。", "港口不对渔民开放。"),
    ],
)
def test_a_negation_on_one_side_makes_a_claim_partial(plain, denied):
    for claim, source in ((plain, denied), (denied, plain)):
        (check,) = check_citations(f"{claim} [1]", [{"id": 1, "text": source}])
        (same,) = check_citations(f"{claim} [1]", [{"id": 1, "text": claim}])

        assert (check.verdict, same.verdict, same.note) == ("partial", "supported", "")
        assert check.note.startswith(
            "only one of the claim and its source has a negation: "
        )


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (
            "Kelp grows not only in cold water but near warm coasts.",
            "Kelp grows in cold water [1].",
        ),
        (
            "Kelp grows in cold water. It does not flower.",
            "Kelp grows in cold water [1].",
        ),
        ("Cảng hàng không mở cửa.", "Cảng hàng không mở cửa [1]."),
    ],
)
def test_what_is_not_denied_of_the_claim_is_no_negation(source, claim):
    assert check(claim, {"id": 1, "text": source}).verdict == "supported"


def test_a_figure_that_stands_with_other_words_counts_less():
    source = {
        "id": 1,
        "text": "Quebec was captured by the army in 1759. The treaty about the colony was signed in 1763.",
    }
    right, wrong = (
        check(f"Quebec was captured by the army in {year} [1].", source)
        for year in (1759, 1763)
    )

    assert right.score > 1.5 * wrong.score
