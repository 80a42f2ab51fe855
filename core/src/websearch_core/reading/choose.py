"""Find what the page is about, by plain rules: what it marks as its main part, else where the text is."""

from __future__ import annotations

from .tree import BLOCKS, HEADINGS, Element

_ENOUGH = 200  # letters: less is no page
_MAIN_SHARE = 0.25  # of the text outside links that a marked main part must hold to be believed
_DOMINANT = 0.7  # of the text outside links that a child must hold for the search to go on inside it
_LIST_OF_LINKS = 0.7  # of a block's letters in links, from which on it is a way out and not a text


def choose(body: Element) -> Element:
    """
    Return the smallest part of *body* that holds its main text; *body* itself if no part stands out.

    Args:
        body: A tree without its chrome, measured.

    """
    chosen = _marked(body) or _descend(body)
    if _prose(chosen) < _ENOUGH and chosen.letters < body.letters * _DOMINANT:
        chosen = body
    if chosen.linked < chosen.letters * 0.5:  # else the links are the content: a listing
        chosen.remove(_ways_out(chosen))
        chosen.measure()
    return chosen


def _prose(element: Element) -> int:
    return element.letters - element.linked


def _marked(body: Element) -> Element | None:
    """What the page itself says is its main part, if it holds enough of the text for that to be true."""
    marks = [e for e in body.elements() if e.name == "main" or e.get("role").lower() == "main"]
    best = max(marks, key=_prose, default=None)
    if best is None or best.letters < _ENOUGH or _prose(best) < _prose(body) * _MAIN_SHARE:
        best = body
    articles = [e for e in best.elements() if e.name == "article" or e.get("itemprop") == "articleBody"]
    article = max(articles, key=_prose, default=None)
    if article is not None and article.letters >= _ENOUGH and _prose(article) >= _prose(best) * _DOMINANT:
        return article
    return None if best is body else best


def _descend(element: Element) -> Element:
    """Go down to where no single child holds most of the text."""
    while True:
        children = [child for child in element.children if isinstance(child, Element) and child.name in BLOCKS]
        best = max(children, key=_prose, default=None)
        if best is None or best.name in {"p", "table", "tbody", "ul", "ol", "pre"}:
            return element
        if _prose(best) < _prose(element) * _DOMINANT or _loses_title(element, best):
            return element
        element = best


def _loses_title(element: Element, best: Element) -> bool:
    return any(
        child is not best and any(e.name == "h1" for e in child.elements())
        for child in element.children
        if isinstance(child, Element)
    )


def _ways_out(chosen: Element) -> set[Element]:
    """Blocks inside the main part that are all links: related articles, tags, previous and next."""
    return {
        element
        for element in chosen.elements()
        if element is not chosen
        and element.name in {"ul", "ol", "div", "section", "aside"}
        and element.linked > element.letters * _LIST_OF_LINKS
        and _links(element) >= 3
        and not element.within(HEADINGS | {"table", "p"})
    }


def _links(element: Element) -> int:
    return sum(inner.name == "a" for inner in element.elements())
