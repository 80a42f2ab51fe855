"""Selecting content: the features of blocks, the model that rates them, and the
threshold.
"""

from __future__ import annotations
import json
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import compress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.features import (
    LEVELS,
    MISSING,
    BlockFeatures,
    count_words,
    words_of,
)
from websearch_core.reading._html.metadata import read_metadata
from websearch_core.reading._html.model import (
    MAX_EDGES,
    MAX_VOTES,
    QUESTIONS,
    ContentModel,
    load_model,
)
from websearch_core.reading._html.parse import parse
from websearch_core.reading._html.select import (
    _drop_machine_text,
    _find_alike_rows,
    _leniency,
    _looks,
    _threshold,
    select_content,
)
from websearch_core.reading._html.together import keep_code

PIECES = [
    *(f"<{name}>" for name in "div p ul li a span table td h1 h3 pre nav main article footer button form img dd".split()),
    *(f"</{name}>" for name in "div p ul li a table h1 nav main footer".split()),
    "<div class='sideBar ad-slot'>", "<div id=content>", "<a href=/x>", "<li class=item>", "one", " two ", "\u200b",
    "&nbsp;", "$5", "四月。", "Tea is hot and rather good, it is said. " * 3,
]  # fmt: skip
markup = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
urls = st.sampled_from(
    [
        "https://e.org",
        "https://e.org/",
        "https://e.org/2026/05/how-tea-is-made",
        "https://e.org/a/?x",
    ]
)


def features_of(body: str, url: str) -> tuple[int, BlockFeatures | None]:
    document = parse(f"<title>Hot tea</title><body>{body}".encode())
    page = find_blocks(document.body)
    count = len(page.block_texts)
    return count, BlockFeatures(
        page, url, read_metadata(document, url), load_model().words
    ) if count else None


@given(markup, urls)
def test_features_are_numbers_for_every_block_of_every_page(
    body: str, url: str
) -> None:
    count, found = features_of(body, url)
    if found is None:
        return
    elements, blocks = dict(found.elements()), dict(found.blocks())
    assert found.count == count
    assert [len(level) for level in found.levels] == [count] * LEVELS
    assert {len(values) for values in blocks.values()} == {count}
    (most,) = {len(values) for values in elements.values()}
    assert all(0 <= place < most for level in found.levels for place in level)
    assert {values[-1] for values in elements.values()} == {MISSING}
    assert all(map(math.isfinite, found.page.values()))
    assert all(
        math.isfinite(value)
        for values in (*elements.values(), *blocks.values())
        for value in values
    )


@given(markup, urls)
def test_features_are_deterministic(body: str, url: str) -> None:
    def read() -> Any:
        _, found = features_of(body, url)
        return found and (
            found.levels,
            dict(found.elements()),
            dict(found.blocks()),
            found.page,
        )

    assert read() == read()


@given(markup, urls)
def test_every_block_gets_a_probability(body: str, url: str) -> None:
    count, found = features_of(body, url)
    if found is not None:
        chances = load_model().probabilities(found)
        assert len(chances) == count
        assert [chance for chance in chances if not 0 < chance < 1] == []


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ("", set()),
        ("SideBar ad-slot_2", {"side", "bar", "slot"}),
        ("side-bar AD SLOT", {"side", "bar", "slot"}),
        ("mainContent main__content--wide", {"main", "content", "wide"}),
        ("css-1x2y3z it 7", {"css"}),
    ],
)
def test_words_of_names_do_not_depend_on_their_spelling(
    marks: str, words: set[str]
) -> None:
    assert words == words_of(marks)


def trees(chance: random.Random, count: int) -> list[dict[str, Any]]:
    """Return trees of any shape, with questions in order from the left."""

    def tree() -> dict[str, Any]:
        questions: list[list[int]] = []
        ways: list[list[int]] = []
        votes: list[int] = []

        def grow(room: int) -> int:
            if not room:
                votes.append(chance.randrange(256))
                return ~(len(votes) - 1)
            place = len(questions)
            questions.append([chance.randrange(12), chance.randrange(3)])
            ways.append([])
            left = chance.randrange(room)
            ways[place] = [grow(left), grow(room - 1 - left)]
            return place

        grow(QUESTIONS)
        return {"questions": questions, "ways": ways, "votes": votes}

    return [tree() for _ in range(count)]


