"""Select the content of a page: the blocks that a reader came for."""

from __future__ import annotations
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, chain, compress, cycle, groupby, islice
from typing import TYPE_CHECKING, NamedTuple

from .features import BlockFeatures, count_words
from .model import ContentModel, load_model
from .titles import agree, ends_with

if TYPE_CHECKING:
    from .blocks import TextBlocks
    from .metadata import Metadata

_NEIGHBOURS = 0.25  # weight of the blocks before and after a block in its probability
_ALIKE = 0.5  # weight of the blocks that look like it
# factors that all odds of a page may be off by, both equally likely
_ODDS_ERRORS = (math.exp(-1), math.e)
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
_ANNOUNCES = (":", "：")  # noqa: RUF001 - at the end of a text before code
_MAX_BETWEEN = 6  # short texts between kept text and code: labels, names of files
_SHORT = 60  # characters of such a text
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
    looks = _looks(outline)
    chances, sizes = _judge(outline, url, facts, looks, model or load_model())
    chances = _smooth(_average_alike(outline, looks, chances))
    threshold = _threshold(chances, sizes)
    content = [
        chance >= threshold * share
        for chance, share in zip(chances, _leniency(outline), strict=True)
    ]
    content = _drop_machine_text(outline, content, sizes)
    content = _keep_code(outline, content)
    content = _keep_headline(outline, content, sizes, facts.title)
    content = _drop_repeats(outline, content)
    return whole_rows(outline, keep_labels(outline, content))


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
    holders = [parents[element] for element in outline.block_elements]
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
    if _LENIENT.keys().isdisjoint(outline.names):
        return [1.0] * len(outline.block_elements)
    shares = [1.0]  # of the body
    inner = zip(outline.names, outline.parents, strict=True)
    for name, parent in islice(inner, 1, None):
        own = _LENIENT.get(name, 1.0)
        around = shares[parent]
        stricter = own if own < around else around  # noqa: FURB136 - twice as fast
        shares.append(stricter)
    return [shares[element] for element in outline.block_elements]


def _drop_machine_text(
    outline: TextBlocks, content: list[bool], words: list[int]
) -> list[bool]:
    """Leave out text for scripts (JSON, keys, URLs), unless there is nothing else."""
    legible = content.copy()
    for block, text in enumerate(outline.block_texts):
        if not content[block] or len(text) < _LONG:
            continue
        if len(text) < _MAX_WORD_LENGTH * words[block] or not text.isascii():
            continue
        is_link = 2 * outline.block_linked[block] >= len(text)
        is_verbatim = outline.names[outline.block_elements[block]] in _VERBATIM
        legible[block] = is_link or is_verbatim
    return legible if any(legible) else content


def _keep_code(outline: TextBlocks, content: list[bool]) -> list[bool]:
    """Keep code between two kept blocks, and code that the text before it announces.

    What else stands between them may be other code, and a few words such as the labels
    of tabs.
    """
    if "pre" not in outline.names:
        return content
    whole = content.copy()
    codes: list[int] = []  # since the last kept block
    between = _MAX_BETWEEN + 1  # other texts since then
    for block, text in enumerate(outline.block_texts):
        is_code = outline.names[outline.block_elements[block]] == "pre"
        follows = is_code and block > 0 and whole[block - 1]
        if follows and outline.block_texts[block - 1].endswith(_ANNOUNCES):
            whole[block] = True
        if whole[block]:
            for code in codes:
                whole[code] = True
            codes = []
            between = 0
        elif is_code and between <= _MAX_BETWEEN:
            codes.append(block)
        else:
            step = 1 if len(text) <= _SHORT else _MAX_BETWEEN + 1
            between += step
            if between > _MAX_BETWEEN:
                codes = []
    return whole


def _keep_headline(
    outline: TextBlocks, content: list[bool], words: list[int], title: str
) -> list[bool]:
    """Keep the title where it stands as the headline of one very long text, beside
    which the few words of a headline weigh nothing in the F-score.
    """
    if True not in content:
        return content
    first = content.index(True)
    if first == 0 or words[first] < _VERY_LONG:
        return content
    headline = first - 1
    if outline.block_texts[headline] != title:
        return content
    if outline.names[outline.block_elements[headline]] != "h1":
        return content
    return [*content[:headline], True, *content[first:]]


def _drop_repeats(outline: TextBlocks, content: list[bool]) -> list[bool]:
    """Keep a long text only where it occurs first, and next to that."""
    long = [text for text in outline.block_texts if len(text) >= _LONG]
    if len(set(long)) == len(long):
        return content
    # the parent of the element in which each text occurs first
    first: dict[str, int] = {}
    once: list[bool] = []
    for text, element, keep in zip(
        outline.block_texts, outline.block_elements, content, strict=True
    ):
        parent = outline.parents[element]
        once.append(keep and first.get(text, parent) == parent)
        is_long = keep and len(text) >= _LONG
        if is_long and outline.names[element] not in _VERBATIM:
            first.setdefault(text, parent)
    return once


def whole_rows(outline: TextBlocks, content: list[bool]) -> list[bool]:
    """Keep all cells of a row or none: without one cell, the others mean something
    else.

    Only cells of a single block count: a cell of several blocks contains more than
    data.
    """
    rows: list[int] = []
    for element in outline.block_elements:
        is_cell = outline.names[element] in _CELLS
        row = outline.parents[element] if is_cell else -1
        rows.append(row)
    begun = set(compress(rows, content)) - {-1}
    return [keep or row in begun for row, keep in zip(rows, content, strict=True)]


