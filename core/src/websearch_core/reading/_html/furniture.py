"""Remove from a page what belongs to its program, not to its text, before anything is
judged: links to edit a section, marks of notes that are written twice, notes that run
into a word, line breaks in scripts without spaces.
"""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from .._element import HEADINGS
from .icons import says_state
from .text_blocks import Blocks, TextBlocks

_MAX_LENGTH = 30  # characters of a link that stands beside each heading
_BRACKETS = re.compile(r"[\[\](){}|·\s]*")
_INLINE = frozenset({"a", "small", "span"})
_BESIDE = _INLINE | {"div"}
_MIN_WORDS = 3  # of a sentence beside the text
_MIN_WORDS_OF_ITEM = 2
_MIN_VALUE = 2  # characters: a single one may be a part of a word or a number
_CURRENCIES = frozenset("$€£")
_MAX_SPANS = 4  # around a text
_MARKING = frozenset({"class", "role"})
_ENDS = (".", "!", "?", "。")
_MAX_TAIL = 8  # texts at the end of a heading
_MAX_MARKS = 4  # times that the mark of a note is written
_MAX_RUNS = 60  # texts of a note in a line
_MIN_HEADINGS = 2
_MARK = re.compile(r"\s*(?:\d{1,3}|[a-z]|[*†‡§¶]{1,3})\s*")
# Of Chinese and Japanese, with their punctuation: lines are joined without a space.
_HAN = "\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6"
_FIRST_HAN = _HAN[0]
_BREAK = re.compile(f"(?<=[{_HAN}])[ \t]*[\n\r]\\s*(?=[{_HAN}])")
_MIN_WORD = 3  # characters before a value
_TYPES = frozenset({"b", "em", "i", "span", "strong"})
_VALUE = re.compile(
    r"[^\W\d_]{3,30}\x00\d(?:[\d.,:/-]{0,20}\d|(?= ))(?: ?(?:[^\W\d_]{1,10}|[€$£¥%°]))?"
)
_FACT = re.compile(
    r"[^\W\d_]{3,40}\x00\d[\d.,]{0,20}(?: ?(?:[^\W\d_]{1,10}|[€$£¥%°]))?"
    r"|[$€£]?\d[\d.,]{0,20}\x00[^\W\d_]{3,40}(?: [^\W\d_]{1,40}){0,3}"
    r"|\d{2,20}\x00\d{2,20}"
)
_BOXES = frozenset({"checkbox", "radio"})
_CODES = frozenset({"pre", "code"})


def blank_edits(outline: TextBlocks) -> None:
    """Remove the links behind headings that do something with them, such as "[edit]".

    They lead nowhere, or stand in brackets, or behind several headings.
    """
    lines = [line for line in _find_lines(outline) if line.tail]
    times = Counter(line.text for line in lines)
    for line in lines:
        is_repeated = line.is_apart and times[line.text] >= _MIN_HEADINGS
        if is_repeated or _is_tool(outline, line):
            for run in line.tail:
                outline.run_texts[run] = ""


class _Line(NamedTuple):
    """The end of a heading, or what stands beside one."""

    heading: int
    tail: list[int]  # runs that are links and what parts them; maybe none
    text: str  # of these
    is_apart: bool  # that text is in brackets, or the only one beside the heading


def _find_lines(outline: TextBlocks) -> Iterator[_Line]:
    """Yield the ends of headings, and what stands beside them, if they have links."""
    headings: dict[int, int] = {}  # by the element with the links
    for heading in dict.fromkeys(outline.block_elements):
        if outline.names[heading] in HEADINGS:
            for holder in {heading, _find_beside(outline, heading)} - {0}:
                if "a" in outline.names[holder : outline.ends[holder]]:
                    headings[holder] = heading
    if not headings:
        return
    runs = outline.runs_in(headings)
    for holder, heading in headings.items():
        tail = _find_tail(outline, runs[holder], is_whole=holder != heading)
        text = "".join(outline.run_texts[run] for run in tail).strip()
        is_only = holder != heading and _is_only_beside(outline, heading, holder)
        yield _Line(heading, tail, text, text[:1] == "[" or is_only)


def _find_beside(outline: TextBlocks, heading: int) -> int:
    """Return the element after a heading if it may be a part of its line; or itself."""
    beside = outline.ends[heading]
    if beside >= outline.ends[outline.parents[heading]]:
        return heading
    if outline.names[beside] not in _BESIDE:
        return heading
    return beside


def _is_only_beside(outline: TextBlocks, heading: int, beside: int) -> bool:
    """Return whether a heading and what is beside it are all of a line."""
    parent = outline.parents[heading]
    if heading != parent + 1 or outline.names[beside] not in _INLINE:
        return False
    return outline.ends[beside] == outline.ends[parent]