def model(chance: random.Random, count: int = 20) -> dict[str, Any]:
    """Return a model that asks about elements on four levels, blocks before and after,
    and the page.
    """
    edges = [-1.5, MISSING, 0.25] if chance.random() < 0.5 else [0.0, 0.5, 2.0]
    features = [["element", "e", level] for level in (0, 1, 3, 5)]
    features += [["block", "b", away] for away in (-5000, -2, -1, 0, 1, 3)] + [
        ["page", "p", 0],
        ["block", "c", 0],
    ]
    return {
        "words": {},
        "features": features,
        "edges": {
            "element": {"e": edges},
            "block": {"b": edges, "c": edges},
            "page": {"p": edges},
        },
        "trees": trees(chance, count),
        "base": -2.0,
        "scale": 0.001,
    }


@dataclass
class RandomFeatures:
    """The features that a model asks for, without a page."""

    count: int
    levels: list[list[int]]
    page: dict[str, float]
    of_elements: dict[str, list[float]]
    of_blocks: dict[str, list[float]]

    def elements(self) -> Iterator[tuple[str, list[float]]]:
        yield from self.of_elements.items()

    def blocks(self) -> Iterator[tuple[str, list[float]]]:
        yield from self.of_blocks.items()


def random_features(chance: random.Random, blocks: int) -> Any:
    def numbers(count: int) -> list[float]:
        return [
            chance.choice([-2.0, MISSING, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0])
            for _ in range(count)
        ]

    elements = chance.randrange(1, 50)
    return RandomFeatures(
        count=blocks,
        levels=[
            [chance.randrange(elements) for _ in range(blocks)] for _ in range(LEVELS)
        ],
        page={"p": numbers(1)[0], "unasked": 0.0},
        of_elements={
            "e": [*numbers(elements - 1), MISSING],
            "unasked": [0.0] * elements,
        },
        of_blocks={
            "b": numbers(blocks),
            "c": numbers(blocks),
            "unasked": [0.0] * blocks,
        },
    )


def walk(model: Mapping[str, Any], features: Any) -> list[float]:
    """Return the probabilities by a plain walk down each tree, block by block."""
    levels, elements, blocks = (
        features.levels,
        dict(features.elements()),
        dict(features.blocks()),
    )

    def value(feature: int, block: int) -> float:
        of, trait, *maybe = model["features"][feature]
        where = maybe[0] if maybe else 0
        if of == "page":
            return features.page[trait]
        if of == "element":
            return elements[trait][levels[where][block]]
        return (
            blocks[trait][block + where]
            if 0 <= block + where < features.count
            else MISSING
        )

    def vote(tree: Mapping[str, Any], block: int) -> int:
        way = 0
        while way >= 0:
            feature, edge = tree["questions"][way]
            of, trait, *_ = model["features"][feature]
            way = tree["ways"][way][
                value(feature, block) > model["edges"][of][trait][edge]
            ]
        return tree["votes"][~way]

    sums = (
        sum(vote(tree, block) for tree in model["trees"])
        for block in range(features.count)
    )
    return [
        1 / (1 + math.exp(-model["base"] - model["scale"] * votes)) for votes in sums
    ]


@given(st.integers(), st.integers(1, 30))
@settings(max_examples=60)
def test_rating_all_blocks_at_once_equals_walking_down_each_tree(
    seed: int, blocks: int
) -> None:
    chance = random.Random(seed)
    asked, found = model(chance), random_features(chance, blocks)
    assert walk(asked, found) == ContentModel(asked).probabilities(found)


