"""What can be cited."""

from __future__ import annotations
from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict


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
