"""Keep together what belongs together, whatever the model thinks of its parts: a list,
a row, a heading and its text, a control and what it opens, code and what announces it.
"""

from __future__ import annotations
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, compress, count
from operator import gt

from .._element import LEVELS
from .hidden import near
from .text_blocks import Blocks, Control, TextBlocks

LONG = 100  # characters: pages repeat a text this long for wide and for narrow screens
_CELLS = frozenset({"td", "th"})
_DIVISIONS = frozenset({"div", "section"})
_MAX_LEVELS = 8  # from a text to the part of the page that is a copy
_MAX_NESTED = 8  # items around a text, each in the other
_MIN_COPIED = 3  # blocks
_MIN_ACTION = 2  # words of a button besides what it names
_MIN_NAME = 8  # characters of what it names
_MAX_BEFORE = 12  # texts between both
_MIN_PANELS = 2  # of an accordion
_MIN_COPIES = 3  # of a text that stands on each card, or in each row
_MIN_COPY_LENGTH = 40  # characters
VERBATIM = _CELLS | {"pre", "code"}  # where repetition is legitimate
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_ANNOUNCES = (":", "：")  # noqa: RUF001 - at the end of a text before code
_FILE_NAME = re.compile(r"(?:[\w.-]{1,60}/){0,10}[\w.-]{1,60}\.[A-Za-z]\w{0,5}")
_MAX_ABOVE_CODE = 4  # texts from the name of a file to its code
_MAX_BETWEEN = 6  # short texts between kept text and code: labels, names of files
_MAX_ITEM_LENGTH = 1_000  # characters: longer ones are posts
_MAX_SECTION_LENGTH = 600  # characters below a heading
_MAX_ROW_LENGTH = 400  # characters of a row with several blocks in a cell
_SHORT = 60  # characters of such a text


def keep_code(outline: TextBlocks, content: Blocks) -> Blocks:
    """Keep code between two kept blocks, and code that the text before it announces.

    What else stands between them may be other code, and a few words such as the labels
    of tabs.
    """
    if "pre" not in outline.names:
        return content
    whole = content.copy()
    codes: list[int] = []  # since the last kept block
    between = _MAX_BETWEEN + 1  # other texts since then
    before = ""  # the text before, if it is kept
    for block, text in enumerate(outline.block_texts):
        is_code = outline.block_names[block] == "pre"
        if is_code and before.endswith(_ANNOUNCES):
            whole.add(block)
        before = ""
        if block in whole:
            before = text
            whole.update(codes)
            codes = []
            between = 0
            continue
        if is_code and between <= _MAX_BETWEEN:
            codes.append(block)
            continue
        step = 1 if len(text) <= _SHORT else _MAX_BETWEEN + 1
        between += step
        if between > _MAX_BETWEEN:
            codes = []
    _keep_names(outline, whole)
    return whole


def _keep_names(outline: TextBlocks, content: Blocks) -> None:
    """Keep the name of a file right above its code, whatever button is between."""
    name = -_MAX_ABOVE_CODE
    for block, text in enumerate(outline.block_texts):
        if outline.block_names[block] != "pre":
            if _FILE_NAME.fullmatch(text):
                name = block
        elif block in content and block - name < _MAX_ABOVE_CODE:
            content.add(name)


def keep_labels(outline: TextBlocks, content: Blocks) -> Blocks:
    """Keep the label of a control if something of what it opens is kept, and only
    then.
    """
    if not outline.controls:
        return content
    labels = outline.holders(control.label for control in outline.controls)
    panels = outline.holders(control.panel for control in outline.controls)
    opened: set[int] = set()  # panels with content
    for block in content:
        element = outline.block_elements[block]
        if labels[element]:
            continue
        panel = panels[element]
        while panel and panel not in opened:
            opened.add(panel)
            panel = panels[outline.parents[panel]]
    is_open = {control.label: control.panel in opened for control in outline.controls}
    by_block = {
        block: labels[element]
        for block, element in zip(outline.run_blocks, outline.run_elements, strict=True)
        if labels[element]
    }
    open_labels = {block for block, label in by_block.items() if is_open[label]}
    return content - by_block.keys() | open_labels