@pytest.mark.parametrize("blocks", [1, 2, 255, 4095, 4096, 4097, 9001])
def test_rating_a_page_of_any_length_equals_walking_down_each_tree(blocks: int) -> None:
    chance = random.Random(blocks)
    asked, found = model(chance, count=3), random_features(chance, blocks)
    assert walk(asked, found) == ContentModel(asked).probabilities(found)


def test_the_sum_of_votes_may_reach_its_maximum() -> None:
    chance = random.Random(1)
    asked, found = model(chance), random_features(chance, 5)
    count, rest = divmod(MAX_VOTES, 255)
    assert rest == 0
    asked |= {
        "trees": [tree | {"votes": [255] * 8} for tree in trees(chance, count)],
        "base": -1.0,
        "scale": 1 / MAX_VOTES,
    }
    assert ContentModel(asked).probabilities(found) == pytest.approx([0.5] * 5)


STATED = """
<title>Hot tea</title><meta name=description content="How to make it"><meta name=author content="Ann Lee">
<script type="application/ld+json">
{"@type": "Article", "headline": "Hot tea", "datePublished": "2026-05-04", "articleBody": "<p>Boil&nbsp;water.</p> Wait."}
</script>
<p>How to make it<p>Boil water. Wait.<p>Buy a kettle
"""


def test_features_tell_what_the_page_states_about_itself() -> None:
    url = "https://e.org/tea"
    document = parse(STATED.encode())
    found = BlockFeatures(
        find_blocks(document.body), url, read_metadata(document, url), {}
    )
    blocks = dict(found.blocks())
    assert blocks["in description"] == [1, 0, 0]
    assert blocks["in data"] == [0, 1, 0]
    stated = {
        trait: found.page[trait] for trait in ("about", "described", "dated", "signed")
    }
    assert stated == {
        "about": 1,
        "described": len("How to make it"),
        "dated": 1,
        "signed": 1,
    }


def test_features_of_a_page_that_states_nothing_about_itself() -> None:
    _, found = features_of("<p>Hot tea", "https://e.org/")
    assert found is not None
    blocks = dict(found.blocks())
    assert (blocks["in title"], blocks["in description"], blocks["in data"]) == (
        [1],
        [0],
        [0],
    )
    assert [
        found.page[trait] for trait in ("about", "described", "dated", "signed")
    ] == [0, 0, 0, 0]


def test_a_value_exceeds_any_number_of_edges_that_a_trait_may_have() -> None:
    edges = [float(edge) for edge in range(MAX_EDGES)]
    values = [-2.0, 0.0, 0.5, MAX_EDGES / 2, MAX_EDGES - 1.5, float(MAX_EDGES)]
    asked = {
        "words": {},
        "features": [["block", "b", 0]],
        "edges": {"element": {"e": [0.0]}, "block": {"b": edges}, "page": {}},
        "trees": [
            {"questions": [[0, edge]], "ways": [[~0, ~1]], "votes": [0, 1]}
            for edge in range(MAX_EDGES)
        ],
        "base": 0.0,
        "scale": 1.0,
    }
    features: Any = RandomFeatures(
        count=len(values),
        levels=[[0] * len(values)] * LEVELS,
        page={},
        of_elements={"e": [MISSING]},
        of_blocks={"b": values},
    )

    chances = ContentModel(asked).probabilities(features)

    assert chances == pytest.approx(walk(asked, features))


