"""Write what a reader can see beside the main content: prices, cards, captions, the end
of the page; no menus.

What stands together stays together: a passage has all the text of the largest element
that is short enough.
"""

from __future__ import annotations
import re
from collections.abc import Iterator, Sequence
from itertools import compress, count, groupby, islice

from .._element import LEVELS
from .text_blocks import TELLING_TAGS, Blocks, TextBlocks

# characters of a passage, a long block counted as `_MAX_CONTEXT`; or it is a single
# block
_MAX_LENGTH = 300
# characters of a block that is content, and names what stands beside it
_MAX_CONTEXT = 100
_MAX_MENU_LENGTH = 60  # characters of an entry of a menu
_MENU = 3  # entries, all of them links
_FOOTER = TELLING_TAGS["footer"]
_PARTS = TELLING_TAGS["article"] | TELLING_TAGS["main"] | _FOOTER
# Classes, ids and roles of what belongs to no page: how to share it, to agree to
# cookies; and of ways to other pages.
_FOREIGN = re.compile(
    r"(?<![a-z])(?:cookies?|consent|gdpr|onetrust|shar(?:e|ing)|social"
    r"|skip(?![-_]item))(?![a-z])"
)
_FOREIGN_HINTS = "cookie consent gdpr onetrust shar social skip".split()
_NAVIGATION = re.compile(
    r"(?<![a-z])(?:nav(?:igation)?|menubar|breadcrumbs?|(pagination))(?![a-z])"
)
_NAVIGATION_HINTS = "nav menubar breadcrumb pagination".split()
# What classes name too: values of styles, as in "h-[calc(100vh-var(--nav-height))]",
# and what an article is about.
_SUBJECT = re.compile(r"\[[^\]\s]*+\]?|(?<!\S)(?:category|tag|topic)[-_]\S+")
_SUBJECT_HINTS = ("[", "category", "tag", "topic")
_DIGIT = re.compile(r"\d")
_FACT = re.compile(r"[\d@]")
# In navigation: an e-mail address, or a number of a telephone; beside links also
# another number, such as opening hours, if it is not alone.
_CONTACT = re.compile(r"[\w+-]@[\w-]{1,60}\.[^\W\d_]|(?:\d[ ()./-]{0,2}){7}")
_NUMBER = re.compile(r"[1-9]")
_WORD = re.compile(r"[^\W\d_]{3}|[$€£]")


def write_rest(
    outline: TextBlocks,
    content: Blocks,
    readable: Blocks,
    *,
    linked: bool = True,
) -> str:
    """Return as plain Markdown the blocks that are *readable*, but not *content*, with
    the names around them.

    Nothing of it is a link; unless *linked*, nothing was one. No passage occurs twice.
    """
    if len(content) == len(outline.block_texts) and not outline.choices:
        return ""
    beside = _find_beside(outline, readable - content, linked=linked)
    beside |= content & outline.choices.keys()
    if not beside:
        return ""  # the names around a text are not worth showing without it
    telling = beside.union(
        block for block in content if len(outline.block_texts[block]) <= _MAX_CONTEXT
    )
    sections = {block for block in content if outline.block_names[block] in LEVELS}
    raised = _count_raised(outline)
    rows = outline.inside("tr")
    passages: dict[str, None] = {}
    is_in_footer = False
    groups = _group(outline)
    for _, members in groupby(range(len(groups)), groups.__getitem__):
        passage = list(members)
        if _is_in_page_footer(outline, groups[passage[0]]) and not is_in_footer:
            is_in_footer = True
            _drop_last_headings(passages)
        if not beside.isdisjoint(passage):
            passage = [block for block in passage if block in telling]
        elif len(passage) > 1 or passage[0] not in sections:
            continue
        lines = _lines(outline, passage, raised, rows)
        passages["\n".join(lines)] = None
    return "\n\n".join(_without_empty_sections(list(passages)))


def _drop_last_headings(passages: dict[str, None]) -> None:
    """Drop the headings of the content that nothing follows before the footer: they do
    not name it.
    """
    for passage in [*reversed(passages)]:
        if "\n" in passage or not passage.startswith("#"):
            return
        del passages[passage]


def _count_raised(outline: TextBlocks) -> int:
    """Return by how many levels to raise the headings of the footer.

    A footer does not belong to the section before it: its top headings become
    second-level, whatever the page says.
    """
    if "footer" not in outline.names:
        return 0
    footer = [
        outline.names[element]
        for element in outline.block_elements
        if _is_in_footer(outline, element)
    ]
    levels = [LEVELS[name] for name in footer if name in LEVELS]
    return max(0, min(levels, default=0) - 2)


def _without_empty_sections(passages: list[str]) -> list[str]:
    """Leave out the headings that nothing follows before the next one of their
    level.
    """
    filled: list[str] = []
    level = 7  # of the heading after it
    for passage in reversed(passages):
        depth = 0
        if "\n" not in passage:
            depth = len(passage) - len(passage.lstrip("#"))
        if not depth:
            filled.append(passage)
            level = 7
            continue
        is_above = level == 7 or depth < level
        if filled and is_above:
            filled.append(passage)
            level = depth
    return filled[::-1]


