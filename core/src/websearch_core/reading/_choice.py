"""Choose a part of a whole page, after its text was made safe, for every reader."""

from __future__ import annotations
from typing import Literal

from .._text.invisible import removal_note, strip_invisible
from ..models import Page
from ._excerpt.spec import Excerpt
from ._links import Links
from ._markdown.sanitizer import is_safe, sanitize


def choose(page: Page, part: Excerpt, links: Links | None) -> Page:
    """Return a *part* of a whole page, with its *links* as they are wanted."""
    page = make_safe(page)
    if links is not None and links != "keep":
        page = remove_links(page, links)
    return part.of(page)


def make_safe(page: Page) -> Page:
    """Return *page* with text that contains nothing that a person would not see, and
    nothing that a front end would fetch or run.
    """
    content, count = strip_invisible(page.content)
    if not is_safe(content):
        content = sanitize(content, page.final_url).text
    rest = make_text_safe(page.rest, page.final_url)
    clean = page.model_copy(update={"content": content, "rest": rest})
    return clean.with_notes(*removal_note(count))


def make_text_safe(text: str, url: str) -> str:
    """Return the same of a text alone, which comes from *url*."""
    text = strip_invisible(text)[0]
    if is_safe(text):
        return text
    return sanitize(text, url).text


def remove_links(page: Page, links: Literal["text", "drop"]) -> Page:
    """Return a whole page with its links reduced to their ``text``, or dropped."""
    content = sanitize(page.content, page.final_url, links).text
    rest = page.rest if links == "text" else ""  # does not say what was a link
    data = page.data and page.data.without_links()
    return page.model_copy(
        update={"content": content, "rest": rest, "links": (), "data": data}
    )
