"""Assemble lines of Markdown from text with internal marks; escape page text that would
read as syntax.
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .._element import Element

# Internal marks while the text is assembled: characters that `strip_invisible` removes
# from all text of a page.
LINK = "\x01"
TO = "\x02"
END = "\x03"
CODE = "\x04"
TICK = "\x05"
HASH = "\x06"
QUOTE = "\x07"
INDENT = "\x08"
CELL = "\x0e"
ROW = "\x0f"
DOWN = "\x10"
BOLD = "\x11"
EM = "\x12"
STRIKE = "\x13"
POINT = "\x14"
SCRIPT = "\x15"
SPAN = "\x16"
BREAK = "\x1e"  # ends a line that has not ended yet; whitespace to Python
_SIGNS = {
    BOLD: "**",
    EM: "*",
    STRIKE: "~~",
    POINT: ".",
    SPAN: "`",
    TICK * 2: "` `",
    TICK: "`",
    HASH: "#",
    QUOTE: ">",
    INDENT: " ",
    LINK: "[",
    TO: "](",
    END: ")",
}
_SPAN = re.compile(
    f"({TICK}[^{TICK}\n]*{TICK}|(?<!{SPAN}){SPAN}++[^{SPAN}\n]*{SPAN}++)"
)
_SCRIPT = re.compile(f"{SCRIPT}([\\^_])([^{SCRIPT}]*){SCRIPT}")
_FRACTION = re.compile(
    f"([0-9]?){SCRIPT}\\^([0-9]+){SCRIPT} ?[/\u2044] ?{SCRIPT}_([0-9]+){SCRIPT}"
)
_SIMPLE = re.compile("[-+\u2212\u2013]?(?:[0-9]+|[^\\W\\d])")
_OPERATOR = re.compile("[-+\u2212\u2013*=<>,.\u00b7]")
_EMPHASIS = re.compile(f"([{BOLD}{EM}{STRIKE}]+)")
_MOVABLE = ".,:;!?…\"'“”‘’«»()（）「」『』、。，：；！？"  # noqa: RUF001 (these are meant)
# first characters of text that may read as syntax
_MISLEADING = frozenset("#>=-`~0123456789")
_HEADING = re.compile("#{1,6}(?: |$)")
_STRAY = re.compile(r"(?<!\\)(\\*+)(`|\Z)")
_BEFORE_MARK = re.compile(rf"(?<!\\)(?:\\\\)*+\\(?=[{BOLD}{EM}{STRIKE}{LINK}])")
# a year, or the whole line: would read as a list item
_NUMBER = re.compile(r"([0-9]{4,9})([.)] )|([0-9]{1,9})([.)])$")
_DEFINITION = re.compile(  # of the target of a reference link
    f"^((?:[ >*+{QUOTE}{INDENT}-]|[0-9]{{1,9}}[.)])*)\\[(?=(?s:.{{1,999}}?)\\]:)",
    re.MULTILINE,
)
TAG = re.compile(r"<(?=[A-Za-z/!?]|$)")
# Of footnotes: their marks in the text, the notes themselves, and the links back to the
# marks.
# in the id of a note
_NOTE = re.compile(r"note|fn|ftn|edn|cite|ref|bib|foot|^cr\d|^b\d", re.IGNORECASE)
_BACK = re.compile(
    r"cite_?ref|fn-?ref|_?(?:ftn|edn)ref|(?:foot)?note-?ref|back", re.IGNORECASE
)
_LABEL = re.compile(r"\[\s*([^\[\]]{1,12}?)\s*\]|\(?([0-9]{1,3}|[a-z]|[*†‡§]{1,3})\)?")
_MAX_BACK_LENGTH = 12  # characters: an arrow, a letter, or "jump up"
_OWN_MARK = re.compile(
    r"(?:[\^↑]\s*)?(?:\[[^\[\]\s]{1,6}\]|\(?[0-9]{1,3}[.):]?(?=\s)|[*†‡§]{1,3})?\s*"
)


def finish(text: str) -> str:
    """Finish the text of a whole page: escape it and turn the marks into Markdown."""
    text = tidy(text)
    if SCRIPT in text:
        text = _FRACTION.sub(_write_fraction, text)
        text = _SCRIPT.sub(_write_script, text)
    text = _move_marks(text)
    if "\\" in text:
        text = _BEFORE_MARK.sub(r"\g<0>\\", text)  # else it would escape the sign
    text = _escape(_strip_outer_rules(text))
    for mark, sign in _SIGNS.items():
        if mark[0] in text:  # finding one character is much faster than finding two
            text = text.replace(mark, sign)
    return text


def _write_fraction(fraction: re.Match[str]) -> str:
    """Write a fraction apart from the number before it: ``1 3/4``."""
    number = fraction[1]
    return f"{number}{number and ' '}{fraction[2]}/{fraction[3]}"


def _write_script(script: re.Match[str]) -> str:
    """Write a superscript or subscript.

    It must not change the number or the name beside it.
    """
    inner = script[2]
    text = script.string
    begin = script.start()
    end = script.end()
    before = text[max(0, begin - 1) : begin]
    after = text[end : end + 1]
    joins = inner[-1].isdigit() and after.isdigit()
    if script[1] == "^":
        is_name = False
        needs_brackets = not _SIMPLE.fullmatch(inner)
    else:
        continues = before.isdigit() and inner[0].isdigit()
        is_name = not joins and not continues
        needs_brackets = bool(_OPERATOR.search(inner))
    if needs_brackets:
        return f"{script[1]}({inner})"
    if is_name:
        return inner
    return f"{script[1]}{inner}{' ' * joins}"


class _Sign(NamedTuple):
    """A mark of emphasis, the number of its text, and whether it ends that."""

    mark: str
    text: int
    ends: bool


def _move_marks(text: str) -> str:
    """Remove or move the marks of emphasis that a parser would not see as such.

    Neighbours of one kind become one. Of neighbours of several kinds, only one is
    marked, the bold one if there is one. Where a mark would stand between punctuation
    and a letter, it changes places with the punctuation.
    """
    pieces = _EMPHASIS.split(text)  # text, signs, text, signs, text
    runs = _read_signs(pieces[1::2])
    dropped: set[int] = set()
    for n, run in enumerate(runs):
        signs = [sign for sign in run if sign.text not in dropped]
        chosen = _place_signs(pieces, 2 * n, signs)
        dropped |= {sign.text for sign in signs if sign not in chosen}
    for n, run in enumerate(runs):
        marks = [sign.mark for sign in run if sign.text not in dropped]
        pieces[2 * n + 1] = "".join(marks)
    return "".join(pieces)


def _place_signs(pieces: list[str], n: int, signs: Sequence[_Sign]) -> list[_Sign]:
    """Return those of the signs after a piece that a parser sees there."""
    chosen = _choose_signs(signs)
    if not chosen:
        return []
    ends = chosen[0].ends
    if not _find_place(pieces, n, ends=ends):
        return []
    if ends:
        outer = pieces[n + 2][:1]
    else:
        outer = pieces[n][-1:]
    if len(chosen) > 1 and outer.isalnum():
        # the other sign is punctuation beside it
        return [sign for sign in chosen if sign.mark != STRIKE]
    return chosen


def _read_signs(runs: Iterable[str]) -> list[list[_Sign]]:
    """Return the signs of each run of marks; what ends and begins again goes on."""
    signs_of_runs: list[list[_Sign]] = []
    opened: dict[str, int] = {}
    count = 0
    for run in runs:
        signs: list[_Sign] = []
        for mark in run:
            if mark in opened:
                signs.append(_Sign(mark, opened.pop(mark), ends=True))
            elif signs and signs[-1].mark == mark:
                opened[mark] = signs.pop().text
            else:
                count += 1
                opened[mark] = count
                signs.append(_Sign(mark, count, ends=False))
        signs_of_runs.append(signs)
    return signs_of_runs


def _choose_signs(signs: Sequence[_Sign]) -> list[_Sign]:
    """Return the signs that can stand together: all begin a text, or end it."""
    chosen = [*signs]
    for mark in (EM, STRIKE, BOLD):
        if len({sign.ends for sign in chosen}) < 2:
            break
        chosen = [sign for sign in chosen if sign.mark != mark]
    return chosen


def _find_place(pieces: list[str], n: int, *, ends: bool) -> bool:
    """Move the sign after a piece to where a parser sees it, if necessary.

    Return False if there is no such place.
    """
    before = pieces[n]
    after = pieces[n + 2]
    if ends:
        inner = before[-1:]
        outer = after[:1]
    else:
        inner = after[:1]
        outer = before[-1:]
    if inner.isalnum() or not outer.isalnum():
        return True
    if ends:
        text = before.rstrip(_MOVABLE)
        moved = before[len(text) :]
        is_seen = text[-1:].isalnum()
        around = (text, moved + after)
    else:
        text = after.lstrip(_MOVABLE)
        moved = after.removesuffix(text)
        is_seen = text[:1].isalnum()
        around = (before + moved, text)
    if is_seen:
        pieces[n], pieces[n + 2] = around
    return is_seen


def tidy(text: str) -> str:
    """Strip each line, collapse empty lines into one, and escape line starts that would
    read as syntax.
    """
    while "  " in text:
        text = text.replace("  ", " ")
    if "\n" not in text and BREAK not in text:  # like most list items
        return _escape_line(text.strip(" "), "")
    lines: list[str] = []
    last = ""
    for part in _split(text):
        line = part.strip(" ")
        is_rule = line == "---" and not last
        if is_rule and lines[-2:-1] == ["---"]:
            continue
        if not is_rule:
            line = _escape_line(line, last)
        if line or last:
            lines.append(line)
        last = line
    return "\n".join(lines).rstrip("\n")


def _split(text: str) -> list[str]:
    first, *others = text.split(BREAK)
    lines = first.split("\n")
    ended = True  # True if the break ends the last line
    for piece in others:
        if ended and not lines[-1].strip():  # it was already ended
            lines.pop()
        begin, *rest = piece.split("\n")
        if begin.strip():
            lines.append(begin)
        lines += rest
        ended = bool(rest)
    return lines


def _strip_outer_rules(text: str) -> str:
    """Remove the rules at the start and the end: they separate nothing."""
    if text.startswith("---\n") or text == "---":
        text = text[3:].lstrip("\n")
    if text.endswith("\n---"):
        text = text[:-3].rstrip("\n")
    return text


def _escape_line(line: str, before: str) -> str:
    """Escape a line that would read as something else.

    That is a heading, quotation or fence, or the underline of the line *before*.
    """
    first = line[:1]
    if first not in _MISLEADING:  # nor is an empty line
        return line
    if first.isdigit():
        number = _NUMBER.match(line)
        if not number:
            return line
        return number.expand(r"\1\3\\\2\4") + line[number.end() :]
    if first in "=-":
        is_syntax = bool(before) and not line.strip(first)
    elif first == "#":
        is_syntax = _HEADING.match(line) is not None
    else:
        is_syntax = first == ">" or line.startswith(("```", "~~~"))
    if is_syntax:
        return f"\\{line}"
    return line


def _escape(text: str) -> str:
    """Escape page text that would read as a link, an image or a tag."""
    if _may_need_escapes(text):
        text = "\n\n".join(map(_escape_block, text.split("\n\n")))
    if "]" in text and "]:" in text:
        text = _DEFINITION.sub(r"\1\\[", text)
    if "!" in text:
        text = text.replace(f"!{LINK}", f"! {LINK}")
    return text


def _may_need_escapes(text: str) -> bool:
    # again single characters first: few pages have them
    if "`" in text:
        return True
    if "]" in text and "](" in text:
        return True
    if "[" in text and "![" in text:
        return True
    return "\\" in text and f"\\{TICK}" in text


def _escape_block(block: str) -> str:
    pieces = _SPAN.split(block)
    outside = pieces[::2]
    has_tick = any("`" in piece for piece in outside)
    if has_tick or any(piece.endswith("\\") for piece in outside[:-1]):
        # a backtick here may pair with one of code, or with one after a label
        if len(outside) > 1 or LINK in block:
            pieces[::2] = [_STRAY.sub(_escape_tick, piece) for piece in outside]
        # some parsers pair an escaped one, too
        return _escape_links(TAG.sub("&lt;", "".join(pieces)))
    pieces[::2] = map(_escape_links, outside)
    return "".join(pieces)


def _escape_tick(stray: re.Match[str]) -> str:
    return stray[1] * 2 + (stray[2] and "\\`")


def _escape_links(text: str) -> str:
    return text.replace("](", "]\\(").replace("![", "! [")


def mark(link: Element, label: str) -> str:
    """Return the mark of the footnote that a link refers to, such as ``[1]``.

    Empty if it refers to none.
    """
    sign = _LABEL.fullmatch(label)
    if not sign or not _NOTE.search(place(link)):
        return ""
    return f"[{sign[1] or sign[2]}]"


def leads_back(link: Element, label: str) -> bool:
    """Return whether a link leads from a footnote back to its mark."""
    if len(label) > _MAX_BACK_LENGTH:
        return False
    return _BACK.search(place(link)) is not None


def place(link: Element) -> str:
    """Return the ``id`` of the element that the link points to, on the same page."""
    return link.get("href").partition("#")[2]


def find_footnotes(root: Element, hrefs: Iterable[str]) -> dict[str, str]:
    """Find the footnotes of a text: the mark of each by the ``id`` of its element.

    The distinct targets of its links, *hrefs*, tell quickly whether there can be any.
    """
    names = [href.partition("#")[2] for href in hrefs]
    if not any(map(_NOTE.search, names)):
        return {}
    ids: set[str] = set()
    marks: dict[str, str] = {}
    for element in root.elements():
        if element.attributes and element.children:
            ids.add(element.get("id"))
        target = place(element) if element.name == "a" else ""
        if not target or target in marks:
            continue
        label = element.text()
        sign = mark(element, label)
        if sign and not leads_back(element, label):
            marks[target] = sign
    ids.discard("")
    return {name: sign for name, sign in marks.items() if name in ids}


def strip_mark(note: str) -> str:
    """Remove the mark that the text of a note begins with."""
    return note[_OWN_MARK.match(note).end() :]  # type: ignore[union-attr]  # always matches, maybe nothing
