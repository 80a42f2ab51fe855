"""Select the content of a page: the blocks that a reader came for."""

from __future__ import annotations
import math
from collections import defaultdict
from itertools import accumulate, cycle, groupby

from .features import BlockFeatures, count_words
from .furniture import find_fields
from .metadata import Metadata
from .model import ContentModel, load_model
from .stated import keep_stated
from .text_blocks import Blocks, TextBlocks
from .together import (
    LONG,
    VERBATIM,
    drop_actions,
    drop_copies,
    drop_headings,
    drop_repeats,
    fill_headings,
    keep_code,
    keep_labels,
    keep_sources,
    whole_lists,
    whole_panels,
    whole_rows,
)

_NEIGHBOURS = 0.25  # weight of the blocks before and after a block in its probability
_ALIKE = 0.5  # weight of the blocks that look like it
# factors that all odds of a page may be off by, both equally likely
_ODDS_ERRORS = (math.exp(-1), math.e)
_RECALL = 0.7  # weight of recall in the F-score, where precision weighs 1
# Captions, tables and lists belong to the text around them, even if the model doubts
# them: the share of the threshold that suffices for them.
_LENIENT = {"figcaption": 0.65, "caption": 0.65, "td": 0.7, "th": 0.7, "li": 0.95}
_JUDGED_ROWS = 50  # of a table, of each form
_VERY_LONG = 10_000  # words of one block
_MAX_WORD_LENGTH = 25  # characters: the mean of a text for people is below


def select_content(
    outline: TextBlocks, url: str, facts: Metadata, model: ContentModel | None = None
) -> Blocks:
    """Decide for each block of the page whether it is content.

    A learned model gives the probability of each block. The threshold differs from page
    to page: it maximizes the expected F-score of the words that are kept, with
    precision weighing more, so on uncertain pages it drops and keeps the doubtful
    blocks (Lipton et al., "Optimal Thresholding of Classifiers to Maximize F1", 2014).
    """
    if not outline.block_texts:
        return set()
    looks = _looks(outline)
    chances, sizes = _judge(outline, url, facts, looks, model or load_model())
    chances = _smooth(_average_alike(outline, looks, chances))
    threshold = _threshold(chances, sizes)
    judged = zip(chances, _leniency(outline), strict=True)
    content = {
        block
        for block, (chance, share) in enumerate(judged)
        if chance >= threshold * share
    }
    content = _drop_machine_text(outline, content, sizes)
    fields = find_fields(outline)
    content = keep_code(outline, content - fields)
    content = keep_stated(outline, content, facts)
    whole = fill_headings(outline, content)
    content = whole - fields
    if content != whole:  # a form may be all that a heading is over
        content = drop_headings(outline, content)
    content = whole_panels(outline, content)
    content = whole_lists(outline, keep_sources(outline, content))
    content = _keep_headline(outline, content, sizes, facts.title)
    content = drop_copies(outline, drop_repeats(outline, content))
    content = keep_labels(outline, drop_actions(outline, content))
    return whole_rows(outline, content)


def _judge(
    outline: TextBlocks,
    url: str,
    facts: Metadata,
    looks: list[int],
    model: ContentModel,
) -> tuple[list[float], list[int]]:
    """Return the model's probability of each block, and its number of words."""
    judges = _find_alike_rows(outline, looks)
    judged = [block for block, judge in enumerate(judges) if block == judge]
    features = BlockFeatures(outline.part(judged), url, facts, model.words)
    chances = model.probabilities(features)
    if len(chances) == len(judges):
        return chances, features.sizes
    by_block = dict(zip(judged, chances, strict=True))
    sizes = [*map(count_words, outline.block_texts)]
    return [by_block[judge] for judge in judges], sizes


def _looks(outline: TextBlocks) -> list[int]:
    """Return for each block a number for its look: the tags and classes of it and its
    parent, the part of the page.
    """
    names = outline.names
    marks = outline.marks
    parents = [0, *outline.parents[1:]]
    numbers: dict[object, int] = {}
    looks: list[int] = []
    for element in outline.block_elements:
        parent = parents[element]
        look = (
            names[element],
            marks[element],
            names[parent],
            marks[parent],
            outline.around[element],
        )
        looks.append(numbers.setdefault(look, len(numbers)))
    return looks


