"""Keep what a page states about its thing and shows: the ingredients of a recipe, the
answers to a question, the description of a job.

The page's own data says what it is about. So a text of the page that the data has, too,
is content, however short or far from the rest.
"""

from __future__ import annotations
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ..._text.markup import strip_markup
from ..._text.terms import fold
from .._element import HEADINGS
from .jsonld import TYPES, Thing, types
from .metadata import Metadata
from .text_blocks import TELLING_TAGS, Blocks, TextBlocks

# Where things of a type say what a reader came for.
_RECIPE = ("recipeIngredient", "ingredients", "recipeInstructions", "step", "steps")
_ANSWERS = ("acceptedAnswer", "suggestedAnswer")
_PROPERTIES: dict[str, tuple[str, ...]] = {
    "Recipe": _RECIPE,
    "HowTo": ("supply", "tool", "step", "steps"),
    "FAQPage": ("mainEntity",),
    "QAPage": ("mainEntity",),
    "Question": _ANSWERS,
    "JobPosting": (
        "description",
        "responsibilities",
        "qualifications",
        "skills",
        "educationRequirements",
        "experienceRequirements",
        "jobBenefits",
    ),
    "Product": ("description",),
    "ProductGroup": ("description",),
    "Event": ("description",),
}
_INNER = ("name", "text", "itemListElement", "step", "steps", *_ANSWERS)
# The same in microdata.
_MARKED = frozenset({"recipeIngredient", "ingredients", "recipeInstructions"})
_MAX_DEPTH = 5
_MAX_TEXTS = 1_000
_MAX_LENGTH = 100_000  # characters of all texts
_MAX_BLOCKS = 5_000
_MAX_THINGS = 50
_MIN_LENGTH = 25  # letters and digits of a part of a text
_MAX_PARTS = 4  # blocks that a short text may be shown in
_FRAME = TELLING_TAGS["nav"] | TELLING_TAGS["footer"] | TELLING_TAGS["header"]


def keep_stated(outline: TextBlocks, content: Blocks, facts: Metadata) -> Blocks:
    """Keep the blocks that say what the data of the page states about its thing, and
    the headings above them.
    """
    texts: set[str] = set()
    length = 0
    for text in islice(_read_things(facts), _MAX_TEXTS):
        length += len(text)
        if length > _MAX_LENGTH:
            break
        texts.add(_plain(text))
    texts.discard("")
    blocks = _find_marked(outline)
    if texts:
        blocks.update(_find_texts(outline, texts))
    above = {block - 1 for block in blocks} - blocks - {-1}
    headings = {block for block in above if outline.block_names[block] in HEADINGS}
    return content | blocks | headings


def _find_texts(outline: TextBlocks, texts: set[str]) -> Iterator[int]:
    """Yield the blocks that are one of *texts*, several of which are one, or those that
    are a part of one.
    """
    blocks = [
        block
        for block, element in enumerate(outline.block_elements)
        if not outline.around[element] & _FRAME
    ]
    blocks = blocks[:_MAX_BLOCKS]
    plain = [_plain(outline.block_texts[block]) for block in blocks]
    together = "\n".join(texts)
    for place, text in enumerate(plain):
        if not text:
            continue
        if len(text) >= _MIN_LENGTH and text in together:
            yield blocks[place]
            continue
        joined = ""
        for end in range(place, min(place + _MAX_PARTS, len(plain))):
            joined += plain[end]
            if joined in texts:
                yield from blocks[place : end + 1]


def _find_marked(outline: TextBlocks) -> Blocks:
    """Return the blocks in elements that microdata marks."""
    if "itemprop" not in outline.attribute_names:
        return set()
    return outline.blocks_in(
        element
        for element in outline.described
        if outline.attributes[element].get("itemprop") in _MARKED
    )


def _read_things(facts: Metadata) -> Iterator[str]:
    """Yield the texts that the data states about the thing of the page.

    Of several products the page is about one at most, and says which. An article is
    not about the product that it offers.
    """
    is_article = bool(types(facts.about) & (TYPES["news"] | TYPES["articles"]))
    by_type: defaultdict[str, list[Thing]] = defaultdict(list)
    for thing in facts.linked.things[:_MAX_THINGS]:
        for kind in types(thing) & _PROPERTIES.keys():
            by_type[kind].append(thing)
    for kind, things in by_type.items():
        is_each = len(things) == 1 or kind == "Question"
        if is_article and kind in TYPES["goods"]:
            is_each = False
        for thing in things:
            if not is_each and thing is not facts.about:
                continue
            for name in _PROPERTIES[kind]:
                for value in facts.linked.values(thing, name):
                    yield from _read_texts(facts, value)


def _read_texts(facts: Metadata, value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a value, without markup, as wholes and by their lines."""
    if not isinstance(value, dict):
        whole = strip_markup(facts.linked.take(value))
        yield whole
        yield from whole.splitlines()
        return
    if depth > _MAX_DEPTH:
        return
    for name in _INNER:
        for inner in facts.linked.values(value, name):
            yield from _read_texts(facts, inner, depth + 1)


def _plain(text: str) -> str:
    """Return the letters and digits of a text."""
    plain = text.lower() if text.isascii() else fold(text)
    return "".join(filter(str.isalnum, plain))
