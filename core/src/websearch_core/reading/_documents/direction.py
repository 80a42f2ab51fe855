"""Put what stands on a page from left to right into the order in which it is read."""

from __future__ import annotations
import re

_LEFTWARD = r"\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_LETTER = re.compile(f"[{_LEFTWARD}]")
_QUOTED = re.compile(rf"[{_LEFTWARD}](?:[{_LEFTWARD}\W]*[{_LEFTWARD}])?")
# Numbers, and words of other scripts with what stands between them: in a line that goes
# to the left they do not.
_FOREIGN = re.compile(
    rf"( ?)([^\W{_LEFTWARD}](?:[^{_LEFTWARD}]*[^\W{_LEFTWARD}])?)(?=([{_LEFTWARD}]?))"
)
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")


def put_in_order(text: str) -> str:
    """Return a line as it is read, by the direction of most of its letters."""
    count = len(_LETTER.findall(text))
    if 2 * count < sum(map(str.isalpha, text)) or not count:
        return turn_words(text)
    return _FOREIGN.sub(_turn_back, _turn(text))


def turn_words(text: str) -> str:
    """Return a text from left to right whose words from right to left are turned."""
    return _QUOTED.sub(lambda match: _turn(match[0]), text)


def _turn(text: str) -> str:
    return text[::-1].translate(_MIRRORED)


def _turn_back(match: re.Match[str]) -> str:
    words = _turn(match[2])
    # programs paint the space behind a word on its right, where the line came from
    if match[3] and words[0].isalpha():
        return words + match[1]
    return match[1] + words