def _find_tail(outline: TextBlocks, runs: list[int], *, is_whole: bool) -> list[int]:
    """Return the last of some texts that are short links, and what parts them: not the
    first of a heading, and nothing unless they are the *whole*.
    """
    first = 0 if is_whole else 1
    begin = len(runs)
    has_link = False
    while begin > max(first, len(runs) - _MAX_TAIL):
        run = runs[begin - 1]
        text = outline.run_texts[run]
        if not _BRACKETS.fullmatch(text):
            is_linked = outline.is_linked(outline.run_elements[run])
            if not is_linked or len(text.strip()) > _MAX_LENGTH:
                break
            has_link = True
        begin -= 1
    if is_whole and begin > 0:
        return []
    if not has_link:
        return []
    return runs[begin:]


def _is_tool(outline: TextBlocks, line: _Line) -> bool:
    """Return whether links behind a heading lead nowhere, or stand in brackets of their
    own and lead to another page.
    """
    targets = {_find_target(outline, run) for run in line.tail} - {None}
    first = outline.run_elements[line.tail[0]]
    if targets == {"#"} and first >= outline.ends[line.heading]:
        return any(map(str.isalpha, line.text))
    if line.text[:1] != "[" or first == line.heading:
        return False
    return not any(target[:1] == "#" for target in targets if target)


def _find_target(outline: TextBlocks, run: int) -> str | None:
    """Return where a text leads, or None if it is not linked."""
    element = outline.run_elements[run]
    if not outline.is_linked(element):
        return None
    while outline.names[element] != "a":
        element = outline.parents[element]
    return outline.attributes[element].get("href")


def part_words(outline: TextBlocks) -> None:
    """Part texts from the word right before them that only style sheets keep apart."""
    texts = outline.run_texts
    in_code = outline.inside(*_CODES)
    for run, (before, element) in enumerate(pairwise(outline.run_elements), 1):
        if before == element:
            continue
        if texts[run - 1][-1:].isspace() or texts[run][:1].isspace():
            continue
        if in_code[element]:
            continue
        if any(is_apart(outline, run) for is_apart in _APART):
            texts[run] = f" {texts[run]}"


def _is_span_apart(outline: TextBlocks, run: int) -> bool:
    """Return whether a ``<span>`` is shown beside a text, or as an item in a row."""
    span = outline.run_elements[run]
    if outline.names[span] != "span":
        return False
    before, text = outline.run_texts[run - 1 : run + 1]
    last = before[-1:]
    if not last.islower() and not last.isdecimal():
        return False
    if not last.isdecimal() and not _begins_anew(text):
        return False
    return _is_item(outline, run) or _is_sentence(outline, run)


def _is_value(outline: TextBlocks, run: int) -> bool:
    """Return whether a text is a number, a yes or a no, right after a word that is set
    in another type, or that word is a yes or a no.
    """
    blocks = outline.run_blocks
    if blocks[run - 1] != blocks[run]:
        return False
    holders = outline.run_elements[run - 1 : run + 1]
    if _TYPES.isdisjoint(map(outline.names.__getitem__, holders)):
        return False
    before, text = outline.run_texts[run - 1 : run + 1]
    words = before[-_MAX_LENGTH:].split()
    if not words or len(words[-1]) < _MIN_WORD:
        return False
    marked = ["class" in outline.attributes[holder] for holder in holders]
    if marked[1] and says_state(text):
        return True
    if marked[0] and text[:1].isupper():
        return says_state(before.lstrip())
    is_number = text[:1].isdecimal()
    return is_number and _VALUE.fullmatch(f"{words[-1]}\0{text.strip()}") is not None


def _is_other_link(outline: TextBlocks, run: int) -> bool:
    """Return whether a link follows another one that leads to another page."""
    before, link = outline.run_elements[run - 1 : run + 1]
    if outline.names[before] != "a" or outline.names[link] != "a":
        return False
    targets = [outline.attributes[place].get("href") for place in (before, link)]
    if targets[0] == targets[1]:  # one word, linked twice
        return False
    if outline.parents[before] != outline.parents[link]:
        return False
    last, text = outline.run_texts[run - 1 : run + 1]
    return _ends_in_word(last) and text[:1].isalnum()


def _is_time_apart(outline: TextBlocks, run: int) -> bool:
    """Return whether a ``<time>`` begins or ends before a text: "Mar 7" and 19 comments
    are not "Mar 719".
    """
    times = outline.inside("time")
    before, element = outline.run_elements[run - 1 : run + 1]
    if times[before] == times[element]:
        return False
    last, text = outline.run_texts[run - 1 : run + 1]
    return _ends_in_word(last) and _begins_anew(text)


_APART = (_is_span_apart, _is_time_apart, _is_value, _is_other_link)


def _ends_in_word(text: str) -> bool:
    """Return whether a text ends in a word or a number, in a script with spaces."""
    last = text[-1:]
    return last.isalnum() and last < _FIRST_HAN


def _begins_anew(text: str) -> bool:
    """Return whether a text begins with a capital letter, a number or an amount."""
    first = text[1:2] if text[:1] in _CURRENCIES else text[:1]
    return first.isdecimal() or text[:1].isupper()


