"""Assemble lines of Markdown from text with internal marks; escape page text that would
read as syntax.
"""

from __future__ import annotations
import re
from collections.abc import Iterable

from .._element import Element

# Internal marks while the text is assembled: characters that `strip_invisible` removes
# from all text of a page.
LINK, TO, END, CODE, TICK, HASH, QUOTE, INDENT = (
    "\x01",
    "\x02",
    "\x03",
    "\x04",
    "\x05",
    "\x06",
    "\x07",
    "\x08",
)
CELL, ROW, DOWN, BOLD = "\x0e", "\x0f", "\x10", "\x11"
EM, STRIKE, POINT, SCRIPT, SPAN = "\x12", "\x13", "\x14", "\x15", "\x16"
BREAK = "\x1e"  # ends a line that has not ended yet; whitespace to Python
_SIGNS = {
    BOLD: "**", EM: "*", STRIKE: "~~", POINT: ".", SPAN: "`", TICK * 2: "` `",
    TICK: "`", HASH: "#", QUOTE: ">",
    INDENT: " ", LINK: "[", TO: "](", END: ")",
}  # fmt: skip
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
        text = _FRACTION.sub(
            lambda found: f"{found[1]}{' ' if found[1] else ''}{found[2]}/{found[3]}",
            text,
        )
        text = _SCRIPT.sub(_write_script, text)
    if BOLD in text or EM in text or STRIKE in text:
        text = _move_marks(text)
    if "\\" in text:
        text = _BEFORE_MARK.sub(r"\g<0>\\", text)  # else it would escape the sign
    text = _escape(_strip_outer_rules(text))
    for mark, sign in _SIGNS.items():
        if mark[0] in text:  # finding one character is much faster than finding two
            text = text.replace(mark, sign)
    return text


def _write_script(script: re.Match[str]) -> str:
    """Write a superscript or subscript so that it does not change the number or the
    name beside it.
    """
    sign, inner = script[1], script[2]
    before, after = (
        script.string[max(0, script.start() - 1) : script.start()],
        script.string[script.end() : script.end() + 1],
    )
    joins = inner[-1].isdigit() and after.isdigit()
    if (sign == "^" and not _SIMPLE.fullmatch(inner)) or (
        sign == "_" and _OPERATOR.search(inner)
    ):
        return f"{sign}({inner})"
    if sign == "_" and not joins and not (before.isdigit() and inner[0].isdigit()):
        return inner
    return f"{sign}{inner} " if joins else f"{sign}{inner}"


def _move_marks(text: str) -> str:
    """Remove or move the marks of emphasis that a parser would not see as such.

    Neighbours of one kind become one. Of neighbours of several kinds, only one is
    marked, the bold one if there is one. Where a mark would stand between punctuation
    and a letter, it changes places with the punctuation.
    """
    pieces = _EMPHASIS.split(text)
    # signs: a mark, the text that it begins or ends, whether it ends it
    runs: list[list[tuple[str, int, bool]]] = []
    opened: dict[str, int] = {}
    count = 0
    for run in pieces[1::2]:
        signs: list[tuple[str, int, bool]] = []
        for mark in run:
            if mark in opened:
                signs.append((mark, opened.pop(mark), True))
            elif signs and signs[-1][0] == mark:
                opened[mark] = signs.pop()[1]
            else:
                opened[mark] = count = count + 1
                signs.append((mark, count, False))
        runs.append(signs)
    dropped: set[int] = set()
    for n, signs in enumerate(runs):
        left = [sign for sign in signs if sign[1] not in dropped]
        for kind in (EM, STRIKE, BOLD) if len(left) > 1 else ():
            if len({ends for _, _, ends in left}) > 1:
                dropped |= {text for mark, text, _ in left if mark == kind}
                left = [sign for sign in left if sign[0] != kind]
        if not left:
            continue
        ends = left[0][2]
        if not _find_place(pieces, 2 * n, ends=ends):
            dropped |= {text for _, text, _ in left}
        elif (
            len(left) > 1
            and (pieces[2 * n + 2][:1] if ends else pieces[2 * n][-1:]).isalnum()
        ):
            # the other sign is punctuation beside it
            dropped |= {text for mark, text, _ in left if mark == STRIKE}
    for n, signs in enumerate(runs):
        pieces[2 * n + 1] = "".join(
            [mark for mark, text, _ in signs if text not in dropped]
        )
    return "".join(pieces)


def _find_place(pieces: list[str], n: int, *, ends: bool) -> bool:
    """Move the sign after a piece to where a parser sees it, if necessary; return False
    if there is no such place.
    """
    before, after = pieces[n], pieces[n + 2]
    inner, outer = (before[-1:], after[:1]) if ends else (after[:1], before[-1:])
    if inner.isalnum() or not outer.isalnum():
        return True
    rest = before.rstrip(_MOVABLE) if ends else after.lstrip(_MOVABLE)
    if not rest[-1 if ends else 0 :][:1].isalnum():
        return False
    if ends:
        pieces[n], pieces[n + 2] = rest, before[len(rest) :] + after
    else:
        pieces[n], pieces[n + 2] = before + after[: len(after) - len(rest)], rest
    return True


