"""Select the content of a page: the blocks that a reader came for."""

from __future__ import annotations
import math
import re
from collections import defaultdict
from itertools import accumulate, cycle, groupby, islice
from typing import TYPE_CHECKING

from .features import BlockFeatures, count_words
from .model import ContentModel, load_model
from .titles import agree, ends_with

if TYPE_CHECKING:
    from .blocks import TextBlocks
    from .metadata import Metadata

_NEIGHBOURS = 0.25  # weight of the blocks before and after a block in its probability
_ALIKE = 0.5  # weight of the blocks that look like it
# factors that all odds of a page may be off by, both equally likely
_ODDS_ERRORS = math.exp(-1), math.e
_RECALL = 0.7  # weight of recall in the F-score, where precision weighs 1
# Captions, tables and lists belong to the text around them, even if the model doubts
# them: the share of the threshold that suffices for them.
_LENIENT = {"figcaption": 0.65, "caption": 0.65, "td": 0.7, "th": 0.7, "li": 0.95}
_JUDGED_ROWS = 50  # of a table, of each form
_LONG = 100  # characters: pages repeat a text this long for wide and for narrow screens
_VERY_LONG = 10_000  # words of one block
_MAX_WORD_LENGTH = 25  # characters: the mean of a text for people is below
_CELLS = frozenset({"td", "th"})
_VERBATIM = _CELLS | {"pre", "code"}  # where repetition is legitimate
# Of what a page shows beside itself.
_MIN_LENGTH = 600  # characters of an article
_ADDRESSES = frozenset(
    {"data-url", "data-article-url", "data-permalink", "data-post-url", "data-href"}
)
_HEADLINES = frozenset({"h1", "h2"})
_POST = re.compile(r"\A(?:blog-?)?(?:post|article|entry|hentry|story)(?![\w-])")
_COUNTRIES = re.compile(
    r"data-(?:show-)?(?:country|countries|country-codes?|geo|geo-?ip|market)\Z"
)
_COUNTRY = re.compile(r"(?<![\w-])(?:geo|geoip|geot|country)[-_][a-z]{2}(?![\w-])")
_COUNTRY_HINTS = ("geo", "country")
_MAX_TITLE = 100  # characters, in a note


def select_content(
    outline: TextBlocks, url: str, facts: Metadata, model: ContentModel | None = None
) -> list[bool]:
    """Decide for each block of the page whether it is content.

    A learned model gives the probability of each block. The threshold differs from page
    to page: it maximizes the expected F-score of the words that are kept, with
    precision weighing more, so on uncertain pages it drops and keeps the doubtful
    blocks (Lipton et al., "Optimal Thresholding of Classifiers to Maximize F1", 2014).
    """
    if not outline.block_texts:
        return []
    model = model or load_model()
    looks = _looks(outline)
    like = _find_alike_rows(outline, looks)
    some = outline.part([block for block, other in enumerate(like) if block == other])
    features = BlockFeatures(some, url, facts, model.words)
    judged, sizes = model.probabilities(features), features.sizes
    if len(judged) < len(like):
        of = dict(
            zip(
                (block for block, other in enumerate(like) if block == other),
                judged,
                strict=True,
            )
        )
        judged, sizes = (
            [of[other] for other in like],
            [*map(count_words, outline.block_texts)],
        )
    chances = _smooth(_average_alike(outline, looks, judged))
    threshold = _threshold(chances, sizes)
    kept = [
        chance >= threshold * share
        for chance, share in zip(chances, _leniency(outline), strict=True)
    ]
    kept = _keep_code(outline, _drop_machine_text(outline, kept, sizes))
    kept = _keep_headline(outline, kept, sizes, facts.title)
    return whole_rows(outline, _drop_repeats(outline, kept))


def _looks(outline: TextBlocks) -> list[int]:
    """Return for each block a number for its look: the tags and classes of it and its
    parent, the part of the page.
    """
    names, marks, around = outline.names, outline.marks, outline.around
    parents = [0, *outline.parents[1:]]
    known: dict[object, int] = {}
    return [
        known.setdefault(
            (
                names[own],
                marks[own],
                names[parents[own]],
                marks[parents[own]],
                around[own],
            ),
            len(known),
        )
        for own in outline.block_elements
    ]


def _find_alike_rows(outline: TextBlocks, looks: list[int]) -> list[int]:
    """Return for each block itself, or the one that the model judges for it: long
    tables repeat their rows.

    A block of a row stands for those in its place in later rows of the same cells.
    """
    names, parents = outline.names, outline.parents
    like = [*range(len(looks))]
    if names.count("tr") <= _JUDGED_ROWS:
        return like
    # by table and looks: where such rows begin
    alike: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for row, blocks in groupby(
        like.copy(),
        [parents[element] for element in outline.block_elements].__getitem__,
    ):
        if row >= 0 and names[row] == "tr":
            first, *_ = cells = [*blocks]
            alike[parents[row], *looks[first : first + len(cells)]].append(first)
    for (_, *form), begins in alike.items():
        for first, other in zip(
            begins[_JUDGED_ROWS:], cycle(begins[:_JUDGED_ROWS]), strict=False
        ):
            like[first : first + len(form)] = range(other, other + len(form))
    return like


