"""Build a light tree of the kept content for the Markdown writer.

Its depth is bounded: each level costs the writer a copy of all the text inside.
"""

from __future__ import annotations
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, compress, islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from ..._text.invisible import sub_in_chunks
from .._element import BLANKS, BLOCKS, HEADINGS, Attributes, Element
from .icons import find_struck, name_icon

if TYPE_CHECKING:
    from .text_blocks import Blocks, TextBlocks

# levels: deeper elements without a meaning in Markdown dissolve into their parents
DEEP = 80
MAX_DEPTH = 100  # levels: all deeper elements dissolve
_MAX_LEVELS = 4  # from an item to the checkbox of its task
_MAX_CELLS = 5  # of a row with code, white space included
_MIN_LINES = 3  # in each cell of a row
_MAX_LINE_LENGTH = 60  # characters of one
_DIGIT = re.compile(r"\d")
_MAX_NUMBERS = 5_000  # elements with the numbers of lines
_MIN_CELLS = 2  # of a row of code: its numbers and itself
_INDENTS = frozenset({"ul", "ol", "blockquote", "dl", "menu", "dir"})
_MAX_INDENTS = 12  # nested lists and quotations: each indents all lines inside

# elements that get their meaning from a role
_NEUTRAL = frozenset({"div", "p", "span"})
_LEVEL = re.compile("[1-6]")
# in these a label names what comes after it
_NAMING = HEADINGS | {"caption", "dt", "figcaption", "legend", "summary", "td", "th"}
# where a picture may be the whole answer
_CELLS = frozenset({"td", "th", "dd"})
_ROWS = frozenset({"table", "tbody", "thead", "tfoot", "tr", "ul", "ol", "dl", "menu"})
# characters: a longer text is not a heading, whatever its role
_MAX_HEADING_LENGTH = 200
_MAX_HEADING_ELEMENTS = 30
_WRAPPERS = frozenset(
    "div span section article main font center b i u em strong small form fieldset "
    "figure".split()
)


class BuiltTree(NamedTuple):
    """The tree, and whether elements were dissolved because they were nested too
    deeply.
    """

    body: Element
    flattened: bool
    elements: Collection[Element]


# Measured: one pass over the stream of a page, whose numbers are elements as they open
# and runs of text, n and ~n:
#
#   stream    0  1  ~0  2  ~1      of <body><p>a <b>c
#   run             0      1       the latest run; its text goes to ``built[element]``
#   stays          True   False    for each run: whether its block is content
#   alive     1  1      0          for each element: whether it holds such text
#   depths    0  1      2          in the tree, where dissolved elements do not count
def build_tree(  # noqa: C901, PLR0912 - see above
    outline: TextBlocks, kept: Blocks | None = None, *, linked: bool = True
) -> BuiltTree:
    """Build the tree of the *kept* blocks, by default of all; unless *linked*, without
    the text of links.

    An element without text (a picture, a rule, an empty cell) is kept or dropped with
    the nearest text: the one, before or after it, with which it shares the smallest
    element. If both are equally near, it is kept only if both are.
    """
    names = outline.names
    parents = outline.parents
    all_attributes = outline.attributes
    # both ends of the page belong to the body
    run_elements = [*outline.run_elements, 0]
    stays = [kept is None or block in kept for block in outline.run_blocks]
    if not linked:
        stays = [
            stay and not outline.is_linked(element)
            for stay, element in zip(stays, run_elements, strict=False)
        ]
    # 1 for elements that contain kept text
    alive = outline.around_all(compress(run_elements, stays))
    # for what follows the last run, and, as index -1, what precedes the first
    stays.append(kept is None or len(kept) == len(outline.block_texts))

    body = Element("body", {}, None)
    # by number; a dissolved element maps to its parent
    built: dict[int, Element] = {0: body}
    depths = [0] * len(names)  # in the tree
    indents = [0] * len(names)
    verbatim: set[int] = set()  # those in which white space is not collapsed
    may_be_headings: list[Element] = []
    codes: list[Element] = []
    cells: list[Element] = []  # without text
    rows: dict[int, None] = {}  # with cells of several lines, each once
    flattened = False
    run = -1  # the latest run
    for number in outline.stream:
        if number < 0:
            run = ~number
            if stays[run]:
                text = outline.run_texts[run]
                within = run_elements[run]
                # else only single spaces
                if ("  " in text or not text.isprintable()) and within not in verbatim:
                    text = sub_in_chunks(BLANKS, " ", text)
                built[within].children.append(text)
            continue
        name = names[number]
        above = parents[number]
        attributes = all_attributes[number]
        if not alive[number]:
            stay = stays[run]
            other = stays[run + 1]
            if stay is not other:
                before, after = (
                    _common_ancestor(number, run_elements[near], parents)
                    for near in (run, run + 1)
                )
                stay = before > after if stay else after > before
            if not stay or (
                name == "input"
                and not (_is_task(attributes) and _is_in_item(names, parents, above))
            ):
                if name == "li":
                    _leave_number(built.get(above), attributes.get("value"))
                elif name == "input" and above in built:
                    built[above].children.append(" ")  # it stands between two words
                continue
            # An input has children only in a formula.
            if above not in built or (not linked and outline.is_linked(number)):
                continue
        parent = built[above]
        depth = depths[above]
        indent = indents[above]
        if (depth >= DEEP or indent >= _MAX_INDENTS) and _dissolves(
            name, depth, indent
        ):
            flattened = True
            element = parent
            parent.children.append(" ")
        else:
            element = Element(name, attributes, parent)
            parent.children.append(element)
            depth += 1
            indent += name in _INDENTS
            if attributes and name in _NEUTRAL and attributes.get("role") == "heading":
                may_be_headings.append(element)
        built[number] = element
        depths[number] = depth
        indents[number] = indent
        if name == "br" and names[above] in _CELLS:
            rows[parents[above]] = None
        if element.name == "pre" or above in verbatim:
            verbatim.add(number)
        if element.name == "pre" and above not in verbatim:
            codes.append(element)
        elif name in _CELLS and not alive[number]:
            cells.append(element)
    for element in filter(_is_line, may_be_headings):
        level = element.get("aria-level")
        # the level that browsers assume
        element.name = f"h{level}" if _LEVEL.fullmatch(level) else "h2"
    rows_of_code: set[Element] = set()
    for code in codes:
        _drop_head_of_code(code)
        _drop_numbers(code, rows_of_code)
    for cell in cells:
        _name_icon(cell)
    for number in rows:
        if number in built and names[number] == "tr":
            _split_row(built[number])
    for number in find_struck(outline):
        if number in built:
            _strike(built[number])
    for control in outline.controls:
        if control.label in built and control.panel in built:
            _name_panel(built[control.label], built[control.panel])
    return BuiltTree(body, flattened, built.values())