def tidy(text: str) -> str:
    """Strip each line, collapse empty lines into one, and escape line starts that would
    read as syntax.
    """
    while "  " in text:
        text = text.replace("  ", " ")
    if "\n" not in text and BREAK not in text:  # like most list items
        line = text.strip(" ")
        return _escape_line(line, "") if line and line[0] in _MISLEADING else line
    lines: list[str] = []
    last = ""
    for line in _split(text):
        line = line.strip(" ")  # noqa: PLW2901 (the stripped line is the line)
        if line:
            if line[0] in _MISLEADING:
                if line == "---" and not last and lines[-2:-1] == ["---"]:
                    continue
                line = _escape_line(line, last)  # noqa: PLW2901
            lines.append(line)
        elif last:
            lines.append("")
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
    if text.startswith("---") and text[3:4] in {"", "\n"}:
        text = text[3:].lstrip("\n")
    return text[:-3].rstrip("\n") if text.endswith("\n---") else text


def _escape_line(line: str, before: str) -> str:
    """Escape a line that would read as a heading, quotation, fence, or underline of the
    line *before*.
    """
    first = line[0]
    if (
        first == ">"
        or (first == "#" and _HEADING.match(line))
        or (first in "`~" and line.startswith(("```", "~~~")))
        or (first in "=-" and before and line.strip(first) == "")
    ):
        return "\\" + line
    return (
        _NUMBER.sub(r"\1\3\\\2\4", line, count=1)
        if first.isdigit() and _NUMBER.match(line)
        else line
    )


def _escape(text: str) -> str:
    """Escape page text that would read as a link, an image or a tag."""
    if (  # again single characters first: few pages have them
        "`" in text
        or ("]" in text and "](" in text)
        or ("[" in text and "![" in text)
        or ("\\" in text and f"\\{TICK}" in text)
    ):
        text = "\n\n".join(map(_escape_block, text.split("\n\n")))
    if "]" in text and "]:" in text:
        text = _DEFINITION.sub(r"\1\\[", text)
    return text.replace(f"!{LINK}", f"! {LINK}") if "!" in text else text


def _escape_block(block: str) -> str:
    pieces = _SPAN.split(block)
    outside = pieces[::2]
    if any("`" in piece for piece in outside) or any(
        piece.endswith("\\") for piece in outside[:-1]
    ):
        # a backtick here may pair with one of code, or with one after a label
        if len(outside) > 1 or LINK in block:
            pieces[::2] = (
                _STRAY.sub(lambda found: found[1] * 2 + (found[2] and "\\`"), piece)
                for piece in outside
            )
        # some parsers pair an escaped one, too
        return _escape_links(TAG.sub("&lt;", "".join(pieces)))
    pieces[::2] = map(_escape_links, outside)
    return "".join(pieces)


def _escape_links(text: str) -> str:
    return text.replace("](", "]\\(").replace("![", "! [")


def mark(link: Element, label: str) -> str:
    """Return the mark of the footnote that a link refers to, such as ``[1]``, or an
    empty string.
    """
    found = _LABEL.fullmatch(label)
    return f"[{found[1] or found[2]}]" if found and _NOTE.search(place(link)) else ""


def leads_back(link: Element, label: str) -> bool:
    """Return whether a link leads from a footnote back to its mark."""
    return len(label) <= _MAX_BACK_LENGTH and _BACK.search(place(link)) is not None


def place(link: Element) -> str:
    """Return the ``id`` of the element that the link points to, on the same page."""
    return link.get("href").partition("#")[2]


def find_footnotes(root: Element, hrefs: Iterable[str]) -> dict[str, str]:
    """Find the footnotes of a text: the mark of each by the ``id`` of its element.

    The distinct targets of its links, *hrefs*, tell quickly whether there can be any.
    """
    if not any(_NOTE.search(href.partition("#")[2]) for href in hrefs if "#" in href):
        return {}
    places: set[str] = set()
    links: list[Element] = []
    for element in root.elements():
        attributes = element.attributes
        if attributes and element.children and (own := attributes.get("id")):
            places.add(own)
        if element.name == "a" and "#" in element.get("href"):
            links.append(element)
    marks: dict[str, str] = {}
    for link in links:
        if (name := place(link)) in places and name not in marks:
            label = link.text()
            if not leads_back(link, label) and (found := mark(link, label)):
                marks[name] = found
    return marks


def strip_mark(note: str) -> str:
    """Remove the mark that the text of a note begins with, however the page writes
    it.
    """
    return note[_OWN_MARK.match(note).end() :]  # type: ignore[union-attr]  # always matches, maybe nothing