def _is_sentence(outline: TextBlocks, run: int) -> bool:
    """Return whether a ``<span>`` in the text before it is a sentence of its own."""
    span = outline.run_elements[run]
    is_inside = outline.run_elements[run - 1] == outline.parents[span]
    if not is_inside or not outline.run_texts[run - 1][-1:].islower():
        return False
    inside = range(span, outline.ends[span])
    near = outline.run_elements[run : run + _MAX_RUNS]
    length = len([*takewhile(inside.__contains__, near)])
    sentence = "".join(outline.run_texts[run : run + length])
    return sentence.endswith(_ENDS) and len(sentence.split()) >= _MIN_WORDS


def _is_item(outline: TextBlocks, run: int) -> bool:
    """Return whether a ``<span>`` follows another one, and each is several words, or
    they are a name and its value, or two numbers, in spans of their own kinds; or they
    are nothing but a word and a number, or two numbers of several digits.

    A letter or word of its own may be a part of a longer word.
    """
    before, span = _find_siblings(outline, run)
    if before == span:
        return False
    name, value = outline.run_texts[run - 1 : run + 1]
    if _FACT.fullmatch(f"{name.lstrip()}\0{value}"):
        return True
    is_number = value[:1].isdecimal() and ":" not in value[1:3]  # not a time
    is_long = min(len(name.split()), len(value.split())) >= _MIN_WORDS_OF_ITEM
    if is_long and not is_number:
        return True
    marks = [_MARKING & outline.attributes[part].keys() for part in (before, span)]
    if not any(marks) or min(len(name), len(value)) < _MIN_VALUE:
        return False
    if is_number or value[:1] in _CURRENCIES:
        return True
    return all(marks) and name.isalpha()


def _find_siblings(outline: TextBlocks, run: int) -> tuple[int, int]:
    """Return the outermost of the spans that end before a text, and of those that begin
    with it; the same one twice if they are not siblings.
    """
    before, span = outline.run_elements[run - 1 : run + 1]
    parents = outline.parents
    for _ in range(_MAX_SPANS):
        if outline.names[before] != "span" or outline.names[span] != "span":
            return span, span
        if parents[before] == parents[span]:
            return before, span
        if outline.ends[parents[before]] <= span:
            before = parents[before]
        else:
            span = parents[span]
    return span, span


def join_marks(outline: TextBlocks) -> None:
    """Write the mark of a note once, if it stands before the note and in it, and the
    note in brackets.
    """
    texts = outline.run_texts
    if "sup" not in outline.names:
        return
    for run, (element, other) in enumerate(pairwise(outline.run_elements)):
        is_mark = outline.names[element] == "sup" and texts[run] == texts[run + 1]
        if not is_mark or not _MARK.fullmatch(texts[run]):
            continue
        note = outline.parents[element]
        if outline.names[note] != "span" or other >= outline.ends[note]:
            continue
        first, last = _find_note(outline, note, run)
        if first < last < run + _MAX_RUNS:
            texts[run + 1 : first] = [""] * (first - run - 1)
            texts[first] = f" ({texts[first].lstrip()}"
            texts[last - 1] = f"{texts[last - 1].rstrip()})"


def _find_note(outline: TextBlocks, note: int, run: int) -> tuple[int, int]:
    """Return where a note begins behind its marks, of which *run* is the first, and
    where it ends.
    """
    texts = outline.run_texts
    first = run + 1
    while first < min(run + _MAX_MARKS, len(texts)) and texts[first] == texts[run]:
        first += 1
    last = first
    while last < min(run + _MAX_RUNS, len(texts)):
        if not note <= outline.run_elements[last] < outline.ends[note]:
            break
        last += 1
    return first, last


def join_lines(outline: TextBlocks) -> None:
    """Remove line breaks between Chinese and Japanese characters, as browsers do."""
    in_code = outline.inside(*_CODES)
    lines = [run for run, text in enumerate(outline.run_texts) if "\n" in text]
    for run in lines:
        text = outline.run_texts[run]
        if not text.isascii() and not in_code[outline.run_elements[run]]:
            outline.run_texts[run] = _BREAK.sub("", text)


def find_fields(outline: TextBlocks) -> Blocks:
    """Return the labels of the fields of forms, but not of checkboxes: those may be
    items of a list.
    """
    if "form" not in outline.names:
        return set()
    labels = _find_labels(outline)
    is_single = len(labels) == 1 and "" in labels.values()
    if not labels or is_single:
        return set()
    return outline.blocks_in(labels)


def _find_labels(outline: TextBlocks) -> dict[int, str]:
    """Return the fields that labels of forms are for, by label, without checkboxes."""
    forms = outline.inside("form")
    labels: dict[int, str] = {}
    for label in outline.named("label"):
        if forms[label]:
            labels[label] = outline.attributes[label].get("for") or ""
    if not labels:
        return labels
    holders = outline.inside("label")
    boxes: set[str | None] = set()
    for field in outline.named("input"):
        attributes = outline.attributes[field]
        if attributes.get("type") in _BOXES:
            boxes.add(attributes.get("id"))
            labels.pop(holders[field], None)
    return {label: field for label, field in labels.items() if field not in boxes}