def test_the_packaged_model_is_well_formed() -> None:
    written = json.loads(
        files("websearch_core.reading._html").joinpath("model.json").read_text("utf-8")
    )
    features, edges = written["features"], written["edges"]
    _, found = features_of("<p>one</p>", "https://e.org/")
    assert found is not None
    known = {
        "element": dict(found.elements()),
        "block": dict(found.blocks()),
        "page": found.page,
    }
    for of, trait, *where in features:
        assert trait in known[of]
        assert 0 < len(edges[of][trait]) <= MAX_EDGES
        assert of != "element" or 0 <= where[0] < LEVELS
    for some in edges.values():
        for values in some.values():
            assert values == sorted(values)
            assert all(map(math.isfinite, values))
    for tree in written["trees"]:
        assert 0 < len(tree["questions"]) == len(tree["ways"]) <= QUESTIONS
        assert len(tree["votes"]) == len(tree["questions"]) + 1
        for feature, edge in tree["questions"]:
            of, trait, *_ = features[feature]
            assert 0 <= edge < len(edges[of][trait])
        ways = [way for both in tree["ways"] for way in both]
        assert sorted(ways) == sorted(
            [
                *range(1, len(tree["questions"])),
                *(~vote for vote in range(len(tree["votes"]))),
            ]
        )
        assert [vote for vote in tree["votes"] if vote not in range(256)] == []
    assert sum(max(tree["votes"]) for tree in written["trees"]) <= MAX_VOTES
    assert written["scale"] > 0
    assert all(map(math.isfinite, [written["base"], *written["words"].values()]))


def test_the_packaged_model_rates_blocks_as_its_trees_do() -> None:
    written = json.loads(
        files("websearch_core.reading._html").joinpath("model.json").read_text("utf-8")
    )
    body = (
        "<nav><a href=/x>one</a></nav><main><h1>Hot tea</h1><p>"
        + PIECES[-1] * 5
        + "<ul><li>one<li>two</ul></main>"
    )
    _, found = features_of(body, "https://e.org/how-tea-is-made")
    assert found is not None
    assert walk(written, found) == pytest.approx(load_model().probabilities(found))


def expected_f(chances: list[float], words: list[int], line: float) -> float:
    """Return the expected F-score of the words, precision before recall, if all blocks
    from *line* up are kept.

    It is the mean of two: the odds of all blocks are e times lower, and e times higher.
    """
    kept = [chance >= line for chance in chances]
    cost = sum(compress(words, kept))
    total = 0.0
    for odds in (1 / math.e, math.e):
        likely = [odds * chance / (1 - chance + odds * chance) for chance in chances]
        expected = [chance * count for chance, count in zip(likely, words, strict=True)]
        total += sum(compress(expected, kept)) / (cost + 0.7 * sum(expected))
    return total


blocks = st.lists(
    st.tuples(
        st.floats(0.001, 0.999) | st.sampled_from([0.1, 0.5, 0.9]), st.integers(1, 200)
    ),
    min_size=1,
    max_size=30,
)


@given(blocks)
def test_no_other_threshold_has_a_better_expected_score(
    pages: list[tuple[float, int]],
) -> None:
    chances, words = [chance for chance, _ in pages], [count for _, count in pages]
    line = _threshold(chances, words)
    best = max(expected_f(chances, words, other) for other in chances)
    assert expected_f(chances, words, line) == pytest.approx(best)


@pytest.mark.parametrize(
    ("chances", "words", "kept"),
    [
        ([0.9, 0.9, 0.1], [100, 100, 100], [0, 1]),  # certain
        ([0.3, 0.3, 0.3], [10, 10, 10], [0, 1, 2]),  # in doubt: keep all
        ([0.9, 0.3, 0.3], [1, 100, 100], [0, 1, 2]),  # certain of little
        ([0.01], [5], [0]),  # something is always kept
    ],
)
def test_the_threshold_drops_on_uncertain_pages(
    chances: list[float], words: list[int], kept: list[int]
) -> None:
    line = _threshold(chances, words)
    assert kept == [block for block, chance in enumerate(chances) if chance >= line]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 1),
        ("Tea is hot", 3),
        ("Grüner Tee für Ärzte", 4),
        ("Чай горячий", 2),
        ("차가 뜨겁다", 2),  # Korean has spaces
        ("お茶は熱い", 6),
        ("新しい iPhone 15 の発売", 10),
        ("ชาร้อน", 7),
    ],
)
def test_every_character_of_a_script_without_spaces_is_a_word(
    text: str, words: int
) -> None:
    assert count_words(text) == words


