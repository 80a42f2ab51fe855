"""Make Markdown of the lines of a PDF: paragraphs, without headers and footers."""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .layout import LEADERS, Leaf, Line

_FULL = 0.7  # of a full line: the line after a line this long may continue it
_MIN_FULL_LENGTH = 35  # characters: narrower text is a table or a list
_ITEM = re.compile(
    r"(?:[-*•◦▪‣·–—]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s|\d+(?:\.\d+)+\s"  # noqa: RUF001
)
_ENDED = re.compile(r"""[.!?:;…。！？]["'”’)\]]*$""")  # noqa: RUF001
_BROKEN = re.compile(r"(\w*[^\W\d_])[-\u00ad\u2010]$")
# possessive: linear for a page without spaces
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)+")
_MAX_WORD_LENGTH = 100  # characters: a longer word is not checked for hyphenation
_MIN_REPEATS = 3  # pages that share a header or footer
# of the height of a page, at its top and bottom, where headers and footers are
_MARGIN = 0.15
_MAX_FURNITURE = 3  # lines of a header or footer
_NUMBER = re.compile(r"(?<!\d)\d{1,5}(?!\d)")
_WORD = re.compile(r"[^\W\d_]+")
_PAGE_WORDS = frozenset(
    "page pages p pg of seite s von página pág pagina de di sida sidan side strona str "
    "z 第 页 頁 共".split()
)
# of a header with a page number: "Chapter 3" may be all that marks a chapter
_MIN_WORDS = 3


class _Form(NamedTuple):
    """What a line has in common with those of other pages.

    And whether it is but a page number, or the whole line.
    """

    text: str
    is_number: bool
    is_whole: bool = False

    @property
    def is_certain(self) -> bool:
        return self.is_number or self.is_whole


def find_compounds(leaves: Sequence[Leaf]) -> set[str]:
    """Return the words that a text writes with a hyphen."""
    compounds: set[str] = set()
    for leaf in leaves:
        for line in leaf.lines:
            compounds.update(map(str.lower, _COMPOUND.findall(line.text)))
    return compounds


def strip_furniture(leaves: Sequence[Leaf]) -> int:
    """Remove page numbers, headers and footers, and return how many lines they are.

    Headers are lines in the margin of most pages, or of most left or right ones. The
    first copy of each stays, and so does the only line of a page.
    """
    forms = [_forms_of(leaf, number) for number, leaf in enumerate(leaves)]
    counts = _count_forms(forms)
    removed = 0
    seen: set[str] = set()
    for number, leaf in enumerate(leaves):
        dropped: set[int] = set()
        for place, forms_of_line in forms[number].items():
            form = _find_shared(forms_of_line, counts, number, len(leaves))
            is_last = len(dropped) + 1 >= len(leaf.lines)
            if form is None or is_last:
                continue
            if form.is_number or form.text in seen:
                dropped.add(place)
            seen.add(form.text)
        removed += len(dropped)
        for place in sorted(dropped, reverse=True):
            del leaf.lines[place]
    return removed


def _forms_of(leaf: Leaf, number: int) -> dict[int, list[_Form]]:
    """Return the forms of each line in the margin of a page, by its place."""
    forms: dict[int, list[_Form]] = {}
    for edge in _edges_of(leaf):
        for rank, place in enumerate(edge):
            forms_of_line = [*_list_forms(leaf.lines[place].text, number)]
            if rank > 0:  # text may begin here that only looks alike
                forms_of_line = [form for form in forms_of_line if form.is_certain]
            forms.setdefault(place, forms_of_line)
    return forms


def _edges_of(leaf: Leaf) -> Iterator[list[int]]:
    """Yield the places of the outermost lines in the upper and in the lower margin."""
    near = _MARGIN * (leaf.high - leaf.low)
    lines = leaf.lines
    places = [place for place, line in enumerate(lines) if not line.is_table]
    places.sort(key=lambda place: lines[place].y)
    low = [place for place in places if lines[place].y < leaf.low + near]
    high = [place for place in places if lines[place].y > leaf.high - near]
    yield high[: -_MAX_FURNITURE - 1 : -1]
    yield low[:_MAX_FURNITURE]


def _count_forms(
    forms: Sequence[Mapping[int, Sequence[_Form]]],
) -> Counter[tuple[str, int]]:
    """Count the left and the right pages that have each form."""
    counts = Counter[tuple[str, int]]()
    for number, by_place in enumerate(forms):
        texts: set[str] = set()
        for forms_of_line in by_place.values():
            texts.update(form.text for form in forms_of_line)
        counts.update((text, number % 2) for text in texts)
    return counts