def keep_sources(outline: TextBlocks, content: Blocks) -> Blocks:
    """Keep who said what a quotation quotes: a footer in it is not that of the page."""
    if "blockquote" not in outline.names:
        return content
    quotations = outline.by_block(outline.inside("blockquote"))
    begun = {quotations[block] for block in content} - {0}
    footers = outline.by_block(outline.inside("footer"))
    sources = set(compress(count(), map(gt, footers, quotations)))
    return content | {block for block in sources if quotations[block] in begun}


def whole_panels(outline: TextBlocks, content: Blocks) -> Blocks:
    """Keep what all headers of an accordion open if a third of that is kept.

    A single answer of several is incomplete. Tabs are different: one may describe a
    thing, and the next may have reviews of it.
    """
    panels = [control.panel for control in outline.controls if _folds(outline, control)]
    if len(panels) < _MIN_PANELS:
        return content
    blocks: defaultdict[int, Blocks] = defaultdict(set)  # of each panel
    for block, panel in enumerate(outline.by_block(outline.holders(panels))):
        blocks[panel].add(block)
    around = {panel: near(panel, outline.parents) for panel in panels}
    times = Counter(chain.from_iterable(around.values()))
    accordions: defaultdict[int, list[Blocks]] = defaultdict(list)
    for panel in panels:
        shared = (holder for holder in around[panel] if times[holder] > 1)
        accordions[next(shared, 0)].append(blocks[panel])
    accordions.pop(0, None)
    whole = content.copy()
    for parts in accordions.values():
        inner = set[int]().union(*parts)
        if 3 * _measure(outline, inner & content) < _measure(outline, inner):
            continue
        for part in parts:
            if content.isdisjoint(part):
                whole |= part
    return whole


def _folds(outline: TextBlocks, control: Control) -> bool:
    """Return whether a control is the header of a part that folds, not a tab."""
    if outline.names[control.label] == "summary":
        return True
    return "aria-expanded" in outline.attributes[control.label]


def whole_lists(outline: TextBlocks, content: Blocks) -> Blocks:
    """Keep all items of a list or none: those that have most of its text decide.

    Of an item that is kept, some blocks may be left out, such as a button.
    """
    if "li" not in outline.names:
        return content
    items = outline.inside("li")
    blocks: defaultdict[int, Blocks] = defaultdict(set)  # of each item
    innermost = outline.by_block(items)
    for block in compress(count(), innermost):
        item = innermost[block]
        for _ in range(_MAX_NESTED):
            if not item:
                break
            blocks[item].add(block)
            item = items[outline.parents[item]]
    lists: defaultdict[int, list[Blocks]] = defaultdict(list)
    for item, inner in blocks.items():
        lists[outline.parents[item]].append(inner)
    whole = content.copy()
    for holder in sorted(lists, reverse=True):  # inner lists first
        _decide_list(outline, lists[holder], content, whole)
    return whole


def _decide_list(
    outline: TextBlocks, items: list[Blocks], content: Blocks, whole: Blocks
) -> None:
    """Keep or drop those items of a list of which nothing is kept, or all of it.

    Those with most of the text decide. Long items, such as posts, may have answers
    inside: what was kept of them to begin with counts, and half of them decide, too.
    """
    is_item = [not whole.isdisjoint(item) for item in items]
    if all(is_item) or not any(is_item):
        return
    sizes = [_measure(outline, item) for item in items]
    size = sum(compress(sizes, is_item))
    is_half = False
    if max(sizes) > _MAX_ITEM_LENGTH:
        size = sum(_measure(outline, item & content) for item in items)
        is_half = 2 * sum(map(content.isdisjoint, items)) <= len(items)
    if not is_half and 2 * size < sum(sizes):
        whole.difference_update(*items)
        return
    is_menu = _find_menus(outline, items, is_item)
    for item, stays, menu in zip(items, is_item, is_menu, strict=True):
        if not stays and not menu:
            whole.update(item)


def _find_menus(
    outline: TextBlocks, items: list[Blocks], is_item: list[bool]
) -> list[bool]:
    """Return which items are links beside a long one that is text, such as what others
    read, beside an article: a list may be the columns of a page.
    """
    sizes = [_measure(outline, item) for item in items]
    linked = [sum(map(outline.block_linked.__getitem__, item)) for item in items]
    is_text = 2 * sum(compress(linked, is_item)) < sum(compress(sizes, is_item))
    if not is_text or max(compress(sizes, is_item)) <= _MAX_ITEM_LENGTH:
        return [False] * len(items)
    return [2 * links >= size for links, size in zip(linked, sizes, strict=True)]


