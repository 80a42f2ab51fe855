"""What can be cited: turn citations of it into links, and name those that nobody
issued.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NotRequired, TypedDict
from urllib.parse import quote

from .._text.escaping import escape_text, link_target
from .._text.marks import Mark, find_marks

# characters that are quoted in full; of anything longer, the beginning and the end
_MAX_EXACT = 80
_MAX_QUOTE = 300  # characters of a quote that has no words to begin and end with
_MIN_WORDS = 3  # of a beginning or an end
_MIN_LENGTH = 20  # the same, in characters
_CONTEXT = 3  # words before or after it
_CLAUSE = re.compile(r"[,;:、，；：]\s*")  # noqa: RUF001 - fullwidth punctuation
_END = " .,;:!?…。！？"  # noqa: RUF001 - the same
# what a source has only where it is stored
_STORED_FIELDS = ("span", "checksum", "forgotten")

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
        span: Where the part about it begins and ends in what is marked as data from the
            web in the text that the model was shown, in characters.
        checksum: Of that part, or of its content block or JSON: the text is not its own
            any more if it does not fit.
        text: What the model was shown of it, if it was collected for `check_citations`.
    """

    id: int
    title: str
    url: str
    read: bool
    published: NotRequired[str]
    score: NotRequired[float]
    span: NotRequired[list[int]]
    checksum: NotRequired[str]
    text: NotRequired[str]


def merge_sources(entries: Iterable[Mapping[str, Any]]) -> list[Source]:
    """Merge entries about the same source, such as those of several searches and of the
    page.

    Args:
        entries: The entries, in the order of the conversation. Anything without an
            ``id`` and a ``url`` is left out.

    Returns:
        One source for each number, ordered by it. Its ``text`` is all that was shown of
            it; its title and URL are those of the page, if it was read.
    """
    by_number: dict[int, dict[str, Any]] = {}
    for entry in entries:
        number = entry.get("id")
        if not isinstance(number, int):
            continue
        if not isinstance(entry.get("url"), str):
            continue
        before = by_number.get(number, {})
        by_number[number] = _merge(before, entry)
    return [Source(**by_number[number]) for number in sorted(by_number)]  # type: ignore[typeddict-item]