def _average_alike(
    outline: TextBlocks, looks: list[int], chances: list[float]
) -> list[float]:
    """Move each block towards the blocks that look like it."""
    expected, letters = [0.0] * len(looks), [0] * len(looks)
    for look, chance, text in zip(looks, chances, outline.block_texts, strict=True):
        expected[look] += chance * (length := len(text) + 1)
        letters[look] += length
    return [
        (1 - _ALIKE) * chance + _ALIKE * expected[look] / letters[look]
        for look, chance in zip(looks, chances, strict=True)
    ]


def _smooth(chances: list[float]) -> list[float]:
    """Move each block towards its neighbours: content comes in one run, or a few."""
    before, after = [chances[0], *chances[:-1]], [*chances[1:], chances[-1]]
    return [
        (1 - _NEIGHBOURS) * chance + _NEIGHBOURS * (one + other) / 2
        for chance, one, other in zip(chances, before, after, strict=True)
    ]


def _leniency(outline: TextBlocks) -> list[float]:
    """Return for each block the share of the threshold that suffices for it."""
    if _LENIENT.keys().isdisjoint(outline.names):
        return [1.0] * len(outline.block_elements)
    shares = [1.0]  # of the body
    for name, parent in islice(
        zip(outline.names, outline.parents, strict=True), 1, None
    ):
        own, around = _LENIENT.get(name, 1.0), shares[parent]
        shares.append(own if own < around else around)  # noqa: FURB136 - twice as fast
    return [shares[element] for element in outline.block_elements]


def _drop_machine_text(
    outline: TextBlocks, kept: list[bool], words: list[int]
) -> list[bool]:
    """Leave out text for scripts (JSON, keys, URLs), unless there is nothing else."""
    blocks = zip(
        outline.block_texts,
        outline.block_elements,
        outline.block_linked,
        words,
        kept,
        strict=True,
    )
    legible = [
        keep
        and not (
            _LONG <= len(text) >= _MAX_WORD_LENGTH * count
            and text.isascii()
            and 2 * linked < len(text)
            and outline.names[element] not in _VERBATIM
        )
        for text, element, linked, count, keep in blocks
    ]
    return legible if any(legible) else kept


def _keep_code(outline: TextBlocks, kept: list[bool]) -> list[bool]:
    """Keep code between two kept blocks, and code that the text before it announces."""
    if "pre" not in outline.names:
        return kept
    kept = kept.copy()
    after = [*kept[1:], False]
    for block, element in enumerate(outline.block_elements):
        if outline.names[element] == "pre" and block and kept[block - 1]:
            kept[block] = (
                kept[block]
                or after[block]
                or outline.block_texts[block - 1].endswith((":", "："))  # noqa: RUF001
            )
    return kept


def _keep_headline(
    outline: TextBlocks, kept: list[bool], words: list[int], title: str
) -> list[bool]:
    """Keep the title where it stands as the headline of one very long text, beside
    which the few words of a headline weigh nothing in the F-score.
    """
    if True not in kept:
        return kept
    first = kept.index(True)
    if first == 0 or words[first] < _VERY_LONG:
        return kept
    headline = first - 1
    if outline.block_texts[headline] != title:
        return kept
    if outline.names[outline.block_elements[headline]] != "h1":
        return kept
    return [*kept[:headline], True, *kept[first:]]


def _drop_repeats(outline: TextBlocks, kept: list[bool]) -> list[bool]:
    """Keep a long text only where it occurs first, and next to that."""
    long = [text for text in outline.block_texts if len(text) >= _LONG]
    if len(set(long)) == len(long):
        return kept
    # the parent of the element in which each text occurs first
    first: dict[str, int] = {}
    once: list[bool] = []
    for text, element, keep in zip(
        outline.block_texts, outline.block_elements, kept, strict=True
    ):
        parent = outline.parents[element]
        once.append(keep and first.get(text, parent) == parent)
        if keep and len(text) >= _LONG and outline.names[element] not in _VERBATIM:
            first.setdefault(text, parent)
    return once


def whole_rows(outline: TextBlocks, kept: list[bool]) -> list[bool]:
    """Keep all cells of a row or none: without one cell, the others mean something
    else.

    Only cells of a single block count: a cell of several blocks contains more than
    data.
    """
    names, parents = outline.names, outline.parents
    rows = [
        parents[element] if names[element] in _CELLS else -1
        for element in outline.block_elements
    ]
    begun = {row for row, keep in zip(rows, kept, strict=True) if keep and row >= 0}
    return [keep or row in begun for row, keep in zip(rows, kept, strict=True)]