def _measure(outline: TextBlocks, blocks: Iterable[int]) -> int:
    """Return the characters of some blocks, without code."""
    names = outline.block_names
    return outline.length(block for block in blocks if names[block] != "pre")


def fill_headings(outline: TextBlocks, content: Blocks) -> Blocks:
    """Keep a little text below a heading of which nothing else is kept, or drop the
    heading.

    Text that stands in three places is that of buttons and cards: a heading over little
    else goes, too.
    """
    whole = content.copy()
    times: Counter[str] | None = None
    for heading, section in _find_bare(outline, whole):
        size = outline.length(section)
        linked = sum(outline.block_linked[block] for block in section)
        whole.discard(heading)
        if size > _MAX_SECTION_LENGTH or 2 * linked >= size:
            continue
        times = times or Counter(outline.block_texts)
        texts = [outline.block_texts[block] for block in section]
        repeated = [text for text in texts if times[text] >= _MIN_COPIES]
        if 2 * sum(map(len, repeated)) >= size:
            continue
        whole.add(heading)
        names = outline.block_names
        whole.update(block for block in section if names[block] != "button")
    return whole


def drop_headings(outline: TextBlocks, content: Blocks) -> Blocks:
    """Drop the headings over text of which nothing is kept."""
    whole = content.copy()
    for heading, _ in _find_bare(outline, whole):
        whole.discard(heading)
    return whole


def _find_bare(outline: TextBlocks, content: Blocks) -> Iterator[tuple[int, range]]:
    """Yield the kept headings over text of which nothing is kept, the inner ones first,
    and the blocks of that text.

    A heading that is a link, such as a headline, says enough alone; so does one over
    nothing, and the headline of the page.
    """
    ends = [len(outline.block_texts)] * (len(LEVELS) + 1)  # of a section at each level
    headings = compress(count(), map(LEVELS.__contains__, outline.block_names))
    for block in reversed([*headings]):
        level = LEVELS[outline.block_names[block]]
        section = range(block + 1, ends[level])
        ends[level:] = [block] * (len(ends) - level)
        if level == 1 or block not in content:
            continue
        is_link = outline.block_linked[block] >= len(outline.block_texts[block])
        is_bare = len(section) > 0 and content.isdisjoint(section)
        if is_bare and not is_link:
            yield block, section


def whole_rows(outline: TextBlocks, content: Blocks) -> Blocks:
    """Keep all cells of a row or none: without one cell, the others mean something
    else.

    A cell of several blocks may contain more than data: such a row counts only if it
    is short.
    """
    if "tr" not in outline.names:
        return content
    holders = outline.inside("tr")
    rows = outline.by_block(holders)
    sizes = Counter(rows)
    for row, text in zip(rows, outline.block_texts, strict=True):
        sizes[row] += len(text)
    mixed: set[int] = set()
    for row, element in zip(rows, outline.block_elements, strict=True):
        is_long = sizes[row] > _MAX_ROW_LENGTH
        if is_long and outline.names[element] not in _CELLS:
            mixed.add(row)
    begun = {rows[block] for block in content} - mixed - {0}
    inner = {block for block, row in enumerate(rows) if row in begun}
    return content | inner - _find_actions(outline, inner, len(begun))


def _find_actions(outline: TextBlocks, inner: Blocks, rows: int) -> Blocks:
    """Return the buttons in so many rows, and what beside them half of the rows say."""
    if "button" not in outline.block_names:
        return set()
    cells = outline.by_block(outline.inside(*_CELLS))
    buttons = {block for block in inner if outline.block_names[block] == "button"}
    holders = {cells[block] for block in buttons}
    beside = [block for block in inner if cells[block] in holders]
    times = Counter(outline.block_texts[block] for block in beside)
    often = max(_MIN_COPIES, rows / 2)
    alike = {block for block in beside if times[outline.block_texts[block]] >= often}
    return buttons | alike