def _find_shared(
    forms: Sequence[_Form], counts: Counter[tuple[str, int]], number: int, pages: int
) -> _Form | None:
    """Return the form of a line that enough pages share."""
    for form in forms:
        here = counts[form.text, number % 2]
        other = counts[form.text, 1 - number % 2]
        enough = pages / 2
        if form.is_number:
            enough = pages / 5
        # by most pages on this side
        if here >= _MIN_REPEATS and here > pages / 4:
            return form
        if here + other >= max(_MIN_REPEATS, enough):
            return form
    return None


def _list_forms(line: str, page: int) -> Iterator[_Form]:
    line = line.lower()
    words = _WORD.findall(line)
    is_number = _PAGE_WORDS.issuperset(words)
    numbers = list(_NUMBER.finditer(line))
    is_telling = is_number or len(words) >= _MIN_WORDS
    if numbers and is_telling:
        for number in {numbers[0], numbers[-1]}:
            offset = int(number[0]) - page
            text = f"{line[: number.start()]}#{offset}{line[number.end() :]}"
            yield _Form(text, is_number)
    yield _Form(line, is_number=False, is_whole=True)


def fold_title(title: str) -> str:
    """Reduce a title to its letters.

    The page may write it with a number, or in another case and spacing.
    """
    return re.sub(r"[\W\d_]+", "", title).casefold()


def write_paragraphs(
    lines: Sequence[Line], compounds: set[str], titles: Mapping[str, int]
) -> str:
    """Join the lines of each paragraph, and turn titles into headings.

    The lines of what may be a list, table or code stay.
    """
    if not lines:
        return ""
    full = _find_full_length(lines)
    out: list[str] = []
    before = ""  # the line that this one may continue
    joined = False  # whether that was added to a line before it
    for line in lines:
        text = line.text
        heading = _find_heading(line, titles)
        if heading or line.is_table:
            out.append(f"\n\n{heading}{text}\n")
            before = ""
            joined = False
        elif before and _goes_on(before, line, full):
            # a short line was not broken for lack of room: it ends in its own hyphen
            words = compounds if len(before) >= full else None
            out[-1], more = _join(out[-1], text, words)
            out.append(more)
            before = text
            joined = True
        else:
            ends = line.is_new or joined  # with a blank line, as a paragraph does
            if ends and not _ITEM.match(text):
                out.append("\n")
            out.append(f"\n{text}")
            before = text
            joined = False
    written = re.sub(r"\n{3,}", "\n\n", "".join(out))
    return LEADERS.sub(" …", written).strip()


def _find_full_length(lines: Sequence[Line]) -> float:
    """Return how many characters a line has that was broken for lack of room."""
    lengths = sorted(len(line.text) for line in lines if not line.is_table)
    if not lengths:
        return _MIN_FULL_LENGTH
    longest = lengths[len(lengths) * 9 // 10]
    return max(_MIN_FULL_LENGTH, _FULL * longest)


def _find_heading(line: Line, titles: Mapping[str, int]) -> str:
    """Return the signs before a line that is a title, empty for any other."""
    if line.is_table or LEADERS.search(line.text):
        return ""
    depth = titles.get(fold_title(line.text), 0)
    if not depth:
        return ""
    return "#" * min(6, 2 + depth) + " "


def _goes_on(before: str, line: Line, full: float) -> bool:
    """Return whether a line continues the paragraph of the one before."""
    text = line.text
    if _ITEM.match(text) or LEADERS.search(f"{before}\n{text}"):
        return False
    if line.is_new:
        return False
    if _BROKEN.search(before[-_MAX_WORD_LENGTH:]) and text[:1].islower():
        return True
    if len(before) < full or before[-1] in "{}=|>":
        return False
    if not _is_prose(before) or not _is_prose(text):
        return False
    if text[:1].islower() or not _ENDED.search(before):
        return True
    return len(before) > 1.15 * full


def _is_prose(line: str) -> bool:
    letters = sum(sign.isalpha() or sign == " " for sign in line)
    return letters > 0.75 * len(line)


def _join(text: str, line: str, compounds: set[str] | None) -> tuple[str, str]:
    """Return both lines so that they can be concatenated.

    ``iden-`` and ``tifier`` become one word; ``command-`` and ``line`` keep the hyphen
    if the text has that elsewhere, or if *compounds* is None.
    """
    first = line.partition(" ")[0].rstrip(".,;:!?)")
    broken = _BROKEN.search(text[-_MAX_WORD_LENGTH:])
    if broken and first[:1].islower():
        whole_word = f"{broken[1]}-{first}".lower()
        if compounds is not None and whole_word not in compounds:
            text = text[:-1]
        return text, line
    if text[-1:] >= "\u2e80" and line[:1] >= "\u2e80":
        return text, line
    return text, f" {line}"
