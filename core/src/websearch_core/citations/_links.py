"""What can be cited: turn citations of it into links, and name those that nobody
issued.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NotRequired, TypedDict
from urllib.parse import quote

from .._text.escaping import escape_text, link_target
from ._marks import Mark, find_marks

# characters that are quoted in full; of anything longer, the beginning and the end
_MAX_EXACT = 80
_MAX_QUOTE = 300  # characters of a quote that has no words to begin and end with
_MIN_WORDS, _MIN_LENGTH = 3, 20  # of a beginning or an end
_CONTEXT = 3  # words before or after it
_CLAUSE = re.compile(r"[,;:、，；：]\s*")  # noqa: RUF001 - fullwidth punctuation
_END = " .,;:!?…。！？"  # noqa: RUF001 - the same

Count = Callable[[str], int]


class Source(TypedDict):
    """A page with a number, as plain JSON.

    Args:
        id: The number to cite it by, as in ``[1]``.
        title: Plain text.
        url: Its URL.
        read: True if its text was read; False if only a snippet of a search was seen.
        published: The publication date, if known, in ISO 8601.
        score: The service's own relevance score, if it gives one.
        shown: Where the part about it begins and ends in the text that the model was
            shown, in characters; for content blocks, the first block and the one after
            the last.
        text: What the model was shown of it, if it was collected for `check_citations`.
    """

    id: int
    title: str
    url: str
    read: bool
    published: NotRequired[str]
    score: NotRequired[float]
    shown: NotRequired[list[int]]
    text: NotRequired[str]


def merge_sources(entries: Iterable[Mapping[str, Any]]) -> list[Source]:
    """Merge entries about the same source, such as those of several searches and of the
    page.

    Args:
        entries: The entries, in the order of the conversation. Anything without an
            ``id`` and a ``url`` is left out.

    Returns:
        One source for each number, ordered by it. Its ``text`` is all that was shown of
            it; its title and URL are those
        of the page, if it was read.
    """
    merged: dict[int, dict[str, Any]] = {}
    for entry in entries:
        number = entry.get("id")
        if not isinstance(number, int) or not isinstance(entry.get("url"), str):
            continue
        before = merged.get(number, {})
        texts = dict.fromkeys(
            text for text in (before.get("text"), entry.get("text")) if text
        )
        stays = before.get("read") and not entry.get("read")
        both = {**entry, **before} if stays else {**before, **entry}
        both.pop("shown", None)
        merged[number] = {
            "title": "",
            "read": False,
            **both,
            **({"text": "\n\n".join(texts)} if texts else {}),
        }
    return [Source(**merged[number]) for number in sorted(merged)]  # type: ignore[typeddict-item]


def link_citations(
    text: str, sources: Iterable[Mapping[str, object]], *, footer: bool = False
) -> str:
    """Turn the citations in an answer, such as ``[1]``, ``[1, 2]``, ``[1-3]`` or
    ``【1】``, into Markdown links.

    Args:
        text: The answer of a model. Code, formulas, links and URLs in it stay as they
            are.
        sources: The sources, each with ``id``, ``url`` and ``title``, such as those of
            an artifact. Citations of others stay as they are, as do those of sources
            whose URL is not http(s), such as a file of a local index.
        footer: Also append a list of the sources that the text cites.
    """
    known = {_number(source): source for source in sources}
    urls = {number: link_target(str(source["url"])) for number, source in known.items()}
    parts, position = [], 0
    cited: dict[int, None] = {}
    for mark in find_marks(text):
        cited |= dict.fromkeys(number for number in mark.numbers if number in known)
        linked = _link(mark, urls) if mark.kind == "plain" else ""
        parts += [text[position : mark.start], linked or text[mark.start : mark.end]]
        position = mark.end
    whole = "".join([*parts, text[position:]])
    return (
        _add_footer(whole, [known[number] for number in cited])
        if footer and cited
        else whole
    )


def unknown_citations(text: str, sources: Iterable[Mapping[str, object]]) -> list[int]:
    """Return the numbers that an answer cites although no source has them.

    Args:
        text: The answer of a model.
        sources: The sources of the conversation, each with ``id``.

    Returns:
        The numbers, in the order of the text.
    """
    known = {_number(source) for source in sources}
    cited = dict.fromkeys(
        number for mark in find_marks(text) for number in mark.numbers
    )
    return [number for number in cited if number not in known]


def _number(source: Mapping[str, object]) -> int:
    return int(str(source["id"]))


def _link(mark: Mark, urls: Mapping[int, str | None]) -> str:
    """Return the links of a citation, or nothing if it has none."""
    if not any(urls.get(number) for number in mark.numbers):
        return ""
    links = ", ".join(
        f"[{number}]({url})" if (url := urls.get(number)) else f"[{number}]"
        for number in mark.numbers
    )
    # without the space, this would be an image, which a front end fetches
    return f"! {links}" if mark.image else links


def _add_footer(text: str, sources: Sequence[Mapping[str, object]]) -> str:
    lines = []
    for source in sources:
        url = link_target(str(source["url"]))
        title = " ".join(escape_text(str(source.get("title") or source["url"])).split())
        label = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
        lines.append(f"- [{source['id']}] " + (f"[{label}]({url})" if url else label))
    return f"{text.rstrip()}\n\n**Sources**\n\n" + "\n".join(lines)


def link_to_text(
    url: str, text: str, count: Count, *, before: str = "", after: str = ""
) -> str | None:
    """Return a URL that takes a person to *text* on a page, as
    https://wicg.github.io/scroll-to-text-fragment/ says.

    A browser goes to the first place that matches
    ``#:~:text=[prefix-,]start[,end][,-suffix]``, so a link is made only if the words
    occur once.

    Args:
        url: Absolute http(s) URL of the page.
        text: A sentence as a person sees it, from a single paragraph.
        count: Says how often some words occur on the page, whatever their case and
            whitespace.
        before: What stands before the sentence in its paragraph.
        after: What stands after it.

    Returns:
        The URL, or None if the words do not occur exactly once, even together with
            those around them.
    """
    whole = " ".join(text.split()).rstrip(_END)
    if not whole:
        return None
    for start, end in _ranges(whole):
        exact = start if end is None else None
        for prefix, suffix in _contexts(before, after if exact else ""):
            if count(" ".join(filter(None, [prefix, start, suffix]))) == 1:
                parts = [
                    f"{_encode(prefix)}-" if prefix else "",
                    _encode(start),
                    _encode(end or ""),
                ]
                parts.append(f"-{_encode(suffix)}" if suffix else "")
                return f"{url}{'' if '#' in url else '#'}:~:text={','.join(filter(None, parts))}"
    return None


def _ranges(whole: str) -> Iterator[tuple[str, str | None]]:
    """Yield beginnings and ends to quote, short ones first; an end of None stands for a
    quote of everything.
    """
    if len(whole) <= _MAX_EXACT:
        yield whole, None
        return
    units = whole.split(" ")
    separator = " "
    # a script without spaces: a clause is sure to end where a word does
    if len(units) < 2 * _MIN_WORDS:
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
    prefix, suffix = (
        " ".join(before.split()[-_CONTEXT:]),
        " ".join(after.split()[:_CONTEXT]),
    )
    yield from dict.fromkeys([("", ""), (prefix, ""), ("", suffix), (prefix, suffix)])


def _encode(text: str) -> str:
    """Percent-encode everything with a meaning in a text directive or in a URL;
    ``quote`` leaves the hyphen.
    """
    return quote(text, safe="").replace("-", "%2D")
