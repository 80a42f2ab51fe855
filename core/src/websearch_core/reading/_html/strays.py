"""Leave out what a page shows after or before its article: a second article, banners
for other countries.
"""

from __future__ import annotations
import re
from collections import defaultdict
from itertools import chain
from typing import NamedTuple

from .text_blocks import Blocks, TextBlocks
from .titles import agree, ends_with

_MIN_LENGTH = 600  # characters of an article
_ADDRESSES = frozenset(
    {"data-url", "data-article-url", "data-permalink", "data-post-url", "data-href"}
)
_HEADLINES = frozenset({"h1", "h2"})
_POST = re.compile(r"\A(?:blog-?)?(?:post|article|entry|hentry|story)(?![\w-])")
_COUNTRIES = re.compile(
    r"data-(?:show-)?(?:country|countries|country-codes?|geo|geo-?ip|market)\Z"
)
_COUNTRY = re.compile(r"(?<![\w-])(?:geo|geoip|geot|country)[-_][a-z]{2}(?![\w-])")
_COUNTRY_HINTS = ("geo", "country")
_MAX_TITLE = 100  # characters, in a note


def drop_strays(
    outline: TextBlocks, content: Blocks, title: str, *, is_article: bool
) -> tuple[Blocks, list[str]]:
    """Leave out a second article after the first, and banners for other countries, and
    return notes on them.
    """
    content = _drop_variants(outline, content)
    if not is_article:
        return content, []
    begin, headline = _find_second(outline, content, title)
    if not begin:
        return content, []
    elements = outline.block_elements
    content = {block for block in content if elements[block] < begin}
    note = f"another article below this one was left out: {headline[:_MAX_TITLE]}"
    return content, [note]


def _drop_variants(outline: TextBlocks, content: Blocks) -> Blocks:
    """Leave out banners for some countries above the headline."""
    names = outline.block_names
    headline = min((block for block in content if names[block] == "h1"), default=0)
    return content - (_find_variants(outline) & set(range(headline)))


class _Headline(NamedTuple):
    tag: str
    text: str


def _find_second(outline: TextBlocks, content: Blocks, title: str) -> tuple[int, str]:
    """Return the element in which a second article begins, which readers get by
    scrolling on, and its headline.

    It is beside the one with the title of the page, as long as an article, and of the
    same class; 0 if there is none.
    """
    articles = _find_articles(outline)
    if len(articles) < 2:
        return 0, ""
    long = _find_long(outline, content, articles)
    if len(long) < 2:
        return 0, ""
    (first, headline), *others = long.items()
    if not ends_with(headline.text, title):
        return 0, ""
    own_class = outline.marks[first].split()[:1]
    for article, other in others:
        if outline.marks[article].split()[:1] != own_class:
            continue
        if other.tag == headline.tag and not agree(other.text, [title]):
            return article, other.text
    return 0, ""


def _find_long(
    outline: TextBlocks, content: Blocks, articles: set[int]
) -> dict[int, _Headline]:
    """Return the headlines of the articles that have one and are long enough."""
    holders = outline.holders(articles)
    headlines: dict[int, _Headline] = {}
    lengths: defaultdict[int, int] = defaultdict(int)
    for block in sorted(content):
        article = holders[outline.block_elements[block]]
        if not article:
            continue
        text = outline.block_texts[block]
        lengths[article] += len(text)
        name = outline.block_names[block]
        if name in _HEADLINES:
            headlines.setdefault(article, _Headline(name, text))
    return {
        article: headline
        for article, headline in headlines.items()
        if lengths[article] >= _MIN_LENGTH
    }


def _find_articles(outline: TextBlocks) -> set[int]:
    """Return the elements that are articles by their name, an address of their own,
    their type, or their class.
    """
    articles = set(outline.named("article"))
    for element in outline.described:
        attributes = outline.attributes[element]
        kind = attributes.get("itemtype") or ""
        if kind.endswith("Article") or not _ADDRESSES.isdisjoint(attributes):
            articles.add(element)
    if outline.names.count("h1") > 1:
        posts = outline.find_marks(_POST, ("post", "article", "entry", "story"))
        articles.update(outline.marked(posts))
    return articles


def _find_variants(outline: TextBlocks) -> Blocks:
    """Return what is in elements of which others beside them are for other countries: a
    script shows one of them.
    """
    names = {name for name in outline.attribute_names if _COUNTRIES.match(name)}
    marks = outline.find_marks(_COUNTRY, _COUNTRY_HINTS)
    if not (names or marks):
        return set()
    groups: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for element, attributes in enumerate(outline.attributes):
        countries = next(filter(names.__contains__, attributes), "")
        if countries or outline.marks[element] in marks:
            groups[outline.parents[element], countries].append(element)
    variants = [group for group in groups.values() if len(group) > 1]
    return outline.blocks_in(chain.from_iterable(variants))
