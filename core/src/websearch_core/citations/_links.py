"""Turn citations into links, and name those that nobody issued."""

from __future__ import annotations
from collections.abc import Iterable, Mapping, Sequence

from .._text.escaping import escape_text, link_target
from ._marks import Mark, find_marks


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