def _find_alike_rows(outline: TextBlocks, looks: list[int]) -> list[int]:
    """Return for each block itself, or the one that the model judges for it: long
    tables repeat their rows.

    A block of a row stands for those in its place in later rows of the same cells.
    """
    judges = [*range(len(looks))]
    if outline.names.count("tr") <= _JUDGED_ROWS:
        return judges
    for (_, *form), begins in _find_rows(outline, looks).items():
        again = zip(begins[_JUDGED_ROWS:], cycle(begins[:_JUDGED_ROWS]), strict=False)
        for first, judge in again:
            judges[first : first + len(form)] = range(judge, judge + len(form))
    return judges


def _find_rows(
    outline: TextBlocks, looks: list[int]
) -> dict[tuple[int, ...], list[int]]:
    """Return by table and looks of its cells the first blocks of such rows."""
    parents = outline.parents
    rows: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    holders = outline.by_block(parents)
    for row, blocks in groupby(range(len(looks)), holders.__getitem__):
        if row < 0 or outline.names[row] != "tr":
            continue
        cells = [*blocks]
        first = cells[0]
        rows[parents[row], *looks[first : first + len(cells)]].append(first)
    return rows


def _average_alike(
    outline: TextBlocks, looks: list[int], chances: list[float]
) -> list[float]:
    """Move each block towards the blocks that look like it."""
    expected = [0.0] * len(looks)
    letters = [0] * len(looks)
    for look, chance, text in zip(looks, chances, outline.block_texts, strict=True):
        length = len(text) + 1
        expected[look] += chance * length
        letters[look] += length
    return [
        (1 - _ALIKE) * chance + _ALIKE * expected[look] / letters[look]
        for look, chance in zip(looks, chances, strict=True)
    ]


def _smooth(chances: list[float]) -> list[float]:
    """Move each block towards its neighbours: content comes in one run, or a few."""
    before = [chances[0], *chances[:-1]]
    after = [*chances[1:], chances[-1]]
    return [
        (1 - _NEIGHBOURS) * chance + _NEIGHBOURS * (earlier + later) / 2
        for chance, earlier, later in zip(chances, before, after, strict=True)
    ]


def _leniency(outline: TextBlocks) -> list[float]:
    """Return for each block the share of the threshold that suffices for it."""
    shares = [1.0] * len(outline.names)
    for element in outline.named(*_LENIENT):  # those inside others come after them
        share = min(_LENIENT[outline.names[element]], shares[element])
        end = outline.ends[element]
        shares[element:end] = [share] * (end - element)
    return outline.by_block(shares)


def _drop_machine_text(
    outline: TextBlocks, content: Blocks, words: list[int]
) -> Blocks:
    """Leave out text for scripts (JSON, keys, URLs), unless there is nothing else."""
    legible = content.copy()
    for block in content:
        text = outline.block_texts[block]
        if len(text) < max(LONG, _MAX_WORD_LENGTH * words[block]):
            continue
        if not text.isascii() or outline.block_names[block] in VERBATIM:
            continue
        if 2 * outline.block_linked[block] < len(text):
            legible.discard(block)
    return legible or content


def _keep_headline(
    outline: TextBlocks, content: Blocks, words: list[int], title: str
) -> Blocks:
    """Keep the title where it stands as the headline of one very long text, beside
    which the few words of a headline weigh nothing in the F-score.
    """
    first = min(content, default=0)
    if first == 0 or words[first] < _VERY_LONG:
        return content
    headline = first - 1
    if outline.block_texts[headline] != title:
        return content
    if outline.block_names[headline] != "h1":
        return content
    return content | {headline}


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
    sizes = [*accumulate(count for _, count in blocks)]
    quality = [0.0] * len(blocks)
    for odds in _ODDS_ERRORS:
        expected = [
            odds * chance * count / (1 - chance + odds * chance)
            for chance, count in blocks
        ]
        content = [*accumulate(expected)]
        total = _RECALL * content[-1]
        quality = [
            score + words_of_content / (size + total)
            for score, words_of_content, size in zip(
                quality, content, sizes, strict=True
            )
        ]
    return blocks[quality.index(max(quality))][0]
