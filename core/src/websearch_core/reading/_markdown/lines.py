"""The lines of a Markdown text in the making, with marks of ours in it; text of the page is kept from being more."""

from __future__ import annotations

import re

# Our own marks while the text is made. They are characters that no text of a page has: `clean` takes them out.
LINK, TO, END, CODE, TICK, HASH, QUOTE, INDENT = "\x01", "\x02", "\x03", "\x04", "\x05", "\x06", "\x07", "\x08"
CELL, ROW, DOWN, BOLD = "\x0e", "\x0f", "\x10", "\x11"
BREAK = "\x1e"  # the end of a line, if it is not one already; a blank to Python
_MEANINGS = {
    BOLD: "**",
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
_MISLEADING = frozenset("#>=-`~0123456789")  # what a line may begin with that is text, and reads as something else
_HEADING = re.compile("#{1,6}(?: |$)")
_NUMBER = re.compile(r"([0-9]{4,9})([.)] )|([0-9]{1,9})([.)])$")  # a year, or all of a line: would be that of an item
_DEFINITION = re.compile(  # of a link that is elsewhere
    f"^((?:[ >*+{QUOTE}{INDENT}-]|[0-9]{{1,9}}[.)])*)\\[(?=(?s:.{{1,999}}?)\\]:)", re.MULTILINE
)
TAG = re.compile(r"<(?=[A-Za-z/!?]|$)")


def finished(text: str) -> str:
    """Return the text of a whole page, with Markdown's own signs in place of our marks."""
    text = _harmless(_without_outer_rules(tidy(text).replace(BOLD * 2, "")))  # two bold texts side by side are one
    for mark, sign in _MEANINGS.items():
        if mark[0] in text:  # a single character is found much faster than two
            text = text.replace(mark, sign)
    return text


def tidy(text: str) -> str:
    """Strip each line, leave one empty line at most between two, and let none begin with what it does not mean."""
    while "  " in text:
        text = text.replace("  ", " ")
    if "\n" not in text and BREAK not in text:  # as of most items of lists
        line = text.strip(" ")
        return _as_text(line, "") if line and line[0] in _MISLEADING else line
    lines: list[str] = []
    last = ""
    for line in _split(text):
        line = line.strip(" ")  # noqa: PLW2901 (the stripped line is the line)
        if line:
            if line[0] in _MISLEADING:
                if line == "---" and not last and lines[-2:-1] == ["---"]:
                    continue
                line = _as_text(line, last)  # noqa: PLW2901
            lines.append(line)
        elif last:
            lines.append("")
        last = line
    return "\n".join(lines).rstrip("\n")


def _split(text: str) -> list[str]:
    first, *others = text.split(BREAK)
    lines = first.split("\n")
    ended = True  # by the break: the last line
    for piece in others:
        if ended and not lines[-1].strip():  # it had ended already
            lines.pop()
        begin, *rest = piece.split("\n")
        if begin.strip():
            lines.append(begin)
        lines += rest
        ended = bool(rest)
    return lines


def _without_outer_rules(text: str) -> str:
    """Take off the lines between nothing and something: they part nothing."""
    if text.startswith("---") and text[3:4] in {"", "\n"}:
        text = text[3:].lstrip("\n")
    return text[:-3].rstrip("\n") if text.endswith("\n---") else text


def _as_text(line: str, before: str) -> str:
    """Escape the line if it would be read as a heading, a quotation, a fence, an underline of the line *before*."""
    first = line[0]
    if (
        first == ">"
        or (first == "#" and _HEADING.match(line))
        or (first in "`~" and line.startswith(("```", "~~~")))
        or (first in "=-" and before and line.strip(first) == "")
    ):
        return "\\" + line
    return _NUMBER.sub(r"\1\3\\\2\4", line, count=1) if first.isdigit() and _NUMBER.match(line) else line


def _harmless(text: str) -> str:
    """Keep the text of the page from being a link, an image or a tag."""
    if (  # again the single characters first, that few pages have
        "`" in text
        or ("]" in text and "](" in text)
        or ("[" in text and "![" in text)
        or ("\\" in text and f"\\{TICK}" in text)
    ):
        text = "\n\n".join(map(_harmless_block, text.split("\n\n")))
    if "]" in text and "]:" in text:
        text = _DEFINITION.sub(r"\1\\[", text)
    return text.replace(f"!{LINK}", f"! {LINK}") if "!" in text else text


def _harmless_block(block: str) -> str:
    if "`" in block or f"\\{TICK}" in block:  # may pair with those of the code in it, which is then code no more
        return _unlinked(TAG.sub("&lt;", block))
    pieces = _SPAN.split(block)
    pieces[::2] = map(_unlinked, pieces[::2])
    return "".join(pieces)


def _unlinked(text: str) -> str:
    return text.replace("](", "]\\(").replace("![", "! [")
