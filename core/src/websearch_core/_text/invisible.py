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
_ZWNJ, _ZWJ, _KEYCAP = "\u200c", "\u200d", "\u20e3"
_KEYS = re.compile("[0-9#*]")  # the characters that a keycap is put around
# The blocks with all characters that have an emoji or text style (https://www.unicode.org/reports/tr51/).
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_MONGOLIAN_VARIANTS = "\u180b\u180c\u180d\u180f"
_VIRAMA = 9  # the combining class of all of them
_CURSIVE = re.compile(  # Arabic, Syriac, Thaana, N'Ko, Mandaic, Adlam and others
    "[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc\U00010ac0-\U00010aff\U00010b80-\U00010baf\U00010d00-\U00010d3f"
    "\U00010f30-\U00010fdf\U0001e900-\U0001e95f]"
)
_BRAHMIC = re.compile(  # from Devanagari to Sinhala, Myanmar, Balinese, Javanese, Meetei, Grantha and others
    "[\u0900-\u0dff\u1000-\u109f\u1b00-\u1bff\ua800-\ua82f\ua880-\ua8ff\ua980-\ua9df\uaa60-\uaa7f\uaae0-\uaaff"
    "\uabc0-\uabff\U00011000-\U00011fff]"
)
_EITHER = re.compile("[\u1780-\u17d3\u1820-\u18aa\ua840-\ua873]")  # Khmer, Mongolian and Phags-pa use both joiners


_UNCLEAN = re.compile("[" + "".join(p.pattern.strip("[]+") for p in (_LINE_ENDS, _NEVER_SEEN, _MODIFIERS)) + "]")


def is_clean(text: str) -> bool:
    """Return True only if `strip_invisible` would leave *text* as it is."""
    return not _occurs(_UNCLEAN, text)


def strip_invisible(text: str) -> tuple[str, int]:
    """
    Remove what no reader sees, and write every line end as a newline.

    Args:
        text: Anything; it is not normalised otherwise, since that could change its meaning.

    Returns:
        The text, and how many characters were removed.

    """
    if text.isascii() and text.isprintable():
        return text, 0
    text = sub_in_chunks(_LINE_ENDS, "\n", text.replace("\r\n", "\n"))
    before = len(text)
    text = sub_in_chunks(_NEVER_SEEN, "", text)
    text = sub_in_chunks(_MODIFIERS, _needed, text)
    return text, before - len(text)


def sub_in_chunks(pattern: re.Pattern[str], instead: str | Callable[[re.Match[str]], str], text: str) -> str:
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
    line = " ".join(GLYPHS.sub("", strip_invisible(text[: 20 * longest])[0]).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def removal_note(count: int) -> tuple[str, ...]:
    """Return the note that says so, if *count* characters were removed."""
    return (f"{count} invisible characters removed",) if count else ()


def _needed(run: re.Match[str]) -> str:
    """Keep a run of modifiers if it is one that writing needs where it stands, else drop all of it."""
    before = run.string[run.start() - 1 : run.start()]
    after = run.string[run.end() : run.end() + 1]
    marks = run[0]
    if not before:
        return ""
    if marks[0] in _EMOJI_STYLES:
        styled = _EMOJI.match(before) if len(marks) > 1 or after != _KEYCAP else _KEYS.match(before)
        return marks if styled and (len(marks) == 1 or (marks[1:] == _ZWJ and _EMOJI.match(after))) else ""
    if len(marks) > 1:
        return ""
    if marks == _ZWJ and _EMOJI.match(after):
        return marks if _EMOJI.match(before) or "\U0001f3fb" <= before <= "\U0001f3ff" else ""
    if marks in {_ZWNJ, _ZWJ}:
        return marks if _joins(before, marks, after) else ""
    return marks if marks in _MONGOLIAN_VARIANTS and "\u1820" <= before <= "\u18aa" else ""


def _joins(before: str, joiner: str, after: str) -> bool:
    """
    Whether a joiner between two characters changes how they look.

    It does beside a virama (https://www.unicode.org/reports/tr31/#Layout_and_Format_Control_Characters), and parts
    letters that would be joined. The letters of other scripts look the same with it as without.
    """
    if _BRAHMIC.match(before) and unicodedata.combining(before) == _VIRAMA:
        return True
    if not after or unicodedata.category(before)[0] not in "LM" or unicodedata.category(after)[0] not in "LM":
        return False
    if _BRAHMIC.match(before) and _BRAHMIC.match(after):
        return unicodedata.combining(after) == _VIRAMA
    if _CURSIVE.match(before) and _CURSIVE.match(after):
        return joiner == _ZWNJ
    return bool(_EITHER.match(before) and _EITHER.match(after))
