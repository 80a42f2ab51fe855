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
        if not isinstance(number, int) or not isinstance(entry.get("url"), str):
            continue
        before = by_number.get(number, {})
        texts = dict.fromkeys(
            text for text in (before.get("text"), entry.get("text")) if text
        )
        stays = before.get("read") and not entry.get("read")
        both = {**entry, **before} if stays else {**before, **entry}
        for name in _STORED_FIELDS:
            both.pop(name, None)
        if texts:
            both["text"] = "\n\n".join(texts)
        by_number[number] = {"title": "", "read": False, **both}
    return [Source(**by_number[number]) for number in sorted(by_number)]  # type: ignore[typeddict-item]


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
    by_number = {_number(source): source for source in sources}
    urls = {
        number: link_target(str(source["url"])) for number, source in by_number.items()
    }
    parts = []
    position = 0
    cited: dict[int, Mapping[str, object]] = {}
    for mark in find_marks(text):
        for number in mark.numbers:
            if number in by_number:
                cited[number] = by_number[number]
        links = _link(mark, urls) if mark.kind == "plain" else ""
        parts += [text[position : mark.start], links or text[mark.start : mark.end]]
        position = mark.end
    whole = "".join([*parts, text[position:]])
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
    if not any(urls.get(number) for number in mark.numbers):
        return ""
    parts = []
    for number in mark.numbers:
        url = urls.get(number)
        link = f"[{number}]({url})" if url else f"[{number}]"
        parts.append(link)
    links = ", ".join(parts)
    # without the space, this would be an image, which a front end fetches
    return f"! {links}" if mark.image else links


def _add_footer(text: str, sources: Sequence[Mapping[str, object]]) -> str:
    lines = []
    for source in sources:
        url = link_target(str(source["url"]))
        title = " ".join(escape_text(str(source.get("title") or source["url"])).split())
        label = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
        link = f"[{label}]({url})" if url else label
        lines.append(f"- [{source['id']}] {link}")
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
        is_exact = end is None and bool(start)
        words_after = after if is_exact else ""
        for prefix, suffix in _contexts(before, words_after):
            if count(" ".join(filter(None, [prefix, start, suffix]))) != 1:
                continue
            parts = [_encode(start), _encode(end or "")]
            if prefix:
                parts.insert(0, f"{_encode(prefix)}-")
            if suffix:
                parts.append(f"-{_encode(suffix)}")
            mark = "" if "#" in url else "#"
            return f"{url}{mark}:~:text={','.join(filter(None, parts))}"
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
        units = [unit for unit in _CLAUSE.split(whole) if unit]
        separator = ""
    for share in (4, 2):
        if separator:
            start = " ".join(_take(units, len(units) // share, separator))
            last = _take(units[::-1], len(units) // share, separator)
            end = " ".join(last[::-1])
            is_unique = bool(end) and whole.count(end) == 1
            if start and is_unique:
                yield start, end
        elif len(units) > 1 and whole.count(units[-1]) == 1:
            yield units[0], units[-1]
    if len(whole) <= _MAX_QUOTE:
        yield whole, None


def _take(units: Sequence[str], limit: int, separator: str) -> list[str]:
    """Take the first of *units* until they are long enough to be found, or nothing."""
    taken: list[str] = []
    for unit in units[: max(limit, _MIN_WORDS)]:
        taken.append(unit)
        if len(taken) >= _MIN_WORDS and len(separator.join(taken)) >= _MIN_LENGTH:
            break
    return taken


def _contexts(before: str, after: str) -> Iterator[tuple[str, str]]:
    prefix = " ".join(before.split()[-_CONTEXT:])
    suffix = " ".join(after.split()[:_CONTEXT])
    yield from dict.fromkeys([("", ""), (prefix, ""), ("", suffix), (prefix, suffix)])


def _encode(text: str) -> str:
    """Percent-encode everything with a meaning in a text directive or in a URL;
    ``quote`` leaves the hyphen.
    """
    return quote(text, safe="").replace("-", "%2D")
