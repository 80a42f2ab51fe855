"""Take away what stands around the text of a page: navigation, advertisements, forms, boxes that ask for cookies."""

from __future__ import annotations

import re

from .tree import HEADINGS, Element

_ALWAYS = frozenset({"nav", "footer"})
_CONTENT = frozenset({"main", "article"})
_LABELS = HEADINGS | {"summary"}
_ROLES = frozenset(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar tablist tooltip".split()
)
# Words of class and id that name a part of the page, whoever made the page.
_WORDS = frozenset(
    "ad ads advert adverts advertisement advertising adsense adslot sponsor sponsored promo promotion "
    "cookie cookies consent gdpr onetrust breadcrumb breadcrumbs share sharing sharethis social addthis "
    "newsletter subscribe subscription signup paywall related recommended recommendations "
    "sidebar navbar navigation nav menu megamenu topbar masthead pagination pager skip skiplink "
    "footer copyright modal popup overlay toast widget widgets noprint printonly screenreader "
    "comments disqus respond linenos lineno gutter editsection toc".split()
)
_TOO_MUCH_TO_DROP = 0.4  # of the text of the page: a class name is not believed about that
_ENOUGH = 200  # letters
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])|[-_:.]+")


def strip_noscript(body: Element) -> bool:
    """
    Remove, in place, what is only for readers without scripts, unless it is all that the page has to say.

    Returns:
        Whether it is.

    """
    asides = {element for element in body.elements() if element.name == "noscript"}
    body.measure()
    if asides and body.letters - sum(element.letters for element in asides) < _ENOUGH < body.letters:
        return True
    body.remove(asides)
    return False


def strip_chrome(body: Element) -> None:
    """Remove from the tree, in place, what its tags, roles and class names say is not the text."""
    body.measure()
    limit = body.letters * _TOO_MUCH_TO_DROP
    body.remove({element for element in body.elements() if element is not body and _is_chrome(element, limit)})
    body.measure()


def _is_chrome(element: Element, limit: float) -> bool:
    name = element.name
    if name in _ALWAYS:
        return element.letters <= limit and not (name == "footer" and element.within(frozenset({"blockquote"})))
    if name == "button":
        return not element.within(_LABELS)
    if name == "form":
        return element.letters <= limit and not _has_paragraphs(element)
    if name == "header":
        return not element.within(_CONTENT) and not _has_heading(element)
    if name == "aside":
        return element.letters <= limit and (not element.within(_CONTENT) or element.linked * 3 > element.letters)
    if name in HEADINGS or name in _CONTENT or name in {"pre", "code"}:
        return False
    if element.get("role").lower() in _ROLES:
        return element.letters <= limit
    words = _words(element)
    return not words.isdisjoint(_WORDS) and element.letters <= limit


def _words(element: Element) -> set[str]:
    """``class="SideBar ad-slot_2"`` -> ``{"side", "bar", "sidebar", "ad", "slot"}``."""
    marks = f"{element.get('class')} {element.get('id')}"[:300]
    found: set[str] = set()
    for mark in marks.split():
        parts = [part.lower() for part in _SPLIT.split(mark.rstrip("0123456789")) if part]
        if len(parts) <= 3:  # a longer name is a sentence of utility classes, and proves nothing
            found.update(parts)
            found.add("".join(parts))
    return found


def _has_heading(element: Element) -> bool:
    return any(inner.name == "h1" and inner.letters for inner in element.elements())


def _has_paragraphs(element: Element) -> bool:
    """Whether something is written there, not only asked: some sites wrap every post in a form."""
    return any(inner.name == "p" and inner.letters > 80 for inner in element.elements())