def _find_beside(outline: TextBlocks, others: Blocks, *, linked: bool) -> Blocks:
    """Return those of *others* that are no part of a menu, a button, or what belongs to
    no page; unless *linked*, none with a link.
    """
    foreign = outline.blocks_in(outline.marked(_find_marks(outline)))
    navigation = outline.holders(_find_navigation(outline))
    beside = others.difference(foreign, *_find_menus(outline))
    for block in [*beside]:
        element = outline.block_elements[block]
        may_stay = linked or not outline.block_linked[block]
        if navigation[element] or outline.around[element] & TELLING_TAGS["nav"]:
            may_stay = may_stay and _is_fact(outline, block)
        elif outline.names[element] == "button":
            may_stay = may_stay and bool(_DIGIT.search(outline.block_texts[block]))
        if not may_stay:
            beside.remove(block)
    return beside


def _is_fact(outline: TextBlocks, block: int) -> bool:
    """Return whether a block in navigation leads nowhere, but states something."""
    text = outline.block_texts[block]
    if not _FACT.search(text):
        return False
    if _CONTACT.search(text):
        return True
    if outline.block_linked[block] >= len(text):
        return False
    return bool(_NUMBER.search(text) and _WORD.search(text))


def _find_marks(outline: TextBlocks) -> set[str]:
    """Return the marks of what belongs to no page."""
    marks = outline.find_marks(_FOREIGN, _FOREIGN_HINTS)
    return {mark for mark in marks if _FOREIGN.search(_without_subject(mark))}


def _without_subject(mark: str) -> str:
    own = mark.lower()
    if any(map(own.__contains__, _SUBJECT_HINTS)):
        return _SUBJECT.sub("", own)
    return own


def _find_navigation(outline: TextBlocks) -> Iterator[int]:
    """Yield what is marked as navigation.

    What has a table with heads has data, and pagination with headings is the list.
    """
    marks: dict[str, bool] = {}
    for mark in outline.find_marks(_NAVIGATION, _NAVIGATION_HINTS):
        match = _NAVIGATION.search(_without_subject(mark))
        if match:
            marks[mark] = match[1] is not None
    if not marks:
        return
    around_heads = outline.around_all(outline.named("th"))
    around_headings = outline.around_all(outline.named(*LEVELS))
    for element in outline.marked(marks.keys()):
        is_list = marks[outline.marks[element]] and around_headings[element]
        if not is_list and not around_heads[element]:
            yield element


def _find_menus(outline: TextBlocks) -> Iterator[list[int]]:
    """Yield the blocks of menus: several short links in a row."""
    entries: list[bool] = []
    for linked, text in zip(outline.block_linked, outline.block_texts, strict=True):
        is_short_link = linked >= len(text) > 0 and len(text) <= _MAX_MENU_LENGTH
        entries.append(is_short_link and not _FACT.search(text))
    for is_entry, members in groupby(range(len(entries)), entries.__getitem__):
        menu = list(members)
        if is_entry and len(menu) >= _MENU:
            yield menu


def _group(outline: TextBlocks) -> list[int]:
    """Return for each block the largest element around it that has little text.

    The footer of the page stands alone: nothing of the content names it.
    """
    parents = outline.parents
    around = outline.around
    sizes = [0] * len(outline.names)
    for element, text in zip(outline.block_elements, outline.block_texts, strict=True):
        sizes[element] += min(len(text), _MAX_CONTEXT) + 1
    for element in range(len(sizes) - 1, 0, -1):
        size = sizes[element]
        if size:
            sizes[parents[element]] += size
    tops = [0] * len(sizes)
    for element in islice(compress(count(), sizes), 1, None):  # those with text
        parent = parents[element]
        is_part = sizes[parent] <= _MAX_LENGTH
        if around[element] & _PARTS == _FOOTER and not around[parent] & _PARTS:
            is_part = False
        tops[element] = tops[parent] if is_part else element
    return outline.by_block(tops)


def _lines(
    outline: TextBlocks, blocks: Sequence[int], raised: int, rows: Sequence[int]
) -> Iterator[str]:
    """Yield the lines of a passage: one for each block, but one for all cells of a
    row, which *rows* has for each element.
    """
    elements = outline.block_elements
    element = elements[blocks[0]]
    level = LEVELS.get(outline.names[element])
    if len(blocks) == 1 and level:
        if _is_in_footer(outline, element):
            level -= raised
        yield f"{'#' * level} {outline.block_texts[blocks[0]]}"
        return
    for row, members in groupby(blocks, lambda block: rows[elements[block]]):
        texts: list[str] = []
        for block in members:
            texts.append(outline.block_texts[block])
            texts += outline.choices.get(block, ())
        if row:
            yield " | ".join(texts)
        else:
            yield from texts


def _is_in_page_footer(outline: TextBlocks, element: int) -> bool:
    """Return whether an element is in the footer of the page, not in that of an article
    or of a card in it.
    """
    return outline.around[element] & _PARTS == _FOOTER


def _is_in_footer(outline: TextBlocks, element: int) -> bool:
    return outline.around[element] & TELLING_TAGS["footer"] > 0