def _threshold(chances: list[float], words: list[int]) -> float:
    """Return the lowest probability of a block to keep.

    The errors of the model are not independent: if it overrates one block of a page, it
    overrates others too. So the threshold maximizes the mean of two expected F-scores,
    one with all odds lower and one with all odds higher.
    """
    # words of the same chance, like those of rows, stay together
    alike: defaultdict[float, int] = defaultdict(int)
    for chance, count in zip(chances, words, strict=True):
        alike[chance] += count
    blocks = sorted(alike.items(), reverse=True)
    kept = [*accumulate(count for _, count in blocks)]
    quality = [0.0] * len(blocks)
    for odds in _ODDS_ERRORS:
        content = [
            *accumulate(
                [
                    odds * chance * count / (1 - chance + odds * chance)
                    for chance, count in blocks
                ]
            )
        ]
        total = _RECALL * content[-1]
        quality = [
            score + found / (size + total)
            for score, found, size in zip(quality, content, kept, strict=True)
        ]
    return blocks[quality.index(max(quality))][0]


def drop_strays(
    outline: TextBlocks, kept: list[bool], title: str, *, is_article: bool
) -> tuple[list[bool], list[str]]:
    """Leave out a second article after the first, and banners for other countries, and
    return notes on them.

    Of the *kept* blocks, the others stay.
    """
    first = next(
        (
            n
            for n, keep in enumerate(kept)
            if keep and outline.names[outline.block_elements[n]] == "h1"
        ),
        0,
    )
    if first:
        variants = _find_variants(outline)
        elements = outline.block_elements[:first]
        kept = [
            keep and not variants[one]
            for keep, one in zip(kept, elements, strict=False)
        ] + kept[first:]
    begins, headline = _find_second(outline, kept, title) if is_article else (0, "")
    if not begins:
        return kept, []
    kept = [
        keep and element < begins
        for keep, element in zip(kept, outline.block_elements, strict=True)
    ]
    return kept, [
        f"another article below this one was left out: {headline[:_MAX_TITLE]}"
    ]


def _find_second(outline: TextBlocks, kept: list[bool], title: str) -> tuple[int, str]:
    """Return the element in which a second article begins, which readers get by
    scrolling on, and its headline.

    It is beside the one with the title of the page, as long as an article, and of the
    same class; 0 if there is none.
    """
    articles = _find_articles(outline)
    if len(articles) < 2:
        return 0, ""
    holders = outline.holders(articles)
    headlines: dict[int, tuple[str, str]] = {}
    lengths: defaultdict[int, int] = defaultdict(int)
    for text, element, keep in zip(
        outline.block_texts, outline.block_elements, kept, strict=True
    ):
        if keep and (holder := holders[element]):
            lengths[holder] += len(text)
            if (name := outline.names[element]) in _HEADLINES:
                headlines.setdefault(holder, (name, text))
    long = [
        (holder, *headline)
        for holder, headline in headlines.items()
        if lengths[holder] >= _MIN_LENGTH
    ]
    if len(long) < 2 or not ends_with(long[0][2], title):
        return 0, ""
    (first, level, _), *others = long
    for other, name, text in others:
        if (
            name == level
            and outline.marks[other].split()[:1] == outline.marks[first].split()[:1]
            and not agree(text, [title])
        ):
            return other, text
    return 0, ""


def _find_articles(outline: TextBlocks) -> set[int]:
    """Return the elements that are articles by their name, an address of their own,
    their type, or their class.
    """
    found = {element for element, name in enumerate(outline.names) if name == "article"}
    for address in _ADDRESSES & outline.attribute_names:
        found.update(
            element for element, own in enumerate(outline.attributes) if address in own
        )
    if "itemtype" in outline.attribute_names:
        types = ((own.get("itemtype") or "") for own in outline.attributes)
        found.update(
            element
            for element, written in enumerate(types)
            if written.endswith("Article")
        )
    if outline.names.count("h1") > 1:
        posts = outline.find_marks(_POST, ("post", "article", "entry", "story"))
        found.update(
            element for element, mark in enumerate(outline.marks) if mark in posts
        )
    return found


def _find_variants(outline: TextBlocks) -> list[int]:
    """Return what is in elements of which others beside them are for other countries: a
    script shows one of them.
    """
    groups: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    names = {name for name in outline.attribute_names if _COUNTRIES.match(name)}
    marks = outline.find_marks(_COUNTRY, _COUNTRY_HINTS)
    if not (names or marks):
        return [0] * len(outline.names)
    for element, (attributes, mark) in enumerate(
        zip(outline.attributes, outline.marks, strict=True)
    ):
        if (
            stated := next(filter(names.__contains__, attributes), "") if names else ""
        ) or mark in marks:
            groups[outline.parents[element], stated].append(element)
    return outline.holders(
        one for group in groups.values() if len(group) > 1 for one in group
    )