def drop_repeats(outline: TextBlocks, content: Blocks) -> Blocks:
    """Keep a long text, or a list, only where it occurs first, and next to that.

    What a post quotes is the text of another one in its list.
    """
    long = [text for text in outline.block_texts if len(text) >= LONG]
    if len(set(long)) == len(long):
        return content
    lists = outline.inside(*_LISTS)
    holders = outline.by_block(lists)
    posts = _find_posts(outline, holders)
    list_texts = _join_texts(outline, holders)
    # the parent of the element in which each text occurs first
    first: dict[str, int] = {}
    posted: dict[tuple[int, str], int] = {}  # the same, in each list of posts
    once: Blocks = set()
    for block in sorted(content):
        holder = holders[block]
        element = outline.block_elements[block]
        text = outline.block_texts[block]
        parent = outline.parents[element]
        is_verbatim = outline.names[element] in VERBATIM
        is_prose = len(text) >= LONG and not is_verbatim
        is_first = True
        if is_prose and holder in posts:
            is_first = posted.setdefault((holder, text), parent) == parent
        if holder:
            text = list_texts[holder]
            parent = outline.parents[holder]
        if is_first and first.get(text, parent) == parent:
            once.add(block)
        if len(text) >= LONG and not is_verbatim:
            first.setdefault(text, parent)
    return once


def _join_texts(outline: TextBlocks, holders: list[int]) -> dict[int, str]:
    """Return the whole text of each of some holders, which the blocks are in."""
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for text, holder in zip(outline.block_texts, holders, strict=True):
        texts[holder].append(text)
    return {holder: "\n".join(parts) for holder, parts in texts.items()}


def _find_posts(outline: TextBlocks, holders: list[int]) -> set[int]:
    """Return the lists of which an item is as long as a post."""
    items = outline.by_block(outline.inside("li"))
    lengths: Counter[int] = Counter()
    for item, text in zip(items, outline.block_texts, strict=True):
        lengths[item] += len(text)
    return {
        holder
        for holder, item in zip(holders, items, strict=True)
        if lengths[item] > _MAX_ITEM_LENGTH
    }


def drop_copies(outline: TextBlocks, content: Blocks) -> Blocks:
    """Leave out a part of the page that only says again what the part before it says,
    such as the rows of a table as cards for narrow screens. Its buttons may differ.
    """
    kept_texts = {outline.block_texts[block] for block in content}
    if len(content) - len(kept_texts) < _MIN_COPIED:
        return content
    parts = _find_parts(outline, content)
    once = content.copy()
    for part, members in parts.items():
        beside = outline.ends[part]
        copies = parts.get(beside, set())
        if len(copies) < _MIN_COPIED:
            continue
        if outline.parents[part] != outline.parents[beside]:
            continue
        texts = [
            outline.block_texts[block]
            for block in copies
            if outline.block_names[block] != "button"
        ]
        before = {outline.block_texts[block] for block in members}
        if sum(map(len, texts)) >= _MIN_COPY_LENGTH and before.issuperset(texts):
            once -= copies
    return once


def drop_actions(outline: TextBlocks, content: Blocks) -> Blocks:
    """Leave out buttons that do something with what a text before them names, such as
    "Save this event: Low tide".
    """
    if "button" not in outline.block_names:
        return content
    rest: Blocks = set()
    for block in content:
        before = outline.block_texts[max(0, block - _MAX_BEFORE) : block]
        is_button = outline.block_names[block] == "button"
        if not is_button or not _names_any(outline.block_texts[block], before):
            rest.add(block)
    return rest


def _names_any(button: str, texts: list[str]) -> bool:
    """Return whether a button has one of some texts, and says what it does with it."""
    for text in texts:
        if not _MIN_NAME <= len(text) < len(button) <= _MAX_SECTION_LENGTH:
            continue
        if text not in button:
            continue
        action = button.replace(text, " ", 1)
        if len(action.split()) >= _MIN_ACTION:
            return True
    return False


def _find_parts(outline: TextBlocks, content: Blocks) -> dict[int, Blocks]:
    """Return the divisions of the page with the kept blocks in them."""
    parts: defaultdict[int, Blocks] = defaultdict(set)
    for block in content:
        for around in outline.above(outline.block_elements[block], _MAX_LEVELS):
            if outline.names[around] in _DIVISIONS:
                parts[around].add(block)
    return parts
