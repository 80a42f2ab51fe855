"""Links to a sentence of a page: URL text fragments.

https://wicg.github.io/scroll-to-text-fragment/ says how they are written: ``#:~:text=[prefix-,]start[,end][,-suffix]``.
A browser goes to the first place that matches, so a link is made only if the words occur once.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

_MAX_EXACT = 80  # characters that are quoted in full; of anything longer, the beginning and the end
_MAX_QUOTE = 300  # characters of a quote that has no words to begin and end with
_MIN_WORDS, _MIN_LENGTH = 3, 20  # of a beginning or an end
_CONTEXT = 3  # words before or after it
_CLAUSE = re.compile(r"[,;:、，；：]\s*")  # noqa: RUF001 - fullwidth punctuation
_END = " .,;:!?…。！？"  # noqa: RUF001 - the same

Count = Callable[[str], int]


def link_to_text(url: str, text: str, count: Count, *, before: str = "", after: str = "") -> str | None:
    """Return a URL that takes a person to *text* on a page.

    Args:
        url: Absolute http(s) URL of the page.
        text: A sentence as a person sees it, from a single paragraph.
        count: Says how often some words occur on the page, whatever their case and whitespace.
        before: What stands before the sentence in its paragraph.
        after: What stands after it.

    Returns:
        The URL, or None if the words do not occur exactly once, even together with those around them.
    """
    whole = " ".join(text.split()).rstrip(_END)
    if not whole:
        return None
    for start, end in _ranges(whole):
        exact = start if end is None else None
        for prefix, suffix in _contexts(before, after if exact else ""):
            if count(" ".join(filter(None, [prefix, start, suffix]))) == 1:
                parts = [f"{_encode(prefix)}-" if prefix else "", _encode(start), _encode(end or "")]
                parts.append(f"-{_encode(suffix)}" if suffix else "")
                return f"{url}{'' if '#' in url else '#'}:~:text={','.join(filter(None, parts))}"
    return None


def _ranges(whole: str) -> Iterator[tuple[str, str | None]]:
    """Yield beginnings and ends to quote, short ones first; an end of None stands for a quote of everything."""
    if len(whole) <= _MAX_EXACT:
        yield whole, None
        return
    units = whole.split(" ")
    separator = " "
    if len(units) < 2 * _MIN_WORDS:  # a script without spaces: a clause is sure to end where a word does
        units, separator = [unit for unit in _CLAUSE.split(whole) if unit], ""
    for share in (4, 2):
        start = _take(units, len(units) // share, separator)
        end = _take(units[::-1], len(units) // share, separator)
        if start and end and separator and whole.count(" ".join(end[::-1])) == 1:
            yield " ".join(start), " ".join(end[::-1])
        elif not separator and len(units) > 1 and whole.count(units[-1]) == 1:
            yield units[0], units[-1]
    if len(whole) <= _MAX_QUOTE:
        yield whole, None


def _take(units: Sequence[str], most: int, separator: str) -> list[str]:
    """Take the first of *units* until they are long enough to be found, or nothing."""
    taken: list[str] = []
    for unit in units[: max(most, _MIN_WORDS)]:
        taken.append(unit)
        if len(taken) >= _MIN_WORDS and len(separator.join(taken)) >= _MIN_LENGTH:
            break
    return taken


def _contexts(before: str, after: str) -> Iterator[tuple[str, str]]:
    prefix, suffix = " ".join(before.split()[-_CONTEXT:]), " ".join(after.split()[:_CONTEXT])
    yield from dict.fromkeys([("", ""), (prefix, ""), ("", suffix), (prefix, suffix)])


def _encode(text: str) -> str:
    """Percent-encode everything with a meaning in a text directive or in a URL; ``quote`` leaves the hyphen."""
    return quote(text, safe="").replace("-", "%2D")
