"""Assemble lines of Markdown from text with internal marks; escape page text that would read as syntax."""

from __future__ import annotations

import re

# Internal marks while the text is assembled: characters that `strip_invisible` removes from all text of a page.
LINK, TO, END, CODE, TICK, HASH, QUOTE, INDENT = "\x01", "\x02", "\x03", "\x04", "\x05", "\x06", "\x07", "\x08"
CELL, ROW, DOWN, BOLD = "\x0e", "\x0f", "\x10", "\x11"
EM, POINT, SCRIPT, SPAN = "\x12", "\x13", "\x14", "\x15"
BREAK = "\x1e"  # ends a line that has not ended yet; whitespace to Python
_SIGNS = {
    BOLD: "**",
    EM: "*",
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
_SPAN = re.compile(f"({TICK}[^{TICK}\n]*{TICK})")
_SCRIPT = re.compile(f"{SCRIPT}([\\^_])([^{SCRIPT}]*){SCRIPT}")
_OPERATOR = re.compile("[-+\u2212\u2013*=<>,.\u00b7]")
_EMPHASIS = re.compile(f"([{BOLD}{EM}]+)")
_MOVABLE = ".,:;!?…\"'“”‘’«»()（）「」『』、。，：；！？"  # noqa: RUF001 (these are meant)
_MISLEADING = frozenset("#>=-`~0123456789")  # first characters of text that may read as syntax
_HEADING = re.compile("#{1,6}(?: |$)")
_NUMBER = re.compile(r"([0-9]{4,9})([.)] )|([0-9]{1,9})([.)])$")  # a year, or the whole line: would read as a list item
_DEFINITION = re.compile(  # of the target of a reference link
    f"^((?:[ >*+{QUOTE}{INDENT}-]|[0-9]{{1,9}}[.)])*)\\[(?=(?s:.{{1,999}}?)\\]:)", re.MULTILINE
)
TAG = re.compile(r"<(?=[A-Za-z/!?]|$)")


def finish(text: str) -> str:
    """Finish the text of a whole page: escape it and turn the marks into Markdown."""
    text = tidy(text)
    if SCRIPT in text:
        text = _SCRIPT.sub(_write_script, text)
    if BOLD in text or EM in text:
        text = _settle(text)
    text = _escape(_strip_outer_rules(text))
    for mark, sign in _SIGNS.items():
        if mark[0] in text:  # finding one character is much faster than finding two
            text = text.replace(mark, sign)
    return text


def _write_script(script: re.Match[str]) -> str:
    """Write a superscript or subscript so that it does not change the number or the name beside it."""
    sign, inner = script[1], script[2]
    before, after = script.string[: script.start()][-1:], script.string[script.end() : script.end() + 1]
    joins = inner[-1].isdigit() and after.isdigit()
    if _OPERATOR.search(inner, 1) or (sign == "_" and _OPERATOR.match(inner)):
        return f"{sign}({inner})"
    if sign == "_" and not joins and not (before.isdigit() and inner[0].isdigit()):
        return inner
    return f"{sign}{inner} " if joins else f"{sign}{inner}"


def _settle(text: str) -> str:
    """
    Remove or move the marks of emphasis that a parser would not see as such.

    Neighbours of one kind become one. Of neighbours of two kinds, only the bold one is marked. Where a mark would stand
    between punctuation and a letter, it changes places with the punctuation.
    """
    pieces = _EMPHASIS.split(text)
    opened: dict[str, int] = {}
    partners: dict[tuple[int, str], int] = {}
    for n in range(1, len(pieces), 2):
        odd = [mark for mark in dict.fromkeys(pieces[n]) if pieces[n].count(mark) % 2]
        pieces[n] = "".join(odd)
        for mark in odd:
            if mark in opened:
                begin = opened.pop(mark)
                partners[begin, mark], partners[n, mark] = n, begin
            else:
                opened[mark] = n
    for n in range(1, len(pieces), 2):
        ends = [mark for mark in pieces[n] if partners.get((n, mark), n) < n]
        if ends and len(ends) < len(pieces[n]):
            _unmark(pieces, partners, n, EM)
        elif pieces[n] and not _move(pieces, n, ends=bool(ends)):
            for mark in pieces[n]:
                _unmark(pieces, partners, n, mark)
    return "".join(pieces)


def _unmark(pieces: list[str], partners: dict[tuple[int, str], int], n: int, mark: str) -> None:
    for place in (n, partners.get((n, mark), n)):
        pieces[place] = pieces[place].replace(mark, "")


def _move(pieces: list[str], n: int, *, ends: bool) -> bool:
    """Move the mark to where a parser sees it, if necessary; return False if there is no such place."""
    before, after = pieces[n - 1], pieces[n + 1]
    inner, outer = (before[-1:], after[:1]) if ends else (after[:1], before[-1:])
    if inner.isalnum() or not outer.isalnum():
        return True
    rest = before.rstrip(_MOVABLE) if ends else after.lstrip(_MOVABLE)
    if not rest[-1 if ends else 0 :][:1].isalnum():
        return False
    if ends:
        pieces[n - 1], pieces[n + 1] = rest, before[len(rest) :] + after
    else:
        pieces[n - 1], pieces[n + 1] = before + after[: len(after) - len(rest)], rest
    return True


def tidy(text: str) -> str:
    """Strip each line, collapse empty lines into one, and escape line starts that would read as syntax."""
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
    """Escape a line that would read as a heading, quotation, fence, or underline of the line *before*."""
    first = line[0]
    if (
        first == ">"
        or (first == "#" and _HEADING.match(line))
        or (first in "`~" and line.startswith(("```", "~~~")))
        or (first in "=-" and before and line.strip(first) == "")
    ):
        return "\\" + line
    return _NUMBER.sub(r"\1\3\\\2\4", line, count=1) if first.isdigit() and _NUMBER.match(line) else line


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
    if "`" in block or f"\\{TICK}" in block:  # may pair with the backticks of code, which then is no longer code
        return _escape_links(TAG.sub("&lt;", block))
    pieces = _SPAN.split(block)
    pieces[::2] = map(_escape_links, pieces[::2])
    return "".join(pieces)


def _escape_links(text: str) -> str:
    return text.replace("](", "]\\(").replace("![", "! [")
