"""Find the elements that show the title of a page.

Some publishers make the headline for search engines the last step of the breadcrumb trail, as the only ``<h1>``. What
readers take for the headline is an ``<h2>`` then, and Open Graph or JSON-LD states it too.
"""

from __future__ import annotations
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from .byline import begins, line_of
from .titles import ends_with, is_same

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_HEADLINES = 20
_MAX_LESSER = 60  # of each kind: menus have some before that of the page
_LEVELS = 5  # elements around a headline, with itself, that may be a breadcrumb trail
_TRAILS = frozenset({"nav", "li"})


def find_below_trail(
    document: LexborHTMLParser, headline: LexborNode | None, stated: Iterable[str]
) -> tuple[LexborNode, str] | None:
    """Find what readers see as the headline of a page whose first, *headline*, is a step of a breadcrumb trail.

    *stated* are the titles that the page states most deliberately. Return the element, and the stated title that it
    shows, maybe after a few words; None if there is none.
    """
    titles = [title for title in stated if title]
    if headline is None or not titles or not _is_step(headline):
        return None
    lines = ((heading, line_of(heading)) for heading in document.css("h2")[:_MAX_LESSER])
    return next(((heading, title) for heading, line in lines for title in titles if ends_with(line, title)), None)


def _is_step(headline: LexborNode) -> bool:
    around: LexborNode | None = headline
    for _ in range(_LEVELS):
        if around is None or around.tag == "body":
            break
        if around.tag in _TRAILS or "breadcrumb" in (around.attributes.get("class") or "").lower():
            return True
        around = around.parent
    return False


def is_heading(title: str, document: LexborHTMLParser) -> bool:
    """Return whether the page shows *title* as a heading."""
    return any(is_same(line_of(heading), title) for heading in document.css("h1,h2")[:MAX_HEADLINES])


def title_element(title: str, headlines: list[LexborNode], document: LexborHTMLParser) -> LexborNode | None:
    """Return the element that shows the title; forums use lesser headings for it."""
    if not title:
        return next(iter(headlines), None)
    lesser = [heading for name in ("h2", "h3") for heading in document.css(name)[:_MAX_LESSER]]
    shown = (place for place in (*headlines, *lesser) if begins(place, title))
    after_kicker = (place for place in lesser if title in line_of(place))
    return next(chain(shown, headlines, after_kicker), None)
