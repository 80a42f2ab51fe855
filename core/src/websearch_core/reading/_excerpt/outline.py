"""The outline of a page: its headings, with the sizes of what is below them and where it begins."""

from __future__ import annotations
import re
from itertools import accumulate

from ..._text.quantity import quantity
from ...models import Page, Passage
from .._markdown.fences import find_fences
from .pieces import plain_title
from .window import check

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*)$", re.MULTILINE)
_MAX_HEADINGS = 300
_MAX_PARTS = 30
_LEVELS = 6


def find_sections(text: str, most: int = _MAX_HEADINGS) -> list[tuple[int, Passage]]:
    """Return the sections of *text* with their levels: at most *most*, so maybe without the lower levels."""
    fences = find_fences(text)
    found: list[tuple[int, int, str]] = []
    at = 0
    for heading in _HEADING.finditer(text):
        while at < len(fences) and fences[at][1] <= heading.start():
            at += 1
        if (at == len(fences) or heading.start() < fences[at][0]) and (title := plain_title(heading[2])):
            found.append((len(heading[1]), heading.start(), title))
    totals = [*accumulate(sum(level == one for level, _, _ in found) for one in range(1, _LEVELS + 1))]
    deepest = max((level for level, total in enumerate(totals, 1) if total <= most), default=1)
    sections: list[tuple[int, Passage]] = []
    path: list[tuple[int, str]] = []
    kept = [one for one in found if one[0] <= deepest][:most]
    ends = [len(text)] * len(kept)
    opened: list[int] = []
    for n, (level, start, _) in enumerate(kept):
        while opened and kept[opened[-1]][0] >= level:
            ends[opened.pop()] = start
        opened.append(n)
    for (level, start, title), end in zip(kept, ends, strict=True):
        path = [*(above for above in path if above[0] < level), (level, title)]
        titles = tuple(name for above, name in path if above > 1 or level == 1)
        sections.append((level, Passage(offset=start, length=end - start, headings=titles)))
    return sections


def find_parts(text: str) -> tuple[Passage, ...]:
    """Return the main parts of *text*: the sections of the highest level that has several, the title set aside."""
    sections = find_sections(text)
    levels = [level for level, _ in sections]
    top = next((level for level in range(1, _LEVELS + 1) if levels.count(level) > 1), 0)
    return tuple(part for level, part in sections if level == top)[:_MAX_PARTS]


def outline_of(page: Page, max_length: int) -> Page:
    """Return *page* with its outline as its content: as many levels as *max_length* characters hold."""
    check(max_length, 0)
    size = len(page.content)
    sections = find_sections(page.content)
    base = min((level for level, _ in sections), default=0)
    lines = [
        (level, f"{'  ' * (level - base)}- {part.headings[-1]} ({part.length:,} characters; offset {part.offset})")
        for level, part in sections
    ]
    fitting = ([line for level, line in lines if level <= deepest] for deepest in range(_LEVELS, base - 1, -1) if lines)
    shown = next((some for some in fitting if len("\n".join(some)) <= max_length), [])
    if lines and not shown:
        top = [line for level, line in lines if level == base]
        ends = accumulate(len(line) + 1 for line in top)
        shown = top[: sum(end <= max_length for end in ends)]
    content = "\n".join(shown)
    cut = page.model_copy(
        update={
            "content": content,
            "content_length": len(content),
            "original_length": size,
            "truncated": True,
            "outline": tuple(part for _, part in sections),
        }
    )
    left = len(sections) - len(shown)
    notes = [f"{quantity(left, 'heading')} left out of the outline"] if left else []
    return cut.with_notes(*(notes if sections else [f"the text has no headings, and {size:,} characters"]))
