"""What can be cited: turn citations of it into links, and name those that nobody issued."""

from __future__ import annotations
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from .._text.escaping import escape_text, link_target
from ._marks import Mark, find_marks


class Source(TypedDict):
    """A page with a number, as plain JSON.

    Args:
        id: The number to cite it by, as in ``[1]``.
        title: Plain text.
        url: Its URL.
        read: True if its text was read; False if only a snippet of a search was seen.
        published: The publication date, if known, in ISO 8601.
        score: The service's own relevance score, if it gives one.
        shown: Where the part about it begins and ends in the text that the model was shown, in characters; for
            content blocks, the first block and the one after the last.
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
    """Merge entries about the same source, such as those of several searches and of the page.

    Args:
        entries: The entries, in the order of the conversation. Anything without an ``id`` and a ``url`` is left out.

    Returns:
        One source for each number, ordered by it. Its ``text`` is all that was shown of it; its title and URL are those
        of the page, if it was read.
    """
    merged: dict[int, dict[str, Any]] = {}
    for entry in entries:
        number = entry.get("id")
        if not isinstance(number, int) or not isinstance(entry.get("url"), str):
            continue
        before = merged.get(number, {})
        texts = dict.fromkeys(text for text in (before.get("text"), entry.get("text")) if text)
        stays = before.get("read") and not entry.get("read")
        both = {**entry, **before} if stays else {**before, **entry}
        both.pop("shown", None)
        merged[number] = {"title": "", "read": False, **both, **({"text": "\n\n".join(texts)} if texts else {})}
    return [Source(**merged[number]) for number in sorted(merged)]  # type: ignore[typeddict-item]


def link_citations(text: str, sources: Iterable[Mapping[str, object]], *, footer: bool = False) -> str:
    """Turn the citations in an answer, such as ``[1]``, ``[1, 2]``, ``[1-3]`` or ``【1】``, into Markdown links.

    Args:
        text: The answer of a model. Code, formulas, links and URLs in it stay as they are.
        sources: The sources, each with ``id``, ``url`` and ``title``, such as those of an artifact. Citations of
            others stay as they are, as do those of sources whose URL is not http(s), such as a file of a local index.
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
    return _add_footer(whole, [known[number] for number in cited]) if footer and cited else whole


def unknown_citations(text: str, sources: Iterable[Mapping[str, object]]) -> list[int]:
    """Return the numbers that an answer cites although no source has them.

    Args:
        text: The answer of a model.
        sources: The sources of the conversation, each with ``id``.

    Returns:
        The numbers, in the order of the text.
    """
    known = {_number(source) for source in sources}
    cited = dict.fromkeys(number for mark in find_marks(text) for number in mark.numbers)
    return [number for number in cited if number not in known]


def _number(source: Mapping[str, object]) -> int:
    return int(str(source["id"]))


def _link(mark: Mark, urls: Mapping[int, str | None]) -> str:
    """Return the links of a citation, or nothing if it has none."""
    if not any(urls.get(number) for number in mark.numbers):
        return ""
    links = ", ".join(f"[{number}]({url})" if (url := urls.get(number)) else f"[{number}]" for number in mark.numbers)
    return f"! {links}" if mark.image else links  # without the space, this would be an image, which a front end fetches


def _add_footer(text: str, sources: Sequence[Mapping[str, object]]) -> str:
    lines = []
    for source in sources:
        url = link_target(str(source["url"]))
        title = " ".join(escape_text(str(source.get("title") or source["url"])).split())
        label = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
        lines.append(f"- [{source['id']}] " + (f"[{label}]({url})" if url else label))
    return f"{text.rstrip()}\n\n**Sources**\n\n" + "\n".join(lines)
