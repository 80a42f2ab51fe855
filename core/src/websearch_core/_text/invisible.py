"""Remove the characters that a reader cannot see.

They can carry whole sentences to a model without a human noticing: Unicode tags,
zero-width characters, overrides of the writing direction, variation selectors that
spell bytes. Those that scripts and emoji need to look right are kept.
"""

from __future__ import annotations
import re
import unicodedata
from collections.abc import Callable
from io import StringIO

from .quantity import quantity

_LINE_ENDS = re.compile("[\r\x0b\x0c\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls, except tab and line ends
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2064\u206a-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # writing direction
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # not characters at all
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    "]"
)
# Characters that change how their neighbours look: joiners and variation selectors.
_MODIFIERS = re.compile(
    "[\u200c\u200d\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)
# private use: icon fonts, without a meaning in text
GLYPHS = re.compile("[\ue000-\uf8ff]")
_EMOJI_STYLES = "\ufe0e\ufe0f"
_CHUNK_SIZE = 2**16  # characters
_ZWNJ = "\u200c"
_ZWJ = "\u200d"
_KEYCAP = "\u20e3"
_KEYS = re.compile("[0-9#*]")  # the characters that a keycap is put around
# The blocks with all characters that have an emoji or text style
# (https://www.unicode.org/reports/tr51/).
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf"
    "\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_MONGOLIAN_VARIANTS = "\u180b\u180c\u180d\u180f"
_VIRAMA = 9  # the combining class of every virama
_CURSIVE = re.compile(  # Arabic, Syriac, Thaana, N'Ko, Mandaic, Adlam and others
    "[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc\U00010ac0-\U00010aff\U00010b80-\U00010baf"
    "\U00010d00-\U00010d3f"
    "\U00010f30-\U00010fdf\U0001e900-\U0001e95f]"
)
# from Devanagari to Sinhala, Myanmar, Balinese, Javanese, Meetei, Grantha and others
_BRAHMIC = re.compile(
    "[\u0900-\u0dff\u1000-\u109f\u1b00-\u1bff\ua800-\ua82f\ua880-\ua8ff\ua980-\ua9df"
    "\uaa60-\uaa7f\uaae0-\uaaff"
    "\uabc0-\uabff\U00011000-\U00011fff]"
)
# Khmer, Mongolian and Phags-pa use both joiners
_EITHER = re.compile("[\u1780-\u17d3\u1820-\u18aa\ua840-\ua873]")
_PRINTABLE = bytes(range(0x20, 0x7F))
_PLAIN = _PRINTABLE + b"\t\n"
_UNCLEAN = re.compile(
    "["
    + "".join(p.pattern.strip("[]+") for p in (_LINE_ENDS, _INVISIBLE, _MODIFIERS))
    + "]"
)


def is_clean(text: str) -> bool:
    """Return True only if `strip_invisible` would leave *text* unchanged.

    Only what is not plain ASCII is searched, for speed: in most texts that is little.
    """
    rest = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if not rest:
        return True
    return not _occurs(_UNCLEAN, rest.decode("utf-8", "surrogatepass"))


def is_printable_ascii(text: str) -> bool:
    """Return whether *text* is on one line of printable ASCII, in a third of the time
    of ``isprintable``.
    """
    return text.isascii() and not text.encode().translate(None, _PRINTABLE)


def strip_invisible(text: str) -> tuple[str, int]:
    """Remove invisible characters, and turn every line end into a newline; return the
    text, and how many were removed.

    The text is not normalised in any other way, since that could change its meaning.
    """
    if is_clean(text):
        return text, 0
    text = sub_in_chunks(_LINE_ENDS, "\n", text.replace("\r\n", "\n"))
    before = len(text)
    text = sub_in_chunks(_INVISIBLE, "", text)
    text = sub_in_chunks(_MODIFIERS, _keep_needed, text)
    return text, before - len(text)


def sub_in_chunks(
    pattern: re.Pattern[str],
    replacement: str | Callable[[re.Match[str]], str],
    text: str,
) -> str:
    """Do ``pattern.sub(replacement, text)`` in chunks, because ``sub`` needs a hundred
    bytes of memory for each match.

    A chunk ends after white space, so that a pattern sees whole words, unless a word is
    longer than a chunk.
    """
    if len(text) <= _CHUNK_SIZE:
        return pattern.sub(replacement, text)
    if not _occurs(pattern, text):
        return text
    out = StringIO()
    begin = 0
    while begin < len(text):
        end = begin + _CHUNK_SIZE
        if end < len(text):
            end = (
                max(text.rfind(" ", begin, end), text.rfind("\n", begin, end)) + 1
                or end
            )
        out.write(pattern.sub(replacement, text[begin:end]))
        begin = end
    return out.getvalue()


def _occurs(pattern: re.Pattern[str], text: str) -> bool:
    """Search for *pattern* in chunks, because a search blocks all other threads."""
    return any(
        pattern.search(text, begin, begin + _CHUNK_SIZE + 1)
        for begin in range(0, len(text), _CHUNK_SIZE)
    )


def one_line(text: str, max_length: int) -> str:
    """Return *text* as one clean line of at most *max_length* characters.

    For titles, names and other metadata, which the page controls as much as its text.
    """
    line = " ".join(GLYPHS.sub("", strip_invisible(text[: 20 * max_length])[0]).split())
    return line if len(line) <= max_length else line[: max_length - 1].rstrip() + "…"


def removal_note(count: int) -> tuple[str, ...]:
    """Return a note on how many characters were removed, if any were."""
    return (f"{quantity(count, 'invisible character')} removed",) if count else ()


def _keep_needed(run: re.Match[str]) -> str:
    """Keep a run of modifiers if the script or emoji around it needs it, else drop all
    of it.
    """
    before = run.string[run.start() - 1 : run.start()]
    after = run.string[run.end() : run.end() + 1]
    marks = run[0]
    if not before:
        return ""
    if marks[0] in _EMOJI_STYLES:
        return marks if _is_styled(before, marks, after) else ""
    if len(marks) > 1:
        return ""
    if marks == _ZWJ and _EMOJI.match(after):
        return marks if _EMOJI.match(before) else ""
    if marks in {_ZWNJ, _ZWJ}:
        return marks if _joins(before, marks, after) else ""
    is_mongolian = "\u1820" <= before <= "\u18aa"
    if marks in _MONGOLIAN_VARIANTS and is_mongolian:
        return marks
    return ""


def _is_styled(before: str, marks: str, after: str) -> bool:
    """Return whether the style that *marks* begin with is one of an emoji."""
    if len(marks) == 1 and after == _KEYCAP:
        return _KEYS.match(before) is not None
    if not _EMOJI.match(before):
        return False
    if len(marks) == 1:
        return True
    return marks[1:] == _ZWJ and _EMOJI.match(after) is not None


def _joins(before: str, joiner: str, after: str) -> bool:
    """Return whether a joiner between two characters changes how they look.

    It does next to a virama
    (https://www.unicode.org/reports/tr31/#Layout_and_Format_Control_Characters), and
    where it separates letters that would be joined. In other scripts the letters look
    the same with or without it.
    """
    if _BRAHMIC.match(before) and unicodedata.combining(before) == _VIRAMA:
        return True
    if not after or unicodedata.category(before)[0] not in "LM":
        return False
    if unicodedata.category(after)[0] not in "LM":
        return False
    if _BRAHMIC.match(before) and _BRAHMIC.match(after):
        return unicodedata.combining(after) == _VIRAMA
    if _CURSIVE.match(before) and _CURSIVE.match(after):
        return joiner == _ZWNJ
    return bool(_EITHER.match(before) and _EITHER.match(after))