def _drop_head_of_code(block: Element) -> None:
    """Leave out of a block of code what stands around its only code, such as a language
    and "Copy".
    """
    for part in block.children:
        if isinstance(part, str) and part.strip():
            return
    codes = [element for element in block.elements() if element.name == "code"]
    codes = [code for code in codes if code.text()]
    if len(codes) != 1:
        return
    code = codes[0]
    is_inner = code.parent is not block
    if is_inner or 2 * len(code.text()) > len(block.text()):
        block.children = [code]


def _drop_numbers(code: Element, rows: set[Element]) -> None:
    """Leave out the numbers of the lines of code, in the cell before it; *rows* are
    those in which that was looked for.
    """
    around = islice(_ancestors(code), _MAX_LEVELS)
    cell = next((element for element in around if element.name == "td"), None)
    row = None if cell is None else cell.parent
    if row is None or len(row.children) > _MAX_CELLS:
        return
    cells = [child for child in row.children if isinstance(child, Element)]
    if len(cells) != _MIN_CELLS or cells[1] is not cell:
        return
    if row in rows:
        return
    rows.add(row)
    if len([*islice(cells[0].elements(), _MAX_NUMBERS)]) == _MAX_NUMBERS:
        return
    numbers = cells[0].text().split()
    if numbers and numbers == [*map(str, range(1, len(numbers) + 1))]:
        cells[0].children = []


def _split_row(row: Element) -> None:
    """Make rows of one whose cells have as many lines each, such as of names and of
    their prices.
    """
    cells = [child for child in row.children if isinstance(child, Element)]
    holder = row.parent
    if holder is None or {cell.name for cell in cells} != {"td"}:
        return
    if len(cells) < _MIN_CELLS or not all(map(_is_line, cells)):
        return
    columns = [_split_lines(cell) for cell in cells]
    if not _are_columns(columns):
        return
    rows: list[Element | str] = []
    for lines in zip(*columns, strict=True):
        part = Element("tr", row.attributes, holder)
        rows.append(part)
        for cell, line in zip(cells, lines, strict=True):
            own = Element("td", cell.attributes, part)
            own.children = line
            part.children.append(own)
    place = holder.children.index(row)
    holder.children[place : place + 1] = rows


def _are_columns(columns: list[list[list[Element | str]]]) -> bool:
    """Return whether the lines of some cells belong together: as many short ones in
    each, and a column of numbers. Others are breaks within a text.
    """
    heights = {len(lines) for lines in columns}
    if len(heights) != 1 or min(heights) < _MIN_LINES:
        return False
    texts = [[*map(_join, lines)] for lines in columns]
    if max(map(len, chain.from_iterable(texts))) > _MAX_LINE_LENGTH:
        return False
    numbers = [sum(map(bool, map(_DIGIT.search, lines))) for lines in texts]
    return max(numbers) >= min(heights) - 1