def _merge(before: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two entries say about one source, the later one after *before*."""
    source: dict[str, Any] = {"title": "", "read": False}
    source.update(before)
    source.update(entry)
    if before.get("read") and not entry.get("read"):
        source.update(before)  # a page knows its title better than a search
    for name in _STORED_FIELDS:
        source.pop(name, None)
    texts: list[str] = []
    for text in (before.get("text"), entry.get("text")):
        if text and text not in texts:
            texts.append(text)
    if texts:
        source["text"] = "\n\n".join(texts)
    return source


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
    by_number: dict[int, Mapping[str, object]] = {}
    urls: dict[int, str | None] = {}
    for source in sources:
        number = _number(source)
        by_number[number] = source
        urls[number] = link_target(str(source["url"]))
    parts: list[str] = []
    position = 0
    cited: dict[int, Mapping[str, object]] = {}
    for mark in find_marks(text):
        for number in mark.numbers:
            if number in by_number:
                cited[number] = by_number[number]
        links = ""
        if mark.kind == "plain":
            links = _link(mark, urls)
        if not links:
            links = text[mark.start : mark.end]
        parts.append(text[position : mark.start])
        parts.append(links)
        position = mark.end
    parts.append(text[position:])
    whole = "".join(parts)
    if footer and cited:
        return _add_footer(whole, list(cited.values()))
    return whole


def unknown_citations(text: str, sources: Iterable[Mapping[str, object]]) -> list[int]:
    """Return the numbers that an answer cites although no source has them.

    Args:
        text: The answer of a model.
        sources: The sources of the conversation, each with ``id``.

    Returns:
        The numbers, in the order of the text.
    """
    issued = {_number(source) for source in sources}
    cited: dict[int, None] = {}
    for mark in find_marks(text):
        cited |= dict.fromkeys(mark.numbers)
    return [number for number in cited if number not in issued]


def _number(source: Mapping[str, object]) -> int:
    return int(str(source["id"]))


def _link(mark: Mark, urls: Mapping[int, str | None]) -> str:
    """Return the links of a citation, or nothing if it has none."""
    if not any(map(urls.get, mark.numbers)):
        return ""
    parts: list[str] = []
    for number in mark.numbers:
        link = f"[{number}]"
        url = urls.get(number)
        if url:
            link += f"({url})"
        parts.append(link)
    links = ", ".join(parts)
    if mark.image:
        # without the space, this would be an image, which a front end fetches
        return f"! {links}"
    return links


def _add_footer(text: str, sources: Sequence[Mapping[str, object]]) -> str:
    lines: list[str] = []
    for source in sources:
        url = link_target(str(source["url"]))
        title = source.get("title") or source["url"]
        words = escape_text(str(title)).split()
        label = " ".join(words)
        label = label.replace("\\", "\\\\")
        label = label.replace("[", "\\[")
        label = label.replace("]", "\\]")
        link = label
        if url:
            link = f"[{label}]({url})"
        lines.append(f"- [{source['id']}] {link}")
    footer = "\n".join(lines)
    return f"{text.rstrip()}\n\n**Sources**\n\n{footer}"


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
    words = " ".join(text.split())
    whole = words.rstrip(_END)
    if not whole:
        return None
    for start, end in _ranges(whole):
        words_after = ""
        if end is None:
            words_after = after
        for prefix, suffix in _contexts(before, words_after):
            parts = filter(None, [prefix, start, suffix])
            quotation = " ".join(parts)
            if count(quotation) == 1:
                directive = _write_directive(prefix, start, end, suffix)
                mark = "" if "#" in url else "#"
                return f"{url}{mark}:~:text={directive}"
    return None


def _write_directive(prefix: str, start: str, end: str | None, suffix: str) -> str:
    """Return ``[prefix-,]start[,end][,-suffix]``."""
    parts: list[str] = []
    if prefix:
        parts.append(f"{_encode(prefix)}-")
    parts.append(_encode(start))
    if end:
        parts.append(_encode(end))
    if suffix:
        parts.append(f"-{_encode(suffix)}")
    return ",".join(parts)


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
        units = [unit for unit in _CLAUSE.split(whole) if unit]
        separator = ""
    for share in (4, 2):
        limit = len(units) // share
        if separator:
            first = _take(units, limit, separator)
            last = _take(units[::-1], limit, separator)
            start = " ".join(first)
            end = " ".join(reversed(last))
            is_unique = bool(end) and whole.count(end) == 1
            if start and is_unique:
                yield start, end
        elif len(units) > 1:
            last_unit = units[-1]
            if whole.count(last_unit) == 1:
                yield units[0], last_unit
    if len(whole) <= _MAX_QUOTE:
        yield whole, None


def _take(units: Sequence[str], limit: int, separator: str) -> list[str]:
    """Take the first of *units* until they are long enough to be found, or nothing."""
    limit = max(limit, _MIN_WORDS)
    words: list[str] = []
    for unit in units[:limit]:
        words.append(unit)
        length = len(separator.join(words))
        if len(words) >= _MIN_WORDS and length >= _MIN_LENGTH:
            break
    return words


def _contexts(before: str, after: str) -> Iterator[tuple[str, str]]:
    words_before = before.split()[-_CONTEXT:]
    words_after = after.split()[:_CONTEXT]
    prefix = " ".join(words_before)
    suffix = " ".join(words_after)
    yield "", ""
    if prefix:
        yield prefix, ""
    if suffix:
        yield "", suffix
    if prefix and suffix:
        yield prefix, suffix


def _encode(text: str) -> str:
    """Percent-encode everything with a meaning in a text directive or in a URL;
    ``quote`` leaves the hyphen.
    """
    return quote(text, safe="").replace("-", "%2D")
