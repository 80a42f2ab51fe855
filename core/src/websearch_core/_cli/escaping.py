"""Take the characters out of a text that would do something to a terminal."""

from __future__ import annotations
import re

# Characters that would control a terminal, or change the direction of the text that follows.
_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def strip_controls(text: str) -> str:
    """Remove the characters of *text* that would control a terminal; ends of lines and tabs stay."""
    return _TERMINAL.sub("", text)


def escape_line(text: str) -> str:
    """Escape the characters of *text* that would end the line, control a terminal or change the direction."""
    return _LINE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escape_json(text: str) -> str:
    """Escape the characters of a JSON *text* that would control a terminal, and lone surrogates."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
