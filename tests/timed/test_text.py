"""What hostile text costs: in an index, in robots.txt, in a charset, in an answer with
citations, and where a page is looked at for what stands in its way.
"""

from __future__ import annotations

import pytest

from tests.core.citations.test_citations import ANSWER, PROSE
from tests.timed.cost import check_cost, check_ratio
from websearch_core._text.terms import query_terms
from websearch_core.citations import check_citations
from websearch_core.index._store import make_snippet, strip_markdown
from websearch_core.layers._robots import Rules
from websearch_core.provider._obstacles import needs_scripts
from websearch_core.reading._charset import decode
from websearch_core.reading._sniff import media_type


@pytest.mark.parametrize(
    "hostile", ["-", "[", "[](", "`", "![a](", "東", "a", "|", "é ", "# "]
)
def test_hostile_text_is_stripped_and_cut_in_little_time(hostile):
    text = hostile * (1_000_000 // len(hostile)) + "x"
    shown = check_cost(
        lambda: make_snippet(strip_markdown(text), query_terms("x 東京")), 10
    )

    assert len(shown) <= 302


def test_many_stars_do_not_take_long():
    rules = Rules(f"User-agent: *\nDisallow: /{'a*' * 5000}b$")

    assert check_cost(lambda: rules.allows("https://sea.example/" + "a" * 8000), 5)


@pytest.mark.parametrize(
    "piece", [b"<", b"<!--", b"<a ", b'<a x="', b"<meta charset", b"=", b"<?"]
)
def test_scanning_for_a_label_takes_linear_time(piece: bytes) -> None:
    check_cost(lambda: decode(piece * 100_000), 20)


@pytest.mark.parametrize("comment", [b"<!-- x -->", b"<!--", b"<?xml ?>", b" \n"])
def test_sniffing_takes_linear_time(comment: bytes) -> None:
    check_cost(lambda: media_type(comment * 1000, None), 5)


@pytest.mark.parametrize("unit", ["[", "[a ", "[](", "[a](", "[]", "](", "[[a](b)"])
@pytest.mark.parametrize("size", [90_000, 1_000_000])
def test_links_that_never_end_cost_no_more_than_text(unit, size):
    text = unit * (size // len(unit))
    check_cost(lambda: needs_scripts(text, b"<script>"), 1)


def check(text, answer=ANSWER):
    check_citations(answer, [{"id": 1, "text": text}])


@pytest.mark.parametrize(
    "unit",
    [
        "A. B! C? ", "0. 1. 2. ", "\n", "a\n", " ", "kelp. ", "Giant kelp. ", "giant kelp ", "1998 ", "1,111", "[... ",
        "[... a ...]\n", '"kelp ', "。", "May 1998 ", "4.2 million ", "\u0301", "สาม", "einundzwanzig", "Dr. A. 5. Mai ",
    ],
)  # fmt: skip
def test_a_source_costs_at_most_three_times_an_honest_one(unit):
    length = 12_000
    text = (unit * length)[:length]
    check_ratio(lambda: check(text), lambda: check(PROSE[:length]), 3)


@pytest.mark.parametrize(
    "unit",
    [
        "kelp [1] ",
        "kelp [1]. ",
        "[1]",
        "according to [1] ",
        "<code>",
        "\\[",
        "`a``b",
        "[a](",
    ],
)
def test_the_time_for_an_answer_is_in_proportion_to_its_length(unit):
    short = (unit * 3_000)[:3_000]
    long = (unit * 12_000)[:12_000]
    check_ratio(lambda: check("Kelp.", long), lambda: check("Kelp.", short), 8)