def test_captions_cells_and_items_have_a_lower_threshold_than_the_text_around_them() -> (
    None
):
    body = (
        "<p>a<figure><figcaption>b<p>c</figcaption></figure><ul><li>d</ul>"
        "<table><caption>e</caption><tr><td><p>f</p><ul><li>g</ul></td></tr></table>"
    )
    blocks = find_blocks(parse(body.encode()).body)
    assert dict(
        zip(blocks.block_texts, _leniency(blocks), strict=True)
    ) == pytest.approx(
        {"a": 1, "b": 0.65, "c": 0.65, "d": 0.95, "e": 0.65, "f": 0.7, "g": 0.7}
    )


def test_a_page_without_text_has_no_content() -> None:
    document = parse(b"<body><img><p hidden>one")
    assert (
        select_content(
            find_blocks(document.body),
            "https://e.org/",
            read_metadata(document, "https://e.org/"),
        )
        == set()
    )


KEY = "0d48abc0-6602-4407-a05b-e5f87e8f229c" * 3


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<p>Lamps<p>{KEY}", ["Lamps"]),
        (f'<p>Lamps<p>{{"price":1.99,"key":"{KEY}"}}', ["Lamps"]),
        (
            "<p>Lamps<p>" + "Lampenfassungsschraube " * 5,
            ["Lamps", "Lampenfassungsschraube " * 4 + "Lampenfassungsschraube"],
        ),
        ("<p>Lamps<p>" + "灯" * 200, ["Lamps", "灯" * 200]),
        (f"<p>Lamps<pre>{KEY}</pre>", ["Lamps", KEY]),
        (f"<p>Lamps<p><a href=/x>{KEY}</a>", ["Lamps", KEY]),
        (f"<p>{KEY}", [KEY]),
    ],
)
def test_text_for_scripts_is_left_out_unless_there_is_nothing_else(
    html: str, expected: list[str]
) -> None:
    page = find_blocks(parse(html.encode()).body)
    words = [text.count(" ") + 1 for text in page.block_texts]
    kept = _drop_machine_text(page, set(range(len(words))), words)
    assert expected == [page.block_texts[block] for block in sorted(kept)]


@pytest.mark.parametrize(
    ("html", "kept", "expected"),
    [
        ("<p>a<pre>b</pre><p>c", "101", "111"),
        ("<p>a:<pre>b</pre><p>c", "100", "110"),
        ("<p>a:<pre>b</pre>", "10", "11"),
        ("<p>a<pre>b</pre><p>c", "100", "100"),
        ("<p>a:<pre>b</pre><p>c", "001", "001"),
        ("<pre>b</pre><p>c", "01", "01"),
        ("<p>a:<p>b<p>c", "101", "101"),
    ],
)
def test_code_is_kept_between_kept_blocks_and_where_it_is_announced(
    html: str, kept: str, expected: str
) -> None:
    page = find_blocks(parse(html.encode()).body)
    before, after = (
        {block for block, keep in enumerate(blocks) if keep == "1"}
        for blocks in (kept, expected)
    )
    assert keep_code(page, before) == after


def test_rows_of_a_long_table_are_judged_by_those_of_their_form():
    rows = "<tr><td>a<td class=x>b" * 120 + "<tr><td>c" + "<tr><td><p>d<p>e" * 3
    outline = find_blocks(parse(f"<p>Kelp</p><table>{rows}</table>".encode()).body)
    like = _find_alike_rows(outline, _looks(outline))

    judged = [block for block, other in enumerate(like) if block == other]
    assert judged == [*range(101), *range(241, 248)]
    assert [
        outline.block_texts[block]
        for block, other in enumerate(like)
        if outline.block_texts[block] != outline.block_texts[other]
    ] == []
    assert outline.part(judged).block_texts == [
        outline.block_texts[block] for block in judged
    ]


def test_a_short_table_is_judged_whole():
    outline = find_blocks(parse(b"<table>" + b"<tr><td>a<td>b" * 50 + b"</table>").body)

    assert _find_alike_rows(outline, _looks(outline)) == [*range(100)]