def keep_labels(outline: TextBlocks, content: list[bool]) -> list[bool]:
    """Keep the label of a control if something of what it opens is kept, and only
    then.
    """
    if not outline.controls:
        return content
    labels = outline.holders(control.label for control in outline.controls)
    panels = outline.holders(control.panel for control in outline.controls)
    opened: set[int] = set()  # panels with content
    for block, element in enumerate(outline.block_elements):
        if content[block] and not labels[element]:
            opened.update(_above(outline, panels, element))
    is_open = {control.label: control.panel in opened for control in outline.controls}
    whole = content.copy()
    for run, block in enumerate(outline.run_blocks):
        label = labels[outline.run_elements[run]]
        if label:
            whole[block] = is_open[label]
    return whole


def _above(outline: TextBlocks, holders: list[int], element: int) -> Iterator[int]:
    """Yield the holder of an element, and the holders around that."""
    holder = holders[element]
    while holder:
        yield holder
        holder = holders[outline.parents[holder]]


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


def drop_strays(
    outline: TextBlocks, content: list[bool], title: str, *, is_article: bool
) -> tuple[list[bool], list[str]]:
    """Leave out a second article after the first, and banners for other countries, and
    return notes on them.
    """
    content = _drop_variants(outline, content)
    if not is_article:
        return content, []
    begin, headline = _find_second(outline, content, title)
    if not begin:
        return content, []
    content = [
        keep and element < begin
        for keep, element in zip(content, outline.block_elements, strict=True)
    ]
    note = f"another article below this one was left out: {headline[:_MAX_TITLE]}"
    return content, [note]


def _drop_variants(outline: TextBlocks, content: list[bool]) -> list[bool]:
    """Leave out banners for some countries above the headline."""
    headline = 0
    for block, element in enumerate(outline.block_elements):
        if content[block] and outline.names[element] == "h1":
            headline = block
            break
    if not headline:
        return content
    variants = _find_variants(outline)
    elements = outline.block_elements[:headline]
    above = [
        keep and not variants[element]
        for keep, element in zip(content, elements, strict=False)
    ]
    return above + content[headline:]


class _Headline(NamedTuple):
    tag: str
    text: str


def _find_second(
    outline: TextBlocks, content: list[bool], title: str
) -> tuple[int, str]:
    """Return the element in which a second article begins, which readers get by
    scrolling on, and its headline.

    It is beside the one with the title of the page, as long as an article, and of the
    same class; 0 if there is none.
    """
    articles = _find_articles(outline)
    if len(articles) < 2:
        return 0, ""
    long = _find_long(outline, content, articles)
    if len(long) < 2:
        return 0, ""
    (first, headline), *others = long.items()
    if not ends_with(headline.text, title):
        return 0, ""
    own_class = outline.marks[first].split()[:1]
    for article, other in others:
        if outline.marks[article].split()[:1] != own_class:
            continue
        if other.tag == headline.tag and not agree(other.text, [title]):
            return article, other.text
    return 0, ""


def _find_long(
    outline: TextBlocks, content: list[bool], articles: set[int]
) -> dict[int, _Headline]:
    """Return the headlines of the articles that have one and are long enough."""
    holders = outline.holders(articles)
    headlines: dict[int, _Headline] = {}
    lengths: defaultdict[int, int] = defaultdict(int)
    for text, element in compress(
        zip(outline.block_texts, outline.block_elements, strict=True), content
    ):
        article = holders[element]
        if not article:
            continue
        lengths[article] += len(text)
        name = outline.names[element]
        if name in _HEADLINES:
            headlines.setdefault(article, _Headline(name, text))
    return {
        article: headline
        for article, headline in headlines.items()
        if lengths[article] >= _MIN_LENGTH
    }


def _find_articles(outline: TextBlocks) -> set[int]:
    """Return the elements that are articles by their name, an address of their own,
    their type, or their class.
    """
    articles = {
        element for element, name in enumerate(outline.names) if name == "article"
    }
    for address in _ADDRESSES & outline.attribute_names:
        articles.update(
            element
            for element, attributes in enumerate(outline.attributes)
            if address in attributes
        )
    if "itemtype" in outline.attribute_names:
        types = ((own.get("itemtype") or "") for own in outline.attributes)
        articles.update(
            element
            for element, written in enumerate(types)
            if written.endswith("Article")
        )
    if outline.names.count("h1") > 1:
        posts = outline.find_marks(_POST, ("post", "article", "entry", "story"))
        articles.update(
            element for element, mark in enumerate(outline.marks) if mark in posts
        )
    return articles


def _find_variants(outline: TextBlocks) -> list[int]:
    """Return what is in elements of which others beside them are for other countries: a
    script shows one of them.
    """
    names = {name for name in outline.attribute_names if _COUNTRIES.match(name)}
    marks = outline.find_marks(_COUNTRY, _COUNTRY_HINTS)
    if not (names or marks):
        return [0] * len(outline.names)
    groups: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for element, attributes in enumerate(outline.attributes):
        countries = next(filter(names.__contains__, attributes), "")
        if countries or outline.marks[element] in marks:
            groups[outline.parents[element], countries].append(element)
    variants = [group for group in groups.values() if len(group) > 1]
    return outline.holders(chain.from_iterable(variants))
