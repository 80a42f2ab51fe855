"""
Take out the characters that no reader sees.

They can carry whole sentences to a model past the eyes of a human: Unicode tags, zero-width characters, overrides of
the writing direction, variation selectors that spell bytes. What scripts and emoji need to look right stays.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from io import StringIO

_LINE_ENDS = re.compile("[\r\x0b\x0c\x85\u2028\u2029]")
_NEVER_SEEN = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls, but for tab and line ends
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # writing direction
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # no characters at all
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    "]"
)
# Characters that change how their neighbours look: joiners, and selectors of a variant.
_MODIFIERS = re.compile("[\u200c\u200d\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
GLYPHS = re.compile("[\ue000-\uf8ff]")  # of icon fonts, which say nothing
_EMOJI_STYLES = "\ufe0e\ufe0f"
_PIECE = 2**16  # characters
_SYMBOLS = {"So", "Sm", "Sk", "Po", "Nd", "No"}


_UNCLEAN = re.compile("[" + "".join(p.pattern.strip("[]+") for p in (_LINE_ENDS, _NEVER_SEEN, _MODIFIERS)) + "]")


def is_clean(text: str) -> bool:
    """Return True only if `clean` would leave *text* as it is."""
    return not _occurs(_UNCLEAN, text)


def clean(text: str) -> tuple[str, int]:
    """
    Remove what no reader sees, and write every line end as a newline.

    Args:
        text: Anything; it is not normalised otherwise, since that could change its meaning.

    Returns:
        The text, and how many characters were removed.

    """
    if text.isascii() and text.isprintable():
        return text, 0
    text = in_pieces(_LINE_ENDS, "\n", text.replace("\r\n", "\n"))
    before = len(text)
    text = in_pieces(_NEVER_SEEN, "", text)
    text = in_pieces(_MODIFIERS, _needed, text)
    return text, before - len(text)


def in_pieces(pattern: re.Pattern[str], instead: str | Callable[[re.Match[str]], str], text: str) -> str:
    """
    Do as ``pattern.sub(instead, text)``, a piece of the text at a time: ``sub`` takes a hundred bytes for each match.

    A piece ends after a blank, so that a pattern sees whole words, but for those longer than a piece.
    """
    if len(text) <= _PIECE:
        return pattern.sub(instead, text)
    if not _occurs(pattern, text):
        return text
    out = StringIO()
    begin = 0
    while begin < len(text):
        end = begin + _PIECE
        if end < len(text):
            end = max(text.rfind(" ", begin, end), text.rfind("\n", begin, end)) + 1 or end
        out.write(pattern.sub(instead, text[begin:end]))
        begin = end
    return out.getvalue()


def _occurs(pattern: re.Pattern[str], text: str) -> bool:
    """Look for *pattern* a piece of the text at a time: while it is looked for, no other thread can run."""
    return any(pattern.search(text, begin, begin + _PIECE + 1) for begin in range(0, len(text), _PIECE))


def one_line(text: str, longest: int) -> str:
    """Return *text* as a clean line of at most *longest* characters: titles and the like are the page's words too."""
    line = " ".join(GLYPHS.sub("", clean(text[: 20 * longest])[0]).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def removed(count: int) -> tuple[str, ...]:
    """Return the note that says so, if *count* characters were removed."""
    return (f"{count} invisible characters removed",) if count else ()


def _needed(run: re.Match[str]) -> str:
    """Keep a run of modifiers if it is one that writing needs where it stands, else drop all of it."""
    before = run.string[run.start() - 1 : run.start()]
    after = run.string[run.end() : run.end() + 1]
    if not before:
        return ""
    marks = run[0]
    style, joiner = (marks[:1], marks[1:]) if marks[0] in _EMOJI_STYLES else ("", marks)
    if style and unicodedata.category(before) not in _SYMBOLS:
        return ""
    if joiner == "":
        return marks
    if joiner == "\u200d" and after and unicodedata.category(after) == "So":
        return marks if style or unicodedata.category(before) in {"So", "Sk"} else ""
    if style:
        return ""
    if joiner in {"\u200c", "\u200d"}:
        return marks if _shaped(before) and after and _shaped(after) else ""
    if len(joiner) == 1 and joiner in "\u180b\u180c\u180d\u180f":
        return marks if "\u1820" <= before <= "\u18aa" else ""
    return ""


def _shaped(character: str) -> bool:
    """Whether it is a letter or mark of a script whose letters change with their neighbours."""
    return character >= "\u0600" and unicodedata.category(character)[0] in "LM"