def _split_lines(cell: Element) -> list[list[Element | str]]:
    """Return the lines of a cell, parted by breaks."""
    lines: list[list[Element | str]] = [[]]
    for child in cell.children:
        if isinstance(child, Element) and child.name == "br":
            lines.append([])
        else:
            lines[-1].append(child)
    return [line for line in lines if _join(line).strip()]


def _join(line: Iterable[Element | str]) -> str:
    """Return the text of a line."""
    text = ""
    for part in line:
        if isinstance(part, str):
            text += part
        else:
            text += part.text()
    return text


def _name_icon(cell: Element) -> None:
    """Write in a cell that has nothing but a picture what the picture shows."""
    elements = [*cell.elements()]
    if any(element.name == "a" for element in elements):
        return
    names = [*filter(None, (name_icon(icon.attributes) for icon in elements[1:]))]
    if names:
        cell.children = [names[0]]


def _strike(element: Element) -> None:
    """Cross out the text of an element, unless it has blocks."""
    if element.name == "body" or not _is_line(element):
        return
    inner = Element("del", {}, element)
    inner.children = element.children
    for child in inner.elements():
        if child.parent is element and child is not inner:
            child.parent = inner
    element.children = [inner]


def _name_panel(label: Element, panel: Element) -> None:
    """Move the words of a control right before what it opens, in bold type, unless they
    name it where they stand: in a heading, a summary or a term.
    """
    holder = panel.parent
    is_item = panel.name == "li" and holder is not None
    if is_item and holder not in [*_ancestors(label)]:
        holder = panel
    if holder is None or holder.name in _ROWS:
        return
    around = [label, *takewhile(lambda outer: outer is not holder, _ancestors(label))]
    if any(element.name in _NAMING for element in around):
        return
    if any(inner.name in HEADINGS for inner in label.elements()):
        return
    if panel in _ancestors(label) or label in _ancestors(panel):
        return
    # what is nested too deeply may be both, and is gone then
    if holder is not panel and panel not in holder.children:
        return
    line = Element("p", {}, holder)
    bold = Element("strong", {}, line)
    line.children.append(bold)
    bold.children = [" ".join(label.text().split())]
    label.children = []
    place = 0 if holder is panel else holder.children.index(panel)
    holder.children.insert(place, line)
    _remove_empty(label)


def _ancestors(element: Element) -> Iterator[Element]:
    around = element.parent
    while around is not None:
        yield around
        around = around.parent


def _has_text(element: Element) -> bool:
    waiting = [iter(element.children)]
    while waiting:
        part = next(waiting[-1], None)
        if part is None:
            waiting.pop()
        elif isinstance(part, Element):
            waiting.append(iter(part.children))
        elif not part.isspace():
            return True
    return False


def _remove_empty(element: Element) -> None:
    """Remove an element, and those around it that have nothing else."""
    around = element.parent
    while around is not None:
        around.children.remove(element)
        if around.name == "body" or _has_text(around):
            return
        element = around
        around = around.parent


def _leave_number(holder: Element | None, value: str | None) -> None:
    """Leave an empty item in an ordered list for one that is dropped, so that the items
    after it keep their numbers.
    """
    if holder is not None and holder.name == "ol":
        holder.children.append(Element("li", {"value": value}, holder))


def _is_line(element: Element) -> bool:
    """Return whether an element is a short text without blocks."""
    waiting = [element]
    length = 0
    for inner in waiting:  # grows during the loop
        for child in inner.children:
            if isinstance(child, str):
                length += len(child)
            elif child.name in BLOCKS:
                return False
            else:
                waiting.append(child)
            if length > _MAX_HEADING_LENGTH or len(waiting) > _MAX_HEADING_ELEMENTS:
                return False
    return True


def _common_ancestor(element: int, other: int, parents: Sequence[int]) -> int:
    """Return the smallest element that contains both; of two nested elements, the inner
    one has the higher number.
    """
    while element != other:
        if element > other:
            element = parents[element]
        else:
            other = parents[other]
    return element


def _is_task(attributes: Attributes) -> bool:
    """Return whether this is the checkbox of a task; one of a form has a name to
    submit.
    """
    return (attributes.get("type") or "").lower() == "checkbox" and not attributes.get(
        "name"
    )


def _is_in_item(names: Sequence[str], parents: Sequence[int], element: int) -> bool:
    """Return whether an element is an item, or begins one."""
    for _ in range(_MAX_LEVELS):
        if names[element] == "li":
            return True
        element = max(parents[element], 0)
    return False


def _dissolves(name: str, depth: int, indents: int) -> bool:
    """Return whether an element dissolves in a parent at such a *depth*, with so many
    *indents*.
    """
    if depth >= MAX_DEPTH:
        return True
    if depth >= DEEP and name in _WRAPPERS:
        return True
    return indents >= _MAX_INDENTS and name in _INDENTS
